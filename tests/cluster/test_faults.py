"""Synchronous training whose tasks are killed (kill -9) in its midst, one after another, and started again.

TFNB_KILLS=50 kills each of them 50 times (20 minutes on two idle cores). TFNB_SOAK=20 kills a worker each minute for so
many minutes, and watches the memory of the others. With either, -o faulthandler_timeout=0.
"""
from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

import tfnb as tf
from tests.cluster import programs
from tests.cluster.tasks import Script

pytest.importorskip("grpc", reason="sessions on other processes need grpcio")
pytestmark = [pytest.mark.slow, pytest.mark.oracle,
              pytest.mark.skipif(not os.environ.get("TFNB_STRESS"), reason="TFNB_STRESS=1 kills tasks of clusters")]
KILLS, MINUTES = int(os.environ.get("TFNB_KILLS", 2)), float(os.environ.get("TFNB_SOAK", 1))
PATIENCE = 300.0        # seconds without a step of both workers: it hangs
LEAST = 12              # steps of both workers between two faults


def lines(folder: Path, worker: int) -> list[tuple[int, float]]:
    """Return the steps and losses that a worker has logged; a killed one leaves a part of a line."""
    path = folder / f"losses{worker}.txt"
    made = []
    for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
        step, _, value = line.partition(" ")
        if line.endswith("\n") and line.count(" ") == 1:
            made.append((int(step), float(value)))
    return made


def counts(folder: Path) -> list[int]:
    return [len(lines(folder, worker)) for worker in range(2)]


def wait_for_steps(script: Script, more: int) -> float:
    """Wait until both workers have made so many more steps; return the seconds."""
    begin, before = time.monotonic(), counts(script.folder)
    while any(now < old + more for now, old in zip(counts(script.folder), before, strict=True)):
        if time.monotonic() > begin + PATIENCE:
            raise AssertionError(f"no step for {PATIENCE} s\n{script.where('worker:0')}\n{script.where('worker:1')}")
        ended = [task for task, process in script.processes.items() if process.poll() is not None]
        assert not ended, (ended, script.said(ended[0]))
        time.sleep(0.05)
    return time.monotonic() - begin


def curve(steps: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the losses, and the weights, of one process before each step."""
    rng = np.random.RandomState(0)
    feed_x, feed_y = rng.rand(256, 20).astype("f"), rng.randint(0, 5, 256)
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32, [None, 20]), tf.placeholder(tf.int64, [None])
        w, b = tf.Variable(tf.zeros([20, 5])), tf.Variable(tf.zeros([5]))
        loss = tf.losses.sparse_softmax_cross_entropy(y, tf.matmul(x, w) + b)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        losses, weights = [], []
        for _ in range(steps):
            weights.append(session.run(w))
            losses.append(session.run([loss, train], {x: feed_x, y: feed_y})[0])
    return np.array(losses), weights


def end(script: Script, faults: int) -> None:
    """Let the training end, and compare its losses and checkpoints with those of a run without faults.

    A chief that is killed while an update goes on may restore a step that is one off from its variables, as in
    TensorFlow: `faults` bounds that.
    """
    (script.folder / "stop").touch()
    last = script.result("worker:0")[0]
    losses, weights = curve(last + faults + 30)
    for worker in range(2):
        logged = lines(script.folder, worker)
        assert len(logged) >= LEAST
        for step, value in logged:
            near = slice(max(0, step - faults - 2), step + faults + 3)
            assert np.min(abs(losses[near] - value)) < 2e-5, (worker, step, value)
    model = str(script.folder / "model")
    kept = tf.train.get_checkpoint_state(model).all_model_checkpoint_paths
    assert kept
    for path in kept:
        reader = tf.train.load_checkpoint(path)
        step, w = reader.get_tensor("global_step"), reader.get_tensor("w")
        near = weights[max(0, step - faults - 2):step + faults + 3]
        assert min(abs(w - one).max() for one in near) < 2e-5, path


def test_each_task_killed(tmp_path):
    took: dict[str, list[float]] = {task: [] for task in ("worker:1", "ps:0", "worker:0")}
    with Script(programs.UNTIL_STOPPED, tmp_path) as script:
        wait_for_steps(script, LEAST)
        for _ in range(KILLS):
            for task, seconds in took.items():
                script.kill(task)
                script.start(task)
                seconds.append(wait_for_steps(script, LEAST))
                print(f"{task} {len(seconds)}: {seconds[-1]:.1f} s", flush=True)
        end(script, 3 * KILLS)
    for task, seconds in took.items():
        print(f"{task}: {len(seconds)} faults, goes on after {np.median(seconds):.1f} s, at most {max(seconds):.1f} s")


def memory(pid: int) -> float:
    """Return the resident memory of a process and of its child, in MB."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    pages = [int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in (pid, *children)]
    return sum(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_stays_while_workers_are_killed(tmp_path):
    sizes: dict[str, list[float]] = {"ps:0": [], "worker:0": []}
    with Script(programs.UNTIL_STOPPED, tmp_path) as script:
        wait_for_steps(script, LEAST)
        begin = time.monotonic()
        faults = 0
        while time.monotonic() < begin + 60 * MINUTES:
            script.kill("worker:1")
            script.start("worker:1")
            faults += 1
            wait_for_steps(script, LEAST)
            while time.monotonic() < begin + 60 * min(faults, MINUTES):
                wait_for_steps(script, 1)
                time.sleep(1)
            for task, seen in sizes.items():
                seen.append(memory(script.processes[task].pid))
        print(faults, "faults,", counts(tmp_path), "steps, MB:", sizes)
        end(script, faults)
    for seen in sizes.values():
        assert len(seen) < 6 or np.mean(seen[-3:]) < 1.15 * np.mean(seen[1:4])
