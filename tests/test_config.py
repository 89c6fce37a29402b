from dataclasses import FrozenInstanceError, dataclass, fields

import pytest

from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.config import configure, is_left_out, name_of, parse_properties, release_of, setting
from kafkalearn.consumer.consumer_config import ConsumerConfig
from kafkalearn.errors import ConfigError
from kafkalearn.producer.producer_config import ProducerConfig
from kafkalearn.records import MAX_INT

NEWEST = (4, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One of each kind."""

    max_wait_ms: int = setting(500, least=0, most=1000)
    retries: int = setting(0, least=0, since_2_1=MAX_INT)
    acks: str = setting("1", since_3_0="all")
    linger_ms: int = setting(0, least=0, since_0_10_2=3, since_4_0=5)
    idempotence: bool = setting(False, since_3_0=True)


def make(release=NEWEST, **given):
    """Make Settings of what was given."""
    return configure(Settings, release, given=given)


def sentence(kind=Settings, **given):
    """Let something be given that must be refused, and tell the sentence."""
    with pytest.raises(ConfigError) as error:
        configure(kind, NEWEST, given=given)
    return str(error.value)


@pytest.mark.parametrize(
    ("release", "defaults"),
    [
        ((0, 10, 1), (500, 0, "1", 0, False)),
        ((0, 10, 2), (500, 0, "1", 3, False)),
        ((2, 0), (500, 0, "1", 3, False)),
        ((2, 1), (500, MAX_INT, "1", 3, False)),
        ((2, 10), (500, MAX_INT, "1", 3, False)),
        ((3, 0), (500, MAX_INT, "all", 3, True)),
        ((4, 0), (500, MAX_INT, "all", 5, True)),
    ],
)
def test_defaults_are_those_of_the_release(release, defaults):
    """The last change at or before it counts; releases are compared as numbers."""
    made = make(release)
    assert tuple(getattr(made, each.name) for each in fields(Settings)) == defaults


def test_what_is_given_counts():
    """Everything else keeps its default."""
    assert make(max_wait_ms=7, acks="0", idempotence=False) == Settings(
        max_wait_ms=7, retries=MAX_INT, acks="0", linger_ms=5, idempotence=False
    )


def test_kafkas_own_keys_may_be_used():
    """Dots stand for underscores."""
    made = configure(Settings, NEWEST, given={"max.wait.ms": 9, "linger_ms": 1})
    assert (made.max_wait_ms, made.linger_ms) == (9, 1)


def test_one_setting_has_one_key():
    """With dots or without: whoever gives both learns of both, in properties as well."""
    told = r"^max\.wait\.ms and max_wait_ms are one setting of Settings: give one of them$"
    with pytest.raises(ConfigError, match=told):
        configure(Settings, NEWEST, given={"max.wait.ms": 9, "max_wait_ms": 9})
    with pytest.raises(ConfigError, match=told):
        parse_properties(Settings, {"max.wait.ms": "9", "max_wait_ms": "9"})


def test_a_name_can_be_looked_up_alone():
    """Topics have settings, too, which are no dataclass."""
    known = {"retention_ms", "retention_bytes"}
    assert name_of("retention.ms", known, of="a topic") == "retention_ms"
    with pytest.raises(
        ConfigError, match=r"^retention\.mss is no setting of a topic: did you mean"
    ):
        name_of("retention.mss", known, of="a topic")


def test_settings_are_never_changed():
    """They are of one simulation from its start to its end."""
    with pytest.raises(FrozenInstanceError):
        make().max_wait_ms = 5


def test_an_unknown_name_is_refused_with_the_closest_one():
    """A learner who misspelt a key is told which one there is."""
    assert sentence(max_wait=5) == "max_wait is no setting of Settings: did you mean max_wait_ms?"
    assert sentence(retrys=5) == "retrys is no setting of Settings: did you mean retries?"
    with pytest.raises(ConfigError, match=r"max\.wait\.m is no setting .* mean max_wait_ms\?"):
        configure(Settings, NEWEST, given={"max.wait.m": 5})


@pytest.mark.parametrize(
    "key",
    [
        *("offsets.commit.timeout.ms", "offsets.topic.replication.factor", "zookeeper.connect"),
        *("group.consumer.session.timeout.ms", "compression_type"),
        *("log.retention.hours", "cleanup.policy", "transactional.id", "ssl.truststore.location"),
    ],
)
def test_a_key_that_is_left_out_is_told_as_such(key):
    """It is Kafka's, whatever of ours is spelt alike; so no other is suggested."""
    told = f"{key} is a setting of Kafka that is not built here: leave it out"
    for kind in (BrokerConfig, ConsumerConfig, ProducerConfig):
        assert sentence(kind, **{key: 1}) == told


@pytest.mark.parametrize("kind", [BrokerConfig, ConsumerConfig, ProducerConfig])
def test_what_is_built_is_not_told_to_be_left_out(kind):
    """But for what only one kind of client has, which is found among its own first."""
    names = {each.name for each in fields(kind)}
    only_of_consumers = {"connections_max_idle_ms", "interceptor_classes"}
    assert {each for each in names if is_left_out(each)} <= only_of_consumers


def test_an_unknown_name_without_a_close_one_is_told_all():
    """There are not so many; they stand in the order of the alphabet."""
    assert sentence(zzz=1) == (
        "zzz is no setting of Settings: "
        "known are acks, idempotence, linger_ms, max_wait_ms, retries"
    )


@pytest.mark.parametrize("value", [0, 1000, 500])
def test_both_ends_of_a_range_are_allowed(value):
    """A range says the least and the most that is taken."""
    assert make(max_wait_ms=value).max_wait_ms == value


@pytest.mark.parametrize("value", [-1, 1001, 10**30, True, False, "5", 5.0, None, [5]])
def test_a_number_out_of_range_or_of_another_type_is_refused(value):
    """The sentence names the key, the value and what is allowed; True is no number."""
    expected = f"max_wait_ms is {value!r}: a whole number from 0 to 1000 is allowed"
    assert sentence(max_wait_ms=value) == expected


@pytest.mark.parametrize("value", [-1, MAX_INT + 1])
def test_a_number_is_a_java_int_unless_more_is_said(value):
    """Kafka could not take more either."""
    expected = f"retries is {value}: a whole number from 0 to {MAX_INT} is allowed"
    assert sentence(retries=value) == expected


@pytest.mark.parametrize("value", [1, None, b"all", True])
def test_another_type_than_text_is_refused(value):
    """acks=1 is what people write."""
    assert sentence(acks=value) == f"acks is {value!r}: a value of type str is allowed"


@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_a_number_is_no_truth(value):
    """Neither 1 nor 'true' is True."""
    assert sentence(idempotence=value) == f"idempotence is {value!r}: True or False is allowed"


def test_a_release_is_its_numbers():
    """So that 0.10 comes after 0.9."""
    assert [release_of(each) for each in ("0.9", "0.10.1", "2.4")] == [(0, 9), (0, 10, 1), (2, 4)]
    assert release_of("0.10.1") > release_of("0.9")


# The broker's settings.


def test_the_brokers_settings_have_defaults_in_range():
    """Each default would be taken if it were given, where the release knows the key."""
    for release in ((0, 10, 1), (1, 0), (2, 0), (2, 3), NEWEST):
        made = configure(BrokerConfig, release, given={})
        known = [e.name for e in fields(BrokerConfig) if release_of(e.metadata["added"]) <= release]
        given = {name: getattr(made, name) for name in known}
        assert configure(BrokerConfig, release, given=given) == made


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"group_min_session_timeout": 1},
            "group_min_session_timeout is no setting of BrokerConfig: "
            "did you mean group_min_session_timeout_ms?",
        ),
        (
            {"group.initial.rebalance.delay": 0},
            "group.initial.rebalance.delay is no setting of BrokerConfig: "
            "did you mean group_initial_rebalance_delay_ms?",
        ),
        (
            {"group_initial_rebalance_delay_ms": -1},
            "group_initial_rebalance_delay_ms is -1: "
            "a whole number from 0 to 2147483647 is allowed",
        ),
        (
            {"offsets_retention_minutes": 0},
            "offsets_retention_minutes is 0: a whole number from 1 to 2147483647 is allowed",
        ),
        (
            {"offsets_topic_num_partitions": True},
            "offsets_topic_num_partitions is True: a whole number from 1 to 10000 is allowed",
        ),
        (
            {"auto_create_topics_enable": "false"},
            "auto_create_topics_enable is 'false': True or False is allowed",
        ),
        (
            {"log_retention_ms": 2**63},
            "log_retention_ms is 9223372036854775808: "
            "a whole number from -1 to 9223372036854775807 is allowed",
        ),
    ],
)
def test_what_a_broker_cannot_take_is_refused(given, told):
    """Whoever sets up a cluster learns at once which key is wrong, and what is allowed."""
    assert sentence(BrokerConfig, **given) == told
