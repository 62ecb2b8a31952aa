"""Segment reductions, one row of the result for each segment: sums, products, means, minima, maxima, and sparse sums.

Segment ids of the sorted ops ascend; the result has as many rows as the last id plus one. The unsorted ops take the
number of segments; ids below 0 are left out. A segment without rows gets 0 (sorted ops; 1 for products), or the
identity of the combination.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library import gather as kernels
from tfnb.kernels.library.checks import BAD_INDEX, BAD_SEGMENT, Check
from tfnb.kernels.library.rows import segments as combining
from tfnb.kernels.scalar import numpy_forms as forms
from tfnb.kernels.symbolic import whole
from tfnb.opdef.ranks import AtLeast
from tfnb.ops.array.create import ones_like, zeros_like
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import functions
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.complex import conj

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_REAL = "realnumbertype"
_FLOAT = "{bfloat16, half, float, double}"
_SORTED = "data: T, segment_ids: Tindices -> output: T"
_UNSORTED = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"
_COUNT = "indextype = DT_INT32"


# What sorted and unsorted ops share, and their sums

def segments_shape(ctx: ShapeContext) -> list[Static]:
    """Return the shape of an unsorted segment op: as many rows as its third input says."""
    data, ids, count = ctx.shape(0), ctx.shape(1), ctx.value(2)
    rows = None if count is None else whole(count.item())
    if rows is not None and rows < 0:
        raise ValueError(f"num_segments must be non-negative, got {rows}")
    if data is None or ids is None:
        return [None]
    merge(data[:len(ids)], ids)
    return [(rows, *data[len(ids):])]


def segments_inside(ctx: Any) -> list[Check]:
    """Every id is less than the number of segments; the kernel of the sum sees to it, if there is anything to sum."""
    count = whole(ctx.value(2).item())
    launched = count and prod(ctx.shape(0))
    return [Check(1, BAD_SEGMENT, count, by_kernel=bool(launched))]


def rows_of_segments(data: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids from 0 on, as a vector, and the rows of `data` that they number."""
    rows, places = data.reshape(ids.size, *data.shape[ids.ndim:]), ids.reshape(-1)
    kept = places >= 0
    return places[kept], rows[kept]


def _segment_sums(ctx: Any, data: np.ndarray, ids: np.ndarray, count: np.ndarray) -> np.ndarray:
    places, rows = rows_of_segments(data, ids)
    out = np.zeros((int(count), *data.shape[ids.ndim:]), data.dtype)
    np.add.at(out, places, rows)
    return out


SEGMENTS: dict[str, Any] = {"shape": segments_shape, "ranks": {"num_segments": 0}, "values": ("num_segments",)}


@kernel(_UNSORTED, **SEGMENTS, numpy=_segment_sums, launch=kernels.unsorted_segment_sum, counted=(1, 2), T="numbertype",
        Tindices="{int16, int32, int64}", Tnumsegments=_COUNT)
def UnsortedSegmentSum() -> None:
    """Sum the rows of `data` by segment id; negative ids are left out.

    >>> sess.run(tf.unsorted_segment_sum([1, 2, 3, 4], [2, 0, 2, 0], num_segments=3))
    array([6, 0, 4], dtype=int32)
    """


UnsortedSegmentSum.checked(segments_inside)


@UnsortedSegmentSum.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    ids = op.inputs[1]
    zero = convert_to_tensor(0, dtype=ids.dtype)
    rows = raw.GatherV2(dz, raw.Maximum(ids, zero), 0)
    inside = raw.GreaterEqual(ids, zero)
    extra = len(rows.static or ()) - len(ids.static or ())
    if extra > 0:
        inside = raw.Reshape(inside, [*(n if n is not None else -1 for n in ids.static or ()), *[1] * extra])
    return [raw.SelectV2(inside, rows, raw.ZerosLike(rows)), None, None]


def sorted_segments_shape(ctx: ShapeContext) -> list[Static]:
    """Return the shape of a sorted segment op: a row for each id up to the last, once it runs (as in TensorFlow)."""
    data, ids, known = ctx.shape(0), ctx.shape(1), ctx.value(1) if ctx.concrete else None
    if data is not None and ids is not None:
        merge(data[:1], ids)
    count = None if known is None else ascending(known)
    return [None if data is None else (count, *data[1:])]


def ascending(ids: np.ndarray) -> int:
    """Return how many segments ascending ids number. Raises ValueError for others."""
    if len(ids) and (ids[0] < 0 or (ids[1:] < ids[:-1]).any()):
        raise ValueError("segment ids are not increasing")
    return int(ids[-1]) + 1 if len(ids) else 0


