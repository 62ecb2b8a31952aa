"""Local response normalization (LRN) over neighbouring channels, and its gradient.

    lrn(call)               LRN (input)
    lrn_gradient(call)      LRNGrad (input_grads, input_image, output_image)

On the CPU an item is a range of pixels, whose inner loops run over channels, once for each neighbour; on a GPU an item
is one element.
"""
from __future__ import annotations

from typing import Any

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Static, float32, pow
from tfnb.kernels.launch import Address, Call, Launch

OPERATIONS = 1 << 15                                    # numbers that a thread does at a time
ITEMS = 64


def norm_at(x: Array, base: int, j: int, c: int, radius: Static, bias: Static, alpha: Static) -> Any:
    """Return bias + alpha * the sum of squares of the channels up to `radius` away from channel j."""
    norm = float32(bias)
    for k in range(max(0, j - radius), min(c, j + radius + 1)):
        norm = float32(norm + float32(alpha) * (x[base + k] * x[base + k]))
    return norm


@kernel_function(independent=True)
def normalize_pixels(x: Array, out: Array, c: int, pixels: int, group: MaybeOne, width: MaybeOne, blocks: MaybeOne,
                     radius: Static, bias: Static, alpha: Static, beta: Static, item: int) -> None:
    """Normalize `width` channels of `group` pixels."""
    if width == 1:
        base, j = item // blocks * c, item % blocks
        norm = norm_at(x, base, j, c, radius, bias, alpha)
        out[base + j] = x[base + j] * pow(norm, float32(-beta))
    else:
        for pixel in range(item * group, min((item + 1) * group, pixels)):
            base = pixel * c
            for j in range(c):
                out[base + j] = float32(bias)
            for shift in range(-radius, radius + 1):
                for j in range(max(0, -shift), min(c, c - shift)):
                    out[base + j] = out[base + j] + float32(alpha) * (x[base + j + shift] * x[base + j + shift])
            for j in range(c):
                out[base + j] = x[base + j] * pow(out[base + j], float32(-beta))


@kernel_function(independent=True)
def differentiate_pixels(x: Array, y: Array, dy: Array, out: Array, room: Array, c: int, pixels: int, group: MaybeOne,
                         width: MaybeOne, blocks: MaybeOne, radius: Static, bias: Static, alpha: Static, beta: Static,
                         item: int) -> None:
    """Compute the gradient for `width` channels of `group` pixels. room: on the CPU, 2 * c numbers for each item."""
    if width == 1:
        base, j = item // blocks * c, item % blocks
        total = float32(0)
        for k in range(max(0, j - radius), min(c, j + radius + 1)):
            total = float32(total + dy[base + k] * y[base + k] / norm_at(x, base, k, c, radius, bias, alpha))
        own = norm_at(x, base, j, c, radius, bias, alpha)
        out[base + j] = (dy[base + j] * pow(own, float32(-beta))
                         - float32(2) * float32(alpha) * float32(beta) * x[base + j] * total)
    else:
        norm = room[item * 2 * c:]
        part = room[item * 2 * c + c:]
        for pixel in range(item * group, min((item + 1) * group, pixels)):
            base = pixel * c
            for j in range(c):
                norm[j] = float32(bias)
            for shift in range(-radius, radius + 1):
                for j in range(max(0, -shift), min(c, c - shift)):
                    norm[j] = norm[j] + float32(alpha) * (x[base + j + shift] * x[base + j + shift])
            for j in range(c):
                part[j] = float32(0)
            for shift in range(-radius, radius + 1):
                for j in range(max(0, -shift), min(c, c - shift)):
                    part[j] = part[j] + dy[base + j + shift] * y[base + j + shift] / norm[j + shift]
            for j in range(c):
                out[base + j] = (dy[base + j] * pow(norm[j], float32(-beta))
                                 - float32(2) * float32(alpha) * float32(beta) * x[base + j] * part[j])


def lrn(call: Call) -> list[Launch]:
    """Return launches of x * (bias + alpha * sum of squares of the channels up to depth_radius away) ** -beta."""
    return _launches(call, normalize_pixels, (0,), 0)


def lrn_gradient(call: Call) -> list[Launch]:
    """Return launches of the gradient of `lrn` for its input."""
    return _launches(call, differentiate_pixels, (1, 2, 0), 8)


def _launches(call: Call, function: Any, inputs: tuple[int, ...], scratch: int) -> list[Launch]:
    """scratch: bytes for each channel of an item, on the CPU."""
    out = call.outputs[0]
    if not out.size:
        return []
    c, pixels, nbytes = out.shape[3], out.size // out.shape[3], out.size * out.itemsize
    width, blocks = (max(2, c), 1) if call.device == "cpu" else (1, c)
    items = max(1, min(ITEMS, pixels, out.size // OPERATIONS)) if call.device == "cpu" else pixels
    room: list[Address | None] = []
    if scratch:
        held = items * c * scratch
        room = [call.scratch(held).reach(held).of("float32") if call.device == "cpu" else None]
    radius = min(int(call.attrs["depth_radius"]), c)                       # beyond that there are no neighbours
    numbers = {name: float(call.attrs[name]) for name in ("bias", "alpha", "beta")}
    return [function.launch(call, items * blocks, *(call.input(i).reach(nbytes) for i in inputs),
                            call.output().reach(nbytes), *room, c, pixels, -(-pixels // items), width, blocks, radius,
                            **numbers, grain=1 if items > 1 else 0)]
