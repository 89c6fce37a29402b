"""The one sentence for an event, which text logs, captions and screen readers all use.

It never fails on an event of another origin: what is not known is said as ``?``.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from kafkalearn.trace.event import Event, TraceError
from kafkalearn.trace.text import one_line, short, short_ids
from kafkalearn.trace.wording import LANGUAGES, Wording

_PART = re.compile(r"\[[^]]*]|[^[]+")
_FIELD = re.compile(r"{([?]?)(\w+)(?::(\w+))?}")
_LISTED = 6  # of a longer list the first ones are named, and the rest is counted
_TRANSLATED = {"change", "fault", "message", "mode", "part", "reason"}


class _Part(NamedTuple):
    """A piece of a template; an optional one stood in brackets."""

    text: str
    optional: bool
    names: tuple[str, ...]


def describe(event: Event, lang: str = "en", *, pair: bool = True) -> str:
    """Say what happened, in English ("en") or Chinese ("zh"); TraceError for another language.

    pair: name and number the request, so that its answer can be found.
    """
    return f"{one_line(event.node)} {predicate(event, lang, pair=pair)}"


def predicate(event: Event, lang: str = "en", *, pair: bool = True) -> str:
    """Give the sentence without the node that it begins with."""
    if lang not in LANGUAGES:
        raise TraceError(f"there are no sentences in {lang!r}: {', '.join(LANGUAGES)} are allowed")
    words = LANGUAGES[lang]
    if event.kind not in words.kinds:
        raise TraceError(f"{short(event.kind)} is no kind of event: see kafkalearn.trace.KINDS")
    known: dict[str, Any] = {**(event.detail or {}), **_present(event)}
    asked = words.requests.get(event.api or "", words.other_request)
    request = _filled(asked + words.pair * pair, known, words)
    sentence = _filled(words.kinds[event.kind], {**known, "request": request}, words)
    return short_ids(sentence)


def _present(event: Event) -> dict[str, Any]:
    columns = zip(event._fields[:-1], event, strict=False)
    return {name: value for name, value in columns if value is not None}


def _filled(template: str, known: Mapping[str, Any], words: Wording) -> str:
    def said(match: re.Match[str]) -> str:
        asked, name, noun = match.groups()
        if asked:
            return ""
        value = known.get(name)
        text = _said(name, value, words)
        return f"{text} {noun if value == 1 else f'{noun}s'}" if noun else text

    return "".join(
        _FIELD.sub(said, part.text)
        for part in _parts(template)
        if not part.optional or all(_there(known.get(name)) for name in part.names)
    )


@cache
def _parts(template: str) -> tuple[_Part, ...]:
    pieces = _PART.findall(template)
    return tuple(
        _Part(
            piece.strip("[]"),
            piece.startswith("["),
            tuple(name for _, name, _ in _FIELD.findall(piece)),
        )
        for piece in pieces
    )


def _there(value: object) -> bool:
    return bool(value) or (value == 0 and value is not False)


def _said(name: str, value: Any, words: Wording) -> str:
    if value is None:
        return "?"
    if isinstance(value, dict | list):
        items = [_said("", item, words) for item in _items(value)]
        rest = len(items) - _LISTED
        named = words.separator.join(items[:_LISTED]) or words.nothing
        return named + (words.more.format(rest) if rest > 0 else "")
    text = str(value)
    return words.terms.get(text, one_line(text)) if name in _TRANSLATED else one_line(text)


def _items(value: dict[str, Any] | list[Any]) -> list[Any]:
    """Take a mapping from topics to their partitions, or any other, apart into what to name."""
    if isinstance(value, list):
        return value
    return [
        f"{key}-{number}" if isinstance(under, list) else f"{key}={number}"
        for key, under in value.items()
        for number in (under if isinstance(under, list) else [under])
    ]
