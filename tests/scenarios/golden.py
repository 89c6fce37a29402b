"""The stored traces of the scenarios. ``python -m tests.scenarios.golden`` writes them anew."""

from pathlib import Path

from kafkalearn import scenarios
from tests.golden import Golden

golden = Golden(Path(__file__).with_suffix(""), "tests.scenarios.golden")

if __name__ == "__main__":
    golden.write_all({name: scenarios.run(name) for name in scenarios.names()})
