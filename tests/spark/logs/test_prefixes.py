"""Whatever stands around a message, and however its time is written, it is read."""

import gzip
import json
import os
import random
import re
import signal

import pytest
from typer.testing import CliRunner

from kafkalearn.cli import app
from kafkalearn.cli.app import interrupted_by_sigterm
from kafkalearn.cli.logs import _tell_of_no_group
from kafkalearn.trace import Trace

pytestmark = [pytest.mark.spark, pytest.mark.slow]
AT_MS = 1_795_816_951_375  # 2026-11-27 22:02:31.375 UTC
LOGGER = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
TIMES = {
    "iso": "2026-11-27T22:02:31.375Z INFO  {logger} - {text}",
    "zone": "2026-11-27T23:02:31.375+01:00 INFO  {logger} - {text}",
    "log4j": "[2026-11-27 22:02:31,375] INFO {text} ({logger})",
    "slashes": "2026/11/27 22:02:31.375 [main] INFO {logger} - {text}",
    "month": "27 Nov 2026 22:02:31,375 [main] INFO {logger} - {text}",
    "us": "11/27/2026 10:02:31.375 PM INFO {logger} - {text}",
    "hadoop": "26/11/27 22:02:31.375 INFO {logger}: {text}",
    "no_year": "Nov 27 22:02:31.375 host app[12]: INFO {logger} - {text}",
    "epoch_ms": "1795816951375 INFO {logger} - {text}",
    "epoch_s": "1795816951.375 INFO {logger} - {text}",
    "spring": "2026-11-27 22:02:31.375  INFO 1 --- [tainer#0-C-1] o.a.k.Coordinator  : {text}",
    "compose": "billing-1  | 2026-11-27 22:02:31.375 INFO {logger} - {text}",
    "kubectl": "2026-11-27T22:02:40.000000000Z 2026-11-27 22:02:31.375 INFO {logger} - {text}",
    "grep": "logs/app.log:17:2026-11-27 22:02:31.375 INFO {logger} - {text}",
    "quoted": "> 2026-11-27 22:02:31.375 INFO {logger} - {text}",
    "coloured": "\x1b[32m2026-11-27 22:02:31.375\x1b[0m \x1b[1mINFO\x1b[0m {logger} - {text}",
    "year_first": "20261127 22:02:31.375 INFO {logger} - {text}",
    "german": "27.11.2026 22:02:31.375 INFO {logger} - {text}",
    "late_year": "Fri Nov 27 22:02:31.375 UTC 2026 INFO {logger} - {text}",
    "half_day": "2026-11-27 10:02:31.375 PM INFO {logger} - {text}",
    "thread_last": "2026-11-27 22:02:31,375 INFO {text} ({logger}) [main]",
    "logfmt": 'time="2026-11-27T22:02:31.375Z" level=info msg="{text}" thread="main"',
    "csv": '"2026-11-27T22:02:31.375Z","INFO","{text}","main"',
    "lambda": "[INFO]\t2026-11-27T22:02:31.375Z\tan-id\t{text}",
    "two_lines": "Nov 27, 2026 10:02:31.375 PM {logger} onJoin\nINFO: {text}",
}
NAME = 'a "b", [c]: d] = e'


def joined(group, generation=1, member="app-1"):
    """What Kafka's consumer says when it has joined."""
    return (
        f"[Consumer clientId=app, groupId={group}] Successfully joined group with generation "
        f"Generation{{generationId={generation}, memberId='{member}', protocol='range'}}"
    )


def line(name, group):
    """One line, or two, in one of the forms."""
    return TIMES[name].format(logger=LOGGER, text=joined(group))


