"""The workbook as a static site: pages whose steppers still step, with nothing from elsewhere.

A notebook is executed with BOOK set, so that a stepper shows itself as its saved page instead of a
picture; nbconvert's `basic` template makes HTML of it without any script or style of its own.
"""

import re
import shutil
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from kafkalearn.workbook import WorkbookError

_STYLE = Path(__file__).with_name("book.css")
_NAVIGATION_WIDTH = 40  # characters of a title in the list at the side


def write_book(executed: Sequence[Path], folder: Path, *, beside: Sequence[Path] = ()) -> Path:
    """Make a page of each executed notebook, in `folder`; give the first page.

    beside: files and folders that pages link to, copied as they are. WorkbookError if nothing was
    executed, or the folder cannot be written.
    """
    if not executed:
        raise WorkbookError("there is no notebook to make a book of")
    pages = sorted(executed, key=lambda path: path.name)
    titles = {path: _title(path) for path in pages}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in pages:
            page = _page(path, titles)
            (folder / _html_name(path)).write_text(page, encoding="utf-8")
        for each in beside:
            _copy(each, folder / each.name)
        index = folder / "index.html"
        index.write_text((folder / _html_name(pages[0])).read_text("utf-8"), encoding="utf-8")
    except OSError as error:
        raise WorkbookError(f"{folder} cannot be written to: {error.strerror}") from error
    return index


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def _html_name(path: Path) -> str:
    return f"{path.stem}.html"


def _title(path: Path) -> str:
    first = _read(path).cells[0].source
    found = re.search(r"^# (.+)$", first, re.M)
    return found[1].strip() if found else path.stem


def _read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def _page(path: Path, titles: dict[Path, str]) -> str:
    from nbconvert import HTMLExporter
    from pygments.formatters import HtmlFormatter

    exporter = HTMLExporter(template_name="basic")  # type: ignore[no-untyped-call]
    body, _ = exporter.from_notebook_node(_read(path))
    names = {each.name: _html_name(each) for each in titles}
    body = re.sub(
        r'href="([^"/]+\.ipynb)(#[^"]*)?"',
        lambda found: f'href="{names.get(found[1], found[1])}{found[2] or ""}"',
        body,
    )
    body = re.sub(r'href="\.\./exercises/[^"/]+/', 'href="exercises/', body)
    highlight = HtmlFormatter(style="default").get_style_defs(".highlight")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(titles[path])} · kafkalearn</title>\n"
        f"<style>\n{highlight}\n{_STYLE.read_text('utf-8')}</style></head>\n"
        f"<body>{_navigation(path, titles)}<main>{body}</main></body></html>\n"
    )


def _navigation(here: Path, titles: dict[Path, str]) -> str:
    items = []
    for path, title in titles.items():
        current = ' aria-current="page"' if path == here else ""
        name = escape(f"{path.name[:2]} {title}"[:_NAVIGATION_WIDTH])
        items.append(f'<li><a href="{_html_name(path)}"{current}>{name}</a></li>')
    return f'<nav aria-label="contents"><ol>{"".join(items)}</ol></nav>'