SORTED: dict[str, Any] = {"ranks": {"data": AtLeast(1), "segment_ids": 1}, "values": ("segment_ids",),
                          "shape": sorted_segments_shape}


def _sorted_sums(ctx: Any, data: np.ndarray, ids: np.ndarray) -> np.ndarray:
    if combining.is_worth_it(data, ids):
        return combining.combined(data, ids, int(ids[-1]) + 1 if len(ids) else 0, "sum").astype(data.dtype, copy=False)
    return _segment_sums(ctx, data, ids, np.array(int(ids[-1]) + 1 if len(ids) else 0))


@kernel(_SORTED, **SORTED, numpy=_sorted_sums, T="numbertype", Tindices="indextype")
def SegmentSum() -> None:
    """Sum the rows of `data` by segment id; ids ascend.

    >>> sess.run(tf.segment_sum([1, 2, 3, 4], [0, 0, 1, 1]))
    array([3, 7], dtype=int32)
    """


@SegmentSum.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    return [raw.GatherV2(dz, op.inputs[1], 0), None]


# Other combinations

_NAMES = {np.add: "sum", np.multiply: "product", np.minimum: "min", np.maximum: "max"}


def _combined(ufunc: Any, start: int) -> Callable[..., np.ndarray]:
    """Return the NumPy form of a sorted op: rows combined by `ufunc`, `start` where there are none."""
    def numpy(ctx: Any, data: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Return a row for each segment, up to the largest id."""
        if combining.is_worth_it(data, ids):
            found = combining.combined(data, ids, int(ids[-1]) + 1 if len(ids) else 0, _NAMES[ufunc], start)
            return found.astype(data.dtype, copy=False)
        out = np.full((int(ids[-1]) + 1 if len(ids) else 0, *data.shape[1:]), start, data.dtype)
        found, first = np.unique(ids, return_index=True)
        if len(found):
            out[found] = indexing.reduceat(ufunc, data, first, 0)
        return out
    return numpy


def _means(ctx: Any, data: np.ndarray, ids: np.ndarray) -> np.ndarray:
    if combining.is_worth_it(data, ids) and data.dtype != np.uint64:
        size = int(ids[-1]) + 1 if len(ids) else 0
        return combining.combined(data, ids, size, "sum", power=1).astype(data.dtype, copy=False)
    sums = _combined(np.add, 0)(ctx, data, ids)
    counts = np.maximum(indexing.bincount(ids, minlength=len(sums)), 1).reshape(-1, *[1] * (data.ndim - 1))
    if data.dtype.kind in "iu":                    # towards zero
        wide = np.uint64 if data.dtype.kind == "u" else np.int64
        return forms.trunc_divide(sums.astype(wide), counts.astype(wide)).astype(data.dtype)
    return (sums / counts).astype(data.dtype)


@kernel(_SORTED, **SORTED, numpy=_means, T="numbertype", Tindices="indextype")
def SegmentMean() -> None:
    """Compute the mean of the rows of `data` by segment id; ids ascend.

    >>> sess.run(tf.segment_mean([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1]))
    array([1.5, 3.5], dtype=float32)
    """


@kernel(_SORTED, **SORTED, numpy=_combined(np.multiply, 1), T="numbertype",
        Tindices="indextype")
def SegmentProd() -> None:
    """Compute the product of the rows of `data` by segment id; ids ascend.

    >>> sess.run(tf.segment_prod([1, 2, 3, 4], [0, 0, 1, 1]))
    array([ 2, 12], dtype=int32)
    """


@kernel(_SORTED, **SORTED, numpy=_combined(np.minimum, 0), T=_REAL,
        Tindices="indextype")
def SegmentMin() -> None:
    """Compute the minimum of the rows of `data` by segment id; ids ascend.

    >>> sess.run(tf.segment_min([1, 2, 3, 4], [0, 0, 1, 1]))
    array([1, 3], dtype=int32)
    """


@kernel(_SORTED, **SORTED, numpy=_combined(np.maximum, 0), T=_REAL,
        Tindices="indextype")
def SegmentMax() -> None:
    """Compute the maximum of the rows of `data` by segment id; ids ascend.

    >>> sess.run(tf.segment_max([1, 2, 3, 4], [0, 0, 1, 1]))
    array([2, 4], dtype=int32)
    """


def _extreme(dtype: np.dtype, sign: int) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min
    finfo: Any = ml_dtypes.finfo                    # its stub has no annotations
    return finfo(dtype).max * sign


def _scattered(ufunc: Any, start: Callable[[np.dtype], Any]) -> Callable[..., np.ndarray]:
    """Return the NumPy form of an unsorted op."""
    def numpy(ctx: Any, data: np.ndarray, ids: np.ndarray, count: np.ndarray) -> np.ndarray:
        """Return a row for each of `count` segments."""
        places, rows = rows_of_segments(data, ids)
        out = np.full((int(count), *data.shape[ids.ndim:]), start(data.dtype), data.dtype)
        ufunc.at(out, places, rows)
        return out
    return numpy


@kernel(_UNSORTED, **SEGMENTS, numpy=_scattered(np.multiply, lambda dtype: 1),
        launch=combining.unsorted("product"), T="numbertype", Tindices="indextype", Tnumsegments=_COUNT)
def UnsortedSegmentProd() -> None:
    """Compute the product of the rows of `data` by segment id (1 for an empty segment).

    >>> sess.run(tf.unsorted_segment_prod([1, 2, 3, 4], [1, 0, 1, 0], num_segments=2))
    array([8, 3], dtype=int32)
    """


@kernel(_UNSORTED, **SEGMENTS, numpy=_scattered(np.maximum, lambda dtype: _extreme(dtype, -1)),
        launch=combining.unsorted("max"), halves="", T=_REAL, Tindices="indextype", Tnumsegments=_COUNT)
def UnsortedSegmentMax() -> None:
    """Compute the maximum of the rows of `data` by segment id (the lowest value for an empty segment).

    >>> sess.run(tf.unsorted_segment_max([1, 2, 3, 4], [1, 0, 1, 0], num_segments=2))
    array([4, 3], dtype=int32)
    """


@kernel(_UNSORTED, **SEGMENTS, numpy=_scattered(np.minimum, lambda dtype: _extreme(dtype, 1)),
        launch=combining.unsorted("min"), halves="", T=_REAL, Tindices="indextype", Tnumsegments=_COUNT)
def UnsortedSegmentMin() -> None:
    """Compute the minimum of the rows of `data` by segment id (the highest value for an empty segment).

    >>> sess.run(tf.unsorted_segment_min([1, 2, 3, 4], [1, 0, 1, 0], num_segments=2))
    array([2, 1], dtype=int32)
    """


for _op in (UnsortedSegmentProd, UnsortedSegmentMax, UnsortedSegmentMin):
    _op.checked(segments_inside)


# Gradients: a row gets what its segment got

def _taken(rows: Tensor, ids: Tensor) -> tuple[Tensor, Tensor | None]:
    """The row of each id, zeros for ids below 0; and where ids are not (of the rank of the result; None: sorted)."""
    zero = convert_to_tensor(0, dtype=ids.dtype)
    taken: Tensor = raw.GatherV2(rows, raw.Maximum(ids, zero), 0)
    inside = raw.GreaterEqual(ids, zero)
    ones = raw.Fill(raw.Sub(raw.ExpandDims(raw.Rank(taken), 0), raw.ExpandDims(raw.Rank(ids), 0)), 1)
    inside = raw.Reshape(inside, raw.ConcatV2([raw.Shape(ids), ones], 0))
    inside = raw.LogicalAnd(inside, ones_like(taken, dtype="bool"))
    return raw.SelectV2(inside, taken, zeros_like(taken)), inside


def _sums(op: Operation, rows: Tensor) -> Tensor:
    """Return the sums of `rows` over the segments of `op`."""
    made: Tensor = SegmentSum(rows, op.inputs[1]) if len(op.inputs) == 2 else UnsortedSegmentSum(
        rows, op.inputs[1], op.inputs[2])
    return made


def _nothing(op: Operation, gradient: Tensor) -> list[Tensor | None]:
    return [gradient, *[None] * (len(op.inputs) - 1)]


def _at_least_one(counts: Tensor) -> Tensor:
    """Counts of any dtype, 1 where they are 0: complex numbers have no maximum."""
    if counts.dtype.is_complex:
        return raw.SelectV2(raw.Equal(counts, zeros_like(counts)), ones_like(counts), counts)
    return raw.Maximum(counts, convert_to_tensor(1, dtype=counts.dtype))


@SegmentMean.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    counts = _at_least_one(_sums(op, ones_like(op.inputs[0])))
    return _nothing(op, raw.GatherV2(raw.RealDiv(dz, counts), op.inputs[1], 0))


def _extreme_gradient(op: Operation, dz: Tensor) -> list[Tensor | None]:
    """Rows that are equal to the result of their segment share its gradient."""
    best, inside = _taken(op.outputs[0], op.inputs[1])
    chosen = raw.LogicalAnd(raw.Equal(op.inputs[0], best), inside)
    counts = _sums(op, raw.Cast(chosen, DstT=dz.dtype))
    share, _ = _taken(raw.RealDiv(dz, raw.Maximum(counts, convert_to_tensor(1, dtype=dz.dtype))), op.inputs[1])
    return _nothing(op, raw.SelectV2(chosen, share, zeros_like(share)))


def _product_gradient(op: Operation, dz: Tensor) -> list[Tensor | None]:
    """The product of all other rows of the segment: without zeros a quotient; beside a single zero only it has one."""
    x = op.inputs[0]
    is_zero = raw.Equal(x, zeros_like(x))
    zeros = _sums(op, raw.Cast(is_zero, DstT=dtypes.int32))
    dz = raw.SelectV2(raw.Greater(zeros, 1), zeros_like(dz), dz)
    rest = raw.SelectV2(is_zero, ones_like(x), x)
    product = raw.SegmentProd(rest, op.inputs[1]) if len(op.inputs) == 2 else raw.UnsortedSegmentProd(
        rest, op.inputs[1], op.inputs[2])
    of_row, of_rest = _taken(op.outputs[0], op.inputs[1])[0], _taken(product, op.inputs[1])[0]
    others = raw.SelectV2(is_zero, of_rest, raw.RealDiv(of_row, rest))
    return _nothing(op, raw.Mul(_taken(dz, op.inputs[1])[0], conj(others)))


for _op in (SegmentMin, SegmentMax, UnsortedSegmentMin, UnsortedSegmentMax):
    _op.gradient(_extreme_gradient)
for _op in (SegmentProd, UnsortedSegmentProd):
    _op.gradient(_product_gradient)


# Sums of rows that are picked first

_PICKED = "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T"
_COUNTED = "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T"
_PICKS: dict[str, Any] = {"Tidx": _COUNT, "Tsegmentids": _COUNT, "sparse_gradient": "bool = false"}
_COUNTED_PICKS: dict[str, Any] = {"Tidx": _COUNT, "Tnumsegments": _COUNT, **_PICKS}


def _picked_shape(ctx: ShapeContext) -> list[Static]:
    data, known = ctx.shape(0), ctx.value(2) if ctx.concrete else None
    merge(ctx.shape(1), ctx.shape(2))
    count = None if known is None else ascending(known)
    if len(ctx.op.inputs) == 4:
        given = ctx.value(3)
        if given is not None and (given < 0 or count is not None and count > given):
            raise ValueError(f"num_segments must be at least {count or 0}, got {given}")
        count = None if given is None else int(given)
    return [None if data is None else (count, *data[1:])]


def _picked_rows(ctx: Any) -> list[Check]:
    return [Check(1, BAD_INDEX, ctx.shape(0)[0])]


def _picked(power: float) -> Callable[..., np.ndarray]:
    """Return the NumPy form: sums of picked rows, over the number of rows to the power."""
    def numpy(ctx: Any, data: np.ndarray, indices: np.ndarray, ids: np.ndarray, count: Any = None) -> np.ndarray:
        """Return a row for each segment, up to the largest id unless there is a count."""
        size = (int(ids[-1]) + 1 if len(ids) else 0) if count is None else int(count)
        if combining.is_worth_it(data, ids):
            return combining.combined(data, ids, size, "sum", 0, indices, power).astype(data.dtype, copy=False)
        found = _combined(np.add, 0)(ctx, data[indices], ids)
        sums = np.zeros((size, *data.shape[1:]), data.dtype)
        sums[:len(found)] = found
        counts = np.maximum(indexing.bincount(ids, minlength=len(sums)), 1) ** power
        return (sums / counts.reshape(-1, *[1] * (data.ndim - 1))).astype(data.dtype) if power else sums
    return numpy


def _picking(text: str, power: float, types: str) -> Callable[[Callable[[], None]], Constructor]:
    """Declare the sum of picked rows over the number of rows to the power."""
    ranks: dict[str, Any] = {"data": AtLeast(1), "indices": 1, "segment_ids": 1}
    counted = text is _COUNTED
    return kernel(text, shape=_picked_shape, numpy=_picked(power), T=types,
                  ranks=ranks | {"num_segments": 0} if counted else ranks,
                  values=("segment_ids", "num_segments") if counted else ("segment_ids",),
                  **_COUNTED_PICKS if counted else _PICKS)


@_picking(_PICKED, 0, _REAL)
def SparseSegmentSum() -> None:
    """Compute the sum of the rows `data[indices]` by segment id; ids ascend."""


@_picking(_PICKED, 1, _FLOAT)
def SparseSegmentMean() -> None:
    """Compute the mean of the rows `data[indices]` by segment id; ids ascend."""


@_picking(_PICKED, 0.5, _FLOAT)
def SparseSegmentSqrtN() -> None:
    """As SparseSegmentSum, divided by the square root of the number of rows."""


@_picking(_COUNTED, 0, _REAL)
def SparseSegmentSumWithNumSegments() -> None:
    """As SparseSegmentSum, with zeros for segments behind the last id."""


@_picking(_COUNTED, 1, _FLOAT)
def SparseSegmentMeanWithNumSegments() -> None:
    """As SparseSegmentMean, with zeros for segments behind the last id."""


@_picking(_COUNTED, 0.5, _FLOAT)
def SparseSegmentSqrtNWithNumSegments() -> None:
    """As SparseSegmentSqrtN, with zeros for segments behind the last id."""


def _picked_gradient(divisor: Callable[[Any], Any] | None, op: Operation, dz: Tensor) -> list[Tensor | None]:
    """Return the gradients of the picked sums over `divisor` of the counts of rows."""
    data, indices, ids = op.inputs[:3]
    if divisor is not None:
        ones = raw.Fill(raw.Shape(ids), convert_to_tensor(1, dtype=dz.dtype))
        sizes: Any = raw.Shape(dz)
        counts = raw.Maximum(UnsortedSegmentSum(ones, ids, sizes[0]), convert_to_tensor(1, dtype=dz.dtype))
        dz = raw.RealDiv(dz, raw.Reshape(divisor(counts), raw.ConcatV2([sizes[:1], ones_like(sizes[1:])], 0)))
    whole: Any = raw.Shape(data)
    return _nothing(op, UnsortedSegmentSum(raw.GatherV2(dz, ids, 0), indices, whole[0]))


for _op, _divisor in (
        (SparseSegmentSum, None), (SparseSegmentSumWithNumSegments, None),
        (SparseSegmentMean, lambda counts: counts), (SparseSegmentMeanWithNumSegments, lambda counts: counts),
        (SparseSegmentSqrtN, lambda counts: raw.Sqrt(counts)),
        (SparseSegmentSqrtNWithNumSegments, lambda counts: raw.Sqrt(counts))):
    _op.checked(_picked_rows)
    _op.gradient(partial(_picked_gradient, _divisor))


def _spread_shape(ctx: ShapeContext) -> list[Static]:
    grad, rows = ctx.shape(0), ctx.value(3)
    merge(ctx.shape(1), ctx.shape(2))
    return [None if grad is None else (None if rows is None else int(rows), *grad[1:])]


def _spread(ctx: Any, grad: np.ndarray, indices: np.ndarray, ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
    counts = np.maximum(indexing.bincount(ids, minlength=len(grad)), 1)
    made = np.zeros((int(rows), *grad.shape[1:]), grad.dtype)
    np.add.at(made, indices, (grad[ids] / counts[ids].reshape(-1, *[1] * (grad.ndim - 1))).astype(grad.dtype))
    return made


@kernel("grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T", shape=_spread_shape,
        numpy=_spread, values=("output_dim0",), T=_FLOAT, Tidx=_COUNT, Tsegmentids=_COUNT,
        ranks={"grad": AtLeast(1), "indices": 1, "segment_ids": 1, "output_dim0": 0})
def SparseSegmentMeanGrad() -> None:
    """Compute the gradient of SparseSegmentMean: rows of `grad` over the sizes of their segments, added at indices."""


@SparseSegmentMeanGrad.checked
def _(ctx: Any) -> list[Check]:
    return [Check(1, BAD_INDEX, int(ctx.value(3))), Check(2, BAD_INDEX, ctx.shape(0)[0])]


SparseSegmentMeanGrad.no_gradient("it is the gradient of SparseSegmentMean")


# What users call

segment_sum, segment_mean, segment_prod, segment_min, segment_max = functions(
    SegmentSum, SegmentMean, SegmentProd, SegmentMin, SegmentMax)
unsorted_segment_sum, unsorted_segment_prod, unsorted_segment_max, unsorted_segment_min = functions(
    UnsortedSegmentSum, UnsortedSegmentProd, UnsortedSegmentMax, UnsortedSegmentMin)


def _counts(data: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """Compute the number of rows of each segment (at least 1), the divisor of its sum."""
    ones = raw.Fill(raw.Shape(segment_ids), convert_to_tensor(1, dtype=data.dtype))
    counts: Any = UnsortedSegmentSum(ones, segment_ids, num_segments)
    if segment_ids.static is None:
        rank: Any = raw.ExpandDims(raw.Rank(segment_ids), 0)
    else:
        rank = [len(segment_ids.static)]
    inner = raw.Slice(raw.Shape(data), rank, [-1])
    shape = raw.ConcatV2([raw.Reshape(num_segments, [1]), ones_like(inner)], 0)
    return _at_least_one(raw.Reshape(counts, shape))


@dispatched
def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """Compute the mean of the rows of `data` by segment id (0 for an empty segment).

    Of integers, floats.

    >>> sess.run(tf.unsorted_segment_mean([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0], num_segments=2))
    array([3., 2.], dtype=float32)
    """
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        num_segments = convert_to_tensor(num_segments, dtype="int32")
        sums = UnsortedSegmentSum(data, segment_ids, num_segments)
        return sums / _counts(data, segment_ids, num_segments)


@dispatched
def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """As `unsorted_segment_sum`, divided by the square root of the number of rows of each segment.

    >>> sess.run(tf.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0], num_segments=2))
    array([4.2426, 2.8284], dtype=float32)
    """
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        num_segments = convert_to_tensor(num_segments, dtype="int32")
        sums = UnsortedSegmentSum(data, segment_ids, num_segments)
        result: Tensor = raw.RealDiv(sums, raw.Sqrt(_counts(data, segment_ids, num_segments)))
        return result


def _counted_or_not(plain: Constructor, counted: Constructor) -> Callable[..., Tensor]:
    """Return a function of the arguments of `counted` that makes the `plain` op where there is no count."""
    def call(data: Any, indices: Any, ids: Any, count: Any, name: str | None) -> Tensor:
        made: Tensor = plain(data, indices, ids, name=name) if count is None else counted(data, indices, ids, count,
                                                                                           name=name)
        return made
    return call


def sparse_segment_sum(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                           num_segments: Any = None) -> Tensor:
    """Compute the sum of the rows `data[indices]` by segment id; ids ascend.

    num_segments: the number of rows of the result, by default the last id and one.

    >>> rows = tf.constant([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> sess.run(tf.sparse_segment_sum(rows, indices=[0, 2, 1], segment_ids=[0, 0, 1]))
    array([[4., 4.],
           [2., 2.]], dtype=float32)
    >>> sess.run(tf.sparse_segment_sum(rows, indices=[0, 2], segment_ids=[0, 2], num_segments=4))
    array([[1., 1.],
           [0., 0.],
           [3., 3.],
           [0., 0.]], dtype=float32)
    """
    return _counted_or_not(SparseSegmentSum, SparseSegmentSumWithNumSegments)(
        data, indices, segment_ids, num_segments, name)


def sparse_segment_mean(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                            num_segments: Any = None) -> Tensor:
    """Compute the mean of the rows `data[indices]` by segment id; ids ascend.

    num_segments: the number of rows of the result, by default the last id and one.

    >>> rows = tf.constant([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> sess.run(tf.sparse_segment_mean(rows, indices=[0, 2, 1], segment_ids=[0, 0, 1]))
    array([[2., 2.],
           [2., 2.]], dtype=float32)
    """
    return _counted_or_not(SparseSegmentMean, SparseSegmentMeanWithNumSegments)(
        data, indices, segment_ids, num_segments, name)


def sparse_segment_sqrt_n(data: Any, indices: Any, segment_ids: Any, name: str | None = None,
                              num_segments: Any = None) -> Tensor:
    """As `sparse_segment_sum`, divided by the square root of the number of rows of each segment.

    num_segments: the number of rows of the result, by default the last id and one.

    >>> rows = tf.constant([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> sess.run(tf.sparse_segment_sqrt_n(rows, indices=[0, 2, 1], segment_ids=[0, 0, 1]))
    array([[2.8284, 2.8284],
           [2.    , 2.    ]], dtype=float32)
    """
    return _counted_or_not(SparseSegmentSqrtN, SparseSegmentSqrtNWithNumSegments)(
        data, indices, segment_ids, num_segments, name)


describe(globals(), TENSORS)
