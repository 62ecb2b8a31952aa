"""tf.cond: conditional execution of one of two branches, by TensorFlow's Switch and Merge nodes in the graph."""
from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

from tfnb.control_flow.nodes import merge_values, switch, switch_beside
from tfnb.core import nest
from tfnb.core.dtypes import int64
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.formats.proto_functions import register_proto_function
from tfnb.graph.graph import Graph
from tfnb.graph.parts.control_flow_context import ControlFlowContext, control_flow_pb2, is_loop_exit, prefixed
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, get_collection_ref, get_default_graph, graph_of, name_scope
from tfnb.opdef import kinds
from tfnb.ops.array.reshape import Identity
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.group import no_op, with_dependencies
from tfnb.ops.declaration.arguments import renamed
from tfnb.ops.declaration.raw import raw

# Yields functions to call, or further Steps; is sent what they return. Returns the result.
Steps = Generator[Any, Any, Any]
# Classes of which an object stands for a tensor in the results of branches and among loop variables:
# class -> (its tensor, an object of that class with another tensor). TensorArray enters itself.
CARRIED: dict[type, tuple[Callable[[Any], Tensor], Callable[[Any, Tensor], Any]]] = {}


def carried(value: Any) -> Any:
    """Return the tensor that an object of a class in CARRIED stands for; anything else itself."""
    rule = CARRIED.get(type(value))
    return value if rule is None else rule[0](value)


def restored(value: Any, tensor: Any) -> Any:
    """An object like `value` that stands for `tensor`; the tensor itself if the class of `value` is not in CARRIED."""
    rule = CARRIED.get(type(value))
    return tensor if rule is None else rule[1](value, tensor)


class CondContext(ControlFlowContext):
    """One branch of a tf.cond. pred: the predicate; pivot: what is there if the branch is taken; branch: 1 or 0."""

    def __init__(self, pred: Tensor | None = None, pivot: Tensor | None = None, branch: int | None = None,
                 name: str = "cond_text", context_def: Any = None, import_scope: str | None = None) -> None:
        super().__init__()
        graph = get_default_graph()
        if context_def is not None:
            self._read(context_def, graph, import_scope)
            return
        self.name = graph.unique_name(name)
        assert pred is not None and pivot is not None and branch is not None
        self.pred, self.pivot, self.branch = pred, pivot, branch
        self.outer_context = graph._flow_context
        self.values = {pred, pivot}
        self.external = {pred: pred, pivot: pivot}

    def _read(self, context_def: Any, graph: Graph, scope: str | None) -> None:
        self.name = prefixed(context_def.context_name, scope)
        self.pred = graph.as_graph_element(prefixed(context_def.pred_name, scope))
        self.pivot = graph.as_graph_element(prefixed(context_def.pivot_name, scope))
        self.branch = context_def.branch
        self.outer_context = graph._flow_context
        around = [(t.op, t.op._control_flow_context) for t in (self.pred, self.pivot)]
        self.read_values_def(context_def.values_def, graph, scope)
        for op, context in around:              # they are of the context around, whatever the proto says
            op._control_flow_context = context

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the CondContextDef proto; None if the branch is not in `export_scope`."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        made = control_flow_pb2.CondContextDef(context_name=self.name, pred_name=self.pred.name,
                                               pivot_name=self.pivot.name, branch=self.branch)
        made.values_def.CopyFrom(self.values_def())
        for inner in self.nested:
            add_nested(made.nested_contexts.add(), inner)
        return made

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> CondContext:
        """Return the context that a CondContextDef describes, in the default graph."""
        made = CondContext(context_def=context_def, import_scope=import_scope)
        read_inside(made, context_def, import_scope)
        return made

    def add_value(self, tensor: Tensor) -> Tensor:
        """Return `tensor` as it is in this branch: of the outside, behind a Switch for each branch around."""
        inward, context = list[CondContext](), self
        while tensor not in context.values:
            inward.append(context)
            if not isinstance(context.outer_context, CondContext):
                break
            context = context.outer_context
        inside = tensor
        if tensor in context.values:
            inside = context.external.get(tensor, tensor)
        elif context.outer_context is not None:
            inside = context.outer_context.add_value(tensor)
        for inner in reversed(inward):
            inside = inner._bring_in(tensor, inside)
        return inside

    def _bring_in(self, tensor: Tensor, inside: Tensor) -> Tensor:
        """Return `tensor` behind a Switch of this branch. inside: as it is in the context around."""
        self.values.add(tensor)
        if self.outer_context is not None:
            self.values.add(inside)
            self.external[inside] = inside
        with control_dependencies(None):
            inside = switch_beside(inside, self.pred)[self.branch]
        graph_of(inside).prevent_fetching(inside.op)
        inside.op._control_flow_context = self
        self.knows([inside])
        self.external[tensor] = inside
        return inside

    def add_op(self, op: Operation) -> None:
        """Carry the inputs of `op` into the branch; an op without any waits for the pivot."""
        if not op.inputs:
            self.external_controls(op)
            if not any(self._is_inside(c) for c in op.control_inputs):
                op.control_inputs.append(self.pivot.op)
        else:
            for i, tensor in enumerate(op.inputs):
                if isinstance(op.spec, kinds.Merge) and isinstance(tensor.op.spec, kinds.NextIteration):
                    continue                    # of a loop that is being imported
                inside = self.add_value(tensor)
                if inside is not tensor:
                    op._update_input(i, inside)
            self.external_controls(op)
        self.knows(op.outputs)
        if self.outer_context is not None or not is_loop_exit(op):
            graph_of(op).prevent_fetching(op)

    def _is_inside(self, op: Operation) -> bool:
        context = op._control_flow_context
        while context is not None and context is not self:
            context = context.outer_context
        return context is self

    def build(self, fn: Callable[[], Any]) -> Steps:
        """Call `fn`: (what it returns, the tensors for that, one for each leaf). (None, []) if it returns None."""
        summaries = get_collection_ref(GraphKeys._SUMMARY_COLLECTION)
        before = list(summaries)
        original = yield fn
        if len(summaries) > len(before):        # summaries of a branch are only there when it is taken
            new, summaries[:] = summaries[len(before):], before
            with control_dependencies(new):
                original = no_op() if original is None else nest.map_structure(Identity, original)
        if original is None:
            return None, []
        return original, [self._result(value) for value in nest.flatten(original, expand_composites=True)]

    def _result(self, value: Any) -> Any:
        if isinstance(value, Operation):
            return with_dependencies([value], self.pivot)
        tensor = convert_to_tensor(carried(value))
        if tensor in self.values:
            return self.external.get(tensor, tensor)
        inside = tensor                         # a value of the outside, returned as it is
        self.values.add(tensor)
        if self.outer_context is not None:
            inside = self.outer_context.add_value(tensor)
            self.values.add(inside)
            self.external[inside] = inside
        inside = switch_beside(inside, self.pred)[self.branch]
        self.external[tensor] = inside
        return inside


