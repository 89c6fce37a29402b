"""Recorded logs of real programs come out as what truly happened, told by who recorded them."""

import re
from itertools import chain
from pathlib import Path

import pytest

from kafkalearn.trace import KINDS, Trace

DATA = Path(__file__).parent / "data"
pytestmark = [pytest.mark.spark, pytest.mark.slow]

ALL, LOW, HIGH = [0, 1, 2, 3, 4, 5], [0, 1, 2], [3, 4, 5]
JOIN, LEAVE, POLL = "adding new member {}", "removing member {} on LeaveGroup", "max.poll.interval"
# (generation, when, members: the first leads, what each owns, who made it come, and how)
STORIES = {
    "raw-range": [
        (1, "22:16:28.976", {"A": ALL}, JOIN, "A"),
        (2, "22:16:33.993", {"A": LOW, "B": HIGH}, JOIN, "B"),
        (3, "22:16:37.997", {"A": ALL}, LEAVE, "B"),
    ],
    "raw-stall": [
        (1, "22:16:28.978", {"A": ALL}, JOIN, "A"),
        (2, "22:16:36.490", {"B": ALL}, JOIN, "B"),
        (3, "22:16:41.496", {"B": HIGH, "A": LOW}, JOIN, "A"),
        (4, "22:16:50.963", {"A": ALL}, LEAVE, "B"),
    ],
    "lg-kp": [
        (1, "22:02:31.375", {"A": []}, JOIN, "A"),
        (2, "22:02:31.482", {"A": ALL}, "member {} re-joining: metadata changed", "A"),
        (3, "22:02:35.522", {"A": LOW, "B": HIGH}, JOIN, "B"),
        (4, "22:02:38.534", {"A": ALL}, LEAVE, "B"),
    ],
    "lg-ak": [
        (1, "22:02:31.226", {"A": ALL}, JOIN, "A"),
        (2, "22:02:35.235", {"A": [0, 2, 4], "B": [1, 3, 5]}, JOIN, "B"),
        (3, "22:02:39.243", {"A": ALL}, LEAVE, "B"),
    ],
    "billing": [
        (1, "22:26:04.263", {"billing-A": ALL}, JOIN, "billing-A"),
        (2, "22:26:14.272", {"billing-A": LOW, "billing-B": HIGH}, JOIN, "billing-B"),
        (3, "22:26:31.286", {"billing-B": ALL}, LEAVE + f": {POLL}.ms exceeded", "billing-A"),
        (4, "22:26:36.295", {"billing-B": HIGH, "billing-A": LOW}, JOIN, "billing-A"),
        (
            5,
            "22:26:52.310",
            {"billing-A": ALL},
            LEAVE + ": the consumer is being closed",
            "billing-B",
        ),
    ],
}
BROKER = [
    (1, "22:38:16.733", ["consumer-checkout-1"], "Adding new member consumer-checkout-1"),
    (2, "22:38:22.765", ["consumer-checkout-1", "consumer-checkout-2"], "Adding new member"),
    (3, "22:38:37.005", ["consumer-checkout-1"], "on heartbeat expiration"),
    (4, "22:38:42.029", [], "explicit `LeaveGroup` request"),
]


def client(member_id):
    """A member id without its random end."""
    return re.sub(r"-[0-9a-f-]{32,36}$", "", member_id)


@pytest.fixture(scope="module")
def imported(spark, tmp_path_factory):
    """All recorded logs, imported at once: the counts and the folder."""
    from kafkalearn.spark.logs.importing import import_logs

    out = tmp_path_factory.mktemp("logs") / "out"
    return import_logs(spark, sorted(DATA.glob("*.log")), out=out), out


@pytest.fixture(scope="module")
def told(spark, imported):
    """The story of each group: its generations in order."""
    from kafkalearn.spark.logs.story import stories

    rows = stories(spark.read.parquet(str(imported[1] / "events"))).collect()
    return {
        group: [row for row in rows if row.group_id == group]
        for group in {r.group_id for r in rows}
    }


@pytest.fixture(scope="module")
def trace(imported):
    """The events, read as any trace is."""
    return Trace.from_parquet(imported[1] / "events")


@pytest.mark.parametrize("group", STORIES)
def test_clients_tell_the_story_of_their_group(told, group):
    """Generation, time, members with the leader, owners and cause are those of the recording."""
    assert_story(told[group], STORIES[group])


def assert_story(rows, story):
    """Compare generations with what truly happened."""
    found = []
    for row in rows:
        owns = {
            client(member): sorted(chain.from_iterable(topics.values()))
            for member, topics in row.assignment.items()
        }
        leader = client(row.leader)
        in_order = {leader: owns[leader]} | owns
        assert sorted(in_order) == sorted(map(client, row.members))
        found.append((row.generation, f"{row.time:%H:%M:%S.%f}"[:-3], in_order, row.reason))
    for (*facts, reason), (*expected, why, who) in zip(found, story, strict=True):
        assert (facts, next(iter(facts[2]))) == (expected, next(iter(expected[2])))
        before, after = why.split("{}")
        assert re.fullmatch(f"{re.escape(before)}{who}-[0-9a-f-]+{re.escape(after)}.*", reason)


@pytest.mark.parametrize(
    ("name", "group", "story"),
    [
        ("librdkafka_stall_B", "raw-stall", STORIES["raw-stall"][1:3]),
        ("aiokafka_A_and_B", "lg-ak", STORIES["lg-ak"]),
    ],
)
def test_one_file_tells_what_its_client_knew(spark, tmp_path, name, group, story):
    """Without the other logs of a group, what this one can tell is the same."""
    rows = story_of(spark, [DATA / f"{name}.log"], tmp_path / "out")
    assert {row.group_id for row in rows} == {group}
    assert_story(rows, story)


