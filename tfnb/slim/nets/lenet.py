"""LeNet for digits, with more channels than that of LeCun et al. (1998), and CifarNet for small colour images."""
from __future__ import annotations

from functools import partial
from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.layers.contrib.arg_scope import arg_scope
from tfnb.layers.contrib.layers import conv2d, dropout, flatten, fully_connected
from tfnb.layers.contrib.pools import max_pool2d
from tfnb.layers.contrib.repeating import softmax
from tfnb.losses.regularizers import l2_regularizer
from tfnb.ops.nn.activations import relu
from tfnb.ops.nn.pool_functions import local_response_normalization
from tfnb.variables.initializers import constant_initializer, truncated_normal_initializer, zeros_initializer
from tfnb.variables.scope import variable_scope


def _features(net: Any, points: dict[str, Any], layers: dict[str, Any]) -> Any:
    for name, layer in layers.items():
        net = points[name] = layer(net, name)
    points["Flatten"] = flatten(net)
    return points["Flatten"]


def _conv(depth: int) -> Any:
    return lambda net, scope: conv2d(net, depth, [5, 5], scope=scope)


def _pool(net: Any, scope: str) -> Any:
    return max_pool2d(net, [2, 2], 2, scope=scope)


def _norm(net: Any, name: str) -> Any:
    return local_response_normalization(net, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name=name)


def lenet(images: Any, num_classes: int = 10, is_training: bool = False, dropout_keep_prob: float = 0.5,
          prediction_fn: Any = softmax, scope: str = "LeNet") -> tuple[Any, dict[str, Any]]:
    """Return (logits, end points by name) of LeNet, for images of 28 pixels; features where num_classes is 0.

    images: [batch, height, width, channels]. is_training: whether dropout drops.

    >>> logits, points = tf.contrib.slim.nets.lenet.lenet(tf.zeros([2, 28, 28, 1]))
    >>> logits.shape.as_list(), points["pool2"].shape.as_list(), tf.model_variables()[0].name
    ([2, 10], [2, 7, 7, 64], 'LeNet/conv1/weights:0')
    """
    points: dict[str, Any] = {}
    with variable_scope(scope, "LeNet", [images]):
        net = _features(images, points, {"conv1": _conv(32), "pool1": _pool, "conv2": _conv(64), "pool2": _pool})
        net = points["fc3"] = fully_connected(net, 1024, scope="fc3")
        if not num_classes:
            return net, points
        net = points["dropout3"] = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout3")
        points["Logits"] = fully_connected(net, num_classes, activation_fn=None, scope="fc4")
    points["Predictions"] = prediction_fn(points["Logits"], scope="Predictions")
    return points["Logits"], points


def lenet_arg_scope(weight_decay: float = 0.0) -> Any:
    """Return the defaults of layers for LeNet, for tf.contrib.slim.arg_scope.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.lenet.lenet_arg_scope(0.1)):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    1
    """
    with arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay), activation_fn=relu,
                   weights_initializer=truncated_normal_initializer(stddev=0.1)) as made:
        return made


def cifarnet(images: Any, num_classes: int = 10, is_training: bool = False, dropout_keep_prob: float = 0.5,
             prediction_fn: Any = softmax, scope: str = "CifarNet") -> tuple[Any, dict[str, Any]]:
    """Return (logits, end points by name) of CifarNet, for images of 32 pixels; features where num_classes is 0.

    images: [batch, height, width, channels]. is_training: whether dropout drops.

    >>> logits, points = tf.contrib.slim.nets.cifarnet.cifarnet(tf.zeros([2, 32, 32, 3]))
    >>> logits.shape.as_list(), points["fc4"].shape.as_list(), tf.model_variables()[-1].name
    ([2, 10], [2, 192], 'CifarNet/logits/biases:0')
    """
    points: dict[str, Any] = {}
    with variable_scope(scope, "CifarNet", [images]):
        net = _features(images, points, {"conv1": _conv(64), "pool1": _pool, "norm1": _norm, "conv2": _conv(64),
                                         "norm2": _norm, "pool2": _pool})
        net = points["fc3"] = fully_connected(net, 384, scope="fc3")
        net = points["dropout3"] = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout3")
        net = points["fc4"] = fully_connected(net, 192, scope="fc4")
        if not num_classes:
            return net, points
        points["Logits"] = fully_connected(
            net, num_classes, activation_fn=None, weights_regularizer=None, biases_initializer=zeros_initializer(),
            weights_initializer=truncated_normal_initializer(stddev=1 / 192.0), scope="logits")
    points["Predictions"] = prediction_fn(points["Logits"], scope="Predictions")
    return points["Logits"], points


def cifarnet_arg_scope(weight_decay: float = 0.004) -> Any:
    """Return the defaults of layers for CifarNet, for tf.contrib.slim.arg_scope: weights of dense layers decay.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.cifarnet.cifarnet_arg_scope()):
    ...     y = tf.contrib.slim.fully_connected(tf.ones([1, 4]), 2)
    >>> len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    1
    """
    start = partial(truncated_normal_initializer, 0.0)
    with arg_scope([conv2d], weights_initializer=start(5e-2), activation_fn=relu), \
            arg_scope([fully_connected], biases_initializer=constant_initializer(0.1), weights_initializer=start(0.04),
                      weights_regularizer=l2_regularizer(weight_decay), activation_fn=relu) as made:
        return made


vars(lenet)["default_image_size"], vars(cifarnet)["default_image_size"] = 28, 32
describe(globals(), SLIM)
