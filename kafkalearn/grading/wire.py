"""What the learner's process and the judge say to each other: one JSON object a line.

JSON has no tuples, TopicPartitions or dicts with other keys than text: these travel as an object
with one key, the name of their kind. No pickle: a line can only ever become the values below.
"""

import json
from collections.abc import Mapping
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
    if isinstance(value, float | int | str | None):
        return value
    if isinstance(value, bytes):
        return {"bytes": [value.hex()]}
    for kind in (TopicPartition, ConsumerRecord, OffsetAndTimestamp):
        if isinstance(value, kind):
            return {kind.__name__: [_encode(field) for field in value]}
    if isinstance(value, OffsetAndMetadata):
        return {"OffsetAndMetadata": [_encode(value.offset), _encode(value.metadata)]}
    if isinstance(value, ConsumerRecords):
        by_partition = [(each, value.records(each)) for each in value.partitions()]
        return {"ConsumerRecords": [[_encode(each), _encode(of)] for each, of in by_partition]}
    if isinstance(value, Subscription):
        fields = (value.topics, value.owned_partitions, value.generation, value.group_instance_id)
        return {"Subscription": [_encode(field) for field in fields]}
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_encode(item) for item in value]}
    if isinstance(value, Mapping):
        return {"dict": [[_encode(key), _encode(item)] for key, item in value.items()]}
    raise WireError(f"the answer holds a {type(value).__name__}: only {ALLOWED} can be judged")


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
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind, fields = next(iter(value.items()), ("nothing", None))
    if len(value) != 1 or kind not in _KINDS or not isinstance(fields, list):
        raise WireError(
            f"the answer holds something of kind {kind[:40]!r}: only {ALLOWED} can be judged"
        )
    return _KINDS[kind]([_decode(field) for field in fields])


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
