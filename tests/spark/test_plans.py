"""How the tables are computed: by columns, and each run for itself."""

import re

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PYTHON = re.compile(r"Python|Pandas|InArrow|FlatMapGroups|MapElements|BatchEval|ArrowEval")


@pytest.fixture(scope="module")
def empty(spark):
    """No event."""
    from kafkalearn.spark.events import EVENT

    return spark.createDataFrame([], EVENT)


def plan(frame):
    """The physical plan, as Spark shows it."""
    return frame._jdf.queryExecution().sparkPlan().toString()


def test_no_table_runs_a_python_function_and_all_are_as_promised(empty):
    """The plan names none, each window is within a run, and the schema is that of the docstring."""
    from pyspark.sql.types import StructType

    from kafkalearn.spark.tables import TABLES

    for name, (table, schema) in TABLES.items():
        frame = table(empty)
        promised = StructType.fromDDL(schema)
        assert frame.schema.simpleString() == promised.simpleString(), name
        told = table.__doc__.partition("out:")[2].replace("\n", " ")
        named = [column for column in frame.columns if re.search(rf"\b{column}\b", told)]
        assert named == frame.columns, name
        physical = plan(frame)
        assert not PYTHON.search(physical), name
        windows = [line for line in physical.splitlines() if re.search(r"[- ]Window \[", line)]
        assert all("windowspecdefinition(run_id#" in line for line in windows), name


EXCHANGES = {"ownership": 1, "commits": 0, "deliveries": 1, "lag": 1, "assignment_quality": 3}


def test_events_travel_once_for_each_thing_that_is_read_of_them(
    spark, empty, tmp_path, monkeypatch
):
    """Brought together by run, they are sorted for window after window, and never joined."""
    from kafkalearn.spark.tables import TABLES

    empty.write.parquet(str(tmp_path / "events"))
    read = spark.read.parquet(str(tmp_path / "events"))
    monkeypatch.setattr(spark.conf, "get", lambda key, *_: "2")  # with one task nothing travels
    for name, most in EXCHANGES.items():
        physical = TABLES[name][0](read)._jdf.queryExecution().executedPlan().toString()
        assert len(re.findall(r"[- ]Exchange ", physical)) == most, name
        assert not re.search(r"(Hash|Merge|Loop)Join", physical), name


def test_a_python_function_is_found_in_a_plan(empty):
    """Each way to run one has its own node."""
    from pyspark.sql import functions as F  # noqa: N812

    one = F.udf(lambda value: value, "string")("node")
    assert PYTHON.search(plan(empty.select(one)))
    assert PYTHON.search(plan(empty.mapInArrow(lambda batches: batches, empty.schema)))
    grouped = empty.groupBy("run_id").applyInPandas(lambda frame: frame, empty.schema)
    assert PYTHON.search(plan(grouped))
