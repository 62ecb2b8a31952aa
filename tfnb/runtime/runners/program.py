"""CPU programs: a device stage compiled for given shapes, with its memory, its kernels and its tape of launches."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from sys import getrefcount, maxsize
from typing import Any

import numpy as np

from tfnb.compile.build import build_stage
from tfnb.compile.lower import Ref, Step
from tfnb.compile.memory import ALIGN, live_bytes
from tfnb.compile.planning.plan import Stage
from tfnb.compile.residents import Resident
from tfnb.compile.target import CPU, Target
from tfnb.compile.trace import Meta
from tfnb.compile.values import Buffer, Value
from tfnb.core import errors
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.arrays.philox import new_state
from tfnb.kernels.launch import Code, failure_text
from tfnb.kernels.llvm import jit
from tfnb.kernels.llvm.tape import ROW, WRITES, Tape
from tfnb.ops.declaration.validate import bad_value
from tfnb.resources.elements import Memory
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace, clock

LARGE = 1 << 18                   # bytes of an output array that gets aligned memory; NumPy keeps smaller ones
RECYCLED = 1 << 26                # bytes of the largest that is kept to serve again


@dataclass(frozen=True, slots=True)
class Compiled:
    """A stage compiled for given inputs; shared by all Programs of it.

    shapes: those of its variables; once: the number of leading steps that are loop-invariant (first iteration only).
    """

    stage: Stage
    inputs: tuple[Meta, ...]
    shapes: dict[Operation, tuple[int, ...]]
    steps: tuple[Step, ...]
    outputs: tuple[Value, ...]
    offsets: dict[Buffer, int]
    arena_bytes: int
    residents: tuple[Resident, ...] = ()
    once: int = 0


def compile_stage(stage: Stage, inputs: Sequence[Meta], store: Store, target: Target = CPU) -> Compiled:
    """Build a stage. Every variable of the stage must have a value in the store."""
    shapes = {op: array.shape for op in stage.variables if (array := store.peek(op)) is not None}
    built = build_stage(stage, inputs, shapes, target)
    return Compiled(stage, tuple(inputs), shapes, tuple(built.steps), tuple(built.traced.outputs), built.offsets,
                    built.arena_bytes, tuple(built.traced.residents), built.once)


class Program:
    """One instance of a compiled stage, bound to a store's variables. Used by one run at a time (`lock`).

    `generation` is that of the store when the program last found the variables where it has them.
    """

    def __init__(self, compiled: Compiled, store: Store, threads: int | None = None) -> None:
        self.lock = threading.Lock()
        self.compiled = compiled
        self.generation = store.generation
        self._keep: list[np.ndarray] = []
        self._arena = _aligned(compiled.arena_bytes)
        self._inputs = len(compiled.stage.inputs)
        self.variables = {op: store.value(op, op) for op in compiled.stage.variables}
        self._made = [(v.shape, np.dtype(v.type)) for v in compiled.outputs if v.known is None]
        self._slots = self._output_slots(compiled.outputs)
        self._load(store, threads)
        self._spare: dict[int, np.ndarray] = {}
        large = [n for s, d in self._made if (n := prod(s) * d.itemsize) >= LARGE]
        spare = [n for n in large if n <= RECYCLED]
        self._large = bool(large)
        self.nbytes = compiled.arena_bytes + sum(spare)
        self.used = False                          # since the executor last looked which programs to drop

    def _output_slots(self, outputs: Sequence[Value]) -> dict[int, int]:
        """Return the slot of each output that is computed, after those of the inputs."""
        computed = [v.buffer.index for v in outputs if v.known is None]
        return {index: self._inputs + i for i, index in enumerate(computed)}

    def _load(self, store: Store, threads: int | None) -> None:
        """Lay out the argument blocks and the tape."""
        steps = self.compiled.steps
        addresses = jit.addresses([step.source for step in steps])
        words = np.zeros(max(1, sum(len(step.args) for step in steps)), np.int64)
        base, rows, binds, status = words.ctypes.data, [], [], []
        at = 0
        for step, address in zip(steps, addresses, strict=True):
            rows.append((address, base + 8 * at, step.items, step.grain + WRITES * _updates(step)))
            for arg in step.args:
                if isinstance(arg, int):
                    words[at] = arg
                elif isinstance(arg, Code):
                    words[at] = jit.address(arg.source)
                elif arg.buffer.role in ("input", "output", "resident"):
                    binds.append((base + 8 * at, self._slot(arg.buffer), arg.offset))
                elif arg.buffer.role == "status":
                    status.append((at, arg.offset))
                else:
                    words[at] = self._address(arg, store)
                at += 1
        self._keep.append(words)
        self.rows = rows
        self.tape = Tape(rows, binds, self._inputs + len(self._made) + len(self.compiled.residents), threads=threads)
        self._single: tuple[Tape, ...] = ()          # the rows one by one, for traced runs
        self._live: list[int] = []                   # live bytes of the buffers at each of them
        self._binds, self._threads = binds, threads
        for at, offset in status:
            words[at] = self.tape.status_address + offset

    def _slot(self, buffer: Buffer) -> int:
        if buffer.role == "resident":              # those come last
            return self._inputs + len(self._made) + buffer.index
        return buffer.index if buffer.role == "input" else self._slots[buffer.index]

    def _address(self, ref: Ref, store: Store) -> int:
        buffer = ref.buffer
        if buffer.role == "temp":
            array = self._arena
            return int(array.ctypes.data) + self.compiled.offsets[buffer] + ref.offset
        if buffer.role == "variable":
            assert buffer.owner is not None
            array = self.variables[buffer.owner]
        elif buffer.role == "state":
            owner = buffer.owner
            assert owner is not None
            array = store.state(owner, lambda: new_state(owner.attrs["seed"], owner.attrs["seed2"]))
        else:
            assert buffer.array is not None, f"a {buffer.role} buffer without memory"
            array = buffer.array
        self._keep.append(array)
        return int(array.ctypes.data) + ref.offset

    def fits(self) -> bool:
        """Return whether the variables it is bound to have the shapes it was compiled for."""
        return all(self.variables[op].shape == shape for op, shape in self.compiled.shapes.items())

    def is_current(self, store: Store) -> bool:
        """Return whether the variables still have the addresses that this program is bound to."""
        if self.generation != store.generation:
            if any(store.array(op) is not array for op, array in self.variables.items()):
                return False
            self.generation = store.generation
        return True

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """Run the stage and return its outputs in new arrays. inputs: row-major, of the program's shapes.

        trace: receives the times of launches. Raises the OpError of a kernel that met an invalid value.
        """
        made, outputs = self.results()
        if self.compiled.steps:
            if trace is not None:
                self._play_traced([*inputs, *made], trace)
            else:
                self.tape.point(*map(id, inputs), *map(id, made))
                self.tape.play()
            if self.tape.status[0]:
                raise self.error()
        return outputs

    def results(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Allocate the computed outputs; return them, and all outputs with the known ones."""
        made = self._outputs() if self._large else [np.empty(shape, dtype) for shape, dtype in self._made]
        if len(made) == len(self.compiled.outputs):
            return made, made
        fresh = iter(made)
        return made, [next(fresh) if v.known is None else v.known.copy() for v in self.compiled.outputs]

    def _play_traced(self, arrays: Sequence[np.ndarray], trace: Trace) -> None:
        """Play the launches one by one, each timed, until one fails."""
        if not self._single:
            rows = [Tape([row], threads=self._threads) for row in self.rows]
            self._single = (Tape([], self._binds, len(arrays)), *rows)
            self._live = live_bytes(self.compiled.steps, self.compiled.once)
        binding, *launches = self._single
        binding.point(*map(id, arrays))
        binding.play()
        status = self.tape.status
        status[0] = 0
        for i, (launch, step) in enumerate(zip(launches, self.compiled.steps, strict=True)):
            status[ROW] = i
            start = clock()
            launch.play()
            trace.add(step.ops, start, kernel=True, live=self._live[i])
            if status[0]:
                break

    def _outputs(self) -> list[np.ndarray]:
        """Allocate output arrays; those of the previous run are reused if the caller has dropped them.

        New pages cost more than most kernels: 4 ms for 16 MB.
        """
        made = []
        for i, (shape, dtype) in enumerate(self._made):
            spare = self._spare.get(i)
            if spare is None or getrefcount(spare) > 3 or spare.shape != shape or not spare.flags.writeable:
                spare = _output(shape, dtype)      # 3: the table's, this name's, the argument's
                if LARGE <= spare.nbytes <= RECYCLED:
                    self._spare[i] = spare
            made.append(spare)
        return made

    def error(self) -> errors.OpError:
        """Return the error that a kernel has just reported."""
        return failure(self.failed, list(self.tape.status))

    @property
    def failed(self) -> Operation:
        """Return the op whose kernel has just reported an error."""
        row: int = self.tape.status[ROW]
        return self.compiled.steps[row].ops[-1]


