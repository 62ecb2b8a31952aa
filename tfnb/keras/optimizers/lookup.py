"""Optimizers by name or config."""
from __future__ import annotations

from typing import Any

from tfnb.keras.optimizers import rules, wrapped
from tfnb.keras.optimizers.optimizer import Optimizer
from tfnb.keras.utils.registry import deserialize_keras_object, serialize_keras_object
from tfnb.train.optimizers.optimizer import Optimizer as TrainOptimizer

CLASSES = (rules.SGD, rules.RMSprop, rules.Adagrad, rules.Adadelta, rules.Adam, rules.Adamax, rules.Nadam, rules.Ftrl)
_KNOWN = {name: cls for cls in CLASSES for name in (cls.__name__, cls.__name__.lower())}


def serialize(optimizer: Any) -> Any:
    """Return `{"class_name": ..., "config": ...}` of an optimizer.

    optimizer: one of Keras.

    >>> tf.keras.optimizers.serialize(tf.keras.optimizers.SGD(0.5))["class_name"]
    'SGD'
    """
    return serialize_keras_object(optimizer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the optimizer that `{"class_name": ..., "config": ...}` describes.

    config: the dict. custom_objects: dict of name to class.

    >>> config = {"class_name": "SGD", "config": {"learning_rate": 0.5}}
    >>> tf.keras.optimizers.deserialize(config).get_config()["learning_rate"]
    0.5
    """
    return deserialize_keras_object(config, _KNOWN, custom_objects, "optimizer")


def get(identifier: Any) -> Any:
    """Return an optimizer of Keras from its name, its config, an optimizer of `tf.train`, or itself.

    identifier: one of these. Raises ValueError for anything else.

    >>> type(tf.keras.optimizers.get("adam")).__name__
    'Adam'
    """
    if isinstance(identifier, (Optimizer, wrapped.TFOptimizer)):
        return identifier
    if isinstance(identifier, TrainOptimizer):
        return wrapped.TFOptimizer(identifier)
    if isinstance(identifier, str):
        lower = {name.lower() for name in _KNOWN}
        return deserialize({"class_name": identifier.lower() if identifier.lower() in lower else identifier,
                            "config": {}})
    if isinstance(identifier, dict):
        return deserialize(identifier)
    raise ValueError("Could not interpret optimizer identifier: expected a name, a config or an optimizer, got "
                     f"{identifier!r}")
