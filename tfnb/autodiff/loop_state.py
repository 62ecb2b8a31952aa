"""Gradient state of while loops: the loop of gradients that runs the iterations of each one backwards.

The forward loop gets a counter, and a stack for each value that the gradients need; its rounds push, those of the loop
of gradients pop. Ops of control flow order the pushes of one round before those of the next, and so the pops.
"""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfnb.control_flow.cond import CondContext
from tfnb.control_flow.nodes import (
    ControlTrigger,
    LoopCond,
    enter,
    exit_,
    merge_values,
    next_iteration,
    switch,
    switch_beside,
)
from tfnb.control_flow.while_context import WhileContext
from tfnb.core import dtypes
from tfnb.graph.constant import make_constant
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.control_flow_context import output_context
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import is_identity
from tfnb.graph.stack import colocate_with, control_dependencies
from tfnb.opdef import kinds
from tfnb.ops.array.create import ZerosLike, zeros
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import Shape
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.data_flow.stacks import StackPopV2, StackPushV2, StackV2
from tfnb.ops.math.arithmetic import add, maximum, subtract
from tfnb.ops.math.compare import greater_equal


@contextmanager
def inside(context: Any, graph: Any) -> Iterator[None]:
    """Ops are made in `context`; None: where they are made already."""
    if context is None:
        yield
        return
    context.enter(graph)
    try:
        yield
    finally:
        context.exit()


@contextmanager
def _left(context: Any, graph: Any) -> Iterator[None]:
    """Leave `context`, which is the current one, for a while."""
    context.exit()
    try:
        yield
    finally:
        context.enter(graph)


