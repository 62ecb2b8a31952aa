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
from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import Array, Type
from tfnb.kernels.launch import Address, Call, Launch, Meta
from tfnb.kernels.library.copying import fill
from tfnb.kernels.library.layout import around

GRAIN_ELEMENTS = 1 << 15

@kernel_function(independent=True)
def unfold_depths(x: Array, y: Array, depth: int, out_depth: int, taps: int, stride: int, dilation: int, front: int,
                  places: int, c: int, T: Type, item: int) -> None:
    """Copy the depths that output depth `item` meets side by side: places x taps x c elements."""
    for tap in range(taps):
        z = item % out_depth * stride - front + tap * dilation
        source, target = (item // out_depth * depth + z) * places * c, (item * places * taps + tap) * c
        for place in range(places):
            if z >= 0 and z < depth:
                for j in range(c):
                    y[target + place * taps * c + j] = x[source + place * c + j]
            else:
                for j in range(c):
                    y[target + place * taps * c + j] = T(0)


@kernel_function(independent=True)
def fold_depths(x: Array, y: Array, depth: int, out_depth: int, taps: int, stride: int, dilation: int, front: int,
                places: int, c: int, T: Type, item: int) -> None:
    """Sum all that `unfold_depths` copies of depth `item`."""
    for j in range(item * places * c, (item + 1) * places * c):
        y[j] = T(0)
    for tap in range(taps):
        shift = item % depth + front - tap * dilation
        if shift >= 0 and shift % stride == 0 and shift // stride < out_depth:
            source = ((item // depth * out_depth + shift // stride) * places * taps + tap) * c
            for place in range(places):
                for j in range(c):
                    to = (item * places + place) * c + j
                    y[to] = y[to] + x[source + place * taps * c + j]


def convolve(call: Call) -> list[Launch]:
    """Return the launches of Conv3D."""
    x, kernel = call.inputs
    v = volume(x.shape, kernel.shape[:3], call.attrs)

    def made(images: list[Address], target: Address) -> list[Launch]:
        wide, before = _unfolded(call, v, images[0], x.type)
        flat, turn = _flat_filter(call, v, kernel)
        turned = regroup(call, turn, v.kernel_depth, x.type, call.input(1), flat, back=True)
        return [*before, turned, *conv.forward(call, v.images, wide, flat, target, kernel.shape[4], x.type)]

    return around(call, [0], made)


def input_gradient(call: Call) -> list[Launch]:
    """Return the launches of Conv3DBackpropInputV2."""
    _, kernel, dy = call.inputs
    v = volume(call.outputs[0].shape, kernel.shape[:3], call.attrs)

    def made(images: list[Address], target: Address) -> list[Launch]:
        flat, turn = _flat_filter(call, v, kernel)
        wide = call.scratch(_columns(v) * dy.itemsize)
        return [regroup(call, turn, v.kernel_depth, dy.type, call.input(1), flat, back=True),
                *conv.for_input(call, v.images, images[0], flat, wide, kernel.shape[4], dy.type),
                _over_depth(call, fold_depths, v, wide, target, dy.type, v.batch * v.depth)]

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
                regroup(call, turn, v.kernel_depth, x.type, flat, target)]

    return around(call, [0, 2], made, turn_output=False)


def _columns(v: Volume) -> int:
    """Return the element count of a volume unfolded along its depth."""
    return v.images.batch * v.slices.height * v.slices.width * v.images.channels


def _unfolded(call: Call, v: Volume, x: Address, type_: str) -> tuple[Address, list[Launch]]:
    """Return the depths of each window side by side, as images: the address and the launches."""
    if (v.kernel_depth, v.stride, v.front, v.out_depth) == (1, 1, 0, v.depth):
        return x, []
    target = call.scratch(_columns(v) * Meta(type_, ()).itemsize)
    return target, [_over_depth(call, unfold_depths, v, x, target, type_, v.batch * v.out_depth)]


def _over_depth(call: Call, function: KernelFunction, v: Volume, source: Address, target: Address, type_: str,
                items: int) -> Launch:
    places, c = v.slices.height * v.slices.width, v.slices.channels
    size = Meta(type_, ()).itemsize
    sizes = [_columns(v) * size, v.planes.elements * size]
    if function is unfold_depths:
        sizes.reverse()
    return function.launch(call, items, source.reach(sizes[0]).of(type_), target.reach(sizes[1]).of(type_), v.depth,
                           v.out_depth, v.kernel_depth, v.stride, v.dilation, v.front, places, c, type_,
                           grain=max(1, GRAIN_ELEMENTS // max(1, places * c * v.kernel_depth)),
                           label="depths of volumes")


def _flat_filter(call: Call, v: Volume, kernel: Meta) -> tuple[Address, Rows]:
    """Return memory for a filter over `Volume.images`, and its rows: per tap over an image, one group per depth."""
    flat = call.scratch(kernel.size * kernel.itemsize)
    return flat, Rows(flat, v.slices.taps, kernel.shape[3] * kernel.shape[4])
