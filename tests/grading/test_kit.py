"""The instructor's kit, `kafkalearn exercise list | test | release | reset`; learners' copies."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from kafkalearn.cli import app
from kafkalearn.engine.faults import Crash
from kafkalearn.grading import CheckFailedError, check
from kafkalearn.grading.exercise import ExerciseError
from kafkalearn.grading.judging.loop_story import LoopStory
from kafkalearn.grading.kit import answers_of, find_folders, prove
from kafkalearn.grading.release import ReleaseError, release
from kafkalearn.lab import lay_out, learners_copy, open_lab, put_back
from tests.grading.loops import EXERCISES as LOOPS
from tests.grading.loops import done, played
from tests.grading.submissions import CHECKS, FOLDER, answer_of, code

ROOT = FOLDER.parents[1]
NAME = FOLDER.name
SEEDS = range(3)
EVERY = sorted(path.parent.name for path in FOLDER.parent.glob("*/exercise.toml"))
EXERCISES = sorted(
    path.parent
    for path in FOLDER.parent.glob("*/exercise.toml")
    if path.parent.name != "62_lag_and_duplicates"  # tests/spark has a session for it
)


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    """Copy exercise 41 below another workbook, and go there."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(FOLDER, tmp_path / "exercises" / NAME))


def command(*arguments):
    """Run `kafkalearn exercise` here: (exit status, what it said on long lines)."""
    result = CliRunner().invoke(app, ["exercise", *map(str, arguments)], env={"COLUMNS": "500"})
    return result.exit_code, result.output


