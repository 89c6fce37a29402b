"""A real JupyterLab in a real Chromium, for every test that looks at what a learner sees.

`jupyter_lab` opens notebooks; `browser` is the Chromium; `pictures` is where screenshots go.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.browser.chromium import find_chromium, launch

ROOT = Path(__file__).parents[2]
TOKEN = "for-this-test-run-only"
HOW_TO_GET_ONE = (
    "no Chromium was found: install one (Debian: apt-get install chromium; anywhere: "
    "`python -m playwright install chromium`), or name its file in KAFKALEARN_CHROMIUM"
)
LAB_STARTS_WITHIN_S = 90
CELL_RUNS_WITHIN_MS = 90_000
# JupyterLab is on this machine: a proxy of the environment must not be asked for it.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": False},
}


def no_chromium(environ):
    """Skip at a learner's desk, fail where the tests must all run."""
    if environ.get("CI"):
        pytest.fail(HOW_TO_GET_ONE)
    pytest.skip(HOW_TO_GET_ONE)


@pytest.fixture(scope="session")
def browser():
    """Start one Chromium for the run, with an empty profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = find_chromium(os.environ)
        if path is None and Path(playwright.chromium.executable_path).exists():
            path = playwright.chromium.executable_path
        if path is None:
            no_chromium(os.environ)
        chromium = launch(playwright, path)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def pictures():
    """Give the folder for screenshots: one that git ignores, or KAFKALEARN_PICTURES."""
    folder = ROOT / os.environ.get("KAFKALEARN_PICTURES", "build/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory):
    """Run a JupyterLab on a free port, in a scratch folder and with settings of its own."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "work").mkdir()
    settings = folder / "config" / "labconfig" / "default_setting_overrides.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = {name: str(folder / name.lower()) for name in ("HOME", "IPYTHONDIR")}
    places |= {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("DATA", "RUNTIME")}
    environ = os.environ | places | {"JUPYTER_CONFIG_DIR": str(folder / "config")}
    environ["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", "--allow-root"]
    command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder / 'work'}"]
    log = folder / "log.txt"
    with log.open("w") as out:
        server = subprocess.Popen(command, env=environ, stdout=out, stderr=out)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/status?token={TOKEN}", server, log)
        yield f"http://127.0.0.1:{port}", folder / "work"
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait_for(address, server, log):
    for _ in range(LAB_STARTS_WITHIN_S * 4):
        try:
            with OPENER.open(address):
                return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.25)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


@dataclass
class Lab:
    """JupyterLab in one browser window."""

    page: object
    address: str
    folder: Path
    errors: list = field(default_factory=list)

    def open(self, name, *, cells, outputs=()):
        """Write a notebook of code cells and open it; `outputs` are the first cell's, stored."""
        notebook = notebook_of(cells)
        notebook["cells"][0]["outputs"] = list(outputs)
        (self.folder / name).write_text(json.dumps(notebook))
        self._open(name)

    def open_file(self, name, source):
        """Open a copy of a notebook."""
        shutil.copy(source, self.folder / name)
        self._open(name)

    def _open(self, name):
        self.page.goto(f"{self.address}/lab/tree/{name}?token={TOKEN}&reset")
        # A notebook that is run before its kernel is there forgets that it was asked to.
        idle = self.page.locator(".jp-StatusBar-Widget", has_text="| Idle")
        idle.wait_for(timeout=CELL_RUNS_WITHIN_MS)

    def run_all(self):
        """Run every cell and wait until the kernel has nothing left to do."""
        cells = self.page.locator(".jp-Notebook .jp-CodeCell")
        cells.first.click()
        self._menu("Run", "Run All Cells")
        for cell in cells.all():
            prompt = cell.locator(".jp-InputPrompt")
            prompt.filter(has_text=re.compile(r"\[\d+\]")).wait_for(timeout=CELL_RUNS_WITHIN_MS)

    def use_theme(self, name):
        """``"JupyterLab Light"`` or ``"JupyterLab Dark"``, as a learner chooses it."""
        self._menu("Settings", "Theme", name)
        light = str(name.endswith("Light")).lower()
        self.page.locator(f'body[data-jp-theme-light="{light}"]').wait_for(state="attached")

    def _menu(self, *path):
        self.page.locator(".lm-MenuBar-item", has_text=path[0]).first.click()
        for text in path[1:]:
            self.page.locator(".lm-Menu-itemLabel").get_by_text(text, exact=True).click()


def notebook_of(cells):
    """Make a notebook of code cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = [
        {"cell_type": "code", "id": f"cell-{number}", "source": source, "metadata": {}}
        | {"outputs": [], "execution_count": None}
        for number, source in enumerate(cells)
    ]
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel},
        "cells": made,
    }


@pytest.fixture
def lab(browser, lab_server):
    """Open a window on JupyterLab; the test fails if the console reports an error."""
    address, folder = lab_server
    context = browser.new_context(viewport={"width": 1440, "height": 1300})
    lab = Lab(context.new_page(), address, folder)
    lab.page.set_default_timeout(20_000)
    lab.page.on("pageerror", lambda error: lab.errors.append(str(error)))
    lab.page.on(
        "console", lambda said: lab.errors.append(said.text) if said.type == "error" else None
    )
    yield lab
    context.close()
    _stop_kernels(address)
    assert lab.errors == []


def _stop_kernels(address):
    """Leave no kernel behind: the next test would share the machine with it."""
    kernels = f"{address}/api/kernels"
    headers = {"Authorization": f"token {TOKEN}"}
    with OPENER.open(urllib.request.Request(kernels, headers=headers)) as answer:
        running = json.load(answer)
    for kernel in running:
        stop = urllib.request.Request(f"{kernels}/{kernel['id']}", headers=headers, method="DELETE")
        OPENER.open(stop).close()
