"""Run-time checks of input values: class labels out of range, integer division by zero.

A Check says which values of one input are bad. Interpreted, `find` looks for one; compiled, `launches` is a kernel that
runs before the op and stops the program with the status words (code, position, value, limit).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, MaybeOne, Static, fail, unrolled
from tfnb.kernels.launch import Address, Call, Launch

# What is bad, and at the same time the code of the failure (kernels/launch.py).
BAD_INDEX, NOT_BELOW, BAD_SEGMENT, BAD_COORDINATE, NEGATIVE, NO_CLASS, ZERO = range(1, 8)
BAD_SLICE, BAD_BOX, BAD_LENGTH = 9, 10, 17


def _outside(value: np.ndarray, limit: int) -> np.ndarray:
    """Return where integers are not in [0, limit), by one comparison."""
    if value.dtype.kind == "i":
        bits = 8 * value.itemsize
        value, limit = value.view(f"u{value.itemsize}"), min(limit, 1 << (bits - 1))
    found: np.ndarray = value >= limit
    return found


BAD: dict[int, Callable[[np.ndarray, int], np.ndarray]] = {
    ZERO: lambda value, limit: value == 0,
    NEGATIVE: lambda value, limit: value < 0,
    BAD_SEGMENT: lambda value, limit: value >= limit,
    **dict.fromkeys((NO_CLASS, BAD_INDEX, BAD_BOX, BAD_LENGTH), _outside),
}
GRAIN = 32768                              # values that an item of the CPU looks at: a loop of vector instructions


@kernel_function(independent=True)
def find_bad(values: Array, count: int, limit: int, width: MaybeOne, bad: Static, item: int) -> None:
    """Report the first bad one of `width` values."""
    start = item * width
    end = min(start + width, count)
    found = False
    for i in range(start, end):
        value = values[i]
        found = found or (value == 0 if bad == ZERO else value < 0 if bad == NEGATIVE else
                          value >= limit if bad == BAD_SEGMENT else value < 0 or value >= limit)
    if found:
        for i in range(start, end):
            value = values[i]
            if (value == 0 if bad == ZERO else value < 0 if bad == NEGATIVE else
                    value >= limit if bad == BAD_SEGMENT else value < 0 or value >= limit):
                fail(bad, i, int(value), limit)
                return


@kernel_function
def find_bad_row(indices: Array, counted: Array, limits: Ints, bad: Static, item: int) -> None:
    """Report an index or a vector of coordinates that is out of range; of the first counted[0], where that is given."""
    if counted is not None and item >= counted[0]:
        return
    for axis in unrolled(len(limits)):
        at = int(indices[item * len(limits) + axis])
        if at < 0 or at >= limits[axis]:
            fail(bad, item, at, limits[axis], axis)
            return


def check_rows(call: Call, input: int, count: int, limits: Sequence[int], counted: Address | None,
               bad: int) -> list[Launch]:
    """Return launches that check `count` indices or coordinates, one after another: the first bad one is reported."""
    if not limits:
        return []
    indices = call.input(input).reach(count * len(limits) * call.inputs[input].itemsize)
    return [find_bad_row.launch(call, count, indices, counted, tuple(limits), bad, grain=0, label="check indices")]


@dataclass(frozen=True, slots=True)
class Check:
    """Input number `input` must have no value that is `bad` (ZERO, NEGATIVE; others: outside of [0, limit)).

    by_kernel: the op's own kernel looks for it in a program, so that no other has to.
    """

    input: int
    bad: int
    limit: int = 0
    by_kernel: bool = False

    def positions(self, arrays: Sequence[np.ndarray | None]) -> tuple[int, ...] | None:
        """Return the shape over which positions count."""
        return np.shape(arrays[self.input])        # type: ignore[arg-type]

    def find(self, arrays: Sequence[np.ndarray | None]) -> tuple[int, ...] | None:
        """Return the status words for the first bad value of its input, or None."""
        array = arrays[self.input]
        assert array is not None
        bad = BAD[self.bad](array, self.limit).reshape(-1)
        if not bad.any():
            return None
        place = int(bad.argmax())
        return self.bad, place, int(array.reshape(-1)[place]), self.limit

    def launches(self, call: Call) -> list[Launch]:
        """Return the kernel that looks through the one input of `call`."""
        values = call.inputs[0]
        width = GRAIN if call.device == "cpu" else 1
        return [find_bad.launch(call, -(-values.size // width), call.input(0).reach(values.size * values.itemsize),
                                values.size, self.limit, width, bad=self.bad, grain=1, label="check")]


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Each vector in the last axis of input number `input` must be in a box: coordinate k in [0, limits[k])."""

    input: int
    limits: tuple[int, ...]
    by_kernel: bool = True

    def positions(self, arrays: Sequence[np.ndarray | None]) -> tuple[int, ...] | None:
        """Return the shape over which positions count."""
        return np.shape(arrays[self.input])[:-1]   # type: ignore[arg-type]

    def find(self, arrays: Sequence[np.ndarray | None]) -> tuple[int, ...] | None:
        """Return the status words for the first vector outside of the box, or None."""
        array = arrays[self.input]
        assert array is not None
        vectors = array.reshape(prod(array.shape[:-1]), len(self.limits)).astype(np.int64, copy=False)
        bad = vectors.view(np.uint64) >= np.array(self.limits, np.uint64)         # negative ones, too
        if not bad.any():
            return None
        place = int(bad.any(1).argmax())
        axis = int(bad[place].argmax())
        return BAD_COORDINATE, place, int(vectors[place, axis]), self.limits[axis], axis


@dataclass(frozen=True, slots=True)
class Below:
    """The scalar input number `low` must be less than the scalar input number `high`."""

    low: int
    high: int
    by_kernel: bool = True

    def positions(self, arrays: Sequence[np.ndarray | None]) -> tuple[int, ...] | None:
        """Return None: the two are scalars."""
        return None

    def find(self, arrays: Sequence[np.ndarray | None]) -> tuple[int, ...] | None:
        """Return the status words if `low` is not less than `high`, else None."""
        low, high = arrays[self.low], arrays[self.high]
        assert low is not None and high is not None
        return None if low.item() < high.item() else (NOT_BELOW, low.item(), high.item())
