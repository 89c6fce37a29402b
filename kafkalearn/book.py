"""The workbook as a static site: pages whose steppers still step, with nothing from elsewhere.

A notebook is executed with BOOK set, so that a stepper shows itself as its saved page instead of a
picture; nbconvert's `basic` template makes HTML of it without any script or style of its own.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from kafkalearn.workbook import WorkbookError

_STYLE = Path(__file__).with_name("book.css")
_FOLDING = """
{%- extends 'index.html.j2' -%}
{%- block output_group -%}
{%- if cell.metadata.get('jupyter', {}).get('outputs_hidden') -%}
<details class="answer"><summary>The answer (guess first)</summary>{{ super() }}</details>
{%- else -%}{{ super() }}{%- endif -%}
{%- endblock -%}
"""
_TO_READ = (
    "This site is for reading: steppers step, explorers are pictures. To run cells, to crash or "
    "freeze a consumer, to change a setting, open the workbook with <code>make lab</code>."
)
_TO_SOLVE = (
    "Exercises are solved in JupyterLab: <code>make lab</code> opens this one as a copy of yours. "
    'Or take <a href="exercises/{}.ipynb">its notebook</a>.'
)


def write_book(
    executed: Sequence[Path],
    folder: Path,
    *,
    exercises: Sequence[Path] = (),
    beside: Sequence[Path] = (),
) -> Path:
    """Make a page of each executed notebook and each exercise, in `folder`; give the first page.

    A link to what is no page of the book becomes plain text.

    exercises: starters; what students are handed lies in `folder`/exercises.
    beside: files and folders that pages show, copied as they are. WorkbookError if nothing was
    executed, or the folder cannot be written.
    """
    if not executed:
        raise WorkbookError("there is no notebook to make a book of")
    lessons = {f"{path.stem}.html": path for path in sorted(executed, key=lambda path: path.name)}
    pages = lessons | {f"exercise_{path.parent.name}.html": path for path in exercises}
    titles = {name: _title(path) for name, path in pages.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in pages.items():
            note = _TO_READ if name in lessons else _TO_SOLVE.format(path.parent.name)
            main = f'<p class="note">{note}</p>{_body(path, titles)}'
            contents = _contents(name, {each: titles[each] for each in lessons})
            page = _page(titles[name], contents, main)
            (folder / name).write_text(page, encoding="utf-8")
        for each in beside:
            _copy(each, folder / each.name)
        index = folder / "index.html"
        index.write_text((folder / next(iter(lessons))).read_text("utf-8"), encoding="utf-8")
    except OSError as error:
        raise WorkbookError(f"{folder} cannot be written to: {error.strerror}") from error
    return index


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def _title(path: Path) -> str:
    first = _read(path).cells[0].source
    found = re.search(r"^# (.+)$", first, re.M)
    return found[1].strip() if found else path.stem


def _read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def _body(path: Path, pages: Mapping[str, str]) -> str:
    from nbconvert import HTMLExporter

    shape = {"template_name": "basic", "raw_template": _FOLDING}
    exporter = HTMLExporter(**shape)  # type: ignore[no-untyped-call]
    body, _ = exporter.from_notebook_node(_read(path))

    def within(link: re.Match[str]) -> str:
        file, _, anchor = link[1].partition("#")
        if not file or ":" in file:
            return link[0]
        place = PurePosixPath(file)
        name = f"{'exercise_' if 'exercises' in place.parts else ''}{place.stem}.html"
        return (
            f'<a href="{name}{anchor and "#" + anchor}">{link[2]}</a>' if name in pages else link[2]
        )

    return re.sub(r'<a href="([^"]*)">(.*?)</a>', within, body, flags=re.S)


def _page(title: str, contents: str, main: str) -> str:
    from pygments.formatters import HtmlFormatter

    highlight = HtmlFormatter(style="default").get_style_defs(".highlight")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} · kafkalearn</title>\n"
        f"<style>\n{highlight}\n{_STYLE.read_text('utf-8')}</style></head>\n"
        f"<body>{contents}<main>{main}</main></body></html>\n"
    )


def _contents(here: str, titles: Mapping[str, str]) -> str:
    items = []
    for name, title in titles.items():
        current = ' aria-current="page"' if name == here else ""
        items.append(f'<li><a href="{name}"{current}>{escape(f"{name[:2]} {title}")}</a></li>')
    return f'<nav aria-label="contents"><ol>{"".join(items)}</ol></nav>'
