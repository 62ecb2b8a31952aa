"""Convolutions and pools over volumes, by the kernels for images.

    convolve(call)                  Conv3D (input, filter)
    input_gradient(call)            Conv3DBackpropInputV2 (input_sizes, filter, out_backprop)
    filter_gradient(call)           Conv3DBackpropFilterV2 (input, filter_sizes, out_backprop)
    max_pool(call), avg_pool(call), max_pool_gradient(call), avg_pool_gradient(call)
                                    MaxPool3D, AvgPool3D, MaxPool3DGrad, AvgPool3DGrad

A convolution copies the depths that a window meets side by side, as channels of one image: kernel depth times as much
memory, for products at the rate of those over images. A pool goes over the images first, then along the depth.
"""
from __future__ import annotations

from tfnb.kernels.arrays.window import Volume, volume
from tfnb.kernels.cpu.conv import conv
from tfnb.kernels.cpu.conv.groups import Rows, regroup
from tfnb.kernels.launch import Address, Call, Launch, Meta
from tfnb.kernels.library.copying import fill
from tfnb.kernels.library.layout import around

GRAIN_ELEMENTS = 1 << 15

# Item i: output depth i % out_depth of volume i // out_depth; places x taps x c numbers.
UNFOLD_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    depth, out_depth, taps, stride, dilation, front, places, c = (
        args[2], args[3], args[4], args[5], args[6], args[7], args[8], args[9])
    x, y = {type}_array(args[0], 0), {type}_array(args[1], 0)
    for i in range(begin, end):
        for tap in range(taps):
            z = i % out_depth * stride - front + tap * dilation
            source, target = (i // out_depth * depth + z) * places * c, (i * places * taps + tap) * c
            for place in range(places):
                if z >= 0 and z < depth:
                    for j in range(c):
                        y[target + j] = x[source + j]
                else:
                    for j in range(c):
                        y[target + j] = {type}(0)
                source += c
                target += taps * c
"""

# Item i: depth i % depth of volume i // depth; the sum of all that was unfolded from it.
FOLD_TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    depth, out_depth, taps, stride, dilation, front, places, c = (
        args[2], args[3], args[4], args[5], args[6], args[7], args[8], args[9])
    x, y = {type}_array(args[0], 0), {type}_array(args[1], 0)
    for i in range(begin, end):
        for j in range(i * places * c, (i + 1) * places * c):
            y[j] = {type}(0)
        for tap in range(taps):
            shift = i % depth + front - tap * dilation
            if shift >= 0 and shift % stride == 0 and shift // stride < out_depth:
                source, target = ((i // depth * out_depth + shift // stride) * places * taps + tap) * c, i * places * c
                for place in range(places):
                    for j in range(c):
                        y[target + j] = y[target + j] + x[source + j]
                    source += taps * c
                    target += c
"""


def convolve(call: Call) -> list[Launch]:
    """Return the launches of Conv3D."""
    x, kernel = call.inputs
    v = volume(x.shape, kernel.shape[:3], call.attrs)

    def made(images: list[Address], target: Address) -> list[Launch]:
        wide, before = _unfolded(call, v, images[0], x.type)
        flat, turn = _flat_filter(call, v, kernel)
        turn_launch = regroup(turn, v.kernel_depth, x.type, call.input(1), flat, back=True)
        return [*before, turn_launch, *conv.forward(call, v.images, wide, flat, target, kernel.shape[4], x.type)]

    return around(call, [0], made)


def input_gradient(call: Call) -> list[Launch]:
    """Return the launches of Conv3DBackpropInputV2."""
    _, kernel, dy = call.inputs
    v = volume(call.outputs[0].shape, kernel.shape[:3], call.attrs)

    def made(images: list[Address], target: Address) -> list[Launch]:
        flat, turn = _flat_filter(call, v, kernel)
        wide = call.scratch(_columns(v) * dy.itemsize)
        return [regroup(turn, v.kernel_depth, dy.type, call.input(1), flat, back=True),
                *conv.for_input(call, v.images, images[0], flat, wide, kernel.shape[4], dy.type),
                _over_depth(FOLD_TEXT, v, wide, target, dy.type, v.batch * v.depth)]

    return around(call, [2], made) if kernel.size else fill(call, None, call.output(), call.outputs[0])


def filter_gradient(call: Call) -> list[Launch]:
    """Return the launches of Conv3DBackpropFilterV2."""
    x, out = call.inputs[0], call.outputs[0]
    v = volume(x.shape, out.shape[:3], call.attrs)

    def made(images: list[Address], target: Address) -> list[Launch]:
        wide, before = _unfolded(call, v, images[0], x.type)
        flat, turn = _flat_filter(call, v, out)
        meta = Meta(out.type, (*out.shape[1:3], v.images.channels, out.shape[4]))
        return [*before, *conv.for_filter(call, v.images, wide, images[1], flat, meta),
                regroup(turn, v.kernel_depth, x.type, flat, target)]

    return around(call, [0, 2], made, turn_output=False)


def _columns(v: Volume) -> int:
    """Return the element count of a volume unfolded along its depth."""
    return v.images.batch * v.slices.height * v.slices.width * v.images.channels


def _unfolded(call: Call, v: Volume, x: Address, type_: str) -> tuple[Address, list[Launch]]:
    """Return the depths of each window side by side, as images: the address and the launches."""
    if (v.kernel_depth, v.stride, v.front, v.out_depth) == (1, 1, 0, v.depth):
        return x, []
    target = call.scratch(_columns(v) * Meta(type_, ()).itemsize)
    return target, [_over_depth(UNFOLD_TEXT, v, x, target, type_, v.batch * v.out_depth)]


def _over_depth(text: str, v: Volume, source: Address, target: Address, type_: str, items: int) -> Launch:
    places, c = v.slices.height * v.slices.width, v.slices.channels
    size = Meta(type_, ()).itemsize
    sizes = [_columns(v) * size, v.planes.elements * size]
    if text is UNFOLD_TEXT:
        sizes.reverse()
    words = (source.reach(sizes[0]), target.reach(sizes[1]), v.depth, v.out_depth, v.kernel_depth, v.stride, v.dilation,
             v.front, places, c)
    return Launch(text.format(type=type_), words, items, max(1, GRAIN_ELEMENTS // max(1, places * c * v.kernel_depth)),
                  "depths of volumes")


def _flat_filter(call: Call, v: Volume, kernel: Meta) -> tuple[Address, Rows]:
    """Return memory for a filter over `Volume.images`, and its rows: per tap over an image, one group per depth."""
    flat = call.scratch(kernel.size * kernel.itemsize)
    return flat, Rows(flat, v.slices.taps, kernel.shape[3] * kernel.shape[4])
