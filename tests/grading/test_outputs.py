"""What comes from a submission's process becomes lines, messages and outputs of a cell."""

import json
import socket

import pytest
from nbformat.v4 import new_code_cell

from kafkalearn.grading.answering.wire import LONGEST_LINE
from kafkalearn.grading.engines.cells import OUTLET, _named, _Stream
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


def test_what_a_cell_prints_is_sent_in_pieces_and_by_its_name(monkeypatch):
    """Each line stands for itself, whatever was cut before it; nothing is sent twice or lost."""
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(OUTLET, "socket", theirs)
    out, err = _Stream("stdout"), _Stream("stderr")
    with ours, theirs:
        ours.setblocking(False)
        assert print("a", 1, file=out) is None
        assert out.write("b") == 1
        with pytest.raises(BlockingIOError):
            ours.recv(1)
        out.flush()
        out.flush()
        err.write("c" * 5000)
        err.write("d" * 4000)
        err.write("e")
        err.flush()
        sent = ours.recv(2**16)
        with pytest.raises(TypeError, match=r"^write\(\) argument must be str, not bytes$"):
            out.write(b"x")
    assert sent.startswith(b"\n")
    assert [json.loads(line) for line in sent.splitlines() if line] == [
        {"stream": "stdout", "text": "a 1\nb"},
        {"stream": "stderr", "text": "c" * 5000 + "d" * 4000},
        {"stream": "stderr", "text": "e"},
    ]


def test_an_error_is_named_even_if_its_text_cannot_be_had():
    """Whatever a learner's exception does when it is asked for it."""

    class OddError(Exception):
        def __str__(self):
            raise RuntimeError

    assert _named(KeyError("k")) == {"ename": "KeyError", "evalue": "'k'"}
    assert _named(OddError()) == {"ename": "OddError", "evalue": "its text cannot be had"}
