"""Numerical gradient checks: `tf.test.compute_gradient` and `tf.test.compute_gradient_error`."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfnb.autodiff.gradients import gradients
from tfnb.graph.parts.context import get_default_session
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.control.source import constant

Jacobians = tuple[np.ndarray, np.ndarray]


def compute_gradient(x: Any, x_shape: Any, y: Tensor, y_shape: Sequence[int], x_init_value: Any = None,
                     delta: float = 1e-3, init_targets: Any = None,
                     extra_feed_dict: Mapping[Any, Any] | None = None) -> Any:
    """Compute dy/dx by tf.gradients and by central differences: two transposed Jacobians [size of x, size of y].

    x: a tensor (a complex number is two rows), or a list of them, for a list of pairs; x_shape, y_shape: their
    shapes. x_init_value: where to differentiate, by default at random numbers of [0, 1). delta: half the step of the
    differences. init_targets: operations to run first. extra_feed_dict: what else to feed. Needs a default session;
    raises ValueError without one, or for values of another shape.

    >>> x = tf.constant([1.0, 2.0])
    >>> exact, numeric = tf.test.compute_gradient(x, [2], x ** 2, [2])
    >>> bool(abs(exact - numeric).max() < 1e-2)
    True
    """
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: `with tf.Session():`")
    if init_targets is not None:
        session.run(init_targets)
    several = isinstance(x, list)
    inputs = x if several else [x]
    sizes = x_shape if several else [x_shape]
    values = x_init_value if several else [x_init_value]
    starts = [_start(t, tuple(size), None if values is None else values[i])
              for i, (t, size) in enumerate(zip(inputs, sizes, strict=True))]
    feeds = {**(extra_feed_dict or {}), **dict(zip(inputs, starts, strict=True))}
    pairs = [_pair(session, t, y, tuple(y_shape), delta, feeds) for t in inputs]
    return pairs if several else pairs[0]


def compute_gradient_error(x: Any, x_shape: Any, y: Tensor, y_shape: Sequence[int], x_init_value: Any = None,
                           delta: float = 1e-3, init_targets: Any = None,
                           extra_feed_dict: Mapping[Any, Any] | None = None) -> float:
    """Return the largest absolute difference between the two Jacobians of `compute_gradient`.

    x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict: as there.

    >>> x = tf.constant([1.0, 2.0])
    >>> tf.test.compute_gradient_error(x, [2], x ** 2, [2]) < 1e-2
    True
    """
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    error = 0.0
    for theory, measured in [found] if isinstance(found, tuple) else found:
        if theory.size or measured.size:
            error = float(np.maximum(error, np.fabs(theory - measured).max()))     # a NaN stays
    return error


def _start(x: Any, shape: tuple[int, ...], value: Any) -> np.ndarray:
    """Return the array that `x` is fed: `value`, by default random values."""
    dtype = np.dtype(x.dtype.base_dtype.as_numpy_dtype)
    if value is None:
        return np.asarray(np.random.random_sample(shape), dtype)
    array = np.array(value, dtype, order="C")      # by default a copy of a view keeps the order of its axes
    if array.shape != shape:
        raise ValueError(f"x_init_value has the shape {array.shape}, but x_shape is {shape}")
    return array


def _pair(session: Any, x: Any, y: Tensor, y_shape: tuple[int, ...], delta: float,
          feeds: Mapping[Any, Any]) -> Jacobians:
    """Compute the Jacobian by gradients and by central differences."""
    ones = np.ones(y_shape, y.dtype.base_dtype.as_numpy_dtype)
    dy = constant(ones + 1j if y.dtype.is_complex else ones, dtype=y.dtype.base_dtype, shape=y_shape)
    dx = gradients(y, x, dy)[0]
    by_gradients = _by_gradients(session, x, dy, dx, np.zeros_like(ones), feeds)
    return by_gradients, _by_differences(session, x, y, y_shape, delta, feeds)


def _reals(array: np.ndarray) -> np.ndarray:
    """Return a flat view of a contiguous array's values; a complex value is two reals."""
    return array.reshape(-1).view(array.real.dtype)


def _by_gradients(session: Any, x: Any, dy: Tensor, dx: Any, pick: np.ndarray,
                  feeds: Mapping[Any, Any]) -> np.ndarray:
    """Compute the Jacobian by gradients, one element of y at a time; pick: zeros to feed as dy."""
    if dx is None:
        raise ValueError(f"no gradient leads from y to {x}")
    at = feeds[x]
    picks = _reals(pick)
    jacobian = np.zeros((_reals(at).size, picks.size), at.real.dtype)
    for column in range(picks.size):
        picks[column] = 1
        jacobian[:, column] = _reals(_dense(session, dx, at, {**feeds, dy: pick}))
        picks[column] = 0
    return jacobian


def _dense(session: Any, dx: Any, at: np.ndarray, feeds: Mapping[Any, Any]) -> np.ndarray:
    if not isinstance(dx, IndexedSlices):
        return np.ascontiguousarray(session.run(dx, feeds))
    indices, values = session.run([dx.indices, dx.values], feeds)
    made = np.zeros_like(at)
    np.add.at(made, indices, values)
    return made


def _by_differences(session: Any, x: Any, y: Tensor, y_shape: tuple[int, ...], delta: float,
                    feeds: Mapping[Any, Any]) -> np.ndarray:
    """Compute the Jacobian by central differences, (y(x + delta) - y(x - delta)) / (2 delta), per element of x."""
    moved = np.array(feeds[x], order="C")
    session.run(y, {**feeds, x: moved})            # interpreted, the others are compiled: their difference is divided
    numbers = _reals(moved)
    size = int(np.prod(y_shape)) * (2 if y.dtype.is_complex else 1)
    jacobian = np.zeros((numbers.size, size), numbers.dtype)
    for row in range(numbers.size):
        middle = numbers[row]
        ends = []
        for sign in (1, -1):
            numbers[row] = middle + sign * delta
            ends.append(_reals(np.ascontiguousarray(session.run(y, {**feeds, x: moved}))))
        numbers[row] = middle
        jacobian[row] = (ends[0] - ends[1]) / (2 * delta)
    return jacobian
