"""The default graph of a thread, and the functions that act on it."""
from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tfnb.core import nest
from tfnb.core.arguments import GRAPHS, describe
from tfnb.core.stale import check_fresh
from tfnb.graph.graph import Graph, default_graphs
from tfnb.graph.parts.context import default_sessions, get_default_session
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.ownership import living
from tfnb.graph.parts.python_names import told_operands

__all__ = ["all_graphs", "colocate_with", "container", "control_dependencies", "default_sessions", "device",
           "get_default_graph", "get_default_session", "get_graph_from_inputs", "graph_of", "name_scope", "op_scope",
           "owned_by", "reset_default_graph"]


class _GlobalGraph(threading.local):
    graph: Graph | None = None


_global = _GlobalGraph()        # what is the default where no `as_default` block is: made when first asked for


def get_default_graph() -> Graph:
    """The graph of the innermost `graph.as_default()` block of this thread, else the thread's own global graph.

    >>> tf.constant(1).graph is tf.get_default_graph()
    True
    """
    stack = default_graphs.stack
    if stack:
        found: Graph = stack[-1]
        return found
    if _global.graph is None:
        _global.graph = Graph()
    return _global.graph


def reset_default_graph() -> None:
    """Begin with a new global graph. Raises AssertionError inside of an `as_default` block.

    What was made before belongs to the old graph, and sessions of that keep running it.

    >>> sess.close()
    >>> x = tf.constant(1, name="x")
    >>> tf.reset_default_graph()
    >>> tf.constant(2, name="x").name
    'x:0'
    """
    if not default_graphs.is_cleared():
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
                             "exit the nesting and create a new graph.")
    _global.graph = Graph()


def global_graph() -> Graph | None:
    """The thread's own global graph, or None while nobody has asked for it."""
    return _global.graph


def set_global_graph(graph: Graph | None) -> None:
    """Let `graph` be the thread's own global graph again: what `global_graph` returned before."""
    _global.graph = graph


def all_graphs() -> list[Graph]:
    """Return the graphs that live, oldest first."""
    return living()


@contextmanager
def owned_by(owner: Hashable) -> Iterator[None]:
    """Let the ops that the default graph makes inside belong to `owner`, None for nobody: not to the running cell."""
    graph = get_default_graph()
    before, graph.owner = graph.owner, owner
    try:
        yield
    finally:
        graph.owner = before


def graph_of(node: Tensor | Operation) -> Graph:
    """Return the graph of a tensor or op, with its type."""
    graph: Graph = node.graph
    return graph


def get_graph_from_inputs(values: Iterable[Any], graph: Graph | None = None) -> Graph:
    """The graph of the tensors, ops and variables among `values` (lists are looked into), else the default one.

    With `graph`, all must be of it. While the body of a function is made, it is that: tensors of the graph around are
    captured. Raises ValueError if two are of different graphs.
    """
    if default_graphs.stack and default_graphs.stack[-1]._building_function:
        return get_default_graph()
    found = _common(values, graph)
    return found if found is not None else get_default_graph()


def _common(values: Iterable[Any], found: Graph | None) -> Graph | None:
    """Return the graph of all the values, those in lists too; `found` if none of them has one."""
    first = None
    for value in nest.leaves(list(values), nest.lists):
        owner = graph_of(value) if isinstance(value, (Tensor, Operation)) else _graph_of(value)
        if owner is None or owner is found:
            continue
        if found is not None:
            for each in (value, first):
                _check_alive(each)
            raise ValueError((f"{value} must be from the same graph as {first}." if first is not None
                              else f"{value} is not from the passed-in graph.") + told_operands([value, first]))
        found, first = owner, value
    return found


def _check_alive(value: Any) -> None:
    """Raise StaleTensorError for what left its graph: that it is of another one than what is made now is no wonder."""
    op = value if isinstance(value, Operation) else getattr(value, "op", None)
    if isinstance(op, Operation) and op._dead is not None:
        check_fresh(op)


def _graph_of(value: Any) -> Graph | None:
    if isinstance(value, (int, float, str, bytes)):         # most of what is no tensor: not worth two look-ups
        return None
    owner = getattr(value, "graph", None)
    if not isinstance(owner, Graph):
        convert = getattr(value, "_as_graph_element", None)
        owner = getattr(convert(), "graph", None) if callable(convert) else None
    return owner if isinstance(owner, Graph) else None


