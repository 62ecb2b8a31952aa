"""GPU programs: a compiled stage as CUDA graphs over one allocation, with staged feeds and fetches.

The allocation has, in this order: the arena, constants, inputs, generator states, the status words of each launch that
has some, outputs. A run copies inputs, states and zeroed status words there at once, from a pinned buffer of the same
layout, and status words, states and outputs back at once. All of it, copies and launches, is one captured graph: from
the second run on a step is one call of the driver. A first run, and a traced one, makes the calls one by one.

Where a launch has checked values and a later one writes to a variable, the graph ends between the two: the status words
are read there, so that a run that fails leaves variables as they were. A run that fetches nothing and checks nothing
does not wait for the GPU; the next one stages its feeds in another buffer meanwhile.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tfnb.compile.lower import Ref, Step
from tfnb.compile.memory import ALIGN
from tfnb.compile.values import Buffer
from tfnb.core.errors import InternalError
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.arrays.philox import new_state
from tfnb.kernels.cuda import device
from tfnb.kernels.cuda.driver import Driver, DriverError, Span, Word
from tfnb.kernels.cuda.memory import Memory, Pinned, upload
from tfnb.runtime.runners.gpu_memory import GpuArray, borrow
from tfnb.runtime.runners.program import Compiled, failure
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace, clock

WORDS = 8                # of the status of a launch


@dataclass(frozen=True, slots=True)
class _Launch:
    """A loaded kernel with its arguments. status: the index of the status block that it may write to, or -1."""

    step: Step
    function: Any
    words: tuple[Word, ...]
    status: int


@dataclass(slots=True)
class _Staging:
    """A pinned buffer that feeds are copied to. inputs, states: the arrays in it; sent: the event that it was read;
    pending: it may not have been."""

    memory: Pinned
    inputs: list[np.ndarray]
    states: list[np.ndarray]
    sent: Any
    pending: bool = False


@dataclass(slots=True)
class _Tape:
    """The launches of a run, for the variables that a program is bound to.

    segments: launches between which status words are read; graphs: of each segment, once captured; refused: the reason
    why they can't be; source: the staging buffer that the first graph reads; turns: the graphs of an iteration.
    """

    segments: list[list[_Launch]]
    graphs: list[Any] = field(default_factory=list)
    refused: str = ""
    runs: int = 0
    source: int = 0
    turns: list[Any] = field(default_factory=list)


class GpuProgram:
    """One instance of a stage compiled for a GPU, bound to a store. Used by one run at a time (`lock`)."""

    def __init__(self, compiled: Compiled, store: Store) -> None:
        self.lock = threading.Lock()
        self.compiled, self._store = compiled, store
        self.used = False                          # since the executor last looked which programs to drop
        self._driver: Driver = device.driver()
        self._driver.enter()
        self._at: dict[Buffer, int] = {}           # offsets in the allocation
        self._outputs = [v for v in compiled.outputs if v.known is None]
        self._arrays = {op: store.peek(op) for op in compiled.stage.variables}
        self._lay_out()
        self._generation = -1                      # of the store, when its variables were last found to be here
        self._bound: dict[Operation, GpuArray] = {}
        self._tape = _Tape([])

    # Memory

    def _lay_out(self) -> None:
        """Make one allocation for all but the variables; constants are copied there once."""
        compiled, refs = self.compiled, self._refs()
        inputs = [Buffer("input", m.type, int(np.prod(m.shape, dtype=np.int64)), index=i)
                  for i, m in enumerate(compiled.inputs)]
        consts = [b for b in refs if b.role == "const"]
        states = {b: self._state(b) for b in refs if b.role == "state"}
        self._generators = list(states.values())
        self._checked = sum(any(_is_status(arg) for arg in step.args) for step in compiled.steps)
        self._status = Buffer("status", "int64", WORDS * self._checked)
        end, ends = compiled.arena_bytes, []
        for part in (consts, inputs, [*states, self._status], [v.buffer for v in self._outputs]):
            ends.append(end)
            for buffer in part:
                self._at[buffer] = end
                end += -(-buffer.nbytes // ALIGN) * ALIGN
        _, self._first, middle, after = ends
        self._inward = after - self._first                         # bytes of inputs, states and status words
        self._back, self._outward = (middle, end - middle) if end > middle else (0, 0)
        self._indices = {b.index: self._at[b] for b in inputs}
        self.nbytes = end
        self._memory = Memory(end)
        for buffer in consts:
            assert buffer.array is not None
            upload(self._span(buffer), np.ascontiguousarray(buffer.array))
        self._stagings = [self._staging(inputs, list(states))]
        result = self._result = Pinned(self._outward)
        self._failures = result.view(self._at[self._status] - middle, (WORDS * self._checked,), "int64")
        self._drawn = [result.view(self._at[b] - middle, (b.size,), b.type) for b in states]
        self._made = [result.view(self._at[v.buffer] - middle, v.shape, v.type) for v in self._outputs]

    def _staging(self, inputs: Sequence[Buffer], states: Sequence[Buffer]) -> _Staging:
        memory = Pinned(self._inward)
        memory.array[:] = 0
        fed = [memory.view(self._at[b] - self._first, m.shape, b.type)
               for b, m in zip(inputs, self.compiled.inputs, strict=True)]
        return _Staging(memory, fed, [memory.view(self._at[b] - self._first, (b.size,), b.type) for b in states],
                        self._driver.event())

    def _refs(self) -> list[Buffer]:
        """Return the buffers that the launches name, each once."""
        return list({arg.buffer: None for step in self.compiled.steps for arg in step.args if isinstance(arg, Ref)})

    def _state(self, buffer: Buffer) -> np.ndarray:
        owner = buffer.owner
        assert owner is not None
        return self._store.state(owner, lambda: new_state(owner.attrs["seed"], owner.attrs["seed2"]))

    def _span(self, buffer: Buffer) -> Span:
        return self._memory.span(self._at[buffer], buffer.size, buffer.type)

    def _word(self, arg: Any, status: int) -> Word:
        """Return the parameter of a launch for an argument: an array goes from its place to the end of its buffer."""
        if isinstance(arg, int):
            return arg
        buffer, offset = arg.buffer, arg.offset
        if _is_status(arg):
            return self._memory.span(self._at[self._status] + 8 * WORDS * status, WORDS, "int64")
        type = arg.type or buffer.type
        size = (buffer.nbytes - offset) // np.dtype(type).itemsize
        if buffer.role == "variable":
            return self._bound[buffer.owner].memory.span(offset, size, type)
        if buffer.role == "temp":
            start = self.compiled.offsets[buffer]
        else:
            start = self._indices[buffer.index] if buffer.role == "input" else self._at[buffer]
        return self._memory.span(start + offset, size, type)

    def _bind(self, variables: dict[Operation, GpuArray]) -> None:
        """Bind the launches to variables in these arrays."""
        self._bound = variables
        segments: list[list[_Launch]] = [[]]
        status, pending = 0, False
        for step in self.compiled.steps:
            if not step.items:
                continue
            checks = any(_is_status(arg) for arg in step.args)
            if step.writes and pending:
                segments.append([])
                pending = False
            words = tuple(self._word(arg, status) for arg in step.args)
            types = tuple((w.type, True) if isinstance(w, Span) else ("int64", False) for w in words)
            function = self._driver.function(step.source, types)
            segments[-1].append(_Launch(step, function, words, status if checks else -1))
            pending = pending or checks
            status += checks
        self._tape = _Tape(segments)

    # What the executor asks of a program

    def fits(self) -> bool:
        """Return whether the variables it is bound to have the shapes it was compiled for."""
        return all(a is not None and a.shape == self.compiled.shapes[op] for op, a in self._arrays.items())

    def is_current(self, store: Store) -> bool:
        """Return whether the variables are still those that this program was made for."""
        return self._generation == store.generation or all(store.peek(op) is a for op, a in self._arrays.items())

    @property
    def graphs(self) -> str:
        """The calls by which a run is launched, in words."""
        tape = self._tape
        if tape.graphs:
            return f"{len(tape.graphs)} CUDA graph{'s' * (len(tape.graphs) > 1)} a run"
        return tape.refused or "not captured yet: a stage is captured in its second run"

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """Run the stage and return its outputs in new arrays. inputs: row-major, of the program's shapes.

        trace: receives the times of launches. Raises the OpError of a kernel that met an invalid value, InternalError
        if the driver fails.
        """
        with self._current():
            self._take_variables()
            self._play(self._stage(inputs), trace)
            return self._copies()

    @contextmanager
    def _current(self) -> Iterator[None]:
        """Context of a run: variables stay where they are, and a failure of the driver is an InternalError."""
        with self._store.lending:
            self._driver.enter()
            try:
                yield
            except DriverError as error:
                op = self.compiled.steps[-1].ops[-1] if self.compiled.steps else None
                raise InternalError(None, op, f"the GPU failed: {error}") from error

    def _copies(self) -> list[np.ndarray]:
        fresh = iter([made.copy() for made in self._made])
        return [next(fresh) if v.known is None else v.known.copy() for v in self.compiled.outputs]

    def _take_variables(self) -> None:
        """Move the variables to the GPU, and rebind the launches if their arrays have changed."""
        if self._generation == self._store.generation:
            return
        variables = {op: borrow(self._store, op) for op in self._arrays}
        self._generation = self._store.generation
        if variables != self._bound or not self._tape.runs:
            self._bind(variables)

    def _stage(self, inputs: Sequence[np.ndarray]) -> _Staging:
        """Copy feeds and generator states to a staging buffer that no earlier run still reads."""
        if not self._outward and len(self._stagings) == 1 and self._inward:
            first = self._stagings[0]              # runs overlap: the next one needs a second buffer
            self._stagings.append(_Staging(memory := Pinned(self._inward), [
                memory.view(a.ctypes.data - first.memory.address, a.shape, a.dtype.name) for a in first.inputs], [],
                self._driver.event()))
        staging = self._stagings[self._tape.runs % len(self._stagings)]
        if staging.pending:
            self._driver.wait(staging.sent)
        for view, array in zip(staging.inputs, inputs, strict=True):
            np.copyto(view, array)
        for view, state in zip(staging.states, self._generators, strict=True):
            np.copyto(view, state)
        return staging

    def _play(self, staging: _Staging, trace: Trace | None) -> None:
        """Do all of a run, and wait for it if it has results."""
        tape, driver = self._tape, self._driver
        if tape.runs and trace is None and not tape.graphs and not tape.refused:
            self._capture(staging)
        tape.runs += 1
        if tape.graphs and trace is None and self._inward and tape.source != staging.memory.address:
            driver.repoint(tape.graphs[0], self._memory.address + self._first, staging.memory.address, self._inward)
            tape.source = staging.memory.address
        staging.pending = True
        for i in range(len(tape.segments)):
            if i:
                self._look()
            if tape.graphs and trace is None:
                driver.replay(tape.graphs[i])
            else:
                self._issue(i, staging, trace)
        if self._outward:
            driver.synchronize()
            staging.pending = False
            self._check()
        else:
            driver.record(staging.sent)
        self._keep_states()

    def _keep_states(self) -> None:
        for state, drawn in zip(self._generators, self._drawn, strict=True):
            np.copyto(state, drawn)

    def _issue(self, number: int, staging: _Staging, trace: Trace | None = None) -> None:
        """Ask the driver for a segment: its launches, copies to the device before the first, back after each."""
        driver = self._driver
        if number == 0 and self._inward:
            driver.copy_in(self._memory.address + self._first, staging.memory.address, self._inward)
        timed = []
        for launch in self._tape.segments[number]:
            first = None if trace is None else driver.event()
            if first is not None:
                driver.record(first)
            driver.launch(launch.function, launch.step.items, launch.step.grain, launch.words)
            if first is not None:
                driver.record(last := driver.event())
                timed.append((launch, first, last))
        if self._outward:
            driver.copy_out(self._result.address, self._memory.address + self._back, self._outward)
        if trace is not None:
            end = clock()
            for launch, first, last in timed:      # one after another: events tell how long each took, not when
                trace.add(launch.step.ops, end, kernel=True, gpu=True, took=int(1e9 * driver.seconds(first, last)))

    def _capture(self, staging: _Staging) -> None:
        """Capture the segments as graphs. Where the driver refuses, later runs make the calls one by one."""
        self._tape.source = staging.memory.address
        self._tape.graphs = self._captured(partial(self._issue, staging=staging))

    def _captured(self, issue: Callable[[int], None]) -> list[Any]:
        """Return a graph of what `issue` asks for, for each segment; none, and note why, where the driver refuses."""
        tape, graphs = self._tape, []
        for i in range(len(tape.segments)):
            self._driver.begin()
            try:
                issue(i)
                graphs.append(self._driver.end())
            except DriverError as error:
                self._driver.end(keep=False)
                launches = sum(map(len, tape.segments))
                tape.refused = f"{launches} launches one by one a run: no CUDA graph could be captured, {error}"
                return []
        return graphs

    def _look(self) -> None:
        """Wait, and raise the error of the first launch that met an invalid value."""
        self._driver.synchronize()
        self._check()

    def _check(self) -> None:
        if not self._failures.any():
            return
        for segment in self._tape.segments:
            for launch in segment:
                status = self._failures[WORDS * launch.status:WORDS * (launch.status + 1)]
                if launch.status >= 0 and status[0]:
                    raise failure(launch.step.ops[-1], status.tolist())


def _is_status(arg: object) -> bool:
    return isinstance(arg, Ref) and arg.buffer.role == "status"
