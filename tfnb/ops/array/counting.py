"""Counts and repetitions: histograms of fixed width, confusion matrices, repeated elements, batches of gathers."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import graph_of, name_scope
from tfnb.kernels.library.rows import vectors
from tfnb.ops.array.gather import gather
from tfnb.ops.array.searching import searchsorted
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast

# Histograms

def _bins(ctx: Any, values: np.ndarray, limits: np.ndarray, nbins: np.ndarray) -> np.ndarray:
    count, (low, high) = int(nbins), limits
    if not low < high:
        raise ValueError(f"value_range should satisfy value_range[0] < value_range[1], but got '{limits.tolist()}'")
    step = (high.astype(np.float64) - low.astype(np.float64)) / count
    found = vectors.fixed_bins(values, float(low), float(step), count)
    if found is not None:
        return found.astype(ctx.attrs["dtype"].as_numpy_dtype, copy=False)
    places = np.clip(np.floor((values.reshape(-1).astype(np.float64) - low) / step), 0, count - 1)
    return indexing.bincount(places, minlength=count).astype(ctx.attrs["dtype"].as_numpy_dtype)


def _bins_shape(ctx: Any) -> list[Static]:
    merge(ctx.shape(1), (2,))
    count = ctx.value(2)
    if count is not None and int(count) <= 0:
        raise ValueError(f"nbins should be a positive number, but got '{int(count)}'")
    return [(None if count is None else int(count),)]


@kernel("values: T, value_range: T, nbins: int32 -> out: dtype", shape=_bins_shape, numpy=_bins, values=("nbins",),
        ranks={"value_range": 1, "nbins": 0}, T="{int32, int64, float, double}", dtype="{int32, int64} = DT_INT32")
def HistogramFixedWidth() -> None:
    """Count values in bins of equal width; those outside of the range are in the first or the last one."""


HistogramFixedWidth.no_gradient("as in TensorFlow, it has none")


@public("histogram_fixed_width")
def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
                          name: str | None = None) -> Tensor:
    """Count values in `nbins` bins of equal width between the two numbers of `value_range`: [nbins] of `dtype`.

    values: int32, int64, float32 or float64. What lies outside is counted in the first or the last bin. dtype: int32 or
    int64. Running it raises InvalidArgumentError for a range that is none.

    >>> sess.run(tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5))
    array([2, 1, 1, 0, 2], dtype=int32)
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        counts: Tensor = HistogramFixedWidth(values, value_range, nbins, dtype=dtype, name=scope)
        return counts


