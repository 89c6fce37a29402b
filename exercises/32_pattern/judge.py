"""What exercise 32 asks, and how an answer to it is judged.

Source: document 001, "订阅模式"; ConsumerCoordinator.updatePatternSubscription, needRejoin,
SubscriptionState.matchesSubscribedPattern; java.util.regex.Matcher.matches (1.0.2).
Differs from Kafka: exclude.internal.topics is always on, and patterns are such that Java and
Python read them in the same way.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random

from kafkalearn.grading.exercise import Table

Case = tuple[str, Sequence[Mapping[str, int]], Sequence[str]]
"""pattern, updates (topic -> partitions, one after the other), internal topics."""
Seen = tuple[list[str], bool]
INTERNAL = ("__consumer_offsets", "__transaction_state")
TOPICS = (
    *("orders", "orders-eu", "orders-us", "orders2", "my-orders", "order", "mails", "mails.eu"),
    *("audit", "audit_1", "payments", "payments-eu", "__mine", "_schemas"),
)
ROWS_SHOWN = 8


def reference(case: Case) -> list[Seen]:
    """Slow and obvious: list who matches in each update; join where that list or a size is new."""
    pattern, updates, internal = case
    seen: list[Seen] = []
    before: list[tuple[str, int]] | None = None
    for update in updates:
        matched = [
            (topic, update[topic])
            for topic in sorted(update)
            if topic not in internal and re.fullmatch(pattern, topic)
        ]
        seen.append(([topic for topic, _ in matched], matched != before))
        before = matched
    return seen


def inputs(check: str, seed: int) -> Iterable[Case]:
    """Give the clusters of one check, small ones first; equal seeds give equal clusters."""
    return sorted(_CASES[check](Random(f"{seed} {check}")), key=_size)


def _size(case: Case) -> int:
    return sum(map(len, case[1]))


def _whole_names(random: Random) -> Iterator[Case]:
    names = dict.fromkeys(("orders", "orders-eu", "orders2", "my-orders"), 1)
    for pattern in ("orders", "orders.", "orders.*", "^ord", "orders|mails", "orders.*?"):
        yield pattern, [names], INTERNAL
    for _ in range(8):
        one, two = random.sample(TOPICS[:9], 2)
        pattern = random.choice([one, f"{one}|{two}", f"{one[:4]}", f"{one}.", f".*{one[-3:]}"])
        near = {one: 1, two: 1, f"{one}-x": 1, f"x-{two}": 1, f"{one}9": 1}
        yield pattern, [near], INTERNAL


def _internal(random: Random) -> Iterator[Case]:
    cluster = {"orders": 2, INTERNAL[0]: 50, "__mine": 1}
    yield ".*", [cluster], INTERNAL
    yield "__.*", [cluster], INTERNAL
    for _ in range(6):
        own = random.sample(TOPICS, random.randint(1, 4))
        pattern = random.choice([".*", "_.*", "__.*", ".*s.*"])
        before = dict.fromkeys([*own, "__mine"], 1)
        yield pattern, [before, before | {random.choice(INTERNAL): 50}], INTERNAL


def _rejoin(random: Random) -> Iterator[Case]:
    one, two = {"orders": 1}, {"orders": 1, "orders-eu": 1}
    yield "orders.*", [one, one | {"mails": 1}], INTERNAL
    yield "orders.*", [one, two, two, one], INTERNAL
    yield "orders.*", [{"mails": 3}, {}, one], INTERNAL
    yield "orders.*", [one, {"orders-eu": 1}], INTERNAL
    yield "orders.*", [one, {"mails": 1}, {}], INTERNAL
    for _ in range(6):
        yield _pattern(random), list(_life(random, grow=False)), INTERNAL
        yield _swapped(random)


def _swapped(random: Random) -> Case:
    """Let a topic that matches go when another comes, as large; what else there is stays."""
    gone, comes = random.sample(("orders", "orders-eu", "orders-us", "orders2"), 2)
    rest = dict.fromkeys(random.sample(("orders9", "mails", "audit", "my-orders"), 2), 1)
    count = random.randint(1, 5)
    before, after = rest | {gone: count}, rest | {comes: count}
    return "orders.*", [before, before, after, after][random.randrange(2) :], INTERNAL


def _partitions(random: Random) -> Iterator[Case]:
    yield "orders.*", [{"orders": 1}, {"orders": 2}, {"orders": 2}], INTERNAL
    yield "orders.*", [{"orders": 1, "mails": 1}, {"orders": 1, "mails": 4}], INTERNAL
    yield "orders.*", [{"orders": 2}, {"orders": 1}, {"orders": 1}], INTERNAL
    yield "orders.*", [{"orders": 2, "orders2": 1}, {"orders": 1, "orders2": 2}], INTERNAL
    for _ in range(6):
        yield _made_anew(random)
        first = random.choice(TOPICS[:3])
        small = {first: random.randint(1, 5), "mails": 1}
        later = small | {"mails": 2}
        updates = [small, later, later | {first: small[first] + 1}]
        yield f"{first}.*", updates, INTERNAL


def _made_anew(random: Random) -> Case:
    """Let a topic have fewer partitions than before, maybe while another gets as many more."""
    one, two = random.sample(("orders", "orders-eu", "orders-us", "orders2"), 2)
    less = random.randint(1, 3)
    before = {one: less + random.randint(1, 4), two: random.randint(1, 5), "mails": 1}
    other = random.choice([two, "mails"])
    after = before | {one: before[one] - less, other: before[other] + random.choice([0, less])}
    return "orders.*", [before, after, after], INTERNAL


def _any_cluster(random: Random) -> Iterator[Case]:
    for _ in range(12):
        yield _pattern(random), list(_life(random, grow=True)), INTERNAL


def _pattern(random: Random) -> str:
    return random.choice(["orders.*", "(orders|mails).*", ".*-eu", "a.*|m.*", ".*", "[a-o]+"])


def _life(random: Random, *, grow: bool) -> Iterator[dict[str, int]]:
    """Let topics come, go, grow, be made anew and stay: up to three steps between two updates."""
    cluster = dict.fromkeys(random.sample(TOPICS, random.randint(1, 4)), 1)
    steps = ["come", "go", "stay", *(["grow", "anew"] if grow else [])]
    for _ in range(random.randint(3, 6)):
        yield dict(cluster)
        for step in random.choices(steps, k=random.randint(1, 3)):
            topic = random.choice(TOPICS)
            mine = random.choice(list(cluster)) if cluster else topic
            if step == "come":
                cluster.setdefault(topic, random.randint(1, 3))
            elif step == "go":
                cluster.pop(mine, None)
            elif step == "grow" and cluster:
                cluster[mine] += random.randint(1, 2)
            elif step == "anew" and cluster:
                cluster[mine] = random.randint(1, 3)


_CASES: dict[str, Callable[[Random], Iterator[Case]]] = {
    "whole-names": _whole_names,
    "internal": _internal,
    "rejoin": _rejoin,
    "partitions": _partitions,
    "any-cluster": _any_cluster,
}


def simpler(case: Case) -> Iterator[Case]:
    """Leave an update out, or a topic of all; the pattern and what is internal stay."""
    pattern, updates, internal = case
    if len(updates) > 1:
        yield from (
            (pattern, [*updates[:i], *updates[i + 1 :]], internal) for i in range(len(updates))
        )
    for topic in sorted({topic for update in updates for topic in update}):
        rest = [{each: update[each] for each in update if each != topic} for update in updates]
        yield pattern, rest, internal


def problem(case: Case, answer: object) -> str | None:
    """Name the first update after which topics or the need to join are others than Kafka's."""
    if not isinstance(answer, list | tuple):
        return f"the answer is {_a(answer)}: a list of (topics, joins) is wanted, one for an update"
    expected = reference(case)
    if len(answer) != len(expected):
        return f"the answer has {len(answer)} entries: {len(expected)} are wanted, one an update"
    for number, (entry, wanted) in enumerate(zip(answer, expected, strict=True), start=1):
        if sentence := _malformed(entry) or _different(case, number, entry, wanted):
            return f"update {number}: {sentence}"
    return None