def replace(path, old, new):
    """Change a file of an exercise, which must hold what is to be replaced."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def change(path, cell_id, **fields):
    """Change a cell of a notebook."""
    book = json.loads(path.read_text(encoding="utf-8"))
    (cell,) = [cell for cell in book["cells"] if cell["id"] == cell_id]
    cell.update(fields)
    path.write_text(json.dumps(book), encoding="utf-8")


def source_of(path, cell_id):
    """Read a cell of a notebook."""
    book = json.loads(path.read_text(encoding="utf-8"))
    return next("".join(cell["source"]) for cell in book["cells"] if cell["id"] == cell_id)


def everywhere(folder, old, new):
    """Change all notebooks of an exercise."""
    for path in folder.rglob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("folder", EXERCISES, ids=lambda folder: folder.name)
def test_every_exercise_is_proven(folder):
    """Starter, solution, wrong answers, what is lent, all rules: no check is passed by luck.

    The stories of loops take long: test_loops.py tells those of the other seeds, each once.
    """
    seeds = [0] if folder.name in LOOPS else range(20)
    assert prove(folder, seeds=seeds).problems == []


def test_the_proof_says_who_catches_what():
    """The check that a wrong answer names comes first, then those that catch it too."""
    caught = prove(FOLDER, seeds=[0]).caught
    assert caught["members_as_they_come"] == ["by-name", "random-groups"]
    assert caught["all_topics_together"][0] == "topic-by-topic"


def test_a_notebooks_own_class_keeps_its_state_to_one_life(tmp_path):
    """The kit's loops are as a learner's: what a class of theirs stores, the next life sees not."""
    path = Path(shutil.copy(FOLDER.parent / "38_loss_and_duplicates/starter.ipynb", tmp_path))
    source = """
        seen = []

        class Memory:
            def add(self, record):
                seen.append(record.offset)
                assert seen == sorted(set(seen)), seen

        def loop(consumer, process):
            consumer.subscribe(["orders"])
            while True:
                for record in consumer.poll(100):
                    Memory().add(record)
                    process(record)
                consumer.commit_sync()
        """
    change(path, "answer", source=textwrap.dedent(source))
    loop = next(iter(answers_of(path).values()))
    story = LoopStory("crash", (3,), config={"max_poll_records": 2}, faults=(Crash("c1", 125),))
    assert [offset for _, _, offset in done(played(loop, story))] == [0, 0, 1, 2]


def test_no_name_of_an_answer_is_wired_in(exercise):
    """The check cells say what the answer is; here under another name, and not a bare name."""
    everywhere(exercise, "range_assign(", "anders(")
    everywhere(exercise, ", range_assign, seed=seed", ", dict(mine=anders)['mine'], seed=seed")
    assert prove(exercise, seeds=SEEDS).problems == []


def append_code(exercise):
    """Let a cell follow the checks."""
    path = exercise / "starter.ipynb"
    book = json.loads(path.read_text(encoding="utf-8"))
    book["cells"].append(code("print('after all')"))
    path.write_text(json.dumps(book), encoding="utf-8")


def starter(cell_id, **fields):
    """Give a spoiler that changes a cell of the starter."""
    return lambda exercise: change(exercise / "starter.ipynb", cell_id, **fields)


def solution(cell_id, **fields):
    """Give a spoiler that changes a cell of the solution."""
    return lambda exercise: change(exercise / "solution.ipynb", cell_id, **fields)


def in_file(name, old, new):
    """Give a spoiler that replaces something in a file."""
    return lambda exercise: replace(exercise / name, old, new)


def judging(source):
    """Give a spoiler that lets judge.py end with another definition."""

    def spoil(exercise):
        with (exercise / "judge.py").open("a", encoding="utf-8") as file:
            file.write(f"\n\n_inputs = inputs\n\n\n{source}\n")

    return spoil


def answer(source):
    """Write a function range_assign with this body."""
    return "def range_assign(partitions_per_topic, subscriptions):\n    " + source


SIDE_BY_SIDE = "<details><summary>a</summary></details>\n" * 3
BY_NAME = 'check("41_range_assignor/by-name", range_assign, seed=seed)'
LATE = "wrong/extras_to_the_last.ipynb"
BREACHES = {
    "a written starter": (
        starter("answer", source=answer("return {}")),
        "the starter's answer has no `raise NotImplementedError`: is it written already?",
    ),
    "no answer": (starter("answer", metadata={}), "0 cells tagged answer: one is wanted"),
    "no seed": (
        starter("parameters", source="speed = 0"),
        "the starter's parameters do not set seed",
    ),
    "a long task": (starter("task", source="word " * 81), "`task` has 81 words: 1 to 80"),
    "no task": (starter("task", id="duty"), "`task` has 0 words"),
    "no hints": (starter("hints", source="Try."), "0 hints that open one by one: 2 are wanted"),
    "hints side by side": (starter("hints", source=SIDE_BY_SIDE), "0 hints that open one by one"),
    "another check's name": (
        starter("by-name", source=BY_NAME.replace("by-name", "by-nam")),
        "cell by-name asks for check '41_range_assignor/by-nam'",
    ),
    "a fixed seed": (
        starter("by-name", source=BY_NAME.replace("=seed", "=0")),
        "cell by-name does not hand seed=seed",
    ),
    "no call": (starter("by-name", source="pass"), "cell by-name does not call check("),
    "a check that ends the notebook": (
        starter("by-name", metadata={"tags": ["check"]}),
        "cell by-name lacks the tag raises-exception",
    ),
    "code behind the checks": (
        append_code,
        "code follows a check of the starter: grading runs all checks at the end",
    ),
    "another solution": (
        solution("example", source="1"),
        "solution.ipynb: cell example is not as in the starter",
    ),
    "a stored output": (
        solution("answer", execution_count=3),
        "solution.ipynb: cell answer holds an output or a count of a run",
    ),
    "another exercise": (
        in_file("solution.ipynb", '"exercise": "41_range_assignor"', '"exercise": "42"'),
        "solution.ipynb: its metadata name the exercise '42'",
    ),
    "no solution": (lambda exercise: (exercise / "solution.ipynb").unlink(), "no solution.ipynb"),
    "an unknown check": (
        in_file(LATE, '"caught_by": "seven-over-five"', '"caught_by": "seven"'),
        "names 'seven', which is no check of this exercise",
    ),
    "no check": (in_file(LATE, '"caught_by"', '"by"'), "name no kafkalearn.caught_by"),
    "a silent title": (
        in_file(LATE, "# Wrong: caught by seven-over-five", "# Wrong"),
        "its title does not say that seven-over-five catches it",
    ),
    "few wrong answers": (
        lambda exercise: [path.unlink() for path in (exercise / "wrong").glob("[ace]*")],
        "wrong/ holds less than 2",
    ),
    "an unknown module": (
        in_file("exercise.toml", "assignors.explanation", "assignors.explanations"),
        "lends kafkalearn.assignors.explanations, and there is no such module",
    ),
    "no text": (
        lambda exercise: (exercise / "README.md").unlink(),
        "README.md is missing: what an instructor should know",
    ),
    "a check without a cell": (
        in_file("exercise.toml", 'name = "by-name"', 'name = "by-nam"'),
        "exercise.toml states the checks",
    ),
    "no notebook": (
        lambda exercise: (exercise / "solution.ipynb").write_text("{"),
        "the proof stopped with JSONDecodeError",
    ),
}
COUNTING = "CALLS = iter(range(999))\ndef inputs(check, _):\n    return _inputs(check, next(CALLS))"
SLIPS = {
    "a solution that fails": (
        solution("answer", source=answer("return {member: [] for member in subscriptions}")),
        "the solution fails under seed 0: seven-over-five: c",
    ),
    "a wrong answer that is right": (
        lambda exercise: change(
            exercise / LATE, "answer", source=source_of(FOLDER / "solution.ipynb", "answer")
        ),
        f"{LATE} is not caught by seven-over-five under 3 of 3 seeds",
    ),
    "the same cases for all": (
        judging("def inputs(check, seed):\n    return _inputs(check, 0)"),
        "by-name: every seed gives the same cases",
    ),
    "other cases each time": (
        judging(COUNTING),
        "judge.py gives other cases each time",
    ),
    "a judge that says yes to all": (
        judging("def problem(arguments, answer):\n    return None"),
        f"{LATE} is not caught by seven-over-five under 3 of 3 seeds, as 0",
    ),
    "a table that fails": (
        judging("def table(arguments, answer):\n    return 1 / 0"),
        "cannot be judged: seven-over-five: the judge itself failed",
    ),
    "too little lent": (
        in_file("exercise.toml", '  "kafkalearn.assignors",\n', ""),
        "the solution stops where only what the exercise lends is there: ImportError",
    ),
    "a cell that stops": (
        lambda exercise: everywhere(exercise, "partitions_per_topic = {", "1 / 0; x = {"),
        "cell example stops with ZeroDivisionError",
    ),
}


@pytest.mark.parametrize(("spoil", "said"), BREACHES.values(), ids=BREACHES.keys())
def test_a_breach_of_the_rules_is_named(exercise, spoil, said):
    """Notebooks, exercise.toml and metadata that disagree: a sentence, and nothing is run."""
    spoil(exercise)
    proof = prove(exercise, seeds=SEEDS)
    assert any(said in problem for problem in proof.problems), proof.problems
    assert proof.caught == {}


@pytest.mark.parametrize(("spoil", "said"), SLIPS.values(), ids=SLIPS.keys())
def test_what_is_not_proven_is_named(exercise, spoil, said):
    """An exercise that keeps the rules and does not do what it promises."""
    spoil(exercise)
    problems = prove(exercise, seeds=SEEDS).problems
    assert any(said in problem for problem in problems), problems


def test_a_starter_that_passes_a_check_is_named(exercise):
    """It must raise, or who does nothing gets points."""
    change(
        exercise / "starter.ipynb",
        "answer",
        source=source_of(FOLDER / "solution.ipynb", "answer") + "\n    raise NotImplementedError",
    )
    problems = prove(exercise, seeds=SEEDS).problems
    assert "the starter is not caught by by-name under 3 of 3 seeds, as 0" in problems


def test_the_command_prints_a_line_an_exercise(exercise):
    """Who is not proven is told why below, with exit status 1."""
    shutil.copytree(exercise, exercise.parent / "99_other")
    status, said = command("test", NAME, exercise.parent / "99_other", "--seeds", 2)
    lines = said.splitlines()
    assert status == 1
    assert lines[0].startswith(
        f"{NAME}: proven under 2 seeds; caught: all_topics_together by topic"
    )
    assert lines[1] == "99_other: NOT proven"
    assert any("its metadata name the exercise '41_range_assignor'" in line for line in lines[2:])
    assert command("test", NAME, "--seeds", 1)[0] == 0


def test_exercises_are_found_by_name_and_by_path(exercise, monkeypatch):
    """The nearest of a name wins; without names there are all; an unknown one lists them."""
    assert find_folders([NAME]) == [exercise]
    assert find_folders([f"exercises/{NAME}/"]) == [exercise]
    assert find_folders([NAME[:2]]) == [exercise]
    (exercise.parent / f"{NAME}_too").mkdir()
    (exercise.parent / f"{NAME}_too" / "exercise.toml").touch()
    assert find_folders([NAME]) == [exercise]
    with pytest.raises(ExerciseError, match=f"'{NAME[:2]}'; there are: {NAME}, {NAME}_too$"):
        find_folders([NAME[:2]])
    shutil.rmtree(exercise.parent / f"{NAME}_too")
    monkeypatch.setattr("kafkalearn.grading.kit.exercise_folders", lambda: [exercise.parent])
    assert find_folders() == [exercise]
    status, said = command("test", "40_none")
    assert (status, "there is no exercise '40_none'; there are: " in said) == (2, True)
    assert command("list") == (0, f"{NAME:24}  10 points  The range assignor\n")
    (exercise / "judge.py").unlink()
    status, said = command("list")
    assert (status, "lacks judge.py" in said) == (2, True)


def test_a_release_holds_the_starter_and_nothing_else(exercise, tmp_path):
    """No solution, no judge, outputs, stray metadata or link into the checkout; its own name."""
    book = json.loads((exercise / "starter.ipynb").read_text(encoding="utf-8"))
    book["metadata"]["widgets"] = {"state": 1}
    book["cells"][0]["metadata"] = {"editable": True}
    (exercise / "starter.ipynb").write_text(json.dumps(book), encoding="utf-8")
    status, said = command("release", NAME, "--out", "handout")
    assert (status, said.strip()) == (0, f"handout/{NAME}.ipynb")
    assert [path.name for path in Path("handout").rglob("*")] == [f"{NAME}.ipynb"]
    wanted = (FOLDER / "starter.ipynb").read_text(encoding="utf-8")
    assert wanted.count("](../../notebooks/") == 3
    wanted = re.sub(r"\[([^][]*)\]\(\.\./[^)]*\)", r"\1", wanted)
    assert Path(f"handout/{NAME}.ipynb").read_text(encoding="utf-8") == wanted


def test_a_release_with_checks_judges_where_there_is_no_checkout(exercise, tmp_path, monkeypatch):
    """`check` finds the judge beside the released notebook."""
    place = tmp_path / "laptop"
    release([exercise], place, with_checks=True)
    shutil.rmtree(exercise.parent)
    monkeypatch.chdir(place)
    with pytest.raises(CheckFailedError, match="not written yet"):
        check(f"{NAME}/by-name", answer_of(place / f"{NAME}.ipynb"))
    names = sorted(path.name for path in (place / "exercises" / NAME).iterdir())
    assert names == ["exercise.toml", "judge.py", "starter.ipynb"]
    assert list(answers_of(place / f"{NAME}.ipynb")) == CHECKS


def test_a_release_overwrites_only_when_told(exercise):
    """A learner's work that lies there stays, all of it; --force replaces it."""
    Path("handout").mkdir()
    mine = Path("handout", f"{NAME}.ipynb")
    mine.write_text("mine")
    status, said = command("release", "--out", "handout", "--with-checks", NAME)
    assert (status, "there already" in said) == (2, True)
    assert [path.name for path in Path("handout").iterdir()] == [mine.name]
    assert mine.read_text() == "mine"
    assert command("release", NAME, "--out", "handout", "--force")[0] == 0
    assert "NotImplementedError" in mine.read_text()


