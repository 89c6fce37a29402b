"""What the learner's process and the judge say to each other: one JSON object a line.

JSON has no tuples, TopicPartitions or dicts with other keys than text: these travel as an object
with one key, the name of their kind. No pickle: a line can only ever become the values below.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from kafkalearn.consumer.consumer_records import ConsumerRecord, ConsumerRecords
from kafkalearn.records import (
    OffsetAndMetadata,
    OffsetAndTimestamp,
    Subscription,
    TopicPartition,
)

LONGEST_LINE = 2 * 2**20  # bytes; no honest answer comes near, and reading it takes 60 times that
TOO_LONG = f"the answer is longer than {LONGEST_LINE // 2**20} MB"
JUDGE_ADDRESS = "KAFKALEARN_JUDGE"  # environment variable: the descriptor of the judge's socket
ALLOWED = "None, bool, int, float, str, bytes, list, tuple, dict, TopicPartition and Subscription"


class WireError(ValueError):
    """A value or a line that may not travel; the message says what is allowed."""


def encode(value: Any) -> Any:
    """Turn a value into plain JSON; WireError names a kind that may not travel."""
    try:
        return _encode(value)
    except RecursionError:
        raise WireError("the answer holds itself, or is nested too deeply") from None


def _encode(value: Any) -> Any:
    if isinstance(value, list):
        return [each if type(each) in _PLAIN else _encode(each) for each in value]
    kind = type(value)
    if kind not in _FIELDS:
        kind = next((each for each in (*_FIELDS, *_PLAIN) if isinstance(value, each)), kind)
    if kind in _PLAIN:
        return value
    if kind not in _FIELDS:
        raise WireError(f"the answer holds a {kind.__name__}: only {ALLOWED} can be judged")
    name, fields = _FIELDS[kind]
    return {name: _encode(fields(value))}


_PLAIN = (str, int, type(None), bool, float)  # most values are: no call is made for them
_DICT = ("dict", lambda it: list(map(list, it.items())))
# How a value of each kind is named and taken apart; named tuples stand before tuple.
_FIELDS: dict[type, tuple[str, Callable[[Any], list[Any]]]] = {
    bytes: ("bytes", lambda it: [it.hex()]),
    **{
        kind: (kind.__name__, list) for kind in (TopicPartition, ConsumerRecord, OffsetAndTimestamp)
    },
    OffsetAndMetadata: ("OffsetAndMetadata", lambda it: [it.offset, it.metadata]),
    ConsumerRecords: (
        "ConsumerRecords",
        lambda it: [[each, it.records(each)] for each in it.partitions()],
    ),
    Subscription: (
        "Subscription",
        lambda it: [
            list(it.topics),
            list(it.owned_partitions),
            it.generation,
            it.group_instance_id,
        ],
    ),
    tuple: ("tuple", list),
    dict: _DICT,
    Mapping: _DICT,
}


def decode(value: Any) -> Any:
    """Turn plain JSON back into the value; WireError for anything that `encode` does not give."""
    try:
        return _decode(value)
    except WireError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"the answer cannot be read: {error}") from None


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [each if type(each) in _PLAIN else _decode(each) for each in value]
    if not isinstance(value, dict):
        return value
    kind, fields = next(iter(value.items()), ("nothing", None))
    if len(value) != 1 or kind not in _KINDS or not isinstance(fields, list):
        raise WireError(
            f"the answer holds something of kind {kind[:40]!r}: only {ALLOWED} can be judged"
        )
    return _KINDS[kind](_decode(fields))


def _topic_partition(fields: list[Any]) -> TopicPartition:
    topic, partition = fields if len(fields) == 2 else (None, None)
    if not isinstance(topic, str) or not isinstance(partition, int) or isinstance(partition, bool):
        raise WireError(
            f"TopicPartition{tuple(fields)!r:.80} is no partition: TopicPartition(text, int) is"
        )
    return TopicPartition(topic, partition)


_KINDS = {
    "TopicPartition": _topic_partition,
    "Subscription": lambda fields: Subscription(*fields),
    "ConsumerRecord": lambda fields: ConsumerRecord(*fields),
    "ConsumerRecords": lambda fields: ConsumerRecords(dict(fields)),
    "OffsetAndMetadata": lambda fields: OffsetAndMetadata(*fields),
    "OffsetAndTimestamp": lambda fields: OffsetAndTimestamp(*fields),
    "bytes": lambda fields: bytes.fromhex(*fields),
    "tuple": tuple,
    "dict": dict,
}


class Stream(Protocol):
    """A buffered stream of bytes."""

    def readline(self, size: int, /) -> bytes:
        """Read up to a line feed, or `size` bytes."""

    def write(self, data: bytes, /) -> int:
        """Put the bytes into the buffer."""

    def flush(self) -> None:
        """Send what the buffer holds."""


def send(stream: Stream, message: dict[str, Any]) -> None:
    """Write one message and flush it; one that nobody would read says so instead."""
    line = json.dumps(message).encode()
    if len(line) >= LONGEST_LINE:
        line = json.dumps({"refused": TOO_LONG}).encode()
    stream.write(line + b"\n")
    stream.flush()


def receive(stream: Stream) -> dict[str, Any]:
    """Read one message; EOFError when the other side is gone, WireError for what is no message."""
    line = stream.readline(LONGEST_LINE + 1)
    if not line:
        raise EOFError("the other side is gone")
    if len(line) > LONGEST_LINE:
        raise WireError(TOO_LONG)
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise WireError("the answer is not JSON") from None
    if not isinstance(message, dict):
        raise WireError("the answer is no JSON object")
    return message
