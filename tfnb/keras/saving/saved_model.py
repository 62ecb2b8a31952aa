"""SavedModels of models of Keras: a graph for serving, weights by objects, and the architecture beside them.

variables/ holds what `save_weights` writes, from which the graph for serving restores its variables, too.
assets/saved_model.json holds the JSON of the architecture, as `tf.keras.experimental.export_saved_model` of 1.15 writes
it, with the arguments of `compile`.
"""
from __future__ import annotations

import json
import os
import shutil
from typing import Any

from tfnb.graph.graph import Graph
from tfnb.keras.backend.phase import set_learning_phase
from tfnb.keras.backend.session import get_session
from tfnb.keras.engine.network import inner_layers
from tfnb.keras.saving import checkpoint
from tfnb.keras.saving.hdf5 import compile_as, training_config
from tfnb.keras.saving.json_text import model_from_config, model_to_json
from tfnb.runtime.session import Session
from tfnb.saved_model import constants as places
from tfnb.saved_model.builder import SavedModelBuilder
from tfnb.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tfnb.saved_model.signature_def_utils import predict_signature_def
from tfnb.saved_model.tag_constants import SERVING
from tfnb.train.checkpoints.saver import Saver
from tfnb.train.checkpoints.trackable import Walk

_CONFIG = "saved_model.json"                        # official, in assets/


def is_saved_model(path: Any) -> bool:
    """Return whether a path is a directory with a SavedModel."""
    return any(os.path.isfile(os.path.join(path, name)) for name in (
        places.SAVED_MODEL_FILENAME_PB, places.SAVED_MODEL_FILENAME_PBTXT))


def write(model: Any, path: str, include_optimizer: bool = True, as_text: bool = False,
          signatures: Any = None) -> None:
    """Write a SavedModel to a directory, in place of one that is there.

    signatures: dict of names to SignatureDefs beside the one for serving. Raises ValueError before a subclass was
    called on data.
    """
    if model.inputs is None:
        raise ValueError(f"Model {model.name!r} cannot be saved because the input shapes have not been set. Call it on "
                         "data, for example by `fit` or `predict`, before.")
    if is_saved_model(path):
        for name in (places.VARIABLES_DIRECTORY, places.ASSETS_DIRECTORY):
            shutil.rmtree(os.path.join(path, name), ignore_errors=True)
        for name in (places.SAVED_MODEL_FILENAME_PB, places.SAVED_MODEL_FILENAME_PBTXT):
            if os.path.exists(os.path.join(path, name)):
                os.remove(os.path.join(path, name))
    if model._is_graph_network:
        with Graph().as_default(), Session():
            set_learning_phase(0)
            copy = model_from_config({"class_name": type(model).__name__, "config": model.get_config()},
                                     {type(layer).__name__: type(layer) for layer in [model, *inner_layers(model)]})
            _write_graph(copy, path, as_text, signatures)
        _write_config(model, path, include_optimizer)
    else:
        _write_graph(model, path, as_text, signatures)
    given = model._compile_arguments
    model._compile_arguments = given if include_optimizer else None
    try:
        checkpoint.write(model, os.path.join(path, places.VARIABLES_DIRECTORY, places.VARIABLES_FILENAME))
    finally:
        model._compile_arguments = given


def _write_graph(model: Any, path: str, as_text: bool, signatures: Any) -> None:
    """Write the default graph with the signature of a model. The values that its variables have are overwritten."""
    weights = {id(variable) for variable in model.weights}
    saver = Saver({key: variable for key, variable in Walk(model).variables().items() if id(variable) in weights},
                  allow_empty=True)
    signature = predict_signature_def(dict(zip(model.input_names, model.inputs, strict=True)),
                                      dict(zip(model.output_names, model.outputs, strict=True)))
    builder = SavedModelBuilder(path)
    builder.add_meta_graph_and_variables(get_session(), [SERVING], {
        **(signatures or {}), DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature}, saver=saver)
    builder.save(as_text)


def _write_config(model: Any, path: str, include_optimizer: bool) -> None:
    config = json.loads(model_to_json(model))
    if include_optimizer and (training := training_config(model)) is not None:
        config["training_config"] = json.loads(training)
    os.makedirs(os.path.join(path, places.ASSETS_DIRECTORY), exist_ok=True)
    with open(os.path.join(path, places.ASSETS_DIRECTORY, _CONFIG), "w", encoding="utf-8") as file:
        json.dump(config, file)


def read(path: str, custom_objects: Any, is_compiled: bool) -> Any:
    """Return the model of a directory. Raises ValueError for a SavedModel without an architecture of Keras."""
    place = os.path.join(path, places.ASSETS_DIRECTORY, _CONFIG)
    if not os.path.isfile(place):
        raise ValueError(f"The SavedModel in {path} has no architecture of Keras, {places.ASSETS_DIRECTORY}/{_CONFIG}: "
                         "expected one that model.save(directory, save_format='tf') wrote, of a model that is no "
                         "subclass with its own `call`; load its graph by tf.saved_model.load")
    with open(place, encoding="utf-8") as file:
        config = json.load(file)
    training = config.pop("training_config", None)
    model = model_from_config(config, custom_objects)
    if is_compiled and training is not None:
        compile_as(model, json.dumps(training), custom_objects)
    checkpoint.read(model, os.path.join(path, places.VARIABLES_DIRECTORY, places.VARIABLES_FILENAME))
    return model
