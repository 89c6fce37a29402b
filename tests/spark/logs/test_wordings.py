"""One line of each age of each program: which kinds of event it tells of, and with which fields."""
# ruff: noqa: E501  # Lines of logs are as long as they are.

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

J = "[Consumer clientId=c 1, groupId=g, h] "
B = "[2019-01-02 03:04:05,678] INFO [GroupCoordinator 1]: "
OLD = "[2016-01-02 03:04:05,678] INFO "
RD = "%7|1600000000.123|{}|app#consumer-1| [thrd:main]: "
SENT = "Generation{generationId=5, memberId='m', protocol='range'}"
# line, kinds, fields
LINES = [
    # The Java consumer: 0.10 and 0.11, then 1.0 to 3.x.
    (
        OLD
        + "(Re-)joining group g (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
        "client_state",
        {"group": "g", "to": "REBALANCING"},
    ),
    (
        OLD
        + "Successfully joined group g with generation 7 (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
        "response+client_state",
        {"group": "g", "generation": "7"},
    ),
    (
        OLD
        + "Setting newly assigned partitions [a-0, a-1] for group g (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        "assigned",
        {"group": "g", "partitions": "[a-0, a-1]"},
    ),
    (
        OLD + "Revoking previously assigned partitions [] for group g",
        "revoked",
        {"partitions": "[]"},
    ),
    (
        OLD + "Marking the coordinator h:9092 (id: 2147483646 rack: null) dead for group g",
        "disconnected",
        {"peer": "h:9092", "group": "g"},
    ),
    (
        OLD + "Discovered coordinator h:9092 (id: 2147483646 rack: null) for group g.",
        "response",
        {"peer": "h:9092", "group": "g"},
    ),
    (
        OLD + "Attempt to heart beat failed for group g since it is rebalancing.",
        "response",
        {"error": "REBALANCE_IN_PROGRESS"},
    ),
    (
        OLD + J + "Successfully joined group with generation 9",
        "response+client_state",
        {"client": "c 1", "group": "g, h", "generation": "9"},
    ),
    (
        OLD + J + "Setting newly assigned partitions: a-0, a-1",
        "assigned",
        {"partitions": "a-0, a-1"},
    ),
    (OLD + J + "Setting newly assigned partitions [a-0]", "assigned", {"partitions": "[a-0]"}),
    (
        OLD + J + "Attempt to heartbeat failed for since member id m is not valid.",
        "response",
        {"error": "UNKNOWN_MEMBER_ID", "member": "m"},
    ),
    (
        OLD
        + J
        + "This member will leave the group because consumer poll timeout has expired. This",
        "client_state",
        {"reason": "max.poll.interval.ms exceeded"},
    ),
    (
        OLD + J + "Member m-1 sending LeaveGroup request to coordinator h:9092 (id: 1 rack: null)",
        "send+client_state",
        {"member": "m-1", "peer": "h:9092", "reason": None},
    ),
    (
        OLD
        + J
        + f"Attempt to heartbeat with {SENT} and group instance id Optional.empty failed due to "
        "UNKNOWN_MEMBER_ID, resetting generation",
        "response",
        {"error": "UNKNOWN_MEMBER_ID"},
    ),
    (
        OLD
        + J
        + f"JoinGroup failed: The coordinator is not aware of this member. Need to re-join the group. Sent generation was {SENT}",
        "response",
        {"api": "JoinGroup"},
    ),
    (
        OLD
        + J
        + "Request joining group due to: cached metadata has changed from (version1: {}) to (version2: {a=3})",
        "client_state",
        {"to": "REBALANCING"},
    ),
    (
        OLD + J + "Request joining group due to: consumer pro-actively leaving the group",
        "quiet",
        {},
    ),
    (
        OLD
        + J
        + "Group coordinator h:9092 (id: 1 rack: null) is unavailable or invalid due to cause: "
        "session timed out without receiving a heartbeat response. isDisconnected: false. Rediscovery will be attempted.",
        "disconnected",
        {"reason": "session timed out without receiving a heartbeat response"},
    ),
    (
        OLD
        + J
        + "Completed asynchronous auto-commit of offsets {a-0=OffsetAndMetadata{offset=5, metadata=''}}",
        "commit",
        {"mode": "auto"},
    ),
    (
        OLD + "[Consumer instanceId=i, clientId=c, groupId=g] (Re-)joining group",
        "client_state",
        {"instance": "i", "client": "c", "group": "g"},
    ),
    (
        OLD + J + "Seeking to offset 17 for partition a-0 with epoch 3",
        "position",
        {"offset": "17", "partitions": "a-0", "reason": "seek"},
    ),
    (
        OLD
        + J
        + "Received successful JoinGroup response: JoinGroupResponseData(throttleTimeMs=0, errorCode=0, generationId=4, protocolType='consumer', protocolName='range', leader='l', skipAssignment=false, memberId='m', members=[])",
        "leader",
        {"generation": "4", "leader": "l", "member": "m", "members": "[]"},
    ),
    # The coordinator: 0.10, 1.0, 2.2, 2.4, 3.x.
    (
        B
        + "Preparing to restabilize group g with old generation 3 (kafka.coordinator.GroupCoordinator)",
        "group_state+member_joined",
        {"group": "g", "generation": "3", "reason": None, "member": None},
    ),
    (
        B
        + "Preparing to rebalance group g with old generation 3 (__consumer_offsets-18) (kafka.coordinator.group.GroupCoordinator)",
        "group_state+member_joined",
        {"group": "g", "generation": "3", "reason": None},
    ),
    (
        B
        + "Preparing to rebalance group a group in b in state Stable with old generation 3 (__consumer_offsets-18) (reason: Adding new member m 1 with group instanceid None) (kafka.coordinator.group.GroupCoordinator)",
        "group_state+member_joined",
        {"group": "a group in b", "from": "Stable", "member": "m 1", "instance": None},
    ),
    (
        B
        + "Stabilized group g generation 4 (__consumer_offsets-18) with 2 members (kafka.coordinator.group.GroupCoordinator)",
        "group_state",
        {"generation": "4", "members": "2", "to": "CompletingRebalance"},
    ),
    (B + "Stabilized group g generation 4", "group_state", {"generation": "4"}),
    (
        B
        + "Assignment received from leader for group g for generation 4 (kafka.coordinator.group.GroupCoordinator)",
        "group_state",
        {"leader": None, "group": "g", "generation": "4"},
    ),
    (
        B
        + "Assignment received from leader m for group g for generation 4. The group has 2 members, 0 of which are static.",
        "group_state",
        {"leader": "m", "generation": "4", "to": "Stable", "members": "2"},
    ),
    (
        B + "Member m in group g has failed, removing it from the group",
        "member_removed",
        {"member": "m", "reason": "its session timed out", "node": "1"},
    ),
    (
        B
        + "Member[group.instance.id Some(i), member.id m] in group g has left, removing it from the group",
        "member_removed",
        {"member": "m", "instance": "i"},
    ),
    (
        B
        + "Member MemberMetadata(memberId=m,1, groupInstanceId=None, clientId=c, clientHost=/1.2.3.4) has left group g through explicit `LeaveGroup`; client reason: not provided",
        "member_removed",
        {"member": "m,1", "group": "g", "reason": "not provided"},
    ),
    (
        B
        + "Static member with groupInstanceId=i and unknown member id joins group g in Stable state. Replacing previously mapped member m with this groupInstanceId.",
        "member_removed",
        {"member": "m", "reason": "its instance came back under a new id"},
    ),
    (
        B
        + "Static member i with unknown member id rejoins, assigning new member id n, while old member o will be removed.",
        "member_removed+member_joined",
        {"member": "n", "old": "o", "instance": "i"},
    ),
    (
        B + "Group g removed dynamic members who haven't joined: Set(m1, m2)",
        "member_removed",
        {"members": "m1, m2"},
    ),
    (
        B + "Group g with generation 5 is now empty (__consumer_offsets-18)",
        "group_state",
        {"to": "Empty", "generation": "5", "members": "0"},
    ),
    (B + "Unloading group metadata for g with generation 5", "group_state", {"to": "Dead"}),
    (B + "Loading group metadata for g with generation 5", "group_loaded", {"generation": "5"}),
    (
        "INFO [Group Metadata Manager on Broker 0]: Finished unloading __consumer_offsets-1. Removed 0 cached offsets and 0 cached groups.",
        "quiet",
        {},
    ),
    # librdkafka 0.11 to 2.x, with its own format and through Python's logging.
    (
        RD.format("JOINGROUP")
        + "JoinGroup response: GenerationId 3, Protocol range, LeaderId l (me), my MemberId m, 2 members in group: (no error)",
        "response+leader",
        {"leader": "l", "member": "m", "generation": "3"},
    ),
    (
        RD.format("REBALANCE")
        + 'Group "g" is rebalancing in state up (join-state started) with assignment: group is rebalancing',
        "client_state",
        {"reason": "group is rebalancing"},
    ),
    (
        RD.format("SESSTMOUT")
        + "Consumer group session timed out (in join-state started) after 10 ms without: revoking assignment and rejoining group",
        "client_state",
        {"reason": "session timeout"},
    ),
    (
        '2026-01-02 03:04:05 DEBUG HEARTBEAT [app#consumer-1] [thrd:main]: Group "g" heartbeat error response in state up (join-state steady, 6 partition(s) assigned): Broker: Unknown member',
        "response",
        {"client": "app", "error": "Broker: Unknown member", "group": "g"},
    ),
    # kafka-python 1.4 to 2.x, aiokafka.
    (
        "INFO     kafka.coordinator:base.py:541 Successfully joined group g with generation 2",
        "response+client_state",
        {"group": "g", "generation": "2"},
    ),
    (
        "INFO:kafka.coordinator:Successfully joined group g with generation 2",
        "response+client_state",
        {"group": "g", "generation": "2"},
    ),
    (
        "WARNING:kafka.coordinator:Heartbeat poll expired, leaving group",
        "client_state",
        {"reason": "max.poll.interval.ms exceeded"},
    ),
    (
        "WARNING:kafka.coordinator:Marking the coordinator dead (node 0) for group g: Heartbeat session expired.",
        "disconnected",
        {"peer": "0", "group": "g", "reason": "Heartbeat session expired"},
    ),
    (
        "ERROR:aiokafka.consumer.group_coordinator:OffsetCommit failed for group g due to group error (UnknownMemberIdError), will rejoin",
        "commit",
        {"error": "UnknownMemberIdError"},
    ),
    # Not a word of Kafka's.
    (
        'INFO com.example.App - the log says "Successfully joined group g with generation 2"',
        None,
        {},
    ),
    (
        "[2024-03-05 12:00:01,123] ERROR given member.id p-1 is identified as a known static member "
        "pay-0,but not matching the expected member.id p-2 (kafka.coordinator.group.GroupMetadata)",
        "respond",
        {"member": "p-1", "instance": "pay-0", "error": "FENCED_INSTANCE_ID"},
    ),
]


