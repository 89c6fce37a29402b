"""What may travel between a learner's process and the judge."""

import io
import json

import pytest

from kafkalearn.grading.answering.wire import LONGEST_LINE, WireError, decode, encode, receive, send
from kafkalearn.records import Subscription, TopicPartition


@pytest.mark.parametrize(
    "value",
    [
        {"c0": [TopicPartition("t0", 1)], "c1": []},
        ({"t0": 3}, {"c0": Subscription(["t0"], [("t0", 1)], 4, "static-1")}),
        [None, True, 1, 1.5, "text", b"\x00\xff", ("a", 2), {("a", 1): {2: "b"}}],
    ],
)
def test_a_value_comes_back_as_it_was(value):
    """Decoding what was encoded, with JSON between, gives an equal value of the same types."""
    back = decode(json.loads(json.dumps(encode(value))))
    assert back == value
    assert repr(back) == repr(value)


@pytest.mark.parametrize("value", [{1, 2}, object(), bytearray(1), iter([1]), {"c0": {1}.__iter__}])
def test_anything_else_is_refused_with_a_sentence(value):
    """A kind that may not travel is named, and what may is listed."""
    with pytest.raises(WireError, match=r"the answer holds a .*only None, bool, int"):
        encode(value)


def test_a_value_that_holds_itself_is_refused():
    """Endless nesting ends in a sentence."""
    value: list[object] = []
    value.append(value)
    with pytest.raises(WireError, match=r"^the answer holds itself, or is nested too deeply$"):
        encode(value)


@pytest.mark.parametrize(
    "message",
    [
        {"object": ["os.system", "true"]},
        {"tuple": "ab"},
        {"tuple": [], "dict": []},
        {},
        {"bytes": ["no hex"]},
        {"TopicPartition": ["t0"]},
        {"TopicPartition": ["t0", "1"]},
        {"TopicPartition": ["t0", True]},
        {"Subscription": [1, 2]},
        {"dict": [[1, 2, 3]]},
        {"dict": [[[1], 2]]},
    ],
)
def test_a_forged_message_is_refused(message):
    """What `encode` never gives cannot be read, whatever it holds."""
    with pytest.raises(WireError):
        decode(message)


def test_lines_are_bounded_and_must_hold_objects():
    """A flood, nonsense and a closed connection are told apart."""
    stream = io.BytesIO()
    send(stream, {"check": "by-name"})
    assert receive(io.BytesIO(stream.getvalue())) == {"check": "by-name"}
    with pytest.raises(WireError, match=r"^the answer is longer than 2 MB$"):
        receive(io.BytesIO(b" " * (LONGEST_LINE + 1)))
    with pytest.raises(WireError, match=r"^the answer is not JSON$"):
        receive(io.BytesIO(b"\x80\x04pickled\n"))
    with pytest.raises(WireError, match=r"^the answer is no JSON object$"):
        receive(io.BytesIO(b"[1]\n"))
    with pytest.raises(EOFError, match=r"^the other side is gone$"):
        receive(io.BytesIO())


def test_an_answer_that_is_too_long_is_refused_where_it_was_given():
    """The line stays within bounds, so one gigantic answer fails one check."""
    stream = io.BytesIO()
    send(stream, {"returned": "x" * LONGEST_LINE})
    assert receive(io.BytesIO(stream.getvalue())) == {"refused": "the answer is longer than 2 MB"}
