"""Lists of ops and tensors of one graph, who waits for whom, and placeholders named after tensors."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfnb.graph.graph import Graph
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.control.source import placeholder

PREFIX = "geph"


def check_graphs(*args: Any) -> None:
    """Raise ValueError unless all of `args` that have a `graph` (ops, tensors, views) have the same one.

    >>> tf.contrib.graph_editor.util.check_graphs(tf.constant(1), tf.constant(2))
    """
    graphs = [each.graph for each in args if each is not None and each.graph is not None]
    for i, graph in enumerate(graphs):
        if graph is not graphs[0]:
            raise ValueError(f"Argument[{i}]: {args[i]!r} is of another graph than {args[0]!r}")


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Graph | None:
    """Return the graph of all of `tops`, an iterable of ops and tensors.

    check_types: the classes that they may have (a tuple), by default Operation and Tensor; none_if_empty: return None
    for an empty one. Raises TypeError for another class; ValueError for two graphs, or an empty iterable.

    >>> x = tf.constant(1)
    >>> tf.contrib.graph_editor.util.get_unique_graph([x, x.op]) is x.graph
    True
    """
    classes = check_types or (Operation, Tensor)
    graph: Graph | None = None
    for each in tops:
        if not isinstance(each, classes):
            names = classes if isinstance(classes, tuple) else (classes,)
            raise TypeError(f"Expected a type in ({', '.join(c.__name__ for c in names)}), got: {type(each).__name__}, "
                            f"{each!r}")
        if graph is not None and each.graph is not graph:
            raise ValueError(f"{each!r} does not belong to the graph of the elements before it")
        graph = each.graph
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _listed(found: Any, allow_graph: bool, everything: Callable[[Graph], list[Any]]) -> list[Any]:
    """A single element, an iterable of some, or a graph, as a list."""
    if isinstance(found, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: expected ops or tensors, got a tf.Graph")
        return everything(found)
    if isinstance(found, (Operation, Tensor)) or not isinstance(found, Iterable):
        return [found]
    return list(found)


def make_list_of_op(ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
                    ) -> list[Operation]:
    """Return a list of `ops`: an op, an iterable of ops, or a graph, of which all are taken.

    check_graph: look at classes and graphs; allow_graph: take a graph; ignore_ts: leave tensors out. Raises TypeError
    for what is no op, and for a graph where none is allowed; ValueError for ops of two graphs.

    >>> x = tf.constant(1, name="x")
    >>> [op.name for op in tf.contrib.graph_editor.make_list_of_op(x.op)]
    ['x']
    """
    found = _listed(ops, allow_graph, Graph.get_operations)
    if check_graph:
        get_unique_graph(found, None if ignore_ts else Operation, none_if_empty=True)
    return [each for each in found if isinstance(each, Operation)]


def make_list_of_t(ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
                   ) -> list[Tensor]:
    """Return a list of `ts`: a tensor, an iterable of tensors, or a graph, of which all are taken.

    check_graph: look at classes and graphs; allow_graph: take a graph; ignore_ops: leave ops out. Raises as
    `make_list_of_op`.

    >>> tf.contrib.graph_editor.make_list_of_t(tf.constant(1, name="x"))
    [<tf.Tensor 'x:0' shape=() dtype=int32>]
    """
    found = _listed(ts, allow_graph, get_tensors)
    if check_graph:
        get_unique_graph(found, None if ignore_ops else Tensor, none_if_empty=True)
    return [each for each in found if isinstance(each, Tensor)]


def get_tensors(graph: Any) -> list[Tensor]:
    """Return all tensors of `graph`, in the order of its ops. Raises TypeError for what is no graph.

    >>> y = tf.add(tf.constant(1, name="x"), 2, name="y")
    >>> [t.name for t in tf.contrib.graph_editor.get_tensors(y.graph)]
    ['x:0', 'y/y:0', 'y:0']
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph).__name__}")
    return [t for op in graph.get_operations() for t in op.outputs]


def get_generating_ops(ts: Any) -> list[Operation]:
    """Return the ops that make the tensors `ts`, one for each. Raises TypeError for what is no tensor.

    >>> [op.name for op in tf.contrib.graph_editor.get_generating_ops(tf.constant(1, name="x"))]
    ['x']
    """
    return [t.op for t in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list[Operation]:
    """Return the ops that take any of the tensors `ts`, each once. Raises TypeError for what is no tensor.

    >>> x = tf.constant(1)
    >>> y = tf.add(x, x, name="twice")
    >>> [op.name for op in tf.contrib.graph_editor.get_consuming_ops([x])]
    ['twice']
    """
    return list(dict.fromkeys(op for t in make_list_of_t(ts, allow_graph=False) for op in t.consumers()))


class ControlOutputs:
    """The ops of `graph` that wait for an op, by control inputs: found once, and again when the graph has changed.

    >>> x = tf.no_op(name="x")
    >>> with tf.control_dependencies([x]):
    ...     y = tf.no_op(name="y")
    >>> [op.name for op in tf.contrib.graph_editor.ControlOutputs(x.graph).get(x)]
    ['y']
    """

    def __init__(self, graph: Any) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph).__name__}")
        self._graph = graph
        self._found: dict[Operation, list[Operation]] = {}
        self._state: tuple[int, int] | None = None

    def update(self) -> ControlOutputs:
        """Look at the graph again if it has changed. Returns itself."""
        state = self._graph.version, self._graph.mutations
        if state != self._state:
            self._state, self._found = state, {}
            for op in self._graph.get_operations():
                for waited in op.control_inputs:
                    self._found.setdefault(waited, []).append(op)
        return self

    def get_all(self) -> dict[Operation, list[Operation]]:
        """Op -> those that wait for it, of the ops that any waits for."""
        return self.update()._found

    def get(self, op: Operation) -> list[Operation]:
        """The ops that wait for `op`."""
        return self.get_all().get(op, [])

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph


