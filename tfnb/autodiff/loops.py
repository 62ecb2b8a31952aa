"""The while loops that tf.gradients meets on its way, and zeros in places where nothing came back."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfnb.autodiff.loop_state import LoopState, inside
from tfnb.control_flow.nodes import next_iteration, switch, switch_beside
from tfnb.graph.constant import make_constant
from tfnb.graph.parts.control_flow_context import is_loop_exit, while_context_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies
from tfnb.opdef import kinds
from tfnb.ops.array.create import ZerosLike, zeros
from tfnb.ops.array.reshape import Identity, Shape


def is_loop_switch(op: Operation) -> bool:
    """Return whether the op is the Switch of a variable of a while loop."""
    context = op._control_flow_context
    return isinstance(op.spec, kinds.Switch) and context is not None and bool(context.is_while)


class Loops:
    """The loops among the ops of one call of tf.gradients; empty (and free) where there are none."""

    def __init__(self, between: dict[Operation, None]) -> None:
        self.states: dict[Any, LoopState] = {}
        for op in [op for op in between if is_loop_exit(op)]:
            context = while_context_of(op)
            if context is not None and context not in self.states:
                self._add(context, between)

    def _add(self, context: Any, between: dict[Operation, None]) -> None:
        """Loops around have had their turn: their exits are nearer to the ys."""
        around = context.outer_context
        around = around.while_context() if around is not None else None
        state = self.states[context] = LoopState(context, self.states.get(around))
        between.update((t.op, None) for t in state.exits)

    def state_of(self, op: Operation, before: bool) -> LoopState | None:
        """The loop that `op` is in; `before`: an exit counts as outside of its own."""
        if not self.states:
            return None
        context = op._control_flow_context
        if before and is_loop_exit(op) and context is not None:
            context = context.outer_context
        context = context.while_context() if context is not None else None
        return self.states.get(context)

    @contextmanager
    def around(self, op: Operation, before: bool) -> Iterator[None]:
        """Ops are made in the loop of gradients of the loop that `op` is in."""
        state = self.state_of(op, before)
        with inside(None if state is None else state.grad_context, op.graph):
            yield

    def unused_exits(self, waiting: dict[Operation, int], starts: set[Operation]) -> list[Tensor]:
        """The exits through which nothing will come back, of loops that get gradients at other ones at once."""
        found: list[Tensor] = []
        for state in self.states.values():
            for y in state.exits:
                if waiting.get(y.op, 0) == 0:
                    state.pending_exits -= 1
                    if y.op not in starts:
                        state.unused.append(y)
            if state.pending_exits == 0:
                found += state.unused
            for t in state.forward_context.loop_enters:
                if waiting.get(t.op, 0) == 0:
                    waiting[t.op] = 1
        return found

    def zeros_for_exit(self, t: Tensor) -> Tensor:
        """Zeros like a result of a loop."""
        context = t.op._control_flow_context.outer_context
        loop = context.while_context() if context is not None else None
        outer = self.states.get(loop)
        if outer is None:
            return zeros(t.shape.as_list(), t.dtype) if t.shape.is_fully_defined() else ZerosLike(t)
        if t.shape.is_fully_defined():
            with inside(outer.grad_context, t.graph):
                return zeros(t.shape.as_list(), t.dtype)
        with inside(context, t.graph):
            size = Shape(t)
        stack = outer.push(size)
        with inside(outer.grad_context, t.graph):
            return zeros(outer.pop(stack, size), t.dtype)

    def zeros(self, y: Tensor) -> Tensor | None:
        """Zeros like an output of which the ys don't depend, made where its gradients are; None: none are needed."""
        op = y.op
        if self.states and is_loop_switch(op):
            return None
        state = self.states.get(while_context_of(op)) if self.states else None
        return _zeros(y) if state is None else _zeros_in_loop(y, state)

    def finish(self) -> None:
        """Variables of loops whose values don't depend on those of the round before get zeros from it."""
        for state in self.states.values():
            for grad in state.switch_map.values():
                for head in getattr(grad, "parts", [grad]):
                    if head.op.inputs[0] is head.op.inputs[1]:
                        _close_with_zeros(state, head)


def _close_with_zeros(state: LoopState, head: Tensor) -> None:
    entered = head.op.inputs[0]
    context = state.grad_context
    if entered.shape.is_fully_defined():
        with inside(context, head.graph):
            sent = next_iteration(make_constant(0, dtype=entered.dtype, shape=entered.shape.as_list()))
    else:
        with inside(context.outer_context, head.graph):
            start = zeros(Shape(entered.op.inputs[0]), entered.dtype)
        with inside(context, head.graph):
            sent = next_iteration(start)
    head.op._update_input(1, sent)


def _zeros(y: Tensor) -> Tensor:
    """Zeros like an output; on the side of a Switch that is not taken there are none."""
    op, context = y.op, y.op._control_flow_context
    if not isinstance(op.spec, kinds.Switch) or context is None or context.is_while:
        return ZerosLike(y, name="zeros_like")  # type: ignore[no-any-return]
    other = switch(op.inputs[0], context.pred)[1 - context.branch]
    pivot = Identity(other)
    size = Shape(other)
    with control_dependencies([pivot]):
        return zeros(size, dtype=y.dtype.base_dtype)


def _zeros_in_loop(y: Tensor, state: LoopState) -> Tensor:
    """The same inside of a loop: the shape is one of the values of each iteration, unless it is known."""
    op, context = y.op, y.op._control_flow_context
    branching = isinstance(op.spec, kinds.Switch)
    if y.shape.is_fully_defined():
        made = make_constant(0, dtype=y.dtype.base_dtype, shape=y.shape.as_list())
        if branching:
            made = switch_beside(made, state.real_pred(context.pred))[1 - context.branch]
        return made
    if branching:
        with inside(context.outer_context, op.graph):
            other = switch_beside(op.inputs[0], context.pred)[1 - context.branch]
            size = Shape(other)
        other.op._control_flow_context = size.op._control_flow_context = context
    else:
        with inside(context, op.graph):
            size = Shape(y)
    grads = state.grad_context
    grads.exit()
    stack = state.push(size, branching)
    grads.enter(op.graph)
    return zeros(state.pop(stack, size, branching), y.dtype.base_dtype)
