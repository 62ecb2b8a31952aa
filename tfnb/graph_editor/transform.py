"""Copies of parts of a graph, with other inputs, in another scope or graph, or op by op as a handler says."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

from tfnb.core import nest
from tfnb.graph.formats.nodes import copied
from tfnb.graph.graph import Graph
from tfnb.graph.parts.attrs import native_attrs
from tfnb.graph.parts.elements import complete_attrs, output_types, spec_of
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph_editor.select import get_walks_intersection_ops
from tfnb.graph_editor.subgraph import SubGraphView, make_view
from tfnb.graph_editor.util import ControlOutputs, get_unique_graph, make_placeholder_from_tensor, scope_finalize
from tfnb.opdef import kinds

_KNOWN = frozenset(value for name, value in vars(GraphKeys).items() if name.isupper() and isinstance(value, str))


class _Transformation:
    """A transformation that goes on: the argument `info` of handlers.

    sgv, ops: the source view and the set of its ops; graph, scope and graph_, scope_: source and destination;
    transformed_ops, transformed_ts: source -> result, as far as it is; collections: of the source graph.
    """

    def __init__(self, sgv: SubGraphView, dst_graph: Graph, dst_scope: str, src_scope: str) -> None:
        assert sgv.graph is not None
        self.sgv, self.ops, self.sgv_inputs_set = sgv, frozenset(sgv.ops), frozenset(sgv.inputs)
        self.graph, self.scope, self.graph_, self.scope_ = sgv.graph, src_scope, dst_graph, dst_scope
        self.transformed_ops: dict[Operation, Operation] = {}
        self.transformed_ts: dict[Tensor, Tensor] = {}
        self.collections = {name: self.graph.get_collection(name) for name in self.graph.get_all_collection_keys()}
        self._held: dict[int, list[str]] = {}
        for name, entries in self.collections.items():
            for entry in entries:
                self._held.setdefault(id(entry), []).append(name)

    def new_name(self, name: str) -> str:
        """The name in the destination. Raises ValueError if `name` is not in the source scope."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name!r} does not belong to the source scope {self.scope!r}")
        return self.scope_ + name.removeprefix(self.scope)

    def in_scope(self) -> Any:
        """A context of the destination scope; where there is none, of the present one."""
        return self.graph_.name_scope(self.scope_) if self.scope_ else nullcontext()

    def collections_of(self, elem: Any) -> list[str]:
        """The names of the collections of the source graph that have `elem`."""
        return list(dict.fromkeys(self._held.get(id(elem), ())))


def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """Return a placeholder for the tensor `t`, in the destination scope of the transformation `info`.

    >>> x = tf.constant(1.0, name="x")
    >>> copier = tf.contrib.graph_editor.Transformer()
    >>> copier.transform_external_input_handler = tf.contrib.graph_editor.replace_t_with_placeholder_handler
    >>> copier(tf.square(x, name="y").op, x.graph, "copy")[0].inputs
    [<tf.Tensor 'copy/geph__x_0:0' shape=() dtype=float32>]
    """
    with info.graph_.as_default(), info.in_scope():
        return make_placeholder_from_tensor(t, scope="")


