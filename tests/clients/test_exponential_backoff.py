"""How long to wait before each next try."""

from itertools import pairwise
from random import Random

import pytest

from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.engine.faults import AnswerWithError
from kafkalearn.errors import KafkaTimeoutError
from kafkalearn.simulation.simulation import Simulation


def test_without_a_maximum_each_wait_is_the_first():
    """As in releases before 3.7."""
    assert {ExponentialBackoff(100).backoff(attempts) for attempts in range(50)} == {100}


@pytest.mark.parametrize(("max_ms", "wait_ms"), [(100, 100), (30, 30)])
def test_a_maximum_that_is_not_above_the_first_is_every_wait(max_ms, wait_ms):
    """Kafka calls that a static back-off."""
    backoff = ExponentialBackoff(100, max_ms, random=Random(1))
    assert {backoff.backoff(attempts) for attempts in range(50)} == {wait_ms}


@pytest.mark.parametrize(
    ("attempts", "least", "most"),
    [(0, 80, 120), (1, 160, 240), (2, 320, 480), (3, 640, 960), (4, 800, 1_000), (99, 800, 1_000)],
)
def test_waits_double_up_to_the_maximum(attempts, least, most):
    """Each is a fifth shorter or longer by chance, but none is longer than the maximum."""
    backoff = ExponentialBackoff(100, 1_000, random=Random(1))
    waits = [backoff.backoff(attempts) for _ in range(500)]
    assert least <= min(waits) < max(waits) <= most
    assert max(waits) - min(waits) > 0.8 * (most - least)


def gaps(sim, api, node):
    """Tell how many ms lie between the requests of one kind that a node sent."""
    times = [each.time_ms for each in sim.trace.where(kind="send", node=node, api=api)]
    return [late - early for early, late in pairwise(times)]


@pytest.mark.parametrize(("profile", "last_ms"), [("2.4", (100, 110)), ("4.0", (600, 1_000))])
def test_a_batch_that_comes_back_again_and_again_waits_longer(profile, last_ms):
    """A producer's, from 3.7 on."""
    refused = [AnswerWithError("Produce", "NOT_ENOUGH_REPLICAS", nth=n) for n in range(1, 6)]
    sim = Simulation(profile=profile, faults=refused)
    sim.create_topic("t")
    producer = sim.producer("p1")
    producer.send("t", value="a")
    producer.flush()
    waits = gaps(sim, "Produce", "p1")
    assert len(waits) == 5
    assert 80 <= waits[0] <= 125
    assert last_ms[0] <= waits[-1] <= last_ms[1]


@pytest.mark.parametrize(("profile", "most"), [("2.4", 25), ("4.0", 8)])
def test_metadata_that_brings_nothing_new_is_asked_for_less_often(profile, most):
    """A producer waits for a topic that nobody makes: from 3.7 on its questions get rare."""
    sim = Simulation(profile=profile, auto_create_topics_enable=False)
    producer = sim.producer("p1", max_block_ms=2_500)
    with pytest.raises(KafkaTimeoutError):
        producer.send("t", value="a").get()
    asked = len(sim.trace.where(kind="send", node="p1", api="Metadata"))
    assert most - 4 <= asked <= most + 1