class name_scope:       # noqa: N801  TensorFlow's name
    """A context whose ops have names that begin with the scope's: for functions that make ops.

    name: the scope, or None to take `default_name` (both None: with values, an error; without, the top). values: the
    tensors that the function got: the context makes their graph the default. Gives the prefix, with its last slash.
    Raises ValueError for values of different graphs, TypeError for a `default_name` that is no string.

    >>> with tf.name_scope("layer"):
    ...     x = tf.constant(1, name="x")
    >>> x.name
    'layer/x:0'
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None) -> None:
        if default_name is not None and not isinstance(default_name, str):
            raise TypeError(f"`default_name` must be a string, got {default_name!r} of type "
                            f"{type(default_name).__name__}: were these the `values`?")
        self._name = default_name if name is None else name
        self._no_name = name is None and default_name is None and values is not None
        self._values = () if values is None else values

    @property
    def name(self) -> str | None:
        """The name that was asked for."""
        return self._name

    def __enter__(self) -> str:
        if self._no_name:
            raise ValueError("At least one of name (None) and default_name (None) must be provided.")
        graph = get_graph_from_inputs(self._values)
        self._graph = None if graph is get_default_graph() else graph.as_default()
        if self._graph is not None:
            self._graph.__enter__()
        self._scope = graph.name_scope(self._name)
        try:
            return self._scope.__enter__()
        except BaseException:
            self._leave(None, None, None)
            raise

    def _leave(self, *exc: Any) -> None:
        if self._graph is not None:
            self._graph.__exit__(*exc)

    def __exit__(self, *exc: Any) -> None:
        try:
            self._scope.__exit__(*exc)
        finally:
            self._leave(*exc)


@contextmanager
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Iterator[str]:
    """`name_scope` with the argument order of the first releases.

    >>> with tf.op_scope([tf.constant(1)], "layer"):
    ...     x = tf.constant(1, name="x")
    >>> x.name
    'layer/x:0'
    """
    with name_scope(name, default_name, values) as scope:
        yield scope


def control_dependencies(control_inputs: Iterable[Any] | None) -> Any:
    """`Graph.control_dependencies` of the default graph.

    >>> v = tf.Variable(1)
    >>> sess.run(v.initializer)
    >>> with tf.control_dependencies([v.assign_add(1)]):
    ...     after = tf.identity(v.read_value())
    >>> sess.run(after)
    2
    """
    return get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function: str | Callable[[Operation], Any] | None) -> Any:
    """`Graph.device` of the default graph.

    >>> with tf.device("/cpu:0"):
    ...     x = tf.constant(1)
    >>> x.device
    '/device:CPU:0'
    """
    return get_default_graph().device(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """`Graph.colocate_with` of the default graph.

    >>> with tf.device("/cpu:0"):
    ...     v = tf.Variable(1.0)
    >>> with tf.colocate_with(v.op):
    ...     x = tf.constant(2.0)
    >>> x.device
    '/device:CPU:0'
    """
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name: str) -> Any:
    """`Graph.container` of the default graph.

    >>> with tf.container("experiment"):
    ...     queue = tf.FIFOQueue(10, [tf.float32])
    >>> queue.queue_ref.op.get_attr("container")
    b'experiment'
    """
    return get_default_graph().container(container_name)


def add_to_collection(name: Any, value: Any) -> None:
    """`Graph.add_to_collection` of the default graph.

    >>> tf.add_to_collection("inputs", 1)
    >>> tf.add_to_collection("inputs", 2)
    >>> tf.get_collection("inputs")
    [1, 2]
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """`Graph.add_to_collections` of the default graph.

    >>> tf.add_to_collections(["inputs", "all"], 1)
    >>> tf.get_collection("inputs"), tf.get_collection("all")
    ([1], [1])
    """
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """`Graph.get_collection` of the default graph.

    >>> tf.add_to_collection("inputs", tf.constant(1, name="x"))
    >>> [x.name for x in tf.get_collection("inputs")]
    ['x:0']
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """`Graph.get_collection_ref` of the default graph.

    >>> tf.get_collection_ref("inputs").append(1)
    >>> tf.get_collection("inputs")
    [1]
    """
    return get_default_graph().get_collection_ref(key)


describe(globals(), GRAPHS)
