"""Each partition as a bar of records, with the one sentence that matters about it."""

from kafkalearn import scenarios
from kafkalearn.simulation import Simulation
from kafkalearn.trace import Trace
from kafkalearn.views import logs
from kafkalearn.views.language import Say
from kafkalearn.views.logs.log_row import sentence

SAY = Say()


def changes(trace, partition=0):
    """Give, whenever it is another: cells, committed, position, sentence."""
    found = []
    for frame in logs.frames(trace):
        for row in frame["rows"]:
            if row["partition"] == partition:
                at = row["positions"][0][0] if row["positions"] else None
                told = (row["cells"], row["committed"], at, sentence(row, SAY))
                found += [] if found[-1:] == [told] else [told]
    return found


def recorded(*events):
    """Record (kind, node, columns) one a millisecond, of partition 0 of topic t."""
    trace = Trace("recorded")
    for time_ms, (kind, node, columns) in enumerate(events):
        trace.record(kind, time_ms, node, **{"topic": "t", "partition": 0} | columns)
    return trace


def at(kind, node, offset=None, /, **detail):
    """Give an event of the partition."""
    return kind, node, {"offset": offset, "detail": detail or None}


def appended(count):
    """Give the event of so many records from offset 0 on."""
    return at("append", "broker-0", 0, count=count)


def read(node, first, count):
    """Give the events of a consumer that begins at `first`, and gets `count` records."""
    return at("position", node, first, reason="committed"), *got(node, first, count)


def got(node, first, count):
    """Give the events of a poll that returns records."""
    moved = at("position", node, first + count, reason="consumed")
    return moved, at("records_returned", node, first, count=count)


def done(node, *offsets):
    """Give the events of records that have their effect."""
    return tuple(at("processed", node, offset, sink="db") for offset in offsets)


def stored(offset, group_id="g"):
    """Give the event of a commit that the coordinator took."""
    return "offset_stored", "broker-0", {"offset": offset, "group_id": group_id}


CRASH = ("fault", "c1", {"topic": None, "partition": None, "detail": {"fault": "crash"}})


def row_after(*events, **more):
    """Give the only row after these events."""
    (row,) = logs.frames(recorded(*events), **more)[-1]["rows"]
    return row


def told_after(*events):
    """Give cells, tone and sentence after these events."""
    row = row_after(*events)
    return row["cells"], row["tone"], sentence(row, SAY)


def test_work_before_the_commit_comes_again_after_a_crash():
    """Committed at 3 and processed up to 4: a crash brings 3 and 4 back, and they count twice."""
    trace = scenarios.crash_before_commit()
    stake = "c1 processed {}, not committed yet: a crash now has {} processed again".format
    reset = "after a crash now, auto.offset.reset decides what comes again"
    assert changes(trace) == [
        ("", None, None, "nobody reads it"),
        ("uuuuuu", None, None, "nobody reads it"),
        ("uuuuuu", None, None, "c1 must find where to begin"),
        ("uuuuuu", None, 0, "6 records wait to be read"),
        ("rrruuu", None, 3, f"c1 returned 0–2 to the application, not committed yet: {reset}"),
        ("prruuu", None, 3, f"c1 processed 0, not committed yet: {reset}"),
        ("ppruuu", None, 3, f"c1 processed 0–1, not committed yet: {reset}"),
        ("pppuuu", None, 3, f"c1 processed 0–2, not committed yet: {reset}"),
        ("pppuuu", 3, 3, "3 records wait to be read"),
        (
            *("ppprrr", 3, 6),
            "c1 returned 3–5 to the application, not committed yet: a crash now delivers 3–5 again",
        ),
        ("pppprr", 3, 6, stake("3", "3")),
        ("pppppr", 3, 6, stake("3–4", "3–4")),
        ("pppppu", 3, None, "c1 crashed: the next reader begins at 3 and processes 3–4 once more"),
        ("pppppu", 3, None, "c1 must find where to begin"),
        ("pppppu", 3, 3, "c1 went back to 3–4: they were processed before"),
        ("pppppr", 3, 6, "c1 went back to 3–4: they were processed before"),
        ("pppppr", 3, 6, "c1 went back to 4: it was processed before"),
        ("pppppr", 3, 6, stake("3–4", "3–4")),
        ("pppppp", 3, 6, stake("3–5", "3–5")),
        ("pppppp", 6, 6, "all read and committed, 3–4 processed more than once"),
        ("pppppp", 6, None, "c1 left: the next reader begins at 6"),
    ]
    assert logs.frames(trace)[-1]["rows"][0]["again"] == ((3, 2), (4, 2))


