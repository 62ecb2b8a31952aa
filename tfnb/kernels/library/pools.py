"""Max and average pools of images and volumes, and their gradients.

    max_pool(call), avg_pool(call)                  MaxPool, MaxPool3D (input), AvgPool, AvgPool3D (value)
    max_pool_gradient(call)                         MaxPoolGrad, MaxPool3DGrad (orig_input, orig_output, grad)
    avg_pool_gradient(call)                         AvgPoolGrad, AvgPool3DGrad (orig_input_shape, grad)
    max_pool_second_gradient(call)                  MaxPoolGradGrad, MaxPool3DGradGrad (orig_input, orig_output, grad)
    max_pool_with_argmax(call)                      MaxPoolWithArgmax (input)

An item is a row of windows or pixels on the CPU, whose inner loops run over channels, and one element on a GPU, where
with channels first each channel is an image of its own. NaN is never the maximum (as in TensorFlow's kernels); of equal
elements the first in the window gets the gradient. A volume is pooled image by image, then along its depth.
"""
from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tfnb.kernels.arrays.window import Window, channels_first, pool_volume, pool_window
from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, Type, int32, unrolled
from tfnb.kernels.launch import Address, Call, Launch, Meta
from tfnb.kernels.library.copying import fill
from tfnb.kernels.library.layout import around
from tfnb.kernels.scalar.number_types import extreme

OPERATIONS = 1 << 17                                    # that a thread of the CPU does at a time
FEW = 9                                                 # taps of a window that are written out one by one


