"""Fake quantization: floats rounded to the values that integers of `num_bits` can represent, for training.

The range [min, max] is moved so that 0 is represented exactly (Jacob et al. 2018, section 3); gradients pass where an
element is within it (straight-through estimator).
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.scalar import definition as scalar
from tfnb.ops.declaration.composed import interpreted
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public

_BITS: dict[str, Any] = {"num_bits": "int = 8", "narrow_range": "bool = false"}
_RANGE: dict[str, Any] = {"min": "float = -6", "max": "float = 6", **_BITS}


# Of the range [0, 0] all parts are 0: then TensorFlow's outputs are 0, and all gradients go to the inputs.

@scalar.read
def _step(low, high, *, count):
    return (high - low) / count


@scalar.read
def _inverse(low, high, step):
    return where(abs(low) + abs(high) == 0, 0, 1 / step)


@scalar.read
def _end(low, high, step, *, least, most, edge):
    zero = least - low / step
    place = where(zero < least, least, where(zero > most, most, floor(abs(zero) + 0.5)))
    return where(abs(low) + abs(high) == 0, 0, (edge - place) * step)


@scalar.read
def _far(low, high, end, *, far):
    return where(abs(low) + abs(high) == 0, far, end)


@scalar.read
def _rounded(x, first, last, step, inverse):
    return floor((minimum(maximum(x, first), last) - first) * inverse + 0.5) * step + first


@scalar.read
def _within(dy, x, first, last):
    return where(x < first, 0, where(x <= last, dy, 0))


@scalar.read
def _below(dy, x, first):
    return where(x < first, dy, 0)


@scalar.read
def _above(dy, x, last):
    return where(x > last, dy, 0)


def _ends(parts: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Return the ends of the range that represents 0, and the step between its values."""
    least, most = float(parts.attrs["narrow_range"]), float((1 << parts.attrs["num_bits"]) - 1)
    step = parts.map(_step, low, high, count=most - least)
    first, last = (parts.map(_end, low, high, step, least=least, most=most, edge=edge) for edge in (least, most))
    return first, last, step


def _quantize(parts: Any, x: Any, low: Any, high: Any) -> list[Any]:
    first, last, step = _ends(parts, low, high)
    return [parts.map(_rounded, x, first, last, step, parts.map(_inverse, low, high, step))]


