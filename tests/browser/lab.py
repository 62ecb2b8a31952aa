"""Jupyter's server on a port of its own, in a folder of its own; a notebook in either front end, in a test's hands."""
from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.browser.trap import Trap

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "tfnb" / "notebook" / "static"           # has labextensions/tfnb
SECONDS = 60
ANSWER = 20_000         # milliseconds that a click, or what follows of it, may take
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
FRONT_ENDS = {"lab": "lab/tree", "notebook": "notebooks"}       # name -> where its pages are
DARK, LIGHT = "JupyterLab Dark", "JupyterLab Light"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--headless=new"]         # of Chromium
FAILED = '[data-mime-type$="stderr"], [data-mime-type$=".error"]'

# The notebook of a page, whatever stands beside it.
PANEL = "[...window.jupyterapp.shell.widgets('main')].find((one) => one.sessionContext)"

# What an expression is in the kernel: asked for as a front end may, beside the cells; waits until it is true.
IN_KERNEL = f"""async ([expression, milliseconds]) => {{
    const kernel = {PANEL}.sessionContext.session.kernel;
    const end = Date.now() + milliseconds;
    for (;;) {{
        const request = {{code: "", silent: true, store_history: false, user_expressions: {{it: expression}}}};
        const it = (await kernel.requestExecute(request).done).content.user_expressions?.it;
        if (!it) continue;      // a cell failed before: kernels drop what waits behind it
        const found = it.status === "ok" ? it.data["text/plain"] : `${{it.ename}}: ${{it.evalue}}`;
        if (found === "True" || Date.now() > end) return found;
        await new Promise((go) => setTimeout(go, 50));
    }}
}}"""

# A kernel is there, and its page listens for widgets: what is made before has no model in the page, and never gets one.
READY = """() => {
    const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
    return kernel && (!kernel._targetRegistry || kernel._targetRegistry["jupyter.widget"]);
}"""


def chromium_path() -> str | None:
    """The Chromium that $TFNB_CHROMIUM names, or one on PATH."""
    return os.environ.get("TFNB_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


class Lab:
    """A running server of JupyterLab and Notebook 7, whose notebooks lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{free_port()}"
        settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(json.dumps(NO_NEWS))
        environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"), "PYTHONPATH": str(ROOT),
                       "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"), "IPYTHONDIR": str(folder / "ipython"),
                       "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
                       "JUPYTER_PATH": str(BUILT)}
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
                   "--ServerApp.ip=127.0.0.1", "--JupyterNotebookApp.expose_app_in_browser=True",
                   # an installed language server may put a dialog over the page, even where its setting is "off"
                   "--LanguageServerManager.autodetect=False",
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


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """A notebook of code cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = [{"cell_type": "code", "id": f"cell{i}", "metadata": {}, "source": source, "outputs": [],
             "execution_count": None} for i, source in enumerate(cells)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": made}))


class Notebook:
    """A notebook of these cells, open in a front end. trap: what ran in the page that should not, and its errors."""

    def __init__(self, browser: Any, lab: Lab, front_end: str, name: str, cells: Sequence[str], height: int = 1700,
                 pictures: Path | None = None) -> None:
        self.front_end, self.pictures = front_end, pictures
        self.path = lab.folder / front_end / f"{name}.ipynb"        # a folder each: checkpoints go beside the notebook
        write_notebook(self.path, cells)
        self.page = browser.new_page(viewport={"width": 1250, "height": height})
        self.page.set_default_timeout(ANSWER)
        self.trap = Trap(self.page)
        self.page.goto(f"{lab.url}/{FRONT_ENDS[front_end]}/{front_end}/{name}.ipynb?reset")
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=SECONDS * 1000)
        self.page.wait_for_function(READY, timeout=SECONDS * 1000)

    def close(self) -> None:
        """Close the page; the kernel ends with the server."""
        self.page.close()

    # running

    def command(self, name: str, **arguments: Any) -> None:
        """Do one of JupyterLab's commands, and wait for its end."""
        self.page.evaluate("([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)",
                           [name, arguments])

    def run_all(self) -> None:
        """Run all cells. Raises AssertionError with the output of one that failed."""
        self.command("notebook:run-all-cells")
        self._good()

    def run(self, cell: int, may_fail: bool = False) -> None:
        """Run one cell. Raises AssertionError with its output if it failed, unless it may."""
        self.activate(cell)
        self.command("notebook:run-cell")
        if not may_fail:
            self._good()

    def _good(self) -> None:
        failed = self.page.locator(FAILED)
        assert failed.count() == 0, failed.first.inner_text()

    def activate(self, cell: int) -> None:
        """Make a cell the active one."""
        self.page.evaluate(f"(i) => {{ {PANEL}.content.activeCellIndex = i; }}", cell)

    def edit(self, cell: int, old: str, new: str) -> None:
        """Change the text of a cell."""
        self.page.evaluate(f"""([i, old, made]) => {{
            const model = {PANEL}.content.widgets[i].model.sharedModel;
            model.setSource(model.getSource().replace(old, made));
        }}""", [cell, old, new])

    def ask(self, expression: str, milliseconds: int = 0) -> str:
        """How the kernel writes the value of an expression; until it is True, or so many milliseconds are over."""
        return str(self.page.evaluate(IN_KERNEL, [expression, milliseconds]))

    def holds(self, expression: str) -> None:
        """Wait until an expression is True in the kernel. Raises AssertionError with what it is."""
        found = self.ask(f"bool({expression})", ANSWER)
        assert found == "True", f"in the kernel {expression} is {found}"

    # looking

    def cell(self, index: int) -> Any:
        """The cell of that place."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def output(self, index: int) -> str:
        """The text of a cell's outputs."""
        return str(self.cell(index).locator(".jp-OutputArea").first.inner_text())

    def theme(self, name: str) -> None:
        """Change the theme of the page, and wait for it."""
        self.command("apputils:change-theme", theme=name)
        light = str(name == LIGHT).lower()
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{light}' && "
                                    "!document.querySelector('#jupyterlab-splash')")

    def picture(self, name: str, first: int, last: int | None = None) -> None:
        """A screenshot of some cells for human eyes, if they are kept."""
        if self.pictures is None:
            return
        self.cell(first).scroll_into_view_if_needed()
        self.settle()
        top, bottom = (self.cell(i).bounding_box() for i in (first, first if last is None else last))
        file = self.pictures / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}-{self.front_end}.png"
        self.page.screenshot(path=str(file), clip={
            "x": top["x"], "y": top["y"], "width": top["width"], "height": bottom["y"] + bottom["height"] - top["y"]})

    def settle(self) -> None:
        """Wait until nothing that is seen moves any more, and for two frames more."""
        self.page.wait_for_function("""() => document.getAnimations().every((one) => one.playState === "finished" ||
            one.effect.getTiming().iterations !== 1 ||
            !one.effect.target.checkVisibility({contentVisibilityAuto: true}))""")
        self.page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def saved(self) -> dict[str, Any]:
        """The notebook as it is once saved."""
        self.command("docmanager:save")
        found: dict[str, Any] = json.loads(self.path.read_text())
        return found
