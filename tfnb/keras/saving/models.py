"""Models to files and back: `save_model`, `load_model`, and copies of models."""
from __future__ import annotations

import os
from typing import Any

from tfnb.core import nest
from tfnb.keras.engine.input_layer import InputLayer
from tfnb.keras.engine.network import inner_layers
from tfnb.keras.engine.node import Node
from tfnb.keras.saving import hdf5
from tfnb.keras.saving.json_text import model_from_config


def save_model(model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
               save_format: str | None = None, signatures: Any = None) -> None:
    """Save architecture, weights and what training needs in an HDF5 file.

    model: the model. filepath: of the file, or an open h5py.File. overwrite: False raises OSError for a file that is
    there. include_optimizer: False leaves out the optimizer's state. save_format: "h5"; "tf", a SavedModel, is refused
    (`tf.saved_model.simple_save` writes one), as are signatures. Raises NotImplementedError for a subclass with its own
    `call`.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> tf.keras.models.save_model(model, "model", save_format="tf")
    NotImplementedError: ...
    """
    if save_format == "tf" or signatures is not None:
        raise NotImplementedError('save_format="tf": models are saved in HDF5 files ("model.h5"); for a SavedModel use '
                                  "tf.saved_model.simple_save(tf.keras.backend.get_session(), directory, inputs, "
                                  "outputs)")
    if not model._is_graph_network and type(model).get_config.__qualname__.startswith("Network"):
        raise NotImplementedError("Saving the model to HDF5 format requires the model to be a Functional model or a "
                                  "Sequential model. It does not work for subclassed models, because such models are "
                                  "defined via the body of a Python method: use `save_weights`.")
    if isinstance(filepath, (str, os.PathLike)) and not overwrite and os.path.exists(filepath):
        raise OSError(f"{filepath} is there, and overwrite=False")
    with hdf5.opened(filepath, "w") as file:
        hdf5.write_model(file, model, include_optimizer)


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:     # noqa: A002
    """Return the model that an HDF5 file holds, compiled if it was when it was saved.

    filepath: of the file, or an open h5py.File. custom_objects: dict of name to class or function of the program.
    compile: False leaves that out. Raises OSError if there is no such file, ValueError if it holds no model.

    >>> tf.keras.models.load_model("absent.h5")
    OSError: ...
    """
    if isinstance(filepath, (str, os.PathLike)) and not os.path.isfile(filepath):
        raise OSError(f"Unable to open file: no HDF5 file {os.fspath(filepath)!r}" + (
            ": it is a directory; a SavedModel is loaded by tf.saved_model.load" if os.path.isdir(filepath) else ""))
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


def export_saved_model(model: Any, saved_model_path: str, custom_objects: Any = None, as_text: bool = False,
                       input_signature: Any = None, serving_only: bool = False) -> None:
    """Refuse: see `save_model`. Raises NotImplementedError.

    model, saved_model_path, custom_objects, as_text, input_signature, serving_only: as in TensorFlow.

    >>> tf.keras.experimental.export_saved_model(None, "directory")
    NotImplementedError: ...
    """
    raise NotImplementedError("export_saved_model: use model.save('model.h5'), or tf.saved_model.simple_save("
                              "tf.keras.backend.get_session(), directory, inputs, outputs) for serving")


