"""Change a group, see what each assignor makes of it, and why. Draws; decides nothing."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafkalearn.records import TopicPartition
from kafkalearn.views.drawings.matrix import picture
from kafkalearn.views.explorers.drawn_widget import DrawnWidget
from kafkalearn.views.explorers.explored_group import ExploredGroup
from kafkalearn.views.explorers.history import Assignor
from kafkalearn.views.explorers.page import page
from kafkalearn.views.explorers.scene import ALL, Scene
from kafkalearn.views.wording import plural, shown


class AssignmentExplorer(DrawnWidget):
    """Shows who reads what under each assignor, and what moves when the group changes.

    assignors: ``all_assignors()``, or your own: anything with `name`, `assign`, maybe `explain`.
    topics: topic -> number of partitions. members: member -> topics that it subscribes to.
    chosen: the name of one assignor, or ``"all"`` for all side by side.

    Every change is a rebalance in which members claim what that assignor had given them. The
    controls in the picture do what the methods do. At most 12 members, 6 topics of 24 partitions.

    Errors: ExplorerError, InvalidTopicError, UnknownAssignorError, and for a partition count
    InvalidAssignmentInputError: all ValueErrors.
    """

    actions = (
        *("add_member", "remove_member", "add_topic", "remove_topic", "set_partitions"),
        *("subscribe", "unsubscribe", "rebalance", "start_over"),
        *("choose", "step", "next_step", "previous_step"),
    )

    def __init__(
        self,
        assignors: Iterable[Assignor],
        *,
        topics: Mapping[str, int],
        members: Mapping[str, Iterable[str]],
        chosen: str = ALL,
    ) -> None:
        self._group = ExploredGroup(assignors, topics=topics, members=members)
        self._scene = Scene(self._group, chosen)
        super().__init__()

    @property
    def assignments(self) -> dict[str, dict[str, list[TopicPartition]]]:
        """Assignor name -> member -> the partitions that it owns now."""
        return {
            name: {member: list(owned) for member, owned in history.answer.items()}
            for name, history in self._group.histories.items()
        }

    def add_member(self, name: str | None = None, topics: Iterable[str] | None = None) -> None:
        """Let a member join: with the first free name and all topics, unless they are given."""
        self._change(self._group.add_member, name, topics)

    def remove_member(self, name: str) -> None:
        """Let a member leave."""
        self._change(self._group.remove_member, name)

    def add_topic(self, name: str | None = None, partitions: int = 3) -> None:
        """Create a topic, to which every member subscribes."""
        self._change(self._group.add_topic, name, partitions)

    def remove_topic(self, name: str) -> None:
        """Delete a topic."""
        self._change(self._group.remove_topic, name)

    def set_partitions(self, topic: str, n: int) -> None:
        """Give a topic another number of partitions; with 0 it counts as missing."""
        self._change(self._group.set_partitions, topic, n)

    def subscribe(self, member: str, topic: str) -> None:
        """Let a member want one more topic."""
        self._change(self._group.subscribe, member, topic)

    def unsubscribe(self, member: str, topic: str) -> None:
        """Let a member no longer want a topic."""
        self._change(self._group.unsubscribe, member, topic)

    def rebalance(self) -> None:
        """Hand out what had to be given up first: the follow-up of cooperative-sticky."""
        self._change(self._group.follow_up)

    def start_over(self) -> None:
        """Go back to the members and topics of the beginning; the chosen assignor stays."""
        self._change(self._group.start_over)

    def choose(self, name: str, *, step: int = 0) -> None:
        """Show one assignor, or ``"all"``."""
        self._scene.choose(name)
        self.step(step) if step else self._draw()

    def step(self, k: int) -> None:
        """Show reason `k` of the chosen assignor, counted from 1; 0 is the result."""
        self._scene.go_to(k)
        self._draw()

    def next_step(self) -> None:
        """Show the next reason."""
        self.step(self._scene.step + 1)

    def previous_step(self) -> None:
        """Show the reason before; before the first comes the result."""
        self.step(self._scene.step - 1)

    def as_text(self) -> str:
        """Tell in words what the pictures show."""
        return self._scene.as_text()

    def picture(self) -> str:
        """Draw what is shown now as one SVG document."""
        step = self._scene.step
        panels = [
            (name, history.frame(step), history.failure)
            for name, history in self._scene.histories.items()
        ]
        return picture(self._scene.sentence(), panels)

    def __repr__(self) -> str:
        members, partitions = len(self._group.members), sum(self._group.topics.values())
        size = f"{plural(members, 'member')}, {plural(partitions, 'partition')}"
        step = f", reason {self._scene.step}" if self._scene.step else ""
        return f"AssignmentExplorer({shown(self._scene.chosen)}: {size}{step})"

    def _change(self, change: Callable[..., None], *arguments: Any) -> None:
        change(*arguments)
        self._scene.step = 0
        self._draw()

    def _page(self, notice: str) -> str:
        return page(self._scene, notice)

    def _said(self) -> str:
        return self._scene.sentence()
