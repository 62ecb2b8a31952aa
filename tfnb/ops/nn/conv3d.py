"""Convolution and pooling of volumes (batch, depth, height, width, channels), and their gradients."""
from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from tfnb.core.shape import Static
from tfnb.kernels.arrays import volumes as arrays
from tfnb.kernels.arrays.window import Volume, channels_first, pool_volume, volume
from tfnb.kernels.cpu.conv import volumes as cpu
from tfnb.kernels.library import pools
from tfnb.kernels.library.image import convolution
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.shapes import of_rank
from tfnb.ops.nn.conv import (
    conv_output,
    filter_shape,
    first_gradient,
    forward_shape,
    input_shape,
    only_spatial,
    second_gradients,
    validate_filter_gradient,
    validate_forward,
    validate_input_gradient,
)
from tfnb.ops.nn.pool import (
    avg_gradient_shape,
    avg_gradients,
    max_gradient2_shape,
    max_gradient_shape,
    max_gradients,
    pool_shape,
    validate_avg_gradient,
)

LAYOUT = "{'NDHWC', 'NCDHW'} = 'NDHWC'"
CONV: dict[str, Any] = {"T": "{half, bfloat16, float, double}", "strides": "list(int) >= 5",
                        "padding": "{'SAME', 'VALID'}", "data_format": LAYOUT,
                        "dilations": "list(int) = [1, 1, 1, 1, 1]"}
POOL: dict[str, Any] = {"ksize": "list(int) >= 5", "strides": "list(int) >= 5",
                        "padding": "{'SAME', 'VALID'}", "data_format": LAYOUT}
FLOAT = "{half, bfloat16, float}"
INVALID = ("strides", "dilations")        # in the batch and depth: InvalidArgumentError, for images UnimplementedError


def _output(attrs: Any, image: Static, filter_: Static) -> tuple[int | None, ...]:
    """The static shape of an output. Raises ValueError where shapes don't fit; there are no groups of channels."""
    image, filter_ = of_rank(image, 5), of_rank(filter_, 5)
    depth = image[1 if channels_first(attrs) else 4]
    if None not in (depth, filter_[3]) and depth != filter_[3]:
        raise ValueError(f"input depth must be evenly divisible by filter depth and there are no groups here: {depth} "
                         f"vs {filter_[3]}")
    return conv_output(attrs, image, filter_)


# NumPy forms

def _last(ctx: Any, x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.transpose(0, 2, 3, 4, 1)) if channels_first(ctx.attrs) else x


def _back(ctx: Any, x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.transpose(0, 4, 1, 2, 3)) if channels_first(ctx.attrs) else x


def _convolve(ctx: Any, x: np.ndarray, filter_: np.ndarray) -> np.ndarray:
    if not (x.size and filter_.size):
        return np.zeros(_output(ctx.attrs, x.shape, filter_.shape), x.dtype)    # type: ignore[arg-type]
    return _back(ctx, arrays.convolve(_last(ctx, x), filter_, volume(x.shape, filter_.shape[:3], ctx.attrs)))


def _input_gradient(ctx: Any, sizes: np.ndarray, filter_: np.ndarray, dy: np.ndarray) -> np.ndarray:
    full = tuple(int(n) for n in sizes)
    if not (prod(full) and filter_.size and dy.size):
        return np.zeros(full, dy.dtype)
    v = volume(full, filter_.shape[:3], ctx.attrs)
    return _back(ctx, arrays.convolve_input_gradient(filter_, _last(ctx, dy), v))


def _filter_gradient(ctx: Any, x: np.ndarray, sizes: np.ndarray, dy: np.ndarray) -> np.ndarray:
    full = tuple(int(n) for n in sizes)
    if not (x.size and prod(full) and dy.size):
        return np.zeros(full, dy.dtype)
    return arrays.convolve_filter_gradient(_last(ctx, x), _last(ctx, dy), volume(x.shape, full[:3], ctx.attrs))


def _pool_volume(ctx: Any, image: Any) -> Volume:
    return pool_volume(tuple(image), ctx.attrs)


