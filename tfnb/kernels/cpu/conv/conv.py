"""Convolution as blocked im2col and matmul, over tiles that stay in the cache.

    convolve(call)              Conv2D (input, filter)
    input_gradient(call)        Conv2DBackpropInput (input_sizes, filter, out_backprop)
    filter_gradient(call)       Conv2DBackpropFilter (input, filter_sizes, out_backprop)
    forward(...), for_input(...), for_filter(...)           the same for addresses, one group, channels last

Windows over whole lines, as text has them, are windows over one line whose pixels were lines: so their channels fill
the vectors of an input's gradient. Where there are enough pixels, they run by the tiles of inside.py (many images,
padding) or tiles.py, straight from the images; an input's gradient is the convolution of the flipped filter where the
stride is 1, and several of them (phases.py) where it is more. Else, by BLAS: the pixels of the output (over all images)
are cut into items, an item into tiles. For a tile, the windows of its pixels are unfolded into rows of kernel height *
width * channels numbers, in memory of the item's own (TILE_BYTES, which stays in the second cache), and multiplied by
BLAS; the unfolded whole never exists. How pixels are cut depends on the shapes alone, so results don't depend on the
number of threads. A filter's gradient is the sum of partial sums, one for each item; an input's gradient with strides
and few channels, or with strides and dilations, are products whose rows are added to the places they came from, an
image an item.

Measured on a Zen 4 core (peak 118 GFLOP/s): the products of tiles of 100 to 400 pixels by a 5x5x32x64 filter run at
98 to 103 GFLOP/s; with unfolding, 80 to 87.
"""
from __future__ import annotations

from dataclasses import replace
from math import prod

from tfnb.kernels.arrays.window import Window, window
from tfnb.kernels.cpu.conv import inside as conv_inside
from tfnb.kernels.cpu.conv import phases
from tfnb.kernels.cpu.conv import tiles as conv_tiles
from tfnb.kernels.cpu.conv.groups import Rows, by_group
from tfnb.kernels.cpu.matmul import blas
from tfnb.kernels.cpu.matmul.gemm import PREFIX, flag, float_one
from tfnb.kernels.cpu.matmul.tiled import PARALLEL_FLOPS
from tfnb.kernels.launch import Address, Call, Launch, Meta, Word
from tfnb.kernels.library import direct
from tfnb.kernels.library.copying import fill
from tfnb.kernels.library.layout import around, transpose
from tfnb.kernels.library.partial_sums import partial_sums

TILE_BYTES = 512 << 10
LEAST_TILE = 128                                        # pixels; with fewer, BLAS mostly copies the filter
ITEMS = 16
HEAD = 64                                               # bytes before an item's tile: sizes that BLAS reads
PARTIAL_BYTES = 4 << 20
LITERAL_SPAN = 64                                       # up to this length, a span is a literal of the source

# Words that every source of this file has; its own follow.
(X, C, H, W, OH, OW, KH, KW, SY, SX, DY, DX, TOP, LEFT, SPAN, PIXELS, PER_ITEM, TILE, SCRATCH, STEP, GEMM, TRANS1,
 TRANS2, M, K, LD1, LD2, LDC, ONE, ZERO, B, OUT, GROUPS, ROWS) = range(34)

# Unfold `count` pixels from `first`, taps of rows [row, row + rows) of the window, at address `target`.
PACK = f"""
@device
def unfold(args, target, first, count, row, rows):
    c, h, w, oh, ow, kw = args[{C}], args[{H}], args[{W}], args[{OH}], args[{OW}], args[{KW}]
    dy, dx, span = args[{DY}], args[{DX}], {{span}}
    x = {{type}}_array(args[{X}], 0)
    out = {{type}}_array(target, 0)
    image, rest = first // (oh * ow), first % (oh * ow)
    oy, ox = rest // ow, rest % ow
    place = 0
    for pixel in range(count):
        left = ox * args[{SX}] - args[{LEFT}]
        y = oy * args[{SY}] - args[{TOP}] + row * dy
        inside = left >= 0 and left + (kw - 1) * dx < w
        for ky in range(rows):
            line = ((image * h + y) * w + left) * c
            if y < 0 or y >= h:
                for j in range(span):
                    out[place + j] = {{type}}(0)
            elif inside and dx == 1:
                for j in range(span):
                    out[place + j] = x[line + j]
            else:
                for kx in range(kw):
                    to = place + kx * c
                    if left + kx * dx >= 0 and left + kx * dx < w:
                        for j in range(c):
                            out[to + j] = x[line + kx * dx * c + j]
                    else:
                        for j in range(c):
                            out[to + j] = {{type}}(0)
            place += span
            y += dy
        ox += 1
        if ox == ow:
            ox = 0
            oy += 1
            if oy == oh:
                oy = 0
                image += 1
"""

