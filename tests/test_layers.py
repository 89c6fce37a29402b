"""The import direction is part of the design, so it is a test.

Every form counts: `import`, `from`, relative, inside functions and under TYPE_CHECKING;
`import_module` and `__import__`, by whatever name they are called; and a string that names a
module, or begins with one, since tables of lazily found names and `python -m` have those.
"""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

PACKAGE = Path(__file__).parents[1] / "kafkalearn"
OPEN_TO_ALL = {"errors", "records", "trace", "config", "profile"}
SIMULATED = {"engine", "protocol", "assignors", "broker", "clients", "consumer", "producer"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "records": set(),
    "trace": set(),
    "config": set(),
    "profile": set(),
    "engine": set(),
    "protocol": set(),
    "assignors": set(),
    "broker": {"protocol"},
    "clients": {"engine", "protocol"},
    "consumer": {"engine", "protocol", "clients", "assignors"},
    "producer": {"engine", "protocol", "clients"},
    "simulation": SIMULATED,
    "scenarios": {"simulation", "engine"},
    "analysis": set(),
    "views": set(),
    "grading": {"scenarios", "simulation", "analysis", "assignors", "views", "engine", "consumer"},
    "spark": {"scenarios", "analysis", "grading"},
    # Around the notebooks, beside what they teach: where they lie, executing them, JupyterLab.
    "workbook": set(),
    "notebooks": {"workbook"},
    "lab": {"workbook"},
    "book": {"workbook"},
}
MAY_IMPORT["cli"] = set(MAY_IMPORT)
MAY_IMPORT["__main__"] = {"cli"}
# The map re-exports public names, but starts nothing; what that costs is in test_import_time.py.
AROUND = {"cli", "__main__", "workbook", "notebooks", "lab", "book"}
MAY_IMPORT["__init__"] = set(MAY_IMPORT) - AROUND

CORE = SIMULATED | OPEN_TO_ALL | {"simulation", "scenarios", "analysis"}
CORE_LIBRARIES = {"greenlet"}
TABLE_LIBRARIES = {"pandas", "pyarrow"}  # a trace turns into tables, where someone asks for one
LOADERS = {"import_module", "__import__"}
# Where a name that is computed is imported, and what is known of it.
COMPUTED = {
    "__init__.py": "its table of names, whose strings are looked at",
    "assignors/__init__.py": "its table of names, whose strings are looked at",
    "grading/engines/cells.py": "the files of the copy that is lent to a learner",
}
_MODULE = re.compile(r"kafkalearn(\.\w+)+")
_RELATIVE = re.compile(r"\.+\w+(\.\w+)*")


def violations(source: str, module: str) -> list[str]:
    """Name each import in `source` that the layer of `module`, a path, may not have."""
    path = PurePosixPath(module)
    here = path.with_suffix("").parts[0]
    if here not in MAY_IMPORT:
        return [f"{module} is in no layer: give {here} a place in MAY_IMPORT"]
    allowed = {here} | MAY_IMPORT[here] | (OPEN_TO_ALL - ({here} & OPEN_TO_ALL))
    found = []
    for line, there in _imported(ast.parse(source), path):
        if there == "?" and module not in COMPUTED:
            found.append(f"{module}:{line} imports a name that nobody can read here")
        elif there == "kafkalearn" and here != "cli":
            found.append(f"{module}:{line} imports the map: name the module that defines it")
        elif there not in {"?", "kafkalearn", *allowed}:
            found.append(f"{module}:{line} imports {there}, which {here} may not")
    return found


def foreign_violations(source: str, module: str) -> list[str]:
    """Name each library that the core may not import: it needs greenlet and Python alone."""
    here = PurePosixPath(module).with_suffix("").parts[0]
    if here not in CORE:
        return []
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {node for function in functions for node in ast.walk(function)}
    allowed = sys.stdlib_module_names | CORE_LIBRARIES | {"kafkalearn"}
    found = []
    for node in ast.walk(tree):
        for library in {name.split(".")[0] for name in _absolute_names(node)} - allowed:
            if here != "trace" or library not in TABLE_LIBRARIES or node not in inside:
                found.append(f"{module}:{node.lineno} imports {library}: the core has greenlet")
    return found


