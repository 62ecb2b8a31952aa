"""One system in a process of its own. Reads commands as JSON lines, answers likewise.

{"build": name} builds a program in a fresh graph; {"run": seconds} times steps for about so long and answers
{"best": s, "median": s, "steps": n}; {"check": n} runs n steps and answers the program's check value.
"""
from __future__ import annotations

import json
import os
import statistics
import sys
import time
from typing import Any

import numpy as np


def load(system: str) -> Any:
    """The module that the programs take as `tf`."""
    if system == "tfnb":
        import tfnb
        return tfnb
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow.compat.v1 as tf1  # type: ignore[import-not-found]
    tf1.disable_v2_behavior()
    tf1.disable_resource_variables()
    return tf1


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


def main(system: str) -> None:
    from benchmarks.programs import PROGRAMS
    tf = load(system)
    out = sys.stdout
    sys.stdout = sys.stderr
    program = None
    for line in sys.stdin:
        command = json.loads(line)
        answer: Any = {}
        if "build" in command:
            tf.reset_default_graph()
            program = PROGRAMS[command["build"]](tf)
        elif "check" in command and program is not None:
            for _ in range(command["check"]):
                program.step()
            answer = np.asarray(program.check(), float).tolist()
        elif "run" in command and program is not None:
            answer = timed(program.step, command["run"])
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
