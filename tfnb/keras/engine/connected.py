"""Inputs, outputs and weights of a layer, by the nodes of its calls."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import nest
from tfnb.keras.backend.values import batch_get_value, batch_set_value
from tfnb.keras.engine.node import Node


class Connected:
    """Inputs and outputs of a layer by its calls on tensors of Keras, and the values of its weights."""

    _inbound_nodes: list[Node]
    _outbound_nodes: list[Node]
    name: Any
    weights: Any

    @property
    def inbound_nodes(self) -> list[Node]:
        """The calls of the layer."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        """The calls that take outputs of the layer."""
        return self._outbound_nodes

    def _at(self, index: int, part: str) -> Any:
        if not self._inbound_nodes:
            raise RuntimeError(f"The layer {self.name!r} has never been called on inputs of Keras and thus has no "
                               f"defined {part.partition('_')[0]}.")
        if not index < len(self._inbound_nodes):
            raise ValueError(f"Asked for the {part.partition('_')[0]} of call {index} of layer {self.name!r}, but it "
                             f"has only {len(self._inbound_nodes)} calls.")
        return getattr(self._inbound_nodes[index], part)

    def _only(self, part: str) -> Any:
        word = part.partition("_")[0]
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no {word} to return: call it on inputs first.")
        if len(self._inbound_nodes) > 1 and len({repr(getattr(node, part)) for node in self._inbound_nodes}) > 1:
            raise AttributeError(f"Layer {self.name} was called {len(self._inbound_nodes)} times, hence `{word}` is "
                                 f"ill-defined. Use `get_{word}_at(call)` instead.")
        return getattr(self._inbound_nodes[0], part)

    def get_input_at(self, node_index: int) -> Any:
        """Return the inputs of a call."""
        return self._at(node_index, "input_tensors")

    def get_output_at(self, node_index: int) -> Any:
        """Return the outputs of a call."""
        return self._at(node_index, "output_tensors")

    def get_input_shape_at(self, node_index: int) -> Any:
        """Return the shapes of the inputs of a call, tuples."""
        return self._at(node_index, "input_shapes")

    def get_output_shape_at(self, node_index: int) -> Any:
        """Return the shapes of the outputs of a call, tuples."""
        return self._at(node_index, "output_shapes")

    def get_input_mask_at(self, node_index: int) -> Any:
        """Return the masks of the inputs of a call."""
        return _masks(self._at(node_index, "input_tensors"))

    def get_output_mask_at(self, node_index: int) -> Any:
        """Return the masks of the outputs of a call."""
        return _masks(self._at(node_index, "output_tensors"))

    @property
    def input(self) -> Any:
        """The inputs of the only call. Raises AttributeError if there is none or more."""
        return self._only("input_tensors")

    @property
    def output(self) -> Any:
        """The outputs of the only call. Raises AttributeError if there is none or more."""
        return self._only("output_tensors")

    @property
    def input_mask(self) -> Any:
        """The masks of the inputs of the only call."""
        return _masks(self.input)

    @property
    def output_mask(self) -> Any:
        """The masks of the outputs of the only call."""
        return _masks(self.output)

    @property
    def input_shape(self) -> Any:
        """The shapes of the inputs, tuples. Raises AttributeError where calls had inputs of several shapes."""
        return self._only("input_shapes")

    @property
    def output_shape(self) -> Any:
        """The shapes of the outputs, tuples. Raises AttributeError where calls had outputs of several shapes."""
        return self._only("output_shapes")

    def get_weights(self) -> list[Any]:
        """Return the values of the weights, arrays."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Set the weights to values: a list of arrays, in the order of `get_weights`.

        Raises ValueError for another number of arrays or for an array of another shape.
        """
        variables, values = self.weights, [np.asarray(each) for each in weights]
        wanted = ", ".join(f"{variable.op.name} {tuple(variable.shape.as_list())}" for variable in variables)
        if len(variables) != len(values):
            raise ValueError(f"set_weights of layer {self.name!r}: expected {len(variables)} arrays ({wanted}), "
                             f"got {len(values)}")
        for variable, value in zip(variables, values, strict=True):
            if tuple(variable.shape.as_list()) != value.shape:
                raise ValueError(f"set_weights of layer {self.name!r}: expected shape "
                                 f"{tuple(variable.shape.as_list())} for {variable.op.name}, got {value.shape}")
        batch_set_value(list(zip(variables, values, strict=True)))


def _masks(tensors: Any) -> Any:
    return nest.map_structure(lambda tensor: getattr(tensor, "_keras_mask", None), tensors)


