"""Initial values that depend on other variables: computed from initial values while those have no value yet.

Initializers of one run wait for nothing, so `tf.Variable(v * 2)` may be started before v is. As in TensorFlow 1.15, the
ops between v and the new variable are copied ("mul_w"), with `v.initialized_value()` in the place of v.
"""
from __future__ import annotations

from typing import Any

from tfnb.core.dtypes import resource
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph, graph_of
from tfnb.opdef import kinds


def safe_initial_value(value: Tensor, scope: str) -> Tensor:
    """`value`, or a copy of it that is right before other variables are initialized. scope: of the new variable.

    What a loop computes is left as it is.
    """
    above = _above(value.op)
    if not any(isinstance(op.spec, kinds.Variable) for op in above) \
            or any(isinstance(op.spec, kinds.NextIteration) for op in above):
        return value
    done: dict[Operation, Operation] = {}
    for op in above:                               # each after its inputs
        done[op] = _safe_op(op, scope, done)
    return done[value.op].outputs[value.value_index]


def _above(op: Operation) -> list[Operation]:
    """Return the ops that `op` is computed from, and itself; inputs first."""
    found: dict[Operation, None] = {}
    stack = [(op, False)]
    seen = set()
    while stack:
        op, ready = stack.pop()
        if ready:
            found[op] = None
        elif op not in seen:
            seen.add(op)
            stack.append((op, True))
            if not _left(op):
                stack += [(t.op, False) for t in reversed(op.inputs)]
    return list(found)


def _left(op: Operation) -> bool:
    """Return whether an op stays as it is: it may run before the variable has a value, or takes a handle."""
    return isinstance(op.spec, kinds.Host) and op.spec.uninitialized or any(t.dtype is resource for t in op.inputs)


def _safe_op(op: Operation, scope: str, done: dict[Operation, Operation]) -> Operation:
    if _left(op):
        return op
    if isinstance(op.spec, kinds.Variable):
        variable = _variable_of(op)
        return op if variable is None else variable.initialized_value().op
    inputs = [done[t.op].outputs[t.value_index] for t in op.inputs]
    if all(new is old for new, old in zip(inputs, op.inputs, strict=True)):
        return op
    kind = "Switch" if isinstance(op.spec, kinds.Switch) else op.type    # of a reference: of the value
    return get_default_graph().create_op(kind, inputs, name=f"{op.name}_{scope}", attrs=dict(op.attrs))


def _variable_of(op: Operation) -> Any:
    """Return the Variable object of a node; None for a node that none is known of."""
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in graph_of(op).get_collection(key):
            if getattr(variable, "op", None) is op and hasattr(variable, "initialized_value"):
                return variable
    return None
