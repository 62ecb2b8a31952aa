"""Operations as GraphDef protos, with the functions that they call. Protobuf is imported when first needed."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from tfnb.core.lazy import lazy_module
from tfnb.core.version import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER
from tfnb.graph.formats import protos
from tfnb.opdef import registry

if TYPE_CHECKING:
    from tfnb.graph.parts.operation import Operation, Tensor

graph_pb2 = lazy_module("tfnb.proto.graph_pb2")
function_pb2 = lazy_module("tfnb.proto.function_pb2")
versions_pb2 = lazy_module("tfnb.proto.versions_pb2")

MOST_BYTES = 1 << 31        # of a proto, which TensorFlow must be able to read


def versions() -> Any:
    """The VersionDef of the graphs that tfnb writes."""
    return versions_pb2.VersionDef(producer=GRAPH_DEF_VERSION, min_consumer=GRAPH_DEF_VERSION_MIN_CONSUMER)


def graph_def(ops: Iterable[Operation], add_shapes: bool = False) -> Any:
    """Return the GraphDef of `ops`, with the functions that they call.

    Raises ValueError if it is too large for a proto (2 GiB).
    """
    ops = list(ops)
    made = graph_pb2.GraphDef(versions=versions())
    made.node.extend(op.to_node_def(add_shapes) for op in ops)
    for body in functions_of(ops):                  # not `extend`: that makes an empty library where there is none
        made.library.function.append(function_def(body))
    if made.ByteSize() >= MOST_BYTES:
        raise ValueError("GraphDef cannot be larger than 2GB.")
    return made


def strip_defaults(made: Any) -> Any:
    """Take the attrs that have their defaults out of a GraphDef, and return it: releases without them read it too."""
    defaults: dict[str, dict[str, Any]] = {}
    for node in made.node:
        if node.op not in defaults:
            spec = registry.find(node.op)
            defaults[node.op] = {} if spec is None else {
                attr.name: protos.attr_value(attr.default, attr.type) for attr in spec.attrs if attr.has_default}
        for name, value in defaults[node.op].items():
            if name in node.attr and node.attr[name] == value:
                del node.attr[name]
    return made


def functions_of(ops: Iterable[Operation]) -> list[Any]:
    """The bodies (graph/function.py) of the functions that attrs of ops name, and those that these name."""
    found: dict[str, Any] = {}
    todo = list(ops)
    while todo:
        op = todo.pop()
        for name in [op.attrs[attr.name].name for attr in op.spec.attrs if attr.type == "func"]:
            body = op.graph._functions.get(name)
            if body is not None and name not in found:
                found[name] = body
                todo += body.get_operations()
    return list(found.values())


def function_def(body: Any) -> Any:
    """The FunctionDef of a function: its inputs are arguments, other tensors are named "node:output:index"."""
    made = function_pb2.FunctionDef()
    made.signature.name = body.name
    arguments = {t.op for t in body.inputs}
    for tensor in body.inputs:
        made.signature.input_arg.add(name=tensor.op.name, type=tensor.dtype.as_datatype_enum)
    for op in body.get_operations():
        if op not in arguments:
            node = op.node_def
            node.input[:] = [*(_in_body(t, arguments) for t in op.inputs), *(f"^{c.name}" for c in op.control_inputs)]
            made.node_def.append(node)
    made.signature.is_stateful = any(op.spec.stateful for op in body.get_operations())
    for i, tensor in enumerate(body.outputs):
        made.signature.output_arg.add(name=f"output_{i}", type=tensor.dtype.base_dtype.as_datatype_enum)
        made.ret[f"output_{i}"] = _in_body(tensor, arguments)
    return made


def _in_body(tensor: Tensor, arguments: Collection[Operation]) -> str:
    op, at = tensor.op, tensor.value_index
    if op in arguments:
        return op.name
    for arg in op.spec.outputs:
        size = len(op.attrs[arg.type_list]) if arg.type_list else op.attrs[arg.number] if arg.number else 1
        if at < size:
            return f"{op.name}:{arg.name}:{at}"
        at -= size
    raise AssertionError(f"{tensor} is no output of its op")
