"""The pieces of a drawing in SVG, and the sheet that makes one a picture. Lengths are pixels."""

from html import escape
from textwrap import wrap

from kafkalearn.trace.text import columns
from kafkalearn.views.assets import joined
from kafkalearn.views.wording import tag

CHAR = 7.3  # a character of the fixed-width font at 12 pixels
_SAID_CHAR = 8.5  # of the sentence, on average, in the widest of its fonts
_MARGIN, _LINE = 18, 20


Drawing = tuple[int, int, str]  # width, height, SVG


def svg(drawing: Drawing, **attributes: object) -> str:
    """One drawing as an ``<svg>`` element."""
    width, height, body = drawing
    size = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
    return tag("svg", body, **(size | attributes))


def text(content: str, kind: str, *, x: float = 0, y: float) -> str:
    """Write a line; `kind` is its class."""
    return tag("text", escape(content), x=x, y=y, class_=kind)


def box(kind: str, width: int, *, height: int, away: int = 0) -> str:
    """Draw a rounded box at the origin, or around one that stands there, so many pixels away."""
    place = {"x": -away, "y": -away} if away else {}
    size = {"width": width + 2 * away, "height": height + 2 * away, "rx": 4 + away}
    return tag("rect", class_=kind, **place, **size)


def at(body: str, *, x: float = 0, y: float = 0) -> str:
    """Move a piece from the origin to its place."""
    return tag("g", body, transform=f"translate({x},{y})")


def sheet(sentence: str, drawing: Drawing, *, styles: tuple[str, ...] = ()) -> str:
    """A drawing below its sentence, as a whole SVG document; `styles` are more than the look."""
    width, height, body = drawing
    fitting = int(width / _SAID_CHAR) // (1 if columns(sentence) == len(sentence) else 2)
    lines = wrap(sentence, fitting, break_on_hyphens=False)
    top = _MARGIN + _LINE * len(lines) + 14
    parts = [
        tag("style", escape(joined("look.css", *styles), quote=False)),
        tag("rect", class_="kl-sheet", width="100%", height="100%"),
        *(
            text(line, "kl-say", x=_MARGIN, y=_MARGIN + 13 + _LINE * place)
            for place, line in enumerate(lines)
        ),
        at(body, x=_MARGIN, y=top),
    ]
    whole = (width + 2 * _MARGIN, top + height + _MARGIN, "".join(parts))
    return svg(whole, class_="kl kl-picture", xmlns="http://www.w3.org/2000/svg")
