"""GraphDefs made smaller: parts of them, without what only training needs, with constants in place of variables."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.core.arguments import GRAPHS, describe
from tfnb.core.dtypes import as_dtype
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import TensorShape
from tfnb.graph.closure import upstream
from tfnb.graph.formats import protos
from tfnb.graph.formats.nodes import VARIABLE_OPS, copied, node_name, with_inputs
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph

# What passes the handle of a resource variable on.
_PASS = frozenset(["Identity", "Enter", "Switch"])


def _check_graph_def(graph_def: Any) -> None:
    if type(graph_def).__name__ != "GraphDef":
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}.")


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """A GraphDef of the nodes that the nodes `dest_nodes` (names) depend on, and of these, in the order they had.

    Raises TypeError if `graph_def` is no GraphDef or `dest_nodes` no list; ValueError for a node that is not there.

    >>> x = tf.constant(1, name="x")
    >>> y, z = tf.add(x, 1, name="y"), tf.add(x, 2, name="z")
    >>> part = tf.graph_util.extract_sub_graph(sess.graph.as_graph_def(), ["z"])
    >>> [node.name for node in part.node]
    ['x', 'z/y', 'z']
    """
    _check_graph_def(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be an iterable of strings, but got type {type(dest_nodes)}")
    nodes = {node.name: node for node in graph_def.node}
    found, waiting = set(), list(dest_nodes)
    for name in waiting:                           # grows while it is walked
        if name not in nodes:
            raise ValueError(f"{name} is not in graph")
        if name not in found:
            found.add(name)
            waiting += map(node_name, nodes[name].input)
    return _like(graph_def, (node for node in graph_def.node if node.name in found))


def _like(graph_def: Any, nodes: Iterable[Any]) -> Any:
    """A GraphDef of other nodes, with the library and the versions of `graph_def`."""
    made = type(graph_def)()
    made.node.extend(nodes)
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


def remove_training_nodes(input_graph: Any, protected_nodes: Sequence[str] | None = None) -> Any:
    """`input_graph` without CheckNumerics and Identity nodes: what these pass on is used in their place.

    Nodes named in `protected_nodes` stay, and Identity nodes that have or are control inputs. Returns a new GraphDef.
    (TensorFlow 1.15 drops the input that a node has from a CheckNumerics, which breaks the graph.) Raises TypeError
    if `input_graph` is no GraphDef.

    >>> y = tf.identity(tf.identity(tf.constant(1, name="x"), name="between"), name="y")
    >>> pruned = tf.graph_util.remove_training_nodes(sess.graph.as_graph_def(), protected_nodes=["y"])
    >>> [node.name for node in pruned.node]
    ['x', 'y']
    """
    _check_graph_def(input_graph)
    kept = set(protected_nodes or ())
    checks = {node.name for node in input_graph.node if node.op == "CheckNumerics" and node.name not in kept}
    waited_for = {node_name(text) for node in input_graph.node for text in node.input if text.startswith("^")}
    passed = {node.name: node.input[0] for node in input_graph.node
              if node.name in checks or (node.op == "Identity" and node.name not in kept | waited_for
                                         and not any(text.startswith("^") for text in node.input))}

    def origin(text: str) -> str:
        while node_name(text) in passed:
            text = passed[node_name(text)]
        return text
    return _like(input_graph, [
        with_inputs(node, [origin(text) for text in node.input if not text.startswith("^")
                           or node_name(text) not in checks])
        for node in input_graph.node if node.name not in passed])


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> TensorShape:
    """The static shape of a tensor of `graph`, by its name or, for its first output, that of its op.

    >>> x = tf.constant([[1, 2]], name="x")
    >>> tf.graph_util.tensor_shape_from_node_def_name(sess.graph, "x").as_list()
    [1, 2]
    """
    tensor = graph.get_tensor_by_name(input_name if ":" in input_name else f"{input_name}:0")
    shape: TensorShape = tensor.get_shape()
    return shape


def convert_variables_to_constants(sess: Any, input_graph_def: Any, output_node_names: Sequence[str],
                                   variable_names_whitelist: Iterable[str] | None = None,
                                   variable_names_blacklist: Iterable[str] | None = None) -> Any:
    """Return the subgraph of `output_node_names`, with constants of their values in `sess` in place of variables.

    variable_names_whitelist: the variables to convert, by default all; variable_names_blacklist: those to leave.
    Returns a new GraphDef, of TensorFlow's names. Raises as `extract_sub_graph`; FailedPreconditionError for a
    variable that has no value; InvalidArgumentError for a use of a resource variable other than reading it.

    >>> w = tf.Variable(3.0, name="w")
    >>> y = tf.multiply(w, 2.0, name="y")
    >>> sess.run(w.initializer)
    >>> frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph.as_graph_def(), ["y"])
    >>> with tf.Graph().as_default(), tf.Session() as other:
    ...     other.run(tf.import_graph_def(frozen, return_elements=["y:0"]))
    [6.0]
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    chosen = None if variable_names_whitelist is None else set(variable_names_whitelist)
    left = set(variable_names_blacklist or ())
    names = [node.name for node in graph_def.node if node.op in VARIABLE_OPS and node.name not in left
             and (chosen is None or node.name in chosen)]
    values = dict(zip(names, _values(sess, graph_def, names), strict=True))
    handles = _handles(graph_def, {node.name for node in graph_def.node
                                   if node.op == "VarHandleOp" and node.name in values})
    return _like(graph_def, [_frozen(node, values, handles) for node in graph_def.node])