def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """Return the tensor `t` itself, or in another graph a placeholder. info: the transformation.

    >>> x = tf.constant(3.0, name="x")
    >>> copier = tf.contrib.graph_editor.Transformer()
    >>> copier.transform_external_input_handler = tf.contrib.graph_editor.keep_t_if_possible_handler
    >>> view, _ = copier(tf.square(x).op, x.graph, "copy")
    >>> sess.run(view.outputs)
    [9.0]
    """
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Add `elem_`, the copy of `elem`, to the collections that have `elem`.

    Keys of tf.GraphKeys stay, other names of collections are put into the destination scope. info: the transformation.

    >>> x = tf.constant(1.0, name="x")
    >>> tf.add_to_collection("marked", x)
    >>> _ = tf.contrib.graph_editor.copy(x.op, dst_scope="copy")
    >>> tf.get_collection("copy/marked")
    [<tf.Tensor 'copy/x:0' shape=() dtype=float32>]
    """
    for name in info.collections_of(elem):
        info.graph_.add_to_collection(name if name in _KNOWN else info.new_name(name), elem_)


def transform_op_if_inside_handler(info: Any, op: Operation, keep_if_possible: bool = True) -> Operation | None:
    """Return the copy of `op` if it is one of the view's, else `op` itself in the same graph, else None.

    info: the transformation; keep_if_possible: False for None in the same graph, too.

    >>> wait = tf.no_op(name="wait")
    >>> with tf.control_dependencies([wait]):
    ...     step = tf.no_op(name="step")
    >>> [op.control_inputs for op in tf.contrib.graph_editor.copy(step)[0].ops] == [[wait]]
    True
    """
    if op in info.ops:
        made: Operation = info.transformed_ops[op]
        return made
    return op if keep_if_possible and info.graph is info.graph_ else None


def _groups(info: Any, groups: Iterable[bytes]) -> list[bytes]:
    """Colocation groups of a copy: in another graph, those whose ops are copied."""
    if info.graph is info.graph_:
        return list(groups)
    names = {op.name: op_.name for op, op_ in info.transformed_ops.items()}
    return [b"loc:@" + names[name].encode() for name in (g.removeprefix(b"loc:@").decode() for g in groups)
            if name in names]


def copy_op_handler(info: Any, op: Operation, new_inputs: Any, copy_shape: bool = False, nodedef_fn: Any = None
                    ) -> tuple[Operation, list[Tensor]]:
    """Return (op, outputs) of a copy of `op` in the destination of the transformation `info`, which takes `new_inputs`.

    copy_shape: give the outputs the static shapes of the old ones, beside those inferred; nodedef_fn: a function of a
    NodeDef that returns the one to make. Scopes of devices, control dependencies and control flow are those around
    the call, as for any op. Raises ValueError if the shapes don't fit.

    >>> def halves(info, op, new_inputs):
    ...     if op.type != "Relu":
    ...         return tf.contrib.graph_editor.copy_op_handler(info, op, new_inputs)
    ...     half = new_inputs[0] / 2
    ...     return half.op, half.op.outputs
    >>> copier = tf.contrib.graph_editor.Transformer()
    >>> copier.transform_op_handler = halves
    >>> copier.transform_external_input_handler = tf.contrib.graph_editor.keep_t_if_possible_handler
    >>> y = tf.nn.relu(tf.constant(8.0))
    >>> sess.run(copier(y.op, y.graph, "copy")[0].outputs)
    [4.0]
    """
    spec, given, device = op.spec, dict(op.attrs), op.device
    if nodedef_fn is not None:
        node = nodedef_fn(copied(op.node_def))
        spec, device = spec_of(node.op), node.device
        given = complete_attrs(spec, native_attrs(spec, node.attr, node.name), new_inputs, node.name)
    if "_class" in given:
        given["_class"] = _groups(info, given["_class"])
    with info.in_scope():
        name = info.graph_.unique_name(info.new_name(op.name).removeprefix(info.scope_))
    made = info.graph_.add_op(spec, new_inputs, given, f"{name}/", output_types(spec, given))
    made.device = device or made.device
    if copy_shape:
        for t, t_ in zip(op.outputs, made.outputs, strict=True):
            t_.set_shape(t.shape)
    return made, made.outputs


class TransformerInfo:
    """The result of a transformation: what has become of which op and tensor, and where it came from.

    info: the transformation, as handlers get it.

    >>> y = tf.square(tf.constant(1.0), name="y")
    >>> _, info = tf.contrib.graph_editor.copy(y.op, dst_scope="copy")
    >>> info.transformed(y).name, info.original(info.transformed(y)).name
    ('copy/y:0', 'y:0')
    """

    def __init__(self, info: Any) -> None:
        self._graph, self._scope, self._graph_, self._scope_ = info.graph, info.scope, info.graph_, info.scope_
        self._transformed_ops: dict[Operation, Operation] = info.transformed_ops
        self._transformed_ts: dict[Tensor, Tensor] = info.transformed_ts

    def _found(self, top: Any, missing_fn: Any, back: bool) -> Any:
        if isinstance(top, str):
            top = (self._graph_ if back else self._graph).as_graph_element(top)
        if not isinstance(top, (Operation, Tensor)):
            raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got: {type(top).__name__}")
        table: Mapping[Any, Any] = self._transformed_ts if isinstance(top, Tensor) else self._transformed_ops
        found = next((old for old, new in table.items() if new is top), None) if back else table.get(top)
        return missing_fn(top) if found is None and missing_fn is not None else found

    def transformed(self, original: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The op or tensor that `original` (one, or a name) has become, or `missing_fn(original)`, or None.

        Raises TypeError for what is neither.
        """
        return self._found(original, missing_fn, back=False)

    def original(self, transformed: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """The op or tensor that `transformed` was, or `missing_fn(transformed)`, or None. Raises as `transformed`."""
        return self._found(transformed, missing_fn, back=True)

    def __str__(self) -> str:
        return (f"Transform result info: {len(self._transformed_ops)} ops from scope {self._scope!r} "
                f"to scope {self._scope_!r}")


def _goes_back(op: Operation, t: Tensor) -> bool:
    """Return whether this input is the back edge of a loop."""
    return isinstance(op.spec, kinds.Merge) and isinstance(t.op.spec, kinds.NextIteration)


def _in_order(ops: Iterable[Operation], inside: frozenset[Operation]) -> Iterator[Operation]:
    """The ops, each after those inside that it needs. Raises ValueError for a cycle that is no loop."""
    done: dict[Operation, bool] = {}                # False while what it needs is being looked at
    for first in ops:
        stack = [first]
        while stack:
            op = stack[-1]
            if done.get(op):
                stack.pop()
                continue
            needed = [*(t.op for t in op.inputs if not _goes_back(op, t)), *op.control_inputs]
            missing = [each for each in needed if each in inside and not done.get(each)]
            if missing:
                if missing[0] in done:
                    raise ValueError(f"the graph has a cycle through {op.name!r} and {missing[0].name!r}")
                done[op] = False
                stack.append(missing[0])
            else:
                done[op] = True
                yield stack.pop()


class Transformer:
    """Copies a view into another scope or graph, with handlers for what shall be otherwise.

    The handlers are attributes: `transform_op_handler(info, op, new_inputs)` -> (op, outputs);
    `transform_control_input_handler(info, op)` and `transform_original_op_handler(info, op)` -> op or None;
    `assign_collections_handler(info, elem, elem_)`; `transform_external_input_handler(info, t)` -> tensor, by default
    a placeholder; `transform_external_hidden_input_handler(info, t)` for inputs that the view does not list.

    >>> x = tf.constant(2.0, name="x")
    >>> y = tf.square(x, name="net/y")
    >>> view, info = tf.contrib.graph_editor.Transformer()(y.op, y.graph, "other", src_scope="net")
    >>> view
    SubGraphView(ops=['other/y'], inputs=['other/geph__x_0:0'], outputs=['other/y:0'])
    """

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.transform_original_op_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.assign_collections_handler: Callable[..., Any] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., Any] = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler: Callable[..., Any] = keep_t_if_possible_handler

    def __call__(self, sgv: Any, dst_graph: Graph, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False
                 ) -> tuple[SubGraphView, TransformerInfo]:
        """Return (view of the copy, info). Raises TypeError for no graph; ValueError for a name outside `src_scope`."""
        view = make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph).__name__}")
        if view.graph is None:
            raise ValueError("the view to copy is empty")
        source, target = scope_finalize(src_scope), scope_finalize(dst_scope)
        if view.graph is dst_graph and not target:
            target = source
        if target and not reuse_dst_scope:
            target = scope_finalize(dst_graph.unique_name(target[:-1]))
        info = _Transformation(view, dst_graph, target, source)
        if view.graph is not dst_graph:
            _share_functions(view.graph, dst_graph)
        for t in view.inputs:
            info.transformed_ts[t] = self.transform_external_input_handler(info, t)
        with dst_graph.as_default():
            for op in _in_order(view.ops, info.ops):
                self._transform(info, op)
        self._close_loops(info)
        return self._view(info), TransformerInfo(info)

    def _input(self, info: _Transformation, t: Tensor) -> Tensor:
        if t not in info.transformed_ts and t.op not in info.ops:
            info.transformed_ts[t] = self.transform_external_hidden_input_handler(info, t)
        return info.transformed_ts[t]

    def _transform(self, info: _Transformation, op: Operation) -> None:
        later = {i for i, t in enumerate(op.inputs) if t not in info.transformed_ts and _goes_back(op, t)
                 and t.op in info.ops}
        there = {i: self._input(info, t) for i, t in enumerate(op.inputs) if i not in later}
        made, outputs = self.transform_op_handler(info, op, [there.get(i, there[min(there)] if later else None)
                                                             for i in range(len(op.inputs))])
        info.transformed_ops[op] = made
        for t, t_ in zip(op.outputs, outputs, strict=True):
            info.transformed_ts.setdefault(t, t_)
            self.assign_collections_handler(info, t, t_)
        self.assign_collections_handler(info, op, made)
        waits = [self.transform_control_input_handler(info, each) for each in op.control_inputs]
        waits = [each for each in waits if each is not None and each not in made.control_inputs]
        if waits:
            made._add_control_inputs(waits)
        if op._original_op is not None and (op._original_op not in info.ops or op._original_op in info.transformed_ops):
            made._original_op = self.transform_original_op_handler(info, op._original_op)

    def _close_loops(self, info: _Transformation) -> None:
        for op, made in info.transformed_ops.items():
            for i, t in enumerate(op.inputs):
                if _goes_back(op, t) and t.op in info.ops and made.inputs[i] is not info.transformed_ts[t]:
                    made._update_input(i, info.transformed_ts[t])

    def _view(self, info: _Transformation) -> SubGraphView:
        ts, sgv = info.transformed_ts, info.sgv
        made = SubGraphView(info.transformed_ops.values(), [ts[t] for t in sgv.passthroughs])
        made._input_ts, made._output_ts = [ts[t] for t in sgv.inputs], [ts[t] for t in sgv.outputs]
        return made


