"""Processes block in virtual time, end with a result or an error, crash and freeze."""

import contextvars
import signal
import sys
import traceback
from functools import partial

import pytest

from kafkalearn.engine import PastTimeError, Signal
from kafkalearn.errors import IllegalArgumentError, IllegalStateError
from tests.engine.world import World


def test_processes_take_turns_in_virtual_time():
    """A sleep lets others go on; at equal times, who slept first goes first."""
    world = World()

    def tick(name, ms):
        for _ in range(3):
            world.processes.sleep(ms)
            world.note(name)

    world.spawn(lambda: tick("a", 2))
    world.spawn(lambda: tick("b", 3), node=world.c2)
    world.loop.run_until(100)
    assert world.log == [(2, "a"), (3, "b"), (4, "a"), (6, "b"), (6, "a"), (9, "b")]


def test_whoever_spawns_goes_on_first():
    """A process starts when its turn comes."""
    world = World()

    def parent():
        world.spawn(world.noting("child"))
        world.note("parent")
        world.processes.sleep(0)
        world.note("parent again")

    world.spawn(parent)
    world.note("main")
    world.loop.run_until(0)
    assert [what for _, what in world.log] == ["main", "parent", "child", "parent again"]


def test_the_end_of_a_process_disturbs_nobody():
    """Least of all the one that spawned it."""
    world = World()

    def parent():
        world.spawn(lambda: (world.processes.sleep(10), world.note("child ends")))
        world.processes.sleep(100)
        world.note("parent ends")

    world.spawn(parent)
    world.loop.run_until(200)
    assert world.log == [(10, "child ends"), (100, "parent ends")]


def test_a_signal_wakes_all_that_wait_in_their_order():
    """Also those that would wait for a time; who comes later waits for the next one."""
    world = World()
    bell = Signal(world.processes, "the bell")

    def wait(name, timeout_ms, start_ms=0):
        world.processes.sleep(start_ms)
        world.note((name, bell.wait(timeout_ms)))

    world.spawn(lambda: wait("a", None))
    world.spawn(lambda: wait("b", 20))
    world.spawn(lambda: wait("c", 5))
    world.spawn(lambda: wait("late", 30, start_ms=15))
    world.loop.call_at(10, bell.fire)
    world.loop.run_until(100)
    assert world.log == [
        (5, ("c", False)),
        (10, ("a", True)),
        (10, ("b", True)),
        (45, ("late", False)),
    ]


def test_a_signal_at_the_time_of_the_timeout():
    """Whichever comes first in the order decides, and the other has no effect."""
    world = World()
    bell = Signal(world.processes, "the bell")

    def wait():
        world.note(bell.wait(10))
        world.note(bell.wait(10))

    world.loop.call_at(10, bell.fire)
    world.spawn(wait)
    world.loop.call_at(15, lambda: world.loop.call_at(20, bell.fire))
    world.loop.run_until(100)
    assert world.log == [(10, True), (20, False)]


def test_a_wait_that_is_over_leaves_nothing_behind():
    """Its timeout does not end the next wait, nor does it hear the next signal."""
    world = World()
    bell = Signal(world.processes, "the bell")
    world.spawn(lambda: [world.note(bell.wait(ms)) for ms in (10, None, 5)])
    for time_ms in (5, 20, 40):
        world.loop.call_at(time_ms, bell.fire)
    assert bell.wait(2) is False
    world.processes.sleep(98)
    assert (world.log, world.loop.now_ms) == ([(5, True), (20, True), (25, False)], 100)


def test_a_caller_that_is_no_process_drives_the_simulation():
    """It sleeps and waits like a process, and what is due meanwhile happens."""
    world = World()
    bell = Signal(world.processes, "the bell")
    world.loop.call_at(10, bell.fire)
    world.loop.call_at(10, world.noting("also due"))
    assert (bell.wait(5), world.loop.now_ms) == (False, 5)
    assert (bell.wait(50), world.loop.now_ms) == (True, 10)
    assert world.log == [(10, "also due")]
    world.processes.sleep(15)
    assert world.loop.now_ms == 25
    bell.fire()
    assert (bell.wait(5), world.loop.now_ms) == (False, 30)


