"""Values that an op does not take, found while it runs: a label that is no class, an integer divisor that is zero.

A Check says which values of one input are bad. Interpreted, `find` looks for one; compiled, `launches` is a kernel that
runs before the op and stops the program with the status words (code, position, value, limit).
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfnb.kernels.launch import Address, Call, Launch

ZERO, NEGATIVE, NO_CLASS = 7, 5, 6       # what is bad, and at the same time the code of the failure
BAD: dict[int, Callable[[np.ndarray, int], np.ndarray]] = {
    ZERO: lambda value, limit: value == 0,
    NEGATIVE: lambda value, limit: value < 0,
    NO_CLASS: lambda value, limit: (value < 0) | (value >= limit),
}
CONDITIONS = {ZERO: "value == 0", NEGATIVE: "value < 0", NO_CLASS: "value < 0 or value >= limit"}
GRAIN = 32768

TEXT = """
INDEPENDENT = True

def kernel(args, begin, end):
    values, limit, status = {type}_array(args[0], 0), args[1], args[2]
    found = False
    for i in range(begin, end):
        value = values[i]
        found = found or ({condition})
    if found and atomic_add(status, 0) == 0:
        for i in range(begin, end):
            value = values[i]
            if {condition}:
                store(status + 8, i)
                store(status + 16, int64(value))
                store(status + 24, limit)
                store(status, {code})
                return
"""


@dataclass(frozen=True, slots=True)
class Check:
    """Input number `input` must have no value that is `bad` (ZERO, NEGATIVE, NO_CLASS: outside of [0, limit))."""

    input: int
    bad: int
    limit: int = 0

    def find(self, array: np.ndarray) -> tuple[int, ...] | None:
        """The status words for the first bad value of `array`, or None."""
        bad = BAD[self.bad](array, self.limit).reshape(-1)
        if not bad.any():
            return None
        place = int(bad.argmax())
        return self.bad, place, int(array.reshape(-1)[place]), self.limit

    def launches(self, call: Call) -> list[Launch]:
        """The kernel that looks through the one input of `call`."""
        values = call.inputs[0]
        text = TEXT.format(type=values.type, condition=CONDITIONS[self.bad], code=self.bad)
        return [Launch(text, (call.input(0), self.limit, Address("status")), values.size, GRAIN, "check")]
