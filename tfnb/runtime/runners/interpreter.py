"""Interpreter: runs a stage op by op on NumPy arrays; device stages at their first run, and what nothing else runs."""
from __future__ import annotations

from collections.abc import Collection, MutableMapping, Sequence
from contextlib import nullcontext
from typing import Any, Protocol

import numpy as np

from tfnb.compile.planning.plan import Stage
from tfnb.core.dtypes import resource, variant
from tfnb.core.errors import OpError, OutOfRangeError, ResourceExhaustedError
from tfnb.core.shape import merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import element_dtype, ref_variable, refers
from tfnb.kernels import scatter
from tfnb.kernels.arrays.philox import new_state
from tfnb.kernels.scalar.definition import reference
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import (
    Context,
    evaluate,
    scalar_attrs,
    scalar_type,
    wants_lock,
)
from tfnb.ops.declaration.validate import check_handle, misused, unfed, validate_arrays
from tfnb.runtime.runners.prepared import Prepared, prepare
from tfnb.runtime.state.store import Store, handle_array, uninitialized, variable_dtype
from tfnb.runtime.state.trace import Trace, clock

MOST_KEPT = 1 << 16                      # bytes of an op's outputs that are kept from run to run
MOST_PREPARED = 8                        # kinds of inputs for which a stage's ops are prepared
Env = MutableMapping[Any, np.ndarray]


