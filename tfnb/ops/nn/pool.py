"""Pooling of images, and local response normalization."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays import windows as arrays
from tfnb.kernels.arrays.window import Window, channels_first, pool_window, spatial_axes
from tfnb.kernels.library import normalize, pools
from tfnb.kernels.library.rows import segments
from tfnb.ops.array.create import zeros_like
from tfnb.ops.array.reshape import shape, stop_gradient
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.nn.conv import check_attrs, no_negative, only_spatial, rank4, shared_attrs, spatial_shape

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

SIZES: dict[str, Any] = {"ksize": "list(int) >= 4", "strides": "list(int) >= 4"}
PLAIN: dict[str, Any] = {**SIZES, "padding": "{'SAME', 'VALID'}"}
EXPLICIT: dict[str, Any] = {**SIZES, "padding": "{'SAME', 'VALID', 'EXPLICIT'}", "explicit_paddings": "list(int) = []"}
LAYOUT = "{'NHWC', 'NCHW'} = 'NHWC'"
REAL = "realnumbertype"
FLOAT = "{half, bfloat16, float, double}"


# Shapes

def _pooled(attrs: Any, image: Static) -> tuple[int | None, ...]:
    *places, c = spatial_axes(attrs)
    image = of_rank(image, len(places) + 2)
    if attrs.get("data_format") == b"NCHW_VECT_C":
        raise ValueError("data_format NCHW_VECT_C is not supported")
    check_attrs(attrs, ("strides", "ksize"))
    if min(attrs["ksize"]) <= 0:
        raise ValueError(f"Sliding window ksize must be > 0, but got {min(attrs['ksize'])}")
    return spatial_shape(attrs, image, [attrs["ksize"][axis] for axis in places], image[c])


def pool_shape(ctx: ShapeContext) -> list[Static]:
    """Infer the output shape of a pool."""
    return [_pooled(ctx.attrs, ctx.shape(0))]


def _same(one: Static, other: Static) -> Static:
    try:
        return merge(one, other)
    except ValueError:
        raise ValueError(f"Shapes must be equal, but are {list(one or ())} and {list(other or ())}") from None


def _image(ctx: ShapeContext, found: Static) -> tuple[int | None, ...]:
    return of_rank(found, len(spatial_axes(ctx.attrs)) + 1)


def max_gradient_shape(ctx: ShapeContext) -> list[Static]:
    """Infer the output shape of the gradient of a pool (orig_input, orig_output, grad)."""
    expected = _pooled(ctx.attrs, ctx.shape(0))
    _same(_same(expected, ctx.shape(1)), ctx.shape(2))
    return [_image(ctx, ctx.shape(0))]


def max_gradient2_shape(ctx: ShapeContext) -> list[Static]:
    """Infer the output shape of the gradient of that gradient (orig_input, orig_output, grad)."""
    expected = _same(_pooled(ctx.attrs, ctx.shape(0)), ctx.shape(1))
    _same(_image(ctx, ctx.shape(0)), ctx.shape(2))
    return [expected]


def validate_max(ctx: Any) -> None:
    """Raise an error for windows over channels, and for explicit padding in which a whole window has room."""
    only_spatial(ctx)
    if ctx.attrs["padding"] == b"EXPLICIT":
        for axis, sides in zip(spatial_axes(ctx.attrs), (("Top", "Bottom"), ("Left", "Right")), strict=False):
            size = ctx.attrs["ksize"][axis]
            for side, padding in zip(sides, ctx.attrs["explicit_paddings"][2 * axis:], strict=False):
                if padding >= size:
                    raise ValueError(f"{side} padding {padding} needs to be smaller than the window size {size}")


def validate_avg_gradient(ctx: Any) -> None:
    """Raise an error for windows over channels, and for negative sizes."""
    only_spatial(ctx)
    no_negative(ctx, 0)


def avg_gradient_shape(ctx: ShapeContext) -> list[Static]:
    """Infer the output shape of the gradient of a pool (orig_input_shape, grad)."""
    of_rank(ctx.shape(0), 1)
    found = _image(ctx, ctx.partial(0))
    _same(_pooled(ctx.attrs, found), ctx.shape(1))
    return [found]


def _argmax_gradient_shape(ctx: ShapeContext) -> list[Static]:
    expected = _pooled(ctx.attrs, ctx.shape(0))
    _same(_same(expected, ctx.shape(1)), ctx.shape(2))
    return [rank4(ctx.shape(0))]


# NumPy forms

def _window(ctx: Any, image: Any) -> Window:
    """Return the windows over an image."""
    return pool_window(tuple(image), ctx.attrs)


def _last(ctx: Any, x: np.ndarray) -> np.ndarray:
    return x.transpose(0, 2, 3, 1) if channels_first(ctx.attrs) else x


def _back(ctx: Any, x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if channels_first(ctx.attrs) else x


def max_values(ctx: Any, x: np.ndarray) -> np.ndarray:
    """Return the NumPy form of MaxPool."""
    return _back(ctx, arrays.max_pool(_last(ctx, x), _window(ctx, x.shape)))


def max_slopes(ctx: Any, x: np.ndarray, y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Return the NumPy form of MaxPoolGrad."""
    w = _window(ctx, x.shape)
    return _back(ctx, arrays.max_pool_gradient(_last(ctx, x), _last(ctx, dy), w))


