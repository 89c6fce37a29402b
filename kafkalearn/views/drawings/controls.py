"""Buttons and their pictures."""

from kafkalearn.views.wording import tag

_ICONS = {
    "first": "M1 1h2v10H1zM11 1v10L4 6z",
    "back": "M9 1v10L2 6z",
    "play": "M2 1v10l8-5z",
    "next": "M3 1v10l7-5z",
    "last": "M9 1h2v10H9zM1 1v10l7-5z",
    "crash": "M7 0L2 7h3l-1 5 6-7H6z",
    "freeze": "M2 1h3v10H2zM7 1h3v10H7z",
    "cut_off": "M1 5h4v2H1zM7 5h4v2H7zM5.5 1h1v3h-1zM5.5 8h1v3h-1z",
}


def icon_of(name: str) -> str:
    """Draw one of the pictures."""
    path = tag("path", d=_ICONS[name])
    return tag("svg", path, width=12, height=12, viewBox="0 0 12 12", aria_hidden="true")


def button(content: str, **attributes: object) -> str:
    """Make a button; its content is HTML."""
    return tag("button", content, type="button", **attributes)
