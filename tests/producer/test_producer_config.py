import pytest

from kafkalearn.errors import ConfigError
from kafkalearn.producer.producer_config import producer_config
from kafkalearn.profile import PROFILES
from kafkalearn.records import MAX_INT


def config(profile="1.0", properties=None, **given):
    """Make the settings of a release."""
    return producer_config(PROFILES[profile], given, properties=properties)


@pytest.mark.parametrize(
    ("profile", "retries", "delivery_timeout_ms", "acks", "linger_ms"),
    [
        ("0.10.1", 0, 0, "1", 0),
        ("1.0", 0, 0, "1", 0),
        ("2.3", MAX_INT, 120_000, "1", 0),
        ("2.4", MAX_INT, 120_000, "1", 0),
        ("4.0", MAX_INT, 120_000, "all", 5),
    ],
)
def test_defaults_change_with_the_release(profile, retries, delivery_timeout_ms, acks, linger_ms):
    """Behaviour 71: retries and delivery timeout since 2.1, acks since 3.0, linger since 4.0."""
    made = config(profile)
    assert (made.retries, made.delivery_timeout_ms) == (retries, delivery_timeout_ms)
    assert (made.acks, made.linger_ms) == (acks, linger_ms)


def test_the_other_defaults():
    """They are the same in all releases, but for the growth of the reconnect back-off (0.11)."""
    made = config()
    assert (made.batch_size, made.buffer_memory, made.max_request_size) == (16384, 2**25, 2**20)
    assert (made.max_block_ms, made.request_timeout_ms, made.metadata_max_age_ms) == (
        60_000,
        30_000,
        300_000,
    )
    assert made.max_in_flight_requests_per_connection == 5
    assert (made.retry_backoff_ms, made.reconnect_backoff_ms) == (100, 50)
    assert made.reconnect_backoff_max_ms == 1000
    assert config("0.10.1").reconnect_backoff_max_ms == 50


@pytest.mark.parametrize(("given", "kept"), [(0, "0"), (1, "1"), (-1, "-1"), ("all", "all")])
def test_acks_may_be_a_number(given, kept):
    """As learners write it."""
    assert config(acks=given).acks == kept


def test_java_properties_are_text():
    """They are read by the type of their setting; what is given beside them wins."""
    made = config(properties={"acks": "all", "linger.ms": "5", "retries": "3"}, linger_ms=7)
    assert (made.acks, made.linger_ms, made.retries) == ("all", 7, 3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"acks": 2}, "acks is '2': one of 'all', '-1', '0', '1' is allowed"),
        ({"acks": True}, "acks is True: one of 'all', '-1', '0', '1' is allowed"),
        ({"retries": -1}, "retries is -1: a whole number from 0 to 2147483647 is allowed"),
        (
            {"max_in_flight_requests_per_connection": 0},
            "max_in_flight_requests_per_connection is 0: a whole number from 1 to 2147483647 is "
            "allowed",
        ),
        ({"linger": 5}, "linger is no setting of ProducerConfig: did you mean linger_ms?"),
        (
            {"delivery_timeout_ms": 1},
            "delivery_timeout_ms is known from Kafka 2.1 on: this is an older one",
        ),
        (
            {"enable_idempotence": True},
            "enable_idempotence is True: only False is allowed, since producer ids and sequence "
            "numbers are not built here",
        ),
    ],
)
def test_what_kafka_refuses_is_refused(given, sentence):
    """The sentence names the key, the value and what is allowed."""
    with pytest.raises(ConfigError) as error:
        config(**given)
    assert str(error.value) == sentence


def test_properties_are_a_mapping():
    """A list of lines is none."""
    with pytest.raises(ConfigError, match="properties is"):
        config(properties=["acks=all"])


def test_delivery_must_be_given_time_to_linger_and_be_answered():
    """One that is given and too short is refused; the default grows instead."""
    assert config("2.4", delivery_timeout_ms=30_005, linger_ms=5).delivery_timeout_ms == 30_005
    with pytest.raises(ConfigError) as error:
        config("2.4", delivery_timeout_ms=30_004, linger_ms=5)
    assert str(error.value) == (
        "delivery_timeout_ms is 30004: linger_ms + request_timeout_ms, 30005, or more is allowed"
    )
    assert config("2.4", linger_ms=100_000).delivery_timeout_ms == 130_000
    assert config("2.4", linger_ms=2**40).delivery_timeout_ms == MAX_INT


def test_idempotence_is_off_in_every_release():
    """Unlike in Kafka from 3.0 on, which the docstring says; older ones do not know the key."""
    assert [config(profile).enable_idempotence for profile in PROFILES] == [False] * 5
    with pytest.raises(ConfigError, match=r"known from Kafka 0\.11 on"):
        config("0.10.1", enable_idempotence=False)
