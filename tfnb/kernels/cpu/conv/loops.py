"""Direct convolution loops: depthwise, and integer types.

    depthwise(call), depthwise_input_gradient(call), depthwise_filter_gradient(call)
                                    DepthwiseConv2dNative and its gradients
    loop_convolve(w, x, kernel, out, n, type), loop_input_gradient(w, dy, kernel, out, m, type)
                                    Conv2D and Conv2DBackpropInput of types that BLAS does not have

Items are rows of the output, so that no two threads write to the same place; the filter's gradient is a partial sum
for each of a fixed number of items, added up at the end.
"""
from __future__ import annotations

import numpy as np

from tfnb.kernels.arrays.window import Window, window
from tfnb.kernels.cpu.conv.partial_sums import partial_sums
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.library.layout import around

OPERATIONS = 1 << 18                                    # that a thread does at a time
ITEMS = 16

(X, KERNEL, OUT, C, Q, H, W, OH, OW, KH, KW, SY, SX, DY, DX, TOP, LEFT, PER_ITEM) = range(18)

# A number per input channel (`q` = 1) is written into the source: then the loop over channels is the innermost.
LOAD = f"""
INDEPENDENT = True

def kernel(args, begin, end):
    c, q, h, w, oh, ow = args[{C}], {{q}}, args[{H}], args[{W}], args[{OH}], args[{OW}]
    kh, kw, sy, sx, dy, dx = args[{KH}], args[{KW}], args[{SY}], args[{SX}], args[{DY}], args[{DX}]
    top, left = args[{TOP}], args[{LEFT}]
    x = {{type}}_array(args[{X}], 0)
    f = {{type}}_array(args[{KERNEL}], 0)
    out = {{type}}_array(args[{OUT}], 0)
"""

# Item i: row i of the outputs of all images. x: images of c channels; f: [kh, kw, c, q]. Channel j of the input goes to
# output channels {own}k, k < q, of n: to all q of them (own: nothing), or to q of its own (own: j * q +).
FORWARD_TEXT = LOAD + """
    n = {n}
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
                            source, tap = ((image * h + y) * w + place) * c, (ky * kw + kx) * c * q
                            for j in range(c):
                                value = x[source + j]
                                for k in range(q):
                                    out[to + {own}k] = {type}(out[to + {own}k] + value * f[tap + j * q + k])
"""

# Item i: row i of the inputs of all images. x: the output's gradient (n channels); out: the input's (c channels).
INPUT_TEXT = LOAD + """
    n = {n}
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
                            source, tap = ((image * oh + oy // sy) * ow + ox // sx) * n, (ky * kw + kx) * c * q
                            for j in range(c):
                                total = {type}(0)
                                for k in range(q):
                                    total = {type}(total + x[source + {own}k] * f[tap + j * q + k])
                                out[to + j] = {type}(out[to + j] + total)
"""

# Item i: rows [i * per item, ...) of the outputs, summed into filter i of `out`. f: the output's gradient.
FILTER_TEXT = LOAD + f"""
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
                                for j in range(c):
                                    for k in range(q):
                                        out[to + j * q + k] = (out[to + j * q + k]
                                                               + x[source + j] * f[grad + j * q + k])
"""

SHARED, OWN = {"n": "q", "own": ""}, {"n": "c * q", "own": "j * q + "}


def depthwise(call: Call) -> list[Launch]:
    """Return the launches of DepthwiseConv2dNative (input, filter)."""
    x, kernel = call.inputs
    w = window(x.shape, kernel.shape[:2], call.attrs)
    return around(call, [0], lambda sources, out: _rows_of(
        FORWARD_TEXT, w, x.type, (sources[0], call.input(1), out), kernel.shape[2:], w.out_height, OWN))


def depthwise_input_gradient(call: Call) -> list[Launch]:
    """Return the launches of DepthwiseConv2dNativeBackpropInput (input_sizes, filter, out_backprop)."""
    _, kernel, dy = call.inputs
    w = window(call.outputs[0].shape, kernel.shape[:2], call.attrs)
    return around(call, [2], lambda sources, out: _rows_of(
        INPUT_TEXT, w, dy.type, (sources[0], call.input(1), out), kernel.shape[2:], w.height, OWN))


def depthwise_filter_gradient(call: Call) -> list[Launch]:
    """Return the launches of DepthwiseConv2dNativeBackpropFilter (input, filter_sizes, out_backprop)."""
    x, out = call.inputs[0], call.outputs[0]
    w = window(x.shape, out.shape[:2], call.attrs)
    rows = w.batch * w.out_height
    items = max(1, min(ITEMS, rows))

    def made(sources: list[Address], target: Address) -> list[Launch]:
        whole, n = w.taps * out.shape[2] * out.shape[3] * out.itemsize, out.shape[2] * out.shape[3] * out.itemsize
        partial = call.scratch(items * whole).reach(items * whole)
        given = sources[0].reach(w.elements * out.itemsize), sources[1].reach(w.pixels * n), partial
        words = (*_words(w, given, out.shape[2:]), -(-rows // items), rows)
        text = FILTER_TEXT.format(type=x.type, q=_multiplier(out.shape[3]))
        return [Launch(text, words, items, 1, "depthwise filter gradient"),
                partial_sums(call, partial, target, x.type, items, w.taps, out.shape[2] * out.shape[3])]

    return around(call, [0, 2], made, turn_output=False)


def loop_convolve(w: Window, x: Address, kernel: Address, out: Address, n: int, type_: str) -> list[Launch]:
    """Return the launches of Conv2D with n output channels."""
    return _rows_of(FORWARD_TEXT, w, type_, (x, kernel, out), (w.channels, n), w.out_height, SHARED)


def loop_input_gradient(w: Window, dy: Address, kernel: Address, out: Address, m: int, type_: str) -> list[Launch]:
    """Return the launches of Conv2DBackpropInput with m output channels."""
    return _rows_of(INPUT_TEXT, w, type_, (dy, kernel, out), (w.channels, m), w.height, SHARED)


def _rows_of(text: str, w: Window, type_: str, addresses: tuple[Address, ...], channels: tuple[int, ...], rows: int,
             channels_of: dict[str, str]) -> list[Launch]:
    """Return launches over rows. addresses: of the images (or dy), the filter, and the output (or their gradient)."""
    items = w.batch * rows
    if not items:
        return []
    (c, q), size = channels, np.dtype(type_).itemsize
    images, results = w.batch * w.height * w.width * c * size, w.pixels * (c * q if channels_of is OWN else q) * size
    sizes = (images, results) if text is FORWARD_TEXT else (results, images)
    addresses = (addresses[0].reach(sizes[0]), addresses[1].reach(w.taps * c * q * size), addresses[2].reach(sizes[1]))
    work = max(w.width, w.out_width) * w.taps * max(1, channels[0] * channels[1])
    return [Launch(text.format(type=type_, q=_multiplier(channels[1]), **channels_of),
                   tuple(_words(w, addresses, channels)), items, max(1, OPERATIONS // max(1, work)),
                   "convolution by rows")]


def _multiplier(q: int) -> str:
    return "1" if q == 1 else f"args[{Q}]"


def _words(w: Window, addresses: tuple[Address, ...], channels: tuple[int, ...]) -> list[Word]:
    return [*addresses, *channels, w.height, w.width, w.out_height, w.out_width, w.kernel_height, w.kernel_width,
            w.stride_y, w.stride_x, w.dilation_y, w.dilation_x, w.top, w.left]
