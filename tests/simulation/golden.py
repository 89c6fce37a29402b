"""The stored traces of the scripts. ``python -m tests.simulation.golden`` writes them anew."""

from pathlib import Path

from tests.golden import Golden
from tests.simulation.scripts import SCRIPTS, play

golden = Golden(Path(__file__).with_suffix(""), "tests.simulation.golden")

if __name__ == "__main__":
    golden.write_all({name: play(name).trace for name in SCRIPTS})
