"""Gather: indexing, one_hot, where, boolean_mask, unique."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, name_scope
from tfnb.kernels.library import gather as kernels
from tfnb.kernels.library.checks import BAD_INDEX, Check, Coordinates
from tfnb.kernels.library.rows import vectors
from tfnb.kernels.library.searching import INTEGERS, LEAST, unique_elements
from tfnb.kernels.library.searching import unique as launch_unique
from tfnb.opdef.ranks import AtLeast
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, shape, size, squeeze
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import shape_node
from tfnb.ops.math.casting import cast

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


# Gather

def _axis(value: Any, rank: int) -> int:
    axis = int(value)
    if not -rank <= axis < rank:
        raise ValueError(f"Expected axis in the range [{-rank}, {rank}), but got {axis}")
    return axis % rank


def _batch_dims(ctx: Any, indices: Sequence[int | None]) -> int:
    batch: int = ctx.attrs["batch_dims"]
    if not -len(indices) <= batch <= len(indices):
        raise ValueError(f"Expected batch_dims in the range [{-len(indices)}, {len(indices)}], but got {batch}")
    return batch % len(indices) if batch < 0 else batch


def _axis_of(ctx: Any) -> Any:
    """Return the axis to gather along, None if unknown: the third input, of ops without one that behind the batches."""
    if len(ctx.op.inputs) > 2:
        return ctx.value(2)
    return _batch_dims(ctx, ctx.shape(1)) if "batch_dims" in ctx.attrs else 0


def gathered(ctx: ShapeContext) -> list[Static]:
    """Return the shape of slices: that of `params` with the axis replaced by those of `indices` behind the batches."""
    params, indices = ctx.shape(0), ctx.shape(1)
    if params is None or indices is None:
        return [None]
    batch, axis = _batch_dims(ctx, indices), _axis_of(ctx)
    if batch >= len(params):
        raise ValueError(f"Expected batch_dims < rank(params) = {len(params)}, but got {batch}")
    if axis is None:
        return [(None,) * (len(params) + len(indices) - 1 - batch)]
    place = _axis(axis, len(params))
    merge(params[:batch], indices[:batch])
    return [(*params[:place], *indices[batch:], *params[place + 1:])]


def behind_batch(ctx: Any) -> None:
    """Raise ValueError for an axis among those of the batches."""
    batch, place = _batch_dims(ctx, ctx.shape(1)), _axis(_axis_of(ctx), len(ctx.shape(0)))
    if place < batch:
        raise ValueError(f"Expected batch_dims <= axis, but got batch_dims = {batch} and axis = {place}")


def picked(ctx: Any) -> list[Check]:
    """Every index is in the axis that it picks from, unless the result is empty anyway."""
    (out,) = ctx.op.spec.shape(ctx)
    axis = _axis(_axis_of(ctx), len(ctx.shape(0)))
    return [Check(1, BAD_INDEX, ctx.shape(0)[axis], by_kernel=True)] if prod(out) else []


def take_slices(ctx: Any, params: np.ndarray, indices: np.ndarray, axis: np.ndarray | None = None) -> np.ndarray:
    """Return slices of `params` along `axis` (None: that behind the batches), of each batch at its own indices."""
    batch = ctx.attrs["batch_dims"]
    batch = batch + indices.ndim if batch < 0 else batch
    place = batch if axis is None else int(axis) % params.ndim
    if not batch:
        return indexing.take(params, indices, place)
    lead = params.shape[:batch]
    rows = params.reshape(-1, *params.shape[batch:])
    picks = indices.reshape(-1, *indices.shape[batch:])
    parts = [indexing.take(row, pick, place - batch) for row, pick in zip(rows, picks, strict=True)]
    return np.stack(parts).reshape(*lead, *parts[0].shape)


@kernel("params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams", shape=gathered, numpy=take_slices,
        launch=kernels.gather, ranks={"params": AtLeast(1), "axis": 0}, validate=behind_batch,
        values=("axis",), batch_dims="int = 0", Tparams="type", Tindices="{int16, int32, int64}",
        Taxis="indextype", halves="moved")
def GatherV2() -> None:
    """Gather slices of `params` along `axis` at `indices`."""


@kernel("params: Tparams, indices: Tindices -> output: Tparams", validate_indices="bool = true", Tparams="type",
        Tindices="indextype", ranks={"params": AtLeast(1)},
        shape=lambda ctx: [None if ctx.shape(0) is None or ctx.shape(1) is None else ctx.shape(1) + ctx.shape(0)[1:]],
        numpy=lambda ctx, params, indices: indexing.take(params, indices, 0), launch=kernels.gather, halves="moved")
def Gather() -> None:
    """Gather rows of `params` at `indices` (the older op)."""


GatherV2.checked(picked)
Gather.checked(picked)


@GatherV2.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | IndexedSlices | None]:
    params, indices, axis = op.inputs
    place, batch = constant_value(axis), op.attrs["batch_dims"]
    if place is not None and int(place) == 0:
        return [_rows_of_gradient(params, indices, dy), None, None]
    if place is None or params.static is None or indices.static is None:
        raise LookupError("the gradient of GatherV2 along another axis than 0 needs a constant axis, and params and "
                          "indices of known rank")
    at, batch = _axis(place, len(params.static)), batch + len(indices.static) if batch < 0 else batch
    return [_slices_gradient(params, indices, dy, at, batch), None, None]


def _slices_gradient(params: Tensor, indices: Tensor, dy: Tensor, at: int, batch: int) -> Tensor:
    """The slices of `dy` added up where they were taken from along axis `at`, each batch (leading axes) by its own.

    The batches become one long axis of rows: `indices` move by the number of rows before theirs.
    """
    rank, many = len(params.static or ()), len(indices.static or ()) - batch
    front = [*range(batch), *range(at, at + many), *range(batch, at), *range(at + many, rank - 1 + many)]
    back = [*range(batch), *range(batch + 1, at + 1), batch, *range(at + 1, rank)]
    whole: Any = raw.Shape(params)
    count, rest = whole[at], concat([whole[batch:at], whole[at + 1:]], 0)
    batches = raw.Prod(whole[:batch], [0])
    before = raw.Cast(raw.Range(0, batches, 1) * count, DstT=indices.dtype)
    rows = raw.Reshape(raw.Reshape(indices, raw.Pack([batches, -1])) + raw.ExpandDims(before, 1), [-1])
    values = raw.Reshape(raw.Transpose(dy, front), concat([raw.Shape(rows), rest], 0))
    sums = raw.UnsortedSegmentSum(values, rows, batches * count)
    result: Tensor = raw.Transpose(raw.Reshape(sums, concat([whole[:batch], [count], rest], 0)), back)
    return result


@Gather.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | IndexedSlices | None]:
    return [_rows_of_gradient(op.inputs[0], op.inputs[1], dy), None]


def _rows_of_gradient(params: Tensor, indices: Tensor, dy: Tensor) -> IndexedSlices:
    """Return the gradient of the rows of `params` at `indices`; other rows have none."""
    with colocate_with(params):
        whole = shape(params)
    count = expand_dims(size(indices), 0)
    values = raw.Reshape(dy, concat([count, whole[1:]], 0))
    return IndexedSlices(values, raw.Reshape(indices, count), whole)


# GatherNd

def nd_shape(ctx: ShapeContext) -> list[Static]:
    """Return the shape of the slices of the first input that the vectors in the second one pick."""
    params, indices = ctx.shape(0), ctx.shape(1)
    if params is None or indices is None or indices[-1] is None:
        return [None]
    if indices[-1] > len(params):
        raise ValueError(f"indices.shape[-1] must be <= params.rank, but saw indices.shape[-1] = {indices[-1]} and "
                         f"params.rank = {len(params)}")
    return [(*indices[:-1], *params[indices[-1]:])]


def something_to_pick(ctx: Any) -> None:
    """Raise ValueError for coordinates in an empty array."""
    count = prod(ctx.shape(1)[:-1])
    if count and 0 in ctx.shape(0):
        raise ValueError(f"Requested {count} entries, but params is empty")


def nd_rows(indices: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Return the row that each vector of coordinates picks, of an array of that shape seen as rows."""
    vectors = indices.reshape(prod(indices.shape[:-1]), indices.shape[-1]).astype(np.int64)
    rows = np.zeros(len(vectors), np.int64)
    for column, limit in zip(vectors.T, shape, strict=False):
        rows = rows * limit + column
    return rows


