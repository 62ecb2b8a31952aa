"""Data-movement kernels of a GPU: concat, pack, pad, tile, and their parts.

    concat(call)    ConcatV2 (values..., axis), Concat (axis, values...)
    pad(call)       Pad, PadV2 (input, paddings[, constant])
    tile(call)      Tile (input, multiples)
    copy(...)       a box of numbers, with strides on both sides;   fill(...)       one number everywhere

The value of axis, paddings and multiples must be known. A thread moves one number at a time.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from tfnb.kernels.cuda.geometry import block_size, blocks_of
from tfnb.kernels.launch import Address, Call, Launch, Meta, Word, known_axis, known_value
from tfnb.kernels.view import row_major

FILL_TEXT = """def kernel(value, target, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        target[i] = value[0]
"""
ZERO_TEXT = """def kernel(target, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        target[i] = {zero}
"""


def over(text: str, args: Sequence[Word], items: int, label: str = "") -> Launch:
    """Return a launch with a thread for each item; the kernel gets their number as its last argument."""
    return Launch(text, (*args, items), blocks_of(items), block_size(), label)


def fill(value: Address | None, target: Address, out: Meta) -> list[Launch]:
    """Fill with the element at `value`; 0 without one."""
    if not out.size:
        return []
    if value is None:
        return [over(ZERO_TEXT.format(zero="False" if out.type == "bool" else f"{out.type}(0)"), (target,), out.size)]
    return [over(FILL_TEXT, (value, target), out.size)]


def copy(source: Address, target: Address, shape: Sequence[int], source_strides: Sequence[int],
         target_strides: Sequence[int], source_start: int = 0, target_start: int = 0) -> list[Launch]:
    """Copy a box of this shape; strides and starts in elements. Strides may be negative, the indices may not."""
    total = prod(shape)
    if not total:
        return []
    words = [word for axis in zip(shape, source_strides, target_strides, strict=True) for word in axis]
    return [over(_copy_text(len(shape)), (source, target, source_start, target_start, *words), total, "copy")]


@lru_cache(maxsize=32)
def _copy_text(rank: int) -> str:
    """Return the source for boxes of `rank` axes; arguments behind the starts: of each axis size and strides."""
    words = [f"n{d}, s{d}, t{d}" for d in range(rank)]
    lines = ["rest, at, to = i, start, begin"]
    for d in reversed(range(rank)):
        lines += [f"k = rest % n{d}", f"rest = rest // n{d}", f"at += k * s{d}", f"to += k * t{d}"]
    parameters = ", ".join(["source", "target", "start", "begin", *words, "n"])
    return "\n".join([f"def kernel({parameters}):", "    for i in range(cuda.grid(1), n, cuda.gridsize(1)):",
                      *("        " + line for line in lines), "        target[to] = source[at]", ""])


def concat(call: Call) -> list[Launch]:
    """Copy each input to its position along the axis, which is the input that is known to be a scalar."""
    first = 1 if not call.inputs[0].shape and len(call.outputs[0].shape) else 0
    shape = call.outputs[0].shape
    axis = known_axis(call.inputs[0] if first else call.inputs[-1], len(shape))
    return join(call, range(first, len(call.inputs) - (not first)), axis, [m.shape for m in call.inputs])


def join(call: Call, parts: Sequence[int], axis: int, shapes: Sequence[Sequence[int]]) -> list[Launch]:
    """Concatenate these inputs, seen in `shapes`, along an axis of the output."""
    launches, place, strides = [], 0, row_major(call.outputs[0].shape)
    for i in parts:
        launches += copy(call.input(i), call.output(), shapes[i], row_major(shapes[i]), strides,
                         target_start=place * strides[axis])
        place += shapes[i][axis]
    return launches


def pad(call: Call) -> list[Launch]:
    """Fill with the constant (0 without one), then copy the input to its position."""
    shape, out = call.inputs[0].shape, call.outputs[0]
    before = [int(pair[0]) for pair in known_value(call.inputs[1]).reshape(-1, 2)]
    strides = row_major(out.shape)
    start = sum(n * stride for n, stride in zip(before, strides, strict=True))
    return fill(call.input(2) if len(call.inputs) > 2 else None, call.output(), out) \
        + copy(call.input(0), call.output(), shape, row_major(shape), strides, target_start=start)


def tile(call: Call) -> list[Launch]:
    """Copy side by side: each axis is one of copies, which read the same, before one of elements."""
    shape, out = call.inputs[0].shape, call.outputs[0].shape
    if not prod(out):
        return []
    box, source, target = [], [], []
    for n, wide, step, to in zip(shape, out, row_major(shape), row_major(out), strict=True):
        box += [wide // n, n]
        source += [0, step]
        target += [n * to, to]
    return copy(call.input(0), call.output(), box, source, target)
