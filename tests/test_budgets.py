"""Small is a feature: no module, function or signature that is more than a head can hold.

What is over a budget for a good reason stands in EXCEPTIONS by name, and says the reason itself.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_layers import CORE

PACKAGE = Path(__file__).parents[1] / "kafkalearn"
SUFFIXES = {".py", ".js", ".css"}
# What one reads in one go: the core, then whichever of the houses around it one needs.
MAX_LINES = {"core": 18_000, "views": 10_180, "grading": 6_640, "spark": 5_530, "around": 1_400}
AIM_MODULE_LINES = 250
MAX_FUNCTION_LINES = 40
MAX_LINE_LENGTH = 100
MAX_PARAMETERS = 5
MAX_POSITIONAL = 2
UNCOUNTED = {"now_ms", "reply"}  # what every handler of a broker is handed beside its request

# "module" or "module:function" -> the words of its docstring's first line that defend it
EXCEPTIONS = {
    "errors.py": "one flat table",
    "simulation/message_journal.py:MessageJournal.__call__": "those of the engine's Journal",
    "trace/trace.py:Trace.record": "an argument for each of its columns",
    "scenarios/groups.py:group_changes": "the RebalanceExplorer's settings",
    "views/chinese.py": "One flat table",
    "records.py:Subscription.__init__": "by position, too, in Kafka's own order",
}
# What a docstring may say beside its name without saying anything.
_FILLING = {"a", "an", "the", "of", "to", "in", "on", "it", "its", "is", "be", "this", "and", "or"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def breaches(source: str, module: str) -> dict[str, list[str]]:
    """Name what is over its budget: place (``module`` or ``module:function``) -> sentences."""
    lines = source.splitlines()
    found: dict[str, list[str]] = {}
    if len(lines) > AIM_MODULE_LINES:
        found.setdefault(module, []).append(f"{len(lines)} lines: {AIM_MODULE_LINES} are the aim")
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_LENGTH:
            found.setdefault(module, []).append(f"line {number} has {len(line)} characters")
    if module.endswith(".py"):
        for name, node in _definitions(ast.parse(source)):
            sentences = [*_undocumented(name, node), *_too_big(name, node)]
            if sentences:
                found.setdefault(f"{module}:{name}" if name else module, []).extend(sentences)
    return found


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.Module | ast.ClassDef | Function]]:
    """Give the module ('') and everything defined in it, methods as ``Class.method``."""
    yield "", tree
    todo: list[tuple[str, ast.AST]] = [("", tree)]
    while todo:
        prefix, parent = todo.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.ClassDef | Function):
                yield prefix + node.name, node
                inside = "" if isinstance(node, ast.ClassDef) else "<locals>."
                todo.append((f"{prefix}{node.name}.{inside}", node))
            else:
                todo.append((prefix, node))


def _undocumented(name: str, node: ast.Module | ast.ClassDef | Function) -> Iterator[str]:
    """Everything that others may use says what it is; functions inside functions are private."""
    if not _is_public(name) or name.endswith("__"):
        return
    text = ast.get_docstring(node)
    if not text:
        yield "no docstring"
    elif name and not _words(text) - _words(name.rpartition(".")[2]) - _FILLING:
        yield "its docstring says no more than its name"


def _words(text: str) -> set[str]:
    """Give the words, also those of a name, without their endings: ``FetchPositions``."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", text)
    return {re.sub(r"(?<=\w{3})(s|ed|ing|e)$", "", each.lower()) for each in found}


def _too_big(name: str, node: ast.Module | ast.ClassDef | Function) -> Iterator[str]:
    if not isinstance(node, Function):
        return
    if (length := _length(node)) > MAX_FUNCTION_LINES:
        yield f"{length} lines in its body: at most {MAX_FUNCTION_LINES} are allowed"
    if any("command" in ast.unparse(decorator) for decorator in node.decorator_list):
        return  # each parameter of a command is an option that has its own name and help
    positional = [each.arg for each in [*node.args.posonlyargs, *node.args.args]]
    if "." in name and positional[:1] in (["self"], ["cls"], ["mcs"]):
        positional = positional[1:]
    counted = [each for each in positional if each not in UNCOUNTED]
    if len(counted) > MAX_POSITIONAL and _is_public(name):
        yield f"{len(counted)} positional parameters: keyword-only after {MAX_POSITIONAL}"
    if (count := len(positional) + len(node.args.kwonlyargs)) > MAX_PARAMETERS:
        yield f"{count} parameters: at most {MAX_PARAMETERS} are allowed"


def _is_public(name: str) -> bool:
    """Whether others may use it: no part is private; __init__ is as public as its class."""
    return "<locals>" not in name and not any(
        part.startswith("_") and not part.endswith("__") for part in name.split(".")
    )


