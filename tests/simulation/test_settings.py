"""What a simulation is made of: settings of the world and of its brokers, and what they do."""

import pytest

from kafkalearn.errors import ConfigError, DisconnectError
from kafkalearn.protocol.metadata import CreatableTopic, CreateTopicsRequest, MetadataRequest
from kafkalearn.simulation import Simulation
from tests.simulation.members import Member

BROKERS = MetadataRequest(topics=())


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"brokers": 0}, "brokers is 0: a whole number from 1 to 100 is allowed"),
        ({"brokers": 101}, "brokers is 101: a whole number from 1 to 100 is allowed"),
        ({"brokers": True}, "brokers is True: a whole number from 1 to 100 is allowed"),
        ({"latency_ms": "5"}, "latency_ms is '5': a whole number from 0 to 2147483647 is allowed"),
        ({"latency_ms": -1}, "latency_ms is -1: a whole number from 0 to 2147483647 is allowed"),
        (
            {"loss_per_million": 0.5},
            "loss_per_million is 0.5: a whole number from 0 to 1000000 is allowed",
        ),
        (
            {"num_partitions": 0},
            "num_partitions is 0: a whole number from 1 to 2147483647 is allowed",
        ),
        (
            {"auto_create_topics_enable": 1},
            "auto_create_topics_enable is 1: True or False is allowed",
        ),
    ],
)
def test_a_wrong_value_is_refused(setting, sentence):
    """Of the world's settings and of the brokers' alike: the value, and what is allowed."""
    with pytest.raises(ConfigError) as caught:
        Simulation(**setting)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("given", "meant"),
    [("num_partition", "num_partitions"), ("latency", "latency_ms"), ("broker", "brokers")],
)
def test_an_unknown_setting_is_refused_with_what_was_meant(given, meant):
    """Whichever of the two it was meant for."""
    with pytest.raises(ConfigError, match=rf"^{given} is no setting .*\b{meant}\b"):
        Simulation(**{given: 5})


def test_a_setting_far_from_any_is_refused_with_all_there_are():
    """Those of the world, too."""
    with pytest.raises(ConfigError) as caught:
        Simulation(zzz=5)
    assert "offsets_load_ms" in str(caught.value)
    assert "group_initial_rebalance_delay_ms" in str(caught.value)


def test_a_setting_given_by_two_keys_is_refused():
    """Nobody could tell which one counts."""
    with pytest.raises(ConfigError) as caught:
        Simulation(**{"num.partitions": 3, "num_partitions": 4})
    assert str(caught.value) == (
        "num.partitions and num_partitions are one setting of a simulation or its brokers: "
        "give one of them"
    )


def test_brokers_are_counted_from_0():
    """As many as were asked for, 3 by default."""
    assert Simulation().broker_names == ["broker-0", "broker-1", "broker-2"]
    assert Simulation(brokers=1).broker_names == ["broker-0"]


def test_a_profile_chooses_the_brokers_defaults():
    """What is given stands before them."""

    def noticed_after_ms(**arguments):
        return Simulation(**arguments).broker_config.broker_session_timeout_ms

    assert noticed_after_ms() == 6_000
    assert noticed_after_ms(profile="4.0") == 9_000
    assert noticed_after_ms(profile="4.0", broker_session_timeout_ms=1) == 1


@pytest.mark.parametrize("latency_ms", [0, 1, 250])
def test_a_message_takes_the_latency(latency_ms):
    """There and back, each once."""
    sim = Simulation(latency_ms=latency_ms)
    sim.request("broker-0", BROKERS)
    assert sim.now_ms == 2 * latency_ms


def test_jitter_is_added_to_the_latency():
    """Up to its value, by chance; each value comes."""
    sim = Simulation(latency_ms=10, latency_jitter_ms=3)
    took_ms = set()
    for _ in range(50):
        before_ms = sim.now_ms
        sim.send("broker-0", BROKERS)
        sim.sleep(100)
        arrived = sim.trace.where(kind="receive")[-1]
        took_ms.add(arrived.time_ms - before_ms)
    assert took_ms == {10, 11, 12, 13}


@pytest.mark.parametrize(("loss_per_million", "lost"), [(0, 0), (1_000_000, 20)])
def test_messages_get_lost_by_chance(loss_per_million, lost):
    """None of a million, or each."""
    sim = Simulation(loss_per_million=loss_per_million)
    disconnects = 0
    for _ in range(20):
        try:
            sim.request("broker-0", BROKERS)
        except DisconnectError:
            disconnects += 1
    assert disconnects == lost


@pytest.mark.parametrize("load_ms", [0, 100, 5_000])
def test_a_new_coordinator_takes_its_time_to_load(load_ms):
    """From the moment when the old one's death was noticed."""
    sim = Simulation(offsets_load_ms=load_ms)
    Member(sim, "c1").enter()
    sim.crash("broker-0")
    noticed_ms = sim.now_ms + 6_000
    sim.run_until(noticed_ms + load_ms)
    (loaded,) = sim.trace.where(kind="group_loaded")
    assert loaded.time_ms == noticed_ms + load_ms


def test_brokers_settings_reach_the_brokers():
    """num_partitions is what a topic gets that asks for -1."""
    sim = Simulation(num_partitions=4)
    sim.request("broker-0", CreateTopicsRequest(topics={"orders": CreatableTopic()}))
    (topic,) = sim.request("broker-0", MetadataRequest(topics=("orders",))).topics
    assert len(topic.partitions) == 4