def _share_functions(graph: Graph, other: Graph) -> None:
    """Let `other` know the functions that attrs of ops of `graph` name, and keep those of Python alive."""
    for name, body in graph._functions.items():
        other._functions.setdefault(name, body)
    vars(other).setdefault("_py_functions", []).extend(vars(graph).get("_py_functions", ()))


def copy(sgv: Any, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "",
         reuse_dst_scope: bool = False) -> tuple[SubGraphView, TransformerInfo]:
    """Copy a view, with placeholders for its inputs. Returns (view of the copy, TransformerInfo).

    sgv: a view or what `make_view` makes one of; dst_graph: by default the same graph; dst_scope: where the copies
    are, made unique unless `reuse_dst_scope`; src_scope: the scope that it takes the place of. Variables among the
    ops are copied, too: take a view without them to share them. Raises TypeError for no graph; ValueError for an
    empty view, a name outside of `src_scope`, a cycle.

    >>> y = tf.square(tf.constant(2.0, name="x"), name="y")
    >>> view, info = tf.contrib.graph_editor.copy(y.op, dst_scope="copy")
    >>> sess.run(view.outputs, {view.inputs[0]: 5.0})
    [25.0]
    """
    view = make_view(sgv)
    return Transformer()(view, _destination(view, dst_graph), dst_scope, src_scope, reuse_dst_scope)


