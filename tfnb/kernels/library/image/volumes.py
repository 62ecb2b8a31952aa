"""Direct convolutions of volumes to few channels on a GPU: a thread for each element, in either data format.

    convolve(call)                  Conv3D (input, filter)
    input_gradient(call)            Conv3DBackpropInputV2 (input_sizes, filter, out_backprop)
    filter_gradient(call)           Conv3DBackpropFilterV2 (input, filter_sizes, out_backprop)

Every sum has one thread, which adds in the order of taps and channels: nothing depends on the order of threads. Other
convolutions of volumes go by tiles (convolution.py).
"""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.kernels.arrays.window import Volume, channels_first, volume
from tfnb.kernels.functions.kernel import KernelFunction, kernel_function
from tfnb.kernels.functions.language import Array, Ints, Type
from tfnb.kernels.launch import Call, Launch, Meta
from tfnb.kernels.library.copying import fill


@kernel_function(independent=True)
def convolve_volumes(x: Array, f: Array, out: Array, window: Ints, steps: Ints, own: int, many: int, T: Type,
                     item: int) -> None:
    """Compute an element of a convolution.

    steps: from volume, depth, row, pixel and channel to the next, of the input and of the output.
    """
    d, h, w, od, oh, ow, kd, kh, kw, sz, sy, sx, dz, dy, dx, front, top, left = window
    xn, xz, xy, xx, xc, un, uz, uy, ux, uc = steps
    k, place, total = item % many, item // many, T(0)
    ox, oy, oz, n = place % ow, place // ow % oh, place // ow // oh % od, place // ow // oh // od
    for kz in range(kd):
        z = oz * sz - front + kz * dz
        if z >= 0 and z < d:
            for ky in range(kh):
                y = oy * sy - top + ky * dy
                if y >= 0 and y < h:
                    for kx in range(kw):
                        p = ox * sx - left + kx * dx
                        if p >= 0 and p < w:
                            source, tap = n * xn + z * xz + y * xy + p * xx, ((kz * kh + ky) * kw + kx) * own * many
                            for j in range(own):
                                total = T(total + x[source + j * xc] * f[tap + j * many + k])
    out[n * un + oz * uz + oy * uy + ox * ux + k * uc] = total


@kernel_function(independent=True)
def spread_volumes(grad: Array, f: Array, out: Array, window: Ints, steps: Ints, own: int, many: int, T: Type,
                   item: int) -> None:
    """Compute an element of the input's gradient, from the windows that meet it."""
    d, h, w, od, oh, ow, kd, kh, kw, sz, sy, sx, dz, dy, dx, front, top, left = window
    xn, xz, xy, xx, xc, un, uz, uy, ux, uc = steps
    j, place, total = item % own, item // own, T(0)
    p, y, z, n = place % w, place // w % h, place // w // h % d, place // w // h // d
    for kz in range(kd):
        oz = z + front - kz * dz
        if oz >= 0 and oz % sz == 0 and oz // sz < od:
            for ky in range(kh):
                oy = y + top - ky * dy
                if oy >= 0 and oy % sy == 0 and oy // sy < oh:
                    for kx in range(kw):
                        ox = p + left - kx * dx
                        if ox >= 0 and ox % sx == 0 and ox // sx < ow:
                            source = n * un + oz // sz * uz + oy // sy * uy + ox // sx * ux
                            tap = (((kz * kh + ky) * kw + kx) * own + j) * many
                            for k in range(many):
                                total = T(total + grad[source + k * uc] * f[tap + k])
    out[n * xn + z * xz + y * xy + p * xx + j * xc] = total


@kernel_function(independent=True)
def weigh_volumes(x: Array, grad: Array, out: Array, window: Ints, steps: Ints, own: int, many: int, batch: int,
                  T: Type, item: int) -> None:
    """Compute an element of the filter's gradient."""
    d, h, w, od, oh, ow, kd, kh, kw, sz, sy, sx, dz, dy, dx, front, top, left = window
    xn, xz, xy, xx, xc, un, uz, uy, ux, uc = steps
    k, j, tap, total = item % many, item // many % own, item // many // own, T(0)
    for plane in range(batch * od):
        n, oz = plane // od, plane % od
        z = oz * sz - front + tap // kw // kh * dz
        if z >= 0 and z < d:
            for oy in range(oh):
                y = oy * sy - top + tap // kw % kh * dy
                if y >= 0 and y < h:
                    for ox in range(ow):
                        p = ox * sx - left + tap % kw * dx
                        if p >= 0 and p < w:
                            total = T(total + x[n * xn + z * xz + y * xy + p * xx + j * xc]
                                      * grad[n * un + oz * uz + oy * uy + ox * ux + k * uc])
    out[item] = total


def convolve(call: Call) -> list[Launch]:
    """Return the launch of Conv3D."""
    x, f = call.inputs
    return _over(call, convolve_volumes, volume(x.shape, f.shape[:3], call.attrs), x, f, (0, 1), x.type)


def input_gradient(call: Call) -> list[Launch]:
    """Return the launch of Conv3DBackpropInputV2."""
    x, f = call.outputs[0], call.inputs[1]
    if not f.size:
        return fill(call, None, call.output(), x)
    return _over(call, spread_volumes, volume(x.shape, f.shape[:3], call.attrs), x, f, (2, 1), x.type)


def filter_gradient(call: Call) -> list[Launch]:
    """Return the launch of Conv3DBackpropFilterV2."""
    x, f = call.inputs[0], call.outputs[0]
    v = volume(x.shape, f.shape[:3], call.attrs)
    return _over(call, weigh_volumes, v, x, f, (0, 2), v.batch, x.type)


def _over(call: Call, function: KernelFunction, v: Volume, x: Meta, f: Meta, given: Sequence[int],
          *rest: int | str) -> list[Launch]:
    """Return the launch over all elements of the output. given: the inputs that the kernel reads; rest: its last
    arguments."""
    s, first, out = v.slices, channels_first(call.attrs), call.outputs[0]
    own, many = f.shape[3:]
    window = (v.depth, s.height, s.width, v.out_depth, s.out_height, s.out_width, v.kernel_depth, s.kernel_height,
              s.kernel_width, v.stride, s.stride_y, s.stride_x, v.dilation, s.dilation_y, s.dilation_x, v.front, s.top,
              s.left)
    steps = (*_steps(window[:3], own, first), *_steps(window[3:6], many, first))
    reaches = [call.input(i).reach(call.inputs[i].size * x.itemsize) for i in given]
    return [function.launch(call, out.size, *reaches, call.output().reach(out.size * x.itemsize), window, steps, own,
                            many, *rest, label="convolution of volumes")]


def _steps(sizes: Sequence[int], channels: int, first: bool) -> tuple[int, ...]:
    """Return the elements from volume, depth, row, pixel and channel to the next."""
    d, h, w = sizes
    if first:
        return channels * d * h * w, h * w, w, 1, d * h * w
    return d * h * w * channels, h * w * channels, w * channels, channels, 1
