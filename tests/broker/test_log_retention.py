import pytest

from kafkalearn.protocol.metadata import CreatableTopic, CreateTopicsRequest, DeleteTopicsRequest
from tests.broker.world import World, fetch, read, records

SECOND = 1000


def world_with(**settings):
    """One broker whose checks come at 30 s, 40 s, 50 s and so on."""
    return World(log_retention_check_interval_ms=10 * SECOND, **settings)


def due(world):
    return sorted(timer.deadline_ms for timer in world.timers.waiting)


def test_an_idle_cluster_sets_no_timer():
    """Without records nothing can grow old, so that a simulation can end."""
    world = world_with()
    world.create("t", 3)
    assert due(world) == []


@pytest.mark.parametrize(
    ("written_ms", "check_ms"),
    [
        (0, 30 * SECOND),
        (28 * SECOND - 1, 30 * SECOND),
        (28 * SECOND, 40 * SECOND),
        (38 * SECOND - 1, 40 * SECOND),
        (95 * SECOND, 100 * SECOND),
    ],
)
def test_the_next_check_is_the_first_that_finds_something(written_ms, check_ms):
    """Checks stand on a grid that begins 30 s after the broker's start."""
    world = world_with()
    world.create("t", retention_ms=2 * SECOND)
    world.write("t", b"a", now_ms=written_ms)
    assert due(world) == [check_ms]


def test_old_records_go_and_the_next_check_waits_for_the_rest():
    """The log start moves, the trace says so and why, and afterwards all is quiet."""
    world = world_with(log_retention_ms=10 * SECOND)
    world.create("t")
    world.write("t", b"a", b"b", now_ms=0)
    world.write("t", b"c", now_ms=25 * SECOND)
    world.timers.run_until(39 * SECOND)
    assert world.partition("t").log.log_start_offset == 2
    assert due(world) == [40 * SECOND]
    world.timers.run_until(100 * SECOND)
    assert due(world) == []
    told = {"topic": "t", "partition": 0, "detail": {"reason": "retention.ms"}}
    assert world.seen("retention") == [
        ("b0", "retention", 30 * SECOND, {**told, "offset": 2}),
        ("b0", "retention", 40 * SECOND, {**told, "offset": 3}),
    ]


def test_a_log_that_is_too_large_is_cut_at_the_next_check():
    """retention.bytes of the topic go before the broker's; only what is over it goes."""
    world = world_with(log_retention_bytes=1000)
    world.create("t", retention_bytes=3, retention_ms=-1)
    world.write("t", b"aa", b"bb")
    assert due(world) == []
    world.write("t", b"c")
    world.timers.run_until(30 * SECOND)
    assert world.seen("retention") == [
        (
            "b0",
            "retention",
            30 * SECOND,
            {"topic": "t", "partition": 0, "offset": 1, "detail": {"reason": "retention.bytes"}},
        )
    ]
    assert due(world) == []


def test_a_topic_that_keeps_everything_needs_no_check():
    """-1 is for ever, by time and by size."""
    world = world_with()
    world.create("t", retention_ms=-1)
    world.write("t", b"a")
    assert due(world) == []


def test_a_log_that_ages_sooner_brings_the_check_forward():
    """There is one timer for all logs."""
    world = world_with()
    world.create("slow", retention_ms=200 * SECOND)
    world.create("quick", retention_ms=50 * SECOND)
    world.write("slow", b"a")
    assert due(world) == [210 * SECOND]
    world.write("quick", b"a")
    assert due(world) == [60 * SECOND]
    world.write("slow", b"b")
    assert due(world) == [60 * SECOND]
    world.timers.run_until(60 * SECOND)
    assert due(world) == [210 * SECOND]


def test_a_consumer_that_is_slower_than_retention_has_lost_its_offset():
    """Its next fetch is out of range."""
    world = world_with()
    world.create("t", retention_ms=SECOND)
    world.write("t", b"a", b"b")
    world.timers.run_until(30 * SECOND)
    answer = world.answer(fetch(("t", 0, 1)), now_ms=31 * SECOND)
    assert read(answer) == {"t-0": "OFFSET_OUT_OF_RANGE"}


def test_a_deleted_topic_is_no_longer_checked():
    """The check that was set finds nothing, and sets no other."""
    world = world_with()
    world.create("t", retention_ms=SECOND)
    world.write("t", b"a")
    world.answer(DeleteTopicsRequest(topic_names=("t",)))
    world.timers.run_until(100 * SECOND)
    assert (world.seen("retention"), due(world)) == ([], [])


def test_a_new_leader_checks_on_its_own_grid():
    """It counts from its own start, and looks at what it was given."""
    world = World(brokers=2, log_retention_check_interval_ms=10 * SECOND)
    topics = {"t": CreatableTopic(1, {"retention.ms": SECOND})}
    world.answer(CreateTopicsRequest(topics=topics))
    world.crash("b1", 5 * SECOND)
    world.start("b1", 6 * SECOND)
    world.write("t", b"a")
    world.timers.waiting.clear()  # they die with their broker
    world.crash("b0", 7 * SECOND)
    assert due(world) == [36 * SECOND]


def test_the_offsets_topic_is_never_cut():
    """Committed offsets have their own rules for growing old."""
    world = world_with(log_retention_ms=0)
    partition = world.partition("__consumer_offsets")
    world.cluster.append(partition, records(b"a"), now_ms=0)
    assert due(world) == []
