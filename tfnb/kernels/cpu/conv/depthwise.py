"""Depthwise convolutions on the CPU: each channel by filters of its own.

    forward(call), input_gradient(call), filter_gradient(call)      DepthwiseConv2dNative and its gradients

A task is a band of rows of one image and a block of channels, as many as fill a cache line. Its rows are copied, with
zeros for the padding, to where the channels of a pixel are contiguous: then the windows of a few pixels side by side
are sums of products in registers, all at constant distances. The gradient for the input is a convolution of `dy`, its
pixels as far apart as the strides are, with the filter turned around. What these don't do (large filters, several
filters a channel for the input's gradient) is left to the loops of library/direct.py. Results don't depend on the
number of threads: every sum is one task's, or a partial sum of one of a fixed number of items.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tfnb.kernels.arrays.window import Window, window
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, Type, unrolled
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.library import direct
from tfnb.kernels.library.layout import around
from tfnb.kernels.library.partial_sums import partial_sums

LINE = 64                                               # bytes of a block of channels
BAND = 1 << 17                                          # bytes of a band of rows: it stays in the second cache
ITEMS = 64                                              # each has a band of its own
SUMS = 16                                               # items of the filter's gradient, each with sums of its own
WRITTEN_OUT = 100                                       # products of a pass that are written out
OPERATIONS = 1 << 18                                    # that a thread does at a time


def pad_band(x: Array, room: Array, source: Ints, first: int, rows: int, columns: int, left: int, apart_y: MaybeOne,
             apart_x: MaybeOne, made: MaybeOne, k: int, lanes: int, block: Static, T: Type) -> None:
    """Copy `lanes` channels from k on of the rows from `first` on, pixels `apart` with zeros between and around them.

    source: height, width, channels and the number of the image.
    """
    h, w, c, image = source
    begin = max(0, (apart_x - 1 - left) // apart_x)
    end = max(begin, min(w, (columns - left + apart_x - 1) // apart_x))
    for row in range(rows):
        y, to = first + row, row * columns * block
        if y < 0 or y % apart_y != 0 or y // apart_y >= h:
            for j in range(columns * block):
                room[to + j] = T(0)
        else:
            if apart_x != 1 or lanes != block:
                for j in range(columns * block):
                    room[to + j] = T(0)
            else:
                for j in range((left + begin) * block):
                    room[to + j] = T(0)
                for j in range((left + end) * block, columns * block):
                    room[to + j] = T(0)
            for pixel in range(begin, end):
                at, place = ((image * h + y // apart_y) * w + pixel) * c, to + (left + pixel * apart_x) * block
                if made != 1:
                    for j in range(lanes):
                        room[place + j] = x[at + (k + j) // made]
                elif lanes == block:
                    for j in range(block):
                        room[place + j] = x[at + k + j]
                else:
                    for j in range(lanes):
                        room[place + j] = x[at + k + j]


@kernel_function(independent=True)
def convolve_bands(x: Array, f: Array, out: Array, space: Array, source: Ints, result: Ints, place: Ints, many: int,
                   band: int, tasks: int, group: int, held: int, apart_y: MaybeOne, apart_x: MaybeOne, made: MaybeOne,
                   kh: Static, kw: Static, sx: Static, gap: Static, strip: Static, flip: Static, whole: Static,
                   block: Static, T: Type, item: int) -> None:
    """Convolve `group` bands. source: height, width, channels; result: height, width; place: the stride and dilation of
    rows, the padding above and at the left; held: the numbers that an item has room for; whole: all blocks are full."""
    h, w, c = source
    oh, ow = result
    sy, dy, top, left = place
    room = space[item * held:]
    weights = space[(item + 1) * held - kh * kw * block:]
    columns, bands, blocks = (ow - 1) * sx + (kw - 1) * gap + 1, (oh + band - 1) // band, (many + block - 1) // block
    for task in range(item * group, min((item + 1) * group, tasks)):
        k, line = task % blocks * block, task // blocks
        image, first = line // bands, line % bands * band
        lanes, rows = min(block, many - k), min(band, oh - first)
        pad_band(x, room, (h, w, c, image), first * sy - top, (rows - 1) * sy + (kh - 1) * dy + 1, columns, left,
                 apart_y, apart_x, made, k, lanes, block, T)
        for tap in range(kh * kw):
            for j in range(lanes):
                weights[tap * block + j] = f[(kh * kw - 1 - tap if flip else tap) * many + k + j]
        for row in range(rows):
            for start in range(0, ow, strip):
                ox = min(start, ow - strip)             # the last ones may be computed twice
                to = ((image * oh + first + row) * ow + ox) * many + k
                band_row = room[(row * sy * columns + ox * sx) * block:]
                for j in range(block if whole else lanes):      # written out here: a helper of this size is not inlined
                    s0, s1, s2, s3 = T(0), T(0), T(0), T(0)
                    for tap in unrolled(kh * kw):
                        at, weight = tap // kw * dy * columns * block + j, weights[tap * block + j]
                        s0 = T(s0 + band_row[at + tap % kw * gap * block] * weight)
                        if strip == 4:
                            s1 = T(s1 + band_row[at + (tap % kw * gap + sx) * block] * weight)
                            s2 = T(s2 + band_row[at + (tap % kw * gap + 2 * sx) * block] * weight)
                            s3 = T(s3 + band_row[at + (tap % kw * gap + 3 * sx) * block] * weight)
                    out[to + j] = s0
                    if strip == 4:
                        out[to + many + j] = s1
                        out[to + 2 * many + j] = s2
                        out[to + 3 * many + j] = s3


@kernel_function(independent=True)
def weigh_bands(x: Array, grad: Array, out: Array, space: Array, source: Ints, result: Ints, place: Ints, many: int,
                band: int, bands: int, group: int, held: int, made: MaybeOne, kh: Static, kw: Static, sx: Static,
                gap: Static, strip: Static, whole: Static, block: Static, T: Type, item: int) -> None:
    """Compute the part of the filter's gradient that `group` bands of all images contribute. See `convolve_bands`."""
    h, w, c = source
    oh, ow = result
    sy, dy, top, left = place
    room = space[item * held:]
    sums = space[(item + 1) * held - kh * kw * block:]
    columns, tall, blocks = (ow - 1) * sx + (kw - 1) * gap + 1, (oh + band - 1) // band, (many + block - 1) // block
    for each in range(blocks):
        k = each * block
        lanes = min(block, many - k)
        for j in range(kh * kw * block):
            sums[j] = T(0)
        for line in range(item * group, min((item + 1) * group, bands)):
            image, first = line // tall, line % tall * band
            rows = min(band, oh - first)
            pad_band(x, room, (h, w, c, image), first * sy - top, (rows - 1) * sy + (kh - 1) * dy + 1, columns, left, 1,
                     1, made, k, lanes, block, T)
            for row in range(rows):
                for ky in range(kh):
                    part = sums[ky * kw * block:]
                    at, to = (row * sy + ky * dy) * columns * block, ((image * oh + first + row) * ow) * many + k
                    full = ow // strip * strip
                    for ox in range(0, full, strip):
                        band_row = room[at + ox * sx * block:]
                        dy_row = grad[to + ox * many:]
                        for j in range(block if whole else lanes):
                            for tap in unrolled(kw):
                                total = part[tap * block + j]
                                for p in unrolled(strip):
                                    total = T(total + band_row[(p * sx + tap * gap) * block + j] * dy_row[p * many + j])
                                part[tap * block + j] = total
                    for ox in range(full, ow):
                        band_row = room[at + ox * sx * block:]
                        dy_row = grad[to + ox * many:]
                        for j in range(lanes):
                            for tap in unrolled(kw):
                                part[tap * block + j] = T(part[tap * block + j]
                                                          + band_row[tap * gap * block + j] * dy_row[j])
        for tap in range(kh * kw):
            for j in range(lanes):
                out[(item * kh * kw + tap) * many + k + j] = sums[tap * block + j]