def _length(node: Function) -> int:
    """Count the lines of the body; signature and docstring are there to help."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (node.end_lineno or node.lineno) - body[0].lineno + 1 if body else 0


MODULES = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in PACKAGE.rglob("*")
    if path.suffix in SUFFIXES and "__pycache__" not in path.parts
)


def text_of(module: str) -> str:
    """Read a module of the package."""
    return (PACKAGE / module).read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES)
def test_a_module_keeps_its_budgets(module):
    """What is over a budget is split, or stands in EXCEPTIONS with its reason."""
    found = {
        place: what
        for place, what in breaches(text_of(module), module).items()
        if place not in EXCEPTIONS
    }
    assert found == {}


def house_of(module: str) -> str:
    """Where a module belongs: the core that needs no library, or a house around it."""
    layer = module.removesuffix(".py").split("/")[0]
    return layer if layer in MAX_LINES else "core" if layer in CORE else "around"


def test_each_house_is_small():
    """One person can read the core, and then the house that the question is about."""
    lines = Counter(dict.fromkeys(MAX_LINES, 0))
    for module in MODULES:
        lines[house_of(module)] += len(text_of(module).splitlines())
    assert {house: lines[house] for house in lines if lines[house] > MAX_LINES[house]} == {}


def test_every_exception_is_still_needed():
    """An exception whose breach is gone goes too."""
    needed = {place for module in MODULES for place in breaches(text_of(module), module)}
    assert set(EXCEPTIONS) <= needed


@pytest.mark.parametrize("place", EXCEPTIONS)
def test_an_exception_is_defended_in_its_first_line(place):
    """Who reads the code need not look here to learn why it may be so long or so wide."""
    module, _, name = place.partition(":")
    node = dict(_definitions(ast.parse(text_of(module))))[name]
    assert EXCEPTIONS[place] in (ast.get_docstring(node) or "").splitlines()[0]


DOCUMENTED = '"""A module."""\n'
BREACHES = {
    "a long module": ("m.py", DOCUMENTED + "x = 1\n" * 250, "m.py", "251 lines"),
    "a long script": ("m.js", "x = 1\n" * 251, "m.js", "251 lines"),
    "a long line": ("m.py", DOCUMENTED + f"x = '{'y' * 96}'", "m.py", "line 2 has 102 characters"),
    "no module docstring": ("m.py", "x = 1", "m.py", "no docstring"),
    "no function docstring": ("m.py", DOCUMENTED + "def f(): ...", "m.py:f", "no docstring"),
    "no class docstring": ("m.py", DOCUMENTED + "class C: ...", "m.py:C", "no docstring"),
    "a docstring that repeats the name": (
        "m.py",
        DOCUMENTED + 'def send_heartbeat():\n    """Sends the heartbeat."""',
        "m.py:send_heartbeat",
        "no more than its name",
    ),
    "no method docstring": (
        "m.py",
        DOCUMENTED + 'class C:\n    """Of a kind."""\n    def f(self): ...',
        "m.py:C.f",
        "no docstring",
    ),
    "a long function": (
        "m.py",
        DOCUMENTED + "def _f():\n" + "    x = 1\n" * 41,
        "m.py:_f",
        "41 lines in its body",
    ),
    "a long nested function": (
        "m.py",
        DOCUMENTED + "class _C:\n    if True:\n        def f():\n" + "            x = 1\n" * 41,
        "m.py:_C.f",
        "41 lines in its body",
    ),
    "three positional": (
        "m.py",
        DOCUMENTED + 'def f(a, b, c):\n    """Do all."""',
        "m.py:f",
        "3 positional parameters",
    ),
    "six parameters": (
        "m.py",
        DOCUMENTED + "def _f(a, b, *, c, d, e, f): ...",
        "m.py:_f",
        "6 parameters",
    ),
}


@pytest.mark.parametrize(
    ("module", "source", "place", "sentence"), BREACHES.values(), ids=BREACHES.keys()
)
def test_a_breach_is_found(module, source, place, sentence):
    """Each budget, broken on purpose, is named with its place."""
    found = breaches(source, module)
    assert [sentence in each for each in found.pop(place)] == [True]
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "def _f():\n" + '    """Say.\n' + "\n" * 60 + '    """\n' + "    x = 1\n" * 40,
        "class _C:\n    def f(self, a, b, *, c, d, e): ...",
        'def f(a, b, now_ms):\n    """Do all."""',
        "@app.command()\ndef _run(a, b, c, d, e, f): ...",
        "def _f(a, b, c): ...",
        'def f():\n    """Do all."""\n    def g(a, b, c): ...',
    ],
    ids=[
        "a long docstring",
        "self",
        "the clock",
        "a command",
        "a private helper",
        "a function inside",
    ],
)
def test_what_is_within_budget_passes(source):
    """Help, self and options cost nothing, and a private helper may be called by position."""
    assert breaches(DOCUMENTED + source, "m.py") == {}
