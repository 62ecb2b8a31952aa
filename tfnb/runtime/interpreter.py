"""Running a stage op by op on NumPy arrays: host stages always, device stages at their first run."""
from __future__ import annotations

from collections.abc import Callable, MutableMapping

import numpy as np

from tfnb.compile.plan import Stage
from tfnb.compile.trace import check_update
from tfnb.core.errors import InvalidArgumentError, OpError, OutOfRangeError
from tfnb.graph.operation import Operation, Tensor, brackets
from tfnb.kernels.cpu.random import new_state
from tfnb.kernels.scalar import reference
from tfnb.opdef import tables
from tfnb.opdef.spec import Kind
from tfnb.ops.evaluate import Context, evaluate, numpy_name, reads_operand, scalar_attrs, scalar_type
from tfnb.runtime.store import Store, uninitialized, variable_dtype

Env = MutableMapping[Tensor, np.ndarray]
_PASS = (OpError, KeyboardInterrupt, SystemExit)


def interpret(stage: Stage, env: Env, store: Store, watch: Callable[[Operation], None] | None = None) -> None:
    """Run the ops of a stage; `env` has its inputs and gets its outputs.

    Arrays in `env` may be views of variables while the stage runs; its outputs are copied where they are.
    """
    for op in stage.ops:
        if op.outputs and all(t in env for t in op.outputs):
            continue                               # fed
        if watch is not None:
            watch(op)
        for tensor, value in zip(op.outputs, run_op(op, env, store), strict=True):
            env.setdefault(tensor, value)
    for tensor in stage.outputs:
        if tensor.op.spec.kind is Kind.VARIABLE:
            env[tensor] = store.value(tensor.op, tensor.op)
        env[tensor] = np.array(env[tensor])


def run_op(op: Operation, env: Env, store: Store) -> tuple[np.ndarray, ...]:
    """The outputs of one op. Raises an OpError that names it for whatever goes wrong inside."""
    kind = op.spec.kind
    try:
        if kind is Kind.VARIABLE:
            array = store.array(op)
            return (_NOTHING if array is None else array,)
        if kind is Kind.PLACEHOLDER:
            raise unfed(op)
        arrays = [_input(t, env, store, op) for t in op.inputs]
        if kind is Kind.UPDATE:
            return (_update(op, arrays, store),)
        state = store.state(op, lambda: new_state(op.attrs["seed"], op.attrs["seed2"])) \
            if kind is Kind.RANDOM else None
        return evaluate(op, arrays, Context(op, state, store))
    except _PASS:
        raise
    except StopIteration as error:
        raise OutOfRangeError(None, op, str(error) or "end of sequence") from error
    except (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError) as error:
        given = ", ".join(f"{t.dtype.base_dtype.name}{list(np.shape(env[t]))}" for t in op.inputs if t in env)
        raise InvalidArgumentError(None, op, f"{error} (op {op.name!r} of type {op.type}, inputs {given})") from error


_NOTHING = np.empty(0)
_NOTHING.flags.writeable = False


def _input(tensor: Tensor, env: Env, store: Store, reader: Operation) -> np.ndarray:
    array = env[tensor]
    if tensor.dtype._is_ref_dtype:                 # a variable, or an update's output: what it is now
        variable = ref_variable(tensor)
        current = store.array(variable)
        if current is not None:
            return current
        if reader.spec.kind is not Kind.UPDATE and reader.type != "IsVariableInitialized":
            raise uninitialized(variable, reader)
    return array


def ref_variable(tensor: Tensor) -> Operation:
    """The variable that a ref tensor refers to."""
    op = tensor.op
    while op.spec.kind is not Kind.VARIABLE:
        op = next(t for t in op.inputs if t.dtype._is_ref_dtype).op
    return op


def _update(op: Operation, arrays: list[np.ndarray], store: Store) -> np.ndarray:
    """Write the new values of the Ref inputs; the first one's array is the output."""
    definition = tables.SCALARS[op.spec.name]
    refs = [i for i, arg in enumerate(op.spec.inputs) if arg.is_ref]
    variables = [ref_variable(op.inputs[i]) for i in refs]
    reads = reads_operand(op, definition, 0)
    for i, variable in zip(refs, variables, strict=True):
        if store.array(variable) is None:
            if reads:
                raise uninitialized(variable, op)
            arrays[i] = np.zeros(arrays[1].shape, variable_dtype(variable))
        elif not reads and not op.attrs.get("validate_shape", True):
            arrays[i] = np.zeros(arrays[1].shape, variable_dtype(variable))
    if not reads:
        _check_assign(op, variables[0], arrays[1])
    check_update(op, [a.shape for a in arrays])
    types = [numpy_name(op.inputs[i].dtype.base_dtype) for i in refs]
    results = reference(definition, arrays, scalar_attrs(op, definition), scalar_type(op), types)
    shape = arrays[0].shape
    made = [store.assign(v, np.broadcast_to(np.asarray(r), shape)) for v, r in zip(variables, results, strict=True)]
    return made[0]


def _check_assign(op: Operation, variable: Operation, value: np.ndarray) -> None:
    static = variable.attrs["shape"]
    if op.attrs.get("validate_shape", True) and static is not None and len(static) == value.ndim \
            and all(n in (None, m) for n, m in zip(static, value.shape, strict=True)):
        return
    if op.attrs.get("validate_shape", True) and static is not None:
        raise ValueError("Assign requires shapes of both tensors to match. lhs shape= "
                         f"{list(static)} rhs shape= {list(value.shape)}")


def unfed(op: Operation) -> InvalidArgumentError:
    """The error of a placeholder that nobody fed."""
    tensor = op.outputs[0]
    shape = "" if tensor.static is None else f" and shape {brackets(tensor.static)}"
    return InvalidArgumentError(None, op, f"You must feed a value for placeholder tensor {op.name!r} with dtype "
                                          f"{_short(tensor)}{shape}")


def _short(tensor: Tensor) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(tensor.dtype.name, tensor.dtype.name)

