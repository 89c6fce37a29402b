import pytest

from kafkalearn.errors import InvalidRequestError
from kafkalearn.protocol.metadata import CreatePartitionsRequest, DeleteTopicsRequest
from tests.broker.world import World, fetch, read


@pytest.fixture
def world():
    """One broker with a topic of two partitions."""
    world = World()
    world.create("t", 2)
    return world


def test_a_fetch_that_finds_enough_is_answered_at_once(world):
    """The answer has the records, the high watermark and the log start, in the asked order."""
    world.write("t", b"a", b"b")
    world.write("t", b"c", partition=1)
    response = world.answer(fetch(("t", 1, 0), ("t", 0, 1)))
    assert list(read(response).items()) == [("t-1", ([b"c"], 1, 0)), ("t-0", ([b"b"], 2, 0))]


def test_a_fetch_that_finds_nothing_waits_for_a_record(world):
    """It is answered by the append, once, and nothing of it is left."""
    answers = world.ask(fetch(("t", 0, 0), ("t", 1, 0)), now_ms=100)
    assert answers == []
    world.write("t", b"a", partition=1, now_ms=300)
    world.write("t", b"b", partition=0, now_ms=300)
    world.timers.run_until(1000)
    assert [read(answer) for answer in answers] == [{"t-0": ([], 0, 0), "t-1": ([b"a"], 1, 0)}]


def test_a_fetch_waits_for_its_time_at_most(world):
    """After max_wait_ms it is answered with what there is; a later append does nothing."""
    answers = world.ask(fetch(("t", 0, 0), min_bytes=3), now_ms=100)
    world.write("t", b"aa", now_ms=200)
    world.timers.run_until(599)
    assert answers == []
    world.timers.run_until(600)
    world.write("t", b"bb", now_ms=700)
    assert [read(answer) for answer in answers] == [{"t-0": ([b"aa"], 1, 0)}]


def test_min_bytes_are_counted_over_all_partitions(world):
    """Two bytes here and two there are the four that are waited for."""
    answers = world.ask(fetch(("t", 0, 0), ("t", 1, 0), min_bytes=4))
    world.write("t", b"aa")
    assert answers == []
    world.write("t", b"bb", partition=1)
    assert read(answers[0]) == {"t-0": ([b"aa"], 1, 0), "t-1": ([b"bb"], 1, 0)}


def test_min_bytes_above_max_bytes_are_there_when_the_logs_have_them(world):
    """As in Kafka, max_bytes cuts the answer, but does not keep it waiting."""
    world.write("t", b"aa", b"bb")
    assert read(world.answer(fetch(("t", 0, 0), min_bytes=4, max_bytes=3))) == {
        "t-0": ([b"aa"], 2, 0)
    }
    assert world.ask(fetch(("t", 0, 0, 3), min_bytes=4)) == []


def test_a_record_above_its_limit_counts_whole_unless_the_fetch_waits(world):
    """What is read at once counts as it is; for who waits, no partition counts above its limit."""
    request = fetch(("t", 0, 0, 3), min_bytes=4)
    waiting = world.ask(request)
    world.write("t", b"aaaa")
    assert waiting == []
    assert read(world.answer(request)) == {"t-0": ([b"aaaa"], 1, 0)}
    world.timers.run_until(500)
    assert [read(each) for each in waiting] == [{"t-0": ([b"aaaa"], 1, 0)}]


def test_a_second_record_above_its_limit_is_not_counted(world):
    """Only the first record of an answer may break a limit, and what is not read is waited for."""
    world.write("t", b"aaaa")
    world.write("t", b"bbbb", partition=1)
    assert world.ask(fetch(("t", 0, 0, 3), ("t", 1, 0, 3), min_bytes=8)) == []
    answer = world.answer(fetch(("t", 0, 0, 3), ("t", 1, 0, 3), min_bytes=4))
    assert read(answer) == {"t-0": ([b"aaaa"], 1, 0), "t-1": ([], 1, 0)}