# Item i: a range of pixels. Row-major: out[pixels, n] = unfolded[pixels, k] filter[k, n].
FORWARD_SOURCE = """
INDEPENDENT = True
""" + PACK + f"""
def kernel(args, begin, end):
    at = address_of(args)
    for i in range(begin, end):
        head = args[{SCRATCH}] + i * args[{STEP}]
        stop = min((i + 1) * args[{PER_ITEM}], args[{PIXELS}])
        for first in range(i * args[{PER_ITEM}], stop, args[{TILE}]):
            count = min(args[{TILE}], stop - first)
            store(head, count)
            beta = at + 8 * {ZERO}
            for row in range(0, args[{KH}], args[{ROWS}]):
                unfold(args, head + {HEAD}, first, count, row, args[{ROWS}])
                call_address(args[{GEMM}], at + 8 * {TRANS1}, at + 8 * {TRANS2}, at + 8 * {M}, head, at + 8 * {K},
                             at + 8 * {ONE}, args[{B}] + row * args[{SPAN}] * args[{M}] * {{bytes}}, at + 8 * {LD1},
                             head + {HEAD}, at + 8 * {LD2}, beta, args[{OUT}] + first * args[{M}] * {{bytes}},
                             at + 8 * {LDC})
                beta = at + 8 * {ONE}
"""

# Item i: a range of pixels (i // parts) and some rows of the window (i % parts).
# Row-major: out[k, m] += unfolded[pixels, k]' dy[pixels, m], into the partial sum of the range.
FILTER_SOURCE = """
INDEPENDENT = True
PACKED = {packed}
""" + PACK + f"""
def kernel(args, begin, end):
    at = address_of(args)
    parts, m = args[{GROUPS}], args[{M}]
    for i in range(begin, end):
        head = args[{SCRATCH}] + i * args[{STEP}]
        group, part = i // parts, i % parts
        stop = min((group + 1) * args[{PER_ITEM}], args[{PIXELS}])
        out = args[{OUT}] + (group * parts + part) * args[{K}] * m * {{bytes}}
        beta = at + 8 * {ZERO}
        for first in range(group * args[{PER_ITEM}], stop, args[{TILE}]):
            count = min(args[{TILE}], stop - first)
            tile = head + {HEAD}
            if PACKED:
                unfold(args, tile, first, count, part * args[{ROWS}], args[{ROWS}])
            else:
                tile = args[{X}] + first * args[{K}] * {{bytes}}
            store(head, count)
            call_address(args[{GEMM}], at + 8 * {TRANS1}, at + 8 * {TRANS2}, at + 8 * {M}, at + 8 * {K}, head,
                         at + 8 * {ONE}, args[{B}] + first * m * {{bytes}}, at + 8 * {LD1}, tile, at + 8 * {LD2},
                         beta, out, at + 8 * {LDC})
            beta = at + 8 * {ONE}
"""

