"""What the notebook's help costs: live plots, the check for NaN, cells that own their ops, drawings, the import.

`python -m benchmarks.notebook` prints it as JSON, times in seconds. All are processor time: of this thread where a step
is measured with and without something in turns (medians over pairs of 64 to 1024 steps), else of the process and its
children, the best of some rounds. So other work on the machine changes them little, but for what it does to the caches.
"""
from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import tfnb as tf
from benchmarks import data
from benchmarks.systems import ROOT, environment
from tfnb.core import taps
from tfnb.core.options import options
from tfnb.notebook import graph_view, record
from tfnb.notebook.cells.cells import Cells
from tfnb.notebook.plots.board import listen

Loop = Callable[[int], None]
BATCHES = (32, 64, 256, 1024)
ROUNDS = 7


def network(batch: int) -> tuple[Any, Any, Any, dict[Any, Any]]:
    """The MLP 64-32-10 with Adam: a session, the step, the loss, the feeds."""
    tf.reset_default_graph()
    inputs, labels, layers = data.network([64, 32, 10], batch)
    x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.float32, [None, 10])
    h = x
    for i, (w, b) in enumerate(layers):
        h = tf.matmul(h if i == 0 else tf.nn.relu(h), tf.Variable(w)) + tf.Variable(b)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=h))
    train = tf.train.AdamOptimizer(1e-4).minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session, train, loss, {x: inputs, y: labels}


def in_turns(plain: Loop, more: Loop, steps: int, seconds: float) -> dict[str, float]:
    """The time of a step, and how much longer it takes with more: medians over loops of `steps` steps."""
    times: dict[Loop, list[float]] = {plain: [], more: []}
    for loop in times:
        loop(steps)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[more]) < 3:
        for loop, found in times.items():
            begin = time.thread_time()
            loop(steps)
            found.append((time.thread_time() - begin) / steps)
    step = statistics.median(times[plain])
    return {"plain": step, "more": statistics.median(b - a for a, b in zip(*times.values(), strict=True))}


def live(seconds: float) -> dict[str, dict[str, float]]:
    """A number that is recorded in each step, and a summary that is fetched."""
    session, train, loss, feed = network(600)
    summary, run = tf.summary.scalar("loss", loss), session.run

    def plain(steps: int) -> None:
        for _ in range(steps):
            _, value = run([train, loss], feed)

    def recorded(steps: int) -> None:
        for _ in range(steps):
            _, value = run([train, loss], feed)
            record(loss=value)

    def fetched(steps: int, listening: bool = True) -> None:
        if listening:
            listen()
        for _ in range(steps):
            run([train, summary], feed)
        taps.on_summary = None

    return {"record(loss=x)": in_turns(plain, recorded, 64, 3 * seconds),
            "a scalar summary that is fetched": in_turns(lambda steps: fetched(steps, False), fetched, 64, 3 * seconds)}


def nan_check(seconds: float) -> dict[str, dict[str, float]]:
    """The check that stays on, in steps of several lengths."""
    found = {}
    for batch in BATCHES:
        session, train, loss, feed = network(batch)

        def loop(steps: int, checked: bool, run: Any = session.run, fetches: Any = (train, loss),
                 feed: Any = feed) -> None:
            options.nan_check = checked
            for _ in range(steps):
                run(fetches, feed)
            options.nan_check = False

        found[f"batch {batch}"] = in_turns(lambda n: loop(n, False), lambda n: loop(n, True), 1024, seconds)
    return found


def layers() -> None:
    """A hundred dense layers with variables of their own: 2,300 ops."""
    y = tf.placeholder(tf.float32, [None, 10])
    for i in range(100):
        with tf.variable_scope(f"layer{i}"):
            y = tf.nn.relu(tf.matmul(y, tf.get_variable("w", [10, 10])) + tf.get_variable("b", [10]))


def chain() -> None:
    """5,000 bare ops."""
    x = y = tf.placeholder(tf.float32, [None, 10])
    for _ in range(1249):
        y = tf.nn.relu(tf.add(tf.multiply(y, x), 0.5))


def _spent() -> float:
    return sum(os.times()[:4])


def cells() -> dict[str, dict[str, float]]:
    """Making ops in plain Python, in a cell, and in a cell that replaces those of its run before."""
    found = {}
    for make in (layers, chain):
        times: dict[str, list[float]] = {"plain": [], "first": [], "again": []}
        for _ in range(ROUNDS):
            tf.reset_default_graph()
            gc.collect()
            times["plain"].append(_timed(make))
            tf.reset_default_graph()
            kept = Cells()
            for label in ("first", "again"):
                gc.collect()
                times[label].append(_timed(partial(_run, kept, make)))
        found[(make.__doc__ or "").rstrip(".")] = {label: min(some) for label, some in times.items()}
    return found


def _run(kept: Cells, make: Callable[[], Any]) -> None:
    kept.begin("a", "[1]")
    make()
    kept.commit()


def _timed(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def deep() -> str:
    """Blocks of units of layers, trained by Adam, with summaries: 10,000 ops."""
    y = tf.placeholder(tf.float32, [None, 16])
    for place in range(48):
        with tf.variable_scope(f"block{place // 8}/unit{place // 2 % 4}/layer{place % 2}"):
            y = tf.nn.relu(tf.matmul(y, tf.get_variable("w", [16, 16])) + tf.get_variable("b", [16]))
            mean, variance = tf.nn.moments(y, [0])
            y = (y - mean) * tf.rsqrt(variance + 1e-3)
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(tf.square(y))
    tf.train.AdamOptimizer().minimize(loss)
    while len(tf.get_default_graph().get_operations()) < 10_000:
        with tf.name_scope("metric"):
            tf.summary.scalar("m", tf.reduce_mean(tf.abs(y)))
    return "block0"


def flat() -> str:
    """10,000 ops without scopes."""
    x = y = tf.placeholder(tf.float32, [None, 10])
    for _ in range(2500):
        y = tf.nn.relu(tf.add(tf.multiply(y, x), 0.5))
    return "Mul_Mul*"


def drawings() -> dict[str, dict[str, float]]:
    """Opening the drawing of a large graph, and a scope of it."""
    found = {}
    for make in (deep, flat):
        tf.reset_default_graph()
        scope, times = make(), list[list[float]]()
        for _ in range(3):
            moments, view = [_spent()], graph_view()
            moments.append(_spent())
            view.expand(scope)
            times.append([moments[1] - moments[0], _spent() - moments[1]])
        found[(make.__doc__ or "").rstrip(".")] = dict(
            zip(("open", "expand"), map(min, zip(*times, strict=True)), strict=True))
    return found


def imports() -> dict[str, float]:
    """`import tfnb`, and %load_ext tfnb behind it."""
    code = ("import time; from IPython.core.interactiveshell import InteractiveShell; a = time.process_time(); "
            "import tfnb; b = time.process_time(); InteractiveShell.instance().run_line_magic('load_ext', 'tfnb'); "
            "print(b - a, time.process_time() - b)")
    plain = "import time; a = time.process_time(); import tfnb; print(time.process_time() - a)"
    runs = [[float(word) for program in (plain, code) for word in subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(), text=True, check=True,
        capture_output=True).stdout.splitlines()[-1].split()] for _ in range(ROUNDS)]
    return {"import tfnb": min(run[0] for run in runs), "%load_ext tfnb": min(run[2] for run in runs)}


def main(seconds: float = 6.0) -> None:
    options.threads = 1
    print(json.dumps({"live": live(seconds), "nan": nan_check(seconds), "cells": cells(), "drawings": drawings(),
                      "imports": imports()}))


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
