"""Reads what events carry; the detail of an imported event may hold anything."""

from collections.abc import Iterable
from typing import Any

from kafkalearn.records import GROUP_METADATA_TOPIC_NAME
from kafkalearn.trace import Event

Place = tuple[str, int]
"""Topic and partition."""


def detail(event: Event, key: str, *, wanted: type) -> Any:
    """Give a value of the detail, or None if it is of another type."""
    value = (event.detail or {}).get(key)
    return value if type(value) is wanted else None


def place_of(event: Event) -> Place | None:
    """Give the partition of an event; None if it has none, or one of Kafka's own."""
    if event.topic in (None, GROUP_METADATA_TOPIC_NAME) or event.partition is None:
        return None
    return event.topic or "", event.partition


def partitions(event: Event) -> list[Place]:
    """Read ``{"orders": [0, 1]}`` of the detail."""
    named = detail(event, "partitions", wanted=dict) or {}
    lists = [(topic, each) for topic, each in named.items() if isinstance(each, list)]
    return [(topic, number) for topic, numbers in lists for number in numbers]


OF_RECORDS = (
    *("append", "records_returned", "processed", "offset_stored", "offset_expired", "commit"),
    *("poll", "assigned", "client_state", "topic_changed", "position"),
)
"""The kinds that tell of records, of offsets, and of the group of a node."""


def with_groups(events: Iterable[Event]) -> list[tuple[Event, str | None]]:
    """Give the events of records, each with its group: that which its node was last in, or first.

    A record that a poll returns names no group.
    """
    told = [event for event in events if event.kind in OF_RECORDS]
    groups: dict[str, str] = {}
    for event in reversed(told):
        if event.group_id is not None:
            groups[event.node] = event.group_id
    found = []
    for event in told:
        if event.group_id is not None:
            groups[event.node] = event.group_id
        is_client = event.kind in ("records_returned", "processed", "position")
        found.append((event, groups.get(event.node) if is_client else event.group_id))
    return found
