"""One group as its coordinator sees it, followed event by event."""

import pytest

from kafkalearn import scenarios
from kafkalearn.engine import AnswerWithError, Crash, CutOff, Freeze, Restart
from kafkalearn.trace import Trace
from kafkalearn.views import group
from kafkalearn.views.language import Say

MEMBER = "c1-0123-4567"


@pytest.fixture(scope="module")
def joined():
    """A second consumer joins: generation 2."""
    return scenarios.second_member_joins()


@pytest.fixture(scope="module")
def died():
    """One of two consumers crashes."""
    return scenarios.consumer_dies()


def after(trace, what, **wanted):
    """Give the frame after the last event that `what` allows."""
    matching = [place for place, event in enumerate(trace) if what(event)]
    return group.frames(trace, **wanted)[matching[-1]]


def to(state, generation):
    """Find the event that takes a group into a state."""
    return lambda event: (
        event.kind == "group_state"
        and (event.detail["to"], event.generation) == (state, generation)
    )


def fault(kind):
    """Find a fault."""
    return lambda event: event.kind == "fault" and event.detail["fault"] == kind


def told(frame, *keys):
    """Give what a frame says of each member."""
    return [tuple(row[key] for key in ("name", *keys)) for row in frame["members"]]


def waiting(frame):
    """Give for whom a frame waits, and how long."""
    return frame["state"], frame["waits"], frame["waits_for"], frame["until_ms"]


def loaded(*events, **more):
    """Record group_state events of the group g: (time, state) each."""
    trace = Trace("imported")
    for time_ms, state in events:
        trace.record("group_state", time_ms, "b", group_id="g", detail={"to": state, **more})
    return trace


def test_the_whole_rebalance(joined):
    """Each state says for whom it waits, how long, and what its members must do."""
    states = [
        ((event.time_ms, *waiting(frame)), told(frame, "now"))
        for event, frame in zip(joined, group.frames(joined), strict=True)
        if event.kind == "group_state"
    ]
    parked = "parked in JoinGroup"
    assert states == [
        ((15, "PreparingRebalance", "more", [], 3015), [("c1", parked)]),
        ((3015, "AwaitingSync", "sync", ["c1"], 3017), [("c1", "must sync")]),
        ((3017, "Stable", None, [], 3045), [("c1", "in step")]),
        (
            (3045, "PreparingRebalance", "join", ["c1"], 4023),
            [("c1", "not told yet"), ("c2", parked)],
        ),
        (
            (4023, "AwaitingSync", "sync", ["c1"], 4025),
            [("c1", "must sync"), ("c2", "must sync")],
        ),
        ((4025, "Stable", None, [], None), [("c1", "in step"), ("c2", "must sync")]),
    ]


def test_a_member_is_told_to_rejoin(joined):
    """From REBALANCE_IN_PROGRESS to its JoinGroup a member must rejoin, and still owns its part."""
    frame = after(joined, lambda event: event.error == "REBALANCE_IN_PROGRESS")
    assert told(frame, "now", "leader", "owns", "heard_ms") == [
        ("c1", "must rejoin", True, (("orders", 0), ("orders", 1)), 4019),
        ("c2", "parked in JoinGroup", False, (), 3045),
    ]


def test_before_the_first_event_the_group_is_empty(joined):
    """What the first change begins from holds until then; nobody coordinates yet."""
    first = group.frames(joined)[0]
    assert (first["group_id"], first["state"], first["members"]) == ("billing", "Empty", [])


def test_a_first_member_that_has_come_is_told():
    """While the group is still called Empty; who only got an id is no member yet."""
    trace = scenarios.first_member(profile="4.0")
    joins = [place for place, event in enumerate(trace) if event.kind == "member_joined"]
    first, second = (group.frames(trace)[place] for place in joins)
    assert "\nEmpty: it has no members\n" in group.as_text(first, Say())
    assert "\nEmpty: its first member has come\n" in group.as_text(second, Say())


def test_a_crashed_member_is_waited_for_until_its_session_ends(died):
    """The coordinator waits for a sign of life, and drops the member exactly when it was told."""
    frame = after(died, fault("crash"))
    assert waiting(frame) == ("Stable", "life", ["c2"], 12007)
    assert told(frame, "now", "session_ends_ms") == [
        ("c1", "in step", None),
        ("c2", "crashed", 12007),
    ]


def test_a_removed_member_stays_until_the_next_generation(died):
    """It is told why it went; the next generation knows it no more."""
    removed = after(died, lambda event: event.kind == "member_removed")
    assert told(removed, "now", "reason")[1] == (
        "c2",
        "removed",
        "no sign of life within the session timeout",
    )
    rebalance = after(died, to("PreparingRebalance", 1))
    assert rebalance["reason"] == "c2 gave no sign of life within the session timeout"
    assert told(after(died, to("AwaitingSync", 2))) == [("c1",)]


def test_who_rejoins_under_a_new_id_has_two_rows():
    """The member that was removed and the new one of the same node are told apart."""
    trace = scenarios.consumer_stops_polling()
    assert told(after(trace, to("PreparingRebalance", 2)), "now", "owns") == [
        ("c1", "not told yet", (("orders", 0), ("orders", 1))),
        ("c2", "parked in JoinGroup", ()),
    ]
    left = after(trace, to("PreparingRebalance", 1))
    assert told(left, "now", "owns")[1] == ("c2", "removed", (("orders", 1),))


