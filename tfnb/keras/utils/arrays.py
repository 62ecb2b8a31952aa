"""Arrays of labels and vectors: `tf.keras.utils`."""
from __future__ import annotations

from typing import Any

import numpy as np


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> Any:
    """Return one-hot vectors of integer classes.

    y: integers, of any shape; a last axis of size 1 goes. num_classes: the length of the vectors; None: the largest
    class and 1. dtype: of the result. Raises IndexError for classes that are not below num_classes.

    >>> tf.keras.utils.to_categorical([0, 2])
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    classes = np.array(y, dtype="int")
    shape = classes.shape[:-1] if classes.ndim > 1 and classes.shape[-1] == 1 else classes.shape
    flat = classes.ravel()
    count = num_classes or (int(flat.max()) + 1 if flat.size else 0)
    made = np.zeros((flat.size, count), dtype=dtype)
    made[np.arange(flat.size), flat] = 1
    return made.reshape(*shape, count)


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """Return an array divided by its norms.

    x: the array. axis: along which the norms are taken. order: of the norm.

    >>> tf.keras.utils.normalize(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)
