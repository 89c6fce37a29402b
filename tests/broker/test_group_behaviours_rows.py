"""Each row of the list of Kafka's behaviours that a broker shows is a test that names it."""

from pathlib import Path

from tests.behaviours import rows_named

HERE = Path(__file__).parent
OF_PART_A = "11 14 16 17 32 33 34 35 38 39 40 42 43 44 45 46 47 49 50 51 53 54 60"
ROWS = [
    *OF_PART_A.split(),
    *(f"B{number}" for number in range(1, 13)),
    *(f"C{number}" for number in range(1, 14)),
]


def test_every_row_has_its_test():
    """A row without a test is missing here, and a test that names no row of the list as well."""
    files = sorted(HERE.glob("test_group_behaviours_*.py"))
    named = set().union(*(rows_named(path.read_text(encoding="utf-8")) for path in files))
    assert [row for row in ROWS if row not in named] == []
    assert named <= set(ROWS)


def test_a_row_is_named_by_a_tests_docstring_alone():
    """Other functions, comments and other places in the text do not count."""
    source = """
def test_a():
    \"\"\"Behaviour 1: so it is.\"\"\"
def test_b():
    \"\"\"As in behaviour 2: it is.\"\"\"
def helper():
    \"\"\"Behaviour 3: so it is.\"\"\"
def test_c():  # Behaviour 4: so it is.
    pass
def test_d():
    \"\"\"Behaviours 5, B6 and C7: so they are.\"\"\"
"""
    assert rows_named(source) == {"1", "5", "B6", "C7"}