def test_work_after_the_commit_is_lost_by_a_crash():
    """Committed before it was processed: a crash would lose it, and then has."""
    story = changes(scenarios.crash_before_commit(commit_mode="before"))
    at_risk = [each for each in story if "a crash now loses" in each[3]]
    assert [(cells, text.split(": ")[1]) for cells, _, _, text in at_risk] == [
        ("rrruuu", "a crash now loses 0–2"),
        ("prruuu", "a crash now loses 1–2"),
        ("ppruuu", "a crash now loses 2"),
        ("ppprrr", "a crash now loses 3–5"),
        ("pppprr", "a crash now loses 4–5"),
        ("pppppr", "a crash now loses 5"),
    ]
    assert story[-3:] == [
        ("pppppl", 6, None, "committed past 5, which nobody processed: it is lost"),
        ("pppppl", 6, 6, "committed past 5, which nobody processed: it is lost"),
        ("pppppl", 6, None, "committed past 5, which nobody processed: it is lost"),
    ]


def test_what_is_in_work_is_not_lost_before_its_reader_is_gone():
    """Revoked, and only then, what was committed past and not processed is lost."""
    before = (appended(3), *read("c1", 0, 3), *done("c1", 0, 2), stored(3))
    revoked = ("revoked", "c1", {"detail": {"partitions": {"t": [0]}}})
    assert told_after(*before) == (
        *("prp", "bad"),
        "c1 committed past 1, not processed yet: a crash now loses 1",
    )
    assert told_after(*before, revoked) == (
        *("plp", "bad"),
        "committed past 1, which nobody processed: it is lost",
    )
    assert told_after(*before, revoked, *done("c1", 1)) == (
        *("ppp", "soft"),
        "c1 gave it up: the next reader begins at 3",
    )


def test_a_commit_past_what_was_returned_loses_nothing_while_it_is_read():
    """Committed too far by hand: its reader still comes to it, but a crash would skip it."""
    events = (appended(4), *read("c1", 0, 1), *done("c1", 0), stored(3))
    risk = "c1 committed past 1–2, not processed yet: a crash now loses 1–2"
    assert told_after(*events) == ("puuu", "bad", risk)
    lost = "committed past 1–2, which nobody processed: they are lost"
    assert told_after(*events, CRASH) == ("pllu", "bad", lost)


def test_what_retention_deletes_unread_is_lost():
    """Deleted records are ghosts; those that nobody had processed are lost."""
    story = changes(scenarios.offset_out_of_range())
    assert ("ddll", 2, None, "2–3 deleted, never processed: they are lost") in story


def test_what_latest_skips_is_lost_once_it_is_committed_past():
    """A group that comes back without its offset and begins at the end skips two records."""
    story = changes(scenarios.offset_expired(auto_offset_reset="latest"))
    forgotten = "auto.offset.reset decides where the next reader begins"
    assert ("ppu", None, None, f"the committed offset 2 was forgotten: {forgotten}") in story
    assert story[-1] == (
        *("ppllp", 5, 5),
        "committed past 2–3, which nobody processed: they are lost",
    )


def test_what_was_there_before_a_group_began_is_not_lost():
    """A first reader that begins at the end has missed nothing that was promised to it."""
    events = (appended(9), *read("c1", 8, 1), *done("c1", 8), stored(9))
    assert told_after(*events) == ("uuuuuuuup", "ok", "all read and committed")


def test_a_slow_member_and_its_successor_both_have_the_record():
    """Out of the group, c2 works on: two read the partition, and the record is processed twice."""
    story = changes(scenarios.consumer_stops_polling(), partition=1)
    both = "c2, c1 returned 0 to the application, not committed yet"
    assert [each for each in story if each[3].startswith(both)]
    assert story[-3][3] == "all read and committed, 0 processed more than once"


def test_positions_name_their_consumers():
    """Two consumers with one partition: each position with who is there."""
    row = row_after(appended(5), *read("c1", 0, 2), *read("c2", 0, 2), *got("c2", 2, 1))
    assert row["positions"] == ((2, "c1"), (3, "c2"))
    many = [at("position", f"c{number}", 1) for number in range(5)]
    assert row_after(appended(5), *many)["positions"] == ((1, "c0, c1, c2, …"),)


def test_a_refused_commit_is_told_until_the_next_one():
    """What was refused comes again; a refusal of what a later commit covered changes nothing."""
    refused = {"offset": 1, "group_id": "g", "error": "ILLEGAL_GENERATION"}
    events = (appended(2), *read("c1", 0, 1), *done("c1", 0), stored(0))
    refusal = ("commit", "c1", refused)
    told = "c1's commit of 1 was refused with ILLEGAL_GENERATION"
    effect = "the next reader begins at 0 and processes 0 once more"
    assert told_after(*events, refusal) == ("pu", "bad", f"{told}: {effect}")
    assert told_after(*events, refusal, stored(1))[2] == "1 record waits to be read"
    assert told_after(*events, stored(2), refusal)[2] != f"{told}: {effect}"