def scope_finalize(scope: str) -> str:
    """Return `scope` with one slash at its end, the empty one as it is.

    >>> tf.contrib.graph_editor.util.scope_finalize("a/b")
    'a/b/'
    """
    return f"{scope}/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope: str) -> str:
    """Return the part of a name `scope` up to its last inner slash.

    >>> tf.contrib.graph_editor.util.scope_dirname("a/b/x")
    'a/b/'
    """
    return scope_finalize(scope.removesuffix("/").rpartition("/")[0])


def scope_basename(scope: str) -> str:
    """Return the last part of a name `scope`.

    >>> tf.contrib.graph_editor.util.scope_basename("a/b/x")
    'x'
    """
    return scope.removesuffix("/").rpartition("/")[2]


def placeholder_name(t: Any = None, scope: str | None = None, prefix: str = PREFIX) -> str:
    """Return a name for a placeholder that takes the place of the tensor `t`, or of none.

    scope: the scope of the name, by default that of `t`; prefix: how its last part begins. Raises TypeError for
    what is no tensor.

    >>> x = tf.constant(1, name="a/x")
    >>> tf.contrib.graph_editor.placeholder_name(x), tf.contrib.graph_editor.placeholder_name(scope="b")
    ('a/geph__x_0', 'b/geph')
    """
    if t is None:
        return f"{scope_finalize(scope or '')}{prefix}"
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t).__name__}")
    place = scope_dirname(t.op.name) if scope is None else scope_finalize(scope)
    return f"{place}{prefix}__{scope_basename(t.op.name)}_{t.value_index}"


def make_placeholder_from_tensor(t: Any, scope: str | None = None, prefix: str = PREFIX) -> Tensor:
    """Return a placeholder in the default graph, of the dtype and static shape of the tensor `t`.

    scope, prefix: of its name, see `placeholder_name`. Raises TypeError for what is no tensor.

    >>> tf.contrib.graph_editor.make_placeholder_from_tensor(tf.constant([1, 2], name="x"))
    <tf.Tensor 'geph__x_0:0' shape=(2,) dtype=int32>
    """
    name = placeholder_name(t, scope, prefix)
    return placeholder(t.dtype.base_dtype, t.shape, name)


def make_placeholder_from_dtype_and_shape(dtype: Any, shape: Any = None, scope: str | None = None,
                                          prefix: str = PREFIX) -> Tensor:
    """Return a placeholder of a dtype and a static shape (None: unknown), named by `prefix` in `scope`.

    >>> tf.contrib.graph_editor.ph(tf.float32, [2])
    <tf.Tensor 'geph:0' shape=(2,) dtype=float32>
    """
    return placeholder(dtype, shape, placeholder_name(scope=scope, prefix=prefix))


def find_corresponding_elem(target: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = "") -> Any:
    """Return the op or tensor of `dst_graph` that has the name of `target`, with `dst_scope` in place of `src_scope`.

    Raises TypeError if `target` is neither; ValueError if its name is not in `src_scope`; KeyError if `dst_graph` has
    nothing of the name.

    >>> x, y = tf.constant(1, name="a/x"), tf.constant(2, name="b/x")
    >>> tf.contrib.graph_editor.util.find_corresponding_elem(x, x.graph, dst_scope="b", src_scope="a") is y
    True
    """
    if not isinstance(target, (Operation, Tensor)):
        raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target).__name__}")
    source = scope_finalize(src_scope)
    if not target.name.startswith(source):
        raise ValueError(f"{target.name!r} does not begin with the source scope {source!r}")
    return dst_graph.as_graph_element(scope_finalize(dst_scope) + target.name.removeprefix(source))


def find_corresponding(targets: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = "") -> Any:
    """Return a list of what `find_corresponding_elem` gives for each of `targets`, or for the single one.

    dst_graph, dst_scope, src_scope: as there.

    >>> x = tf.constant(1, name="x")
    >>> tf.contrib.graph_editor.util.find_corresponding([x.op], x.graph) == [x.op]
    True
    """
    if isinstance(targets, (Operation, Tensor)):
        return find_corresponding_elem(targets, dst_graph, dst_scope, src_scope)
    return [find_corresponding(each, dst_graph, dst_scope, src_scope) for each in targets]