def test_nobody_sleeps_a_negative_time():
    """For processes and others alike, the error names the time."""
    world = World()
    process = world.spawn(lambda: world.processes.sleep(-5))
    for call in (process.join, lambda: world.processes.sleep(-5)):
        with pytest.raises(IllegalArgumentError, match=r"^-5 ms is no time to sleep: 0 or more"):
            call()


def generator():
    yield


async def coroutine():
    pass


async def async_generator():
    yield


@pytest.mark.parametrize(
    "function",
    [generator, coroutine, async_generator, partial(generator)],
    ids=["generator", "coroutine", "async_generator", "partial"],
)
def test_what_a_call_would_not_run_is_no_process(function):
    """A function with yield or async would do nothing, and its author would wonder why."""
    world = World()
    with pytest.raises(IllegalArgumentError, match="poll loop of c1 would never run: a plain func"):
        world.spawn(function, name="poll loop")
    assert list(world.processes.living) == []


def test_a_process_does_not_run_its_own_simulation():
    """The sentence tells what it can do instead; it may still do that."""
    world = World()

    def run():
        with pytest.raises(IllegalStateError, match="a process can neither run nor end the simul"):
            world.loop.run_until(50)
        world.processes.sleep(5)
        return world.loop.now_ms

    assert world.spawn(run).join() == 5


def test_join_gives_the_result():
    """To a process as to others, at the end or after it."""
    world = World()

    def child():
        world.processes.sleep(10)
        return "result"

    process = world.spawn(child)
    other = world.spawn(lambda: (process.join(), world.loop.now_ms))
    assert other.join() == ("result", 10)
    assert (process.join(), process.is_alive, world.loop.now_ms) == ("result", False, 10)


def fail(world):
    """Raise an error after 1,200 ms."""
    world.processes.sleep(1200)
    raise LookupError("no such offset")


def test_an_error_surfaces_where_the_simulation_is_driven():
    """With the process's own traceback, its name, its node and the time; then one can go on."""
    world = World()
    process = world.spawn(lambda: fail(world), name="poll loop")
    world.loop.call_at(1200, world.noting("same time"))
    with pytest.raises(LookupError, match="no such offset") as caught:
        world.loop.run_until(5000)
    assert caught.value.__notes__ == ["raised in poll loop of c1 at 1,200 ms of virtual time"]
    assert "fail" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    world.loop.run_until(5000)
    with pytest.raises(LookupError):
        process.join()


def test_an_error_goes_to_those_who_join():
    """It surfaces once, in their hands, and not where the simulation is driven."""
    world = World()
    process = world.spawn(lambda: fail(world))

    def join():
        with pytest.raises(LookupError):
            process.join()
        world.note("caught")

    world.spawn(join)
    world.loop.run_until(5000)
    assert world.log == [(1200, "caught")]


def test_an_error_surfaces_when_who_would_have_joined_is_dead():
    """A process that crashed in join catches nothing."""
    world = World()
    process = world.spawn(lambda: fail(world), node=world.c2)
    world.spawn(process.join)
    world.loop.call_at(5, lambda: world.processes.kill(world.c1))
    with pytest.raises(LookupError):
        world.loop.run_until(5000)


def test_a_process_may_run_another_simulation():
    """What waits there drives that one, and this one's time stands still."""
    world = World()

    def run():
        inner = World()
        inner.processes.sleep(500)
        return inner.loop.now_ms, world.loop.now_ms, inner.processes.current()

    process = world.spawn(lambda: (world.processes.sleep(5), run()))
    assert process.join() == (None, (500, 5, None))


def test_a_process_knows_itself():
    """Nobody else is one."""
    world = World()
    process = world.spawn(world.processes.current)
    assert (process.join(), world.processes.current()) == (process, None)


def test_a_process_has_a_copy_of_the_callers_context():
    """What it sets there, it alone sees."""
    world = World()
    variable = contextvars.ContextVar("variable")
    variable.set("main")

    def see(name):
        world.note((name, variable.get()))
        variable.set(name)
        if name == "parent":
            world.spawn(lambda: see("child"))
        world.processes.sleep(10)
        world.note((name, variable.get()))

    world.spawn(lambda: see("parent"))
    world.loop.run_until(100)
    assert world.log == [
        *[(0, ("parent", "main")), (0, ("child", "parent"))],
        *[(10, ("parent", "parent")), (10, ("child", "child"))],
    ]
    assert variable.get() == "main"