@pytest.mark.parametrize(
    ("fault_", "word"),
    [(Freeze("c1", 7000, 2500), "frozen"), (CutOff("broker-0", 7000, 2500, "c1"), "cut off")],
)
def test_a_fault_that_passes_is_told_until_the_node_acts_again(fault_, word):
    """A frozen or cut off member says so, and its session's end; later it is in step again."""
    trace = scenarios.consumer_dies(faults=[fault_])
    frame = after(trace, fault(fault_.kind))
    assert told(frame, "now")[0] == ("c1", word)
    assert group.frames(trace)[-1]["members"][0]["now"] == "in step"


def test_a_group_whose_coordinator_crashed_waits_for_another():
    """Until another broker has loaded the group nobody answers; then that one is named."""
    trace = scenarios.coordinator_fails_over()
    frame = after(trace, lambda event: event.kind == "fault")
    assert waiting(frame) == ("Stable", "coordinator", ["broker-0"], 4142)
    taken_over = after(trace, lambda event: event.kind == "group_loaded")
    assert waiting(taken_over) == ("Stable", None, [], None)
    assert taken_over["coordinator"] == "broker-1"


def test_a_new_kafka_gives_out_ids_and_completes_rebalances():
    """Who was only given an id must join with it; the sync state has its newer name throughout."""
    trace = scenarios.first_member(profile="4.0")
    joins = [place for place, event in enumerate(trace) if event.kind == "member_joined"]
    frame = group.frames(trace)[joins[0]]
    assert told(frame, "now") == [("c1", "must join with its id")]
    assert {each["sync_name"] for each in group.frames(trace)} == {"CompletingRebalance"}
    assert waiting(after(trace, to("CompletingRebalance", 1)))[1:3] == ("sync", ["c1"])


def test_a_group_that_was_loaded_without_members_has_none():
    """An empty list is told: who was in it before, or had only an id, is gone."""
    faults = (Crash("broker-0", 93), Restart("broker-0", 4093))
    trace = scenarios.topic_grows(seed=361, profile="4.0", faults=faults)
    frame = after(trace, lambda event: event.kind == "group_loaded")
    assert (frame["state"], frame["members"]) == ("Empty", [])


def test_the_join_phase_ends_for_the_dead_too():
    """Whom no answer reaches must sync like the others."""
    faults = (Crash("c1", 1833),)
    trace = scenarios.crash_before_commit(seed=79, profile="4.0", commit_mode="auto", faults=faults)
    rows = told(after(trace, to("CompletingRebalance", 1)), "now", "heard_ms")
    assert rows == [("c1", "must sync", 17), ("c1", "must sync", 1847)]


def test_a_join_that_fails_leaves_its_id_pending():
    """The coordinator waits for the first id also while the same node joins with another."""
    fault_ = AnswerWithError("JoinGroup", "UNKNOWN_MEMBER_ID", 2)
    trace = scenarios.coordinator_fails_over(seed=215, profile="4.0", faults=(fault_,))
    joining = next(each for each in group.frames(trace) if each["state"] == "PreparingRebalance")
    assert told(joining, "now", "heard_ms") == [
        ("c1", "must join with its id", 17),
        ("c1", "parked in JoinGroup", 21),
    ]


def test_two_groups_are_followed_apart():
    """By default the first group that is named; the other one by its id."""
    trace = Trace("two")
    for name in ("a", "b"):
        about = {"group_id": name, "member_id": f"m-{name}", "generation": 1}
        trace.record("member_joined", 1, "broker-0", **about, detail={"client_id": f"node-{name}"})
        trace.record("assigned", 2, f"node-{name}", **about, detail={"partitions": {"t": [0]}})
    assert told(group.frames(trace)[-1], "owns") == [("node-a", (("t", 0),))]
    assert told(group.frames(trace, group_id="b")[-1], "owns") == [("node-b", (("t", 0),))]


def test_a_coordinator_s_log_alone_is_enough():
    """Without messages the lists of who waits tell what is parked; names are short ids."""
    trace = loaded((1, "PreparingRebalance"), members=[MEMBER, "x"], waiting_join=["x"])
    assert told(group.frames(trace)[0], "now") == [
        ("c1-0123-", "not told yet"),
        ("x", "parked in JoinGroup"),
    ]
    assert waiting(group.frames(trace)[0]) == ("PreparingRebalance", "join", ["c1-0123-"], None)


def test_many_members_are_counted():
    """Twenty-four have a row; the others are a number."""
    frame = group.frames(loaded((1, "Stable"), members=[f"m{n}" for n in range(40)]))[0]
    assert (len(frame["members"]), frame["more"]) == (24, 16)
    assert group.as_text(frame, Say()).endswith("and 16 more")


def test_the_text_is_a_table(died):
    """State, for whom it waits, and the members, aligned; in Chinese too."""
    frame = after(died, fault("crash"))
    assert group.as_text(frame, Say()).splitlines() == [
        "Group billing · generation 1 · coordinator broker-0",
        "Stable: waits for a sign of life of c2, until 12,007 ms",
        "member  owns      last heard  now",
        "★ c1    orders-0  6,007 ms    in step",
        "c2      orders-1  6,007 ms    crashed, session: 12,007 ms",
    ]
    assert (
        group.as_text(frame, Say("zh")).splitlines()[1] == "Stable: 等待 c2 的心跳，直到 12,007 ms"
    )
