"""Control flow contexts: they wire outer values into a branch of `tf.cond` or the body of a `tf.while_loop`."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds

control_flow_pb2 = lazy_module("tfnb.proto.control_flow_pb2")


class ControlFlowContext:
    """A branch or a loop body under construction, and later what is remembered of it.

    Entering it makes it the graph's context: each op that is made is handed to `add_op`, which replaces inputs from
    outside by values of the inside. values: the tensors that are known here (those of inner contexts too); external:
    tensor of the outside -> the tensor that stands for it here. outer_context: the context around, or None.
    """

    is_while = False
    back_prop = True
    grad_state: Any = None                  # of a loop that computes the gradients of another one

    def __init__(self) -> None:
        self.name = ""
        self.outer_context: ControlFlowContext | None = None
        self.values: set[Tensor] = set()
        self.external: dict[Tensor, Tensor] = {}
        self.nested: list[ControlFlowContext] = []
        self._entered: list[Any] = []

    def enter(self, graph: Any) -> None:
        """Let `graph` hand new ops to this context."""
        self._entered.append((graph, graph._flow_context))
        graph._flow_context = self
        graph._has_flow = True

    def exit(self) -> None:
        """Take `enter` back."""
        graph, before = self._entered.pop()
        graph._flow_context = before

    def add_op(self, op: Operation) -> None:
        """Make `op` part of this context."""
        raise NotImplementedError

    def add_value(self, tensor: Tensor) -> Tensor:
        """The tensor that stands here for `tensor`, which may be of the outside."""
        raise NotImplementedError

    def while_context(self) -> ControlFlowContext | None:
        """The innermost loop around, this context included."""
        context: ControlFlowContext | None = self
        while context is not None and not context.is_while:
            context = context.outer_context
        return context

    def knows(self, tensors: Iterable[Tensor]) -> None:
        """Note that tensors are of this context and of those around."""
        context: ControlFlowContext | None = self
        while context is not None:
            context.values.update(tensors)
            context = context.outer_context

    def exit_result(self, tensors: Iterable[Tensor]) -> None:
        """Note that the outside knows these results."""
        if self.outer_context is not None:
            self.outer_context.values.update(tensors)

    def external_controls(self, op: Operation) -> list[Operation]:
        """Take the control inputs from `op` that come from outside of the loop around; returns them."""
        loop = self.while_context()
        if loop is None or not op.control_inputs:
            return []
        outside = [c for c in op.control_inputs if (found := output_context(c)) is None or
                   found.while_context() is not loop]
        if outside:
            op.graph._save(op, "control_inputs")
            op.control_inputs = [c for c in op.control_inputs if c not in outside]
        return outside

    def values_def(self) -> Any:
        """The ValuesDef proto of what is known here."""
        made = control_flow_pb2.ValuesDef()
        made.values.extend(sorted(t.name for t in self.values))
        for outside, inside in self.external.items():
            made.external_values[outside.name] = inside.name
        return made

    def read_values_def(self, values_def: Any, graph: Any, scope: str | None) -> None:
        """Take over what a ValuesDef proto says; names get the prefix `scope`."""
        def found(name: str) -> Tensor:
            tensor: Tensor = graph.as_graph_element(prefixed(name, scope))
            return tensor
        for name in values_def.values:
            try:
                element = found(name)
            except KeyError:
                continue                    # a node that somebody has pruned
            self.values.update(element.outputs if isinstance(element, Operation) else [element])
        self.external = {found(outside): found(inside) for outside, inside in values_def.external_values.items()}
        for tensor in self.values - self.external.keys():
            tensor.op._control_flow_context = self      # contexts inside are read later, and take their own
        graph._has_flow = True


def prefixed(name: str, scope: str | None) -> str:
    """`name` as it is called when its graph is imported under `scope`."""
    return f"{scope}/{name}" if scope else name


def is_loop_exit(op: Operation) -> bool:
    """Return whether the op carries a value out of a loop."""
    return isinstance(op.spec, kinds.Exit)


def output_context(op: Operation) -> ControlFlowContext | None:
    """The context in which the outputs of `op` are: that of an exit is the one around its loop."""
    context: ControlFlowContext | None = op._control_flow_context
    return context.outer_context if context is not None and isinstance(op.spec, kinds.Exit) else context


def while_context_of(op: Operation) -> Any:
    """The innermost loop that `op` is part of, or None."""
    context = op._control_flow_context
    return context.while_context() if context is not None else None


def _contains(inner: ControlFlowContext | None, outer: ControlFlowContext | None) -> bool:
    while inner is not outer:
        if inner is None:
            return False
        inner = inner.outer_context
    return True


def check_inputs(op: Operation, context: ControlFlowContext | None) -> None:
    """Raises ValueError if an input of `op`, which is made in `context`, is inside of a loop that `op` is not in."""
    for tensor in op.inputs:
        of = output_context(tensor.op)
        if of is None or of is context or (loop := of.while_context()) is None:
            continue
        here = context.while_context() if context is not None else None
        if here is None:
            if not isinstance(op.spec, (kinds.Enter, kinds.Switch)):
                raise ValueError(f"Cannot use {tensor.op.name!r} as input to {op.name!r} because {tensor.op.name!r} "
                                 "is in a while loop.")
        elif not _contains(here, loop) and not _gradient_of(here, loop):
            raise ValueError(f"Cannot use {tensor.op.name!r} as input to {op.name!r} because they are in different "
                             "while loops.")


def _gradient_of(here: ControlFlowContext, loop: ControlFlowContext) -> bool:
    """Return whether one of two loops computes the gradients of the other, or of one around it."""
    if here.grad_state is not None:
        forward = here.grad_state.forward_context
        if _contains(forward, loop) or loop.outer_context is not None and loop.outer_context.while_context() is forward:
            return True
    if loop.grad_state is not None:
        forward = loop.grad_state.forward_context
        return forward is here or forward.grad_state is not None and forward.grad_state.forward_context is here
    return False