class Taps(Protocol):
    """The observer interface of an interpreted run; implemented by debug/tap.py."""

    def before(self, op: Operation, inputs: Sequence[np.ndarray]) -> None:
        """Observe `op` before it runs."""

    def after(self, op: Operation, outputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Observe `op` after it has run; return the outputs that the run goes on with."""


class Interpreted:
    """The interpreter of one stage. fed: tensors whose values were fed; tap: an observer of each op."""

    def __init__(self, stage: Stage, store: Store, fed: Collection[Tensor] = (), tap: Taps | None = None) -> None:
        self.stage, self._store, self._fed, self._tap = stage, store, fed, tap
        self._steady = steady_ops(stage.ops, fed) if tap is None else frozenset()
        self._kept: dict[Operation, tuple[Any, tuple[np.ndarray, ...]]] = {}     # op -> inputs or their shapes, outputs
        self._prepared: dict[Any, Prepared | None] = {}        # shapes and the store's generation -> None: met once

    def run(self, inputs: Sequence[np.ndarray], trace: Trace | None = None) -> list[np.ndarray]:
        """Run the ops and return the stage's outputs; see `Runner`.

        Arrays may be views of variables while the stage runs; its outputs are copies, row-major, as programs read them.
        """
        stage, store = self.stage, self._store
        env: Env = dict(zip(stage.inputs, inputs, strict=True))
        key = store.generation, *[a.shape for a in inputs]
        ready = self._prepared.get(key) if trace is None and self._tap is None else None
        if ready is not None:
            self._run_prepared(ready, env)
        else:
            self._run_ops(stage.ops, env, trace)
            if trace is None and self._tap is None and key[0] == store.generation:
                self._learn(key, env)
        return [self._output(t, env) for t in stage.outputs]

    def _learn(self, key: Any, env: Env) -> None:
        """Prepare the ops for inputs of these shapes, if a run met them before."""
        if key not in self._prepared:
            if len(self._prepared) >= MOST_PREPARED:
                self._prepared.clear()
            self._prepared[key] = None
            return
        ready = prepare(self.stage, self._store, self._fed, env, self._kept)
        if key[0] == self._store.generation:
            self._prepared[key] = ready

    def _run_prepared(self, ready: Prepared, env: Env) -> None:
        """Run the ops with inputs of the shapes for which they are prepared.

        An op whose call fails runs as in a first run, and raises what it raises there.
        """
        store, fed, generation = self._store, self._fed, self._store.generation
        env.update(ready.constants)
        outer = np.geterr()
        with np.errstate(all="ignore"):
            for op, call, taken, made, done, number in ready.steps:
                if call is not None:
                    try:
                        outputs = call([env[key] for key in taken])
                    except Exception:  # noqa: BLE001
                        call = None
                if call is None:
                    with np.errstate(**outer):
                        outputs = run_op(op, env, store, fed)
                for tensor, value in zip(made, outputs):  # noqa: B905 (0.2 us)
                    if tensor is not None:
                        env[tensor] = value
                for tensor in done:
                    del env[tensor]
                if call is None and store.generation != generation:        # other arrays from here on
                    rest = self.stage.ops[number + 1:]
                    break
            else:
                return
        self._run_ops(rest, env, None)

    def _run_ops(self, ops: Sequence[Operation], env: Env, trace: Trace | None) -> None:
        store, fed = self._store, self._fed
        for op in ops:
            if isinstance(op.spec, kinds.Variable) or (op.outputs and all(t in fed for t in op.outputs)):
                continue                           # read where it is used, or fed
            start = 0 if trace is None else clock()
            outputs = self._steady_outputs(op, env) if op in self._steady else run_op(op, env, store, fed, self._tap)
            if trace is not None:
                trace.add((op,), start, outputs)
            for tensor, value in zip(op.outputs, outputs, strict=True):
                if tensor not in fed:
                    env[tensor] = value            # replaces an earlier stage's value, if repeated here

    def _steady_outputs(self, op: Operation, env: Env) -> tuple[np.ndarray, ...]:
        """Return the outputs of an op: those of an earlier run for the same inputs, or inputs of these shapes."""
        inputs = [_input(tensor, env, self._store, op, self._fed) for tensor in op.inputs]
        by_shape = isinstance(op.spec, kinds.ShapeOf)
        if op in self._kept:
            known, outputs = self._kept[op]
            if all(a.shape == b for a, b in zip(inputs, known, strict=True)) if by_shape else \
                    all(a is b for a, b in zip(inputs, known, strict=True)):
                return outputs
        outputs = run_op(op, env, self._store, self._fed)
        if sum(value.nbytes for value in outputs) <= MOST_KEPT:
            self._kept[op] = [a.shape for a in inputs] if by_shape else inputs, outputs
        return outputs

    def _output(self, tensor: Tensor, env: Env) -> np.ndarray:
        value = _input(tensor, env, self._store, tensor.op, self._fed)
        try:
            return np.array(value, order="C")
        except MemoryError as error:
            raise ResourceExhaustedError(None, tensor.op, f"OOM: {error} (output of {tensor.op.name!r})") from error


def steady_ops(ops: Sequence[Operation], fed: Collection[Tensor]) -> frozenset[Operation]:
    """Return the ops whose outputs follow from constants and shapes: most of what a gradient does with shapes."""
    found: set[Operation] = set()
    for op in ops:
        if isinstance(op.spec, kinds.Pure) and not any(t.dtype in (resource, variant) for t in op.outputs) and (
                isinstance(op.spec, kinds.ShapeOf) or all(t.op in found and t not in fed for t in op.inputs)):
            found.add(op)
    return frozenset(found)


def run_op(op: Operation, env: Env, store: Store, fed: Collection[Tensor] = (),
           tap: Taps | None = None) -> tuple[np.ndarray, ...]:
    """Run one op and return its outputs. Raises an OpError that names it for any error inside."""
    if isinstance(op.spec, kinds.Placeholder):
        raise unfed(op)
    handles = op.spec.handles
    arrays = [_behind(op, i, env, store, fed) if i in handles else _input(t, env, store, op, fed)
              for i, t in enumerate(op.inputs)]
    if tap is None:
        return _run_op(op, arrays, env, store, fed)
    tap.before(op, arrays)
    return tap.after(op, _run_op(op, arrays, env, store, fed))


def _run_op(op: Operation, arrays: list[np.ndarray], env: Env, store: Store,
            fed: Collection[Tensor]) -> tuple[np.ndarray, ...]:
    spec = op.spec
    try:
        if isinstance(spec, kinds.Read):
            return (arrays[0].copy(),)
        if isinstance(spec, kinds.Writer):
            if any(op.inputs[i] in fed for i in spec.targets if i not in spec.handles):
                raise ValueError("it writes to a variable, but a value was fed in its place")
            with store.updating if wants_lock(op) else nullcontext():
                if isinstance(spec, kinds.Update):
                    variables = [_variable(op, i, env, fed) for i in spec.targets]
                    return (_update(op, variables, arrays, store),)[:len(op.outputs)]
                return (_scatter(op, arrays),)[:len(op.outputs)]
        state = store.state(op, lambda: new_state(op.attrs["seed"], op.attrs["seed2"])) \
            if isinstance(spec, kinds.Random) else None
        return evaluate(op, arrays, Context(op, state, store))
    except Exception as error:
        raise named(op, error, arrays)  # noqa: B904 (`named` chains)


def named(op: Operation, error: Exception, arrays: Sequence[np.ndarray]) -> Exception:
    """Convert `error`, which `op` raised on `arrays`, to an OpError that names the op."""
    if isinstance(error, OpError):
        error.of(op)
        return error
    if isinstance(error, StopIteration):
        made: Exception = OutOfRangeError(None, op, str(error) or "end of sequence")
    elif isinstance(error, (ValueError, TypeError, IndexError, ArithmeticError, MemoryError)):
        made = misused(op, error, [a.shape for a in arrays])
    elif isinstance(error, AttributeError) and _is_part(error.obj, arrays):    # a handle of another kind
        other = TypeError(f"an input is not of the kind that the op takes: {error}")
        made = misused(op, other, [a.shape for a in arrays])
    else:
        return error
    made.__cause__ = error
    return made


def _is_part(obj: Any, arrays: Sequence[np.ndarray]) -> bool:
    """Return whether it is one of the arrays of strings or handles, a view of one, or its first element."""
    return any(obj is a or getattr(obj, "base", None) is a or a.size > 0 and obj is a[(0,) * a.ndim]
               for a in arrays if a.dtype == object)


_NOTHING = np.empty(0)
_NOTHING.flags.writeable = False


def _input(tensor: Tensor, env: Env, store: Store, reader: Operation, fed: Collection[Tensor]) -> np.ndarray:
    if not refers(tensor) or tensor in fed:
        return env[tensor]
    variable = ref_variable(tensor)                # or an update's output: the variable as it is now
    return handle_array(variable) if tensor.dtype is resource else _value(variable, store, reader)


def _behind(op: Operation, index: int, env: Env, store: Store, fed: Collection[Tensor]) -> np.ndarray:
    """Return the value of the variable behind a handle, input number `index` of `op`."""
    return _value(_variable(op, index, env, fed), store, op)


def _variable(op: Operation, index: int, env: Env, fed: Collection[Tensor]) -> Operation:
    """Return the variable behind an input. Raises InvalidArgumentError for the handle of one of another dtype, or of
    another resource."""
    tensor = op.inputs[index]
    found = ref_variable(tensor) if refers(tensor) and tensor not in fed else env[tensor].item()
    if tensor.dtype is resource:
        check_handle(op, found, element_dtype(op, index))
    return found


def _value(variable: Operation, store: Store, reader: Operation) -> np.ndarray:
    """Return the array of a variable; of one without a value an empty one, if the reader takes that."""
    array = store.array(variable)
    if array is None:
        spec = reader.spec
        if not isinstance(spec, kinds.Update) and not (isinstance(spec, kinds.Host) and spec.uninitialized):
            raise uninitialized(variable, reader)
        return _NOTHING
    return array


def _update(op: Operation, variables: Sequence[Operation], arrays: list[np.ndarray], store: Store) -> np.ndarray:
    """Write the new values of the variables; the first one's array is the output."""
    assert isinstance(op.spec, kinds.Update)
    definition = op.spec.body
    program = definition.program(scalar_attrs(op, definition))
    assigns = program.results == (1,) and not program.steps
    for i, variable in zip(op.spec.targets, variables, strict=True):
        found = store.array(variable)
        if found is None and not assigns:
            raise uninitialized(variable, op)
        if found is None or assigns and not op.attrs.get("validate_shape", True):
            arrays[i] = np.zeros(arrays[1].shape, variable_dtype(variable))
    if assigns and op.spec.handles:
        merge(variables[0].attrs["shape"], arrays[1].shape)
    elif assigns:
        _check_assign(op, variables[0], arrays[1])
    validate_arrays(op, arrays)
    if assigns:                                    # the value as it is, which may lie in a file
        return store.assign(variables[0], arrays[1])
    types = [variable_dtype(v).name for v in variables]
    results = reference(definition, arrays, scalar_attrs(op, definition), scalar_type(op), types)
    shape = arrays[0].shape
    made = [store.assign(v, np.broadcast_to(np.asarray(r), shape)) for v, r in zip(variables, results, strict=True)]
    return made[0]


def _scatter(op: Operation, arrays: list[np.ndarray]) -> np.ndarray:
    """Write to rows of the variables, whose own arrays are inputs; the first one is the output."""
    assert isinstance(op.spec, kinds.Scatter)
    form = op.spec.form
    validate_arrays(op, arrays)
    scatter.apply(form, arrays, scalar_attrs(op, form.scalar), scalar_type(op))
    return arrays[0]


def _check_assign(op: Operation, variable: Operation, value: np.ndarray) -> None:
    static = variable.attrs["shape"]
    if op.attrs.get("validate_shape", True) and static is not None and len(static) == value.ndim \
            and all(n in (None, m) for n, m in zip(static, value.shape, strict=True)):
        return
    if op.attrs.get("validate_shape", True) and static is not None:
        raise ValueError("Assign requires shapes of both tensors to match. lhs shape= "
                         f"{list(static)} rhs shape= {list(value.shape)}")