class LoopState:
    """One loop and the loop of its gradients.

    forward_context, grad_context: the two; outer: that of the loop around, if gradients go through it too. switch_map:
    Switch of the forward loop -> Merge of the gradients; pending_exits: how many exits have not had their turn;
    deferred, unused: exits that had it, or will have none.
    """

    def __init__(self, forward_context: WhileContext, outer: LoopState | None) -> None:
        self.forward_context, self.outer = forward_context, outer
        self.graph = forward_context.pivot.graph
        self.history: dict[Tensor, Tensor] = {}
        self.switch_map: dict[Operation, Any] = {}
        self.deferred: list[Tensor] = []
        self.unused: list[Tensor] = []
        self.exits = list(forward_context.loop_exits)
        self.pending_exits = len(self.exits)
        self._grad_sync: Operation | None = None
        self._forward_sync: Operation | None = None
        around = forward_context.outer_context
        with inside(around, self.graph):
            count, self.forward_index = self._count_rounds()
        if outer is None or around is None:
            with inside(around, self.graph):
                self._open(count)
            return
        around.values.add(count)
        history = outer.push(count)
        with inside(outer.grad_context, self.graph):
            self._open(outer.pop(history, count))

    def _open(self, count: Tensor) -> None:
        """Begin the loop of gradients: as many rounds as `count`."""
        forward = self.forward_context
        self.grad_context = WhileContext(
            maximum_iterations=forward.maximum_iterations, parallel_iterations=forward.parallel_iterations,
            back_prop=forward.back_prop, swap_memory=forward.swap_memory, name=forward.name, grad_state=self)
        context = self.grad_context
        one = make_constant(1, name="b_count")
        context.enter(self.graph)
        context.values.add(count)
        head = self._head(count, context, "b_count")
        context.pivot_for_pred = head
        context.pivot = LoopCond(greater_equal(head, one), name="b_count")
        off, on = switch(head, context.pivot)
        index = subtract(on, one)
        context.pivot_for_body = index
        self.grad_index = next_iteration(index)
        head.op._update_input(1, self.grad_index)
        last = exit_(off, name="b_count")
        context.loop_exits.append(last)
        if self.outer is not None:          # the pops of a run of an inner loop come before those of the next run
            self.outer.grad_sync._add_control_input(last.op)
        context.exit_result([last])
        context.exit()

    def _head(self, value: Tensor, context: WhileContext, name: str, merge_name: str | None = None) -> Tensor:
        entered = enter(value, context.name, parallel_iterations=context.parallel_iterations, name=name)
        context.loop_enters.append(entered)
        return merge_values([entered, entered], name=merge_name)[0]  # type: ignore[no-any-return]

    def _count_rounds(self) -> tuple[Tensor, Tensor]:
        """A new variable of the forward loop: (how many rounds it had, what it is in the next round)."""
        context = self.forward_context
        start = make_constant(0, name="f_count")
        if self.outer is not None:          # the pushes of a run of an inner loop come before those of the next run
            start.op._add_control_input(self.outer.forward_index.op.inputs[0].op)
        context.enter(self.graph)
        context.values.add(start)
        head = self._head(start, context, "f_count")
        off, on = switch(head, context.pivot)
        following = next_iteration(add(on, 1))
        head.op._update_input(1, following)
        total = exit_(off, name="f_count")
        context.loop_exits.append(total)
        context.exit_result([total])
        context.exit()
        return total, following

    @property
    def grad_sync(self) -> Operation:
        """The op that comes after all pops of an iteration."""
        if self._grad_sync is None:
            with control_dependencies(None):
                self._grad_sync = ControlTrigger(name="b_sync")
            self._grad_sync._control_flow_context = self.grad_context
            self.grad_index.op._add_control_input(self._grad_sync)
        return self._grad_sync

    @property
    def forward_sync(self) -> Operation:
        """The op that comes after all pushes of an iteration inside of branches."""
        if self._forward_sync is None:
            with control_dependencies(None):
                self._forward_sync = ControlTrigger(name="f_sync")
            self._forward_sync._control_flow_context = self.forward_context
            self.forward_index.op._add_control_input(self._forward_sync)
        return self._forward_sync

    # Values of the forward loop

    def push(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """Let each round of the forward loop push `value`; gives the stack. Called outside of both loops.

        dead_branch: `value` is of the branch beside the one it is noted in.
        """
        current = self.graph._flow_context
        forward = self.forward_context
        with control_dependencies(None):
            with inside(current, self.graph), colocate_with(value.op):
                stack = StackV2(make_constant(-1, dtype=dtypes.int32), elem_type=value.dtype.base_dtype, name="f_acc")
            handle = forward.add_value(stack)
            context = output_context(value.op)
            if context is forward:
                with inside(forward, self.graph):
                    pushed = StackPushV2(handle, value, swap_memory=forward.swap_memory)
                self.forward_index.op._add_control_input(pushed.op)
            else:
                if not isinstance(context, CondContext):
                    raise TypeError(f"value_ctxt is not a CondContext: {context}")
                with inside(context.outer_context if dead_branch else context, self.graph):
                    pushed = StackPushV2(handle, value, swap_memory=forward.swap_memory)
                if dead_branch:
                    pushed.op._control_flow_context = context
                self.forward_sync._add_control_input(pushed.op)
            pushed.op._add_control_input(self.forward_index.op.inputs[0].op)
            return stack  # type: ignore[no-any-return]

    def pop(self, stack: Tensor, value: Tensor, dead_branch: bool = False) -> Tensor:
        """Return `value` as of the forward iteration to which this iteration of the gradients belongs."""
        outer, context = stack.op._control_flow_context, value.op._control_flow_context
        while context is not None and context is not outer and not isinstance(context, CondContext):
            context = context.outer_context
        with control_dependencies(None), inside(self.grad_context, self.graph):
            if context is not None and context is not outer:        # it was pushed in a branch only
                branch = 1 - context.branch if dead_branch else context.branch
                stack = switch_beside(stack, self._known_pred(context))[branch]
            popped = StackPopV2(stack, elem_type=value.dtype.base_dtype)
            popped.set_shape(value.shape)
        if self.grad_context.parallel_iterations > 1:
            self.grad_sync._add_control_input(popped.op)
        return popped  # type: ignore[no-any-return]

    def _known_pred(self, context: CondContext) -> Tensor:
        state: LoopState | None = self
        while state is not None:
            if context.pred in state.history:
                return state.history[context.pred]
            state = state.outer
        return context.pred

    def real_value(self, value: Tensor) -> Tensor:
        """Return the tensor of the loop of gradients for a value of the forward loop. Called inside of the former."""
        found = self.history.get(value)
        if found is None:
            found = self.history[value] = self._real_value(value)
        return found

    def _real_value(self, value: Tensor) -> Tensor:
        state: LoopState = self
        while (entered := _constant_enter(value)) is not None:
            value = entered.inputs[0]
            if state.outer is None:             # of outside of all loops: it is loop-invariant
                return self.grad_context.add_value(value)
            state = state.outer
        if isinstance(value.op.spec, kinds.Const):
            return make_constant(constant_value(value), dtype=value.dtype)
        with _left(self.grad_context, self.graph):
            stack = state.push(value)
        popped = state.pop(stack, value)
        return popped if state is self else self.grad_context.add_value(popped)

    def real_pred(self, pred: Tensor) -> Tensor:
        """The predicate of a branch of the forward loop in the round at hand. Called inside of the gradients."""
        found = self.history.get(pred)
        if found is None:
            with _left(self.grad_context, self.graph):
                stack = self.push(pred)
            found = self.history[pred] = self.pop(stack, pred)
        return found

    # Gradients of loop-invariant values: their sum

    def accumulate(self, op: Operation, grad: Any) -> Any:
        """The sum over all rounds of `grad`, which is that of the constant Enter `op`; outside of the loop."""
        if isinstance(grad, IndexedSlices):
            return self._accumulate_slices(op, grad)
        context = self.grad_context
        with _left(context, self.graph):
            start = self._zeros_of(op.inputs[0], grad)
        context.values.add(start)
        head = self._head(start, context, "b_acc", "b_acc")
        off, on = switch(head, context.pivot)
        head.op._update_input(1, next_iteration(add(on, grad)))
        return self._leave(off)

    def _leave(self, value: Tensor) -> Tensor:
        result: Tensor = exit_(value, name="b_acc")
        self.grad_context.loop_exits.append(result)
        self.grad_context.exit_result([result])
        return result

    def _zeros_of(self, value: Tensor, grad: Tensor) -> Tensor:
        """Zeros in the shape of `grad`, outside of the loop of gradients."""
        around: Any = self.grad_context.outer_context
        if grad.shape.is_fully_defined():
            with inside(around, self.graph):
                return make_constant(0, dtype=grad.dtype, shape=grad.shape.as_list(), name="b_acc")
        if around is None or not around.is_while or around.grad_state is None:
            with inside(around, self.graph):
                return zeros(Shape(value), grad.dtype)
        with inside(self.forward_context.outer_context, self.graph):
            size = Shape(value)
        assert self.outer is not None
        stack = self.outer.push(size)
        with inside(around, self.graph):
            return zeros(self.outer.pop(stack, size), grad.dtype)

    def _accumulate_slices(self, op: Operation, grad: IndexedSlices) -> IndexedSlices:
        """Return the rows of all iterations, concatenated (a row of zeros is first), in the largest of their shapes."""
        context = self.grad_context
        with _left(context, self.graph), inside(context.outer_context, self.graph):
            starts = self._first_slices(op.inputs[0], grad)
        context.values.update(starts)
        entered = [enter(t, context.name, parallel_iterations=context.parallel_iterations, use_input_shape=False,
                         name="b_acc") for t in starts]
        entered[0].set_shape([None])
        if starts[1].static is not None:
            entered[1].set_shape([None, *starts[1].static[1:]])
        context.loop_enters.extend(entered)
        heads = [merge_values([t, t], name="b_acc")[0] for t in entered]
        sides = [switch(head, context.pivot) for head in heads]
        sums = [concat([on, part], 0) for (_, on), part in zip(sides, [grad.indices, grad.values], strict=False)]
        if grad.dense_shape is not None:
            sums.append(maximum(grad.dense_shape, sides[2][1]))
        for head, value in zip(heads, [next_iteration(t) for t in sums], strict=True):
            head.op._update_input(1, value)
        left = [exit_(off, name="b_acc") for off, _ in sides]
        context.loop_exits.extend(left)
        context.exit_result(left)
        return IndexedSlices(left[1], left[0], left[2] if len(left) > 2 else None)

    def _first_slices(self, value: Tensor, grad: IndexedSlices) -> list[Tensor]:
        """Return the initial indices, rows and shape."""
        shape = grad.values.shape
        if shape.is_fully_defined():
            rows = make_constant(0, dtype=grad.dtype, shape=[1, *shape.as_list()[1:]], name="b_acc")
        else:
            rows = zeros(concat([[1], Shape(value)[1:]], 0), grad.dtype)
        found = [make_constant([0], dtype=grad.indices.dtype), rows]
        dense = grad.dense_shape
        if dense is not None and dense.shape.is_fully_defined():
            found.append(make_constant(0, dtype=dense.dtype, shape=dense.shape.as_list()))
        elif dense is not None:
            found.append(ZerosLike(Shape(value, out_type=dense.dtype)))
        return found


def _constant_enter(value: Tensor) -> Operation | None:
    """The constant Enter that `value` comes from, through nothing that changes it."""
    op = value.op
    while is_identity(op) or isinstance(op.spec, kinds.Switch):
        op = op.inputs[0].op
    return op if isinstance(op.spec, kinds.Enter) and op.attrs["is_constant"] else None
