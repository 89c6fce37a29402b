"""Change a group, see what each assignor makes of it, and why. Draws; decides nothing."""

from kafkalearn.records import TopicPartition
from kafkalearn.views.drawings.matrix import picture
from kafkalearn.views.explorers.assignment_page import page
from kafkalearn.views.explorers.explorer import Explorer
from kafkalearn.views.explorers.scene import Scene
from kafkalearn.views.wording import plural, shown


class AssignmentExplorer(Scene, Explorer):
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

    @property
    def assignments(self) -> dict[str, dict[str, list[TopicPartition]]]:
        """Assignor name -> member -> the partitions that it owns now."""
        return {
            name: {member: list(owned) for member, owned in history.answer.items()}
            for name, history in self.histories.items()
        }

    def picture(self) -> str:
        """Draw what is shown now as one SVG document."""
        panels = [
            (name, history.frame(self.reason), history.failure)
            for name, history in self.in_sight.items()
        ]
        return picture(self.said(), panels)

    def __repr__(self) -> str:
        members, partitions = len(self.members), sum(self.topics.values())
        size = f"{plural(members, 'member')}, {plural(partitions, 'partition')}"
        step = f", reason {self.reason}" if self.reason else ""
        return f"AssignmentExplorer({shown(self.chosen)}: {size}{step})"

    def _page(self, notice: str) -> str:
        return page(self, notice)
