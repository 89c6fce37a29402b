"""How a report writes times, partitions, names and causes."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from kafkalearn.trace.text import short_ids
from kafkalearn.views.wording import is_clock, moment, ranges, shown

NOT_KNOWN = "not known"
CAUSES = {
    "session_timeout": "no heartbeat came in time",
    "poll_timeout": "did not poll in time",
    "member_joined": "a member joined",
    "member_rejoined": "a member joined again",
    "member_left": "a member left",
    "other": "another reason",
}


def lasted(ms: int | None) -> str:
    """Write how long something lasted; None is not known."""
    if ms is None:
        return NOT_KNOWN
    if abs(ms) < 10_000:
        return f"{ms:,} ms"
    return f"{ms / 1000:,.1f} s" if abs(ms) < 600_000 else f"{ms / 60_000:,.1f} min"


def since(ms: int | None, first_ms: int) -> str:
    """Write how long after the first event something was, in seconds."""
    return NOT_KNOWN if ms is None else f"{(ms - first_ms) / 1000:+,.3f} s"


def clock(ms: int | None) -> str:
    """Write a time of a log in UTC; a simulation's virtual time has none."""
    if ms is None or not is_clock(ms):
        return ""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%d} {moment(ms)}"


def cause(name: str | None) -> str:
    """Say a cause in words."""
    return NOT_KNOWN if name is None else CAUSES.get(name, name)


def named(node: str | None, member_id: str | None = None) -> str:
    """Name a member: its client, and its id where that tells more."""
    if node is None or node == member_id:
        return shown(short_ids(member_id or NOT_KNOWN), 60)
    return shown(node, 30) + (f" ({shown(short_ids(member_id), 44)})" if member_id else "")


def partitions(by_topic: Mapping[str, Iterable[int]]) -> str:
    """Write ``orders 0–2 5``."""
    return "; ".join(f"{shown(topic, 30)} {ranges(each)}" for topic, each in by_topic.items())


def told(value: Any) -> str:
    """Write a number, or that it is not known."""
    return NOT_KNOWN if value is None else f"{value:,}" if isinstance(value, int) else str(value)
