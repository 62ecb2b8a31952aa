"""HDF5 files of weights and models in the layout of Keras, which Keras reads and whose files are read here.

The group of weights has the attribute layer_names and a group for each layer with the attribute weight_names and a
dataset for each weight. A file of a model has these in "model_weights", with the attributes model_config and
training_config beside it, and the state of the optimizer in "optimizer_weights".
"""
from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.core.program import log
from tfnb.keras.backend.values import batch_get_value, batch_set_value
from tfnb.keras.optimizers import lookup as optimizers
from tfnb.keras.optimizers.wrapped import TFOptimizer
from tfnb.keras.saving.json_text import BACKEND, VERSION, encoded, model_config, model_from_config

_h5py = lazy_module("h5py")
_ATTRIBUTE_BYTES = 64512                                # HDF5 has room for so much in the header of an object


def opened(path: Any, mode: str) -> AbstractContextManager[Any]:
    """Return an open HDF5 file, or the given one. Raises ImportError without h5py."""
    if not isinstance(path, (str, bytes)) and not hasattr(path, "__fspath__"):
        return nullcontext(path)
    try:
        found: AbstractContextManager[Any] = _h5py.File(path, mode)
    except ImportError as error:
        raise ImportError("HDF5 files of Keras need h5py: pip install 'tfnb[hdf5]', or save weights in TensorFlow's "
                          "format, under a name that does not end in .h5") from error
    return found


def is_hdf5(path: Any) -> bool:
    """Return whether a path names an HDF5 file by its ending."""
    return str(path).endswith((".h5", ".keras", ".hdf5"))


# Attributes that may be longer than a header has room for

def _write_names(group: Any, key: str, names: list[bytes]) -> None:
    if any(len(name) > _ATTRIBUTE_BYTES for name in names):
        raise RuntimeError("The following attributes cannot be saved to HDF5 file because a name is too long")
    parts = 1
    while any(np.asarray(part).nbytes > _ATTRIBUTE_BYTES for part in np.array_split(names, parts) if len(names)):
        parts += 1
    if parts == 1:
        group.attrs[key] = names
        return
    for number, part in enumerate(np.array_split(names, parts)):
        group.attrs[f"{key}{number}"] = part


def _names(group: Any, key: str) -> list[str]:
    if key in group.attrs:
        found = list(group.attrs[key])
    else:
        found, number = [], 0
        while f"{key}{number}" in group.attrs:
            found += list(group.attrs[f"{key}{number}"])
            number += 1
    return [_text(name) for name in found]


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


# Weights

def write_weights(group: Any, layers: list[Any]) -> None:
    """Write the weights of layers into a group."""
    _write_names(group, "layer_names", [layer.name.encode() for layer in layers])
    group.attrs["backend"], group.attrs["keras_version"] = BACKEND.encode(), VERSION.encode()
    for layer in layers:
        _write_group(group.create_group(layer.name), layer.weights)


def _write_group(group: Any, variables: list[Any]) -> None:
    _write_names(group, "weight_names", [variable.name.encode() for variable in variables])
    for variable, value in zip(variables, batch_get_value(variables), strict=True):
        group.create_dataset(variable.name, data=value)


def _arrays(group: Any) -> list[Any]:
    return [np.asarray(group[name]) for name in _names(group, "weight_names")]


def read_weights(group: Any, layers: list[Any]) -> None:
    """Set the weights of layers to those of a group, in their order. Raises ValueError where these don't fit."""
    ours = [layer for layer in layers if layer.weights]
    theirs = [name for name in _names(group, "layer_names") if _names(group[name], "weight_names")]
    if len(ours) != len(theirs):
        raise ValueError(f"You are trying to load a weight file containing {len(theirs)} layers into a model with "
                         f"{len(ours)} layers.")
    pairs: list[Any] = []
    for layer, name in zip(ours, theirs, strict=True):
        pairs += _pairs(layer, name, _arrays(group[name]))
    batch_set_value(pairs)


def read_weights_by_name(group: Any, layers: list[Any]) -> None:
    """Set the weights of the layers whose names a group has. Raises ValueError where these don't fit."""
    known, pairs = set(_names(group, "layer_names")), []
    for layer in layers:
        if layer.name in known:
            pairs += _pairs(layer, layer.name, _arrays(group[layer.name]))
    batch_set_value(pairs)


