"""Arithmetic on quantized tensors: matmul, convolution, bias, activations, pools, concatenation, and other ranges.

Every tensor comes with the range that it represents, and every op returns that of its result. Each op is a host call
(NumPy), and takes all quantized dtypes (TensorFlow's kernels one or two of them).
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, broadcast, merge
from tfnb.kernels.arrays import quantized as arrays
from tfnb.kernels.arrays import windows
from tfnb.kernels.arrays.window import pool_window, window
from tfnb.kernels.view import resolve_shape
from tfnb.ops.array import joining, reshape
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.nn.conv import conv_output, only_spatial
from tfnb.ops.nn.pool import pool_shape
from tfnb.ops.quantized.quantize import TYPES

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

Float = np.float32
WIDER, WIDER_BIAS = 1 << 14, 1 << 17            # how much wider than those of its operands the range of a sum is
_POOL: dict[str, Any] = {"T": TYPES, "ksize": "list(int)", "strides": "list(int)", "padding": "{'SAME', 'VALID'}"}


# Shapes and checks

def _with_range(shape: Callable[[ShapeContext], Static]) -> Callable[[ShapeContext], list[Static]]:
    """Return a shape function of an op whose result has one range; so has each of its inputs."""
    def made(ctx: ShapeContext) -> list[Static]:
        for i, arg in enumerate(ctx.op.spec.inputs):
            if arg.type == "float" and not arg.number:
                of_rank(ctx.shape(i), 0)
        return [shape(ctx), (), ()]
    return made


def _like_first(ctx: ShapeContext) -> Static:
    return ctx.shape(0)


def _broadcast(ctx: ShapeContext) -> Static:
    return broadcast(ctx.shape(0), ctx.shape(1))


def _biased(ctx: ShapeContext) -> Static:
    x, (bias,) = ctx.shape(0), of_rank(ctx.shape(1), 1)
    if x == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return None if x is None else (*x[:-1], *(merge(x[-1:], (bias,)) or ()))


def _product(ctx: ShapeContext) -> Static:
    a, b = of_rank(ctx.shape(0), 2), of_rank(ctx.shape(1), 2)
    a, b = a[::-1] if ctx.attrs["transpose_a"] else a, b[::-1] if ctx.attrs["transpose_b"] else b
    if None not in (a[1], b[0]) and a[1] != b[0]:
        raise ValueError(f"Dimensions must be equal, but are {a[1]} and {b[0]}")
    return a[0], b[1]


def _ranges_ordered(*pairs: int) -> Callable[[Any], None]:
    """Return a validation that raises ValueError unless each input of `pairs` is below the one behind it."""
    def validate(ctx: Any) -> None:
        for i in pairs:
            low, high = ctx.value(i), ctx.value(i + 1)
            if low is not None and high is not None and not low < high:
                lower, upper = (ctx.op.spec.inputs[j].name for j in (i, i + 1))
                raise ValueError(f"{upper} must be larger than {lower}, got {float(high)} and {float(low)}")
    return validate


def _kind(ctx: Any, attr: str = "out_type") -> np.dtype:
    return np.dtype(ctx.attrs[attr].as_numpy_dtype)


def _centered(x: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """Return the integers less the one that represents 0, as float64: sums of their products are exact."""
    return np.asarray(arrays.integers(x).astype(np.float64) - arrays.zero_point(x.dtype, low, high))


def _multiplied(ctx: Any, made: np.ndarray, x: np.ndarray, y: np.ndarray, ranges: tuple[Any, ...],
                attr: str) -> tuple[np.ndarray, ...]:
    """Return sums of products, and their range. ranges: of x and y."""
    kind, (a, b, c, d) = _kind(ctx, attr), ranges
    low, high = arrays.product_range((x.dtype, a, b), (y.dtype, c, d), kind)
    least, most = arrays.limits(kind)
    return arrays.records(np.clip(made, least, most).astype(np.int64), kind), np.asarray(low), np.asarray(high)


# Products

def _matmul(ctx: Any, a: np.ndarray, b: np.ndarray, *ranges: np.ndarray) -> tuple[np.ndarray, ...]:
    first, second = _centered(a, *ranges[:2]), _centered(b, *ranges[2:])
    first, second = first.T if ctx.attrs["transpose_a"] else first, second.T if ctx.attrs["transpose_b"] else second
    return _multiplied(ctx, first @ second, a, b, ranges, "Toutput")


@kernel("a: T1, b: T2, min_a: float, max_a: float, min_b: float, max_b: float -> out: Toutput, min_out: float, "
        "max_out: float", shape=_with_range(_product), numpy=_matmul, validate=_ranges_ordered(2, 4), T1=TYPES,
        T2=TYPES, Toutput=f"{TYPES} = DT_QINT32", transpose_a="bool = false", transpose_b="bool = false",
        Tactivation=f"{TYPES} = DT_QUINT8")
def QuantizedMatMul() -> None:
    """Compute the matrix product of quantized matrices."""


def _convolve(ctx: Any, x: np.ndarray, filter_: np.ndarray, *ranges: np.ndarray) -> tuple[np.ndarray, ...]:
    w = window(x.shape, filter_.shape[:2], ctx.attrs)
    made = windows.convolve(_centered(x, *ranges[:2]), _centered(filter_, *ranges[2:]), w)
    return _multiplied(ctx, made, x, filter_, ranges, "out_type")


@public("nn.quantized_conv2d")
@kernel("input: Tinput, filter: Tfilter, min_input: float, max_input: float, min_filter: float, max_filter: float -> "
        "output: out_type, min_output: float, max_output: float", numpy=_convolve, validate=only_spatial,
        shape=_with_range(lambda ctx: conv_output(ctx.attrs, ctx.shape(0), ctx.shape(1))), Tinput=TYPES, Tfilter=TYPES,
        out_type=f"{TYPES} = DT_QINT32", strides="list(int)", padding="{'SAME', 'VALID'}",
        dilations="list(int) = [1, 1, 1, 1]")
def QuantizedConv2D() -> None:
    """Compute the 2-D convolution of quantized images with a quantized filter; padding represents 0.

    input: [batch, height, width, in]. filter: [height, width, in, out]. min_input, max_input, min_filter, max_filter:
    scalars, what they represent. strides, dilations: four numbers. padding: "SAME" or "VALID". out_type: the quantized
    dtype of the result.

    >>> x, low, high = tf.quantize(tf.ones([1, 2, 2, 1]), 0.0, 1.0, tf.quint8)
    >>> made = tf.nn.quantized_conv2d(x, x[0, ..., None], low, high, low, high, strides=[1] * 4, padding="VALID")
    >>> sess.run(tf.dequantize(*made)).round(3).item()
    4.0
    """


# Sums

def _added(wider: int) -> Callable[..., tuple[np.ndarray, ...]]:
    def numpy(ctx: Any, x: np.ndarray, y: np.ndarray, *ranges: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the sum in a symmetric range, which is `wider` times that of its operands."""
        kind = _kind(ctx, "out_type" if "out_type" in ctx.attrs else "Toutput")
        high = Float(max(abs(float(end)) if i % 2 == 0 else float(end) for i, end in enumerate(ranges)) * wider)
        parts = [arrays.integers(arrays.requantized(part, low, top, kind, -high, high)).astype(np.int64)
                 for part, low, top in ((x, *ranges[:2]), (y, *ranges[2:]))]
        least, most = arrays.limits(kind)
        return (arrays.records(np.clip(parts[0] + parts[1], least, most), kind), np.asarray(-high), np.asarray(high))
    return numpy


