"""The gradients of the nodes of control flow.

Of a branch: what a Merge took comes from where its predicate says, what a Switch let out on both sides is merged. Of a
loop: the loop of gradients runs backwards through the rounds, its own nodes mirror those of the forward loop; what is
known of both stands in `grad_state` of its context (autodiff/loop_state.py).
"""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.nodes import (
    Enter,
    Exit,
    Merge,
    NextIteration,
    RefEnter,
    RefExit,
    RefMerge,
    RefNextIteration,
    RefSwitch,
    Switch,
    as_slices,
    enter,
    exit_,
    merge_values,
    switch,
    switch_beside,
)
from tfnb.control_flow.while_context import close_loop
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.control_flow_context import output_context
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import handle_shape
from tfnb.ops.array.create import zeros
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.compare import equal


def _parts(grad: Any) -> list[Tensor]:
    return list(grad.parts) if hasattr(grad, "parts") else [grad]


def _send(head: Any, grad: Any) -> None:
    """Send a gradient to the next iteration of the gradient loop, in the form in which it entered."""
    if isinstance(head, Tensor):
        close_loop(head, convert_to_tensor(grad), enforce=False)
        return
    grad = as_slices([grad])[0]
    for part, value in zip(head.parts, grad.parts, strict=False):
        close_loop(part, raw.Cast(value, DstT=part.dtype) if part.dtype != value.dtype else value, enforce=False)


@Switch.gradient
@RefSwitch.gradient
def _(op: Operation, *grads: Any) -> Any:
    """A Switch of a loop is visited twice: from its Exit, and from the body."""
    context = op._control_flow_context
    if context is None:
        off = switch(grads[0], op.inputs[1])[0]
        on = switch(grads[1], op.inputs[1])[1]
        return merge_values([off, on])[0], None
    if not context.is_while:
        if grads[1 - context.branch] is None:       # of a dtype that has no zeros
            return _of_handle(op, grads[context.branch]), None
        return merge_values(grads, name="cond_grad")[0], None
    state = op.graph._flow_context.grad_state
    head = state.switch_map.get(op)
    if head is not None:
        if grads[1] is not None:
            _send(head, grads[1])
        return None, None
    if grads[0] is None:
        return None, None
    head = merge_values([grads[0], grads[0]], name="b_switch")[0]   # the body's gradient takes the second place later
    state.switch_map[op] = head
    return head, None


def _of_handle(op: Operation, grad: Any) -> Any:
    """Return the gradient of a variable whose handle goes into a branch: zeros where the branch is not taken."""
    handle, context = op.inputs[0], op._control_flow_context
    if grad is None or handle.dtype.name != "resource":
        return None
    zero = zeros_of_handle(handle, grad.dtype)
    side = switch_beside(zero, _pred(op, context.pred), name="cond_grad")[1 - context.branch]
    return merge_values([grad, side] if context.branch == 0 else [side, grad], name="cond_resource_grad")[0]


def zeros_of_handle(handle: Tensor, dtype: Any) -> Tensor:
    """Return zeros in the shape of the variable behind a handle."""
    sizes = handle_shape(handle)
    known = sizes is not None and None not in sizes
    return zeros(list(sizes) if known else raw.VariableShape(handle), dtype)            # type: ignore[arg-type]


def _pred(op: Operation, pred: Tensor) -> Tensor:
    """Return the predicate of a conditional where its gradients are made: in a loop that of each iteration."""
    here = op.graph._flow_context
    if here is not None and here.grad_state is not None:
        found: Tensor = here.grad_state.real_pred(pred)
        return found
    return pred


@Merge.gradient
@RefMerge.gradient
def _(op: Operation, grad: Any, _: Any) -> Any:
    context = output_context(op.inputs[0].op)
    if context is None:
        taken = [equal(op.outputs[1], i) for i in range(len(op.inputs))]
        return [switch_beside(grad, t)[1] for t in taken]
    here = op.graph._flow_context
    if context.is_while:
        return switch_beside(grad, here.pivot)
    return switch_beside(grad, _pred(op, context.pred), name="cond_grad")  # type: ignore[attr-defined]


@Exit.gradient
@RefExit.gradient
def _(op: Operation, grad: Any) -> Any:
    here, context = op.graph._flow_context, op._control_flow_context
    if context is None:
        raise LookupError(f"No gradient through the loop that ends in {op.name!r} (Exit): its graph was imported by "
                          "tf.import_graph_def, without the control-flow contexts that gradients need. "
                          "tf.train.import_meta_graph keeps them.")
    if here is None or not here.back_prop:          # while_loop(back_prop=False)
        return None
    if context.grad_state is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    here.values.update(_parts(grad))
    here.enter(op.graph)
    entered = enter(grad, here.name, parallel_iterations=here.parallel_iterations, name="b_exit")
    here.loop_enters.extend(_parts(entered))
    here.exit()
    return entered


@NextIteration.gradient
@RefNextIteration.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


@Enter.gradient
@RefEnter.gradient
def _(op: Operation, grad: Any) -> Any:
    here = op.graph._flow_context
    if here is None or not here.back_prop or here.grad_state is None:
        return grad
    if op.attrs["is_constant"]:
        return here.grad_state.accumulate(op, grad)
    left = exit_(grad)
    here.loop_exits.extend(_parts(left))
    here.exit_result(_parts(left))
    return left
