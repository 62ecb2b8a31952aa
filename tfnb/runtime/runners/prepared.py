"""Prepared ops: the interpreter's work on ops whose inputs have the shapes of an earlier run, done once.

Lookups, shape functions, type promotion and views follow from the shapes of a stage's inputs and of variables. What
remains in a run is the ops' NumPy forms, and checks of values.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from tfnb.compile.planning.plan import Stage
from tfnb.core.dtypes import resource
from tfnb.core.shape import Static, is_known
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import element_dtype, ref_variable, refers
from tfnb.kernels.arrays.philox import new_state
from tfnb.kernels.scalar.bound import bound
from tfnb.opdef import kinds
from tfnb.ops.declaration.evaluate import (
    Array,
    Call,
    Context,
    computed,
    definition_of,
    scalar_attrs,
    scalar_type,
    specialized,
    wants_lock,
)
from tfnb.ops.declaration.validate import check_handle, decided, require
from tfnb.proto.mapped import copy_array
from tfnb.runtime.state.store import Store

Key = Tensor | Operation                     # a value, or the array of a variable


class Step(NamedTuple):
    """One op. call: computes its outputs from the values of `inputs`; None: the op is run as in a first run.

    outputs: the tensors whose values are kept, None for others. done: values that no later op of the stage takes.
    """

    op: Operation
    call: Call | None
    inputs: tuple[Key, ...]
    outputs: tuple[Tensor | None, ...]
    done: tuple[Tensor, ...]
    number: int                              # of the op in its stage


class Prepared(NamedTuple):
    """A stage for inputs of certain shapes. constants: the values that follow from them, and the variables' arrays."""

    constants: dict[Any, Array]
    steps: tuple[Step, ...]


def prepare(stage: Stage, store: Store, fed: Collection[Tensor], env: Mapping[Any, Array],
            kept: Mapping[Operation, tuple[Any, tuple[Array, ...]]]) -> Prepared:
    """Prepare the ops of a stage, which has just run. env: the values of that run; kept: outputs that shapes decide."""
    constants: dict[Any, Array] = {}
    shapes: dict[Key, Static] = {t: env[t].shape for t in stage.inputs}
    steps = []
    for index, op in enumerate(stage.ops):
        if isinstance(op.spec, kinds.Variable) or (op.outputs and all(t in fed for t in op.outputs)):
            continue
        keys = _keys(op, store, fed, constants, shapes)
        sizes = None if keys is None else [shapes.get(key) for key in keys]
        known = sizes is not None and all(map(is_known, sizes))
        if known and op in kept and not any(t in fed for t in op.outputs) and (
                isinstance(op.spec, kinds.ShapeOf) or all(t in constants for t in op.inputs)):
            for tensor, value in zip(op.outputs, kept[op][1], strict=True):
                constants[tensor], shapes[tensor] = value, value.shape
            continue
        made = None
        if known:
            assert keys is not None
            made = _prepared(op, store, fed, keys, constants, [constants[key] if key in constants else env[key]
                                                               for key in keys])
        call, found = made or (None, [None] * len(op.outputs))
        shapes.update((t, None if t in fed else shape) for t, shape in zip(op.outputs, found, strict=True))
        outputs = tuple([None if t in fed else t for t in op.outputs])
        steps.append(Step(op, call, tuple(keys or ()), outputs, (), index))
    return Prepared(constants, tuple(_with_ends(stage, steps, constants)))


def _with_ends(stage: Stage, steps: Sequence[Step], constants: Mapping[Any, Array]) -> list[Step]:
    """Return the steps with what each is the last to take: memory that is given back at once is still in the cache when
    it is given out again. Ops that are no steps may read in a run that leaves them (`Interpreted`), so they count.
    """
    last: dict[Tensor, int] = {t: step.number for step in steps for t in step.outputs if t is not None}
    last.update((t, number) for number, op in enumerate(stage.ops) for t in op.inputs if t in last)
    ends: dict[int, list[Tensor]] = {}
    for tensor, number in last.items():
        if tensor not in stage.outputs and tensor not in constants:
            ends.setdefault(number, []).append(tensor)
    return [step._replace(done=tuple(ends.get(step.number, ()))) for step in steps]


