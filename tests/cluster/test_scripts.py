"""Cluster scripts of tutorials, unchanged: a process for each task, each with its TensorFlow server."""
from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.cluster import programs
from tests.cluster.tasks import Script

pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
# A worker that comes before the variables are there sleeps for 30 seconds, as in TensorFlow.
pytestmark = [pytest.mark.slow, pytest.mark.oracle,
              pytest.mark.skipif(not os.environ.get("TFNB_STRESS"), reason="TFNB_STRESS=1 runs cluster scripts")]


def run_cluster(text: str, folder: Path) -> list[list[float]]:
    """Run a script as ps:0, worker:0 and worker:1; return the JSON that the workers print."""
    workers = ("worker:0",) if text is programs.IN_GRAPH else ("worker:0", "worker:1")       # the other serves for ever
    with Script(text, folder) as script:
        return [script.result(task) for task in workers]


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
