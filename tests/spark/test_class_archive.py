"""An archive of Java's classes is used if it is whole and of this Java, and else done without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalearn.spark import class_archive, java
from kafkalearn.spark.class_archive import main
from kafkalearn.spark.java import sharing_options

STARTED = """
from kafkalearn.spark.session import spark_session
print(spark_session("local[1]", spark_driver_extraJavaOptions="-Xshare:on").range(3).count())
"""


def test_only_a_whole_archive_is_used(tmp_path, monkeypatch):
    """Of both files, where Java's options can name them."""
    for name in ("here", "not here"):
        place = tmp_path / name
        monkeypatch.setattr(java, "ARCHIVE", place)
        place.mkdir()
        assert sharing_options() == ""
        (place / "java.jsa").touch()
        assert sharing_options() == ""
        (place / "spark.jsa").touch()
        told = f"-XX:SharedArchiveFile={place / 'java.jsa'}:{place / 'spark.jsa'}"
        assert sharing_options() == ("" if " " in name else told)


def test_what_cannot_be_made_is_told_and_leaves_nothing(tmp_path, monkeypatch, capsys):
    """Here Java cannot write it."""
    false = tmp_path / "java" / "bin" / "java"
    false.parent.mkdir(parents=True)
    false.write_text("#!/bin/sh\nexit 1\n")
    false.chmod(0o755)
    monkeypatch.setattr("kafkalearn.spark.class_archive.java_home", lambda: tmp_path / "java")
    monkeypatch.setattr(class_archive, "ARCHIVE", tmp_path / "place")
    assert main() == 1
    assert "no archive was made, and Spark will do without: Command" in capsys.readouterr().out
    assert list((tmp_path / "place").iterdir()) == []


@pytest.mark.spark
@pytest.mark.slow
def test_spark_starts_with_the_archive_of_this_environment(tmp_path):
    """Java itself is told to refuse one that does not fit."""
    if not sharing_options() and "CI" not in os.environ:  # There it is made before the tests.
        pytest.skip("there is no archive: `make spark` makes one")
    done = subprocess.run(
        [sys.executable, "-c", STARTED], capture_output=True, text=True, cwd=Path.cwd()
    )
    anew = f"`rm .venv/.ready-spark; make spark` makes it for the Java of now. {done.stderr}"
    assert (done.returncode, done.stdout.strip()) == (0, "3"), anew