@pytest.mark.parametrize(
    "patience", [{"max_wait_ms": 0}, {"max_wait_ms": -1}, {"min_bytes": 0}, {"min_bytes": -1}]
)
def test_a_fetch_without_patience_is_answered_at_once(world, patience):
    """No time to wait, or nothing to wait for: an empty answer."""
    assert read(world.answer(fetch(("t", 0, 0), **patience))) == {"t-0": ([], 0, 0)}
    assert world.timers.waiting == []


def test_a_fetch_of_nothing_is_answered_at_once(world):
    """There is nothing that could come."""
    assert read(world.answer(fetch())) == {}


@pytest.mark.parametrize(
    ("max_bytes", "limit", "found"),
    [
        (1000, 1000, ([b"aa", b"bb"], [b"cc"])),
        (5, 1000, ([b"aa", b"bb"], [])),
        (1, 1000, ([b"aa"], [])),
        (1000, 2, ([b"aa"], [b"cc"])),
        (1000, 1, ([b"aa"], [])),
        (0, 0, ([b"aa"], [])),
    ],
)
def test_only_the_first_record_of_an_answer_may_break_a_limit(world, max_bytes, limit, found):
    """max_bytes hold over all partitions in their order, and each has its own limit (KIP-74)."""
    world.write("t", b"aa", b"bb")
    world.write("t", b"cc", partition=1)
    request = fetch(("t", 0, 0, limit), ("t", 1, 0, limit), max_bytes=max_bytes, min_bytes=0)
    first, second = found
    assert read(world.answer(request)) == {"t-0": (first, 2, 0), "t-1": (second, 1, 0)}


def test_an_empty_partition_leaves_its_privilege_to_the_next(world):
    """The first partition that has a record gives it, whatever its size."""
    world.write("t", b"cc", partition=1)
    answer = world.answer(fetch(("t", 0, 0), ("t", 1, 0), max_bytes=1))
    assert read(answer) == {"t-0": ([], 0, 0), "t-1": ([b"cc"], 1, 0)}


@pytest.mark.parametrize("offset", [-1, 3, 2**40])
def test_an_offset_out_of_range_is_an_error_at_once(world, offset):
    """Negative or behind the log's end: the other partitions do not wait either."""
    world.write("t", b"a", b"b")
    answer = world.answer(fetch(("t", 1, 0), ("t", 0, offset)))
    assert read(answer) == {"t-1": ([], 0, 0), "t-0": "OFFSET_OUT_OF_RANGE"}
    refused = answer.partitions["t", 0]
    assert (refused.high_watermark, refused.log_start_offset, refused.records) == (-1, -1, ())


def test_a_deleted_offset_is_out_of_range(world):
    """Who was slower than the retention has to reset."""
    world.write("t", b"a", b"b")
    world.partition("t").log.delete_records(1)
    assert read(world.answer(fetch(("t", 0, 0)))) == {"t-0": "OFFSET_OUT_OF_RANGE"}
    assert read(world.answer(fetch(("t", 0, 1)))) == {"t-0": ([b"b"], 2, 1)}


def test_an_unknown_partition_alone_is_an_error_at_once(world):
    """Neither the topic nor the partition number has to be right to get an answer."""
    answer = world.answer(fetch(("nowhere", 0, 0), ("t", 2, 0), ("t", -1, 0)))
    assert set(read(answer).values()) == {"UNKNOWN_TOPIC_OR_PARTITION"}


def test_an_unknown_partition_lets_the_others_wait(world):
    """As in Kafka it is told with them, in its place."""
    answers = world.ask(fetch(("nowhere", 0, 0), ("t", 0, 0)))
    assert answers == []
    world.write("t", b"a")
    assert list(read(answers[0]).items()) == [
        ("nowhere-0", "UNKNOWN_TOPIC_OR_PARTITION"),
        ("t-0", ([b"a"], 1, 0)),
    ]


