"""Guarded memory: each array of a program ends at an unreadable page and begins as a pattern of bytes.

Reading or writing behind an array is a fault of the process at once; what a kernel leaves unwritten or reads before an
array shows the pattern in a result. A write before an array is found by looking at what stands there.
"""
from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from tfnb.compile.values import Buffer
from tfnb.runtime.runners.program import LARGE, Program
from tfnb.runtime.state.store import Store

PAGE = mmap.PAGESIZE
CACHE_LINE = 64
LIMIT = 1 << 28                   # bytes: more than that is no memory of ours, but an error
PATTERNS = (0xCB, 0x35)           # of runs in turn: what differs between them is foreign


def _protect(address: int, nbytes: int) -> None:
    """Make pages unreadable. Raises OSError where the system refuses."""
    if os.name == "nt":
        old = ctypes.c_ulong()
        done = ctypes.windll.kernel32.VirtualProtect(ctypes.c_void_p(address), ctypes.c_size_t(nbytes), 1,
                                                     ctypes.byref(old))
    else:
        done = ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(nbytes), 0) == 0
    if not done:
        raise OSError("the system does not make pages unreadable")


class Block:
    """Memory whose last byte is the last one of a page before an unreadable page; `align` may leave a few behind it."""

    def __init__(self, nbytes: int, align: int = 1, pattern: int = PATTERNS[0]) -> None:
        if nbytes > LIMIT:
            raise MemoryError(f"{nbytes} bytes")
        room = max(1, -(-nbytes // PAGE)) * PAGE
        pages = mmap.mmap(-1, room + 2 * PAGE)
        self._all = np.frombuffer(pages, np.uint8, room, PAGE)
        first = self._all.ctypes.data
        _protect(first - PAGE, PAGE)
        _protect(first + room, PAGE)
        start = (room - nbytes) // align * align
        self.bytes = self._all[start:start + nbytes]
        self._front, self._behind = self._all[:start], self._all[start + nbytes:]
        self.fill(pattern)

    def fill(self, pattern: int) -> None:
        """Write the pattern to all of it, and to what stands around it."""
        self.bytes[...] = pattern
        self.surround(pattern)

    def surround(self, pattern: int) -> None:
        """Write the pattern to what stands around it."""
        self._front[...] = self._behind[...] = self.pattern = pattern

    def trespassed(self) -> bool:
        """Return whether something was written around it."""
        return bool((self._front != self.pattern).any() or (self._behind != self.pattern).any())


def empty(shape: Sequence[int], dtype: Any, pattern: int = PATTERNS[0]) -> tuple[np.ndarray, Block]:
    """An array in guarded memory, and its block. Large ones start at a cache line, as in a program."""
    kind = np.dtype(dtype)
    nbytes = prod(shape) * kind.itemsize
    block = Block(nbytes, CACHE_LINE if nbytes >= LARGE else kind.itemsize, pattern)
    return block.bytes.view(kind).reshape(shape), block


def guarded(array: np.ndarray, pattern: int = PATTERNS[0]) -> np.ndarray:
    """A copy of an array in guarded memory; of one of Python objects, the array itself."""
    if array.dtype.kind == "O":
        return array
    made = empty(array.shape, array.dtype, pattern)[0]
    made[...] = array
    return made


class Trespass(AssertionError):
    """A kernel wrote in front of an array, or between its end and the next page."""


class Watch:
    """The pattern that memory gets now, and the blocks of each program."""

    def __init__(self) -> None:
        self.runs = 0
        self.blocks: weakref.WeakKeyDictionary[Program, dict[Any, Block]] = weakref.WeakKeyDictionary()

    @property
    def pattern(self) -> int:
        """That of the run at hand."""
        return PATTERNS[self.runs % len(PATTERNS)]


@contextmanager
def watching() -> Iterator[Watch]:
    """In here programs have each temporary buffer, constant, generator state and result in guarded memory.

    Variables are guarded by `guard_variables`, feeds by `guarded`. Runs raise Trespass.
    """
    watch = Watch()
    run, array_of, placed = Program.run, Program._array, Program._placed

    def guarded_places(self: Program) -> np.ndarray:
        return np.array([guarded_array(self, buffer).ctypes.data for buffer in self.compiled.offsets], np.int64)

    def guarded_array(self: Program, buffer: Buffer, store: Any = None) -> np.ndarray:
        if buffer.role in ("variable", "state"):       # a state is shared by the programs of a session
            return array_of(self, buffer, store)
        blocks = watch.blocks.setdefault(self, {})
        if buffer not in blocks:
            scratch = buffer.role == "temp" and (buffer.type == "uint8" or buffer.nbytes >= LARGE)
            align = CACHE_LINE if scratch else np.dtype(buffer.type).itemsize
            array = self._layout.constants.get(id(buffer.array), buffer.array)
            blocks[buffer] = Block(buffer.nbytes if array is None else array.nbytes, align)
            if array is not None:
                blocks[buffer].bytes[...] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return blocks[buffer].bytes

    def guarded_run(self: Program, inputs: Sequence[np.ndarray], trace: Any = None) -> list[np.ndarray]:
        watch.runs += 1
        blocks = watch.blocks.setdefault(self, {})
        for buffer, block in blocks.items():
            (block.fill if buffer.array is None else block.surround)(watch.pattern)
        self.__dict__["made blocks"] = made = []
        outputs = run(self, inputs, trace)
        if any(block.trespassed() for block in [*blocks.values(), *made]):
            raise Trespass(f"{[op.name for step in self.compiled.steps for op in step.ops]}: written around an array")
        return outputs

    def guarded_results(self: Program) -> tuple[list[np.ndarray], list[np.ndarray]]:
        pairs = [empty(shape, dtype, watch.pattern) for shape, dtype in self._made]
        self.__dict__.setdefault("made blocks", []).extend(block for _, block in pairs)
        made = [array for array, _ in pairs]
        fresh = iter(made)
        return made, [next(fresh) if v.known is None else v.known.copy() for v in self.compiled.outputs]

    results = Program.results
    Program.run, Program.results = guarded_run, guarded_results  # type: ignore[method-assign]
    Program._array, Program._placed = guarded_array, guarded_places  # type: ignore[method-assign]
    try:
        yield watch
    finally:
        Program.run, Program.results = run, results  # type: ignore[method-assign]
        Program._array, Program._placed = array_of, placed  # type: ignore[method-assign]


def guard_variables(store: Store) -> None:
    """Move the variables of a store to guarded memory."""
    with store.lock:
        store._arrays = {key: guarded(array) for key, array in store._arrays.items()}
        store._changed()
