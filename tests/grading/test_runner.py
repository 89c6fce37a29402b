"""Running one submission: a row for every check, whatever the file is."""

import pytest

from kafkalearn.grading.engines.choice import engine_called
from kafkalearn.grading.engines.runner import Ran, run
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.isolation.walls import IsolationError
from kafkalearn.grading.judging.judge import Verdict
from tests.grading.submissions import (
    CHECKS,
    EXERCISE,
    FOLDER,
    answered,
    as_bytes,
    changed,
    code,
    notebook,
)


def graded(book, engine):
    """The grades of a notebook."""
    submission = Submission("ann", EXERCISE.name, as_bytes(book))
    return run(submission, EXERCISE, seed=3, engine=engine)


@pytest.fixture(scope="module", params=["fork", "kernel"])
def engine(request):
    """Both ways to run a notebook, isolated where that can be had."""
    engine = engine_called(request.param, trusted=True)
    yield engine
    engine.close()


@pytest.mark.slow
def test_a_right_answer_passes_without_any_metadata(engine):
    """Cleaners strip kernelspec and language; what is left is still a Python notebook."""
    grades = graded(notebook(FOLDER / "solution.ipynb") | {"metadata": {}}, engine)
    assert {grade.status for grade in grades} == {"passed"}


@pytest.mark.slow
def test_a_notebook_may_use_what_notebooks_offer(engine):
    """Awaiting, magics, shell commands, displays, files and modules of its own work alike."""
    book = notebook(FOLDER / "solution.ipynb")
    book["cells"].insert(
        -len(CHECKS),
        code(
            "import asyncio\nfrom IPython.display import HTML, display\n"
            "assert await asyncio.sleep(0, 'x') == 'x'\n"
            "open('own.py', 'w').write('x = 1')\nimport own\n"
            "listed = !ls\nassert 'own.py' in listed\n"
            "%timeit -n1 -r1 pass\ndisplay(HTML('<b>x</b>'))\n"
            "get_ipython().run_cell_magic('capture', 'said', 'print(1)')\nassert said.stdout\nown"
        ),
    )
    book["cells"].insert(-len(CHECKS), code("assert own.x == 1 and __name__ == '__main__'"))
    book["cells"].insert(-len(CHECKS), code("1 / 0", "raises-exception"))
    book["cells"].insert(-len(CHECKS), code("1 / 0", "skip-execution"))
    grades = graded(book, engine)
    assert {grade.reason for grade in grades if grade.status != "passed"} == set()


@pytest.mark.slow
def test_after_a_check_that_does_not_end_no_other_is_asked(engine):
    """The same answer would let each of them wait for its limit."""
    content = answered("def range_assign(*_):\n    while True: pass")
    exercise = changed(toml=("cell_seconds = 10", "cell_seconds = 1"))
    grades = run(Submission("ann", EXERCISE.name, content), exercise, seed=3, engine=engine)
    assert {grade.status for grade in grades} == {"failed"}
    first, *others = (grade.told for grade in grades)
    assert first == "it ran longer than 1 s and was interrupted"
    assert set(others) == {f"not asked, since {CHECKS[0]} did not end: {first}"}


@pytest.mark.slow
def test_code_that_cannot_be_read_is_shown(engine):
    """The line with its number, beside what Python says."""
    book = notebook(FOLDER / "solution.ipynb")
    book["cells"].insert(-len(CHECKS), code("x = 1\ndef f(:\n    pass"))
    reason = graded(book, engine)[0].reason
    assert "SyntaxError: invalid syntax, in line 2 of the cell: `def f(:`" in reason


@pytest.mark.slow
def test_an_error_stops_the_notebook_and_is_repeated(engine):
    """What came before the checks failed: they were not reached, and the reason says why."""
    book = notebook(FOLDER / "solution.ipynb")
    book["cells"].insert(1, code("{}['key']"))
    book["cells"].insert(2, code("raise SystemExit"))
    grades = graded(book, engine)
    assert {grade.status for grade in grades} == {"not_reached"}
    said = "since the cell `{}['key']` stopped the notebook: your code stopped with KeyError: 'key'"
    assert said in grades[0].reason


