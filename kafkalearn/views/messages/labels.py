"""The few words on an arrow: what a request asks, what its answer says, from the fields.

Fields may be absent or of any type: what cannot be read is left out.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kafkalearn.trace import Event
from kafkalearn.views.fold import mapping
from kafkalearn.views.messages.phrases import LISTED, Phrase, counted, listed
from kafkalearn.views.wording import ranges, shown

Names = Mapping[str, str]
"""Member id -> the node that goes by it."""

_TIMES = {-1: "latest", -2: "earliest"}


def request_label(event: Event, names: Names) -> list[Phrase]:
    """Say what a request asks for; its name comes first."""
    tell = _REQUESTS.get(event.api or "", _named)
    return [shown(event.api or "?"), *tell(event, mapping(event, "fields"), names)]


def answer_label(event: Event, names: Names) -> list[Phrase]:
    """Say what an answer brings: its error, or what was asked for."""
    error = event.failure
    if error:
        return [shown(error, 40)]
    told = _ANSWERS.get(event.api or "", _named)(event, mapping(event, "fields"), names)
    return told or [event.error or shown(event.api or "?")]


def fetched(event: Event) -> int | None:
    """Count the records that a Fetch answer brings; None if it does not say."""
    partitions = mapping(event, "fields").get("partitions")
    if not isinstance(partitions, dict):
        return None
    return sum(
        _number(_dict(_dict(each).get("records")).get("count")) or 0 for each in partitions.values()
    )


def member_name(member_id: str, names: Names) -> str:
    """Give the node of a member, or else the beginning of its id."""
    return shown(names[member_id], 16) if member_id in names else shown(member_id, 12)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


def _shown_number(value: Any) -> str:
    number = _number(value)
    return "?" if number is None else str(number)


def _parsed(text: Any) -> dict[str, Any]:
    """Read what a member wrote for the leader, or the leader for it."""
    try:
        return _dict(json.loads(text)) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}


def _assignment(text: Any) -> str:
    """``0–2``, or with several topics ``orders 0–2, bills 0``."""
    by_topic = _parsed(text)
    told = {
        shown(topic, 16): ranges(n for n in _list(numbers) if type(n) is int)
        for topic, numbers in by_topic.items()
    }
    named = [f"{topic} {numbers}" if len(told) > 1 else numbers for topic, numbers in told.items()]
    return ", ".join(named[:LISTED])


def _pairs(entries: Any, key: str | None, text: str = "{}: {}") -> list[Phrase]:
    """List ``orders-0: 42``; key: where an entry has the number, if it is not itself the number."""
    told = _dict(entries)

    def items() -> Iterator[str]:
        for name, entry in told.items():
            number = entry if key is None else _dict(entry).get(key)
            value = "–" if number == -1 else _number(number)
            yield shown(name) if value is None else text.format(shown(name), value)

    return listed(items(), len(told))


def _names_in(value: Any) -> list[str]:
    """Read names: of a mapping its keys, of a list its texts or what its objects call a name."""
    found = [
        each.get("name") or each.get("topic") or each.get("group_id")
        if isinstance(each, dict)
        else each
        for each in (list(value) if isinstance(value, dict) else _list(value))
    ]
    return [shown(each) for each in found if isinstance(each, str)]


def _named(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    for key in ("topics", "topic_names", "groups", "group_ids"):
        if told := _names_in(fields.get(key)):
            return listed(told, len(told))
    return []


def _join(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    protocols = [_dict(each) for each in _list(fields.get("protocols"))]
    topics = _names_in(_parsed(protocols[0].get("metadata")).get("topics")) if protocols else []
    assignors = _names_in(protocols)
    return listed(topics, len(topics)) + listed(assignors, len(assignors))


def _joined(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    members = _list(fields.get("members"))
    leads = bool(members) and fields.get("leader") == event.member_id
    role: list[Phrase] = [["leader"], counted(len(members), "member")] if leads else [["follower"]]
    return [*_generation(event, fields, names), *(role if fields else [])]


def _generation(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    return [] if event.generation is None else [["gen {}", event.generation]]


def _sync(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    told = _dict(fields.get("assignments"))
    pairs = (f"{member_name(each, names)}: {_assignment(got) or '–'}" for each, got in told.items())
    return listed(pairs, len(told)) or [["empty"]]


def _synced(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    return [_assignment(fields.get("assignment")) or ["no partitions"]] if fields else []


def _fetch(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    asked = _dict(fields.get("partitions"))
    told: list[Phrase] = [
        ["{} from {}", shown(name), _shown_number(_dict(entry).get("fetch_offset"))]
        for name, entry in list(asked.items())[:2]
    ]
    return told + ([["and {} more", len(asked) - 2]] if len(asked) > 2 else [])


def _fetched(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    count = fetched(event)
    return [] if count is None else [counted(count, "record") if count else ["no records"]]


def _list_offsets(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    told = _dict(fields.get("partitions"))
    items = (
        f"{shown(name)}: {_TIMES.get(time, time) if type(time) is int else '?'}"
        for name, time in told.items()
    )
    return listed(items, len(told))


def _offset_fetch(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    asked = [_dict(each) for each in _list(fields.get("partitions"))]
    items = (
        f"{shown(str(each.get('topic')))}-{_shown_number(each.get('partition'))}" for each in asked
    )
    return listed(items, len(asked))


def _metadata(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    topics = [_dict(each) for each in _list(fields.get("topics"))]
    told = _named(event, fields, names)
    if len(topics) == 1:
        told.append(counted(len(_list(topics[0].get("partitions"))), "partition"))
    return told


def _produced(event: Event, fields: dict[str, Any], names: Names) -> list[Phrase]:
    told = _pairs(fields.get("partitions"), "base_offset")
    return [["appended at {}", told[0]], *told[1:]] if told else []


def _text_of(key: str) -> "_Teller":
    return lambda event, fields, names: [*_names_in([fields.get(key)])]


def _pairs_of(name: str, key: str | None, text: str = "{}: {}") -> "_Teller":
    return lambda event, fields, names: _pairs(fields.get(name), key, text)


_Teller = Callable[[Event, dict[str, Any], Names], list[Phrase]]
_REQUESTS: dict[str, _Teller] = {
    "FindCoordinator": _text_of("key"),
    "JoinGroup": _join,
    "SyncGroup": _sync,
    "Heartbeat": _generation,
    "OffsetCommit": _pairs_of("offsets", "offset"),
    "OffsetFetch": _offset_fetch,
    "ListOffsets": _list_offsets,
    "Fetch": _fetch,
    "Produce": _pairs_of("batches", "count", "{} ×{}"),
}
_ANSWERS: dict[str, _Teller] = {
    "FindCoordinator": _text_of("node"),
    "JoinGroup": _joined,
    "SyncGroup": _synced,
    "OffsetFetch": _pairs_of("partitions", "offset"),
    "ListOffsets": _pairs_of("partitions", "offset"),
    "Fetch": _fetched,
    "Metadata": _metadata,
    "Produce": _produced,
}
