"""The k largest of each row: top_k, in_top_k."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.rows import top as kernels
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.raw import raw

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

REAL = "realnumbertype"


def _in_top_shape(ctx: ShapeContext) -> list[Static]:
    predictions, targets = ctx.shape(0), ctx.shape(1)
    return [targets if predictions is None else merge(predictions[:1], targets)]


def _in_top(ctx: Any, predictions: np.ndarray, targets: np.ndarray, k: Any = None) -> np.ndarray:
    k = ctx.attrs["k"] if k is None else int(k)
    inside = (targets >= 0) & (targets < predictions.shape[1])
    if not predictions.shape[1]:
        return inside
    own = np.take_along_axis(predictions, np.where(inside, targets, 0)[:, None].astype(np.int64), 1)
    finite = np.isfinite(own[:, 0]) & inside & np.isfinite(predictions).all(1)
    return finite & ((predictions > own).sum(1) < k)


@kernel("predictions: float, targets: T -> precision: bool", shape=_in_top_shape, numpy=_in_top,
        launch=kernels.in_top, ranks={"predictions": 2, "targets": 1}, k="int", T="indextype = DT_INT32")
def InTopK() -> None:
    """Return whether the target class of each row is among its `k` largest predictions (ties count as in)."""


@kernel("predictions: float, targets: T, k: T -> precision: bool", shape=_in_top_shape, numpy=_in_top,
        launch=kernels.in_top, ranks={"predictions": 2, "targets": 1, "k": 0},
        T="indextype = DT_INT32")
def InTopKV2() -> None:
    """Return whether the target class of each row is among its `k` largest predictions (ties count as in)."""


def _top_shape(ctx: ShapeContext) -> list[Static]:
    shape, k = ctx.shape(0), ctx.attrs["k"] if len(ctx.op.inputs) == 1 else ctx.value(1)
    if shape is None:
        return [None, None]
    if not shape:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if k is not None and int(k) < 0:
        raise ValueError(f"Need k >= 0, got {int(k)}")
    if k is not None and shape[-1] is not None and int(k) > shape[-1]:
        raise ValueError(f"input must have last dimension >= k = {int(k)} but is {shape[-1]}")
    return [(*shape[:-1], None if k is None else int(k))] * 2


def _top(ctx: Any, x: np.ndarray, k: Any = None) -> tuple[np.ndarray, np.ndarray]:
    k = ctx.attrs["k"] if k is None else int(k)
    reverse = np.flip(x, -1)                   # a stable sort of the mirrored row: of equal ones the first comes first
    order = x.shape[-1] - 1 - np.flip(np.argsort(reverse, -1, kind="stable"), -1)[..., :k]
    kind = ctx.attrs["index_type"].as_numpy_dtype if "index_type" in ctx.attrs else np.int32
    return np.take_along_axis(x, order, -1), order.astype(kind)


@kernel("input: T -> values: T, indices: int32", shape=_top_shape, numpy=_top, launch=kernels.top, k="int >= 0",
        sorted="bool = true", T=REAL)
def TopK() -> None:
    """Find the `k` largest elements along the last axis, and their indices (the older op)."""


@kernel("input: T, k: Tk -> values: T, indices: index_type", shape=_top_shape, numpy=_top, launch=kernels.top,
        values=("k",), ranks={"k": 0}, sorted="bool = true", T=REAL, Tk="{int16, int32, int64} = DT_INT32",
        index_type="{int16, int32, int64} = DT_INT32")
def TopKV2() -> None:
    """Find the `k` largest elements along the last axis, in descending order, and their indices."""


InTopK.no_gradient("a truth value has none")
InTopKV2.no_gradient("a truth value has none")


@TopK.gradient
@TopKV2.gradient
def _(op: Operation, dvalues: Tensor, dindices: Any) -> list[Tensor | None]:
    x, indices = op.inputs[0], raw.Cast(op.outputs[1], DstT="int32")
    shape, size = raw.Shape(x), raw.Size(x)
    columns = raw.StridedSlice(shape, [-1], [0], [1], shrink_axis_mask=1, end_mask=1)
    starts = raw.Range(0, size, raw.Maximum(columns, 1))
    rows = raw.Reshape(starts, raw.ConcatV2([raw.StridedSlice(shape, [0], [-1], [1], begin_mask=1), [1]], 0))
    places = raw.Reshape(raw.AddV2(indices, rows), [-1, 1])
    spread = raw.ScatterNd(places, raw.Reshape(dvalues, [-1]), raw.ExpandDims(size, 0))
    return [raw.Reshape(spread, shape)] + [None] * (len(op.inputs) - 1)


# What users call

def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Return whether the target class of each row is among its `k` largest predictions (ties count as in).

    predictions: float32 (rows, classes); targets: int32 or int64 (rows); the result: bool (rows).

    >>> sess.run(tf.nn.in_top_k([[0.1, 0.7, 0.2], [0.1, 0.7, 0.2]], targets=[2, 0], k=2))
    array([ True, False])
    """
    with name_scope(name, "in_top_k"):
        return InTopKV2(predictions, targets, k)


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the `k` largest elements along the last axis, in descending order, and their indices, int32.

    Raises ValueError if there are fewer than k.

    >>> sess.run(tf.nn.top_k([1, 5, 3, 4], k=2))
    TopKV2(values=array([5, 4], dtype=int32), indices=array([1, 3], dtype=int32))
    """
    return TopKV2(input, k, sorted=sorted, name=name)


describe(globals(), TENSORS)
