"""Copying kernels: boxes of elements with strides on both sides, rows in an order, one element everywhere.

    fill(call, value, target, out)      the element at an address, or 0, everywhere
    copy_box(call, source, target, type, axes)      element (i, j, ...) from i * s0 + j * s1... to i * t0 + j * t1...
    copy_rows(call, source, target, type, size, rows, order)        row order[i] to row i

On the CPU what is contiguous is copied in the widest units that fit, whatever the dtype; on a GPU a thread moves one
element at a time.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Type, unrolled
from tfnb.kernels.launch import Address, Call, Launch, Meta

BYTES_PER_CHUNK = 1 << 17                               # what one thread of the CPU copies at a time
UNITS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}

Axis = tuple[int, int, int]                             # size, stride of the source, stride of the target


SHORT = 1024                # bytes of a row, of which an item copies several: its place takes some divisions


@kernel_function(independent=True)
def fill_item(value: Array, target: Array, T: Type, item: int) -> None:
    """Store the first element of `value`, or 0 where it is None."""
    target[item] = T(0) if value is None else value[0]


@kernel_function(independent=True)
def copy_row(source: Array, target: Array, first: int, sizes: Ints, strides: Ints, target_strides: Ints, step: MaybeOne,
             target_step: MaybeOne, lines: MaybeOne, hop: int, target_hop: int, width: MaybeOne, blocks: MaybeOne,
             item: int) -> None:
    """Copy `width` elements of `lines` rows of a box.

    first: where the target begins (None: at 0). sizes, strides, target_strides: of the axes outside of the row,
    innermost first; lines: how many rows an item copies, `hop` apart in the source and `target_hop` in the target.
    """
    row = item // blocks
    at, to = item % blocks * width * step, item % blocks * width * target_step
    for axis in unrolled(len(sizes)):
        index = row if axis == len(sizes) - 1 else row % sizes[axis]
        row = row // sizes[axis]
        at += index * strides[axis]
        to += index * target_strides[axis]
    for i in range(lines):
        read = source[at + i * hop:]
        written = target[to + i * target_hop if first is None else first + to + i * target_hop:]
        for j in range(width):
            written[j * target_step] = read[j * step]


@kernel_function(independent=True)
def copy_ordered(source: Array, order: Array, target: Array, width: MaybeOne, blocks: MaybeOne, item: int) -> None:
    """Copy `width` elements of row order[i] of the source to row i of the target."""
    row, first = item // blocks, item % blocks * width
    at = (int(order[row]) * blocks) * width + first
    for j in range(width):
        target[item * width + j] = source[at + j]


def units(call: Call, type: str, *nbytes: int) -> tuple[str, int]:
    """Return the dtype to copy in, and its bytes: on the CPU the widest one that divides all of `nbytes`."""
    if call.device == "cuda":
        return type, np.dtype(type).itemsize
    size = next(size for size in (8, 4, 2, 1) if all(n % size == 0 for n in nbytes))
    return UNITS[size], size


def fill(call: Call, value: Address | None, target: Address, out: Meta) -> list[Launch]:
    """Fill an array with the element at `value`; with 0 where it is None."""
    if not out.size:
        return []
    if out.itemsize == 16:
        raise NotImplementedError(f"no fill kernel for {out.type}")
    type = UNITS[out.itemsize] if call.device == "cpu" else out.type
    value = value and value.reach(out.itemsize).of(type)
    return [fill_item.launch(call, out.size, value, target.reach(out.size * out.itemsize).of(type), T=type,
                             grain=BYTES_PER_CHUNK // out.itemsize, label="fill")]


def copy_box(call: Call, source: Address, target: Address, type: str, axes: Sequence[Axis],
             start: int = 0) -> list[Launch]:
    """Copy a box. start: where the target begins; strides are counted in elements, the target's may be negative."""
    size, count = np.dtype(type).itemsize, prod(n for n, _, _ in axes)
    if not count:
        return []
    reach, target_reach = (1 + sum(max(0, (axis[0] - 1) * axis[side]) for axis in axes) for side in (1, 2))
    source, target = source.reach(reach * size), target.reach((start + target_reach) * size)
    *outer, (run, step, target_step) = merged(axes)
    if call.device == "cpu" and size not in UNITS:
        outer, (run, step, target_step) = [*outer, (run, step, target_step)], (1, 1, 1)
    most = BYTES_PER_CHUNK // size
    if outer or call.device == "cuda" or run <= 2 * most:
        return [_copied(call, source, target, type, [*outer, (run, step, target_step)], start)]
    many, whole = (run // most, most * step, most * target_step), run - run % most
    rest = copy_box(call, source.at(whole * step * size), target, type, [(run - whole, step, target_step)],
                    start + whole * target_step)
    return [_copied(call, source, target, type, [many, (most, step, target_step)], start), *rest]


def _copied(call: Call, source: Address, target: Address, type: str, axes: Sequence[Axis], start: int) -> Launch:
    """Return the launch that copies a box whose last axis is a row."""
    *outer, (run, step, target_step) = axes
    size = unit = np.dtype(type).itemsize
    if step == target_step == 1:
        numbers = run, start, source.offset_bytes, *(stride for _, *strides in outer for stride in strides)
        type, unit = units(call, type, *(number * size for number in numbers))
    elif call.device == "cpu":
        type = UNITS[size]
    lengths, strides, target_strides = ([axis[i] * (size if i else unit) // unit for axis in reversed(outer)]
                                        for i in range(3))
    first: int | None = start * size // unit
    if min([target_step, *target_strides]) >= 0:
        assert target.nbytes is not None
        target, first = target.at(start * size).reach(target.nbytes - start * size), None
    width, blocks = call.columns(run * size // unit)
    lines, hop, target_hop = 1, 0, 0
    if call.device == "cpu" and outer and run * size < SHORT and outer[-1][0] * run * size <= BYTES_PER_CHUNK:
        (lines, *lengths), (hop, *strides), (target_hop, *target_strides) = lengths, strides, target_strides
    return copy_row.launch(call, prod(lengths) * blocks, source.of(type), target.of(type), first, lengths, strides,
                           target_strides, step, target_step, lines, hop, target_hop, width, blocks,
                           grain=max(1, BYTES_PER_CHUNK // (run * size * lines)), label="copy")


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """Return the axes with those of size 1 left out, and neighbours that are one run of equal steps as one axis."""
    made: list[Axis] = []
    for n, s, t in axes:
        if n == 1:
            continue
        if made and made[-1][1:] == (n * s, n * t):
            made[-1] = (made[-1][0] * n, s, t)
        else:
            made.append((n, s, t))
    return made or [(1, 1, 1)]


def copy_rows(call: Call, source: Address, target: Address, out: Meta, rows: int, order: Address) -> list[Launch]:
    """Copy rows to an array of `rows` rows; row i comes from row order[i] (int64), and no row comes twice."""
    whole = out.size * out.itemsize
    type, unit = units(call, out.type, whole // rows)
    width, blocks = call.columns(whole // rows // unit)
    return [copy_ordered.launch(call, rows * blocks, source.reach(whole).of(type), order.reach(8 * rows).of("int64"),
                                target.reach(whole).of(type), width, blocks,
                                grain=max(1, BYTES_PER_CHUNK // max(1, whole // rows)), label="copy rows")]
