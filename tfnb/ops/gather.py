"""Reading and writing by index: gather, scatter into zeros, one_hot, where, boolean_mask, unique, segments."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes, errors
from tfnb.core.shape import Static, merge
from tfnb.graph.constant_value import constant_value
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, name_scope
from tfnb.kernels.cpu import gather as cpu
from tfnb.kernels.cpu import gather_nd as cpu_nd
from tfnb.kernels.cpu import unique as cpu_unique
from tfnb.kernels.cuda import gather as cuda
from tfnb.opdef import tables
from tfnb.ops.array import expand_dims, shape, size, squeeze
from tfnb.ops.broadcast import shape_node
from tfnb.ops.declare import kernel
from tfnb.ops.indexed_slices import IndexedSlices
from tfnb.ops.joining import concat
from tfnb.ops.math import cast
from tfnb.ops.raw import raw

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _check_indices(ctx: Any, indices: np.ndarray, size: int) -> None:
    bad = (indices < 0) | (indices >= size)
    if bad.any():
        place = np.argwhere(bad)[0].tolist()
        at = f"[{','.join(map(str, place))}]" if place else ""
        raise errors.InvalidArgumentError(None, ctx.op, f"indices{at} = {int(indices[tuple(place)])} is not in "
                                                        f"[0, {size})")


# Gather

def _axis(value: Any, rank: int) -> int:
    axis = int(np.asarray(value).reshape(-1)[0])
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is not in [{-rank}, {rank})")
    return axis % rank


def _gathered(ctx: ShapeContext) -> list[Static]:
    params, indices, axis = ctx.shape(0), ctx.shape(1), ctx.value(2)
    batch = ctx.attrs["batch_dims"]
    if params is None or indices is None:
        return [None]
    batch = batch + len(indices) if batch < 0 else batch
    if axis is None:
        return [(None,) * (len(params) + len(indices) - 1 - batch)]
    place = _axis(axis, len(params))
    merge(params[:batch], indices[:batch])
    return [(*params[:place], *indices[batch:], *params[place + 1:])]


def _gather(ctx: Any, params: np.ndarray, indices: np.ndarray, axis: np.ndarray) -> np.ndarray:
    place, batch = _axis(axis, params.ndim), ctx.attrs["batch_dims"]
    batch = batch + indices.ndim if batch < 0 else batch
    _check_indices(ctx, indices, params.shape[place])
    if not batch:
        return np.take(params, indices, place)
    lead = params.shape[:batch]
    rows = params.reshape(-1, *params.shape[batch:])
    picks = indices.reshape(-1, *indices.shape[batch:])
    parts = [np.take(row, pick, place - batch) for row, pick in zip(rows, picks, strict=True)]
    return np.stack(parts).reshape(*lead, *parts[0].shape) if parts else np.empty(ctx.op.outputs[0].static)


@kernel("params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams", shape=_gathered, numpy=_gather,
        cpu=cpu.gather, cuda=cuda.gather,
        values=("axis",), batch_dims="int = 0", Tparams="type", Tindices="{int16, int32, int64}",
        Taxis="indextype")
def GatherV2() -> None:
    """The slices of `params` along `axis` at `indices`."""


@kernel("params: Tparams, indices: Tindices -> output: Tparams", validate_indices="bool = true", Tparams="type",
        Tindices="indextype",
        shape=lambda ctx: [None if ctx.shape(0) is None or ctx.shape(1) is None else ctx.shape(1) + ctx.shape(0)[1:]],
        numpy=lambda ctx, params, indices: _rows(ctx, params, indices), cpu=cpu.gather, cuda=cuda.gather)
def Gather() -> None:
    """The rows of `params` at `indices` (the older op)."""


def _rows(ctx: Any, params: np.ndarray, indices: np.ndarray) -> np.ndarray:
    _check_indices(ctx, indices, params.shape[0])
    return np.take(params, indices, 0)


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
    """The gradient of the rows of `params` at `indices`; other rows have none."""
    with colocate_with(params):
        whole = shape(params)
    count = expand_dims(size(indices), 0)
    values = raw.Reshape(dy, concat([count, whole[1:]], 0))
    return IndexedSlices(values, raw.Reshape(indices, count), whole)


def segments_shape(ctx: ShapeContext) -> list[Static]:
    """The shape of an unsorted segment op: as many rows as its third input says."""
    data, ids, count = ctx.shape(0), ctx.shape(1), ctx.value(2)
    if data is None or ids is None:
        return [None]
    merge(data[:len(ids)], ids)
    return [(None if count is None else int(count), *data[len(ids):])]


def segment_ids_of_unsorted(ctx: Any, data: np.ndarray, ids: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The ids from 0 on, as a vector, and the rows of `data` that they number. Raises for an id from `count` on."""
    rows, places = data.reshape(ids.size, *data.shape[ids.ndim:]), ids.reshape(-1)
    if (places >= count).any():
        raise errors.InvalidArgumentError(None, ctx.op, f"segment_ids = {int(places.max())} is not in [0, {count})")
    kept = places >= 0
    return places[kept], rows[kept]


