"""Convolutions and pools on a GPU: a thread for each output element, in either data format.

    convolve(call), input_gradient(call), filter_gradient(call)         Conv2D and its gradients; also depthwise ones
    max_pool(call), avg_pool(call), max_pool_gradient(call), avg_pool_gradient(call)

Loops over the taps of a window, without shared memory: right, and far from a card's rate. A depthwise convolution is
one whose channels are a group each. Every sum has one thread, so nothing depends on their order.
"""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.kernels.arrays.window import Attrs, Window, pool_window, spatial_axes, window
from tfnb.kernels.cuda.geometry import over
from tfnb.kernels.launch import Address, Call, Launch, Word
from tfnb.kernels.scalar.number_types import extreme
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

_POOL = f"""def kernel(x, out, {_PLACES}, many, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
{_OUTPUT}
"""
MAX_TEXT = _POOL + f"""        best = {{lowest}}
        for ky in range(kh):
{_INSIDE}
                        value = x[image * xn + row * xy + column * xx + k * xc]
                        best = value if value > best else best
        out[image * un + oy * uy + ox * ux + k * uc] = best
"""
AVG_TEXT = _POOL + f"""        total, count = {{type}}(0), 0
        for ky in range(kh):
{_INSIDE}
                        total += x[image * xn + row * xy + column * xx + k * xc]
                        count += 1
        out[image * un + oy * uy + ox * ux + k * uc] = total / {{type}}(count)
"""

# Of each window that meets an input, is it the first of the largest ones?
MAX_GRADIENT_TEXT = f"""def kernel(x, grad, out, {_PLACES}, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
{_INPUT}
        total = {{type}}(0)
        for ky in range(kh):
{_MEETING}
                        best, place = {{lowest}}, -1
                        for a in range(max(0, oy * sy - top), min(h, oy * sy - top + kh)):
                            for b in range(max(0, ox * sx - left), min(w, ox * sx - left + kw)):
                                value = x[image * xn + a * xy + b * xx + j * xc]
                                if value > best or place < 0:
                                    best = value if value > best else best
                                    place = a * w + b
                        if place == row * w + column:
                            total += grad[image * un + oy * uy + ox * ux + j * uc]
        out[image * xn + row * xy + column * xx + j * xc] = total
"""
AVG_GRADIENT_TEXT = f"""def kernel(grad, out, {_PLACES}, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
{_INPUT}
        total = {{type}}(0)
        for ky in range(kh):
{_MEETING}
                        high = min(h, oy * sy - top + kh) - max(0, oy * sy - top)
                        wide = min(w, ox * sx - left + kw) - max(0, ox * sx - left)
                        total += grad[image * un + oy * uy + ox * ux + j * uc] / {{type}}(high * wide)
        out[image * xn + row * xy + column * xx + j * xc] = total
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


def max_pool(call: Call) -> list[Launch]:
    """Return the launches of MaxPool."""
    return _pool(call, MAX_TEXT)


def avg_pool(call: Call) -> list[Launch]:
    """Return the launches of AvgPool."""
    return _pool(call, AVG_TEXT)


def max_pool_gradient(call: Call) -> list[Launch]:
    """Return the launches of MaxPoolGrad (orig_input, orig_output, grad)."""
    return _pool_gradient(call, MAX_GRADIENT_TEXT, [call.input(0), call.input(2)])


def avg_pool_gradient(call: Call) -> list[Launch]:
    """Return the launches of AvgPoolGrad (orig_input_shape, grad)."""
    return _pool_gradient(call, AVG_GRADIENT_TEXT, [call.input(1)])


def _pool(call: Call, text: str) -> list[Launch]:
    x, out = call.inputs[0].shape, call.outputs[0].shape
    w = pool_window(x, call.attrs)
    args: tuple[Word, ...] = (call.input(0), call.output(), *_places(w, call.attrs, x, out), w.channels)
    return _launch(text, args, call, "pool")


def _pool_gradient(call: Call, text: str, taken: Sequence[Address]) -> list[Launch]:
    x = call.outputs[0].shape
    w = pool_window(x, call.attrs)
    args: tuple[Word, ...] = (*taken, call.output(), *_places(w, call.attrs, x, call.inputs[-1].shape))
    return _launch(text, args, call, "pool gradient")


def _launch(text: str, args: Sequence[Word], call: Call, label: str) -> list[Launch]:
    out = call.outputs[0]
    if not out.size:
        return []
    return [over(text.format(type=out.type, lowest=f"{out.type}({_lowest(out.type)})"), args, out.size, label)]


def _lowest(type: str) -> str:
    value = extreme(type, "lowest")
    return "-math.inf" if value == float("-inf") else repr(value)


def _places(w: Window, attrs: Attrs, x: Sequence[int], out: Sequence[int]) -> tuple[int, ...]:
    """Return the words of _PLACES, for images of these shapes."""
    axes = (0, *spatial_axes(attrs))
    strides = [row_major(shape)[axis] for shape in (x, out) for axis in axes]
    return (w.height, w.width, w.channels, w.out_height, w.out_width, w.kernel_height, w.kernel_width, w.stride_y,
            w.stride_x, w.dilation_y, w.dilation_x, w.top, w.left, *strides)
