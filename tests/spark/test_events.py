"""Reading events back: what is whole and of one schema is read, all else is refused by name."""

import pandas
import pytest

from kafkalearn import scenarios

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def trace():
    """A run to write."""
    return scenarios.first_member()


def test_a_folder_and_a_file_are_read_alike(spark, trace, tmp_path):
    """Columns that a log does not have are null, numbers are long; other files do not matter."""
    from kafkalearn.spark.events import EVENT, events

    few = trace.to_pandas()[["seq", "kind", "node", "run_id", "time_ms", "partition"]]
    few.astype({"partition": "Int32"}).to_parquet(tmp_path / "[a], {b} c.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    for place in (tmp_path, tmp_path / "[a], {b} c.parquet"):
        read = events(spark, place)
        assert read.schema == spark.createDataFrame([], EVENT).schema
        rows = read.orderBy("seq").collect()
        assert [row.partition for row in rows] == [each.partition for each in trace]
        assert {row.detail for row in rows} == {None}


def refused(spark, folder):
    """What is said of a folder."""
    from kafkalearn.spark.events import EventsError, events

    with pytest.raises(EventsError) as refused:
        events(spark, folder)
    return str(refused.value)


def test_what_holds_no_events_is_refused(spark, trace, tmp_path):
    """Each with a sentence that names the file or the column."""
    assert "there is no folder or file" in refused(spark, tmp_path / "nowhere")
    assert "there is no Parquet file in" in refused(spark, tmp_path)
    frame = trace.to_pandas()
    path = tmp_path / "a.parquet"
    frame.assign(extra=1).to_parquet(path)
    assert "'extra' is no column of events" in refused(spark, tmp_path)
    frame.drop(columns="kind").to_parquet(path)
    assert "column kind is missing" in refused(spark, tmp_path)
    frame.assign(seq=1.5).to_parquet(path)
    assert "column seq holds double: bigint is allowed" in refused(spark, tmp_path)
    pandas.DataFrame({"a": [1]}).to_parquet(path)
    assert "'a' is no column of events" in refused(spark, tmp_path)


def test_files_that_differ_or_are_cut_are_refused(spark, trace, tmp_path):
    """Spark alone would fill in nulls, or fail in the middle."""
    frame = trace.to_pandas()
    frame.to_parquet(tmp_path / "a.parquet")
    frame.drop(columns="offset").to_parquet(tmp_path / "b.parquet")
    assert "b.parquet differ: column offset is int64 in one and missing" in refused(spark, tmp_path)
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[: len(whole) // 2])
    assert "b.parquet is no whole Parquet file" in refused(spark, tmp_path)
