"""Exercise 62: functions of DataFrames, asked by rows; and Spark behind a submission's walls."""

from pathlib import Path

import pytest

from kafkalearn.grading import exercise_rules as rules
from kafkalearn.grading.answering.learner import asker
from kafkalearn.grading.answering.wire import decode, encode
from kafkalearn.grading.engines.fork_engine import ForkRunner
from kafkalearn.grading.engines.runner import run
from kafkalearn.grading.exercise import load
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.isolation.sandbox import PROTECTIONS
from kafkalearn.grading.judging.judge import decide
from kafkalearn.grading.kit import JUDGE_FAILED, answers_of
from tests.grading.walls import needs_walls

FOLDER = Path(__file__).parents[2] / "exercises" / "62_lag_and_duplicates"
EXERCISE = load(FOLDER)
CHECKS = [check.name for check in EXERCISE.checks]
pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def ask(spark):
    """Ask a function of DataFrames about rows of one column, as a check does."""
    from kafkalearn.spark.answers import on_rows

    def ask(table, *rows):
        question = encode(("number bigint", [[row] for row in rows]))
        return asker(on_rows(table), EXERCISE.lent_modules)({"question": question})

    return ask


def says(path, check):
    """What the judge says of a notebook's answer, in the session here."""
    answer = answers_of(path)[check]
    return decide(EXERCISE, check, seed=0, ask=asker(answer, EXERCISE.lent_modules))


def test_the_files_agree():
    """Starter, solution and wrong answers keep the rules; `kafkalearn exercise test` proves all."""
    assert rules.breaches(EXERCISE, FOLDER) == []


def test_the_example_is_true(spark):
    """What the starter promises to come out does come out of the solution."""
    cells = {each["id"]: each["source"] for each in rules.read_cells(FOLDER / "solution.ipynb")}
    namespace = {}
    exec(cells["example"] + "\n" + cells["answer"], namespace)
    assert eval(cells["example-again"], namespace) is True


@pytest.mark.parametrize("check", CHECKS)
def test_the_solution_passes_and_the_starter_does_not(spark, check):
    """Each check says yes to the one, and to the other that it is not written yet."""
    assert says(FOLDER / "solution.ipynb", check).passed
    assert "not written yet" in says(FOLDER / "starter.ipynb", check).sentence


@pytest.mark.parametrize("path", rules.wrong_answers(FOLDER), ids=lambda path: path.stem)
def test_a_wrong_answer_is_caught_by_the_check_that_it_names(spark, path):
    """And by the judge's own words, not by a judge that fails."""
    told = says(path, rules.caught_by(path))
    assert not told.passed
    assert JUDGE_FAILED not in told.sentence


def test_rows_and_the_plan_come_back(ask):
    """Nulls too; the plan names what Spark does."""
    (told,) = ask(lambda frame: frame.groupBy("number").count(), 2, 2, None)["returned"]
    table = decode(told)
    assert table["columns"] == ["number", "count"]
    assert sorted(table["rows"], key=repr) == [[2, 2], [None, 1]]
    assert "Aggregate" in table["plan"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (lambda frame: None, "a DataFrame is wanted, not a NoneType (is a `return` missing?)"),
        (lambda frame: frame.select("nowhere"), "nowhere"),
        (lambda frame: frame.crossJoin(frame.sparkSession.range(10_001)), "more than 10,000 rows"),
    ],
)
def test_what_cannot_be_judged_is_told_in_a_line(ask, table, said):
    """Also what Spark refuses, whose own messages are pages."""
    raised = ask(table, 1)["raised"]
    assert said in raised
    assert "\n" not in raised


@needs_walls
def test_a_submission_has_a_spark_of_its_own_behind_the_walls():
    """The solution passes every check where it has no network but itself."""
    engine = ForkRunner(PROTECTIONS)
    content = (FOLDER / "solution.ipynb").read_bytes()
    try:
        grades = run(Submission("ann", EXERCISE.name, content), EXERCISE, seed=3, engine=engine)
    finally:
        engine.close()
    assert [(each.check, each.status) for each in grades] == [(name, "passed") for name in CHECKS]