_SUM = "x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float -> z: Toutput, min_z: float, max_z: float"
_SUMMED: dict[str, Any] = {"shape": _with_range(_broadcast), "T1": TYPES, "T2": TYPES,
                           "Toutput": f"{TYPES} = DT_QINT32", "validate": _ranges_ordered(2, 4)}


@kernel("input: T1, bias: T2, min_input: float, max_input: float, min_bias: float, max_bias: float -> "
        "output: out_type, min_out: float, max_out: float", shape=_with_range(_biased), numpy=_added(WIDER_BIAS),
        T1=TYPES, T2=TYPES, out_type=TYPES)
def QuantizedBiasAdd() -> None:
    """Add a bias to the last axis of a quantized tensor."""


@kernel(_SUM, numpy=_added(WIDER), **_SUMMED)
def QuantizedAdd() -> None:
    """Add quantized tensors, which are broadcast."""


def _times(ctx: Any, x: np.ndarray, y: np.ndarray, *ranges: np.ndarray) -> tuple[np.ndarray, ...]:
    made = _centered(x, *ranges[:2]) * _centered(y, *ranges[2:])
    return _multiplied(ctx, made, x, y, ranges, "Toutput")


@kernel(_SUM, numpy=_times, **_SUMMED)
def QuantizedMul() -> None:
    """Multiply quantized tensors, which are broadcast."""


