"""Roll kernel: elements moved along axes, those that leave at one end enter at the other.

    roll(call)      Roll (input, shift, axis)

The value of the axis must be known (Meta.value), each in [0, rank); that of the shift is read in the run.
"""
from __future__ import annotations

from math import prod

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, unrolled
from tfnb.kernels.launch import Call, Launch, known_value


def total_shift(shift: Array, slots: Static, slot: Static, size: int) -> int:
    """Return by how many elements one axis is moved, in [0, size): an axis may be named several times."""
    total = 0
    for i in unrolled(len(slots)):
        if slots[i] == slot:
            total += int(shift[i])
    return total % size


@kernel_function(independent=True)
def roll_row(x: Array, shift: Array, y: Array, sizes: Ints, strides: Ints, n: int, inner: MaybeOne, width: MaybeOne,
             blocks: MaybeOne, slots: Static, item: int) -> None:
    """Write `width` elements of a row of (..., n, inner): n is the last axis that is rolled.

    sizes, strides: of the rolled axes before it, strides in rows. slots: of each shift, the axis that it moves.
    """
    row, whole = item // blocks, n * inner
    source = row
    for k in unrolled(len(sizes)):
        place = row // strides[k] % sizes[k]
        source += ((place - total_shift(shift, slots, k, sizes[k])) % sizes[k] - place) * strides[k]
    cut = total_shift(shift, slots, len(sizes), n) * inner
    if width == 1:
        at = item % blocks - cut
        y[item] = x[source * whole + (at + whole if at < 0 else at)]
    else:
        for j in range(cut):
            y[row * whole + j] = x[(source + 1) * whole - cut + j]
        for j in range(cut, whole):
            y[row * whole + j] = x[source * whole - cut + j]


def roll(call: Call) -> list[Launch]:
    """Return the launch that rolls the first input by the second one along the third one's axes."""
    x, shift = call.inputs[:2]
    axes = [int(axis) % len(x.shape) for axis in known_value(call.inputs[2]).reshape(-1)]
    rolled = sorted(set(axes)) or [0]
    *before, last = rolled
    strides = [prod(x.shape[axis + 1:last]) for axis in before]
    rows, inner = prod(x.shape[:last]), prod(x.shape[last + 1:])
    width, blocks = call.columns(x.shape[last] * inner)
    whole = x.size * x.itemsize
    return [roll_row.launch(call, rows * blocks, call.input(0).reach(whole),
                            call.input(1).reach(shift.size * shift.itemsize), call.output().reach(whole),
                            [x.shape[axis] for axis in before], strides, x.shape[last], inner, width, blocks,
                            slots=tuple(rolled.index(axis) for axis in axes), cost=width)]
