"""Nodes of the graph of layers: each call of a layer on Keras tensors is one, which knows what it took and made."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tfnb.core import nest


class KerasHistory(NamedTuple):
    """Place of a tensor in the graph of layers: output `tensor_index` of the call `node_index` of `layer`."""

    layer: Any
    node_index: int
    tensor_index: int


def history(tensor: Any) -> KerasHistory | None:
    """Return where a tensor comes from, or None for what no layer made of inputs of Keras."""
    return getattr(tensor, "_keras_history", None)


def has_history(inputs: Any) -> bool:
    """Return whether all tensors of a structure come from inputs of Keras."""
    leaves = nest.flatten(inputs)
    return bool(leaves) and all(history(leaf) is not None for leaf in leaves)


class Node:
    """A call of a layer. inputs, outputs: structures of tensors; arguments: the other arguments of the call.

    is_own: the layer is a model, whose own inputs and outputs these are.
    """

    def __init__(self, layer: Any, inputs: Any, outputs: Any, arguments: dict[str, Any] | None = None,
                 is_own: bool = False) -> None:
        self.outbound_layer = self.layer = layer
        self.input_tensors, self.output_tensors, self.arguments = inputs, outputs, arguments or {}
        if is_own:                                  # a model is made: its layers made the outputs
            return
        layer._inbound_nodes.append(self)
        for number, tensor in enumerate(nest.flatten(outputs)):
            tensor._keras_history = KerasHistory(layer, len(layer._inbound_nodes) - 1, number)
        for tensor in nest.flatten(inputs):
            found = history(tensor)
            if found is not None and found.layer is not layer:
                found.layer._outbound_nodes.append(self)

    def parents(self) -> Iterator[tuple[Any, KerasHistory]]:
        """(tensor, where it comes from) of the inputs, and of other arguments that are tensors of Keras."""
        for tensor in [*nest.flatten(self.input_tensors), *nest.flatten(self.arguments)]:
            found = history(tensor)
            if found is not None and found.layer._inbound_nodes[found.node_index] is not self:
                yield tensor, found

    @property
    def inbound_layers(self) -> Any:
        """The layers that made the inputs, in their structure."""
        return self._histories(0)

    @property
    def node_indices(self) -> Any:
        """The numbers of the calls that made the inputs, in their structure."""
        return self._histories(1)

    @property
    def tensor_indices(self) -> Any:
        """The numbers of the inputs among the outputs of these calls, in their structure."""
        return self._histories(2)

    def _histories(self, part: int) -> Any:
        return nest.map_structure(lambda tensor: tensor._keras_history[part], self.input_tensors)

    @property
    def input_shapes(self) -> Any:
        """The static shapes of the inputs, tuples in their structure."""
        return shapes_of(self.input_tensors)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of the outputs, tuples in their structure."""
        return shapes_of(self.output_tensors)


def shapes_of(tensors: Any) -> Any:
    """Return the static shapes of a structure of tensors, a tuple with None for unknown sizes each."""
    return nest.map_structure(lambda tensor: None if tensor.shape.ndims is None else tuple(tensor.shape.as_list()),
                              tensors)
