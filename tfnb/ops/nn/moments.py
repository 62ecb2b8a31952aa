"""Moments in parts: sufficient statistics, their normalization, and moments with weights."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import zeros_like
from tfnb.ops.array.reshape import shape, squeeze
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import SquaredDifference, square
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_prod, reduce_sum


def _count(x: Tensor, axes: Any) -> Any:
    """Return how many elements the axes have: a constant where their sizes are known."""
    known = constant_value(axes)
    if x.static is not None and known is not None:
        sizes = [x.static[axis] for axis in known.reshape(-1).tolist()]
        if None not in sizes:
            count = 1
            for n in sizes:
                count *= n or 0
            return convert_to_tensor(count, dtype=x.dtype, name="count")
    return reduce_prod(cast(raw.GatherV2(shape(x), axes, 0), x.dtype), name="count")


@public("nn.sufficient_statistics")
def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keep_dims: bool | None = None,
                          name: str | None = None, keepdims: bool | None = None) -> tuple[Any, Any, Any, Any]:
    """Return (count, sum, sum of squares, shift) of `x` over `axes`, of which `tf.nn.normalize_moments` makes moments.

    The sums are of x - shift where there is a shift (a value near the mean, for accuracy), which is returned, else
    None. count: a scalar of the dtype of `x`.

    >>> count, total, squares, _ = tf.nn.sufficient_statistics(tf.constant([1.0, 2.0, 3.0]), axes=[0])
    >>> sess.run([count, total, squares])
    [3.0, 6.0, 14.0]
    """
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims, default=False))
    axes = [axes] if isinstance(axes, int) else axes
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        places = convert_to_tensor(axes, dtype=dtypes.int32, name="axes")
        count = _count(x, places)
        if shift is None:
            first, second = x, square(x)
        else:
            shift = convert_to_tensor(shift, dtype=x.dtype, name="shift")
            first, second = raw.Sub(x, shift), SquaredDifference(x, shift)
        return (count, reduce_sum(first, places, keepdims=keep, name="mean_ss"),
                reduce_sum(second, places, keepdims=keep, name="var_ss"), shift)


@public("nn.normalize_moments")
def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any,
                      name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return mean and variance by sufficient statistics, for example those of several batches, added up.

    counts: how many elements. mean_ss, variance_ss: the sums of x - shift and of its square. shift: None for 0.

    >>> sess.run(tf.nn.normalize_moments(3.0, 6.0, 14.0, None))
    (2.0, 0.66666675)
    """
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = raw.Reciprocal(convert_to_tensor(counts), name="divisor")
        moved: Any = raw.Mul(mean_ss, divisor, name="shifted_mean" if shift is not None else "mean")
        mean = raw.Add(moved, convert_to_tensor(shift, dtype=moved.dtype), name="mean") if shift is not None else moved
        variance: Tensor = raw.Sub(raw.Mul(variance_ss, divisor), square(moved), name="variance")
        return mean, variance


@public("nn.weighted_moments")
def weighted_moments(x: Any, axes: Any, frequency_weights: Any, name: str | None = None,
                     keep_dims: bool | None = None, keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """Compute the mean and the variance of `x` over `axes`, each element counted as often as its weight says.

    frequency_weights: positive, broadcast against `x`.

    >>> sess.run(tf.nn.weighted_moments(tf.constant([1.0, 4.0]), [0], [2.0, 1.0]))
    (2.0, 2.0)
    """
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims, default=False))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        given = convert_to_tensor(x, name="x")
        x = cast(given, dtypes.float32) if given.dtype == dtypes.float16 else given
        weights = cast(convert_to_tensor(frequency_weights, name="frequency_weights"), x.dtype)
        total = reduce_sum(weights * x, axes, keepdims=True, name="weighted_input_sum")
        count = reduce_sum(weights + zeros_like(x), axes, keepdims=True, name="sum_of_weights")
        mean: Any = raw.DivNoNan(total, count)
        squares = reduce_sum(weights * SquaredDifference(x, mean), axes, keepdims=True, name="weighted_distsq")
        both = [mean, raw.DivNoNan(squares, count)]
        if not keep:
            both = [squeeze(each, axes) for each in both]
        return cast(both[0], given.dtype), cast(both[1], given.dtype)


describe(globals(), TENSORS)
