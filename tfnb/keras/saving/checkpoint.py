"""Weights of models in TensorFlow's checkpoint format, by the objects that hold them.

A weight has the key "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE". The entry _CHECKPOINTABLE_OBJECT_GRAPH is
the TrackableObjectGraph message (tensorflow/core/protobuf/trackable_object_graph.proto) by which TensorFlow finds it.
"""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from tfnb.core.errors import NotFoundError
from tfnb.core.program import log
from tfnb.graph.graph import Graph
from tfnb.keras.backend.session import get_session
from tfnb.keras.backend.values import batch_get_value, batch_set_value
from tfnb.keras.engine.layer import Layer
from tfnb.ops.declaration.raw import raw
from tfnb.proto import object_graph
from tfnb.runtime.session import Session
from tfnb.train.checkpoints.reader import NewCheckpointReader
from tfnb.train.checkpoints.state import update_checkpoint_state
from tfnb.train.checkpoints.trackable import register
from tfnb.variables.variable import Variable

_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def children(holder: Any) -> Iterator[tuple[str, Any]]:
    """(name, layer, variable or list of them) of what an object keeps: layers of models, else attributes."""
    if getattr(holder, "_is_graph_network", False) or (hasattr(holder, "layers") and holder.layers and
                                                       not isinstance(holder, Layer)):
        number = 0
        for index, layer in enumerate(holder.layers):
            if layer.weights:
                yield f"layer_with_weights-{number}", layer
                number += 1
            yield f"layer-{index}", layer
        return
    known = {id(variable) for variable in holder.weights}
    inner = {id(layer) for layer in holder._inner_layers()}
    for name, value in vars(holder).items():
        if name in ("_trainable_weights", "_non_trainable_weights", "_layers", "_metrics"):
            continue
        if id(value) in known or id(value) in inner:
            yield name, value
        elif isinstance(value, list):
            for number, each in enumerate(value):
                if id(each) in inner:
                    yield f"{name}/{number}", each


def keyed(model: Any) -> dict[str, Any]:
    """Return the weights of a model by the first path that leads to each, breadth first."""
    found: dict[str, Any] = {}
    seen: set[int] = {id(model)}
    waiting: list[tuple[str, Any]] = [("", model)]
    for path, holder in waiting:                                    # grows while it is walked
        for name, value in children(holder):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Variable):
                found[f"{path}{name}"] = value
            else:
                waiting.append((f"{path}{name}/", value))
    return found


def write(model: Any, prefix: str) -> None:
    """Write the weights of a model under a checkpoint's prefix, and the file `checkpoint` beside it."""
    weights = keyed(model)
    values = batch_get_value(list(weights.values()))
    names = [*(f"{key}{_VALUE}" for key in weights), object_graph.ENTRY]
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    with Graph().as_default(), Session() as session:
        session.run(raw.SaveV2(prefix, names, [""] * len(names), [*values, _object_graph(model)]))
    update_checkpoint_state(os.path.dirname(prefix) or ".", prefix, [prefix])


def read(model: Any, prefix: str) -> None:
    """Set the weights of a model to those of a checkpoint; those that it lacks stay, with a warning.

    Raises NotFoundError if there is no such checkpoint, ValueError for another shape.
    """
    reader = NewCheckpointReader(prefix)
    shapes, pairs, lacking = reader.get_variable_to_shape_map(), [], []
    get_session()
    for key, variable in keyed(model).items():
        name = f"{key}{_VALUE}"
        if name not in shapes:
            lacking.append(variable.name)
            continue
        if list(shapes[name]) != variable.shape.as_list():
            raise ValueError(f"Weight {variable.name}: expected shape {variable.shape.as_list()}, but the checkpoint "
                             f"has {list(shapes[name])}")
        pairs.append((variable, reader.get_tensor(name)))
    if not pairs:
        raise NotFoundError(None, None, f"{prefix} has no weights of this model: it has {sorted(shapes)[:5]}")
    if lacking:
        log.warning(f"The checkpoint {prefix} has no values for {', '.join(lacking)}")
    batch_set_value(pairs)


def _object_graph(model: Any) -> bytes:
    numbers: dict[int, int] = {id(model): 0}
    holders: list[Any] = [model]
    keys = {id(variable): key for key, variable in keyed(model).items()}
    nodes = []
    for holder in holders:                                          # grows while it is walked
        node = object_graph.Node()
        if isinstance(holder, Variable):
            node.values.append(("VARIABLE_VALUE", holder.op.name, keys[id(holder)] + _VALUE))
        else:
            for name, value in children(holder):
                if id(value) not in numbers:
                    numbers[id(value)] = len(holders)
                    holders.append(value)
                node.children[name] = numbers[id(value)]
        nodes.append(node)
    return object_graph.encode(nodes)


register(Layer, children)
