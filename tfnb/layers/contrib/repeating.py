"""Layers in a row, and small helpers of `tf.contrib.layers`: repeat, stack, one_hot_encoding, unit_norm."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core.arguments import CONTRIB_LAYERS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.layers.contrib.arg_scope import add_arg_scope
from tfnb.layers.contrib.outputs import collect_named_outputs
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.reshape import reshape, shape
from tfnb.ops.math.arithmetic import square
from tfnb.ops.math.functions import sqrt
from tfnb.ops.nn.cross_entropy import softmax as _softmax
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.variables.scope import variable_scope


def _name(layer: Any) -> str:
    function = getattr(layer, "func", layer)
    return str(getattr(function, "__name__", "layer"))


@add_arg_scope
def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`layer` applied again and again, in the scopes scope/scope_1, scope/scope_2...

    >>> slim = tf.contrib.slim
    >>> y = slim.repeat(tf.ones([4, 8, 8, 3]), 2, slim.conv2d, 16, [3, 3], scope="conv1")
    >>> y.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([4, 8, 8, 16],
     ['conv1/conv1_1/weights:0',
      'conv1/conv1_1/biases:0',
      'conv1/conv1_2/weights:0',
      'conv1/conv1_2/biases:0'])
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        inputs = convert_to_tensor(inputs)
        base = scope if scope is not None else _name(layer)
        base = getattr(base, "name", base)
        for number in range(repetitions):
            inputs = layer(inputs, *args, **{**kwargs, "scope": f"{base}_{number + 1}"})
        return inputs


@add_arg_scope
def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """`layer` applied with one of `stack_args` after the other, in the scopes scope/scope_1, scope/scope_2...

    >>> y = tf.contrib.layers.stack(tf.ones([4, 3]), tf.contrib.layers.fully_connected, [8, 2], scope="fc")
    >>> y.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([4, 2], ['fc/fc_1/weights:0', 'fc/fc_1/biases:0', 'fc/fc_2/weights:0', 'fc/fc_2/biases:0'])
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise TypeError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        inputs = convert_to_tensor(inputs)
        base = scope if scope is not None else _name(layer)
        base = getattr(base, "name", base)
        for number, given in enumerate(stack_args):
            own = given if isinstance(given, (list, tuple)) else [given]
            inputs = layer(inputs, *own, **{**kwargs, "scope": f"{base}_{number + 1}"})
        return inputs


@add_arg_scope
def one_hot_encoding(labels: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0,
                     outputs_collections: Any = None, scope: str | None = None) -> Any:
    """Labels (batch) as rows with an `on_value` at the class.

    >>> sess.run(tf.contrib.layers.one_hot_encoding([0, 2], num_classes=3))
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        made = one_hot(convert_to_tensor(labels), num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, str(sc), made)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: str | None = None) -> Any:
    """`inputs`, divided by the length along the axis `dim`.

    >>> sess.run(tf.contrib.layers.unit_norm(tf.constant([[3.0, 4.0]]), 1))
    array([[0.6, 0.8]], dtype=float32)
    """
    with variable_scope(scope, "UnitNorm", [inputs]):
        lengths = sqrt(reduce_sum(square(inputs), axis=dim, keepdims=True) + epsilon)
        return inputs / lengths


@add_arg_scope
def softmax(logits: Any, scope: str | None = None) -> Any:
    """The softmax of `logits` of any rank along the last axis.

    >>> sess.run(tf.contrib.layers.softmax(tf.zeros([1, 1, 2])))
    array([[[0.5, 0.5]]], dtype=float32)
    """
    with variable_scope(scope, "softmax", [logits]):
        logits = convert_to_tensor(logits)
        # Official names of the result, as programs fetch it ("InceptionV3/Predictions/Reshape_1:0")
        made = _softmax(reshape(logits, [-1, _last_size(logits)]))
        made = reshape(made, shape(logits))
        made.set_shape(logits.shape)
        return made


def _last_size(x: Any) -> Any:
    return x.static[-1] if x.static and x.static[-1] is not None else shape(x)[-1]


describe(globals(), CONTRIB_LAYERS)
