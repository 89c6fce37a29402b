"""A report's tables and charts: heads, rows of HTML, legends, and what is left out said below."""

from collections.abc import Collection, Iterable, Sequence
from html import escape

from kafkalearn.views.drawings.common import END, heads, row
from kafkalearn.views.wording import tag


def table(
    names: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[int] = ()
) -> str:
    """Write a table that can be scrolled sideways; cells are HTML, `numbers` stand to the right."""
    right = [names[place] for place in numbers]
    body = "".join(row(cells, numbers=numbers) for cells in rows)
    whole = heads(names, numbers=right) + body + END
    return tag("div", whole, class_="kl-wide", tabindex=0, role="group", aria_label="table")


def folded(title: str, content: str) -> str:
    """Content that is opened by its title."""
    return tag("details", tag("summary", escape(title)) + content)


def swatch(colour: int, name: str) -> str:
    """A colour of a chart and what has it."""
    mark = tag("i", "", class_=f"kl-swatch kl-p{colour}")
    return tag("li", mark + escape(name))


def figure(drawn: str, legend: str, *, note: str = "") -> str:
    """Put a chart, which can be scrolled sideways, above its legend and a note."""
    more = tag("p", note, class_="kl-note") if note else ""
    body = tag("div", drawn, class_="kl-wide", tabindex=0, role="group", aria_label="chart")
    return tag("figure", body + tag("ul", legend, class_="kl-legend")) + more