def _pairs(layer: Any, name: str, values: list[Any]) -> list[Any]:
    variables = layer.weights
    if len(variables) != len(values):
        raise ValueError(f"Layer {layer.name!r} has {len(variables)} weights, but the file has {len(values)} for "
                         f"{name!r}: {[value.shape for value in values]}")
    for variable, value in zip(variables, values, strict=True):
        if tuple(variable.shape.as_list()) != value.shape:
            raise ValueError(f"Layer {layer.name!r}, weight {variable.name}: expected shape "
                             f"{tuple(variable.shape.as_list())}, but the file has {value.shape}")
    return list(zip(variables, values, strict=True))


# Models

def write_model(file: Any, model: Any, include_optimizer: bool) -> None:
    """Write architecture, weights and, if wanted, what training needs into an open file."""
    file.attrs["keras_version"], file.attrs["backend"] = VERSION.encode(), BACKEND.encode()
    config = model_config(model)
    written = json.dumps({"class_name": config["class_name"], "config": config["config"]}, default=encoded)
    file.attrs["model_config"] = json.dumps(_portable(json.loads(written))).encode()
    write_weights(file.create_group("model_weights"), model.layers)
    training = training_config(model) if include_optimizer else None
    if training is None:
        return
    file.attrs["training_config"] = training.encode()
    if model.optimizer.weights:
        _write_group(file.create_group("optimizer_weights"), model.optimizer.weights)


def training_config(model: Any) -> str | None:
    """Return the JSON of what `compile` was called with, None where it was not, or with an optimizer of `tf.train`."""
    if model._compile_arguments is None:
        return None
    if isinstance(model.optimizer, TFOptimizer):
        log.warning("TensorFlow optimizers do not make it possible to access optimizer attributes or optimizer state "
                    "after instantiation. As a result, we cannot save the optimizer as part of the model save file. "
                    "You will have to compile your model again after loading it. Prefer using a Keras optimizer "
                    "instead.")
        return None
    given = model._compile_arguments
    return json.dumps({
        "optimizer_config": {"class_name": type(model.optimizer).__name__, "config": model.optimizer.get_config()},
        "loss": given["loss"], "metrics": given["metrics"], "weighted_metrics": given["weighted_metrics"],
        "sample_weight_mode": given["sample_weight_mode"], "loss_weights": given["loss_weights"]}, default=encoded)


def _portable(config: Any, key: str = "") -> Any:
    """Leave out the dtypes of initializers, which Keras 3 does not take and older releases have by default."""
    if isinstance(config, list):
        return [_portable(each) for each in config]
    if not isinstance(config, dict):
        return config
    kept = {name: _portable(value, name) for name, value in config.items()}
    if key.endswith("initializer") and isinstance(kept.get("config"), dict):
        kept["config"].pop("dtype", None)
    return kept


def read_model(file: Any, custom_objects: Any, is_compiled: bool) -> Any:
    """Return the model of an open file. Raises ValueError for a file of weights alone."""
    if "model_config" not in file.attrs:
        raise ValueError("No model found in config file: it may hold weights alone (see `load_weights`).")
    model = model_from_config(json.loads(_text(file.attrs["model_config"])), custom_objects)
    read_weights(file["model_weights"], model.layers)
    training = _text(file.attrs["training_config"]) if "training_config" in file.attrs else None
    if is_compiled and compile_as(model, training, custom_objects) and "optimizer_weights" in file:
        model._make_train_function()
        try:
            model.optimizer.set_weights(_arrays(file["optimizer_weights"]))
        except ValueError:
            log.warning("Error in loading the saved optimizer state. As a result, your model is starting with a "
                        "freshly initialized optimizer.")
    return model


def compile_as(model: Any, training: str | None, custom_objects: Mapping[str, Any] | None) -> bool:
    """Compile a model as the JSON of `training_config` says. Returns False, with a warning, without one."""
    if training is None:
        log.warning("No training configuration found in save file: the model was *not* compiled. Compile it manually.")
        return False
    config, objects = json.loads(training), custom_objects or {}

    def known(value: Any) -> Any:
        """The program's own functions in place of their names."""
        if isinstance(value, list):
            return [known(each) for each in value]
        if isinstance(value, dict) and "class_name" not in value:
            return {key: known(each) for key, each in value.items()}
        return objects.get(value, value) if isinstance(value, str) else value
    model.compile(optimizers.deserialize(config["optimizer_config"], objects), known(config.get("loss")),
                  known(config.get("metrics")), config.get("loss_weights"), config.get("sample_weight_mode"),
                  known(config.get("weighted_metrics")))
    return True
