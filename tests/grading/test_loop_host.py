"""Where loops run: as processes in grading, as greenlets while learning; both alike."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.engine.faults import AnswerWithError, Crash
from kafkalearn.errors import (
    ConcurrentModificationError,
    IllegalArgumentError,
    IllegalStateError,
)
from kafkalearn.grading.answering import loop_host
from kafkalearn.grading.answering.consumer_proxy import ConsumerProxy
from kafkalearn.grading.answering.learner import answer_message
from kafkalearn.grading.answering.learner import asker as watched
from kafkalearn.grading.answering.wire import JUDGE_ADDRESS
from kafkalearn.grading.judging.judge import decide
from kafkalearn.grading.judging.loop_calls import StoryOverError
from kafkalearn.grading.judging.loop_story import LoopStory
from kafkalearn.grading.judging.story_run import StoryRun
from kafkalearn.records import OffsetAndMetadata, TopicPartition
from tests.grading.loops import (
    CALM,
    EXERCISES,
    WRONG,
    asker,
    at_least_once,
    done,
    exercise_of,
    loop_of,
    notebook,
    played,
)

CRASH = LoopStory("crash", (3,), config={"max_poll_records": 2}, faults=(Crash("c1", 125),))
ORDERS = TopicPartition("orders", 0)


@pytest.fixture(params=["greenlets", "processes"])
def host(request, monkeypatch):
    """Each kind of host; afterwards none of its loops is left."""
    if request.param == "processes":
        monkeypatch.setenv(JUDGE_ADDRESS, "told by a runner")
    yield request.param
    loop_host.end_all()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def namespace(source):
    """A notebook's names after a cell that defines a loop."""
    names = {"__name__": "__main__"}
    exec(textwrap.dedent(source), names)
    return names


def test_both_hosts_live_through_the_same_story(monkeypatch):
    """The traces are equal, byte for byte, with and without a crash."""
    for story in (CALM, CRASH):
        learning = played(at_least_once, story)
        monkeypatch.setenv(JUDGE_ADDRESS, "told by a runner")
        assert played(at_least_once, story) == learning
        monkeypatch.delenv(JUDGE_ADDRESS)


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_both_hosts_lead_to_the_same_verdict(path, monkeypatch):
    """The same sentence about the same story, made smaller in the same way."""
    monkeypatch.setattr("kafkalearn.grading.judging.smallest.MOST_TRIES", 2)
    monkeypatch.setattr("kafkalearn.grading.judging.smallest.MOST_SECONDS", 60)
    check = notebook(path)["metadata"]["kafkalearn"]["caught_by"]
    learning = decide(exercise_of(path), check, seed=1, ask=asker(loop_of(path)))
    monkeypatch.setenv(JUDGE_ADDRESS, "told by a runner")
    assert decide(exercise_of(path), check, seed=1, ask=asker(loop_of(path))) == learning


def test_consumers_share_no_globals(host):
    """What one stores, neither another nor its own next life sees; nor does the notebook."""
    names = namespace(
        """
        seen, lives = [], 0

        class Memory:
            def add(self, record):
                seen.append(record.offset)

        def loop(consumer, process):
            global lives
            lives += 1
            consumer.subscribe(["orders"])
            while True:
                for record in consumer.poll(100):
                    Memory().add(record)
                    assert lives == 1 and len(seen) == len(set(seen)), (lives, seen)
                    process(record)
                consumer.commit_sync()
        """
    )
    story = LoopStory("two", (3, 3), starts={"c1": 100, "c2": 110}, faults=(Crash("c1", 140),))
    assert len(done(played(names["loop"], story))) >= 6
    assert (names["seen"], names["lives"]) == ([], 0)


def test_a_loop_may_be_a_method_and_shares_no_globals_either(host):
    """What it names is copied for each life, also what only its helpers and classes name."""
    names = namespace(
        """
        seen, offsets = [], {}

        def note(record):
            seen.append(record.offset)

        class Learner:
            @staticmethod
            def keep(record):
                [offsets.setdefault(each.partition, []).append(each.offset) for each in (record,)]

            def loop(self, consumer, process):
                consumer.subscribe(["orders"])
                while True:
                    for record in consumer.poll(100):
                        note(record)
                        Learner.keep(record)
                        assert offsets == {0: seen} and seen == sorted(set(seen)), (seen, offsets)
                        process(record)
                    consumer.commit_sync()
        """
    )
    trace = played(names["Learner"]().loop, CRASH)
    assert [offset for _, _, offset in done(trace)] == [0, 0, 1, 2]
    assert (names["seen"], names["offsets"]) == ([], {})


