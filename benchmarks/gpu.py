"""What a GPU does beside its floor: the bytes that a run must move over the rate at which the card copies its memory.

`python -m benchmarks.gpu [--scale 0.1]`; says so where there is no GPU. All values are variables on the card, so a run
copies nothing; times are of many runs, from the first launch until the card is done, by the run.
"""
from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfnb as tf
from tfnb.kernels.cuda import device

SECONDS = 0.5            # of each measurement


@dataclass(frozen=True)
class Case:
    """A step to run, the bytes that it must read and write at least, and the operations of its products."""

    name: str
    step: Any
    nbytes: int
    operations: int = 0


def _variable(*shape: int) -> Any:
    return tf.Variable(np.random.RandomState(0).standard_normal(shape).astype(np.float32))


def _into(value: Any, *shape: int) -> Any:
    """An op that computes a value and leaves it on the card."""
    return tf.assign(tf.Variable(np.zeros(shape, np.float32)), value).op


def cases(scale: float) -> list[Case]:
    """The steps, with sizes times `scale`."""
    n, rows, side = int(scale * (1 << 26)), int(scale * (1 << 15)), int(scale ** (1 / 3) * 4096)
    x, y, m = _variable(n), _variable(n), _variable(rows, 1024)
    a, b = _variable(side, side), _variable(side, side)
    ids = np.random.RandomState(1).randint(0, rows, 1 << 14)
    found = [Case("copy", _into(tf.identity(x) + 0.0, n), 8 * n),
             Case("chain of 6 ops", _into(tf.tanh(x * y + 1.0) * tf.exp(-x * x), n), 12 * n),
             Case("sum", _into(tf.reduce_sum(x)), 4 * n),
             Case("softmax of rows", _into(tf.nn.softmax(m), rows, 1024), 8 * m.shape.num_elements()),
             Case("sums of columns", _into(tf.reduce_sum(m, 0), 1024), 4 * m.shape.num_elements()),
             Case("transpose", _into(tf.transpose(m), 1024, rows), 8 * m.shape.num_elements()),
             Case("gather", _into(tf.gather(m, ids), ids.size, 1024), 8 * 1024 * ids.size),
             Case("product", _into(tf.matmul(a, b), side, side), 12 * side * side, 2 * side ** 3)]
    adam = tf.train.AdamOptimizer(1e-4).apply_gradients([(x * 1e-3, x)])
    return [*found, Case("Adam", adam, 24 * n)]


def seconds(run: Callable[[], Any]) -> float:
    """The time of one run, of as many as fill SECONDS."""
    run()
    device.synchronize()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS or not count:
        for _ in range(10):
            run()
        device.synchronize()
        count += 10
    return (time.perf_counter() - began) / count


def main(scale: float) -> None:
    """Measure and print a table."""
    card = device.gpu()
    if card is None or card.simulated:
        print("no GPU here" + " but numba's simulator, of which no time means anything" * (card is not None))
        return
    print(card.description)
    with tf.Graph().as_default(), tf.device("/gpu:0"), tf.Session() as session:
        small = _into(_variable(1) + 1.0, 1)
        found = cases(scale)
        session.run(tf.global_variables_initializer())
        launch = seconds(lambda: session.run(small))
        times = {case.name: seconds(lambda case=case: session.run(case.step)) for case in found}
    rate = found[0].nbytes / times["copy"]
    print(f"a run of one launch: {1e6 * launch:.1f} us; the rate of a copy: {rate / 1e9:.0f} GB/s")
    for case in found:
        floor = case.nbytes / rate
        work = f", {case.operations / times[case.name] / 1e12:.1f} TFLOP/s" * bool(case.operations)
        print(f"{case.name:16} {1e6 * times[case.name]:10.1f} us   {times[case.name] / floor:6.2f} of its floor{work}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    main(parser.parse_args().scale)
