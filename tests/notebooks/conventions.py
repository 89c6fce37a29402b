"""What a notebook of the workbook must look like, as rules that name each breach in a sentence.

`problems(path)` is all that others need. A rule is a function from a lesson to sentences; the
budgets are constants below. Notebooks of exercises follow rules of their own.
"""

import ast
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat

from tests.notebooks.navigation import CONTENTS, LINE

MAX_CELLS = 20
MAX_WORDS = 80
MAX_CODE_LINES = 12
MAX_DEF_LINES = 6
FOLDED = {"outputs_hidden": True}  # JupyterLab unfolds a cell's output when the cell is run
# Of what is folded JupyterLab still shows the first line, that of the first output.
BLANK: dict[str, Any] = {"output_type": "display_data", "data": {}, "metadata": {}}
KNOWN_TAGS = {"parameters", "check", "widget", "raises-exception"}
VIEW_PAYLOAD = "application/vnd.jupyter.widget-view+json"
READABLE_ID = re.compile(r"(?![0-9a-f]{8}$)[a-z][a-z0-9]*(-[a-z0-9]+)*")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
ABSOLUTE_PATH = re.compile(
    r"(?<![\w./:])/(?:home|root|tmp|usr|var|opt|mnt|srv|work|Users|private)/\w|\b[A-Z]:\\\w"
)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]*)[^)]*\)")
PICTURE = re.compile(r"<img\b[^>]*>")
HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Lesson:
    """One notebook with the folder that its links start from."""

    folder: Path
    metadata: dict[str, Any]
    cells: list[Any]

    @property
    def code(self) -> list[Any]:
        """The code cells, in order."""
        return [cell for cell in self.cells if cell.cell_type == "code"]

    @property
    def prose(self) -> list[Any]:
        """The text cells, in order."""
        return [cell for cell in self.cells if cell.cell_type == "markdown"]


Rule = Callable[[Lesson], Iterator[str]]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """Put a rule on the list that `problems` goes through."""
    RULES.append(function)
    return function


def problems(path: Path) -> list[str]:
    """Say everything that is wrong with the notebook; an empty list if nothing is."""
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                ast.parse(cell.source)
    except SyntaxError:
        return [f"{_name(cell)} is no plain Python (a magic does not belong in a lesson)"]
    except (ValueError, nbformat.ValidationError) as error:
        return [f"it is no valid notebook: {str(error).splitlines()[0]}"]
    lesson = Lesson(path.parent, notebook.metadata, notebook.cells)
    return [sentence for check in RULES for sentence in check(lesson)]


def words(text: str) -> int:
    """Count what is read: a link by its text, two Chinese characters as one word, no markup."""
    text = LINK.sub(r"\2", text)
    text = re.sub(r"<[^>]*>", " ", text)
    rest = re.findall(r"\w+(?:['’.\-/]\w+)*", HAN.sub(" ", text))
    return len(rest) + math.ceil(len(HAN.findall(text)) / 2)


def answers(cells: Sequence[Any]) -> list[str]:
    """Name the cells that answer a *Predict*: what is shown from the blank to the next text."""
    found = []
    for i, cell in enumerate(cells):
        if _asks(cell):
            below = takewhile(lambda each: each.cell_type == "code", cells[i + 2 :])
            found += [each.id for each in below if each.get("outputs")]
    return found


@rule
def budgets(lesson: Lesson) -> Iterator[str]:
    """Keep a lesson within 15 minutes, and a cell within one look."""
    if len(lesson.cells) > MAX_CELLS:
        yield f"{len(lesson.cells)} cells: at most {MAX_CELLS} are allowed"
    for cell in lesson.prose:
        written = "" if cell.id == CONTENTS else LINE.sub("", cell.source)  # links are made
        if words(written) > MAX_WORDS:
            yield f"{_name(cell)} has {words(written)} words: at most {MAX_WORDS} are allowed"
    for cell in lesson.code:
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if not lines:
            yield f"{_name(cell)} is empty"
        if len(lines) > MAX_CODE_LINES:
            yield f"{_name(cell)} has {len(lines)} lines: at most {MAX_CODE_LINES} are allowed"
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_DEF_LINES:
                    yield (
                        f"{_name(cell)}: def {node.name} has {length} lines, more than "
                        f"{MAX_DEF_LINES}: it belongs in the package"
                    )