def test_a_partition_that_comes_while_a_fetch_waits_is_in_its_answer(world):
    """But nobody is woken by it, since nobody watched it."""
    answers = world.ask(fetch(("t", 2, 0), ("t", 0, 0)))
    world.answer(CreatePartitionsRequest(topics={"t": 3}))
    world.write("t", b"new", partition=2)
    assert answers == []
    world.timers.run_until(500)
    assert read(answers[0]) == {"t-2": ([b"new"], 1, 0), "t-0": ([], 0, 0)}


def test_only_the_leader_is_read_from():
    """Another broker answers NOT_LEADER_OR_FOLLOWER, at once."""
    world = World(brokers=2)
    world.create("t", 2)
    world.write("t", b"a")
    answer = world.answer(fetch(("t", 0, 0), ("t", 1, 0)), node="b1")
    assert read(answer) == {"t-0": "NOT_LEADER_OR_FOLLOWER", "t-1": ([], 0, 0)}


def test_a_waiting_fetch_hears_that_the_leader_moved():
    """It is answered at once, so that the consumer asks who leads now."""
    world = World(brokers=2)
    world.create("t", 3)  # b0 leads 0 and 2
    answers = world.ask(fetch(("t", 0, 0), ("t", 2, 0)))
    other = world.ask(fetch(("t", 2, 0)))
    world.cluster.move_leader(world.partition("t"), "b1", now_ms=10)
    assert [read(each) for each in answers] == [
        {"t-0": "NOT_LEADER_OR_FOLLOWER", "t-2": ([], 0, 0)}
    ]
    assert other == []


def test_a_waiting_fetch_hears_that_the_topic_is_gone(world):
    """It is answered at once with UNKNOWN_TOPIC_OR_PARTITION, also if the topic comes again."""
    answers = world.ask(fetch(("t", 0, 0)))
    world.answer(DeleteTopicsRequest(topic_names=("t",)))
    assert [read(each) for each in answers] == [{"t-0": "UNKNOWN_TOPIC_OR_PARTITION"}]
    world.create("t")
    world.write("t", b"a")
    assert len(answers) == 1
    assert world.timers.waiting[1:] == []  # what is left is the check of the new record's age


def test_waiting_fetches_are_answered_first_come_first(world):
    """Equal runs give equal traces, so the order is fixed."""
    order = []
    for name in "xyz":
        world.brokers["b0"].handle(fetch(("t", 0, 0)), 0, lambda _, name=name: order.append(name))
    world.write("t", b"a")
    assert order == ["x", "y", "z"]


def test_a_reply_may_ask_again_at_once(world):
    """Who fetches inside the reply is not answered by the same append, and nobody twice."""
    answers = []

    def reply(response):
        answers.append(read(response))
        world.brokers["b0"].handle(fetch(("t", 0, len(answers))), 0, reply)
        if len(answers) == 1:
            world.write("t", b"b")

    world.brokers["b0"].handle(fetch(("t", 0, 0)), 0, reply)
    world.brokers["b0"].handle(fetch(("t", 0, 0)), 0, lambda response: None)
    world.write("t", b"a")
    assert answers == [{"t-0": ([b"a"], 1, 0)}, {"t-0": ([b"b"], 2, 0)}]


def test_the_offsets_topic_can_be_read():
    """Clients may look at it, though they may not write."""
    world = World()
    assert read(world.answer(fetch(("__consumer_offsets", 0, 0), max_wait_ms=0))) == {
        "__consumer_offsets-0": ([], 0, 0)
    }


@pytest.mark.parametrize("limits", [{"max_bytes": -1}, {"limit": -1}])
def test_a_negative_limit_is_refused(world, limits):
    """No client can send it: the value and what is allowed are named."""
    limit = limits.pop("limit", 1000)
    with pytest.raises(InvalidRequestError, match=r"-1 bytes: 0 or more is allowed"):
        world.ask(fetch(("t", 0, 0, limit), **limits))