def _malformed(entry: object) -> str | None:
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return f"{entry!r:.60} is no pair: (topics, joins) is wanted"
    topics, joins = entry
    if not isinstance(topics, list | tuple) or not all(isinstance(each, str) for each in topics):
        return f"the topics are {topics!r:.60}: a list of names is wanted"
    if not isinstance(joins, bool):
        return f"whether it joins is {joins!r:.60}: True or False is wanted"
    return None


def _different(case: Case, number: int, entry: Sequence[object], wanted: Seen) -> str | None:
    pattern, updates, internal = case
    topics, joins = list(entry[0]), entry[1]  # type: ignore[call-overload]
    for topic in sorted(set(wanted[0]) - set(topics)):
        return f"{topic} is missing: its whole name matches {pattern!r}, and it is not internal"
    for topic in topics:
        if topic in wanted[0]:
            if topics.count(topic) > 1:
                return f"{topic} is there twice"
            continue
        if topic not in updates[number - 1]:
            return f"{topic!r:.60} is there, which the metadata do not have"
        if topic in internal:
            return f"{topic} is there, which is internal"
        return f"{topic} is there, but {pattern!r} does not match the whole name"
    return None if joins == wanted[1] else _whether(case, number)


def _whether(case: Case, number: int) -> str:
    """Say why it joins after this update, or does not."""
    seen, updates = reference(case), case[1]
    topics, joins = seen[number - 1]
    if not joins:
        return "it does not join: the topics that match and their partitions are as before"
    if number == 1:
        return "it joins: it is no member yet, even if nothing matches"
    before = seen[number - 2][0]
    for topic in sorted({*topics, *before}):
        if topic not in before:
            return f"it joins: {topic} is new, and matches"
        if topic not in topics:
            return f"it joins: {topic} is gone"
    other = next(each for each in topics if updates[number - 1][each] != updates[number - 2][each])
    count = updates[number - 1][other]
    return (
        f"it joins: {other} has {count} partition{'s' if count > 1 else ''} instead of "
        f"{updates[number - 2][other]}"
    )


