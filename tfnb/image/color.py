"""Image colors: dtypes and their ranges, brightness, contrast, gamma, hue and saturation, color spaces."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.control_flow.assertions import assert_equal, assert_greater_equal
from tfnb.core import dtypes
from tfnb.core.arguments import IMAGES, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.image.geometry import checked, require
from tfnb.kernels.arrays import colors as arrays
from tfnb.kernels.library.image import colors as kernels
from tfnb.ops.array.create import ones
from tfnb.ops.array.joining import concat, stack, tile
from tfnb.ops.array.reshape import expand_dims, identity, rank, shape
from tfnb.ops.control.group import with_dependencies
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import add, maximum, multiply, saturate_cast, square
from tfnb.ops.math.casting import cast
from tfnb.ops.math.division import div_no_nan, divide, floordiv
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.reductions.matmul import tensordot
from tfnb.ops.reductions.reduce import reduce_mean, reduce_prod, reduce_std

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

COLOR: dict[str, Any] = {"T": "{half, bfloat16, float, double} = DT_FLOAT"}
ADJUSTED: dict[str, Any] = {"T": "{half, float} = DT_FLOAT"}


# The ops

def _three_colors(found: Sequence[int | None]) -> None:
    if found[-1] not in (3, None):
        raise ValueError(f"Dimension must be 3 but is {found[-1]}")


def _colored(ctx: ShapeContext) -> list[Static]:
    found = ctx.shape(0)
    if found is None:
        return [None]
    if not found:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    _three_colors(found)
    return [(*found[:-1], 3)]


def _adjusted(ctx: ShapeContext, colors: bool = True) -> list[Static]:
    """Infer the shape of adjusted images. colors: they have three channels."""
    found = ctx.shape(0)
    if found is not None and len(found) < 3:
        raise ValueError(f"Shape must be at least rank 3 but is rank {len(found)}")
    merge(ctx.shape(1), ())
    if found is not None and colors:
        _three_colors(found)
    return [found]


def _pixelwise(fn: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def made(ctx: Any, images: np.ndarray, *scalars: np.ndarray) -> np.ndarray:
        return fn(images, *(float(x) for x in scalars))
    return made


@kernel("images: T -> output: T", shape=_colored, numpy=_pixelwise(arrays.to_hsv), launch=kernels.to_hsv, **COLOR)
def RGBToHSV() -> None:
    """Convert RGB in [0, 1] to hue, saturation and value in [0, 1], along the last axis."""


@kernel("images: T -> output: T", shape=_colored, numpy=_pixelwise(arrays.to_rgb), launch=kernels.to_rgb, **COLOR)
def HSVToRGB() -> None:
    """Convert hue, saturation and value in [0, 1] to RGB in [0, 1], along the last axis."""


@kernel("images: T, delta: float -> output: T", shape=_adjusted, numpy=_pixelwise(arrays.turned), launch=kernels.turned,
        **ADJUSTED)
def AdjustHue() -> None:
    """Add `delta` to the hue of RGB images, modulo 1."""


@kernel("images: T, scale: float -> output: T", shape=_adjusted, numpy=_pixelwise(arrays.saturated),
        launch=kernels.saturated, **ADJUSTED)
def AdjustSaturation() -> None:
    """Multiply the saturation of RGB images by `scale`, clipped to [0, 1]."""


@kernel("images: T, contrast_factor: float -> output: T", shape=lambda ctx: _adjusted(ctx, False),
        numpy=_pixelwise(arrays.contrasted), launch=kernels.contrasted, **ADJUSTED)
def AdjustContrastv2() -> None:
    """Scale the distance of each element from the mean of its channel and image by `contrast_factor`."""


HSVToRGB.no_gradient("as in TensorFlow")
for _op in (AdjustHue, AdjustSaturation, AdjustContrastv2):
    _op.no_gradient("as in TensorFlow: it prepares images")


def _safe_reciprocal(x: Tensor) -> Tensor:
    return div_no_nan(cast(1., x.dtype), x)


@RGBToHSV.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    """Each color of the six orders of r, g, b by size has formulas of its own; masks choose them."""
    dtype = op.inputs[0].dtype
    r, g, b = (op.inputs[0][..., i] for i in range(3))
    high, low = maximum(maximum(r, g), b), raw.Minimum(raw.Minimum(r, g), b)
    first = cast((r >= g) & (r >= b), dtype)
    second = cast((g > r) & (g >= b), dtype)
    is_high = first, second, cast((b > r) & (b > g), dtype)
    is_low = (cast((r < b) & (r < g), dtype), cast((g <= r) & (g < b), dtype), cast((b <= r) & (b <= g), dtype))
    span = _safe_reciprocal(high - low)
    around = ((g - b, 1, 2), (b - r, 2, 0), (r - g, 0, 1))    # the hue grows with it where that color is the largest
    made = []
    for i, color in enumerate((r, g, b)):
        value = is_high[i]
        saturation = cast(color > 0, dtype) * (is_high[i] * low * _safe_reciprocal(square(high))
                                               - is_low[i] * _safe_reciprocal(high))
        hue = _hue_slope(i, around, is_high, is_low, span)
        made.append(dy[..., 2] * value + dy[..., 1] * saturation + dy[..., 0] * hue)
    return stack(made, axis=-1)


def _hue_slope(i: int, around: Sequence[tuple[Tensor, int, int]], is_high: Sequence[Tensor],
               is_low: Sequence[Tensor], span: Tensor) -> Tensor:
    """Return the slope of the hue along color i: of difference / span, where both depend on it."""
    total: Any = 0.
    for j, (difference, plus, minus) in enumerate(around):
        own = float(i == plus) - float(i == minus)
        total = total + is_high[j] * (own * span - difference * square(span) * (is_high[i] - is_low[i]))
    return total / 6.


# What users call

def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """Convert the image to another dtype and its range: [0, 1] for floats, 0 to the largest for integers.

    saturate: cut to that range first. Raises AttributeError for a dtype without numbers.

    >>> sess.run(tf.image.convert_image_dtype(np.array([0, 51, 255], np.uint8), tf.float32))
    array([0. , 0.2, 1. ], dtype=float32)
    """
    image, dtype = convert_to_tensor(image, name="image"), dtypes.as_dtype(dtype)
    for kind, what in ((dtype, "dtype"), (image.dtype, "image dtype")):
        if not kind.is_floating and not kind.is_integer:
            raise AttributeError(f"{what} must be either floating point or integer")
    if dtype == image.dtype:
        return identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        final = saturate_cast if saturate else cast
        if image.dtype.is_integer and dtype.is_integer:
            return _between_integers(image, dtype, final, scope)
        if image.dtype.is_floating and dtype.is_floating:
            return cast(image, dtype, name=scope)
        if image.dtype.is_integer:
            return multiply(cast(image, dtype), 1. / image.dtype.max, name=scope)
        return final(multiply(image, dtype.max + 0.5), dtype, name=scope)


def _between_integers(image: Tensor, dtype: Any, final: Any, scope: str) -> Tensor:
    most, wanted = image.dtype.max, dtype.max
    if most > wanted:
        return final(floordiv(image, (most + 1) // (wanted + 1)), dtype, name=scope)
    return multiply(final(image, dtype), (wanted + 1) // (most + 1), name=scope)


def _as_float(image: Tensor) -> Tensor:
    return image if image.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Add `delta` to the image, as scaled to the range [0, 1].

    >>> sess.run(tf.image.adjust_brightness([[[0.1], [0.5]]], delta=0.2))
    array([[[0.3],
            [0.7]]], dtype=float32)
    """
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        wide = _as_float(image)
        adjusted = add(wide, cast(delta, wide.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Scale the distance of each element from the mean of its channel and image by `contrast_factor`.

    >>> sess.run(tf.image.adjust_contrast([[[0.1], [0.5]]], 2.0))
    array([[[-0.1],
            [ 0.7]]], dtype=float32)
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert_to_tensor(images, name="images")
        adjusted = AdjustContrastv2(_as_float(images), contrast_factor, name=scope)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Compute `gain * image ** gamma`, where the range of the image is [0, 1]. Raises ValueError for gamma < 0.

    >>> sess.run(tf.image.adjust_gamma([[[0.5], [1.0]]], gamma=2.0, gain=0.5))
    array([[[0.125],
            [0.5  ]]], dtype=float32)
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        wide = _as_float(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        gamma = with_dependencies(checks, gamma) if checks else gamma
        return convert_image_dtype(gain * wide ** gamma, image.dtype, saturate=True)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """Add `delta` (in [-1, 1]) to the hue of the RGB image, modulo 1.

    >>> sess.run(tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], delta=1 / 3))
    array([[[0., 1., 0.]]], dtype=float32)
    """
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(AdjustHue(_as_float(image), delta), image.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Multiply the saturation of the RGB image by `saturation_factor`.

    >>> sess.run(tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.5))
    array([[[1.  , 0.75, 0.75]]], dtype=float32)
    """
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(AdjustSaturation(_as_float(image), saturation_factor), image.dtype)


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Adjust the brightness by a random delta in [-max_delta, max_delta). Raises ValueError for max_delta < 0.

    >>> image = tf.fill([2, 2, 3], 0.5)
    >>> adjusted = sess.run(tf.image.random_brightness(image, max_delta=0.1))
    >>> bool(0.4 <= adjusted.min() and adjusted.max() <= 0.6)
    True
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def _factor(lower: float, upper: float, seed: int | None) -> Tensor:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return random_uniform([], lower, upper, seed=seed)


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Adjust the contrast by a random factor in [lower, upper). Raises ValueError unless 0 <= lower < upper.

    >>> image = tf.reshape([0.0, 1.0], [1, 2, 1])
    >>> adjusted = sess.run(tf.squeeze(tf.image.random_contrast(image, lower=0.2, upper=0.4)))
    >>> bool(0.2 <= adjusted[1] - adjusted[0] <= 0.4)
    True
    """
    return adjust_contrast(image, _factor(lower, upper, seed))


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Adjust the saturation by a random factor in [lower, upper). Raises ValueError unless 0 <= lower < upper.

    >>> image = tf.reshape([0.9, 0.5, 0.1], [1, 1, 3])
    >>> adjusted = sess.run(tf.image.random_saturation(image, lower=0.2, upper=0.4))
    >>> bool(adjusted.max() - adjusted.min() < 0.8)
    True
    """
    return adjust_saturation(image, _factor(lower, upper, seed))


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Adjust the hue by a random delta in [-max_delta, max_delta). Raises ValueError unless 0 <= max_delta <= 0.5.

    >>> image = tf.reshape([1.0, 0.0, 0.0], [1, 1, 3])
    >>> tf.image.random_hue(image, max_delta=0.1).shape.as_list()
    [1, 1, 3]
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def per_image_standardization(image: Any) -> Tensor:
    """Standardize each image to mean 0 and standard deviation 1, as float32; less where it hardly varies.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [2, 2, 1])
    >>> sess.run(tf.squeeze(tf.image.per_image_standardization(image)))
    array([[-1.3416, -0.4472],
           [ 0.4472,  1.3416]], dtype=float32)
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = cast(checked(image), dtype=dtypes.float32)
        pixels = reduce_prod(shape(image)[-3:])
        mean = reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        spread = reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = raw.Rsqrt(cast(pixels, dtypes.float32))
        spread = maximum(spread, least)
        return divide(image - mean, spread, name=scope)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """Convert RGB images [..., 3] to grayscale [..., 1] of the same dtype.

    >>> sess.run(tf.image.rgb_to_grayscale([[[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]]))
    array([[[0.9999],
            [0.2989]]], dtype=float32)
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        gray = tensordot(convert_image_dtype(images, dtypes.float32), [0.2989, 0.587, 0.114], [-1, -1])
        return convert_image_dtype(expand_dims(gray, -1), images.dtype, name=scope)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Convert grayscale [..., 1] to [..., 3]. Raises ValueError, or InvalidArgumentError in the run, for others.

    >>> sess.run(tf.image.grayscale_to_rgb(tf.constant([[[0.5], [1.0]]])))
    array([[[0.5, 0.5, 0.5],
            [1. , 1. , 1. ]]], dtype=float32)
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = with_dependencies(_gray_checks(convert_to_tensor(images)), images)
        lead = expand_dims(rank(images) - 1, 0)
        rgb: Tensor = tile(images, concat([ones(lead, dtype=dtypes.int32), expand_dims(3, 0)], 0), name=scope)
        rgb.set_shape(images.shape[:-1].concatenate([3]))
        return rgb


def _gray_checks(images: Tensor) -> list[Any]:
    static = images.static
    if static is not None and len(static) < 2:
        raise ValueError(f"A grayscale image (shape {images.shape}) must be at least two-dimensional.")
    if static is not None and None not in static:
        if static[-1] != 1:
            raise ValueError("Last dimension of a grayscale image should be size 1.")
        return []
    return [assert_equal(shape(images)[-1], 1, message="Last dimension of a grayscale image should be size 1."),
            assert_greater_equal(rank(images), 3, message="A grayscale image must be at least two-dimensional.")]


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Convert RGB in [0, 1] to hue, saturation and value in [0, 1], along the last axis.

    >>> sess.run(tf.image.rgb_to_hsv([[[0.0, 1.0, 0.0]]]))
    array([[[0.3333, 1.    , 1.    ]]], dtype=float32)
    """
    tensor: Tensor = RGBToHSV(images, name=name)
    return tensor


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Convert hue, saturation and value in [0, 1] to RGB in [0, 1], along the last axis.

    >>> sess.run(tf.image.hsv_to_rgb([[[1 / 3, 1.0, 0.5]]]))
    array([[[0. , 0.5, 0. ]]], dtype=float32)
    """
    tensor: Tensor = HSVToRGB(images, name=name)
    return tensor


# The color spaces of television: a row tells what one unit of that color adds to each number.
_TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _mixed(images: Any, matrix: Any) -> Tensor:
    images = convert_to_tensor(images, name="images")
    mixer = convert_to_tensor(matrix, dtype=images.dtype, name="kernel")
    return tensordot(images, mixer, axes=[[images.shape.ndims - 1], [0]])


def rgb_to_yiq(images: Any) -> Tensor:
    """Convert RGB to YIQ along the last axis.

    >>> sess.run(tf.image.rgb_to_yiq([[[1.0, 0.0, 0.0]]]))
    array([[[0.299 , 0.5959, 0.2115]]], dtype=float32)
    """
    return _mixed(images, _TO_YIQ)


def yiq_to_rgb(images: Any) -> Tensor:
    """Convert YIQ to RGB along the last axis.

    >>> sess.run(tf.image.yiq_to_rgb([[[0.5, 0.0, 0.0]]]))
    array([[[0.5, 0.5, 0.5]]], dtype=float32)
    """
    return _mixed(images, _FROM_YIQ)


def rgb_to_yuv(images: Any) -> Tensor:
    """Convert RGB to YUV along the last axis.

    >>> sess.run(tf.image.rgb_to_yuv([[[1.0, 0.0, 0.0]]]))
    array([[[ 0.299 , -0.1471,  0.615 ]]], dtype=float32)
    """
    return _mixed(images, _TO_YUV)


def yuv_to_rgb(images: Any) -> Tensor:
    """Convert YUV to RGB along the last axis.

    >>> sess.run(tf.image.yuv_to_rgb([[[0.5, 0.0, 0.0]]]))
    array([[[0.5, 0.5, 0.5]]], dtype=float32)
    """
    return _mixed(images, _FROM_YUV)


describe(globals(), IMAGES)
