"""Fake quantization: floats rounded to the values that integers of `num_bits` can represent, for training.

The range [min, max] is moved so that 0 is represented exactly (Jacob et al. 2018, section 3); gradients pass where an
element is within it (straight-through estimator). NumPy computes them: in a program each is a host call.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public

_BITS: dict[str, Any] = {"num_bits": "int = 8", "narrow_range": "bool = false"}
_RANGE: dict[str, Any] = {"min": "float = -6", "max": "float = 6", **_BITS}


def _nudged(attrs: Any, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ends of the range that represents 0, and the step between its values: float32."""
    least, most = np.float32(attrs["narrow_range"]), np.float32((1 << attrs["num_bits"]) - 1)
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    with np.errstate(all="ignore"):
        step = (high - low) / (most - least)
        zero = least - low / step
        place = np.where(zero < least, least, np.where(zero > most, most, np.floor(np.abs(zero) + np.float32(0.5))))
        return (least - place) * step, (most - place) * step, step


def _rounded(attrs: Any, x: np.ndarray, low: Any, high: Any) -> np.ndarray:
    first, last, step = _nudged(attrs, low, high)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / step
        found = np.floor((np.clip(x, first, last) - first) * inverse + np.float32(0.5)) * step + first
    empty = (np.asarray(low) == 0) & (np.asarray(high) == 0)        # then TensorFlow gives zeros
    return np.where(empty, np.float32(0), found).astype(np.float32)


def _known_bits(ctx: Any) -> None:
    bits = ctx.attrs["num_bits"]
    if not 2 <= bits <= 16:
        raise ValueError(f"num_bits must be between 2 and 16, inclusive, got {bits}")


def _known_range(ctx: Any) -> None:
    _known_bits(ctx)
    if ctx.attrs["min"] >= ctx.attrs["max"]:
        raise ValueError(f"min has to be smaller than max, was: {ctx.attrs['min']} >= {ctx.attrs['max']}")


def _like(ctx: Any) -> list[Static]:
    return [ctx.shape(0)]


def _like_both(ctx: Any) -> list[Static]:
    return [merge(ctx.shape(0), ctx.shape(1))]


def _of_scalars(ctx: Any) -> list[Static]:
    return [*_like_both(ctx), (), ()]


def _per_channel(ctx: Any) -> list[Static]:
    """The shape of the inputs; min and max have an element for each place of the last axis."""
    first = len(ctx.op.inputs) - 2
    x, low, high = (ctx.shape(i) for i in (first - 1, first, first + 1))
    if x == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0: inputs")
    channels = merge(merge(merge(low, (None,)), high), None if x is None else x[-1:])
    return [None if x is None else (*x[:-1], *channels)]                             # type: ignore[misc]


def _of_channels(ctx: Any) -> list[Static]:
    (x,) = _per_channel(ctx)
    channels: Static = (None,) if x is None else x[-1:]
    return [merge(ctx.shape(0), x), channels, channels]


@public("fake_quant_with_min_max_args", "quantization.fake_quant_with_min_max_args")
@kernel("inputs: float -> outputs: float", shape=_like, validate=_known_range,
        numpy=lambda ctx, x: _rounded(ctx.attrs, x, ctx.attrs["min"], ctx.attrs["max"]), **_RANGE)
def FakeQuantWithMinMaxArgs() -> None:
    """Round floats to the values of `num_bits` bits in [min, max], which is moved so that 0 is one of them.

    inputs: of any shape. narrow_range: leave out the lowest of the values. Running it raises InvalidArgumentError
    unless min < max and 2 <= num_bits <= 16.

    >>> sess.run(tf.fake_quant_with_min_max_args([0.3, 1.4, 9.0], min=0.0, max=3.0, num_bits=2))
    array([0., 1., 3.], dtype=float32)
    """


def _inside(attrs: Any, dy: np.ndarray, x: np.ndarray, low: Any, high: Any) -> tuple[np.ndarray, ...]:
    """Return dy where x is in the range, below, and above it; elsewhere 0."""
    first, last, _ = _nudged(attrs, low, high)
    return tuple(np.where(where, dy, np.float32(0)) for where in ((x >= first) & (x <= last), x < first, x > last))


@public("fake_quant_with_min_max_args_gradient", "quantization.fake_quant_with_min_max_args_gradient")
@kernel("gradients: float, inputs: float -> backprops: float", shape=_like_both, validate=_known_range,
        numpy=lambda ctx, dy, x: _inside(ctx.attrs, dy, x, ctx.attrs["min"], ctx.attrs["max"])[0], **_RANGE)
def FakeQuantWithMinMaxArgsGradient() -> None:
    """Compute the gradient of `tf.fake_quant_with_min_max_args`: that of the outputs where inputs are in the range.

    gradients: of the outputs. inputs, min, max, num_bits, narrow_range: as there.

    >>> sess.run(tf.fake_quant_with_min_max_args_gradient([1.0, 1.0], [0.5, 9.0]))
    array([1., 0.], dtype=float32)
    """


