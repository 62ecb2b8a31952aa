"""Convolutions by loops: of each channel by itself (depthwise), and of whole numbers.

    depthwise(call), depthwise_input_gradient(call), depthwise_filter_gradient(call)
                                    DepthwiseConv2dNative and its gradients
    loop_convolve(w, x, kernel, out, n, type), loop_input_gradient(w, dy, kernel, out, m, type)
                                    Conv2D and Conv2DBackpropInput of types that BLAS does not have

Items are rows of the output, so that no two threads write to the same place; the filter's gradient is a partial sum
for each of a fixed number of items, added up at the end.
"""
from __future__ import annotations

from tfnb.kernels.cpu.layout import around
from tfnb.kernels.launch import Address, Call, Launch, Meta, Word
from tfnb.kernels.window import Window, window

OPERATIONS = 1 << 18                                    # that a thread does at a time
ITEMS = 16

(X, KERNEL, OUT, C, Q, H, W, OH, OW, KH, KW, SY, SX, DY, DX, TOP, LEFT, PER_ITEM) = range(18)

LOAD = f"""
    c, q, h, w, oh, ow = args[{C}], args[{Q}], args[{H}], args[{W}], args[{OH}], args[{OW}]
    kh, kw, sy, sx, dy, dx = args[{KH}], args[{KW}], args[{SY}], args[{SX}], args[{DY}], args[{DX}]
    top, left = args[{TOP}], args[{LEFT}]
    x = {{type}}_array(args[{X}], 0)
    f = {{type}}_array(args[{KERNEL}], 0)
    out = {{type}}_array(args[{OUT}], 0)
"""

# Item i: row i of the outputs of all images. x: images (c channels), f: [kh, kw, c, q], out: c * q channels.
DEPTHWISE_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + """
    n = c * q
    for i in range(begin, end):
        image, oy = i // oh, i % oh
        for ox in range(ow):
            to = (i * ow + ox) * n
            for j in range(n):
                out[to + j] = {type}(0)
            for ky in range(kh):
                y = oy * sy - top + ky * dy
                if y >= 0 and y < h:
                    for kx in range(kw):
                        place = ox * sx - left + kx * dx
                        if place >= 0 and place < w:
                            source, tap = ((image * h + y) * w + place) * c, (ky * kw + kx) * n
                            if q == 1:
                                for j in range(c):
                                    out[to + j] = out[to + j] + x[source + j] * f[tap + j]
                            else:
                                for j in range(c):
                                    for k in range(q):
                                        out[to + j * q + k] = out[to + j * q + k] + x[source + j] * f[tap + j * q + k]
"""

# Item i: row i of the inputs of all images. x: the output's gradient; out: the input's.
DEPTHWISE_INPUT_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + """
    n = c * q
    for i in range(begin, end):
        image, y = i // h, i % h
        for place in range(w):
            to = (i * w + place) * c
            for j in range(c):
                out[to + j] = {type}(0)
            for ky in range(kh):
                oy = y + top - ky * dy
                if oy >= 0 and oy % sy == 0 and oy // sy < oh:
                    for kx in range(kw):
                        ox = place + left - kx * dx
                        if ox >= 0 and ox % sx == 0 and ox // sx < ow:
                            source, tap = ((image * oh + oy // sy) * ow + ox // sx) * n, (ky * kw + kx) * n
                            if q == 1:
                                for j in range(c):
                                    out[to + j] = out[to + j] + x[source + j] * f[tap + j]
                            else:
                                for j in range(c):
                                    total = {type}(0)
                                    for k in range(q):
                                        total += x[source + j * q + k] * f[tap + j * q + k]
                                    out[to + j] = out[to + j] + total
"""

# Item i: rows [i * per item, ...) of the outputs, summed into filter i of `out`. f: the output's gradient.
DEPTHWISE_FILTER_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + f"""
    n, per_item = c * q, args[{PER_ITEM}]
    rows = args[{PER_ITEM} + 1]
    for i in range(begin, end):
        base = i * kh * kw * n
        for j in range(kh * kw * n):
            out[base + j] = {{type}}(0)
        for row in range(i * per_item, min((i + 1) * per_item, rows)):
            image, oy = row // oh, row % oh
            for ky in range(kh):
                y = oy * sy - top + ky * dy
                if y >= 0 and y < h:
                    for kx in range(kw):
                        to = base + (ky * kw + kx) * n
                        for ox in range(ow):
                            place = ox * sx - left + kx * dx
                            if place >= 0 and place < w:
                                source, grad = ((image * h + y) * w + place) * c, (row * ow + ox) * n
                                if q == 1:
                                    for j in range(c):
                                        out[to + j] = out[to + j] + x[source + j] * f[grad + j]
                                else:
                                    for j in range(c):
                                        for k in range(q):
                                            out[to + j * q + k] = (out[to + j * q + k]
                                                                   + x[source + j] * f[grad + j * q + k])
"""

# Item i: row i of the outputs of all images. c input channels, q output channels.
CONVOLVE_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + """
    for i in range(begin, end):
        image, oy = i // oh, i % oh
        for ox in range(ow):
            to = (i * ow + ox) * q
            for j in range(q):
                out[to + j] = {type}(0)
            for ky in range(kh):
                y = oy * sy - top + ky * dy
                if y >= 0 and y < h:
                    for kx in range(kw):
                        place = ox * sx - left + kx * dx
                        if place >= 0 and place < w:
                            for k in range(c):
                                value = x[((image * h + y) * w + place) * c + k]
                                tap = ((ky * kw + kx) * c + k) * q
                                for j in range(q):
                                    out[to + j] = {type}(out[to + j] + value * f[tap + j])
"""

