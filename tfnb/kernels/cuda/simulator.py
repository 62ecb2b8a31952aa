"""A GPU's stand-in: CUDA kernels run as Python, one thread of a block after another.

NUMBA_ENABLE_CUDASIM=1 in the environment asks for it. A kernel that waits for its block (`cuda.syncthreads()`) or
shuffles becomes a generator, which yields there: so threads take turns in a fixed order, and no run depends on that of
an operating system. Odd blocks run their threads in falling order, so that a missing barrier shows.
"""
from __future__ import annotations

import ctypes
import inspect
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from tfnb.kernels.cuda.driver import LIBRARY, Call, DriverError, Span, Word, memory_at
from tfnb.kernels.cuda.sources import stored

ALIGN = 256
_lock = threading.Lock()               # one kernel at a time: `cuda` stands for the thread that runs


def is_asked_for() -> bool:
    """Return whether the environment asks for the simulator."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@dataclass
class _Block:
    """One block: its shared arrays in the order of their declarations."""

    shared: list[np.ndarray] = field(default_factory=list)
    declared: dict[int, int] = field(default_factory=dict)

    def array(self, lane: int, size: int, type: Any) -> np.ndarray:
        """Return the next shared array that a thread declares, the same one for all threads."""
        number = self.declared[lane] = self.declared.get(lane, -1) + 1
        if number == len(self.shared):
            self.shared.append(np.empty(size, type))
        return self.shared[number]


def _compare_and_swap(array: np.ndarray, index: int, old: Any, new: Any) -> Any:
    found = array[index]
    if found == old:
        array[index] = new
    return found


class Cuda:
    """The names of `numba.cuda` that kernels use, for the thread that runs."""

    def __init__(self) -> None:
        self.threadIdx, self.blockIdx = SimpleNamespace(x=0), SimpleNamespace(x=0)
        self.blockDim, self.gridDim = SimpleNamespace(x=1), SimpleNamespace(x=1)
        self.block = _Block()
        self.shared = SimpleNamespace(array=lambda size, type, alignment=0: self.block.array(
            self.threadIdx.x, size, type))
        self.local = SimpleNamespace(array=np.empty)
        self.atomic = SimpleNamespace(cas=_compare_and_swap)

    def grid(self, dimensions: int) -> int:
        """Return the number of this thread in the grid."""
        return int(self.blockIdx.x * self.blockDim.x + self.threadIdx.x)

    def gridsize(self, dimensions: int) -> int:
        """Return the number of threads in the grid."""
        return int(self.gridDim.x * self.blockDim.x)


cuda = Cuda()


def in_turns(text: str) -> str:
    """Return the source of a kernel in which a barrier and a shuffle are places where the thread yields."""
    text = text.replace("cuda.syncthreads()", "yield None")
    return re.sub(r"cuda\.shfl_xor_sync\(0xffffffff, ([\w()]+), (\w+)\)", r"(yield (\1, \2))", text)


def run(kernel: Callable[..., Any], blocks: int, threads: int, args: Sequence[Any]) -> None:
    """Run a kernel over a grid. args: NumPy arrays, which it reads and writes in place, and numbers.

    Raises RuntimeError where the threads of a block don't meet at the same barrier.
    """
    with _lock, np.errstate(all="ignore"):
        cuda.blockDim.x, cuda.gridDim.x = threads, blocks
        for block in range(blocks):
            cuda.blockIdx.x, cuda.block = block, _Block()
            lanes = range(threads)[::-1 if block % 2 else 1]
            if not inspect.isgeneratorfunction(kernel):
                for cuda.threadIdx.x in lanes:
                    kernel(*args)
                continue
            _take_turns({lane: kernel(*args) for lane in lanes})


def _take_turns(lanes: dict[int, Iterator[Any]]) -> None:
    """Run the threads of a block from barrier to barrier."""
    answers: dict[int, Any] = dict.fromkeys(lanes)
    while True:
        met = {}
        for lane, thread in lanes.items():
            cuda.threadIdx.x = lane
            try:
                met[lane] = thread.send(answers[lane])             # type: ignore[attr-defined]
            except StopIteration:
                continue
        if not met:
            return
        if len(met) < len(lanes) or len({word if word is None else word[1] for word in met.values()}) > 1:
            raise RuntimeError(f"the threads of block {cuda.blockIdx.x} part before a barrier: {sorted(met)} of "
                               f"{len(lanes)} wait there")
        answers = {lane: None if word is None else _from_lane(met, lane, word) for lane, word in met.items()}


def _from_lane(met: dict[int, Any], lane: int, word: tuple[Any, int]) -> Any:
    """Return the value of the thread whose lane differs in the bits of a mask, of the same warp."""
    return met[lane ^ word[1]][0]


class SimulatedDriver:
    """The driver of the simulator: addresses are those of host memory, and all is done at once.

    A capture records the calls, and a replay makes them. load: source -> the Python function of the kernel;
    library: source -> the call of a library.
    """

    def __init__(self, load: Callable[[str], Callable[..., Any]], library: Callable[[str], Call], total: int) -> None:
        self._load, self._library, self._total, self._used = load, library, total, 0
        self._kernels: dict[str, Callable[..., Any]] = {}
        self._arrays: dict[int, np.ndarray] = {}
        self._here = threading.local()
        self.pooled = True

    def _do(self, call: Callable[..., object], *args: Any) -> None:
        """Make a call, or record it."""
        captured = getattr(self._here, "capture", None)
        if captured is None:
            call(*args)
        else:
            captured.append([call, *args])

    def enter(self) -> None:
        """Do nothing: no thread has a context."""

    def memory_info(self) -> tuple[int, int]:
        """Return the free bytes, and all: nominal."""
        return self._total - self._used, self._total

    def reserve(self, limit: int, keep: int) -> None:
        """Do nothing: memory is the host's."""

    def allocate(self, nbytes: int) -> int:
        """Return the address of new memory. Raises DriverError where the nominal memory has too little."""
        if nbytes > self._total - self._used:
            raise DriverError("allocate", "CUDA_ERROR_OUT_OF_MEMORY")
        raw = np.empty(nbytes + ALIGN, np.uint8)
        array = raw[-raw.ctypes.data % ALIGN:][:nbytes]
        self._arrays[array.ctypes.data] = array
        self._used += nbytes
        return array.ctypes.data

    def free(self, address: int) -> None:
        """Give memory back."""
        self._used -= self._arrays.pop(address).nbytes

    def pin(self, nbytes: int) -> np.ndarray:
        """Return memory of the host."""
        return np.empty(nbytes, np.uint8)

    def unpin(self, array: np.ndarray) -> None:
        """Do nothing."""

    def copy_in(self, target: int, source: int, nbytes: int) -> None:
        """Copy."""
        self._do(ctypes.memmove, target, source, nbytes)

    def copy_out(self, target: int, source: int, nbytes: int) -> None:
        """Copy."""
        self._do(ctypes.memmove, target, source, nbytes)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Copy."""
        self._do(ctypes.memmove, target, source, nbytes)

    def function(self, text: str, types: Sequence[tuple[str, bool]]) -> Any:
        """Return the Python function of a kernel, or the call of a library."""
        if text not in self._kernels:
            self._kernels[text] = (self._library if text.startswith(LIBRARY) else self._load)(text)
        return self._kernels[text]

    def launch(self, function: Any, blocks: int, threads: int, words: Sequence[Word]) -> None:
        """Run a kernel, or make the call of a library."""
        if isinstance(function, Call):
            self._do(function, 0, words)
            return
        self._do(run, function, blocks, threads,
                 [memory_at(w.address, w.count, stored(w.type)) if isinstance(w, Span) else w for w in words])

    def begin(self) -> None:
        """Begin a capture."""
        self._here.capture = []

    def end(self, keep: bool = True) -> Any:
        """Return the calls that were recorded."""
        graph, self._here.capture = self._here.capture, None
        return graph if keep else None

    def replay(self, graph: Any) -> None:
        """Make the calls that a graph has recorded."""
        for call, *args in graph:
            call(*args)

    def repoint(self, graph: Any, target: int, source: int, nbytes: int) -> None:
        """Change the source of the first copy."""
        graph[0][1:] = target, source, nbytes

    def event(self) -> list[float]:
        """Return an event: a list for its time."""
        return []

    def record(self, event: list[float]) -> None:
        """Note the time."""
        event[:] = [time.perf_counter()]

    def wait(self, event: list[float]) -> None:
        """Return: all is done."""

    def seconds(self, first: list[float], last: list[float]) -> float:
        """Return the time between two events."""
        return last[0] - first[0]

    def synchronize(self) -> None:
        """Return: all is done."""
