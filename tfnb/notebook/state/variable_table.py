"""The variables of a graph, with their slots and what a session holds of them."""
from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.notebook.cells.effects import is_variable
from tfnb.notebook.drawing.tensor_stats import Motion
from tfnb.runtime.session import BaseSession

_looking = threading.Lock()         # a view on display looks from a thread of its own
_motions: WeakKeyDictionary[BaseSession, dict[str, Motion]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Trained:
    """A variable and its slots: role ("m", "v", "accum"...) -> variable; gradient: what its optimizer gets, or None.

    indices: of a sparse gradient, the rows that it holds; updates: the names of the optimizers' ops that update it.
    """

    op: Operation
    trainable: bool
    slots: dict[str, Operation]
    gradient: Tensor | None = None
    indices: Tensor | None = None
    updates: tuple[str, ...] = ()

    def updated_by(self, optimizer: str) -> bool:
        """Return whether the optimizer of that name updates it: its ops are "<name>/update_<variable>/..."."""
        return any(f"/{optimizer}/" in f"/{name}" for name in self.updates)


def variables_of(graph: Graph) -> list[Trained]:
    """The variables of a graph that are no slots of others, in the order they were made.

    What is a slot of what is read from the ops that update ("ApplyAdam" has the inputs var, m and v); where an
    optimizer updates by several ops, from the names: "w/Adam" belongs to "w".
    """
    variables = {op.name: op for op in graph.get_operations() if is_variable(op)}
    roles, gradients, updates = _applied(graph)
    labels = {slot.removeprefix(f"{owner}/"): role for owner, slots in roles.items() for role, slot in slots.items()}
    trainable = {variable.op.name for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    owned = {slot for slots in roles.values() for slot in slots.values()}
    for name in variables:
        owner, _, suffix = name.rpartition("/")
        if owner in variables and name not in owned and name not in trainable:
            roles.setdefault(owner, {}).setdefault(labels.get(suffix, suffix), name)
            owned.add(name)
    found = []
    for name, op in variables.items():
        if name not in owned:
            slots = {role: variables[slot] for role, slot in roles.get(name, {}).items() if slot in variables}
            gradient, indices = gradients.get(name, (None, None))
            found.append(Trained(op, name in trainable, slots, gradient, indices, tuple(updates.get(name, ()))))
    return found


_Applied = tuple[dict[str, dict[str, str]], dict[str, tuple[Tensor, Tensor | None]], dict[str, list[str]]]


def _applied(graph: Graph) -> _Applied:
    """Return what the optimizers' ops say of each variable: {role: slot}, (gradient, its rows), and their names.

    A sparse update may be several ops, of which none is an "Apply".
    """
    roles: dict[str, dict[str, str]] = {}
    gradients: dict[str, tuple[Tensor, Tensor | None]] = {}
    updates: dict[str, list[str]] = {}
    for op in graph.get_operations():
        if "/update_" in op.name and op.inputs and is_variable(op.inputs[0].op):
            updates.setdefault(op.inputs[0].op.name, []).append(op.name)
        if op.spec.role != "optimizer":
            continue
        inputs = {arg.name: (tensor, arg) for arg, tensor in zip(op.spec.inputs, op.inputs, strict=False)}
        if "var" not in inputs:
            continue
        name = inputs["var"][0].op.name
        for role, (tensor, arg) in inputs.items():
            if role != "var" and (arg.is_ref or is_variable(tensor.op)):
                roles.setdefault(name, {})[role] = tensor.op.name
        for role in ("grad", "delta"):
            if role in inputs:
                gradients[name] = inputs[role][0], inputs["indices"][0] if "indices" in inputs else None
    return roles, gradients, updates


def value_in(session: BaseSession | None, op: Operation) -> np.ndarray | None:
    """The memory of a variable in a session, which trains on; None while it is not initialised."""
    return session._store.array(op) if session is not None else None


def global_step_in(session: BaseSession | None) -> int | None:
    """The value of the graph's global step in a session; None where there is none."""
    for variable in session.graph.get_collection(GraphKeys.GLOBAL_STEP) if session is not None else ():
        value = value_in(session, variable.op)
        if value is not None and value.ndim == 0:
            return int(value)
    return None


def look(session: BaseSession, ops: Iterable[Operation]) -> dict[str, Motion]:
    """Look at variables of a session now: by name, how each has moved over all looks at this session."""
    step = global_step_in(session)
    with _looking:
        known = _motions.setdefault(session, {})
        for op in ops:
            value = value_in(session, op)
            if value is not None:
                known.setdefault(op.name, Motion()).see(value, step)
        return dict(known)


def watched() -> list[BaseSession]:
    """The sessions that were looked at and are open."""
    with _looking:
        return [session for session in _motions if not session._closed]