def test_no_finally_runs_at_a_crash(host, capfd):
    """Neither in the trace nor on the page is anything left of it."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        try:
            while True:
                for record in consumer.poll(100):
                    process(record)
        finally:
            print("cleaned up")
            consumer.commit_sync()
            consumer.close()

    trace = played(loop, CRASH)
    assert not trace.where(kind="offset_stored")
    assert not trace.where(kind="send", api="LeaveGroup")
    assert "cleaned up" not in "".join(capfd.readouterr())


def test_a_loop_that_catches_everything_is_left_behind_all_the_same(host):
    """Its bare except catches what ends it; it does not go on for ever."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        while True:
            try:
                for record in consumer.poll(100):
                    process(record)
                consumer.commit_sync()
            except:  # noqa: E722
                continue

    assert {offset for _, _, offset in done(played(loop, CRASH))} == {0, 1, 2}


def test_what_loops_print_reaches_the_page(host, capsys):
    """Standard output and standard error, in order, of each life."""

    def loop(consumer, process):
        print("begin", end=" ")
        print("error", file=sys.stderr)
        print("subscribe")
        at_least_once(consumer, process)

    played(loop, CRASH)
    assert capsys.readouterr() == ("begin subscribe\n" * 2, "error\n" * 2)


def test_the_calls_of_a_consumer_give_what_the_real_one_gives(host):
    """Values and errors cross over as they are; positions, offsets, pauses and records."""

    def loop(consumer, process):
        with pytest.raises(IllegalStateError, match="not subscribed"):
            consumer.poll(100)
        consumer.subscribe({"orders"})
        assert consumer.subscription() == ["orders"]
        records = consumer.poll(100)
        assert consumer.assignment() == [ORDERS]
        assert records.partitions() == (ORDERS,)
        assert (records.count(), len(records.records(ORDERS)), bool(records)) == (2, 2, True)
        first = next(iter(records))
        assert (first.topic, first.partition, first.offset, first.key) == ("orders", 0, 0, None)
        assert repr(first) == "ConsumerRecord(orders-0 offset 0, key=None, value='order 0/0')"
        assert consumer.position(ORDERS) == 2
        assert consumer.committed(ORDERS) is None
        consumer.commit_sync({ORDERS: OffsetAndMetadata(1, "note")})
        assert consumer.committed(ORDERS) == OffsetAndMetadata(1, "note")
        consumer.pause({ORDERS})
        assert consumer.paused() == [ORDERS]
        consumer.resume([ORDERS])
        consumer.seek(ORDERS, 0)
        assert consumer.end_offsets([ORDERS]) == {ORDERS: 3}
        assert consumer.offsets_for_times({ORDERS: 0})[ORDERS].offset == 0
        with pytest.raises(TypeError, match="timeout"):
            consumer.poll()
        with pytest.raises(IllegalArgumentError, match="timeout is '100'"):
            consumer.poll(timeout="100")
        with pytest.raises(IllegalArgumentError, match="seek: the answer holds a object"):
            consumer.seek(object(), 1)
        with pytest.raises(IllegalArgumentError, match="a record that poll returned"):
            process(records)
        with pytest.raises(AttributeError, match="no 'items': subscribe, unsubscribe"):
            consumer.items()
        assert "poll" in dir(consumer)
        consumer.unsubscribe()
        assert consumer.assignment() == []
        with consumer:
            pass
        with pytest.raises(IllegalStateError, match="closed"):
            consumer.poll(1)
        raise RuntimeError("all is well")

    with pytest.raises(StoryOverError, match="all is well"):
        played(loop, LoopStory("calls", (3,), config={"max_poll_records": 2}))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("commit", "commit_sync or commit_async"),
        ("commitAsync", "commit_async"),
        ("seekToEnd", "seek_to_end"),
        ("commited", "committed"),
        ("seekTo", "seek_to_beginning or seek_to_end"),
    ],
)
def test_a_name_that_the_consumer_has_not_suggests_the_nearest(name, meant):
    """Java's own spelling, another client's name, and a slip."""
    with pytest.raises(AttributeError, match=f"no '{name}': is it {meant}\\? subscribe, "):
        getattr(ConsumerProxy(dict), name)


