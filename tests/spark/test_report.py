"""What a report is told: a group's story, advice that its numbers support, spread of many runs."""

import json
import re

import pandas
import pyarrow
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from kafkalearn import scenarios
from kafkalearn.cli import app
from kafkalearn.spark import report_windows
from kafkalearn.spark.events import EventsError, events
from kafkalearn.spark.report import _how_well, gather, session_settings
from kafkalearn.spark.report_advice import advice
from kafkalearn.spark.report_group import _owners, _told
from kafkalearn.spark.report_windows import _of_group, moments, windows_of
from kafkalearn.spark.sweep_part import as_files, run_part
from kafkalearn.spark.sweep_plan import Sweep
from kafkalearn.trace import Trace
from kafkalearn.views.report import page

SWEEP = Sweep("consumer_dies", range(2), {"session_timeout_ms": [6000, "x", 9000]})


def member(node, joined, left=None, reason=None, number=1):
    """A row of `membership`."""
    named = {"member_id": f"{node}-{number}", "node": node, "instance_id": None}
    return named | {"joined_ms": joined, "left_ms": left, "reason": reason}


def rebalance(started, cause, member_id=None, **changed):
    """A row of `rebalances` that took 100 ms."""
    row = {"started_ms": started, "cause": cause, "member_id": member_id, "node": None}
    row |= {"joined_ms": started + 50, "ended_ms": started + 100, "reason": None}
    return row | {"kept": 0, "moved": 0, "unowned": []} | changed


def gaps(*each_ms):
    """Partitions without an owner, in a row of `rebalances`."""
    return [{"topic": "t", "partition": n, "ms": ms} for n, ms in enumerate(each_ms)]


def advised(told=(), *, members=(), failed=(), fenced=()):
    """Give what happened and the setting of each piece of advice."""
    others = {"membership": list(members), "failed": list(failed), "fenced": list(fenced)}
    found = advice(list(told), others=others, end_ms=100_000)
    return [(each["seen"], each["setting"]) for each in found]


def test_a_silent_member_that_came_back_tells_how_long_it_was_away():
    """The setting grows by that; one that never came back asks for a shorter session."""
    told = [rebalance(5000, "session_timeout", "c2-1", unowned=gaps(300, 700))]
    gone = member("c2", 0, 5000, "session timeout")
    ((seen, setting),) = advised(told, members=[gone, member("c2", 9600, number=2)])
    assert "c2. It joined again, 4,600 ms later. A partition had no owner for up to 700" in seen
    assert setting.startswith("session.timeout.ms larger by more than 4,600 ms")
    ((seen, setting),) = advised(told, members=[gone, member("c3", 9600)])
    assert "No event tells that it joined again in the 95,000 ms after that." in seen
    assert setting == "session.timeout.ms smaller"


def test_a_broker_alone_tells_that_a_client_is_back_under_a_new_id():
    """Its ids begin with the client's name; what came again and again is one piece of advice."""
    ids = [f"app-1-1c1eea1f-2659-74a7-cc96-6f46c6aa7d{n}" for n in (10, 11, 12, 13)]
    times = [(0, 5000), (18_000, 60_000), (73_500, 90_000), (99_000, None)]
    members = [
        member(None, joined, left, "on heartbeat expiration") | {"member_id": each}
        for each, (joined, left) in zip(ids, times, strict=True)
    ]
    told = [
        rebalance(left + 1, "session_timeout", each)
        for each, (_, left) in zip(ids[:3], times, strict=False)
    ]
    ((seen, setting),) = advised(told, members=members)
    assert seen.startswith("3 times no heartbeat came in time and a consumer was removed: app-1. ")
    assert "Each time it joined again, at most 13,500 ms later." in seen
    assert setting.startswith("session.timeout.ms larger by more than 13,500 ms")
    ((seen, _),) = advised(told, members=[*members[:3], members[3] | {"member_id": "other-1"}])
    assert "2 times it joined again, at most 13,500 ms later." in seen


