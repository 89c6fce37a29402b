"""`check` while learning: it judges at once, in the notebook itself."""

import shutil
import signal
import sys
import threading

import pytest
from IPython.core.interactiveshell import InteractiveShell

from kafkalearn.engine.interrupts import limited
from kafkalearn.grading import CheckFailedError, check
from kafkalearn.grading.answering import learner, loop_host
from tests.grading.submissions import FOLDER, WRONG, answer_of

BORROWED = "this exercise does not lend kafkalearn.assignors.range_assignor: write it yourself"


def test_a_right_answer_is_told_so(capsys):
    """The cell prints how many cases were right."""
    check("41_range_assignor/by-name", answer_of(FOLDER / "solution.ipynb"))
    assert capsys.readouterr().out == "by-name: right in 8 of 8 cases\n"


def test_a_wrong_answer_raises_the_judges_words():
    """The reason and the case are the error's text."""
    with pytest.raises(CheckFailedError, match="by-name: a gets nothing") as caught:
        check("41_range_assignor/by-name", lambda _, members: {member: [] for member in members})
    assert "expected" in str(caught.value)


def test_a_notebook_shows_no_traceback_into_the_package():
    """IPython draws the judge's words alone."""
    shell = InteractiveShell.instance()
    source = "check('41_range_assignor/by-name', lambda *_: [])"
    shell.user_ns["check"] = check
    result = shell.run_cell(source, silent=True)
    lines = result.error_in_exec._render_traceback_()
    assert lines[0].startswith("by-name: the answer is a list")


def test_the_seed_chooses_the_random_cases():
    """Another seed shows another case, the same seed the same."""

    def shown(seed):
        with pytest.raises(CheckFailedError) as caught:
            check("41_range_assignor/random-groups", lambda *_: {}, seed=seed)
        return str(caught.value)

    assert shown(1) == shown(1)
    assert shown(1) != shown(2)


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_an_answer_that_calls_the_package_fails_as_it_will_in_grading(where):
    """However RangeAssignor was imported, the check says that it is not lent."""
    outside = answer_of(FOLDER / "wrong" / "calls_the_package.ipynb")

    def inside(partitions_per_topic, subscriptions):
        import kafkalearn.assignors.range_assignor as borrowed

        return borrowed.RangeAssignor().assign(partitions_per_topic, subscriptions)

    with pytest.raises(CheckFailedError, match=BORROWED):
        check("41_range_assignor/seven-over-five", outside if where == "outside" else inside)


def test_what_is_lent_may_be_used():
    """AbstractPartitionAssignor's helpers are the documents' own, and stay allowed."""
    from kafkalearn.assignors import AbstractPartitionAssignor

    solution = answer_of(FOLDER / "solution.ipynb")

    def helped(partitions_per_topic, subscriptions):
        AbstractPartitionAssignor.consumers_per_topic(subscriptions)
        return solution(partitions_per_topic, subscriptions)

    check("41_range_assignor/by-name", helped)


def test_a_profiler_of_the_learners_stays():
    """Noticing borrowed modules leaves no trace."""
    mine = lambda *_: None  # noqa: E731
    sys.setprofile(mine)
    try:
        check("41_range_assignor/by-name", answer_of(FOLDER / "solution.ipynb"))
        assert sys.getprofile() is mine
    finally:
        sys.setprofile(None)


def polls_never(consumer, process):
    """Forget the poll."""
    while True:
        for record in []:
            process(record)


def stops_polling(consumer, process):
    """Forget it after the first, and catch whatever comes."""
    consumer.subscribe(["orders"])
    consumer.poll(100)
    while True:
        try:
            for number in iter(int, 1):
                abs(number)
        except BaseException:
            pass


@pytest.mark.parametrize("loop", [polls_never, stops_polling])
def test_a_loop_that_hangs_is_told_so(loop, monkeypatch):
    """The cell ends with a sentence, the next check runs, and the clock is as it was."""
    monkeypatch.setattr(learner, "_PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr("kafkalearn.engine.interrupts._AGAIN_SECONDS", 0.2)
    before = signal.getsignal(signal.SIGALRM)
    for _ in range(2):
        with pytest.raises(CheckFailedError) as caught:
            check("38_loss_and_duplicates/reads-all", loop)
        assert str(caught.value) == (
            "reads-all: your answer has run for 0.2 s and did not come to an end: does it poll?"
        )
    assert not loop_host._running
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_function_that_hangs_is_told_so(monkeypatch):
    """Nothing is said of a poll, and what catches every Exception is ended as well."""

    def hangs(partitions_per_topic, subscriptions):
        while True:
            try:
                for number in iter(int, 1):
                    abs(number)
            except Exception:
                pass

    monkeypatch.setattr(learner, "_PATIENCE_SECONDS", 0.2)
    with pytest.raises(CheckFailedError, match=r"run for 0\.2 s and did not come to an end$"):
        check("41_range_assignor/by-name", hangs)


def test_without_a_clock_that_interrupts_nothing_is_limited(monkeypatch):
    """A thread beside the main one, and a system without such clocks, run as they always did."""

    def sets_a_timer():
        with limited(60):
            return bool(signal.getitimer(signal.ITIMER_REAL)[0])

    found = []
    thread = threading.Thread(target=lambda: found.append(sets_a_timer()))
    thread.start()
    thread.join()
    found.append(sets_a_timer())
    monkeypatch.delattr(signal, "setitimer")
    found.append(sets_a_timer())
    assert found == [False, True, False]


def test_the_exercise_is_found_from_a_folder_below_its_workbook(tmp_path, monkeypatch):
    """A notebook anywhere below the folder that holds `exercises` is judged by them."""
    shutil.copytree(FOLDER, tmp_path / "exercises" / "99_copy")
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "mine" / "deep")
    check("99_copy/by-name", answer_of(FOLDER / "solution.ipynb"))


def test_an_unknown_exercise_or_check_says_what_there_is(tmp_path, monkeypatch):
    """Where it was looked for, or which checks there are, in the error and without a traceback."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckFailedError, match="no exercise '40_nothing'") as caught:
        check("40_nothing/by-name", print)
    assert str(tmp_path / "exercises") in str(caught.value)
    with pytest.raises(CheckFailedError, match="no check 'by-nam': seven-over-five, topic-by"):
        check("41_range_assignor/by-nam", print)


def test_a_wrong_notebooks_list_is_complete():
    """Two to four wrong answers, one of which calls the package."""
    assert 2 <= len(WRONG) <= 4
    assert "calls_the_package" in [path.stem for path in WRONG]
