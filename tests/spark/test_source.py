"""A topic as a source for Spark: batch and stream, Spark's own offsets, nothing twice or lost."""

import json
import subprocess
import sys
import time

import pytest

from kafkalearn.errors import ConfigError, OffsetOutOfRangeError
from kafkalearn.records import Record
from kafkalearn.spark.read_plan import ReadPlan, shared
from kafkalearn.spark.topic_folder import TopicFolder


def record(number):
    """A record whose value is its number."""
    return Record(-1, 1500 + number, b"key", b"%d" % number, (("h", b"\x01"),))


@pytest.fixture
def topic(tmp_path):
    """The topic orders: ten records in partition 0, twelve in partition 1."""
    topic = TopicFolder(tmp_path / "topics", "orders")
    topic.create_partitions(2)
    for partition, count in ((0, 10), (1, 12)):
        topic.append(partition, [record(number) for number in range(count)])
    return topic


def plan(topic, /, **options):
    """The read plan of these options."""
    return ReadPlan({"path": str(topic.folder), "topic": "orders"} | options)


def asked(plan, start, end):
    """Which offsets of which partition are read between two offsets."""
    rows = plan.inputs(start, end)
    return {each.partition: [record.offset for record in each.records] for each in rows}


def test_offsets_are_words_or_json(topic):
    """earliest, latest, and Spark's own -2 and -1 beside numbers."""
    topic.delete_records(0, 3)
    chosen = plan(topic).resolve
    assert chosen("startingOffsets", "earliest") == {0: 3, 1: 0}
    assert chosen("startingOffsets", "latest") == {0: 10, 1: 12}
    assert chosen("startingOffsets", '{"orders": {"0": -2, "1": -1}}') == {0: 3, 1: 12}
    assert chosen("startingOffsets", '{"orders": {"0": 5, "1": 7}}') == {0: 5, 1: 7}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topic": ""}, "the option topic is missing"),
        ({"topic": "refunds"}, "there is no topic refunds in"),
        ({"subscribe": "orders"}, "there is no option subscribe: path, topic, startingOffsets"),
        ({"maxOffsetsPerTrigger": "0"}, "maxOffsetsPerTrigger is '0': a whole number from 1"),
        ({"maxOffsetsPerTrigger": "many"}, "maxOffsetsPerTrigger is 'many'"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss is 'maybe': true or false"),
    ],
)
def test_a_wrong_option_is_refused_by_name(topic, options, said):
    """The sentence names the option, its value and what is allowed."""
    with pytest.raises(ConfigError, match=said):
        plan(topic, **options)


@pytest.mark.parametrize("text", ["first", "{}", '{"orders": {"0": 1}}', '{"orders": 5}', "[1]"])
def test_offsets_that_are_no_offsets_are_refused(topic, text):
    """JSON of another topic, of some partitions only, and what is no JSON."""
    with pytest.raises(ConfigError, match="startingOffsets"):
        plan(topic).resolve("startingOffsets", text)


def test_offsets_that_are_gone_are_reported(topic):
    """By default the read fails and says which; failOnDataLoss=false begins at the start."""
    topic.delete_records(0, 4)
    with pytest.raises(
        OffsetOutOfRangeError, match="orders-0: the offsets 2 to 3 are gone, the log starts at 4"
    ):
        plan(topic).inputs({0: 2, 1: 0}, {0: 10, 1: 12})
    with pytest.raises(OffsetOutOfRangeError, match="orders-0: offset 3 is gone"):
        plan(topic).inputs({0: 3, 1: 0}, {0: 10, 1: 12})
    lenient = plan(topic, failOnDataLoss="false")
    assert asked(lenient, {0: 2, 1: 11}, {0: 6, 1: 12}) == {0: [4, 5], 1: [11]}
    assert asked(lenient, {0: 1, 1: 12}, {0: 3, 1: 12}) == {}


def test_a_topic_that_was_made_anew_is_reported(topic):
    """A checkpoint beyond the log's end, or of a partition that is gone."""
    with pytest.raises(
        OffsetOutOfRangeError, match="ends at 10, before offset 99; was the topic made anew"
    ):
        plan(topic).inputs({0: 10}, {0: 99})
    with pytest.raises(OffsetOutOfRangeError, match="orders-7 is gone with its offsets 1 to 3"):
        plan(topic).inputs({7: 1}, {7: 3})


