"""CPU programs: a device stage compiled for given shapes, with its memory, its kernels and its tape of launches."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from sys import getrefcount, maxsize
from typing import Any

import numpy as np

from tfnb.compile.build import build_stage
from tfnb.compile.lower import Ref, Step
from tfnb.compile.memory import ALIGN, live_bytes
from tfnb.compile.planning.plan import Stage
from tfnb.compile.programs.layout import Layout, lay_out
from tfnb.compile.programs.template import Template
from tfnb.compile.residents import Resident
from tfnb.compile.target import CPU, Target
from tfnb.compile.trace import Meta
from tfnb.compile.values import Buffer, Value
from tfnb.core import errors
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.arrays.philox import new_state
from tfnb.kernels.launch import failure_text
from tfnb.kernels.llvm.tape import ROW, Tape
from tfnb.ops.declaration.validate import bad_value
from tfnb.resources.elements import Memory
from tfnb.runtime.state.store import Store, variable_dtype
from tfnb.runtime.state.trace import Trace, clock

LARGE = 1 << 18                   # bytes of an output array that gets aligned memory; NumPy keeps smaller ones
LARGEST = 10                      # tensors that an error of too little memory lists
RECYCLED = 1 << 26                # bytes of the largest that is kept to serve again


@dataclass(frozen=True)
class Compiled:
    """A stage compiled for given inputs; shared by all Programs of it.

    shapes: those of its variables; once: the number of leading steps that are loop-invariant (first iteration only);
    accumulated: (number of an input, number of an output) of each that may have the same memory; ends: the number of
    the last steps, which add the products of `period` iterations.
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
    accumulated: tuple[tuple[int, int], ...] = ()
    ends: int = 0
    period: int = 1

    @cached_property
    def layout(self) -> Layout:
        """The layout of its programs."""
        return lay_out(self.steps, self.outputs, len(self.inputs), self.offsets, self.arena_bytes)


class Repointed:
    """A stage compiled by a template, as a Compiled: its steps are made when they are asked for.

    values: those of the template's Sizes. Raises what ops of constants raise.
    """

    residents: tuple[Resident, ...] = ()
    once = 0
    accumulated: tuple[tuple[int, int], ...] = ()
    ends = 0
    period = 1

    def __init__(self, template: Template, inputs: tuple[Meta, ...], values: Sequence[int]) -> None:
        self.stage, self.shapes, self.inputs = template.stage, template.shapes, inputs
        self._template, self._values = template, values
        self.layout = template.at(values)
        self.arena_bytes = self.layout.arena_bytes

    @cached_property
    def _parts(self) -> tuple[list[Step], list[Value], dict[Buffer, int]]:
        return self._template.steps_at(self._values)

    @property
    def steps(self) -> list[Step]:
        """As those of a Compiled."""
        return self._parts[0]

    @property
    def outputs(self) -> list[Value]:
        """As those of a Compiled."""
        return self._parts[1]

    @property
    def offsets(self) -> dict[Buffer, int]:
        """As those of a Compiled."""
        return self._parts[2]


def compile_stage(stage: Stage, inputs: Sequence[Meta], store: Store, target: Target = CPU) -> Compiled:
    """Build a stage. Every variable of the stage must have a value in the store."""
    shapes = variable_shapes(stage, store)
    built = build_stage(stage, inputs, shapes, target)
    return Compiled(stage, tuple(inputs), shapes, tuple(built.steps), tuple(built.traced.outputs), built.offsets,
                    built.arena_bytes, tuple(built.traced.residents), built.once, built.accumulated,
                    built.ends, built.period)


def variable_shapes(stage: Stage, store: Store) -> dict[Operation, tuple[int, ...]]:
    """Return the shapes of a stage's variables."""
    return {op: array.shape for op in stage.variables if (array := store.peek(op)) is not None}


@dataclass(frozen=True)
class _Fixed:
    """Words of argument blocks that are addresses of variables, states and constants.

    of: the rows of a layout that they are from. addresses: 0 and the offset for constants that follow from sizes.
    arrays: those that must live.
    """

    of: Sequence[tuple[int, Buffer, int]]
    words: np.ndarray
    addresses: np.ndarray
    arrays: Sequence[np.ndarray]


