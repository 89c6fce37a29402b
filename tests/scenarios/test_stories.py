"""What the documents say of each story is so in its trace."""

import pytest

from kafkalearn import scenarios

TOPIC = "orders"


def states(trace):
    """List the group's states and the generation in each, as they follow one another."""
    return [(each.detail["to"], each.generation) for each in trace.where(kind="group_state")]


def given(trace, generation):
    """Say who was given what in a generation."""
    assigned = trace.where(kind="assigned", generation=generation)
    return {each.node: each.detail["partitions"] for each in assigned}


def sent(trace, node, *, after_ms=-1):
    """List the requests that a node sent, without fetches, which are always on their way."""
    apis = [each.api for each in trace.where(kind="send", node=node) if each.time_ms > after_ms]
    return [api for api in apis if api != "Fetch"]


def time_of(trace, **wanted):
    """Say when the first event of this kind happened."""
    return trace.where(**wanted)[0].time_ms


def stored(trace):
    """List the committed offsets of the first partition, as they came."""
    return [each.offset for each in trace.where(kind="offset_stored", topic=TOPIC, partition=0)]


def effects(trace, **wanted):
    """List the offsets that were processed."""
    return [each.offset for each in trace.where(kind="processed", **wanted)]


def message(trace, node):
    """Give what was logged at last."""
    return trace.where(kind="logged", node=node)[-1].detail["message"]


# Groups.


def test_first_member_goes_through_the_states_of_a_group():
    """Document 004: coordinator, join, sync, positions, fetch; the group gets Stable once."""
    trace = scenarios.first_member()
    assert states(trace) == [("PreparingRebalance", 0), ("AwaitingSync", 1), ("Stable", 1)]
    assert sent(trace, "c1")[:6] == [
        *("FindCoordinator", "Metadata", "JoinGroup"),
        *("SyncGroup", "OffsetFetch", "ListOffsets"),
    ]
    prepared, ended = (trace.where(kind="group_state")[place] for place in (0, 1))
    assert ended.time_ms - prepared.time_ms == 3000  # group.initial.rebalance.delay.ms
    assert ended.detail["leader"] == trace.where(kind="member_joined")[0].member_id
    assert given(trace, 1) == {"c1": {TOPIC: [0, 1]}}
    client = [each.detail["to"] for each in trace.where(kind="client_state", node="c1")]
    assert client == ["REBALANCING", "STABLE"]


def test_first_member_calls_a_state_as_its_release_does():
    """1.1 renamed AwaitingSync; before 0.11 there was no initial delay."""
    assert states(scenarios.first_member(profile="2.3"))[1] == ("CompletingRebalance", 1)
    old = scenarios.first_member(profile="0.10.1").where(kind="group_state")
    assert old[0].time_ms == old[1].time_ms


def test_second_member_joins_and_gets_its_share():
    """Document 001: a new consumer makes the group rebalance; the first one hears by heartbeat."""
    trace = scenarios.second_member_joins()
    assert states(trace)[3:] == [
        *(("PreparingRebalance", 1), ("AwaitingSync", 2), ("Stable", 2)),
    ]
    assert given(trace, 1) == {"c1": {TOPIC: [0, 1]}}
    assert given(trace, 2) == {"c1": {TOPIC: [0]}, "c2": {TOPIC: [1]}}
    told = trace.where(kind="response", error="REBALANCE_IN_PROGRESS")
    assert [(each.node, each.api) for each in told] == [("c1", "Heartbeat")]
    revoked = trace.where(kind="revoked", node="c1")[0]
    committed = trace.where(kind="commit", node="c1")
    assert revoked.detail["partitions"] == {TOPIC: [0, 1]}
    assert {(each.detail["mode"], each.time_ms) for each in committed} == {
        ("auto", revoked.time_ms)
    }
    assert sent(trace, "c1", after_ms=told[0].time_ms - 1)[:3] == [
        *("OffsetCommit", "JoinGroup", "SyncGroup"),
    ]


def test_second_member_joins_with_another_assignor():
    """Document 002: 7 partitions, round robin: p0 p2 p4 p6 and p1 p3 p5."""
    trace = scenarios.second_member_joins(partitions=7, assignor="roundrobin")
    assert given(trace, 2) == {"c1": {TOPIC: [0, 2, 4, 6]}, "c2": {TOPIC: [1, 3, 5]}}


def test_consumer_dies_and_its_session_has_to_end():
    """Document 001: a dead consumer; session.timeout.ms after its last sign of life it is out."""
    trace = scenarios.consumer_dies()
    crash = time_of(trace, kind="fault", node="c2")
    seen = [each.time_ms for each in trace.where(kind="respond", peer="c2", api="SyncGroup")]
    removed = trace.where(kind="member_removed")[0]
    assert removed.time_ms == seen[-1] + 6000 > crash
    assert "LeaveGroup" not in sent(trace, "c2")
    assert given(trace, 1) == {"c1": {TOPIC: [0]}, "c2": {TOPIC: [1]}}
    assert given(trace, 2) == {"c1": {TOPIC: [0, 1]}}
    assert time_of(trace, kind="assigned", generation=2) - removed.time_ms <= 1000 + 10


