"""What exercise 62 asks, and how an answer to it is judged.

A case is one DataFrame with the events of many small runs, so that a check is one job of Spark's.
The runs come by size: the first that goes wrong is a small one, and is shown as it is.

Source: the columns are those of kafkalearn's trace.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from kafkalearn.grading.exercise import Table

SCHEMA = (
    "run_id string, seq bigint, time_ms bigint, node string, kind string, group_id string, "
    "topic string, partition bigint, offset bigint, detail string"
)
RUNS = 120
PYTHON = re.compile(r"\b\w*(?:Python|Pandas|InArrow)\w*")
PLAN_LINES, PLAN_WIDTH = 10, 100
WORK = re.compile(r"Aggregate|Window|Join")


class Event(NamedTuple):
    """A row of the DataFrame; `detail` is JSON text."""

    run_id: str
    seq: int
    time_ms: int
    node: str
    kind: str
    group_id: str | None
    topic: str
    partition: int
    offset: int
    detail: str | None

    def told(self, name: str) -> Any:
        """Give a value of its detail."""
        return json.loads(self.detail or "{}").get(name)

    @property
    def end(self) -> int:
        """The offset after the records of an append."""
        return int(self.offset + self.told("count"))


class Asked(tuple[str, list[Event]]):
    """The arguments of the answer: the schema, and the rows in no order; and what is to come."""

    tables: tuple[str, ...]


COLUMNS = {
    "lag": ["run_id", "group_id", "topic", "partition", "seq", "lag"],
    "duplicates": ["run_id", "duplicates"],
}
Rows = list[list[Any]]


# What is right: slow and obvious.


def lag(
    events: Sequence[Event],
    *,
    log: Sequence[str] = ("run_id", "topic", "partition"),
    is_there: Callable[[Event, Event], bool] = lambda append, commit: append.seq < commit.seq,
    end: Callable[[Event], int] = lambda append: append.end,
) -> Rows:
    """Give the lag at each commit. log: the columns that name one. is_there: by the commit."""
    logs: dict[tuple[Any, ...], list[Event]] = {}
    for event in events:
        if event.kind == "append":
            logs.setdefault(_values(event, log), []).append(event)
    rows = []
    for commit in events:
        if commit.kind == "offset_stored":
            appends = logs.get(_values(commit, log), [])
            ends = [end(append) for append in appends if is_there(append, commit)]
            named = [commit.run_id, commit.group_id, commit.topic, commit.partition, commit.seq]
            rows.append([*named, max(ends, default=0) - commit.offset])
    return rows


def duplicates(
    events: Sequence[Event],
    *,
    kind: str = "processed",
    effect: Sequence[str] = ("topic", "partition", "offset", "detail"),
    count: Callable[[int], int] = lambda times: times - 1,
) -> Rows:
    """Count in each run the effects but the first. effect: the columns that name what is one."""
    of_run: dict[str, Counter[tuple[Any, ...]]] = {event.run_id: Counter() for event in events}
    for event in events:
        if event.kind == kind:
            of_run[event.run_id][_values(event, effect)] += 1
    return [[run, sum(map(count, found.values()))] for run, found in of_run.items()]


def _values(event: Event, columns: Iterable[str]) -> tuple[Any, ...]:
    return tuple(getattr(event, name) for name in columns)


# What is asked.


def inputs(check: str, seed: int) -> Iterable[Asked]:
    """Give the one DataFrame of a check; equal seeds give equal ones."""
    random = Random(f"{seed} {check}")
    apart = check not in COLUMNS
    runs = [_run(random, number, _world(random, number, apart)) for number in range(RUNS)]
    rows = [event for run in runs for event in run]
    random.shuffle(rows)
    asked = Asked((SCHEMA, rows))
    asked.tables = tuple(name for name in COLUMNS if check.startswith((name, "columns")))
    return [asked]


class World(NamedTuple):
    """Who is there in a run, and how much happens in it."""

    groups: list[str]
    logs: list[tuple[str, int]]
    sinks: list[str]
    steps: int


def _world(random: Random, number: int, apart: bool) -> World:
    """One log, of its own, and one group; or several, with names that other runs have too."""
    steps = 1 + number // 10
    if not apart:
        return World([f"g{number}"], [(f"t{number}", number)], [f"db{number}"], steps)
    logs = [(topic, partition) for topic in ("orders", "mails") for partition in (0, 1)]
    logs = random.sample(logs, random.randint(min(4, 1 + number // 25), 4))
    sinks = ["db", "mail"][: random.randint(1, 2)]
    return World(["billing", "audit"][: random.randint(1, 2)], logs, sinks, steps)


def _run(random: Random, number: int, world: World) -> list[Event]:
    """Let things happen at random, often several in one millisecond.

    No seq is in two runs: what comes of an order without run_id must not depend on Spark.
    """
    ends = dict.fromkeys(world.logs, 0)
    events: list[Event] = []
    run_id, seq, time_ms = f"r{number:03}", number, random.randint(0, 50)
    for _ in range(world.steps):
        topic, partition = random.choice(world.logs)
        kind, node, group, offset, detail = _happens(random, world, ends[topic, partition])
        ends[topic, partition] += (detail or {}).get("count", 0) if kind == "append" else 0
        text = json.dumps(detail) if detail else None
        events.append(
            Event(run_id, seq, time_ms, node, kind, group, topic, partition, offset, text)
        )
        seq += RUNS * random.randint(1, 2)
        time_ms += random.choice([0, 0, 5])
    return events


def _happens(random: Random, world: World, end: int) -> tuple[Any, ...]:
    """Draw a kind, and what belongs to it: node, group, offset, detail."""
    group, node = random.choice(world.groups), random.choice(["c1", "c2"])
    weights = [3, 4, 6, 1, 1] if end else [6, 1, 0, 0, 0]
    kinds = ["append", "offset_stored", "processed", "records_returned", "commit"]
    (kind,) = random.choices(kinds, weights)
    if kind == "append":
        return kind, "broker-0", None, end, {"count": random.randint(1, 3)}
    if kind == "offset_stored":
        return kind, "broker-0", group, random.randint(0, end), None
    if kind == "commit":
        return kind, node, group, random.randint(0, end), {"mode": "auto"}
    offset = random.randrange(min(end, 3))
    what = {"sink": random.choice(world.sinks)} if kind == "processed" else {"count": 1}
    return kind, node, None, offset, what


def simpler(case: Asked) -> Iterator[Asked]:
    """None: its runs are small ones, and each case would be another job of Spark's."""
    return iter(())


