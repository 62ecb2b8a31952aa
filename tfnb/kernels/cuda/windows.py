"""Convolutions on a GPU: a thread for each output element, in either data format.

    convolve(call), input_gradient(call), filter_gradient(call)         Conv2D and its gradients; also depthwise ones

Loops over the taps of a window, without shared memory: right, and far from a card's rate. A depthwise convolution is
one whose channels are a group each. Every sum has one thread, so nothing depends on their order.
"""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.kernels.arrays.window import Attrs, Window, spatial_axes, window
from tfnb.kernels.cuda.geometry import over
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.view import row_major

Shape = tuple[int, ...]

# The windows, then the strides of image, row, column and channel: of the input (xn...) and of the output (un...).
_PLACES = "h, w, c, oh, ow, kh, kw, sy, sx, dy, dx, top, left, xn, xy, xx, xc, un, uy, ux, uc"
# What number i of the output or input is about.
_OUTPUT = """        k, rest = i % many, i // many
        ox, rest = rest % ow, rest // ow
        oy, image = rest % oh, rest // oh"""
_INPUT = """        j, rest = i % c, i // c
        column, rest = rest % w, rest // w
        row, image = rest % h, rest // h"""
_INSIDE = """            row = oy * sy - top + ky * dy
            if row >= 0 and row < h:
                for kx in range(kw):
                    column = ox * sx - left + kx * dx
                    if column >= 0 and column < w:"""
# The windows that meet an input, by the tap at which they do.
_MEETING = """            oy = row + top - ky * dy
            if oy >= 0 and oy % sy == 0 and oy // sy < oh:
                oy = oy // sy
                for kx in range(kw):
                    ox = column + left - kx * dx
                    if ox >= 0 and ox % sx == 0 and ox // sx < ow:
                        ox = ox // sx"""

# x, f: the input and the filter [kh, kw, own, many], of `own` input channels a group, that makes `made` outputs.
CONVOLVE_TEXT = f"""def kernel(x, f, out, {_PLACES}, own, many, made, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
{_OUTPUT}
        first = k // made * own
        total = {{type}}(0)
        for ky in range(kh):
{_INSIDE}
                        source = image * xn + row * xy + column * xx
                        tap = (ky * kw + kx) * own
                        for j in range(own):
                            total += x[source + (first + j) * xc] * f[(tap + j) * many + k]
        out[image * un + oy * uy + ox * ux + k * uc] = total
"""

INPUT_TEXT = f"""def kernel(grad, f, out, {_PLACES}, own, many, made, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
{_INPUT}
        first = j // own * made
        total = {{type}}(0)
        for ky in range(kh):
{_MEETING}
                        source = image * un + oy * uy + ox * ux
                        tap = ((ky * kw + kx) * own + j % own) * many
                        for k in range(first, first + made):
                            total += grad[source + k * uc] * f[tap + k]
        out[image * xn + row * xy + column * xx + j * xc] = total
"""

FILTER_TEXT = f"""def kernel(x, grad, out, {_PLACES}, own, many, made, images, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        k, rest = i % many, i // many
        j, rest = rest % own + k // made * own, rest // own
        kx, ky = rest % kw, rest // kw
        total = {{type}}(0)
        for image in range(images):
            for oy in range(oh):
                row = oy * sy - top + ky * dy
                if row >= 0 and row < h:
                    for ox in range(ow):
                        column = ox * sx - left + kx * dx
                        if column >= 0 and column < w:
                            total += (x[image * xn + row * xy + column * xx + j * xc]
                                      * grad[image * un + oy * uy + ox * ux + k * uc])
        out[i] = total
"""


def convolve(call: Call, depthwise: bool = False) -> list[Launch]:
    """Return the launches of Conv2D or DepthwiseConv2dNative (input, filter)."""
    x, f = (m.shape for m in call.inputs)
    return _convolution(CONVOLVE_TEXT, call, [call.input(0), call.input(1)], (x, call.outputs[0].shape, f), depthwise)


def input_gradient(call: Call, depthwise: bool = False) -> list[Launch]:
    """Return launches of Conv2DBackpropInput or DepthwiseConv2dNativeBackpropInput (input_sizes, filter, dy)."""
    shapes = call.outputs[0].shape, call.inputs[2].shape, call.inputs[1].shape
    return _convolution(INPUT_TEXT, call, [call.input(2), call.input(1)], shapes, depthwise)


def filter_gradient(call: Call, depthwise: bool = False) -> list[Launch]:
    """Return launches of Conv2DBackpropFilter or DepthwiseConv2dNativeBackpropFilter (input, filter_sizes, dy)."""
    shapes = call.inputs[0].shape, call.inputs[2].shape, call.outputs[0].shape
    return _convolution(FILTER_TEXT, call, [call.input(0), call.input(2)], shapes, depthwise, shapes[0][0])


def _convolution(text: str, call: Call, taken: Sequence[Address], shapes: tuple[Shape, Shape, Shape], depthwise: bool,
                 *more: int) -> list[Launch]:
    """Return the launches of a convolution. shapes: of the images, of the outputs, of the filter."""
    x, out, f = shapes
    w = window(x, f[:2], call.attrs)
    own, many = (1, w.channels * f[3]) if depthwise else f[2:]
    made = many // max(1, w.channels // max(1, own))
    return _launch(text, (*taken, call.output(), *_places(w, call.attrs, x, out), own, many, made, *more), call,
                   "convolution")


def _launch(text: str, args: Sequence[Word], call: Call, label: str) -> list[Launch]:
    out = call.outputs[0]
    if not out.size:
        return []
    return [over(text.format(type=out.type), args, out.size, label)]


def _places(w: Window, attrs: Attrs, x: Sequence[int], out: Sequence[int]) -> tuple[int, ...]:
    """Return the words of _PLACES, for images of these shapes."""
    axes = (0, *spatial_axes(attrs))
    strides = [row_major(shape)[axis] for shape in (x, out) for axis in axes]
    return (w.height, w.width, w.channels, w.out_height, w.out_width, w.kernel_height, w.kernel_width, w.stride_y,
            w.stride_x, w.dilation_y, w.dilation_x, w.top, w.left, *strides)