def test_another_group_does_not_count():
    """What two groups process and commit is not mixed: one is followed, by default the first."""
    sim = Simulation(seed=1, profile="1.0")
    sim.create_topic("orders", 1)
    producer = sim.producer("p1")
    producer.send("orders", value="v")
    producer.flush()
    for name, group_id in (("c1", "first"), ("c2", "second")):
        consumer = sim.consumer(name, group_id=group_id, auto_offset_reset="earliest")
        consumer.subscribe(["orders"])
        for record in consumer.poll(5000):
            sim.sink("db").write(record)
        consumer.close()
    trace = sim.trace[:]
    sim.dispose()
    for group_id in ("first", "second"):
        frame = logs.frames(trace, group_id=group_id)[-1]
        assert frame["group_id"] == group_id
        assert [(row["cells"], row["again"], row["committed"]) for row in frame["rows"]] == [
            ("p", (), 1)
        ]
    assert logs.frames(trace)[-1] == logs.frames(trace, group_id="first")[-1]


def test_two_sinks_are_no_duplicate():
    """A record that one poll writes to two places was processed once."""
    sinks = (at("processed", "c1", 0, sink=sink) for sink in ("db", "mail"))
    assert row_after(appended(1), *read("c1", 0, 1), *sinks)["again"] == ()


def test_topics_with_the_same_numbers_are_apart():
    """Partition 0 of two topics are two rows, sorted; the cluster's own topics have none."""
    trace = Trace("recorded")
    for topic in ("b", "a", "__consumer_offsets"):
        trace.record("append", 0, "broker-0", topic=topic, partition=0, offset=0)
    assert [row["topic"] for row in logs.frames(trace)[-1]["rows"]] == ["a", "b"]


def test_a_deleted_topic_is_gone():
    """Its rows go, and when it is made anew they begin empty."""
    deleted = ("topic_changed", "broker-0", {"partition": None, "detail": {"change": "deleted"}})
    again = {"partition": None, "detail": {"change": "created", "count": 1}}
    assert logs.frames(recorded(appended(1), deleted))[-1]["rows"] == []
    row = row_after(appended(1), deleted, ("topic_changed", "broker-0", again))
    assert row["cells"] == ""


def test_a_long_log_shows_the_cells_around_the_work():
    """Of 1,000 records 24 are cells, and the rest is counted on both sides."""
    events = (appended(1000), *read("c1", 496, 4), *done("c1", 496), stored(497))
    row = row_after(*events)
    assert (row["first"], row["cells"]) == (488, "uuuuuuuu" + "p" + "rrr" + "u" * 12)
    assert (row["before"], row["after"]) == (488, 488)
    assert row_after(*events, *done("c1", 497, 498))["first"] == 488, "the picture stands still"


def test_many_partitions_are_counted():
    """More rows than can be looked at are left out, and their number is told."""
    trace = Trace("recorded")
    for partition in range(30):
        trace.record("append", 0, "broker-0", topic="t", partition=partition, offset=0)
    frame = logs.frames(trace)[-1]
    assert (len(frame["rows"]), frame["more"]) == (logs.MAX_ROWS, 6)
    assert logs.as_text(frame, SAY).splitlines()[-1] == "and 6 more partitions"


def test_without_the_broker_the_client_tells_what_is_committed():
    """A trace of a client alone still says what was committed and returned."""
    commit = ("commit", "c1", {"offset": 2, "group_id": "g"})
    row = row_after(*read("c1", 0, 2), *done("c1", 0, 1), commit)
    assert (row["cells"], row["committed"]) == ("pp", 2)


def test_without_processing_nothing_is_called_lost():
    """A trace that does not tell what was processed says so, and does not guess."""
    trace = recorded(appended(2), *read("c1", 0, 2), stored(2), CRASH)
    frame = logs.frames(trace)[-1]
    assert (frame["told"], frame["rows"][0]["cells"]) == (False, "uu")
    assert "this trace does not tell what was processed" in logs.as_text(frame, SAY)


def test_the_text_is_aligned():
    """A line for each partition, in words."""
    trace = recorded(appended(3), *read("c1", 0, 2), *done("c1", 0), stored(0))
    assert logs.as_text(logs.frames(trace)[-1], SAY) == (
        "Logs · committed by group g\n"
        "t-0  0 processed, 1 returned, 2 unread; committed 0; position 2 (c1). "
        "c1 processed 0, not committed yet: a crash now has 0 processed again"
    )


def test_what_is_known_to_be_nothing_is_not_unknown():
    """A run that has a sink tells what is processed, be it nothing: then what is passed is lost."""
    for has_sink, told in ((True, "committed past 0–1, which nobody processed"), (False, "all")):
        sim = Simulation(seed=1)
        sim.create_topic("t", 1)
        producer = sim.producer("p1")
        for value in "ab":
            producer.send("t", value=value)
        producer.flush()
        if has_sink:
            sim.sink("db")
        consumer = sim.consumer("c1", group_id="g", auto_offset_reset="earliest")
        consumer.subscribe(["t"])
        consumer.poll(5000)
        consumer.commit_sync()
        consumer.close()
        sim.consumer("c2", group_id="g").subscribe(["t"])
        frame = logs.frames(sim.trace)[-1]
        assert frame["told"] == has_sink
        assert (told in sentence(frame["rows"][0], SAY)) == has_sink
        sim.dispose()
