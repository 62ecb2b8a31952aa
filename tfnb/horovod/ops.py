"""The ops of Horovod, by its names and signatures, and their gradients.

A plan runs them in the order in which a graph has them, so that all ranks do; those that don't depend on one another
are one collective, whose tensors lie in one block (`together`).
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.core.shape import Static, is_known
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.horovod import transfer
from tfnb.horovod.world import world
from tfnb.opdef import kinds
from tfnb.opdef.ranks import AtLeast
from tfnb.ops.array.create import zeros_like
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape as array_reshape
from tfnb.ops.array.reshape import shape as array_shape
from tfnb.ops.array.slicing import slice_
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import fields, host
from tfnb.ops.math.arithmetic import scalar_mul
from tfnb.ops.reductions.reduce import reduce_sum

NUMBERS = "{int32, int64, bfloat16, float16, float32, float64}"
MOVED = "{uint8, int8, uint16, int16, int32, int64, bfloat16, float16, float32, float64, bool}"
_MEGABYTE = 1 << 20


def threshold() -> int:
    """Return how many bytes of tensors one collective takes at most: $HOROVOD_FUSION_THRESHOLD, or 64 MB."""
    return int(os.environ.get("HOROVOD_FUSION_THRESHOLD") or 64 * _MEGABYTE)


def _bytes(t: Tensor) -> int:
    """Return the static size of a tensor; 0 where it is unknown, so that all ranks decide alike."""
    return prod(t.static) * t.dtype.size if is_known(t.static) else 0


def _buckets(ops: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Divide ops into groups of at most the threshold, in order."""
    limit, bucket, full = threshold(), list[Operation](), 0
    for op in ops:
        size = _bytes(op.inputs[0])
        if bucket and full + size > limit:
            yield bucket
            bucket, full = [], 0
        bucket.append(op)
        full += size
    yield bucket


def _together(record: kinds.Host, attr: str) -> Any:
    """Return the field `together` of a record: its ops with one value of `attr` become ops of `record`."""
    def group(ops: Sequence[Operation]) -> list[tuple[list[Operation], kinds.Host, dict[str, Any]]]:
        found = []
        runs: list[list[Operation]] = []
        for op in ops:
            if not runs or runs[-1][0].attrs[attr] != op.attrs[attr]:
                runs.append([])
            runs[-1].append(op)
        for bucket in (bucket for run in runs for bucket in _buckets(run)):
            types = [t.dtype.base_dtype for op in bucket for t in op.inputs]
            found.append((bucket, record, {"T": types, "names": [op.name for op in bucket],
                                           attr: bucket[0].attrs[attr]}))
        return found
    return group


def _each_as_given(ctx: Any) -> list[Static]:
    return [ctx.shape(i) for i in range(len(ctx.op.inputs))]


def _reduce_all(tensors: Sequence[np.ndarray], *, names: Sequence[str], reduce_op: int, ctx: Any) -> Any:
    """Reduce several tensors in one collective."""
    return tuple(transfer.reduce(world(), names, tensors, reduce_op, ctx.store.check_time))


def _broadcast_all(tensors: Sequence[np.ndarray], *, names: Sequence[str], root_rank: int, ctx: Any) -> Any:
    """Broadcast several tensors in one collective."""
    return tuple(transfer.broadcast(world(), names, tensors, root_rank, ctx.store.check_time))


def _several(fn: Any, attr: str) -> kinds.Host:
    """Return the record of an op that is several: only plans have it."""
    stated = fields(fn, "tensors: T -> outputs: T", {"T": "list(type)", "names": "list(string)", attr: "int"},
                    _each_as_given)
    return kinds.Host(**stated, call=fn, stateful=True, role="collective")


@host("tensor: T -> sum: T", shape=shapes.like_first, stateful=True, role="collective",
      together=_together(_several(_reduce_all, "reduce_op"), "reduce_op"), T=NUMBERS, reduce_op="int = 1",
      prescale_factor="float = 1.0", postscale_factor="float = 1.0", ignore_name_scope="bool = false")
def HorovodAllreduce(tensor: np.ndarray, *, reduce_op: int, ctx: Any) -> Any:
    """Reduce `tensor` over all ranks, element-wise: its sum, or the minimum (3), maximum (4) or product (5)."""
    return transfer.reduce(world(), [ctx.op.name], [tensor], reduce_op, ctx.store.check_time)[0]


def _gathered_shape(ctx: Any) -> list[Static]:
    shape = ctx.shape(0)
    return [None if shape is None else (None, *shape[1:])]


