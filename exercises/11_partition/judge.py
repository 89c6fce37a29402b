"""What exercise 11 asks, and how an answer to it is judged.

Source: document 003, "Producer"; org.apache.kafka.clients.producer.KafkaProducer.partition,
DefaultPartitioner (1.0.2); Utils.murmur2 and toPositive.
Differs from Kafka: the counter of records without a key is handed in, so that nothing is drawn by
lot and nothing has to be kept between two calls.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from random import Random

from kafkalearn.grading.exercise import Table

Record = tuple[int | None, bytes | None, int, Sequence[int], int]
"""partition, key, partition_count, available, counter: the arguments of choose_partition."""
INTS, SIGN = 1 << 32, 1 << 31
MULTIPLIER, HASH_SEED = 0x5BD1E995, 0x9747B28C
LETTERS = "abcdefghijklmnopqrstuvwxyz-0123456789"
HIGH = range(128, 256)
LONGEST_KEY_SHOWN = 24
LONG_KEYS = (17, 40, 300) * 2


def hash_of(key: bytes) -> int:
    """Slow and obvious: murmur2 as Java computes it, every number cut to 32 bits at once."""
    h = _cut(HASH_SEED ^ len(key))
    whole = len(key) - len(key) % 4
    for start in range(0, whole, 4):
        k = _cut(_little_endian(key[start : start + 4]) * MULTIPLIER)
        k = _cut((k ^ (k >> 24)) * MULTIPLIER)
        h = _cut(h * MULTIPLIER) ^ k
    if whole < len(key):
        h = _cut((h ^ _little_endian(key[whole:])) * MULTIPLIER)
    h = _cut((h ^ (h >> 13)) * MULTIPLIER)
    return _signed(h ^ (h >> 15))


def _little_endian(part: bytes) -> int:
    return sum(byte << 8 * place for place, byte in enumerate(part))


def _cut(number: int) -> int:
    return number % INTS


def _signed(number: int) -> int:
    """Read 32 bits as a Java int."""
    number = _cut(number)
    return number - INTS if number >= SIGN else number


def to_positive(number: int) -> int:
    """Leave out the sign bit of a Java int."""
    return _cut(number) % SIGN


def reference(record: Record) -> int:
    """Give the partition: the named one, or the key's, or the next one that has a leader."""
    partition, key, partition_count, available, counter = record
    if partition is not None:
        return partition
    if key is not None:
        return to_positive(hash_of(key)) % partition_count
    choice = list(available) or list(range(partition_count))
    return choice[to_positive(counter) % len(choice)]


def inputs(check: str, seed: int) -> Iterable[Record]:
    """Give the records of one check, short keys first; equal seeds give equal records."""
    records = list(_RECORDS[check](Random(f"{seed} {check}")))
    return sorted(records, key=_size)


def _size(record: Record) -> int:
    return len(record[1] or b"") + record[2]


def _keyed(random: Random, key: bytes, partition_count: int = 0) -> Record:
    count = partition_count or random.randint(2, 12)
    return None, key, count, tuple(range(count)), random.randrange(100)


def _hash(random: Random) -> Iterator[Record]:
    """Text whose hash is positive: whoever stumbles over the sign is not to stumble here."""
    yield _keyed(random, b"abc", 3)
    for length in (*range(1, 14), *range(1, 12)):
        yield _keyed(random, _drawn(partial(_word, random, length), negative=False))
    for length in LONG_KEYS:
        key = _drawn(partial(_word, random, length), negative=False)
        yield _keyed(random, key, random.randint(9, 12))


def _sign(random: Random) -> Iterator[Record]:
    yield _keyed(random, b"foobar", 5)
    for length in range(1, 17):
        key = _drawn(partial(_word, random, length), negative=True)
        yield _keyed(random, key, random.choice([3, 5, 6, 7, 9, 10, 11]))


def _any_bytes(random: Random) -> Iterator[Record]:
    """Bytes that Java takes for negative, again with positive hashes."""
    for length in range(1, 14):
        high = _drawn(partial(_high, random, length), negative=False)
        yield _keyed(random, high, random.randint(5, 12))
        yield _keyed(random, _drawn(partial(random.randbytes, length), negative=False))
    for length in LONG_KEYS:
        key = _drawn(partial(random.randbytes, length), negative=False)
        yield _keyed(random, key, random.randint(9, 12))
    yield _keyed(random, _drawn(lambda: f"订单-{random.randrange(1000)}".encode(), negative=False))


def _no_key(random: Random) -> Iterator[Record]:
    yield None, None, 3, (0, 1, 2), 4
    yield None, None, 3, (0, 2), 1
    yield None, None, 4, (), 6
    yield None, None, 5, (0, 1, 2, 3, 4), -(2**31)
    yield None, None, 3, (0, 1, 2), -7
    for _ in range(12):
        count = random.randint(2, 9)
        available = sorted(random.sample(range(count), random.randint(0, count - 1)))
        counter = random.choice([random.randrange(1000), random.randrange(-(2**31), 2**31)])
        yield None, None, count, tuple(available), counter


