"""Opens JupyterLab on the workbook: rooted at the checkout, on the welcome notebook, no pop-ups.

Nothing of the learner's own is changed: the settings stand in `lab_config/`, a Jupyter
configuration folder of this package, which binder/start uses too. Each exercise is laid out as a
copy that is the learner's, `exercises/NN_name/NN_name.ipynb`; its starter stays as it is.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from kafkalearn.workbook import MissingExtraError, WorkbookError

CONFIG_FOLDER = Path(__file__).with_name("lab_config")


def open_lab(root: Path, options: Sequence[str] = (), *, port: int | None, browser: bool) -> None:
    """Run JupyterLab until it is stopped.

    root: the folder that its file browser shows, see workbook.workbook_root.
    options: further options of ``jupyter lab``; they win over ours.

    Errors: MissingExtraError if JupyterLab is not installed.
    """
    try:
        from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("JupyterLab", "lab") from error
    os.environ["JUPYTER_CONFIG_PATH"] = config_path(os.environ)
    try:
        lay_out(root / "exercises")
    except OSError as error:
        print(f"No exercise is laid out: {error.filename}: {error.strerror}", file=sys.stderr)
    LabApp.launch_instance(argv=[*_options(root, port=port, browser=browser), *options])


def lay_out(exercises: Path) -> None:
    """Make the learner's copy of each exercise in the folder; one that is there stays as it is."""
    for starter in sorted(exercises.glob("*/starter.ipynb")):
        with suppress(FileExistsError), learners_copy(starter.parent).open("xb") as copy:
            copy.write(starter.read_bytes())


def learners_copy(exercise: Path) -> Path:
    """Where a learner works on the exercise in this folder; what is handed in has this name too."""
    return exercise / f"{exercise.name}.ipynb"


def put_back(exercise: Path) -> Path | None:
    """Begin the learner's copy anew from the starter; give where a changed old one is kept.

    Errors: WorkbookError if the folder cannot be written to.
    """
    copy, kept = learners_copy(exercise), None
    names = (copy.with_suffix(f".before-{number}.ipynb") for number in count(1))
    try:
        starter = (exercise / "starter.ipynb").read_bytes()
        if copy.exists() and copy.read_bytes() != starter:
            kept = copy.rename(next(name for name in names if not name.exists()))
        copy.write_bytes(starter)
    except OSError as error:
        raise WorkbookError(f"{error.filename} cannot be written: {error.strerror}") from error
    return kept


def config_path(environ: Mapping[str, str]) -> str:
    """Where Jupyter looks for settings: our folder first, then what the environment had named."""
    named = environ.get("JUPYTER_CONFIG_PATH")
    return os.pathsep.join([str(CONFIG_FOLDER), *([named] if named else [])])


def has_screen(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a browser window can open here; over ssh to a Linux machine usually not.

    Without this, Python's webbrowser would start a text browser over the address in the terminal.
    """
    return platform in ("darwin", "win32") or any(map(environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _options(root: Path, *, port: int | None, browser: bool) -> list[str]:
    options = [f"--ServerApp.root_dir={root}", "--Application.log_level=WARN"]
    if port is not None:
        options.append(f"--ServerApp.port={port}")
    if not (browser and has_screen(os.environ)):
        options.append("--ServerApp.open_browser=False")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--ServerApp.allow_root=True")
    return options


if __name__ == "__main__":
    print(config_path(os.environ))  # for binder/start
