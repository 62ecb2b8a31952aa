"""Program cache of a device stage: shape-specialized programs with CLOCK (approximate LRU) eviction."""
from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.compile.trace import Meta
from tfnb.core.errors import OpError
from tfnb.core.shape import is_known
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.scalar.number_types import name_of
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import reads_operand, wants_lock
from tfnb.runtime.runners.interpreter import Interpreted
from tfnb.runtime.runners.program import Compiled, Program, Repointed, compile_stage, exhausted, variable_shapes
from tfnb.runtime.runners.residents import element_of
from tfnb.runtime.runners.templates import Templates
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace

PATIENCE = 8             # programs of a stage of a loop: one that meets more shapes is interpreted
KEPT, ALWAYS = 512, 4    # cached shapes of a stage; the number kept however large
KEPT_BYTES = 1 << 27     # of their arenas and result arrays: what is evicted follows from a template again, in 1 ms
NOTED = 32               # shapes that a stage of a loop records as met


def _overwrites(op: Operation, variable: Tensor) -> bool:
    """Return whether an op assigns a value of its shape to a variable, whatever that held."""
    spec = op.spec
    if not isinstance(spec, kinds.Update) or len(op.inputs) != 2 or op.inputs[0] is not variable:
        return False
    shape = op.inputs[1].static
    return is_known(shape) and shape == variable.op.attrs["shape"] and not reads_operand(op, spec.body, 0)


