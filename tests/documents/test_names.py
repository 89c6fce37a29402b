"""Every name that the documents print has its place here, or a reason why not."""

import ast
import inspect
import textwrap
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.documents.names import NAMES, Name, parse

# document -> how many names of Kafka, Java and Scala it prints
PRINTED = {"000": 58, "001": 83, "002": 86, "003": 39, "004": 212}


def what_is_missing(path: str) -> str:
    """Say what of a dotted path does not exist; nothing if all of it does."""
    package, *rest = path.split(".")
    owner: object = import_module(package)
    for place, name in enumerate(rest):
        if hasattr(owner, "__path__") and find_spec(f"{owner.__name__}.{name}"):
            owner = import_module(f"{owner.__name__}.{name}")
            continue
        attributes = instance_attributes(owner) if isinstance(owner, type) else set()
        if name in attributes and place == len(rest) - 1:
            return ""
        if not hasattr(owner, name):
            close = get_close_matches(name, [*attributes, *dir(owner)], n=1)
            hint = f"; {close[0]} is there" if close else ""
            return f"{path}: no {name} in {'.'.join([package, *rest[:place]])}{hint}"
        owner = getattr(owner, name)
    return ""


@cache
def instance_attributes(owner: type) -> set[str]:
    """Name what an object has: annotated in its class or a base, or given to self in __init__."""
    names: set[str] = set()
    for each in inspect.getmro(owner):
        if each.__module__.startswith(("kafkalearn.", "tests.")):
            names |= vars(each).get("__annotations__", {}).keys()
            names |= assigned_in_init(textwrap.dedent(inspect.getsource(each)))
    return names


def assigned_in_init(source: str) -> set[str]:
    """Name what the class of this source gives to self in __init__."""
    methods = ast.parse(source).body[0].body
    return {
        node.attr
        for method in methods
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def test_every_name_exists_here():
    """Ours can be looked up: a module, class, function, method, field, constant or setting."""
    missing = [what_is_missing(name.ours) for name in NAMES if name.ours]
    assert list(filter(None, missing)) == []


@pytest.mark.parametrize("document", PRINTED)
def test_no_name_of_a_document_is_forgotten(document):
    """A name that is taken out of the table is missed."""
    assert sum(document in name.documents for name in NAMES) == PRINTED[document]


def test_each_name_stands_once():
    """There is one answer to where a name is."""
    assert len({name.java for name in NAMES}) == len(NAMES)


class Base:
    annotated: int

    def __init__(self):
        self.one, self.two = 1, 2
        other = self.one
        other.real = 0


class Derived(Base):
    __slots__ = ("slot",)

    def method(self):
        self.later = 1


@dataclass
class Data:
    field: int


HERE = "tests.documents.test_names"


@pytest.mark.parametrize(
    "path",
    [
        "kafkalearn.records",
        "kafkalearn.config.setting",
        "kafkalearn.errors.Errors.ILLEGAL_GENERATION",
        "kafkalearn.records.TopicPartition.topic",
        "kafkalearn.broker.broker_config.BrokerConfig.num_partitions",
        f"{HERE}.Data.field",
        f"{HERE}.Derived.method",
        f"{HERE}.Derived.slot",
        f"{HERE}.Derived.annotated",
        f"{HERE}.Derived.two",
    ],
)
def test_what_exists_is_found(path):
    """Each kind of name is found, what is inherited too."""
    assert what_is_missing(path) == ""


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("kafkalearn.recordz", "no recordz in kafkalearn; records is there"),
        ("kafkalearn.records.nothing", "no nothing in kafkalearn.records"),
        ("kafkalearn.consumer.nothing.Nothing", "no nothing in kafkalearn.consumer"),
        ("kafkalearn.errors.Errors.LATE", "no LATE in kafkalearn.errors.Errors"),
        (
            "kafkalearn.broker.broker_config.BrokerConfig.num_partition",
            "no num_partition in kafkalearn.broker.broker_config.BrokerConfig; "
            "num_partitions is there",
        ),
        (f"{HERE}.Data.fields", f"no fields in {HERE}.Data; field is there"),
        (f"{HERE}.Derived.methods", f"no methods in {HERE}.Derived; method is there"),
        (f"{HERE}.Derived.later", f"no later in {HERE}.Derived"),
        (f"{HERE}.Derived.real", f"no real in {HERE}.Derived"),
        (f"{HERE}.Derived.two.two", f"no two in {HERE}.Derived; two is there"),
    ],
)
def test_what_does_not_exist_is_named(path, sentence):
    """A name that is not there is told, with the one that may be meant."""
    assert what_is_missing(path) == f"{path}: {sentence}"


def test_a_table_is_read():
    """A member belongs to the class above it; a heading without documents is no name."""
    table = """
Fetcher = kafkalearn.x.Fetcher | 003 004
  sendFetches = send_fetches | 004
  log : loggers are not built | 004
  time = kafkalearn.y.now_ms | 001
heading = kafkalearn.z
"""
    assert parse(table) == [
        Name("Fetcher", "kafkalearn.x.Fetcher", "", ("003", "004")),
        Name("Fetcher.sendFetches", "kafkalearn.x.Fetcher.send_fetches", "", ("004",)),
        Name("Fetcher.log", "", "loggers are not built", ("004",)),
        Name("Fetcher.time", "kafkalearn.y.now_ms", "", ("001",)),
    ]


@pytest.mark.parametrize(
    "line",
    ["Fetcher", "Fetcher = | 004", "Fetcher = x | 005", "  poll = poll | 004", "A = b\n  c = d"],
)
def test_a_wrong_line_is_refused(line):
    """Nothing is passed over: no target, no such document, a member of nothing, or of nowhere."""
    with pytest.raises(ValueError, match="no line of a table"):
        parse(line)
