"""ScatterNd: zeros, with slices added at vectors of coordinates."""
from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, is_known, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.cpu.scatter_nd import scatter_nd as launch_scatter_nd
from tfnb.kernels.library.checks import Coordinates
from tfnb.opdef.ranks import AtLeast
from tfnb.ops.array.gather import GatherNd, nd_rows
from tfnb.ops.declaration.declare import kernel

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _scatter(ctx: Any, indices: np.ndarray, updates: np.ndarray, shape: np.ndarray) -> np.ndarray:
    sizes, depth = shape.tolist(), indices.shape[-1]
    out = np.zeros((prod(sizes[:depth]), *sizes[depth:]), updates.dtype)
    np.add.at(out, nd_rows(indices, sizes), updates.reshape(-1, *sizes[depth:]))
    return out.reshape(sizes)


def _scattered(ctx: ShapeContext) -> list[Static]:
    shape, indices, updates = ctx.partial(2), ctx.shape(0), ctx.shape(1)
    if indices is not None and updates is not None:
        merge(indices[:-1], updates[:len(indices) - 1])
    if shape is None:
        return [None]
    if 0 in shape and any(is_known(given) and 0 not in given for given in (indices, updates)):
        raise ValueError("Indices and updates specified for empty output shape")
    if indices is not None and indices[-1] is not None:
        if indices[-1] > len(shape):
            raise ValueError(f"The last dimension of indices must be at most the rank of the output: {indices[-1]} > "
                             f"{len(shape)}")
        merge(updates, (*indices[:-1], *shape[indices[-1]:]))
    return [shape]


@kernel("indices: Tindices, updates: T, shape: Tindices -> output: T", shape=_scattered, numpy=_scatter,
        cpu=launch_scatter_nd, cuda=launch_scatter_nd, ranks={"indices": AtLeast(1), "shape": 1}, values=("shape",),
        T="type", Tindices="{int16, int32, int64}", bad_indices_policy="string = ''")
def ScatterNd() -> None:
    """Scatter `updates` into zeros of `shape` at the index vectors in the last axis of `indices`; duplicates add up."""


@ScatterNd.checked
def _(ctx: Any) -> list[Coordinates]:
    sizes, indices = ctx.value(2).tolist(), ctx.shape(0)
    return [Coordinates(0, tuple(sizes[:indices[-1]]))]


@ScatterNd.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [None, GatherNd(dy, op.inputs[0]), None]


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Scatter `updates` into zeros of `shape` at the index vectors in the last axis of `indices`; duplicates add up.

    >>> sess.run(tf.scatter_nd(indices=[[1], [3], [1]], updates=[10, 20, 1], shape=[5]))
    array([ 0, 11,  0, 20,  0], dtype=int32)
    """
    return ScatterNd(indices, updates, shape, name=name)


describe(globals(), TENSORS)
