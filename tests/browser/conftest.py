"""A Chromium that may not leave this machine, JupyterLab by the Makefile's own command, and the
built slides and pages. Run by `make browser-test`, not by `make test`.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from small_lesson import small_lesson

ROOT = Path(__file__).parents[2]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
QUIET = (  # it would ask for updates and components by itself
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
SECONDS = 120


def pytest_collection_modifyitems(items):
    if not CHROMIUM:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests."""
    api = pytest.importorskip("playwright.sync_api", reason="make browser-test installs playwright")
    sandbox = ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    with api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *sandbox])


@pytest.fixture
def open_page(browser):
    """Opens pages of a size; when the test ends, none may have asked another machine for anything,
    and none may have failed in a script.
    """
    asked, failed, contexts = [], [], []

    def watch(page):
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.set_default_timeout(1000 * SECONDS)

    def make(width=1280, height=720, **settings):
        contexts.append(
            browser.new_context(viewport={"width": width, "height": height}, **settings)
        )
        contexts[-1].on("page", watch)
        return contexts[-1].new_page()

    yield make
    for context in contexts:
        context.close()
    here = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:", "ws://127.0.0.1:")
    assert [url for url in asked if not url.startswith(here)] == []
    assert failed == []


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder with `slides` and `site`, made by the commands that the Makefile calls."""
    folder = tmp_path_factory.mktemp("build")
    for edition in ("slides", "site"):
        command = [sys.executable, "-m", "transformer_lib.publish", edition, "--out"]
        subprocess.run([*command, folder / edition], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """Gives a lesson's address in a JupyterLab that `make lab` started on a copy of the lessons."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    nbformat.write(small_lesson(), folder / "notebooks/09_small.ipynb")
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder)
    (folder / ".venv").symlink_to(sys.prefix)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    flags = f"--no-browser --port={port} --port-retries=0 --IdentityProvider.token=lessons"
    flags += " --LabApp.expose_app_in_browser=True"
    server = subprocess.Popen(
        ["make", "lab", f"LAB_FLAGS={flags}"],
        cwd=folder,
        stdout=(folder / "lab.log").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/api?token=lessons", server, folder / "lab.log")
        yield lambda stem: f"http://127.0.0.1:{port}/lab/tree/{stem}.ipynb?token=lessons&reset"
    finally:
        os.killpg(server.pid, 15)
        server.wait(timeout=30)


def _wait_for(url, server, log):
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5)
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start: {log.read_text()}")
