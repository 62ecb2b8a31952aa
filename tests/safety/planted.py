"""A worker with planted faults, to show that the instrument finds them: `python -m tests.safety.planted`.

It is asked for a fault instead of an op, and answers for a call of Cumsum whose kernel has that fault.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.safety import worker
from tests.safety.records import Record
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.opdef import registry

OP, N = "Cumsum", 10
CALL = Record(OP, (np.arange(N, dtype=np.float32), np.array(0, np.int32)), {"exclusive": False, "reverse": False})
SUMS = """
def kernel(args, begin, end):
    x, out, n = float32_array(args[0], 0), float32_array(args[1], 0), args[2]
    total = float32(0)
    for i in range(n):
        total = total + x[i]
        out[i] = total
"""

def _kernel(extra: str = "", text: str = SUMS, scratch: int = 0) -> Callable[[Call], Sequence[Launch]]:
    def launches(call: Call) -> list[Launch]:
        room = call.scratch(scratch).reach(0) if scratch else Address("status")
        return [Launch(text + extra, (call.input(0).reach(0), call.output().reach(0), call.inputs[0].size, room), 1)]
    return launches

def _kernel_numpy(ctx: Any, x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The NumPy form, which alone refuses long vectors."""
    if x.size > N:
        raise ValueError("too long")
    return np.cumsum(x, dtype=x.dtype)

KERNELS = {
    "none": _kernel(),
    "reads behind its input": _kernel("    out[0] = x[n]\n"),
    "reads before its input": _kernel("    out[0] = x[0 - 1]\n"),
    "writes behind its output": _kernel("    out[n] = float32(0)\n"),
    "writes before its output": _kernel("    out[0 - 1] = float32(0)\n"),
    "writes behind its scratch": _kernel("    float32_array(args[3], 0)[16] = float32(0)\n", scratch=64),
    "never ends": _kernel("    while n > 0:\n        out[0] = out[0] + x[0]\n"),
    "leaves an element out": _kernel(text=SUMS.replace("range(n)", "range(n - 1)")),

    "checks in the first run only": _kernel(),
}

def plant(fault: str) -> tuple[Record]:
    """Give Cumsum a kernel with this fault, and return the calls of it."""
    registry.find(OP).amend(cpu=KERNELS[fault])
    if fault == "checks in the first run only":
        registry.find(OP).amend(numpy=_kernel_numpy)
    return (CALL,)


if __name__ == "__main__":
    worker.records = plant                             # type: ignore[assignment]
    worker.main()
