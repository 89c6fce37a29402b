"""The tables: the numbers counted by hand, and for any run those of the plain folds."""

from collections import defaultdict

import pytest

from kafkalearn import scenarios
from kafkalearn.analysis.deliveries import deliveries
from kafkalearn.analysis.lag import lag
from kafkalearn.analysis.rebalances import rebalances
from kafkalearn.engine import Crash, CutOff, Freeze, Restart
from kafkalearn.scenarios.groups import CHANGES
from kafkalearn.trace import Trace
from tests.analysis import counted

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FOLDS = {"rebalances": rebalances, "deliveries": deliveries, "lag": lag}
CLIENTS = ["assigned", "revoked", "client_state", "commit", "records_returned", "processed"]
EPOCH_MS = 1_795_817_700_000
# What Spark does for millions of rows takes most of the time for a few.
QUICKER = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def runs():
    """All scenarios, other seeds and Kafkas, what else can happen to a group, and faults."""
    for name in scenarios.names():
        yield scenarios.run(name)
        yield scenarios.run(name, seed=7, profile="2.4", loss_per_million=20_000)
    for change in CHANGES:
        yield scenarios.group_changes(change=change, seed=1)
        cooperative = {"profile": "2.4", "assignor": "cooperative-sticky"}
        yield scenarios.group_changes(change=change, members=4, partitions=3, **cooperative)
    for mode in ("auto", "async", "before"):
        yield scenarios.crash_before_commit(commit_mode=mode)
    faults = [Freeze("c2", 8000, 9000), Crash("c1", 12_000), Restart("c1", 13_000)]
    yield scenarios.group_changes(change="join", faults=faults)
    yield scenarios.coordinator_fails_over(profile="4.0", faults=[CutOff("c1", 3500, 9000)])
    yield scenarios.first_member(record={"kinds": ["append", "records_returned", "offset_stored"]})
    yield counted.topic_made_again()


def imported(trace, kinds=CLIENTS):
    """What a log might tell of a run: some kinds, in ms since 1970, and no seq without gaps."""
    frame = trace.where(kind=kinds).to_pandas()
    frame["run_id"], frame["time_ms"] = f"log of {trace.run_id}", frame["time_ms"] + EPOCH_MS
    return Trace.from_pandas(frame)


@pytest.fixture(scope="module")
def traces():
    """Every run by its id, the imported ones too."""
    made = list(runs())
    known = {each.run_id: each for each in made}
    logs = [imported(each) for each in made if each.where(kind=CLIENTS)]
    broker = ["group_state", "member_joined", "member_removed"]
    logs.append(imported(scenarios.consumer_dies(seed=3), kinds=broker))
    return known | {each.run_id: each for each in logs}


@pytest.fixture(scope="module")
def tables(spark, traces, tmp_path_factory):
    """Every table of all runs at once: table -> run_id -> its rows without the run_id."""
    from kafkalearn.spark.events import events
    from kafkalearn.spark.tables import TABLES

    folder = tmp_path_factory.mktemp("events")
    for number, trace in enumerate(traces.values()):
        trace.to_parquet(folder / f"{number:03}.parquet")
    before = {key: spark.conf.get(key, None) for key in QUICKER}
    for key, value in QUICKER.items():
        spark.conf.set(key, value)
    read = events(spark, folder).coalesce(1).cache()
    found = {}
    for name, (table, _) in TABLES.items():
        of_runs = found[name] = defaultdict(list)
        for row in table(read).toArrow().to_pylist():
            of_runs[row.pop("run_id")].append(row)
    read.unpersist()
    for key, value in before.items():
        spark.conf.unset(key) if value is None else spark.conf.set(key, value)
    return found


def as_told(fold, trace):
    """The rows of a fold as a table has them, in some order."""
    rows = [each._asdict() for each in fold(trace)]
    for row in rows:
        if "unowned" in row:
            row["unowned"] = [gap._asdict() for gap in row["unowned"]]
    return sorted(rows, key=repr)


@pytest.mark.parametrize("name", FOLDS)
def test_a_table_and_the_fold_tell_the_same(tables, traces, name):
    """On the same events, whatever happened, and however much of it is known."""
    assert len(traces) > 90
    for run_id, trace in traces.items():
        told = as_told(FOLDS[name], trace)
        assert sorted(tables[name][run_id], key=repr) == told, run_id
    assert set(tables[name]) <= set(traces)


class Row:
    """A row of a table whose columns are attributes, as those of a fold's row."""

    def __init__(self, row):
        self.__dict__ = row | {"unowned": [tuple(gap.values()) for gap in row["unowned"]]}


@pytest.mark.parametrize("name", scenarios.names())
def test_rebalances_are_those_counted_by_hand(tables, name):
    """Cause, times, members, kept and moved partitions, and gaps of each scenario."""
    rows = sorted(
        tables["rebalances"][scenarios.run(name).run_id], key=lambda row: row["rebalance"]
    )
    assert [counted.as_counted(Row(row)) for row in rows] == counted.REBALANCES[name]


@pytest.mark.parametrize("name", counted.DELIVERIES)
def test_deliveries_are_those_counted_by_hand(tables, name):
    """Delivered, processed, lost, duplicated, of each record."""
    numbers = ("delivered", "processed", "lost", "duplicated")
    assert {
        (row["partition"], row["offset"]): tuple(row[each] for each in numbers)
        for row in tables["deliveries"][scenarios.run(name).run_id]
    } == counted.DELIVERIES[name]


def test_a_topic_that_is_made_again_has_other_records(tables):
    """The work on the old record 0, and its commit, say nothing of the new one."""
    trace = counted.topic_made_again()
    columns = ("group_id", "offset", "delivered", "processed", "lost", "duplicated")
    assert of(tables, "deliveries", trace, *columns) == sorted(counted.MADE_AGAIN, key=repr)


