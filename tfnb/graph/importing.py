"""`import_graph_def`: the nodes of a GraphDef, as operations of the default graph."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfnb.core.arguments import GRAPHS, describe
from tfnb.core.device import merged
from tfnb.core.dtypes import as_dtype
from tfnb.core.errors import NotFoundError
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import merge
from tfnb.graph.convert import internal_convert_to_tensor
from tfnb.graph.formats import protos
from tfnb.graph.formats.inlining import without_functions
from tfnb.graph.formats.modern import modern
from tfnb.graph.formats.nodes import node_name, tensor_name
from tfnb.graph.function import FunctionGraph
from tfnb.graph.graph import Graph
from tfnb.graph.parts.attrs import native_attrs
from tfnb.graph.parts.elements import complete_attrs, output_types, spec_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.opdef import kinds, registry
from tfnb.opdef.refused import hint, refusal

graph_pb2 = lazy_module("tfnb.proto.graph_pb2")


def import_graph_def(graph_def: Any, input_map: Mapping[str, Any] | None = None,
                     return_elements: Sequence[str] | None = None, name: str | None = None, op_dict: Any = None,
                     producer_op_list: Any = None) -> list[Any] | None:
    """Add the nodes of a GraphDef (also another package's of that name) to the default graph.

    input_map: name in the GraphDef ("x:0", or "x" for its first output) -> tensor to take in its place;
    return_elements: names of tensors and ops to return, in order; name: the scope for all names, by default "import",
    "" for none. Names that are taken are made unique. Calls of functions of the GraphDef's library are replaced by
    their nodes. op_dict does nothing, as in TensorFlow 1.15, nor does producer_op_list: attrs that an op does not have
    are left out. Raises TypeError for other arguments; ValueError for a broken graph, an unused key of `input_map`, an
    absent element; NotFoundError, which names all types of ops that there are not. Ops that were made before an error
    stay.

    >>> with tf.Graph().as_default() as other:
    ...     y = tf.constant(2, name="x") * 3
    >>> product, = tf.import_graph_def(other.as_graph_def(), return_elements=["mul:0"])
    >>> product.name, sess.run(product)
    ('import/mul:0', 6)
    """
    nodes = _nodes(graph_def)
    wanted = list(return_elements) if return_elements is not None else []
    if not all(isinstance(element, str) for element in wanted):
        raise TypeError(f"return_elements must be a list of strings, got {return_elements!r}")
    graph = get_default_graph()
    _take_functions(graph, graph_def.library, nodes)
    with graph.name_scope("import" if name is None else name) as prefix:
        mapped = {tensor_name(key): internal_convert_to_tensor(value) for key, value in (input_map or {}).items()}
        made = _Import(graph, prefix, mapped)
        for node in in_order(nodes, set(mapped)):
            made.add(node)
        made.close_loops()
    unused = sorted(set(mapped) - made.used)
    if unused:
        raise ValueError(f"Attempted to map inputs that were not found in graph_def: {unused}")
    return [made.element(element) for element in wanted] if return_elements is not None else None


def _take_functions(graph: Graph, library: Any, nodes: Iterable[Any]) -> None:
    """Enter the functions that attrs of nodes name, and that the graph does not have, with those that these name."""
    definitions = {function.signature.name: function for function in library.function}
    for node in nodes:
        for value in node.attr.values():
            name = value.func.name
            if name in definitions and name not in graph._functions:
                graph._functions[name] = _function(graph, library, definitions[name].signature)


def _function(graph: Graph, library: Any, signature: Any) -> FunctionGraph:
    """The body of a function of a library, as one that ops of `graph` call."""
    call = protos.node_def_pb2.NodeDef(name="call", op=signature.name, input=[arg.name for arg in signature.input_arg])
    with FunctionGraph(graph) as body:
        inputs = {arg.name: body.placeholder(as_dtype(arg.type), None, arg.name) for arg in signature.input_arg}
        wanted = [f"call:{i}" for i in range(len(signature.output_arg))]
        made = import_graph_def(graph_pb2.GraphDef(node=[call], library=library), inputs, wanted, name="")
    body.outputs, body.name, body._finalized = made or [], signature.name, True
    return body


def _nodes(graph_def: Any) -> list[Any]:
    if type(graph_def).__name__ != "GraphDef" or not hasattr(graph_def, "SerializeToString"):
        raise TypeError(f"graph_def must be a GraphDef proto, got {type(graph_def).__name__}")
    if not isinstance(graph_def, graph_pb2.GraphDef):
        graph_def = graph_pb2.GraphDef.FromString(graph_def.SerializeToString())
    nodes = [made for node in without_functions(graph_def) for made in modern(node)]
    _check_types(nodes)
    if len({node.name for node in nodes}) != len(nodes):
        raise ValueError("graph_def has two nodes of the same name")
    return nodes


def _check_types(nodes: Iterable[Any]) -> None:
    """Raise NotFoundError that names all types of ops that there are not, and where they are used."""
    absent: dict[str, list[str]] = {}
    for node in nodes:
        if registry.find(node.op) is None:
            absent.setdefault(node.op, []).append(node.name)
    if absent:
        told = "; ".join(f"{op!r} ({', '.join(map(repr, names[:3]))}{f' and {len(names) - 3} more' * (len(names) > 3)})"
                         for op, names in absent.items())
        hints = "".join(hint(op) for op in absent if len(absent) == 1 or refusal(op))
        raise NotFoundError(None, None, f"Op type not registered: tfnb does not have {told}.{hints}")


def in_order(nodes: Iterable[Any], mapped: set[str]) -> list[Any]:
    """The nodes, each after those that it takes inputs from, else in their own order.

    Raises ValueError for an input that is not there, and for a cycle.
    """
    by_name = {node.name: node for node in nodes}
    done: dict[str, bool] = {}                      # False while its inputs are being looked at
    ordered: list[Any] = []
    for first in by_name.values():
        stack = [first]
        while stack:
            node = stack[-1]
            if done.get(node.name):
                stack.pop()
                continue
            needed = [node_name(i) for i in node.input if tensor_name(i) not in mapped
                      and not _goes_back(node, by_name.get(node_name(i)))]
            missing = [n for n in needed if not done.get(n)]
            if not missing:
                done[node.name] = True
                ordered.append(stack.pop())
                continue
            for n in missing:
                if n not in by_name:
                    raise ValueError(f"node {node.name!r} takes an input from {n!r}, which graph_def does not have")
                if n in done:
                    raise ValueError(f"graph_def has a cycle through {node.name!r} and {n!r} that is no loop")
            done[node.name] = False
            stack.append(by_name[missing[0]])
    return ordered


def _goes_back(node: Any, source: Any) -> bool:
    """Return whether this input is the back edge of a loop."""
    return isinstance(registry.find(node.op), kinds.Merge) and source is not None \
        and isinstance(registry.find(source.op), kinds.NextIteration)


class _Import:
    """The import of one GraphDef: which tensors and ops its names have become."""

    def __init__(self, graph: Graph, prefix: str, mapped: dict[str, Tensor]) -> None:
        self.graph, self.prefix, self.mapped = graph, prefix, mapped
        self.ops: dict[str, Operation] = {}
        self.used: set[str] = set()
        self.open: list[tuple[Operation, int, str]] = []    # inputs of Merges that come from a node still to be made

    def tensor(self, text: str, node: str) -> Tensor:
        """The tensor for an input of the node called `node`."""
        name = tensor_name(text)
        if name in self.mapped:
            self.used.add(name)
            return self.mapped[name]
        op, _, index = name.partition(":")
        outputs = self.ops[op].outputs
        if not index.isdecimal() or int(index) >= len(outputs):
            raise ValueError(f"node {node!r} takes the input {text!r}, but {op!r} has {len(outputs)} output(s)")
        return outputs[int(index)]

    def add(self, node: Any) -> None:
        """Make the op of a node, of which all inputs are made."""
        spec = spec_of(node.op)
        names = [i for i in node.input if not i.startswith("^")]
        later = {k for k, i in enumerate(names) if tensor_name(i) not in self.mapped and node_name(i) not in self.ops}
        there = [self.tensor(i, node.name) for k, i in enumerate(names) if k not in later]
        rest = iter(there)
        inputs = [there[0] if k in later else next(rest) for k in range(len(names))]
        given = native_attrs(spec, node.attr, node.name)
        shapes = given.pop("_output_shapes", None)
        if "_class" in given:
            given["_class"] = [self._group(group) for group in given["_class"]]
        if "frame_name" in given:                  # loops of two imports of one graph are two
            given["frame_name"] = self.prefix.encode() + given["frame_name"]
        try:
            attrs = complete_attrs(spec, given, inputs, node.name)
        except TypeError as error:
            raise ValueError(str(error)) from None
        full = self.graph._names.propose(self.prefix + node.name)[0]
        waits = [self._control(i) for i in node.input if i.startswith("^")]
        op = self.graph.add_op(spec, inputs, attrs, full + "/", output_types(spec, attrs),
                               [c for c in waits if c is not None])
        op.device = merged(op.device, node.device) if node.device else op.device
        for t, shape in zip(op.outputs, shapes or [], strict=False):
            if t.dtype.name not in ("resource", "variant"):    # TensorFlow: handles of TensorArrays have shape [2]
                t.static = merge(t.static, shape)
        self.ops[node.name] = op
        self.open += [(op, k, names[k]) for k in later]

    def close_loops(self) -> None:
        """Wire the Merges at the beginnings of loops to what comes back."""
        for op, k, name in self.open:
            op._update_input(k, self.tensor(name, op.name))

    def _control(self, text: str) -> Operation | None:
        if text in self.mapped:
            self.used.add(text)
            return self.mapped[text].op
        return self.ops[node_name(text)]

    def _group(self, group: bytes) -> bytes:
        """A colocation group, by the name that its op has here."""
        name = group.removeprefix(b"loc:@")
        return group if name == group else b"loc:@" + self.prefix.encode() + name

    def element(self, text: str) -> Any:
        """The op or tensor that a name in the GraphDef has become."""
        op = self.ops.get(node_name(text))
        if op is None or (":" in text and not text.partition(":")[2].isdecimal()):
            raise ValueError(f"return_elements: {text!r} was not found in graph_def")
        if ":" not in text:
            return op
        index = int(text.partition(":")[2])
        if index >= len(op.outputs):
            raise ValueError(f"return_elements: {text!r} was not found in graph_def: {op.type} has {len(op.outputs)} "
                             "output(s)")
        return op.outputs[index]


describe(globals(), GRAPHS)