def _who_decides(random: Random) -> Iterator[Record]:
    yield 0, b"user-1", 3, (0, 1, 2), 5
    yield None, b"", 4, (0, 1, 2, 3), 0
    yield 1, None, 3, (0, 2), 5
    for length in range(1, 7):
        key = _drawn(partial(_word, random, length), negative=False)
        count = random.randint(3, 9)
        named = random.randrange(count)
        others = tuple(each for each in range(count) if each != named)
        yield named, random.choice([key, b"", None]), count, others, random.randrange(100)
        home = to_positive(hash_of(key)) % count
        yield None, key, count, tuple(each for each in range(count) if each != home), 0


def _word(random: Random, length: int) -> bytes:
    return "".join(random.choices(LETTERS, k=length)).encode()


def _high(random: Random, length: int) -> bytes:
    return bytes(random.choices(HIGH, k=length))


def _drawn(draw: Callable[[], bytes], *, negative: bool) -> bytes:
    """Draw until the key's hash has the sign that is wanted."""
    while (hash_of(key := draw()) < 0) != negative:
        pass
    return key


_RECORDS: dict[str, Callable[[Random], Iterator[Record]]] = {
    "hash": _hash,
    "sign": _sign,
    "any-bytes": _any_bytes,
    "no-key": _no_key,
    "who-decides": _who_decides,
}


def simpler(record: Record) -> Iterator[Record]:
    """Shorten the key, then take fewer partitions and a smaller counter."""
    partition, key, count, available, counter = record
    for less in _shorter(key or b""):
        yield partition, less, count, available, counter
    for fewer in range(max(1, (partition or 0) + 1), count):
        yield partition, key, fewer, tuple(each for each in available if each < fewer), counter
    for i in range(len(available) if partition is None and key is None else 0):
        yield partition, key, count, (*available[:i], *available[i + 1 :]), counter
    if counter not in (0, 1):
        yield partition, key, count, available, int(counter / 2)


def _shorter(key: bytes) -> Iterator[bytes]:
    """Give keys with a byte less; those of one byte stay."""
    if len(key) > 1:
        yield key[: len(key) // 2]
        yield from (key[:i] + key[i + 1 :] for i in range(len(key)))


def problem(record: Record, answer: object) -> str | None:
    """Say where the record belongs, and if it can be told, how the answer went elsewhere."""
    expected = reference(record)
    if type(answer) is not int:
        return f"the answer is {_a(answer)}: the number of a partition, an int, is wanted"
    if answer == expected:
        return None
    return f"{_told(record)} goes to partition {expected}, not {answer!r:.40}{_why(record, answer)}"


def _told(record: Record) -> str:
    partition, key, *_ = record
    if partition is not None:
        return f"a record that names partition {partition}"
    return "a record without a key" if key is None else f"the key {_shown(key)}"


def _why(record: Record, answer: int) -> str:
    partition, key, count, available, counter = record
    if not 0 <= answer < count:
        return f": there are only {count}, from 0 on"
    if partition is not None:
        return ": a named partition wins"
    if key is None:
        return f": {_turn(count, available, counter)}"
    number = hash_of(key)
    if number < 0 and answer in (abs(number) % count, number % count, _cut(number) % count):
        return f": its hash {number:,} is negative; neither abs() nor % leaves out the sign bit"
    if not key:
        return ": an empty key is a key, and has a hash"
    return f": its hash is {number:,}"


def _turn(count: int, available: Sequence[int], counter: int) -> str:
    place = to_positive(counter) % (len(available) or count)
    if not available:
        return f"none has a leader, so it is the turn of place {place} among all"
    return f"it is the turn of place {place} among those that have a leader: {_listed(available)}"


def table(record: Record, answer: object) -> Table:
    """Lay out the record, and the way to its partition, a row for each step."""
    partition, key, count, available, counter = record
    caption = (
        f"partition: {partition}   key: {'None' if key is None else _shown(key)}\n"
        f"{count} partitions, with a leader: {_listed(available) or 'none'}   counter: {counter:,}"
    )
    rows = [("got", str(answer)[:40] if answer is not None else "-")]
    rows.insert(0, ("expected", str(reference(record))))
    if partition is None and key is not None:
        number = hash_of(key)
        rows[:0] = [
            ("its bytes", key[:LONGEST_KEY_SHOWN].hex(" ") or "none"),
            ("murmur2", f"{number:,}"),
            ("without sign bit", f"{to_positive(number):,}"),
        ]
    elif partition is None:
        rows.insert(0, ("counter without sign bit", f"{to_positive(counter):,}"))
    marked = () if answer is None else (len(rows) - 1,)
    return Table(caption, ("step", "value"), tuple(rows), marked)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _shown(key: bytes) -> str:
    return repr(key[:LONGEST_KEY_SHOWN]) + ("…" if len(key) > LONGEST_KEY_SHOWN else "")


def _a(value: object) -> str:
    return "None (is a `return` missing?)" if value is None else f"a {type(value).__name__}"
