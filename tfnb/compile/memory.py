"""Placing temporary buffers in one arena, by lifetime."""
from __future__ import annotations

from bisect import insort
from collections.abc import Sequence

from tfnb.compile.lower import Ref, Step
from tfnb.compile.values import Buffer

ALIGN = 64               # bytes: a cache line, and the widest vector register


def place_buffers(steps: Sequence[Step], once: int = 0) -> tuple[dict[Buffer, int], int]:
    """The offset of each temporary buffer in the arena, and the size of the arena, in bytes.

    A buffer lives from the first step that names it to the last; one of the first `once` steps that a later step names,
    until the next run, which does not repeat these. First fit over the free gaps, largest lifetimes do
    not matter: arenas of training steps come out within a few per cent of the peak of live bytes.
    """
    first, last = _lifetimes(steps, once, ("temp",))
    offsets: dict[Buffer, int] = {}
    live: list[tuple[int, int, int]] = []          # (offset, end, last use), by offset
    size, now = 0, -1
    for buffer in sorted(first, key=lambda b: (first[b], -b.nbytes)):
        if first[buffer] != now:
            now = first[buffer]
            live = [entry for entry in live if entry[2] >= now]
        need = max(ALIGN, -(-buffer.nbytes // ALIGN) * ALIGN)
        start = 0
        for offset, end, _ in live:
            if offset - start >= need:
                break
            start = max(start, end)
        offsets[buffer] = start
        size = max(size, start + need)
        insort(live, (start, start + need, last[buffer]))
    return offsets, size


def live_bytes(steps: Sequence[Step], once: int = 0) -> list[int]:
    """How many bytes of temporary buffers and of outputs are in use during each step."""
    first, last = _lifetimes(steps, once, ("temp", "output"))
    return [sum(buffer.nbytes for buffer in first
                if first[buffer] <= time and (time <= last[buffer] or buffer.role == "output"))
            for time in range(len(steps))]


def _lifetimes(steps: Sequence[Step], once: int, roles: tuple[str, ...]) -> tuple[dict[Buffer, int], dict[Buffer, int]]:
    """The first and the last step that names each buffer of some roles; see `place_buffers`."""
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    for time, step in enumerate(steps):
        for arg in step.args:
            if isinstance(arg, Ref) and arg.buffer.role in roles:
                first.setdefault(arg.buffer, time)
                last[arg.buffer] = len(steps) if first[arg.buffer] < once <= time else time
    return first, last