def test_a_partition_that_is_new_is_read_from_its_start(topic):
    """It is not in the offsets that a checkpoint has."""
    topic.create_partitions(3)
    topic.append(2, [record(0), record(1)])
    assert asked(plan(topic), {0: 10, 1: 12}, {0: 10, 1: 12, 2: 2}) == {2: [0, 1]}


@pytest.mark.parametrize(
    ("limit", "end"),
    [
        (1, {0: 1, 1: 0, 2: 0}),
        (11, {0: 5, 1: 6, 2: 0}),
        (22, {0: 10, 1: 12, 2: 0}),
        (1000, {0: 10, 1: 12, 2: 0}),
    ],
)
def test_a_limit_is_shared_by_what_waits(limit, end):
    """All of the limit is used, and no partition is asked for more than it has."""
    assert shared({0: 0, 1: 0, 2: 0}, {0: 10, 1: 12, 2: 0}, limit=limit) == end


@pytest.mark.spark
def test_spark_reads_a_topic_in_a_batch(spark, topic):
    """Columns and rows are Spark's own for Kafka."""
    from kafkalearn.spark.source import register

    register(spark)
    frame = spark.read.format("kafkalearn").option("topic", "orders").load(str(topic.folder))
    rows = frame.selectExpr(
        "*", "unix_millis(timestamp) AS ms", "CAST(value AS STRING) AS text"
    ).collect()
    assert len(rows) == 22
    last = max((row for row in rows if row.partition == 1), key=lambda row: row.offset)
    assert (last.topic, last.offset, last.ms, last.text) == ("orders", 11, 1511, "11")
    assert (bytes(last.key), last.headers[0].key) == (b"key", "h")


@pytest.mark.spark
def test_a_stream_reads_on_from_its_checkpoint(spark, topic, tmp_path):
    """Bounded triggers; what came since, a new partition included, is read once by the next run."""
    from kafkalearn.spark.source import register

    register(spark)

    def run(**options):
        reader = spark.readStream.format("kafkalearn").option("topic", "orders")
        rows = reader.options(startingOffsets="earliest", **options).load(str(topic.folder))
        writer = rows.writeStream.format("parquet").option("path", str(tmp_path / "rows"))
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination(120)
        return [
            (each["numInputRows"], json.loads(each["sources"][0]["endOffset"])["orders"])
            for each in query.recentProgress
            if each["numInputRows"]
        ]

    assert run(maxOffsetsPerTrigger=12) == [
        (12, {"0": 6, "1": 6}),
        (10, {"0": 10, "1": 12}),
    ]
    topic.create_partitions(3)
    topic.append(2, [record(0)])
    topic.append(0, [record(10)])
    assert run() == [(2, {"0": 11, "1": 12, "2": 1})]
    kept = spark.read.parquet(str(tmp_path / "rows"))
    assert (kept.count(), kept.select("partition", "offset").distinct().count()) == (24, 24)


@pytest.mark.spark
@pytest.mark.slow
def test_a_query_that_is_killed_has_every_record_once_after_its_restart(spark, tmp_path):
    """Killed by SIGKILL in the middle, the topic grows; the Parquet sink has all, once."""
    topic = TopicFolder(tmp_path / "topics", "orders")
    topic.create_partitions(2)
    for number in range(400):
        topic.append(number % 2, [record(number)])
    command = [sys.executable, "-m", "tests.spark.streaming_query", str(topic.folder)]
    query = subprocess.Popen([*command, str(tmp_path), "on"])
    try:
        commits = tmp_path / "checkpoint" / "commits"
        wait_until(lambda: commits.is_dir() and len(list(commits.glob("[0-9]*"))) >= 2)
    finally:
        query.kill()
        query.wait()
    done = len(list(commits.glob("[0-9]*")))
    assert done < 20, "it was not killed in the middle"
    for number in range(400, 420):
        topic.append(number % 2, [record(number)])
    subprocess.run([*command, str(tmp_path), "once"], check=True, timeout=300)
    rows = spark.read.parquet(str(tmp_path / "rows")).select("partition", "offset").collect()
    assert sorted(map(tuple, rows)) == [(p, offset) for p in (0, 1) for offset in range(210)]


def wait_until(condition, seconds=240):
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