def add_nested(holder: Any, context: ControlFlowContext) -> None:
    """Write a context into a ControlFlowContextDef proto."""
    proto = context.to_proto()  # type: ignore[attr-defined]
    (holder.while_ctxt if context.is_while else holder.cond_ctxt).CopyFrom(proto)


_READERS: dict[str, Callable[..., ControlFlowContext]] = {"cond_ctxt": CondContext.from_proto}


def read_inside(context: ControlFlowContext, context_def: Any, import_scope: str | None) -> None:
    """Make the contexts inside of `context` that its proto describes."""
    context.enter(get_default_graph())
    context.nested = [_read_nested(inner, import_scope) for inner in context_def.nested_contexts]
    context.exit()


def _read_nested(holder: Any, import_scope: str | None) -> ControlFlowContext:
    """The context in a ControlFlowContextDef proto, made in the default graph. Raises ValueError if it has none."""
    which = holder.WhichOneof("ctxt")
    if which not in _READERS:
        raise ValueError(f"a ControlFlowContextDef must hold a context, got {holder!r}")
    return _READERS[which](getattr(holder, which), import_scope=import_scope)


register_proto_function(GraphKeys.COND_CONTEXT, lambda: control_flow_pb2.CondContextDef, CondContext.to_proto,
                        CondContext.from_proto)


def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
         strict: bool = False, name: str | None = None, fn1: Callable[[], Any] | None = None,
         fn2: Callable[[], Any] | None = None) -> Any:
    """Return the result of `true_fn()` if the bool scalar `pred` is true when the graph runs, else of `false_fn()`.

    Both functions are called once, now, and must return the same structure (tensors, IndexedSlices, operations in
    lists, tuples, dicts) with the same dtypes. Only the ops made inside of the branch that is taken run; what a branch
    takes from outside is computed in any case. strict: leave lists and tuples of one element as they are. fn1 and fn2
    are the names of early releases for the two functions.

    Raises TypeError for a Python bool as pred, functions that can't be called and different structures; ValueError for
    functions that return nothing and for different dtypes.

    >>> x = tf.placeholder(tf.float32, [])
    >>> y = tf.cond(x > 0, lambda: x * 10, lambda: -x)
    >>> [sess.run(y, {x: value}) for value in (2.0, -3.0)]
    [20.0, 3.0]
    """
    true_fn, false_fn = renamed("true_fn", true_fn, "fn1", fn1), renamed("false_fn", false_fn, "fn2", fn2)
    for what, fn in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(fn):
            raise TypeError(f"{what} must be callable.")
    return completed(cond_steps(pred, true_fn, false_fn, strict, name))