def _slopes(parts: Any, dy: Any, x: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Return the gradient of x, and the parts of dy whose elements of x are below and above the range."""
    first, last, _ = _ends(parts, low, high)
    first, last = (parts.map(_far, low, high, end, far=far) for end, far in ((first, -np.inf), (last, np.inf)))
    return parts.map(_within, dy, x, first, last), parts.map(_below, dy, x, first), parts.map(_above, dy, x, last)


def _of_args(of: Any) -> Any:
    """Return a composition whose range are the attrs."""
    return lambda parts, *values: of(parts, *values, *(parts.known(np.asarray(parts.attrs[name], np.float32))
                                                       for name in ("min", "max")))[:1]


def _gradients(parts: Any, dy: Any, x: Any, low: Any, high: Any) -> list[Any]:
    within, *sides = _slopes(parts, dy, x, low, high)
    return [within, *(parts.reshaped(parts.sum(side, range(len(x.shape)))) for side in sides)]


def _on_channels(of: Any) -> Any:
    """Return a composition whose ranges lie along the last axis."""
    return lambda parts, *values: of(parts, *values[:-2], *(
        parts.along(v, len(values[0].shape) - 1, len(values[0].shape)) for v in values[-2:]))


def _channel_gradients(parts: Any, dy: Any, x: Any, low: Any, high: Any) -> list[Any]:
    within, *sides = _slopes(parts, dy, x, low, high)
    return [within, *(parts.reshaped(parts.sum(side, range(len(x.shape) - 1)), x.shape[-1]) for side in sides)]


def _by(composition: Any) -> dict[str, Any]:
    return {"composition": composition, "numpy": interpreted(composition)}


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
        **_by(_of_args(_quantize)), **_RANGE)
def FakeQuantWithMinMaxArgs() -> None:
    """Round floats to the values of `num_bits` bits in [min, max], which is moved so that 0 is one of them.

    inputs: of any shape. narrow_range: leave out the lowest of the values. Running it raises InvalidArgumentError
    unless min < max and 2 <= num_bits <= 16.

    >>> sess.run(tf.fake_quant_with_min_max_args([0.3, 1.4, 9.0], min=0.0, max=3.0, num_bits=2))
    array([0., 1., 3.], dtype=float32)
    """


@public("fake_quant_with_min_max_args_gradient", "quantization.fake_quant_with_min_max_args_gradient")
@kernel("gradients: float, inputs: float -> backprops: float", shape=_like_both, validate=_known_range,
        **_by(_of_args(_slopes)), **_RANGE)
def FakeQuantWithMinMaxArgsGradient() -> None:
    """Compute the gradient of `tf.fake_quant_with_min_max_args`: that of the outputs where inputs are in the range.

    gradients: of the outputs. inputs, min, max, num_bits, narrow_range: as there.

    >>> sess.run(tf.fake_quant_with_min_max_args_gradient([1.0, 1.0], [0.5, 9.0]))
    array([1., 0.], dtype=float32)
    """


@public("fake_quant_with_min_max_vars", "quantization.fake_quant_with_min_max_vars")
@kernel("inputs: float, min: float, max: float -> outputs: float", shape=_like, ranks={"min": 0, "max": 0},
        validate=_known_bits, **_by(_quantize), **_BITS)
def FakeQuantWithMinMaxVars() -> None:
    """Round floats to the values of `num_bits` bits between the scalars `min` and `max`, which may be trained.

    inputs: of any shape. The range is moved so that 0 is one of the values. narrow_range: leave out the lowest one.

    >>> sess.run(tf.fake_quant_with_min_max_vars([0.3, 1.4, 9.0], 0.0, 3.0, num_bits=2))
    array([0., 1., 3.], dtype=float32)
    """


@public("fake_quant_with_min_max_vars_gradient", "quantization.fake_quant_with_min_max_vars_gradient")
@kernel("gradients: float, inputs: float, min: float, max: float -> backprops_wrt_input: float, "
        "backprop_wrt_min: float, backprop_wrt_max: float", shape=_of_scalars, ranks={"min": 0, "max": 0},
        validate=_known_bits, **_by(_gradients), **_BITS)
def FakeQuantWithMinMaxVarsGradient() -> None:
    """Compute the gradients of `tf.fake_quant_with_min_max_vars`: of inputs in the range, and the sums below and above.

    gradients: of the outputs. inputs, min, max, num_bits, narrow_range: as there.

    >>> made = tf.fake_quant_with_min_max_vars_gradient([1.0, 2.0, 3.0], [-9.0, 0.5, 9.0], -1.0, 1.0)
    >>> sess.run(made.backprop_wrt_max)
    3.0
    """


@public("fake_quant_with_min_max_vars_per_channel", "quantization.fake_quant_with_min_max_vars_per_channel")
@kernel("inputs: float, min: float, max: float -> outputs: float", shape=_per_channel, validate=_known_bits,
        **_by(_on_channels(_quantize)), **_BITS)
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
        **_by(_on_channels(_channel_gradients)), **_BITS)
def FakeQuantWithMinMaxVarsPerChannelGradient() -> None:
    """Compute the gradients of `tf.fake_quant_with_min_max_vars_per_channel`, of the ranges for each channel.

    gradients: of the outputs. inputs, min, max, num_bits, narrow_range: as there.

    >>> made = tf.fake_quant_with_min_max_vars_per_channel_gradient([[1.0, 2.0]], [[-9.0, 9.0]], [-1.0, -1.0],
    ...                                                             [1.0, 1.0])
    >>> sess.run(made.backprop_wrt_min)
    array([1., 0.], dtype=float32)
    """


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
