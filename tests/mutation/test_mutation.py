"""Mutation testing is a checker too: it must tell a mutant that is noticed from one that is not."""

from dataclasses import replace

import pytest

from tests.mutation import report
from tests.mutation.judging import Copy, Verdict, judge
from tests.mutation.mutants import Mutant, difference, statement_around
from tests.mutation.reach import AT_IMPORT, QUICK_SECONDS, THOROUGH_SECONDS, Reach

SOURCE = """def double(number):
    if number == 0:
        return number
    return (
        number
        * 2
    )
"""
TEST = """from kafkalearn.double import double

def test_double():
    assert double(3) == 6
"""
MUTANT = Mutant(
    module="kafkalearn/double.py",
    function="double",
    number=1,
    lines=(4, 7),
    before="* 2",
    after="* 3",
    source=SOURCE.replace("* 2", "* 3"),
)


def test_a_difference_is_told_by_its_lines():
    """The first line that differs, and what stood and stands there."""
    assert difference(SOURCE, MUTANT.source) == (6, "* 2", "* 3")


def test_a_line_belongs_to_its_innermost_statement():
    """Who runs the statement judges; of a default value, who runs any of the function."""
    found = [statement_around(SOURCE, line) for line in (1, 2, 3, 6)]
    assert found == [(1, 7), (2, 2), (3, 3), (4, 7)]


def test_cheap_tests_judge_first_and_all_others_what_lives():
    """Who is named after the module goes first; who is dear comes in when nobody cheap noticed."""
    dear, cheap, elsewhere = (f"tests/pack/test_x.py::{name}" for name in ("a", "b", "c"))
    own, story = "tests/pack/test_double.py::own", "tests/whole/test_golden.py::story"
    seconds = {dear: QUICK_SECONDS, cheap: 0.1, own: 0.2, elsewhere: 0.1, story: 0.1}
    seconds["tests/pack/test_x.py::endless"] = 2 * THOROUGH_SECONDS
    lines = {"4": [dear, cheap], "7": [own, story], "8": [elsewhere], "9": [AT_IMPORT]}
    reach = Reach({"kafkalearn/double.py": lines}, seconds)
    assert reach.tests(MUTANT) == ([own, cheap, story], [dear])
    assert reach.tests(replace(MUTANT, lines=(9, 9)))[0] == [own, cheap, elsewhere, story]
    assert reach.tests(replace(MUTANT, lines=(1, 3))) == ([], [])


@pytest.mark.slow
def test_a_mutant_is_killed_by_a_test_that_fails(tmp_path):
    """Killed, survived, timed out and not covered are told apart, and the copy is mended after."""
    project = tmp_path / "project"
    files = {
        "kafkalearn/__init__.py": "",  # or a kafkalearn further on in sys.path would be taken
        "kafkalearn/double.py": SOURCE,
        "tests/test_double.py": TEST,
    }
    for file, text in files.items():
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text(text)
    (project / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["."]\naddopts = "--import-mode=importlib"\n'
    )
    copy = Copy(tmp_path / "copy", project=project)
    tests = ["tests/test_double.py::test_double"]
    unnoticed = replace(MUTANT, source=SOURCE.replace("== 0", "== 1"))
    endless = replace(MUTANT, source=SOURCE.replace("if number == 0", "while True"))
    endless = replace(endless, source=endless.source.replace("return number\n", "pass\n"))
    cases = [(MUTANT, tests, 0.0), (unnoticed, tests, 0.0), (endless, tests, -2.0)]
    found = {verdict.mutant: verdict.outcome for verdict in judge(cases, [copy])}
    assert found == {MUTANT: "killed", unnoticed: "survived", endless: "timed out"}
    assert [each.outcome for each in judge([(MUTANT, [], 0.0)], [copy])] == ["not covered"]
    assert (copy.folder / MUTANT.module).read_text() == SOURCE


def test_the_share_of_a_sample_has_an_interval():
    """85 of 100 killed says that some 77 to 91 % of all are; who timed out was noticed."""
    kinds = {"killed": 80, "timed out": 5, "survived": 9, "not covered": 6}
    verdicts = [Verdict(MUTANT, kind) for kind, number in kinds.items() for _ in range(number)]
    assert report.row("broker", 3000, verdicts).split() == (
        ["broker", "3000", "100", "80", "5", "9", "6", "85.0", "76.7", "to", "90.7"]
    )
    assert report.row("broker", 100, verdicts).endswith("85.0 to 85.0")