def completed(steps: Steps) -> Any:
    """Return the result of `cond_steps`, having called what it asks for.

    A chain of conds, each in a branch of the one before, needs no deeper Python stack than one of them.
    """
    waiting: list[Steps] = [steps]
    resume: Any = partial(steps.send, None)
    while True:
        try:
            wanted = resume()
        except StopIteration as end:
            waiting.pop()
            if not waiting:
                return end.value
            resume = partial(waiting[-1].send, end.value)
            continue
        except BaseException as error:      # noqa: BLE001 (the one around leaves its scopes by it)
            waiting.pop()
            resume = partial(waiting[-1].throw, error) if waiting else None
            if resume is None:
                raise
            continue
        if isinstance(wanted, Generator):
            waiting.append(wanted)
            resume = partial(wanted.send, None)
        else:
            resume = _called(wanted, waiting[-1])


def _called(fn: Callable[[], Any], steps: Steps) -> Callable[[], Any]:
    """Call a branch's function; return what hands its result, or its error, to the generator that asked for it."""
    try:
        return partial(steps.send, fn())
    except BaseException as error:          # noqa: BLE001 (it is raised where the branch was asked for)
        return partial(steps.throw, error)


def cond_steps(pred: Any, true_fn: Any, false_fn: Any, strict: bool, name: str | None) -> Steps:
    """`cond` as a generator: it yields the functions of its branches, is sent what they return, and returns the result.

    A branch may be such a generator itself.
    """
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        sides = switch(pred, pred)
        pivots = [Identity(sides[1], name="switch_t"), Identity(sides[0], name="switch_f")]
        pred = Identity(pred, name="pred_id")
        for tensor in (*sides, *pivots, pred):
            tensor.graph.prevent_fetching(tensor.op)
        original_t, results_t, context_t = yield from _branch(pred, pivots[0], 1, true_fn, "true_fn")
        original_f, results_f, context_f = yield from _branch(pred, pivots[1], 0, false_fn, "false_fn")
        if not strict:
            original_t, original_f = _single(original_t), _single(original_f)
        _cast_indices([(original_t, results_t, context_t), (original_f, results_f, context_f)])
        _check_same(original_t, original_f, results_t, results_f)
        merged = [merge_values(pair)[0] for pair in zip(results_f, results_t, strict=True)]
        leaves = nest.flatten(original_t, expand_composites=True)
        merged = [restored(value, tensor) for value, tensor in zip(leaves, merged, strict=True)]
        for context in (context_t, context_f):
            if context.outer_context is None:
                pred.graph.add_to_collection(GraphKeys.COND_CONTEXT, context)
            else:
                context.outer_context.nested.append(context)
        packed = nest.pack_sequence_as(original_t, merged, expand_composites=True)
        return packed if strict else _single(packed)


def _branch(pred: Tensor, pivot: Tensor, branch: int, fn: Any, what: str) -> Steps:
    context = CondContext(pred, pivot, branch)
    context.enter(pred.graph)
    try:
        original, results = yield from context.build(fn)
        if original is None:
            raise ValueError(f"{what} must have a return value.")
        context.exit_result(results)
    finally:
        context.exit()
    return original, results, context


def _single(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields") and len(value) == 1:
        return value[0]
    return value


def _cast_indices(branches: Sequence[tuple[Any, list[Any], CondContext]]) -> None:
    """Cast the indices of IndexedSlices to int64 where the branches return both int32 and int64 ones."""
    places = [_index_places(original) for original, _, _ in branches]
    if places[0] != places[1]:
        return
    for place in places[0]:
        if len({results[place].dtype.base_dtype for _, results, _ in branches}) > 1:
            for _, results, context in branches:
                context.enter(results[place].graph)
                results[place] = raw.Cast(results[place], DstT=int64)
                context.exit()


def _index_places(original: Any) -> list[int]:
    """Return the places of the indices of IndexedSlices among the tensors of a structure."""
    found, at = [], 0
    for leaf in nest.flatten(original):
        if isinstance(leaf, IndexedSlices):
            found.append(at + 1)
        at += len(nest.flatten(leaf, expand_composites=True))
    return found


def _check_same(a: Any, b: Any, tensors_a: Sequence[Any], tensors_b: Sequence[Any]) -> None:
    try:
        nest.assert_same_structure(a, b, expand_composites=True)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Incompatible return types of true_fn and false_fn: {error}") from error
    if not tensors_a:
        raise ValueError("true_fn and false_fn must return at least one result.")
    for x, y in zip(tensors_a, tensors_b, strict=True):
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise ValueError("Outputs of true_fn and false_fn must have the same type(s). Received "
                             f"{x.dtype.name} from true_fn and {y.dtype.name} from false_fn.")


def register_contexts(kind: str, reader: Callable[..., ControlFlowContext]) -> None:
    """Let `read_inside` make contexts of another kind."""
    _READERS[kind] = reader