class Program:
    """One instance of a compiled stage, bound to a store's variables. Used by one run at a time (`lock`).

    `generation` is that of the store when the program last found the variables where it has them. like: another
    program of the stage, which has just been found current: its variables are where they are. factors: for each
    iteration of a period, the memory of the factors of deferred products: its own, and all.
    """

    def __init__(self, compiled: Compiled | Repointed, store: Store, threads: int | None = None,
                 like: Program | None = None) -> None:
        self.lock = threading.Lock()
        self.compiled = compiled
        self.generation: int = store.generation if like is None else like.generation
        self._keep: list[np.ndarray] = []
        self._layout = layout = compiled.layout
        self._arena = _aligned(layout.arena_bytes)
        variables = {op: store.value(op, op) for op in compiled.stage.variables} if like is None else like.variables
        self.variables: dict[Operation, np.ndarray] = variables
        self._made = layout.made
        kept = [_aligned(nbytes).reshape(compiled.period, -1) for nbytes in layout.factors]
        self.factors = [[*(array[i] for array in kept), *kept] for i in range(compiled.period)] if kept else [[]]
        self._fixed: _Fixed = like._fixed if like and like._fixed.of is layout.fixed else self._find_fixed(store)
        self._load(threads)
        self._spare: dict[int, np.ndarray] = {}
        large = [n for s, d in self._made if (n := prod(s) * d.itemsize) >= LARGE]
        spare = [n for n in large if n <= RECYCLED]
        self._large = bool(large)
        self.nbytes = layout.arena_bytes + sum(spare) + sum(layout.factors)
        self.pace = 1                              # iterations of a loop that are played at a time
        self.used = False                          # since the executor last looked which programs to drop

    def _load(self, threads: int | None) -> None:
        """Fill in the addresses of the argument blocks, and make the tape."""
        layout = self._layout
        words, rows, binds = layout.words[:, 0].copy(), layout.rows.copy(), layout.binds.copy()
        base = words.ctypes.data
        rows[:, 1] = rows[:, 1] * 8 + base
        binds[:, 0] = binds[:, 0] * 8 + base
        at, number, offset = layout.temps.T
        words[at] = self._placed()[number] + offset
        words[self._fixed.words] = self._fixed.addresses
        if layout.constants:
            for word, buffer, further in layout.fixed:
                if id(buffer.array) in layout.constants:
                    self._keep.append(array := self._array(buffer))
                    words[word] = _address(array) + further
        self._keep.append(words)
        for word, number in layout.tables:
            self._keep.append(table := _table(layout.elements[layout.elements[:, 1] == number], base))
            words[word] = _address(table)
        self.rows, self._binds, self._threads = rows, binds, threads
        slots = len(self.compiled.stage.inputs) + len(self._made) + len(self.factors[0]) + len(self.compiled.residents)
        self.tape = Tape(rows, binds, slots, threads=threads)
        self._single: tuple[Tape, ...] = ()          # the rows one by one, for traced runs
        self._live: list[int] = []                   # live bytes of the buffers at each of them
        at, offset = layout.status.T
        words[at] = self.tape.status_address + offset

    def _placed(self) -> np.ndarray:
        """Return the address of each temporary buffer."""
        return np.array(self._layout.offsets, np.int64) + self._arena.ctypes.data

    def _find_fixed(self, store: Store) -> _Fixed:
        """Look up what has an address already."""
        fixed, sized = self._layout.fixed, self._layout.constants
        arrays = {b: self._array(b, store) for b in {b for _, b, _ in fixed} if id(b.array) not in sized}
        found = {buffer: _address(array) for buffer, array in arrays.items()}
        addresses = [found.get(buffer, 0) + further for _, buffer, further in fixed]
        return _Fixed(fixed, np.array([word for word, _, _ in fixed], np.intp), np.array(addresses, np.int64),
                      list(arrays.values()))

    def _array(self, buffer: Buffer, store: Store | None = None) -> np.ndarray:
        """Return the array of a variable, a generator state or a constant."""
        if buffer.role == "variable":
            assert buffer.owner is not None
            return self.variables[buffer.owner]
        if buffer.role == "state":
            owner = buffer.owner
            assert owner is not None and store is not None
            return store.state(owner, lambda: new_state(owner.attrs["seed"], owner.attrs["seed2"]))
        assert buffer.array is not None, f"a {buffer.role} buffer without memory"
        array: np.ndarray = self._layout.constants.get(id(buffer.array), buffer.array)
        return array

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
        if len(self.rows):
            if trace is not None:
                self._play_traced([*inputs, *made, *self.factors[0]], trace)
            else:
                self.tape.point(*map(id, inputs), *map(id, made), *map(id, self.factors[0]))
                self.tape.play()
            if self.tape.status[0]:
                raise self.error()
        return outputs

    def results(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Allocate the computed outputs; return them, and all outputs with the known ones."""
        made = self._outputs() if self._large else [np.empty(shape, dtype) for shape, dtype in self._made]
        if len(made) == len(self._layout.known):
            return made, made
        fresh = iter(made)
        return made, [next(fresh) if known is None else known.copy() for known in self._layout.known]

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


def _table(found: np.ndarray, base: int) -> np.ndarray:
    """Return the table of words that a launch points at an element (`point_at_element`): their count, then each."""
    return np.array([len(found), *(n for word, _, offset in found.tolist() for n in (base + 8 * word, offset))],
                    np.int64)


def _address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def failure(op: Operation, status: Sequence[int]) -> errors.OpError:
    """Return the error that a kernel reported in the status words of its tape."""
    if failure_text(status) is not None:
        return bad_value(op, status)
    return errors.InternalError(None, op, f"{op.name}: kernel reported code {status[0]}: {list(status[1:7])}")


def exhausted(compiled: Compiled | Repointed, error: Exception) -> errors.ResourceExhaustedError:
    """Return the error of a program that found no memory, or counts beyond int64: it names the op with the most."""
    sizes = [(arg.buffer.nbytes, step.ops[-1]) for step in compiled.steps for arg in step.args
             if step.ops and isinstance(arg, Ref) and arg.buffer.role in ("temp", "output")]
    sizes += [(v.buffer.nbytes, t.op) for v, t in zip(compiled.outputs, compiled.stage.outputs, strict=True)]
    size, op = max(sizes, key=lambda found: found[0], default=(0, compiled.stage.ops[-1]))
    largest = sorted(_tensors(compiled), key=lambda row: -row[1])[:LARGEST]
    rows = "".join(f"\n  {nbytes:,} bytes  {text}  {owner.name} ({role})" for role, nbytes, text, owner in largest)
    return errors.ResourceExhaustedError(
        None, op, f"OOM: {error or 'no memory left'} (op {op.name!r} of type {op.type} needs {size:,} bytes, the "
                  f"temporary buffers of its program {compiled.arena_bytes:,}). The largest tensors:{rows}")


def _tensors(compiled: Compiled | Repointed) -> list[tuple[str, int, str, Operation]]:
    """Return (role, bytes, dtype and shape, op) of what a program keeps in memory; of a buffer inside, its length."""
    found: list[tuple[str, int, str, Operation]] = []
    ends: list[tuple[str, Tensor, Value | Meta]] = [
        *(("output", t, v) for t, v in zip(compiled.stage.outputs, compiled.outputs, strict=True)),
        *(("input", t, m) for t, m in zip(compiled.stage.inputs, compiled.inputs, strict=True))]
    for role, tensor, value in ends:
        nbytes = prod(value.shape) * np.dtype(value.type).itemsize
        found.append((role, nbytes, f"{value.type}{list(value.shape)}", tensor.op))
    for op, shape in compiled.shapes.items():
        dtype = variable_dtype(op)
        found.append(("variable", prod(shape) * dtype.itemsize, f"{dtype.name}{list(shape)}", op))
    held = {arg.buffer: step.ops[-1] for step in reversed(compiled.steps) for arg in step.args
            if step.ops and isinstance(arg, Ref) and arg.buffer.role == "temp"}
    return found + [("temp", b.nbytes, f"{b.type}[{b.size}]", op) for b, op in held.items()]


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