def test_a_member_that_polled_late_needs_what_it_was_late_and_then_away():
    """Its own reason tells it, where the rebalance was due to another."""
    told = [rebalance(4000, "member_joined", "B-1", ended_ms=7500)]
    reason = "leaving: max.poll.interval.ms exceeded by 408 ms"
    members = [member("A", 0, 7400, reason), member("B", 4000), member("A", 11_992, number=2)]
    ((seen, setting),) = advised(told, members=members)
    assert "joined again, 4,592 ms later. It was 408 ms late when it left." in seen
    assert setting.startswith("max.poll.interval.ms larger by more than 5,000 ms, or")
    members[0]["reason"] = "maximum poll interval (300000ms) exceeded by 408ms"
    ((_, setting),) = advised(told, members=members)
    assert "larger by more than 5,000 ms, that is more than 305,000 ms, or" in setting


def test_a_late_member_counts_once_and_one_that_no_log_names_is_not_left_out():
    """Its own row and its rebalance are one end; the same id may be gone and come back twice."""
    reason = "removing member A-1 on LeaveGroup: consumer poll timeout has expired."
    first = rebalance(5000, "poll_timeout", reason=reason)
    members = [member("A", 0, 5050, reason), member("A", 9000, number=2)]
    ((seen, _),) = advised([first], members=members)
    assert seen.startswith("Once a consumer did not poll in time and left: A. It joined again")
    ((seen, setting),) = advised([first])
    assert "left: not known who. No event tells that it joined again" in seen
    assert setting == "max.poll.interval.ms larger, or max.poll.records smaller"
    told = [
        rebalance(ms, "poll_timeout", "A-1", node="A", names=["A-1"], joined_ms=ms + 3000)
        for ms in (5000, 20_000)
    ]
    ((seen, _),) = advised(told, members=[member("A", 0)])
    assert "2 times a consumer did not poll in time and left: A. Each time it joined" in seen


def test_joins_one_by_one_at_the_start_are_one_story():
    """Not those of a client that was there before, and not those much later."""
    joins = [rebalance(ms, "member_joined", f"{node}-1") for ms, node in ((0, "a"), (900, "b"))]
    members = [member("a", 0), member("b", 900), member("a", 1800, number=2)]
    again = rebalance(1800, "member_joined", "a-2")
    ((seen, setting),) = advised([*joins, again], members=members)
    assert "2 rebalances within 900 ms" in seen
    assert setting == "the broker's group.initial.rebalance.delay.ms more than 900 ms"
    later = rebalance(60_000, "member_joined", "b-1")
    assert advised([joins[0], later], members=members) == []


def test_restarts_ask_for_static_members_and_given_back_partitions_for_cooperation():
    """With the longest absence; a static member was one already."""
    told = [rebalance(1000, "member_left", "a-1", kept=4, moved=2, unowned=gaps(*range(85, 91)))]
    members = [member("a", 0, 1000, "a left"), member("a", 3500, number=2)]
    (static, cooperative) = advised(told, members=members)
    assert static[1] == "group.instance.id, with session.timeout.ms more than 2,500 ms"
    assert "at least 4 partitions came back" in cooperative[0]
    assert "nobody did, for up to 90 ms" in cooperative[0]
    members[0]["instance_id"] = "a"
    assert len(advised(told, members=members)) == 1
    told[0]["unowned"] = gaps(90, 90)  # those that moved: who kept theirs went on reading
    assert advised(told, members=members) == []


