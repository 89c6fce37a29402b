"""What no client could send is refused before it is sent."""

import pytest

from kafkalearn.errors import IllegalArgumentError, InvalidRequestError
from kafkalearn.protocol.fetch import FetchPartition, FetchRequest
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
)
from kafkalearn.protocol.metadata import CreatableTopic, CreateTopicsRequest, MetadataRequest
from kafkalearn.protocol.offsets import OffsetCommitRequest
from kafkalearn.protocol.produce import ProduceRequest
from kafkalearn.records import OffsetAndMetadata, Record, TopicPartition
from kafkalearn.simulation import Simulation
from kafkalearn.simulation.message_check import check_request

T0 = TopicPartition("t", 0)
LIMITS = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1}


def join(**fields):
    """Make a join of which one field is wrong."""
    given = {"session_timeout_ms": 6000, "rebalance_timeout_ms": 6000, "protocols": ()} | fields
    return JoinGroupRequest(group_id="g", **given)


WRONG = {
    "topics of MetadataRequest": MetadataRequest(topics="orders"),
    "generation_id of HeartbeatRequest": HeartbeatRequest(
        group_id="g", generation_id="1", member_id="m"
    ),
    "group_id of HeartbeatRequest": HeartbeatRequest(group_id=None, generation_id=1, member_id="m"),
    "protocols of JoinGroupRequest": join(protocols=("range",)),
    "session_timeout_ms of JoinGroupRequest": join(session_timeout_ms=True),
    "offsets of OffsetCommitRequest": OffsetCommitRequest(group_id="g", offsets={T0: 5}),
    "batches of ProduceRequest": ProduceRequest(
        acks=1, timeout_ms=0, batches={T0: (Record(-1, 0, None, b"a"), Record(-1, "x", None, b"b"))}
    ),
    "partitions of FetchRequest": FetchRequest(**LIMITS, partitions={T0: FetchPartition("0", 1)}),
    "members of LeaveGroupRequest": LeaveGroupRequest(group_id="g", members=("m",)),
    "topics of CreateTopicsRequest": CreateTopicsRequest(topics={"o": CreatableTopic("3")}),
}


@pytest.mark.parametrize(("where", "request_"), WRONG.items(), ids=WRONG.keys())
def test_a_value_of_a_wrong_type_is_refused_by_name(where, request_):
    """Nothing is sent, so nothing is half done."""
    sim = Simulation()
    with pytest.raises(InvalidRequestError, match=f"^{where}: .* is given where .* is allowed$"):
        sim.request("broker-0", request_)
    assert len(sim.trace) == 0


def test_what_is_right_passes():
    """Absent values and nested ones, too."""
    check_request(join(protocols=(JoinGroupRequestProtocol("range", "t"),), group_instance_id="i"))
    check_request(MetadataRequest())
    check_request(OffsetCommitRequest(group_id="g", offsets={T0: OffsetAndMetadata(5, "x")}))
    check_request(
        ProduceRequest(
            acks=1, timeout_ms=0, batches={T0: (Record(-1, 0, b"k", b"v", (("h", b""),)),)}
        )
    )


@pytest.mark.parametrize("wrong", [0.5, "1", None, True])
def test_a_time_is_a_whole_number(wrong):
    """A float would poison every time that follows."""
    sim = Simulation()
    for call in (sim.sleep, sim.run_until, lambda ms: sim.freeze("broker-0", ms)):
        with pytest.raises(IllegalArgumentError, match=r"a whole number of ms is allowed$"):
            call(wrong)
    assert (sim.now_ms, len(sim.trace)) == (0, 0)
