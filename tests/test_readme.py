"""The README's Python is run, and prints what stands beside it."""

import re
from contextlib import redirect_stdout
from doctest import ELLIPSIS, OutputChecker
from io import StringIO
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)


def shown(block):
    """Give the output that a block shows: comments on lines of their own, or behind a print."""
    found = [re.match(r"# (.*)|print\(.*\)  # (.*)", line) for line in block.splitlines()]
    lines = [each[1] or each[2] for each in found if each]
    return "".join(line.replace(" ...", "...") + "\n" for line in lines)


def printed(block):
    """Run a block; its output."""
    with redirect_stdout(StringIO()) as output:
        exec(compile(block, README.name, "exec"), {})
    return output.getvalue()


def is_as_shown(block):
    """Whether a block prints what it shows; ``...`` stands for anything."""
    return OutputChecker().check_output(shown(block), printed(block), ELLIPSIS)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_an_example_prints_what_it_shows(block, tmp_path, monkeypatch):
    """Whoever copies it sees the same; what it writes, it writes where it is run."""
    monkeypatch.chdir(tmp_path)
    assert is_as_shown(block), printed(block)


@pytest.mark.parametrize("block", ["print(1)  # 2", "print(1)\n# 2", "print(1)", "# 1"])
def test_another_output_is_noticed(block):
    """Also one that is not shown, or not printed."""
    assert not is_as_shown(block + "\n")


def test_the_cluster_has_examples():
    """They are found, and show something."""
    of_clusters = [block for block in BLOCKS if "Simulation" in block]
    assert [len(shown(block).splitlines()) for block in of_clusters] == [6, 5, 2, 5]
