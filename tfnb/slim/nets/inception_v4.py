"""Inception v4 (Szegedy et al., 2016)."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.graph.parts.keys import GraphKeys
from tfnb.layers.contrib.arg_scope import arg_scope
from tfnb.layers.contrib.layers import batch_norm, conv2d, dropout, flatten, fully_connected
from tfnb.layers.contrib.pools import avg_pool2d
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.slim.nets.inception_base import defaults, rows
from tfnb.variables.scope import variable_scope

_A = "0a_1x1 96 | 0a_1x1 64, 0b_3x3 96 | 0a_1x1 64, 0b_3x3 96, 0c_3x3 96 | AvgPool_0a_3x3, 0b_1x1 96\n"
_B = ("0a_1x1 384 | 0a_1x1 192, 0b_1x7 224, 0c_7x1 256 | 0a_1x1 192, 0b_7x1 192, 0c_1x7 224, 0d_7x1 224, 0e_1x7 256 "
      "| AvgPool_0a_3x3, 0b_1x1 128\n")
_C = ("0a_1x1 256 | 0a_1x1 384, 0b_1x3 256 + 0c_3x1 256 | 0a_1x1 384, 0b_3x1 448, 0c_1x3 512, 0d_1x3 256 + 0e_3x1 256 "
      "| AvgPool_0a_3x3, 0b_1x1 256\n")
_TABLE = (
    "Conv2d_1a_3x3: 32 s2\nConv2d_2a_3x3: 32\nConv2d_2b_3x3: 64 SAME\n"
    "Mixed_3a: MaxPool_0a_3x3 s2 VALID | 0a_3x3 96 s2 VALID\n"
    "Mixed_4a: 0a_1x1 64, 1a_3x3 96 VALID | 0a_1x1 64, 0b_1x7 64, 0c_7x1 64, 1a_3x3 96 VALID\n"
    "Mixed_5a: 1a_3x3 192 s2 VALID | MaxPool_1a_3x3 s2 VALID\n"
    + "".join(f"Mixed_5{name}: {_A}" for name in "bcde")
    + "Mixed_6a: 1a_3x3 384 s2 VALID | 0a_1x1 192, 0b_3x3 224, 1a_3x3 256 s2 VALID | MaxPool_1a_3x3 s2 VALID\n"
    + "".join(f"Mixed_6{name}: {_B}" for name in "bcdefgh")
    + "Mixed_7a: 0a_1x1 192, 1a_3x3 192 s2 VALID | 0a_1x1 256, 0b_1x7 256, 0c_7x1 320, 1a_3x3 320 s2 VALID "
      "| MaxPool_1a_3x3 s2 VALID\n" + "".join(f"Mixed_7{name}: {_C}" for name in "bcd"))


def inception_v4_base(inputs: Any, final_endpoint: str = "Mixed_7d", scope: Any = None) -> tuple[Any, dict[str, Any]]:
    """Return (features, end points by name) of Inception v4, whose point Mixed_7d is [batch, 8, 8, 1536] of 299 pixels.

    Raises ValueError for an unknown final_endpoint.

    >>> net, points = tf.contrib.slim.nets.inception.inception_v4_base(tf.zeros([1, 299, 299, 3]), "Mixed_3a")
    >>> net.shape.as_list(), len(points)
    ([1, 73, 73, 160], 4)
    """
    with variable_scope(scope, "InceptionV4", [inputs]):
        return rows(inputs, _TABLE, int, final_endpoint, "VALID")


def _side(net: Any, num_classes: int) -> Any:
    """Return the logits of the side branch."""
    with variable_scope("AuxLogits"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = conv2d(net, 128, [1, 1], scope="Conv2d_1b_1x1")
        net = conv2d(net, 768, net.shape.as_list()[1:3], padding="VALID", scope="Conv2d_2a")
        return fully_connected(flatten(net), num_classes, activation_fn=None, scope="Aux_logits")


def inception_v4(inputs: Any, num_classes: int = 1001, is_training: bool = True, dropout_keep_prob: float = 0.8,
                 reuse: Any = None, scope: Any = "InceptionV4",
                 create_aux_logits: bool = True) -> tuple[Any, dict[str, Any]]:
    """Return (logits, end points by name) of Inception v4 (Szegedy et al., 2016), for images of 299 pixels.

    is_training: whether dropout drops and moments are the batch's. create_aux_logits: whether there is the side branch,
    the end point AuxLogits. num_classes: 0 for features.

    >>> logits, points = tf.contrib.slim.nets.inception.inception_v4(tf.zeros([2, 299, 299, 3]), num_classes=10)
    >>> logits.shape.as_list(), points["Mixed_7d"].shape.as_list(), points["AuxLogits"].shape.as_list()
    ([2, 10], [2, 8, 8, 1536], [2, 10])
    """
    with variable_scope(scope, "InceptionV4", [inputs], reuse=reuse) as within, \
            arg_scope([batch_norm, dropout], is_training=is_training):
        net, points = inception_v4_base(inputs, scope=within)
        with arg_scope([conv2d, avg_pool2d], stride=1, padding="SAME"):
            if create_aux_logits and num_classes:
                points["AuxLogits"] = _side(points["Mixed_6h"], num_classes)
            with variable_scope("Logits"):
                net = avg_pool2d(net, net.shape.as_list()[1:3], padding="VALID", scope="AvgPool_1a")
                points["global_pool"] = net
                if not num_classes:
                    return net, points
                net = dropout(net, dropout_keep_prob, scope="Dropout_1b")
                net = points["PreLogitsFlatten"] = flatten(net, scope="PreLogitsFlatten")
                points["Logits"] = fully_connected(net, num_classes, activation_fn=None, scope="Logits")
                points["Predictions"] = softmax(points["Logits"], name="Predictions")
    return points["Logits"], points


def inception_v4_arg_scope(weight_decay: float = 0.00004, use_batch_norm: bool = True, batch_norm_decay: float = 0.9997,
                           batch_norm_epsilon: float = 0.001) -> Any:
    """Return the defaults of layers for Inception v4, for tf.contrib.slim.arg_scope.

    use_batch_norm: whether convolutions are normalized.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.inception.inception_v4_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> [v.name for v in tf.model_variables()][1]
    'Conv/BatchNorm/beta:0'
    """
    return defaults(weight_decay, "moving_vars", batch_norm_decay, batch_norm_epsilon, GraphKeys.UPDATE_OPS,
                    use_batch_norm)


vars(inception_v4)["default_image_size"] = 299
describe(globals(), SLIM)