@dataclass(frozen=True, slots=True)
class _Bands:
    """Rows of a result in bands. held: the numbers that an item has room for: a band and the taps of a block."""

    window: Window
    block: int
    rows: int
    held: int

    @classmethod
    def of(cls, w: Window, itemsize: int) -> _Bands:
        block = LINE // itemsize
        columns = (w.out_width - 1) * w.stride_x + (w.kernel_width - 1) * w.dilation_x + 1
        around = (w.kernel_height - 1) * w.dilation_y + 1
        rows = max(1, min(w.out_height, (BAND // (columns * LINE) - around) // w.stride_y + 1))
        held = (((rows - 1) * w.stride_y + around) * columns + w.taps) * block
        return cls(w, block, rows, held)

    @property
    def count(self) -> int:
        """The bands of all images."""
        return self.window.batch * -(-self.window.out_height // self.rows)

    @property
    def sizes(self) -> tuple[Any, ...]:
        """The arguments `source`, `result` and `place` of the kernels."""
        w = self.window
        return ((w.height, w.width, w.channels), (w.out_height, w.out_width),
                (w.stride_y, w.dilation_y, w.top, w.left))


def _suits(w: Window, many: int) -> bool:
    """Whether taps can be written out, and a band with the padding between its taps is no larger than images are."""
    near = (w.dilation_y <= max(w.height, w.out_height) or w.kernel_height == 1) and (
        w.dilation_x <= max(w.width, w.out_width) or w.kernel_width == 1)
    return near and w.taps <= WRITTEN_OUT and many > 0 and w.pixels > 0 and w.elements > 0


def forward(call: Call) -> list[Launch]:
    """Return the launches of DepthwiseConv2dNative."""
    x, f = call.inputs
    w, many = window(x.shape, f.shape[:2], call.attrs), f.shape[2] * f.shape[3]
    if not _suits(w, many):
        return direct.depthwise(call)
    return around(call, [0], lambda images, out: _convolve(
        call, w, images[0], out, (1, 1), w.elements, many, f.shape[3], False))


def input_gradient(call: Call) -> list[Launch]:
    """Return the launches of DepthwiseConv2dNativeBackpropInput."""
    f = call.inputs[1]
    w, many = window(call.outputs[0].shape, f.shape[:2], call.attrs), f.shape[2]
    if not _suits(w, many) or f.shape[3] != 1:
        return direct.depthwise_input_gradient(call)
    back = replace(w, height=w.out_height, width=w.out_width, out_height=w.height, out_width=w.width, stride_y=1,
                   stride_x=1, top=(w.kernel_height - 1) * w.dilation_y - w.top,
                   left=(w.kernel_width - 1) * w.dilation_x - w.left)
    apart = (w.stride_y, w.stride_x)
    return around(call, [2], lambda images, out: _convolve(
        call, back, images[0], out, apart, w.pixels * many, many, 1, True))


def _convolve(call: Call, w: Window, x: Address, out: Address, apart: tuple[int, int], elements: int, many: int,
              made: int, flip: bool) -> list[Launch]:
    """elements: of x."""
    f, size = call.inputs[1], call.inputs[1].itemsize
    bands = _Bands.of(w, size)
    tasks = bands.count * -(-many // bands.block)
    work = w.pixels * many * w.taps
    items = max(1, min(ITEMS, tasks, work // OPERATIONS))
    group = -(-tasks // items)
    strip = 4 if w.out_width >= 4 and 4 * w.taps <= WRITTEN_OUT else 1
    room = call.scratch(items * bands.held * size).reach(items * bands.held * size)
    return [convolve_bands.launch(
        call, items, x.reach(elements * size).of(f.type), call.input(1).reach(w.taps * many * size),
        out.reach(w.pixels * many * size).of(f.type), room.of(f.type), *bands.sizes, many, bands.rows, tasks, group,
        bands.held, *apart, made, w.kernel_height, w.kernel_width, w.stride_x, w.dilation_x, strip, flip,
        many % bands.block == 0, bands.block, f.type, grain=1 if items > 1 else 0, label="depthwise convolution")]


def filter_gradient(call: Call) -> list[Launch]:
    """Return the launches of DepthwiseConv2dNativeBackpropFilter."""
    x, out = call.inputs[0], call.outputs[0]
    w, many, size = window(x.shape, out.shape[:2], call.attrs), out.shape[2] * out.shape[3], x.itemsize
    if not _suits(w, many):
        return direct.depthwise_filter_gradient(call)
    bands, whole = _Bands.of(w, size), w.taps * many * size
    items = max(1, min(SUMS, bands.count))
    strip = next((n for n in (8, 4) if w.out_width >= n and n * w.kernel_width <= WRITTEN_OUT), 1)

    def made(sources: list[Address], target: Address) -> list[Launch]:
        sums = call.scratch(items * whole).reach(items * whole).of(x.type)
        room = call.scratch(items * bands.held * size).reach(items * bands.held * size).of(x.type)
        return [weigh_bands.launch(
            call, items, sources[0].reach(w.elements * size).of(x.type),
            sources[1].reach(w.pixels * many * size).of(x.type), sums, room, *bands.sizes, many, bands.rows,
            bands.count, -(-bands.count // items), bands.held, out.shape[3], w.kernel_height, w.kernel_width,
            w.stride_x, w.dilation_x, strip, many % bands.block == 0, bands.block, x.type, grain=1,
            label="depthwise filter gradient"),
            partial_sums(call, sums, target, x.type, items, w.taps, many)]
    return around(call, [0, 2], made, turn_output=False)