def test_consumer_dies_sooner_noticed_with_a_shorter_session():
    """The silence is as long as the session timeout."""
    longer = scenarios.consumer_dies(session_timeout_ms=9000)
    shorter = scenarios.consumer_dies()
    times = [time_of(trace, kind="member_removed") for trace in (longer, shorter)]
    assert times[0] - times[1] == 3000


def test_consumer_leaves_and_says_so():
    """Document 004: close() sends LeaveGroup, and the rebalance begins in the same ms."""
    trace = scenarios.consumer_leaves()
    assert sent(trace, "c2")[-1] == "LeaveGroup"
    arrived = time_of(trace, kind="receive", api="LeaveGroup")
    assert time_of(trace, kind="member_removed") == arrived
    assert trace.where(kind="group_state", time_ms=arrived)[0].detail["to"] == "PreparingRebalance"
    assert given(trace, 2) == {"c1": {TOPIC: [0, 1]}}
    ends = [
        time_of(scenarios.run(name), kind="assigned", generation=2)
        for name in ("consumer_leaves", "consumer_dies")
    ]
    assert ends[1] - ends[0] == 5000


def test_consumer_stops_polling_and_is_out_though_it_lives():
    """Document 004: heartbeats go on until max.poll.interval.ms; then the client itself leaves."""
    trace = scenarios.consumer_stops_polling()
    last_poll = time_of(trace, kind="assigned", node="c2")
    left = time_of(trace, kind="send", node="c2", api="LeaveGroup")
    assert 1500 <= left - last_poll <= 1510
    beats = [each.time_ms for each in trace.where(kind="send", node="c2", api="Heartbeat")]
    assert any(last_poll < each < left for each in beats)
    assert trace.where(kind="member_removed")[0].detail["reason"] == "left"
    assert given(trace, 2) == {"c1": {TOPIC: [0, 1]}}
    assert given(trace, 3) == {"c1": {TOPIC: [0]}, "c2": {TOPIC: [1]}}
    assert "max.poll.interval.ms" in message(trace, "c2").replace("_", ".")
    twice = trace.where(kind="processed", partition=1, offset=0)
    assert [each.node for each in twice] == ["c1", "c2"]


def test_topic_grows_and_the_leader_sees_it_in_its_metadata():
    """Document 004: partitions are new in the leader's metadata, so that it joins again."""
    trace = scenarios.topic_grows()
    grown = trace.where(kind="topic_changed")[-1]
    assert (grown.detail["change"], grown.detail["count"]) == ("partitions_added", 2)
    assert given(trace, 1) == {"c1": {TOPIC: [0]}}
    assert given(trace, 2) == {"c1": {TOPIC: [0, 1]}}
    again = trace.where(kind="send", node="c1", api="JoinGroup")[1].time_ms
    fetched = [each.time_ms for each in trace.where(kind="response", node="c1", api="Metadata")]
    assert again - grown.time_ms <= 1010
    assert max(each for each in fetched if each <= again) > grown.time_ms
    assert effects(trace, partition=1) == [0]


def test_topic_grows_unseen_while_metadata_is_fresh():
    """With the default of five minutes nothing happens in the time of the story."""
    trace = scenarios.topic_grows(metadata_max_age_ms=300_000)
    assert given(trace, 2) == {}


def test_pattern_meets_new_topic_that_matches():
    """Document 001: only when the topics that match have changed is there a rebalance."""
    trace = scenarios.pattern_meets_new_topic()
    made = {each.topic: each.time_ms for each in trace.where(kind="topic_changed")}
    assert list(made) == [TOPIC, "mails", "orders-eu"]
    assert given(trace, 1) == {"c1": {TOPIC: [0]}}
    assert given(trace, 2) == {"c1": {TOPIC: [0], "orders-eu": [0]}}
    joins = [each.time_ms for each in trace.where(kind="send", api="JoinGroup")]
    assert len(joins) == 2
    assert joins[0] < made["mails"] < made["mails"] + 1000 <= made["orders-eu"] < joins[1]
    assert {each.topic for each in trace.where(kind="processed")} == {"orders-eu"}


def test_assign_beside_subscribe_is_no_member():
    """Document 001: no join, no heartbeat; its commit is refused, and accepted in Empty."""
    trace = scenarios.assign_beside_subscribe()
    assert {"JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"}.isdisjoint(sent(trace, "c2"))
    assert sorted(each.node for each in trace.where(kind="processed", offset=2)) == ["c1", "c2"]
    commits = trace.where(kind="commit", node="c2")
    assert [(each.generation, each.offset, each.error) for each in commits] == [
        (-1, 3, "UNKNOWN_MEMBER_ID"),
        (-1, 4, None),
    ]
    assert states(trace)[-1][0] == "Empty"
    assert time_of(trace, kind="group_state", generation=2) < commits[1].time_ms
    assert len(trace.where(kind="member_joined")) == 1


