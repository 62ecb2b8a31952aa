"""JupyterLab on a port of its own, in a folder of its own; a notebook in it, in the hands of a test."""
from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}


class Lab:
    """A running JupyterLab whose notebooks lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{_free_port()}"
        settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(json.dumps(NO_NEWS))
        environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"), "PYTHONPATH": str(ROOT),
                       "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"), "IPYTHONDIR": str(folder / "ipython"),
                       "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
                   "--ServerApp.ip=127.0.0.1", "--JupyterNotebookApp.expose_app_in_browser=True",
                   f"--ServerApp.port={self.url.rpartition(':')[2]}",
                   "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
        self.log = (folder / "lab.log").open("wb")
        self.process = subprocess.Popen(command, env=environment, cwd=folder, stdout=self.log, stderr=self.log)
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            assert self.process.poll() is None, (self.folder / "lab.log").read_text()
            try:
                with urllib.request.urlopen(f"{self.url}/api/status", timeout=2):
                    return
            except OSError:
                time.sleep(0.2)
        raise AssertionError(f"JupyterLab did not start:\n{(self.folder / 'lab.log').read_text()}")

    def close(self) -> None:
        """End the server and its kernels."""
        self.process.terminate()
        self.process.wait(timeout=20)
        self.log.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """A notebook of code cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = [{"cell_type": "code", "id": f"cell{i}", "metadata": {}, "source": source, "outputs": [],
             "execution_count": None} for i, source in enumerate(cells)]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": made}))


class Notebook:
    """A notebook open in JupyterLab, or (app="notebooks") in Notebook 7."""

    def __init__(self, page: Any, lab: Lab, name: str, app: str = "lab/tree") -> None:
        self.page, self.path = page, lab.folder / name
        page.goto(f"{lab.url}/{app}/{name}?reset")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=SECONDS * 1000)
        page.wait_for_function("() => window.jupyterapp", timeout=SECONDS * 1000)
        page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel",
                               timeout=SECONDS * 1000)

    def command(self, name: str) -> None:
        """Run one of JupyterLab's commands."""
        self.page.evaluate("(name) => window.jupyterapp.commands.execute(name)", name)

    def run_all(self) -> None:
        """Run all cells and wait for the last one."""
        self.command("notebook:run-all-cells")
        self.wait()

    def run(self, cell: int) -> None:
        """Run one cell again and wait for it."""
        self.page.evaluate("(i) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", cell)
        self.command("notebook:run-cell")
        self.wait()

    def wait(self) -> None:
        """Wait until every cell has run. Raises AssertionError with the output of one that failed."""
        self.page.wait_for_function(
            """() => document.querySelector('[data-mime-type$="stderr"], [data-mime-type$=".error"]') ||
                     [...document.querySelectorAll(".jp-CodeCell .jp-InputArea-prompt")]
                       .every((prompt) => /^\\[\\d+\\]:$/.test(prompt.textContent.trim()))""", timeout=SECONDS * 1000)
        failed = self.page.locator('[data-mime-type$="stderr"], [data-mime-type$=".error"]')
        assert failed.count() == 0, failed.first.inner_text()

    def cell(self, index: int) -> Any:
        """The cell of that place."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def saved(self) -> dict[str, Any]:
        """The notebook as it is once saved."""
        before = self.path.stat().st_mtime_ns
        self.command("docmanager:save")
        end = time.monotonic() + SECONDS
        while self.path.stat().st_mtime_ns == before and time.monotonic() < end:
            time.sleep(0.1)
        found: dict[str, Any] = json.loads(self.path.read_text())
        return found