def objects():
    """JSON whose message, or time, has a name of its own, by the name of the group."""
    iso, text = "2026-11-27T22:02:31.375Z", joined
    instant = {"epochSecond": AT_MS // 1000, "nanoOfSecond": 375_000_000}
    found = {
        "google": {"textPayload": text("google"), "timestamp": iso},
        "payload": {"jsonPayload": {"message": text("payload")}, "timestamp": iso},
        "elastic": {"_source": {"@timestamp": iso, "message": text("elastic")}},
        "splunk": {"result": {"_raw": f"{iso} INFO {text('splunk')}"}},
        "layout": {"instant": instant, "level": "INFO", "message": text("layout")},
    }
    return {name: json.dumps(each) for name, each in found.items()}


# (day and time, generation, member): the coordinator forgot the group twice.
LIVES = [
    ("26 22:02:31", 1, "app-1"),
    ("26 22:12:31", 1, "app-2"),
    ("26 22:13:31", 2, "app-2"),
    ("27 01:02:31", 1, "app-3"),
]


def begun_again():
    """The log of one client, started anew thrice; the last time its group had been forgotten."""
    for at, generation, member in LIVES:
        yield f"2026-11-{at}.000 INFO {LOGGER} - {joined('again', generation, member)}\n"


# What stands before the lines of each process, where one file has those of several.
WRITERS = [
    "worker_1      | ",
    "worker_2      | ",
    "[pod/pay-6f7d9c5b4-7hw4d/app] ",
    "[pod/pay-6f7d9c5b4-x2x4d/app] ",
    "pay-6f7d9c5b4-7hw4d app ",
    "logs/a.log:17:",
    "logs/b.log-18-",
    "2026-11-27T22:02:31.375Z host app[12]: ",
]
TOO_SLOW = (
    "consumer poll timeout has expired. This means the time between subsequent calls to poll()"
)


def by_writers():
    """Processes whose client.id is the same join; each is too slow, in the same order."""
    for number, writer in enumerate(WRITERS):
        text = joined("shared", member=f"app-{number}")
        yield f"{writer}2026-11-27 22:02:31.375 INFO {LOGGER} - {text}\n"
        yield f"{writer}\tmax.poll.interval.ms = 300000\n{writer}\n"
        yield f"{writer}Caused by: java.io.IOException: x\n{writer}\tat a.B.c(B.java:8)\n"
    for writer in WRITERS:
        text = f"[Consumer clientId=app, groupId=shared] {TOO_SLOW}"
        yield f"{writer}2026-11-27 22:12:31.375 WARN {LOGGER} - {text}\n"


BROKER = """\
[2026-11-27 22:02:31,375] INFO [GroupCoordinator 1]: Stabilized group one generation 7 (x-1) \
(kafka.coordinator.group.GroupCoordinator)
[2026-11-27 22:02:31,376] INFO [GroupCoordinator 1]: Member a-1 in group one has failed, removing \
it from the group (kafka.coordinator.group.GroupCoordinator)
[2026-11-27 22:02:32,375] INFO [GroupCoordinator 1]: Group two with generation 5 is now empty \
(__consumer_offsets-22) (kafka.coordinator.group.GroupCoordinator)
[2026-11-27 22:02:33,375] INFO [GroupCoordinator 1]: Member a-2 in group one has failed, removing \
it from the group (kafka.coordinator.group.GroupCoordinator)
"""
# What each of two clients says, and in which second; b stands still, and finds itself removed.
UNKNOWN = "failed due to UNKNOWN_MEMBER_ID, resetting generation"
SILENT = [
    (0, "a", "(Re-)joining group"),
    (3, "a", "Successfully joined group with generation Generation{generationId=1, {a-1}}"),
    (3, "b", "Successfully joined group with generation Generation{generationId=1, {b-1}}"),
    (48, "a", "Attempt to heartbeat failed since group is rebalancing"),
    (48, "a", "(Re-)joining group"),
    (49, "a", "Successfully joined group with generation Generation{generationId=2, {a-1}}"),
    (60, "b", f"Attempt to heartbeat with Generation{{generationId=1, {{b-1}}}} and {UNKNOWN}"),
    (60, "b", "Resetting generation due to: encountered UNKNOWN_MEMBER_ID from HEARTBEAT response"),
    (61, "b", "(Re-)joining group"),
    (63, "b", "Successfully joined group with generation Generation{generationId=3, {b-2}}"),
    (63, "a", "Successfully joined group with generation Generation{generationId=3, {a-1}}"),
]


def silent():
    """The lines of a group one of whose members is removed, and tells so only later."""
    for second, client, text in SILENT:
        told = re.sub(r"\{([ab]-\d)\}", r"memberId='\1', protocol='range'", text)
        told = told.replace(" and failed", " and group instance id Optional.empty failed")
        yield (
            f"2026-11-27 22:{second // 60:02}:{second % 60:02}.000 INFO {LOGGER} - "
            f"[Consumer clientId={client}, groupId=silent] {told}\n"
        )


NO_GROUP = (
    "%4|1795816951.375|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval "
    "(300000ms) exceeded by 478ms (adjust max.poll.interval.ms): leaving group\n"
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Files of many forms: a group for each form of a time, and what is hard to read."""
    folder = tmp_path_factory.mktemp("a folder: [logs]")
    for name in TIMES:
        (folder / f"{name}.log").write_text(line(name, name) + "\n")
        os.utime(folder / f"{name}.log", (1_795_820_000, 1_795_820_000))
    for name, text in objects().items():
        (folder / f"{name}.log").write_text(f"{text}\n")
    nested = {
        "log": json.dumps({"@timestamp": "2026-11-27T22:02:31.375Z", "message": joined("json")})
    }
    (folder / "json.log").write_text(json.dumps(nested) + "\n")
    colours = {"msg": f"\x1b[32m{joined('colours')}\x1b[0m\r\n", "ts": AT_MS}
    (folder / "colours.log").write_text(json.dumps(colours) + "\n")
    (folder / "packed.txt").write_bytes(gzip.compress(line("log4j", "packed").encode()))
    noise = random.Random(0).randbytes(1 << 18)
    torn = gzip.compress((line("log4j", "torn") + "\n").encode() + noise)
    (folder / "torn.gz").write_bytes(torn[:-50_000])
    (folder / "names.log").write_text(line("iso", NAME) + "\r\n")
    newest_first = [
        TIMES["iso"]
        .replace("31.375", f"{31 + n}.375")
        .format(logger=LOGGER, text=joined("back", n))
        for n in (3, 2, 1)
    ]
    (folder / "back.log").write_text("\n".join(newest_first))
    (folder / "again.log").write_text("".join(begun_again()))
    (folder / "writers.log").write_text("".join(by_writers()))
    (folder / "silent.log").write_text("".join(silent()))
    (folder / "broker.log").write_text(BROKER)
    (folder / "nameless.log").write_text(NO_GROUP)
    bad = (
        b"2026-11-27 22:02:31 INFO "
        + LOGGER.encode()
        + b" - [Consumer clientId=x, groupId=y] Never heard of\n"
    )
    rest = [
        bad,
        b"\xff\xfe\x00 what is this \xc3\n",
        b"\n",
        b"\tat java.lang.Thread.run(Thread.java:840)\n",
        b"plain words\n",
        b"2026-11-27 22:02:32 INFO com.example.App - started\n",
        b'2026-11-27 22:02:32 INFO com.example.App - sent {"id": 1}\n',
        b'app-1 | {"id": 1}\n',
    ]
    (folder / "rest.log").write_bytes(b"".join(rest))
    return folder


@pytest.fixture(scope="module")
def imported(spark, logs, tmp_path_factory):
    """All of them, imported at once: counts, events as a trace, unread lines, events as rows."""
    from kafkalearn.spark.logs.importing import import_logs

    out = tmp_path_factory.mktemp("prefixes") / "out"
    counts = import_logs(spark, sorted(logs.iterdir()), out=out)
    unparsed = spark.read.parquet(str(out / "unparsed")).collect()
    events = spark.read.parquet(str(out / "events"))
    return counts, Trace.from_parquet(out / "events"), unparsed, events


@pytest.mark.parametrize("group", [*TIMES, *objects(), "json", "colours", "packed", "torn", NAME])
def test_a_join_is_found_whatever_stands_around_it(imported, group):
    """One answer to one JoinGroup, with group, member, generation and the time in UTC."""
    [answer] = imported[1].where(kind="response", group_id=group)
    assert (answer.api, answer.member_id, answer.generation) == ("JoinGroup", "app-1", 1)
    assert answer.time_ms == AT_MS


def test_a_log_that_is_newest_first_is_turned_round(imported):
    """Generations rise with time, in whichever direction the file was written."""
    answers = imported[1].where(kind="response", group_id="back")
    assert [event.generation for event in answers] == [1, 2, 3]


def test_a_group_that_begins_again_is_told_again(spark, imported):
    """Generations of one number that lie apart, under other members, stay apart, in their order."""
    from kafkalearn.spark.logs.story import stories

    events = imported[3].where("group_id = 'again'")
    found = [
        (f"{row.time:%d %T}", row.generation, *row.members) for row in stories(events).collect()
    ]
    assert found == LIVES


def test_who_finds_itself_removed_had_been_silent(imported):
    """Its group rebalanced for it before it knew; it begins as the first of them hears of it."""
    steps = [
        (event.time_ms // 1000 % 3600, event.detail["reason"])
        for event in imported[1].where(kind="group_state", group_id="silent")
        if event.detail["to"] == "PreparingRebalance"
    ]
    assert steps == [
        (0, "adding new member a-1"),
        (48, "removing member b-1 on heartbeat expiration"),
        (61, "adding new member b-2"),
    ]


def test_processes_with_one_client_id_are_told_apart_by_what_stands_before_their_lines(imported):
    """What names no member is of the one that this process was; what is indented goes on."""
    events = imported[1].where(group_id="shared")
    left = [each.member_id for each in events if each.kind == "client_state"]
    assert left == [f"app-{number}" for number in range(len(WRITERS))]
    assert len({each.node for each in events} - {"coordinator"}) == len(WRITERS)
    assert not [row.line for row in imported[2] if row.file.endswith("writers.log")]


def test_a_coordinator_speaks_of_many_groups(imported):
    """A group has no member, and no generation, of the group that a line before was about."""
    one, two = (imported[1].where(group_id=name) for name in ("one", "two"))
    assert [(each.kind, each.member_id, each.generation) for each in two] == [
        ("group_state", None, 5)
    ]
    removed = [each for each in one if each.kind == "member_removed"]
    assert [(each.member_id, each.generation) for each in removed] == [("a-1", 7), ("a-2", 7)]


def test_who_gave_up_in_a_group_that_is_not_named_is_told(imported, tmp_path):
    """librdkafka says that much without any debug; nothing is told where there is none."""
    rows = imported[1].where(kind="client_state").to_pandas()
    said = []
    for number, nameless in enumerate((rows.group_id.isna(), ~rows.group_id.isna())):
        rows[nameless].to_parquet(tmp_path / f"{number}.parquet")
        _tell_of_no_group(tmp_path / f"{number}.parquet", said.append)
    assert said[1:] == [
        "  2026-11-27 22:02:31 rdkafka UNJOINED: maximum poll interval (300000ms) exceeded by 478ms"
    ]


def test_what_cannot_be_read_is_kept_with_its_reason(imported):
    """Line, file, number and reason of each; all lines are counted once."""
    counts, _, unparsed, _ = imported
    rest = {row.line_number: row.reason for row in unparsed if row.file.endswith("rest.log")}
    assert rest == {
        1: "a wording of a coordinator that is not known",
        2: "damaged bytes: no time, and nothing of Kafka's",
        5: "no time, and nothing of Kafka's",
        8: "JSON without a message",
    }
    assert sum(counts.classes.values()) == counts.lines
    assert [name.rpartition("/")[2] for name in counts.broken] == ["torn.gz"]


def test_no_line_passes_through_python(spark, logs, tmp_path):
    """The plans of reading and of making events hold no Python function."""
    from kafkalearn.spark.logs.importing import events_of
    from kafkalearn.spark.logs.lines import linked, numbered, read_lines
    from kafkalearn.spark.logs.reading import read, with_fields
    from kafkalearn.spark.logs.states import completed

    files = [logs / "names.log"]
    linked(files, tmp_path)
    lines = read_lines(spark, files, folder=tmp_path)
    rows = with_fields(numbered(read(lines.frame), lines.starts).withColumns(lines.about))
    states = completed(spark.createDataFrame([], rows.schema))
    events = events_of(spark.createDataFrame([], states.schema), run="one")
    plans = [frame._jdf.queryExecution().toString() for frame in (rows, states, events)]
    assert ["Window" in plan for plan in plans] == [False, True, True]
    assert not any(
        word in "".join(plans)
        for word in ("PythonUDF", "ArrowEval", "BatchEval", "MapIn", "FlatMapGroups")
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read"),
        (b"", "an empty log"),
        (b"PK\3\4rest", "is a zip archive: unpack it"),
        (b"GET / 200\n", "no line tells of"),
    ],
    ids=["no file", "empty", "zip", "nothing of Kafka"],
)
def test_a_log_that_cannot_be_read_leaves_nothing(spark, tmp_path, content, sentence):
    """One sentence, and no file in or beside the folder."""
    from kafkalearn.spark.logs.importing import import_logs
    from kafkalearn.spark.logs.lines import LogError

    log = tmp_path / "a.log"
    if content is not None:
        log.write_bytes(content)
    there = sorted(tmp_path.iterdir())
    with pytest.raises(LogError, match=sentence):
        import_logs(spark, [log], out=tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == there


def test_an_interrupted_import_leaves_nothing(spark, logs, tmp_path, monkeypatch):
    """Ctrl-C in the middle, when lines are written: no file in or beside the folder."""
    from kafkalearn.spark.logs import importing

    begun = []

    def interrupt(_):
        begun.extend(tmp_path.rglob("rows/*.parquet"))
        raise KeyboardInterrupt

    monkeypatch.setattr(importing, "completed", interrupt)
    before = spark.conf.get("spark.sql.codegen.wholeStage")
    with pytest.raises(KeyboardInterrupt):
        importing.import_logs(spark, [logs / "names.log"], out=tmp_path / "out")
    assert begun
    assert list(tmp_path.iterdir()) == []
    assert spark.conf.get("spark.sql.codegen.wholeStage") == before


def test_sigterm_is_an_interrupt():
    """The command ends as it does at Ctrl-C, and afterwards the signal means what it did."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), interrupted_by_sigterm():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_large_file_is_numbered_across_its_splits(spark, tmp_path):
    """The lines of a file that several tasks read are counted from its first line on."""
    from kafkalearn.spark.logs.lines import SETTINGS, SPLIT_BYTES, linked, numbered, read_lines

    log, links = tmp_path / "a.log", tmp_path / "links"
    links.mkdir()
    text = f"{'x' * 99_999}\n"
    many = SPLIT_BYTES // len(text) + 50
    log.write_text("".join(f"{n:06}{text[6:]}" for n in range(1, many + 1)))
    linked([log], links)
    before = {key: spark.conf.get(key) for key in SETTINGS}
    try:
        for key, value in SETTINGS.items():
            spark.conf.set(key, value)
        lines = read_lines(spark, [log], folder=links)
        frame = numbered(lines.frame, lines.starts).selectExpr("number", "left(text, 6) AS begin")
        found = {int(row.begin): row.number for row in frame.collect()}
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)
    assert found == {n: n for n in range(1, many + 1)}


def test_the_command_refuses_in_a_sentence(tmp_path):
    """A missing file and a folder that is not empty: exit status 2, before Spark is started."""
    missing = CliRunner().invoke(app, ["logs", "none.log", "--out", str(tmp_path / "out")])
    assert (missing.exit_code, missing.stderr) == (
        2,
        "kafkalearn: none.log cannot be read: No such file or directory\n",
    )
    log = tmp_path / "a.log"
    log.write_text("x\n")
    full = CliRunner().invoke(app, ["logs", str(log), "--out", str(tmp_path)])
    assert (full.exit_code, "is not an empty folder" in full.stderr) == (2, True)