def test_a_release_that_cannot_be_finished_leaves_nothing_half_written(exercise, monkeypatch):
    """All is written beside before the first file takes its place."""
    write = Path.write_text

    def on_a_full_disk(path, text, **how):
        write(path, text[:99] if path.name == "judge.py" else text, **how)
        if path.name == "judge.py":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", on_a_full_disk)
    with pytest.raises(ReleaseError, match="No space left"):
        release([exercise], Path("handout"), with_checks=True)
    assert list(Path("handout").iterdir()) == []


def test_a_written_starter_is_not_released(exercise):
    """What breaks a rule is refused before anything is written."""
    change(exercise / "starter.ipynb", "answer", source=answer("return {}"))
    status, said = command("release", NAME, "--out", "handout")
    assert (status, "is not released: the starter's answer has no" in said) == (2, True)
    assert not Path("handout").exists()


def test_a_place_that_cannot_be_written_is_named(exercise):
    """A file where the folder should be."""
    Path("handout").write_text("")
    with pytest.raises(ReleaseError, match="handout cannot be written to: File exists"):
        release([exercise], Path("handout"))


def test_a_learner_gets_a_copy_that_is_never_overwritten(exercise):
    """Laid out where it is missing, from the starter."""
    lay_out(exercise.parent)
    mine = learners_copy(exercise)
    assert mine == exercise / f"{NAME}.ipynb"
    assert mine.read_bytes() == (exercise / "starter.ipynb").read_bytes()
    mine.write_text("mine")
    lay_out(exercise.parent)
    assert mine.read_text() == "mine"


