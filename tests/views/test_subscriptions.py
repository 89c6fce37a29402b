"""Each consumer's partitions: position, committed, high watermark and lag."""

from kafkalearn import scenarios
from kafkalearn.engine import Crash, Restart
from kafkalearn.trace import Trace
from kafkalearn.views import subscriptions
from kafkalearn.views.language import Say


def told(frame):
    """Give each consumer with the four numbers of its partitions."""
    return [
        (consumer["node"], consumer["gone"], *map(numbers, consumer["cells"]))
        for consumer in frame["consumers"]
    ]


def numbers(cell):
    """Give a partition, then position, committed, high watermark, lag."""
    place = f"{cell['topic']}-{cell['partition']}"
    return (place, *(cell[key] for key in ("position", "committed", "high_watermark", "lag")))


def changes(trace):
    """Give each new frame with the time and the kind of its event."""
    found, last = [], None
    for event, frame in zip(trace, subscriptions.frames(trace), strict=True):
        if frame is not last:
            found.append((event.time_ms, event.kind, *told(frame)))
        last = frame
    return found[1:]


def recorded(*events):
    """Record (kind, node, more columns) one a millisecond."""
    trace = Trace("recorded")
    for time_ms, (kind, node, columns) in enumerate(events):
        trace.record(kind, time_ms, node, **columns)
    return trace


def at(topic="t", partition=0, offset=None, **detail):
    """Give the columns of an event of a partition."""
    return {"topic": topic, "partition": partition, "offset": offset, "detail": detail}


def test_a_crash_between_work_and_commit():
    """What was read and not committed is read again: the position goes back to the commit."""
    assert changes(scenarios.crash_before_commit()) == [
        (3018, "assigned", ("c1", None, ("orders-0", None, None, 6, None))),
        (3022, "position", ("c1", None, ("orders-0", 0, None, 6, 6))),
        (3024, "position", ("c1", None, ("orders-0", 3, None, 6, 3))),
        (3041, "commit", ("c1", None, ("orders-0", 3, 3, 6, 3))),
        (3041, "position", ("c1", None, ("orders-0", 6, 3, 6, 0))),
        (3051, "fault", ("c1", "crashed", ("orders-0", 6, 3, 6, 0))),
        (3052, "fault"),
        (9043, "assigned", ("c1", None, ("orders-0", None, 3, 6, None))),
        (9045, "position", ("c1", None, ("orders-0", 3, 3, 6, 3))),
        (9047, "position", ("c1", None, ("orders-0", 6, 3, 6, 0))),
        (9064, "commit", ("c1", None, ("orders-0", 6, 6, 6, 0))),
        (9064, "client_state", ("c1", "closed", ("orders-0", 6, 6, 6, 0))),
    ]


def test_a_partition_changes_hands():
    """The one that gives a partition up loses its row; the other begins at what was committed."""
    trace = scenarios.second_member_joins()
    assert told(subscriptions.frames(trace)[-1]) == [
        ("c1", None, ("orders-0", 2, 2, 2, 0)),
        ("c2", None, ("orders-1", 2, 2, 2, 0)),
    ]


def test_assign_has_positions_without_being_given_any():
    """A refused commit moves nothing; a group's commit is seen by all of its consumers."""
    trace = scenarios.assign_beside_subscribe()
    assert changes(trace)[-3:] == [
        (
            3555,
            "append",
            ("c1", "closed", ("orders-0", 3, 3, 4, 1)),
            ("c2", None, ("orders-0", 3, 3, 4, 1)),
        ),
        (
            3556,
            "position",
            ("c1", "closed", ("orders-0", 3, 3, 4, 1)),
            ("c2", None, ("orders-0", 4, 3, 4, 0)),
        ),
        (
            3558,
            "commit",
            ("c1", "closed", ("orders-0", 3, 4, 4, 1)),
            ("c2", None, ("orders-0", 4, 4, 4, 0)),
        ),
    ]


def test_a_position_before_the_log_is_out_of_range():
    """Records that were deleted leave a position behind, until it is reset."""
    trace = scenarios.offset_out_of_range()
    place = next(
        place
        for place, event in enumerate(trace)
        if event.kind == "position" and event.offset == 2 and event.time_ms > 60_000
    )
    (consumer,) = subscriptions.frames(trace)[place]["consumers"]
    (cell,) = consumer["cells"]
    assert (cell["log_start"], numbers(cell)) == (4, ("orders-0", 2, 2, 5, 3))
    assert subscriptions.remarks(cell, Say()) == ["out of range"]


def test_an_expired_offset_is_committed_no_more():
    """What the coordinator has forgotten is no commit for who comes later."""
    given = {"group_id": "g", "detail": {"partitions": {"t": [0]}}}
    trace = recorded(
        ("assigned", "c1", given),
        ("commit", "c1", {"group_id": "g", **at(offset=5)}),
        ("offset_expired", "b", {"group_id": "g", **at(offset=5)}),
    )
    found = [
        frame["consumers"][0]["cells"][0]["committed"] for frame in subscriptions.frames(trace)
    ]
    assert found == [None, 5, None]


