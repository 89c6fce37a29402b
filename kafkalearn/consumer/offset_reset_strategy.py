"""Where to read when there is no valid offset: what auto.offset.reset says.

Source: document 004 (appendix); org.apache.kafka.clients.consumer.OffsetResetStrategy (1.0.2);
internals.AutoOffsetResetStrategy (4.0, KIP-1106), which has taken its place.
"""

import re
from enum import Enum
from typing import NamedTuple

from kafkalearn.protocol.fetch import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP

BY_DURATION = "by_duration:"
_MS = 10**6  # nanoseconds
_PARTS = (86_400_000 * _MS, 3_600_000 * _MS, 60_000 * _MS, 1000 * _MS)
_NUMBER = r"([-+]?\d+)"
_DURATION = re.compile(
    rf"([-+])?P(?=.)(?:{_NUMBER}D)?"
    rf"(?:T(?=.)(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}(?:[.,](\d{{0,9}}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)


class OffsetResetStrategy(Enum):
    """At which end of the log; NONE is an error instead."""

    LATEST = "latest"
    EARLIEST = "earliest"
    NONE = "none"


class DurationReset(NamedTuple):
    """At the first record that is not older than this, at the time of asking (4.0, KIP-1106).

    As in Kafka, where no record is that young there is no position either, and the partition is
    asked about again after request.timeout.ms.
    """

    nanoseconds: int


AutoOffsetResetStrategy = OffsetResetStrategy | DurationReset


def strategy_from_string(text: str) -> AutoOffsetResetStrategy:
    """Read a value of auto.offset.reset, as of 4.0 (Java: fromString); ValueError if it is none."""
    if text.startswith(BY_DURATION):
        return DurationReset(_nanoseconds(text.removeprefix(BY_DURATION)))
    return OffsetResetStrategy(text)


def timestamp_of(strategy: AutoOffsetResetStrategy, now_ms: int) -> int | None:
    """Give what ListOffsets is to be asked for (Java: timestamp()); None if an error is wanted.

    Before the simulation's first ms there is no time: what would be earlier is 0.
    """
    if isinstance(strategy, DurationReset):
        return max(0, (now_ms * _MS - strategy.nanoseconds) // _MS)
    if strategy is OffsetResetStrategy.NONE:
        return None
    return LATEST_TIMESTAMP if strategy is OffsetResetStrategy.LATEST else EARLIEST_TIMESTAMP


def _nanoseconds(text: str) -> int:
    """Read a duration as Java's Duration.parse does, ``P1DT2H3M4.5S``; ValueError if negative."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no duration")
    sign, *numbers, fraction = found.groups()
    total = sum(int(number or 0) * part for number, part in zip(numbers, _PARTS, strict=True))
    below = int((fraction or "").ljust(9, "0"))
    total += -below if (numbers[-1] or "").startswith("-") else below
    if (total := -total if sign == "-" else total) < 0:
        raise ValueError(f"{text!r} is negative")
    return total
