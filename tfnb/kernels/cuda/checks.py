"""Failures that the templates of GPU kernels report: which of several is named depends on the order of the threads.

A kernel that fails says so in the status words and goes on: the launcher of the kernels skips what must not run then
(runtime/runners/gpu_program.py).
"""
from __future__ import annotations

from collections.abc import Sequence

from tfnb.kernels.launch import Address

STATUS = Address("status")


def tell(code: int, *words: str) -> list[str]:
    """Return the lines by which one thread, the first to come, stores a failure and what it means."""
    lines = [f"if cuda.atomic.cas(status, 0, 0, {code}) == 0:"]
    return lines + [f"    status[{i}] = {word}" for i, word in enumerate(words, 1)]


def indented(lines: Sequence[str], levels: int) -> str:
    """Indent the lines of a kernel."""
    return "\n".join(" " * (4 * levels) + line for line in lines)