# Item i: image i // parts, channels [i % parts * cb, ... + cb). Products of dy and the filter, added where they belong.
INPUT_SOURCE = f"""
INDEPENDENT = True

def kernel(args, begin, end):
    at = address_of(args)
    c, h, w, oh, ow = args[{C}], args[{H}], args[{W}], args[{OH}], args[{OW}]
    kh, kw, sy, sx, dy, dx = args[{KH}], args[{KW}], args[{SY}], args[{SX}], args[{DY}], args[{DX}]
    parts, m, cb = args[{GROUPS}], args[{K}], args[{SPAN}]
    pixels = oh * ow
    taps = args[{ROWS}]
    wide = args[{LDC}]
    for i in range(begin, end):
        head = args[{SCRATCH}] + i * args[{STEP}]
        image, first_channel = i // parts, i % parts * cb
        out = {{type}}_array(args[{OUT}] + (image * h * w * c + first_channel) * {{bytes}}, 0)
        for place in range(h * w):
            for j in range(cb):
                out[place * c + j] = {{type}}(0)
        tile = {{type}}_array(head + {HEAD}, 0)
        for first in range(0, pixels, args[{TILE}]):
            count = min(args[{TILE}], pixels - first)
            store(head, count)
            for tap in range(taps):
                call_address(args[{GEMM}], at + 8 * {TRANS1}, at + 8 * {TRANS2}, at + 8 * {M}, head, at + 8 * {K},
                             at + 8 * {ONE}, args[{B}] + (tap * c + first_channel) * m * {{bytes}}, at + 8 * {LD1},
                             args[{X}] + (image * pixels + first) * m * {{bytes}}, at + 8 * {LD2}, at + 8 * {ZERO},
                             head + {HEAD} + tap * cb * {{bytes}}, at + 8 * {LDC})
            for p in range(count):
                top = (first + p) // ow * sy - args[{TOP}]
                left = (first + p) % ow * sx - args[{LEFT}]
                for ky in range(kh):
                    y = top + ky * dy
                    if y >= 0 and y < h:
                        for kx in range(kw):
                            x = left + kx * dx
                            if x >= 0 and x < w:
                                to, source = (y * w + x) * c, p * wide + (ky * kw + kx) * cb
                                for j in range(cb):
                                    out[to + j] = out[to + j] + tile[source + j]
"""


def operations(call: Call) -> int:
    """Return the floating-point operations of a convolution or one of its gradients: two for each tap of each sum."""
    backward = len(call.inputs) == 3
    kernel = call.inputs[1] if len(call.inputs[1].shape) > 1 else call.outputs[0]
    results = call.inputs[2] if backward else call.outputs[0]
    return 2 * prod(results.shape) * prod(kernel.shape[:-1])


def convolve(call: Call) -> list[Launch]:
    """Return the launches of Conv2D: for float32 and float64 by tiles or BLAS, for other types a loop."""
    x, kernel = call.inputs
    w = window(x.shape, kernel.shape[:2], call.attrs)
    groups, one, n = _groups(w, kernel.shape)

    def made(images: list[Address], target: Address) -> list[Launch]:
        return by_group(
            call, groups, x.type,
            [Rows(images[0], _places(w), one.channels), Rows(call.input(1), one.taps * one.channels, n)],
            Rows(target, w.pixels, n), lambda at, out: forward(call, one, at[0], at[1], out, n, x.type))

    return around(call, [0], made)


def input_gradient(call: Call) -> list[Launch]:
    """Return the launches of Conv2DBackpropInput."""
    _, kernel, dy = call.inputs
    w = window(call.outputs[0].shape, kernel.shape[:2], call.attrs)
    groups, one, n = _groups(w, kernel.shape)

    def made(images: list[Address], target: Address) -> list[Launch]:
        return by_group(
            call, groups, dy.type,
            [Rows(images[0], w.pixels, n), Rows(call.input(1), one.taps * one.channels, n)],
            Rows(target, _places(w), one.channels),
            lambda at, out: for_input(call, one, at[0], at[1], out, n, dy.type))

    return around(call, [2], made) if kernel.size else fill(call, None, call.output(), call.outputs[0])


def filter_gradient(call: Call) -> list[Launch]:
    """Return the launches of Conv2DBackpropFilter."""
    x, out = call.inputs[0], call.outputs[0]
    w = window(x.shape, out.shape[:2], call.attrs)
    groups, one, n = _groups(w, out.shape)

    def made(images: list[Address], target: Address) -> list[Launch]:
        return by_group(
            call, groups, out.type,
            [Rows(images[0], _places(w), one.channels), Rows(images[1], w.pixels, n)],
            Rows(target, one.taps * one.channels, n),
            lambda at, part: for_filter(call, one, at[0], at[1], part, Meta(out.type, (*out.shape[:3], n))))

    return around(call, [0, 2], made, turn_output=False)


def _groups(w: Window, filter_: tuple[int, ...]) -> tuple[int, Window, int]:
    """Return the group count of the channels, the windows of one group, and its output channels."""
    groups = w.channels // max(1, filter_[2])
    if groups <= 1:
        return 1, replace(w, channels=filter_[2]).over_lines, filter_[3]
    return groups, replace(w, channels=filter_[2]), filter_[3] // groups