def test_who_iterates_over_a_consumer_is_told_of_poll():
    """Another client's consumer is an iterator."""
    with pytest.raises(TypeError, match=r"^a consumer is not iterable: poll\(100\) gives the re"):
        iter(ConsumerProxy(dict))


def test_listeners_and_callbacks_may_call_the_consumer(host):
    """They run inside poll, commit and close, as in Kafka, and in the loop's own namespace."""
    names = namespace(
        """
        from kafkalearn import ConsumerRebalanceListener, OffsetAndMetadata, TopicPartition
        told = []

        class Listener(ConsumerRebalanceListener):
            def __init__(self, consumer):
                self.consumer = consumer

            def on_partitions_revoked(self, partitions):
                told.append(("revoked", partitions))

            def on_partitions_assigned(self, partitions):
                told.append(("assigned", partitions, self.consumer.position(partitions[0])))
                self.consumer.seek(partitions[0], 1)

        def loop(consumer, process):
            def callback(offsets, error):
                told.append((offsets, type(error).__name__, str(error)[:17]))
                told.append(type(error.__cause__).__name__ if error else None)

            orders = TopicPartition("orders", 0)
            consumer.subscribe(["orders"], listener=Listener(consumer))
            assert [record.offset for record in consumer.poll(100)] == [1, 2]
            for n in (1, 2):
                consumer.commit_async({orders: OffsetAndMetadata(n)}, callback)
                consumer.poll(5)
            consumer.close()
            first, second = ({orders: OffsetAndMetadata(n)} for n in (1, 2))
            assert told == [
                ("revoked", ()),
                ("assigned", (orders,), 0),
                (first, "RetriableCommitFailedError", "the commit failed"),
                "RetriableError",
                (second, "NoneType", "None"),
                None,
            ], told
            raise RuntimeError("all is well")
        """
    )
    fault = AnswerWithError("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS")
    with pytest.raises(StoryOverError, match="all is well"):
        played(names["loop"], LoopStory("told", (3,), faults=(fault,)))


@pytest.mark.parametrize(
    ("loop", "kind", "said"),
    [
        (lambda consumer, process: None, "ended", r"ended by itself at 100 ms"),
        (lambda consumer, process: (yield), "ended", r"it gave a generator"),
        (lambda consumer: None, "TypeError", r"takes 1 positional argument but 2 were given"),
        (lambda consumer, process: 1 / 0, "ZeroDivisionError", r"division by zero"),
        (lambda consumer, process: sys.exit(3), "SystemExit", r"SystemExit: 3"),
        (lambda consumer, process: consumer.poll(1), "IllegalStateError", r"not subscribed"),
        (lambda consumer, process: [consumer.paused() for _ in iter(int, 1)], "calls", r"paused"),
        (None, "TypeError", r"not callable"),
    ],
)
def test_how_a_loop_may_not_end(host, loop, kind, said):
    """Each has its own sentence, the same in both hosts."""
    with pytest.raises(StoryOverError, match=said) as over:
        played(loop)
    assert over.value.kind == kind


def test_an_error_in_a_listener_or_callback_is_no_secret(host):
    """Kafka before 2.4 only logs what a listener raises: a learner is told."""

    class Listener(ConsumerRebalanceListener):
        def on_partitions_assigned(self, partitions):
            raise KeyError("oops")

    def loop(consumer, process):
        consumer.subscribe(["orders"], listener=Listener())
        consumer.poll(100)

    def another(consumer, process):
        def callback(offsets, error):
            raise KeyError("oops")

        consumer.subscribe(["orders"])
        while True:
            consumer.poll(100)
            consumer.commit_async(callback=callback)

    for wrong, what in ((loop, "listener"), (another, "callback")):
        with pytest.raises(StoryOverError, match=rf"KeyError: 'oops'.*, in the {what}"):
            played(wrong)


