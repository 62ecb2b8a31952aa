"""Values of variables in the session of Keras."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.keras.backend.session import get_session


def get_value(x: Any) -> Any:
    """Return the value of a variable as an array.

    x: the variable.

    >>> layer = tf.keras.layers.InputLayer([2])
    >>> v = layer.add_weight("v", [2], initializer="ones")
    >>> tf.keras.backend.get_value(v)
    array([1., 1.], dtype=float32)
    """
    return batch_get_value([x])[0]


def batch_get_value(tensors: Any) -> list[Any]:
    """Return the values of a list of variables as arrays.

    tensors: the variables.

    >>> layer = tf.keras.layers.InputLayer([2])
    >>> v = layer.add_weight("v", [2], initializer="zeros")
    >>> tf.keras.backend.batch_get_value([v, v])
    [array([0., 0.], dtype=float32), array([0., 0.], dtype=float32)]
    """
    found: list[Any] = get_session().run(list(tensors)) if tensors else []
    return found


def set_value(x: Any, value: Any) -> None:
    """Set a variable to a value.

    x: the variable. value: an array of its shape.

    >>> layer = tf.keras.layers.InputLayer([2])
    >>> v = layer.add_weight("v", [2])
    >>> tf.keras.backend.set_value(v, [3, 4])
    >>> tf.keras.backend.get_value(v)
    array([3., 4.], dtype=float32)
    """
    batch_set_value([(x, value)])


def batch_set_value(tuples: Any) -> None:
    """Set variables to values.

    tuples: pairs (variable, array of its shape).

    >>> layer = tf.keras.layers.InputLayer([2])
    >>> v = layer.add_weight("v", [2])
    >>> tf.keras.backend.batch_set_value([(v, np.array([3, 4]))])
    >>> tf.keras.backend.get_value(v)
    array([3., 4.], dtype=float32)
    """
    pairs = [(variable, np.asarray(value, variable.dtype.base_dtype.as_numpy_dtype)) for variable, value in tuples]
    starts = {variable._start: value for variable, value in pairs}
    if len(starts) == len(pairs):                       # initializers with other values: no ops are made
        get_session().run([variable.initializer for variable, _ in pairs], starts)
        return
    for variable, value in pairs:                       # some begin with the same tensor
        variable.load(value, get_session())
