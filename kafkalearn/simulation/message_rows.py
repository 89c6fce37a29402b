"""What a message leaves in the trace: the columns that it fills, and its other fields as detail.

Fields are found by their names, once for each class, so that a new request needs no code here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from kafkalearn.errors import Errors
from kafkalearn.protocol.message import Request, Response
from kafkalearn.records import Record
from kafkalearn.trace.event import detail_text

_COLUMNS = {"group_id": "group_id", "member_id": "member_id", "generation_id": "generation"}


class Shape(NamedTuple):
    """Of a kind of message: which columns its fields fill, and its other fields."""

    columns: frozenset[str]
    others: tuple[str, ...]


_SHAPES: dict[type[Request] | type[Response], Shape] = {}  # as classes are met


def shape_of(message: Request | Response) -> Shape:
    """Look at a message's class, once."""
    shape = _SHAPES.get(type(message))
    if shape is None:
        names = [each.name for each in fields(message)]
        others = tuple(name for name in names if name not in _COLUMNS and name != "error_code")
        shape = _SHAPES[type(message)] = Shape(frozenset(names) & frozenset(_COLUMNS), others)
    return shape


def columns_of(request: Request) -> tuple[str | None, str | None, int | None]:
    """Give the group, member and generation that a request names; '' counts as none."""
    has = shape_of(request).columns
    message: Any = request
    if len(has) == len(_COLUMNS):
        return message.group_id, message.member_id or None, message.generation_id
    return (
        (message.group_id or None) if "group_id" in has else None,
        (message.member_id or None) if "member_id" in has else None,
        message.generation_id if "generation_id" in has else None,
    )


def detail_of(message: Request | Response) -> str | None:
    """Give the other fields as the text of an event's detail; None if there are none to tell."""
    names = shape_of(message).others
    if not names:
        return None
    told = {}
    for name in names:
        value = getattr(message, name)
        if value not in (None, "", (), {}, False):
            told[name] = _plain(value)
    return detail_text({"fields": told}) if told else None


def _plain(value: Any) -> Any:
    """Turn a field into JSON, with names where the message has them."""
    if isinstance(value, Errors):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple) and value and isinstance(value[0], Record):
        return _records(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(each) for name, each in value._asdict().items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value


def _records(records: tuple[Record, ...]) -> dict[str, Any]:
    """Tell how many records and which; what is in them is in the log."""
    return {
        "count": len(records),
        "first_offset": records[0].offset,
        "bytes": sum(each.size_in_bytes for each in records),
    }
