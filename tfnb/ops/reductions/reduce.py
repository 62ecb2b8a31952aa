"""Reductions over axes (sum, mean, max...), argmax, cumulative sums, norms and moments."""
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING
from typing import Any as Anything

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, is_known
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import colocate_with, name_scope
from tfnb.kernels.library import scan
from tfnb.ops.array.create import ones, range_, zeros
from tfnb.ops.array.reshape import rank, size, squeeze
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import kernel, reduction
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import Square, Sub, abs
from tfnb.ops.math.broadcast import shape_node, shape_of
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import IsFinite, SelectV2, equal, not_equal
from tfnb.ops.math.complex import complex, conj, imag, real
from tfnb.ops.math.functions import Exp, Log, Sqrt

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

TIDX = "indextype = DT_INT32"
ORDERED = ("{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8,"
           " qint32, qint16, quint16}")
SIGNATURE = "input: T, reduction_indices: Tidx -> output: T"


@reduction(SIGNATURE, identity=0, keep_dims="bool = false", T="numbertype", Tidx=TIDX)
def Sum(acc, x):
    """Compute the sum over axes."""
    return acc + x


_WIDER = {f"{kind}{bits}": f"{kind}64" for kind in ("int", "uint") for bits in (8, 16, 32)}


@reduction(SIGNATURE, identity=0, accumulators=_WIDER, keep_dims="bool = false", T="numbertype", Tidx=TIDX)
def Mean(acc, x):
    """Compute the mean over axes; of integers, rounded towards zero."""
    return acc + x


@Mean.finish
def _(acc, count):
    return acc / count


@reduction(SIGNATURE, identity=1, keep_dims="bool = false", T="numbertype", Tidx=TIDX)
def Prod(acc, x):
    """Compute the product over axes."""
    return acc * x


@reduction(SIGNATURE, identity="lowest", keep_dims="bool = false", T=ORDERED, Tidx=TIDX)
def Max(acc, x):
    """Compute the maximum over axes; NaN if one is NaN."""
    return maximum(acc, x)


@reduction(SIGNATURE, identity="highest", keep_dims="bool = false", T=ORDERED, Tidx=TIDX)
def Min(acc, x):
    """Compute the minimum over axes; NaN if one is NaN."""
    return minimum(acc, x)


@reduction("input: bool, reduction_indices: Tidx -> output: bool", identity=1, keep_dims="bool = false", Tidx=TIDX)
def All(acc, x):
    """Compute the logical conjunction over axes."""
    return acc & x


@reduction("input: bool, reduction_indices: Tidx -> output: bool", identity=0, keep_dims="bool = false", Tidx=TIDX)
def Any(acc, x):
    """Compute the logical disjunction over axes."""
    return acc | x


# Gradients

def spread_over(op: Operation, y: Tensor) -> Tensor:
    """`y`, of the output's shape, with size 1 where axes were reduced, so that it broadcasts against the input."""
    if op.attrs["keep_dims"]:
        return y
    kept = _kept(op)
    return raw.Reshape(y, _kept_shape(op, shape_node(op.inputs[0])) if kept is None else kept)


def _kept(op: Operation) -> list[int] | None:
    """Return the shape of the input with 1 in the place of the reduced axes, if it is known."""
    x, axes = op.inputs[0].static, constant_value(op.inputs[1])
    if x is None or None in x or axes is None:
        return None
    gone = shapes.normalized_axes(axes, len(x))
    return [1 if i in gone else n or 0 for i, n in enumerate(x)]


def _positive_axes(axes: Tensor, shape: Tensor) -> tuple[Tensor, Tensor]:
    """Return the reduced axes counted from the front, and how many axes there are."""
    count = size(shape)
    return (axes + count) % count, count


def _kept_shape(op: Operation, shape: Tensor) -> Tensor:
    """`shape`, of the input, with 1 in the place of the reduced axes, at run time."""
    gone, count = _positive_axes(_int32(op.inputs[1]), shape)
    one = shape_node(gone)
    return raw.DynamicStitch([range_(count), gone], [shape, ones(one, dtypes.int32)])


def _int32(axes: Tensor) -> Tensor:
    return axes if axes.dtype == dtypes.int32 else cast(axes, dtypes.int32)