def _max(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _back(ctx, arrays.max_pool(_last(ctx, x), _pool_volume(ctx, x.shape)))


def _max_gradient(ctx: Any, x: np.ndarray, y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    v = _pool_volume(ctx, x.shape)
    return _back(ctx, arrays.max_pool_gradient(_last(ctx, x), _last(ctx, dy), v))


def _max_gradient2(ctx: Any, x: np.ndarray, y: np.ndarray, dz: np.ndarray) -> np.ndarray:
    return _back(ctx, arrays.at_largest(_last(ctx, x), _last(ctx, dz), _pool_volume(ctx, x.shape)))


def _avg(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _back(ctx, arrays.avg_pool(_last(ctx, x), _pool_volume(ctx, x.shape)))


def _avg_gradient(ctx: Any, sizes: np.ndarray, dy: np.ndarray) -> np.ndarray:
    return _back(ctx, arrays.avg_pool_gradient(_last(ctx, dy), _pool_volume(ctx, sizes.tolist())))


# The ops

@kernel("input: T, filter: T -> output: T", shape=forward_shape(_output), numpy=_convolve, cpu=cpu.convolve,
        cuda=convolution.forward, follows=convolution.follows, total=True,
        validate=partial(validate_forward, invalid=INVALID), **CONV)
def Conv3D() -> None:
    """Compute the 3-D convolution of volumes with a filter (depth, height, width, in, out)."""


@kernel("input_sizes: Tshape, filter: T, out_backprop: T -> output: T", shape=input_shape(_output),
        numpy=_input_gradient, cpu=cpu.input_gradient, cuda=convolution.input_gradient, values=("input_sizes",),
        total=True, **CONV,
        validate=partial(validate_input_gradient, invalid=INVALID),
        Tshape="{int32, int64} = DT_INT32")
def Conv3DBackpropInputV2() -> None:
    """Compute the gradient of Conv3D for its input."""


@kernel("input: T, filter_sizes: int32, out_backprop: T -> output: T", shape=filter_shape(_output),
        numpy=_filter_gradient, cpu=cpu.filter_gradient, cuda=convolution.filter_gradient, values=("filter_sizes",),
        total=True, **CONV,
        validate=partial(validate_filter_gradient, invalid=INVALID))
def Conv3DBackpropFilterV2() -> None:
    """Compute the gradient of Conv3D for its filter."""


@kernel("input: T -> output: T", shape=pool_shape, numpy=_max, launch=pools.max_pool, total=True,
        validate=only_spatial, **POOL, T=FLOAT)
def MaxPool3D() -> None:
    """Compute the maximum of each window, per channel."""


@kernel("orig_input: TInput, orig_output: TInput, grad: T -> output: T", shape=max_gradient_shape, numpy=_max_gradient,
        launch=pools.max_pool_gradient, total=True, validate=only_spatial, **POOL,
        T=f"{FLOAT} = DT_FLOAT", TInput=f"{FLOAT} = DT_FLOAT")
def MaxPool3DGrad() -> None:
    """Compute the gradient of MaxPool3D: each element goes to the (first) maximum of its window."""


@kernel("orig_input: T, orig_output: T, grad: T -> output: T", shape=max_gradient2_shape, numpy=_max_gradient2,
        launch=pools.max_pool_second_gradient, total=True, validate=only_spatial, **POOL, T="realnumbertype")
def MaxPool3DGradGrad() -> None:
    """Compute the gradient of MaxPool3DGrad for `grad`: its element at the maximum of each window."""


@kernel("input: T -> output: T", shape=pool_shape, numpy=_avg, launch=pools.avg_pool, total=True,
        validate=only_spatial, **POOL,
        T="{half, bfloat16, float, double}")
def AvgPool3D() -> None:
    """Compute the mean of each window, per channel; padding is not counted."""


@kernel("orig_input_shape: int32, grad: T -> output: T", shape=avg_gradient_shape, numpy=_avg_gradient,
        launch=pools.avg_pool_gradient, values=("orig_input_shape",), total=True, validate=validate_avg_gradient,
        **POOL, T="{half, bfloat16, float, double}")
def AvgPool3DGrad() -> None:
    """Compute the gradient of AvgPool3D."""


# Gradients

first_gradient(Conv3D, Conv3DBackpropInputV2, Conv3DBackpropFilterV2)
second_gradients(Conv3D, Conv3DBackpropInputV2, Conv3DBackpropFilterV2)
max_gradients(MaxPool3D, MaxPool3DGrad, MaxPool3DGradGrad)
avg_gradients(AvgPool3D, AvgPool3DGrad)
