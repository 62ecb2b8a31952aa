"""What a person waits for: from Shift+Enter on `%graph` to its drawing, and from a click to an opened scope.

`python -m benchmarks.browser [ROUNDS]` prints milliseconds by the clock, the medians of some rounds, in JupyterLab and
in Notebook 7 (headless Chromium, as for the browser tests): kernel, messages, and the frame that shows it.
So it wants a quiet machine.
"""
from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright import sync_api

from benchmarks.systems import ROOT
from tests.browser.lab import ARGUMENTS, FRONT_ENDS, Lab, Notebook, chromium_path

# Graph of benchmarks/notebook.py -> scopes that are opened one after the other, and closed again in that order.
OPENED = {"deep": ("block_*/", "gradients/", "training/", "metric_*/"), "flat": ("Mul_Mul*/",)}
CELLS = ("%load_ext tfnb\nimport sys\nsys.path.insert(0, {root!r})\nfrom benchmarks.notebook import {name}", "{name}()",
         "%graph")
# Elements under the shadow root of the view; `drawn` waits for the frame after a change of the drawing.
SCRIPT = """(() => {
    const within = (root, found) => {
        found.push(...root.querySelectorAll("svg.tfnb-graph"));
        for (const one of root.querySelectorAll("*")) if (one.shadowRoot) within(one.shadowRoot, found);
        return found;
    };
    const drawing = () => within(document.querySelectorAll(".jp-CodeCell")[2], [])[0];
    const frame = () => new Promise((go) => requestAnimationFrame(go));
    const drawn = async (act) => {
        const before = drawing(), start = performance.now();
        act();
        while (!drawing() || drawing() === before) {
            if (performance.now() - start > 10000) throw new Error("nothing was drawn within 10 s");
            await frame();
        }
        await frame();
        return performance.now() - start;
    };
    window.openGraph = () => drawn(() => window.jupyterapp.commands.execute("notebook:run-cell"));
    window.toggle = (key) => drawn(() => drawing().querySelector(
        `g.n[data-name="${key}"] .fold, g.head[data-name="${key}"] .fold`).dispatchEvent(
        new MouseEvent("click", { bubbles: true })));
})()"""


def measure(notebook: Notebook, scopes: tuple[str, ...], rounds: int) -> dict[str, float]:
    """Medians, in milliseconds."""
    notebook.run(0)
    notebook.run(1)
    notebook.page.evaluate(SCRIPT)
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        notebook.activate(2)
        times.setdefault("open", []).append(notebook.page.evaluate("() => window.openGraph()"))
        for what in ("expand", "collapse"):
            for scope in scopes:
                notebook.page.wait_for_timeout(600)         # till it has stopped moving
                took = notebook.page.evaluate("(key) => window.toggle(key)", scope)
                times.setdefault(f"{what} {scope}", []).append(took)
    return {what: statistics.median(found) for what, found in times.items()}


def main(rounds: int = 5) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_api.sync_playwright() as running:
        lab, browser = Lab(Path(folder)), running.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        for name, scopes in OPENED.items():
            cells = [cell.format(root=str(ROOT), name=name) for cell in CELLS]
            for front_end in FRONT_ENDS:
                notebook: Any = Notebook(browser, lab, front_end, name, cells)
                for what, milliseconds in measure(notebook, scopes, rounds).items():
                    print(f"{front_end:10}{name:6}{what:24}{milliseconds:6.0f} ms", flush=True)
                notebook.close()
        browser.close()
        lab.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
