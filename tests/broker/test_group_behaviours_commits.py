import pytest

from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.broker.groups import EVERY_PROFILE, STATES, T0, Groups, group_in

T1 = TopicPartition("t", 1)
STATE_FIRST = ["0.10.1", "1.0", "2.3"]  # between join and sync, who asks does not matter
MEMBER_FIRST = ["2.4", "4.0"]
COMMITTERS = {
    "a member": {"client": "a"},
    "a member, generation before": {"client": "a", "generation_id": 0},
    "a member, generation -1": {"client": "a", "generation_id": -1},
    "a stranger": {"client": "nobody", "member_id": "stranger", "generation_id": 1},
    "assign()": {"client": "nobody"},
}
IN_A_GROUP = {
    "a member": "NONE",
    "a member, generation before": "ILLEGAL_GENERATION",
    "a member, generation -1": "ILLEGAL_GENERATION",
    "a stranger": "UNKNOWN_MEMBER_ID",
    "assign()": "UNKNOWN_MEMBER_ID",
}


def fetched(asked):
    """Give partition -> (offset, metadata, error) of a fetch."""
    return {
        str(partition): (each.offset, each.metadata, each.error_code.name)
        for partition, each in asked.response.partitions.items()
    }


def judge(groups):
    """Let each of the committers commit, and give the errors; only NONE may change anything."""
    errors = {}
    for offset, (who, given) in enumerate(COMMITTERS.items(), start=100):
        before = groups.committed()
        errors[who] = groups.commit(offset=offset, **given).error
        assert groups.committed() == (offset if errors[who] == "NONE" else before)
    return errors


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_what_was_never_committed_is_minus_one(profile):
    """Behaviour 11: no committed offset is -1 without an error, and the client's policy decides."""
    groups = Groups(profile)
    assert fetched(groups.fetch(T0, T1)) == {"t-0": (-1, "", "NONE"), "t-1": (-1, "", "NONE")}
    assert groups.state == "none"
    groups.commit(offsets={T1: OffsetAndMetadata(7, "note")})
    assert fetched(groups.fetch(T0, T1)) == {"t-0": (-1, "", "NONE"), "t-1": (7, "note", "NONE")}
    assert fetched(groups.fetch()) == {"t-1": (7, "note", "NONE")}


@pytest.mark.parametrize("state", STATES)
def test_a_fetch_of_offsets_does_not_ask_for_the_state(state):
    """Behaviour 11: a committed offset is given back in every state of the group."""
    groups = Groups()
    groups.commit(offset=42)
    groups.bring_to(state)
    assert groups.committed() == 42


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_consumer_that_uses_assign_commits_only_where_nobody_is(profile):
    """Behaviour 16: generation -1 is taken by no group and an Empty one, never beside members."""
    groups = Groups(profile)
    assert groups.commit(offset=1).error == "NONE"
    assert (groups.state, groups.committed()) == ("Empty", 1)
    groups.form("a")
    assert groups.commit(offset=2).error == "UNKNOWN_MEMBER_ID"
    assert groups.committed() == 1
    groups.leave("a")
    assert groups.state == "Empty"
    assert groups.commit(offset=3).error == "NONE"
    assert groups.committed() == 3


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_a_live_group_wants_member_id_and_generation(profile):
    """Behaviour 16: one without the other is refused."""
    groups = Groups(profile)
    generation = groups.form("a")
    assert groups.commit("a", generation_id=-1).error == "ILLEGAL_GENERATION"
    assert groups.commit("a", member_id="").error == "UNKNOWN_MEMBER_ID"
    assert groups.commit("a").error == "NONE"
    assert groups.commit("a").request.generation_id == generation


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize("state", ["PreparingRebalance", "Stable"])
def test_who_may_commit_while_the_generation_holds(profile, state):
    """Behaviour 17: membership, then generation; a rebalance that prepares takes the old one."""
    assert judge(group_in(state, profile)) == IN_A_GROUP


@pytest.mark.parametrize("profile", MEMBER_FIRST)
def test_a_commit_between_join_and_sync_is_judged_by_member_first(profile):
    """Behaviour 17: from 2.4 only a member of this generation hears REBALANCE_IN_PROGRESS."""
    expected = {**IN_A_GROUP, "a member": "REBALANCE_IN_PROGRESS"}
    assert judge(group_in("AwaitingSync", profile)) == expected


@pytest.mark.parametrize("profile", STATE_FIRST)
def test_a_commit_between_join_and_sync_is_judged_by_state_first(profile):
    """Behaviour C2: up to 2.3 everybody hears REBALANCE_IN_PROGRESS, strangers and -1 included."""
    expected = dict.fromkeys(COMMITTERS, "REBALANCE_IN_PROGRESS")
    assert judge(group_in("AwaitingSync", profile)) == expected


