"""Packs kafkalearn itself as one file, for executors that have none or another."""

import atexit
import shutil
import tempfile
import zipfile
from functools import cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

import kafkalearn

SHIPPED = {".py", ".css", ".js", ".json"}


@cache
def _content() -> bytes:
    root = Path(kafkalearn.__file__).parent
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in root.rglob("*") if path.suffix in SHIPPED):
            name = Path("kafkalearn", path.relative_to(root)).as_posix()
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return content.getvalue()


@cache
def source_digest() -> str:
    """Name this state of the package's source: other source may grade otherwise."""
    return blake2b(_content(), digest_size=8).hexdigest()


@cache
def packed() -> Path:
    """Zip the package. It is one file as long as we live: Spark takes a name only once.

    Spark fetches it late for an executor that starts late.
    """
    folder = Path(tempfile.mkdtemp(prefix="kafkalearn-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shipped = folder / f"kafkalearn-{source_digest()}.zip"
    shipped.write_bytes(_content())
    return shipped
