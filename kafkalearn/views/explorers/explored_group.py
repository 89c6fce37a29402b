"""The group that an explorer plays with, and what each assignor makes of every change to it.

A refused value is an error that names it and what is allowed.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count

from kafkalearn.records import check_topic
from kafkalearn.views.explorers.history import Assignor, History
from kafkalearn.views.explorers.model import ExplorerError, Model, partitions
from kafkalearn.views.wording import plural, shown

MAX_MEMBERS = 12
MAX_TOPICS = 6
MAX_ASSIGNORS = 6
MAX_NAME = 249


class ExploredGroup(Model):
    """Each change is one rebalance under every assignor; `change` says what happened last."""

    def __init__(
        self,
        assignors: Iterable[Assignor],
        *,
        topics: Mapping[str, int],
        members: Mapping[str, Iterable[str]],
    ) -> None:
        self.assignors = _assignors(assignors)
        for what, value in (("topics", topics), ("members", members)):
            if not isinstance(value, Mapping):
                raise ExplorerError(f"{what} is {value!r:.80}: a dict is allowed")
        self._start = (dict(topics), {m: _topic_list(t) for m, t in members.items()})
        self.start_over()

    def start_over(self) -> None:
        """Go back to the members and topics of the beginning, and assign for the first time."""
        self.topics: dict[str, int] = {}
        self.members: dict[str, tuple[str, ...]] = {}
        self.histories = {assignor.name: History(assignor) for assignor in self.assignors}
        topics, members = self._start
        for topic, number in topics.items():
            self._new_topic(topic, number)
        for member, wanted in members.items():
            self._new_member(member, wanted)
        shared = plural(sum(self.topics.values()), "partition")
        self._rebalance(f"The first assignment of {shared} to {plural(len(members), 'member')}")

    def add_member(self, name: str | None = None, topics: Iterable[str] | None = None) -> None:
        """Let a member join: with the first free name and all topics, unless they are given."""
        name = _free_name(self._start[1], self.members, otherwise="c") if name is None else name
        self._new_member(name, self.topics if topics is None else topics)
        self._rebalance(f"{shown(name)} joined")

    def remove_member(self, name: str) -> None:
        """Let a member leave."""
        del self.members[self._member(name)]
        self._rebalance(f"{shown(name)} left")

    def add_topic(self, name: str | None = None, partitions: int = 3) -> None:
        """Create a topic, to which every member subscribes."""
        name = _free_name(self._start[0], self.topics, otherwise="t") if name is None else name
        self._new_topic(name, partitions)
        self.members = {member: (*topics, name) for member, topics in self.members.items()}
        self._rebalance(f"{shown(name)} was added with {plural(self.topics[name], 'partition')}")

    def remove_topic(self, name: str) -> None:
        """Delete a topic."""
        del self.topics[self._topic(name)]
        self.members = {
            member: tuple(topic for topic in topics if topic != name)
            for member, topics in self.members.items()
        }
        self._rebalance(f"{shown(name)} was deleted")

    def set_partitions(self, topic: str, n: int) -> None:
        """Give a topic another number of partitions; with 0 it counts as missing."""
        before, now = self.topics[self._topic(topic)], _partitions(topic, n)
        if now != before:
            self.topics[topic] = now
            self._rebalance(
                f"{shown(topic)} now has {plural(now, 'partition')} instead of {before}"
            )

    def subscribe(self, member: str, topic: str) -> None:
        """Let a member want one more topic."""
        if self._topic(topic) in self.members[self._member(member)]:
            raise ExplorerError(f"{member} already subscribes to {topic}")
        self.members[member] = (*self.members[member], topic)
        self._rebalance(f"{shown(member)} now subscribes to {shown(topic)}")

    def unsubscribe(self, member: str, topic: str) -> None:
        """Let a member no longer want a topic."""
        if self._topic(topic) not in self.members[self._member(member)]:
            raise ExplorerError(f"{member} does not subscribe to {topic}")
        self.members[member] = tuple(each for each in self.members[member] if each != topic)
        self._rebalance(f"{shown(member)} no longer subscribes to {shown(topic)}")

    def rebalance(self) -> None:
        """Hand out what had to be given up first: the follow-up of cooperative-sticky.

        The other assignors have nothing to hand out, and their pictures stay.
        """
        waiting = [name for name, each in self.histories.items() if any(each.awaited.values())]
        if not waiting:
            raise ExplorerError(
                "no partition waits to be given up, so there is no follow-up rebalance"
            )
        for name in waiting:
            self.histories[name].follow_up()
        self.change, self.concerned = "The follow-up rebalance", waiting
        self._changed()

    def _rebalance(self, change: str) -> None:
        for history in self.histories.values():
            history.rebalance(self.topics, self.members)
        self.change, self.concerned = change, list(self.histories)
        self._changed()

    def _new_topic(self, name: str, partitions: int) -> None:
        if check_topic(name) in self.topics:
            raise ExplorerError(f"there already is a topic {name}")
        if len(self.topics) >= MAX_TOPICS:
            raise ExplorerError(
                f"{name} is one topic too many: at most {MAX_TOPICS} fit the picture"
            )
        self.topics[name] = _partitions(name, partitions)

    def _new_member(self, name: str, topics: Iterable[str]) -> None:
        if not isinstance(name, str) or not name or len(name) > MAX_NAME:
            raise ExplorerError(
                f"{name!r:.80} is no member's name: a text of 1 to {MAX_NAME} characters is allowed"
            )
        if name in self.members:
            raise ExplorerError(f"there already is a member {name}")
        if len(self.members) >= MAX_MEMBERS:
            raise ExplorerError(
                f"{name} is one member too many: at most {MAX_MEMBERS} fit the picture"
            )
        wanted = _topic_list(topics)
        for topic in wanted:
            self._topic(topic)
        self.members = dict(sorted({**self.members, name: wanted}.items()))  # as assignors go

    def _member(self, name: str) -> str:
        if not isinstance(name, str) or name not in self.members:
            raise ExplorerError(f"there is no member {name!r}: {_choice(self.members)}")
        return name

    def _topic(self, name: str) -> str:
        if not isinstance(name, str) or name not in self.topics:
            raise ExplorerError(f"there is no topic {name!r}: {_choice(self.topics)}")
        return name


def _assignors(assignors: Iterable[Assignor]) -> tuple[Assignor, ...]:
    if not isinstance(assignors, Iterable):
        raise ExplorerError(
            f"the assignors are {shown(repr(assignors), 60)}: a list is allowed, as in "
            "[RangeAssignor()]"
        )
    found = tuple(assignors)
    for each in found:
        if isinstance(each, type):
            raise ExplorerError(f"{each.__name__} is a class: write {each.__name__}()")
    names = [getattr(each, "name", None) for each in found]
    if not found or len(found) > MAX_ASSIGNORS or len(set(names)) < len(names):
        raise ExplorerError(
            f"the assignors are {names}: 1 to {MAX_ASSIGNORS} with different names are allowed"
        )
    for each, name in zip(found, names, strict=True):
        if not isinstance(name, str) or not name or not callable(getattr(each, "assign", None)):
            raise ExplorerError(
                f"{each!r:.80} is no assignor: something with a `name` and `assign` is allowed"
            )
    return found


def _free_name(beginning: Iterable[str], taken: Collection[str], *, otherwise: str) -> str:
    """Count up from the first name of the beginning: c0, c1 …; one that has left is free again."""
    numbered = re.fullmatch("(.*?)([0-9]+)", next(iter(beginning), ""), re.DOTALL)
    stem, number = numbered.groups() if numbered else (otherwise, 0)
    return next(name for n in count(int(number)) if (name := f"{stem}{n}") not in taken)


def _partitions(topic: str, count: int) -> int:
    return partitions(count, of=f" of {topic}", least=0)


def _topic_list(topics: Iterable[str]) -> tuple[str, ...]:
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise ExplorerError(f"topics is {topics!r:.80}: a list of topic names is allowed")
    return tuple(dict.fromkeys(topics))


def _choice(names: Sequence[str] | Mapping[str, object]) -> str:
    return f"{', '.join(names)} are allowed" if names else "there is none at all"
