"""Partitioning of rows into several tensors, and the inverse: dynamic_partition, dynamic_stitch."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.library.rows import dealing
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import functions
from tfnb.ops.declaration.raw import raw

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _dealt_shape(ctx: ShapeContext) -> list[Static]:
    data, partitions = ctx.shape(0), ctx.shape(1)
    part: Static = None
    if data is not None and partitions is not None:
        merge(data[:len(partitions)], partitions)
        part = (None, *data[len(partitions):])
    return [part] * ctx.attrs["num_partitions"]


def _deal(ctx: Any, data: np.ndarray, partitions: np.ndarray) -> tuple[np.ndarray, ...]:
    count = ctx.attrs["num_partitions"]
    if dealing.are_worth_it(data):
        counts, place = dealing.outside(partitions, count)
        if place < 0:
            return dealing.dealt(data, partitions, counts)
    bad = np.argwhere((partitions < 0) | (partitions >= count))
    if len(bad):
        at = ",".join(map(str, bad[0]))
        found = int(partitions[tuple(bad[0])])
        raise errors.InvalidArgumentError(None, ctx.op, f"partitions[{at}] = {found} is not in [0, {count})")
    return tuple(data[partitions == i] for i in range(count))


@kernel("data: T, partitions: int32 -> outputs: num_partitions * T", shape=_dealt_shape, numpy=_deal,
        values=("partitions",), num_partitions="int >= 1", T="type")
def DynamicPartition() -> None:
    """Partition `data` into tensors: number i gets, in order, the slices where `partitions` is i."""


@DynamicPartition.gradient
def _(op: Operation, *dys: Tensor) -> list[Tensor | None]:
    data, partitions = op.inputs
    shape = raw.Shape(partitions)
    order = raw.Reshape(raw.Range(0, raw.Size(partitions), 1), shape)
    places = DynamicPartition(order, partitions, num_partitions=op.attrs["num_partitions"])
    return [raw.Reshape(ParallelDynamicStitch(places, list(dys)), raw.Shape(data)), None]


def _stitched_shape(ctx: ShapeContext) -> list[Static]:
    count = ctx.attrs["N"]
    rest: Static = None
    rows: int | None = 0
    for i in range(count):
        indices, data, value = ctx.shape(i), ctx.shape(count + i), ctx.value(i)
        if indices is not None and data is not None:
            merge(data[:len(indices)], indices)
            rest = merge(rest, data[len(indices):])
        if value is None or rows is None:
            rows = None
        else:
            rows = max(rows, int(value.max()) + 1 if value.size else 0)
    return [None if rest is None else (rows, *rest)]


def _stitch(ctx: Any, *arrays: np.ndarray) -> np.ndarray:
    """Later slices win. Rows that nobody gives are zero."""
    count = len(arrays) // 2
    pairs = list(zip(arrays[:count], arrays[count:], strict=True))
    rows = 0
    for i, (indices, _) in enumerate(pairs):
        if indices.size:
            last = int(indices.view(np.uint32).max())  # of which negative ones are the largest
            if last >> 31:
                raise errors.InvalidArgumentError(None, ctx.op, f"indices[{i}] has {int(indices.min())}, which is "
                                                  "below 0")
            rows = max(rows, last + 1)
    if dealing.are_worth_it(*arrays[count:]):
        return dealing.stitched(pairs, rows)
    out = np.zeros((rows, *pairs[0][1].shape[pairs[0][0].ndim:]), pairs[0][1].dtype)
    for indices, data in pairs:
        out[indices.reshape(-1)] = data.reshape(indices.size, *out.shape[1:])
    return out


@kernel("indices: N * int32, data: N * T -> merged: T", shape=_stitched_shape, numpy=_stitch, values=("indices",),
        N="int >= 1", T="type")
def DynamicStitch() -> None:
    """Interleave slices: slice `indices[i][j]` of the result is `data[i][j]`; of duplicates the last stays.

    >>> sess.run(tf.dynamic_stitch([[0, 2], [1, 3]], [[10, 12], [11, 13]]))
    array([10, 11, 12, 13], dtype=int32)
    """


@kernel("indices: N * int32, data: N * T -> merged: T", shape=_stitched_shape, numpy=_stitch, values=("indices",),
        N="int >= 1", T="type")
def ParallelDynamicStitch() -> None:
    """As DynamicStitch; TensorFlow leaves open which of duplicate slices stays (here: the last).

    >>> sess.run(tf.parallel_dynamic_stitch([[0, 2], [1, 3]], [[10, 12], [11, 13]]))
    array([10, 11, 12, 13], dtype=int32)
    """


def _stitch_gradient(op: Operation, dy: Any) -> list[Tensor | None]:
    count = op.attrs["N"]
    if isinstance(dy, IndexedSlices):
        sizes: Any = raw.Shape(op.outputs[0])
        dy = raw.UnsortedSegmentSum(dy.values, dy.indices, sizes[0])
    return [None] * count + [raw.GatherV2(dy, indices, 0) for indices in op.inputs[:count]]


DynamicStitch.gradient(_stitch_gradient)
ParallelDynamicStitch.gradient(_stitch_gradient)


# What users call

def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """Partition `data` into `num_partitions` tensors: number i gets, in order, the slices where `partitions` is i.

    partitions: int32, of a shape that begins that of `data`. Raises InvalidArgumentError, when it runs, for a number
    outside of [0, num_partitions).

    >>> sess.run(tf.dynamic_partition([1, 2, 3, 4], partitions=[0, 1, 1, 0], num_partitions=2))
    [array([1, 4], dtype=int32), array([2, 3], dtype=int32)]
    """
    result: list[Tensor] = DynamicPartition(data, partitions, num_partitions=num_partitions, name=name)
    return result


dynamic_stitch, parallel_dynamic_stitch = functions(DynamicStitch, ParallelDynamicStitch)
