"""Settings of Keras: the dtype of floats, epsilon, the order of the axes of images."""
from __future__ import annotations

from typing import Any

_settings: dict[str, Any] = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}
_FLOATS, _FORMATS = ("float16", "float32", "float64"), ("channels_last", "channels_first")


def floatx() -> str:
    """Return the name of the dtype of weights and inputs by default: "float32".

    >>> tf.keras.backend.floatx()
    'float32'
    """
    return str(_settings["floatx"])


def set_floatx(value: str) -> None:
    """Set the dtype of weights and inputs by default.

    value: "float16", "float32" or "float64". Raises ValueError for another one.

    >>> tf.keras.backend.set_floatx("int8")
    ValueError: Unknown floatx type: expected one of float16, float32, float64, got 'int8'
    """
    if value not in _FLOATS:
        raise ValueError(f"Unknown floatx type: expected one of {', '.join(_FLOATS)}, got {value!r}")
    _settings["floatx"] = str(value)


def epsilon() -> float:
    """Return the small number that divisions and logarithms add: 1e-7.

    >>> tf.keras.backend.epsilon() == 1e-7
    True
    """
    return float(_settings["epsilon"])


def set_epsilon(value: float) -> None:
    """Set the small number that divisions and logarithms add.

    value: a positive float.

    >>> tf.keras.backend.set_epsilon(1e-5)
    >>> changed = tf.keras.backend.epsilon()
    >>> tf.keras.backend.set_epsilon(1e-7)
    >>> changed == 1e-5
    True
    """
    _settings["epsilon"] = value


def image_data_format() -> str:
    """Return the order of the axes of images by default: "channels_last".

    >>> tf.keras.backend.image_data_format()
    'channels_last'
    """
    return str(_settings["image_data_format"])


def set_image_data_format(data_format: str) -> None:
    """Set the order of the axes of images by default.

    data_format: "channels_last" or "channels_first". Raises ValueError for another one.

    >>> tf.keras.backend.set_image_data_format("NHWC")
    ValueError: Unknown data_format: expected one of channels_last, channels_first, got 'NHWC'
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Unknown data_format: expected one of {', '.join(_FORMATS)}, got {data_format!r}")
    _settings["image_data_format"] = str(data_format)


def backend() -> str:
    """Return the name of the backend: "tensorflow".

    >>> tf.keras.backend.backend()
    'tensorflow'
    """
    return "tensorflow"