def test_a_rolling_restart_whose_new_members_come_first_asks_for_static_members():
    """Not a shutdown of members that had just begun, nor one that left beside one that came."""
    old = [member("a", 0, 90_000, "a left"), member("b", 0, 95_000, "b left")]
    new = [member("a", 70_000, number=2), member("b", 90_500, number=2)]
    told = [rebalance(row["joined_ms"], "member_rejoined", row["member_id"]) for row in new]
    told += [rebalance(row["left_ms"], "member_left", row["member_id"]) for row in old]
    ((seen, setting),) = advised(told, members=old + new)
    assert "2 times a consumer left after another one had come to stay, at most 20,000 ms" in seen
    assert "restart: a, b. Rebalances for these: 4." in seen
    assert setting.startswith("group.instance.id, each stopped before its successor starts")
    assert advised(told[:1] + told[2:3], members=[old[0], new[0]]) == []
    short = [member(node, 70_000, 95_000, f"{node} left") for node in "abc"]
    assert advised(members=short) == []


def test_commits_that_failed_say_how_many_records_come_again():
    """As far as an earlier commit tells; another failure is another story."""
    one = {"outcome": "ILLEGAL_GENERATION", "offset": 30, "committed": 18}
    one |= {"member_id": "a-1", "node": "a", "topic": "t", "time_ms": 3000}
    ((seen, setting),) = advised(failed=[one, one | {"committed": None}])
    assert "2 times a commit was refused (ILLEGAL_GENERATION), since the group rebalanced." in seen
    assert "12 records were to be read again. For 1 of them the events do not tell" in seen
    assert setting.startswith("commit in on_partitions_revoked")
    assert advised(failed=[one | {"outcome": "NOT_COORDINATOR"}]) == []


def test_a_refusal_that_a_log_tells_twice_counts_once():
    """Java tells it of each partition, and then once more; what is told alone counts too."""
    one = {"outcome": "UNKNOWN_MEMBER_ID", "offset": 30, "committed": 18, "node": "a"}
    one |= {"member_id": "a-1", "topic": "t", "time_ms": 3000}
    again = one | {"topic": None, "offset": None, "committed": None, "time_ms": 3001}
    for failed in ([one, again], [again]):
        ((seen, _),) = advised(failed=failed)
        assert seen.startswith("Once a commit was refused")


def test_who_was_fenced_is_told_that_its_name_is_anothers():
    """However often it was."""
    ((seen, setting),) = advised(fenced=[{"node": "a"}, {"node": "b"}])
    assert seen.endswith("came with the same group.instance.id: a, b.")
    assert setting == "group.instance.id another one for each process"


def test_advice_leaves_out_what_the_group_does_already():
    """A static member gets no id, and what a silent one lost comes back under any strategy."""
    lost = rebalance(5000, "session_timeout", "c2-1", kept=2, moved=1, unowned=gaps(1, 1, 900))
    gone = member("c2", 0, 5000, "session timeout")
    for instance_id in (None, "c2"):
        members = [gone | {"instance_id": instance_id}, member("c2", 9600, number=2)]
        ((_, setting),) = advised([lost], members=members)
        assert ("group.instance.id" in setting) == (instance_id is None)


def test_who_is_out_of_the_group_is_not_told_to_commit_in_a_callback():
    """Its commit is refused there as well: after a poll timeout, or as one that is not known."""
    one = {"outcome": "ILLEGAL_GENERATION", "offset": None, "committed": None, "time_ms": 3000}
    one |= {"node": "a", "topic": None}
    told = [rebalance(2000, "poll_timeout", "a-1")]
    members = [member("a", 0, 2000, "poll timeout"), member("a", 8000, number=2)]
    refused = one | {"member_id": "a-1"}
    for failed, count in ((refused, 2), (one | {"outcome": "UNKNOWN_MEMBER_ID"}, 1)):
        known = {"told": told, "members": members} if count == 2 else {}
        found = advised(**known, failed=[failed | {"member_id": "a-1"}])
        assert len(found) == count
        assert found[-1][1] == "commit after fewer records"
        assert found[-1][0].endswith("The events do not tell how many records that were.")
    later = advised(told, members=members, failed=[refused | {"time_ms": 9000}])
    assert later[-1][1].startswith("commit in on_partitions_revoked")


