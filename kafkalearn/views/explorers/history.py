"""What one assignor has answered, rebalance by rebalance, and so what its members own and claim.

Differs from Kafka: every member hears of every rebalance, so no claim is of an old generation.
"""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Protocol

from kafkalearn.records import Subscription, TopicPartition
from kafkalearn.views.assignment import Assignment, Frame, Owned, Step, frames
from kafkalearn.views.wording import shown


class Assignor(Protocol):
    """What an explorer needs; an assignor that also has `explain` can be stepped through."""

    @property
    def name(self) -> str:
        """Stands above its picture."""

    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> Assignment:
        """Give every member its partitions."""


class _WrongAnswerError(Exception):
    """An assignor gave what no group could take."""


class History:
    """One assignor's group: members own `answer`; the picture compares it with `before`.

    result: the frame of that change. steps: the reasons, none if they do not add up.
    failure: what went wrong, or nothing.
    """

    def __init__(self, assignor: Assignor) -> None:
        self.assignor = assignor
        self.generation = 0
        self.before: Owned = {}
        self.answer: Owned = {}
        self.failure = ""
        self._topics: dict[str, int] = {}
        self._stepped: list[Frame] = []
        self._subscriptions: dict[str, Subscription] = {}

    def rebalance(self, topics: Mapping[str, int], members: Mapping[str, Sequence[str]]) -> None:
        """Ask anew, each member claiming what it owns of the topics that it subscribes to."""
        self.before = self.answer
        self._topics = dict(topics)
        self._ask(members)

    def follow_up(self) -> None:
        """Rebalance again to hand out what was given up; `before` stays, to compare the whole."""
        self._ask({member: each.topics for member, each in self._subscriptions.items()})

    def frame(self, step: int = 0) -> Frame:
        """Show reason `step`, counted from 1, or the result."""
        if not step:
            return self.result
        if not self._stepped:
            self._stepped = self._frames(self.steps)
        return self._stepped[step - 1]

    def _ask(self, members: Mapping[str, Sequence[str]]) -> None:
        self._subscriptions = self._claims(members)
        self.generation += 1
        try:
            self.answer, self.failure = self._answer(self._subscriptions), ""
        except (Exception, SystemExit) as error:  # a learner's own assignor may raise anything
            self.answer, self.failure = {member: [] for member in members}, _reason(error)
        self.awaited = {} if self.failure else self._peek()
        self.result = self._frames()[-1]
        self.steps = self._explain()
        self._stepped = []

    def _frames(self, steps: Sequence[Step] = ()) -> list[Frame]:
        may_read = {
            member: [TopicPartition(t, n) for t in each.topics for n in range(self._topics[t])]
            for member, each in self._subscriptions.items()
        }
        shown_now = frames(
            self.before, self.answer, may_read=may_read, awaited=self.awaited, steps=steps
        )
        for frame in shown_now:  # in the order in which assignors go round
            frame["members"].sort(key=itemgetter("name"))
        return shown_now

    def _explain(self) -> list[Step]:
        explain = getattr(self.assignor, "explain", None)
        if explain is None or self.failure:
            return []
        filling: Owned = {member: [] for member in self._subscriptions}
        try:
            steps = list(explain(dict(self._topics), dict(self._subscriptions)))
            for step in steps:
                step.apply(filling)
                if not isinstance(step.sentence, str) or not all(
                    isinstance(partition, TopicPartition) for partition, _, _ in step.changes
                ):
                    return []
        except Exception:  # a learner's own assignor may raise anything
            return []
        return steps

    def _claims(self, members: Mapping[str, Sequence[str]]) -> dict[str, Subscription]:
        return {
            member: Subscription(
                topics,
                [p for p in self.answer.get(member, ()) if p.topic in topics],
                self.generation if member in self.answer else -1,
            )
            for member, topics in members.items()
        }

    def _peek(self) -> Owned:
        """Look ahead: whom a follow-up rebalance gives what the assignor held back."""
        owner = {p: m for m, s in self._subscriptions.items() for p in s.owned_partitions}
        held_back = owner.keys() - {p for owned in self.answer.values() for p in owned}
        if not held_back:
            return {}
        try:
            then = self._answer(self._claims({m: s.topics for m, s in self._subscriptions.items()}))
        except Exception:  # that it fails now is shown when the follow-up is asked for
            return {}
        return {
            m: [p for p in owned if p in held_back and owner[p] != m] for m, owned in then.items()
        }

    def _answer(self, subscriptions: Mapping[str, Subscription]) -> Owned:
        given = self.assignor.assign(dict(self._topics), dict(subscriptions))
        if not isinstance(given, Mapping):
            raise _WrongAnswerError(
                f"a {type(given).__name__}: a dict member -> partitions is allowed"
            )
        for stranger in given.keys() - subscriptions.keys():
            raise _WrongAnswerError(f"partitions to {stranger!r}, who is no member")
        answer = {m: [TopicPartition(*p) for p in given.get(m, ())] for m in subscriptions}
        self._check(answer, subscriptions)
        return answer

    def _check(self, answer: Owned, subscriptions: Mapping[str, Subscription]) -> None:
        owner: dict[TopicPartition, str] = {}
        for member, partition in [(m, p) for m, owned in answer.items() for p in owned]:
            topic, number = partition
            if type(number) is not int or number not in range(self._topics.get(topic, 0)):
                wrong = "but there is no such partition"
            elif topic not in subscriptions[member].topics:
                wrong = f"who does not subscribe to {topic}"
            elif partition in owner:
                wrong = f"but {owner[partition]} already has it"
            else:
                owner[partition] = member
                continue
            raise _WrongAnswerError(f"{partition} to {member}, {wrong}")


def _reason(error: BaseException) -> str:
    said = shown(str(error), 160)
    if isinstance(error, _WrongAnswerError):
        return f"assign gave {said}"
    return f"assign failed with {type(error).__name__}" + (f": {said}" if said else "")
