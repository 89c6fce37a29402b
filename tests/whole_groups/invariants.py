"""What holds of consumers in a group: folds over a trace, each of which tells every breach.

Those that hold of coordinators are in tests/stateful. See test_invariants.py for what each refuses.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from kafkalearn.trace import Event
from tests.stateful.answers import unanswered_requests
from tests.stateful.commits import commits_half_done, lost_commits
from tests.stateful.followed import GROUP_KINDS, Group, crashed_node, followed, has_ended
from tests.stateful.invariants import (
    events_of_the_gone,
    generations_that_go_back,
    illegal_transitions,
)

MESSAGES = ("send", "receive", "respond", "response", "dropped", "disconnected")
RECORDED = (
    *sorted(GROUP_KINDS),
    *("assigned", "revoked", "records_returned", "processed", "position", "logged"),
    "client_state",
    *("append", "topic_changed", "fault"),
)
Place = tuple[str | None, int | None]
DAY_MS = 86_400_000


def place_of(event: Event) -> Place:
    """Give the partition of an event."""
    return event.topic, event.partition


def partitions_of(event: Event) -> list[Place]:
    """Give the partitions that an assigned or a revoked names."""
    return [
        (topic, number)
        for topic, numbers in (event.detail or {})["partitions"].items()
        for number in numbers
    ]


def callback_message(number: int, error: Exception | None) -> str:
    """Word what a callback of the run writes into the trace."""
    return f"commit {number}: {'NONE' if error is None else type(error).__name__}"


@dataclass
class Owned:
    """What one consumer has, by its own account.

    partitions: to the offset that polls have to return next; None while it is not known.
    """

    group_id: str | None = None
    member_id: str | None = None
    generation: int | None = None
    partitions: dict[Place, int | None] = field(default_factory=dict)


def learn_ownership(nodes: dict[str, Owned], event: Event) -> None:
    """Follow what each consumer, by node, is given, gives up and returns."""
    if event.kind == "assigned":
        had = nodes.get(event.node, Owned()).partitions
        has = {each: had.get(each) for each in partitions_of(event)}
        nodes[event.node] = Owned(event.group_id, event.member_id, event.generation, has)
    elif crashed_node(event):
        nodes.pop(event.node, None)
    elif event.node in nodes:
        partitions, place = nodes[event.node].partitions, place_of(event)
        if event.kind == "revoked":
            for each in partitions_of(event):
                partitions.pop(each, None)
        elif place in partitions:
            if event.kind == "records_returned":
                partitions[place] = event.offset + event.detail["count"]
            elif event.kind == "position" and event.detail["reason"] != "consumed":
                partitions[place] = event.offset


def owned(events: Iterable[Event]) -> Iterator[tuple[Event, Owned]]:
    """Give each event with what its node has just before."""
    nodes: dict[str, Owned] = {}
    for event in events:
        yield event, nodes.get(event.node, Owned())
        learn_ownership(nodes, event)


class Standing:
    """Where a group of consumers stands: who has what, and what was read.

    topics: those that the members subscribe to.
    """

    def __init__(self, topics: Iterable[str]) -> None:
        self._counts = dict.fromkeys(topics, 0)
        self._group = Group()
        self._nodes: dict[str, Owned] = {}
        self._states: dict[str, str] = {}  # of each node, as it sees itself
        self.unprocessed: dict[tuple, int] = {}  # (topic, partition, offset) -> seq of the append

    def learn(self, event: Event) -> None:
        """Take an event in."""
        learn_ownership(self._nodes, event)
        if event.kind in GROUP_KINDS:
            self._group.learn(event)
        elif event.kind == "client_state":
            self._states[event.node] = event.detail["to"]
        elif crashed_node(event) == self._group.node is not None:
            self._group.leave_coordinator()
        elif event.kind == "topic_changed" and event.topic in self._counts:
            self._counts[event.topic] = event.detail["count"]
        elif event.kind == "append" and event.topic in self._counts:
            for offset in range(event.offset, event.offset + event.detail["count"]):
                self.unprocessed[(*place_of(event), offset)] = event.seq
        elif event.kind == "processed":
            self.unprocessed.pop((*place_of(event), event.offset), None)

    def unsettled(self) -> Iterator[str]:
        """Say what is not as it should be when nothing happens any more."""
        if self._group.state != "Stable":
            yield f"the group is {self._group.state}"
        for topic, count in self._counts.items():
            for place in ((topic, number) for number in range(count)):
                have = [
                    name
                    for name, has in self._nodes.items()
                    if place in has.partitions and self._states.get(name) == "STABLE"
                ]
                if len(have) != 1:
                    yield f"{topic}-{place[1]} belongs to {' and '.join(have) or 'nobody'}"
        if not all(self._counts.values()):
            yield "a topic is missing"

    def open_ends(self) -> Iterator[str]:
        """Say what is unsettled, or was not read."""
        yield from self.unsettled()
        for (topic, partition, offset), seq in self.unprocessed.items():
            yield f"{seq}: {topic}-{partition} {offset} was never processed"


def unsettled_groups(events: Iterable[Event], *, topics: Iterable[str]) -> Iterator[str]:
    """In the end the group is Stable, and each partition of its topics has one owner."""
    standing = Standing(topics)
    for event in events:
        standing.learn(event)
    yield from standing.unsettled()


def lost_records(
    events: Iterable[Event],
    *,
    topics: Iterable[str],
    acknowledged: Collection[tuple],
    settled_seq: int,
) -> Iterator[str]:
    """What a broker took is processed at least once, and it took what it acknowledged.

    So it is for a group that starts at earliest, commits after processing and meets no retention.
    That a record was not acknowledged does not mean that it is not there: a request that a producer
    gave up may come when all members have ended, from settled_seq on.
    """
    standing, taken = Standing(topics), set()
    for event in events:
        if event.kind != "append" or event.seq < settled_seq:
            standing.learn(event)
        if event.kind == "append":
            last = event.offset + event.detail["count"]
            taken |= {(*place_of(event), offset) for offset in range(event.offset, last)}
    for topic, partition, offset in acknowledged:
        if (topic, partition, offset) not in taken:
            yield f"{topic}-{partition} {offset} was acknowledged, and no broker has it"
    for (topic, partition, offset), seq in standing.unprocessed.items():
        yield f"{seq}: {topic}-{partition} {offset} was never processed"


def commits_of_the_unprocessed(events: Iterable[Event]) -> Iterator[str]:
    """No committed offset passes a record that was not processed, by whomever, before.

    So it is where members commit after processing only.
    """
    processed: dict[Place, set[int]] = {}
    known: dict[Place, int] = {}  # up to here all is processed
    for event in events:
        if event.kind == "processed":
            processed.setdefault(place_of(event), set()).add(event.offset)
        elif event.kind == "offset_stored":
            place = place_of(event)
            done = processed.get(place, set())
            missing = [
                each for each in range(known.get(place, 0), event.offset) if each not in done
            ]
            if missing:
                where = f"{event.seq}: {event.topic}-{event.partition}"
                yield f"{where} is committed at {event.offset}, and {missing[0]} is not processed"
            else:
                known[place] = max(known.get(place, 0), event.offset)


def records_of_two(events: Iterable[Event], *, loners: Collection[str]) -> Iterator[str]:
    """One generation's records of a partition go to one member, which was given the partition.

    No more is promised: a member that does not know yet that the group went on returns records of
    its older generation, while another returns the same ones of a newer. Nor is anything of loners,
    the nodes that assign themselves.
    """
    given: dict[tuple, str] = {}
    for event, has in owned(events):
        where = f"{event.seq}: {event.node}"
        places: list[Place] = []
        if event.kind == "assigned":
            has, places = Owned(event.group_id, None, event.generation), partitions_of(event)
        elif event.kind == "records_returned" and event.node not in loners:
            places = [place_of(event)]
            if places[0] not in has.partitions:
                yield f"{where} returns records of {event.topic}-{event.partition}, not its own"
        elif has_ended(event):
            given = {key: node for key, node in given.items() if key[0] != event.group_id}
        for topic, number in places:
            other = given.setdefault((has.group_id, has.generation, topic, number), event.node)
            if other != event.node:
                yield f"{where} has {topic}-{number} in generation {has.generation}: {other}'s"


def gaps(events: Iterable[Event]) -> Iterator[str]:
    """What a member's polls return of a partition begins where it was told to, and has no holes.

    It is told by the committed offset, a reset or a seek: each is a position with a reason.
    """
    for event, has in owned(events):
        if event.kind == "records_returned" and place_of(event) in has.partitions:
            due = has.partitions[place_of(event)]
            if event.offset != due:
                where = f"{event.seq}: {event.node}: {event.topic}-{event.partition}"
                yield f"{where} goes on at {event.offset}, not {due}"


def commits_beyond_positions(events: Iterable[Event]) -> Iterator[str]:
    """A member commits what its position was, or less."""
    reached: dict[tuple, int] = {}  # (member id, if any; partition) -> its highest position
    for event, has in owned(events):
        if event.kind == "position" and event.offset is not None:
            key = has.member_id, place_of(event)
            reached[key] = max(event.offset, reached.get(key, 0))
        elif event.kind in ("assigned", "revoked") and event.member_id:
            # Up to 2.7.1 a new id may keep what the old one had, and give it up later.
            for place in has.partitions.keys() & set(partitions_of(event)):
                before = reached.get((has.member_id, place), -1)
                key = event.member_id, place
                reached[key] = max(before, reached.get(key, -1))
        elif event.kind == "offset_stored":
            position = reached.get((event.member_id or None, place_of(event)), -1)
            if event.offset > position:
                where = f"{event.seq}: {event.member_id or 'no member'} commits"
                what = f"{event.topic}-{event.partition} at {event.offset}"
                yield f"{where} {what}, and its position was {position}"


def commits_of_the_old(events: Iterable[Event]) -> Iterator[str]:
    """A group takes offsets from its members in its generation; from others while it has none."""
    for event, group in followed(events):
        if event.kind != "offset_stored":
            continue
        if event.generation < 0:
            is_right = not group.members
        else:
            is_right = event.member_id in group.members and event.generation == group.generation
        if not is_right:
            who = f"{event.member_id or 'no member'} of generation {event.generation}"
            yield f"{event.seq}: {who} commits, and the group is in {group.generation}"


def callbacks_out_of_order(events: Iterable[Event]) -> Iterator[str]:
    """Callbacks of one consumer's asynchronous commits run in the order of the calls.

    But for those that the client itself refuses at once, as it rebalances while earlier commits are
    still on their way: they run as the commits end.
    """
    last: dict[str, int] = {}
    for event in events:
        if event.kind == "logged" and event.detail["message"].startswith("commit "):
            _, called, outcome = event.detail["message"].split()
            if outcome == "RebalanceInProgressError":
                continue
            number = int(called.rstrip(":"))
            if number < last.get(event.node, 0):
                where = f"{event.seq}: {event.node}"
                yield f"{where} is told of commit {number} after {last[event.node]}"
            last[event.node] = number


def invariants_of(
    *,
    topics: Collection[str],
    acknowledged: Collection[tuple],
    loners: Collection[str],
    loses_nothing: bool,
    settled_seq: int | None,
) -> Mapping[str, object]:
    """Name each fold over a whole run; topics, acknowledged and loners are those of the folds.

    loses_nothing: whether members commit after processing only. settled_seq: where members begin to
    end, all being settled; None if it need not be, see Plan.
    """
    asked = {
        "states": illegal_transitions,
        "generations": generations_that_go_back,
        "ghosts": events_of_the_gone,
        "owners": partial(records_of_two, loners=loners),
        "gaps": gaps,
        "positions": commits_beyond_positions,
        "committers": commits_of_the_old,
        "callbacks": callbacks_out_of_order,
    }
    if loses_nothing:
        asked["unprocessed"] = commits_of_the_unprocessed
    if loses_nothing and settled_seq is not None:
        asked["lost"] = partial(
            lost_records, topics=topics, acknowledged=acknowledged, settled_seq=settled_seq
        )
    return asked


def message_invariants_of(*, joins_end_silently: bool) -> Mapping[str, object]:
    """Name each fold over a whole run of which messages are recorded, too."""
    return {
        "commits": partial(lost_commits, retention_ms=DAY_MS),
        "refusals": commits_half_done,
        "answers": partial(_unanswered, joins_end_silently=joins_end_silently),
    }


def _unanswered(events: Iterable[Event], *, joins_end_silently: bool) -> Iterator[str]:
    """Leave fetches out: one that waits at a broker ends with its consumer."""
    others = (event for event in events if event.api != "Fetch")
    return unanswered_requests(others, joins_end_silently=joins_end_silently)
