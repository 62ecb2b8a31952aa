"""Effects of a cell's new run on the ops of other cells: which take the new tensors, which are stale, and why.

The rules: consumers of an op that is what it was take the new one. Consumers of a changed one do too, if dtype and
static shape are equal, but never gradients, optimizers, savers and merged summaries: their cells are stale. So is a
cell that differentiates anything downstream of a change, for other ops might then be on its path; and one that was
made from a name of the user's which means another op now.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from tfnb.core.shape import merge
from tfnb.graph.graph import Graph
from tfnb.graph.mutation import Detached
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.shape_context import ShapeContext
from tfnb.notebook.cells.compare import Changes, fits, form
from tfnb.notebook.cells.marks import Orphan
from tfnb.opdef import kinds

# Made from the set of variables, summaries... that there was, or from the ops on a path: what changes there has no
# counterpart by name. Optimizers' updates are all called Apply..., SparseApply..., ResourceApply...


@dataclass
class Effects:
    """The effects of a run of a cell on the others.

    rewired: inputs that were moved over; moved: op -> the changed op whose new tensor it takes; reasons: owner -> why
    its ops don't hold any more.
    """

    rewired: int = 0
    moved: dict[str, str] = field(default_factory=dict)
    reasons: dict[Hashable, str] = field(default_factory=dict)

    def blame(self, op: Operation, reason: str) -> None:
        """`op` does not hold any more. The first reason for a cell is the one that is told."""
        if op.owner is None:
            key = Orphan(op.name)
            for user in _downstream({op: op.name}):
                if user.owner is None:
                    user.graph._save(user, "owner")
                    user.owner = key
        self.reasons.setdefault(op.owner, reason)


def apply_changes(graph: Graph, records: Sequence[Detached], changes: Changes, where: str,
                  rebound: Mapping[str, str] = MappingProxyType({})) -> Effects:
    """Rewire what may be rewired, and say what is stale.

    records: what was taken out of the graph before the new run; where: the label of the cell, for the reasons;
    rebound: name of an op -> why its consumers were made from a name that means another op now.
    """
    effects = Effects()
    gone = set(changes.old.values())            # a record may hold inputs of ops that a later one took out
    inputs = dict.fromkeys((edge.tensor, edge.consumer) for record in records for edge in record.dangling
                           if edge.consumer not in gone)
    waits = dict.fromkeys(pair for record in records for pair in record.control if pair[0] not in gone)
    for tensor, consumer in inputs:
        if tensor.op.name in rebound and not derived(consumer):
            effects.blame(consumer, rebound[tensor.op.name])
        else:
            _move_input(graph, tensor, consumer, changes, where, effects)
    for consumer, old in waits:
        _move_control(graph, old, consumer, changes, where, effects)
    _missing_entries([consumer for _, consumer in inputs], waits, changes, where, effects)
    _move_originals(graph, changes)
    _differentiated(graph, changes, where, effects)
    _infer_again(changes, where, effects)
    return effects


def derived(op: Operation) -> bool:
    """True for gradients, optimizers' updates, savers and merged summaries: what no changed op may slip under."""
    return op._original_op is not None or op.spec.role in ("optimizer", "merged summary", "saver")


def _move_input(graph: Graph, old: Tensor, consumer: Operation, changes: Changes, where: str,
                effects: Effects) -> None:
    name = old.op.name
    new = _counterpart(old, changes)
    if new is None:
        effects.blame(consumer, f"{name!r} is no longer made in {where}")
    elif name in changes.why and derived(consumer):
        effects.blame(consumer, f"{name!r} changed in {where}")
    elif not fits(old, new):
        effects.blame(consumer, f"{name!r} changed in {where} from {form(old)} to {form(new)}")
    else:
        effects.rewired += graph.rewire(old, new, [consumer])
        if name in changes.why:
            effects.moved[consumer.name] = name


def _counterpart(old: Tensor, changes: Changes) -> Tensor | None:
    new = changes.new.get(old.op.name)
    return new.outputs[old.value_index] if new is not None and old.value_index < len(new.outputs) else None


def _move_control(graph: Graph, old: Operation, consumer: Operation, changes: Changes, where: str,
                  effects: Effects) -> None:
    new = changes.new.get(old.name)
    if new is None:
        effects.blame(consumer, f"{old.name!r} is no longer made in {where}")
    elif new.type != old.type:
        effects.blame(consumer, f"{old.name!r} changed in {where}")
    else:
        effects.rewired += graph.rewire_control(old, new, [consumer])