def test_an_accepted_commit_counts_as_a_heartbeat():
    """Behaviour 17: the session begins anew with it, and ends session.timeout.ms later."""
    groups = Groups()
    groups.form("a")
    groups.until(4000)
    groups.commit("a")
    groups.until(14_000)
    assert groups.removed() == [(14_000, "a")]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_generation_rises_when_the_join_phase_ends(profile):
    """Behaviour B1: until then it is the old one: commits pass, heartbeats tell to join again."""
    groups = Groups(profile)
    generation = groups.form("a", "b")
    groups.join("a")
    assert (groups.state, groups.group.generation_id) == ("PreparingRebalance", generation)
    assert groups.commit("b").error == "NONE"
    assert groups.heartbeat("b").error == "REBALANCE_IN_PROGRESS"
    groups.join("b")
    assert groups.group.generation_id == generation + 1
    assert groups.commit("b", generation_id=generation).error != "NONE"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_generation_rises_when_the_last_member_leaves(profile):
    """Behaviour B1: a rebalance that ends Empty counts, too: 1 becomes 2."""
    groups = Groups(profile)
    assert groups.form("a") == 1
    groups.leave("a")
    assert (groups.state, groups.group.generation_id) == ("Empty", 2)


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_no_group_and_an_old_generation_is_illegal(profile):
    """Behaviour B2: a commit to a missing group is ILLEGAL_GENERATION, and makes no group."""
    groups = Groups(profile)
    assert groups.commit(generation_id=0).error == "ILLEGAL_GENERATION"
    assert groups.commit(member_id="m", generation_id=5).error == "ILLEGAL_GENERATION"
    assert groups.state == "none"
    assert groups.commit(generation_id=-1).error == "NONE"
    assert groups.state == "Empty"


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_members_are_checked_before_generations(profile):
    """Behaviour B2: an unknown member with a wrong generation is an unknown member."""
    groups = group_in("Stable", profile)
    asked = groups.commit(member_id="stranger", generation_id=99)
    assert asked.error == "UNKNOWN_MEMBER_ID"
    assert groups.commit("a", generation_id=99).error == "ILLEGAL_GENERATION"


def test_commits_pass_and_keep_alive_while_a_rebalance_prepares():
    """Behaviour C3: commit and heartbeat with the old generation both restart the session."""
    groups = Groups()
    groups.form("a", "b", "c")
    groups.until(2000)
    groups.join("a")
    groups.until(5000)
    assert groups.commit("b").error == "NONE"
    assert groups.heartbeat("c").error == "REBALANCE_IN_PROGRESS"
    groups.until(7000)
    assert groups.heartbeat("c").error == "REBALANCE_IN_PROGRESS"
    groups.until(17_000)
    assert groups.removed() == [(15_000, "b"), (17_000, "c")]


@pytest.mark.parametrize("profile", EVERY_PROFILE)
@pytest.mark.parametrize("generation", [-1, -2])
@pytest.mark.parametrize("member_id", ["", "anybody"])
def test_a_negative_generation_makes_the_group(profile, generation, member_id):
    """Behaviour C9: whatever the member id, a commit with a negative generation is taken."""
    groups = Groups(profile)
    for offset in (1, 2):  # once without a group, once into the Empty one
        asked = groups.commit(offset=offset, generation_id=generation, member_id=member_id)
        assert (asked.error, groups.state, groups.committed()) == ("NONE", "Empty", offset)


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_an_empty_group_knows_no_member(profile):
    """Behaviour C9: an Empty group answers UNKNOWN_MEMBER_ID to a generation from 0 up."""
    groups = group_in("Empty", profile)
    generation = groups.group.generation_id
    assert groups.commit("a", generation_id=generation).error == "UNKNOWN_MEMBER_ID"
    assert groups.commit(generation_id=0).error == "UNKNOWN_MEMBER_ID"
    assert groups.committed() == -1


@pytest.mark.parametrize("profile", EVERY_PROFILE)
def test_the_empty_group_id_only_stores_offsets(profile):
    """Behaviour B12: a commit to '' is taken, while members are refused."""
    groups = Groups(profile)
    assert groups.commit(group_id="").error == "NONE"
    assert fetched(groups.fetch(T0, group_id="")) == {"t-0": (1, "", "NONE")}
    refused = {
        "join": groups.join("a", group_id="").error,
        "sync": groups.sync("a", group_id="").error,
        "heartbeat": groups.heartbeat("a", group_id="").error,
        "leave": groups.leave("a", group_id="").error,
    }
    later = "INVALID_GROUP_ID" if profile in ("2.3", "2.4", "4.0") else "UNKNOWN_MEMBER_ID"
    assert refused == {"join": "INVALID_GROUP_ID"} | dict.fromkeys(
        ("sync", "heartbeat", "leave"), later
    )


def test_metadata_that_is_too_long_refuses_its_partition_alone():
    """A note may have offset.metadata.max.bytes characters; the other partitions are stored."""
    groups = Groups(offset_metadata_max_bytes=4)
    asked = groups.commit(offsets={T0: OffsetAndMetadata(1, "12345"), T1: OffsetAndMetadata(2)})
    assert {str(each): error.name for each, error in asked.response.partitions.items()} == {
        "t-0": "OFFSET_METADATA_TOO_LARGE",
        "t-1": "NONE",
    }
    assert (groups.committed(T0), groups.committed(T1)) == (-1, 2)
    assert groups.commit(offset=3, metadata="1234").error == "NONE"


@pytest.mark.parametrize(
    ("note", "error"),
    [
        ("é" * 4, "NONE"),
        ("é" * 5, "OFFSET_METADATA_TOO_LARGE"),
        ("𝄞" * 2, "NONE"),
        ("𝄞𝄞a", "OFFSET_METADATA_TOO_LARGE"),
    ],
)
def test_metadata_is_measured_in_java_characters(note, error):
    """Kafka compares String.length(), whatever the setting's name says of bytes."""
    groups = Groups(offset_metadata_max_bytes=4)
    assert groups.commit(metadata=note).error == error


def test_a_commit_with_metadata_too_long_is_a_sign_of_life_all_the_same():
    """The session begins anew before the note is looked at."""
    groups = Groups(offset_metadata_max_bytes=4)
    groups.form("a")
    groups.until(3000)
    assert groups.commit("a", metadata="12345").error == "OFFSET_METADATA_TOO_LARGE"
    groups.until(13_000)
    assert groups.removed() == [(13_000, "a")]
