"""What is measured. Results are plain dicts that can be kept as JSON; times are in seconds, memory in bytes."""
from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks.systems import ROOT, Pythons, Worker, environment, workers

TOLERANCE = 1e-3                           # relative: float32 in other orders, three steps on
REFERENCE = "tensorflow"
CURVES = {"mlp_batch": (1, 8, 64, 512, 4096), "chain": (10, 100, 1000, 10000)}
FIRST_RUNS = ("mlp_small", "lenet", "resnet")
THREADED = ("mlp_middle", "mlp_large", "sigmoid_exp_sum", "softmax", "matmul", "lenet")


def speed(name: str, pythons: Pythons, rounds: int, seconds: float, cpus: int | None = None) -> dict[str, Any]:
    """All systems that have the program, in turns: best and median of the rounds, peak memory, largest difference.

    cpus: how many each may use, all by default. Raises SystemExit if one computes something else than the reference.
    """
    first: dict[str, float] = {}
    with workers(pythons, cpus) as made:
        having = _having(made, name, first=first)
        values = {system: worker.ask(check=0) for system, worker in having.items()}
        about = {system: worker.ask(about=True) for system, worker in having.items()}
        times = _alternate(having, rounds, seconds)
    errors = {system: _difference(np.asarray(value, float), np.asarray(values[REFERENCE], float))
              for system, value in values.items() if value is not None}
    wrong = [system for system, error in errors.items() if not error < TOLERANCE]
    if wrong:
        raise SystemExit(f"{name}: {', '.join(wrong)} and {REFERENCE} don't agree: {errors}")
    return {"error": max(errors.values()), "times": times, "first": first,
            "peak": {system: found["peak"] for system, found in about.items()},
            "versions": {system: found["version"] for system, found in about.items()}}


def _having(made: dict[str, Worker], name: str, size: int | None = None,
            first: dict[str, float] | None = None) -> dict[str, Worker]:
    """The workers that have the program, which they have run once and then twice more.

    first: gets the seconds that each took to import its system, to build the program and for these three steps. Raises
    SystemExit if tfnb or the reference fails.
    """
    found = {}
    for system, worker in made.items():
        begin = time.perf_counter()
        answer = worker.ask(build=name, size=size)
        if answer is True:
            worker.ask(check=2)
            found[system] = worker
            if first is not None:
                first[system] = time.perf_counter() - begin
        elif answer and system in ("tfnb", REFERENCE):
            raise SystemExit(f"{system}, {name}: {answer}")
        elif answer:
            print(f"{system} lacks {name}: {answer[:300]}", file=sys.stderr)
    return found


def _difference(value: Any, reference: Any) -> float:
    return float(np.max(np.abs(value - reference) / (np.abs(reference) + 1e-3)))


def _alternate(having: dict[str, Worker], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Best and median time of a step of each system, which take turns."""
    found: dict[str, list[dict[str, float]]] = {system: [] for system in having}
    for _ in range(rounds):
        for system, worker in having.items():
            found[system].append(worker.ask(run=seconds))
    return {system: [min(r["best"] for r in runs), statistics.median(r["median"] for r in runs)]
            for system, runs in found.items()}


def curve(name: str, size: int, pythons: Pythons, rounds: int, seconds: float) -> dict[str, Any]:
    """The times of a program of a size."""
    with workers(pythons) as made:
        return _alternate(_having(made, name, size), rounds, seconds)


def threads(name: str, cpus: int, pythons: Pythons, rounds: int, seconds: float) -> dict[str, Any]:
    """Measure a program on a number of CPUs."""
    with workers(pythons, cpus) as made:
        return _alternate(_having(made, name), rounds, seconds)


def start_up(python: str, system: str) -> dict[str, list[float]]:
    """Seconds until a system is imported, has trained for one step and for two, and for the whole process: with an
    empty ("cold") and with a filled ("warm") cache of what it compiled."""
    return {label: [*seconds, whole] for label, (seconds, _, whole) in _fresh(python, system, "mlp_small", 2).items()}


def first_runs(name: str, python: str, system: str) -> dict[str, list[list[float]]]:
    """Seconds and processor seconds of a fresh process until the second step and until the twentieth, with an empty
    ("cold") and with a filled ("warm") cache."""
    return {label: [[times[2], times[20]] for times in found[:2]]
            for label, found in _fresh(python, system, name, 20).items()}


def _fresh(python: str, system: str, name: str, steps: int) -> dict[str, tuple[list[float], list[float], float]]:
    """What benchmarks/start.py prints, and the seconds of the whole process, with an empty and with a filled cache."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="tfnb-benchmark-") as cache:
        command = [python, "-m", "benchmarks.start", system, name]
        subprocess.run([*command, "0"], cwd=ROOT, env=environment(cache), check=True, capture_output=True)
        for label in ("cold", "warm"):
            begin = time.perf_counter()
            done = subprocess.run([*command, str(steps)], cwd=ROOT, env=environment(cache), text=True, check=True,
                                  capture_output=True)
            whole = time.perf_counter() - begin
            seconds, processor = json.loads(done.stdout.splitlines()[-1])
            found[label] = seconds, processor, whole
    return found


def notebook(seconds: float) -> dict[str, Any]:
    """What the notebook's help costs: see benchmarks/notebook.py. seconds: for each comparison of a step, tenfold."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.notebook", str(10 * seconds)], cwd=ROOT,
                          env=environment(), text=True, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(done.stdout.splitlines()[-1]))