def test_the_owners_of_a_generation_are_those_that_it_gave_partitions():
    """One that left before the next, too; not who has not heard yet that it lost them."""

    def owned(partition, node, begin, end):
        times = {"from_ms": begin, "until_ms": end}
        return {"topic": "t", "partition": partition, "node": node} | times

    rows = [owned(0, "a", 10, 60), owned(1, "b", 10, 40), owned(0, "b", 30, None)]
    assert _owners(None, rows, nodes={}, during=(12, 29)) == {"a": {"t": [0]}, "b": {"t": [1]}}
    assert _owners(None, rows, nodes={}, during=(45, 90)) == {"b": {"t": [0]}}
    told = {"a-1": {"t": [1, 0]}}
    assert _owners(told, rows, nodes={"a-1": "a"}, during=(0, 9)) == {"a": {"t": [0, 1]}}


def test_a_moment_is_asked_for_as_a_report_writes_it():
    """A time in UTC, or seconds since a group's first event; those groups that last then."""
    first_ms = 1_795_818_363_703  # 2026-11-27 22:26:03.703
    spans = [(0, 60_000), (50_000, 90_000), (-9000, -1000)]
    groups = [{"first_ms": first_ms + a, "last_ms": first_ms + b} for a, b in spans]
    asked = {
        "2026-11-27 22:26:58.703": [(0, 55_000), (1, 55_000)],
        "2026-11-27T22:27:13.703+00:00": [(1, 70_000)],
        "+39.5": [(0, 39_500), (1, 89_500)],
    }
    for at, expected in asked.items():
        found = moments(groups, [at])
        places = [(groups.index(each), row["started_ms"] - first_ms) for each, row in found]
        assert places == expected
    for at, said in (("soon", "'soon' is no moment"), ("+61", "--at +61: no group")):
        with pytest.raises(EventsError, match=re.escape(said)):
            moments(groups, [at])


def test_a_window_leaves_out_what_concerns_other_groups_alone():
    """Their coordinator's events and their consumers'; what brokers do for all stays."""
    frame = scenarios.consumer_dies().to_pandas()
    other = frame.replace({"billing": "other", "c1": "x1", "c2": "x2"})
    others = other[~other["kind"].isin(["append", "fault"])]
    both = pandas.concat([frame, others], ignore_index=True)
    is_shared = ~frame["node"].isin(["c1", "c2"]) & frame["group_id"].isna()
    is_shared &= ~frame["peer"].isin(["c1", "c2"])
    kept = _of_group(both, "billing")
    assert set(kept["node"]) == set(frame["node"])
    shared_twice = is_shared & ~frame["kind"].isin(["append", "fault"])
    assert len(kept) == len(frame) + shared_twice.sum() < len(both)


def test_windows_hardly_overlap_and_each_rebalance_opens_at_its_own_event(monkeypatch):
    """In the order of groups and events, whichever took longest; too many keep the longest."""
    seqs = [900, 10, 30, 300, 450, 20]
    monkeypatch.setattr(report_windows, "_seqs", lambda _, few: [row["seq"] for _, row in few])
    monkeypatch.setattr(report_windows, "_cut", lambda _, windows: windows)
    rows = [
        {"rebalance": n, "started_ms": seq, "ended_ms": seq + n, "seq": seq}
        for n, seq in enumerate(seqs, 1)
    ]
    groups = [{"run_id": "r", "group_id": name, "rebalances": rows[:5]} for name in ("b", "a")]
    groups[1]["rebalances"] = rows[5:]
    found = windows_of(None, groups)
    places = [(each["group_id"], each["first"], each["size"]) for each in found]
    assert places == [("b", 0, 300), ("b", 260, 300), ("b", 860, 300), ("a", 0, 300)]
    assert [[seq for _, seq in each["of"]] for each in found] == [[10, 30], [300, 450], [900], [20]]
    monkeypatch.setattr(report_windows, "MOST_WINDOWS", 2)
    assert [each["of"][0][1] for each in windows_of(None, groups)] == [300, 20]


