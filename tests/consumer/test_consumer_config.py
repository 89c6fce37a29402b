"""A consumer's settings: each release's defaults, ranges, properties, and checks between keys."""

import re
from dataclasses import fields

import pytest

from kafkalearn.consumer.consumer_base import assignors_of
from kafkalearn.consumer.consumer_config import ConsumerConfig, consumer_config
from kafkalearn.errors import ConfigError
from kafkalearn.profile import PROFILES, profile_of
from kafkalearn.records import short

RELEASES = ("0.10.1", "1.0", "2.3", "2.4", "4.0")
ABSENT = object()
SAME = {
    "group_id": "",
    "client_id": "",
    "bootstrap_servers": "",
    "enable_auto_commit": None,
    "auto_commit_interval_ms": 5_000,
    "auto_offset_reset": "latest",
    "max_poll_records": 500,
    "max_poll_interval_ms": 300_000,
    "heartbeat_interval_ms": 3_000,
    "fetch_min_bytes": 1,
    "fetch_max_wait_ms": 500,
    "fetch_max_bytes": 50 * 2**20,
    "max_partition_fetch_bytes": 2**20,
    "metadata_max_age_ms": 300_000,
    "retry_backoff_ms": 100,
    "reconnect_backoff_ms": 50,
    "connections_max_idle_ms": 540_000,
    "exclude_internal_topics": True,
    "key_deserializer": "StringDeserializer",
    "value_deserializer": "StringDeserializer",
    "interceptor_classes": None,
}
BOTH = ("range", "cooperative-sticky")
CHANGED = {  # for each of RELEASES
    "session_timeout_ms": (10_000, 10_000, 10_000, 10_000, 45_000),
    "partition_assignment_strategy": (("range",), ("range",), ("range",), ("range",), BOTH),
    "reconnect_backoff_max_ms": (ABSENT, 1_000, 1_000, 1_000, 1_000),
    "retry_backoff_max_ms": (ABSENT, ABSENT, ABSENT, ABSENT, 1_000),
    "request_timeout_ms": (305_000, 305_000, 30_000, 30_000, 30_000),
    "default_api_timeout_ms": (ABSENT, ABSENT, 60_000, 60_000, 60_000),
    "group_instance_id": (ABSENT, ABSENT, None, None, None),
    "allow_auto_create_topics": (ABSENT, ABSENT, True, True, True),
    "isolation_level": (ABSENT, *["read_uncommitted"] * 4),
    "group_protocol": (ABSENT, ABSENT, ABSENT, ABSENT, "classic"),
}


def config(release="1.0", *, properties=None, **given):
    """Make the settings of a consumer of group ``g``."""
    return consumer_config(profile_of(release), {"group_id": "g"} | given, properties=properties)


@pytest.mark.parametrize("release", RELEASES)
def test_every_default_is_kafkas(release):
    """Key by key; a key that the release does not have is refused, whatever its value."""
    made = consumer_config(profile_of(release), {})
    at = RELEASES.index(release)
    expected = SAME | {name: values[at] for name, values in CHANGED.items()}
    expected["enable_auto_commit"] = at < 2  # 2.2: False where there is no group id
    known = {name: value for name, value in expected.items() if value is not ABSENT}
    assert {name: getattr(made, name) for name in known} == known
    for name in expected.keys() - known.keys():
        with pytest.raises(ConfigError, match=f"^{name} is known from Kafka .* on: this is an old"):
            config(release, **{name: getattr(made, name)})


def test_no_default_is_left_out():
    """The table has every setting, and every release that there is."""
    assert {*SAME, *CHANGED} == {each.name for each in fields(ConsumerConfig)}
    assert set(RELEASES) == set(PROFILES)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("max_poll_records", 1),
        ("max_poll_interval_ms", 1),
        ("fetch_min_bytes", 0),
        ("fetch_max_wait_ms", 0),
        ("fetch_max_bytes", 0),
        ("max_partition_fetch_bytes", 0),
        ("metadata_max_age_ms", 0),
        ("reconnect_backoff_ms", 0),
        ("reconnect_backoff_max_ms", 0),
        ("connections_max_idle_ms", -1),
    ],
)
def test_numbers_have_a_least_value(name, least):
    """It is allowed; the next lower one, a float and a bool are not."""
    assert getattr(config(**{name: least}), name) == least
    for wrong in (least - 1, 2**31, 5.0, True, "5"):
        sentence = f"{name} is {wrong!r}: a whole number from {least} to 2147483647 is allowed"
        with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
            config(**{name: wrong})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"auto_offset_reset": "newest"},
            "auto_offset_reset is 'newest': one of 'latest', 'earliest', 'none' is allowed",
        ),
        ({"enable_auto_commit": 1}, "enable_auto_commit is 1: True or False is allowed"),
        ({"group_id": 5}, "group_id is 5: a value of type str is allowed"),
        (
            {"partition_assignment_strategy": ()},
            "partition_assignment_strategy is (): a list that is not empty is allowed",
        ),
        (
            {"max_pol_records": 1},
            "max_pol_records is no setting of ConsumerConfig: did you mean max_poll_records?",
        ),
    ],
)
def test_other_values_and_keys_are_refused(given, sentence):
    """The sentence names what is allowed, or the key that may be meant."""
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        config(**given)


