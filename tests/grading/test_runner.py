"""Running one submission: a row for every check, whatever the file is."""

import json
import socket
from dataclasses import replace
from threading import Thread, Timer

import pytest
from nbformat.v4 import new_code_cell

from kafkalearn.grading import check
from kafkalearn.grading.answering.wire import JUDGE_ADDRESS
from kafkalearn.grading.engines import choice, fork_engine
from kafkalearn.grading.engines.choice import engine_called
from kafkalearn.grading.engines.fork_engine import Conversation, ForkRunner, StoppedError
from kafkalearn.grading.engines.kernel_engine import KernelRunner, PlainKernelRunner, _Session
from kafkalearn.grading.engines.runner import Ran, run
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.isolation.sandbox import PROTECTIONS, WITHOUT_PRIVILEGES
from kafkalearn.grading.isolation.walls import IsolationError, SandboxedProcess
from kafkalearn.grading.judging import judge_server
from kafkalearn.grading.judging.judge import Verdict
from tests.grading.submissions import (
    CHECKS,
    EXERCISE,
    FOLDER,
    answer_of,
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


class Played:
    """The other ends of a conversation about cells, which say what a test lets them."""

    def __init__(self, **limits):
        ours, theirs = zip(*(socket.socketpair() for _ in range(3)), strict=True)
        self.cells, self.checks, self.control = theirs
        self.process = SandboxedProcess(ours[2], cells=ours[0], checks=ours[1])
        exercise = replace(EXERCISE, limits=replace(EXERCISE.limits, **limits))
        self.conversation = Conversation(self.process, exercise, seed=3)

    def says(self, *messages):
        """What comes from the cells, whoever runs them."""
        self.cells.sendall(b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def ends(self, status, why=""):
        """The server's word on how the process ended."""
        self.control.sendall(json.dumps({"status": status, "why": why}).encode())

    def stopped(self):
        """Why a cell was the last."""
        with pytest.raises(StoppedError) as caught:
            self.conversation.run(new_code_cell("x"))
        return str(caught.value)

    def heard(self, end):
        """What was said to one of the ends."""
        end.setblocking(False)
        return json.loads(end.recv(2**16))


@pytest.fixture
def played():
    """Begin conversations; afterwards all sockets are closed."""
    made = []

    def play(**limits):
        made.append(Played(**limits))
        return made[-1]

    yield play
    for each in made:
        each.conversation.selector.close()
        for end in (each.cells, each.checks, each.control, each.process.control):
            end.close()
        each.process.cells.close()
        each.process.checks.close()


def test_cells_are_numbered_and_keep_what_they_wrote(played):
    """As in a notebook: 1, 2, 3; of an earlier run nothing stays, and an error is one output."""
    play = played()
    cells = [new_code_cell(source, outputs=[]) for source in ("a", "b", "c")]
    cells[0].outputs = [{"output_type": "stream", "name": "stdout", "text": "old"}]
    play.says(
        {"stream": "stdout", "text": "new"},
        {"done": None},
        {"done": {"ename": "KeyError", "evalue": "'k'"}},
        {"done": "nonsense"},
    )
    for cell in cells:
        play.conversation.run(cell)
        assert play.conversation.begun is cell
    assert [cell.execution_count for cell in cells] == [1, 2, 3]
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'k'", "traceback": ["'k'"]}
    assert [list(map(dict, cell.outputs)) for cell in cells] == [
        [{"output_type": "stream", "name": "stdout", "text": "new"}],
        [error],
        [],
    ]
    sent = play.cells.recv(2**16).splitlines()
    assert [json.loads(line) for line in sent] == [{"source": each} for each in "abc"]


def test_a_check_is_judged_while_its_cell_runs_and_counts_in_no_other(played, monkeypatch):
    """The judge answers between two outputs of a cell; after its end the cell is nobody's."""
    play = played()
    monkeypatch.setenv(JUDGE_ADDRESS, str(play.checks.fileno()))

    def learner():
        check(f"{EXERCISE.name}/{FIRST}", answer_of(FOLDER / "solution.ipynb"))
        play.says({"done": None})

    for name in (OTHERS[0], FIRST):
        cell = new_code_cell("check(...)", id=name)
        thread = Thread(target=learner, daemon=True)
        thread.start()
        play.conversation.run(cell)
        thread.join()
        assert play.conversation.judge.cell == ""
        verdicts = play.conversation.judge.verdicts.items()
        counted = {FIRST: True} if name == FIRST else {}
        assert {check: verdict.passed for check, verdict in verdicts} == counted


def test_a_cell_that_ends_before_its_check_is_answered_leaves_it_open(played):
    """The judge waits for nobody, and the next cell is heard."""
    play = played()
    play.checks.sendall(json.dumps({"check": f"{EXERCISE.name}/{FIRST}"}).encode() + b"\n")
    play.conversation._listen()
    play.says({"done": None}, {"stream": "stderr", "text": "later"}, {"done": None})
    cells = [new_code_cell("check(...)", id=FIRST), new_code_cell("x")]
    for cell in cells:
        play.conversation.run(cell)
    assert play.conversation.judge.verdicts == {FIRST: None}
    assert [cell.execution_count for cell in cells] == [1, 2]
    assert [output["text"] for output in cells[1].outputs] == ["later"]


def test_a_cell_that_runs_too_long_is_interrupted_and_the_notebook_goes_on(played):
    """Once: what it says then is the end of that cell alone, whose successor has its own time."""
    play = played(cell_seconds=0.001)
    answer = Timer(0.05, play.says, [{"done": {"ename": "KeyboardInterrupt", "evalue": ""}}])
    answer.start()
    cell = new_code_cell("x")
    play.conversation.run(cell)
    answer.join()
    assert cell.outputs[0]["ename"] == "KeyboardInterrupt"
    assert play.heard(play.control) == {"interrupt": True}


def test_a_limit_ends_the_notebook_and_is_named(played, monkeypatch):
    """Time in all, what it writes, its checks and its answers: each by its own words."""
    play = played(total_seconds=0.05)
    rescue = Timer(5, play.says, [{"done": None}])  # or a test that fails would wait for ever
    rescue.start()
    assert play.stopped() == "the notebook ran longer than 0.05 s and was ended in"
    rescue.cancel()

    play = played(output_kb=1)
    play.says({"stream": "stdout", "text": "x" * 900}, {"done": None})
    play.conversation.run(new_code_cell("x"))
    play.says({"stream": "stdout", "text": "x" * 900}, {"done": None})
    assert play.stopped() == "the notebook wrote more than 1 kB and was ended in"

    monkeypatch.setattr(fork_engine, "_MOST_HEARD", 100)
    play = played()
    play.checks.sendall(b"x" * 101)
    assert play.stopped() == "the notebook sent the judge no end of answers and was ended in"

    monkeypatch.setattr(fork_engine, "_MOST_HEARD", 1000)
    monkeypatch.setattr(judge_server, "MOST_CHECKS", 1)
    play = played()
    play.checks.sendall(b'{"check": "41_range_assignor/x"}\n' * 2)
    assert play.stopped() == "the notebook asked for more checks than any needs and was ended in"
    assert "no check" in play.checks.makefile().readline()


def test_who_is_gone_is_told_by_how_the_process_ended(played):
    """Whichever end falls silent first; the server is given some time to say how."""
    play = played()
    play.ends(-11)
    assert play.stopped() == "the notebook's Python process was killed by SIGSEGV when it came to"

    play = played(memory_mb=7)
    play.cells.close()
    play.ends(-9, "memory")
    assert play.stopped() == "the notebook used more than 7 MB of memory and was ended in"

    play = played()
    play.cells.shutdown(socket.SHUT_WR)
    Timer(0.02, play.ends, (-9, "silent")).start()
    assert play.stopped() == "the notebook cut its connection to the judge and was ended in"
    assert play.heard(play.control)["end"] > 0
    assert play.process.ending == (-9, "silent")


def test_who_cuts_the_way_to_the_judge_alone_still_ends_its_cell(played):
    """Its checks fail by themselves; an answer that was asked for does not come any more."""
    play = played()
    play.checks.sendall(json.dumps({"check": f"{EXERCISE.name}/{FIRST}"}).encode() + b"\n")
    play.checks.shutdown(socket.SHUT_WR)
    cell = new_code_cell("x", id=FIRST)
    answer = Timer(0.05, play.says, [{"done": None}])
    answer.start()
    play.conversation.run(cell)
    answer.join()
    assert cell.execution_count == 1
    assert play.conversation.judge.verdicts == {FIRST: None}


def test_a_kernel_without_walls_judges_and_keeps_the_limits():
    """Where the system has none: checks reach the judge, and no signal's handler saves a kernel."""
    runner = PlainKernelRunner()
    submission = Submission("ann", EXERCISE.name, (FOLDER / "solution.ipynb").read_bytes())
    assert {grade.status for grade in run(submission, EXERCISE, seed=3, engine=runner)} == {
        "passed"
    }
    book = notebook(FOLDER / "solution.ipynb")
    floods = (
        "import signal, time\n"
        "for each in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    signal.signal(each, signal.SIG_IGN)\n"
        "print('x' * 1_200_000, flush=True)\ntime.sleep(20)"
    )
    book["cells"].insert(-len(CHECKS), code(floods))
    grades = graded(book, runner)
    assert {grade.status for grade in grades} == {"not_reached"}
    assert (
        "the notebook wrote more than 1024 kB and was ended in the cell `import" in grades[0].told
    )
    runner.close()


def test_a_kernels_checks_are_judged_as_they_come(monkeypatch):
    """A run of which nothing is known is no run, and too many checks end it with their reason."""
    monkeypatch.setattr(judge_server, "MOST_CHECKS", 2)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setenv(JUDGE_ADDRESS, str(theirs.fileno()))
        session = _Session(ours, EXERCISE, seed=3)
        with pytest.raises(OSError, match="did not come to the first cell"):
            session.ran("")
        session.notebook, session.judge.cell = notebook(), FIRST
        asked = f"{EXERCISE.name}/{FIRST}", answer_of(FOLDER / "solution.ipynb")
        learner = Thread(target=check, args=asked, daemon=True)
        learner.start()
        learner.join(10)
        ran = session.ran("x")
        assert (ran.notebook, ran.last, ran.stop) == (session.notebook, None, "x")
        assert {name: verdict.passed for name, verdict in ran.verdicts.items()} == {FIRST: True}
        assert not session.stop.is_set()
        theirs.sendall(b'{"check": "41_range_assignor/x"}\n' * 2)
        assert session.stop.wait(10)
        assert session.why.startswith("the notebook asked for more checks than any needs")
        session.end("time")
        assert "checks" in session.why


@pytest.mark.parametrize(
    ("platform", "trusted", "problem", "kinds", "protections"),
    [
        ("linux", False, None, (ForkRunner, KernelRunner), PROTECTIONS),
        ("linux", True, None, (ForkRunner, KernelRunner), PROTECTIONS),
        ("linux", True, "no walls", (ForkRunner, KernelRunner), WITHOUT_PRIVILEGES),
        ("darwin", True, "no walls", (PlainKernelRunner, PlainKernelRunner), None),
    ],
)
def test_who_runs_notebooks_hangs_on_the_machine(
    platform, trusted, problem, kinds, protections, monkeypatch
):
    """Walls as high as can be had, and less only for who is trusted."""
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(choice, "isolation_problem", lambda: problem)
    engines = [engine_called(name, trusted=trusted) for name in ("fork", "kernel")]
    assert tuple(map(type, engines)) == kinds
    if protections:
        assert {each._servers.protections for each in engines} == {protections}


def test_nobody_is_graded_without_walls_unless_trusted(monkeypatch):
    """Not a cell is run; the reason says what is missing and what can be done."""
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(choice, "isolation_problem", lambda: "no walls here")
    engine = engine_called("fork", trusted=False)
    said = "no walls here: --trusted grades without isolation"
    assert {grade[5:7] for grade in graded(notebook(), engine)} == {("not_run", said)}
    engine.close()


class Servers:
    """Fork servers that a test plays."""

    def __init__(self, process):
        self.process = process

    def of(self, modules):
        assert modules == EXERCISE.lent_modules
        return self

    def start(self, limits):
        assert limits == EXERCISE.limits
        return self.process


def test_a_notebook_stops_where_notebooks_stop(played):
    """At the first error, unless its tag allows it; empty and skipped cells are not run."""
    book = notebook(FOLDER / "solution.ipynb")
    fine, fails = code("1 / 0", "raises-exception"), code("1 / 0")
    book["cells"][:0] = [code("x"), code("  "), code("y", "skip-execution"), fine, fails]
    play = played()
    error = {"done": {"ename": "ZeroDivisionError", "evalue": "division by zero"}}
    play.says({"done": None}, error, error, *[{"done": None}] * 99)
    asked = []

    def server():
        asked.append(json.loads(play.control.recv(99)))
        play.ends(-9)

    thread = Thread(target=server, daemon=True)
    thread.start()
    runner = ForkRunner(PROTECTIONS)
    runner._servers = Servers(play.process)
    grades = graded(book, runner)
    thread.join(10)
    assert {grade.status for grade in grades} == {"not_reached"}
    assert "the cell `1 / 0` stopped the notebook: your code stopped with Zero" in grades[0].told
    sources = [json.loads(line)["source"] for line in play.cells.recv(2**16).splitlines()]
    assert sources == ["x", "1 / 0", "1 / 0"]
    assert (asked, play.process.ending) == ([{"end": 0}], (-9, ""))