def _places(w: Window) -> int:
    """Return the pixel count of the input, over all images."""
    return w.batch * w.height * w.width


def forward(call: Call, w: Window, x: Address, kernel: Address, out: Address, n: int, type_: str) -> list[Launch]:
    """Return the launches of a convolution. x: images; kernel: (taps * channels, n); out: (pixels, n)."""
    if conv_inside.suits(w, type_):
        return conv_inside.convolve(call, w, x, kernel, out, n, type_)
    if conv_tiles.suits(w, type_):
        return conv_tiles.convolve(call, w, x, kernel, out, n, type_)
    if type_ not in PREFIX:
        return direct.convolved(call, w, x, kernel, out, w.channels, n, type_)
    if not w.taps * w.channels:
        return fill(call, None, out, Meta(type_, (w.pixels, n)))
    size = Meta(type_, ()).itemsize
    words = _words(w, x.reach(w.elements * size))
    rows = _rows(w, size)
    k = rows * w.kernel_width * w.channels
    items, per_item, tile = _cut(w.pixels, k, n * w.kernel_height // rows, size)
    scratch = call.scratch(items * _step(tile * k * size))
    words[PIXELS:STEP + 1] = w.pixels, per_item, tile, scratch, _step(tile * k * size)
    words[GEMM:ZERO + 1] = [blas.function(PREFIX[type_] + "gemm"), flag(False), flag(False), n, k, n, k, n,
                            float_one(type_), 0]
    words[SCRATCH] = scratch.reach(items * _step(tile * k * size))
    words[B:ROWS + 1] = kernel.reach(w.taps * w.channels * n * size), out.reach(w.pixels * n * size), 0, rows
    return [Launch(_source(FORWARD_SOURCE, w, type_), tuple(words), items, 1 if items > 1 else 0, "convolution")]


def for_filter(call: Call, w: Window, x: Address, dy: Address, out: Address, meta: Meta) -> list[Launch]:
    """Return the launches of a filter's gradient, of `meta`'s dtype and shape. x: images; dy: (pixels, n)."""
    if conv_inside.suits_filter(w, meta.shape[3], meta.type):
        return conv_inside.filter_gradient(call, w, x, dy, out, meta)
    if conv_tiles.suits(w, meta.type):
        return conv_tiles.filter_gradient(call, w, x, dy, out, meta)
    k, m, size = w.taps * w.channels, meta.shape[3], meta.itemsize
    whole = k * m * size
    parts = 1 if whole * ITEMS <= PARTIAL_BYTES else w.kernel_height
    rows = w.kernel_height // parts
    k //= parts
    groups, per_item, tile = _cut(w.pixels, k, m * parts, size, max(1, min(ITEMS, PARTIAL_BYTES // whole,
                                                                          -(-ITEMS // parts))))
    packed = not w.is_identity
    step = _step(tile * k * size if packed else 0)
    words = _words(w, x.reach(w.elements * size))
    target = call.scratch(groups * whole) if groups > 1 else out
    room = groups * parts * step
    words[PIXELS:STEP + 1] = w.pixels, per_item, tile, call.scratch(room).reach(room), step
    words[GEMM:ZERO + 1] = [blas.function(PREFIX[meta.type] + "gemm"), flag(False), flag(True), m, k, m, k, m,
                            float_one(meta.type), 0]
    words[B:ROWS + 1] = dy.reach(w.pixels * m * size), target.reach(groups * whole), parts, rows
    text = _source(FILTER_SOURCE, w, meta.type, packed=packed)
    items = groups * parts
    launches = [Launch(text, tuple(words), items, 1 if items > 1 else 0, "filter gradient")]
    if groups > 1:
        launches.append(partial_sums(call, target, out, meta.type, groups, w.taps * w.channels, m))
    return launches


def for_input(call: Call, w: Window, dy: Address, kernel: Address, out: Address, m: int, type_: str) -> list[Launch]:
    """Return the launches of the images' gradient. dy: (pixels, m); kernel: (taps * channels, m)."""
    if type_ not in PREFIX:
        return direct.spread(call, w, dy, kernel, out, w.channels, m, type_)
    size = Meta(type_, ()).itemsize
    if w.stride_y == w.stride_x == 1:
        flipped = call.scratch(w.taps * w.channels * m * size)
        return [transpose(call, kernel, flipped, type_, w.taps, w.channels, m, flip=(w.taps - 1, 1, 1, 0)),
                *forward(call, _mirrored(w, m), dy, flipped, out, w.channels, type_)]
    if phases.pays(w, type_):
        return phases.input_gradient(call, w, dy, kernel, out, m, type_, forward)
    parts = _channel_parts(w)
    block = w.channels // parts
    k = w.taps * block
    tile = _even(w.out_height * w.out_width, max(16, TILE_BYTES // (k * size)))
    step = _step(tile * k * size)
    words = _words(w, dy.reach(w.pixels * m * size))
    items = w.batch * parts
    words[SPAN] = block
    words[PIXELS:STEP + 1] = w.pixels, 0, tile, call.scratch(items * step).reach(items * step), step
    calls = 1 if parts == 1 else w.taps
    words[GEMM:ZERO + 1] = [blas.function(PREFIX[type_] + "gemm"), flag(True), flag(False), k // calls, m, m, m, k,
                            float_one(type_), 0]
    words[B:ROWS + 1] = (kernel.reach(w.taps * w.channels * m * size), out.reach(w.elements * size), parts, calls)
    flops = 2 * w.pixels * k * m
    grain = 1 if flops * parts > PARALLEL_FLOPS else 0
    return [Launch(INPUT_SOURCE.format(type=type_, bytes=size), tuple(words), items, grain, "input gradient")]


def _channel_parts(w: Window) -> int:
    """Return the number of channel blocks that an image is cut into: several where there are few images."""
    parts = 1
    while w.batch * parts < 8 and w.channels % (2 * parts) == 0 and w.channels // (2 * parts) >= 16:
        parts *= 2
    return parts


def _mirrored(w: Window, channels: int) -> Window:
    """Return the windows of the convolution (stride 1) that turns the output's gradient into the input's."""
    return replace(w, height=w.out_height, width=w.out_width, out_height=w.height, out_width=w.width,
                   channels=channels, top=(w.kernel_height - 1) * w.dilation_y - w.top,
                   left=(w.kernel_width - 1) * w.dilation_x - w.left)


def _rows(w: Window, size: int) -> int:
    """Return the rows of a window unfolded at a time: those that fit a tile's memory with LEAST_TILE pixels, or 1."""
    fit = TILE_BYTES // (LEAST_TILE * w.kernel_width * w.channels * size)
    return max((n for n in range(1, w.kernel_height + 1) if w.kernel_height % n == 0 and n <= fit), default=1)


def _words(w: Window, x: Address) -> list[Word]:
    words: list[Word] = [0] * 34
    words[X:SPAN + 1] = [x, w.channels, w.height, w.width, w.out_height, w.out_width, w.kernel_height, w.kernel_width,
                         w.stride_y, w.stride_x, w.dilation_y, w.dilation_x, w.top, w.left, w.kernel_width * w.channels]
    return words


def _source(text: str, w: Window, type_: str, **more: object) -> str:
    span = w.kernel_width * w.channels
    return text.format(type=type_, bytes=Meta(type_, ()).itemsize,
                       span=span if span <= LITERAL_SPAN else f"args[{SPAN}]", **more)


def _cut(pixels: int, k: int, n: int, size: int, most: int = ITEMS) -> tuple[int, int, int]:
    """Return the number of items, pixels per item and pixels per tile, for rows of k elements times a k x n matrix."""
    tile = max(LEAST_TILE, min(1024, TILE_BYTES // (k * size)))
    items = min(most, -(-pixels // tile)) if 2 * pixels * k * n > PARALLEL_FLOPS else 1
    items = max(items, min(most, 2 * pixels * k * n // PARALLEL_FLOPS, pixels // 16))
    per_item = -(-pixels // items)
    return -(-pixels // per_item), per_item, _even(per_item, tile)


def _even(total: int, most: int) -> int:
    """Return the size of equal tiles, at most about `most`: a multiple of 8."""
    count = -(-total // most)
    return -(-total // count) + 7 & -8


def _step(nbytes: int) -> int:
    """Return the bytes of an item's scratch memory, in whole cache lines."""
    return HEAD + nbytes + 63 & -64