def test_all_tables_together_are_those_made_one_by_one(spark, tables, traces, tmp_path):
    """What they share then is computed once, and let go of at the end."""
    from kafkalearn.spark.events import events
    from kafkalearn.spark.tables import TABLES, all_tables

    some = [*[*traces.values()][:3], counted.topic_made_again()]
    for number, trace in enumerate(some):
        trace.to_parquet(tmp_path / f"{number}.parquet")
    with all_tables(events(spark, tmp_path)) as together:
        assert set(together) == set(TABLES)
        found = {name: table.toArrow().to_pylist() for name, table in together.items()}
    for name, rows in found.items():
        alone = [
            {"run_id": each.run_id} | row for each in some for row in tables[name][each.run_id]
        ]
        assert sorted(rows, key=repr) == sorted(alone, key=repr), name
    assert not spark.sparkContext._jsc.getPersistentRDDs()


def of(tables, name, trace, *columns):
    """Some columns of a run's rows, sorted, without what follows the name in a member id."""
    rows = [[row[each] for each in columns] for row in tables[name][trace.run_id]]
    short = [[c[:2] if isinstance(c, str) and len(c) > 36 else c for c in row] for row in rows]
    return sorted(map(tuple, short), key=repr)


def test_ownership_and_membership_are_those_counted_by_hand(tables):
    """c2 polls too late: it leaves at 4509, is removed at 4510, and comes back under another id."""
    trace = scenarios.consumer_stops_polling()
    columns = ("partition", "node", "from_ms", "until_ms", "ended")
    assert of(tables, "ownership", trace, *columns) == [
        (0, "c1", 3008, 5010, "revoked"),
        (0, "c1", 5014, 6016, "revoked"),
        (0, "c1", 6020, None, None),
        (1, "c1", 5014, 6016, "revoked"),
        (1, "c2", 3008, 4509, "left"),
        (1, "c2", 6020, None, None),
    ]
    columns = ("member_id", "node", "joined_ms", "left_ms", "reason")
    assert of(tables, "membership", trace, *columns) == [
        ("c1", "c1", 5, None, None),
        ("c2", "c2", 5, 4510, "left"),
        ("c2", "c2", 5517, None, None),
    ]


def test_what_is_kept_in_a_rebalance_is_owned_on(tables):
    """Cooperative: c1 and c2 keep two partitions of theirs while a third member joins."""
    settings = {"profile": "2.4", "assignor": "cooperative-sticky"}
    trace = scenarios.group_changes(change="join", members=4, partitions=3, **settings)
    begins = [each.time_ms for each in trace.where(kind="assigned")][:3]
    owned = of(tables, "ownership", trace, "node", "from_ms", "until_ms")
    assert owned == [(node, begins[0], None) for node in ("c1", "c2", "c3")]
    assert of(tables, "rebalances", trace, "kept", "moved", "unowned_ms") == [
        (0, 0, None),
        (3, 0, None),
    ]


def test_commits_are_those_counted_by_hand(tables):
    """The first of two asynchronous commits fails, 2 ms after it was asked for."""
    columns = ("time_ms", "node", "offset", "mode", "outcome", "latency_ms")
    assert of(tables, "commits", scenarios.async_commit_overtaken(), *columns) == [
        (3026, "c1", 3, "async", "COORDINATOR_LOAD_IN_PROGRESS", 2),
        (3026, "c1", 6, "async", "ok", 2),
    ]


def test_assignment_quality_is_that_counted_by_hand(tables):
    """Three members share six partitions; one crashes, and one partition more moves than must."""
    columns = ("generation", "members", "partitions", "fewest", "most", "spread", "kept", "moved")
    assert of(tables, "assignment_quality", scenarios.group_changes(), *columns, "new") == [
        (1, 3, 6, 2, 2, 0, 0, 0, 6),
        (2, 2, 6, 3, 3, 0, 3, 3, 0),
    ]


def test_a_summary_sums_up_the_other_tables(tables):
    """Counted by hand from those of crash_before_commit."""
    (row,) = tables["run_summary"][scenarios.crash_before_commit().run_id]
    assert list(row.items()) == [
        *[("scenario", "crash_before_commit"), ("profile", "1.0"), ("seed", 0), ("events", 133)],
        *[("first_ms", 0), ("last_ms", 9066), ("members", 2), ("rebalances", 3)],
        *[("rebalance_ms", 3002 + 5987 + 0), ("unowned_ms", 5992)],
        *[("commits", 2), ("commits_failed", 0), ("records", 6), ("delivered", 9)],
        *[("processed", 8), ("lost", 0), ("duplicated", 2), ("most_lag", 3)],
    ]


def test_every_run_has_a_summary_and_a_log_no_numbers_that_it_does_not_tell(tables, traces):
    """A broker's log knows members and rebalances, and nothing of partitions or records."""
    assert {run_id: rows[0]["events"] for run_id, rows in tables["run_summary"].items()} == {
        run_id: len(trace) for run_id, trace in traces.items()
    }
    log = imported(scenarios.consumer_dies(seed=3), kinds=["group_state", "member_removed"])
    (row,) = tables["run_summary"][log.run_id]
    assert (row["members"], row["rebalances"], row["rebalance_ms"]) == (2, 2, 6002 + 6)
    assert [row[each] for each in ("scenario", "seed", "lost", "most_lag")] == [None] * 4
    assert of(tables, "rebalances", log, "kept", "unowned_ms") == [(None, None)] * 2
    assert tables["ownership"][log.run_id] == tables["deliveries"][log.run_id] == []
    (member, _) = of(tables, "membership", log, "node", "joined_ms")
    assert member == ("c1", EPOCH_MS + 5)