def test_assign_beside_subscribe_stays_refused_while_there_is_a_member():
    """Where the group stays alive, each commit from outside is refused."""
    trace = scenarios.assign_beside_subscribe(leaves=False)
    errors = [each.error for each in trace.where(kind="commit", node="c2")]
    assert errors == ["UNKNOWN_MEMBER_ID", "UNKNOWN_MEMBER_ID"]


# Offsets and records.


@pytest.mark.parametrize(
    ("commit_mode", "committed", "processed"),
    [
        ("auto", [6], [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5]),
        ("sync", [3, 6], [0, 1, 2, 3, 4, 3, 4, 5]),
        ("async", [3, 6], [0, 1, 2, 3, 4, 3, 4, 5]),
        ("before", [3, 6], [0, 1, 2, 3, 4]),
    ],
)
def test_crash_before_commit(commit_mode, committed, processed):
    """Documents 000, 002: after 5 of 6 records, 3 of them committed; the automatic commit came not.

    Committing before the work loses the sixth record.
    """
    trace = scenarios.crash_before_commit(commit_mode=commit_mode)
    assert stored(trace) == committed
    assert effects(trace) == processed
    faults = [each.detail["fault"] for each in trace.where(kind="fault", node="c1")]
    assert faults == ["crash", "restart"]


def test_async_commit_overtaken_is_not_tried_again():
    """Document 002: the failed commit of 3 ends with an error; the later one of 6 holds."""
    trace = scenarios.async_commit_overtaken()
    assert stored(trace) == [6]
    commits = trace.where(kind="commit", node="c1")
    assert [(each.offset, each.error, each.detail["mode"]) for each in commits] == [
        (3, "COORDINATOR_LOAD_IN_PROGRESS", "async"),
        (6, None, "async"),
    ]


def test_async_commit_overtaken_and_retried_goes_back():
    """Why Kafka does not: the second try of 3 undoes 6, and 3 records would come again."""
    trace = scenarios.async_commit_overtaken(retries=True)
    assert stored(trace) == [6, 3]
    assert effects(trace) == [0, 1, 2, 3, 4, 5]


def test_coordinator_fails_over_without_a_rebalance():
    """Document 004: the new coordinator reads the group; generation and assignment go on."""
    trace = scenarios.coordinator_fails_over()
    crash = trace.where(kind="fault")[0]
    old, (loaded,) = crash.node, trace.where(kind="group_loaded")
    assert loaded.node != old
    assert (loaded.detail["to"], loaded.generation) == ("Stable", 1)
    noticed = time_of(trace, kind="leader_elected", topic="__consumer_offsets", node=loaded.node)
    assert noticed - crash.time_ms == 1000
    assert loaded.time_ms - noticed == 100
    assert len(trace.where(kind="assigned")) == 1
    commits = trace.where(kind="commit", node="c1", error=None)
    assert [(each.offset, each.generation) for each in commits] == [(2, 1), (4, 1)]
    assert trace.where(kind="offset_stored", offset=4)[0].node == loaded.node


@pytest.mark.parametrize(
    ("reset", "later"), [("earliest", [0, 1, 2, 3, 4]), ("latest", [4]), ("none", [])]
)
def test_offset_expired(reset, later):
    """Document 004: without a committed offset auto.offset.reset decides.

    Behaviour 14: retention is counted from the commit on, and looked at from time to time.
    """
    trace = scenarios.offset_expired(auto_offset_reset=reset)
    (expired,) = trace.where(kind="offset_expired")
    committed = trace.where(kind="offset_stored")[0]
    assert (expired.offset, committed.offset) == (2, 2)
    assert expired.time_ms - committed.time_ms > 60_000
    assert expired.time_ms % 60_000 == 0
    assert effects(trace[expired.seq :]) == later
    if reset == "none":
        assert "auto_offset_reset" in message(trace, "c1")


@pytest.mark.parametrize(("reset", "later"), [("earliest", [4, 5]), ("latest", [5]), ("none", [])])
def test_offset_out_of_range(reset, later):
    """Document 004: the log begins behind the committed offset; 2 and 3 are gone unread."""
    trace = scenarios.offset_out_of_range(auto_offset_reset=reset)
    (retention,) = trace.where(kind="retention")
    assert (stored(trace)[0], retention.offset) == (2, 4)
    refused = trace.where(kind="response", api="Fetch", error="OFFSET_OUT_OF_RANGE")
    assert [each.offset for each in refused] == [2]
    assert effects(trace) == [0, 1, *later]
    if reset == "none":
        assert "auto_offset_reset is none" in message(trace, "c1")


@pytest.mark.parametrize(
    ("settings", "appended"),
    [({}, [2, 1]), ({"max_in_flight": 1}, [1, 2]), ({"retries": 0}, [2])],
    ids=["flipped", "one in flight", "no retry"],
)
def test_producer_retries(settings, appended):
    """Document 003: with several requests in flight a retry changes the order."""
    trace = scenarios.producer_retries(**settings)
    appends = trace.where(kind="append", topic=TOPIC)
    assert [each.detail["count"] for each in appends] == appended
