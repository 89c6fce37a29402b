"""The command `kafkalearn lab`, started for real, and what it does where JupyterLab cannot run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest
from typer.testing import CliRunner

from kafkalearn.cli import app
from kafkalearn.lab import CONFIG_FOLDER, config_path, has_screen
from tests.commands import KAFKALEARN, wait_until
from tests.notebooks.lessons import good_lesson, save

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start `kafkalearn lab` for a person with an empty home; give the address that it prints."""
    home = tmp_path_factory.mktemp("home")
    workbook = tmp_path_factory.mktemp("workbook")
    (workbook / "notebooks").mkdir()
    save(good_lesson(), workbook / "notebooks" / "00_welcome.ipynb")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "XDG_"))}
    environment |= {"HOME": str(home), "PYTHONPATH": str(ROOT)}
    log = workbook / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [*KAFKALEARN, "lab", "--no-browser", "--port", "18888"],
            cwd=workbook / "notebooks",
            env=environment,
            stdout=file,
            stderr=file,
        )
    try:
        wait_until(lambda: "token=" in log.read_text(), process)
        yield re.search(r"http://127\S+", log.read_text()).group(), home
    finally:
        process.terminate()
        process.wait(timeout=60)


def get(address, path=""):
    """Read a page or an answer of the server that the address names."""
    base, _, token = address.partition("?")
    url = base.split("/lab")[0] + path if path else base
    directly = build_opener(ProxyHandler({}))  # A proxy of this machine knows nothing of ours.
    with directly.open(f"{url}?{token}", timeout=60) as response:
        return response.read().decode()


@pytest.mark.slow
def test_lab_opens_the_welcome_notebook(lab):
    """The printed address leads to JupyterLab on 00_welcome, wherever the command was called."""
    address, _ = lab
    assert "/lab/tree/notebooks/00_welcome.ipynb?token=" in address
    assert "<title>JupyterLab</title>" in get(address)
    assert (
        json.loads(get(address, "/api/contents/notebooks/00_welcome.ipynb"))["type"] == "notebook"
    )


@pytest.mark.slow
def test_lab_asks_nothing_and_fetches_no_news(lab):
    """Nothing asks about news or looks for updates; a learner's own settings stay unwritten."""
    address, home = lab
    plugin = "/lab/api/settings/@jupyterlab/apputils-extension:notification"
    properties = json.loads(get(address, plugin))["schema"]["properties"]
    assert properties["fetchNews"]["default"] == "false"
    assert properties["checkForUpdates"]["default"] is False
    assert '"news": {"disabled": true}' in get(address)
    assert not list(home.glob(".jupyter/**/*settings*"))


def test_lab_without_jupyterlab_says_what_to_install(monkeypatch, tmp_path):
    """Someone who installed the package alone is told the extra's name."""
    (tmp_path / "notebooks").mkdir()
    save(good_lesson(), tmp_path / "notebooks" / "00_welcome.ipynb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    result = CliRunner().invoke(app, ["lab"])
    assert "JupyterLab is not installed here." in result.output
    assert "kafkalearn[lab]" in result.output
    assert result.exit_code == 2


def test_a_text_browser_is_not_started_over_ssh():
    """On Linux a browser window needs a display; elsewhere there is one."""
    assert not has_screen({"SSH_TTY": "pts/0"}, "linux")
    assert has_screen({"DISPLAY": ":0"}, "linux")
    assert has_screen({}, "darwin")


def test_settings_that_the_environment_named_still_count():
    """Our configuration folder is added, not put in the place of another."""
    assert config_path({}) == str(CONFIG_FOLDER)
    assert config_path({"JUPYTER_CONFIG_PATH": "a"}) == os.pathsep.join([str(CONFIG_FOLDER), "a"])
