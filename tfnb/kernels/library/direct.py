"""Direct convolution loops: depthwise convolutions, those of integers on the CPU, those to few channels on a GPU.

    convolve(call), input_gradient(call), filter_gradient(call)     Conv2D and its gradients, on a GPU
    depthwise(call), depthwise_input_gradient(call), depthwise_filter_gradient(call)
                                                                    DepthwiseConv2dNative and its gradients
    convolved(...), spread(...)                                     Conv2D, Conv2DBackpropInput, by addresses

An item is a row of the result on the CPU, whose innermost loops run over channels, and an element on a GPU, in either
data format (other convolutions go by tiles there, image/convolution.py). The filter's gradient is a partial sum for
each of a fixed number of items on the CPU. Every sum has one thread, so nothing depends on the order of threads.
"""
from __future__ import annotations

from functools import partial
from typing import Any

from tfnb.kernels.arrays.window import Window, channels_first, window
from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, Type
from tfnb.kernels.launch import Address, Call, Launch, Meta
from tfnb.kernels.library.layout import around
from tfnb.kernels.library.partial_sums import partial_sums

OPERATIONS = 1 << 18                                    # that a thread of the CPU does at a time
ITEMS = 16                                              # of a filter's gradient


@kernel_function(independent=True)
def convolve_windows(x: Array, f: Array, out: Array, window: Ints, steps: Ints, xc: MaybeOne, uc: MaybeOne,
                     own: MaybeOne, made: MaybeOne, c: int, span: MaybeOne, spans: MaybeOne, width: MaybeOne,
                     blocks: MaybeOne, depthwise: Static, T: Type, item: int) -> None:
    """Compute `width` output channels of `span` windows in a row; each `made` of them meet `own` input channels.

    steps: from image, row and pixel to the next, of x and of the output; xc, uc: from a channel.
    """
    h, w, oh, ow, kh, kw, sy, sx, dy, dx, top, left = window
    xn, xy, xx, un, uy, ux = steps
    many = width * blocks
    k, line = item % blocks, item // blocks
    row, first = line // spans, line % spans * span
    image, oy, group = row // oh, row % oh, k // made * own
    for ox in range(first, first + span):
        to, total = image * un + oy * uy + ox * ux, T(0)
        if width != 1:
            for j in range(width):
                out[to + j] = T(0)
        for ky in range(kh):
            y = oy * sy - top + ky * dy
            if y >= 0 and y < h:
                start = image * xn + y * xy
                for kx in range(kw):
                    place = ox * sx - left + kx * dx
                    if place >= 0 and place < w:
                        source, tap = start + place * xx, (ky * kw + kx) * own * many
                        if width == 1:
                            for j in range(own):
                                total = T(total + x[source + (group + j) * xc] * f[tap + j * many + k])
                        elif depthwise:
                            for j in range(c):
                                value = x[source + j]
                                for q in range(made):
                                    n = j * made + q
                                    out[to + n] = T(out[to + n] + value * f[tap + n])
                        else:
                            for j in range(own):
                                value = x[source + j]
                                for q in range(width):
                                    out[to + q] = T(out[to + q] + value * f[tap + j * many + q])
        if width == 1:
            out[to + k * uc] = total