def table(case: Case, answer: object) -> Table:
    """Lay out the updates one after the other, with Kafka's answer and this one."""
    pattern, updates, internal = case
    given = answer if isinstance(answer, list | tuple) else []
    rows = [
        (str(number), _counts(update), _entry(wanted), _got(given, number - 1))
        for number, (update, wanted) in enumerate(
            zip(updates, reference(case), strict=True), start=1
        )
    ][:ROWS_SHOWN]
    marked = tuple(
        i
        for i, wanted in enumerate(reference(case)[:ROWS_SHOWN])
        if i < len(given) and (_malformed(given[i]) or not _same(given[i], wanted))
    )
    caption = f"pattern: {pattern}\ninternal: {', '.join(internal)}"
    return Table(caption, ("update", "topics", "expected", "got"), tuple(rows), marked)


def _same(entry: Seen, wanted: Seen) -> bool:
    return sorted(entry[0]) == wanted[0] and entry[1] == wanted[1]


def _counts(update: Mapping[str, int]) -> str:
    return " ".join(f"{topic}:{update[topic]}" for topic in sorted(update)) or "none"


def _got(given: Sequence[object], place: int) -> str:
    if place >= len(given):
        return "-"
    entry = given[place]
    return repr(entry)[:60] if _malformed(entry) else _entry(entry)  # type: ignore[arg-type]


def _entry(entry: Seen) -> str:
    return f"{' '.join(sorted(entry[0])) or 'nothing'}, {'joins' if entry[1] else 'stays'}"


def _a(value: object) -> str:
    return "None (is a `return` missing?)" if value is None else f"a {type(value).__name__}"
