"""Cluster scripts in processes of their own, one for each task, which can be killed and started again."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tfnb.cluster import children
from tfnb.cluster.local import free_ports

ROOT = Path(__file__).parents[2]
TASKS = ("ps:0", "worker:0", "worker:1")


class Script:
    """A script, run by tfnb as ps:0, worker:0 and worker:1 in `folder`; its arguments: cluster, task, model, `more`.

    Ends all processes at the end of a `with` statement.
    """

    def __init__(self, text: str, folder: Path, more: Sequence[str] = ()) -> None:
        python = os.environ.get("TFNB_ORACLE_PYTHON")
        if not python:
            pytest.skip("TFNB_ORACLE_PYTHON names no Python with TensorFlow")
        ports = [f"127.0.0.1:{port}" for port in free_ports(3)]
        self.folder, self._more = folder, more
        self._cluster = json.dumps({"ps": ports[:1], "worker": ports[1:]})
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), children.PYTHON: python,
                             "TF_CPP_MIN_LOG_LEVEL": "3"}
        self.processes: dict[str, subprocess.Popen[str]] = {}
        (folder / "script.py").write_text(text)

    def start(self, task: str) -> None:
        """Start the process of a task."""
        with open(self._log(task), "a") as log:
            self.processes[task] = subprocess.Popen(
                [sys.executable, "-m", "tfnb", "run", "script.py", self._cluster, task, str(self.folder / "model"),
                 *self._more], cwd=self.folder, env=self._environment, stdout=subprocess.PIPE, stderr=log, text=True)

    def kill(self, task: str) -> None:
        """Kill the process of a task (kill -9); its server is its child, and ends with it."""
        self.processes[task].kill()
        self.processes[task].communicate()

    def result(self, task: str, timeout: float = 250) -> list[float]:
        """Wait for the end of a task, and return the JSON in the last line of its output."""
        out, _ = self.processes[task].communicate(timeout=timeout)
        assert self.processes[task].returncode == 0, self.said(task)
        return json.loads(out.splitlines()[-1])

    def where(self, task: str) -> str:
        """Return the end of the log of a task, with what its threads wait for where the system can say it."""
        if hasattr(signal, "SIGUSR1"):
            self.processes[task].send_signal(signal.SIGUSR1)
            time.sleep(1)
        return self.said(task)

    def said(self, task: str) -> str:
        """Return the end of the log of a task."""
        return self._log(task).read_text(errors="replace")[-3000:]

    def _log(self, task: str) -> Path:
        return self.folder / f"{task.replace(':', '')}.txt"

    def __enter__(self) -> Script:
        for task in TASKS:
            self.start(task)
        return self

    def __exit__(self, *error: object) -> None:
        for task in self.processes:
            self.kill(task)
