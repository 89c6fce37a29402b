"""The judges of 11, 25, 32 and 37 are right: so say the package, and Kafka's own recordings."""

import json
from random import Random

import pytest

from kafkalearn import Simulation
from kafkalearn.analysis.causes import cause_of
from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.metadata import Metadata
from kafkalearn.producer.partitioner import RoundRobinPartitioner, murmur2, partition_for_key
from kafkalearn.profile import KAFKA_1_0
from kafkalearn.protocol.offsets import OffsetCommitRequest
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.conformance.player import Player
from tests.conformance.report import VECTORS
from tests.exercises.answers_a import COMMIT, LOADED, PARTITION, PATTERN, TRIGGERS

TOO_LONG = ("OFFSET_METADATA_TOO_LARGE", "MIXED")  # what exercise 37 does not ask about


def test_11_hashes_as_kafka_does():
    """The judge's murmur2 gives Kafka's own test values, and the package's for any bytes."""
    hash_of = LOADED[PARTITION].judge.hash_of
    assert [hash_of(key) for key in (b"21", b"foobar", b"abc")] == [
        -973_932_308,
        -790_332_482,
        479_470_107,
    ]
    random = Random(0)
    for key in (random.randbytes(length) for length in range(300)):
        assert hash_of(key) == murmur2(key)


@pytest.mark.parametrize("check_name", ["hash", "sign", "any-bytes", "no-key"])
def test_11_agrees_with_the_producer(check_name):
    """Keys go where the package's partitioner sends them, others as its round robin counts."""
    judge = LOADED[PARTITION].judge
    for record in judge.inputs(check_name, seed=1):
        _, key, count, available, counter = record
        if key is not None:
            assert judge.reference(record) == partition_for_key(key, count)
            continue
        metadata = Metadata((), refresh_backoff=ExponentialBackoff(0), metadata_expire_ms=0)
        metadata.partition_counts["t"] = count
        metadata.leaders.update({TopicPartition("t", each): "broker-0" for each in available})
        robin = RoundRobinPartitioner(metadata, Random(0))
        robin._counters["t"] = counter
        assert judge.reference(record) == robin.partition_without_key("t")


def test_11_tells_half_an_answer_from_a_whole_one():
    """All hashes of `hash` are positive, those of `sign` negative: each tests one thing."""
    judge = LOADED[PARTITION].judge
    assert all(judge.hash_of(record[1]) < 0 for record in judge.inputs("sign", seed=3))
    assert all(judge.hash_of(record[1]) >= 0 for record in judge.inputs("hash", seed=3))


@pytest.mark.parametrize("check_name", ["whole-names", "internal", "rejoin", "partitions"])
def test_32_agrees_with_a_real_consumer(check_name):
    """A consumer on a simulated cluster that changes in the same way subscribes and joins so."""
    judge = LOADED[PATTERN].judge
    for case in list(judge.inputs(check_name, seed=0))[:8]:
        assert judge.problem(case, followed(*case)) is None


def followed(pattern, updates, internal):
    """Subscribe, change the cluster, poll: the topics subscribed to, and whether it joined."""
    sim = Simulation(seed=0)
    consumer = sim.consumer("c1", group_id="g", metadata_max_age_ms=1000)
    consumer.subscribe(pattern=pattern)
    there, seen = {}, []
    for update in updates:
        own = {topic: count for topic, count in update.items() if topic not in internal}
        fewer = {topic for topic in there if own.get(topic, 0) < there[topic]}
        for topic in sorted(fewer):
            sim.delete_topic(topic)
        for topic in sorted(own):
            if topic not in there or topic in fewer:
                sim.create_topic(topic, partitions=own[topic])
            elif there[topic] != own[topic]:
                sim.create_partitions(topic, own[topic])
        there, known = own, len(sim.trace)
        for _ in range(5):
            consumer.poll(1000)
        states = [each.detail["to"] for each in sim.trace[known:].where(kind="group_state")]
        seen.append((consumer.subscription(), "PreparingRebalance" in states))
    return seen


