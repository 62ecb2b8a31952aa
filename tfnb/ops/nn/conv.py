"""Convolutions of images: Conv2D, its gradients, and the depthwise ones."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core import errors
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays import windows as arrays
from tfnb.kernels.arrays.window import along, channels_first, output_size, spatial_axes, window
from tfnb.kernels.cpu.conv import conv as cpu
from tfnb.kernels.cpu.conv import depthwise
from tfnb.kernels.library import direct
from tfnb.kernels.library.image import convolution
from tfnb.ops.array.reshape import shape, shape_n
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.shapes import of_rank

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

ATTRS: dict[str, Any] = {
                    "padding": "{'SAME', 'VALID', 'EXPLICIT'}", "explicit_paddings": "list(int) = []",
                    "data_format": "{'NHWC', 'NCHW'} = 'NHWC'", "dilations": "list(int) = [1, 1, 1, 1]",
                }
FULL: dict[str, Any] = {"strides": "list(int)", "use_cudnn_on_gpu": "bool = true", **ATTRS}
DEPTHWISE: dict[str, Any] = {"strides": "list(int)", **ATTRS}


# Shapes

def rank4(found: Static) -> tuple[int | None, ...]:
    """Return a shape of four axes. Raises ValueError for another rank."""
    return of_rank(found, 4)


def check_attrs(attrs: Any, steps: tuple[str, ...] = ("strides", "dilations")) -> None:
    """Raise ValueError for strides, dilations or paddings that are invalid for images."""
    *places, c = spatial_axes(attrs)
    for name in steps:
        if name in attrs and len(attrs[name]) != len(places) + 2:
            raise ValueError(f"{name} must specify {len(places) + 2} dimensions, not {list(attrs[name])}")
    explicit = attrs.get("explicit_paddings") or []
    if attrs["padding"] == b"EXPLICIT" and len(explicit) != 8:
        raise ValueError(f"explicit_paddings must have 8 numbers where padding is 'EXPLICIT', not {len(explicit)}")
    if attrs["padding"] != b"EXPLICIT" and explicit:
        raise ValueError(f"explicit_paddings must be empty where padding is {attrs['padding'].decode()!r}")
    for axis in places:
        stride, dilation, _, around = along(attrs, axis)
        if stride <= 0:
            raise ValueError(f"Stride must be > 0, but got {stride}")
        if dilation < 1:
            raise ValueError(f"Dilation rate must be >= 1, but got {dilation}")
        if min(around) < 0:
            raise ValueError(f"All elements of explicit_paddings must be nonnegative, but got {list(around)}")
    if explicit and any(explicit[2 * axis] or explicit[2 * axis + 1] for axis in (0, c)):
        raise ValueError("Nonzero explicit padding in the batch or depth dimensions is not supported")


def only_spatial(ctx: Any, invalid: tuple[str, ...] = ()) -> None:
    """Raise UnimplementedError for strides over the batch or the channels.

    invalid: attrs for which it is InvalidArgumentError, as in TensorFlow's kernels.
    """
    channel = spatial_axes(ctx.attrs)[-1]
    for name in ("strides", "dilations", "ksize"):
        if name in ctx.attrs and (ctx.attrs[name][0] != 1 or ctx.attrs[name][channel] != 1):
            kind = errors.InvalidArgumentError if name in invalid else errors.UnimplementedError
            raise kind(None, ctx.op, f"{ctx.op.type} does not support {name} other than 1 in the batch and depth "
                                     f"dimensions: {list(ctx.attrs[name])}")


def no_negative(ctx: Any, index: int) -> None:
    """Raise ValueError for a negative size in the input `index`, which is known."""
    least = min(ctx.value(index).reshape(-1).tolist(), default=0)
    if least < 0:
        raise ValueError(f"Dimension {least} must be >= 0")


def spatial_shape(attrs: Any, image: tuple[int | None, ...], kernel_size: Any,
                  channels: int | None) -> tuple[int | None, ...]:
    """Return the static shape of an output with `channels` channels."""
    *places, c = spatial_axes(attrs)
    out = [image[0]] * len(image)
    for axis, size in zip(places, kernel_size, strict=True):
        out[axis] = output_size(image[axis], size, *along(attrs, axis))
    out[c] = channels
    return tuple(out)


def conv_output(attrs: Any, image: Static, filter_: Static) -> tuple[int | None, ...]:
    """Return the static shape of a convolution's output. Raises ValueError for incompatible shapes."""
    *places, channel = spatial_axes(attrs)
    image, filter_ = of_rank(image, len(places) + 2), of_rank(filter_, len(places) + 2)
    check_attrs(attrs)
    depth, (*size, taken, out) = image[channel], filter_
    if taken == 0:
        raise ValueError("Depth of filter must not be 0")
    if depth and taken is not None and depth != taken:
        if depth % taken:
            raise ValueError(f"Depth of input ({depth}) is not a multiple of input depth of filter ({taken})")
        if out is not None and out % (depth // taken):
            raise ValueError(f"Depth of output ({out}) is not a multiple of the number of groups "
                             f"({depth // taken})")
    return spatial_shape(attrs, image, size, out)


def _depthwise_output(attrs: Any, image: Static, filter_: Static) -> tuple[int | None, ...]:
    image, filter_ = rank4(image), rank4(filter_)
    check_attrs(attrs)
    depth, taken, multiplier = image[spatial_axes(attrs)[2]], *filter_[2:]
    if depth is not None and taken is not None and depth != taken:
        raise ValueError(f"Dimensions must be equal, but are {depth} and {taken}")
    depth = taken if depth is None else depth
    out = None if depth is None or multiplier is None else depth * multiplier
    return spatial_shape(attrs, image, filter_[:2], out)


Output = Callable[[Any, Static, Static], tuple[Any, ...]]


def _fits(attrs: Any, expected: tuple[int | None, ...], dy: Static) -> None:
    """Raise ValueError where the gradient of the output has not the shape of the output."""
    axis = spatial_axes(attrs)[-1]
    dy = of_rank(dy, len(expected))
    if None not in (dy[axis], expected[axis]) and dy[axis] != expected[axis]:
        raise ValueError(f"Dimensions must be equal, but are {dy[axis]} and {expected[axis]}")
    if any(None not in (n, m) and n != m for n, m in zip(dy, expected, strict=True)):
        raise ValueError(f"Size of out_backprop doesn't match computed: actual = {_text(dy)}, computed = "
                         f"{_text(expected)}")


def _text(sizes: tuple[int | None, ...]) -> str:
    return "[" + ",".join("?" if n is None else str(n) for n in sizes) + "]"


def validate_forward(ctx: Any, invalid: tuple[str, ...] = ()) -> None:
    """Raise an error for strides over channels, and for a filter without numbers whose sums would be the output."""
    only_spatial(ctx, invalid)
    filter_ = ctx.shape(1)
    if 0 in filter_ and (len(filter_) == 5 or 0 not in ctx.op.spec.shape(ctx)[0]):
        raise ValueError(f"filter must not have zero elements (i.e. all dimensions must be non-zero), got {filter_}")


def validate_input_gradient(ctx: Any, invalid: tuple[str, ...] = ()) -> None:
    """Raise an error for strides over channels, and for negative sizes: (input_sizes, filter, out_backprop)."""
    only_spatial(ctx, invalid)
    no_negative(ctx, 0)


def validate_filter_gradient(ctx: Any, invalid: tuple[str, ...] = ()) -> None:
    """Raise an error for strides over channels, and for negative sizes: (input, filter_sizes, out_backprop)."""
    only_spatial(ctx, invalid)
    no_negative(ctx, 1)


def forward_shape(output: Output) -> Callable[[ShapeContext], list[Static]]:
    """Infer the output shape of a convolution (input, filter)."""
    return lambda ctx: [output(ctx.attrs, ctx.shape(0), ctx.shape(1))]


def _sizes(ctx: ShapeContext, index: int) -> tuple[int | None, ...]:
    """Return the shape that an input of sizes names."""
    of_rank(ctx.shape(index), 1)
    return of_rank(ctx.partial(index), len(spatial_axes(ctx.attrs)) + 1)


def input_shape(output: Output, by_size: bool = False) -> Callable[[ShapeContext], list[Static]]:
    """Infer the output shape of the input gradient (input_sizes, filter, out_backprop).

    by_size: the height and width alone are sizes too.
    """
    def made(ctx: ShapeContext) -> list[Static]:
        *places, channel = spatial_axes(ctx.attrs)
        rank = len(places) + 2
        length, sizes, dy = of_rank(ctx.shape(0), 1), ctx.partial(0), of_rank(ctx.shape(2), rank)
        if by_size and (sizes is not None and len(sizes) == 2 or length == (2,)):     # height and width alone
            full: list[int | None] = [dy[0], None, None, None]
            full[places[0]], full[places[1]] = sizes if sizes is not None else (None, None)
            full[channel] = rank4(ctx.shape(1))[2]
            sizes = tuple(full)
        found = of_rank(sizes, rank)
        _fits(ctx.attrs, output(ctx.attrs, found, ctx.shape(1)), dy)
        return [merge(found, (dy[0], *[None] * (rank - 1)))]
    return made


def filter_shape(output: Output) -> Callable[[ShapeContext], list[Static]]:
    """Infer the output shape of the filter gradient (input, filter_sizes, out_backprop)."""
    def made(ctx: ShapeContext) -> list[Static]:
        found = _sizes(ctx, 1)
        if ctx.shape(0) is not None:
            _fits(ctx.attrs, output(ctx.attrs, ctx.shape(0), found), ctx.shape(2))
        return [found]
    return made


# NumPy forms

def _last(attrs: Any, x: np.ndarray) -> np.ndarray:
    """Return an image with channels last."""
    return x.transpose(0, 2, 3, 1) if channels_first(attrs) else x


def _back(attrs: Any, x: np.ndarray) -> np.ndarray:
    """Return an image with channels where the op has them."""
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if channels_first(attrs) else x


def _full_sizes(ctx: Any, sizes: np.ndarray, filter_: np.ndarray, dy: np.ndarray) -> tuple[int, ...]:
    """Return the shape of the input: four numbers, or height and width."""
    given = [int(n) for n in sizes]
    if len(given) == 2:
        given = [dy.shape[0], filter_.shape[2], *given] if channels_first(ctx.attrs) else [
            dy.shape[0], *given, filter_.shape[2]]
    return tuple(given)


def _conv(forms: Any, output: Output) -> tuple[Any, Any, Any]:
    """Return the NumPy forms of an op and of its two gradients. Sums over nothing are 0."""
    def forward(ctx: Any, x: np.ndarray, filter_: np.ndarray) -> np.ndarray:
        if not (x.size and filter_.size):
            return np.zeros(output(ctx.attrs, x.shape, filter_.shape), x.dtype)
        w = window(x.shape, filter_.shape[:2], ctx.attrs)
        return _back(ctx.attrs, forms[0](_last(ctx.attrs, x), filter_, w))

    def for_input(ctx: Any, sizes: np.ndarray, filter_: np.ndarray, dy: np.ndarray) -> np.ndarray:
        full = _full_sizes(ctx, sizes, filter_, dy)
        if not (prod(full) and filter_.size and dy.size):
            return np.zeros(full, dy.dtype)
        w = window(full, filter_.shape[:2], ctx.attrs)
        return _back(ctx.attrs, forms[1](filter_, _last(ctx.attrs, dy), w))

    def for_filter(ctx: Any, x: np.ndarray, sizes: np.ndarray, dy: np.ndarray) -> np.ndarray:
        if not (x.size and sizes.all() and dy.size):
            return np.zeros([int(n) for n in sizes], dy.dtype)
        w = window(x.shape, [int(n) for n in sizes[:2]], ctx.attrs)
        return forms[2](_last(ctx.attrs, x), _last(ctx.attrs, dy), w, sizes)

    return forward, for_input, for_filter


_CONV = _conv((arrays.grouped_convolve, arrays.grouped_input_gradient, arrays.grouped_filter_gradient), conv_output)
_DEPTHWISE = _conv((arrays.depthwise, arrays.depthwise_input_gradient, arrays.depthwise_filter_gradient),
                   _depthwise_output)


# The ops

@kernel("input: T, filter: T -> output: T", shape=forward_shape(conv_output), numpy=_CONV[0], cpu=cpu.convolve,
        cuda=convolution.forward, follows=convolution.follows, validate=validate_forward, total=True,
        work=cpu.operations, T="{half, bfloat16, float, double, int32}", **FULL)
def Conv2D() -> None:
    """Compute the 2-D convolution of images with a filter (height, width, in, out).

    With g times as many input channels as the filter has, channels are in g groups: group i of the outputs sees group i
    of the inputs.
    """


@kernel("input_sizes: int32, filter: T, out_backprop: T -> output: T", shape=input_shape(conv_output, True),
        validate=validate_input_gradient, numpy=_CONV[1], cpu=cpu.input_gradient,
        cuda=convolution.input_gradient, values=("input_sizes",),
        total=True, work=cpu.operations, T="{half, bfloat16, float, double, int32}", **FULL)
def Conv2DBackpropInput() -> None:
    """Compute the gradient of Conv2D for its input."""


@kernel("input: T, filter_sizes: int32, out_backprop: T -> output: T", shape=filter_shape(conv_output),
        validate=validate_filter_gradient, numpy=_CONV[2], cpu=cpu.filter_gradient,
        cuda=convolution.filter_gradient, values=("filter_sizes",),
        total=True, work=cpu.operations, T="{half, bfloat16, float, double}", **FULL)
def Conv2DBackpropFilter() -> None:
    """Compute the gradient of Conv2D for its filter."""




@kernel("input: T, filter: T -> output: T", shape=forward_shape(_depthwise_output), numpy=_DEPTHWISE[0],
        validate=partial(only_spatial, invalid=("strides",)),
        cpu=depthwise.forward, cuda=direct.depthwise, total=True, T="{half, bfloat16, float, double}", **DEPTHWISE)
def DepthwiseConv2dNative() -> None:
    """Compute the depthwise 2-D convolution: each channel by its own filters (height, width, channels, multiplier)."""


@kernel("input_sizes: int32, filter: T, out_backprop: T -> output: T", shape=input_shape(_depthwise_output),
        validate=partial(validate_input_gradient, invalid=("strides",)), numpy=_DEPTHWISE[1],
        cpu=depthwise.input_gradient, cuda=direct.depthwise_input_gradient, values=("input_sizes",), total=True,
        T="{half, bfloat16, float, double}", **DEPTHWISE)
def DepthwiseConv2dNativeBackpropInput() -> None:
    """Compute the gradient of DepthwiseConv2dNative for its input."""


@kernel("input: T, filter_sizes: int32, out_backprop: T -> output: T", shape=filter_shape(_depthwise_output),
        validate=partial(validate_filter_gradient, invalid=("strides",)), numpy=_DEPTHWISE[2],
        cpu=depthwise.filter_gradient, cuda=direct.depthwise_filter_gradient, values=("filter_sizes",), total=True,
        T="{half, bfloat16, float, double}", **DEPTHWISE)
def DepthwiseConv2dNativeBackpropFilter() -> None:
    """Compute the gradient of DepthwiseConv2dNative for its filter."""


# Gradients: of each of the three ops by the two others

_SHARED = ("ksize", "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "dilations",
           "include_batch_in_index")


def shared_attrs(op: Operation, of: Constructor) -> dict[str, Any]:
    """Return the window attrs that an op of the type `of` takes over from `op`, of whose gradient it is part."""
    taken = {attr.name for attr in of.spec.attrs}
    return {name: op.attrs[name] for name in _SHARED if name in op.attrs and name in taken}


def second_gradients(conv: Constructor, of_input: Constructor, of_filter: Constructor) -> None:
    """Register the gradients of the two gradients of a convolution."""
    def input_gradient(op: Operation, dz: Tensor) -> list[Tensor | None]:
        """Of (input_sizes, filter, out_backprop)."""
        _, filter_, dy = op.inputs
        how = shared_attrs(op, conv)
        return [None, of_filter(dz, shape(filter_), dy, **how), conv(dz, filter_, **how)]

    def filter_gradient(op: Operation, dz: Tensor) -> list[Tensor | None]:
        """Of (input, filter_sizes, out_backprop)."""
        x, _, dy = op.inputs
        how = shared_attrs(op, conv)
        return [of_input(shape(x), dz, dy, **how), None, conv(x, dz, **how)]
    of_input.gradient(input_gradient)
    of_filter.gradient(filter_gradient)


def first_gradient(conv: Constructor, of_input: Constructor, of_filter: Constructor) -> None:
    """Register the gradient of a convolution, which asks for both sizes by one node."""
    def gradient(op: Operation, dy: Tensor) -> list[Tensor]:
        """Of (input, filter)."""
        x, filter_ = op.inputs
        sizes, how = shape_n([x, filter_]), shared_attrs(op, conv)
        return [of_input(sizes[0], filter_, dy, **how), of_filter(x, sizes[1], dy, **how)]
    conv.gradient(gradient)


@DepthwiseConv2dNative.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    x, filter_ = op.inputs
    how = shared_attrs(op, DepthwiseConv2dNative)
    return [DepthwiseConv2dNativeBackpropInput(shape(x), filter_, dy, **how),
            DepthwiseConv2dNativeBackpropFilter(x, shape(filter_), dy, **how)]


first_gradient(Conv2D, Conv2DBackpropInput, Conv2DBackpropFilter)
second_gradients(Conv2D, Conv2DBackpropInput, Conv2DBackpropFilter)
second_gradients(DepthwiseConv2dNative, DepthwiseConv2dNativeBackpropInput, DepthwiseConv2dNativeBackpropFilter)
