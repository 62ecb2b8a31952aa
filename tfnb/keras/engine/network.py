"""Networks: layers of layers, by a graph of calls between inputs and outputs, or by a `call` of a subclass."""
from __future__ import annotations

import copy
from typing import Any

from tfnb.core import nest
from tfnb.graph.graph_util import depends_on
from tfnb.keras.backend.session import unique_name
from tfnb.keras.engine.config import network_config, rebuilt
from tfnb.keras.engine.layer import Layer
from tfnb.keras.engine.node import Node, history, shapes_of
from tfnb.keras.engine.op_layer import connect
from tfnb.keras.engine.topology import topology
from tfnb.keras.engine.written import summary
from tfnb.layers.weighted import snake_case, tensors_in


class Network(Layer):
    """Base of models: layers that have layers. It is a graph of layers if it has inputs and outputs."""

    _is_graph_network = False
    _layers: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = kwargs.pop("name", None)
        given = dict(zip(("inputs", "outputs", "name"), args, strict=False))
        name = given.pop("name", name)
        given.update({key: kwargs.pop(key) for key in ("inputs", "outputs") if key in kwargs})
        self._layers = []
        super().__init__(name=name, **kwargs)
        self.inputs: Any = None
        self.outputs: Any = None
        self._input_structure = self._output_structure = None
        if given:
            if given.keys() != {"inputs", "outputs"}:
                raise TypeError("Expected both `inputs` and `outputs` for a model of a graph of layers, got only "
                                f"{', '.join(given)}")
            self._init_graph(given["inputs"], given["outputs"])

    def _unique_name(self) -> str:
        return unique_name(snake_case(type(self).__name__))

    def _init_graph(self, inputs: Any, outputs: Any) -> None:
        """Make the network the graph of layers between `inputs` and `outputs`."""
        self._is_graph_network = True
        self._input_structure, self._output_structure = inputs, outputs
        self.inputs, self.outputs = nest.flatten(inputs), nest.flatten(outputs)
        connect(outputs)
        for tensor in self.inputs:
            if history(tensor) is None or nest.flatten(_node_of(tensor).input_tensors):
                raise ValueError("Input tensors to a Model must come from `tf.keras.Input`, got the "
                                 f"{'output of layer ' + tensor._keras_history.layer.name if history(tensor) else ''} "
                                 f"tensor {tensor}")
        if len({id(tensor) for tensor in self.inputs}) < len(self.inputs):
            raise ValueError(f"The list of inputs passed to the model is redundant: {self.inputs}")
        for tensor in self.outputs:
            if history(tensor) is None:
                raise ValueError("Output tensors to a Model must be the output of a Layer (thus holding past layer "
                                 f"metadata), got {tensor}")
        found = topology(inputs, outputs)
        self._nodes, self._layers, self._depth = found.nodes, found.layers, found.depth
        self._input_layers = [tensor._keras_history.layer for tensor in self.inputs]
        self.input_names = [layer.name for layer in self._input_layers]
        self.output_names = _unique([tensor._keras_history.layer.name for tensor in self.outputs])
        self.built, self._called_with = True, list(self.inputs)
        self._inbound_nodes = [Node(self, inputs, outputs, is_own=True)]

    # Layers

    def _inner_layers(self) -> list[Any]:
        return list(self._layers) if self._is_graph_network else super()._inner_layers()

    @property
    def layers(self) -> list[Any]:
        """The layers: of a graph those furthest from the outputs first."""
        return self._inner_layers()

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """Return a layer by its name or its index among `layers`. Raises ValueError if there is none."""
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has "
                                 f"{len(self.layers)} layers.")
            return self.layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. The model has: {', '.join(layer.name for layer in self.layers)}")

    @property
    def stateful(self) -> bool:                                         # type: ignore[override]
        """Whether a layer keeps a state from one batch to the next."""
        return any(getattr(layer, "stateful", False) for layer in self.layers)

    def reset_states(self) -> None:
        """Reset the states of stateful layers."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def input(self) -> Any:
        """The inputs."""
        return self._input_structure if self._is_graph_network else super().input

    @property
    def output(self) -> Any:
        """The outputs."""
        return self._output_structure if self._is_graph_network else super().output

    @property
    def input_shape(self) -> Any:
        """The shapes of the inputs, tuples."""
        return shapes_of(self._input_structure) if self._is_graph_network else super().input_shape

    @property
    def output_shape(self) -> Any:
        """The shapes of the outputs, tuples."""
        return shapes_of(self._output_structure) if self._is_graph_network else super().output_shape

    # Calls

    def _forget_stale(self) -> bool:
        """Forget nothing: a graph of layers stays as it was built."""
        return not self._is_graph_network and super()._forget_stale()

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Compute the outputs for other inputs, by the same layers."""
        if not self._is_graph_network:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a `call` method.")
        given = nest.flatten(inputs)
        if len(given) != len(self.inputs):
            raise ValueError(f"Model {self.name!r}: expected {len(self.inputs)} inputs ({', '.join(self.input_names)}),"
                             f" got {len(given)}")
        values = dict(zip(map(id, self.inputs), given, strict=True))
        for each, each_mask in zip(given, _masks(mask, given), strict=True):
            if each_mask is not None:
                each._keras_mask = each_mask
        for node in self._nodes:
            if nest.flatten(node.input_tensors):
                self._run_node(node, values, training)
        return nest.map_structure(lambda tensor: values[id(tensor)], self._output_structure)

    def _run_node(self, node: Node, values: dict[int, Any], training: Any) -> None:
        def found(each: Any) -> Any:
            return values.get(id(each), each)
        arguments = nest.map_structure(found, dict(node.arguments))
        if training is not None and node.layer._takes("training"):
            arguments.setdefault("training", training)
        made = node.layer(nest.map_structure(found, node.input_tensors), **arguments)
        values.update(zip(map(id, nest.flatten(node.output_tensors)), nest.flatten(made), strict=True))

    def _set_masks(self, inputs: Any, outputs: Any, given: Any) -> None:
        if not self._is_graph_network:
            super()._set_masks(inputs, outputs, given)          # else the layers inside did

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shapes of the outputs: what the graph says for its own inputs."""
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        shapes = [tensor.shape for tensor in self.outputs]
        return shapes[0] if len(shapes) == 1 else shapes

    # Updates and losses

    @property
    def updates(self) -> list[Any]:
        """The ops that training runs with each step, those for the inputs of the network alone."""
        return self._relevant(super().updates, lambda update: update)

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers, those for the inputs of the network alone, and of their weights."""
        return self._relevant(super().losses, lambda loss: loss.op)

    def _relevant(self, found: list[Any], op_of: Any) -> list[Any]:
        """Leave out what depends on inputs of shared layers that are not inputs of the network."""
        own = set().union(*(tensors_in(node.input_tensors) for node in self._inbound_nodes)) | set(self._called_with)
        if not own or not found:
            return found
        theirs = set().union(*(set(layer._called_with) for layer in inner_layers(self))) | own
        return [each for each in found if depends_on(op_of(each), own) or not depends_on(op_of(each), theirs)]

    # Settings

    def get_config(self) -> dict[str, Any]:
        """Return the layers, the graph between them and the inputs and outputs. NotImplementedError in subclasses."""
        if not self._is_graph_network:
            raise NotImplementedError("A model that is a subclass with its own `call` has no config: save its weights")
        return copy.deepcopy(network_config(self))

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Return a network with new weights from its config."""
        inputs, outputs = rebuilt(config, custom_objects)
        return cls(inputs=inputs, outputs=outputs, name=config.get("name"))

    def summary(self, line_length: int | None = None, positions: Any = None, print_fn: Any = None) -> None:
        """Print a table of the layers with their output shapes and numbers of weights.

        line_length: of the lines. positions: where columns end, as parts of it. print_fn: takes each line in place of
        print. Raises ValueError before the model is built.
        """
        if not self.built:
            raise ValueError("This model has not yet been built. Build the model first by calling `build()` or calling "
                             "`fit()` with some data, or specify an `input_shape` argument in the first layer(s).")
        summary(self, line_length, positions, print_fn or print)


def _node_of(tensor: Any) -> Any:
    return tensor._keras_history.layer._inbound_nodes[tensor._keras_history.node_index]


def inner_layers(layer: Any) -> list[Any]:
    """Return the layers in a layer, and those in them."""
    return [each for inner in layer._inner_layers() for each in [inner, *inner_layers(inner)]]


def _masks(mask: Any, given: list[Any]) -> list[Any]:
    return [None] * len(given) if mask is None else nest.flatten(mask)


def _unique(names: list[str]) -> list[str]:
    """Number names that come again: dense, dense_1."""
    found: list[str] = []
    for name in names:
        other, number = name, 0
        while other in found:
            number += 1
            other = f"{name}_{number}"
        found.append(other)
    return found

