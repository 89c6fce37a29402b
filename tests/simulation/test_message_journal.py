"""What messages leave in the trace: four events a request, columns, and details at the source."""

from dataclasses import dataclass

import pytest

from kafkalearn.engine import AnswerWithError, CutOff, Drop
from kafkalearn.errors import DisconnectError, Errors, RequestTimeoutError
from kafkalearn.protocol.fetch import FetchPartition, FetchRequest, FetchResponse, PartitionData
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from kafkalearn.protocol.message import Request
from kafkalearn.protocol.metadata import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    MetadataResponse,
    MetadataResponseTopic,
    TopicResult,
)
from kafkalearn.protocol.offsets import OffsetCommitRequest, OffsetCommitResponse
from kafkalearn.protocol.produce import ProduceRequest
from kafkalearn.records import OffsetAndMetadata, Record, TopicPartition
from kafkalearn.simulation import Simulation
from kafkalearn.simulation.message_rows import columns_of, detail_of, error_of
from kafkalearn.trace import KINDS
from tests.simulation.members import GROUP, ORDERS, Member
from tests.simulation.scripts import SCRIPTS, create_topic, fetch, play, produce

BROKERS = MetadataRequest(topics=())


def rows(sim, **wanted):
    """Give (time, node, kind, peer, group, member, generation, error) of the messages."""
    return [
        (e.time_ms, e.node, e.kind, e.peer, e.group_id, e.member_id, e.generation, e.error)
        for e in sim.trace.where(**wanted)
    ]


def test_a_request_that_is_answered_leaves_four_events():
    """Its answer tells the error and what the member learned: its id, its generation."""
    sim = Simulation()
    c1 = Member(sim, "c1")
    c1.join()
    c1_id = c1.member_id
    c1.beat()
    assert rows(sim, api="JoinGroup") == [
        (0, "c1", "send", "broker-0", GROUP, None, None, None),
        (1, "broker-0", "receive", "c1", GROUP, None, None, None),
        (3_001, "broker-0", "respond", "c1", GROUP, c1_id, 1, "NONE"),
        (3_002, "c1", "response", "broker-0", GROUP, c1_id, 1, "NONE"),
    ]
    assert rows(sim, api="Heartbeat") == [
        (3_002, "c1", "send", "broker-0", GROUP, c1_id, 1, None),
        (3_003, "broker-0", "receive", "c1", GROUP, c1_id, 1, None),
        (3_003, "broker-0", "respond", "c1", GROUP, c1_id, 1, "REBALANCE_IN_PROGRESS"),
        (3_004, "c1", "response", "broker-0", GROUP, c1_id, 1, "REBALANCE_IN_PROGRESS"),
    ]


def test_detail_stands_where_a_message_begins():
    """At the client for the request, at the broker for the response; where it arrives, not."""
    sim = Simulation()
    sim.request("broker-0", CreateTopicsRequest(topics={"orders": CreatableTopic(2)}))
    assert [(e.kind, e.detail) for e in sim.trace.where(api="CreateTopics")] == [
        ("send", {"fields": {"topics": {"orders": {"num_partitions": 2, "configs": {}}}}}),
        ("receive", None),
        (
            "respond",
            {"fields": {"results": {"orders": {"error_code": "NONE", "error_message": None}}}},
        ),
        ("response", None),
    ]


def test_a_request_that_gets_lost_is_noted_by_the_broker():
    """The client does not know it, so it is the broker that never gets it."""
    sim = Simulation(faults=(Drop("Metadata"),))
    with pytest.raises(DisconnectError):
        sim.request("broker-0", BROKERS)
    (lost,) = sim.trace.where(kind="dropped")
    assert (lost.node, lost.peer, lost.correlation_id) == ("broker-0", "client", 0)
    assert lost.detail == {"message": "request", "reason": "drop(Metadata)"}


def test_a_response_that_gets_lost_is_noted_by_the_client():
    """The broker answered, and does not know more."""
    sim = Simulation(faults=(Drop("Metadata", part="response"),))
    with pytest.raises(DisconnectError):
        sim.request("broker-0", BROKERS)
    (lost,) = sim.trace.where(kind="dropped")
    assert (lost.node, lost.peer, lost.error) == ("client", "broker-0", "NONE")
    assert lost.detail == {"message": "response", "reason": "drop(Metadata,part=response)"}
    assert [event.kind for event in sim.trace.where(api="Metadata", node="broker-0")] == [
        "receive",
        "respond",
    ]


