"""Equal seeds give equal runs, also in fresh processes whose sets are ordered otherwise."""

import os
import subprocess
import sys

PROGRAM = """
import sys
from kafkalearn.engine import Crash, CutOff, Delay, Drop, Freeze, Restart
from tests.engine.world import Request, World

def client(world, node, number):
    for step in range(60):
        connection = world.connect(node)
        connection.send(Request(value=(number, step)))
        world.inboxes[node].wait(number + 5)
        world.note(len(world.inboxes[node].take()))
        world.processes.sleep(number)

world = World(seed=int(sys.argv[1]), latency_ms=(0, 9), loss=0.1)
world.inject(
    Crash("c1", 200), Freeze("c2", 50, 40), CutOff("broker-0", 120, 10, "c2"), Drop("Ask", 9),
    Delay("Ask", 20, 15, part="response"), Crash("broker-0", 300), Restart("broker-0", 320),
)
for number in range(8):
    node = (world.c1, world.c2)[number % 2]
    world.spawn(lambda node=node, number=number: client(world, node, number), node=node)
world.loop.run_until(2000)
print(*world.log, *world.faults, sep="\\n")
"""


def run(seed: int, hash_seed: int) -> str:
    """What the program prints in a fresh process."""
    command = [sys.executable, "-c", PROGRAM, str(seed)]
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def test_a_run_depends_on_its_seed_alone():
    """With chance, faults and many processes; another seed gives another journal."""
    journal = run(1, hash_seed=1)
    assert journal.count("\n") > 500
    assert run(1, hash_seed=2) == journal
    assert run(2, hash_seed=1) != journal
