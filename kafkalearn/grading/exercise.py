"""An exercise as its folder states it: checks, points, limits, what it lends, starter and judge.

An exercise travels as the text of its files: where submissions run, nothing of it lies on a disk.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast

import kafkalearn

FILES = ("exercise.toml", "starter.ipynb", "judge.py")
ALWAYS_LENT = (
    "kafkalearn",
    "kafkalearn.consumer",
    "kafkalearn.consumer.consumer_rebalance_listener",
    "kafkalearn.consumer.consumer_records",
    "kafkalearn.errors",
    "kafkalearn.records",
    "kafkalearn.grading",
    "kafkalearn.grading.answering",
    "kafkalearn.grading.answering.consumer_proxy",
    "kafkalearn.grading.answering.learner",
    "kafkalearn.grading.answering.loop_host",
    "kafkalearn.grading.answering.wire",
)


class ExerciseError(ValueError):
    """An exercise or a check that does not exist, or whose files contradict each other."""


class Check(NamedTuple):
    """One check of an exercise, as its exercise.toml states it."""

    name: str
    title: str
    points: float


class Table(NamedTuple):
    """A case for a learner to see: what was given, wanted, and came. `marked` rows differ."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: tuple[int, ...] = ()


class ExerciseJudge(Protocol):
    """What judge.py of an exercise defines, if the answer is a function.

    It may also define ``allowed(arguments) -> bool``, which keeps a case that is being made smaller
    a real one; ``simpler(arguments)``, its own steps to smaller cases; and
    ``picture(arguments, answer) -> str``, HTML or SVG in which all text is escaped. A judge.py that
    defines ``stories`` judges a loop: see `kafkalearn.grading.judging.stories`.
    """

    def inputs(self, check: str, seed: int) -> Iterable[tuple[Any, ...]]:
        """Give the arguments to ask about, one tuple a call, small ones first."""

    def problem(self, arguments: tuple[Any, ...], answer: object) -> str | None:
        """Say in a learner's words what is wrong with the answer; None when it is right."""

    def table(self, arguments: tuple[Any, ...], answer: object) -> Table:
        """Lay out the case; `answer` may be anything, None if there was none."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use: time by the clock, and what its processes hold together.

    cell_seconds, total_seconds: how long a cell, and a submission with its start, may run.
    output_kb: what its cells may print and show, in all.
    processes: how many processes and threads may be alive at a time.
    open_files: how many each of them may have open.
    disk_mb: what its files may hold; they are gone when it ends.
    """

    cell_seconds: float = 10
    total_seconds: float = 75
    memory_mb: int = 1024
    output_kb: int = 1024
    processes: int = 64
    open_files: int = 256
    disk_mb: int = 64

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> "Limits":
        """Read a table of exercise.toml; ValueError for a name or a value that is no limit."""
        for name, value in stated.items():
            if name not in cls.__dataclass_fields__:
                raise ValueError(f"{name}: the limits are {', '.join(cls.__dataclass_fields__)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise ValueError(f"{name} = {value!r}: a number above 0 is wanted")
        return cls(**stated)


@dataclass(frozen=True)
class Exercise:
    """One exercise, read from the text of its files.

    lent_modules: what of kafkalearn a learner's process can import in grading.
    """

    name: str
    title: str
    checks: tuple[Check, ...]
    lent_modules: frozenset[str]
    limits: Limits
    files: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, name: str, files: Mapping[str, str]) -> "Exercise":
        """Read it; ExerciseError if the files contradict each other or lack something."""
        try:
            stated = tomllib.loads(files["exercise.toml"])
            exercise = cls(
                name=name,
                title=str(stated["title"]),
                checks=tuple(
                    Check(each["name"], each["title"], float(each["points"]))
                    for each in stated["checks"]
                ),
                lent_modules=frozenset((*ALWAYS_LENT, *stated["lends"])),
                limits=Limits.of(stated.get("limits", {})),
                files=files,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ExerciseError(
                f"exercise {name}: its exercise.toml lacks or garbles {error}"
            ) from None
        try:
            book = json.loads(files["starter.ipynb"])
            cells = [cell["id"] for cell in book["cells"] if "check" in tags_of(cell)]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ExerciseError(
                f"exercise {name}: its starter.ipynb is no notebook: {error!r}"
            ) from None
        if cells != [check.name for check in exercise.checks]:
            names = ", ".join(check.name for check in exercise.checks)
            raise ExerciseError(
                f"exercise {name}: exercise.toml states the checks {names}, and "
                f"starter.ipynb has {', '.join(cells)}"
            )
        return exercise

    def check(self, name: str) -> Check:
        """Give the check called `name`; ExerciseError lists the names there are."""
        found = {check.name: check for check in self.checks}
        if name not in found:
            raise ExerciseError(f"{self.name} has no check {name!r}: {', '.join(found)} are there")
        return found[name]

    @cached_property
    def judge(self) -> ExerciseJudge:
        """What judge.py defines; it runs here, in the judge's process."""
        module = ModuleType(f"judge_of_{self.name}")
        exec(compile(self.files["judge.py"], f"{self.name}/judge.py", "exec"), vars(module))
        return cast(ExerciseJudge, module)


def tags_of(cell: Mapping[str, Any]) -> list[str]:
    """What a notebook's cell is tagged with."""
    return list(cell["metadata"].get("tags", []))


def load(folder: Path) -> Exercise:
    """Read one exercise; ExerciseError names the file that is missing."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise ExerciseError(f"exercise {folder.name}: {folder} lacks {', '.join(missing)}")
    return Exercise.of(
        folder.name, {name: (folder / name).read_text(encoding="utf-8") for name in FILES}
    )


def by_name(folders: Sequence[Path]) -> dict[str, Path]:
    """Find each exercise in these folders; of two with one name that of the first folder."""
    stated = [path for folder in reversed(folders) for path in folder.glob("*/exercise.toml")]
    nearest = {path.parent.name: path.parent for path in stated}
    return {name: nearest[name] for name in sorted(nearest)}


def load_all(*folders: Path) -> dict[str, Exercise]:
    """Read every exercise of these folders, by name; see `by_name`."""
    return {name: load(folder) for name, folder in by_name(folders).items()}


def exercise_folders() -> list[Path]:
    """Where exercises are looked for: here, in every folder above, beside the package."""
    here = Path.cwd()
    package = Path(kafkalearn.__file__).parent.parent
    return list(dict.fromkeys(folder / "exercises" for folder in (here, *here.parents, package)))


def find_exercise(name: str) -> Exercise:
    """The exercise called `name`; ExerciseError says where it was looked for."""
    looked = exercise_folders()
    if folder := by_name(looked).get(name):
        return load(folder)
    places = "\n".join(f"  {folder}" for folder in looked)
    raise ExerciseError(f"there is no exercise {name!r}. Looked in:\n{places}")


def student_seed(student: str, exercise: str, *, course_seed: int) -> int:
    """From 1 to 2**31 - 1, the same for the same three: it chooses a student's random cases."""
    digest = blake2b(
        f"{student}\0{exercise}".encode(), key=str(course_seed).encode()[:64], digest_size=8
    )
    return int.from_bytes(digest.digest()) % (2**31 - 1) + 1