def _destination(view: SubGraphView, dst_graph: Any) -> Any:
    return view.graph if dst_graph is None and view.graph is not None else dst_graph


def copy_with_input_replacements(sgv: Any, replacement_ts: Mapping[Tensor, Tensor], dst_graph: Graph | None = None,
                                 dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
                                 ) -> tuple[SubGraphView, TransformerInfo]:
    """Copy a view that takes other tensors. Returns (view of the copy, TransformerInfo).

    replacement_ts: tensor -> what the copies take in its place, also of tensors made inside; other inputs stay, or are
    placeholders in another graph. sgv, dst_graph, dst_scope, src_scope, reuse_dst_scope, errors: as in `copy`.

    >>> x = tf.constant(2.0, name="x")
    >>> y = tf.square(x, name="y")
    >>> view, _ = tf.contrib.graph_editor.copy_with_input_replacements(y.op, {x: tf.constant(5.0)})
    >>> sess.run([y, *view.outputs])
    [4.0, 25.0]
    """
    def replaced(info: Any, t: Tensor) -> Tensor:
        return replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t)
    view = make_view(sgv)
    copier = Transformer()
    copier.transform_external_input_handler = replaced
    copied_op = copier.transform_op_handler

    def with_replaced(info: Any, op: Operation, new_inputs: Any) -> Any:
        found = [replacement_ts.get(t, t_) for t, t_ in zip(op.inputs, new_inputs, strict=True)]
        return copied_op(info, op, found)
    copier.transform_op_handler = with_replaced
    return copier(view, _destination(view, dst_graph), dst_scope, src_scope, reuse_dst_scope)


def graph_replace(target_ts: Any, replacement_ts: Mapping[Tensor, Tensor], dst_scope: str = "", src_scope: str = "",
                  reuse_dst_scope: bool = False) -> Any:
    """Return `target_ts` as they would be if other tensors took the place of some: what depends on these is copied.

    target_ts: a tensor or a nested structure of tensors; the result has the same structure. replacement_ts: tensor ->
    what takes its place. What does not depend on a replaced tensor is shared, variables above all. dst_scope,
    src_scope, reuse_dst_scope: as in `copy`. Raises ValueError if no target depends on a replaced tensor; TypeError
    for what is no tensor.

    >>> x, w = tf.constant(2.0, name="x"), tf.Variable(10.0)
    >>> y = x * w
    >>> z = tf.contrib.graph_editor.graph_replace(y, {x: tf.constant(3.0)})
    >>> sess.run(w.initializer), sess.run([y, z])
    (None, [20.0, 30.0])
    """
    targets = nest.flatten(target_ts)
    graph = get_unique_graph(targets, Tensor)
    ops = get_walks_intersection_ops(list(replacement_ts), targets, control_ios=ControlOutputs(graph))
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return nest.map_structure(lambda t: replacement_ts.get(t) if t in replacement_ts
                              else info.transformed(t, lambda missing: missing), target_ts)
