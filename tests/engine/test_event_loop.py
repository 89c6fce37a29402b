"""The loop keeps time, knows its bounds and says why it cannot go on."""

import re
import threading

import pytest

from kafkalearn.engine import PastTimeError, StuckError
from kafkalearn.errors import IllegalStateError
from tests.engine.world import World


def test_running_leaves_the_clock_at_the_limit():
    """What is due at the limit happens, also what is scheduled there meanwhile; the rest waits."""
    world = World()

    def again():
        world.note("due")
        world.loop.call_at(10, world.noting("scheduled"))

    world.loop.call_at(10, again)
    world.loop.call_at(11, world.noting("later"))
    world.loop.run_until(10)
    assert (world.loop.now_ms, world.log) == (10, [(10, "due"), (10, "scheduled")])
    world.loop.run_until(20)
    assert (world.loop.now_ms, world.log[2:]) == (20, [(11, "later")])


def test_time_does_not_run_backwards():
    """The error names both times."""
    world = World()
    world.loop.run_until(1000)
    with pytest.raises(PastTimeError, match="999 ms has passed: now is 1,000 ms"):
        world.loop.run_until(999)


def test_a_deadlock_says_at_once_who_waits_for_what():
    """Nothing is left to happen: the caller, and each process with what it waits for."""
    world = World()
    signal = world.inboxes[world.c1].arrived
    process = world.spawn(signal.wait, name="poll loop")
    world.spawn(lambda: world.processes.sleep(1500), node=world.c2)
    with pytest.raises(StuckError) as caught:
        process.join()
    assert str(caught.value) == (
        "nothing is left to happen after 1,500 ms: "
        "the main program waits for the end of poll loop of c1; "
        "poll loop of c1 waits for a response"
    )


def test_after_a_deadlock_one_can_go_on():
    """Whoever was told so may make the missing thing happen."""
    world = World()
    signal = world.inboxes[world.c1].arrived
    process = world.spawn(signal.wait)
    with pytest.raises(StuckError):
        process.join()
    signal.fire()
    assert process.join() is True


def test_a_cancelled_timer_does_not_hide_a_deadlock():
    """Only what can still happen counts, and the clock stays at what happened."""
    world = World()
    world.loop.call_at(900, print).cancel()
    world.loop.call_at(10**12, print).cancel()
    with pytest.raises(StuckError, match="nothing is left to happen after 0 ms"):
        world.inboxes[world.c1].wait()


def beat(world, ms):
    """A process that never ends."""
    while True:
        world.processes.sleep(ms)


def test_a_wait_ends_at_the_bound_of_virtual_time():
    """Those that are named sleep, or wait for a while."""
    world = World(bounds={"max_time_ms": 10_000})
    world.spawn(lambda: beat(world, 3000), name="heartbeat")
    world.spawn(lambda: world.inboxes[world.c1].wait(20_000))
    with pytest.raises(StuckError) as caught:
        world.inboxes[world.c2].wait()
    assert str(caught.value) == (
        "the run came to its bound of 10,000 ms: the main program waits for a response; "
        "heartbeat of c1 sleeps until 12,000 ms; main of c1 waits for a response until 20,000 ms"
    )


def test_the_bound_itself_can_be_reached():
    """What is due there happens; one millisecond more is too much."""
    world = World(bounds={"max_time_ms": 10_000})
    world.loop.call_at(10_000, world.noting("due"))
    world.loop.run_until(10_000)
    assert (world.loop.now_ms, world.log) == (10_000, [(10_000, "due")])
    with pytest.raises(StuckError, match="the run came to its bound of 10,000 ms: the main prog"):
        world.loop.run_until(10_001)


@pytest.mark.parametrize("ms", [0, 3])
def test_a_run_ends_at_the_bound_of_events(ms):
    """Also one in which time stands still, and one whose processes never come back to the loop."""
    world = World(bounds={"max_events": 1000})
    for name in ("one", "two"):
        world.spawn(lambda: beat(world, ms), name=name)
    for _ in range(2):
        with pytest.raises(StuckError) as caught:
            world.loop.run_until(100_000)
        sentence = re.sub("[0-9,]+ ms", "_ ms", str(caught.value))
        assert sentence == (
            "the run came to its bound of 1,000 events at _ ms: the main program runs until _ ms; "
            "one of c1 sleeps until _ ms; two of c1 sleeps until _ ms"
        )
        assert world.loop.now_ms == pytest.approx(500 * ms, abs=10)


def test_a_sentence_names_ten_processes_and_counts_the_rest():
    """A thousand members do not fill the page."""
    world = World()
    for number in range(1000):
        world.spawn(world.inboxes[world.c1].wait, name=f"member {number}")
    with pytest.raises(StuckError, match=r"member 9 of c1 waits for a response; and 990 more$"):
        world.inboxes[world.c1].wait()


def test_running_to_a_time_is_no_deadlock():
    """Whoever only lets time pass may make something happen afterwards."""
    world = World()
    world.spawn(world.inboxes[world.c1].wait)
    world.loop.run_until(5000)
    assert world.loop.now_ms == 5000


def test_an_error_does_not_hide_a_deadlock():
    """The limit of a run that an error ended is forgotten."""
    world = World()
    world.loop.call_at(5, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        world.loop.run_until(10**12)
    with pytest.raises(StuckError, match="nothing is left to happen after 5 ms"):
        world.inboxes[world.c1].wait()


def test_what_the_loop_calls_cannot_wait():
    """A handler that waited would stop time for all."""
    world = World()
    world.loop.call_at(5, lambda: world.processes.sleep(1))
    with pytest.raises(IllegalStateError, match="only a process can wait while the simulation"):
        world.loop.run_until(10)


def test_an_error_in_a_timer_leaves_the_rest_in_order():
    """It surfaces where the loop is driven, which then can go on."""
    world = World()
    world.loop.call_at(5, lambda: 1 // 0)
    world.loop.call_at(5, world.noting("next"))
    with pytest.raises(ZeroDivisionError):
        world.loop.run_until(10)
    world.loop.run_until(10)
    assert world.log == [(5, "next")]


def test_another_thread_is_refused():
    """A simulation belongs to the thread that made it, and says so."""
    world = World()
    calls = {
        "run": lambda: world.loop.run_until(5),
        "sleep": lambda: world.processes.sleep(5),
        "wait": world.inboxes[world.c1].wait,
        "spawn": lambda: world.spawn(print),
        "call_at": lambda: world.loop.call_at(5, print),
        "add_node": lambda: world.loop.add_node("c3"),
        "kill": lambda: world.processes.kill(world.c1),
        "freeze": lambda: world.processes.freeze(world.c1, 5),
        "dispose": world.processes.dispose,
    }
    errors = {}

    def try_all():
        for name, call in calls.items():
            try:
                call()
            except IllegalStateError as error:
                errors[name] = str(error)

    thread = threading.Thread(target=try_all)
    thread.start()
    thread.join()
    sentence = "a simulation belongs to the thread that made it: this is another one"
    assert errors == dict.fromkeys(calls, sentence)
    assert (world.c1.alive, world.c1.frozen_until_ms, "c3" in world.loop.nodes) == (True, -1, False)


def test_a_node_is_started_once_at_a_time():
    """A second of the same name is refused while the first is alive."""
    world = World()
    with pytest.raises(IllegalStateError, match="c1 is running"):
        world.loop.add_node("c1")
    world.processes.kill(world.c1)
    assert (world.loop.add_node("c1").alive, world.c1.alive) == (True, False)
    assert [repr(world.c1), repr(world.loop.nodes["c1"])] == ["<Node c1, dead>", "<Node c1>"]
