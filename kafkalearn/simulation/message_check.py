"""Refuses requests that no client could send, because a field holds something of another type.

Types are those that the fields are declared with; Kafka's own binary format would not hold others.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from operator import itemgetter, methodcaller
from types import NoneType, UnionType
from typing import Any, ClassVar, NamedTuple, get_args, get_origin, get_type_hints

from kafkalearn.errors import InvalidRequestError
from kafkalearn.protocol.message import Request
from kafkalearn.records import short

_PLAIN = (int, str, bytes, bool, NoneType)

_Check = Callable[[Any], str]
"""Says what is wrong with a value, or ''."""
_Take = Callable[[Any], Iterable[Any]]


class _Checked(NamedTuple):
    """What a type allows. plain: types that need no look inside; most values are of these."""

    plain: frozenset[type]
    check: _Check


def check_request(request: Request) -> None:
    """InvalidRequestError names the first field with a value of a wrong type."""
    kind: Any = type(request)
    for name, (plain, check) in _fields(kind):
        value = getattr(request, name)
        if type(value) not in plain and (wrong := check(value)):
            raise InvalidRequestError(f"{name} of {kind.__name__}: {wrong}")


@cache
def _fields(kind: type) -> tuple[tuple[str, _Checked], ...]:
    hints = get_type_hints(kind).items()
    return tuple((name, _checked(hint)) for name, hint in hints if get_origin(hint) is not ClassVar)


@cache
def _checked(wanted: Any) -> _Checked:
    """Look at a type, once; what is in containers, tuples and dataclasses is looked at as well."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is UnionType:
        plain = frozenset(each for each in arguments if each in _PLAIN)
        checks = [_checked(each).check for each in arguments]

        def check_any(value: Any) -> str:
            return _said(value, wanted) if all(check(value) for check in checks) else ""

        return _Checked(plain, check_any)
    kind: Any = NoneType if wanted is None else origin or wanted
    length = len(arguments) if origin is tuple and arguments[-1] is not ... else None
    parts = [(take, *_checked(hint)) for take, hint in _parts(kind, arguments)]

    def check(value: Any) -> str:
        if (
            not isinstance(value, kind)
            or isinstance(value, bool) != (kind is bool)
            or (length is not None and len(value) != length)
        ):
            return _said(value, wanted)
        for take, plain, check_part in parts:
            for each in take(value):
                if type(each) not in plain and (wrong := check_part(each)):
                    return wrong
        return ""

    return _Checked(frozenset([kind] if kind in _PLAIN else []), check)


def _parts(kind: type, arguments: tuple[Any, ...]) -> list[tuple[_Take, Any]]:
    """Say how to take out what values of a type hold, and of which type that must be."""
    if not arguments:
        dataclass = is_dataclass(kind) or hasattr(kind, "_fields")
        hints = get_type_hints(kind).items() if dataclass else ()
        return [(_attribute(name), hint) for name, hint in hints]
    if issubclass(kind, Mapping):
        return list(zip((iter, methodcaller("values")), arguments, strict=True))
    if arguments[-1] is ...:
        return [(iter, arguments[0])]
    return [(itemgetter(slice(at, at + 1)), hint) for at, hint in enumerate(arguments)]


def _attribute(name: str) -> _Take:
    return lambda value: (getattr(value, name),)


def _said(value: Any, wanted: Any) -> str:
    name = wanted.__name__ if isinstance(wanted, type) and not get_args(wanted) else str(wanted)
    return f"{short(value)} is given where {name.replace('kafkalearn.', '')} is allowed"
