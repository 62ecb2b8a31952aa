"""Layers as dicts `{"class_name": ..., "config": ...}` and back."""
from __future__ import annotations

from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.keras.utils.registry import deserialize_keras_object

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
    return deserialize_keras_object(config, _Classes(), custom_objects, "layer")