@kernel_function(independent=True)
def spread_windows(grad: Array, f: Array, out: Array, window: Ints, steps: Ints, xc: MaybeOne, uc: MaybeOne,
                   own: MaybeOne, made: MaybeOne, many: int, span: MaybeOne, spans: MaybeOne, width: MaybeOne,
                   blocks: MaybeOne, depthwise: Static, T: Type, item: int) -> None:
    """Compute the gradient for `width` input channels of `span` pixels in a row, from the windows that meet them."""
    h, w, oh, ow, kh, kw, sy, sx, dy, dx, top, left = window
    xn, xy, xx, un, uy, ux = steps
    lane, line = item % blocks, item // blocks
    row, first = line // spans, line % spans * span
    image, y = row // h, row % h
    for place in range(first, first + span):
        to, total = image * xn + y * xy + place * xx, T(0)
        if width != 1:
            for j in range(width):
                out[to + j] = T(0)
        for ky in range(kh):
            oy = y + top - ky * dy
            if oy >= 0 and oy % sy == 0 and oy // sy < oh:
                for kx in range(kw):
                    ox = place + left - kx * dx
                    if ox >= 0 and ox % sx == 0 and ox // sx < ow:
                        source, tap = image * un + oy // sy * uy + ox // sx * ux, (ky * kw + kx) * own * many
                        if width == 1:
                            at, group = tap + lane % own * many, lane // own * made
                            for k in range(group, group + made):
                                total = T(total + grad[source + k * uc] * f[at + k])
                        else:
                            for j in range(width):
                                part = T(0)
                                at, group = (tap, j * made) if depthwise else (tap + j * many, 0)
                                for k in range(made):
                                    part = T(part + grad[source + group + k] * f[at + group + k])
                                out[to + j] = T(out[to + j] + part)
        if width == 1:
            out[to + lane * xc] = total


