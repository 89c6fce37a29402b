"""The import direction is part of the design, so it is a test.

Every form counts: `import`, `from`, relative, inside functions and under TYPE_CHECKING, and a
string that names a module, since import_module and `python -m` take those.
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


def violations(source: str, module: str) -> list[str]:
    """Name each import in `source` that the layer of `module`, a path, may not have."""
    path = PurePosixPath(module)
    here = path.with_suffix("").parts[0]
    if here not in MAY_IMPORT:
        return [f"{module} is in no layer: give {here} a place in MAY_IMPORT"]
    allowed = {here} | MAY_IMPORT[here] | (OPEN_TO_ALL - ({here} & OPEN_TO_ALL))
    found = []
    for line, there in _imported(ast.parse(source), path):
        if there == "kafkalearn" and here != "cli":
            found.append(f"{module}:{line} imports the map: name the module that defines it")
        elif there != "kafkalearn" and there not in allowed:
            found.append(f"{module}:{line} imports {there}, which {here} may not")
    return found


def foreign_violations(source: str, module: str) -> list[str]:
    """Name each library that the core may not import: it needs greenlet and Python alone."""
    here = PurePosixPath(module).with_suffix("").parts[0]
    if here not in CORE:
        return []
    tree = ast.parse(source)
    allowed = sys.stdlib_module_names | CORE_LIBRARIES | {"kafkalearn"}
    found = []
    for node in ast.walk(tree):
        for name in _absolute_names(node):
            late = (
                here == "trace" and name.split(".")[0] in TABLE_LIBRARIES and node not in tree.body
            )
            if name.split(".")[0] not in allowed and not late:
                found.append(f"{module}:{node.lineno} imports {name}: the core needs greenlet only")
    return found


def _imported(tree: ast.Module, path: PurePosixPath) -> Iterator[tuple[int, str]]:
    """Give (line, layer) for each import from the package; `kafkalearn` is the map."""
    package = ["kafkalearn", *path.parts[:-1]]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            base = _absolute("." * node.level + (node.module or ""), package)
            of_map = base == "kafkalearn"
            names = [f"{base}.{alias.name}" for alias in node.names] if of_map else [base]
        elif isinstance(node, ast.Import):
            # `import kafkalearn` alone only finds the folder: what is used of it counts, below.
            names = [
                alias.name for alias in node.names if alias.asname or alias.name != "kafkalearn"
            ]
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "kafkalearn":
            names = [] if node.attr.startswith("__") else [f"kafkalearn.{node.attr}"]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value] if re.fullmatch(r"kafkalearn(\.\w+)+", node.value) else []
        elif relative := _relative_import_module(node):
            names = [_absolute(relative, package)]
        for name in names:
            parts = name.split(".")
            if parts[0] == "kafkalearn":
                yield node.lineno, parts[1] if len(parts) > 1 and _is_layer(parts[1]) else parts[0]


def _absolute_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        yield node.module


def _absolute(name: str, package: list[str]) -> str:
    """Resolve ``..broker`` as Python does in a module of `package`; other names stay."""
    rest = name.lstrip(".")
    level = len(name) - len(rest)
    start = package[: len(package) + 1 - level] if level else []
    return ".".join([*start, *([rest] if rest else [])])


def _relative_import_module(node: ast.AST) -> str:
    """Give the name in ``import_module("..name", __package__)``, however it is called; else ''."""
    if (
        not isinstance(node, ast.Call)
        or not node.args
        or not isinstance(node.args[0], ast.Constant)
    ):
        return ""
    called = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    )
    name = str(node.args[0].value)
    return name if called == "import_module" and name.startswith(".") else ""


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
        ("views/group.py", "LAZY = {'Broker': 'kafkalearn.broker'}"),
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
        ("analysis/lag.py", "def table():\n    import pandas", 1),
        ("trace.py", "import pandas", 1),
        ("trace.py", "def to_pandas():\n    import pandas", 0),
        ("views/stepper.py", "import anywidget", 0),
    ],
)
def test_the_core_imports_greenlet_and_python_alone(module, source, count):
    """Tables, widgets and Spark stay out of the core, so that importing it is fast."""
    assert len(foreign_violations(source, module)) == count