# Item i: row i of the inputs of all images. x: the output's gradient (q channels); out: the input's (c channels).
CONVOLVE_INPUT_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):""" + LOAD + """
    for i in range(begin, end):
        image, y = i // h, i % h
        for place in range(w):
            to = (i * w + place) * c
            for j in range(c):
                out[to + j] = {type}(0)
            for ky in range(kh):
                oy = y + top - ky * dy
                if oy >= 0 and oy % sy == 0 and oy // sy < oh:
                    for kx in range(kw):
                        ox = place + left - kx * dx
                        if ox >= 0 and ox % sx == 0 and ox // sx < ow:
                            source, tap = ((image * oh + oy // sy) * ow + ox // sx) * q, (ky * kw + kx) * c * q
                            for j in range(c):
                                total = {type}(0)
                                for k in range(q):
                                    total = {type}(total + x[source + k] * f[tap + j * q + k])
                                out[to + j] = {type}(out[to + j] + total)
"""

SUM_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    groups, size = args[2], args[3]
    out = {type}_array(args[1] + {bytes} * begin, 0)
    for group in range(groups):
        source = {type}_array(args[0] + {bytes} * (group * size + begin), 0)
        if group == 0:
            for j in range(end - begin):
                out[j] = source[j]
        else:
            for j in range(end - begin):
                out[j] = out[j] + source[j]
"""


def depthwise(call: Call) -> list[Launch]:
    """DepthwiseConv2dNative (input, filter)."""
    x, kernel = call.inputs
    w = window(x.shape, kernel.shape[:2], call.attrs)
    return around(call, [0], lambda sources, out: _rows_of(
        DEPTHWISE_TEXT, w, x.type, (sources[0], call.input(1), out), kernel.shape[2:], w.out_height))


def depthwise_input_gradient(call: Call) -> list[Launch]:
    """DepthwiseConv2dNativeBackpropInput (input_sizes, filter, out_backprop)."""
    _, kernel, dy = call.inputs
    w = window(call.outputs[0].shape, kernel.shape[:2], call.attrs)
    return around(call, [2], lambda sources, out: _rows_of(
        DEPTHWISE_INPUT_TEXT, w, dy.type, (sources[0], call.input(1), out), kernel.shape[2:], w.height))


def depthwise_filter_gradient(call: Call) -> list[Launch]:
    """DepthwiseConv2dNativeBackpropFilter (input, filter_sizes, out_backprop)."""
    x, out = call.inputs[0], call.outputs[0]
    w = window(x.shape, out.shape[:2], call.attrs)
    rows = w.batch * w.out_height
    items = max(1, min(ITEMS, rows))

    def made(sources: list[Address], target: Address) -> list[Launch]:
        partial = call.scratch(items * out.size * out.itemsize)
        words = (*_words(w, (*sources, partial), out.shape[2:]), -(-rows // items), rows)
        return [Launch(DEPTHWISE_FILTER_TEXT.format(type=x.type), words, items, 1, "depthwise filter gradient"),
                sum_of(partial, target, items, out)]

    return around(call, [0, 2], made, turn_output=False)


def sum_of(partial: Address, target: Address, groups: int, out: Meta) -> Launch:
    """The sum of `groups` arrays of the size of `out` that stand one after the other, in their order."""
    text = SUM_TEXT.format(type=out.type, bytes=out.itemsize)
    return Launch(text, (partial, target, groups, out.size), out.size, max(64, (1 << 15) // groups), "partial sums")


def loop_convolve(w: Window, x: Address, kernel: Address, out: Address, n: int, type_: str) -> list[Launch]:
    """Conv2D with n output channels."""
    return _rows_of(CONVOLVE_TEXT, w, type_, (x, kernel, out), (w.channels, n), w.out_height, w.channels)


def loop_input_gradient(w: Window, dy: Address, kernel: Address, out: Address, m: int, type_: str) -> list[Launch]:
    """Conv2DBackpropInput with m output channels."""
    return _rows_of(CONVOLVE_INPUT_TEXT, w, type_, (dy, kernel, out), (w.channels, m), w.height, m)


def _rows_of(text: str, w: Window, type_: str, addresses: tuple[Address, ...], channels: tuple[int, ...], rows: int,
             inner: int = 1) -> list[Launch]:
    items = w.batch * rows
    if not items:
        return []
    work = max(w.width, w.out_width) * w.taps * max(1, channels[0] * channels[1]) * inner
    return [Launch(text.format(type=type_), tuple(_words(w, addresses, channels)), items,
                   max(1, OPERATIONS // max(1, work)), "convolution by rows")]


def _words(w: Window, addresses: tuple[Address, ...], channels: tuple[int, ...]) -> list[Word]:
    return [*addresses, *channels, w.height, w.width, w.out_height, w.out_width, w.kernel_height, w.kernel_width,
            w.stride_y, w.stride_x, w.dilation_y, w.dilation_x, w.top, w.left]
