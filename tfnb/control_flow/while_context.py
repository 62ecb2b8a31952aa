"""WhileContext: the loop under construction, which builds TensorFlow's nodes around the ops of test and body."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.control_flow.cond import add_nested, carried, read_inside, register_contexts, restored
from tfnb.control_flow.nodes import LoopCond, enter, exit_, merge_values, next_iteration, switch_beside
from tfnb.core import nest
from tfnb.core.shape import Static, TensorShape, as_static
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.formats.proto_functions import register_proto_function
from tfnb.graph.graph import Graph
from tfnb.graph.parts.control_flow_context import (
    ControlFlowContext,
    control_flow_pb2,
    is_loop_exit,
    output_context,
    prefixed,
    while_context_of,
)
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, get_collection_ref, get_default_graph, graph_of
from tfnb.opdef import kinds
from tfnb.ops.array.reshape import Identity


class WhileContext(ControlFlowContext):
    """A tf.while_loop. pivot: its LoopCond; loop_enters, loop_exits: the tensors of its variables at both ends.

    grad_state: if it computes the gradients of another loop, what is known of that one.
    """

    is_while = True

    def __init__(self, maximum_iterations: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
                 swap_memory: bool = False, name: str = "while_context", grad_state: Any = None,
                 context_def: Any = None, import_scope: str | None = None) -> None:
        super().__init__()
        graph = get_default_graph()
        self.pivot: Any = None
        self.pivot_for_pred: Any = None
        self.pivot_for_body: Any = None
        self.loop_enters: list[Tensor] = []
        self.loop_exits: list[Tensor] = []
        self.grad_state = grad_state
        self.outer_context = graph._flow_context
        if context_def is not None:
            self._read(context_def, graph, import_scope)
            return
        self.name = graph.unique_name(name)
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations, self.back_prop, self.swap_memory = parallel_iterations, back_prop, swap_memory

    # Protos

    def _read(self, context_def: Any, graph: Graph, scope: str | None) -> None:
        def element(name: str) -> Any:
            return graph.as_graph_element(prefixed(name, scope)) if name else None
        self.name = prefixed(context_def.context_name, scope)
        self.maximum_iterations = element(context_def.maximum_iterations_name)
        self.parallel_iterations, self.back_prop = context_def.parallel_iterations, context_def.back_prop
        self.swap_memory = context_def.swap_memory
        self.pivot, self.pivot_for_pred = element(context_def.pivot_name), element(context_def.pivot_for_pred_name)
        self.pivot_for_body = element(context_def.pivot_for_body_name)
        self.loop_enters = [element(name) for name in context_def.loop_enter_names]
        self.loop_exits = [element(name) for name in context_def.loop_exit_names]
        self.read_values_def(context_def.values_def, graph, scope)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the WhileContextDef proto; None if the loop is not in `export_scope`."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        made = control_flow_pb2.WhileContextDef(
            context_name=self.name, parallel_iterations=self.parallel_iterations, back_prop=self.back_prop,
            swap_memory=self.swap_memory, pivot_name=self.pivot.name, pivot_for_pred_name=self.pivot_for_pred.name,
            pivot_for_body_name=self.pivot_for_body.name)
        if self.maximum_iterations is not None:
            made.maximum_iterations_name = self.maximum_iterations.name
        made.loop_exit_names.extend(t.name for t in self.loop_exits)
        made.loop_enter_names.extend(t.name for t in self.loop_enters)
        made.values_def.CopyFrom(self.values_def())
        for inner in self.nested:
            add_nested(made.nested_contexts.add(), inner)
        return made

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> WhileContext:
        """Return the context that a WhileContextDef describes, in the default graph."""
        made = WhileContext(context_def=context_def, import_scope=import_scope)
        read_inside(made, context_def, import_scope)
        return made

    # Ops

    @property
    def control_pivot(self) -> Tensor:
        """Control input of an op without inputs of the loop: the start of an iteration."""
        return self.pivot_for_pred if self.pivot_for_body is None else self.pivot_for_body

    def add_value(self, tensor: Tensor) -> Tensor:
        """`tensor` as it is in this loop: of the outside, behind an Enter; of the forward loop, from its history."""
        if tensor in self.values or tensor.op._control_flow_context is self:
            return self.external.get(tensor, tensor)
        self.values.add(tensor)
        history = self._from_history(tensor)
        if history is not None:
            self.external[tensor] = history
            return history
        inside = tensor if self.outer_context is None else self.outer_context.add_value(tensor)
        with control_dependencies(None):
            entered = enter(inside, self.name, is_constant=True, parallel_iterations=self.parallel_iterations)
            entered.graph.prevent_feeding(entered)
        self._adopt_enters([entered])
        self.values.add(entered)
        self.external[tensor] = entered
        return entered

    def _from_history(self, tensor: Tensor) -> Tensor | None:
        """Return, in a gradient loop, the value that `tensor` had in this iteration of the forward loop."""
        context = tensor.graph._flow_context
        here = context.while_context() if context is not None else None
        if here is None or here.grad_state is None:
            return None
        forward = while_context_of(tensor.op)
        if is_loop_exit(tensor.op):
            forward = forward.outer_context
            forward = forward.while_context() if forward is not None else None
        if forward is not here.grad_state.forward_context:
            return None
        return here.grad_state.real_value(tensor)

    def _adopt_enters(self, enters: Sequence[Tensor]) -> None:
        """Make Enter nodes part of the loop; what they wait for are the controls of the context around."""
        for t in enters:
            op = t.op
            waits = graph_of(op)._control_dependencies_for_inputs([op.inputs[0].op])
            op._control_flow_context = self
            op.control_inputs += [c for c in waits if self._is_around(c) and c not in op.control_inputs]
            graph_of(op)._scopes.made(op)

    def _is_around(self, op: Operation) -> bool:
        """Return whether `op` is in a context around this loop, up to the next loop."""
        wanted, context = output_context(op), self.outer_context
        loop = None if context is None else context.while_context()
        while context is not wanted:
            if context is None or context is loop:
                return False
            context = context.outer_context
        return True

    def add_op(self, op: Operation) -> None:
        """Carry the inputs of `op` into the loop; an op of constants only waits for the pivot.

        In a loop of gradients the size of a value of the forward loop is measured there: only that is kept.
        """
        if isinstance(op.spec, kinds.ShapeOf):
            context = op.graph._flow_context
            here = context.while_context() if context is not None else None
            if here is not None and here.grad_state is not None and \
                    while_context_of(op.inputs[0].op) is here.grad_state.forward_context:
                inner = op.inputs[0].op._control_flow_context
                op._control_flow_context = inner
                (inner._add if inner.is_while else inner.add_op)(op)
                return
        self._add(op)

    def _add(self, op: Operation) -> None:
        for i, tensor in enumerate(op.inputs):
            inside = self.add_value(tensor)
            if inside is not tensor:
                op._update_input(i, inside)
        outside = self.external_controls(op)
        free = all(_is_constant_enter(t.op) for t in op.inputs) if op.inputs else True
        if free and not op.control_inputs:
            op.control_inputs.append(self.control_pivot.op)
        self.values.update(op.outputs)
        if outside:                             # their order is carried in by values
            with control_dependencies(None):
                self.enter(op.graph)
                carriers = [Identity(c.outputs[0]).op for c in outside if c.outputs]
                self.exit()
            op._add_control_inputs(carriers)
        if self.outer_context is not None or not is_loop_exit(op):
            graph_of(op).prevent_fetching(op)
            for t in op.outputs:
                graph_of(op).prevent_feeding(t)

    # Building

    def build_loop(self, pred: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any,
                   return_same_structure: bool) -> Any:
        """Make the nodes of the loop; the values of the variables at its end, in the structure the body returns."""
        flat = nest.flatten(loop_vars, expand_composites=True)
        tensors = [convert_to_tensor(carried(v)) for v in flat]
        graph = get_default_graph()
        self.enter(graph)
        try:
            original, exits = self._build(pred, body, loop_vars, tensors, shape_invariants)
        finally:
            self.exit()
        exits = [restored(v, t) for v, t in zip(nest.flatten(original, expand_composites=True), exits, strict=True)]
        packed = nest.pack_sequence_as(original, exits, expand_composites=True)
        return packed if return_same_structure or len(exits) != 1 else packed[0]

    def _build(self, pred: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, tensors: Sequence[Tensor],
               shape_invariants: Any) -> tuple[Any, list[Tensor]]:
        self.values = set(tensors)
        enters = self._make_enters(tensors, _flat_invariants(loop_vars, shape_invariants))
        self.loop_enters = enters
        self.values = set(enters)
        merges = [merge_values([t, t])[0] for t in enters]
        self.pivot_for_pred = merges[0]
        self.pivot = LoopCond(convert_to_tensor(pred(*self._packed(loop_vars, merges))), name="LoopCond")
        switches = [switch_beside(t, self.pivot) for t in merges]
        inside = [Identity(on) for _, on in switches]
        self.pivot_for_body = inside[0]
        packed = self._packed(loop_vars, inside)
        result = self._call_body(body, packed)
        nest.assert_same_structure(list(packed), list(result), expand_composites=True)
        values = [convert_to_tensor(carried(v)) for v in nest.flatten(result, expand_composites=True)]
        if len(values) != len(merges):
            raise ValueError("inputs and outputs of body must have same number of tensors")
        for head, value in zip(merges, values, strict=True):
            close_loop(head, value)
        exits = [exit_(off) for off, _ in switches]
        self.loop_exits = exits
        self.exit_result(exits)
        return result, exits

    def _packed(self, loop_vars: Any, tensors: Sequence[Tensor]) -> Any:
        values = [restored(v, t) for v, t in zip(nest.flatten(loop_vars, expand_composites=True), tensors, strict=True)]
        return nest.pack_sequence_as(loop_vars, values, expand_composites=True)

    def _make_enters(self, tensors: Sequence[Tensor], invariants: Sequence[TensorShape | None]) -> list[Tensor]:
        if self.outer_context is not None:
            tensors = [self.outer_context.add_value(t) for t in tensors]
        with control_dependencies(None):
            enters = [enter(t, self.name, parallel_iterations=self.parallel_iterations,
                            use_input_shape=shape is None) for t, shape in zip(tensors, invariants, strict=True)]
        context = self.outer_context
        while context is not None and not context.is_while:
            context = context.outer_context
        for t in enters:
            t.graph.prevent_feeding(t)
            if context is not None and _is_constant_enter(t.op.inputs[0].op):
                t.op._add_control_input(context.control_pivot.op)  # type: ignore[attr-defined]
        _set_invariants(tensors, enters, invariants)
        self._adopt_enters(enters)
        return enters

    def _call_body(self, body: Callable[..., Any], packed: Any) -> Any:
        summaries = get_collection_ref(GraphKeys._SUMMARY_COLLECTION)
        before = list(summaries)
        result = body(*packed)
        result = result if nest.is_nested(result) else [result]
        if len(summaries) > len(before):
            new, summaries[:] = summaries[len(before):], before
            with control_dependencies(new):
                result = nest.map_structure(Identity, result)
        return result


register_contexts("while_ctxt", WhileContext.from_proto)
register_proto_function(GraphKeys.WHILE_CONTEXT, lambda: control_flow_pb2.WhileContextDef, WhileContext.to_proto,
                        WhileContext.from_proto)


def _is_constant_enter(op: Operation) -> bool:
    return isinstance(op.spec, kinds.Enter) and bool(op.attrs["is_constant"])


def fits(shape: Static, invariant: Static) -> bool:
    """Return whether `shape` is at least as specific as `invariant`, and compatible with it."""
    if invariant is None:
        return True
    return shape is not None and len(shape) == len(invariant) and all(
        wanted in (None, n) for n, wanted in zip(shape, invariant, strict=True))


def _flat_invariants(loop_vars: Any, shape_invariants: Any) -> list[TensorShape | None]:
    """For each tensor of the loop variables the shape that it keeps; None: the one that it has."""
    leaves = nest.flatten(loop_vars)
    shapes = [None] * len(leaves) if shape_invariants is None else flat_shapes(shape_invariants)
    return [part for leaf, shape in zip(leaves, shapes, strict=True) for part in nest.part_shapes(leaf, shape)]


def _set_invariants(tensors: Sequence[Tensor], enters: Sequence[Tensor],
                    invariants: Sequence[TensorShape | None]) -> None:
    for t, entered, invariant in zip(tensors, enters, invariants, strict=True):
        if invariant is None:
            continue
        shape = as_static(invariant)
        if not fits(t.static, shape):
            raise ValueError(f"The shape invariant specified for {t.name} is not compatible with the initial shape of "
                             f"the loop variable. It enters the loop with shape {t.shape}, but the specified shape "
                             f"invariant is {invariant}.")
        entered.set_shape(shape)


def flat_shapes(structure: Any) -> list[Any]:
    """Return the TensorShapes of a structure, in order."""
    return nest.flatten(structure)


def close_loop(head: Tensor, value: Tensor, enforce: bool = True) -> None:
    """Send `value` to the next iteration: it becomes the second input of the Merge `head`.

    Raises ValueError if its shape is another one (with `enforce`), or its dtype.
    """
    value = convert_to_tensor(value)
    sent = next_iteration(value)
    if enforce and not fits(sent.static, head.static):
        entered = head.op.inputs[0]
        raise ValueError(f"Input tensor {entered.op.inputs[0].name!r} enters the loop with shape {entered.shape}, but "
                         f"has shape {sent.shape} after one iteration. To allow the shape to vary across iterations, "
                         "use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.")
    if sent.dtype.base_dtype != head.dtype.base_dtype:
        raise TypeError(f"Input tensor {head.op.inputs[0].op.inputs[0].name!r} enters the loop with dtype "
                        f"{head.dtype.base_dtype.name}, but has dtype {sent.dtype.base_dtype.name} after one iteration")
    head.op._update_input(1, sent)