def test_the_reason_of_a_loss_is_told():
    """A cut, chance, a crash, or a broker that is not there."""

    def reason(break_it, **arguments):
        sim = Simulation(**arguments)
        break_it(sim)
        with pytest.raises((DisconnectError, RequestTimeoutError)):
            sim.request("broker-0", BROKERS, timeout_ms=10)
        (lost,) = sim.trace.where(kind="dropped")
        return lost.detail["reason"]

    def crash_later(sim):
        sim.request("broker-0", BROKERS)
        sim.crash("broker-0")

    assert reason(lambda sim: sim.sleep(0), faults=(CutOff("broker-0", 0, 100),)) == "cut off"
    assert reason(lambda sim: None, loss_per_million=1_000_000) == "lost"
    assert reason(crash_later) == "broker-0 crashed"
    assert reason(lambda sim: sim.crash("broker-0")) == "broker-0 is not there"


def test_a_forced_answer_is_an_answer():
    """What a fault lets the broker say stands in the trace like any other."""
    sim = Simulation(faults=(AnswerWithError("Heartbeat", "UNKNOWN_MEMBER_ID"),))
    sim.request("broker-0", HeartbeatRequest(group_id=GROUP, generation_id=1, member_id="c1-1"))
    assert [(e.kind, e.error) for e in sim.trace.where(api="Heartbeat")] == [
        ("send", None),
        ("fault", "UNKNOWN_MEMBER_ID"),
        ("receive", None),
        ("respond", "UNKNOWN_MEMBER_ID"),
        ("response", "UNKNOWN_MEMBER_ID"),
    ]


def test_a_commit_tells_what_it_commits():
    """Offsets and their notes by partition; its answer, an error for each."""
    sim = Simulation()
    create_topic(sim)
    Member(sim, "c1").commit(5, metadata="a note")
    sent, _, answered, _ = [
        e for e in sim.trace.where(api="OffsetCommit") if e.kind != "offset_stored"
    ]
    offset = {"offset": 5, "metadata": "a note"}
    assert sent.detail == {"fields": {"offsets": {"orders-0": offset}}}
    assert answered.detail == {"fields": {"partitions": {"orders-0": "NONE"}}}


def test_records_are_counted_and_not_copied():
    """What is in them is in the log: here stand number, first offset and size."""
    sim = Simulation()
    create_topic(sim)
    produce(sim, b"four")
    sim.request("broker-0", fetch(0))
    (answer,) = sim.trace.where(api="Fetch", kind="respond")
    data = answer.detail["fields"]["partitions"]["orders-0"]
    assert data["records"] == {"count": 1, "first_offset": 0, "bytes": 4}


@pytest.mark.parametrize("name", SCRIPTS)
def test_events_carry_what_their_kind_may(name):
    """Columns and keys of the detail are those of the trace's own table."""
    fixed = {"run_id", "seq", "time_ms", "node", "kind", "detail"}
    for event in play(name).trace:
        carries = KINDS[event.kind]
        columns = {key for key, value in event._asdict().items() if value is not None}
        assert columns - fixed <= set(carries.columns), event
        assert set(event.detail or {}) <= set(carries.detail), event


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_message_has_its_end(name):
    """A request arrives or is dropped; an answer arrives or is dropped; none of it twice."""
    ends = {"send": {"receive", "dropped"}, "respond": {"response", "dropped"}}
    sim = play(name)
    sim.sleep(1_000)
    for begin, allowed in ends.items():
        message = "request" if begin == "send" else "response"
        for event in sim.trace.where(kind=begin):
            client = event.node if begin == "send" else event.peer
            server = event.peer if begin == "send" else event.node
            found = [
                e.kind
                for e in sim.trace.where(correlation_id=event.correlation_id)
                if {e.node, e.peer} == {client, server}
                and e.kind in allowed
                and (e.kind != "dropped" or e.detail["message"] == message)
            ]
            assert len(found) == 1, event


# Fields, by name.


