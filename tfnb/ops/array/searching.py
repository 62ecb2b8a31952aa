"""Order and search: sorted values and their places, insertion points, counts, indices as coordinates."""
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.rows import vectors
from tfnb.kernels.library.searching import INTEGERS, LEAST, bucketize, search, unique_elements
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast

# Insertion points

_SEARCH: dict[str, Any] = {"T": "type", "out_type": "{int32, int64} = DT_INT32"}
_SEARCHED = "sorted_inputs: T, values: T -> output: out_type"


def _points_shape(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), (None, None))
    return [merge(ctx.shape(1), (None, None))]


def _as_many_rows(ctx: Any) -> None:
    """Raise ValueError unless there is a row of values for each sorted row."""
    if ctx.shape(0)[0] != ctx.shape(1)[0]:
        raise ValueError(f"Leading dim_size of both tensors must match: got {ctx.shape(0)[0]} sorted rows and "
                         f"{ctx.shape(1)[0]} rows of values")


def _points(after: bool) -> Any:
    def numpy(ctx: Any, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the insertion points of each row of values, by the comparisons of the kernel: they tell where NaN is.
        """
        size, each = rows.shape[1], np.arange(len(rows))[:, None]
        low, left = np.zeros(values.shape, np.int64), size
        while left:
            half = (left + 1) // 2
            found = rows[each, low + half - 1]
            low += half * (~(values < found) if after else found < values)
            left -= half
        return low.astype(ctx.attrs["out_type"].as_numpy_dtype)
    return numpy


@kernel(_SEARCHED, shape=_points_shape, numpy=_points(False), launch=search(False),
        ranks={"sorted_inputs": 2, "values": 2}, validate=_as_many_rows, **_SEARCH)
def LowerBound() -> None:
    """Find the first place of each value, row by row, before which all elements of the sorted row are smaller."""


@kernel(_SEARCHED, shape=_points_shape, numpy=_points(True), launch=search(True),
        ranks={"sorted_inputs": 2, "values": 2}, validate=_as_many_rows, **_SEARCH)
def UpperBound() -> None:
    """Find the first place of each value, row by row, from which on all elements of the sorted row are larger."""


def _ascending(ctx: Any) -> None:
    bounds = ctx.attrs["boundaries"]
    if list(bounds) != sorted(bounds):
        raise ValueError(f"Expected sorted boundaries, got {list(bounds)}")


def _buckets(ctx: Any, values: np.ndarray) -> np.ndarray:
    """Return the numbers of boundaries that are not larger, in float32 but for doubles, as TensorFlow compares."""
    compared = values if values.dtype == np.float64 else values.astype(np.float32)
    bounds = np.array(ctx.attrs["boundaries"], np.float32).astype(compared.dtype)
    return np.searchsorted(bounds, compared, "right").astype(np.int32)


@kernel("input: T -> output: int32", shape=shapes.like_first, numpy=_buckets, launch=bucketize, validate=_ascending,
        T="{int32, int64, float, double}", boundaries="list(float)")
def Bucketize() -> None:
    """Number the bucket of each value between sorted boundaries: 0 below the first one, which begins bucket 1.

    >>> sess.run(tf.raw_ops.Bucketize(input=tf.constant([-5.0, 0.0, 9.0, 10.0]), boundaries=[0.0, 10.0]))
    array([0, 1, 1, 2], dtype=int32)
    """


for _op in (LowerBound, UpperBound, Bucketize):
    _op.no_gradient("it is a place")


@public("searchsorted")
def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = dtypes.int32,
                 name: str | None = None) -> Tensor:
    """Find where each value would have to be inserted into the sorted rows of `sorted_sequence`.

    sorted_sequence: [..., n], ascending; values: [..., m], with the same leading axes. side: "left" for the first such
    place, "right" for the last. out_type: int32 or int64. Returns [..., m]. Raises ValueError for another side.

    >>> sess.run(tf.searchsorted([1.0, 3.0, 3.0, 7.0], [3.0, 0.0, 8.0]))
    array([1, 0, 4], dtype=int32)
    >>> sess.run(tf.searchsorted([1.0, 3.0, 3.0, 7.0], [3.0, 0.0, 8.0], side="right"))
    array([3, 0, 4], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left', got {side!r}")
    with name_scope(name, "searchsorted", [sorted_sequence, values]):
        values = convert_to_tensor(values, name="values")
        rows = convert_to_tensor(sorted_sequence, name="sorted_sequence", dtype=values.dtype)
        sizes: Any = raw.Shape(rows)
        of_values: Any = raw.Shape(values)
        places = (LowerBound if side == "left" else UpperBound)(
            raw.Reshape(rows, raw.Pack([-1, sizes[-1]])), raw.Reshape(values, raw.Pack([-1, of_values[-1]])),
            out_type=out_type)
        made: Tensor = raw.Reshape(places, of_values)
        made.set_shape(values.shape)
        return made


# Sorting

def _checked(direction: str, axis: Any) -> int:
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if known is None or np.ndim(known):
        raise ValueError(f"axis must be a constant scalar, got {axis}")
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be 'ASCENDING' or 'DESCENDING', got {direction!r}")
    return int(known)


def _mirrored(values: Tensor) -> Tensor:
    """Return values in the opposite order, without overflow; applied again it gives them back."""
    dtype = values.dtype.base_dtype
    if not dtype.is_integer:
        mirror: Tensor = raw.Neg(values)
        return mirror
    top = dtype.max if dtype.is_unsigned else -1
    mirror = raw.Sub(convert_to_tensor(top, dtype=dtype), values)
    return mirror


def _sorted(values: Any, axis: int, direction: str) -> tuple[Tensor, Tensor]:
    """Return sorted values and their places. Equal ones keep their order, in both directions."""
    x = convert_to_tensor(values, name="values")
    ascending = direction == "ASCENDING"
    rank = x.shape.ndims
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"axis must be between {-rank} and {rank}, got {axis}")
    given = _mirrored(x) if ascending else x
    order: Any = None
    if axis != -1 and (rank is None or axis + 1 != rank):
        many: Any = rank if rank is not None else raw.Rank(x)
        at = axis if axis >= 0 else many + axis
        order = _exchanged(many, at)
        given = raw.Transpose(given, order)
    sizes: Any = raw.Shape(given)
    found, places = raw.TopKV2(given, sizes[-1], sorted=True)
    if order is not None:
        found, places = raw.Transpose(found, order), raw.Transpose(places, order)
    found, places = (_mirrored(found) if ascending else found), places
    for made in (found, places):
        made.set_shape(x.shape)
    return found, places


def _exchanged(rank: Any, axis: Any) -> Any:
    """Return the permutation that exchanges an axis with the last one."""
    if isinstance(rank, int):
        order = list(range(rank))
        order[axis], order[-1] = order[-1], order[axis]
        return order
    last = rank - 1
    return raw.DynamicStitch([raw.Range(0, rank, 1), raw.Pack([axis, last])], [raw.Range(0, rank, 1),
                                                                               raw.Pack([last, axis])])


@public("sort")
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Sort a tensor along `axis`.

    values: real numbers, at least one axis. axis: a constant. direction: "ASCENDING" or "DESCENDING". Raises ValueError
    for another axis or direction.

    >>> sess.run(tf.sort([3, 1, 2]))
    array([1, 2, 3], dtype=int32)
    >>> sess.run(tf.sort([[3, 1], [2, 5]], axis=0, direction="DESCENDING"))
    array([[3, 5],
           [2, 1]], dtype=int32)
    """
    with name_scope(name, "sort"):
        return _sorted(values, _checked(direction, axis), direction)[0]


@public("argsort")
def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Tensor:
    """Return the places, int32, of the elements of a tensor in sorted order along `axis`.

    values: real numbers, at least one axis. axis: a constant. direction: "ASCENDING" or "DESCENDING". stable: equal
    elements keep their order always, so that it changes nothing. Raises ValueError for another axis or direction.

    >>> sess.run(tf.argsort([3, 1, 2]))
    array([1, 2, 0], dtype=int32)
    """
    with name_scope(name, "argsort"):
        return _sorted(values, _checked(direction, axis), direction)[1]


# Different elements

def _counted_shape(ctx: Any) -> list[Static]:
    given = ctx.shape(0)
    return [(None,), (None,) if given is None or len(given) != 1 else given, (None,)]


def _of_vector(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if x.ndim != 1:
        raise ValueError(f"unique expects a 1D vector, got shape {list(x.shape)}")
    return _unique(ctx, x)


def _along(ctx: Any) -> tuple[int | None, Static]:
    """Return the axis that UniqueV2 looks along, None for a vector without one, and the shape of its input."""
    axes, given = ctx.value(1), ctx.shape(0)
    if axes is None or given is None:
        return None, given
    if axes.size > 1 or not axes.size and len(given) != 1:
        raise ValueError(f"expected one axis, or none of a vector, got {axes.tolist()}")
    axis = int(axes.reshape(-1)[0]) if axes.size else 0
    if not -len(given) <= axis < len(given):
        raise ValueError(f"expected axis in the range [{-len(given)}, {len(given)}), got {axis}")
    return axis % len(given), given


def _unique_shape(ctx: Any) -> list[Static]:
    axis, given = _along(ctx)
    if axis is None or given is None:
        return [None if given is None else (None,) * len(given), (None,)]
    return [tuple(None if i == axis else n for i, n in enumerate(given)), (given[axis],)]


def _unique(ctx: Any, x: np.ndarray, axis: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the different slices along an axis in order of appearance, the place of each, and counts."""
    if x.ndim == 1 and x.dtype in INTEGERS and x.size >= LEAST:
        y, numbers = unique_elements(x, np.dtype(ctx.attrs["out_idx"].as_numpy_dtype))
        return y, numbers, indexing.bincount(numbers, minlength=len(y)).astype(numbers.dtype)
    rows = np.moveaxis(x, axis, 0).reshape(x.shape[axis], x.size // max(1, x.shape[axis]))
    keys: dict[Any, int] = {}
    flat = rows.dtype == object or rows.shape[1] == 1
    items = (rows[:, 0].tolist() if rows.shape[1] == 1 else map(tuple, rows.tolist())) if flat else (
        row.tobytes() for row in rows)
    places = np.array([keys.setdefault(item, len(keys)) for item in items], ctx.attrs["out_idx"].as_numpy_dtype)
    first = np.full(len(keys), -1, np.int64)
    for i in range(len(places) - 1, -1, -1):
        first[places[i]] = i
    counts = indexing.bincount(places, minlength=len(keys)).astype(places.dtype)
    return indexing.take(x, first, axis), places, counts


_INDEX: dict[str, Any] = {"T": "type", "out_idx": "{int32, int64} = DT_INT32"}
_BY_AXIS: dict[str, Any] = {"T": "type", "Taxis": "{int32, int64} = DT_INT64", "out_idx": "{int32, int64} = DT_INT32"}


@kernel("x: T -> y: T, idx: out_idx, count: out_idx", shape=_counted_shape,
        numpy=lambda ctx, x: _of_vector(ctx, x), **_INDEX)
def UniqueWithCounts() -> None:
    """Find the different elements of a vector in order of appearance, the place of each element there, and counts."""


@kernel("x: T, axis: Taxis -> y: T, idx: out_idx", shape=_unique_shape,
        numpy=lambda ctx, x, axis: _unique(ctx, x, int(axis.reshape(-1)[0]) if axis.size else 0)[:2],
        values=("axis",), ranks={"axis": 1}, **_BY_AXIS)
def UniqueV2() -> None:
    """Find the different slices along an axis in order of appearance, and the place of each slice there."""


@kernel("x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx", shape=lambda ctx: [*_unique_shape(ctx), (None,)],
        numpy=lambda ctx, x, axis: _unique(ctx, x, int(axis.reshape(-1)[0]) if axis.size else 0),
        values=("axis",), ranks={"axis": 1}, **_BY_AXIS)
def UniqueWithCountsV2() -> None:
    """Find the different slices along an axis in order of appearance, the place of each slice there, and counts."""


for _op in (UniqueWithCounts, UniqueV2, UniqueWithCountsV2):
    _op.no_gradient("as in TensorFlow, it has none")


@public("unique_with_counts")
def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """Find the different elements of a vector: (y, idx, count).

    y: in order of appearance; idx: the place in `y` of each element of `x`; count: how often each is there; both of the
    dtype `out_idx`, int32 or int64. Running it raises InvalidArgumentError unless `x` is a vector.

    >>> y, idx, count = sess.run(tf.unique_with_counts([5, 7, 5, 5]))
    >>> y, idx, count
    (array([5, 7], dtype=int32), array([0, 1, 0, 0], dtype=int32), array([3, 1], dtype=int32))
    """
    return UniqueWithCounts(x, out_idx=out_idx, name=name)


# Indices as coordinates, counts of integers

def _coordinates_shape(ctx: Any) -> list[Static]:
    indices, dims = ctx.shape(0), ctx.shape(1)
    if dims is not None and len(dims) != 1:
        raise ValueError(f"expected dims to be a vector, got shape {list(dims)}")
    if indices is None:
        return [None]
    rank = None if dims is None else dims[0]
    return [(rank,) if indices == () else (rank, None if None in indices else prod(indices))]


def _coordinates(ctx: Any, indices: np.ndarray, dims: np.ndarray) -> np.ndarray:
    total = int(np.prod(dims, dtype=np.int64))
    if (dims == 0).any():
        raise ValueError(f"Input dims cannot contain a dim of zero, but dims contains zero at index "
                         f"{int((dims == 0).argmax())}")
    if indices.size and not 0 <= indices.min() <= indices.max() < total:
        raise ValueError(f"index is out of bound as with dims: expected 0 <= index < {total}")
    flat = indices.reshape(-1)
    made = np.array(np.unravel_index(flat, tuple(dims.tolist())), dims.dtype).reshape(len(dims), flat.size)
    return made[:, 0] if not indices.ndim else made


@kernel("indices: Tidx, dims: Tidx -> output: Tidx", shape=_coordinates_shape, numpy=_coordinates,
        Tidx="{int32, int64} = DT_INT32")
def UnravelIndex() -> None:
    """Convert flat indices into coordinates of an array of the shape `dims`."""


UnravelIndex.no_gradient("it is of integers")


@public("unravel_index")
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Convert flat indices into coordinates of an array of the shape `dims`: [rank, n], or [rank] for one index.

    indices, dims: int32 or int64. Running it raises InvalidArgumentError for an index beyond the array.

    >>> sess.run(tf.unravel_index([2, 5], [2, 3]))
    array([[0, 1],
           [2, 2]], dtype=int32)
    """
    made: Tensor = UnravelIndex(convert_to_tensor(indices), dims, name=name)
    return made


def _bins_shape(ctx: Any) -> list[Static]:
    merge(ctx.shape(1), ())
    size = ctx.value(1)
    if size is not None and int(size) < 0:
        raise ValueError(f"size ({int(size)}) must be non-negative")
    return [(None if size is None else int(size),)]


def _bins(ctx: Any, numbers: np.ndarray, size: np.ndarray, weights: np.ndarray) -> np.ndarray:
    count = int(size)
    flat = numbers.reshape(-1)
    if weights.size and weights.size != flat.size:
        raise ValueError(f"expected weights of the shape of arr or none, got {list(weights.shape)} and "
                         f"{list(numbers.shape)}")
    found = vectors.count_bins(flat, weights.reshape(-1), count)
    if found is not None:
        return found
    if flat.size and flat.min() < 0:
        raise ValueError("Input arr must be non-negative!")
    inside = flat < count
    made = np.zeros(count, weights.dtype)
    np.add.at(made, flat[inside], weights.reshape(-1)[inside] if weights.size else weights.dtype.type(1))
    return made


@kernel("arr: int32, size: int32, weights: T -> bins: T", shape=_bins_shape, numpy=_bins, values=("size",),
        T="{int32, int64, float, double}")
def Bincount() -> None:
    """Count integers below `size`, or add their weights where there are some."""


Bincount.no_gradient("as in TensorFlow, it has none")


@public("bincount", "math.bincount")
def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None,
             dtype: Any = dtypes.int32) -> Tensor:
    """Count how often each integer from 0 on occurs in `arr`, int32 of any shape.

    weights: of the shape of `arr`, added in place of 1; the result has their dtype, else `dtype`. minlength, maxlength:
    the least and the largest number of bins; numbers beyond are left out. Running it raises InvalidArgumentError for a
    number below 0.

    >>> sess.run(tf.bincount([1, 1, 3]))
    array([0, 2, 0, 1], dtype=int32)
    """
    with name_scope(None, "bincount"):
        numbers = cast(convert_to_tensor(arr, name="arr"), dtypes.int32)
        nonempty = raw.Greater(raw.Prod(raw.Shape(numbers), [0]), 0)
        largest = raw.Max(numbers, raw.Range(0, raw.Rank(numbers), 1))
        size = raw.Mul(raw.Cast(nonempty, DstT=dtypes.int32), raw.AddV2(largest, 1))
        if minlength is not None:
            size = raw.Maximum(cast(convert_to_tensor(minlength), dtypes.int32), size)
        if maxlength is not None:
            size = raw.Minimum(cast(convert_to_tensor(maxlength), dtypes.int32), size)
        given = convert_to_tensor([], dtype=dtype) if weights is None else convert_to_tensor(weights, name="weights")
        bins: Tensor = Bincount(numbers, size, given)
        return bins


describe(globals(), TENSORS)
