"""Configs of functional models: their layers, the calls between them, inputs and outputs, as Keras writes them."""
from __future__ import annotations

from typing import Any

from tfnb.core import nest
from tfnb.graph.parts.operation import Tensor
from tfnb.keras.engine.node import Node
from tfnb.keras.engine.serialization import deserialize, serialize


def network_config(network: Any) -> dict[str, Any]:
    """Return the config of a network that is a graph of layers."""
    # the first call of a model in the network is its own, from its inputs to its outputs
    kept = {node: number for layer in network._layers for number, node in enumerate(
        [node for node in layer._inbound_nodes if node in network._depth], start=int(hasattr(layer, "_nodes")))}

    def place(tensor: Any) -> list[Any]:
        layer, node, index = tensor._keras_history
        return [layer.name, kept[layer._inbound_nodes[node]], index]

    layers = []
    for layer in network._layers:
        nodes = [node for node in layer._inbound_nodes if node in network._depth]
        calls = [_call_config(node, place) for node in nodes if nest.flatten(node.input_tensors)]
        layers.append({**serialize(layer), "name": layer.name, "inbound_nodes": calls})
    return {"name": network.name, "layers": layers,
            "input_layers": _places(network._input_structure, network.inputs, place),
            "output_layers": _places(network._output_structure, network.outputs, place)}


def _places(structure: Any, tensors: list[Any], place: Any) -> Any:
    if isinstance(structure, dict):
        return {key: place(tensor) for key, tensor in structure.items()}
    return [place(tensor) for tensor in tensors]


def _call_config(node: Node, place: Any) -> Any:
    """Return [[layer, node, tensor, arguments], ...] for the inputs of a call."""
    arguments = {key: nest.map_structure(lambda each: place(each) if isinstance(each, Tensor) else each, value)
                 for key, value in node.arguments.items()}
    return [[*place(tensor), arguments if number == 0 else {}]
            for number, tensor in enumerate(nest.flatten(node.input_tensors))]


def rebuilt(config: dict[str, Any], custom_objects: Any = None) -> tuple[Any, Any]:
    """Return (inputs, outputs) of the layers that a config describes, called as it says."""
    layers: dict[str, Any] = {}
    waiting: list[tuple[Any, Any]] = []
    for each in config["layers"]:
        layer = deserialize({"class_name": each["class_name"], "config": each["config"]}, custom_objects)
        layers[each["name"]] = layer
        waiting += [(layer, call) for call in each["inbound_nodes"]]

    def tensor(entry: Any) -> Any:
        """The tensor of [layer, call, index], or None if that call was not made yet."""
        name, number, index = entry[:3]
        calls = layers[name]._inbound_nodes
        return nest.flatten(calls[number].output_tensors)[index] if number < len(calls) else None

    while waiting:
        left = [(layer, call) for layer, call in waiting if not _called(layer, call, tensor)]
        if len(left) == len(waiting):
            raise ValueError(f"The calls of layer {left[0][0].name!r} need tensors that the config does not describe")
        waiting = left
    return _tensors(config["input_layers"], tensor), _tensors(config["output_layers"], tensor)


def _called(layer: Any, call: Any, tensor: Any) -> bool:
    """Make a call of a config if its inputs are there; return whether they are."""
    if isinstance(call, dict):
        return _called_newer(layer, call, tensor)
    entries = [call] if call and isinstance(call[0], str) else call
    inputs = [tensor(entry) for entry in entries]
    arguments = {key: value for entry in entries if len(entry) > 3 for key, value in entry[3].items()}
    arguments = {key: _argument(value, tensor) for key, value in arguments.items()}
    if any(each is None for each in [*inputs, *(v for k, v in arguments.items() if call_places(v))]):
        return False
    layer(inputs[0] if len(inputs) == 1 else inputs, **arguments)
    return True


def _called_newer(layer: Any, call: dict[str, Any], tensor: Any) -> bool:
    """Make a call as Keras 3 writes it: args and kwargs with tensors as dicts."""
    lacking: list[Any] = []

    def found(value: Any) -> Any:
        if isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
            made = tensor(value["config"]["keras_history"])
            lacking.extend([value] if made is None else [])
            return made
        if isinstance(value, dict):
            return {key: found(each) for key, each in value.items()}
        return [found(each) for each in value] if isinstance(value, list) else value
    args, kwargs = found(call["args"]), found(call["kwargs"])
    if lacking:
        return False
    layer(*args, **{key: value for key, value in kwargs.items() if value is not None and layer._takes(key)})
    return True


def call_places(value: Any) -> bool:
    """Return whether a value is [layer, call, index], the place of a tensor."""
    return isinstance(value, list) and len(value) == 3 and isinstance(value[0], str) and isinstance(value[1], int)


def _argument(value: Any, tensor: Any) -> Any:
    if call_places(value):
        return tensor(value)
    return [_argument(each, tensor) for each in value] if isinstance(value, list) else value


def _tensors(entries: Any, tensor: Any) -> Any:
    if isinstance(entries, dict):
        return {key: tensor(entry) for key, entry in entries.items()}
    if entries and isinstance(entries[0], str):
        return tensor(entries)
    found = [tensor(entry) for entry in entries]
    return found[0] if len(found) == 1 else found