def take_nd(ctx: Any, params: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the slices of `params` at vectors of coordinates."""
    depth = indices.shape[-1]
    rows = params.reshape(prod(params.shape[:depth]), *params.shape[depth:])
    return rows[nd_rows(indices, params.shape)].reshape((*indices.shape[:-1], *params.shape[depth:]))


@kernel("params: Tparams, indices: Tindices -> output: Tparams", shape=nd_shape, launch=kernels.gather_nd,
        Tparams="type", ranks={"params": AtLeast(1), "indices": AtLeast(1)},
        validate=something_to_pick, Tindices="{int16, int32, int64}", bad_indices_policy="string = ''",
        numpy=take_nd, halves="moved")
def GatherNd() -> None:
    """Gather slices of `params` at the index vectors in the last axis of `indices`."""


def coordinates(ctx: Any) -> list[Coordinates]:
    """Every coordinate is within its axis."""
    params, indices = ctx.shape(0), ctx.shape(1)
    return [Coordinates(1, params[:indices[-1]])]


GatherNd.checked(coordinates)


@GatherNd.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    params, indices = op.inputs
    return [raw.ScatterNd(indices, dy, shape_node(params, indices.dtype)), None]


# OneHot, Where, Unique, ListDiff

def _one_hot_shape(ctx: ShapeContext) -> list[Static]:
    indices, depth, axis = ctx.shape(0), ctx.value(1), ctx.attrs["axis"]
    if indices is None:
        return [None]
    if not -1 <= axis <= len(indices):
        raise ValueError(f"Expected axis to be -1 or between 0 and {len(indices)}, not {axis}")
    if depth is not None and int(depth) < 0:
        raise ValueError(f"depth must be non-negative, not {int(depth)}")
    place = len(indices) if axis == -1 else axis
    return [(*indices[:place], None if depth is None else int(depth), *indices[place:])]


def _one_hot(ctx: Any, indices: np.ndarray, depth: np.ndarray, on: np.ndarray, off: np.ndarray) -> np.ndarray:
    axis = ctx.attrs["axis"]
    place = indices.ndim if axis == -1 else axis
    classes = np.arange(int(depth)).reshape([-1 if i == place else 1 for i in range(indices.ndim + 1)])
    return np.where(np.expand_dims(indices.astype(np.int64), place) == classes, on, off).astype(on.dtype)


@kernel("indices: TI, depth: int32, on_value: T, off_value: T -> output: T", shape=_one_hot_shape, numpy=_one_hot,
        launch=kernels.one_hot, ranks={"depth": 0, "on_value": 0, "off_value": 0},
        values=("depth",), axis="int = -1", T="type", TI="{uint8, int8, int32, int64} = DT_INT64", halves="moved")
def OneHot() -> None:
    """Encode indices as one-hot vectors along a new axis of size `depth`: `on_value` at the index, else `off_value`."""


OneHot.no_gradient("it is made of indices")


def _where_shape(ctx: ShapeContext) -> list[Static]:
    given = ctx.shape(0)
    return [(None, None if given is None else len(given))]


@kernel("input: T -> index: int64", shape=_where_shape, numpy=lambda ctx, x: np.argwhere(x).astype(np.int64),
        T="{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16,"
          " quint16, uint16, complex128, half, uint32, uint64, bool} = DT_BOOL")
def Where() -> None:
    """Return the indices of the elements that are True (or not 0), one row for each."""


Where.no_gradient("it is made of indices")


def _unique(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if x.dtype in INTEGERS and x.size >= LEAST:
        return unique_elements(x, np.dtype(ctx.attrs["out_idx"].as_numpy_dtype))
    found: dict[Any, int] = {}
    places = [found.setdefault(value, len(found)) for value in x.tolist()]
    return np.array(list(found), x.dtype), np.array(places, ctx.attrs["out_idx"].as_numpy_dtype)


@kernel("x: T -> y: T, idx: out_idx", shape=lambda ctx: [(None,), ctx.shape(0)], numpy=_unique, ranks={"x": 1},
        bounded=(lambda x: (x, x), launch_unique), T="type", out_idx="indextype = DT_INT32")
def Unique() -> None:
    """Return the distinct elements of a vector in order of appearance, and the index of each element among them."""


Unique.no_gradient("it is made of indices")


def _list_diff(ctx: Any, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    index = ctx.attrs["out_idx"].as_numpy_dtype
    found = vectors.difference(x, y)
    if found is not None:
        return x[found], found.astype(index, copy=False)
    gone = set(y.tolist())
    kept = [i for i, value in enumerate(x.tolist()) if value not in gone]
    return x[kept], np.array(kept, index)


@kernel("x: T, y: T -> out: T, idx: out_idx", shape=lambda ctx: [(None,), (None,)], numpy=_list_diff,
        ranks={"x": 1, "y": 1}, T="type", out_idx="indextype = DT_INT32")
def ListDiff() -> None:
    """Return the elements of `x` that are not in `y`, in order, and their indices."""


ListDiff.no_gradient("it is made of indices")


# What users call


@dispatched
def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None, axis: Any = None,
           batch_dims: int = 0) -> Tensor:
    """Gather slices of `params` along `axis` (by default the first) at `indices`.

    indices: int16, int32 or int64 of any shape, which takes the place of that axis. Running it raises
    InvalidArgumentError for an index that is out of range.

    >>> sess.run(tf.gather([[1, 2], [3, 4], [5, 6]], [2, 0]))
    array([[5, 6],
           [1, 2]], dtype=int32)
    >>> sess.run(tf.gather([[1, 2], [3, 4], [5, 6]], 1, axis=1))
    array([2, 4, 6], dtype=int32)
    """
    return GatherV2(params, indices, batch_dims if axis is None else axis, batch_dims=batch_dims, name=name)


@dispatched
def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """Gather slices of `params` at the index vectors in the last axis of `indices`.

    batch_dims: how many leading axes the two have in common, an integer or a constant; index vectors begin after
    these. Raises ValueError where `indices` or `params` have fewer.

    >>> sess.run(tf.gather_nd([[1, 2], [3, 4]], [[0, 0], [1, 1]]))
    array([1, 4], dtype=int32)
    """
    known = constant_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
    if known is None:
        raise ValueError(f"batch_dims must be known when the graph is built, got {batch_dims!r}")
    if not known:
        return GatherNd(params, indices, name=name)
    with name_scope(name, "BatchGatherND", [params, indices]) as scope:
        return _gather_nd_rows(convert_to_tensor(params), convert_to_tensor(indices), int(known), scope)


def _gather_nd_rows(params: Tensor, indices: Tensor, count: int, name: str) -> Tensor:
    """As GatherNd with the first `count` axes made one, whose index is put before each index vector."""
    for what, x, least in (("params", params, count), ("indices", indices, count + 1)):
        if count < 0 or x.static is not None and len(x.static) < least:
            raise ValueError(f"batch_dims must be at least 0 and less than the rank of {what}, got {count} for "
                             f"{x.shape}")
    if params.static is not None and indices.static is not None:
        merge(params.static[:count], indices.static[:count])
    sizes, places = raw.Shape(params), raw.Shape(indices)
    number = raw.Prod(raw.Slice(sizes, [0], [count]), 0)
    flat = [raw.Reshape(x, raw.ConcatV2([raw.ExpandDims(number, 0), raw.Slice(shape, [count], [-1])], 0))
            for x, shape in ((params, sizes), (indices, places))]
    lead = raw.Slice(raw.Shape(flat[1]), [0], raw.ExpandDims(raw.Sub(raw.Rank(flat[1]), 1), 0))
    columns = raw.Slice(lead, [1], [-1])
    rows = raw.Reshape(raw.Range(0, number, 1), raw.ConcatV2([raw.ExpandDims(number, 0), raw.OnesLike(columns)], 0))
    row = raw.Cast(raw.ExpandDims(raw.BroadcastTo(rows, lead), -1), DstT=indices.dtype)
    found = GatherNd(flat[0], raw.ConcatV2([row, flat[1]], -1))
    shape = raw.ConcatV2([raw.Slice(places, [0], [count]), raw.Slice(raw.Shape(found), [1], [-1])], 0)
    made: Tensor = raw.Reshape(found, shape, name=name)
    if params.static is not None and indices.static is not None and indices.static[-1] is not None:
        made.set_shape(indices.static[:-1] + params.static[count + indices.static[-1]:])
    return made


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the elements of the vector `x` that are not in `y`, in order, and their indices.

    >>> difference, index = tf.listdiff([3, 1, 4, 2], [1, 2])
    >>> sess.run(difference), sess.run(index)
    (array([3, 4], dtype=int32), array([0, 2], dtype=int32))
    """
    return ListDiff(x, y, out_idx=index_dtype, name=name)


listdiff = setdiff1d


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """Return the slices of `a` except those whose indices are in the vector `mask_indices`.

    >>> rows = tf.IndexedSlices(tf.constant([[1, 1], [2, 2]]), indices=tf.constant([3, 5]))
    >>> sess.run(tf.sparse_mask(rows, [3]).indices)
    array([5], dtype=int32)
    """
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        kept, places = setdiff1d(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=scope), kept, a.dense_shape)


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the distinct elements of a vector in order of appearance, and the index of each element among them.

    >>> y, index = tf.unique([3, 1, 3, 2])
    >>> sess.run(y), sess.run(index)
    (array([3, 1, 2], dtype=int32), array([0, 1, 0, 2], dtype=int32))
    """
    return Unique(x, out_idx=out_idx, name=name)


@dispatched
def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
            dtype: Any = None, name: str | None = None) -> Tensor:
    """Encode indices as one-hot vectors along a new axis of size `depth`: `on_value` (1), else `off_value` (0).

    dtype: by default that of the values, float32 without any. Raises TypeError if the values and `dtype` don't agree.

    >>> sess.run(tf.one_hot([0, 2, 1], depth=3))
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        kind = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        on = None if on_value is None else convert_to_tensor(on_value, preferred_dtype=kind)
        off = None if off_value is None else convert_to_tensor(off_value, preferred_dtype=kind)
        for what, value in (("on_value", on), ("off_value", off)):
            if value is not None and kind is not None and value.dtype.base_dtype != kind:
                raise TypeError(f"dtype {value.dtype.base_dtype!r} of {what} does not match dtype parameter {kind!r}")
        given = [value.dtype.base_dtype for value in (on, off) if value is not None]
        kind = kind or (given[0] if given else dtypes.float32)
        on = convert_to_tensor(1, dtype=kind, name="on_value") if on is None else on
        off = convert_to_tensor(0, dtype=kind, name="off_value") if off is None else off
        if on.dtype.base_dtype != off.dtype.base_dtype:
            raise TypeError(f"dtype {on.dtype.base_dtype!r} of on_value does not match dtype {off.dtype.base_dtype!r} "
                            "of off_value")
        return OneHot(indices, depth, on, off, axis=-1 if axis is None else axis, name=scope)


