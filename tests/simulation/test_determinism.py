"""A run depends on its arguments alone: byte by byte, in fresh processes whose sets differ."""

import os
import subprocess
import sys

import pytest

from kafkalearn.errors import DisconnectError
from kafkalearn.protocol.metadata import MetadataRequest
from kafkalearn.simulation import Simulation
from tests.simulation.scripts import SCRIPTS, play

PROGRAM = """
import sys
import traceback
from pathlib import Path
from tests.simulation.scripts import play
from tests.simulation.test_determinism import by_chance

folder, *names = sys.argv[1:]
for name in names:
    try:
        play(name).trace.to_jsonl(Path(folder, name))
    except Exception:
        traceback.print_exc()  # one story that fails does not take the others with it
by_chance(1, latency_jitter_ms=50, loss_per_million=300_000).to_jsonl(Path(folder, "by_chance"))
"""


def by_chance(seed, **settings):
    """Ask thirty times what is answered always alike; the trace."""
    sim = Simulation(name="by chance", seed=seed, **settings)
    for _ in range(30):
        try:
            sim.request("broker-0", MetadataRequest(topics=()))
        except DisconnectError:
            sim.sleep(10)
    return sim.trace


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Where two processes wrote all traces, the second in the opposite order."""
    found = []
    for hash_seed, names in [("1", list(SCRIPTS)), ("2", list(reversed(SCRIPTS)))]:
        folder = tmp_path_factory.mktemp("traces")
        subprocess.run(
            [sys.executable, "-c", PROGRAM, folder, *names],
            check=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )
        found.append(folder)
    return found


@pytest.mark.parametrize("name", [*SCRIPTS, "by_chance"])
def test_equal_arguments_give_equal_bytes(folders, name):
    """As JSON Lines, whatever order sets have and whatever ran before in the process."""
    one, other = ((folder / name).read_bytes() for folder in folders)
    assert one.count(b"\n") > 10
    assert one == other


@pytest.mark.parametrize(
    "settings", [{"latency_jitter_ms": 50}, {"loss_per_million": 300_000}], ids=["latency", "loss"]
)
def test_chance_follows_the_seed(settings):
    """Where chance is used, another seed makes other times or losses; the same seed does not."""

    def seen(seed):
        return [(event.time_ms, event.kind) for event in by_chance(seed, **settings)]

    assert seen(1) == seen(1)
    assert seen(1) != seen(2)


def test_without_chance_a_seed_changes_member_ids_only():
    """So that two seeds of such a story can be laid side by side."""

    def seen(seed):
        trace = play("second_member_comes_and_goes", seed=seed).trace
        ids = {event.member_id for event in trace.where(kind="member_joined")}
        return ids, [(e.time_ms, e.node, e.kind, e.api, e.generation, e.error) for e in trace]

    (ids, events), (other_ids, other_events) = seen(1), seen(2)
    assert not ids & other_ids
    assert events == other_events
