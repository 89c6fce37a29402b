"""How a simulation ends, and what becomes of processes that never did."""

import gc
import subprocess
import sys
import weakref

import pytest

from kafkalearn.errors import IllegalStateError
from tests.engine.world import World


class Thing:
    """Something that an application holds."""


def loop_for_ever(world, seen):
    """Poll in the way that swallows everything, with a clean-up that acts on the simulation."""
    held = Thing()
    seen.append(weakref.ref(held))
    connection = world.connect()
    try:
        while True:
            try:
                world.processes.sleep(10)
            except:  # noqa: E722
                seen.append("except")
                print("swallowed")
                world.processes.sleep(10)
    finally:
        seen.append("finally")
        print("closing")
        connection.send("leave")
        world.loop.call_at(world.loop.now_ms, world.noting("timer"))
        world.spawn(world.noting("spawned"))
        world.inboxes[world.c1].wait()
        seen.append("after the wait")


def test_what_still_runs_is_unwound_without_any_effect(capsys):
    """Its clean-up runs up to where it waits: unheard, unseen; and the memory is free."""
    world, seen = World(), []
    world.spawn(lambda: loop_for_ever(world, seen))
    crashed = world.spawn(lambda: loop_for_ever(world, seen), node=world.c2)
    world.loop.call_at(5, lambda: world.processes.kill(world.c2))
    world.loop.run_until(100)
    held = [seen.pop(), seen.pop()]
    assert (seen, world.log, crashed.is_alive) == ([], [], False)
    world.processes.dispose()
    assert seen == ["except", "finally"] * 2
    assert (world.log, capsys.readouterr()) == ([], ("", ""))
    gc.collect()
    assert [each() for each in held] == [None, None]


def test_one_that_cannot_be_unwound_is_left_alone():
    """A loop that swallows everything for ever does not hang the end of a simulation."""
    world = World()

    def run():
        while True:
            try:
                world.processes.sleep(1)
            except:  # noqa: E722
                world.inboxes[world.c1].exchanges.append("swallowed")

    world.spawn(run)
    world.loop.run_until(10)
    world.processes.dispose()
    assert len(world.inboxes[world.c1].exchanges) == 100


def test_afterwards_nothing_can_happen():
    """Whoever tries is told so; to dispose of it twice does no harm."""
    world = World()
    world.processes.dispose()
    world.processes.dispose()
    with pytest.raises(IllegalStateError, match="this run was disposed of, and it cannot go on"):
        world.loop.run_until(10)


def test_a_running_simulation_cannot_be_disposed_of():
    """Neither by a process nor by a timer."""
    world = World()
    process = world.spawn(world.processes.dispose)
    with pytest.raises(IllegalStateError, match="a process can neither run nor end the simulation"):
        process.join()
    world.loop.call_at(5, world.processes.dispose)
    with pytest.raises(IllegalStateError, match="while the simulation runs"):
        world.loop.run_until(5)


def test_one_that_is_forgotten_never_runs_again():
    """Neither the garbage collector nor the end of Python runs a crashed loop's clean-up."""
    program = """
import gc
from tests.engine.world import World

def run():
    world = World()
    def loop():
        try:
            world.processes.sleep(1000)
        finally:
            print("finally")
    world.spawn(loop)
    world.spawn(loop, node=world.c2)
    world.loop.call_at(5, lambda: world.processes.kill(world.c1))
    world.loop.run_until(10)

run()
gc.collect()
print("end")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("end\n", "")