def values_at_maxima(ctx: Any, x: np.ndarray, y: np.ndarray, dz: np.ndarray) -> np.ndarray:
    """Return the NumPy form of MaxPoolGradGrad."""
    w = _window(ctx, x.shape)
    return _back(ctx, arrays.at_largest(_last(ctx, x), _last(ctx, dz), w))


def _avg(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _back(ctx, arrays.avg_pool(_last(ctx, x), _window(ctx, x.shape)))


def _avg_gradient(ctx: Any, sizes: np.ndarray, dy: np.ndarray) -> np.ndarray:
    return _back(ctx, arrays.avg_pool_gradient(_last(ctx, dy), _window(ctx, sizes.tolist())))


def _argmax(ctx: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    w = _window(ctx, x.shape)
    tap = arrays.first_largest(x, w)
    oy, ox = np.ogrid[:w.out_height, :w.out_width]
    y = (oy * w.stride_y - w.top)[..., None] + tap // w.kernel_width
    column = (ox * w.stride_x - w.left)[..., None] + tap % w.kernel_width
    index = (y * w.width + column) * w.channels + np.arange(w.channels)
    if ctx.attrs["include_batch_in_index"]:
        index = index + (np.arange(w.batch) * w.height * w.width * w.channels)[:, None, None, None]
    return arrays.max_pool(x, w), index


def _places(ctx: Any, size: int, x: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return the place in the flat batch `x` of each index. Raises InvalidArgumentError for one beyond `size`."""
    flat = index.astype(np.int64)
    if not ctx.attrs["include_batch_in_index"]:
        per_image = int(np.prod(x.shape[1:]))
        flat = flat + (np.arange(x.shape[0]) * per_image).reshape(-1, 1, 1, 1)
    if flat.size and not 0 <= flat.min() <= flat.max() < size:
        raise errors.InvalidArgumentError(None, ctx.op, f"Invalid argmax index: must be in [0, {size})")
    return flat


def _argmax_gradient(ctx: Any, x: np.ndarray, dy: np.ndarray, index: np.ndarray) -> np.ndarray:
    return segments.added(dy.reshape(-1), _places(ctx, x.size, x, index).reshape(-1), x.size).reshape(x.shape)


def _argmax_gradient2(ctx: Any, x: np.ndarray, dz: np.ndarray, index: np.ndarray) -> np.ndarray:
    return np.asarray(dz.reshape(-1)[_places(ctx, x.size, x, index)])


# The ops

@kernel("input: T -> output: T", shape=pool_shape, numpy=max_values, launch=pools.max_pool, total=True,
        T="{half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT",
        validate=validate_max, **EXPLICIT, data_format="{'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
def MaxPool() -> None:
    """Compute the maximum of each window, per channel."""


@kernel("orig_input: T, orig_output: T, grad: T -> output: T", shape=max_gradient_shape, numpy=max_slopes,
        launch=pools.max_pool_gradient, total=True, validate=validate_max, **EXPLICIT, data_format=LAYOUT,
        T=f"{REAL} = DT_FLOAT")
def MaxPoolGrad() -> None:
    """Compute the gradient of MaxPool: each element goes to the (first) maximum of its window."""


@kernel("orig_input: T, orig_output: T, grad: T -> output: T", shape=max_gradient2_shape, numpy=values_at_maxima,
        launch=pools.max_pool_second_gradient, total=True, validate=only_spatial, **PLAIN, data_format=LAYOUT, T=REAL)
def MaxPoolGradGrad() -> None:
    """Compute the gradient of MaxPoolGrad for `grad`: its element at the maximum of each window."""


@kernel("value: T -> output: T", shape=pool_shape, numpy=_avg, launch=pools.avg_pool,
        total=True, validate=only_spatial, **PLAIN, data_format=LAYOUT, T=FLOAT)
def AvgPool() -> None:
    """Compute the mean of each window, per channel; padding is not counted."""


@kernel("orig_input_shape: int32, grad: T -> output: T", shape=avg_gradient_shape, numpy=_avg_gradient,
        launch=pools.avg_pool_gradient, values=("orig_input_shape",), total=True, validate=validate_avg_gradient,
        **PLAIN, data_format=LAYOUT, T=FLOAT)
def AvgPoolGrad() -> None:
    """Compute the gradient of AvgPool."""


@kernel("input: T -> output: T, argmax: Targmax", shape=lambda ctx: pool_shape(ctx) * 2, numpy=_argmax,
        launch=pools.max_pool_with_argmax, total=True, validate=only_spatial, **SIZES,
        Targmax="{int32, int64} = DT_INT64", padding="{'SAME', 'VALID'}", include_batch_in_index="bool = false",
        T=REAL)
def MaxPoolWithArgmax() -> None:
    """Compute MaxPool, and the flat index of each maximum in its image (or in the batch)."""


@kernel("input: T, grad: T, argmax: Targmax -> output: T", shape=_argmax_gradient_shape, numpy=_argmax_gradient,
        validate=only_spatial, **PLAIN, include_batch_in_index="bool = false", Targmax="{int32, int64}", T=REAL)
def MaxPoolGradWithArgmax() -> None:
    """Compute the gradient of MaxPoolWithArgmax: each element goes to the index in `argmax`."""


def _argmax_gradient2_shape(ctx: ShapeContext) -> list[Static]:
    expected = _same(_pooled(ctx.attrs, ctx.shape(0)), ctx.shape(2))
    _same(rank4(ctx.shape(0)), ctx.shape(1))
    return [rank4(expected)]


@kernel("input: T, grad: T, argmax: Targmax -> output: T", shape=_argmax_gradient2_shape, numpy=_argmax_gradient2,
        validate=only_spatial, **PLAIN, include_batch_in_index="bool = false", Targmax="{int32, int64}", T=REAL)
def MaxPoolGradGradWithArgmax() -> None:
    """Compute the gradient of MaxPoolGradWithArgmax for `grad`: its element at each index in `argmax`."""


def max_gradients(pool: Constructor, of: Constructor, second: Constructor) -> None:
    """Register the gradients of a max pool, of its gradient, and of the gradient of that."""
    def gradient(op: Operation, dy: Tensor) -> Tensor:
        """Return the gradient of the input: each element goes to the maximum of its window."""
        made: Tensor = of(op.inputs[0], op.outputs[0], dy, **shared_attrs(op, of))
        return made

    def by(other: Constructor) -> Callable[[Operation, Tensor], list[Tensor]]:
        def gradient_of_gradient(op: Operation, dz: Tensor) -> list[Tensor]:
            """Of (input, output, gradient): only the last one matters."""
            x, y, _ = op.inputs
            return [zeros_like(x), zeros_like(y), other(x, y, dz, **shared_attrs(op, other))]
        return gradient_of_gradient
    pool.gradient(gradient)
    of.gradient(by(second))
    second.gradient(by(of))


def avg_gradients(pool: Constructor, of: Constructor) -> None:
    """Register the gradients of an average pool, and of its gradient."""
    def gradient(op: Operation, dy: Tensor) -> Tensor:
        made: Tensor = of(shape(op.inputs[0]), dy, **shared_attrs(op, of))
        return made

    def gradient_of_gradient(op: Operation, dz: Tensor) -> list[Tensor]:
        return [stop_gradient(op.inputs[0]), pool(dz, **shared_attrs(op, pool))]
    pool.gradient(gradient)
    of.gradient(gradient_of_gradient)


max_gradients(MaxPool, MaxPoolGrad, MaxPoolGradGrad)
avg_gradients(AvgPool, AvgPoolGrad)


@MaxPoolWithArgmax.gradient
def _(op: Operation, dy: Tensor, _: Any) -> Tensor:
    return MaxPoolGradWithArgmax(op.inputs[0], dy, op.outputs[1],
                                 **shared_attrs(op, MaxPoolGradWithArgmax))


@MaxPoolGradWithArgmax.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    x, _, argmax = op.inputs
    how = shared_attrs(op, MaxPoolGradGradWithArgmax)
    return [zeros_like(x), MaxPoolGradGradWithArgmax(x, dz, argmax, **how), None]


@MaxPoolGradGradWithArgmax.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    x, _, argmax = op.inputs
    how = shared_attrs(op, MaxPoolGradWithArgmax)
    return [zeros_like(x), MaxPoolGradWithArgmax(x, dz, argmax, **how), None]


# Local response normalization

LRN_ATTRS: dict[str, Any] = {"depth_radius": "int = 5", "bias": "float = 1.0", "alpha": "float = 1.0",
                             "beta": "float = 0.5", "T": "{half, bfloat16, float} = DT_FLOAT"}


def _neighbours(attrs: Any, x: np.ndarray) -> np.ndarray:
    """Return the sum of each number and of those up to depth_radius channels away."""
    radius, depth = attrs["depth_radius"], x.shape[-1]
    total = np.zeros_like(x)
    for shift in range(max(-radius, -depth), min(radius, depth) + 1):
        first, last = max(0, -shift), min(depth, depth - shift)
        total[..., first:last] += x[..., first + shift:last + shift]
    return total


def _lrn(ctx: Any, x: np.ndarray) -> np.ndarray:
    wide, a = x.astype(np.float32), ctx.attrs
    norm = np.float32(a["bias"]) + np.float32(a["alpha"]) * _neighbours(a, wide * wide)
    return (wide * norm ** np.float32(-a["beta"])).astype(x.dtype)


def _radius_fits(ctx: Any) -> None:
    radius = ctx.attrs["depth_radius"]
    if not 0 <= radius < 2**31 - 1:
        raise ValueError(f"depth_radius = {radius} larger than int max or negative")


def _lrn_gradient(ctx: Any, dy: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    wide, dy32, y32, a = x.astype(np.float32), dy.astype(np.float32), y.astype(np.float32), ctx.attrs
    norm = np.float32(a["bias"]) + np.float32(a["alpha"]) * _neighbours(a, wide * wide)
    part = _neighbours(a, dy32 * y32 / norm)
    factor = np.float32(2 * a["alpha"] * a["beta"])
    return (dy32 * norm ** np.float32(-a["beta"]) - factor * wide * part).astype(x.dtype)


@kernel("input: T -> output: T", shape=lambda ctx: [rank4(ctx.shape(0))], numpy=_lrn, launch=normalize.lrn,
        validate=_radius_fits, total=True, **LRN_ATTRS)
def LRN() -> None:
    """Compute the local response normalization: division by a power of the sum of squares over nearby channels."""


@kernel("input_grads: T, input_image: T, output_image: T -> output: T", numpy=_lrn_gradient,
        shape=lambda ctx: [_same(_same(rank4(ctx.shape(0)), ctx.shape(1)), ctx.shape(2))],
        launch=normalize.lrn_gradient, validate=_radius_fits, total=True, **LRN_ATTRS)
def LRNGrad() -> None:
    """Compute the gradient of LRN."""


@LRN.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    how = {name: op.attrs[name] for name in ("depth_radius", "bias", "alpha", "beta")}
    return LRNGrad(dy, op.inputs[0], op.outputs[0], **how)


LRNGrad.no_gradient("TensorFlow has none")