@public("fake_quant_with_min_max_vars", "quantization.fake_quant_with_min_max_vars")
@kernel("inputs: float, min: float, max: float -> outputs: float", shape=_like, ranks={"min": 0, "max": 0},
        validate=_known_bits, numpy=lambda ctx, x, low, high: _rounded(ctx.attrs, x, low, high), **_BITS)
def FakeQuantWithMinMaxVars() -> None:
    """Round floats to the values of `num_bits` bits between the scalars `min` and `max`, which may be trained.

    inputs: of any shape. The range is moved so that 0 is one of the values. narrow_range: leave out the lowest one.

    >>> sess.run(tf.fake_quant_with_min_max_vars([0.3, 1.4, 9.0], 0.0, 3.0, num_bits=2))
    array([0., 1., 3.], dtype=float32)
    """


@public("fake_quant_with_min_max_vars_gradient", "quantization.fake_quant_with_min_max_vars_gradient")
@kernel("gradients: float, inputs: float, min: float, max: float -> backprops_wrt_input: float, "
        "backprop_wrt_min: float, backprop_wrt_max: float", shape=_of_scalars, ranks={"min": 0, "max": 0},
        validate=_known_bits, numpy=lambda ctx, dy, *given: _gradients(ctx, None, dy, *given), **_BITS)
def FakeQuantWithMinMaxVarsGradient() -> None:
    """Compute the gradients of `tf.fake_quant_with_min_max_vars`: of inputs in the range, and the sums below and above.

    gradients: of the outputs. inputs, min, max, num_bits, narrow_range: as there.

    >>> made = tf.fake_quant_with_min_max_vars_gradient([1.0, 2.0, 3.0], [-9.0, 0.5, 9.0], -1.0, 1.0)
    >>> sess.run(made.backprop_wrt_max)
    3.0
    """


@public("fake_quant_with_min_max_vars_per_channel", "quantization.fake_quant_with_min_max_vars_per_channel")
@kernel("inputs: float, min: float, max: float -> outputs: float", shape=_per_channel, validate=_known_bits,
        numpy=lambda ctx, x, low, high: _rounded(ctx.attrs, x, low, high), **_BITS)
def FakeQuantWithMinMaxVarsPerChannel() -> None:
    """Round floats as `tf.fake_quant_with_min_max_vars`, with a range for each place of the last axis.

    inputs: [..., channels]; min, max: [channels]; num_bits, narrow_range: as there.

    >>> sess.run(tf.fake_quant_with_min_max_vars_per_channel([[0.3, 9.0]], [0.0, 0.0], [3.0, 6.0], num_bits=2))
    array([[0., 6.]], dtype=float32)
    """


@public("fake_quant_with_min_max_vars_per_channel_gradient",
        "quantization.fake_quant_with_min_max_vars_per_channel_gradient")
@kernel("gradients: float, inputs: float, min: float, max: float -> backprops_wrt_input: float, "
        "backprop_wrt_min: float, backprop_wrt_max: float", shape=_of_channels, validate=_known_bits,
        numpy=lambda ctx, dy, *given: _gradients(ctx, tuple(range(dy.ndim - 1)), dy, *given), **_BITS)
def FakeQuantWithMinMaxVarsPerChannelGradient() -> None:
    """Compute the gradients of `tf.fake_quant_with_min_max_vars_per_channel`, of the ranges for each channel.

    gradients: of the outputs. inputs, min, max, num_bits, narrow_range: as there.

    >>> made = tf.fake_quant_with_min_max_vars_per_channel_gradient([[1.0, 2.0]], [[-9.0, 9.0]], [-1.0, -1.0],
    ...                                                             [1.0, 1.0])
    >>> sess.run(made.backprop_wrt_min)
    array([1., 0.], dtype=float32)
    """


def _gradients(ctx: Any, axes: Any, dy: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Any:
    within, below, above = _inside(ctx.attrs, dy, x, low, high)
    empty = (low == 0) & (high == 0)                # then all gradients go to the inputs, as in TensorFlow
    sums = (np.where(empty, 0, part.sum(axes, dtype=np.float64)).astype(np.float32) for part in (below, above))
    return np.where(empty, dy, within).astype(np.float32), *sums


@FakeQuantWithMinMaxArgs.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return FakeQuantWithMinMaxArgsGradient(dy, op.inputs[0], **op.attrs)


@FakeQuantWithMinMaxVars.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return list(FakeQuantWithMinMaxVarsGradient(dy, *op.inputs, **op.attrs))


@FakeQuantWithMinMaxVarsPerChannel.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return list(FakeQuantWithMinMaxVarsPerChannelGradient(dy, *op.inputs, **op.attrs))


for _op in (FakeQuantWithMinMaxArgsGradient, FakeQuantWithMinMaxVarsGradient,
            FakeQuantWithMinMaxVarsPerChannelGradient):
    _op.no_gradient("TensorFlow has none")


describe(globals(), TENSORS)