def test_lab_lays_the_exercises_out(exercise, monkeypatch, capsys):
    """Before JupyterLab starts; a folder that cannot be written keeps it from nothing."""
    started = []
    lab_app = SimpleNamespace(launch_instance=lambda argv: started.append(argv))
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", SimpleNamespace(LabApp=lab_app))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    open_lab(exercise.parents[1], port=None, browser=False)
    assert learners_copy(exercise).is_file()
    learners_copy(exercise).unlink()
    (exercise / "starter.ipynb").unlink()
    (exercise / "starter.ipynb").mkdir()
    open_lab(exercise.parents[1], port=None, browser=False)
    assert "No exercise is laid out: " in capsys.readouterr().err
    assert len(started) == 2


def test_binder_lays_the_exercises_out(exercise):
    """The last line of postBuild, run in the root of a workbook."""
    line = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8").splitlines()[-1]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
    subprocess.run(["bash", "-c", line], cwd=exercise.parents[1], env=environment, check=True)
    assert learners_copy(exercise).is_file()


def test_reset_keeps_what_was_there(exercise):
    """The starter again; older copies are numbered and none is lost."""
    for number in (1, 2):
        learners_copy(exercise).write_text(f"try {number}")
        status, said = command("reset", NAME)
        assert (status, f"what was there is {NAME}.before-{number}.ipynb" in said) == (0, True)
    kept = [exercise / f"{NAME}.before-{number}.ipynb" for number in (1, 2)]
    assert [path.read_text() for path in kept] == ["try 1", "try 2"]
    assert learners_copy(exercise).read_bytes() == (exercise / "starter.ipynb").read_bytes()
    assert put_back(exercise) is None  # the copy is the starter: there is nothing to keep
    learners_copy(exercise).unlink()
    assert put_back(exercise) is None
    assert learners_copy(exercise).is_file()


