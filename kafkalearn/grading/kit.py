"""The instructor's kit: finds exercises, and proves that each is what it says.

Answers run in this process, unlimited and not isolated: they are the instructor's own.
"""

import ast
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from kafkalearn.grading import exercise_rules as rules
from kafkalearn.grading.answering.learner import Answer, asker
from kafkalearn.grading.exercise import (
    Exercise,
    ExerciseError,
    by_name,
    exercise_folders,
    load,
    tags_of,
)
from kafkalearn.grading.isolation.lending import lend, python_path
from kafkalearn.grading.judging.judge import cases_of, decide

JUDGE_FAILED = "tell your teacher"  # what a verdict says that is no learner's fault


class Proof(NamedTuple):
    """What was found about an exercise, which is proven if there are no problems.

    caught: wrong answer -> the checks that say no to it, the one that it names first.
    """

    problems: list[str]
    caught: dict[str, list[str]]


def find_folders(names: Sequence[str] = ()) -> list[Path]:
    """Find exercises by name, its beginning, or path, or all; ExerciseError says what there is."""
    known = by_name(exercise_folders())
    found = []
    for name in names or known:
        at_path = Path(name).resolve()
        begun = [each for each in known if each.startswith(name)]
        begun = [name] if name in known else begun
        if name not in known and (at_path / "exercise.toml").is_file():
            found.append(at_path)
        elif len(begun) == 1:
            found.append(known[begun[0]])
        else:
            there = ", ".join(begun or known) or "none"
            raise ExerciseError(f"there is no exercise {name!r}; there are: {there}")
    return found


def prove(folder: Path, *, seeds: Sequence[int]) -> Proof:
    """Prove that the starter fails, the solution passes and each wrong answer is caught."""
    problems: list[str] = []
    caught: dict[str, list[str]] = {}
    try:
        exercise = load(folder)
        problems += rules.breaches(exercise, folder)
        if not problems:
            for found in (_lent, _asked, _starter, _solution):
                problems += found(exercise, folder, seeds)
            for path in rules.wrong_answers(folder):
                slip, caught[path.stem] = _wrong(exercise, path, seeds)
                problems += [f"wrong/{path.name} {slip}"] if slip else []
    except ExerciseError as error:
        problems.append(str(error))
    except Exception as error:  # out of judge.py, or a file that is no notebook
        problems.append(f"the proof stopped with {type(error).__name__}: {error}")
    return Proof(problems, caught)


def prove_all(folders: Sequence[Path], *, seeds: Sequence[int]) -> Iterator[Proof]:
    """Prove them side by side, a process each, and give the proofs in their order."""
    if len(folders) < 2:
        yield from (prove(folder, seeds=seeds) for folder in folders)
        return
    with ProcessPoolExecutor() as pool:
        yield from pool.map(partial(prove, seeds=seeds), folders)


def answers_of(path: Path) -> dict[str, Answer]:
    """Run a notebook's cells, give what each of its checks is handed: check -> answer.

    ExerciseError names a cell that stopped, unless its tag says that it may.
    """
    space: dict[str, Any] = {"__name__": path.stem}
    cells = rules.read_cells(path)
    for cell in rules.code_cells(cells):
        try:
            with redirect_stdout(io.StringIO()):
                exec(compile(cell["source"], f"{path.name}:{cell['id']}", "exec"), space)
        except Exception as error:
            if "raises-exception" not in tags_of(cell):
                raise ExerciseError(
                    f"{path.name}: cell {cell['id']} stops with {type(error).__name__}: {error}"
                ) from None
    return {
        cell["id"]: eval(compile(ast.Expression(call.args[1]), path.name, "eval"), space)
        for cell in cells
        if (call := rules.check_call(cell))
    }


def _lent(exercise: Exercise, folder: Path, _: Sequence[int]) -> Iterator[str]:
    """Run the solution's cells beside what is lent alone, as grading will."""
    cells = rules.code_cells(rules.read_cells(folder / "solution.ipynb"))
    plain = [cell["source"] for cell in cells if "raises-exception" not in tags_of(cell)]
    with TemporaryDirectory() as place:
        lend(exercise.lent_modules, Path(place))
        ran = subprocess.run(
            [sys.executable, "-c", "\n".join(plain)],
            cwd=place,
            env=os.environ | {"PYTHONPATH": python_path(Path(place))},
            capture_output=True,
            text=True,
        )
    if ran.returncode:
        said = ran.stderr.strip().splitlines() or ["no word"]
        yield f"the solution stops where only what the exercise lends is there: {said[-1]}"


def _asked(exercise: Exercise, _: Path, seeds: Sequence[int]) -> Iterator[str]:
    """What judge.py asks about depends on the seed, and on nothing else."""
    judge: Any = exercise.judge
    ask_about = judge.stories if hasattr(judge, "stories") else judge.inputs
    for check in exercise.checks:
        first, again, other = (
            list(ask_about(check.name, seed)) for seed in (seeds[0], seeds[0], seeds[0] + 1)
        )
        if first != again:
            yield f"{check.name}: judge.py gives other cases each time, for one and the same seed"
        elif first == other:
            yield f"{check.name}: every seed gives the same cases, which can be learnt by heart"


def _starter(exercise: Exercise, folder: Path, seeds: Sequence[int]) -> Iterator[str]:
    for check, answer in answers_of(folder / "starter.ipynb").items():
        if slip := _slip(exercise, check, answer, seeds):
            yield f"the starter {slip}"


def _solution(exercise: Exercise, folder: Path, seeds: Sequence[int]) -> Iterator[str]:
    for check, answer in answers_of(folder / "solution.ipynb").items():
        ask = asker(answer, exercise.lent_modules)
        for seed in seeds:
            verdict = decide(exercise, check, seed=seed, ask=ask)
            if not verdict.passed:
                yield f"the solution fails under seed {seed}: {verdict.text}"
                break


def _wrong(exercise: Exercise, path: Path, seeds: Sequence[int]) -> tuple[str, list[str]]:
    """Say why a wrong answer slips through, or '', and name the checks that say no to it."""
    named, answers = rules.caught_by(path), answers_of(path)
    others = [
        check
        for check, answer in answers.items()
        if check != named and _says_no(exercise, check, answer, seeds[0])
    ]
    return _slip(exercise, named, answers[named], seeds), [named, *others]


def _slip(exercise: Exercise, check: str, answer: Answer, seeds: Sequence[int]) -> str:
    """Why the check does not say no under every seed, or cannot show why it does; '' if it can."""
    if passed := [seed for seed in seeds if not _says_no(exercise, check, answer, seed)]:
        return f"is not caught by {check} under {len(passed)} of {len(seeds)} seeds, as {passed[0]}"
    verdict = decide(exercise, check, seed=seeds[0], ask=asker(answer, exercise.lent_modules))
    return f"cannot be judged: {verdict.sentence}" if JUDGE_FAILED in verdict.sentence else ""


def _says_no(exercise: Exercise, check: str, answer: Answer, seed: int) -> bool:
    """As `decide` does, but the case that shows it is not made small."""
    kind = cases_of(exercise, asker(answer, exercise.lent_modules))
    return any(found is not None for _, found in kind.tried(check, seed))