@host("tensor: T -> output: T", shape=_gathered_shape, ranks={"tensor": AtLeast(1)}, stateful=True,
      role="collective", T=MOVED, ignore_name_scope="bool = false")
def HorovodAllgather(tensor: np.ndarray, *, ctx: Any) -> Any:
    """Concatenate the tensors of all ranks along the first axis, along which their sizes may differ."""
    return transfer.gather(world(), ctx.op.name, tensor, ctx.store.check_time)


@host("tensor: T -> output: T", shape=shapes.like_first, stateful=True, role="collective",
      together=_together(_several(_broadcast_all, "root_rank"), "root_rank"), T=MOVED, root_rank="int",
      ignore_name_scope="bool = false")
def HorovodBroadcast(tensor: np.ndarray, *, root_rank: int, ctx: Any) -> Any:
    """Take the tensor of rank `root_rank` in all ranks."""
    return transfer.broadcast(world(), [ctx.op.name], [tensor], root_rank, ctx.store.check_time)[0]


def _splits_fit(ctx: Any) -> None:
    """Raise ValueError unless there is a split for each rank, and they add up to the rows."""
    splits = ctx.value(1)
    if splits is None:
        return
    if len(splits) != world().size or (splits < 0).any() or splits.sum() != ctx.shape(0)[0]:
        raise ValueError(f"expected `splits` to have a number of rows for each of {world().size} ranks, "
                         f"{ctx.shape(0)[0]} in all, got {splits.tolist()}")


@host("tensor: T, splits: int32 -> output: T", shape=_gathered_shape, ranks={"tensor": AtLeast(1), "splits": 1},
      validate=_splits_fit, stateful=True, role="collective", T=MOVED, ignore_name_scope="bool = false")
def HorovodAlltoall(tensor: np.ndarray, splits: np.ndarray, *, ctx: Any) -> Any:
    """Send `splits[i]` rows of `tensor` to rank i, and concatenate those that come, in the order of the ranks."""
    return transfer.exchange(world(), ctx.op.name, tensor, splits, ctx.store.check_time)


@host("-> size: int32", shape=shapes.scalar, stateful=True)
def HorovodSize() -> Any:
    """Return the number of ranks."""
    return np.int32(world().size)


@host("-> size: int32", shape=shapes.scalar, stateful=True)
def HorovodLocalSize() -> Any:
    """Return the number of ranks on this host."""
    return np.int32(world().local_size)


@host("-> rank: int32", shape=shapes.scalar, stateful=True)
def HorovodRank() -> Any:
    """Return the number of this rank."""
    return np.int32(world().rank)


@host("-> rank: int32", shape=shapes.scalar, stateful=True)
def HorovodLocalRank() -> Any:
    """Return the number of this rank among those on this host."""
    return np.int32(world().local_rank)


# Gradients: the adjoint of a linear map over all ranks. The loss is the sum of those of the ranks, each of which gives
# the gradient of its own output.


@HorovodAllreduce.gradient
def _(op: Operation, grad: Any) -> Any:
    if op.attrs["reduce_op"] != transfer.SUM:
        raise LookupError(f"expected a sum or average, got the allreduce {op.name!r} of another kind, which has no "
                          "gradient")
    return HorovodAllreduce(grad, reduce_op=transfer.SUM)


@HorovodAllgather.gradient
def _(op: Operation, grad: Any) -> Any:
    """The sum over all ranks of the rows that came from this one."""
    rows = array_shape(op.inputs[0])
    sizes = HorovodAllgather(rows[:1])
    before = reduce_sum(sizes[:world().rank], keepdims=True)
    begin = concat([array_reshape(before, [1]), zeros_like(rows[1:])], 0)
    return slice_(HorovodAllreduce(grad, reduce_op=transfer.SUM), begin, rows)


@HorovodBroadcast.gradient
def _(op: Operation, grad: Any) -> Any:
    """The sum over all ranks, in the root; zero in the others, by the same nodes: graphs are alike."""
    is_root = world().rank == op.attrs["root_rank"]
    return scalar_mul(1 if is_root else 0, HorovodAllreduce(grad, reduce_op=transfer.SUM))


@HorovodAlltoall.gradient
def _(op: Operation, grad: Any) -> Any:
    """The rows, sent back to where they came from."""
    splits = op.inputs[1]
    received = HorovodAlltoall(splits, [1] * world().size)
    return HorovodAlltoall(grad, received), None


for _op in (HorovodSize, HorovodLocalSize, HorovodRank, HorovodLocalRank):
    _op.no_gradient("it is constant")
