"""What auto.offset.reset may say, and where a consumer reads that is told a duration (KIP-1106)."""

import re

import pytest

from kafkalearn.consumer.consumer_config import consumer_config
from kafkalearn.consumer.offset_reset_strategy import (
    DurationReset,
    OffsetResetStrategy,
    strategy_from_string,
    timestamp_of,
)
from kafkalearn.errors import ConfigError
from kafkalearn.profile import PROFILES, profile_of
from kafkalearn.protocol.fetch import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from kafkalearn.records import TopicPartition

T0 = TopicPartition("t", 0)
SECOND, MINUTE, HOUR = 10**9, 60 * 10**9, 3600 * 10**9
MINUTE_MS = 60_000


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("PT0S", 0),
        ("PT1H", HOUR),
        ("P2D", 48 * HOUR),
        ("P1DT2H3M4.5S", 26 * HOUR + 3 * MINUTE + 4 * SECOND + SECOND // 2),
        ("pt1h", HOUR),
        ("PT0.000000001S", 1),
        ("PT1,25S", SECOND + SECOND // 4),
        ("PT1.S", SECOND),
        ("PT-1H+61M", MINUTE),
        ("-PT-1H", HOUR),
        ("+PT90M", 90 * MINUTE),
        ("PT1H-0.5S", HOUR - SECOND // 2),
    ],
)
def test_a_duration_is_read_as_java_does(text, nanoseconds):
    """The examples of Duration.parse, and its odd ones."""
    assert strategy_from_string(f"by_duration:{text}") == DurationReset(nanoseconds)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((text, "no duration") for text in ("", "P", "PT", "P1DT", "1H", "P1H", "PT1D", "P1W")),
        *(
            (text, "no duration")
            for text in ("P1Y", "PT1.5H", "PT0.0000000001S", "PT1H ", "PT1S1H")
        ),
        *((text, "no duration") for text in ("PT.5S", "PT١H", "--PT1H", "PT1H\n")),
        *((text, "negative") for text in ("-PT1H", "PT-1H", "PT-0.5S", "P1DT-25H", "-PT0.1S")),
    ],
)
def test_what_is_no_duration_or_a_negative_one_is_refused(text, why):
    """The sentence says which, and what is allowed."""
    with pytest.raises(ConfigError) as refused:
        consumer_config(profile_of("4.0"), {"auto_offset_reset": f"by_duration:{text}"})
    is_not = f"{text!r} is {why}"
    assert str(refused.value) == (
        f"auto_offset_reset is {f'by_duration:{text}'!r} ({is_not}): one of 'latest', 'earliest', "
        "'none', by_duration:PnDTnHnMn.nS is allowed"
    )


@pytest.mark.parametrize(
    "text", ["by_duration", "EARLIEST", "duration:PT1H", "by_durationPT1H", ""]
)
def test_another_word_is_refused_as_before(text):
    """In 4.0 with the new kind among what is allowed."""
    with pytest.raises(
        ConfigError, match=rf"^auto_offset_reset is {text!r}: one of .*PnDTnHnMn.nS"
    ):
        consumer_config(profile_of("4.0"), {"auto_offset_reset": text})


@pytest.mark.parametrize("release", PROFILES)
def test_a_duration_is_known_from_4_0_on(release):
    """Older releases say so; the three words are the same in all."""
    given = {"auto_offset_reset": "by_duration:PT1H"}
    if release == "4.0":
        assert consumer_config(profile_of(release), given).auto_offset_reset == "by_duration:PT1H"
    else:
        sentence = "auto_offset_reset is 'by_duration:PT1H' (known from Kafka 4.0 on: this is an "
        sentence += "older one): one of 'latest', 'earliest', 'none' is allowed"
        with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
            consumer_config(profile_of(release), given)
    for word in ("latest", "earliest", "none"):
        assert consumer_config(profile_of(release), {"auto_offset_reset": word})


def test_what_listoffsets_is_asked_for():
    """The ends have numbers of their own; a duration counts back from now, to the ms below."""
    now_ms = 5_000
    assert timestamp_of(OffsetResetStrategy.LATEST, now_ms) == LATEST_TIMESTAMP
    assert timestamp_of(OffsetResetStrategy.EARLIEST, now_ms) == EARLIEST_TIMESTAMP
    assert timestamp_of(OffsetResetStrategy.NONE, now_ms) is None
    for nanoseconds, timestamp in [
        (0, 5_000),
        (1, 4_999),
        (2 * SECOND, 3_000),
        (5 * SECOND, 0),
        (HOUR, 0),
    ]:
        assert timestamp_of(DurationReset(nanoseconds), now_ms) == timestamp


@pytest.fixture
def kafka(cluster):
    """A log with a record a minute, the last of now."""
    kafka = cluster("4.0")
    for minute in range(5):
        kafka.sim.sleep(minute * MINUTE_MS + 1_000 - kafka.sim.now_ms)
        kafka.send(f"minute {minute}")
    return kafka


def reading(kafka, duration, count, **settings):
    """What a consumer that begins with a duration reads, and the consumer."""
    consumer = kafka.consumer(auto_offset_reset=f"by_duration:{duration}", **settings)
    consumer.assign([T0])
    return kafka.read(consumer, count), consumer


@pytest.mark.parametrize(
    ("duration", "first"), [("PT30S", 4), ("PT90S", 3), ("P1D", 0), ("PT4M", 1)]
)
def test_who_begins_with_a_duration_reads_what_is_younger(kafka, duration, first):
    """Whether nothing is committed, or what is committed is not in the log."""
    kafka.sim.sleep(500)
    expected = [f"minute {minute}" for minute in range(first, 5)]
    read, consumer = reading(kafka, duration, 5 - first)
    assert read == expected
    consumer.seek(T0, 99)
    assert kafka.read(consumer, 5 - first) == expected


def test_the_end_and_the_beginning_are_still_to_be_had(kafka):
    """seek_to_beginning and seek_to_end mean what they say."""
    _, consumer = reading(kafka, "PT30S", 1)
    consumer.seek_to_beginning([T0])
    assert consumer.position(T0) == 0
    consumer.seek_to_end([T0])
    assert consumer.position(T0) == 5


def test_where_nothing_is_so_young_it_is_asked_again_after_the_request_timeout(kafka):
    """As in Kafka: no position until then, whatever is written meanwhile; then what is young."""
    kafka.sim.sleep(2 * MINUTE_MS)
    consumer = kafka.consumer(auto_offset_reset="by_duration:PT20S", request_timeout_ms=30_000)
    consumer.assign([T0])
    began_ms = kafka.sim.now_ms
    assert not consumer.poll(5_000)
    kafka.send("early")
    assert not consumer.poll(5_000)
    kafka.sim.sleep(12_000)
    kafka.send("late")
    assert not consumer.poll(began_ms + 29_000 - kafka.sim.now_ms)
    assert kafka.read(consumer, 1) == ["late"]
    times = kafka.sent("ListOffsets")
    assert len(times) == 2
    assert 30_000 <= times[1] - times[0] <= 30_200
