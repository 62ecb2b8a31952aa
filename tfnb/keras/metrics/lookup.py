"""Metrics by name: functions and classes."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.keras.functions.lookup import getter
from tfnb.keras.losses import functions as losses
from tfnb.keras.metrics import base, confusion, functions, means
from tfnb.keras.utils.registry import deserialize_keras_object, serialize_keras_object

_KNOWN: dict[str, Any] = {name: value for module in (losses, functions, base, means, confusion)
                          for name, value in vars(module).items() if not name.startswith("_")
                          and str(getattr(value, "__module__", "")).startswith(("tfnb.keras.losses.f",
                                                                                "tfnb.keras.metrics"))}
_find = getter(_KNOWN, "metric function")


def serialize(metric: Any) -> Any:
    """Return the name of a metric function, or class name and config of a metric.

    >>> tf.keras.metrics.serialize(tf.keras.metrics.Mean())
    {'class_name': 'Mean', 'config': {'name': 'mean', 'dtype': 'float32'}}
    """
    return serialize_keras_object(metric)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """Return the metric that `serialize` described. Raises ValueError for an unknown name.

    >>> tf.keras.metrics.deserialize({"class_name": "Mean", "config": {"name": "m"}}).name
    'm'
    """
    return deserialize_keras_object(config, _KNOWN, custom_objects, "metric function")


def get(identifier: Any) -> Any:
    """Return the metric of a name or config, None for None, a callable itself. Raises ValueError otherwise.

    >>> tf.keras.metrics.get("binary_accuracy").__name__
    'binary_accuracy'
    """
    return _find(identifier)


describe(globals(), KERAS)