def test_groups_with_faulty_members_come_before_those_that_only_rebalance_often():
    """Whoever reads at night needs the worst first."""
    joins, faults = [{"cause": "member_joined"}] * 9, [{"cause": "poll_timeout"}]
    assert sorted([joins, faults, [], faults * 2], key=_how_well) == [faults * 2, faults, joins, []]


@pytest.fixture
def folder(tmp_path):
    """Hold the events of a run, as `logs` would, and one line that was not read."""
    (tmp_path / "events").mkdir()
    (tmp_path / "unparsed").mkdir()
    scenarios.consumer_dies().to_parquet(tmp_path / "events" / "part-0.parquet")
    line = {"line": "?", "file": "a.log", "line_number": 3, "reason": "no time"}
    unparsed = pyarrow.Table.from_pylist([line])
    pyarrow.parquet.write_table(unparsed, tmp_path / "unparsed" / "part-0.parquet")
    return tmp_path


def test_a_moment_that_is_none_is_refused_before_spark_starts(folder, monkeypatch):
    """Status 2 and a sentence that names it; no page is written."""
    monkeypatch.setattr("kafkalearn.spark.session.spark_session", None)
    result = CliRunner().invoke(
        app, ["report", str(folder), "--at", "soon"], env={"COLUMNS": "500"}
    )
    assert (result.exit_code, "'soon' is no moment" in result.output) == (2, True)
    assert not list(folder.glob("*.html"))


@pytest.mark.parametrize("name", ["nowhere", "nowhere/else", "empty", "file", "damaged", "mixed"])
def test_a_folder_without_events_is_refused_in_a_sentence(tmp_path, name):
    """Status 2, before Spark starts, and nothing is written."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged").mkdir()
    for file in ("file", "damaged/part-0.parquet"):
        (tmp_path / file).write_bytes(b"PAR1")
    for number, column in enumerate(("seq", "seq", "colour")):
        (tmp_path / "mixed").mkdir(exist_ok=True)
        table = pyarrow.table({"run_id": ["a"], column: [number]})
        pyarrow.parquet.write_table(table, tmp_path / "mixed" / f"{number}.parquet")
    result = CliRunner().invoke(app, ["report", str(tmp_path / name)], env={"COLUMNS": "500"})
    assert (result.exit_code, result.exception.__class__) == (2, SystemExit), result.output
    assert result.output.startswith("kafkalearn: ")
    assert str(tmp_path / name) in result.output
    assert not list(tmp_path.rglob("*.html"))


def test_the_command_writes_the_page_whole_or_not_at_all(folder, monkeypatch):
    """Into the folder, or where --out says; what was there stays if it fails."""
    told = {"name": "x", "runs": [], "groups": [], "windows": [], "sweep": None, "unparsed": None}

    class Session:
        def stop(self):
            """Stop nothing."""

    monkeypatch.setattr("kafkalearn.spark.session.spark_session", lambda *_, **__: Session())
    monkeypatch.setattr("kafkalearn.spark.report.gather", lambda *_, **__: told)
    assert CliRunner().invoke(app, ["report", str(folder)]).exit_code == 0
    before = (folder / "report.html").read_text()
    assert before.startswith("<!doctype html>")

    def broken(*_, **__):
        raise EventsError("column x is no column of events")

    monkeypatch.setattr("kafkalearn.spark.report.gather", broken)
    failed = CliRunner().invoke(app, ["report", str(folder)])
    assert (failed.exit_code, "column x" in failed.output) == (2, True)
    assert (folder / "report.html").read_text() == before
    nowhere = CliRunner().invoke(app, ["report", str(folder), "--out", str(folder / "no" / "x")])
    assert (nowhere.exit_code, "cannot be written" in nowhere.output) == (2, True)


@pytest.mark.spark
@pytest.mark.slow
def test_the_story_of_a_run_is_that_of_its_events(quick, folder):
    """Each generation, who was silent, what that cost; a window for it; lines not read."""
    assert session_settings(folder)
    told = gather(quick, folder)
    (group,) = told["groups"]
    *_, last = group["rebalances"]
    assert (last["cause"], last["node"], last["outcome"]) == ("session_timeout", "c2", "stable")
    assert last["unowned_ms"] > 0
    assert list(last["owners"]) == ["c1"]
    assert group["advice"][0]["setting"] == "session.timeout.ms smaller"
    window = told["windows"][last["window"]]
    stretch = window["trace"][window["events"].start : window["events"].stop]
    assert [each for each in stretch if each.time_ms == last["started_ms"]]
    assert [(row["reason"], row["count"]) for row in told["unparsed"]] == [("no time", 1)]
    assert told["sweep"] is None
    assert page(told) == page(told)
    others = pyarrow.Table.from_pylist([{"seq": 1, "colour": "red"}])
    pyarrow.parquet.write_table(others, folder / "events" / "part-0.parquet")
    with pytest.raises(EventsError, match="'colour' is no column of events"):
        gather(quick, folder)


@pytest.mark.spark
def test_a_group_that_is_quiet_while_others_are_busy_has_its_window(quick, tmp_path):
    """It opens at the group's own next event, however many of others come before."""
    trace = Trace("two groups")
    for ms in range(2000):
        name = "calm" if ms in (5, 1500) else "busy"
        trace.record("poll", ms, f"of-{name}", group_id=name)
    (tmp_path / "events").mkdir()
    trace.to_parquet(tmp_path / "events" / "part-0.parquet")
    calm = {"run_id": trace.run_id, "group_id": "calm", "first_ms": 5, "last_ms": 1500}
    groups = [calm | {"rebalances": []}]
    (window,) = windows_of(events(quick, tmp_path), groups, at=["+0.1"])
    stretch = window["trace"][window["events"].start : window["events"].stop]
    assert [event.time_ms for event in stretch] == [1500]
    assert window["step"] == 0