def _imported(tree: ast.Module, path: PurePosixPath) -> Iterator[tuple[int, str]]:
    """Give (line, layer) for each import from the package; `kafkalearn` is the map, `?` unknown."""
    package = ["kafkalearn", *path.parts[:-1]]
    for node in ast.walk(tree):
        for name in _names(node, package):
            parts = name.split(".")
            if parts[0] in ("kafkalearn", "?"):
                yield node.lineno, parts[1] if len(parts) > 1 and _is_layer(parts[1]) else parts[0]


def _names(node: ast.AST, package: list[str]) -> list[str]:
    match node:
        case ast.ImportFrom():
            base = _absolute("." * node.level + (node.module or ""), package)
            of_map = base == "kafkalearn"
            return [f"{base}.{alias.name}" for alias in node.names] if of_map else [base]
        case ast.Import():
            # `import kafkalearn` alone only finds the folder: what is used of it counts, below.
            return [each.name for each in node.names if each.asname or each.name != "kafkalearn"]
        case ast.Attribute(value=ast.Name(id="kafkalearn"), attr=attr):
            return [] if attr.startswith("__") else [f"kafkalearn.{attr}"]
        case ast.Constant(value=str(text)):
            return [text] if _MODULE.fullmatch(text) else []
        case ast.JoinedStr(values=[ast.Constant(value=str(begin)), *_]):
            is_module = _MODULE.fullmatch(begin.removesuffix(".")) or begin == "kafkalearn."
            return [begin.removesuffix(".")] if is_module else []
        case ast.Call(args=[first, *rest]):
            return _loaded(node, first, [*rest, *(each.value for each in node.keywords)], package)
    return []


def _loaded(call: ast.Call, first: ast.expr, rest: list[ast.expr], package: list[str]) -> list[str]:
    """Name what a call of `import_module` or `__import__` loads; an absolute name is a string."""
    called = _called(call)
    if called == "getattr" and ast.unparse(first) == "kafkalearn":
        return [f"kafkalearn.{getattr(rest[0], 'value', '?')}"]
    if not isinstance(first, ast.Constant):
        return ["?"] if called in LOADERS and not isinstance(first, ast.JoinedStr) else []
    name, told = str(first.value), [getattr(each, "value", None) for each in rest]
    if called == "__import__" and told and type(told[-1]) is int:
        return [_absolute("." * told[-1] + name, package)]
    if _RELATIVE.fullmatch(name) and len(rest) == 1 and _names_package(rest[0]):
        return [_absolute(name, package if told[0] is None else str(told[0]).split("."))]
    return []


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def _names_package(anchor: ast.expr) -> bool:
    return ast.unparse(anchor) in ("__package__", "__name__") or "kafkalearn" in str(
        getattr(anchor, "value", "")
    )


