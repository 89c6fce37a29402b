"""The explorers of stories: controls rerun, counts come out of the trace, refusals are said."""

import pytest

from kafkalearn import scenarios
from kafkalearn.errors import ConfigError, KafkaError
from kafkalearn.scenarios.what_if import reruns
from kafkalearn.trace import Trace
from kafkalearn.views import CommitExplorer, RebalanceExplorer


@pytest.fixture
def commits():
    """Explore what a crash costs."""
    return CommitExplorer(reruns(scenarios.crash_before_commit))


@pytest.fixture
def rebalances():
    """Explore what a change of the group costs."""
    return RebalanceExplorer(reruns(scenarios.group_changes))


def outcome(explorer):
    """Give what came of the story."""
    return dict(explorer.outcome(explorer._trace))


@pytest.mark.parametrize(
    ("mode", "twice", "lost"), [("sync", "2", "0"), ("before", "0", "1"), ("auto", "5", "0")]
)
def test_the_commit_mode_decides_what_a_crash_costs(commits, mode, twice, lost):
    """After the work two come twice; before it one is lost; left to poll, all five come twice."""
    commits.set(commit_mode=mode)
    assert outcome(commits) == {
        "records processed": "6" if lost == "0" else "5",
        "processed twice or more": twice,
        "lost: committed and never processed": lost,
    }


def test_without_a_crash_nothing_is_lost_or_twice(commits):
    """crash_after 0 is no crash."""
    commits.set(crash_after=0)
    assert list(outcome(commits).values()) == ["6", "0", "0"]


def test_a_crash_that_never_comes_is_said_to_be_none(commits):
    """Nothing is lost then, which is no merit of the commits."""
    commits.set(crash_after=6)
    assert "no crash" not in outcome(commits)
    commits.set(crash_after=7)
    assert not commits._trace.where(kind="fault")
    assert "no crash: only 6 records\n" in commits.as_text()
    commits.set(records=7)
    assert "no crash" not in outcome(commits)


def test_what_was_there_before_the_group_began_is_not_lost(commits):
    """A group that begins at the end of a log, at 5, and processes 6 of what follows: lost is 5."""
    trace = Trace("latest")
    trace.record("position", 10, "c1", topic="orders", partition=0, detail={"reason": "reset"})
    trace.record("position", 11, "c1", topic="orders", partition=0, offset=5)
    trace.record("processed", 12, "c1", topic="orders", partition=0, offset=6)
    trace.record("position", 13, "c1", topic="orders", partition=0, offset=7)
    trace.record("offset_stored", 14, "broker-0", topic="orders", partition=0, offset=7)
    assert [value for _, value in commits.outcome(trace)] == ["1", "0", "1"]


def test_a_control_tells_the_story_again(commits):
    """Moving a control is as good as `set`, and the stepper shows the new story."""
    before = commits.stepper.html
    commits._controls["records"].value = 9
    assert outcome(commits)["records processed"] == "9"
    assert commits.stepper.html != before
    assert "records=9" in repr(commits)


def test_set_moves_the_controls(commits):
    """A setting that is made in code is seen in its control, and told once."""
    drawn = commits.stepper.drawn
    commits.set(max_poll_records=5)
    assert commits._controls["max_poll_records"].value == 5
    assert commits.stepper.drawn == drawn + 1


def test_what_is_refused_is_said(rebalances):
    """A heartbeat that is not below the session timeout: all stays, a notice says why."""
    before = rebalances.stepper.html
    with pytest.raises(KafkaError, match="heartbeat"):
        rebalances.set(heartbeat_interval_ms=9000, session_timeout_ms=6000)
    told = repr(rebalances), rebalances.as_text()
    rebalances._controls["members"].min = -1
    rebalances._controls["members"].value = 0
    assert "members is 0" in rebalances._outcome.value
    assert rebalances.stepper.html == before
    assert rebalances._controls["members"].value == 3
    assert (repr(rebalances), rebalances.as_text()) == told


def test_a_crash_is_noticed_later_than_a_leave(rebalances):
    """A crash is heard of when the session ends, a leave at once."""
    rebalances.set(change="crash")
    crash = outcome(rebalances)
    rebalances.set(change="leave")
    leave = outcome(rebalances)
    heard = "the group hears of it after"
    assert milliseconds(leave[heard]) < 1000 < milliseconds(crash[heard])
    rebalances.set(change="none")
    assert outcome(rebalances) == {"rebalances after the change": "0"}


def milliseconds(told):
    """Read ``1,234 ms``."""
    return int(told.removesuffix(" ms").replace(",", ""))


def test_it_tells_what_it_is(commits):
    """The text has the settings and no address; the bundle has text and a picture."""
    assert repr(commits).startswith("CommitExplorer(commit_mode=sync, records=6, ")
    data, _ = commits._repr_mimebundle_()
    assert data["text/plain"] == repr(commits)
    assert data["text/html"].startswith('<img src="data:image/svg+xml;base64,')
    assert commits.as_text().splitlines()[-1] == "lost: committed and never processed: 0"


def test_a_story_without_the_settings_is_refused():
    """The error names the setting that is missing, and those that there are."""
    with pytest.raises(
        ConfigError, match="a setting 'commit_mode': this one has partitions, assignor"
    ):
        CommitExplorer(reruns(scenarios.second_member_joins))
