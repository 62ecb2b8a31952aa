"""Arguments that may be given in several manners: functions by name, sizes for each axis, conditions known or not."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.control_flow.cond import cond
from tfnb.core.shape import Dimension, TensorShape
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.declaration.public import named
from tfnb.ops.math import functions
from tfnb.ops.nn import activations as nn
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.variables import initializers
from tfnb.variables.variable import Variable

_ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "relu": nn.relu, "tanh": functions.tanh, "sigmoid": functions.sigmoid, "softmax": softmax, "elu": nn.elu,
    "selu": nn.selu, "softplus": nn.softplus, "softsign": nn.softsign, "exponential": functions.exp}
_INITIALIZERS: dict[str, Callable[..., Any]] = {
    "zeros": initializers.zeros_initializer, "ones": initializers.ones_initializer,
    "glorot_uniform": initializers.glorot_uniform_initializer, "glorot_normal": initializers.glorot_normal_initializer,
    "he_normal": initializers.he_normal, "he_uniform": initializers.he_uniform,
    "lecun_normal": initializers.lecun_normal, "lecun_uniform": initializers.lecun_uniform,
    "orthogonal": initializers.orthogonal_initializer, "identity": initializers.identity_initializer,
    "uniform": initializers.random_uniform_initializer, "normal": initializers.random_normal_initializer}


def activation_of(given: Any) -> Callable[..., Any] | None:
    """The function that `given` is or names; None for None and "linear". Raises ValueError for an unknown name."""
    if given is None or given == "linear":
        return None
    if callable(given):
        return given            # type: ignore[no-any-return]
    if given not in _ACTIVATIONS:
        raise ValueError(f"Unknown activation function: {given!r}; known: {', '.join(sorted(_ACTIVATIONS))}")
    return _ACTIVATIONS[given]


def initializer_of(given: Any) -> Any:
    """The initializer that `given` is or names. Raises ValueError for an unknown name."""
    if not isinstance(given, str):
        return given() if isinstance(given, type) else given
    if given.lower() not in _INITIALIZERS:
        raise ValueError(f"Unknown initializer: {given!r}; known: {', '.join(sorted(_INITIALIZERS))}")
    return _INITIALIZERS[given.lower()]()


def sizes_for(given: Any, count: int, what: str) -> tuple[int, ...]:
    """Return `given`, one integer or `count` of them (a TensorShape too), as a tuple.

    Raises ValueError for anything else.
    """
    if isinstance(given, TensorShape) and given.ndims is None:
        values: list[Any] = []
    else:
        values = list(given) if isinstance(given, (list, tuple, np.ndarray, TensorShape)) else [given] * count
    values = [value.value if isinstance(value, Dimension) else value for value in values]
    if len(values) != count or not all(isinstance(value, (int, np.integer)) for value in values):
        raise ValueError(f"The `{what}` argument must be a tuple of {count} integers. Received: {given!r}")
    return tuple(int(value) for value in values)


def channels_first(data_format: Any) -> bool:
    """Return whether it is "channels_first". Raises ValueError for what is neither that nor "channels_last"."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of \"channels_first\", \"channels_last\". "
                         f"Received: {data_format!r}")
    return bool(data_format == "channels_first")


def layout(data_format: str, rank: int) -> str:
    """The name that `tf.nn` has for a data format of inputs of this rank, such as "NHWC"."""
    spatial = {3: "W", 4: "HW", 5: "DHW"}[rank]
    return f"NC{spatial}" if channels_first(data_format) else f"N{spatial}C"


@named("smart_constant_value")
def known(pred: Any) -> bool | None:
    """Return a condition as a bool if it has a value while the graph is made, else None.

    pred: a bool, 0 or 1, or a tensor. Raises TypeError for others.

    >>> tf.contrib.framework.smart_constant_value(1), tf.contrib.framework.smart_constant_value(tf.constant(False))
    (True, False)
    """
    if isinstance(pred, Variable):
        return None
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        return None if value is None else bool(value)
    if pred not in (0, 1):
        raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {pred!r}")
    return bool(pred)


@named("smart_cond")
def either(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """Return `tf.cond`, or the result of one function where the condition is known.

    pred: a bool, 0 or 1, or a tensor; true_fn, false_fn: functions without arguments.

    >>> tf.contrib.framework.smart_cond(True, lambda: "training", lambda: "inference")
    'training'
    """
    value = known(pred)
    if value is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if value else false_fn()
