"""Run-time checks of input values on a GPU (kernels/checks.py).

A kernel that finds one says so in the status words and goes on: the launcher of the kernels skips what must not run
then (runtime/gpu_program.py). Which of several bad values is named depends on the order of the threads.
"""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.kernels.checks import CONDITIONS, Check
from tfnb.kernels.cuda.geometry import block_size, blocks_of
from tfnb.kernels.launch import Address, Call, Launch

STATUS = Address("status")

TEXT = """def kernel(values, status, n, limit):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        value = values[i]
        if {condition}:
{tell}
"""


def tell(code: int, *words: str) -> list[str]:
    """Return the lines by which one thread, the first to come, stores a failure and what it means."""
    lines = [f"if cuda.atomic.cas(status, 0, 0, {code}) == 0:"]
    return lines + [f"    status[{i}] = {word}" for i, word in enumerate(words, 1)]


def indented(lines: Sequence[str], levels: int) -> str:
    """Indent the lines of a kernel."""
    return "\n".join(" " * (4 * levels) + line for line in lines)


def check(check: Check, call: Call) -> list[Launch]:
    """Return the kernel that checks the one input of `call`."""
    values = call.inputs[0]
    text = TEXT.format(condition=CONDITIONS[check.bad],
                       tell=indented(tell(check.bad, "i", "int64(value)", "limit"), 3))
    return [Launch(text, (call.input(0), STATUS, values.size, check.limit), blocks_of(values.size), block_size(),
                   "check")]