@public("histogram_fixed_width_bins")
def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
                               name: str | None = None) -> Tensor:
    """Return the bin of each value, of `nbins` of equal width between the two numbers of `value_range`.

    values: numbers of any shape, which the result has. What lies outside is in the first or the last bin. dtype: int32
    or int64.

    >>> sess.run(tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5))
    array([0, 0, 1, 2, 4, 4], dtype=int32)
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        limits: Any = convert_to_tensor(value_range, name="value_range", dtype=values.dtype)
        count: Any = convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        wide = dtypes.float64 if values.dtype == dtypes.float64 else dtypes.float32
        part = raw.RealDiv(cast(values - limits[0], wide), cast(limits[1] - limits[0], wide))
        places = raw.Floor(raw.Mul(cast(count, wide), part))
        inside = raw.Maximum(raw.Minimum(places, cast(count - 1, wide)), convert_to_tensor(0, dtype=wide))
        made: Tensor = cast(inside, dtype)
        return made


# Confusion matrices

@public("confusion_matrix", "math.confusion_matrix")
def confusion_matrix(labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = dtypes.int32,
                     name: str | None = None, weights: Any = None) -> Tensor:
    """Count how often each class (row) was predicted as each class (column): [num_classes, num_classes].

    labels, predictions: classes from 0 on, [n], or one of them [n, 1]. num_classes: by default one more than the
    largest class. weights: [n], added in place of 1. dtype: of the matrix. Running it raises InvalidArgumentError for a
    class below 0, or not below num_classes.

    >>> sess.run(tf.confusion_matrix([1, 2, 4], [2, 2, 4]))
    array([[0, 0, 0, 0, 0],
           [0, 0, 1, 0, 0],
           [0, 0, 1, 0, 0],
           [0, 0, 0, 0, 0],
           [0, 0, 0, 0, 1]], dtype=int32)
    """
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        rows, columns = _matching(convert_to_tensor(labels, name="labels"),
                                  convert_to_tensor(predictions, name="predictions"))
        rows, columns = (cast(each, dtypes.int64) for each in (rows, columns))
        rows, columns = (_checked(each, "not be negative", raw.GreaterEqual, 0) for each in (rows, columns))
        if num_classes is None:
            largest = raw.Maximum(raw.Max(columns, [0]), raw.Max(rows, [0]))
            count = raw.AddV2(largest, convert_to_tensor(1, dtypes.int64))
        else:
            count = cast(convert_to_tensor(num_classes), dtypes.int64)
            rows, columns = (_checked(each, "be below num_classes", raw.Less, count) for each in (rows, columns))
        if weights is None:
            values = raw.Fill(raw.Shape(columns), convert_to_tensor(1, dtype=dtype))
        else:
            given = convert_to_tensor(weights)
            columns.shape.assert_is_compatible_with(given.shape)
            values = cast(given, dtype)
        places = raw.Pack([rows, columns], axis=1)
        made: Tensor = raw.ScatterNd(places, values, raw.Pack([count, count]))
        if num_classes is not None and (known := constant_value(count)) is not None:
            made.set_shape([int(known), int(known)])
        return made


def _matching(labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
    """Return both as vectors: an axis of size 1 that one of them has more is dropped."""
    ranks = labels.shape.ndims, predictions.shape.ndims
    if None not in ranks and ranks[0] != ranks[1]:
        larger, smaller = (labels, predictions) if ranks[0] > ranks[1] else (predictions, labels)
        if larger.shape[-1].is_compatible_with(1) and larger.shape.ndims == (smaller.shape.ndims or 0) + 1:
            dropped = raw.Squeeze(larger, squeeze_dims=[-1])
            labels, predictions = (dropped, predictions) if larger is labels else (labels, dropped)
    labels.shape.assert_is_compatible_with(predictions.shape)
    return labels, predictions


def _checked(classes: Tensor, rule: str, compare: Any, limit: Any) -> Tensor:
    limit = convert_to_tensor(limit, dtype=dtypes.int64)
    told = raw.Assert(raw.All(compare(classes, limit), [0]), [f"classes must {rule}:", classes])
    with graph_of(classes).control_dependencies([told]):
        same: Tensor = raw.Identity(classes)
        return same


# Repeated elements

@public("repeat")
def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Repeat elements along `axis`, of the flattened tensor by default.

    repeats: one count for all elements, or one for each along the axis.

    >>> sess.run(tf.repeat([3, 4], 2))
    array([3, 3, 4, 4], dtype=int32)
    >>> sess.run(tf.repeat([[1, 2], [3, 4]], repeats=[1, 2], axis=0))
    array([[1, 2],
           [3, 4],
           [3, 4]], dtype=int32)
    """
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        counts: Any = cast(convert_to_tensor(repeats, name="repeats"), dtypes.int32)
        if axis is None:
            data, axis = raw.Reshape(data, [-1]), 0
        sizes: Any = raw.Shape(data)
        counts = raw.Maximum(raw.BroadcastTo(raw.Reshape(counts, [-1]), raw.Reshape(sizes[axis], [1])), 0)
        ends = raw.Cumsum(counts, 0)
        total = raw.Sum(counts, [0])
        places = searchsorted(ends, raw.Range(0, total, 1), side="right")
        return gather(data, places, axis=axis)


@public("batch_gather")
@dispatched
def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Gather elements along the last axis of `indices`, each from the part of `params` with its leading axes.

    params: [..., n, ...]; indices: [..., m], with the same leading axes. Running it raises InvalidArgumentError for an
    index outside of [0, n).

    >>> sess.run(tf.batch_gather([[1, 2, 3], [4, 5, 6]], [[2], [0]]))
    array([[3],
           [4]], dtype=int32)
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        return gather(params, indices, axis=indices.shape.ndims - 1, batch_dims=indices.shape.ndims - 1)


describe(globals(), TENSORS)
