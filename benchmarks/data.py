"""What the programs of all systems begin with: equal sizes and equal initial values."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any


@dataclass(frozen=True)
class Program:
    """step: one run; check: a number or array that must be equal in all systems after the same number of steps, or
    None where a system can't have the same.

    stages: of tfnb, the kinds of stage that a step has.
    """

    step: Callable[[], Any]
    check: Callable[[], Any]
    stages: Callable[[], str] = str


def generator() -> np.random.RandomState:
    """The same numbers in each program."""
    return np.random.RandomState(7)


def normal(*shape: int) -> Array:
    """Standard normal float32."""
    return generator().randn(*shape).astype("f")


def weight(rng: np.random.RandomState, *shape: int) -> Array:
    """Initial weights: normal, of variance 1 / fan-in; the last axis is that of the outputs."""
    return (rng.randn(*shape) / np.sqrt(np.prod(shape[:-1]))).astype("f")


def chain(ops: int) -> list[tuple[float, float]]:
    """Factors and terms: y = y * factor + term, half as often as there are ops. The values stay around 0.5."""
    return [(0.99, (i % 50) * 0.0002) for i in range(ops // 2)]


def regression() -> tuple[Array, Array]:
    """32 rows of 10 features, and their targets."""
    rng = generator()
    return rng.randn(32, 10).astype("f"), rng.randn(32, 1).astype("f")


def network(sizes: list[int], batch: int) -> tuple[Array, Array, list[tuple[Array, Array]]]:
    """A batch, its labels (one-hot), and weights [inputs, outputs] and biases of each layer."""
    rng = generator()
    data = rng.rand(batch, sizes[0]).astype("f")
    labels = np.eye(sizes[-1], dtype="f")[rng.randint(0, sizes[-1], batch)]
    layers = [((rng.randn(m, n) / np.sqrt(m)).astype("f"), np.zeros(n, "f"))
              for m, n in itertools.pairwise(sizes)]
    return data, labels, layers


LENET = ((5, 5, 1, 32), (5, 5, 32, 64), (7 * 7 * 64, 512), (512, 10))


def images() -> tuple[Array, Array, list[tuple[Array, Array]]]:
    """64 images [28, 28, 1], their labels (one-hot), and weights and biases of LENET, filters as [h, w, in, out]."""
    rng = generator()
    data = rng.rand(64, 28, 28, 1).astype("f")
    labels = np.eye(10, dtype="f")[rng.randint(0, 10, 64)]
    layers = [((rng.randn(*shape) / np.sqrt(np.prod(shape[:-1]))).astype("f"), np.full(shape[-1], 0.1, "f"))
              for shape in LENET]
    return data, labels, layers


def sequence() -> tuple[Array, Array, Array]:
    """20 steps of 32 rows of 128, weights [256, 512] (inputs, then state; gates i, j, f, o) and biases of an LSTM."""
    rng = generator()
    data = (rng.randn(20, 32, 128) * 0.5).astype("f")
    return data, (rng.randn(256, 512) * 0.05).astype("f"), np.zeros(512, "f")


def recurrence() -> tuple[Array, Array]:
    """200 steps of 8 rows of 16, and weights [32, 16] (inputs, then state) of a plain recurrent network."""
    rng = generator()
    return rng.randn(200, 8, 16).astype("f"), (rng.randn(32, 16) * 0.1).astype("f")


def embeddings() -> tuple[Array, Iterator[tuple[Array, Array]], tuple[Array, Array]]:
    """A table [50000, 128]; endlessly 256 ids and their targets, 16 different ones; the first of these."""
    rng = generator()
    table = (0.1 * rng.randn(50_000, 128)).astype("f")
    batches = [(rng.randint(0, 50_000, 256).astype(np.int32), rng.randn(256, 128).astype("f")) for _ in range(16)]
    return table, itertools.cycle(batches), batches[0]


def hundred_megabytes() -> list[Array]:
    """25 arrays of 4 MB."""
    rng = generator()
    return [rng.randn(1000, 1000).astype("f") for _ in range(25)]