@pytest.mark.parametrize(
    ("request_", "columns"),
    [
        (HeartbeatRequest(group_id="g", generation_id=3, member_id="m"), ("g", "m", 3)),
        (HeartbeatRequest(group_id="g", generation_id=-1, member_id=""), ("g", None, -1)),
        (HeartbeatRequest(group_id="", generation_id=3, member_id="m"), (None, "m", 3)),
        (LeaveGroupRequest(group_id="g", members=(MemberIdentity("m"),)), ("g", None, None)),
        (LeaveGroupRequest(group_id="", members=(MemberIdentity("m"),)), (None, None, None)),
        (
            JoinGroupRequest(
                group_id="g", session_timeout_ms=1, rebalance_timeout_ms=1, protocols=()
            ),
            ("g", None, None),
        ),
        (BROKERS, (None, None, None)),
    ],
)
def test_columns_are_filled_by_the_fields_of_these_names(request_, columns):
    """'' counts as none."""
    assert columns_of(request_) == columns


NO_MEMBER = MemberResponse("m", None, Errors.UNKNOWN_MEMBER_ID)
NO_LEADER = MetadataResponseTopic(Errors.LEADER_NOT_AVAILABLE, "orders", False)
ACCEPTED, UNKNOWN = Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (HeartbeatResponse(), "NONE"),
        (HeartbeatResponse(error_code=Errors.ILLEGAL_GENERATION), "ILLEGAL_GENERATION"),
        (OffsetCommitResponse(partitions={ORDERS: ACCEPTED}), "NONE"),
        (
            OffsetCommitResponse(partitions={ORDERS: ACCEPTED, TopicPartition("b", 1): UNKNOWN}),
            "UNKNOWN_TOPIC_OR_PARTITION",
        ),
        (
            FetchResponse(partitions={ORDERS: PartitionData(Errors.OFFSET_OUT_OF_RANGE, -1, -1)}),
            "OFFSET_OUT_OF_RANGE",
        ),
        (
            CreateTopicsResponse(results={"orders": TopicResult(Errors.TOPIC_ALREADY_EXISTS)}),
            "TOPIC_ALREADY_EXISTS",
        ),
        (LeaveGroupResponse(members=(NO_MEMBER,)), "UNKNOWN_MEMBER_ID"),
        (MetadataResponse(topics=(NO_LEADER,)), "LEADER_NOT_AVAILABLE"),
    ],
)
def test_an_answer_s_error_is_its_own_or_the_first_of_a_part(answer, error):
    """So that a refused commit does not look like an accepted one."""
    assert error_of(answer) == error


@pytest.mark.parametrize(
    ("message", "detail"),
    [
        (HeartbeatRequest(group_id="g", generation_id=3, member_id="m"), None),
        (MetadataRequest(), '{"fields":{"allow_auto_topic_creation":true}}'),
        (
            MetadataRequest(topics=("a", "b"), allow_auto_topic_creation=False),
            '{"fields":{"topics":["a","b"]}}',
        ),
        (
            OffsetCommitRequest(group_id="g", offsets={ORDERS: OffsetAndMetadata(5)}),
            '{"fields":{"offsets":{"orders-0":{"offset":5,"metadata":""}}}}',
        ),
        (
            FetchRequest(
                max_wait_ms=500,
                min_bytes=1,
                max_bytes=9,
                partitions={TopicPartition("b", 1): FetchPartition(7, 8)},
            ),
            '{"fields":{"max_wait_ms":500,"min_bytes":1,"max_bytes":9,'
            '"partitions":{"b-1":{"fetch_offset":7,"partition_max_bytes":8}}}}',
        ),
        (OffsetCommitResponse(), None),
    ],
)
def test_other_fields_are_the_detail(message, detail):
    """Those that say something, as JSON by name; None if there are none."""
    assert detail_of(message) == detail


def test_a_number_says_something_even_if_it_is_0():
    """acks=0 is what makes a produce special."""
    request = ProduceRequest(acks=0, timeout_ms=0, batches={ORDERS: (Record(-1, 0, None, b"a"),)})
    assert detail_of(request) == (
        '{"fields":{"acks":0,"timeout_ms":0,'
        '"batches":{"orders-0":{"count":1,"first_offset":-1,"bytes":1}}}}'
    )


def test_a_new_request_needs_no_code():
    """Its fields are found by name."""

    @dataclass(slots=True, kw_only=True)
    class DescribeWeatherRequest(Request):
        api = "DescribeWeather"
        group_id: str
        cities: tuple[str, ...]

    message = DescribeWeatherRequest(group_id="g", cities=("Riga",))
    assert columns_of(message) == ("g", None, None)
    assert detail_of(message) == '{"fields":{"cities":["Riga"]}}'
