"""Launch timing and a roofline: the time of each kernel beside the machine's measured bandwidth and peak rate."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

import numpy as np

from tfnb.compile.lower import Ref, Step
from tfnb.core.options import options
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.arrays.philox import new_state
from tfnb.kernels.cpu.matmul.gemm import matmul
from tfnb.kernels.launch import Call, Code, Meta, Word
from tfnb.kernels.llvm import jit
from tfnb.kernels.llvm.streaming import LINE
from tfnb.kernels.llvm.tape import Tape
from tfnb.runtime.runners.gpu_program import GpuProgram
from tfnb.runtime.runners.program import Program
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace

SHORT = 0.5e-6           # seconds: a launch that takes less has no rate worth telling
MEASURED = 0.3           # seconds that are spent on each of the machine's rates
FLOOR = 0.2e-6           # seconds: what playing a launch that does nothing takes, mostly the call from Python


COPY_SOURCE = """
def kernel(args, begin, end):
    size = args[2]
    for i in range(begin, end):
        stream_row(args[1] + size * i, args[0] + size * i, size)
    stream_end()
"""


@dataclass(frozen=True)
class LaunchTime:
    """One kernel launch. seconds: the best of several; nbytes: of all buffers it names, each counted once; operations:
    of the matmul or convolution that it computes, else 0; gpu: on a GPU, by the events before and after it."""

    seconds: float
    nbytes: int
    operations: int
    items: int
    ops: tuple[str, ...]
    types: tuple[str, ...]
    gpu: bool = False

    @property
    def bytes_per_second(self) -> float:
        """The effective memory bandwidth of the launch."""
        return self.nbytes / max(self.seconds, 1e-9)

    @property
    def operations_per_second(self) -> float:
        """The arithmetic rate of the launch."""
        return self.operations / max(self.seconds, 1e-9)


def time_program(program: Program, inputs: Sequence[np.ndarray], store: Store,
                 runs: int) -> tuple[list[np.ndarray], tuple[LaunchTime, ...]]:
    """Return the outputs of one run, and the times of its launches, each repeated `runs` times on the same memory.

    program: locked by the caller. Variables and generators are afterwards as after the one run.
    """
    outputs = program.run(inputs)
    changed = [*outputs, *program.variables.values(), *_states(program, store)]
    copies = [array.copy() for array in changed]
    steps = program.compiled.steps
    try:
        times = [_time(program, i, runs) for i in range(len(steps))]
    finally:
        for array, copy in zip(changed, copies, strict=True):
            array[...] = copy
    return outputs, tuple(_launches(steps, times))


def time_gpu_program(program: GpuProgram, inputs: Sequence[np.ndarray],
                     runs: int) -> tuple[list[np.ndarray], tuple[LaunchTime, ...]]:
    """Return the outputs of one run, and the best times of its launches in `runs` more.

    program: locked by the caller. Those runs change variables and generators as any others.
    """
    outputs, traces = program.run(inputs), [Trace() for _ in range(runs)]
    for trace in traces:
        program.run(inputs, trace)
    times = [min(record.end - record.start for record in alike) / 1e9
             for alike in zip(*(trace.records for trace in traces), strict=True)]
    steps = [step for step in program.compiled.steps if step.items]
    return outputs, tuple(replace(launch, gpu=True) for launch in _launches(steps, times))


def _states(program: Program, store: Store) -> list[np.ndarray]:
    owners = {arg.buffer.owner for step in program.compiled.steps for arg in step.args
              if isinstance(arg, Ref) and arg.buffer.role == "state"}
    return [generator(op, store) for op in owners if op is not None]


def generator(op: Operation, store: Store) -> np.ndarray:
    """Return the state of the generator of a random op."""
    return store.state(op, lambda: new_state(op.attrs["seed"], op.attrs["seed2"]))


def _time(program: Program, index: int, runs: int) -> float:
    play: Callable[[], None] = Tape([program.rows[index]]).play
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        play()
        best = min(best, time.perf_counter() - start)
    return max(best - FLOOR, 0.0)


def _launches(steps: Sequence[Step], times: Sequence[float]) -> list[LaunchTime]:
    """Return the times of the launches. The longest of an op's launches gets its operations (others copy)."""
    found: list[LaunchTime] = []
    for _, group in groupby(zip(steps, times, strict=True), key=lambda pair: (pair[0].ops[0], pair[0].operations)):
        pairs = list(group)
        longest = max(range(len(pairs)), key=lambda i: pairs[i][1])
        found += [_launch(step, seconds, step.operations if i == longest else 0)
                  for i, (step, seconds) in enumerate(pairs)]
    return found


