"""How a coordinator judged a commit: the checks in order, and the one that refused."""

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import decision
from kafkalearn.views.decision.commit_checks import rules_of
from kafkalearn.views.language import Say

SAY = Say()
BROKER = "broker-0"
REBALANCES = "REBALANCE_IN_PROGRESS"
OLD, NEW = "x profile=1.0 seed=0", "x profile=4.0 seed=0"


def recorded(run_id, *events):
    """Record (kind, node, columns) one a millisecond."""
    trace = Trace(run_id)
    for time_ms, (kind, node, columns) in enumerate(events):
        trace.record(kind, time_ms, node, **columns)
    return trace


def state(to, generation=2, members=("m1", "m2"), node=BROKER):
    """Give the event of a group in a state."""
    detail = {"to": to, "members": list(members)}
    return "group_state", node, {"group_id": "g", "generation": generation, "detail": detail}


def commit(answers, *, member_id="m1", generation=2, instance=None):
    """Give the events of a commit of c1; answers: partition -> error."""
    message = {"api": "OffsetCommit", "correlation_id": 7, "group_id": "g"}
    message |= {"member_id": member_id, "generation": generation}
    offsets = {name: {"offset": 5, "metadata": ""} for name in answers}
    fields = {"offsets": offsets, "group_instance_id": instance}
    error = next((each for each in answers.values() if each != "NONE"), "NONE")
    answer = {"error": error, "detail": {"fields": {"partitions": answers}}}
    return (
        ("send", "c1", message | {"peer": BROKER, "detail": {"fields": fields}}),
        ("receive", BROKER, message | {"peer": "c1"}),
        ("respond", BROKER, message | {"peer": "c1"} | answer),
    )


def last(run_id, *events):
    """Give the frame after these events."""
    return decision.frames(recorded(run_id, *events))[-1]


def outcomes(frame):
    """Give each check with its outcome, up to the one that refused or stored."""
    found = []
    for check in frame["checks"]:
        found.append((check["name"], check["outcome"]))
        if check["outcome"] == "refused":
            break
    return found


def refused(frame):
    """Name the check that refused, with what it compared, and the number of those passed."""
    checks = frame["checks"]
    (place,) = [at for at, check in enumerate(checks) if check["outcome"] == "refused"]
    return checks[place]["name"], SAY(*checks[place]["compared"])


def test_a_member_may_commit():
    """All checks pass, and the offset is stored."""
    frame = decision.frames(scenarios.crash_before_commit())[-1]
    assert [check["outcome"] for check in frame["checks"]] == [
        *["passed"] * 5,
        "no",
        *["passed"] * 3,
        "stored",
    ]
    assert frame["partitions"] == [("orders-0", 6, None)]
    assert decision.verdict(frame, SAY) == "stored"
    assert decision.then(frame, SAY) == (
        "c1 notes what is committed; commit_sync returns; commit_async's callback is called at a "
        "later poll"
    )


def test_a_consumer_that_assigns_beside_a_group_is_no_member():
    """UNKNOWN_MEMBER_ID while the group lives; stored at once when it is Empty."""
    trace = scenarios.assign_beside_subscribe()
    frames = [
        frame
        for event, frame in zip(trace, decision.frames(trace), strict=True)
        if event.kind == "respond" and event.api == "OffsetCommit" and event.peer == "c2"
    ]
    assert refused(frames[0]) == ("is a member", "no member id, members c1-0eb1…")
    assert decision.then(frames[0], SAY) == (
        "c2 uses assign(): it can commit only while the group is Empty; commit_sync raises "
        "CommitFailedError; commit_async's callback gets it; an automatic commit only logs it"
    )
    assert outcomes(frames[-1])[5:] == [
        ("from assign(): Empty, generation -1", "passed"),
        ("not waiting for SyncGroup", "unreached"),
        ("is a member", "unreached"),
        ("same generation", "unreached"),
        ("offsets stored", "stored"),
    ]