def _updates(step: Step) -> bool:
    """Return whether the launch writes to a variable, so that it is not to be cut in two by an interrupt.

    The state of a generator is one short launch.
    """
    return step.writes and any(isinstance(arg, Ref) and arg.buffer.role == "variable" for arg in step.args)


def failure(op: Operation, status: Sequence[int]) -> errors.OpError:
    """Return the error that a kernel reported in the status words of its tape."""
    if failure_text(status) is not None:
        return bad_value(op, status)
    return errors.InternalError(None, op, f"{op.name}: kernel reported code {status[0]}: {list(status[1:7])}")


def exhausted(compiled: Compiled, error: Exception) -> errors.ResourceExhaustedError:
    """Return the error of a program that found no memory, or counts beyond int64: it names the op with the most."""
    sizes = [(arg.buffer.nbytes, step.ops[-1]) for step in compiled.steps for arg in step.args
             if step.ops and isinstance(arg, Ref) and arg.buffer.role in ("temp", "output")]
    sizes += [(v.buffer.nbytes, t.op) for v, t in zip(compiled.outputs, compiled.stage.outputs, strict=True)]
    size, op = max(sizes, key=lambda found: found[0], default=(0, compiled.stage.ops[-1]))
    return errors.ResourceExhaustedError(
        None, op, f"OOM: {error or 'no memory left'} (op {op.name!r} of type {op.type} needs {size:,} bytes, the "
                  f"temporary buffers of its program {compiled.arena_bytes:,})")


def _output(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Allocate an uninitialised array; a large one starts at a cache line, as streaming stores need it."""
    nbytes = prod(shape) * dtype.itemsize
    if nbytes < LARGE:
        return np.empty(shape, dtype)
    memory = Memory(nbytes + ALIGN, np.uint8)
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % ALIGN)


def _aligned(nbytes: int) -> np.ndarray:
    """Allocate uninitialised memory that starts at a cache line."""
    if nbytes > maxsize - ALIGN:
        raise MemoryError(f"cannot allocate {nbytes:,} bytes")
    raw = np.empty(nbytes + ALIGN, np.uint8)
    start = -raw.ctypes.data % ALIGN
    return raw[start:start + max(nbytes, 1)]