@kernel_function(independent=True)
def reduce_windows(x: Array, y: Array, places: Array, window: Ints, span: MaybeOne, spans: MaybeOne, width: MaybeOne,
                   blocks: MaybeOne, rows: Static, columns: Static, inside: Static, lowest: Static, P: Type, T: Type,
                   item: int) -> None:
    """Compute `width` channels of the means or, from `lowest` on, maxima of `span` windows in a row.

    places: the pixels of the first maxima. rows, columns: of windows with few taps, else 0. inside: no tap is padding.
    Few taps are written out: of maxima clamped to the image, of means where none is padding.
    """
    h, w, c, oh, ow, kh, kw, sy, sx, top, left = window
    lane, line = item % blocks * width, item // blocks
    row, first = line // spans, line % spans * span
    image = x[row // oh * h * w * c + lane:]
    high = row % oh * sy - top
    y0, y1 = max(high, 0), min(high + kh, h)
    for ox in range(first, first + span):
        low = ox * sx - left
        x0, x1 = max(low, 0), min(low + kw, w)
        to, count = (row * ow + ox) * c + lane, T((y1 - y0) * (x1 - x0))
        if rows and (lowest is not None or inside or (y1 - y0 == rows and x1 - x0 == columns)):
            for j in range(width):
                best, place = T(0 if lowest is None else lowest), P(y0 * w + x0)
                for tap in unrolled(rows * columns):
                    at = (high + tap // columns) * w + low + tap % columns if inside or lowest is None else \
                        min(max(high + tap // columns, 0), h - 1) * w + min(max(low + tap % columns, 0), w - 1)
                    value = image[at * c + j]
                    place = P(at) if lowest is not None and value > best else place
                    best = T(best + value) if lowest is None else value if value > best else best
                if y is not None:
                    y[to + j] = T(best / count) if lowest is None else best
                if places is not None:
                    places[to + j] = place
        elif width == 1:
            best, place = T(0 if lowest is None else lowest), P(y0 * w + x0)
            for line in range(y0, y1):
                for column in range(x0, x1):
                    value = image[(line * w + column) * c]
                    place = P(line * w + column) if lowest is not None and value > best else place
                    best = T(best + value) if lowest is None else value if value > best else best
            if y is not None:
                y[to] = T(best / count) if lowest is None else best
            if places is not None:
                places[to] = place
        else:
            for j in range(width):
                y[to + j] = T(0 if lowest is None else lowest)
                if places is not None:
                    places[to + j] = P(y0 * w + x0)
            for line in range(y0, y1):
                for column in range(x0, x1):
                    place = P(line * w + column)
                    at = (line * w + column) * c
                    for j in range(width):
                        value, best = image[at + j], y[to + j]
                        y[to + j] = T(best + value) if lowest is None else value if value > best else best
                        if places is not None:
                            places[to + j] = place if value > best else places[to + j]
            if lowest is None:
                for j in range(width):
                    y[to + j] = T(y[to + j] / count)


@kernel_function(independent=True)
def spread_windows(dy: Array, places: Array, dx: Array, window: Ints, span: MaybeOne, spans: MaybeOne, width: MaybeOne,
                   blocks: MaybeOne, P: Type, T: Type, item: int) -> None:
    """Compute the gradient for `width` channels of `span` pixels in a row: the sum over the windows that hold them.

    places: the pixel that gets all of a window's gradient; None for an equal share of each pixel.
    """
    h, w, c, oh, ow, kh, kw, sy, sx, top, left = window
    lane, line = item % blocks * width, item // blocks
    row, first = line // spans, line % spans * span
    y = row % h
    images, to = row // h * oh * ow * c + lane, row * w * c + lane
    total = T(0)
    alone = span == 1 and width == 1                    # an image of one column has many channels all the same
    if not alone:
        for column in range(first, first + span):
            for j in range(width):
                dx[to + column * c + j] = T(0)
    for oy in range(max((y + top - kh) // sy + 1, 0), min((y + top) // sy + 1, oh)):
        high = min(oy * sy - top + kh, h) - max(oy * sy - top, 0)
        for ox in range(max((first + left - kw) // sx + 1, 0), min((first + span - 1 + left) // sx + 1, ow)):
            x0, x1 = max(ox * sx - left, 0), min(ox * sx - left + kw, w)
            at, share = images + (oy * ow + ox) * c, T(1) / T(high * (x1 - x0))
            for column in range(max(x0, first), min(x1, first + span)):
                place = P(y * w + column)
                if alone:
                    total = T(total + (dy[at] * share if places is None else dy[at] if places[at] == place else T(0)))
                else:
                    for j in range(width):
                        value = dy[at + j]
                        part = value * share if places is None else value if places[at + j] == place else T(0)
                        dx[to + column * c + j] = T(dx[to + column * c + j] + part)
    if alone:
        dx[to + first * c] = total


@kernel_function(independent=True)
def differentiate_tiles(x: Array, dy: Array, dx: Array, window: Ints, span: MaybeOne, spans: MaybeOne,
                        width: MaybeOne, blocks: MaybeOne, rows: Static, columns: Static, gaps: Static,
                        lowest: Static, T: Type, item: int) -> None:
    """Compute the gradient of the means or, from `lowest` on, maxima of `span` windows, side by side in the image.

    gaps: whether to store zeros behind them, up to the next row of windows or the end of the image.
    """
    h, w, c, oh, ow, _, _, _, _, _, _ = window
    lane, line = item % blocks * width, item // blocks
    row, first = line // spans, line % spans * span
    image = (row // oh * h + row % oh * rows) * w * c + lane
    if gaps:
        for line in range(rows):
            for at in range(image + (line * w + ow * columns) * c, image + (line + 1) * w * c):
                dx[at] = T(0)
        if row % oh == oh - 1:
            for at in range(image + rows * w * c, (row // oh + 1) * h * w * c):
                dx[at] = T(0)
    for ox in range(first, first + span):
        to = image + ox * columns * c
        for j in range(width):
            grad = dy[(row * ow + ox) * c + lane + j]
            if lowest is None:
                for tap in unrolled(rows * columns):
                    dx[to + (tap // columns * w + tap % columns) * c + j] = grad * (T(1) / T(rows * columns))
            else:
                best, chosen = T(lowest), int32(0)
                for tap in unrolled(rows * columns):
                    value = x[to + (tap // columns * w + tap % columns) * c + j]
                    chosen = int32(tap) if value > best else chosen
                    best = value if value > best else best
                for tap in unrolled(rows * columns):
                    dx[to + (tap // columns * w + tap % columns) * c + j] = grad if chosen == tap else T(0)


@kernel_function(independent=True)
def take_places(places: Array, values: Array, out: Array, pixels: int, results: int, c: int, of_batch: Static, P: Type,
                item: int) -> None:
    """Pick the values of an image at the pixels that `places` has for each result and channel; None: their indices."""
    image = item // results * pixels * c
    for j in range(c):
        at = int(places[item * c + j]) * c + j
        if values is None:
            out[item * c + j] = P(at + (image if of_batch else 0))
        else:
            out[item * c + j] = values[image + at]


def _windows(call: Call, shape: tuple[int, ...]) -> list[Window]:
    """Return the windows of each pass over images of `shape`."""
    alone = call.device == "cuda" and channels_first(call.attrs)
    if len(shape) == 4:
        passes = [pool_window(shape, call.attrs)]
    else:
        v = pool_volume(shape, call.attrs)
        passes = [v.planes, v.lines]
    return [replace(w, batch=w.batch * w.channels, channels=1) if alone else w for w in passes]


def _pool(call: Call, largest: bool) -> list[Launch]:
    x, (*before, last) = call.inputs[0], _windows(call, call.inputs[0].shape)

    def made(images: list[Address], target: Address) -> list[Launch]:
        source, launches = images[0], []
        for w in before:
            middle = call.scratch(w.results * x.itemsize)
            launches.append(_reduced(call, w, x.type, largest, source, middle))
            source = middle
        return [*launches, _reduced(call, last, x.type, largest, source, target)]
    return around(call, [0], made, zero=False)


def _pool_gradient(call: Call, largest: bool) -> list[Launch]:
    out, passes = call.outputs[0], _windows(call, call.outputs[0].shape)

    def made(images: list[Address], target: Address) -> list[Launch]:
        launches, sources = [], images[:1]
        for w in passes[:-1] if largest else []:
            sources.append(call.scratch(w.results * out.itemsize))
            launches.append(_reduced(call, w, out.type, True, *sources[-2:]))
        grad = images[-1]
        for i, w in reversed(list(enumerate(passes))):
            given, grad = grad, call.scratch(w.elements * out.itemsize) if i else target
            launches += _differentiated(call, w, out.type, sources[i] if largest else None, given, grad)
        return launches
    return around(call, [0, 2] if largest else [1], made)


max_pool, avg_pool = partial(_pool, largest=True), partial(_pool, largest=False)
max_pool_gradient, avg_pool_gradient = partial(_pool_gradient, largest=True), partial(_pool_gradient, largest=False)


def max_pool_second_gradient(call: Call) -> list[Launch]:
    """Return the launches that take the elements of a gradient at the maximum of each window."""
    x, passes = call.inputs[0], _windows(call, call.inputs[0].shape)

    def made(images: list[Address], target: Address) -> list[Launch]:
        launches, (source, values) = [], images
        for i, w in enumerate(passes):
            more = i + 1 < len(passes)
            largest, taken = (call.scratch(w.results * x.itemsize) if more else None for _ in range(2))
            launches += _maxima(call, w, x.type, source, largest, values, taken or target, x.type)
            source, values = largest or source, taken or target
        return launches
    return around(call, [0, 2], made)


def max_pool_with_argmax(call: Call) -> list[Launch]:
    """Return the launches of maxima and their indices in the image or, with `include_batch_in_index`, in the batch."""
    x, index = call.inputs[0], call.outputs[1]
    w, = _windows(call, x.shape)
    return _maxima(call, w, x.type, call.input(0), call.output(0), None, call.output(1), index.type,
                   bool(call.attrs["include_batch_in_index"]))


def _maxima(call: Call, w: Window, type: str, x: Address, y: Address | None, values: Address | None, out: Address,
            out_type: str, of_batch: bool = False) -> list[Launch]:
    """Return the launches of the maxima of windows (y), and of values, or indices, at their places (out)."""
    if not w.results:
        return []
    places = call.scratch(np.dtype(_place(w)).itemsize * w.results)
    if y is None and w.taps > FEW and call.device == "cpu":
        y = call.scratch(w.results * np.dtype(type).itemsize)
    results = w.out_height * w.out_width
    return [_reduced(call, w, type, True, x, y, places), take_places.launch(
        call, w.batch * results, _places(w, places),
        values and values.of(type).reach(w.elements * np.dtype(type).itemsize),
        out.of(out_type).reach(w.results * np.dtype(out_type).itemsize), w.height * w.width, results, w.channels,
        of_batch=of_batch, P=out_type, grain=max(1, OPERATIONS // max(1, 8 * w.channels)), label="places of maxima")]


def _differentiated(call: Call, w: Window, type: str, x: Address | None, dy: Address, dx: Address) -> list[Launch]:
    """Return the launches of the gradient of the maxima of x, or of means."""
    size = np.dtype(type).itemsize
    if w.is_inside and w.taps <= FEW and (w.stride_y, w.stride_x) == (w.kernel_height, w.kernel_width):
        whole = w.elements * size
        gaps = w.results * w.taps < w.elements
        zeros = fill(call, None, dx, Meta(type, (w.elements,))) if gaps and call.device == "cuda" else []
        return [*zeros, _over(call, differentiate_tiles, w, w.out_height, w.out_width, type, x and x.reach(whole),
                      dy.reach(w.results * size), dx.reach(whole), lowest=x and extreme(type, "lowest"),
                      rows=w.kernel_height, columns=w.kernel_width, gaps=gaps and call.device == "cpu")]
    if x is None:
        return [_spread(call, w, type, dy, dx)]
    places = call.scratch(np.dtype(_place(w)).itemsize * w.results)
    y = None if w.taps <= FEW or call.device == "cuda" else call.scratch(w.results * size)
    return [_reduced(call, w, type, True, x, y, places), _spread(call, w, type, dy, dx, places)]


def _reduced(call: Call, w: Window, type: str, largest: bool, x: Address, y: Address | None,
             places: Address | None = None) -> Launch:
    size = np.dtype(type).itemsize
    few, lowest = w.taps <= FEW, extreme(type, "lowest") if largest else None
    return _over(call, reduce_windows, w, w.out_height, w.out_width, type, x.reach(w.elements * size),
                 y and y.reach(w.results * size), _places(w, places), lowest=lowest, P=_place(w),
                 rows=few and w.kernel_height, columns=few and w.kernel_width, inside=few and w.is_inside)


def _spread(call: Call, w: Window, type: str, dy: Address, dx: Address, places: Address | None = None) -> Launch:
    size = np.dtype(type).itemsize
    return _over(call, spread_windows, w, w.height, w.width, type, dy.reach(w.results * size), _places(w, places),
                 dx.reach(w.elements * size), P=_place(w))


def _place(w: Window) -> str:
    """Return the dtype that counts pixels: with 32 bits as many of them make a vector as of most elements."""
    return "int32" if w.height * w.width < 1 << 31 else "int64"


def _places(w: Window, places: Address | None) -> Address | None:
    return places and places.of(_place(w)).reach(np.dtype(_place(w)).itemsize * w.results)


def _over(call: Call, function: KernelFunction, w: Window, lines: int, wide: int, type: str, *arrays: Address | None,
          **constants: Any) -> Launch:
    """Return the launch over `lines` rows of `wide` windows or pixels in each image."""
    span, spans = (wide, 1) if call.device == "cpu" else (1, wide)
    width, blocks = call.columns(w.channels)
    sizes = (w.height, w.width, w.channels, w.out_height, w.out_width, w.kernel_height, w.kernel_width, w.stride_y,
             w.stride_x, w.top, w.left)
    arrays = tuple(array and (array if array.type else array.of(type)) for array in arrays)
    work = w.out_width * w.taps * w.channels
    return function.launch(call, w.batch * lines * spans * blocks, *arrays, sizes, span, spans, width, blocks, T=type,
                           grain=max(1, OPERATIONS // max(1, work)), label="pool", **constants)
