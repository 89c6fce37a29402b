"""`kafkalearn/__init__.py` is the map: what it names is there, and what is there it names."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import kafkalearn

PACKAGE = Path(kafkalearn.__file__).parent
MAP = re.split(r"^\w.*", kafkalearn.__doc__, flags=re.M)[2]  # below "Where is it?"
NOT_ON_IT = {"kafkalearn.__main__"}


def places(text):
    """Read the map: each module -> what stands behind its name, up to the next one's line."""
    lines = "\n".join(line for line in text.splitlines() if line.strip())
    found = {}
    for entry in re.split(r"\n(?=    \S)", f"\n{lines}")[1:]:
        names = re.findall(r"kafkalearn(?:\.\w+)+", entry)
        found |= dict.fromkeys(names, entry)
    return found


def what_is_wrong(text):
    """Say where the map and the package differ."""
    named = places(text)
    there = {f"kafkalearn.{path.stem}" for path in PACKAGE.glob("*.py")} - NOT_ON_IT
    there |= {
        ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        for path in PACKAGE.rglob("__init__.py")
    }
    there -= {"kafkalearn", "kafkalearn.__init__"}
    wrong = [f"there is no {name}" for name in named if find_spec(name) is None]
    wrong += [f"{name} is not on the map" for name in sorted(there - named.keys())]
    for module, entry in named.items():
        house = PACKAGE / module.split(".")[1]
        files = re.findall(r"\w+\.py\b", entry)
        wrong += [f"{module} has no {file}" for file in files if not list(house.rglob(file))]
    for name in kafkalearn.__all__:
        if not any(_is_told_at(name, each, named[each]) for each in named):
            wrong.append(f"{name} does not stand where it is")
    return wrong


def _is_told_at(name, module, entry):
    """Whether an entry names it, and it is defined in that module or within that package."""
    inside = f"{getattr(kafkalearn, name).__module__}.".startswith(f"{module}.")
    return inside and re.search(rf"\b{name}\b", entry.replace(module, "")) is not None


def test_the_map_is_true():
    """Every module on it exists, every package and public name of the package is on it."""
    assert what_is_wrong(MAP) == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("kafkalearn.broker ", "kafkalearn.brokers ", "there is no kafkalearn.brokers"),
        ("kafkalearn.broker ", "kafkalearn.engine ", "kafkalearn.broker is not on the map"),
        ("Simulation\n", "\n", "Simulation does not stand where it is"),
        ("Trace, describe", "describe", "Trace does not stand where it is"),
        ("Stepper,", "", "Stepper does not stand where it is"),
        ("kafka_consumer.py", "consumers.py", "kafkalearn.consumer has no consumers.py"),
        ("kafkalearn.spark.logs", "logs", "kafkalearn.spark.logs is not on the map"),
        ("in kafkalearn.views.messages, ", "", "kafkalearn.views.messages is not on the map"),
    ],
)
def test_a_wrong_map_is_noticed(old, new, sentence):
    """Each kind of error, made on purpose, is named."""
    text = re.sub(r"\s*\n {8}", " ", MAP)
    assert old in text
    assert sentence in what_is_wrong(text.replace(old, new))


def test_every_public_name_is_found():
    """And one that is none is refused as Python does."""
    assert set(kafkalearn.__all__) <= set(dir(kafkalearn))
    assert all(getattr(kafkalearn, name) is not None for name in kafkalearn.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Consumer'"):
        kafkalearn.Consumer  # noqa: B018