def _summed_over(op: Operation, dy: Tensor) -> Tensor:
    """`dy` at each place that it was summed from."""
    x, axes = op.inputs[0], constant_value(op.inputs[1])
    if x.static is not None and axes is not None:
        rank, kept = len(x.static), _kept(op)
        if np.array_equal(axes, np.arange(rank)):
            spread = raw.Reshape(dy, [1] * rank)
            whole = raw.Shape(x) if kept is None else convert_to_tensor(np.array(x.static, np.int32), name="Const")
            return raw.Tile(spread, whole)
        if kept is not None:
            times = raw.FloorDiv(list(x.static), raw.Maximum(kept, 1), name="floordiv")
            return raw.Tile(raw.Reshape(dy, kept), constant_value(times))
    shape = raw.Shape(x)
    if not op.attrs["keep_dims"]:
        with colocate_with(shape):
            kept_shape = _kept_shape(op, shape)
        dy = raw.Reshape(dy, kept_shape)
    return raw.BroadcastTo(dy, shape)


@Sum.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [_summed_over(op, dy), None]


@Mean.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    x, y = op.inputs[0], op.outputs[0]
    spread = _summed_over(op, dy)
    if is_known(x.static) and is_known(y.static):
        count = prod(x.static) // max(prod(y.static), 1)
        return [spread / convert_to_tensor(count, dtype=dy.dtype, name="Const"), None]
    shape = raw.Shape(x)
    axes, _ = _positive_axes(_int32(op.inputs[1]), shape)
    return [spread / cast(reduce_prod(raw.GatherV2(shape, axes, 0)), dy.dtype), None]


@Max.gradient
@Min.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """Elements that share the extreme share the gradient."""
    x, axes, y = *op.inputs, op.outputs[0]
    shape = shape_node(x)
    kept = _kept(op)
    if op.attrs["keep_dims"]:
        wide: Anything = shape_node(y)
    else:
        wide = _kept_shape(op, shape) if kept is None else kept
        y, dy = raw.Reshape(y, wide), raw.Reshape(dy, wide)
    chosen = cast(equal(y, x), dy.dtype)
    number = raw.Reshape(raw.Sum(chosen, axes), wide)
    return [chosen / number * dy, None]


@Prod.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """The product of all others, without dividing by an element that may be 0."""
    x, axes = op.inputs
    perm, back, matrix = _reduced_first(op)
    moved = raw.Transpose(x, perm)
    flat = raw.Reshape(moved, matrix)
    left = raw.Cumprod(flat, 0, exclusive=True)
    right = raw.Cumprod(flat, 0, exclusive=True, reverse=True)
    others = raw.Transpose(raw.Reshape(conj(left) * conj(right), shape_of(moved)), back)
    return [raw.BroadcastTo(spread_over(op, dy), shape_of(x)) * others, None]


def _reduced_first(op: Operation) -> tuple[Anything, Anything, Anything]:
    """The permutation that puts the reduced axes first, its inverse, and the shape (reduced, kept) of a matrix."""
    x, known = op.inputs[0], constant_value(op.inputs[1])
    if known is None or x.static is None:
        shape = raw.Shape(x)
        gone, count = _positive_axes(raw.Reshape(_int32(op.inputs[1]), [-1]), shape)
        kept, _ = raw.ListDiff(range_(0, count), gone)
        perm = raw.ConcatV2([gone, kept], 0)
        return perm, raw.InvertPermutation(perm), _two_sizes(shape, gone, kept)
    axes = shapes.normalized_axes(known, len(x.static))
    order = axes + [i for i in range(len(x.static)) if i not in axes]
    if is_known(x.static):
        matrix: Anything = [prod(x.static[i] for i in part) for part in (axes, order[len(axes):])]
    else:
        matrix = _two_sizes(raw.Shape(x), np.array(axes, np.int32), np.array(order[len(axes):], np.int32))
    return order, np.argsort(order).astype(np.int32), matrix


def _two_sizes(shape: Tensor, *axes: Anything) -> Tensor:
    """Return the products of two parts of a shape."""
    made: Tensor = raw.Pack([raw.Prod(raw.GatherV2(shape, part, 0), [0]) for part in axes])
    return made


for _op in (All, Any):
    _op.no_gradient("a truth value has none")


# ArgMax, Cumsum

def _arg_shape(ctx: ShapeContext) -> list[Static]:
    shape, axis = ctx.shape(0), ctx.value(1)
    if shape is None:
        return [None]
    if axis is None:
        return [(None,) * (len(shape) - 1)]
    place = _one_axis(axis, len(shape))
    return [shape[:place] + shape[place + 1:]]


