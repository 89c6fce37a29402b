"""Takes kafkalearn itself to executors, which may have none or another."""

import atexit
import shutil
import sys
import tempfile
import zipfile
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import kafkalearn
from kafkalearn.grading.isolation.lending import python_path

if TYPE_CHECKING:
    from pyspark import SparkContext

SHIPPED = {".py", ".css", ".js", ".json", ".tsv"}
SHOWS_ONLY = {"cli", "lab_config", "spark", "views"}  # what no grade depends on


def _files() -> list[tuple[str, Path]]:
    root = Path(kafkalearn.__file__).parent
    paths = sorted(path for path in root.rglob("*") if path.suffix in SHIPPED)
    return [(path.relative_to(root).as_posix(), path) for path in paths]


@cache
def _content() -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in _files():
            archive.writestr(zipfile.ZipInfo(f"kafkalearn/{name}"), path.read_bytes())
    return content.getvalue()


@cache
def grading_digest() -> str:
    """Name this state of the source that grades depend on: other source may grade otherwise."""
    digest = blake2b(digest_size=8)
    for name, path in _files():
        if name.split("/")[0] not in SHOWS_ONLY:
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@cache
def packed() -> Path:
    """Zip the package. It is one file as long as we live: Spark takes a name only once.

    Spark fetches it late for an executor that starts late.
    """
    folder = Path(tempfile.mkdtemp(prefix="kafkalearn-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shipped = folder / f"kafkalearn-{blake2b(_content(), digest_size=8).hexdigest()}.zip"
    shipped.write_bytes(_content())
    return shipped


def ship(context: "SparkContext") -> None:
    """Let a session's executors import this very package.

    Those of a local master are here and run our Python: they find it where it lies, compiled
    already. Others get it as one file, through Spark.
    """
    if str(context.master).startswith("local[") and context.pythonExec == sys.executable:
        place = Path(kafkalearn.__file__).resolve().parent.parent
        context.environment["PYTHONPATH"] = python_path(place)
    else:
        context.addPyFile(str(packed()))
