"""What a message leaves in the trace: the columns that it fills, and its other fields as detail.

Fields are found by their names, once for each class: a new request needs code here only if it
names its partitions, or the parts that have errors, as none did before.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from json.encoder import encode_basestring
from types import NoneType
from typing import Any, NamedTuple, get_type_hints

from kafkalearn.errors import Errors
from kafkalearn.protocol.group import FindCoordinatorRequest
from kafkalearn.protocol.message import Request, Response
from kafkalearn.records import Record
from kafkalearn.trace import TraceError

_COLUMNS = {"group_id": "group_id", "member_id": "member_id", "generation_id": "generation"}

# In a request: fields whose entries are each about a partition.
_BY_PARTITION = ("partitions", "offsets", "batches")
# In a response: fields whose entries have each an error of their own, or may have.
_PARTS = {"groups", "members", "partitions", "results", "topics"}

Writer = Callable[[Any], str]
_quoted: Writer = encode_basestring


class Shape(NamedTuple):
    """Of a kind of message: which columns its fields fill, its other fields, those with errors."""

    columns: frozenset[str]
    others: tuple[tuple[str, str], ...]  # each as JSON has it before the value, and its name
    parts: tuple[str, ...]
    by_partition: str | None


class _Shapes(dict[type, Shape]):
    """The shape of each class of messages, as they are met."""

    def __missing__(self, kind: type) -> Shape:
        """Look at a class, once."""
        names = [each.name for each in fields(kind)]
        others = tuple(name for name in names if name not in _COLUMNS and name != "error_code")
        parts = tuple(name for name in others if name in _PARTS)
        by_partition = next((name for name in names if name in _BY_PARTITION), None)
        columns = frozenset(names) & frozenset(_COLUMNS)
        shape = self[kind] = Shape(columns, _as_written(others), parts, by_partition)
        return shape


SHAPES = _Shapes()


def columns_of(request: Request) -> tuple[str | None, str | None, int | None]:
    """Give the group, member and generation that a request names; '' counts as none."""
    has = SHAPES[type(request)].columns
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
    name = SHAPES[type(request)].by_partition
    asked = getattr(request, name) if name else None
    if not asked or len(asked) != 1:
        return None, None, None
    (topic, partition), *_ = asked
    about = asked[topic, partition] if isinstance(asked, Mapping) else None
    offset = getattr(about, "offset", getattr(about, "fetch_offset", None))
    return topic, partition, offset if isinstance(offset, int) else None


def error_of(response: Response) -> str:
    """Name the error of an answer: its own, or else the first of its parts that has one."""
    if response.error_code is Errors.NONE:
        for name in SHAPES[type(response)].parts:
            entries = getattr(response, name)
            for entry in entries.values() if isinstance(entries, Mapping) else entries:
                error = getattr(entry, "error_code", entry)
                if error is not Errors.NONE and isinstance(error, Errors):
                    return _NAMES[error]
    return _NAMES[response.error_code]


def detail_of(message: Request | Response) -> str | None:
    """Give the other fields as the text of an event's detail; None if there are none to tell.

    Made here without a dict in between, as it is made for every message: what JSON's own encoder
    would say of {"fields": ...}, where a field that is empty, false or absent is left out.
    """
    told = []
    for written, name in SHAPES[type(message)].others:
        value = getattr(message, name)
        if value or (value == 0 and value is not False):
            told.append(written + _WRITERS[type(value)](value))
    return f'{{"fields":{{{",".join(told)}}}}}' if told else None


class _Writers(dict[type, Writer]):
    """How a value of each class is written as JSON, with names where messages have them."""

    def __missing__(self, kind: type) -> Writer:
        """Look at a class, once."""
        writer: Writer
        if issubclass(kind, Errors):
            writer = _QUOTED_NAMES.__getitem__
        elif issubclass(kind, Mapping):
            writer = _mapping
        elif is_dataclass(kind):
            writer = partial(_named, _as_written(each.name for each in fields(kind)))
        elif hasattr(kind, "_fields"):
            names: tuple[str, ...] = kind._fields
            if all(hint is int for hint in get_type_hints(kind).values()):
                writer = ("{" + ",".join(f'"{name}":%d' for name in names) + "}").__mod__
            else:
                writer = partial(_named, _as_written(names))
        elif issubclass(kind, Iterable):
            writer = _sequence
        else:
            raise TraceError(f"a message holds a {kind.__name__}, which no trace can show")
        self[kind] = writer
        return writer


def _as_written(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((f'"{name}":', name) for name in names)


def _mapping(value: Mapping[Any, Any]) -> str:
    told = []
    for key, each in value.items():
        name = _quoted(key) if isinstance(key, str) else f'"{key[0]}-{key[1]}"'
        told.append(f"{name}:{_WRITERS[type(each)](each)}")
    return f"{{{','.join(told)}}}"


def _named(names: Sequence[tuple[str, str]], value: Any) -> str:
    told = []
    for written, name in names:
        each = getattr(value, name)
        told.append(written + _WRITERS[type(each)](each))
    return f"{{{','.join(told)}}}"


def _sequence(value: Iterable[Any]) -> str:
    """Write a list; of records only how many and which: what is in them is in the log."""
    listed = tuple(value)
    if listed and isinstance(listed[0], Record):
        size = sum([each.size_in_bytes for each in listed])
        first = listed[0].offset
        return f'{{"count":{len(listed)},"first_offset":{first},"bytes":{size}}}'
    return f"[{','.join([_WRITERS[type(each)](each) for each in listed])}]"


_NAMES = {error: error.name for error in Errors}  # an enum's own `name` takes long
_QUOTED_NAMES = {error: f'"{name}"' for error, name in _NAMES.items()}
_WRITERS = _Writers(
    {
        int: int.__repr__,
        str: _quoted,
        bool: lambda value: "true" if value else "false",
        NoneType: lambda value: "null",
    }
)
