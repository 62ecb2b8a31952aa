"""Grayscale dilation kernels: the largest sum of an image and a structuring function in each window, and gradients.

    dilate(call)                    Dilation2D (input, filter)
    input_gradient(call)            Dilation2DBackpropInput (input, filter, out_backprop)
    filter_gradient(call)           Dilation2DBackpropFilter (the same)

Gradients first note which tap is the (first) largest of each window. An item of the dilation is a row of windows on
the CPU, whose inner loop runs over channels (of one channel over the row), and one element on a GPU; one of a gradient
is an image, or on a GPU a channel of one, whose elements no other item writes.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.kernels.arrays.window import Window, window
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, Type, int32
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.library.copying import fill
from tfnb.kernels.scalar.number_types import extreme

OPERATIONS = 1 << 16                               # that a thread of the CPU does at a time


@kernel_function(independent=True)
def dilate_row(x: Array, k: Array, y: Array, taps: Array, window: Ints, c: MaybeOne, step: MaybeOne, whole: Static,
               lowest: Static, T: Type, item: int) -> None:
    """Compute the largest sums of a row of windows, or without `whole` one of them; taps: their numbers, or None."""
    h, w, oh, ow, kh, kw, sy, ry, rx, top, left = window
    if whole:
        image = x[item // oh * h * w * c:]
        sums = y[item * ow * c:]
        low = item % oh * sy - top
        for j in range(ow * c):
            sums[j] = T(lowest)
        if taps is not None:
            chosen = taps[item * ow * c:]
            for j in range(ow * c):
                chosen[j] = int32(0)
        for tap in range(kh * kw):
            line, shift = low + tap // kw * ry, tap % kw * rx - left
            first, last = max(0, (step - 1 - shift) // step), min(ow, (w - 1 - shift) // step + 1)
            if line >= 0 and line < h:
                for ox in range(first, last):
                    at = (line * w + ox * step + shift) * c
                    for j in range(c):
                        value, best = T(image[at + j] + k[tap * c + j]), sums[ox * c + j]
                        sums[ox * c + j] = value if value > best else best
                        if taps is not None:
                            chosen[ox * c + j] = int32(tap) if value > best else chosen[ox * c + j]
    else:
        z, ox, row = item % c, item // c % ow, item // c // ow
        source = x[row // oh * h * w * c + z:]
        largest, number = T(lowest), int32(0)
        for tap in range(kh * kw):
            line, column = row % oh * sy - top + tap // kw * ry, ox * step - left + tap % kw * rx
            if line >= 0 and line < h and column >= 0 and column < w:
                found = T(source[(line * w + column) * c] + k[tap * c + z])
                number = int32(tap) if found > largest else number
                largest = found if found > largest else largest
        y[item] = largest
        if taps is not None:
            taps[item] = number


@kernel_function()
def spread_maxima(dy: Array, taps: Array, dx: Array, window: Ints, c: int, step: int, width: int, blocks: int, T: Type,
                  item: int) -> None:
    """Add the gradient of each window at the pixel of its tap, for `width` channels of an image."""
    h, w, oh, ow, _, kw, sy, ry, rx, top, left = window
    image, lane = item // blocks, item % blocks * width
    for place in range(h * w):
        for j in range(width):
            dx[(image * h * w + place) * c + lane + j] = T(0)
    for place in range(oh * ow):
        for j in range(width):
            at = (image * oh * ow + place) * c + lane + j
            tap = int(taps[at])
            line, column = place // ow * sy - top + tap // kw * ry, place % ow * step - left + tap % kw * rx
            if line >= 0 and line < h and column >= 0 and column < w:
                to = (image * h * w + line * w + column) * c + lane + j
                dx[to] = T(dx[to] + dy[at])


@kernel_function()
def sum_by_tap(dy: Array, taps: Array, parts: Array, count: int, size: int, c: int, width: int, blocks: int, T: Type,
               item: int) -> None:
    """Sum the gradients of `count` windows of an image by their taps, of which there are `size`."""
    image, lane = item // blocks, item % blocks * width
    for tap in range(size):
        for j in range(width):
            parts[(image * size + tap) * c + lane + j] = T(0)
    for place in range(count):
        for j in range(width):
            at = (image * count + place) * c + lane + j
            to = (image * size + int(taps[at])) * c + lane + j
            parts[to] = T(parts[to] + dy[at])


@kernel_function(independent=True)
def sum_images(parts: Array, out: Array, images: int, size: int, T: Type, item: int) -> None:
    """Sum element `item` of `size` over the images."""
    total = T(0)
    for image in range(images):
        total = T(total + parts[image * size + item])
    out[item] = total


def _windows(call: Call) -> Window:
    attrs = {"strides": call.attrs["strides"], "dilations": call.attrs["rates"], "padding": call.attrs["padding"]}
    return window(call.inputs[0].shape, call.inputs[1].shape[:2], attrs)


def _sizes(w: Window) -> tuple[int, ...]:
    return (w.height, w.width, w.out_height, w.out_width, w.kernel_height, w.kernel_width, w.stride_y, w.dilation_y,
            w.dilation_x, w.top, w.left)


def _dilated(call: Call, w: Window, y: Address, taps: Address | None) -> Launch:
    x, k = call.inputs[:2]
    whole, work = call.device == "cpu", w.out_width * w.channels * w.taps
    return dilate_row.launch(
        call, w.batch * w.out_height if whole else w.results, call.input(0).reach(x.size * x.itemsize),
        call.input(1).reach(k.size * k.itemsize), y.reach(w.results * x.itemsize).of(x.type),
        taps and taps.reach(w.results * 4).of("int32"), _sizes(w), w.channels, w.stride_x, whole=whole,
        lowest=extreme(x.type, "lowest"), T=x.type, grain=max(1, OPERATIONS // max(1, work)),
        label="dilation")


def dilate(call: Call) -> list[Launch]:
    """Return the launch of Dilation2D."""
    return [_dilated(call, _windows(call), call.output(), None)]


def _chosen(call: Call, w: Window) -> tuple[Launch, Address]:
    """Return the launch that notes the tap of each window, and where."""
    taps = call.scratch(w.results * 4)
    return _dilated(call, w, call.scratch(w.results * call.inputs[0].itemsize), taps), taps


def _of_images(call: Call, w: Window) -> tuple[int, int, int]:
    """Return the items of a gradient, the channels of each, and how many items an image has."""
    width, blocks = call.columns(w.channels)
    return w.batch * blocks, width, blocks


def _dy(call: Call, w: Window, taps: Address) -> tuple[Address, Address]:
    return (call.input(2).reach(w.results * call.inputs[2].itemsize), taps.reach(w.results * 4).of("int32"))


def input_gradient(call: Call) -> list[Launch]:
    """Return the launches of Dilation2DBackpropInput."""
    w, out = _windows(call), call.outputs[0]
    if not w.taps:
        return fill(call, None, call.output(), out)
    noted, taps = _chosen(call, w)
    items, width, blocks = _of_images(call, w)
    return [noted, spread_maxima.launch(
        call, items, *_dy(call, w, taps), call.output().reach(out.size * out.itemsize), _sizes(w), w.channels,
        w.stride_x, width, blocks, T=out.type, grain=1, label="dilation gradient")]


def filter_gradient(call: Call) -> list[Launch]:
    """Return the launches of Dilation2DBackpropFilter."""
    w, out = _windows(call), call.outputs[0]
    if not out.size:
        return []
    noted, taps = _chosen(call, w)
    items, width, blocks = _of_images(call, w)
    nbytes = w.batch * out.size * np.dtype(out.type).itemsize
    parts: Any = call.scratch(nbytes).of(out.type)
    return [noted, sum_by_tap.launch(
        call, items, *_dy(call, w, taps), parts.reach(nbytes), w.out_height * w.out_width, w.taps, w.channels, width,
        blocks, T=out.type, grain=1, label="dilation gradient"),
        sum_images.launch(call, out.size, parts.reach(nbytes), call.output().reach(out.size * out.itemsize), w.batch,
                          out.size, T=out.type, cost=w.batch)]