@dispatched
def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Tensor:
    """Return the slices of `tensor` (along the axes of `mask`, from `axis` on) where `mask` is True.

    Raises ValueError if the rank of `mask` is unknown or 0, or the shapes don't agree.

    >>> sess.run(tf.boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]))
    array([[1, 2],
           [5, 6]], dtype=int32)
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        first = 0 if axis is None else axis
        if mask.static is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.")
        many = len(mask.static)
        if not many:
            raise ValueError("mask cannot be scalar.")
        if tensor.static is not None:
            merge(tensor.static[first:first + many], mask.static)
        count = raw.Prod(shape(tensor)[first:first + many], [0])
        tensor = raw.Reshape(tensor, concat([shape(tensor)[:first], [count], shape(tensor)[first + many:]], 0))
        if tensor.static is None:
            tensor.set_shape([None])
        places = squeeze(Where(raw.Reshape(mask, [-1])), axis=[1])
        return GatherV2(tensor, places, first)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """Return masks along a new last axis of size `maxlen` (by default the longest): True before the length.

    >>> sess.run(tf.sequence_mask([1, 3, 2], maxlen=4))
    array([[ True, False, False, False],
           [ True,  True,  True, False],
           [ True,  True, False, False]])
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            longest = raw.Max(raw.Reshape(lengths, [-1]), [0])
            maxlen = raw.Maximum(longest, convert_to_tensor(0, dtype=lengths.dtype))
        else:
            maxlen = convert_to_tensor(maxlen)
        row = raw.Range(convert_to_tensor(0, maxlen.dtype), maxlen, convert_to_tensor(1, maxlen.dtype))
        result = raw.Less(row, raw.Cast(raw.ExpandDims(lengths, -1), DstT=maxlen.dtype))
        return result if dtypes.as_dtype(dtype) == dtypes.bool else cast(result, dtype)


describe(globals(), TENSORS)