@rule
def title(lesson: Lesson) -> Iterator[str]:
    """Open with what the lesson is, its one question, and what it needs and gives."""
    first = lesson.cells[0] if lesson.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        yield "the first cell must be the title: a text cell that starts with '# '"
        return
    if not re.search(r"^> .*[?？]\s*$", first.source, re.MULTILINE):
        yield "the title cell must ask the lesson's question in a line '> …?'"
    for part in ("Needs:", "You will be able to"):
        if part not in first.source:
            yield f"the title cell lacks the line '{part} …'"
    headings = [cell for cell in lesson.prose if re.search(r"^# ", cell.source, re.MULTILINE)]
    if len(headings) > 1:
        yield f"{_name(headings[1])} has a second title: use '## ' below the first cell"


@rule
def parameters(lesson: Lesson) -> Iterator[str]:
    """Let the second cell hold what papermill may change: literals, the seed among them."""
    tagged = [cell for cell in lesson.cells if "parameters" in _tags(cell)]
    if tagged != lesson.cells[1:2] or tagged != lesson.code[:1]:
        yield "the second cell, and only it, must be a code cell tagged 'parameters'"
        return
    names = set()
    for statement in ast.parse(tagged[0].source).body:
        if not isinstance(statement, ast.Assign) or not _is_literal(statement.value):
            yield "the parameters cell may hold nothing but NAME = literal"
            return
        names |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    if "seed" not in names:
        yield "the parameters cell must set seed"


@rule
def order(lesson: Lesson) -> Iterator[str]:
    """Import, ask for a prediction before anything is shown, assert, end with a question."""
    third = lesson.cells[2] if len(lesson.cells) > 2 else None
    if third is None or third.cell_type != "code" or "import " not in third.source:
        yield "the third cell must be code with the imports and the scenario"
    yield from _prediction(lesson)
    if not any(isinstance(node, ast.Assert) for cell in lesson.code for node in _nodes(cell)):
        yield "no cell asserts anything"
    last = lesson.cells[-1] if lesson.cells else None
    if last is None or last.cell_type != "markdown" or not re.search("[?？]", last.source):
        yield "the last cell must be text with a question for next time"


def _prediction(lesson: Lesson) -> Iterator[str]:
    asks = [i for i, cell in enumerate(lesson.cells) if _asks(cell)]
    if not asks:
        yield "no text cell starts with '**Predict' and asks the learner for a prediction"
        return
    if any("widget" in _tags(cell) for cell in lesson.cells[: asks[0]]):
        yield "a widget is shown before the first '**Predict' cell"
    for i in asks:
        blank, reveal = (*lesson.cells[i + 1 : i + 3], None, None)[:2]
        if blank is None or not re.search(r"^prediction\w* = None\b", blank.source, re.MULTILINE):
            yield f"{_name(lesson.cells[i])} must be followed by a code cell 'prediction = None'"
        elif reveal is None or reveal.get("outputs", [])[1:] == []:
            yield f"{_name(blank)} must be followed by a cell whose output reveals the answer"


@rule
def metadata(lesson: Lesson) -> Iterator[str]:
    """Store only what a reader of the diff needs: the kernel, tags, ids that name the cell."""
    if set(lesson.metadata) != {"kernelspec"}:
        yield f"the notebook's metadata has {sorted(lesson.metadata)}: only kernelspec is allowed"
    elif lesson.metadata["kernelspec"].get("name") != "python3":
        yield "the kernelspec must be python3"
    folded = answers(lesson.cells)
    for cell in lesson.cells:
        if strange := sorted(set(cell.metadata) - {"tags", "jupyter"}):
            yield f"{_name(cell)} has metadata {strange}: only tags are allowed"
        if cell.metadata.get("jupyter", {}) != (FOLDED if cell.id in folded else {}):
            yield f"{_name(cell)}: outputs_hidden is for what answers a prediction, and only that"
        if cell.id in folded and cell.get("outputs", [])[:1] != [BLANK]:
            yield f"{_name(cell)} shows the first line of its answer: BLANK comes first"
        if _tags(cell) - KNOWN_TAGS:
            unknown, known = sorted(_tags(cell) - KNOWN_TAGS), ", ".join(sorted(KNOWN_TAGS))
            yield f"{_name(cell)} has the tags {unknown}: {known} are allowed"
        if "NBVAL_" in cell.source:
            yield f"{_name(cell)} hides its output from the comparison"
        if not READABLE_ID.fullmatch(cell.id):
            yield f"{_name(cell)} needs an id that names it: words in lower case, joined by '-'"


