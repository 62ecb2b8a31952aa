"""GPU programs: device memory, transfers and asynchronous launches of a compiled stage, by numba.cuda.

Inputs are copied to the device before, outputs back after. The only synchronization in between reads the status words,
where a launch has checked values and a later one writes to a variable: so that a run that fails leaves variables as
they were. One allocation has, in this order: the arena, inputs, outputs, constants, generator states, and the status
words of each launch that has some.
"""
from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.compile.lower import Ref, Step
from tfnb.compile.memory import ALIGN
from tfnb.compile.values import Buffer
from tfnb.core.errors import OpError
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.arrays.philox import new_state
from tfnb.kernels.cuda import device
from tfnb.runtime.runners.gpu_memory import GpuArray, borrow
from tfnb.runtime.runners.program import Compiled, failure
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace, clock

WORDS = 8                # of the status of a launch


@dataclass(frozen=True, slots=True)
class _Launch:
    """A kernel with bound arguments. status: the index of the program's status block that it may write to, or -1;
    waits: synchronize and read these first, since it writes to memory that outlives the run."""

    step: Step
    args: tuple[Any, ...]
    status: int
    waits: bool


class GpuProgram:
    """One instance of a stage compiled for a GPU, bound to a store. Used by one run at a time (`lock`)."""

    def __init__(self, compiled: Compiled, store: Store) -> None:
        self.lock = threading.Lock()
        self.compiled, self._store = compiled, store
        self.used = False                          # since the executor last looked which programs to drop
        self._places: dict[Buffer, tuple[int, Any]] = {}
        self._outputs = [v for v in compiled.outputs if v.known is None]
        self._states: dict[Buffer, np.ndarray] = {}
        self._arrays = {op: store.peek(op) for op in compiled.stage.variables}
        self._lay_out()
        self._generation = -1                      # of the store, when its variables were last found to be here
        self._bound: dict[Operation, GpuArray] = {}
        self._launches: tuple[_Launch, ...] = ()

    # Memory

    def _lay_out(self) -> None:
        """One allocation for all but the variables; constants are copied there once."""
        compiled, refs = self.compiled, self._refs()
        inputs = [Buffer("input", m.type, int(np.prod(m.shape, dtype=np.int64)), index=i)
                  for i, m in enumerate(compiled.inputs)]
        consts = [b for b in refs if b.role == "const"]
        for buffer in refs:
            if buffer.role == "state":
                self._states[buffer] = self._state(buffer)
        checked = sum(any(_is_status(arg) for arg in step.args) for step in compiled.steps)
        self._status = Buffer("status", "int64", max(1, WORDS * checked))
        end, offsets = compiled.arena_bytes, []
        held = [*inputs, *(v.buffer for v in self._outputs), *consts, *self._states, self._status]
        for buffer in held:
            offsets.append(end)
            end += -(-max(buffer.nbytes, 1) // ALIGN) * ALIGN
        self.nbytes = end
        self._memory = device.Memory(end)
        views = {b: self._memory.view(at, b.size, b.type) for b, at in zip(held, offsets, strict=True)}
        self._inputs = [views[b] for b in inputs]
        self._made = [views[v.buffer] for v in self._outputs]
        self._places = {b: (at, views[b]) for b, at in zip(held, offsets, strict=True)}
        self._by_index = {b.index: at for b, at in zip(inputs, offsets, strict=False)}
        self._failures = np.zeros(self._status.size, np.int64)
        for buffer in consts:
            assert buffer.array is not None
            device.upload(views[buffer], buffer.array)

    def _refs(self) -> list[Buffer]:
        """Return the buffers that the launches name, each once."""
        return list({arg.buffer: None for step in self.compiled.steps for arg in step.args if isinstance(arg, Ref)})

    def _state(self, buffer: Buffer) -> np.ndarray:
        owner = buffer.owner
        assert owner is not None
        return self._store.state(owner, lambda: new_state(owner.attrs["seed"], owner.attrs["seed2"]))

    def _view(self, ref: Ref, status: int) -> Any:
        """Return the array that a launch gets for a reference: from there to the end of its buffer."""
        buffer, offset = ref.buffer, ref.offset
        if _is_status(ref):
            return self._memory.view(self._places[self._status][0] + 8 * WORDS * status, WORDS, "int64")
        type = ref.type or buffer.type
        size = (buffer.nbytes - offset) // np.dtype(type).itemsize
        if buffer.role == "variable":
            assert buffer.owner is not None
            return self._bound[buffer.owner].memory.view(offset, size, type)
        if buffer.role == "temp":
            start = self.compiled.offsets[buffer]
        else:
            start = self._by_index[buffer.index] if buffer.role == "input" else self._places[buffer][0]
        return self._memory.view(start + offset, size, type)

    def _bind(self, variables: dict[Operation, GpuArray]) -> None:
        """Bind the launches to variables in these arrays."""
        self._bound = variables
        launches, status, pending = [], 0, False
        for step in self.compiled.steps:
            if not step.items:
                continue
            checks = any(_is_status(arg) for arg in step.args)
            args = tuple(arg if isinstance(arg, int) else self._view(arg, status) for arg in step.args)  # type: ignore[arg-type]
            launches.append(_Launch(step, args, status if checks else -1, step.writes and pending))
            pending = checks or (pending and not step.writes)
            status += checks
        self._launches = tuple(launches)

    # What the executor asks of a program

    def fits(self) -> bool:
        """Return whether the variables it is bound to have the shapes it was compiled for."""
        return all(a is not None and a.shape == self.compiled.shapes[op] for op, a in self._arrays.items())

    def is_current(self, store: Store) -> bool:
        """Return whether the variables are still those that this program was made for."""
        return self._generation == store.generation or all(store.peek(op) is a for op, a in self._arrays.items())

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """Run the stage and return its outputs in new arrays. inputs: row-major, of the program's shapes.

        trace: receives the times of launches. Raises the OpError of a kernel that met an invalid value.
        """
        with self._store.lending:
            self._take_variables()
            for view, array in zip(self._inputs, inputs, strict=True):
                device.upload(view, array)
            self._play(trace)
            made = [np.empty(v.shape, v.type) for v in self._outputs]
            for view, array in zip(self._made, made, strict=True):
                device.download(view, array)
        fresh = iter(made)
        return [next(fresh) if v.known is None else v.known.copy() for v in self.compiled.outputs]

    def _take_variables(self) -> None:
        """Move the variables to the GPU, and rebind the launches if their arrays have changed."""
        if self._generation == self._store.generation:
            return
        variables = {op: borrow(self._store, op) for op in self._arrays}
        self._generation = self._store.generation
        if variables != self._bound or not self._launches:
            self._bind(variables)

    def _play(self, trace: Trace | None) -> None:
        checked = any(launch.status >= 0 for launch in self._launches)
        if checked:
            self._failures[:] = 0
            device.upload(self._places[self._status][1], self._failures)
        for buffer, state in self._states.items():
            device.upload(self._places[buffer][1], state)
        for launch in self._launches:
            if launch.waits:
                self._look()
            start = 0 if trace is None else clock()
            device.launch(launch.step.source, launch.step.items, launch.step.grain, *launch.args)
            if trace is not None:
                device.synchronize()
                trace.add(launch.step.ops, start, kernel=True, gpu=True)
        if checked:
            self._look()
        for buffer, state in self._states.items():
            device.download(self._places[buffer][1], state)

    def _look(self) -> None:
        """Synchronize, and raise the error of the first launch that met an invalid value."""
        device.download(self._places[self._status][1], self._failures)
        for launch in self._launches:
            status = self._failures[WORDS * launch.status:WORDS * (launch.status + 1)]
            if launch.status >= 0 and status[0]:
                raise self._failure(launch.step, status.tolist())

    def _failure(self, step: Step, status: list[int]) -> OpError:
        return failure(step.ops[-1], status)


def _is_status(arg: object) -> bool:
    return isinstance(arg, Ref) and arg.buffer.role == "status"
