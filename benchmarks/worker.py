"""One system in a process of its own. Reads commands as JSON lines, answers likewise.

{"build": name, "size": n or null} builds a program, runs a step and answers whether this system has it, with the text
of the error if it failed; {"row": file} does the same with a row of the sweep; {"run": seconds} times steps for about
so long and answers {"best": s, "median": s, "steps": n}; {"check": n} runs n steps and answers the program's check
value, null if it is not to be compared; {"stages": true} answers the kinds of its stages; {"about": true} answers
{"version": ..., "peak": bytes or null}.
`python -m benchmarks.worker SYSTEM [CPUS]` uses the first CPUS CPUs where the operating system lets it choose.
"""
from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import sweep_program

SYSTEMS = {"tfnb": "tfnb", "tensorflow": "TensorFlow", "torch": "PyTorch", "torch.compile": "torch.compile",
           "jax": "JAX"}


class System:
    """A system that is imported: its version, and a function from the name and size of a program to the program."""

    def __init__(self, name: str) -> None:
        self.version, self._programs, self._scaled, self._arguments, self._reset = _LOAD[name]()

    def build(self, name: str, size: int | None = None) -> Any:
        """The program, or None if this system does not have it."""
        table = self._programs if size is None else self._scaled
        if name not in table:
            return None
        self._reset()
        return table[name](*self._arguments) if size is None else table[name](*self._arguments, size)


    def row(self, path: str) -> Any:
        """The program of a row of the sweep (sweep_program.py)."""
        self._reset()
        return sweep_program.read(*self._arguments, path)


def _tfnb() -> tuple[Any, ...]:
    import tfnb
    from benchmarks.models import MODELS
    from benchmarks.programs import PROGRAMS, SCALED
    return tfnb.__version__, PROGRAMS | MODELS, SCALED, (tfnb,), tfnb.reset_default_graph


def _tensorflow() -> tuple[Any, ...]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow.compat.v1 as tf1  # type: ignore[import-not-found]

    from benchmarks.models import MODELS
    from benchmarks.programs import PROGRAMS, SCALED
    tf1.disable_v2_behavior()
    tf1.disable_resource_variables()
    return tf1.__version__, PROGRAMS | MODELS, SCALED, (tf1,), tf1.reset_default_graph


def _torch(compiled: bool = False) -> tuple[Any, ...]:
    import torch  # type: ignore[import-not-found]

    from benchmarks.torch_models import MODELS
    from benchmarks.torch_programs import COMPILED, EAGER, PROGRAMS, SCALED
    models: dict[str, Any] = {} if compiled else {name: lambda _, m=model: m() for name, model in MODELS.items()}
    return torch.__version__, PROGRAMS | models, SCALED, (COMPILED if compiled else EAGER,), torch.compiler.reset


def _jax() -> tuple[Any, ...]:
    import jax  # type: ignore[import-not-found]

    from benchmarks.jax_programs import PROGRAMS, SCALED
    return jax.__version__, PROGRAMS, SCALED, (), jax.clear_caches


_LOAD: dict[str, Callable[[], tuple[Any, ...]]] = {
    "tfnb": _tfnb, "tensorflow": _tensorflow, "torch": _torch, "torch.compile": lambda: _torch(True), "jax": _jax}


def timed(step: Any, seconds: float) -> dict[str, float]:
    """Best and median time of a step, over batches long enough for the clock."""
    start = time.perf_counter()
    step()
    once = max(time.perf_counter() - start, 1e-7)
    inner = max(1, min(1000, int(0.002 / once)))
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        for _ in range(inner):
            step()
        times.append((time.perf_counter() - start) / inner)
    return {"best": min(times), "median": statistics.median(times), "steps": len(times) * inner}


def peak() -> int | None:
    """The most memory this process had, in bytes; None where the operating system does not say."""
    try:
        import resource
    except ImportError:
        return None
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)


def cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pin(count: int) -> None:
    """Use the first `count` of the CPUs this process may use; all systems count those when they are imported."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
    os.environ.update(TFNB_THREADS=str(count), OMP_NUM_THREADS=str(count))


def main(name: str, count: int | None = None) -> None:
    if count is not None:
        pin(count)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())          # for kernels that print
    system = System(name)
    program: Any = None
    for line in sys.stdin:
        command = json.loads(line)
        answer: Any = None
        if "build" in command:
            program = None                         # frees the one before
            try:
                program = system.build(command["build"], command.get("size"))
                answer = program is not None
                if answer:
                    program.step()
            except Exception as error:             # e.g. torch.compile without a C++ compiler
                answer = f"{type(error).__name__}: {error}"
        elif "row" in command:
            program = None
            try:
                program = system.row(command["row"])
                answer = bool(program.step() or True)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
        elif "stages" in command:
            answer = program.stages()
        elif "check" in command:
            for _ in range(command["check"]):
                program.step()
            value = program.check()
            answer = None if value is None else np.asarray(value, float).tolist()
        elif "run" in command:
            answer = timed(program.step, command["run"])
        elif "about" in command:
            answer = {"version": system.version, "peak": peak()}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