def test_a_thread_of_a_loop_may_not_use_its_consumer(host):
    """As with Kafka's own; it is told so, and nobody hangs."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        caught = []

        def work(record):
            try:
                process(record)
            except ConcurrentModificationError as error:
                caught.append(error)

        for record in consumer.poll(100):
            thread = threading.Thread(target=work, args=(record,))
            thread.start()
            thread.join()
        raise caught[0]

    with pytest.raises(StoryOverError, match="process is called from another thread"):
        played(loop)


def test_a_process_that_is_gone_is_named(monkeypatch):
    """os._exit in a loop ends its process; the notebook goes on, and hears why it failed."""
    monkeypatch.setenv(JUDGE_ADDRESS, "told by a runner")
    with pytest.raises(StoryOverError, match="the process of a loop is gone"):
        played(lambda consumer, process: os._exit(0))


def test_an_interrupt_ends_the_loops_and_reaches_the_notebook(host):
    """A learner who has waited enough interrupts the cell; nothing of the check stays."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        consumer.poll(100)
        os.kill(parent, signal.SIGINT)
        time.sleep(30)

    parent = os.getpid()
    with pytest.raises(KeyboardInterrupt):
        played(loop)


def test_what_is_not_lent_is_noticed_while_learning():
    """A loop that runs a simulation of its own is told that it is not lent, in any of its calls."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        consumer.poll(100)
        from kafkalearn.simulation import Simulation

        Simulation()

    exercise = EXERCISES["38_loss_and_duplicates"]
    ask = watched(loop, exercise.lent_modules)
    said = decide(exercise, "reads-all", seed=0, ask=ask).sentence
    assert said.startswith("reads-all: this exercise does not lend kafkalearn.simulation")
    ask = watched(at_least_once, exercise.lent_modules)
    assert decide(exercise, "reads-all", seed=0, ask=ask).passed


@pytest.mark.slow
def test_loops_die_with_their_parent(tmp_path):
    """A loop that computes for ever is gone when the learner's process is killed."""
    source = """
        import os, sys
        from kafkalearn.grading.answering.learner import answer_message
        def loop(consumer, process):
            print(os.getpid(), file=open("pid", "w"), flush=True)
            os.rename("pid", "there")
            while True:
                pass
        answer_message(loop, {"start": "c1"})
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source)],
        cwd=tmp_path,
        env=os.environ | {JUDGE_ADDRESS: "1", "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    there = tmp_path / "there"
    _wait_until(there.exists)
    child = int(there.read_text())
    assert _is_running(child)
    parent.kill()
    parent.wait()
    _wait_until(lambda: not _is_running(child))
    assert not _is_running(child)


def _is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _wait_until(reached, seconds=20):
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"call": "context", "args": [], "named": {}}, "no 'context'"),
        ({"call": "__class__", "args": [], "named": {}}, "no '__class__'"),
        ({"call": "tell", "args": [], "named": {}}, "no 'tell'"),
        ({"call": ["poll"], "args": [], "named": {}}, "the consumer has no"),
        ({"call": "poll", "args": 3, "named": {}}, "cannot be read"),
        ({"call": "poll", "args": [{"object": []}], "named": {}}, "cannot be read"),
        ({"call": "poll"}, "cannot be read"),
        ({"call": "seek", "args": [["x" * 30_000]], "named": {}}, "more than can be read"),
        ({"raised": "forged"}, "forged"),
        ({"raised": {"kind": "CommitFailedError", "words": "w", "kafka": 1}}, "raised"),
        ({}, "ended by itself"),
        ({"returned": 1}, "ended by itself"),
    ],
)
def test_a_forged_message_ends_the_story(reply, said):
    """A learner's process may say anything: it gets a sentence, and reaches nothing."""
    with pytest.raises(StoryOverError, match=said):
        StoryRun(CALM, lambda message: dict(reply)).play()


def test_a_record_must_have_been_delivered():
    """process() takes what a poll of the same life returned, wherever its number comes from."""

    def loop(consumer, process):
        consumer.subscribe(["orders"])
        record = next(iter(consumer.poll(100)))
        process(record._replace(offset=2))

    with pytest.raises(StoryOverError, match="that a poll of this run returned"):
        played(loop)


def test_a_judge_without_a_learner_hears_of_it():
    """What `ask` raises comes out as it is, from inside a listener too."""

    class Listener(ConsumerRebalanceListener):
        def on_partitions_assigned(self, partitions):
            gone.append(True)

    gone = []

    def loop(consumer, process):
        consumer.subscribe(["orders"], listener=Listener())
        consumer.poll(100)

    def ask(message):
        if "listener" in message:
            raise EOFError("the other side is gone")
        return answer_message(loop, message)

    with pytest.raises(EOFError, match="the other side"):
        StoryRun(CALM, ask).play()
    loop_host.end_all()
