"""Models to files and back: `save_model`, `load_model`, and copies of models."""
from __future__ import annotations

import os
from typing import Any

from tfnb.core import nest
from tfnb.keras.engine.input_layer import InputLayer
from tfnb.keras.engine.network import inner_layers
from tfnb.keras.engine.node import Node
from tfnb.keras.saving import hdf5, saved_model
from tfnb.keras.saving.json_text import model_from_config


def save_model(model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
               save_format: str | None = None, signatures: Any = None) -> None:
    """Save architecture, weights and what training needs in an HDF5 file or a directory.

    model: the model. filepath: of the file, an open h5py.File, or of the directory. overwrite: False raises OSError for
    what is there. include_optimizer: False leaves out the optimizer's state. save_format: "h5", or "tf" for a
    SavedModel, with a graph for serving (without the architecture for a subclass with its own `call`). signatures: of a
    SavedModel, further SignatureDefs by name. Raises NotImplementedError for a subclass in HDF5, ValueError for
    another format and for "tf" with the name of an HDF5 file.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> tf.keras.models.save_model(model, "model", save_format="tf")
    >>> tf.keras.models.load_model("model").output_shape
    (None, 1)
    """
    if save_format not in (None, "h5", "tf"):
        raise ValueError(f"Unknown format: expected 'h5' or 'tf', got {save_format!r}")
    if isinstance(filepath, (str, os.PathLike)) and not overwrite and os.path.exists(filepath):
        raise OSError(f"{filepath} is there, and overwrite=False")
    if save_format == "tf":
        if hdf5.is_hdf5(filepath):
            raise ValueError(f"save_format='tf' writes a directory: expected a name that does not end in .h5, .hdf5 or "
                             f".keras, got {filepath!r}")
        saved_model.write(model, os.fspath(filepath), include_optimizer, signatures=signatures)
        return
    if not model._is_graph_network and type(model).get_config.__qualname__.startswith("Network"):
        raise NotImplementedError("Saving the model to HDF5 format requires the model to be a Functional model or a "
                                  "Sequential model. It does not work for subclassed models, because such models are "
                                  "defined via the body of a Python method: use `save_weights`, or save_format='tf' "
                                  "for serving.")
    with hdf5.opened(filepath, "w") as file:
        hdf5.write_model(file, model, include_optimizer)


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:     # noqa: A002
    """Return the model that `save` wrote, compiled if it was when it was saved.

    filepath: of the HDF5 file, an open h5py.File, or the directory. custom_objects: dict of name to class or function
    of the program. compile: False leaves that out. Raises OSError if there is no such file, ValueError if it holds no
    model.

    >>> tf.keras.models.load_model("absent.h5")
    OSError: ...
    """
    if isinstance(filepath, (str, os.PathLike)) and not os.path.isfile(filepath):
        if saved_model.is_saved_model(filepath):
            return saved_model.read(os.fspath(filepath), custom_objects, compile)
        raise OSError("Unable to open file: expected an HDF5 file or a directory with a SavedModel, got "
                      f"{os.fspath(filepath)!r}")
    with hdf5.opened(filepath, "r") as file:
        return hdf5.read_model(file, custom_objects, compile)


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """Return a model of the same architecture with new weights.

    model: of a graph of layers. input_tensors: inputs of the copy, by default new ones. clone_function: a function from
    a layer to its copy. Raises ValueError for a subclass with its own `call`.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> copy = tf.keras.models.clone_model(model)
    >>> copy.output_shape, copy.layers[0] is model.layers[0]
    ((None, 1), False)
    """
    if not model._is_graph_network:
        raise ValueError("Expected a model of a graph of layers: a subclass with its own `call` can't be cloned.")
    if input_tensors is None and clone_function is None:
        return model_from_config({"class_name": type(model).__name__, "config": model.get_config()},
                                 {type(layer).__name__: type(layer) for layer in [model, *inner_layers(model)]})
    made: dict[Any, Any] = {}

    def copied(layer: Any) -> Any:
        if layer not in made:
            made[layer] = clone_function(layer) if clone_function else type(layer).from_config(layer.get_config())
        return made[layer]
    given = nest.flatten(input_tensors) if input_tensors is not None else [
        InputLayer(batch_input_shape=tensor.shape.as_list(), dtype=tensor.dtype.base_dtype.name,
                   name=tensor._keras_history.layer.name).output for tensor in model.inputs]
    inputs = [tensor if hasattr(tensor, "_keras_history") else InputLayer(input_tensor=tensor).output
              for tensor in given]
    values = dict(zip(map(id, model.inputs), inputs, strict=True))
    for node in model._nodes:
        if nest.flatten(node.input_tensors):
            _call_copy(node, copied(node.layer), values)
    outputs = nest.map_structure(lambda tensor: values[id(tensor)], model._output_structure)
    cls = next(each for each in type(model).__mro__ if each.__name__ == "Model")
    return cls(inputs=inputs[0] if len(inputs) == 1 else inputs, outputs=outputs, name=model.name)


def _call_copy(node: Node, layer: Any, values: dict[int, Any]) -> None:
    def found(each: Any) -> Any:
        return values.get(id(each), each)
    outputs = layer(nest.map_structure(found, node.input_tensors), **nest.map_structure(found, dict(node.arguments)))
    values.update(zip(map(id, nest.flatten(node.output_tensors)), nest.flatten(outputs), strict=True))


def export_saved_model(model: Any, saved_model_path: Any, custom_objects: Any = None, as_text: bool = False,
                       input_signature: Any = None, serving_only: bool = False) -> None:
    """Write a SavedModel, as `save_model` with save_format="tf".

    model: it. saved_model_path: of the directory. custom_objects, serving_only: accepted: the graph is for serving.
    as_text: write saved_model.pbtxt. input_signature: refused. Raises NotImplementedError for one.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> tf.keras.experimental.export_saved_model(model, "directory", as_text=True)
    >>> tf.keras.experimental.load_from_saved_model("directory").count_params()
    3
    """
    if input_signature is not None:
        raise NotImplementedError("export_saved_model: expected no input_signature: the inputs of the model are the "
                                  "signature")
    saved_model.write(model, os.fspath(saved_model_path), as_text=as_text)


def load_from_saved_model(saved_model_path: Any, custom_objects: Any = None) -> Any:
    """Return the model that `export_saved_model` wrote, not compiled.

    saved_model_path: the directory. custom_objects: dict of name to class or function of the program. Raises OSError
    if there is no SavedModel.

    >>> tf.keras.experimental.load_from_saved_model("absent")
    OSError: ...
    """
    return load_model(saved_model_path, custom_objects, compile=False)
