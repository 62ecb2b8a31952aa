"""The part of a run that stays here: ops that call Python, and input pipelines, which hold objects of this process.

Servers don't have them. They run here first, with all that they take; what they give is fed to the server, in whose
graph placeholders stand in their places.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tfnb.core.errors import UnimplementedError
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds

STANDS_IN = "_from_client_"


@dataclass(frozen=True)
class Split:
    """crossing: the tensors of ops here that the server takes; fetches, targets: those of the run that are here."""

    crossing: tuple[Tensor, ...]
    fetches: tuple[Tensor, ...]
    targets: tuple[Operation, ...]


def stays(op: Operation) -> bool:
    """Return whether an op can't be sent: it calls Python, was declared in Python, or is of an input pipeline."""
    spec = op.spec
    return (spec.calls or spec.origin is not None or spec.role == "iterator"
            or any(t.dtype.base_dtype.name == "variant" for t in (*op.inputs, *op.outputs)))


def stand_in(tensor: Tensor) -> str:
    """Return the name of the placeholder that stands for a tensor of an op that stays here."""
    return f"{tensor.op.name}{STANDS_IN}{tensor.value_index}"


def fed_as(tensor: Tensor) -> str | None:
    """Return the name under which a tensor is fed to the server; None if nothing there takes it."""
    if not stays(tensor.op):
        return tensor.name
    return f"{stand_in(tensor)}:0" if any(not stays(op) for op in tensor.consumers()) else None


def split(ops: Iterable[Operation], fetches: Sequence[Tensor], targets: Sequence[Operation],
          feeds: Sequence[Tensor]) -> Split | None:
    """Split a run of these ops; None if all of them can be sent.

    Raises UnimplementedError for an op that stays here and needs a variable, queue or draw of the server.
    """
    ops, fed = list(ops), set(feeds)
    here = {op for op in ops if stays(op)}
    if not here:
        return None
    for op in here:
        _check(op, fed, here)
    taken = dict.fromkeys(t for op in ops if op not in here for t in op.inputs if t.op in here and t not in fed)
    return Split(tuple(taken), tuple(t for t in fetches if t.op in here and t not in fed),
                 tuple(op for op in targets if op in here))


def _check(op: Operation, fed: set[Tensor], here: set[Operation]) -> None:
    """Raise for an input that follows from what only the server has."""
    todo, seen = [op], {op}
    while todo:
        at = todo.pop()
        spec = at.spec
        if at not in here and (isinstance(spec, (kinds.Variable, kinds.Read, kinds.Writer, kinds.Random))
                               or spec.stateful or spec.waits):
            raise UnimplementedError(
                None, op, f"{op.name!r} ({op.type}) runs in this process, not on the server, and needs {at.name!r} "
                f"({at.type}), which is there: fetch what it needs, and feed it")
        for before in (*(t.op for t in at.inputs if t not in fed), *at.control_inputs):
            if before not in seen:
                seen.add(before)
                todo.append(before)
