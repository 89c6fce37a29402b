"""What a message leaves in the trace: the columns that it fills, and its other fields as detail.

Fields are found by their names, once for each class: a new request needs code here only if it
names its partitions, or the parts that have errors, as none did before.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, NamedTuple

from kafkalearn.errors import Errors
from kafkalearn.protocol.group import FindCoordinatorRequest
from kafkalearn.protocol.message import Request, Response
from kafkalearn.records import Record
from kafkalearn.trace.event import detail_text

_COLUMNS = {"group_id": "group_id", "member_id": "member_id", "generation_id": "generation"}

# In a request: fields whose entries are each about a partition.
_BY_PARTITION = ("partitions", "offsets", "batches")
# In a response: fields whose entries have each an error of their own, or may have.
_PARTS = {"groups", "members", "partitions", "results", "topics"}
_PLAIN = {int, str, bool, NoneType}


class Shape(NamedTuple):
    """Of a kind of message: which columns its fields fill, its other fields, those with errors."""

    columns: frozenset[str]
    others: tuple[str, ...]
    parts: tuple[str, ...]


_SHAPES: dict[type[Request] | type[Response], Shape] = {}  # as classes are met


def shape_of(message: Request | Response) -> Shape:
    """Look at a message's class, once."""
    shape = _SHAPES.get(type(message))
    if shape is None:
        names = [each.name for each in fields(message)]
        others = tuple(name for name in names if name not in _COLUMNS and name != "error_code")
        parts = tuple(name for name in others if name in _PARTS)
        shape = Shape(frozenset(names) & frozenset(_COLUMNS), others, parts)
        _SHAPES[type(message)] = shape
    return shape


def columns_of(request: Request) -> tuple[str | None, str | None, int | None]:
    """Give the group, member and generation that a request names; '' counts as none."""
    has = shape_of(request).columns
    message: Any = request
    if len(has) == len(_COLUMNS):
        return message.group_id or None, message.member_id or None, message.generation_id
    if isinstance(message, FindCoordinatorRequest):
        return message.key or None, None, None
    return (
        (message.group_id or None) if "group_id" in has else None,
        (message.member_id or None) if "member_id" in has else None,
        message.generation_id if "generation_id" in has else None,
    )


def partition_of(request: Request) -> tuple[str | None, int | None, int | None]:
    """Give topic, partition and offset if a request is about one partition; else nothing."""
    for name in _BY_PARTITION:
        asked = getattr(request, name, None)
        if asked and len(asked) == 1:
            (topic, partition), *_ = asked
            about = asked[topic, partition] if isinstance(asked, Mapping) else None
            offset = getattr(about, "offset", getattr(about, "fetch_offset", None))
            return topic, partition, offset if isinstance(offset, int) else None
    return None, None, None


def error_of(response: Response) -> str:
    """Name the error of an answer: its own, or else the first of its parts that has one."""
    if response.error_code is Errors.NONE:
        for name in shape_of(response).parts:
            entries = getattr(response, name)
            for entry in entries.values() if isinstance(entries, Mapping) else entries:
                is_error = isinstance(entry, Errors)
                error: Errors = entry if is_error else getattr(entry, "error_code", Errors.NONE)
                if error is not Errors.NONE:
                    return error.name
    return response.error_code.name


def detail_of(message: Request | Response) -> str | None:
    """Give the other fields as the text of an event's detail; None if there are none to tell."""
    names = shape_of(message).others
    if not names:
        return None
    told = {}
    for name in names:
        value = getattr(message, name)
        if value or (value == 0 and value is not False):
            told[name] = _plain(value)
    return detail_text({"fields": told}) if told else None


def _plain(value: Any) -> Any:
    """Turn a field into JSON, with names where the message has them."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Errors):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple) and value and isinstance(value[0], Record):
        return _records(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(each) for name, each in value._asdict().items()}
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Iterable):
        return [_plain(each) for each in value]
    return value


def _records(records: tuple[Record, ...]) -> dict[str, Any]:
    """Tell how many records and which; what is in them is in the log."""
    return {
        "count": len(records),
        "first_offset": records[0].offset,
        "bytes": sum(each.size_in_bytes for each in records),
    }