@pytest.fixture(scope="module")
def read_lines(spark):
    """What becomes of each line, in their order."""
    from kafkalearn.spark.logs.reading import read, with_fields

    rows = [(number, each[0], 0, "app.log") for number, each in enumerate(LINES)]
    columns = "number int, text string, modified_ms long, source string"
    frame = spark.createDataFrame(rows, columns)
    return {row.number: row.asDict() for row in with_fields(read(frame)).collect()}


@pytest.mark.parametrize("number", range(len(LINES)), ids=[each[0][-60:] for each in LINES])
def test_a_wording_tells_its_event_and_fields(read_lines, number):
    """The wording of each age is known, whatever signs its names hold."""
    _, kinds, fields = LINES[number]
    row = read_lines[number]
    assert row["kinds"] == kinds
    assert {name: row[name] for name in fields} == fields


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Broker: Unknown member", "UNKNOWN_MEMBER_ID"),
        ("The coordinator is not aware of this member.", "UNKNOWN_MEMBER_ID"),
        ("UnknownMemberIdError", "UNKNOWN_MEMBER_ID"),
        (
            "cannot be completed since the consumer is not part of an active group",
            "UNKNOWN_MEMBER_ID",
        ),
        ("Broker: Group rebalance in progress", "REBALANCE_IN_PROGRESS"),
        ("Broker: Group member needs a valid member ID", "MEMBER_ID_REQUIRED"),
        ("NotCoordinatorForGroupError", "NOT_COORDINATOR"),
        ("illegal_generation", "ILLEGAL_GENERATION"),
        ("something else", "something else"),
    ],
)
def test_errors_get_kafkas_names(spark, text, name):
    """Whichever words a client has for an error; unknown words stay."""
    from pyspark.sql import functions as F  # noqa: N812

    from kafkalearn.spark.logs.events import error_name

    assert spark.range(1).select(error_name(F.lit(text))).first()[0] == name
