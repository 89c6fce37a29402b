"""Timers behave as if each restart cancelled the old one and set another."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.engine import EventLoop, PastTimeError, Timer
from tests.engine.world import World


def test_equal_times_happen_in_the_order_in_which_they_were_set_or_restarted():
    """A restart goes to the end of the line, also when its deadline does not change."""
    world = World()
    timers = {name: world.loop.call_at(10, world.noting(name)) for name in "abcd"}
    timers["b"].restart(10)
    timers["a"].restart(20)
    timers["a"].restart(10)
    world.loop.call_at(10, world.noting("e"))
    timers["c"].cancel()
    timers["c"].restart(10)
    world.loop.run_until(10)
    assert world.log == [(10, name) for name in "dbaec"]


def test_a_deadline_can_move_either_way():
    """Later, earlier, and to now."""
    world = World()
    timer = world.loop.call_at(10, world.noting("a"))
    timer.restart(50)
    timer.restart(5)
    world.loop.run_until(100)
    assert (world.log, timer.deadline_ms, timer.is_set) == ([(5, "a")], 5, False)
    timer.restart(100)
    assert timer.is_set
    world.loop.run_until(100)
    assert world.log == [(5, "a"), (100, "a")]


def test_a_cancelled_timer_is_inert():
    """It does not call, and cancelling again changes nothing."""
    world = World()
    timer = world.loop.call_at(10, world.noting("a"))
    timer.cancel()
    timer.cancel()
    world.loop.run_until(100)
    assert (world.log, timer.is_set) == ([], False)


def test_a_time_that_has_passed_is_refused():
    """The error names both times, for a new timer and an old one."""
    world = World()
    timer = world.loop.call_at(10, world.noting("a"))
    world.loop.run_until(1500)
    for call in (lambda: world.loop.call_at(1499, print), lambda: timer.restart(1499)):
        with pytest.raises(PastTimeError, match="1,499 ms has passed: now is 1,500 ms"):
            call()


class Naive:
    """The same promises in the plainest way: a list that is sorted each time."""

    def __init__(self):
        self.now_ms = 0
        self.sequence = count()
        self.due = {}
        self.fired = []

    def set(self, name, time_ms):
        """Cancel and set anew: what restart stands for."""
        self.due[name] = (time_ms, next(self.sequence))

    def cancel(self, name):
        """Forget it."""
        self.due.pop(name, None)

    def run_until(self, limit_ms, reactions):
        """Fire what is due, one after the other; some react by another step."""
        while self.due:
            name, (time_ms, _) = min(self.due.items(), key=lambda item: item[1])
            if time_ms > limit_ms:
                break
            del self.due[name]
            self.now_ms = time_ms
            self.fired.append((time_ms, name))
            if reaction := reactions.pop(name, None):
                kind, other, ms = reaction
                self.cancel(other) if kind == "cancel" else self.set(other, time_ms + ms)
        self.now_ms = limit_ms


NAMES = st.integers(0, 3)
STEP = st.tuples(st.sampled_from(["set", "set", "set", "cancel"]), NAMES, st.integers(0, 6))
ROUND = st.tuples(
    st.lists(STEP, min_size=1, max_size=8), st.integers(0, 6), st.dictionaries(NAMES, STEP)
)


@settings(max_examples=200)
@given(rounds=st.lists(ROUND, min_size=2, max_size=6))
def test_it_cannot_be_told_from_the_naive_way(rounds):
    """Whatever is set, restarted and cancelled, also from callbacks: the same calls in order."""
    loop, naive, fired, reactions = EventLoop(), Naive(), [], {}

    def fire(name):
        fired.append((loop.now_ms, name))
        if reaction := reactions.pop(name, None):
            step(*reaction)

    def step(kind, name, ms):
        timers[name].cancel() if kind == "cancel" else timers[name].restart(loop.now_ms + ms)

    timers = [Timer(loop, lambda name=name: fire(name)) for name in range(4)]
    for steps, run_ms, reacting in rounds:
        for kind, name, ms in steps:
            step(kind, name, ms)
            naive.cancel(name) if kind == "cancel" else naive.set(name, naive.now_ms + ms)
        reactions = dict(reacting)
        naive.run_until(naive.now_ms + run_ms, dict(reacting))
        loop.run_until(loop.now_ms + run_ms)
        assert (fired, loop.now_ms) == (naive.fired, naive.now_ms)
        assert [timer.is_set for timer in timers] == [name in naive.due for name in range(4)]


@pytest.mark.parametrize("way", ["cancelled", "earlier", "later"])
def test_many_restarts_leave_little_behind(way):
    """A hundred thousand timers that were cancelled or moved do not stay in the queue."""
    world = World()
    timer = world.loop.call_at(200_000, world.noting("last"))
    for step in range(100_000):
        if way == "cancelled":
            world.loop.call_at(300_000, world.noting("never")).cancel()
        else:
            timer.restart(200_000 + (step if way == "later" else -step))
    assert len(world.loop.queue) < 2_000
    world.loop.run_until(400_000)
    assert world.log == [
        ({"cancelled": 200_000, "earlier": 100_001, "later": 299_999}[way], "last")
    ]


def test_a_timer_that_was_thrown_away_can_be_set_again():
    """Cleaning up the queue forgets the entries of cancelled timers, not the timers."""
    world = World()
    timers = [world.loop.call_at(50, world.noting(number)) for number in range(2_000)]
    for timer in timers:
        timer.cancel()
    for number in range(3_000):
        world.loop.call_at(40, world.noting("other")).cancel()
        if number == 2_500:
            timers[7].restart(60)
    world.loop.run_until(100)
    assert world.log == [(60, 7)]


def test_a_timer_belongs_to_its_node():
    """Of a dead node it never calls; of a frozen one it calls when the node goes on."""
    world = World()
    world.loop.call_at(10, world.noting("c1"), node=world.c1)
    world.loop.call_at(10, world.noting("c2"), node=world.c2)
    world.loop.call_at(10, world.noting("nobody's"))
    world.processes.kill(world.c1)
    world.processes.freeze(world.c2, 30)
    world.loop.run_until(100)
    assert world.log == [(10, "nobody's"), (30, "c2")]