def test_topics_and_groups_are_told_apart():
    """Equal partition numbers of two topics, and commits of two groups, do not mix."""
    trace = recorded(
        ("assigned", "c1", {"group_id": "g", "detail": {"partitions": {"b": [0], "a": [0]}}}),
        ("assigned", "d1", {"group_id": "h", "detail": {"partitions": {"a": [0]}}}),
        ("append", "broker-0", at("a", offset=0, count=3)),
        ("commit", "c1", {"group_id": "g", **at("a", offset=2)}),
    )
    assert told(subscriptions.frames(trace)[-1]) == [
        ("c1", None, ("a-0", None, 2, 3, None), ("b-0", None, None, None, None)),
        ("d1", None, ("a-0", None, None, 3, None)),
    ]


def test_paused_is_told_until_it_ends():
    """The position says whether its partition is paused."""
    trace = recorded(
        ("position", "c1", at(offset=3, paused=True)), ("position", "c1", at(offset=3))
    )
    words = [
        subscriptions.remarks(frame["consumers"][0]["cells"][0], Say())
        for frame in subscriptions.frames(trace)
    ]
    assert words == [["paused"], []]


def test_a_consumer_knows_more_than_a_trace_without_brokers():
    """A high watermark that a consumer was told counts, but never takes the log's end back."""
    trace = recorded(
        ("position", "c1", at(offset=3, high_watermark=9)),
        ("append", "b", at(offset=9, count=1)),
        ("position", "c1", at(offset=4, high_watermark=9)),
        ("records_returned", "c1", at(offset=4, count=2)),
    )
    assert [told(frame)[0][2] for frame in subscriptions.frames(trace)] == [
        ("t-0", 3, None, 9, 6),
        ("t-0", 3, None, 10, 7),
        ("t-0", 4, None, 10, 6),
        ("t-0", 6, None, 10, 4),
    ]


def test_a_broker_that_restarts_keeps_its_logs():
    """It leads again, after nobody; the high watermark stays what it was."""
    faults = (Crash("broker-0", 3500), Restart("broker-0", 3600))
    last = subscriptions.frames(scenarios.first_member(faults=faults))[-1]
    assert told(last) == [("c1", None, ("orders-0", 2, 2, 2, 0), ("orders-1", 2, 2, 2, 0))]


def test_a_topic_that_is_made_again_is_empty():
    """Nothing is known of it while it is gone; what a consumer heard of the first one is old."""
    changed = {"topic": "t"}
    trace = recorded(
        ("topic_changed", "b", changed | {"detail": {"change": "created", "count": 1}}),
        ("append", "b", at(offset=0, count=5)),
        ("position", "c1", at(offset=5, high_watermark=5)),
        ("topic_changed", "b", changed | {"detail": {"change": "partitions_added", "count": 2}}),
        ("topic_changed", "b", changed | {"detail": {"change": "deleted"}}),
        ("topic_changed", "b", changed | {"detail": {"change": "created", "count": 1}}),
        ("position", "c1", at(offset=0, high_watermark=5)),
        ("append", "b", at(offset=0, count=1)),
    )
    assert [told(frame)[0][2][1:] for frame in subscriptions.frames(trace)[2:]] == [
        (5, None, 5, 0),
        (5, None, 5, 0),
        (5, None, None, None),
        (5, None, 0, 0),
        (0, None, 0, 0),
        (0, None, 1, 1),
    ]


def test_who_polls_is_not_closed():
    """A new consumer on the node of a closed one begins with nothing, and is in its group."""
    trace = recorded(
        ("assigned", "c1", {"group_id": "g", "detail": {"partitions": {"t": [0]}}}),
        ("client_state", "c1", {"group_id": "g", "detail": {"reason": "the consumer closes"}}),
        ("poll", "c1", {"group_id": "g"}),
    )
    assert [told(frame) for frame in subscriptions.frames(trace)[1:]] == [
        [("c1", "closed", ("t-0", None, None, None, None))],
        [("c1", None)],
    ]


def test_many_partitions_are_counted():
    """Twenty-four rows at most; a consumer's other partitions, and other consumers, are numbers."""
    given = {"detail": {"partitions": {"t": list(range(30))}}}
    frame = subscriptions.frames(recorded(("assigned", "c1", given), ("assigned", "c2", given)))[-1]
    (consumer,) = frame["consumers"]
    assert (len(consumer["cells"]), consumer["more"], frame["more"]) == (24, 6, 1)


def test_cells_are_shared_while_nothing_changes():
    """A change of one partition leaves the cells of the others as they are."""
    given = {"detail": {"partitions": {"t": [0, 1]}}}
    trace = recorded(("assigned", "c1", given), ("position", "c1", at(offset=1)))
    before, now = (frame["consumers"][0]["cells"] for frame in subscriptions.frames(trace))
    assert before[1] is now[1]
    assert before[0] is not now[0]


def test_the_text_is_a_table():
    """Numbers stand to the right; words follow."""
    trace = recorded(
        ("append", "b", at(offset=0, count=1234)),
        ("assigned", "c1", {"detail": {"partitions": {"t": [0], "u": [3]}}}),
        ("position", "c1", at(offset=1000, paused=True)),
        ("fault", "c1", {"detail": {"fault": "crash"}}),
    )
    assert subscriptions.as_text(subscriptions.frames(trace)[-1], Say()).splitlines() == [
        "Subscription state",
        "consumer  partition  position  committed  high watermark  lag",
        "c1        t-0           1,000          –           1,234  234  crashed, paused",
        "c1        u-3               ?          –               ?    ?  crashed",
    ]