def test_a_long_line_of_processes_is_not_too_deep():
    """Each that starts another stays alive, and none inherits the depth of the one before."""
    world = World()
    started = []

    def start_another():
        started.append(world.loop.now_ms)
        if len(started) < 3000:
            world.spawn(start_another)
        world.processes.sleep(10)

    world.spawn(start_another)
    world.loop.run_until(100)
    assert started == [0] * 3000


class TestCrash:
    """A crash ends processes without any clean-up."""

    def crashing(self, world):
        """Spawn a process that sleeps in every kind of block, and crash its node at 5 ms."""

        def run():
            try:
                world.processes.sleep(10)
            except BaseException:
                world.note("except")
            finally:
                world.note("finally")

        process = world.spawn(run, name="poll loop")
        world.loop.call_at(5, lambda: world.processes.kill(world.c1))
        return process

    def test_nothing_of_the_application_runs(self):
        """Neither `except` nor `finally`, and the node's other processes end as well."""
        world = World()
        self.crashing(world)
        world.spawn(lambda: world.inboxes[world.c1].wait(7), name="heartbeat")
        world.spawn(lambda: (world.processes.sleep(20), world.note("c2 lives")), node=world.c2)
        world.loop.run_until(100)
        assert world.log == [(20, "c2 lives")]
        assert list(world.processes.living) == []

    def test_whoever_joins_is_told(self):
        """A process that crashed has no result."""
        world = World()
        process = self.crashing(world)
        with pytest.raises(IllegalStateError, match="poll loop of c1 ended when c1 crashed"):
            process.join()
        assert world.loop.now_ms == 5

    def test_a_process_may_crash_its_own_node(self):
        """It does not come back from that call."""
        world = World()

        def run():
            try:
                world.processes.kill(world.c1)
                world.note("came back")
            finally:
                world.note("finally")

        world.spawn(run)
        world.processes.on_kill.append(lambda node: world.note(f"{node.name} crashed"))
        world.loop.run_until(100)
        assert world.log == [(0, "c1 crashed")]

    def test_a_dead_node_starts_nothing(self):
        """A signal does not wake it either, nor does a second crash happen."""
        world = World()
        world.processes.on_kill.append(lambda node: world.note(f"{node.name} crashed"))
        bell = Signal(world.processes, "the bell")
        world.spawn(lambda: (bell.wait(), world.note("woken")))
        world.loop.run_until(5)
        world.processes.kill(world.c1)
        world.processes.kill(world.c1)
        bell.fire()
        process = world.spawn(world.noting("started"))
        world.loop.run_until(100)
        assert (world.log, process.is_alive) == ([(5, "c1 crashed")], False)