def _segment_sums(ctx: Any, data: np.ndarray, ids: np.ndarray, count: np.ndarray) -> np.ndarray:
    places, rows = segment_ids_of_unsorted(ctx, data, ids, int(count))
    out = np.zeros((int(count), *data.shape[ids.ndim:]), data.dtype)
    np.add.at(out, places, rows)
    return out


@kernel("data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T", shape=segments_shape,
        numpy=_segment_sums, cpu=cpu.unsorted_segment_sum, cuda=cuda.segment_sum,
        values=("num_segments",), T="numbertype",
        Tindices="{int16, int32, int64}", Tnumsegments="indextype = DT_INT32")
def UnsortedSegmentSum() -> None:
    """Row i of the result is the sum of the rows of `data` whose segment id is i (negative ids are left out)."""


tables.COUNTED["UnsortedSegmentSum"] = (1, 2)


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


def _segment_shape(ctx: ShapeContext) -> list[Static]:
    data = ctx.shape(0)
    return [None if data is None else (None, *data[1:])]


def _sorted_sums(ctx: Any, data: np.ndarray, ids: np.ndarray) -> np.ndarray:
    if (np.diff(ids) < 0).any() or (ids < 0).any():
        raise errors.InvalidArgumentError(None, ctx.op, "segment ids are not increasing")
    return _segment_sums(ctx, data, ids, np.array(int(ids[-1]) + 1 if len(ids) else 0))


@kernel("data: T, segment_ids: Tindices -> output: T", shape=_segment_shape, numpy=_sorted_sums,
        values=("segment_ids",), T="numbertype", Tindices="indextype")
def SegmentSum() -> None:
    """Row i of the result is the sum of the rows of `data` whose segment id is i; ids ascend."""


@SegmentSum.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    return [raw.GatherV2(dz, op.inputs[1], 0), None]


# GatherNd and ScatterNd

def _nd_shape(ctx: ShapeContext) -> list[Static]:
    params, indices = ctx.shape(0), ctx.shape(1)
    if params is None or indices is None or indices[-1] is None:
        return [None]
    if indices[-1] > len(params):
        raise ValueError(f"indices.shape[-1] must be <= params.rank, but saw indices.shape[-1] = {indices[-1]} and "
                         f"params.rank = {len(params)}")
    return [(*indices[:-1], *params[indices[-1]:])]


def _nd_places(ctx: Any, indices: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    limits = np.array(shape[:indices.shape[-1]], indices.dtype)
    bad = ((indices < 0) | (indices >= limits)).any(-1)
    if bad.any():
        place = np.argwhere(bad)[0].tolist()
        raise errors.InvalidArgumentError(None, ctx.op, f"indices{place} = {indices[tuple(place)].tolist()} does not "
                                                        f"index into param shape {list(shape)}")
    return tuple(np.moveaxis(indices, -1, 0))


@kernel("params: Tparams, indices: Tindices -> output: Tparams", shape=_nd_shape, cpu=cpu_nd.gather_nd,
        cuda=cuda.gather_nd, Tparams="type",
        Tindices="{int16, int32, int64}", bad_indices_policy="string = ''",
        numpy=lambda ctx, params, indices: np.ascontiguousarray(params[_nd_places(ctx, indices, params.shape)]))
def GatherNd() -> None:
    """The slices of `params` at the index vectors in the last axis of `indices`."""


def _scatter(ctx: Any, indices: np.ndarray, updates: np.ndarray, shape: np.ndarray) -> np.ndarray:
    out = np.zeros(tuple(shape.tolist()), updates.dtype)
    np.add.at(out, _nd_places(ctx, indices, out.shape), updates)
    return out


def _scattered(ctx: ShapeContext) -> list[Static]:
    known, indices = ctx.partial(2), ctx.shape(0)
    if known is None:
        return [None]
    shape = tuple(None if n is None or n < 0 else n for n in known)
    if indices is not None and indices and indices[-1] is not None:
        if indices[-1] > len(shape):
            raise ValueError(f"The last dimension of indices must be at most the rank of the output: {indices[-1]} > "
                             f"{len(shape)}")
        merge(ctx.shape(1), (*indices[:-1], *shape[indices[-1]:]))
    return [shape]


@kernel("indices: Tindices, updates: T, shape: Tindices -> output: T", shape=_scattered, numpy=_scatter,
        cpu=cpu_nd.scatter_nd, values=("shape",), T="type", Tindices="{int16, int32, int64}",
        bad_indices_policy="string = ''")
def ScatterNd() -> None:
    """Zeros of `shape` with `updates` added at the index vectors in the last axis of `indices`."""


@GatherNd.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    params, indices = op.inputs
    return [ScatterNd(indices, dy, shape_node(params, indices.dtype)), None]


@ScatterNd.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [None, GatherNd(dy, op.inputs[0]), None]


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
        cpu=cpu.one_hot, cuda=cuda.one_hot,
        values=("depth",), axis="int = -1", T="type", TI="{uint8, int8, int32, int64} = DT_INT64")
