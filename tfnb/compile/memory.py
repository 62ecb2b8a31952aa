"""Memory planning: liveness analysis of temporary buffers, and their first-fit allocation in one arena."""
from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from heapq import heappop, heappush
from sys import maxsize

from tfnb.compile.lower import Ref, Step
from tfnb.compile.values import Buffer

ALIGN = 64               # bytes: a cache line, and the widest vector register


def place_buffers(steps: Sequence[Step], once: int = 0) -> tuple[dict[Buffer, int], int]:
    """Compute the offset of each temporary buffer in the arena, and the size of the arena, in bytes.

    A buffer is live from the first step that names it to the last. One that a loop-invariant step (of the first `once`)
    writes and a later one reads is live to the end: further iterations don't compute it again. First fit over the free
    gaps: arenas of training steps come out within a few per cent of the peak of live bytes.
    """
    first, last = lifetimes(steps, once)
    buffers = list(first)
    offsets, size = first_fit([(first[b], last[b]) for b in buffers], [b.nbytes for b in buffers])
    return dict(zip(buffers, offsets, strict=True)), size


def first_fit(lives: Sequence[tuple[int, int]], sizes: Sequence[int]) -> tuple[list[int], int]:
    """Place buffers by their lifetimes (first and last step) and sizes in bytes.

    Returns their offsets and the size of the arena.
    """
    offsets = [0] * len(lives)
    gaps = [(0, maxsize)]
    live: list[tuple[int, int, int]] = []          # (last use, offset, end), a heap
    size = 0
    for i in sorted(range(len(lives)), key=lambda i: (lives[i][0], -sizes[i])):
        while live and live[0][0] < lives[i][0]:
            _release(gaps, *heappop(live)[1:])
        need = max(ALIGN, -(-sizes[i] // ALIGN) * ALIGN)
        at, (start, end) = next((i, gap) for i, gap in enumerate(gaps) if gap[1] - gap[0] >= need)
        gaps[at:at + 1] = [(start + need, end)] if end - start > need else []
        offsets[i] = start
        size = max(size, start + need)
        heappush(live, (lives[i][1], start, start + need))
    return offsets, size


def _release(gaps: list[tuple[int, int]], start: int, end: int) -> None:
    """Free the range between two offsets, coalesced with the gaps that it touches."""
    at = bisect(gaps, (start, end))
    begin, stop = at, at
    if at and gaps[at - 1][1] == start:
        begin, start = at - 1, gaps[at - 1][0]
    if at < len(gaps) and gaps[at][0] == end:
        stop, end = at + 1, gaps[at][1]
    gaps[begin:stop] = [(start, end)]


def live_bytes(steps: Sequence[Step], once: int = 0) -> list[int]:
    """Compute the bytes of live temporary buffers and outputs during each step."""
    first, last = lifetimes(steps, once, ("temp", "output"))
    return [sum(buffer.nbytes for buffer in first
                if first[buffer] <= time and (time <= last[buffer] or buffer.role == "output"))
            for time in range(len(steps))]


def lifetimes(steps: Sequence[Step], once: int,
              roles: tuple[str, ...] = ("temp",)) -> tuple[dict[Buffer, int], dict[Buffer, int]]:
    """Compute the live range of each buffer with one of the roles: its first and last step; see `place_buffers`."""
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    for time, step in enumerate(steps):
        for arg in step.args:
            if isinstance(arg, Ref) and arg.buffer.role in roles:
                first.setdefault(arg.buffer, time)
                last[arg.buffer] = len(steps) if first[arg.buffer] < once <= time else time
    return first, last
