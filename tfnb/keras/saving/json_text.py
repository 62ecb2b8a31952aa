"""JSON of configs, with arrays, dtypes and functions as Keras writes them."""
from __future__ import annotations

import json
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.shape import Dimension, TensorShape
from tfnb.keras.engine.serialization import deserialize

VERSION, BACKEND = "2.2.4-tf", "tensorflow"


def encoded(value: Any) -> Any:
    """Return a value that JSON has no form for as one that it has. Raises TypeError where there is none."""
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if hasattr(value, "__name__"):
        return value.__name__
    raise TypeError(f"Not JSON Serializable: {value!r}")


def model_config(model: Any) -> dict[str, Any]:
    """Return `{"class_name": ..., "config": ...}` of a model with the versions."""
    return {"class_name": type(model).__name__, "config": model.get_config(), "keras_version": VERSION,
            "backend": BACKEND}


def model_to_json(model: Any, **kwargs: Any) -> str:
    """Return the JSON of a model's architecture. kwargs: of `json.dumps`."""
    return json.dumps(model_config(model), default=encoded, **kwargs)


def model_from_config(config: Any, custom_objects: Any = None) -> Any:
    """Return a model with new weights from `{"class_name": ..., "config": ...}`.

    config: the dict. custom_objects: dict of name to class or function of the program. Raises TypeError for a list,
    the config of the layers of a Sequential.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> config = {"class_name": "Sequential", "config": model.get_config()}
    >>> tf.keras.models.model_from_config(config).output_shape
    (None, 1)
    """
    if isinstance(config, list):
        raise TypeError("`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
                        "`Sequential.from_config(config)`?")
    return deserialize(config, custom_objects)


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """Return a model with new weights from the JSON of `model.to_json()`.

    json_string: the text. custom_objects: dict of name to class or function of the program.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    >>> tf.keras.models.model_from_json(model.to_json()).output_shape
    (None, 1)
    """
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: Any = None) -> Any:
    """Refuse: YAML needs a package, and later releases dropped it, since it can run code.

    yaml_string, custom_objects: as of `model_from_json`. Raises NotImplementedError.

    >>> tf.keras.models.model_from_yaml("")
    NotImplementedError: models are not written as YAML: use `to_json` and `model_from_json`
    """
    raise NotImplementedError("models are not written as YAML: use `to_json` and `model_from_json`")
