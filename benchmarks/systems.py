"""Workers of the systems, and where their Pythons are."""
from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
Pythons = dict[str, str]                   # system -> the Python that has it, for those that are there


def environment(cache: str | None = None) -> dict[str, str]:
    """Of a worker. cache: a folder for what a system keeps of its compiling; by default where it does."""
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache is not None:
        env.update(TFNB_CACHE_DIR=f"{cache}/tfnb", TORCHINDUCTOR_CACHE_DIR=f"{cache}/torch",
                   JAX_COMPILATION_CACHE_DIR=f"{cache}/jax", JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")
    return env


class Worker:
    """A system in its own process."""

    def __init__(self, python: str, system: str, cpus: int | None = None) -> None:
        command = [python, "-m", "benchmarks.worker", system, *([] if cpus is None else [str(cpus)])]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment(), text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, **command: Any) -> Any:
        """Send a command, wait for the answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(map(str, self.process.args))} ended early at {command}")  # type: ignore[arg-type]
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def workers(pythons: Pythons, cpus: int | None = None) -> Iterator[dict[str, Worker]]:
    """A new worker for each system."""
    made = {system: Worker(python, system, cpus) for system, python in pythons.items()}
    try:
        yield made
    finally:
        for worker in made.values():
            worker.close()
