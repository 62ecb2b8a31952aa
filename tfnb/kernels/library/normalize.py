"""Local response normalization (LRN) over neighbouring channels, and its gradient.

    lrn(call)               LRN (input)
    lrn_gradient(call)      LRNGrad (input_grads, input_image, output_image)

On the CPU an item is a range of pixels, whose inner loops run over channels, once for each neighbour; on a GPU an item
is one element.
"""
from __future__ import annotations

from typing import Any

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Static, float32, pow, sqrt, unrolled
from tfnb.kernels.launch import Call, Launch

OPERATIONS = 1 << 15                                    # numbers that a thread does at a time
ITEMS = 64
UNROLLED = 8                                            # the largest radius whose sums are written out


def norm_at(x: Array, base: int, j: int, c: int, radius: Static, bias: Static, alpha: Static) -> Any:
    """Return bias + alpha * the sum of squares of the channels up to `radius` away from channel j."""
    norm = float32(bias)
    for k in range(max(0, j - radius), min(c, j + radius + 1)):
        norm = float32(norm + float32(alpha) * (x[base + k] * x[base + k]))
    return norm


def inverse_power(norm: float, beta: Static) -> Any:
    """Return norm ** -beta. The powers that networks use are square roots, ten times as fast as a power."""
    if beta == 0.75:
        root = sqrt(norm)
        return float32(1) / (root * sqrt(root))
    if beta == 0.5:
        return float32(1) / sqrt(norm)
    if beta == 1:
        return float32(1) / norm
    return pow(norm, float32(-beta))


def sum_around(row: Array, sums: Array, j: int, radius: Static) -> Any:
    """Return the sum of the elements up to `radius` away from element j of a row that begins with `radius` zeros."""
    total = sums[j]
    if radius <= UNROLLED:
        total = row[j]
        for k in unrolled(2 * radius):
            total = float32(total + row[j + 1 + k])
    return total


def sum_far(row: Array, sums: Array, c: int, radius: Static) -> None:
    """Sum the elements of a row around each, for a radius that `sum_around` leaves out."""
    if radius > UNROLLED:
        for j in range(c):
            sums[j] = float32(0)
        for k in range(2 * radius + 1):
            for j in range(c):
                sums[j] = sums[j] + row[j + k]


@kernel_function(independent=True)
def normalize_pixels(x: Array, out: Array, room: Array, c: int, pixels: int, group: MaybeOne, width: MaybeOne,
                     blocks: MaybeOne, radius: Static, bias: Static, alpha: Static, beta: Static, item: int) -> None:
    """Normalize `width` channels of `group` pixels. room: on the CPU, 2 * (c + 2 * radius) numbers for each item."""
    if width == 1:
        base, j = item // blocks * c, item % blocks
        norm = norm_at(x, base, j, c, radius, bias, alpha)
        out[base + j] = x[base + j] * inverse_power(norm, beta)
    else:
        row = room[item * 2 * (c + 2 * radius):]
        sums = room[item * 2 * (c + 2 * radius) + c + 2 * radius:]
        for j in range(c + 2 * radius):
            row[j] = float32(0)
        for pixel in range(item * group, min((item + 1) * group, pixels)):
            base = pixel * c
            for j in range(c):
                row[radius + j] = x[base + j] * x[base + j]
            sum_far(row, sums, c, radius)
            for j in range(c):
                norm = float32(bias) + float32(alpha) * sum_around(row, sums, j, radius)
                out[base + j] = x[base + j] * inverse_power(norm, beta)


@kernel_function(independent=True)
def differentiate_pixels(x: Array, y: Array, dy: Array, out: Array, room: Array, c: int, pixels: int, group: MaybeOne,
                         width: MaybeOne, blocks: MaybeOne, radius: Static, bias: Static, alpha: Static, beta: Static,
                         item: int) -> None:
    """Compute the gradient for `width` channels of `group` pixels.

    room: on the CPU, 4 * (c + 2 * radius) numbers for each item.
    """
    if width == 1:
        base, j = item // blocks * c, item % blocks
        total = float32(0)
        for k in range(max(0, j - radius), min(c, j + radius + 1)):
            total = float32(total + dy[base + k] * y[base + k] / norm_at(x, base, k, c, radius, bias, alpha))
        own = norm_at(x, base, j, c, radius, bias, alpha)
        out[base + j] = (dy[base + j] * inverse_power(own, beta)
                         - float32(2) * float32(alpha) * float32(beta) * x[base + j] * total)
    else:
        length = c + 2 * radius
        row = room[item * 4 * length:]
        share = room[item * 4 * length + length:]
        norm = room[item * 4 * length + 2 * length:]
        sums = room[item * 4 * length + 3 * length:]
        for j in range(length):
            row[j] = float32(0)
            share[j] = float32(0)
        for pixel in range(item * group, min((item + 1) * group, pixels)):
            base = pixel * c
            for j in range(c):
                row[radius + j] = x[base + j] * x[base + j]
            sum_far(row, sums, c, radius)
            for j in range(c):
                norm[j] = float32(bias) + float32(alpha) * sum_around(row, sums, j, radius)
            for j in range(c):
                share[radius + j] = dy[base + j] * y[base + j] / norm[j]
            sum_far(share, sums, c, radius)
            for j in range(c):
                out[base + j] = (dy[base + j] * inverse_power(norm[j], beta) - float32(2) * float32(alpha)
                                 * float32(beta) * x[base + j] * sum_around(share, sums, j, radius))


def lrn(call: Call) -> list[Launch]:
    """Return launches of x * (bias + alpha * sum of squares of the channels up to depth_radius away) ** -beta."""
    return _launches(call, normalize_pixels, (0,), 2)


def lrn_gradient(call: Call) -> list[Launch]:
    """Return launches of the gradient of `lrn` for its input."""
    return _launches(call, differentiate_pixels, (1, 2, 0), 4)


def _launches(call: Call, function: Any, inputs: tuple[int, ...], rows: int) -> list[Launch]:
    """rows: of scratch for an item, on the CPU."""
    out = call.outputs[0]
    if not out.size:
        return []
    c, pixels, nbytes = out.shape[3], out.size // out.shape[3], out.size * out.itemsize
    width, blocks = (max(2, c), 1) if call.device == "cpu" else (1, c)
    items = max(1, min(ITEMS, pixels, out.size // OPERATIONS)) if call.device == "cpu" else pixels
    radius = min(int(call.attrs["depth_radius"]), c)                       # beyond that there are no neighbours
    held = items * rows * (c + 2 * radius) * 4
    room = call.scratch(held).reach(held).of("float32") if call.device == "cpu" else None
    numbers = {name: float(call.attrs[name]) for name in ("bias", "alpha", "beta")}
    return [function.launch(call, items * blocks, *(call.input(i).reach(nbytes) for i in inputs),
                            call.output().reach(nbytes), room, c, pixels, -(-pixels // items), width, blocks, radius,
                            **numbers, grain=1 if items > 1 else 0)]
