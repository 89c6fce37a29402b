"""The copy of the package for a learner's process in grading: what the exercise lends, no more."""

import os
import shutil
from collections.abc import Iterable
from importlib.abc import InspectLoader
from importlib.machinery import PathFinder
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from zipimport import zipimporter

# An installed package stays on the path behind the copy, by a .pth file: out with it, at start.
_START = """import os, sys
here = os.path.dirname(__file__)
sys.path[:] = [
    entry
    for entry in sys.path
    if entry == here or not os.path.isdir(os.path.join(entry, "kafkalearn"))
]
"""


def lend(modules: Iterable[str], folder: Path) -> None:
    """Write the source of each module below `folder`; it may come from a folder or from a zip.

    A Python that has `folder` first on PYTHONPATH finds no other kafkalearn on its path. This
    keeps an honest answer honest; a learner who searches the disk needs isolation to be stopped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(_START, encoding="utf-8")
    for name in modules:
        spec = find_spec(name)
        if spec is None or not isinstance(spec.loader, InspectLoader | zipimporter):
            raise ModuleNotFoundError(f"there is no module {name} to lend")
        path = folder.joinpath(*name.split("."))
        file = (
            path / "__init__.py"
            if spec.submodule_search_locations is not None
            else path.with_suffix(".py")
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        if spec.cached and os.path.exists(spec.cached) and spec.origin:
            # Compiled already, which Python believes if the source is as old as it was.
            compiled = Path(cache_from_source(str(file)))
            compiled.parent.mkdir(exist_ok=True)
            shutil.copyfile(spec.cached, compiled)
            shutil.copyfile(spec.origin, file)
            os.utime(file, (0, os.path.getmtime(spec.origin)))
        else:
            file.write_text(spec.loader.get_source(name) or "", encoding="utf-8")


def python_path(first: Path) -> str:
    """Put `first` before what PYTHONPATH has, and leave out other places that hold the package."""
    rest = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return os.pathsep.join(
        [str(first), *(e for e in rest if not PathFinder.find_spec("kafkalearn", [e]))]
    )
