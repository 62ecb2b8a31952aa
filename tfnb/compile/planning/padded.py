"""Padding analysis for ops whose output shape depends on data: `Unique` in a sparse update.

Shapes in a program are static, so such an op pads its output to the upper bound of its rows, and returns their count.
Ops up to the scatter op see the padded size and compute rows that nobody needs; the scatter op itself takes only the
counted ones. That is valid only if the padding does not escape to any other op, which `padded` verifies. (Else the op
is a host call, and the ops behind it get a program for each number of rows.)
"""
from __future__ import annotations

from collections.abc import Collection, Sequence

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels.scatter import Form
from tfnb.opdef import kinds


def is_bounded(op: Operation) -> bool:
    """Return whether a kernel of the op gives its first output as many rows as it has at most."""
    return isinstance(op.spec, kinds.Kernel) and op.spec.bounded is not None


def padded(ops: Sequence[Operation], known: Collection[Tensor], outside: Collection[Tensor],
           compiled: Collection[Operation]) -> tuple[set[Operation], set[Tensor]]:
    """Return the ops whose outputs can be padded, and the padded tensors.

    ops: in topological order; known: tensors that follow from constants and shapes; outside: fetched and fed tensors;
    compiled: ops that kernels have types for, and of which nothing is fed.
    """
    found: set[Operation] = set()
    hidden: set[Tensor] = set()
    for i, op in enumerate(ops):
        if is_bounded(op) and op.inputs[0].dtype.is_integer and not hidden.intersection(op.inputs):
            tensors = _Walk(op, known, outside, compiled).run(ops[i + 1:])
            if tensors is not None:
                found.add(op)
                hidden |= tensors
    return found, hidden


class _Walk:
    """Forward propagation of one op's padding. rows: padded tensors; sizes: tensors that depend on their size."""

    def __init__(self, origin: Operation, known: Collection[Tensor], outside: Collection[Tensor],
                 compiled: Collection[Operation]) -> None:
        self.origin, self.known, self.outside, self.compiled = origin, known, outside, compiled
        self.rows: set[Tensor] = {origin.outputs[0]}
        self.sizes: set[Tensor] = set()

    def run(self, ops: Sequence[Operation]) -> set[Tensor] | None:
        """Return the tensors that are padded or depend on the padded size; None if the padding would escape."""
        if self.origin.outputs[0] in self.outside or self.origin not in self.compiled:
            return None
        for op in ops:
            if any(t in self.rows or t in self.sizes for t in op.inputs) and not self._takes(op):
                return None
        seen = self.rows | self.sizes
        return None if seen.intersection(self.outside) else seen

    def _takes(self, op: Operation) -> bool:
        """Add the outputs of `op` to the padded tensors; return whether it is correct on padded inputs."""
        spec = op.spec
        if isinstance(spec, kinds.ShapeOf) or all(t in self.sizes or t in self.known for t in op.inputs):
            self.sizes.update(op.outputs)
            return isinstance(spec, (kinds.ShapeOf, kinds.Elementwise, kinds.Movement))
        if op not in self.compiled:
            return False
        if isinstance(spec, kinds.Kernel) and spec.counted is not None:
            ids, count = spec.counted
            self.rows.update(op.outputs)
            return op.inputs[ids] is self.origin.outputs[1] and op.inputs[count] in self.sizes \
                and sum(t in self.rows or t in self.sizes for t in op.inputs) == 1
        if isinstance(spec, kinds.Elementwise):
            self.rows.update(op.outputs)
            return all(t in self.rows or self._is_number(t) for t in op.inputs)
        return isinstance(spec, kinds.Scatter) and self._scattered(op, spec.form)

    def _is_number(self, tensor: Tensor) -> bool:
        return tensor.static == () and tensor not in self.sizes

    def _scattered(self, op: Operation, form: Form) -> bool:
        if form.vectors or op.inputs[form.indices] is not self.origin.outputs[0]:
            return False
        rows = all(op.inputs[i] in self.rows or self._is_number(op.inputs[i]) for i in form.rows)
        others = [t for i, t in enumerate(op.inputs) if i != form.indices and i not in form.rows]
        return rows and not any(t in self.rows or t in self.sizes for t in others)