def _one_axis(value: Anything, count: int) -> int:
    axis = int(value)
    if not -count <= axis < count:
        raise ValueError(f"Dimension ({axis}) must be in the range [{-count}, {count}), where {count} is the number "
                         "of dimensions in the input.")
    return axis % count


def _arg(find: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Return the NumPy form: a NaN never wins (checked against TensorFlow)."""
    return lambda ctx, x, axis: find(x, int(axis), ctx.attrs["output_type"].as_numpy_dtype)


def _not_empty(ctx: Anything) -> None:
    axis, shape = int(ctx.value(1)), ctx.shape(0)
    if not shape[axis]:
        raise ValueError(f"Reduction axis {axis} is empty in shape {list(shape)}")


_AXIS: dict[str, Anything] = {"ranks": {"dimension": 0}, "validate": _not_empty, "values": ("dimension",)}


@kernel("input: T, dimension: Tidx -> output: output_type", shape=_arg_shape, numpy=_arg(scan.argmax_rows),
        launch=scan.argmax, **_AXIS, T=ORDERED[:-1] + ", bool}", Tidx="{int16, int32, int64} = DT_INT32",
        output_type="{int16, uint16, int32, int64} = DT_INT64")
def ArgMax() -> None:
    """Compute the index of the maximum along an axis (the first of several)."""


@kernel("input: T, dimension: Tidx -> output: output_type", shape=_arg_shape, numpy=_arg(scan.argmin_rows),
        launch=scan.argmin, **_AXIS, T=ORDERED[:-1] + ", bool}", Tidx=TIDX,
        output_type="indextype = DT_INT64")
def ArgMin() -> None:
    """Compute the index of the minimum along an axis (the first of several)."""


ArgMax.no_gradient("it is made of indices")
ArgMin.no_gradient("it is made of indices")


def cumulated_shape(ctx: ShapeContext) -> list[Static]:
    """Return the shape of the input; raises ValueError for an axis outside of it."""
    if (shape := ctx.shape(0)) is not None and (axis := ctx.value(1)) is not None:
        _one_axis(axis, len(shape))
    return [shape]


def _cumulative(ufunc: np.ufunc) -> Callable[..., np.ndarray]:
    def numpy(ctx: Anything, x: np.ndarray, axis: np.ndarray) -> np.ndarray:
        """Accumulate by `ufunc` along the axis."""
        place = int(axis)
        x = np.flip(x, place) if ctx.attrs["reverse"] else x
        if ctx.attrs["exclusive"] and x.shape[place]:
            head = np.full_like(indexing.take(x, [0], place), ufunc.identity)
            x = np.concatenate([head, np.delete(x, -1, place)], place)
        out = ufunc.accumulate(x, place, dtype=x.dtype)
        return np.ascontiguousarray(np.flip(out, place) if ctx.attrs["reverse"] else out)
    return numpy


@kernel("x: T, axis: Tidx -> out: T", shape=cumulated_shape, numpy=_cumulative(np.add), launch=scan.cumsum,
        ranks={"axis": 0}, values=("axis",), exclusive="bool = false", reverse="bool = false", T="numbertype",
        Tidx=TIDX)
def Cumsum() -> None:
    """Compute the cumulative sum along an axis."""


@kernel("x: T, axis: Tidx -> out: T", shape=cumulated_shape, numpy=_cumulative(np.multiply), launch=scan.cumprod,
        ranks={"axis": 0}, values=("axis",), exclusive="bool = false", reverse="bool = false", T="numbertype",
        Tidx=TIDX)
def Cumprod() -> None:
    """Compute the cumulative product along an axis."""


@Cumsum.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    reverse = not op.attrs["reverse"]
    return [Cumsum(dy, op.inputs[1], exclusive=op.attrs["exclusive"], reverse=reverse), None]


@Cumprod.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    x, axis = op.inputs
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    products = conj(Cumprod(x, axis, exclusive=exclusive, reverse=reverse))
    out = Cumsum(products * dy, axis, exclusive=exclusive, reverse=not reverse)
    return [raw.DivNoNan(out, conj(x), name="div_no_nan"), None]


# What users call

def reduced_axes(x: Anything, axis: Anything) -> Anything:
    """Return `axis`, or all axes of `x` where it is None."""
    if axis is not None:
        return axis
    count = x.get_shape().ndims if hasattr(x, "get_shape") else 0          # of a tensor or variable
    return convert_to_tensor(np.arange(count, dtype=np.int32)) if count else range_(0, rank(x))


def _reduce(op: Anything, x: Anything, axis: Anything, keepdims: Anything, name: str | None, old_axis: Anything,
            old_keep: Anything) -> Tensor:
    axis = renamed("axis", axis, "reduction_indices", old_axis)
    keep = bool(renamed("keepdims", keepdims, "keep_dims", old_keep, default=False))
    y: Tensor = op(x, reduced_axes(x, axis), keep_dims=keep, name=name)
    if axis is None and not keep:
        y.set_shape(())
    return y


def _reducer(op: Anything, what: str, example: str) -> Callable[..., Tensor]:
    """Return the function of a reduction. example: "x -> its reduction along axis 1", as they are printed."""
    def reduce(input_tensor: Anything, axis: Anything = None, keepdims: bool | None = None, name: str | None = None,
               reduction_indices: Anything = None, keep_dims: bool | None = None) -> Tensor:
        return _reduce(op, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)
    taken, made = example.split(" -> ")
    reduce.__name__ = reduce.__qualname__ = f"reduce_{op.spec.name.lower()}"
    reduce.__doc__ = f"""{what} over `axis` (an axis or a list; by default all), which `keepdims` keeps with size 1.

    The result has the dtype of `input_tensor`. reduction_indices, keep_dims: older names of axis and keepdims. Raises
    ValueError for an axis out of range, TypeError for another dtype than those of `{op.spec.name}`.

    >>> sess.run(tf.{reduce.__name__}({taken}, axis=1))
    array({made})
    """
    return dispatched(reduce)


reduce_sum = _reducer(Sum, "Compute the sum", "[[1, 2], [3, 4]] -> [3, 7], dtype=int32")
reduce_mean = _reducer(Mean, "Compute the mean", "[[1.0, 2.0], [3.0, 5.0]] -> [1.5, 4. ], dtype=float32")
reduce_prod = _reducer(Prod, "Compute the product", "[[1, 2], [3, 4]] -> [ 2, 12], dtype=int32")
reduce_max = _reducer(Max, "Compute the maximum", "[[1, 9], [8, 3]] -> [9, 8], dtype=int32")
reduce_min = _reducer(Min, "Compute the minimum", "[[1, 9], [8, 3]] -> [1, 3], dtype=int32")
reduce_all = _reducer(All, "Compute the logical and", "[[True, False], [True, True]] -> [False,  True]")
reduce_any = _reducer(Any, "Compute the logical or", "[[True, False], [False, False]] -> [ True, False]")


def reduce_logsumexp(input_tensor: Anything, axis: Anything = None, keepdims: bool | None = None,
                     name: str | None = None, reduction_indices: Anything = None,
                     keep_dims: bool | None = None) -> Tensor:
    """Compute `log(sum(exp(x)))` over `axis`, without overflow.

    >>> sess.run(tf.reduce_logsumexp([[0.0, 0.0], [1000.0, 1000.0]], axis=1))
    array([   0.6931, 1000.6932], dtype=float32)
    """
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims, default=False))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as scope:
        x = convert_to_tensor(input_tensor)
        top = reduce_max(x, axis, keepdims=True)
        top = raw.StopGradient(SelectV2(IsFinite(top), top, 0))
        y = Log(reduce_sum(Exp(Sub(x, top)), axis, keepdims=keep))
        return raw.AddV2(y, top if keep else raw.Reshape(top, raw.Shape(y)), name=scope)


@dispatched
def reduce_variance(input_tensor: Anything, axis: Anything = None, keepdims: bool = False,
                    name: str | None = None) -> Tensor:
    """Compute the (biased) variance over `axis`. Raises TypeError for integers.

    >>> sess.run(tf.math.reduce_variance([[1.0, 3.0], [2.0, 2.0]], axis=1))
    array([1., 0.], dtype=float32)
    """
    with name_scope(name or "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        mean = reduce_mean(x, axis, keepdims=True)
        if mean.dtype.is_integer:
            raise TypeError(f"Input must be either real or complex. Received integer type {mean.dtype}.")
        apart = x - mean
        squared = real(apart * conj(apart)) if x.dtype.is_complex else Square(apart)
        return reduce_mean(squared, axis, keepdims=keepdims)


@dispatched
def reduce_std(input_tensor: Anything, axis: Anything = None, keepdims: bool = False,
               name: str | None = None) -> Tensor:
    """Compute the (biased) standard deviation over `axis`. Raises TypeError for integers.

    >>> sess.run(tf.math.reduce_std([[1.0, 3.0], [2.0, 2.0]], axis=1))
    array([1., 0.], dtype=float32)
    """
    with name_scope(name or "reduce_std"):
        return Sqrt(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(input_tensor: Anything = None, axis: Anything = None, keepdims: bool | None = None,
                  dtype: Anything = dtypes.int64, name: str | None = None, reduction_indices: Anything = None,
                  keep_dims: bool | None = None, input: Anything = None) -> Tensor:
    """Count the elements that are not 0 (not empty, not False), over `axis`.

    >>> sess.run(tf.count_nonzero([[1, 0, 2], [0, 0, 3]], axis=1))
    array([2, 1])
    """
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims, default=False))
    with name_scope(name, "count_nonzero", [input_tensor]):
        x = convert_to_tensor(renamed("input", input, "input_tensor", input_tensor))
        nonzero = not_equal(x, zeros([], dtype=x.dtype))
        return cast(reduce_sum(cast(nonzero, dtypes.int64), axis, keepdims=keep), dtype)


def zero_fraction(value: Anything, name: str | None = None) -> Tensor:
    """Compute the fraction of elements that are 0, a float32 scalar.

    >>> sess.run(tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]))
    0.5
    """
    with name_scope(name, "zero_fraction", [value]):
        x = convert_to_tensor(value, name="value")
        return reduce_mean(cast(equal(x, convert_to_tensor(0, dtype=x.dtype, name="zero")), dtypes.float32))


def argmax(input: Anything, axis: Anything = None, name: str | None = None, dimension: Anything = None,
           output_type: Anything = dtypes.int64) -> Tensor:
    """Compute the index of the maximum along `axis`, by default the first (of several equal ones the first).

    The result has one axis less, and is int64 or `output_type`. Raises ValueError for an axis out of range.

    >>> sess.run(tf.argmax([[1, 9, 2], [8, 3, 4]], axis=1))
    array([1, 0])
    """
    return ArgMax(input, renamed("axis", axis, "dimension", dimension, default=0), output_type=output_type, name=name)


def argmin(input: Anything, axis: Anything = None, name: str | None = None, dimension: Anything = None,
           output_type: Anything = dtypes.int64) -> Tensor:
    """Compute the index of the minimum along `axis`, by default the first (of several equal ones the first).

    Results and errors as of `argmax`.

    >>> sess.run(tf.argmin([[1, 9, 2], [8, 3, 4]], axis=1))
    array([0, 1])
    """
    return ArgMin(input, renamed("axis", axis, "dimension", dimension, default=0), output_type=output_type, name=name)


def arg_max(input: Anything, dimension: Anything, output_type: Anything = dtypes.int64,
            name: str | None = None) -> Tensor:
    """The older name of `argmax`.

    >>> sess.run(tf.arg_max([[1, 9, 2], [8, 3, 4]], 1))
    array([1, 0])
    """
    return ArgMax(input, dimension, output_type=output_type, name=name)


def arg_min(input: Anything, dimension: Anything, output_type: Anything = dtypes.int64,
            name: str | None = None) -> Tensor:
    """The older name of `argmin`.

    >>> sess.run(tf.arg_min([[1, 9, 2], [8, 3, 4]], 1))
    array([0, 1])
    """
    return ArgMin(input, dimension, output_type=output_type, name=name)


@dispatched
def cumsum(x: Anything, axis: Anything = 0, exclusive: bool = False, reverse: bool = False,
           name: str | None = None) -> Tensor:
    """Compute the cumulative sum along `axis` (`exclusive`: without the element itself).

    >>> sess.run(tf.cumsum([1, 2, 3]))
    array([1, 3, 6], dtype=int32)
    >>> sess.run(tf.cumsum([1, 2, 3], exclusive=True, reverse=True))
    array([5, 3, 0], dtype=int32)
    """
    with name_scope(name, "Cumsum", [x]) as scope:
        return Cumsum(convert_to_tensor(x, name="x"), axis, exclusive=exclusive, reverse=reverse, name=scope)


def cumprod(x: Anything, axis: Anything = 0, exclusive: bool = False, reverse: bool = False,
            name: str | None = None) -> Tensor:
    """Compute the cumulative product along `axis` (`exclusive`: without the element itself).

    >>> sess.run(tf.cumprod([2, 3, 4]))
    array([ 2,  6, 24], dtype=int32)
    """
    with name_scope(name, "Cumprod", [x]) as scope:
        return Cumprod(convert_to_tensor(x, name="x"), axis, exclusive=exclusive, reverse=reverse, name=scope)


def norm(tensor: Anything, ord: Anything = "euclidean", axis: Anything = None, keepdims: bool | None = None,
         name: str | None = None, keep_dims: bool | None = None) -> Tensor:
    """Compute the norm of the vectors along `axis`, of the matrices along two axes, or of the vector of all elements.

    ord: of vectors "euclidean" (or 2), 1, another positive number, or infinity; of matrices "euclidean", "fro", 1,
    2 (the largest singular value) and infinity. Raises ValueError for another, and for axes that are not one or two
    integers.

    >>> sess.run(tf.norm([[3.0, 4.0], [5.0, 12.0]], axis=1))
    array([ 5., 13.], dtype=float32)
    """
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims, default=False))
    matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if matrix and (axis[0] == axis[1] or not all(isinstance(n, (int, np.integer)) for n in axis)) or \
            not matrix and axis is not None and not isinstance(axis, (int, np.integer)):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    known = ("euclidean", 1, 2, np.inf) + (("fro",) if matrix else ())
    if isinstance(ord, str) and ord not in known or matrix and ord not in known:
        raise ValueError(f"'ord' must be one of {', '.join(map(str, known))}, not {ord!r}")
    if not isinstance(ord, str) and ord <= 0:
        raise ValueError(f"'ord' must be a positive number, not {ord}")
    if axis is not None and not matrix:
        axis = (axis,)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        y = _norm(x, ord, list(axis) if axis is not None else None, matrix)
        return y if keep else squeeze(y, axis)


def _largest_singular_value(x: Tensor, axes: list[int]) -> Tensor:
    """Of the matrices along two axes, which are kept with size 1."""
    sizes = raw.Shape(x)
    gone, count = _positive_axes(convert_to_tensor(axes, dtype=dtypes.int32), sizes)
    rest, _ = raw.ListDiff(range_(0, count), gone)
    values, _, _ = raw.Svd(raw.Transpose(x, raw.ConcatV2([rest, gone], 0)), compute_uv=False)
    kept = raw.DynamicStitch([range_(0, count), gone], [sizes, [1, 1]])
    made: Tensor = raw.Reshape(reduce_max(real(values), -1), kept)
    if x.static is not None:
        places = [n % len(x.static) for n in axes]
        made.set_shape([1 if i in places else n for i, n in enumerate(x.static)])
    return made


def _norm(x: Tensor, ord: Anything, axis: list[int] | None, matrix: bool) -> Tensor:
    if matrix and axis is not None and ord == 2:
        return _largest_singular_value(x, axis)
    if ord in ("fro", "euclidean", 2):
        return Sqrt(reduce_sum(x * conj(x), axis, keepdims=True))
    size = abs(x)
    if matrix and axis is not None:
        inner, outer = (axis[0], axis[1]) if ord == 1 else (axis[1], axis[0])
        return reduce_max(reduce_sum(size, inner, keepdims=True), outer, keepdims=True)
    if ord == 1:
        return reduce_sum(size, axis, keepdims=True)
    if ord == np.inf:
        return reduce_max(size, axis, keepdims=True)
    return raw.Pow(reduce_sum(raw.Pow(size, ord), axis, keepdims=True), 1.0 / ord)


def l2_normalize(x: Anything, axis: Anything = None, epsilon: float = 1e-12, name: str | None = None,
                 dim: Anything = None) -> Tensor:
    """Divide `x` by its Euclidean norm along `axis`, one or several (at least the square root of `epsilon`).

    Dtype and shape are those of `x`.

    >>> sess.run(tf.nn.l2_normalize([3.0, 4.0]))
    array([0.6, 0.8], dtype=float32)
    """
    axis = renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            squares = reduce_sum(Square(real(x)) + Square(imag(x)), axis, keepdims=True)
            length = raw.Rsqrt(raw.Maximum(squares, epsilon))
            return complex(real(x) * length, imag(x) * length, name=scope)
        length = raw.Rsqrt(raw.Maximum(reduce_sum(Square(x), axis, keepdims=True), epsilon))
        return raw.Mul(x, length, name=scope)


def trace(x: Anything, name: str | None = None) -> Tensor:
    """Compute the trace of the matrices in the last two axes.

    >>> sess.run(tf.trace([[1, 2], [3, 4]]))
    5
    """
    with name_scope(name, "Trace", [x]) as scope:
        return reduce_sum(raw.MatrixDiagPart(convert_to_tensor(x, name="x")), [-1], name=scope)


describe(globals(), TENSORS)