class JudgingPlayer(Player):
    """Compares the judge's answer to each commit of a recording with Kafka's own."""

    def __init__(self, sequence):
        super().__init__(sequence, KAFKA_1_0)
        self.judged = []

    def _send(self, result, number):
        step = result.step
        if step["request"] == "OffsetCommit":
            group = self.coordinator.groups.get(self.sequence["group_id"])
            member_id = self.id_of(step.get("member", ""))
            ours = LOADED[COMMIT].judge.reference(
                (
                    LOADED[COMMIT].judge.ACTIVE,
                    group and as_given(group),
                    {"member_id": member_id, "generation": step.get("generation", -1)},
                )
            )
            self.judged.append((ours, step["answer"]["error"]))
        super()._send(result, number)


def as_given(group):
    """Give a coordinator's group as the exercise hands it in."""
    members = list(group.members)
    return {"state": group.state.value, "generation": group.generation_id, "members": members}


def test_37_agrees_with_every_commit_that_kafka_was_recorded_to_judge():
    """Hundreds of commits of the recordings of 1.0, with our group as it was before each."""
    judged = []
    for sequence in json.loads((VECTORS / "coordinator-1.0.json").read_text(encoding="utf-8")):
        player = JudgingPlayer(sequence)
        player.play(10**9)
        judged += [each for each in player.judged if each[1] not in TOO_LONG]
    assert len(judged) > 250
    assert {ours for ours, _ in judged} >= {"NONE", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION"}
    assert [(ours, kafkas) for ours, kafkas in judged if ours != kafkas] == []


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("is_active", "COORDINATOR_NOT_AVAILABLE"),
        ("has_moved", "NOT_COORDINATOR"),
        ("is_loading", "COORDINATOR_LOAD_IN_PROGRESS"),
    ],
)
def test_37_agrees_where_the_coordinator_cannot_judge(wrong, error):
    """A coordinator of the package that has not started, gave the group up, or reads it."""
    sequence = {"group_id": "g", "config": {}, "steps": []}
    coordinator = Player(sequence, KAFKA_1_0).coordinator
    partition = coordinator.partition_for("g")
    answers = []
    request = OffsetCommitRequest(
        group_id="g", offsets={TopicPartition("t", 0): OffsetAndMetadata(1)}
    )
    coordinator.handle(request, 0, lambda response: None)  # so that there is something to read
    coordinator.groups.is_active = wrong != "is_active"
    if wrong != "is_active":
        coordinator.handle_group_emigration(partition, 0)
    if wrong == "is_loading":
        coordinator.handle_group_immigration(partition, 0)
    coordinator.handle(request, 0, lambda response: answers.extend(response.partitions.values()))
    judge = LOADED[COMMIT].judge
    odd = judge.ACTIVE | {wrong: wrong != "is_active"}
    commit = {"member_id": "", "generation": -1}
    assert [each.name for each in answers] == [error] == [judge.reference((odd, None, commit))]


REJOINED = {"subscription_changed": "member_rejoined", "partitions_changed": "member_rejoined"}


@pytest.mark.parametrize("check_name", ["come-and-go", "silence", "topics", "any-story"])
def test_25_agrees_with_the_analysis(check_name):
    """The analysis reads the same causes from the coordinator's reasons, as far as they tell."""
    for case in LOADED[TRIGGERS].judge.inputs(check_name, seed=0):
        begun = {
            event.generation: cause_of(event.detail["reason"])
            for event in case.trace.where(kind="group_state")
            if event.detail["to"] == "PreparingRebalance"
        }
        causes = {g: REJOINED.get(cause, cause) for g, cause in case.causes.items()}
        assert begun == {g: "member_left" if c == "poll_timeout" else c for g, c in causes.items()}


def test_25_hides_the_coordinators_reasons():
    """What the learner gets of a trace does not say it in words."""
    for name in ("come-and-go", "silence", "too-slow", "topics", "any-story"):
        for (events,) in LOADED[TRIGGERS].judge.inputs(name, seed=0):
            told = [event for event in events if "reason" in event["detail"]]
            assert {event["kind"] for event in told} <= {"client_state"}