class TestFreeze:
    """A freeze stops a node for a while; it is no crash."""

    def test_it_stops_all_processes_of_a_node_and_no_others(self):
        """What became due goes on at the end of the freeze, in its order; the rest is on time."""
        world = World()

        def tick(name, *times_ms):
            for time_ms in times_ms:
                world.processes.sleep(time_ms - world.loop.now_ms)
                world.note(name)

        world.spawn(lambda: tick("poll loop", 7, 50))
        world.spawn(lambda: tick("heartbeat", 6, 40))
        world.spawn(lambda: tick("other", 8, 45), node=world.c2)
        world.spawn(lambda: tick("later", 35))
        world.loop.call_at(5, lambda: world.processes.freeze(world.c1, 30))
        world.loop.run_until(100)
        assert world.log == [
            *[(8, "other"), (30, "heartbeat"), (30, "poll loop"), (35, "later")],
            *[(40, "heartbeat"), (45, "other"), (50, "poll loop")],
        ]

    def test_a_longer_freeze_counts(self):
        """One that ends earlier does not thaw the node."""
        world = World()
        world.spawn(lambda: (world.processes.sleep(5), world.note("woke")))
        world.spawn(world.noting("started"))
        world.processes.freeze(world.c1, 10)
        world.processes.freeze(world.c1, 30)
        world.processes.freeze(world.c1, 20)
        world.loop.run_until(100)
        assert world.log == [(30, "started"), (35, "woke")]

    def test_a_signal_and_a_timeout_wait(self):
        """A process that was woken, or whose time is up, goes on when the node does."""
        world = World()
        bell = Signal(world.processes, "the bell")
        world.spawn(lambda: world.note(("woken", bell.wait(50))))
        world.spawn(lambda: world.note(("timeout", Signal(world.processes, "").wait(7))))
        world.loop.call_at(5, lambda: world.processes.freeze(world.c1, 30))
        world.loop.call_at(8, bell.fire)
        world.loop.run_until(100)
        assert world.log == [(30, ("woken", True)), (30, ("timeout", False))]

    def test_a_process_can_freeze_itself(self):
        """It goes on until it waits."""
        world = World()

        def run():
            world.processes.freeze(world.c1, 30)
            world.note("still running")
            world.processes.sleep(1)
            world.note("thawed")

        world.spawn(run)
        world.loop.run_until(100)
        assert world.log == [(0, "still running"), (30, "thawed")]

    def test_a_frozen_node_may_crash(self):
        """What waited for the end of the freeze does not happen."""
        world = World()
        world.spawn(lambda: (world.processes.sleep(5), world.note("woke")))
        world.loop.call_at(1, lambda: world.processes.freeze(world.c1, 30))
        world.loop.call_at(9, lambda: world.processes.kill(world.c1))
        world.loop.run_until(100)
        assert world.log == []

    def test_it_does_not_end_in_the_past(self):
        """The error names both times."""
        world = World()
        world.loop.run_until(10)
        with pytest.raises(PastTimeError, match="9 ms has passed"):
            world.processes.freeze(world.c1, 9)


class TestInterrupt:
    """An interrupt reaches whoever drives the simulation, and breaks it."""

    def interrupted(self, world, run):
        """Drive a process until it is interrupted; give the sentence of the next attempt."""
        world.spawn(run)
        with pytest.raises(KeyboardInterrupt):
            world.loop.run_until(5000)
        with pytest.raises(IllegalStateError) as caught:
            world.loop.run_until(6000)
        return str(caught.value)

    SENTENCE = "KeyboardInterrupt ended this run at 1,000 ms, and it cannot go on: make a new one"

    def test_no_except_of_the_application_swallows_it(self):
        """The signal goes to the driver at once, and to the process not at all."""
        world = World()
        handler = signal.getsignal(signal.SIGINT)

        def run():
            world.processes.sleep(1000)
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                world.note("except")
            finally:
                world.note("finally")

        assert self.interrupted(world, run) == self.SENTENCE
        assert (world.log, signal.getsignal(signal.SIGINT)) == ([], handler)

    @pytest.mark.parametrize("where", ["process", "timer"])
    def test_one_that_is_raised_breaks_the_run_too(self, where):
        """By a process, or in what the loop itself calls."""
        world = World()

        def interrupt():
            if where == "process":
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGINT)

        def run():
            world.processes.sleep(1000)
            interrupt() if where == "process" else world.loop.call_at(1000, interrupt)

        assert self.interrupted(world, run) == self.SENTENCE

    def test_a_broken_run_can_be_disposed_of(self):
        """Its memory can be freed, also that of the interrupted process."""
        world = World()
        self.interrupted(world, lambda: self.interrupt_at(world, 1000))
        world.processes.dispose()
        assert [bool(process) for process in world.processes.living] == []

    def interrupt_at(self, world, ms):
        """Sleep, then be interrupted."""
        world.processes.sleep(ms)
        signal.raise_signal(signal.SIGINT)

    def test_one_that_meets_a_profile_function_leaves_profiles_alive(self):
        """It ends what is looked at, and the next profile function is called again."""
        world = World()
        seen = []

        def interrupt(frame, event, _):
            if event == "call" and frame.f_code is called.__code__:
                signal.raise_signal(signal.SIGINT)

        def called():
            seen.append(sys.getprofile())

        def run():
            world.processes.sleep(1000)
            sys.setprofile(interrupt)
            called()

        assert self.interrupted(world, run) == self.SENTENCE
        sys.setprofile(lambda frame, event, _: seen.append(event))
        called()
        sys.setprofile(None)
        assert seen[0] == "call"
