"""Run the programs on tfnb and on TensorFlow in turns, check that they agree, print a table of ratios."""
from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.programs import PROGRAMS

ROOT = Path(__file__).resolve().parent.parent
START = """import time; t = time.perf_counter()
import resource, tfnb as tf; imported = time.perf_counter() - t
import numpy as np
resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.float32, [None, 10])
w1, b1 = tf.Variable(tf.truncated_normal([64, 32], stddev=0.1)), tf.Variable(tf.zeros([32]))
w2, b2 = tf.Variable(tf.truncated_normal([32, 10], stddev=0.1)), tf.Variable(tf.zeros([10]))
z = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=z))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
s = tf.Session(); s.run(tf.global_variables_initializer())
feed = {x: np.random.rand(32, 64), y: np.eye(10)[np.random.randint(0, 10, 32)]}
s.run(train, feed); first = time.perf_counter() - t
s.run(train, feed); second = time.perf_counter() - t
print(imported, resident, first, second)"""


class Worker:
    """A system in its own process."""

    def __init__(self, python: str, system: str) -> None:
        env = dict(os.environ, PYTHONPATH=str(ROOT))
        self.process = subprocess.Popen([python, "-m", "benchmarks.worker", system], cwd=ROOT, env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **command: Any) -> Any:
        """Send a command, wait for the answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a benchmark worker ended early")
        return json.loads(line)


def measure(name: str, ours: Worker, theirs: Worker, rounds: int, seconds: float) -> dict[str, Any]:
    """Both systems in turns; the best and the median of the rounds, and the largest difference of the check value."""
    for worker in (ours, theirs):
        worker.ask(build=name)
    values = [np.asarray(worker.ask(check=3), float) for worker in (ours, theirs)]
    error = float(np.max(np.abs(values[0] - values[1]) / (np.abs(values[1]) + 1e-3)))
    found: dict[str, list[dict[str, float]]] = {"ours": [], "theirs": []}
    for _ in range(rounds):
        found["ours"].append(ours.ask(run=seconds))
        found["theirs"].append(theirs.ask(run=seconds))
    row = {side: (min(r["best"] for r in runs), statistics.median(r["median"] for r in runs))
           for side, runs in found.items()}
    return {"name": name, "error": error, **row}


def start_up() -> list[str]:
    """Import and first steps in fresh processes, with an empty and with a filled kernel cache."""
    lines = []
    with tempfile.TemporaryDirectory() as cache:
        for label in ("empty cache", "warm cache"):
            env = dict(os.environ, TFNB_CACHE_DIR=cache, PYTHONPATH=str(ROOT), PYTHONPYCACHEPREFIX=cache + "/bytecode")
            env.pop("PYTHONDONTWRITEBYTECODE", None)
            subprocess.run([sys.executable, "-c", "import tfnb"], env=env, check=True)      # as after an installation
            begin = time.perf_counter()
            text = subprocess.run([sys.executable, "-c", START], env=env, text=True, capture_output=True, check=True)
            whole = time.perf_counter() - begin
            imported, resident, first, second = map(float, text.stdout.split())
            lines.append(f"| {label} | {imported:.2f} | {resident:.0f} | {first:.2f} | {second:.2f} | {whole:.2f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"programs (all by default): {', '.join(PROGRAMS)}")
    parser.add_argument("--oracle", required=True, help="a Python that has TensorFlow")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.4, help="per system and round")
    parser.add_argument("--output", help="write the table here too (Markdown)")
    options = parser.parse_args()
    ours, theirs = Worker(sys.executable, "tfnb"), Worker(options.oracle, "tensorflow")
    lines = [f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, "
             f"{time.strftime('%Y-%m-%d')}; microseconds a step, best (median) of {options.rounds} rounds in turns.",
             "",
             "| program | tfnb | TensorFlow | TensorFlow / tfnb | largest relative difference |",
             "|---|---|---|---|---|"]
    print("\n".join(lines))
    for name in options.names or PROGRAMS:
        row = measure(name, ours, theirs, options.rounds, options.seconds)
        (a, am), (b, bm) = row["ours"], row["theirs"]
        title = (PROGRAMS[name].__doc__ or name).rstrip(".")
        lines.append(f"| {title} | {a * 1e6:,.1f} ({am * 1e6:,.1f}) | {b * 1e6:,.1f} ({bm * 1e6:,.1f}) | "
                     f"{b / a:.1f} ({bm / am:.1f}) | {row['error']:.1e} |")
        print(lines[-1], flush=True)
        if row["error"] > 1e-3:
            raise SystemExit(f"{name}: the two systems don't agree")
    lines += ["", "| start-up | import, s | resident, MB | first training step, s | second, s | whole process, s |",
              "|---|---|---|---|---|---|", *start_up()]
    print("\n".join(lines[-5:]))
    if options.output:
        Path(options.output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