def test_no_group_and_no_interceptors_may_be_said():
    """As in Kafka, where the one may be null and the other empty."""
    assert config(group_id=None).group_id == ""
    assert config(interceptor_classes=[]).interceptor_classes == ()
    assert config(properties={"interceptor.classes": ""}).interceptor_classes == ()


def test_properties_are_text():
    """They become what the setting needs; an argument of the same name wins."""
    properties = {
        "max.poll.records": " 7 ",
        "enable.auto.commit": "FALSE",
        "partition.assignment.strategy": "range, roundrobin",
        "group.id": "other",
    }
    made = config(properties=properties, group_id="g")
    assert (made.max_poll_records, made.enable_auto_commit) == (7, False)
    assert made.partition_assignment_strategy == ("range", "roundrobin")
    assert made.group_id == "g"


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"max.poll.records": 7}, "max.poll.records is 7: a property is text, as in '7'"),
        ({"max.poll.records": "many"}, "max_poll_records is 'many': a whole number from 1"),
        ({"enable.auto.commit": "yes"}, "enable_auto_commit is 'yes': True or False is allowed"),
        ({"max.poll": "7"}, "max.poll is no setting of ConsumerConfig"),
        ([], "properties is []: a dict of texts is allowed"),
    ],
)
def test_other_properties_are_refused(properties, sentence):
    """The sentence names the key and the value."""
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}"):
        config(properties=properties)


@pytest.mark.parametrize("release", RELEASES)
def test_a_heartbeat_fits_into_a_session(release):
    """It must be less, in every release."""
    assert config(release, session_timeout_ms=3_001).session_timeout_ms == 3_001
    with pytest.raises(
        ConfigError, match=r"^heartbeat_interval_ms is 3000: less than session_time"
    ):
        config(release, session_timeout_ms=3_000)


@pytest.mark.parametrize("name", ["session_timeout_ms", "fetch_max_wait_ms"])
def test_before_2_0_a_request_may_take_longer_than_what_it_waits_for(name):
    """The request timeout must be more; later releases do not ask."""
    given = {"request_timeout_ms": 20_000, name: 20_000}
    sentence = f"^request_timeout_ms is 20000: more than {name}, which is 20000, is allowed$"
    with pytest.raises(ConfigError, match=sentence):
        config("1.0", **given)
    assert getattr(config("1.0", **(given | {name: 19_999})), name) == 19_999
    assert getattr(config("2.3", **given), name) == 20_000


def test_without_a_group_id_nothing_is_committed_automatically():
    """From 2.2 on True is refused and the default is False; with a group id it is True."""
    for release in ("1.0", "2.3"):
        assert config(release).enable_auto_commit is True
        assert config(release, enable_auto_commit=False).enable_auto_commit is False
    assert consumer_config(profile_of("1.0"), {"enable_auto_commit": True}).enable_auto_commit
    with pytest.raises(ConfigError, match=r"^enable_auto_commit is True: without a group_id only"):
        consumer_config(profile_of("2.3"), {"enable_auto_commit": True})


@pytest.mark.parametrize("release", ["2.3", "2.4", "4.0"])
@pytest.mark.parametrize("wrong", ["", ".", "..", "a b", "caf\u00e9", "a/b", "a\n", "x" * 250])
def test_an_instance_id_is_as_a_topic_is_called(release, wrong):
    """It is checked since it exists, also where there is no group; the sentence names it."""
    said = re.escape(short(wrong))
    for given in ({"group_id": "g"}, {}):
        with pytest.raises(ConfigError, match=f"^group_instance_id is {said}: 1 to 249 of the cha"):
            consumer_config(profile_of(release), given | {"group_instance_id": wrong})


@pytest.mark.parametrize("release", ["2.3", "2.4", "4.0"])
@pytest.mark.parametrize("right", [None, "x" * 249, "a.B_9-", "..."])
def test_an_instance_id_that_is_allowed(release, right):
    """The longest, each kind of character, and None for a member that is not static."""
    assert config(release, group_instance_id=right).group_instance_id == right


@pytest.mark.parametrize(
    "name", ["auto_commit_interval_ms", "heartbeat_interval_ms", "retry_backoff_ms"]
)
def test_no_time_at_all_counts_as_one_ms(name):
    """Kafka allows 0; here the clock must go on."""
    assert getattr(config(**{name: 0}), name) == 1
    with pytest.raises(ConfigError):
        config(**{name: -1})


@pytest.mark.parametrize("prefix", ["", "org.apache.kafka.clients.consumer."])
def test_an_assignor_may_be_named_by_its_class(prefix):
    """As Java's properties have it, with or without its package."""
    given = config(partition_assignment_strategy=[f"{prefix}StickyAssignor", "range"])
    assert [each.name for each in assignors_of(given, profile_of("1.0"))] == ["sticky", "range"]


@pytest.mark.parametrize("release", RELEASES)
def test_a_reconnect_backoff_without_a_maximum_is_constant(release):
    """The maximum is then the same; given both, both count, in a release that knows it (0.11)."""
    assert config(release, reconnect_backoff_ms=5_000).reconnect_backoff_max_ms == 5_000
    assert config(release, properties={"reconnect.backoff.ms": "7"}).reconnect_backoff_max_ms == 7
    if release != "0.10.1":
        both = config(release, reconnect_backoff_ms=20, reconnect_backoff_max_ms=300)
        assert (both.reconnect_backoff_ms, both.reconnect_backoff_max_ms) == (20, 300)