def test_a_follower_names_its_leader(spark, tmp_path):
    """A member that does not lead knows of itself and of the leader, and of no owners."""
    [row] = story_of(spark, [DATA / "librdkafka_range_B.log"], tmp_path / "out")
    assert (row.generation, list(map(client, row.members))) == (2, ["A", "B"])
    assert (client(row.leader), row.assignment) == ("A", None)


def test_a_coordinator_alone_tells_its_story(spark, tmp_path):
    """The log of a broker needs no client's."""
    rows = story_of(spark, [DATA / "broker_coordinator_checkout.log"], tmp_path / "out")
    assert_coordinators_story(rows)


def story_of(spark, files, out):
    """Import some files, and tell their generations."""
    from kafkalearn.spark.logs.importing import import_logs, suited
    from kafkalearn.spark.logs.story import stories

    import_logs(spark, files, out=out)
    with suited(spark, files):
        return stories(spark.read.parquet(str(out / "events"))).collect()


def test_who_left_while_others_waited_is_told_too(told):
    """The second member of a group that stalls waits until the first leaves: both are told."""
    [also] = told["raw-stall"][1].also
    late = r"maximum poll interval \(\d+ms\) exceeded by 408ms"
    assert re.fullmatch(rf"removing member A-\w+ on LeaveGroup: {late}", also)


def test_a_coordinator_tells_the_story_of_its_group(told):
    """What a broker's own log says is taken as it stands."""
    assert_coordinators_story(told["checkout"])


def assert_coordinators_story(rows):
    """Compare with what the script did that drove the members."""
    for row, (generation, when, members, why) in zip(rows, BROKER, strict=True):
        assert (row.generation, f"{row.time:%H:%M:%S.%f}"[:-3]) == (generation, when)
        assert [client(member) for member in row.members] == members
        assert why in row.reason


def test_a_coordinator_tells_how_many_members_there_are(spark, imported):
    """Where a broker counts members and names none, the table of rebalances has the count."""
    from kafkalearn.spark.tables import rebalances

    events = spark.read.parquet(str(imported[1] / "events")).where("group_id = 'checkout'")
    rows = rebalances(events).orderBy("rebalance").collect()
    assert [(row.generation, row.members) for row in rows] == [(1, 1), (2, 2), (3, 1), (4, 0)]


def test_a_rebalance_begins_with_what_caused_it(trace):
    """Not with a member that joins the generation before, in the ms in which others have joined."""
    begun = [
        f"{event.time_ms % 100_000:,}"
        for event in trace.where(kind="group_state")
        if event.group_id == "billing" and event.detail["to"] == "PreparingRebalance"
    ]
    assert begun == ["64,244", "73,830", "90,703", "95,786", "11,546"]


def test_no_rebalance_begins_before_the_end_of_another(trace):
    """In the log of every group the states come in order."""
    states = {}
    for event in trace.where(kind="group_state"):
        states.setdefault(event.group_id, []).append(event.detail["to"])
    assert len(states) == 6
    for each in states.values():
        assert re.fullmatch("(P(CS?|E))+P?E?", "".join(state[0] for state in each))


def test_commits_come_out_with_their_outcome(trace):
    """Offsets, members and errors of commits, as far as each client logs them."""
    commits = {}
    for event in trace.where(kind="commit"):
        key = (event.group_id, client(event.member_id), event.generation, event.error)
        commits.setdefault(key, []).append((event.topic, event.partition, event.offset))
    # librdkafka tells that a commit succeeded, and not of which partitions.
    assert commits.pop(("raw-range", "A", 1, None)) == [(None, None, None)] * 6
    assert commits.pop(("raw-stall", "B", 2, None)) == [(None, None, None)] * 6
    assert commits.pop(("raw-stall", "A", 1, "UNKNOWN_MEMBER_ID")) == [("orders", 5, 10)]
    assert commits.pop(("billing", "billing-A", 2, "UNKNOWN_MEMBER_ID")) == [(None, None, None)]
    for key in (("lg-kp", "A", 2, None), ("lg-ak", "A", 1, None)):
        done = commits.pop(key)
        assert len(done) == 36
        assert {each[:2] for each in done} == {("orders", n) for n in ALL}
        assert set(done[-6:]) == {("orders", n, 10) for n in ALL}
    assert commits == {}


def test_partitions_of_a_member_that_was_away_are_lost(trace):
    """A client that left since it did not poll loses its partitions, and does not revoke them."""
    lost = [
        (client(event.member_id), event.time_ms % 100_000, event.detail["partitions"])
        for event in trace.where(kind="revoked")
        if event.detail.get("lost")
    ]
    assert lost == [
        ("A", 1_081, {"orders": ALL}),
        ("billing-A", 95_785, {"invoices": LOW}),
    ]


def test_every_line_is_counted_once(imported):
    """Lines of events, lines of no interest, parts of other lines and unread ones make up all."""
    counts, _ = imported
    lines = sum(len(path.read_bytes().splitlines()) for path in DATA.glob("*.log"))
    assert counts.lines == lines == sum(counts.classes.values())
    assert (counts.classes["unparsed"], counts.broken) == (0, [])


def test_the_events_are_a_trace(trace):
    """Kinds, columns and details are those that a trace may hold, so all views can read them."""
    assert {event.kind for event in trace} <= set(KINDS)
    for event in trace:
        assert set(event.detail or {}) <= {*KINDS[event.kind].detail}