def _launch(step: Step, seconds: float, operations: int) -> LaunchTime:
    buffers = {arg.buffer for arg in step.args if isinstance(arg, Ref)}
    return LaunchTime(seconds, sum(b.nbytes for b in buffers), operations, step.items,
                      tuple(op.name for op in step.ops), tuple(op.type for op in step.ops))


def table(launches: Sequence[LaunchTime]) -> str:
    """Return a table of launches: time, share, and the fraction of the machine's rates that each reaches."""
    seconds = sum(launch.seconds for launch in launches)
    memory, product = memory_rate(options.threads), product_rate(options.threads)
    lines = ["      time   share      buffers   of memory  of GEMM  kernel"]
    for launch in launches:
        share = launch.seconds / max(seconds, 1e-9)
        rate = f"{launch.bytes_per_second / memory:.0%}" if launch.seconds > SHORT else "-"
        work = f"{launch.operations_per_second / product:.0%}" if launch.operations else "-"
        if launch.gpu:                                     # of a card whose rates nobody has measured
            rate, work = f"{launch.bytes_per_second / 1e9:.1f} GB/s", "GPU"
        ops = f"({', '.join(launch.ops[:2])}{', ...' if len(launch.ops) > 2 else ''})"
        lines.append(f"{launch.seconds * 1e6:7.1f} us {share:6.1%} {launch.nbytes / 1e3:9.1f} kB {rate:>11} "
                     f"{work:>8}  {'+'.join(dict.fromkeys(launch.types))} {ops}")
    lines.append(f"{seconds * 1e6:7.1f} us in {len(launches)} launches; measured here with {options.threads} threads: "
                 f"{memory / 1e9:.1f} GB/s through memory (more while it stays in the caches), "
                 f"{product / 1e9:.0f} GFLOP/s in products of float32")
    return "\n".join(lines)


@cache
def memory_rate(threads: int) -> float:
    """Return the memory bandwidth, bytes read and written a second, of a 64 MB copy by `threads`: measured once."""
    rows = 1 << 12
    source, target = np.ones(1 << 26, np.uint8), np.ones(1 << 26, np.uint8)
    block = np.array([source.ctypes.data, -(-target.ctypes.data // LINE) * LINE, source.nbytes // rows], np.int64)
    row = (jit.address(COPY_SOURCE), block.ctypes.data, rows - 1, 8)
    return 2 * source.nbytes / _best(Tape([row], keep=block, threads=threads).play)


@cache
def product_rate(threads: int) -> float:
    """Return the floating-point operations a second of a float32 matmul of 512 x 512: measured once."""
    n = 512
    arrays = {kind: np.ones((n, n), np.float32) for kind in ("input", "output")}
    meta = Meta("float32", (n, n))
    call = Call((meta, meta), (meta,), {"transpose_a": False, "transpose_b": False})
    launches = matmul(call)
    scratch = [np.empty(nbytes, np.uint8) for nbytes in call.scratch_sizes]

    def word(arg: Word) -> int:
        if isinstance(arg, int):
            return arg
        if isinstance(arg, Code):
            return jit.address(arg.source)
        array = scratch[arg.index] if arg.kind == "scratch" else arrays[arg.kind]
        return int(array.ctypes.data) + arg.offset_bytes

    blocks = [np.array([word(arg) for arg in launch.args], np.int64) for launch in launches]
    rows = [(jit.address(launch.source), block.ctypes.data, launch.items, launch.grain)
            for launch, block in zip(launches, blocks, strict=True)]
    return 2 * n ** 3 / _best(Tape(rows, keep=blocks, threads=threads).play)


def _best(run: Callable[[], object]) -> float:
    """Return the least seconds that `run` takes."""
    best, end = float("inf"), time.perf_counter() + MEASURED
    while time.perf_counter() < end or best == float("inf"):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best
