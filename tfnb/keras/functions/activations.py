"""Activation functions of Keras, which layers take by name: `tf.keras.activations`."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.functions.lookup import getter
from tfnb.keras.utils.registry import deserialize_keras_object, serialize_keras_object


def relu(x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """Compute the rectified linear unit: max_value above that, alpha * (x - threshold) below threshold, else x.

    >>> sess.run(tf.keras.activations.relu(tf.constant([-2.0, 0.5, 9.0]), alpha=0.1, max_value=6.0))
    array([-0.2,  0.5,  6. ], dtype=float32)
    """
    x = convert_to_tensor(x)
    if not alpha and not threshold and max_value == 6:
        return ops.relu6(x)
    if alpha and not threshold and max_value is None:
        return ops.leaky_relu(x, alpha)
    made = x * ops.cast(ops.greater(x, threshold), x.dtype.base_dtype) if threshold else ops.relu(x)
    if max_value is not None:
        made = ops.clip_by_value(made, 0.0, float(max_value))
    return made - alpha * ops.relu(threshold - x) if alpha else made


def softmax(x: Any, axis: int = -1) -> Any:
    """Compute exp(x) / sum(exp(x)) along an axis. Raises ValueError for a tensor of rank 1.

    >>> sess.run(tf.keras.activations.softmax(tf.constant([[1.0, 1.0]])))
    array([[0.5, 0.5]], dtype=float32)
    """
    x = convert_to_tensor(x)
    if x.shape.ndims is not None and x.shape.ndims < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D: expected rank 2 or more, got {x}")
    return ops.softmax(x, axis=axis)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """Compute the exponential linear unit: x above 0, alpha * (exp(x) - 1) below.

    >>> sess.run(tf.keras.activations.elu(tf.constant([-1.0, 2.0])))
    array([-0.6321,  2.    ], dtype=float32)
    """
    x = convert_to_tensor(x)
    made = ops.elu(x)
    return made if alpha == 1 else ops.where(x > 0, made, alpha * made)


def selu(x: Any) -> Any:
    """Compute the scaled exponential linear unit: 1.0507 x above 0, 1.7581 (exp(x) - 1) below.

    >>> sess.run(tf.keras.activations.selu(tf.constant([-1.0, 1.0])))
    array([-1.1113,  1.0507], dtype=float32)
    """
    return ops.selu(x)


def softplus(x: Any) -> Any:
    """Compute log(exp(x) + 1).

    >>> sess.run(tf.keras.activations.softplus(tf.constant([0.0])))
    array([0.6931], dtype=float32)
    """
    return ops.softplus(x)


def softsign(x: Any) -> Any:
    """Compute x / (abs(x) + 1).

    >>> sess.run(tf.keras.activations.softsign(tf.constant([-1.0, 3.0])))
    array([-0.5 ,  0.75], dtype=float32)
    """
    return ops.softsign(x)


def tanh(x: Any) -> Any:
    """Compute the hyperbolic tangent.

    >>> sess.run(tf.keras.activations.tanh(tf.constant([0.0, 1.0])))
    array([0.    , 0.7616], dtype=float32)
    """
    return ops.tanh(x)


def sigmoid(x: Any) -> Any:
    """Compute 1 / (1 + exp(-x)).

    >>> sess.run(tf.keras.activations.sigmoid(tf.constant([0.0, 1.0])))
    array([0.5   , 0.7311], dtype=float32)
    """
    return ops.sigmoid(x)


def exponential(x: Any) -> Any:
    """Compute exp(x).

    >>> sess.run(tf.keras.activations.exponential(tf.constant([0.0, 1.0])))
    array([1.    , 2.7183], dtype=float32)
    """
    return ops.exp(x)


def hard_sigmoid(x: Any) -> Any:
    """Compute 0.2 x + 0.5, clipped to [0, 1].

    >>> sess.run(tf.keras.activations.hard_sigmoid(tf.constant([-3.0, 0.0, 1.0])))
    array([0. , 0.5, 0.7], dtype=float32)
    """
    return ops.clip_by_value(0.2 * convert_to_tensor(x) + 0.5, 0.0, 1.0)


def linear(x: Any) -> Any:
    """Return `x` itself.

    >>> tf.keras.activations.linear(3)
    3
    """
    return x


_KNOWN = {fn.__name__: fn for fn in (relu, softmax, elu, selu, softplus, softsign, tanh, sigmoid, exponential,
                                     hard_sigmoid, linear)}
_find = getter(_KNOWN, "activation function")


def serialize(activation: Any) -> Any:
    """Return the name of an activation. activation: a function, or an object with `get_config`.

    >>> tf.keras.activations.serialize(tf.keras.activations.relu)
    'relu'
    """
    # tf.nn.relu and tf.keras.activations.relu have one name
    return serialize_keras_object(activation)


def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """Return the activation of a name. Raises ValueError for an unknown one.

    >>> tf.keras.activations.deserialize("linear")(3)
    3
    """
    return deserialize_keras_object(name, _KNOWN, custom_objects, "activation function")


def get(identifier: Any) -> Any:
    """Return the activation of a name, a function itself, `linear` for None. Raises ValueError for an unknown name.

    >>> tf.keras.activations.get("relu").__name__
    'relu'
    """
    return linear if identifier is None else _find(identifier)


describe(globals(), KERAS)
