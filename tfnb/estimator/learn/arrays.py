"""Inputs of `tf.contrib.learn`: arrays and lists in place of input functions."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfnb.estimator.feeding import enqueue_data
from tfnb.feature_column.contrib import real_valued_column
from tfnb.graph.graph import Graph


def as_array(values: Any) -> np.ndarray:
    """Return data as an array, float64 as float32; a generator is drawn first."""
    found = np.asarray(values if hasattr(values, "__len__") else list(values))
    if found.dtype.kind in "US":
        found = found.astype(object)
    return found.astype(np.float32) if found.dtype == np.float64 else found


def input_fn_of(x: Any, y: Any, input_fn: Callable[..., Any] | None, batch_size: int | None, epochs: int | None,
                shuffle: bool = False) -> Callable[..., Any]:
    """Return the input_fn that was given, or one of arrays. Raises ValueError for both, or none.

    batch_size: by default all rows.
    """
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    named = {name: as_array(values) for name, values in x.items()} if isinstance(x, Mapping) else {"": as_array(x)}
    labels = None if y is None else as_array(y)
    size = len(next(iter(named.values())))
    if labels is not None and len(labels) != size:
        raise ValueError(f"x and y must have as many rows, got {size} and {len(labels)}")

    def from_arrays() -> Any:
        arrays = [*named.values(), *([] if labels is None else [labels])]
        count = batch_size or size
        found = enqueue_data(arrays, count, epochs, shuffle, max(1000, 2 * count))
        features: Any = dict(zip(named, found, strict=False)) if isinstance(x, Mapping) else found[0]
        return features, None if labels is None else found[-1]
    return from_arrays


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """Return a real valued column for an array of features, or one for each array of a dict.

    x: [batch_size, n_features]. Raises ValueError for strings.

    >>> tf.contrib.learn.infer_real_valued_columns_from_input(np.zeros([5, 3], np.float32))[0].shape
    (3,)
    """
    named = {name: as_array(values) for name, values in x.items()} if isinstance(x, Mapping) else {"": as_array(x)}
    return [_column(name, array.dtype.kind, array.shape) for name, array in sorted(named.items())]


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """Return a real valued column for each tensor of features that `input_fn` returns.

    >>> columns = tf.contrib.learn.infer_real_valued_columns_from_input_fn(
    ...     lambda: ({"a": tf.zeros([5, 2])}, tf.zeros([5])))
    >>> columns[0].key, columns[0].shape
    ('a', (2,))
    """
    with Graph().as_default():
        features, _ = input_fn()
        named = features if isinstance(features, Mapping) else {"": features}
        return [_column(name, np.dtype(tensor.dtype.as_numpy_dtype).kind, tensor.shape.as_list())
                for name, tensor in sorted(named.items())]


def _column(name: str, kind: str, shape: Any) -> Any:
    if kind not in "fiub":
        raise ValueError(f"real valued columns need numbers, got dtype kind {kind!r} for feature {name!r}")
    return real_valued_column(name, dimension=int(np.prod(shape[1:])) if len(shape) > 1 else 1)
