"""A scenario depends on its arguments alone: byte by byte, in fresh processes whose sets differ."""

import json
import os
import subprocess
import sys

import pytest

from kafkalearn import scenarios

CHANCE = {"latency_jitter_ms": 20, "loss_per_million": 20_000}
PROGRAM = """
import json
import sys
from pathlib import Path
from kafkalearn import scenarios

folder, settings, *names = sys.argv[1:]
for name in names:
    scenarios.run(name).to_jsonl(Path(folder, name))
    scenarios.run(name, seed=3, profile="4.0", **json.loads(settings)).to_jsonl(
        Path(folder, f"{name} by chance")
    )
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Where two processes wrote all traces, the second in the opposite order."""
    found = []
    for hash_seed, names in [("1", scenarios.names()), ("2", scenarios.names()[::-1])]:
        folder = tmp_path_factory.mktemp("traces")
        subprocess.run(
            [sys.executable, "-c", PROGRAM, folder, json.dumps(CHANCE), *names],
            check=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )
        found.append(folder)
    return found


@pytest.mark.parametrize("by_chance", ["", " by chance"])
@pytest.mark.parametrize("name", scenarios.names())
def test_equal_arguments_give_equal_bytes(folders, name, by_chance):
    """As JSON Lines, whatever order sets have, also with lost and late messages under 4.0."""
    one, other = ((folder / f"{name}{by_chance}").read_bytes() for folder in folders)
    assert one.count(b"\n") > 10
    assert one == other


@pytest.mark.parametrize("settings", [{key: value} for key, value in CHANCE.items()], ids=CHANCE)
def test_chance_follows_the_seed(settings):
    """Where chance is used, another seed makes other times or losses; the same seed does not."""

    def times(seed):
        trace = scenarios.second_member_joins(seed=seed, **settings)
        return [(event.time_ms, event.kind) for event in trace]

    assert times(1) == times(1)
    assert times(1) != times(2)


ONE_BROKER = [name for name in scenarios.names() if name != "coordinator_fails_over"]


@pytest.mark.parametrize("name", ONE_BROKER)
def test_without_chance_a_seed_changes_ids_only(name):
    """So that two seeds of a story can be laid side by side."""
    ids, events = seen(name, seed=1)
    other_ids, other_events = seen(name, seed=2)
    assert not ids & other_ids
    assert events == other_events


def test_with_several_brokers_a_client_asks_one_by_chance():
    """Which broker is asked for metadata and coordinator depends on the seed."""
    assert seen("coordinator_fails_over", seed=1)[1] != seen("coordinator_fails_over", seed=2)[1]


def seen(name, seed):
    """Give the ids of members, and what happened when."""
    trace = scenarios.run(name, seed=seed)
    ids = {event.member_id for event in trace.where(kind="member_joined")}
    return ids, [(event.time_ms, event.kind, event.api, event.error) for event in trace]
