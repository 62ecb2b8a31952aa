"""Weights and optimizers of models in TensorFlow's checkpoint format, by the objects that hold them.

A weight has the key "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE". The entry _CHECKPOINTABLE_OBJECT_GRAPH is
the TrackableObjectGraph message (tensorflow/core/protobuf/trackable_object_graph.proto) by which TensorFlow finds it.
"""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from tfnb.core.errors import InvalidArgumentError, NotFoundError
from tfnb.core.program import log
from tfnb.keras.backend.session import get_session
from tfnb.keras.engine.layer import Layer
from tfnb.keras.engine.legacy import LegacyLayer
from tfnb.keras.optimizers.optimizer import Optimizer
from tfnb.keras.optimizers.wrapped import TFOptimizer
from tfnb.proto.object_graph import ENTRY
from tfnb.train.checkpoints import trackable
from tfnb.train.checkpoints.checkpoint import write_objects
from tfnb.train.checkpoints.load_status import CheckpointLoadStatus, NameBasedSaverStatus
from tfnb.train.checkpoints.reader import NewCheckpointReader
from tfnb.train.checkpoints.state import update_checkpoint_state
from tfnb.train.optimizers.slots import is_alive


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
        if getattr(holder, "_compile_arguments", None):
            yield "optimizer", holder.optimizer
        return
    if isinstance(holder, LegacyLayer):
        yield from trackable.children(holder._layer)
        return
    known = {id(variable) for variable in holder.weights}
    inner = {id(kept) for layer in holder._inner_layers() for kept in (layer, vars(layer).get("_layer"))}
    for name, value in vars(holder).items():
        if name in ("_trainable_weights", "_non_trainable_weights", "_layers", "_metrics"):
            continue
        if id(value) in known or id(value) in inner:
            yield name, value
        elif isinstance(value, list) and any(id(each) in inner for each in value):
            yield name, value
    if getattr(holder, "_compile_arguments", None):
        yield "optimizer", holder.optimizer


def _of_optimizer(optimizer: Optimizer) -> Iterator[tuple[str, Any]]:
    """(name, variable) of the count of steps and of the hyperparameters; slots have keys of their own."""
    if optimizer._iterations is not None:
        yield "iter", optimizer._iterations
    yield from ((name, variable) for name, variable in sorted(optimizer._made.items()) if is_alive(variable))


def _of_wrapped(wrapped: TFOptimizer) -> Iterator[tuple[str, Any]]:
    """(name, object) of an optimizer of `tf.train` in a model."""
    yield "optimizer", wrapped.optimizer
    if wrapped._iterations is not None:
        yield "global_step", wrapped._iterations


def write(model: Any, prefix: str) -> None:
    """Write weights and optimizer of a model under a checkpoint's prefix, and the file `checkpoint` beside it."""
    write_objects(model, get_session(), prefix)
    update_checkpoint_state(os.path.dirname(prefix) or ".", prefix, [prefix])


def read(model: Any, prefix: str) -> None:
    """Set weights and optimizer of a model to a checkpoint's; weights that it lacks stay, with a warning.

    Slots of the optimizer are made for that. A checkpoint of a Saver is read by the names of variables. Raises
    NotFoundError if there is no such checkpoint or it has no weights of the model, ValueError for another shape.
    """
    reader = NewCheckpointReader(prefix)
    if not reader.has_tensor(ENTRY):
        NameBasedSaverStatus(list(model.weights), reader).run_restore_ops(get_session())
        return
    keys = reader.get_variable_to_shape_map()
    if any(key.startswith("optimizer/") for key in keys) and getattr(model, "_compile_arguments", None):
        model._make_train_function()
    status, session = CheckpointLoadStatus(model, reader), get_session()
    found, lacking, _ = status.match()
    weights = {id(variable) for variable in model.weights}
    if not weights & {id(variable) for variable in found.values()}:
        raise NotFoundError(None, None, f"{prefix} has no weights of this model: it has {sorted(keys)[:5]}")
    if names := [variable.name for variable in lacking if id(variable) in weights]:
        log.warning(f"The checkpoint {prefix} has no values for {', '.join(names)}")
    try:
        status.run_restore_ops(session)
    except InvalidArgumentError as error:
        raise ValueError(error.message) from error


trackable.register(Layer, children)
trackable.register(Optimizer, _of_optimizer)
trackable.register(TFOptimizer, _of_wrapped)