@pytest.mark.parametrize(
    ("group", "asked", "error", "check", "compared"),
    [
        (
            "Stable",
            {"generation": 1},
            "ILLEGAL_GENERATION",
            "same generation",
            "request 1, group 2",
        ),
        ("Stable", {"member_id": "m9"}, "UNKNOWN_MEMBER_ID", "is a member", "m9 of members m1, m2"),
        ("AwaitingSync", {}, REBALANCES, "not waiting for SyncGroup", "state AwaitingSync"),
        ("Stable", {}, "COORDINATOR_NOT_AVAILABLE", "coordinator active", "broker-0"),
        (None, {}, "ILLEGAL_GENERATION", "group known", "unknown, generation 2"),
        (None, {}, "NOT_COORDINATOR", "coordinates this group", "asked broker-0, coordinator ?"),
        (None, {}, "COORDINATOR_LOAD_IN_PROGRESS", "group read from the log", "state ?"),
        ("Stable", {}, "TOPIC_EXCEPTION", "another reason", "TOPIC_EXCEPTION"),
        ("Stable", {}, "OFFSET_METADATA_TOO_LARGE", "offsets stored", "0 of 1 partitions"),
        ("Stable", {}, "UNKNOWN_TOPIC_OR_PARTITION", "topics and partitions", "0 of 1 exist"),
    ],
)
def test_each_error_comes_from_its_check(group, asked, error, check, compared):
    """The check that refused is the one that does not hold; those after it are not reached."""
    before = [state(group)] if group else []
    frame = last(OLD, *before, *commit({"t-0": error}, **asked))
    assert refused(frame) == (check, compared)
    place = [check["outcome"] for check in frame["checks"]].index("refused")
    assert all(check["outcome"] == "unreached" for check in frame["checks"][place + 1 :])
    assert all(check["outcome"] in ("passed", "no") for check in frame["checks"][:place])
    assert frame["checks"][place]["error"] == error == frame["error"]


def test_a_new_owner_of_the_group_is_named():
    """NOT_COORDINATOR says who was asked, and who has the group."""
    frame = last(OLD, state("Stable", node="broker-1"), *commit({"t-0": "NOT_COORDINATOR"}))
    assert refused(frame) == ("coordinates this group", "asked broker-0, coordinator broker-1")


def test_a_crashed_coordinator_knows_nothing():
    """After its crash a broker has no group until it has loaded it."""
    crash = ("fault", BROKER, {"detail": {"fault": "crash"}})
    frame = last(OLD, state("Stable"), crash, *commit({"t-0": "ILLEGAL_GENERATION"}))
    assert refused(frame)[0] == "group known"


def order(run_id, answer, member_id="m1"):
    """Give the names of the last checks of a commit between join and sync."""
    frame = last(run_id, state("AwaitingSync"), *commit({"t-0": answer}, member_id=member_id))
    return [check["name"] for check in frame["checks"][6:9]], refused(frame)[0]


def test_the_order_of_sync_and_member_is_that_of_the_release():
    """Up to 2.3 a stranger hears of the rebalance first; from 2.4 on that it is none of them."""
    member, generation, sync = "is a member", "same generation", "not waiting for SyncGroup"
    assert order(OLD, "REBALANCE_IN_PROGRESS", "m9") == ([sync, member, generation], sync)
    assert order(NEW, "UNKNOWN_MEMBER_ID", "m9") == ([member, generation, sync], member)
    assert order(NEW, "REBALANCE_IN_PROGRESS") == ([member, generation, sync], sync)


def test_an_unnamed_release_is_known_by_its_answer():
    """Without a profile the older order is taken, unless only the newer one gives this answer."""
    member, generation, sync = "is a member", "same generation", "not waiting for SyncGroup"
    assert order("imported", "REBALANCE_IN_PROGRESS") == ([sync, member, generation], sync)
    assert order("imported", "UNKNOWN_MEMBER_ID", "m9") == ([member, generation, sync], member)


def test_the_rules_are_read_from_the_run():
    """A profile with changed switches is read back; what names none gives none."""
    rules = rules_of("x profile=1.0+commit_checks_member_first=True+dead_group_moves=True seed=0")
    assert (rules.release, rules.commit_checks_member_first) == ("1.0", True)
    assert (rules.dead_group_moves, rules.commit_tells_rebalance) == (True, False)
    assert rules_of("x profile=1.0+__class__=True+nothing=True").release == "1.0"
    assert [rules_of(run_id) for run_id in ("imported", "x profile=9.9", "")] == [None] * 3


@pytest.mark.parametrize(
    ("run_id", "action", "raised"),
    [
        (OLD, "forgets its generation and joins at its next poll", "CommitFailedError"),
        (
            "x profile=2.4 seed=0",
            *("keeps its generation and joins at its next poll", "CommitFailedError"),
        ),
        (NEW, "keeps its generation and joins at its next poll", "RebalanceInProgressError"),
        ("?", "joins at its next poll", "CommitFailedError / RebalanceInProgressError (2.5)"),
    ],
)
def test_what_follows_from_a_rebalance_depends_on_the_release(run_id, action, raised):
    """Whether the generation is kept, and which error the application gets."""
    frame = last(run_id, state("AwaitingSync"), *commit({"t-0": "REBALANCE_IN_PROGRESS"}))
    assert decision.then(frame, SAY) == (
        f"c1 {action}; commit_sync raises {raised}; commit_async's callback gets it; "
        "an automatic commit only logs it"
    )


