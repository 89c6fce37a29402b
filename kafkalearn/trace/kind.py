"""What can happen: one closed table of kinds, and what an event of each kind carries.

A new kind needs a line here and a sentence in each language of `wording`; a test holds them
together. A kind is plain text and not an enum's member, since a row may hold nothing but scalars.
"""

from typing import NamedTuple


class Carries(NamedTuple):
    """What an event of one kind tells, beside run, seq, time, node and kind.

    columns, detail: what may be there; an absent one is unknown, or does not apply.
    """

    meaning: str
    columns: tuple[str, ...]
    detail: tuple[str, ...]


def _carries(meaning: str, columns: str, detail: str = "") -> Carries:
    return Carries(meaning, tuple(columns.split()), tuple(detail.split()))


SYNC_STATES = ("AwaitingSync", "CompletingRebalance")
"""One state of a group by its two names: up to Kafka 1.0, and since."""

_MEMBER = "group_id member_id generation"
_OFFSET = "topic partition offset"
_LOADED = "group_id generation topic partition"
_REQUEST = f"api peer correlation_id {_MEMBER} {_OFFSET}"
_MESSAGE = f"{_REQUEST} error"

KINDS: dict[str, Carries] = {
    # Messages. fields: their own, by name, told where they leave; message: request or response.
    "send": _carries("a client's request leaves for broker `peer`", _REQUEST, "fields"),
    "receive": _carries("a request of client `peer` reached the broker", _REQUEST),
    "respond": _carries("the answer leaves for client `peer`", _MESSAGE, "fields"),
    "response": _carries("the answer of `peer` is in the client's inbox", _MESSAGE),
    "dropped": _carries("what `peer` sent never arrives", _MESSAGE, "message reason"),
    "disconnected": _carries("the connection to `peer` ended", "peer", "reason"),
    # A consumer. step: how far this poll has come, absent when it begins; mode: sync, async, auto;
    # latency_ms: since the commit was asked for; partitions: topic -> list of numbers;
    # lost: true if they may be another's already.
    "poll": _carries("poll was called, or comes to a step", "group_id", "timeout_ms step"),
    "records_returned": _carries(
        "a poll returns `count` records of a partition, from `offset` on", _OFFSET, "count"
    ),
    "processed": _carries("a record had its effect on the world outside", _OFFSET, "sink"),
    "position": _carries(
        "what is read next (`offset`), or whether, changed", _OFFSET, "reason paused high_watermark"
    ),
    "commit": _carries(
        "how the commit of a partition ended; `offset` is the next to read",
        f"error {_MEMBER} {_OFFSET}",
        "mode latency_ms metadata",
    ),
    "client_state": _carries("how a member sees itself changed", _MEMBER, "from to reason"),
    "assigned": _carries("a member was given partitions", _MEMBER, "partitions"),
    "revoked": _carries("a member gives partitions up", _MEMBER, "partitions reason lost"),
    "logged": _carries("a client goes on after something that Kafka would log", "", "message"),
    # A coordinator. members: all of them; waiting_join, waiting_sync: those whose answer is held
    # back; pending: true while a member has an id and must join with it. assignment: of member to
    # topic to numbers, where the log of a leader tells; count: of members, where a log names none.
    "group_state": _carries(
        "a group goes from one state to another",
        "group_id generation",
        "from to reason members count leader protocol waiting_join waiting_sync assignment",
    ),
    "member_joined": _carries("a member is new", _MEMBER, "instance_id client_id pending"),
    "member_removed": _carries("a member is dropped", _MEMBER, "reason"),
    "offset_stored": _carries("an offset is committed", f"{_MEMBER} {_OFFSET}", "metadata"),
    "offset_expired": _carries("an offset is forgotten", f"group_id {_OFFSET}", "reason"),
    "group_loaded": _carries("a group was read from the offsets topic", _LOADED, "to members"),
    # Logs. previous: the leader before; change: created, deleted or partitions_added, and count is
    # how many partitions there are now.
    "append": _carries("a log takes records, the first at `offset`", _OFFSET, "count timestamp_ms"),
    "retention": _carries("a log begins at `offset` from now on", _OFFSET, "reason"),
    "leader_elected": _carries("the node leads a partition now", "topic partition", "previous"),
    "topic_changed": _carries("a topic came, went or grew", "topic", "change count"),
    # fault: crash, restart, freeze, cut_off, drop, delay or answer_with_error.
    "fault": _carries(
        "something is broken on purpose", "api peer error", "fault part for_ms by_ms"
    ),
}