# What is wrong.


class Wrong(NamedTuple):
    """The first run that is wrong: its events, the rows that are wanted and those that came."""

    sentence: str
    events: list[Event]
    wanted: Rows
    came: Rows


def problem(case: Asked, answer: object) -> str | None:
    """Say in a learner's words what is wrong with the first table that is."""
    tables = _tables(case, answer)
    if tables is None:
        return f"what came is not what on_rows({', '.join(case.tables)}) gives: is it still ours?"
    for name, (columns, rows, plan) in tables.items():
        if sorted(columns) != sorted(COLUMNS[name]):
            came = ", ".join(columns) or "none"
            return f"{name}: the columns are {came:.200}: {', '.join(COLUMNS[name])} are wanted"
        if wrong := _wrong(case, name, columns, rows):
            return wrong.sentence
        if len(tables) > 1 and (slip := _not_by_spark(name, plan)):
            return slip
    return None


def _tables(case: Asked, answer: object) -> dict[str, tuple[list[str], Rows, str]] | None:
    """Read what came, by name; None if it has another form."""
    if not isinstance(answer, list) or len(answer) != len(case.tables):
        return None
    tables = {}
    for name, each in zip(case.tables, answer, strict=True):
        if not isinstance(each, dict) or each.keys() != {"columns", "rows", "plan"}:
            return None
        columns, rows, plan = each["columns"], each["rows"], each["plan"]
        if not (_all(columns, str) and _all(rows, list) and isinstance(plan, str)):
            return None
        if any(len(row) != len(columns) for row in rows):
            return None
        tables[name] = (columns, rows, plan)
    return tables


def _all(values: object, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(each, kind) for each in values)


def _not_by_spark(name: str, plan: str) -> str | None:
    """Read the plan. Who forges one still needs the right rows, and gains two points."""
    if found := PYTHON.search(plan):
        return (
            f"{name}: its plan has {found[0]:.40}: each row leaves Spark for a Python function and "
            "comes back; columns can do this"
        )
    if not WORK.search(plan):
        return f"{name}: its plan only reads rows; was the work done before, in Python?"
    return None


def _wrong(case: Asked, name: str, columns: list[str], rows: Rows) -> Wrong | None:
    """Compare run by run, small ones first."""
    places = [columns.index(column) for column in COLUMNS[name]]
    events, wanted = _by_run(case[1]), _by_run(REFERENCE[name](case[1]))
    came = _by_run([[row[place] for place in places] for row in rows])
    of_which = f"{name}: " if len(case.tables) > 1 else ""
    for run in sorted(events):
        right, theirs = wanted.get(run, []), came.get(run, [])
        if not _equal(right, theirs):
            in_order = sorted(events[run], key=lambda event: event.seq)
            say = _of_lag if name == "lag" else _of_duplicates
            sentence = f"{of_which}run {run}{say(right, theirs)}{_hint(case, name, came, run)}"
            return Wrong(sentence, in_order, right, theirs)
    for run in came:
        if run not in events:
            said = f"{of_which}a row is of run {run:.40}, of which there is no event"
            return Wrong(said, [], [], came[run])
    return None


def _by_run(rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row[0] if isinstance(row[0], str) else repr(row[0]), []).append(row)
    return found


def _equal(right: Rows, theirs: Rows) -> bool:
    """Whether both hold the same rows; 1, True and 1.0 are three things here."""
    return sorted(map(repr, right)) == sorted(map(repr, theirs))


