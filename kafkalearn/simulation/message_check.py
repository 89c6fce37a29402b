"""Refuses requests that no client could send, because a field holds something of another type.

Types are those that the fields are declared with; Kafka's own binary format would not hold others.
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from kafkalearn.errors import InvalidRequestError
from kafkalearn.protocol.message import Request

_PLAIN = (int, str, bytes, bool, NoneType)


def check_request(request: Request) -> None:
    """InvalidRequestError names the first field with a value of a wrong type."""
    kind: Any = type(request)
    for name, wanted in _fields(kind).items():
        wrong = _wrong_in(getattr(request, name), wanted)
        if wrong:
            raise InvalidRequestError(f"{name} of {kind.__name__}: {wrong}")


@cache
def _fields(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}


@cache
def _plain_types(wanted: Any) -> frozenset[type]:
    """Give the types that need no look inside, since most values are of these."""
    parts = get_args(wanted) if get_origin(wanted) is UnionType else (wanted,)
    return frozenset(each for each in parts if each in _PLAIN)


def _wrong_in(value: Any, wanted: Any) -> str:
    """Say what is wrong, or ''; containers and the tuples and dataclasses in them are opened."""
    if type(value) in _plain_types(wanted):
        return ""
    origin: Any = get_origin(wanted)
    arguments = get_args(wanted)
    if origin is UnionType:
        return "" if any(not _wrong_in(value, each) for each in arguments) else _said(value, wanted)
    kind: Any = NoneType if wanted is None else origin or wanted
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
        return _said(value, wanted)
    if isinstance(value, Mapping):
        parts = [(key, arguments[0]) for key in value]
        parts += [(each, arguments[1]) for each in value.values()]
    elif origin is tuple and arguments[-1] is ...:
        parts = [(each, arguments[0]) for each in value]
    elif origin is tuple:
        if len(value) != len(arguments):
            return _said(value, wanted)
        parts = list(zip(value, arguments, strict=True))
    elif hasattr(kind, "_fields") or is_dataclass(kind):
        parts = [(getattr(value, name), hint) for name, hint in _fields(kind).items()]
    else:
        return ""
    return next(filter(None, (_wrong_in(each, hint) for each, hint in parts)), "")


def _said(value: Any, wanted: Any) -> str:
    text = repr(value)
    shown = text if len(text) <= 80 else f"{text[:77]}..."
    name = wanted.__name__ if isinstance(wanted, type) and not get_args(wanted) else str(wanted)
    return f"{shown} is given where {name.replace('kafkalearn.', '')} is allowed"
