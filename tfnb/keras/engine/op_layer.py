"""Layers of single ops: what a program does with tensors of Keras by functions of `tf` becomes part of the model."""
from __future__ import annotations

from typing import Any

from google.protobuf import json_format

from tfnb.core import nest
from tfnb.core.absent import explain as _explain
from tfnb.core.lazy import lazy_module
from tfnb.graph.closure import closure
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.keras.backend.values import get_value
from tfnb.keras.engine.layer import Layer, connect_ops
from tfnb.keras.engine.node import Node, history
from tfnb.ops.control.source import constant

_nodes = lazy_module("tfnb.proto.node_def_pb2")


class TensorFlowOpLayer(Layer):
    """A layer that is one op. node_def: its NodeDef; constants: {place among its inputs: value or tensor}."""

    def __init__(self, node_def: Any, name: str, constants: Any = None, trainable: bool = True,
                 dtype: Any = None) -> None:
        super().__init__(name=f"tf_op_layer_{name}", trainable=trainable, dtype=dtype)
        self.node_def = json_format.Parse(node_def, _nodes.NodeDef()) if isinstance(node_def, str) else node_def
        self._op_name, self.built = name, True
        self.constants = {int(place): value for place, value in (constants or {}).items()}

    def call(self, inputs: Any) -> Any:
        """Compute the op for other inputs."""
        given = nest.flatten(inputs)
        for place in sorted(self.constants):
            value = self.constants[place]
            given.insert(place, value if isinstance(value, Tensor) else constant(value))
        op = get_default_graph().create_op(self.node_def.op, given, name=self._op_name, attrs=dict(self.node_def.attr))
        return op.outputs[0] if len(op.outputs) == 1 else list(op.outputs)

    def get_config(self) -> dict[str, Any]:
        """Return name, NodeDef (as JSON) and the values of the constants."""
        values = {place: get_value(value) if isinstance(value, Tensor) else value
                  for place, value in self.constants.items()}
        return {"name": self._op_name, "trainable": self.trainable, "dtype": self.dtype,
                "node_def": json_format.MessageToJson(self.node_def),
                "constants": {place: getattr(value, "tolist", lambda v=value: v)() for place, value in values.items()}}


def comes_from_inputs(tensor: Any) -> bool:
    """Return whether ops lead from a tensor of Keras to `tensor`."""
    return any(history(each) is not None for each in closure([tensor], _above))


def _above(tensor: Any) -> list[Any]:
    """Return what a tensor was made from, down to tensors of Keras."""
    return [] if history(tensor) is not None or not hasattr(tensor, "op") else list(tensor.op.inputs)


def connect(tensors: Any) -> None:
    """Make layers of the ops between tensors of Keras and `tensors`, in their order."""
    waiting = [tensor.op for tensor in nest.flatten(tensors)
               if isinstance(tensor, Tensor) and history(tensor) is None and comes_from_inputs(tensor)]
    while waiting:
        op = waiting[-1]
        if history(op.outputs[0]) is not None:
            waiting.pop()
            continue
        ours = [tensor for tensor in op.inputs if comes_from_inputs(tensor)]
        before = [tensor.op for tensor in ours if history(tensor) is None]
        if before:
            waiting += before
            continue
        others = {place: tensor for place, tensor in enumerate(op.inputs) if not any(tensor is each for each in ours)}
        layer = TensorFlowOpLayer(op.node_def, op.name, others)
        Node(layer, ours[0] if len(ours) == 1 else ours, op.outputs[0] if len(op.outputs) == 1 else list(op.outputs))
        waiting.pop()


connect_ops[0] = connect

_explain(__name__)