# Activations

def _between(top: float | None, ctx: Any, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the elements clipped to [0, top]."""
    values = arrays.integers(x)
    ends = [0.0] if top is None else [0.0, top]
    zero, *most = (arrays.integers(arrays.from_float(np.asarray(end, Float), x.dtype, low, high)) for end in ends)
    found = np.maximum(values, zero) if top is None else np.clip(values, zero, most[0])
    return arrays.records(found, _kind(ctx)), low, high


_RELU: dict[str, Any] = {"shape": _with_range(_like_first), "Tinput": TYPES, "out_type": f"{TYPES} = DT_QUINT8"}
_FEATURES = "min_features: float, max_features: float -> activations: out_type, min_activations: float, " \
            "max_activations: float"


@kernel("features: Tinput, " + _FEATURES, numpy=partial(_between, None), **_RELU)
def QuantizedRelu() -> None:
    """Compute max(features, 0) of quantized elements."""


@kernel("features: Tinput, " + _FEATURES, numpy=partial(_between, 6.0), **_RELU)
def QuantizedRelu6() -> None:
    """Compute min(max(features, 0), 6) of quantized elements."""


@public("nn.quantized_relu_x")
@kernel("features: Tinput, max_value: float, " + _FEATURES, **_RELU,
        numpy=lambda ctx, x, top, low, high: _between(float(top), ctx, x, low, high))
def QuantizedReluX() -> None:
    """Compute min(max(features, 0), max_value) of quantized elements: (activations, their range).

    features: quantized. max_value, min_features, max_features: scalars. out_type: the quantized dtype of the result,
    whose range is that of `features`.

    >>> x, low, high = tf.quantize([-1.0, 0.5, 1.0], -1.0, 1.55, tf.quint8)
    >>> sess.run(tf.dequantize(*tf.nn.quantized_relu_x(x, 0.5, low, high))).round(2)
    array([0. , 0.5, 0.5], dtype=float32)
    """


# Pools

def _pooled(form: Any) -> Callable[..., tuple[np.ndarray, ...]]:
    def numpy(ctx: Any, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
        return arrays.records(form(arrays.integers(x), pool_window(x.shape, ctx.attrs)), x.dtype), low, high
    return numpy


def _mean(x: np.ndarray, w: Any) -> np.ndarray:
    return np.trunc(windows.avg_pool(x.astype(np.float64), w) + 1e-9)


_POOLED = "input: T, min_input: float, max_input: float -> output: T, min_output: float, max_output: float"


@public("nn.quantized_max_pool")
@kernel(_POOLED, shape=_with_range(lambda ctx: pool_shape(ctx)[0]), numpy=_pooled(windows.max_pool),
        validate=only_spatial, **_POOL)
def QuantizedMaxPool() -> None:
    """Compute the maximum of each window of quantized images, per channel: (output, its range).

    input: [batch, height, width, channels]. min_input, max_input: scalars, what it represents. ksize, strides: four
    numbers. padding: "SAME" or "VALID".

    >>> x, low, high = tf.quantize(tf.reshape([0.0, 0.2, 0.4, 1.0], [1, 2, 2, 1]), 0.0, 1.0, tf.quint8)
    >>> made = tf.nn.quantized_max_pool(x, low, high, ksize=[1, 2, 2, 1], strides=[1] * 4, padding="VALID")
    >>> sess.run(tf.dequantize(*made)).item()
    1.0
    """


@public("nn.quantized_avg_pool")
@kernel(_POOLED, shape=_with_range(lambda ctx: pool_shape(ctx)[0]), numpy=_pooled(_mean),
        validate=only_spatial, **_POOL)
def QuantizedAvgPool() -> None:
    """Compute the mean of each window of quantized images, per channel: (output, its range).

    input, min_input, max_input, ksize, strides, padding: as of `tf.nn.quantized_max_pool`.

    >>> x, low, high = tf.quantize(tf.reshape([0.0, 0.2, 0.8, 1.0], [1, 2, 2, 1]), 0.0, 1.0, tf.quint8)
    >>> made = tf.nn.quantized_avg_pool(x, low, high, ksize=[1, 2, 2, 1], strides=[1] * 4, padding="VALID")
    >>> sess.run(tf.dequantize(*made)).round(1).item()
    0.5
    """


# Shapes

def _concatenated(ctx: Any, axis: np.ndarray, *given: np.ndarray) -> tuple[np.ndarray, ...]:
    count = len(given) // 3
    values, lows, highs = given[:count], given[count:2 * count], given[2 * count:]
    low, high = Float(min(0.0, *map(float, lows))), Float(max(map(float, highs)))
    if arrays.limits(values[0].dtype)[0] < 0:                # signed: symmetric, so that 0 stays 0
        high = max(high, -low)
        low = Float(-high)
    parts = [x if a == low and b == high else arrays.requantized(x, a, b, x.dtype, low, high)
             for x, a, b in zip(values, lows, highs, strict=True)]
    return np.concatenate(parts, int(axis)), np.asarray(low), np.asarray(high)


def _concatenated_shape(ctx: ShapeContext) -> list[Static]:
    count = (len(ctx.op.inputs) - 1) // 3
    return [*joining.concat_shape(ctx, range(1, count + 1), 0), (), ()]


@public("quantized_concat", "quantization.quantized_concat")
@kernel("concat_dim: int32, values: N * T, input_mins: N * float, input_maxes: N * float -> output: T, "
        "output_min: float, output_max: float", shape=_concatenated_shape, numpy=_concatenated, values=("concat_dim",),
        N="int >= 2", T="type")
def QuantizedConcat() -> None:
    """Concatenate quantized tensors along an axis, in the range of all of them: (output, its range).

    concat_dim: a scalar. values: tensors of one quantized dtype. input_mins, input_maxes: scalars, their ranges.

    >>> x, low, high = tf.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8)
    >>> y, low2, high2 = tf.quantize([0.0, 2.0], 0.0, 2.0, tf.quint8)
    >>> made = tf.quantization.quantized_concat(0, [x, y], [low, low2], [high, high2])
    >>> sess.run(tf.dequantize(*made)).round(2)
    array([0., 1., 0., 2.], dtype=float32)
    """


@kernel("tensor: T, shape: Tshape, input_min: float, input_max: float -> output: T, output_min: float, "
        "output_max: float", shape=_with_range(lambda ctx: reshape.reshaped(ctx)[0]), values=("shape",), T="type",
        numpy=lambda ctx, x, shape, low, high: (
            x.reshape(resolve_shape(shape.reshape(-1).tolist(), x.size, x.shape)), low, high),
        Tshape="indextype = DT_INT32")
def QuantizedReshape() -> None:
    """Reshape a quantized tensor."""


# Other ranges

def _requantize(ctx: Any, x: np.ndarray, low: np.ndarray, high: np.ndarray, *new: np.ndarray) -> tuple[np.ndarray, ...]:
    ends = new or (arrays.used_range(x, low, high) if x.size else (low, high))
    first, last = (Float(end) for end in ends)
    return (arrays.requantized(x, low, high, _kind(ctx), first, last), np.asarray(first), np.asarray(last))


def _requested(ctx: Any) -> None:
    low, high = ctx.value(3), ctx.value(4)
    if low is not None and high is not None and low > min(0, high):
        raise ValueError("requested_output_min must be <= 0 and requested_output_max no less, got "
                         f"{float(low)} and {float(high)}")


_TYPED: dict[str, Any] = {"Tinput": TYPES, "out_type": TYPES}
_OUT = "output: out_type, output_min: float, output_max: float"


@kernel("input: Tinput, input_min: float, input_max: float, requested_output_min: float, requested_output_max: float "
        f"-> {_OUT}", shape=_with_range(_like_first), numpy=_requantize, validate=_requested, **_TYPED)
def Requantize() -> None:
    """Return quantized elements that represent the same numbers in the requested range."""


@kernel(f"input: Tinput, input_min: float, input_max: float -> {_OUT}", shape=_with_range(_like_first),
        numpy=_requantize, **_TYPED)
def QuantizeDownAndShrinkRange() -> None:
    """Return quantized elements that represent the same numbers in the range that these have."""


def _used(ctx: Any, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
    ends = arrays.used_range(x, low, high) if x.size else (low, high)
    return tuple(np.asarray(end, Float) for end in ends)


@kernel("input: Tinput, input_min: float, input_max: float -> output_min: float, output_max: float",
        shape=lambda ctx: _with_range(_like_first)(ctx)[1:], numpy=_used, Tinput=TYPES)
def RequantizationRange() -> None:
    """Compute the range of the numbers that quantized elements represent; it holds 0."""


def _channel_shape(ctx: ShapeContext) -> list[Static]:
    of_rank(ctx.shape(1), 1)
    of_rank(ctx.shape(2), 1)
    return [(), ()]


def _four_axes(ctx: Any) -> None:
    x, (count,) = ctx.shape(0), ctx.shape(1)
    if len(x) != 4:
        raise ValueError(f"input must be in NHWC format, with 4 axes, got shape {list(x)}")
    if not count or count != x[3] or ctx.shape(2) != (count,):
        raise ValueError(f"input_min and input_max must have an element for each of {x[3]} channels, got shapes "
                         f"{[count]} and {list(ctx.shape(2))}")


def _channel_range(ctx: Any, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the widest range of a channel; of integers with 31 bits and a sign, as in TensorFlow's kernel."""
    values = arrays.integers(x).reshape(-1, x.shape[3]).astype(Float)
    scale = np.maximum(np.abs(low), np.abs(high)) / Float(1 << 31)
    most = min(Float((np.abs(values).max(0, initial=0) * scale).max()), Float(ctx.attrs["clip_value_max"]))
    return np.asarray(-most if (values < 0).any() else 0, Float), np.asarray(most, Float)


@kernel("input: T, input_min: float, input_max: float -> output_min: float, output_max: float", shape=_channel_shape,
        numpy=_channel_range, validate=_four_axes, T=f"{TYPES} = DT_QINT32", clip_value_max="float")
def RequantizationRangePerChannel() -> None:
    """Compute the range of the numbers that elements represent, whose range differs from channel to channel."""


def _no_gradients(*ops: Constructor) -> None:
    for op in ops:
        op.no_gradient("integers have none")


_no_gradients(QuantizedMatMul, QuantizedConv2D, QuantizedBiasAdd, QuantizedAdd, QuantizedMul, QuantizedRelu,
              QuantizedRelu6, QuantizedReluX, QuantizedMaxPool, QuantizedAvgPool, QuantizedConcat, QuantizedReshape,
              Requantize, QuantizeDownAndShrinkRange, RequantizationRange, RequantizationRangePerChannel)
describe(globals(), TENSORS)