def _absolute_names(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(level=0, module=str(module)):
            return [module]
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if _called(node) in LOADERS:
            return [name] if not name.startswith(".") else []
    return []


def _absolute(name: str, package: list[str]) -> str:
    """Resolve ``..broker`` as Python does in a module of `package`; other names stay."""
    rest = name.lstrip(".")
    level = len(name) - len(rest)
    start = package[: len(package) + 1 - level] if level else []
    return ".".join([*start, *([rest] if rest else [])])


def _is_layer(name: str) -> bool:
    return name in MAY_IMPORT or (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_its_layer_may(module):
    """Imports point one way: a view that imports the broker is another design."""
    source = (PACKAGE / module).read_text(encoding="utf-8")
    assert violations(source, module) + foreign_violations(source, module) == []


def test_the_table_has_no_cycle():
    """Layers stand above each other, so each can be read after those below it."""
    below = {layer: allowed | (OPEN_TO_ALL - {layer}) for layer, allowed in MAY_IMPORT.items()}
    for layer in OPEN_TO_ALL:
        below[layer] = set()
    del below["cli"], below["__init__"]
    assert list(TopologicalSorter(below).static_order())[-1] not in OPEN_TO_ALL


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("views/group.py", "import kafkalearn.broker.broker"),
        ("views/group.py", "from kafkalearn.broker import broker"),
        ("views/group.py", "from kafkalearn import broker"),
        ("views/group.py", "from ..broker import Broker"),
        ("views/group.py", "from .. import broker"),
        ("views/panes/group.py", "from ...broker.broker import Broker"),
        ("views/group.py", "def late():\n    from kafkalearn.broker import Broker"),
        ("views/group.py", "if TYPE_CHECKING:\n    import kafkalearn.broker"),
        ("views/group.py", "import_module('kafkalearn.broker.broker')"),
        ("views/group.py", "importlib.import_module('..broker', __package__)"),
        ("views/group.py", "importlib.import_module('.broker', 'kafkalearn')"),
        ("views/group.py", "load('..broker', package=__package__)"),
        ("views/group.py", "import_module(f'kafkalearn.broker.{name}')"),
        ("views/group.py", "import_module(f'kafkalearn.{name}')"),
        ("views/group.py", "import_module(name)"),
        ("views/group.py", "__import__('kafkalearn.broker')"),
        ("views/group.py", "__import__('broker', globals(), level=2)"),
        ("views/group.py", "def late(): return __import__(name)"),
        ("views/group.py", "LAZY = {'Broker': 'kafkalearn.broker'}"),
        ("views/group.py", "def f(broker: 'kafkalearn.broker.broker.Broker'): ..."),
        ("views/group.py", "import kafkalearn.broker as b"),
        ("views/group.py", "from kafkalearn import broker as b"),
        ("views/group.py", "from kafkalearn import *"),
        ("views/group.py", "import kafkalearn\ngetattr(kafkalearn, 'broker')"),
        ("views/group.py", "import kafkalearn\nkafkalearn.broker"),
        ("views/group.py", "import kafkalearn\nkafkalearn.Broker()"),
        ("views/group.py", "import kafkalearn as k"),
        ("views/group.py", "from kafkalearn import Broker"),
        ("broker/broker.py", "from kafkalearn.engine.event_loop import EventLoop"),
        ("assignors/range_assignor.py", "from kafkalearn.grading import check"),
        ("records.py", "from kafkalearn.assignors import RangeAssignor"),
        ("grading/judging/judge.py", "from kafkalearn.cli import app"),
        ("elsewhere.py", "import json"),
    ],
)
def test_a_forbidden_import_is_found(module, source):
    """Each form of import, planted where it is not allowed, is named."""
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("consumer/fetcher.py", "from kafkalearn.clients.metadata import Metadata"),
        ("consumer/fetcher.py", "from .subscription_state import SubscriptionState"),
        ("consumer/fetcher.py", "from kafkalearn.errors import KafkaError"),
        ("cli/grade.py", "from kafkalearn import grading\nimport kafkalearn"),
        ("grading/isolation/lending.py", "import kafkalearn\nkafkalearn.__file__"),
        ("views/group.py", "TEXT = 'see kafkalearn.broker for more'"),
        ("views/group.py", "from . import fold\nimport_module('.fold', __package__)"),
        ("views/group.py", "import_module(f'kafkalearn.views.{name}')"),
        ("views/group.py", "name.replace('.py', '')\nname.startswith('kafkalearn.')"),
        ("assignors/__init__.py", "import_module(WHERE[name])"),
        ("scenarios/what_if.py", "from kafkalearn.simulation import Simulation"),
    ],
)
def test_an_allowed_import_is_not(module, source):
    """What the table allows, and text that only mentions a module, passes."""
    assert violations(source, module) == []


@pytest.mark.parametrize(
    ("module", "source", "count"),
    [
        ("engine/event_loop.py", "import greenlet, heapq", 0),
        ("engine/event_loop.py", "import simpy", 1),
        ("engine/event_loop.py", "def late():\n    importlib.import_module('simpy')", 1),
        ("engine/event_loop.py", "__import__('simpy.core')", 1),
        ("analysis/lag.py", "def table():\n    import pandas", 1),
        ("trace.py", "import pandas", 1),
        ("trace.py", "def to_pandas():\n    import pandas", 0),
        ("views/stepper.py", "import anywidget", 0),
    ],
)
def test_the_core_imports_greenlet_and_python_alone(module, source, count):
    """Tables, widgets and Spark stay out of the core, so that importing it is fast."""
    assert len(foreign_violations(source, module)) == count


@pytest.mark.parametrize("module", COMPUTED)
def test_a_computed_name_is_excused_only_where_there_is_one(module):
    """An excuse that nobody needs any more goes."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    assert "?" in {there for _, there in _imported(tree, PurePosixPath(module))}
