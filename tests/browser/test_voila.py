"""A dashboard of Voila: views answer, a training that a cell began is steered from the page."""
from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import ROOT, SECONDS, free_port, write_notebook

pytest.importorskip("voila", reason="Voila is not installed")

CELLS = [
    "%load_ext tfnb\nimport tfnb as tf",
    """with tf.name_scope("model"):
    w = tf.Variable(3.0, name="w")
    loss = tf.square(w)
train = tf.train.GradientDescentOptimizer(1e-9).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())""",
    "%graph loss",
    "%vars",
    "%%train --as run\n_, loss_now = sess.run([train, loss])",
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Where Voila serves the notebook."""
    write_notebook(tmp_path / "board.ipynb", CELLS)
    url = f"http://127.0.0.1:{free_port()}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path / "ipython")}
    command = [sys.executable, "-m", "voila", "--no-browser", f"--port={url.rpartition(':')[2]}", "--theme=dark",
               "--Voila.ip=127.0.0.1", "--show_tracebacks=True", "board.ipynb"]
    with (tmp_path / "voila.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=log)
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end and process.poll() is None:
            try:
                urllib.request.urlopen(f"{url}/voila/static/", timeout=2)
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.mark.slow
def test_a_dashboard_answers_while_it_trains(page: Any, address: str) -> None:
    page.goto(address, timeout=SECONDS * 1000)
    page.locator('g.n[data-name="model/"] .fold').click(timeout=SECONDS * 1000)
    page.locator('g.n[data-name="model/Square"]').wait_for()
    page.get_by_text("up to date").first.wait_for()
    page.get_by_text("Pause", exact=True).click()
    page.get_by_text("Resume", exact=True).wait_for()
    page.get_by_text("Stop", exact=True).click()
    page.get_by_text("by its button", exact=True).wait_for()
    assert page.locator('.tfnb[data-theme="dark"]').count() == page.locator(".tfnb").count() >= 4
    assert page.locator(".tfnb-error:visible").count() == 0
