"""Euclidean norms over axes, cumulative log-sum-exp, order statistics of the last axis."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library import scan
from tfnb.ops.declaration.declare import kernel, reduction
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.reductions.reduce import SIGNATURE, TIDX, cumulated_shape, reduced_axes, spread_over

_FLOATS = {f"{kind}{bits}": "float64" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


@reduction(SIGNATURE, identity=0, accumulators=_FLOATS, keep_dims="bool = false", T="numbertype", Tidx=TIDX)
def EuclideanNorm(acc, x):
    """Compute the square root of the sum of squares over axes; of integers, rounded towards zero."""
    return acc + x


@EuclideanNorm.prepare
def _(x):
    return x * conj(x)


@EuclideanNorm.finish
def _(acc, count):
    return sqrt(acc)


@EuclideanNorm.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    x, y = op.inputs[0], op.outputs[0]
    return [raw.Mul(x, raw.DivNoNan(spread_over(op, dy), spread_over(op, y))), None]


@public("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False,
                          name: str | None = None) -> Tensor:
    """Compute the Euclidean norm over `axis`, by default over all axes: the square root of the sum of squares.

    The result has the dtype of the input, without these axes, or with size 1 there if keepdims.

    >>> sess.run(tf.math.reduce_euclidean_norm([[3.0, 4.0], [6.0, 8.0]], axis=1))
    array([ 5., 10.], dtype=float32)
    """
    norm: Tensor = EuclideanNorm(input_tensor, reduced_axes(input_tensor, axis), keep_dims=bool(keepdims), name=name)
    return norm


def _logs(ctx: Any, x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    place, reverse = int(axis), ctx.attrs["reverse"]
    rows = np.flip(x, place) if reverse else x
    out = np.logaddexp.accumulate(rows, place)
    if ctx.attrs["exclusive"] and x.shape[place]:
        head = np.full_like(indexing.take(out, [0], place), -np.inf)
        out = np.concatenate([head, np.delete(out, -1, place)], place)
    return np.ascontiguousarray(np.flip(out, place) if reverse else out)


@kernel("x: T, axis: Tidx -> out: T", shape=cumulated_shape, numpy=_logs, launch=scan.cumulative_logsumexp,
        ranks={"axis": 0}, values=("axis",), exclusive="bool = false", reverse="bool = false",
        T="{bfloat16, half, float, double}", Tidx=TIDX)
def CumulativeLogsumexp() -> None:
    """Compute the logarithm of the cumulative sum of exp(x) along an axis."""


@CumulativeLogsumexp.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """Sum dy * exp(x - out) from the other end, in logarithms, for the positive and the negative dy apart."""
    x, axis = op.inputs
    out, lowest = op.outputs[0], dy.dtype.min

    def part(values: Tensor) -> Any:
        logs = raw.SelectV2(raw.Greater(values, raw.ZerosLike(values)), raw.Log(values),
                            convert_to_tensor(lowest, dtype=dy.dtype))
        total = CumulativeLogsumexp(raw.Sub(logs, out), axis, exclusive=op.attrs["exclusive"],
                                    reverse=not op.attrs["reverse"])
        return raw.Exp(raw.Add(total, x))
    return [raw.Sub(part(dy), part(raw.Neg(dy))), None]


@public("math.cumulative_logsumexp")
def cumulative_logsumexp(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False,
                         name: str | None = None) -> Tensor:
    """Compute log(cumsum(exp(x))) along `axis` without overflow: the shape and dtype of `x`, floats.

    exclusive: sum the elements before each, without itself; -inf where there are none. reverse: sum from the end.

    >>> sess.run(tf.math.cumulative_logsumexp([0.0, 0.0, 0.0]))
    array([0.       , 0.6931472, 1.0986123], dtype=float32)
    """
    with name_scope(name, "CumulativeLogsumexp", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        sums: Tensor = CumulativeLogsumexp(x, axis, exclusive=exclusive, reverse=reverse, name=scope)
        return sums


def _nth_shape(ctx: Any) -> list[Static]:
    x, n = ctx.shape(0), ctx.value(1)
    if x == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0: input of NthElement")
    if n is not None and n.shape == ():
        if n < 0:
            raise ValueError(f"n must be non-negative, got {int(n)}")
        if x is not None and x[-1] is not None and n >= x[-1]:
            raise ValueError(f"Input must have last dimension > n = {int(n)} but is {x[-1]}")
    return [None if x is None else x[:-1]]


def _nth(ctx: Any, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    at = x.shape[-1] - 1 - int(n) if ctx.attrs["reverse"] else int(n)
    return np.partition(x, at, -1)[..., at]


@kernel("input: T, n: int32 -> values: T", shape=_nth_shape, numpy=_nth, ranks={"n": 0}, values=("n",),
        reverse="bool = false", T="realnumbertype")
def NthElement() -> None:
    """Return the n-th smallest element (n from 0) of each row of the last axis; the n-th largest if `reverse`."""


@NthElement.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """Share dy between the elements that are equal to the one found."""
    x = op.inputs[0]
    found = raw.Cast(raw.Equal(raw.ExpandDims(op.outputs[0], -1), x), DstT=dy.dtype)
    count = raw.ExpandDims(raw.Sum(found, -1), -1)
    return [raw.Mul(raw.DivNoNan(found, count), raw.ExpandDims(dy, -1)), None]


describe(globals(), TENSORS)
