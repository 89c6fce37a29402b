"""What comes from a submission's process becomes lines, messages and outputs of a cell."""

import pytest
from nbformat.v4 import new_code_cell

from kafkalearn.grading.answering.wire import LONGEST_LINE
from kafkalearn.grading.engines.outputs import Lines, add_output, message_of


def test_bytes_become_lines_however_they_are_cut():
    """A line may come in pieces and several at once; what has not ended waits."""
    lines = Lines()
    for piece in (b"a", b"b\nc", b"\n\nd"):
        lines.add(piece)
    assert (lines.whole, bytes(lines.rest), lines.total) == ([b"ab", b"c", b""], b"d", 7)


def test_of_a_line_that_is_too_long_the_beginning_is_kept():
    """One byte more than the longest, so that it is seen to be too long; all bytes are counted."""
    lines = Lines()
    lines.add(b"x" * LONGEST_LINE)
    lines.add(b"yyy")
    lines.add(b"y\nz\n")
    assert lines.whole == [b"x" * LONGEST_LINE + b"y", b"z"]
    assert lines.total == LONGEST_LINE + 7


@pytest.mark.parametrize("line", [b"", b"\x80", b"[1]", b"3", b"[" * 100_000])
def test_what_is_no_message_is_an_empty_one(line):
    """No JSON, or no object."""
    assert message_of(line) == {}


def test_a_message_is_a_json_object():
    """As it was sent."""
    assert message_of(b'{"stream": "stdout", "text": "x"}') == {"stream": "stdout", "text": "x"}


def test_outputs_are_kept_as_notebooks_keep_them():
    """Texts of one stream join; other streams, displays and results stand for themselves."""
    cell = new_code_cell()
    for message in (
        {"stream": "stdout", "text": "a"},
        {"stream": "stdout", "text": "b"},
        {"stream": "stderr", "text": "c"},
        {"stream": "nowhere", "text": "d"},
        {"display": {"text/plain": "e", "image/png": 3}},
        {"result": {"text/plain": "f"}},
        {"result": "no object"},
        {"stream": "stdout", "text": "g"},
    ):
        add_output(cell, message)
    assert [dict(each) for each in cell.outputs] == [
        {"output_type": "stream", "name": "stdout", "text": "ab"},
        {"output_type": "stream", "name": "stderr", "text": "c"},
        {"output_type": "display_data", "data": {"text/plain": "e"}, "metadata": {}},
        {"output_type": "execute_result", "data": {"text/plain": "f"}, "metadata": {}},
        {"output_type": "stream", "name": "stdout", "text": "g"},
    ]
