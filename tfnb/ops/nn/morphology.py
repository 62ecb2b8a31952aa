"""Grayscale morphology: dilation and erosion of images by structuring functions (max-plus convolution)."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.arrays.window import Window, along, output_size, window
from tfnb.kernels.arrays.windows import lowest
from tfnb.kernels.library.image import morphology as kernels
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.nn.conv import rank4

_ATTRS: dict[str, Any] = {"strides": "list(int) >= 4", "rates": "list(int) >= 4", "padding": "{'SAME', 'VALID'}"}


def _window_attrs(ctx: Any) -> dict[str, Any]:
    """The attrs as those of a convolution. Raises ValueError for other lists than [1, rows, columns, 1]."""
    for name in ("strides", "rates"):
        given = ctx.attrs[name]
        if len(given) != 4 or given[0] != 1 or given[3] != 1 or min(given) < 1:
            raise ValueError(f"{name} must be [1, rows, columns, 1] with positive sizes, got {list(given)}")
    return {"strides": ctx.attrs["strides"], "dilations": ctx.attrs["rates"], "padding": ctx.attrs["padding"]}


def _dilated(ctx: Any) -> list[Static]:
    attrs, (batch, height, width, depth) = _window_attrs(ctx), rank4(ctx.shape(0))
    rows, columns, channels = merge(ctx.shape(1), (None, None, depth)) or (None, None, depth)
    places = [output_size(n, taps, *along(attrs, i)) for i, n, taps in ((1, height, rows), (2, width, columns))]
    return [(batch, *places, channels)]


def _met(x: np.ndarray, w: Window, y: int, x_tap: int) -> tuple[np.ndarray, tuple[slice, slice], Any]:
    """Return the inputs that all windows meet at one tap, and the slices of the windows that meet one."""
    found = []
    for tap, size, out, stride, step, before in ((y, w.height, w.out_height, w.stride_y, w.dilation_y, w.top),
                                                 (x_tap, w.width, w.out_width, w.stride_x, w.dilation_x, w.left)):
        shift = tap * step - before
        first = max(0, -(shift // stride))
        last = min(out, (size - 1 - shift) // stride + 1)
        begin = first * stride + shift
        found.append((slice(first, max(last, first)), slice(begin, begin + max(last - first, 0) * stride, stride)))
    inputs = (found[0][1], found[1][1])
    return x[:, inputs[0], inputs[1]], (found[0][0], found[1][0]), inputs


def _taps(w: Window) -> Iterator[tuple[int, int]]:
    return ((y, x) for y in range(w.kernel_height) for x in range(w.kernel_width))


def _highest(ctx: Any, x: np.ndarray, filter_: np.ndarray) -> tuple[Window, np.ndarray, np.ndarray]:
    """Return the windows, the largest sum in each, and the number of the (first) tap that has it."""
    w = window(x.shape, filter_.shape[:2], _window_attrs(ctx))
    best = np.full((w.batch, w.out_height, w.out_width, w.channels), lowest(x.dtype), x.dtype)
    taps = np.zeros(best.shape, np.int64)
    for number, (i, j) in enumerate(_taps(w)):
        met, (rows, columns), _ = _met(x, w, i, j)
        here, sums = best[:, rows, columns], met + filter_[i, j]
        larger = sums > here
        taps[:, rows, columns][larger] = number
        np.copyto(here, sums, where=larger)
    return w, best, taps


def _dilation(ctx: Any, x: np.ndarray, filter_: np.ndarray) -> np.ndarray:
    return _highest(ctx, x, filter_)[1]


def _filter_gradient(ctx: Any, x: np.ndarray, filter_: np.ndarray, dy: np.ndarray) -> np.ndarray:
    w, _, taps = _highest(ctx, x, filter_)
    return np.stack([np.where(taps == number, dy, 0).sum((0, 1, 2)) for number in range(w.taps)]).reshape(
        filter_.shape).astype(x.dtype)


def _input_gradient(ctx: Any, x: np.ndarray, filter_: np.ndarray, dy: np.ndarray) -> np.ndarray:
    w, _, taps = _highest(ctx, x, filter_)
    out = np.zeros(x.shape, x.dtype)
    for number, (i, j) in enumerate(_taps(w)):
        _, (rows, columns), inputs = _met(x, w, i, j)
        part = np.where(taps[:, rows, columns] == number, dy[:, rows, columns], 0)
        out[:, inputs[0], inputs[1]] += part.astype(x.dtype)
    return out


def _gradient_shape(of: int) -> Any:
    def shape(ctx: Any) -> list[Static]:
        """Return the shape of the input or the filter; raises ValueError if the gradient's is not the output's."""
        merge(ctx.shape(2), _dilated(ctx)[0])
        return [ctx.shape(of)]
    return shape


@kernel("input: T, filter: T -> output: T", shape=_dilated, numpy=_dilation, launch=kernels.dilate,
        T="realnumbertype", **_ATTRS)
def Dilation2D() -> None:
    """Compute the maximum of input + filter over the windows of each channel; padding never is the maximum."""


@kernel("input: T, filter: T, out_backprop: T -> in_backprop: T", shape=_gradient_shape(0), numpy=_input_gradient,
        launch=kernels.input_gradient, T="realnumbertype", **_ATTRS)
def Dilation2DBackpropInput() -> None:
    """Compute the gradient of Dilation2D for its input: to the (first) maximum of each window."""


@kernel("input: T, filter: T, out_backprop: T -> filter_backprop: T", shape=_gradient_shape(1),
        numpy=_filter_gradient, launch=kernels.filter_gradient, T="realnumbertype", **_ATTRS)
def Dilation2DBackpropFilter() -> None:
    """Compute the gradient of Dilation2D for its filter: to the (first) maximum of each window."""


@Dilation2D.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor | None]:
    return [Dilation2DBackpropInput(*op.inputs, dy, **op.attrs), Dilation2DBackpropFilter(*op.inputs, dy, **op.attrs)]


Dilation2DBackpropInput.no_gradient("TensorFlow has none")
Dilation2DBackpropFilter.no_gradient("TensorFlow has none")


@public("nn.dilation2d")
def dilation2d(input: Any, filter: Any = None, strides: Sequence[int] | None = None,
               rates: Sequence[int] | None = None, padding: str | None = None, name: str | None = None,
               filters: Any = None, dilations: Sequence[int] | None = None) -> Tensor:
    """Compute the grayscale dilation of images: the maximum of input + filter over the windows of each channel.

    input: real numbers [batch, height, width, depth]. filter (also `filters`): [height, width, depth]. strides, rates
    (also `dilations`): [1, rows, columns, 1], between windows and between taps. padding: "SAME" or "VALID". Raises
    ValueError for other shapes and lists.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> y = tf.nn.dilation2d(image, tf.zeros([2, 2, 1]), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID")
    >>> sess.run(y).ravel()
    array([4.], dtype=float32)
    """
    tensor: Tensor = Dilation2D(input, renamed("filters", filters, "filter", filter), strides=strides,
                                rates=renamed("dilations", dilations, "rates", rates), padding=padding, name=name)
    return tensor


@public("nn.erosion2d")
def erosion2d(value: Any, kernel: Any, strides: Sequence[int], rates: Sequence[int], padding: str,
              name: str | None = None) -> Tensor:
    """Compute the grayscale erosion of images: the minimum of value - kernel over the windows of each channel.

    value: real numbers [batch, height, width, depth]. kernel: [height, width, depth]. strides, rates: [1, rows,
    columns, 1], between windows and between taps. padding: "SAME" or "VALID". Raises as `tf.nn.dilation2d`.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> y = tf.nn.erosion2d(image, tf.zeros([2, 2, 1]), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID")
    >>> sess.run(y).ravel()
    array([1.], dtype=float32)
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        mirrored = raw.ReverseV2(kernel, [0, 1])
        eroded: Tensor = raw.Neg(dilation2d(raw.Neg(value), mirrored, strides, rates, padding), name=scope)
        return eroded


describe(globals(), TENSORS)