def test_a_fenced_instance_is_told_who_holds_it():
    """A static member's id is asked for before membership."""
    joined = {"group_id": "g", "member_id": "m2", "generation": 2, "detail": {"instance_id": "i"}}
    events = state("Stable"), ("member_joined", BROKER, joined)
    frame = last(NEW, *events, *commit({"t-0": "FENCED_INSTANCE_ID"}, instance="i"))
    assert refused(frame) == ("holds its instance id", "i: m1 asks, m2 holds it")
    assert "FencedInstanceIdError" in decision.then(frame, SAY)


def test_a_partition_can_be_refused_alone():
    """One offset's note is too long, one topic is gone: the third is stored all the same."""
    answers = {
        "t-0": "NONE",
        "t-1": "OFFSET_METADATA_TOO_LARGE",
        "gone-0": "UNKNOWN_TOPIC_OR_PARTITION",
    }
    frame = last(OLD, state("Stable"), *commit(answers))
    assert [check["outcome"] for check in frame["checks"]].count("refused") == 0
    assert (frame["checks"][0]["name"], frame["checks"][0]["outcome"]) == (
        "topics and partitions",
        "passed",
    )
    assert SAY(*frame["checks"][-1]["compared"]) == "1 of 3 partitions"
    assert decision.verdict(frame, SAY) == "stored in part: OFFSET_METADATA_TOO_LARGE"
    assert [error for _, _, error in frame["partitions"]] == [None, *list(answers.values())[1:]]


def test_an_answer_by_a_fault_checks_nothing():
    """A broken network's answer is not the coordinator's."""
    trace = scenarios.async_commit_overtaken()
    answered = [
        frame
        for event, frame in zip(trace, decision.frames(trace), strict=True)
        if event.kind == "respond" and event.api == "OffsetCommit"
    ]
    assert refused(answered[0]) == ("a fault answers instead", "nothing is checked")
    assert decision.verdict(answered[1], SAY) == "stored"


def test_a_commit_makes_an_unknown_group():
    """A consumer that uses assign() makes the group; the second time it is known and Empty."""
    alone = commit({"t-0": "NONE"}, member_id=None, generation=-1)
    first, second = last(OLD, *alone), last(OLD, *alone, *alone)
    assert SAY(*first["checks"][3]["compared"]) == "unknown, generation -1 makes it"
    assert SAY(*second["checks"][3]["compared"]) == "known, generation 0"


def test_it_is_being_judged_before_it_is_answered():
    """When the request has reached the broker, no check has an outcome."""
    frame = last(OLD, state("Stable"), *commit({"t-0": "NONE"})[:2])
    assert {check["outcome"] for check in frame["checks"]} == {"open"}
    assert decision.verdict(frame, SAY) == "broker-0 is judging it"
    assert (frame["follows"], frame["partitions"]) == ([], [("t-0", 5, None)])


def test_the_last_decision_stays():
    """Other requests do not touch it; it says when it was."""
    other = {"api": "Heartbeat", "correlation_id": 9, "peer": "c1", "error": "NONE"}
    trace = recorded(OLD, *commit({"t-0": "NONE"}), ("respond", BROKER, other))
    frames = decision.frames(trace)
    assert frames[-1] is frames[-2]
    assert frames[-1]["judged_ms"] == 2


def test_the_text_is_a_line_a_check():
    """What is passed, refused and not reached, in words."""
    frame = last(OLD, state("Stable"), *commit({"t-0": "ILLEGAL_GENERATION"}, generation=1))
    lines = decision.as_text(frame, SAY).splitlines()
    assert lines[0] == "Decision · c1's commit in group g: refused: ILLEGAL_GENERATION"
    assert lines[8:12] == [
        "✓ is a member (m1 of members m1, m2): passed",
        "✗ same generation (request 1, group 2): refused ILLEGAL_GENERATION",
        "· offsets stored (0 of 1 partitions): not reached",
        "  t-0 5: ILLEGAL_GENERATION",
    ]


def test_many_partitions_are_counted():
    """A commit of many partitions lists some, and tells the number of the others."""
    frame = last(OLD, *commit({f"t-{number}": "NONE" for number in range(40)}))
    assert (len(frame["partitions"]), frame["more"]) == (12, 28)
    assert "  and 28 more partitions" in decision.as_text(frame, SAY).splitlines()