@rule
def numbering(lesson: Lesson) -> Iterator[str]:
    """Count code cells from 1 to n, so that the stored outputs come from one run."""
    for number, cell in enumerate(lesson.code, start=1):
        results = [out for out in cell.outputs if out.output_type == "execute_result"]
        counts = [cell.execution_count, *(out.execution_count for out in results)]
        if set(counts) != {number}:
            yield f"{_name(cell)} and its output are numbered {counts}: {number} is right"


@rule
def outputs(lesson: Lesson) -> Iterator[str]:
    """Store outputs, and only such as are the same on every machine."""
    for cell in lesson.code:
        must_print = "check" in _tags(cell) or any(map(_prints, ast.parse(cell.source).body))
        if must_print and not any(text.strip() for text in _texts(cell)):
            yield f"{_name(cell)} is a check, but no output of it is stored"
        for out in cell.outputs:
            if out.output_type == "error" and "raises-exception" not in _tags(cell):
                yield f"{_name(cell)} ended with {out.ename}"
            if out.get("name") == "stderr":
                yield f"{_name(cell)} wrote to standard error"
            if VIEW_PAYLOAD in out.get("data", {}):
                yield f"{_name(cell)} stores the widget's view, which means nothing elsewhere"
    for cell in lesson.cells:
        for text in (cell.source, *_texts(cell)):
            text = re.sub(r"data:image/[^\"'\s>)]*", "", text)
            for pattern, what in (
                (ADDRESS, "an address"),
                (ABSOLUTE_PATH, "a path of one machine"),
            ):
                if found := pattern.search(text):
                    yield f"{_name(cell)} holds {what}: {found.group()!r}"


@rule
def widgets(lesson: Lesson) -> Iterator[str]:
    """Give whoever cannot see a picture the same as text, beside it and in its alt text."""
    for i, cell in enumerate(lesson.cells):
        pictures = [tag for text in _texts(cell) for tag in PICTURE.findall(text)]
        if any(not re.search(r"""\balt=(["'])(?!\1)""", tag) for tag in pictures):
            yield f"{_name(cell)} shows a picture without alt text"
        following = lesson.cells[i + 1] if i + 1 < len(lesson.cells) else None
        if (pictures or "widget" in _tags(cell)) and (following is None or not _is_text(following)):
            yield f"{_name(cell)} shows a widget: the next cell must print the same as text"


@rule
def links(lesson: Lesson) -> Iterator[str]:
    """Let every link to a file or a heading lead somewhere, and every picture have a text."""
    for cell in lesson.prose:
        for bang, text, target in LINK.findall(cell.source):
            if bang and not text.strip():
                yield f"{_name(cell)} shows a picture without a text: {target}"
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = unquote(target).partition("#")
            path = _stored(lesson.folder / file)
            if file and not path.exists():
                yield f"{_name(cell)} links to {file}, which does not exist"
            elif anchor and anchor not in _anchors(path if file else None, lesson):
                yield f"{_name(cell)} links to #{anchor}, but there is no such heading"


def _stored(path: Path) -> Path:
    """Find what is linked to; a learner's copy of an exercise is made from the starter beside."""
    starter = path.with_name("starter.ipynb")
    is_copy = path.name == f"{path.parent.name}.ipynb" and starter.is_file()
    return starter if is_copy else path


def _anchors(path: Path | None, lesson: Lesson) -> set[str]:
    if path is None:
        texts = [cell.source for cell in lesson.prose]
    elif path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    else:
        texts = [path.read_text(encoding="utf-8")]
    headings = [line for text in texts for line in re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)]
    return {re.sub(r"[`*]", "", heading).replace(" ", "-") for heading in headings}


def _name(cell: Any) -> str:
    return f"cell {cell.id!r}"


def _tags(cell: Any) -> set[str]:
    return set(cell.metadata.get("tags", []))


def _asks(cell: Any) -> bool:
    return bool(cell.source.startswith("**Predict"))


def _nodes(cell: Any) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(cell.source))


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _prints(statement: ast.stmt) -> bool:
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    is_definition = isinstance(statement, ast.FunctionDef | ast.ClassDef)
    return not is_definition and any(
        isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls
    )


def _is_text(cell: Any) -> bool:
    shows_a_picture = any(PICTURE.search(text) for text in _texts(cell))
    return cell.cell_type == "code" and bool(cell.outputs) and not shows_a_picture


def _texts(cell: Any) -> list[str]:
    """All that a cell's outputs hold as text."""
    texts: list[str] = []
    for out in cell.get("outputs", []):
        texts += [value for value in out.get("data", {}).values() if isinstance(value, str)]
        texts += [out.get("text", ""), out.get("evalue", ""), *out.get("traceback", [])]
    return texts
