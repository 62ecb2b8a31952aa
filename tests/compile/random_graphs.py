"""Random graphs of elementwise ops, reductions and movement, for comparing ways to run them."""
from __future__ import annotations

import numpy as np

import tfnb  # noqa: F401  (declares the ops)
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.control.source import placeholder
from tfnb.ops.declaration.raw import raw

UNARY = ("Tanh", "Sigmoid", "Neg", "Abs", "Square", "Exp")
BINARY = ("AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference")
REDUCTIONS = ("Sum", "Mean", "Max", "Min")


def small(x: Tensor) -> Tensor:
    """Keeps values in (-1, 1), so that chains don't overflow."""
    return raw.Tanh(x)


def grow(rng: np.random.RandomState, tensors: list[Tensor]) -> Tensor:
    """A new op over one or two of the tensors."""
    x = tensors[rng.randint(len(tensors))]
    rank = len(x.static)
    kind = rng.randint(6)
    if kind == 0:
        return small(getattr(raw, UNARY[rng.randint(len(UNARY))])(x))
    if kind <= 2:
        other = tensors[rng.randint(len(tensors))]
        try:
            np.broadcast_shapes(x.static, other.static)
        except ValueError:
            other = raw.Mean(other, list(range(len(other.static))))
        return small(getattr(raw, BINARY[rng.randint(len(BINARY))])(x, other))
    if kind == 3 and rank:
        axes = sorted(rng.choice(rank, rng.randint(1, rank + 1), replace=False).tolist())
        op = getattr(raw, REDUCTIONS[rng.randint(len(REDUCTIONS))])
        return op(x, axes, keep_dims=bool(rng.randint(2)))
    if kind == 4 and rank:
        return raw.Transpose(x, rng.permutation(rank).tolist())
    flat = raw.Reshape(x, [-1])
    return raw.Reshape(flat, list(x.static[::-1])) if rank else raw.ExpandDims(x, 0)


def random_graph(seed: int, shape: tuple[int, ...], count: int = 12) -> tuple[Tensor, list[Tensor], np.ndarray]:
    """A placeholder, some tensors that follow from it, and a value to feed, in the default graph."""
    rng = np.random.RandomState(seed)
    x = placeholder("float32", shape)
    y = raw.Mul(x, convert_to_tensor(rng.rand(*shape[-1:]).astype("f")))
    tensors = [x, y]
    for _ in range(count):
        tensors.append(grow(rng, tensors))
    chosen = rng.choice(len(tensors), 4)
    return x, [tensors[i] for i in {*chosen.tolist(), len(tensors) - 1}], rng.randn(*shape).astype("f")
