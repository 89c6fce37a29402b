"""What a trace tells of each group, event by event: who coordinates it, its state, its members."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kafkalearn.trace import Event

GROUP_KINDS = {
    "group_state",
    "group_loaded",
    "member_joined",
    "member_removed",
    "offset_stored",
    "offset_expired",
}
MOVED = "the coordinator moved"  # the reason of a Dead group that another broker goes on with


@dataclass
class Group:
    """A group as its coordinator has it.

    node: the coordinator; None until one does something with the group, which is new then.
    pending: the ids that were given out, and not joined with yet.
    kept_generation: what the next coordinator has to find: that of the last Stable or Empty.
    """

    node: str | None = None
    state: str = "Empty"
    generation: int = 0
    members: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    kept_generation: int = 0

    def leave_coordinator(self) -> None:
        """Forget what only the coordinator knew."""
        self.node, self.state, self.generation = None, "Empty", 0
        self.members, self.pending = set(), set()

    def learn(self, event: Event) -> None:
        """Take over what an event of the group tells."""
        self.node = event.node
        detail = event.detail or {}
        if event.kind in ("group_state", "group_loaded"):
            self.state = state_of(detail["to"])
            self.generation = event.generation
            self.members = set(detail["members"])
        elif event.kind == "member_joined" and detail.get("pending"):
            self.pending.add(event.member_id)
        elif event.kind in ("member_joined", "member_removed"):
            self.pending.discard(event.member_id)
            change = self.members.add if event.kind == "member_joined" else self.members.discard
            change(event.member_id)
        if self.state in ("Stable", "Empty"):
            self.kept_generation = self.generation
        if self.state == "Dead":
            self.leave_coordinator()
        if has_ended(event):
            self.kept_generation = 0


def followed(events: Iterable[Event]) -> Iterator[tuple[Event, Group]]:
    """Give each event with its group as it was just before; an event of no group, with none."""
    groups: dict[str, Group] = {}
    for event in events:
        group = groups.setdefault(event.group_id, Group()) if event.group_id else Group()
        yield event, group
        if event.kind in GROUP_KINDS:
            group.learn(event)
        elif crashed := crashed_node(event):
            for each in groups.values():
                if each.node == crashed:
                    each.leave_coordinator()


def state_of(name: str) -> str:
    """Give a state's older name: CompletingRebalance was AwaitingSync."""
    return "AwaitingSync" if name == "CompletingRebalance" else name


def has_ended(event: Event) -> bool:
    """Whether a group ends for good with this event: one of its name begins anew."""
    if event.kind != "group_state":
        return False
    return event.detail["to"] == "Dead" and event.detail["reason"] != MOVED


def crashed_node(event: Event) -> str | None:
    """Name the node that crashes with this event."""
    crashes = event.kind == "fault" and event.detail["fault"] == "crash"
    return event.node if crashes else None


def fields_of(event: Event) -> dict:
    """Give the fields of a message by name; those that are empty are not told."""
    return (event.detail or {}).get("fields", {})


def exchange_of(event: Event) -> tuple[str, int]:
    """Name the request that a message belongs to: its client, and the client's number for it."""
    at_client = event.kind in ("send", "response")
    return (event.node if at_client else event.peer, event.correlation_id)
