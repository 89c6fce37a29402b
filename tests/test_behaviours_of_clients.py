"""Each row of the list of Kafka's behaviours that a client shows is a test that names it."""

from pathlib import Path

from tests.behaviours import rows_named

HERE = Path(__file__).parent
OF_THE_CONSUMER = (
    "1 2 3 4 6 7 8 10 11 12 14 15 16 17 19 21 22 23 24 26 27 28 30 32 33 34 35 38 39 40 42 43 44 "
    "45 46 47 49 50 51 53 54 55 56 57 59 60 61 63 64 67"
)
OF_THE_PRODUCER = "69 70 71"


def named_in(folder):
    """Give the rows that the tests of a folder name."""
    files = sorted((HERE / folder).glob("test_*.py"))
    return set().union(*(rows_named(path.read_text(encoding="utf-8")) for path in files))


def test_every_row_of_the_consumer_has_its_test():
    """A row without a test is missing here."""
    named = named_in("consumer")
    assert [row for row in OF_THE_CONSUMER.split() if row not in named] == []


def test_every_row_of_the_producer_has_its_test():
    """A row without a test is missing here."""
    named = named_in("producer")
    assert [row for row in OF_THE_PRODUCER.split() if row not in named] == []


def test_a_row_that_nobody_names_is_noticed():
    """What is not there is not found."""
    assert "29" not in named_in("consumer")  # of 0.10.0, older than any profile
