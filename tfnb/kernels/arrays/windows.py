"""Convolutions and pools on NumPy arrays: the interpreter's form, and the reference of the kernels.

Images are (batch, height, width, channels) here, filters (height, width, in, out), depthwise ones (height, width,
channels, multiplier). Half precision is computed in float32. A few images at a time keep the windows in memory.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from tfnb.core.interrupts import leave_if_abandoned
from tfnb.kernels.arrays.window import Window
from tfnb.kernels.scalar.numpy_forms import select

Place = tuple[slice, slice, slice]                 # images, rows and columns
MOST_ELEMENTS = 1 << 22                            # of unfolded windows at a time
WIDE = 3                   # channels from which a product for each tap takes less time than one for all
SPREAD = 16                                        # by how much padding may make an image larger than what is met of it


def convolve(x: np.ndarray, kernel: np.ndarray, w: Window) -> np.ndarray:
    """Compute the sum over taps and input channels, for each output channel."""
    out = np.zeros((w.batch, w.out_height, w.out_width, kernel.shape[3]), x.dtype)
    flat = kernel.reshape(w.taps * w.channels, kernel.shape[3])
    for part in _images(w, flat.shape[0]):
        columns = patches(x[part], w).reshape(_rows(out[part]), flat.shape[0])
        out[part] = (columns @ flat).reshape(out[part].shape)
    return out


def convolve_input_gradient(kernel: np.ndarray, dy: np.ndarray, w: Window) -> np.ndarray:
    """Return the gradient of `convolve` for its input."""
    out = np.zeros((w.batch, w.height, w.width, w.channels), dy.dtype)
    flat = kernel.reshape(w.taps * w.channels, kernel.shape[3]).T
    if w.channels >= WIDE:                          # a matrix product for each tap, whose result is added at once
        for part in _images(w, flat.shape[1]):
            for ky, kx, (from_y, to_y), (from_x, to_x) in _meetings(w):
                met = dy[part, from_y, from_x]
                made = met.reshape(_rows(met), flat.shape[0]) @ kernel[ky, kx].T
                out[part, to_y, to_x] += made.reshape(*met.shape[:3], w.channels)
        return out
    for part in _images(w, flat.shape[1]):
        columns = dy[part].reshape(_rows(dy[part]), flat.shape[0]) @ flat
        out[part] = scatter(columns.reshape(*dy[part].shape[:3], *kernel.shape[:3]), w)
    return out


def convolve_filter_gradient(x: np.ndarray, dy: np.ndarray, w: Window) -> np.ndarray:
    """Return the gradient of `convolve` for its filter."""
    shape = (w.kernel_height, w.kernel_width, w.channels)
    out = np.zeros((w.taps * w.channels, dy.shape[3]), x.dtype)
    for part in _images(w, out.shape[0]):
        rows = _rows(dy[part])
        out += patches(x[part], w).reshape(rows, out.shape[0]).T @ dy[part].reshape(rows, dy.shape[3])
    return out.reshape(*shape, dy.shape[3])


def grouped_convolve(x: np.ndarray, kernel: np.ndarray, w: Window) -> np.ndarray:
    """Compute `convolve` with as many groups of channels as the filter's fit into the input's."""
    parts = _groups(w, kernel.shape[2], x, kernel)
    return np.concatenate([convolve(a, b, _one(w, kernel.shape[2])) for a, b in parts], 3)


def grouped_input_gradient(kernel: np.ndarray, dy: np.ndarray, w: Window) -> np.ndarray:
    """Return the gradient of `grouped_convolve` for its input."""
    parts = _groups(w, kernel.shape[2], kernel, dy)
    return np.concatenate([convolve_input_gradient(a, b, _one(w, kernel.shape[2])) for a, b in parts], 3)


def grouped_filter_gradient(x: np.ndarray, dy: np.ndarray, w: Window, sizes: np.ndarray) -> np.ndarray:
    """Return the gradient of `grouped_convolve` for its filter, of the shape `sizes`."""
    parts = _groups(w, int(sizes[2]), x, dy)
    return np.concatenate([convolve_filter_gradient(a, b, _one(w, int(sizes[2]))) for a, b in parts], 3)


def _groups(w: Window, depth: int, first: np.ndarray, second: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Cut two arrays along their last axis into groups of channels."""
    count = max(1, w.channels // max(1, depth))
    return zip(np.split(first, count, 3), np.split(second, count, 3), strict=True)


def _one(w: Window, depth: int) -> Window:
    """Return the windows of one group."""
    return replace(w, channels=depth)


def depthwise(x: np.ndarray, kernel: np.ndarray, w: Window) -> np.ndarray:
    """Convolve each channel with filters of its own: output channel c * multiplier + q."""
    out = np.zeros((w.batch, w.out_height, w.out_width, *kernel.shape[2:]), x.dtype)
    for part in _images(w, w.taps * w.channels * kernel.shape[3]):
        out[part] = np.einsum("nyxijc,ijcq->nyxcq", patches(x[part], w), kernel)
    return out.reshape(*out.shape[:3], kernel.shape[2] * kernel.shape[3])


def depthwise_input_gradient(kernel: np.ndarray, dy: np.ndarray, w: Window) -> np.ndarray:
    """Return the gradient of `depthwise` for its input."""
    out = np.zeros((w.batch, w.height, w.width, w.channels), dy.dtype)
    for part in _images(w, w.taps * w.channels * kernel.shape[3]):
        apart = dy[part].reshape(*dy[part].shape[:3], *kernel.shape[2:])
        out[part] = scatter(np.einsum("nyxcq,ijcq->nyxijc", apart, kernel), w)
    return out


def depthwise_filter_gradient(x: np.ndarray, dy: np.ndarray, w: Window, sizes: np.ndarray) -> np.ndarray:
    """Return the gradient of `depthwise` for its filter, of the shape `sizes`."""
    out = np.zeros([int(n) for n in sizes], x.dtype)
    for part in _images(w, w.taps * dy.shape[3]):
        apart = dy[part].reshape(*dy[part].shape[:3], *out.shape[2:])
        out += np.einsum("nyxijc,nyxcq->ijcq", patches(x[part], w), apart)
    return out


def max_pool(x: np.ndarray, w: Window) -> np.ndarray:
    """Return the maximum of each window; padding and NaN are ignored."""
    numbers = _numbers(x)
    out = np.full((x.shape[0], w.out_height, w.out_width, x.shape[3]), lowest(x.dtype), x.dtype)
    for _, _, (to_y, from_y), (to_x, from_x) in _meetings(w):      # a third of the time of a reduction over two axes
        part = out[:, to_y, to_x]
        np.maximum(part, numbers[:, from_y, from_x], out=part)
    return out


def _largest(x: np.ndarray, w: Window) -> Iterator[tuple[int, Place, Place, np.ndarray]]:
    """Yield (tap, outputs, inputs, whether the tap is the first of the window that holds its maximum)."""
    numbers, best = _numbers(x), max_pool(x, w)
    left = np.ones(best.shape, bool)                # windows whose maximum was not met yet
    for ky, kx, (to_y, from_y), (to_x, from_x) in _meetings(w):
        out, inside = (slice(None), to_y, to_x), (slice(None), from_y, from_x)
        there = numbers[inside] == best[out]
        there &= left[out]
        left[out] ^= there
        yield ky * w.kernel_width + kx, out, inside, there


def first_largest(x: np.ndarray, w: Window) -> np.ndarray:
    """Return (batch, out height, out width, channels): the first tap of each window that holds its maximum."""
    found = np.zeros((x.shape[0], w.out_height, w.out_width, x.shape[3]), np.int64)
    for tap, out, _, there in _largest(x, w):
        np.copyto(found[out], tap, where=there)
    return found


def max_pool_gradient(x: np.ndarray, dy: np.ndarray, w: Window) -> np.ndarray:
    """Return the gradient of `max_pool`: each of `dy` goes to the first maximum of its window."""
    made = np.zeros(x.shape, dy.dtype)
    for _, out, inside, there in _largest(x, w):
        made[inside] += select(there, dy[out], np.zeros((), dy.dtype))
    return made


def at_largest(x: np.ndarray, values: np.ndarray, w: Window) -> np.ndarray:
    """Return the elements of `values` at the position of the first maximum of each window."""
    cells = patches(values, w)
    flat = cells.reshape(*cells.shape[:3], w.taps, w.channels)
    return np.take_along_axis(flat, first_largest(x, w)[:, :, :, None], 3)[:, :, :, 0]


def avg_pool(x: np.ndarray, w: Window) -> np.ndarray:
    """Return the mean of each window; padding is not counted."""
    return np.asarray(patches(x, w).sum((3, 4)) / counts(w).astype(x.dtype))


def avg_pool_gradient(dy: np.ndarray, w: Window) -> np.ndarray:
    """Return the gradient of `avg_pool`."""
    each = (dy * (1 / counts(w).astype(dy.dtype)))[:, :, :, None, None]
    return scatter(np.broadcast_to(each, (*dy.shape[:3], w.kernel_height, w.kernel_width, w.channels)), w)


def counts(w: Window) -> np.ndarray:
    """Return (1, out height, out width, 1): how many taps of a window are inside the image."""
    return np.asarray(patches(np.ones((1, w.height, w.width, 1), np.int64), w).sum((3, 4)))


def patches(x: np.ndarray, w: Window, fill: object = 0) -> np.ndarray:
    """Return (batch, out height, out width, kernel height, kernel width, channels): a view of the padded images.

    Where dilated taps are so far apart that padding would be most of that, a copy made tap by tap.
    """
    rows, width = _extent(w)
    if rows * width > SPREAD * max(w.height * w.width, w.out_height * w.out_width * w.taps):
        return _gathered(x, w, fill)
    padded = _padded(x, w, fill)
    n, y, x_, c = padded.strides
    return np.lib.stride_tricks.as_strided(
        padded, (x.shape[0], w.out_height, w.out_width, w.kernel_height, w.kernel_width, x.shape[3]),
        (n, y * w.stride_y, x_ * w.stride_x, y * w.dilation_y, x_ * w.dilation_x, c), writeable=False)


def _gathered(x: np.ndarray, w: Window, fill: object) -> np.ndarray:
    """Return `patches`, each tap from the pixels that it reads inside the image."""
    shape = (x.shape[0], w.out_height, w.out_width, w.kernel_height, w.kernel_width, x.shape[3])
    out = np.full(shape, fill, x.dtype)
    for ky, kx, (to_y, from_y), (to_x, from_x) in _meetings(w):
        out[:, to_y, to_x, ky, kx] = x[:, from_y, from_x]
    return out


def scatter(columns: np.ndarray, w: Window) -> np.ndarray:
    """Transpose `patches`: the values of each tap of each window, summed at the input's positions."""
    out = np.zeros((columns.shape[0], w.height, w.width, columns.shape[5]), columns.dtype)
    for ky, kx, (from_y, to_y), (from_x, to_x) in _meetings(w):
        out[:, to_y, to_x] += columns[:, from_y, from_x, ky, kx]
    return out


def _meetings(w: Window) -> Iterator[tuple[int, int, tuple[slice, slice], tuple[slice, slice]]]:
    """Yield (row, column, (outputs, inputs) along the height, (outputs, inputs) along the width) of taps that meet."""
    columns = [_met(w.width, w.out_width, w.stride_x, kx * w.dilation_x - w.left) for kx in range(w.kernel_width)]
    for ky in range(w.kernel_height):
        rows = _met(w.height, w.out_height, w.stride_y, ky * w.dilation_y - w.top)
        for kx, along in enumerate(columns):
            if rows is not None and along is not None:
                yield ky, kx, rows, along


def _met(size: int, out: int, stride: int, shift: int) -> tuple[slice, slice] | None:
    """Return the outputs o with o * stride + shift inside an axis, and these positions; None if there are none."""
    first, last = max(0, -(shift // stride)), min(out - 1, (size - 1 - shift) // stride)
    if first > last:
        return None
    return slice(first, last + 1), slice(first * stride + shift, last * stride + shift + 1, stride)


def lowest(dtype: np.dtype) -> float:
    """Return the least value of a dtype."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _numbers(x: np.ndarray) -> np.ndarray:
    """Replace NaN by the least value."""
    if x.dtype.kind in "iu" or not (bad := np.isnan(x)).any():
        return x
    return np.where(bad, lowest(x.dtype), x).astype(x.dtype, copy=False)


def _extent(w: Window) -> tuple[int, int]:
    """Return the height and width that all windows cover, counted from the first padding."""
    return (max(0, w.out_height - 1) * w.stride_y + (w.kernel_height - 1) * w.dilation_y + 1,
            max(0, w.out_width - 1) * w.stride_x + (w.kernel_width - 1) * w.dilation_x + 1)


def _padded(x: np.ndarray, w: Window, fill: object) -> np.ndarray:
    """Return the image moved into the area that the windows cover."""
    area = _extent(w)
    out = np.full((x.shape[0], *area, x.shape[3]), fill, x.dtype)
    rows, columns = (_overlap(n, before, total) for n, before, total in
                     zip((w.height, w.width), (w.top, w.left), area, strict=True))
    out[:, rows[1], columns[1]] = x[:, rows[0], columns[0]]
    return out


def _overlap(size: int, before: int, total: int) -> tuple[slice, slice]:
    """Return the overlap of an axis of `size`, `before` places into one of `total`: in the one, in the other."""
    start, stop = max(0, -before), min(size, total - before)
    stop = max(start, stop)
    return slice(start, stop), slice(start + before, stop + before)


def _images(w: Window, columns: int) -> Iterator[slice]:
    """Yield slices of the batch."""
    step = max(1, MOST_ELEMENTS // max(1, columns * w.out_height * w.out_width))
    for start in range(0, w.batch if w.out_height * w.out_width else 0, step):
        leave_if_abandoned()
        yield slice(start, start + step)


def _rows(image: np.ndarray) -> int:
    """Return the pixel count of images."""
    return prod(image.shape[:3])