def _missing_entries(consumers: Iterable[Operation], waits: Iterable[tuple[Operation, Operation]], changes: Changes,
                     where: str, effects: Effects) -> None:
    """Initializers, savers and merged summaries of other cells that were made without what is new in this one."""
    variable = _first_new(changes, is_variable)
    summary = _first_new(changes, is_summary)
    if variable:
        for consumer, old in waits:
            if initializes(old):
                effects.blame(consumer, f"variable {variable!r} of {where} is new and not among those it initializes")
    for consumer in consumers:
        if variable and consumer.spec.role == "saver":
            effects.blame(consumer, f"variable {variable!r} of {where} is new and not among those it saves")
        elif summary and consumer.spec.role == "merged summary":
            effects.blame(consumer, f"summary {summary!r} of {where} is new and not among those it merges")


def _first_new(changes: Changes, kind: Callable[[Operation], bool]) -> str:
    return next((op.name for op in changes.added if kind(op)), "")


def is_variable(op: Operation) -> bool:
    """True for the ops that hold state."""
    return isinstance(op.spec, kinds.Variable)


def is_summary(op: Operation) -> bool:
    """True for the ops that make one summary."""
    return op.spec.role == "summary"


def initializes(op: Operation) -> bool:
    """True for the op that gives a variable its value."""
    return op.spec.role == "initializer" and is_variable(op.inputs[0].op)


def _move_originals(graph: Graph, changes: Changes) -> None:
    """Gradients of what stayed the same are gradients of the new ops."""
    for op in graph.get_operations():
        original = op._original_op
        if original is not None and changes.old.get(original.name) is original and changes.same(original.name):
            graph._save(op, "_original_op")
            op._original_op = changes.new[original.name]


def _differentiated(graph: Graph, changes: Changes, where: str, effects: Effects) -> None:
    """Blame the gradients of changed ops and of all that depends on them."""
    names = [*changes.why, *changes.removed]
    changed = {ops[name]: name for ops in (changes.old, changes.new) for name in names if name in ops}
    if not changed:
        return
    tainted, own = _downstream(changed), set(changes.new.values())
    if graph._functions:
        _copied(graph, {op.name: name for op, name in tainted.items()}, own, changes, where, effects)
    for op in graph.get_operations():
        name = tainted.get(op._original_op) if op._original_op is not None and op not in own else None
        if name is not None:
            effects.blame(op, f"{name!r} {'changed' if name in changes.new else 'is no longer made'} in {where}")


def _copied(graph: Graph, tainted: Mapping[str, str], own: Collection[Operation], changes: Changes, where: str,
            effects: Effects) -> None:
    """Blame the ops whose functions are copies of what depends on changed ops: one-shot iterators."""
    for op in graph.get_operations():
        bodies = [] if op in own else [graph._functions.get(op.attrs[attr.name].name) for attr in op.spec.attrs
                                       if attr.type == "func"]
        copied = [t.op.name for body in bodies if body is not None and body.by_value for t in body.captured]
        name = next((tainted[name] for name in copied if name in tainted), None)
        if name is not None:
            effects.blame(op, f"{name!r} {'changed' if name in changes.new else 'is no longer made'} in {where}")


def _downstream(start: Mapping[Operation, str]) -> dict[Operation, str]:
    """Return the ops that depend on those of `start`, themselves included, with the label of the nearest of these."""
    found = dict(start)
    todo = deque(found)
    while todo:
        op = todo.popleft()
        for t in op.outputs:
            for consumer in t._consumers:
                if consumer not in found:
                    found[consumer] = found[op]
                    todo.append(consumer)
    return found


def _infer_again(changes: Changes, where: str, effects: Effects) -> None:
    """Blame forward ops whose static shapes don't hold any more: a shape may come from the value of what changed."""
    if not effects.moved:
        return
    changed = {changes.new[name]: name for name in changes.why}
    own = set(changes.new.values())
    for op, name in _downstream(changed).items():
        if op in own or op.owner in effects.reasons:
            continue
        try:
            for t, static in zip(op.outputs, op.spec.shape(ShapeContext(op)), strict=True):
                merge(t.static, static)
        except ValueError:
            effects.blame(op, f"{name!r} changed in {where}, and with it the shape of {op.name!r}")