def _keys(op: Operation, store: Store, fed: Collection[Tensor], constants: dict[Any, Array],
          shapes: dict[Key, Static]) -> list[Key] | None:
    """Return where the inputs of an op are found; None for what only a run decides. Variables' arrays are looked up."""
    keys: list[Key] = []
    for i, tensor in enumerate(op.inputs):
        if not refers(tensor) or tensor in fed:
            if i in op.spec.handles:
                return None
            keys.append(tensor)
            continue
        if tensor.dtype is resource and i not in op.spec.handles:
            return None
        variable = ref_variable(tensor)
        array = store.array(variable)
        if array is None:
            return None
        if tensor.dtype is resource:
            check_handle(op, variable, element_dtype(op, i))
        constants[variable], shapes[variable] = array, array.shape
        keys.append(variable)
    return keys


def _prepared(op: Operation, store: Store, fed: Collection[Tensor], keys: Sequence[Key], constants: Mapping[Any, Array],
              values: Sequence[Array]) -> tuple[Call | None, Sequence[Static]] | None:
    """Return how to compute the outputs of an op for inputs of the shapes that `values` have, and their shapes."""
    spec, shapes = op.spec, [value.shape for value in values]
    if isinstance(spec, kinds.Read):
        return (lambda arrays: (arrays[0].copy(),)), [shapes[0]]
    if not isinstance(spec, (kinds.Pure, kinds.Random, kinds.Update)):
        return None
    constant = [isinstance(key, Tensor) and key in constants for key in keys]
    settled = decided(op, values, constant)
    if settled is None:
        return None
    found, checks = settled
    call: Call | None
    if isinstance(spec, kinds.Update):
        call, found = _update(op, store, fed, keys, values), [*shapes[:len(op.outputs)]]
    elif not all(map(is_known, found)):
        return None
    elif isinstance(spec, kinds.Random):
        def call(arrays: Sequence[Array]) -> Sequence[Array]:
            state = store.state(op, lambda: new_state(op.attrs["seed"], op.attrs["seed2"]))
            return computed(op, arrays, Context(op, state, store), found)
    else:
        known = [value if fixed else None for value, fixed in zip(values, constant, strict=True)]
        call = specialized(op, store, known, shapes, [value.dtype for value in values], found)
    if call is None or not checks:
        return call, found
    return (lambda arrays: _checked(op, checks, call, arrays)), found


def _checked(op: Operation, checks: Sequence[Any], call: Call, arrays: Sequence[Array]) -> Sequence[Array]:
    for check in checks:
        require(op, check, arrays)
    return call(arrays)


def _update(op: Operation, store: Store, fed: Collection[Tensor], keys: Sequence[Key], values: Sequence[Array]
            ) -> Call | None:
    """Return the call of an op that computes new values of variables from old ones, in their arrays."""
    assert isinstance(op.spec, kinds.Update)
    targets, own = tuple(op.spec.targets), [keys[i] for i in op.spec.targets]
    if not all(isinstance(key, Operation) for key in own) or any(op.inputs[i] in fed for i in targets):
        return None
    definition = definition_of(op)
    program = definition.program(scalar_attrs(op, definition))
    arrays = [values[i] for i in targets]
    if program.results == (1,) and not program.steps:
        return _assignment(op, own[0], values)
    compute = bound(definition, [a.shape for a in values], [a.dtype for a in values], scalar_attrs(op, definition),
                    scalar_type(op), [array.dtype.name for array in arrays])
    if compute is None or any(array.shape != arrays[0].shape for array in arrays):
        return None
    guard: Callable[[], Any] = (lambda: store.updating) if wants_lock(op) else nullcontext

    def call(given: Sequence[Array]) -> Sequence[Array]:
        with guard():
            for array, made in zip(arrays, compute(given), strict=True):
                copy_array(array, made)
        return arrays[:1]
    return call


def _assignment(op: Operation, variable: Key, values: Sequence[Array]) -> Call | None:
    """Return the call of an op that gives a variable another value of its shape."""
    array, value = values[:2]
    assert isinstance(variable, Operation)
    static = variable.attrs["shape"]
    if array.shape != value.shape or wants_lock(op) or static is None or tuple(static) != array.shape:
        return None

    def call(given: Sequence[Array]) -> Sequence[Array]:
        copy_array(array, given[1])
        return (array,)[:len(op.outputs)]
    return call