class Breaking:
    """An engine that fails."""

    def __init__(self, error):
        self.error = error

    def execute(self, notebook, exercise, *, seed):
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyError("msg_id"), "the notebook broke its run: KeyError('msg_id')"),
        (OSError("no memory"), "the notebook could not be started: no memory"),
        (IsolationError("no walls: --trusted"), "no walls: --trusted"),
    ],
)
def test_an_unforeseen_failure_is_a_reason_and_no_traceback(error, reason):
    """Whatever breaks the run, each check has its row."""
    grades = graded(notebook(), Breaking(error))
    assert [grade.check for grade in grades] == CHECKS
    assert {(grade.status, grade.reason) for grade in grades} == {("not_run", reason)}


class Playing:
    """An engine that runs nothing: it changes the prepared notebook, and says what it is told."""

    def __init__(self, *, ran, stop="", verdicts=(), outputs=()):
        self.ran, self.stop, self.verdicts, self.outputs = ran, stop, dict(verdicts), dict(outputs)

    def execute(self, notebook, exercise, *, seed):
        cells = {cell.id: cell for cell in notebook.cells}
        for number, name in enumerate(self.ran, start=1):
            cells[name].execution_count = number
            cells[name].outputs = self.outputs.get(name, [])
        last = cells[self.ran[-1]] if self.ran else None
        return Ran(notebook, self.verdicts, last, self.stop)


def error(name, value=""):
    """The outputs of a cell that failed."""
    return [{"output_type": "error", "ename": name, "evalue": value, "traceback": []}]


def rows(**played):
    """Give (status, what is told, points) for each check of a notebook that was played so."""
    grades = graded(notebook(FOLDER / "solution.ipynb"), Playing(**played))
    assert [grade.check for grade in grades] == CHECKS
    assert {(grade.student, grade.exercise) for grade in grades} == {("ann", EXERCISE.name)}
    return [(grade.status, grade.told, grade.points) for grade in grades]


FIRST, *OTHERS = CHECKS
YES = {name: Verdict(True, "right") for name in CHECKS}


def test_a_check_passes_when_the_judge_said_yes_and_its_cell_ran_without_an_error():
    """Points are those of the check; an error after the yes, or a no, gives none."""
    right, wrong = rows(ran=CHECKS, verdicts=YES), rows(ran=CHECKS, verdicts={})
    assert right == [("passed", "right", check.points) for check in EXERCISE.checks]
    unasked = "the judge was not asked; was the name `check` used again?"
    assert wrong == [("failed", unasked, 0.0)] * len(CHECKS)
    no = {FIRST: Verdict(False, "c0 gets nothing")}
    assert rows(ran=CHECKS, verdicts=YES | no)[0] == ("failed", "c0 gets nothing", 0.0)
    broken = rows(ran=CHECKS, verdicts=YES, outputs={FIRST: error("KeyError", "'a'")})
    assert broken[0] == ("failed", "your code stopped with KeyError: 'a'", 0.0)
    assert broken[1:] == right[1:]


def test_who_stopped_before_a_check_did_not_reach_it():
    """The reason names the cell and why it was the last; the check that ran keeps its points."""
    said = "not reached, since the notebook stopped before its first cell"
    assert rows(ran=[]) == [("not_reached", said, 0.0)] * len(CHECKS)
    cell = "the cell `from kafkalearn.grading import check"
    ended = rows(ran=[FIRST], verdicts=YES)
    assert ended[0] == ("failed", f"{cell}` stopped the notebook: it ended the notebook", 0.0)
    assert ended[1][:2] == (
        "not_reached",
        f"not reached, since {cell}` stopped the notebook: it ended the notebook",
    )
    stopped = rows(ran=[FIRST], stop="the notebook wrote too much and was ended in", verdicts=YES)
    said = f"the notebook wrote too much and was ended in {cell}`"
    assert [each[1] for each in stopped] == [said, *[f"not reached, since {said}"] * len(OTHERS)]


def test_a_check_that_hangs_keeps_the_others_from_being_asked():
    """The same answer would hang them, too."""
    said = f"it ran longer than {EXERCISE.limits.cell_seconds:g} s and was interrupted"
    hangs = rows(ran=[FIRST], outputs={FIRST: error("KeyboardInterrupt")})
    assert hangs[0] == ("failed", said, 0.0)
    assert hangs[1:] == [("failed", f"not asked, since {FIRST} did not end: {said}", 0.0)] * len(
        OTHERS
    )