@kernel_function(independent=True)
def weigh_taps(x: Array, grad: Array, out: Array, window: Ints, steps: Ints, xc: MaybeOne, uc: MaybeOne, own: int,
               made: MaybeOne, many: int, c: int, rows: int, per_item: int, T: Type, item: int) -> None:
    """Compute one element of the filter's gradient; or, of a depthwise one, its part of `per_item` rows of windows."""
    h, w, oh, ow, kh, kw, sy, sx, dy, dx, top, left = window
    xn, xy, xx, un, uy, ux = steps
    if per_item is None:
        k, rest, total = item % many, item // many, T(0)
        j, tap = rest % own + k // made * own, rest // own
        for row in range(rows):
            y = row % oh * sy - top + tap // kw * dy
            if y >= 0 and y < h:
                for ox in range(ow):
                    place = ox * sx - left + tap % kw * dx
                    if place >= 0 and place < w:
                        total = T(total + x[row // oh * xn + y * xy + place * xx + j * xc]
                                  * grad[row // oh * un + row % oh * uy + ox * ux + k * uc])
        out[item] = total
    else:
        base = item * kh * kw * many
        for k in range(base, base + kh * kw * many):
            out[k] = T(0)
        for row in range(item * per_item, min((item + 1) * per_item, rows)):
            image, oy = row // oh, row % oh
            for ky in range(kh):
                y = oy * sy - top + ky * dy
                if y >= 0 and y < h:
                    for kx in range(kw):
                        to = base + (ky * kw + kx) * many
                        for ox in range(ow):
                            place = ox * sx - left + kx * dx
                            if place >= 0 and place < w:
                                source, at = image * xn + y * xy + place * xx, (row * ow + ox) * many
                                for j in range(c):
                                    for q in range(made):
                                        n = j * made + q
                                        out[to + n] = T(out[to + n] + x[source + j] * grad[at + n])


def convolved(call: Call, w: Window, x: Address, f: Address, out: Address, own: int, many: int, type: str,
              depthwise: bool = False) -> list[Launch]:
    """Return the launches of a convolution to `many` channels, with a filter of `own` input channels."""
    return _over(call, convolve_windows, w, (x, f, out), own, many, type, (w.out_height, w.out_width, many), w.channels,
                 depthwise)


def spread(call: Call, w: Window, dy: Address, f: Address, out: Address, own: int, many: int, type: str,
           depthwise: bool = False) -> list[Launch]:
    """Return the launches of the gradient of `convolved` for its images."""
    return _over(call, spread_windows, w, (dy, f, out), own, many, type, (w.height, w.width, w.channels), many,
                 depthwise)


def _over(call: Call, function: KernelFunction, w: Window, addresses: tuple[Address, Address, Address], own: int,
          many: int, type: str, result: tuple[int, int, int], met: int, depthwise: bool) -> list[Launch]:
    """Return the launch. result: its rows, columns and channels; met: the channels of what it is computed from."""
    rows, columns, channels = result
    size = Meta(type, ()).itemsize
    images, results = w.elements * size, w.pixels * many * size
    reaches = (images, results) if function is convolve_windows else (results, images)
    given, f, out = (address.of(type) for address in addresses)
    span, spans = (columns, 1) if call.device == "cpu" else (1, columns)
    width, blocks = call.columns(channels)
    work = max(w.width, w.out_width) * w.taps * max(1, own * many)
    return [function.launch(
        call, w.batch * rows * spans * blocks, given.reach(reaches[0]), f.reach(w.taps * own * many * size),
        out.reach(reaches[1]), *_geometry(call, w, own, many), met, span, spans, width, blocks, depthwise,
        type, grain=max(1, OPERATIONS // max(1, work)), label="convolution by rows")] if w.batch * rows else []


def _geometry(call: Call, w: Window, own: int, many: int) -> tuple[Any, ...]:
    """Return the arguments from `window` to `made`."""
    of_x = (w.height * w.width * w.channels, w.width * w.channels, w.channels, 1)
    of_out = (w.out_height * w.out_width * many, w.out_width * many, many, 1)
    if call.device == "cuda" and channels_first(call.attrs):
        of_x = (of_x[0], w.width, 1, w.height * w.width)
        of_out = (of_out[0], w.out_width, 1, w.out_height * w.out_width)
    sizes = (w.height, w.width, w.out_height, w.out_width, w.kernel_height, w.kernel_width, w.stride_y, w.stride_x,
             w.dilation_y, w.dilation_x, w.top, w.left)
    return (sizes, (*of_x[:3], *of_out[:3]), of_x[3], of_out[3], own, many // max(1, w.channels // max(1, own)))


def _filter(f: Meta, depthwise: bool) -> tuple[int, int]:
    """Return how many input channels each output channel meets, and how many output channels there are."""
    return (1, f.shape[2] * f.shape[3]) if depthwise else (f.shape[2], f.shape[3])


def _forward(call: Call, depthwise: bool) -> list[Launch]:
    x, f = call.inputs
    w = window(x.shape, f.shape[:2], call.attrs)
    return around(call, [0], lambda images, out: convolved(
        call, w, images[0], call.input(1), out, *_filter(f, depthwise), x.type, depthwise))


def _input_gradient(call: Call, depthwise: bool) -> list[Launch]:
    _, f, dy = call.inputs
    w = window(call.outputs[0].shape, f.shape[:2], call.attrs)
    return around(call, [2], lambda images, out: spread(
        call, w, images[0], call.input(1), out, *_filter(f, depthwise), dy.type, depthwise))


def _filter_gradient(call: Call, depthwise: bool) -> list[Launch]:
    x, out = call.inputs[0], call.outputs[0]
    w, (own, many) = window(x.shape, out.shape[:2], call.attrs), _filter(out, depthwise)
    rows, whole = w.batch * w.out_height, w.taps * own * many * out.itemsize

    def made(sources: list[Address], target: Address) -> list[Launch]:
        given = sources[0].reach(w.elements * x.itemsize).of(x.type), sources[1].reach(
            w.pixels * many * x.itemsize).of(x.type)
        geometry = *_geometry(call, w, own, many), many, w.channels, rows
        if call.device == "cuda":
            return [weigh_taps.launch(call, out.size, *given, target.reach(whole), *geometry, None, x.type)]
        items = max(1, min(ITEMS, rows))
        sums = call.scratch(items * whole).reach(items * whole).of(x.type)
        return [weigh_taps.launch(call, items, *given, sums, *geometry, -(-rows // items), x.type, grain=1,
                                  label="depthwise filter gradient"),
                partial_sums(call, sums, target, x.type, items, w.taps, many)]
    return around(call, [0, 2], made, turn_output=False)


convolve, depthwise = partial(_forward, depthwise=False), partial(_forward, depthwise=True)
input_gradient = partial(_input_gradient, depthwise=False)
depthwise_input_gradient = partial(_input_gradient, depthwise=True)
filter_gradient = partial(_filter_gradient, depthwise=False)
depthwise_filter_gradient = partial(_filter_gradient, depthwise=True)
