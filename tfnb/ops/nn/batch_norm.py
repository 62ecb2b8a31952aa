"""Fused batch normalization of images: `tf.nn.fused_batch_norm` (Ioffe and Szegedy, 2015)."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import NN, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.scalar import definition as scalar
from tfnb.kernels.sizes import highest
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.declare import kernel

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

_INPUTS = "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, " \
          "reserve_space_1: U, reserve_space_2: U"
_BACK = "y_backprop: T, x: T, scale: {S}, reserve_space_1: U, reserve_space_2: U{more} -> x_backprop: T, " \
        "scale_backprop: U, offset_backprop: U, reserve_space_{a}: U, reserve_space_{b}: U"
_EPSILON = "float = 9.999999747378752e-05"
_IMAGES = "{'NHWC', 'NCHW'} = 'NHWC'"
_ALL = "{'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'"
_TYPES: dict[str, Any] = {"T": "{half, bfloat16, float}", "U": "{bfloat16, float}"}
_BACK_TYPES: dict[str, Any] = {"T": "{half, bfloat16, float}", "U": "{float}"}
_FORWARD: dict[str, Any] = {"epsilon": _EPSILON, "exponential_avg_factor": "float = 1.0"}


def _channel_axis(ctx: Any, rank: int) -> int:
    found = ctx.attrs["data_format"]
    return 1 if (found.decode() if isinstance(found, bytes) else found).startswith("NC") else rank - 1


def _channels(ctx: ShapeContext, x: Static, inputs: Sequence[int]) -> Static:
    """The shape of a number for each channel of x, as these inputs have too."""
    channels: Static = (None,)
    if x is not None:
        if len(x) not in (4, 5):
            raise ValueError(f"the input must have rank 4 or 5, not {len(x)}")
        channels = (x[_channel_axis(ctx, len(x))],)
    for i in inputs:
        channels = merge(channels, ctx.shape(i))
    return channels


def _shapes(ctx: ShapeContext) -> list[Static]:
    x = ctx.shape(0)
    return [x, *[_channels(ctx, x, (1, 2))] * 4]


def _shapes3(ctx: ShapeContext) -> list[Static]:
    return [*_shapes(ctx), (0,)]


def _back_shapes(ctx: ShapeContext) -> list[Static]:
    x = merge(ctx.shape(0), ctx.shape(1))
    return [x, *[_channels(ctx, x, (2, 3, 4))] * 2, (0,), (0,)]


def _rows(ctx: Any, x: np.ndarray) -> np.ndarray:
    """(pixels, channels), float32."""
    return np.moveaxis(x, _channel_axis(ctx, x.ndim), -1).reshape(-1, x.shape[_channel_axis(ctx, x.ndim)]).astype("f4")


def _image(ctx: Any, rows: np.ndarray, like: np.ndarray) -> np.ndarray:
    axis = _channel_axis(ctx, like.ndim)
    sizes = [n for i, n in enumerate(like.shape) if i != axis]
    return np.moveaxis(rows.reshape(*sizes, like.shape[axis]), -1, axis).astype(like.dtype)


def _sums(*factors: np.ndarray) -> np.ndarray:
    """Return the per-channel sum over the pixels of a product, in double precision."""
    return np.einsum(",".join(["pc"] * len(factors)) + "->c", *factors, dtype=np.float64)


def _numpy(ctx: Any, x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray,
           variance: np.ndarray) -> tuple[np.ndarray, ...]:
    rows = _rows(ctx, x)
    count = len(rows)
    used_mean, used_variance, kept_mean, kept_variance = mean, variance, mean, variance
    if ctx.attrs["is_training"]:
        used_mean = (_sums(rows) / max(count, 1)).astype("f4")
        centered = rows - used_mean
        used_variance = (_sums(centered, centered) / max(count, 1)).astype("f4")
        factor = np.float32(ctx.attrs.get("exponential_avg_factor", 1.0))
        kept_mean, kept_variance = used_mean, used_variance * np.float32(count / max(count - 1, 1))
        if factor != 1:
            kept_mean = mean * (1 - factor) + kept_mean * factor
            kept_variance = variance * (1 - factor) + kept_variance * factor
    rate = scale * _inverse(ctx, used_variance)
    y = _image(ctx, (rows - used_mean) * rate + offset, x)
    return y, kept_mean, kept_variance, used_mean, used_variance


def _inverse(ctx: Any, variance: np.ndarray) -> np.ndarray:
    made: np.ndarray = 1 / np.sqrt(variance.astype("f4") + np.float32(ctx.attrs["epsilon"]))
    return made


# Compiled: definitions and sums over the pixels, which fuse with the ops around. None is shared by two passes over the
# pixels: it would be stored in between.

@scalar.read
def _mean(total, count):
    return total / count


@scalar.read
def _square(x, mean):
    return (x - mean) * (x - mean)


@scalar.read
def _rate(scale, variance, *, epsilon):
    return scale / sqrt(variance + epsilon)


@scalar.read
def _normalized(x, mean, rate, offset):
    return (x - mean) * rate + offset


@scalar.read
def _unbiased(variance, count):
    return variance * (count / maximum(count - 1, 1))


@scalar.read
def _moving(old, new, *, factor):
    return old * (1 - factor) + new * factor


def _layout(parts: Any, x: Any) -> tuple[int, list[int], Any]:
    """Return the channel axis, the other axes, and how many pixels there are: a float32, which kernels load."""
    axis = _channel_axis(parts, len(x.shape))
    axes = [i for i in range(len(x.shape)) if i != axis]
    return axis, axes, parts.number(highest(1, prod(x.shape[i] for i in axes)), "float32")


def _parts(parts: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> list[Any]:
    axis, axes, count = _layout(parts, x)
    scale, offset = (parts.along(v, axis, len(x.shape)) for v in (scale, offset))
    kept = used = [mean, variance]
    if parts.attrs["is_training"]:
        first = parts.map(_mean, parts.sum(x, axes), count)
        second = parts.map(_mean, parts.sum(parts.map(_square, x, first), axes), count)
        used = [parts.vector(first), parts.vector(second)]
        kept = [used[0], parts.map(_unbiased, used[1], parts.vector(count))]
        factor = parts.attrs.get("exponential_avg_factor", 1.0)
        if factor != 1:
            old = (mean, variance)
            kept = [parts.map(_moving, a, b, factor=factor) for a, b in zip(old, kept, strict=True)]
    wide = [parts.along(v, axis, len(x.shape)) for v in used]
    rate = parts.map(_rate, scale, wide[1], epsilon=parts.attrs["epsilon"])
    return [parts.map(_normalized, x, wide[0], rate, offset), *kept, *used]


def _parts3(parts: Any, *values: Any) -> list[Any]:
    return [*_parts(parts, *values), parts.known(np.zeros(0, np.float32))]


@scalar.read
def _product(x, y):
    return x * y


@scalar.read
def _moment(dy, x, mean):
    return dy * (x - mean)


@scalar.read
def _share(inverse, total, count):
    return inverse * total / count


@scalar.read
def _input_slope(dy, x, mean, rate, shift, tilt):
    return (dy - shift - (x - mean) * tilt) * rate


def _back_parts(parts: Any, dy: Any, x: Any, scale: Any, mean: Any, variance: Any, *reserve: Any) -> list[Any]:
    axis, axes, count = _layout(parts, x)
    scale, mean, variance = (parts.along(v, axis, len(x.shape)) for v in (scale, mean, variance))
    inverse = parts.map(_rate, parts.known(np.ones((), np.float32)), variance, epsilon=parts.attrs["epsilon"])
    rate = parts.map(_product, inverse, scale)
    offset_slope = parts.sum(dy, axes)
    scale_slope = parts.map(_product, parts.sum(parts.map(_moment, dy, x, mean), axes), inverse)
    if parts.attrs["is_training"]:
        shift = parts.map(_mean, offset_slope, count)
        tilt = parts.map(_share, inverse, scale_slope, count)
        slope = parts.map(_input_slope, dy, x, mean, rate, shift, tilt)
    else:
        slope = parts.map(_product, dy, rate)
    empty = parts.known(np.zeros(0, np.float32))
    return [slope, parts.vector(scale_slope), parts.vector(offset_slope), empty, empty]


def _numpy3(ctx: Any, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return (*_numpy(ctx, *arrays), np.zeros(0, "f4"))


def _back(ctx: Any, dy: np.ndarray, x: np.ndarray, scale: np.ndarray, mean: np.ndarray, variance: np.ndarray,
          *reserve: np.ndarray) -> tuple[np.ndarray, ...]:
    slopes, rate = _rows(ctx, dy), _inverse(ctx, variance)
    normal = (_rows(ctx, x) - mean) * rate
    offset_slope, scale_slope = _sums(slopes).astype("f4"), _sums(slopes, normal).astype("f4")
    made = slopes
    if ctx.attrs["is_training"]:
        count = np.float32(max(len(slopes), 1))
        made = slopes - offset_slope / count - normal * (scale_slope / count)
    empty = np.zeros(0, "f4")
    return _image(ctx, made * (scale * rate), x), scale_slope, offset_slope, empty, empty


@kernel(_INPUTS.replace("U", "T"), shape=_shapes, numpy=_numpy, composition=_parts, T="{float}", **_FORWARD,
        data_format=_IMAGES, is_training="bool = true")
def FusedBatchNorm() -> None:
    """Normalize `x` per channel; also the batch mean, the unbiased batch variance, and moments for the gradient."""


@kernel(_INPUTS, shape=_shapes, numpy=_numpy, composition=_parts, **_BACK_TYPES, **_FORWARD, data_format=_IMAGES,
        is_training="bool = true")
def FusedBatchNormV2() -> None:
    """As FusedBatchNorm, for images of half precision too."""


@kernel(_INPUTS + ", reserve_space_3: U", shape=_shapes3, numpy=_numpy3, composition=_parts3, **_TYPES, **_FORWARD,
        data_format=_ALL, is_training="bool = true")
def FusedBatchNormV3() -> None:
    """As FusedBatchNorm, for images and volumes, with one more output for the gradient."""


@kernel(_BACK.format(S="T", more="", a=3, b=4).replace("U", "T"), shape=_back_shapes, numpy=_back,
        composition=_back_parts, T="{float}", epsilon=_EPSILON, data_format=_IMAGES, is_training="bool = true")
def FusedBatchNormGrad() -> None:
    """Compute the gradients of FusedBatchNorm for image, scale and offset."""


@kernel(_BACK.format(S="float", more=", reserve_space_3: U", a=4, b=5), shape=_back_shapes, numpy=_back,
        composition=_back_parts, **_BACK_TYPES, epsilon=_EPSILON, data_format=_ALL, is_training="bool = true")
def FusedBatchNormGradV3() -> None:
    """Compute the gradients of FusedBatchNormV3 for image, scale and offset."""


for _op in (FusedBatchNormGrad, FusedBatchNormGradV3):
    _op.no_gradient("second gradients of batch normalization are not written; layers with fused=False have them")


def _slope(back: Any, reserved: int) -> Any:
    """Return the gradient function. reserved: the moments that the op `back` takes."""
    def gradient(op: Operation, *slopes: Tensor | None) -> Sequence[Tensor | None]:
        """Return the gradients of x, scale and offset, from the moments that the op kept."""
        training = op.attrs["is_training"]
        kept: list[Tensor] = list(op.outputs[3:]) if training else [*op.inputs[3:5], *op.outputs[5:]]
        options = {name: op.attrs[name] for name in ("epsilon", "data_format", "is_training")}
        kept += [constant([], dtypes.float32)] * (reserved - len(kept))     # of V2, whose gradient is that of V3
        dx, dscale, doffset, _, _ = back(slopes[0], op.inputs[0], op.inputs[1], *kept, **options)
        return [dx, dscale, doffset, None, None]
    return gradient


FusedBatchNorm.gradient(_slope(FusedBatchNormGrad, 2))
FusedBatchNormV2.gradient(_slope(FusedBatchNormGradV3, 3))
FusedBatchNormV3.gradient(_slope(FusedBatchNormGradV3, 3))

SMALLEST_EPSILON = 1.001e-5         # TensorFlow takes at least this, as cuDNN asks for


def fused_batch_norm(x: Any, scale: Any, offset: Any, mean: Any = None, variance: Any = None, epsilon: float = 0.001,
                     data_format: str = "NHWC", is_training: bool = True, name: str | None = None,
                     exponential_avg_factor: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    """Return (x normalized per channel, times `scale` plus `offset`; the batch mean; the unbiased batch variance).

    is_training: normalize by the batch's own mean and variance; else by those given, which are then returned.
    exponential_avg_factor: below 1, what is returned is a moving average of the given and the new ones. Raises
    ValueError if mean and variance are needed and not given.

    >>> x = tf.reshape([1.0, 3.0], [2, 1, 1, 1])
    >>> y, mean, variance = tf.nn.fused_batch_norm(x, scale=[1.0], offset=[0.0], epsilon=1e-5)
    >>> sess.run(tf.squeeze(y)), sess.run(mean)
    (array([-1.,  1.], dtype=float32), array([2.], dtype=float32))
    """
    if not is_training or exponential_avg_factor != 1:
        if mean is None or variance is None:
            raise ValueError("Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
                             "`exponential_avg_factor` is not 1.")
    x = convert_to_tensor(x, name="input")
    scale, offset = convert_to_tensor(scale, name="scale"), convert_to_tensor(offset, name="offset")
    mean = constant([], dtypes.float32) if mean is None else mean
    variance = constant([], dtypes.float32) if variance is None else variance
    made = FusedBatchNormV3(x, scale, offset, mean, variance, epsilon=max(epsilon, SMALLEST_EPSILON),
                            exponential_avg_factor=exponential_avg_factor, data_format=data_format,
                            is_training=is_training, name=name)
    return made[0], made[1], made[2]


describe(globals(), NN)
