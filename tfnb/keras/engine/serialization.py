"""Layers as dicts `{"class_name": ..., "config": ...}` and back."""
from __future__ import annotations

from inspect import signature
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.keras.utils.registry import deserialize_keras_object, get_custom_objects

# The module that this one is a part of: it has the classes, of which most are not imported yet.
_layers, _models = lazy_module("tfnb.keras.layers"), lazy_module("tfnb.keras.models")
_ELSEWHERE = {"Model": (_models, "Model"), "Functional": (_models, "Model"), "Sequential": (_models, "Sequential"),
              "TensorFlowOpLayer": (lazy_module("tfnb.keras.engine.op_layer"), "TensorFlowOpLayer")}


class _Classes:
    """The classes of layers and models by name, imported when asked for."""

    def __contains__(self, name: str) -> bool:
        return name in dir(_layers) or name in _ELSEWHERE

    def __getitem__(self, name: str) -> Any:
        return getattr(*_ELSEWHERE.get(name, (_layers, name)))

    def __iter__(self) -> Any:
        return iter([*dir(_layers), *_ELSEWHERE])


def serialize(layer: Any) -> dict[str, Any]:
    """Return `{"class_name": ..., "config": ...}` of a layer.

    layer: the layer.

    >>> tf.keras.layers.serialize(tf.keras.layers.InputLayer((3,), name="x"))["class_name"]
    'InputLayer'
    """
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the layer, not built yet, that `{"class_name": ..., "config": ...}` describes.

    config: the dict. custom_objects: dict of name to class or function of the program. Raises ValueError for a class
    that is not known.

    >>> layer = tf.keras.layers.deserialize({"class_name": "InputLayer", "config": {"name": "x",
    ...                                     "batch_input_shape": (None, 3)}})
    >>> layer.output_shape
    (None, 3)
    """
    known = _Classes()
    name = config.get("class_name") if isinstance(config, dict) else None
    if name is not None and name in known and name not in (custom_objects or {}) and name not in get_custom_objects():
        config = {**config, "config": _in_words_of(known[name], config["config"])}
    return deserialize_keras_object(config, known, custom_objects, "layer")


def _in_words_of(cls: Any, config: Any) -> Any:
    """Return a config of a later release of Keras with the arguments that a class has here.

    What it does not take is left out where it asks for nothing: None, False, or groups=1.
    """
    if not isinstance(config, dict) or cls in (_models.Model, _models.Sequential):
        return config
    config = {"batch_input_shape" if key == "batch_shape" else key: value for key, value in config.items()}
    if isinstance(config.get("dtype"), dict):
        config["dtype"] = config["dtype"]["config"]["name"]
    taken = {name for each in cls.__mro__ if "__init__" in vars(each) for name in signature(each.__init__).parameters}
    taken |= {"input_shape", "batch_input_shape", "batch_size", "input_dim", "weights", "activity_regularizer"}
    for key, value in config.items():
        if key.endswith("initializer") and isinstance(value, dict):
            config[key] = {**value, "config": {k: v for k, v in value.get("config", {}).items() if v is not None}}
    return {key: value for key, value in config.items()
            if key in taken or not (value in (None, False) or (key, value) == ("groups", 1))}