def _values(sess: Any, graph_def: Any, names: Sequence[str]) -> list[np.ndarray]:
    """The values of variables, by the tensors that read them."""
    ops = {node.name: node.op for node in graph_def.node}
    reads = {node_name(node.input[0]): node.name for node in graph_def.node if node.op == "ReadVariableOp"}
    wanted = []
    for name in names:
        if ops[name] == "VarHandleOp":
            read = reads.get(name) or _any_read(sess, name)
            wanted.append(f"{read}:0")
        else:
            wanted.append(f"{name}:0")
    return list(sess.run(wanted)) if wanted else []


def _any_read(sess: Any, name: str) -> str:
    graph = getattr(sess, "graph", None) or get_default_graph()
    for op in graph.get_tensor_by_name(f"{name}:0").consumers():
        if op.type == "ReadVariableOp":
            return str(op.name)
    raise InvalidArgumentError(None, None, f"the graph has no ReadVariableOp of the variable {name!r}")


def _handles(graph_def: Any, variables: set[str]) -> dict[str, str]:
    """Node -> the converted resource variable whose handle it gives, passed on or not."""
    found = {name: name for name in variables}
    grew = bool(found)
    while grew:
        new = {node.name: found[node_name(node.input[0])] for node in graph_def.node
               if node.op in _PASS and node.name not in found and node.input and node_name(node.input[0]) in found}
        found.update(new)
        grew = bool(new)
    return found


def _frozen(node: Any, values: Mapping[str, np.ndarray], handles: Mapping[str, str]) -> Any:
    if node.name in values:
        return _constant(node, values[node.name])
    touched = [text for text in node.input if not text.startswith("^") and node_name(text) in handles]
    if not touched:
        return node
    if node.op not in _PASS | {"ReadVariableOp", "ResourceGather"}:
        raise InvalidArgumentError(None, None, f"node {node.name!r} ({node.op}) uses the resource variable "
                                   f"{handles[node_name(touched[0])]!r} otherwise than by reading it: it can't be made "
                                   "a constant; name it in variable_names_blacklist")
    made = copied(node)
    dtype = as_dtype(values[handles[node_name(touched[0])]].dtype).as_datatype_enum
    if node.op == "ResourceGather":
        made.op = "Gather"
        made.ClearField("attr")
        made.attr["Tparams"].type, made.attr["Tindices"].type = dtype, node.attr["Tindices"].type
    elif node.op == "ReadVariableOp":
        made.op = "Identity"
        made.ClearField("attr")
        made.attr["T"].type = dtype
    else:
        made.attr["T"].type = dtype
    return made


def _constant(node: Any, value: np.ndarray) -> Any:
    made = type(node)(name=node.name, op="Const", device=node.device)
    array = np.asarray(value)
    dtype = as_dtype(node.attr["dtype"].type)
    for key, attr in (("dtype", dtype), ("value", array)):
        made.attr[key].ParseFromString(protos.attr_value(attr).SerializeToString())
    return made


def depends_on(op: Operation, sources: Collection[Tensor]) -> bool:
    """Return whether what an operation does depends on any of some tensors, by inputs or control inputs."""
    return any(tensor in sources for each in upstream([op]) for tensor in each.inputs)


describe(globals(), GRAPHS)