def OneHot() -> None:
    """With a new axis of size `depth`: `on_value` at the index, `off_value` elsewhere."""


OneHot.no_gradient("it is made of indices")


def _where_shape(ctx: ShapeContext) -> list[Static]:
    given = ctx.shape(0)
    return [(None, None if given is None else len(given))]


@kernel("input: T -> index: int64", shape=_where_shape, numpy=lambda ctx, x: np.argwhere(x).astype(np.int64),
        T="{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16,"
          " quint16, uint16, complex128, half, uint32, uint64, bool} = DT_BOOL")
def Where() -> None:
    """The places where `input` is True (or not 0), a row of indices for each."""


Where.no_gradient("it is made of indices")


def _unique(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found: dict[Any, int] = {}
    places = [found.setdefault(value, len(found)) for value in x.tolist()]
    return np.array(list(found), x.dtype), np.array(places, ctx.attrs["out_idx"].as_numpy_dtype)


@kernel("x: T -> y: T, idx: out_idx", shape=lambda ctx: [(None,), ctx.shape(0)], numpy=_unique, T="type",
        out_idx="indextype = DT_INT32")
def Unique() -> None:
    """The different elements of a vector in order of appearance, and for each element which of them it is."""


Unique.no_gradient("it is made of indices")
tables.BOUNDED["Unique"] = (lambda x: (x, x), cpu_unique.unique)


def _list_diff(ctx: Any, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gone = set(y.tolist())
    kept = [i for i, value in enumerate(x.tolist()) if value not in gone]
    return x[kept], np.array(kept, ctx.attrs["out_idx"].as_numpy_dtype)


@kernel("x: T, y: T -> out: T, idx: out_idx", shape=lambda ctx: [(None,), (None,)], numpy=_list_diff, T="type",
        out_idx="indextype = DT_INT32")
def ListDiff() -> None:
    """The elements of `x` that are not in `y`, in order, and where they stood."""


ListDiff.no_gradient("it is made of indices")


# What users call

unsorted_segment_sum, segment_sum = UnsortedSegmentSum, SegmentSum


def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None, axis: Any = None,
           batch_dims: int = 0) -> Tensor:
    """The slices of `params` along `axis` (by default the first) at `indices`.

    indices: int16, int32 or int64 of any shape, which takes the place of that axis. Running it raises
    InvalidArgumentError for an index that is out of range.
    """
    return GatherV2(params, indices, batch_dims if axis is None else axis, batch_dims=batch_dims, name=name)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """The slices of `params` at the index vectors in the last axis of `indices`. batch_dims must be 0."""
    if batch_dims:
        raise NotImplementedError("gather_nd has no batch_dims yet")
    return GatherNd(params, indices, name=name)


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of `shape` with `updates` added at the index vectors in the last axis of `indices`."""
    return ScatterNd(indices, updates, shape, name=name)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The elements of the vector `x` that are not in `y`, in order, and where they stood."""
    return ListDiff(x, y, out_idx=index_dtype, name=name)


listdiff = setdiff1d


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """The slices of `a` but those whose indices are in the vector `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        kept, places = setdiff1d(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=scope), kept, a.dense_shape)


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The different elements of a vector in order of appearance, and for each element which of them it is."""
    return Unique(x, out_idx=out_idx, name=name)


def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
            dtype: Any = None, name: str | None = None) -> Tensor:
    """With a new axis of size `depth`: `on_value` (1) at the index, `off_value` (0) elsewhere, float32 by default.

    Raises TypeError if the values and `dtype` don't agree.
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


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Tensor:
    """The slices of `tensor` (along the axes of `mask`, from `axis` on) where `mask` is True.

    Raises ValueError if the rank of `mask` is unknown or 0, or the shapes don't agree.
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
    """With a new last axis of size `maxlen` (by default the longest): True before the length."""
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


