"""Control-flow predicates: the conjunction of Switch outcomes under which each tensor has a value."""
from __future__ import annotations

from collections.abc import Collection, Iterable

from tfnb.compile.planning.order import cycle
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import is_identity, refers
from tfnb.opdef import kinds

Literal = tuple[Tensor, "bool | None"]
Condition = frozenset[Literal]
ALWAYS: Condition = frozenset()


class Guards:
    """The predicates of the ops of a region: acyclic, with loops as single ops. trivial: all of them are ALWAYS.

    ops: all that are reached; feeds: tensors that have values from the start; loops: op of a loop -> the op that
    represents it; cut: border nodes of the loop whose inside the region is; late: feeds that have values later.
    """

    def __init__(self, ops: Iterable[Operation], feeds: Collection[Tensor], loops: dict[Operation, Operation],
                 cut: Collection[Operation] = (), late: Collection[Tensor] = ()) -> None:
        self.feeds, self.loops, self.cut, self.late = feeds, loops, cut, late
        self.ops: dict[Operation, Condition] = {}
        wanted, waiting = set(ops), set[Operation]()
        self.trivial = not late and not any(isinstance(op.spec, kinds.Flow) for op in wanted)
        if self.trivial:
            return
        todo = list(wanted)
        while todo:
            op = todo[-1]
            missing = [] if op in self.ops else [b for b in self._before(op) if b not in self.ops and b in wanted]
            if missing:
                if waiting.intersection(missing):
                    raise cycle([b.name for b in missing])
                waiting.add(op)
                todo += missing
                continue
            todo.pop()
            if op not in self.ops:
                self.ops[op] = self._of_op(op)

    def _before(self, op: Operation) -> list[Operation]:
        found = [t.op for t in op.inputs if t not in self.feeds] + op.control_inputs
        return [self.loops.get(b, b) for b in found]

    def of(self, tensor: Tensor) -> Condition:
        """Return the condition under which `tensor` has a value."""
        op = tensor.op
        if tensor in self.feeds or op in self.cut:
            return frozenset([(tensor, None)]) if tensor in self.late else ALWAYS
        if op in self.loops:
            return self.ops.get(self.loops[op], ALWAYS)
        condition = self.ops.get(op, ALWAYS)
        if isinstance(op.spec, kinds.Switch):
            return condition | {(self.root(op.inputs[1]), tensor.value_index == 1)}
        return condition

    def root(self, tensor: Tensor) -> Tensor:
        """The truth value that `tensor` is another name of: Switches on both have the same outcome."""
        while tensor not in self.feeds and tensor.op not in self.loops and tensor.op not in self.cut:
            op = tensor.op
            if not is_identity(op) and not isinstance(op.spec, kinds.Switch):
                break
            source = op.inputs[0]
            if isinstance(source.op.spec, (kinds.Const, kinds.Variable)) or refers(source):
                break                           # those have no value of their own while a plan runs
            tensor = source
        return tensor

    def _of_op(self, op: Operation) -> Condition:
        if isinstance(op.spec, kinds.Merge):
            return self._merged(op)
        if isinstance(op.spec, kinds.ControlTrigger):
            return ALWAYS
        found = ALWAYS.union(*(self.of(t) for t in op.inputs))
        for c in op.control_inputs:
            c = self.loops.get(c, c)
            found = found.union(self.ops.get(c, ALWAYS), *(self.of(t) for t in c.outputs if t in self.late))
        return found

    def _merged(self, op: Operation) -> Condition:
        """Return the literals that all inputs share, if one of the two inputs has a value whenever these hold."""
        inputs = [self.of(t) for t in op.inputs]
        common = inputs[0].intersection(*inputs[1:])
        rest = [condition - common for condition in inputs]
        if any(not condition for condition in rest):
            return common
        if len(rest) == 2 and len(rest[0]) == len(rest[1]) == 1:
            (a, on), (b, off) = *rest[0], *rest[1]
            if a is b and on is not None and off is not None and on != off:
                return common
        return common | {(op.outputs[1], None)}