def _of_lag(right: Rows, theirs: Rows) -> str:
    for row in sorted(right, key=lambda row: row[4]):
        _, group, topic, partition, seq, behind = row
        commit = f"the commit at seq {seq} ({group}, {topic}-{partition})"
        mine = [each for each in theirs if each[4] == seq]
        if len(mine) != 1:
            return f": {commit} has {len(mine)} rows: one is wanted, with lag {behind}"
        if repr(mine[0][5]) != repr(behind):
            return f": {commit} has lag {mine[0][5]!r:.40}, not {behind}"
        if not _equal(mine, [row]):
            return f": {commit} has the row {mine[0]!r:.120}"
    known = [row[4] for row in right]
    extra = next(row for row in theirs if row[4] not in known)
    return f" has a row with seq {extra[4]!r:.40}, which is no commit"


def _of_duplicates(right: Rows, theirs: Rows) -> str:
    ((_, wanted),) = right
    if not theirs:
        none = "" if wanted else ": a run without any is a run, too"
        return f" has no row; one with {wanted} is wanted{none}"
    if len(theirs) > 1:
        return f" has {len(theirs)} rows: one is wanted"
    return f": duplicates is {theirs[0][1]!r:.40}, not {wanted}"


REFERENCE: Mapping[str, Callable[..., Rows]] = {"lag": lag, "duplicates": duplicates}
SLIPS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "lag": {
        "An append may bring several records: see `count` in its detail": {
            "end": lambda append: append.offset + 1
        },
        "The appends are to be there when the window looks for them": {
            "is_there": lambda append, commit: False
        },
        "What is appended later does not count": {"is_there": lambda append, commit: True},
        "Several things happen in one millisecond: the order is that of seq": {
            "is_there": lambda append, commit: append.time_ms <= commit.time_ms
        },
        "Another run has nothing to do with it": {"log": ("topic", "partition")},
        "Another topic has nothing to do with it": {"log": ("run_id", "partition")},
        "Another partition has nothing to do with it": {"log": ("run_id", "topic")},
    },
    "duplicates": {
        "What poll returned is not processed yet": {"kind": "records_returned"},
        "A record that was processed three times has two duplicates": {
            "count": lambda times: int(times > 1)
        },
        "The first time is none": {"count": lambda times: times if times > 1 else 0},
        "Each sink counts for itself: see `sink` in the detail": {
            "effect": ("topic", "partition", "offset")
        },
        "Offsets begin anew in each partition": {"effect": ("topic", "offset", "detail")},
        "Offsets begin anew in each topic": {"effect": ("partition", "offset", "detail")},
    },
}
"""The usual slips, in words, and how the reference makes them."""


def _hint(case: Asked, name: str, came: Mapping[str, Rows], run: str) -> str:
    """Name the slip that gives what came: in all runs, or else in this one."""
    found = {
        words: _by_run(REFERENCE[name](case[1], **slip)) for words, slip in SLIPS[name].items()
    }
    for words, rows in found.items():
        if all(_equal(came.get(each, []), rows[each]) for each in rows):
            return f". {words}"
    for words, rows in found.items():
        if _equal(came.get(run, []), rows.get(run, [])):
            return f". {words}"
    return ""


def table(case: Asked, answer: object) -> Table:
    """Lay out the run that is wrong, event by event; or the plan that is."""
    tables = _tables(case, answer) or {}
    for name, (columns, rows, plan) in tables.items():
        if sorted(columns) == sorted(COLUMNS[name]):
            if wrong := _wrong(case, name, columns, rows):
                return _of_run(name, wrong)
            if len(tables) > 1 and _not_by_spark(name, plan):
                lines = tuple((line[:PLAN_WIDTH],) for line in plan.splitlines()[:PLAN_LINES])
                return Table(f"how Spark computes {name}, the last step first", ("plan",), lines)
    some = sorted(_by_run(case[1])["r024"], key=lambda event: event.seq)
    return _of_run("", Wrong("", some, [], []))


def _of_run(name: str, wrong: Wrong) -> Table:
    header = ("seq", "ms", "node", "kind", "group", "partition", "offset", "detail")
    lines = [_line(event) for event in wrong.events]
    marked = []
    if name == "lag":
        header += ("lag", "got")
        for at, event in enumerate(wrong.events):
            values = [_lags(rows, event.seq) for rows in (wrong.wanted, wrong.came)]
            lines[at] += tuple(values)
            marked += [at] if values[0] != values[1] else []
    caption = f"events of run {wrong.events[0].run_id}" if wrong.events else "no event"
    return Table(caption, header, tuple(lines), tuple(marked))


def _line(event: Event) -> tuple[str, ...]:
    _, seq, time_ms, node, kind, group, topic, partition, offset, detail = event
    numbers = (str(seq), str(time_ms))
    return (*numbers, node, kind, group or "", f"{topic}-{partition}", str(offset), detail or "")


def _lags(rows: Rows, seq: int) -> str:
    return ", ".join(f"{row[5]!r:.20}" for row in rows if row[4] == seq)
