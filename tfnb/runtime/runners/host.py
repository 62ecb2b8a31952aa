"""Execution of host stages: a precomputed sequence of Python calls, with all per-run look-ups done in advance."""
from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from tfnb.compile.planning.plan import Stage
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import refers
from tfnb.kernels.view import View
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import Context, evaluate, host_call, movement_views, pure_call
from tfnb.ops.declaration.validate import validate
from tfnb.resources.elements import own
from tfnb.runtime.runners.interpreter import named
from tfnb.runtime.state.store import Store, handle_array
from tfnb.runtime.state.trace import Trace, clock


def is_plain(stage: Stage, fed: Collection[Tensor]) -> bool:
    """Return whether the stage has only host ops, pure ones and reads of variables, none fed in part.

    Then all that it passes on is its own or one of its inputs: not the reference that an update of another stage
    returns.
    """
    own_or_given = {*stage.inputs, *(t for op in stage.ops for t in op.outputs)}
    return not stage.on_device and own_or_given.issuperset(stage.outputs) and all(
        _is_plain(op) and not any(t in fed for t in op.outputs) for op in stage.ops)


def _is_plain(op: Operation) -> bool:
    if isinstance(op.spec, kinds.Variable):
        return True
    if isinstance(op.spec, kinds.Movement):
        return not any(map(refers, op.outputs)) and all(
            not refers(t) or isinstance(t.op.spec, kinds.Variable) for t in op.inputs)
    return isinstance(op.spec, (kinds.Host, kinds.Pure, kinds.Control)) and not any(
        refers(t) and not isinstance(t.op.spec, kinds.Handle) for t in (*op.inputs, *op.outputs))


def _movement_call(op: Operation, store: Store) -> Callable[[list[np.ndarray]], Sequence[np.ndarray]]:
    """Return the interpreter's call for a movement op; for one of one input memoized by shape: whether it changes
    nothing."""
    if len(op.inputs) > 1:
        return pure_call(op, store)
    leaves: dict[tuple[int, ...], bool] = {}
    context = Context(op, None, store)

    def call(arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
        shape = arrays[0].shape
        if shape not in leaves:
            validate(op, [shape], arrays)
            leaves[shape] = movement_views(op, View.whole(shape), []) == (View.whole(shape),)
        return arrays if leaves[shape] else evaluate(op, arrays, context)
    return call


_KNOWN: dict[type, Callable[[Operation], np.ndarray]] = {kinds.Const: lambda op: op.attrs["value"],
                                                        kinds.Handle: handle_array}
_CALLS = {kinds.Host: host_call, kinds.Movement: _movement_call, **dict.fromkeys(
    (kinds.Kernel, kinds.Elementwise, kinds.Reduction, kinds.Rowwise, kinds.ShapeOf), pure_call)}


class HostRunner:
    """A plain host stage (see `is_plain`) over a store. Several threads may run it at once; no lock is held."""

    def __init__(self, stage: Stage, store: Store) -> None:
        slots = {tensor: i for i, tensor in enumerate(stage.inputs)}
        self._known: list[np.ndarray | None] = []
        self._steps = []
        self._store = store
        self._variables: list[tuple[int, Operation]] = []
        self._read: tuple[int, list[np.ndarray]] = (-1, [])    # the variables' arrays in a generation of the store
        for op in stage.ops:
            first = len(slots)
            slots.update((t, first + i) for i, t in enumerate(op.outputs))
            self._known += [_KNOWN[type(op.spec)](op) if type(op.spec) in _KNOWN else None] * len(op.outputs)
            if isinstance(op.spec, kinds.Variable) and not isinstance(op.spec, kinds.Handle):
                self._variables.append((first, op))
            if type(op.spec) in _CALLS:
                self._steps.append((op, _CALLS[type(op.spec)](op, store), tuple(slots[t] for t in op.inputs),
                                    slice(first, first + len(op.outputs))))
        made = {i for _, _, _, place in self._steps for i in range(place.start, place.stop)}
        self._given = tuple(i for i in range(len(slots)) if i not in made)
        self._outputs = tuple(slots[t] for t in stage.outputs)

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """Run the stage and return its outputs in arrays of their own. trace: receives the times of ops.

        A fed value, a constant, a variable and a part of another array are copied.
        """
        values = [*inputs, *self._known]
        if self._variables:
            for (slot, _), array in zip(self._variables, self._variable_arrays(), strict=True):
                values[slot] = array
        args: list[np.ndarray] = []
        op: Operation | None = None
        try:
            for op, call, taken, made in self._steps:  # noqa: B007 (the handler names the op that failed)
                args = [values[i] for i in taken]  # type: ignore[misc]
                start = 0 if trace is None else clock()
                values[made] = call(args)
                if trace is not None:
                    trace.add((op,), start, values[made])  # type: ignore[arg-type]
        except Exception as error:
            assert op is not None
            raise named(op, error, args)  # noqa: B904 (`named` chains)
        given = {id(values[i]) for i in self._given}
        found: list[np.ndarray] = [values[i] for i in self._outputs]  # type: ignore[misc]
        return [np.array(a, order="C") if id(a) in given else own(a) for a in found]

    def _variable_arrays(self) -> list[np.ndarray]:
        store, (read, arrays) = self._store, self._read
        generation = store.generation              # before the look-ups: a change meanwhile is seen by the next run
        if read != generation:
            arrays = [store.value(variable, variable) for _, variable in self._variables]
            self._read = generation, arrays
        return arrays