class StageRunner:
    """The program cache of one device stage, keyed by the shapes (and values) that programs are specialized to.

    interpreted: runs the stage where there is no program; patient: the stage is one of a loop; threads: of one kernel
    at most, None: all there are.
    """

    def __init__(self, interpreted: Interpreted, store: Store, patient: bool = False,
                 threads: int | None = None) -> None:
        self.interpreted = interpreted
        self.stage = stage = interpreted.stage
        self._threads = threads
        self._patience: dict[Any, None] | None = {} if patient else None
        self._store = store
        self._lock = threading.Lock()
        self.locks = any(wants_lock(op) for op in stage.ops)
        self._handles = tuple(i for i, t in enumerate(stage.inputs) if t.dtype.base_dtype.name == "resource")
        self._barred: set[Any] = set()
        by_value = [stage.inputs.index(t) for t in stage.by_value]
        self._by_value = tuple(i for i in by_value if i not in self._handles)
        self._valued = frozenset(by_value) & frozenset(self._handles)
        self._templates = Templates(stage)
        self._programs: OrderedDict[tuple[Any, ...], list[Program]] = OrderedDict()
        self._nbytes = 0                           # of all of them
        self._latest: Program | None = None        # the next one finds variables where this one has them

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """Run the stage and return its outputs; see `Runner`. Without a program (see `borrow`) it is interpreted."""
        given: list[Operation] = []
        program = self.borrow(inputs, given)
        if program is None:
            return self.interpreted.run(inputs, trace)
        try:
            if self.locks:
                with self._store.updating:
                    return program.run(inputs, trace)
            return program.run(inputs, trace)
        except BaseException as error:
            for op in given:                       # what an initializer that fails leaves in them is no value
                self._store.forget(op)
            if isinstance(error, MemoryError):
                raise exhausted(program.compiled, error) from error
            raise
        finally:
            program.lock.release()

    def borrow(self, inputs: Sequence[np.ndarray], given: list[Operation] | None = None) -> Program | None:
        """Return a program for these inputs, locked for the caller.

        None if a variable is uninitialized (the interpreter assigns or reports it), while a loop meets new shapes, and
        where kernels can't access the elements of the TensorArrays and stacks among the inputs. given: receives
        uninitialized variables that the program assigns, and which get memory for that.
        """
        key: tuple[Any, ...] = tuple([a.shape for a in inputs])
        if self._by_value:
            key += tuple(inputs[i].tobytes() for i in self._by_value)
        if self._handles:
            elements = [element_of(inputs[i], i in self._valued) for i in self._handles]
            key += tuple(elements)
            if None in elements or key in self._barred:
                return None
        for program in self._programs.get(key, ()):
            if program.lock.acquire(blocking=False):
                if program.is_current(self._store):
                    program.used = True
                    return program
                self._drop(key, program)
        if self._patience is not None and not self._settled(key):
            return None
        if not self._handles:
            return self._make(key, inputs, given)
        try:
            return self._make(key, inputs)
        except OpError:                            # host calls take elements of all shapes, or say what is wrong
            self._barred.add(key)
            return None

    def _settled(self, key: tuple[Any, ...]) -> bool:
        """Return whether a loop has met this key before, so that a program pays: not a new shape in each iteration."""
        assert self._patience is not None
        if key in self._programs or key in self._patience:
            return key in self._programs or len(self._programs) < PATIENCE
        if len(self._patience) < NOTED:
            self._patience[key] = None
        return False

    def _make(self, key: tuple[Any, ...], inputs: Sequence[np.ndarray],
              given: list[Operation] | None = None) -> Program | None:
        """Compile a new program, locked for the caller; None if a variable is uninitialized, but for those `given`."""
        if self._like() is not None:
            return self._compiled(key, inputs)
        missing = [op for op in self.stage.variables if self._store.peek(op) is None]
        if not missing:
            return self._compiled(key, inputs)
        if given is None or self._patience is not None or not self._are_assigned(missing):
            return None
        for op in missing:
            self._store.allocate(op)
        try:
            program = self._compiled(key, inputs)
        except BaseException:
            for op in missing:
                self._store.forget(op)
            raise
        given += missing
        return program

    def _are_assigned(self, variables: Sequence[Operation]) -> bool:
        """Return whether the stage uses variables for one thing alone: to assign each a value of its shape."""
        users: dict[Any, list[Operation]] = {op.outputs[0]: [] for op in variables if "shared_name" in op.attrs}
        for op in self.stage.ops:                  # (a temporary variable has no such attr)
            for tensor in op.inputs:
                if tensor in users:
                    users[tensor].append(op)
        return len(users) == len(variables) and users.keys().isdisjoint(self.stage.outputs) and all(
            len(found) == 1 and _overwrites(found[0], tensor) for tensor, found in users.items())

    def _compiled(self, key: tuple[Any, ...], inputs: Sequence[np.ndarray]) -> Program:
        """Compile a new program, locked for the caller."""
        metas = [Meta(name_of(a.dtype), a.shape, a.copy() if i in self._by_value else None,
                      element_of(a, i in self._valued) if i in self._handles else None) for i, a in enumerate(inputs)]
        with self._lock:
            compiled = next((p.compiled for p in self._programs.get(key, ()) if p.is_current(self._store)), None)
            program = self._load(compiled or self._compile(metas))
            while not program.fits():              # another thread gave a variable another shape just now
                program = self._load(self._compile(metas))
            program.lock.acquire()
            self._nbytes += program.nbytes
            self._trim()
            self._programs.setdefault(key, []).append(program)
            self._programs.move_to_end(key)
            self._latest = program
        return program

    def _like(self) -> Program | None:
        """Return a program that has all variables of the stage where they are now."""
        latest = self._latest
        return latest if latest is not None and latest.is_current(self._store) else None

    def _compile(self, metas: Sequence[Meta]) -> Compiled | Repointed:
        like = self._like()
        shapes = variable_shapes(self.stage, self._store) if like is None else like.compiled.shapes
        return self._templates.repointed(metas, shapes) or compile_stage(self.stage, metas, self._store)

    def _load(self, compiled: Compiled | Repointed) -> Program:
        try:
            return self._program(compiled)
        except (MemoryError, OverflowError) as error:
            raise exhausted(compiled, error) from error

    def _program(self, compiled: Any) -> Program:
        """Make an instance of a compiled stage. Raises MemoryError."""
        return Program(compiled, self._store, self._threads, self._like())

    def _trim(self) -> None:
        """Evict programs that were not used since the last eviction (the CLOCK algorithm), the oldest first."""
        while len(self._programs) >= ALWAYS and (len(self._programs) >= KEPT or self._nbytes > KEPT_BYTES):
            key, peers = next(iter(self._programs.items()))
            if any(p.used for p in peers):
                self._programs.move_to_end(key)
                for program in peers:
                    program.used = False
            else:
                del self._programs[key]
                self._nbytes -= sum(p.nbytes for p in peers)

    def _drop(self, key: tuple[Any, ...], program: Program) -> None:
        with self._lock:
            peers = self._programs.get(key, [])
            if program in peers:
                peers.remove(program)
                self._nbytes -= program.nbytes
            if not peers:
                self._programs.pop(key, None)

    def programs(self) -> list[Program]:
        """The cached programs."""
        with self._lock:
            return [p for peers in self._programs.values() for p in peers]
