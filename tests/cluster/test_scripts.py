"""Cluster scripts of tutorials, unchanged: a process for each task, each with its TensorFlow server."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cluster import programs
from tfnb.cluster import children
from tfnb.cluster.local import free_ports

pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
# A worker that comes before the variables are there sleeps for 30 seconds, as in TensorFlow.
pytestmark = [pytest.mark.slow, pytest.mark.oracle,
              pytest.mark.skipif(not os.environ.get("TFNB_STRESS"), reason="TFNB_STRESS=1 runs cluster scripts")]
ROOT = Path(__file__).parents[2]


def run_cluster(text: str, folder: Path) -> list[list[float]]:
    """Run a script as ps:0, worker:0 and worker:1; return the JSON that the workers print."""
    python = os.environ.get("TFNB_ORACLE_PYTHON")
    if not python:
        pytest.skip("TFNB_ORACLE_PYTHON names no Python with TensorFlow")
    ports = [f"127.0.0.1:{port}" for port in free_ports(3)]
    cluster = json.dumps({"ps": ports[:1], "worker": ports[1:]})
    (folder / "script.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), children.PYTHON: python, "TF_CPP_MIN_LOG_LEVEL": "3"}
    started: dict[str, subprocess.Popen[str]] = {}
    try:
        for task in ("ps:0", "worker:0", "worker:1"):
            with open(folder / f"{task.replace(':', '')}.txt", "w") as log:
                started[task] = subprocess.Popen(
                    [sys.executable, "-m", "tfnb", "run", "script.py", cluster, task, str(folder / "model")],
                    cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        said = []
        for i, task in enumerate(("worker:0", "worker:1")):
            if text is programs.IN_GRAPH and i:
                break                               # it serves for ever
            out, _ = started[task].communicate(timeout=250)
            assert started[task].returncode == 0, (folder / f"worker{i}.txt").read_text()[-3000:]
            said.append(json.loads(out.splitlines()[-1]))
        return said
    finally:
        for process in started.values():
            process.kill()
            process.communicate()


def test_asynchronous(tmp_path):
    first, second = run_cluster(programs.ASYNCHRONOUS, tmp_path)
    assert len(first) + len(second) >= 60 and len(first) > 1
    assert first[0] == pytest.approx(np.log(5), rel=0.05) and min(first[-1], *second[-1:]) < 1.6      # w may move first
    assert (tmp_path / "model" / "checkpoint").exists()


def test_synchronous(tmp_path):
    first, second = run_cluster(programs.SYNCHRONOUS, tmp_path)
    assert first[0] == pytest.approx(np.log(5), rel=1e-5) and first[-1] < first[0]


def test_in_graph(tmp_path):
    losses, = run_cluster(programs.IN_GRAPH, tmp_path)
    assert losses[0] == pytest.approx(np.log(5), rel=1e-5) and losses == sorted(losses, reverse=True)


def test_estimator(tmp_path):
    (first,), (second,) = run_cluster(programs.ESTIMATOR, tmp_path)
    assert first >= 300 and second >= 300