def test_reset_says_what_it_cannot_do(exercise):
    """A name that does not exist; a starter that is gone, with the learner's work as it was."""
    assert command("reset", "40_none")[0] == 2
    learners_copy(exercise).write_text("mine")
    (exercise / "starter.ipynb").unlink()
    status, said = command("reset", NAME)
    assert (status, "cannot be written: No such file" in said) == (2, True)
    assert learners_copy(exercise).read_text() == "mine"


def test_learners_copies_are_not_part_of_the_repository():
    """git ignores them, and older ones; what an exercise is made of it does not."""
    names = [f"{NAME}.ipynb", f"{NAME}.before-1.ipynb", "starter.ipynb", "wrong/by_luck.ipynb"]
    paths = [f"exercises/{NAME}/{name}" for name in names]
    told = subprocess.run(
        ["git", "check-ignore", "--no-index", *paths], cwd=ROOT, capture_output=True, text=True
    )
    if told.returncode > 1:
        pytest.skip("this is no checkout")
    assert told.stdout.split() == paths[:2]


def test_the_instructors_page_has_every_exercise_and_no_dead_link():
    """A folder without a line in exercises/README.md would be found by nobody."""
    page = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\| \[\w+\]\((\w+)/README.md\) \|", page) == EVERY
    for path in (
        ROOT / "README.md",
        *FOLDER.parent.glob("*/README.md"),
        FOLDER.parent / "README.md",
    ):
        links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
        for link in links:
            assert ":" in link or (path.parent / link).exists(), f"{path}: {link}"


@pytest.mark.parametrize("lock", ["the same", "another"])
def test_make_uses_a_wheelhouse_of_this_very_lock(tmp_path, lock):
    """Packages then come from there alone; one of another lock is passed over."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    wheels = tmp_path / "build" / "wheelhouse"
    wheels.mkdir(parents=True)
    shutil.copy(ROOT / "requirements.lock", wheels)
    if lock == "another":
        (wheels / "requirements.lock").write_text("")
    command = ["make", "-n", ".venv/.ready"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    installs = [line for line in told.splitlines() if " install " in line]
    assert len(installs) == 2
    offline = ["--no-index --find-links build/wheelhouse" in line for line in installs]
    assert offline == [lock == "the same"] * 2