@pytest.mark.spark
@pytest.mark.slow
def test_a_sweep_is_told_by_how_its_runs_are_spread(quick, tmp_path):
    """By each value as it was asked for, with the failures, and what is missing of it."""
    files = as_files(run_part(SWEEP, 0, numbers=[0, 1, 2, 4, 5]))
    for name, content in files.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "part-00000.parquet").write_bytes(content)
    (tmp_path / "sweep.json").write_text(SWEEP.as_json())
    told = gather(quick, tmp_path)["sweep"]
    values = [(each["setting"], each["value"], each["runs"]) for each in told["values"]]
    assert values[:2] == [("session_timeout_ms", "6000", 2), ("session_timeout_ms", "9000", 2)]
    assert [json.loads(value) for _, value, _ in values[2:]] == [
        {"session_timeout_ms": 6000},
        {"session_timeout_ms": 9000},
    ]
    assert (told["wanted"], told["runs"], told["failed"]) == (6, 4, 1)
    six, nine = (each["unowned_ms"]["marks"][2] for each in told["values"][:2])
    assert 0 < six < nine


@pytest.mark.parametrize(
    ("reason", "named"),
    [
        ("removing member c-10 on LeaveGroup", "c-10"),
        ("adding new member c-1", "c-1"),
        ("removing member c-100 on LeaveGroup", None),
        (None, None),
    ],
)
def test_a_reason_names_a_member_by_its_whole_id(reason, named):
    """Another id that begins alike is another member; who is not of the group is nobody."""
    row = {"reason": reason, "ended_ms": 5}
    told = _told(row, {}, owned=[], nodes={"c-1": "a", "c-10": "b"}, end=9)
    assert told["member_id"] == named
