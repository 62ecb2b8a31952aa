"""Freezing: a graph and a checkpoint become one GraphDef of constants (`tensorflow.python.tools.freeze_graph`)."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf import text_format

from tfnb.core.errors import NotFoundError
from tfnb.core.files.gfile import Exists, GFile
from tfnb.graph.graph import Graph
from tfnb.graph.graph_util import convert_variables_to_constants
from tfnb.graph.importing import import_graph_def
from tfnb.opdef import kinds
from tfnb.ops.declaration.raw import raw
from tfnb.proto.graph_pb2 import GraphDef
from tfnb.proto.meta_graph_pb2 import MetaGraphDef
from tfnb.runtime.session import Session
from tfnb.saved_model import loader
from tfnb.train.checkpoints.reader import load_checkpoint


def freeze_graph(input_graph: Any, input_saver: Any, input_binary: bool, input_checkpoint: Any,
                 output_node_names: str, restore_op_name: Any, filename_tensor_name: Any, output_graph: Any,
                 clear_devices: bool, initializer_nodes: str | None, variable_names_whitelist: str = "",
                 variable_names_blacklist: str = "", input_meta_graph: Any = None, input_saved_model_dir: Any = None,
                 saved_model_tags: str = "serve", checkpoint_version: Any = None) -> Any:
    """Return the part of a graph that computes some nodes, with variables as constants, and write it to a file.

    input_graph: the file of a GraphDef, text or binary (input_binary); or input_meta_graph, or input_saved_model_dir
    with saved_model_tags. input_checkpoint: where the values of its variables are. output_node_names,
    initializer_nodes (run before), variable_names_whitelist and _blacklist: names between commas. output_graph: the
    file to write, or "". clear_devices: drop the devices of nodes. input_saver, restore_op_name, filename_tensor_name
    and checkpoint_version are taken and do nothing: values are read by the names of variables.

    Raises ValueError without output nodes, NotFoundError for a file, or a value of a variable, that is not there.
    """
    outputs = _split(output_node_names)
    if not outputs:
        raise ValueError("expected names of output nodes in `output_node_names`, got none")
    with Graph().as_default() as graph, Session(graph=graph) as sess:
        if input_saved_model_dir:
            loader.load(sess, _split(saved_model_tags), input_saved_model_dir)
        else:
            import_graph_def(_read(input_graph, input_meta_graph, input_binary, clear_devices), name="")
            sess.run(list(_assignments(graph, input_checkpoint)))
        for name in _split(initializer_nodes or ""):
            sess.run(graph.get_operation_by_name(name))
        definition = graph.as_graph_def()
        if clear_devices:
            _clear(definition)
        frozen = convert_variables_to_constants(sess, definition, outputs, _split(variable_names_whitelist) or None,
                                                _split(variable_names_blacklist) or None)
    if output_graph:
        with GFile(output_graph, "wb") as file:
            file.write(frozen.SerializeToString())
    return frozen


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _read(graph: Any, meta_graph: Any, binary: bool, clear_devices: bool) -> Any:
    """Return the GraphDef of a file, in text or binary, or that in a MetaGraphDef."""
    path = meta_graph or graph
    message: Any = MetaGraphDef() if meta_graph else GraphDef()
    if not Exists(path):
        raise NotFoundError(None, None, f"Input graph file '{path}' does not exist!")
    with GFile(path, "rb") as file:
        data = file.read()
    if binary:
        message.ParseFromString(data)
    else:
        text_format.Parse(data.decode(), message)
    found = message.graph_def if meta_graph else message
    if clear_devices:
        _clear(found)
    return found


def _clear(definition: Any) -> None:
    for node in definition.node:
        node.device = ""


def _assignments(graph: Graph, checkpoint: Any) -> Iterator[Any]:
    """Yield the operations that give the variables of a graph the values of a checkpoint."""
    reader = load_checkpoint(checkpoint)
    for op in graph.get_operations():
        if isinstance(op.spec, kinds.Variable):
            name = (op.get_attr("shared_name") or b"").decode() or op.name
            if not reader.has_tensor(name):
                raise NotFoundError(None, op, f"Key {name} not found in checkpoint {checkpoint}")
            if isinstance(op.spec, kinds.Handle):
                yield raw.AssignVariableOp(op.outputs[0], reader.get_tensor(name))
            else:
                yield raw.Assign(op.outputs[0], reader.get_tensor(name)).op
