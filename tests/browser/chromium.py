"""Where a Chromium is, and how tests and benchmarks start it."""

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


def find_chromium(environ, which=shutil.which):
    """Give the Chromium's path, or None; KAFKALEARN_CHROMIUM wins over the PATH."""
    named = environ.get("KAFKALEARN_CHROMIUM")
    return named or next(filter(None, map(which, NAMES)), None)


def launch(playwright, path):
    """Start Chromium with an empty profile; root needs to run it without its sandbox."""
    as_root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    return playwright.chromium.launch(executable_path=path, args=[*FLAGS, *as_root])
