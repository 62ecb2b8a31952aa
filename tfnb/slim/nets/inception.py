"""Inception v1 (GoogLeNet), v2 and v3, of Szegedy et al. and of Ioffe and Szegedy."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.graph.parts.keys import GraphKeys
from tfnb.layers.contrib.arg_scope import arg_scope
from tfnb.layers.contrib.layers import batch_norm, conv2d, dropout, fully_connected
from tfnb.layers.contrib.pools import avg_pool2d, max_pool2d
from tfnb.layers.contrib.repeating import softmax
from tfnb.ops.array.reshape import squeeze
from tfnb.slim.nets.inception_base import classified, defaults, depths, normal, rows, window
from tfnb.slim.nets.inception_v4 import (  # noqa: F401
    inception_v4,
    inception_v4_arg_scope,
    inception_v4_base,
)
from tfnb.variables.scope import variable_scope

Net = tuple[Any, dict[str, Any]]


def _mixed(name: str, sizes: str, pool: str = "MaxPool", last: str = "") -> str:
    """A row of v1 (six depths) or v2 (seven)."""
    a, *b, c = sizes.split()
    if len(b) == 4:
        return (f"Mixed_{name}: 0a_1x1 {a} | 0a_1x1 {b[0]}, 0b_3x3 {b[1]} | 0a_1x1 {b[2]}, {last or '0b'}_3x3 {b[3]} "
                f"| MaxPool_0a_3x3, 0b_1x1 {c}\n")
    return (f"Mixed_{name}: 0a_1x1 {a} | 0a_1x1 {b[0]} 0.09, 0b_3x3 {b[1]} | 0a_1x1 {b[2]} 0.09, 0b_3x3 {b[3]}, "
            f"0c_3x3 {b[4]} | {pool}_0a_3x3, 0b_1x1 {c} 0.1\n")


_V1 = ("Conv2d_1a_7x7: 64 s2\nMaxPool_2a_3x3: s2\nConv2d_2b_1x1: 64\nConv2d_2c_3x3: 192\nMaxPool_3a_3x3: s2\n"
       + _mixed("3b", "64 96 128 16 32 32") + _mixed("3c", "128 128 192 32 96 64") + "MaxPool_4a_3x3: s2\n"
       + _mixed("4b", "192 96 208 16 48 64") + _mixed("4c", "160 112 224 24 64 64")
       + _mixed("4d", "128 128 256 24 64 64") + _mixed("4e", "112 144 288 32 64 64")
       + _mixed("4f", "256 160 320 32 128 128") + "MaxPool_5a_2x2: s2\n"
       + _mixed("5b", "256 160 320 32 128 128", last="0a") + _mixed("5c", "384 192 384 48 128 128"))

_V2 = ("Conv2d_1a_7x7: 64 s2 separable 1.0\nMaxPool_2a_3x3: s2\nConv2d_2b_1x1: 64 0.1\nConv2d_2c_3x3: 192\n"
       "MaxPool_3a_3x3: s2\n" + _mixed("3b", "64 64 64 64 96 96 32", "AvgPool")
       + _mixed("3c", "64 64 96 64 96 96 64", "AvgPool")
       + "Mixed_4a: 0a_1x1 128 0.09, 1a_3x3 160 s2 | 0a_1x1 64 0.09, 0b_3x3 96, 1a_3x3 96 s2 | MaxPool_1a_3x3 s2\n"
       + _mixed("4b", "224 64 96 96 128 128 128", "AvgPool") + _mixed("4c", "192 96 128 96 128 128 128", "AvgPool")
       + _mixed("4d", "160 128 160 128 160 160 96", "AvgPool") + _mixed("4e", "96 128 192 160 192 192 96", "AvgPool")
       + "Mixed_5a: 0a_1x1 128 0.09, 1a_3x3 192 s2 | 0a_1x1 192 0.09, 0b_3x3 256, 1a_3x3 256 s2 | MaxPool_1a_3x3 s2\n"
       + _mixed("5b", "352 192 320 160 224 224 128", "AvgPool") + _mixed("5c", "352 192 320 192 224 224 128"))


def _sevens(name: str, depth: int) -> str:
    return (f"Mixed_{name}: 0a_1x1 192 | 0a_1x1 {depth}, 0b_1x7 {depth}, 0c_7x1 192 | 0a_1x1 {depth}, 0b_7x1 {depth}, "
            f"0c_1x7 {depth}, 0d_7x1 {depth}, 0e_1x7 192 | AvgPool_0a_3x3, 0b_1x1 192\n")


def _fives(name: str, pooled: int, first: str = "0a_1x1", second: str = "0b_5x5") -> str:
    return (f"Mixed_{name}: 0a_1x1 64 | {first} 48, {second} 64 | 0a_1x1 64, 0b_3x3 96, 0c_3x3 96 "
            f"| AvgPool_0a_3x3, 0b_1x1 {pooled}\n")


def _forks(name: str, second: str) -> str:
    return (f"Mixed_{name}: 0a_1x1 320 | 0a_1x1 384, 0b_1x3 384 + {second}_3x1 384 "
            "| 0a_1x1 448, 0b_3x3 384, 0c_1x3 384 + 0d_3x1 384 | AvgPool_0a_3x3, 0b_1x1 192\n")


_V3 = ("Conv2d_1a_3x3: 32 s2\nConv2d_2a_3x3: 32\nConv2d_2b_3x3: 64 SAME\nMaxPool_3a_3x3: s2\nConv2d_3b_1x1: 80\n"
       "Conv2d_4a_3x3: 192\nMaxPool_5a_3x3: s2\n" + _fives("5b", 32)
       + _fives("5c", 64, "0b_1x1", "Conv_1_0c_5x5") + _fives("5d", 64)
       + "Mixed_6a: 1a_1x1 384 s2 VALID 3x3 | 0a_1x1 64, 0b_3x3 96, 1a_1x1 96 s2 VALID 3x3 | MaxPool_1a_3x3 s2 VALID\n"
       + _sevens("6b", 128) + _sevens("6c", 160) + _sevens("6d", 160) + _sevens("6e", 192)
       + "Mixed_7a: 0a_1x1 192, 1a_3x3 320 s2 VALID | 0a_1x1 192, 0b_1x7 192, 0c_7x1 192, 1a_3x3 192 s2 VALID "
         "| MaxPool_1a_3x3 s2 VALID\n" + _forks("7b", "0b") + _forks("7c", "0c"))


def inception_v1_base(inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1") -> Net:
    """Return (features, end points by name) of Inception v1, whose point Mixed_5c is [batch, 7, 7, 1024] of 224 pixels.

    >>> net, points = tf.contrib.slim.nets.inception.inception_v1_base(tf.zeros([1, 224, 224, 3]), "Mixed_3b")
    >>> net.shape.as_list(), len(points)
    ([1, 28, 28, 256], 6)
    """
    with variable_scope(scope, "InceptionV1", [inputs]), \
            arg_scope([conv2d, fully_connected], weights_initializer=normal(0.01)):
        return rows(inputs, _V1, int, final_endpoint, "SAME")


def inception_v1(inputs: Any, num_classes: int = 1000, is_training: bool = True, dropout_keep_prob: float = 0.8,
                 prediction_fn: Any = softmax, spatial_squeeze: bool = True, reuse: Any = None,
                 scope: Any = "InceptionV1") -> Net:
    """Return (logits, end points by name) of Inception v1 (Szegedy et al., 2014), for images of 224 pixels.

    is_training: whether dropout drops and moments are the batch's.

    >>> logits, points = tf.contrib.slim.nets.inception.inception_v1(tf.zeros([2, 224, 224, 3]), num_classes=10)
    >>> logits.shape.as_list(), points["Mixed_5c"].shape.as_list()
    ([2, 10], [2, 7, 7, 1024])
    """
    with variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as within, \
            arg_scope([batch_norm, dropout], is_training=is_training):
        net, points = inception_v1_base(inputs, scope=within)
        return classified(net, points, num_classes, dropout_keep_prob, spatial_squeeze, prediction_fn,
                          "MaxPool_0a_7x7", "Dropout_0b", "Conv2d_0c_1x1", inside=True), points


def inception_v2_base(inputs: Any, final_endpoint: str = "Mixed_5c", min_depth: int = 16,
                      depth_multiplier: float = 1.0, scope: Any = None) -> Net:
    """Return (features, end points by name) of Inception v2, whose point Mixed_5c is [batch, 7, 7, 1024] of 224 pixels.

    Raises ValueError for a depth_multiplier that is not positive, or an unknown final_endpoint.

    >>> net, points = tf.contrib.slim.nets.inception.inception_v2_base(tf.zeros([1, 224, 224, 3]), "Mixed_3b")
    >>> net.shape.as_list(), len(points)
    ([1, 28, 28, 256], 6)
    """
    with variable_scope(scope, "InceptionV2", [inputs]):
        return rows(inputs, _V2, depths(depth_multiplier, min_depth), final_endpoint, "SAME")


def inception_v2(inputs: Any, num_classes: int = 1000, is_training: bool = True, dropout_keep_prob: float = 0.8,
                 min_depth: int = 16, depth_multiplier: float = 1.0, prediction_fn: Any = softmax,
                 spatial_squeeze: bool = True, reuse: Any = None, scope: Any = "InceptionV2") -> Net:
    """Return (logits, end points by name) of Inception v2 (Ioffe and Szegedy, 2015), for images of 224 pixels.

    is_training: whether dropout drops and moments are the batch's.

    >>> logits, points = tf.contrib.slim.nets.inception.inception_v2(tf.zeros([2, 224, 224, 3]), num_classes=10)
    >>> logits.shape.as_list(), points["Mixed_5c"].shape.as_list()
    ([2, 10], [2, 7, 7, 1024])
    """
    with variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as within, \
            arg_scope([batch_norm, dropout], is_training=is_training):
        net, points = inception_v2_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=within)
        return classified(net, points, num_classes, dropout_keep_prob, spatial_squeeze, prediction_fn,
                          "AvgPool_1a_{}x{}", "Dropout_1b", "Conv2d_1c_1x1"), points


def inception_v3_base(inputs: Any, final_endpoint: str = "Mixed_7c", min_depth: int = 16,
                      depth_multiplier: float = 1.0, scope: Any = None) -> Net:
    """Return (features, end points by name) of Inception v3, whose point Mixed_7c is [batch, 8, 8, 2048] of 299 pixels.

    Raises ValueError for a depth_multiplier that is not positive, or an unknown final_endpoint.

    >>> net, points = tf.contrib.slim.nets.inception.inception_v3_base(tf.zeros([1, 299, 299, 3]), "Mixed_5b")
    >>> net.shape.as_list(), len(points)
    ([1, 35, 35, 256], 8)
    """
    with variable_scope(scope, "InceptionV3", [inputs]):
        return rows(inputs, _V3, depths(depth_multiplier, min_depth), final_endpoint, "VALID")


def inception_v3(inputs: Any, num_classes: int = 1000, is_training: bool = True, dropout_keep_prob: float = 0.8,
                 min_depth: int = 16, depth_multiplier: float = 1.0, prediction_fn: Any = softmax,
                 spatial_squeeze: bool = True, reuse: Any = None, scope: Any = "InceptionV3") -> Net:
    """Return (logits, end points by name) of Inception v3 (Szegedy et al., 2015), for images of 299 pixels.

    The point AuxLogits has the logits of a classifier in the middle, for the loss of training. is_training: whether
    dropout drops and moments are the batch's.

    >>> logits, points = tf.contrib.slim.nets.inception.inception_v3(tf.zeros([2, 299, 299, 3]), num_classes=10)
    >>> logits.shape.as_list(), points["AuxLogits"].shape.as_list()
    ([2, 10], [2, 10])
    """
    with variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as within, \
            arg_scope([batch_norm, dropout], is_training=is_training):
        net, points = inception_v3_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=within)
        points["AuxLogits"] = _auxiliary(points["Mixed_6e"], num_classes, spatial_squeeze,
                                         depths(depth_multiplier, min_depth))
        return classified(net, points, num_classes, dropout_keep_prob, spatial_squeeze, prediction_fn,
                          "AvgPool_1a_{}x{}", "Dropout_1b", "Conv2d_1c_1x1", pre_logits=True), points


def _auxiliary(net: Any, num_classes: int, squeezed: bool, depth: Any) -> Any:
    """The logits of the classifier in the middle of v3."""
    with variable_scope("AuxLogits"), arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        sizes = window(net, (5, 5))
        net = conv2d(net, depth(768), sizes, weights_initializer=normal(0.01), padding="VALID",
                     scope=f"Conv2d_2a_{sizes[0]}x{sizes[1]}")
        net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                     weights_initializer=normal(0.001), scope="Conv2d_2b_1x1")
        return squeeze(net, [1, 2], name="SpatialSqueeze") if squeezed else net


def inception_v1_arg_scope(weight_decay: float = 0.00004, use_batch_norm: bool = True,
                           batch_norm_var_collection: str = "moving_vars") -> Any:
    """Return the defaults of layers for Inception v1, for tf.contrib.slim.arg_scope.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.inception.inception_v1_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> [v.name for v in tf.trainable_variables()]
    ['Conv/weights:0', 'Conv/BatchNorm/beta:0']
    """
    return defaults(weight_decay, batch_norm_var_collection, 0.9997, 0.001, GraphKeys.UPDATE_OPS, use_batch_norm)


def inception_v2_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars") -> Any:
    """Return the defaults of layers for Inception v2, for tf.contrib.slim.arg_scope.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.inception.inception_v2_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> [v.name for v in tf.trainable_variables()]
    ['Conv/weights:0', 'Conv/BatchNorm/beta:0']
    """
    return defaults(weight_decay, batch_norm_var_collection, 0.9997, 0.001, GraphKeys.UPDATE_OPS)


def inception_v3_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars",
                           batch_norm_decay: float = 0.9997, batch_norm_epsilon: float = 0.001,
                           updates_collections: Any = GraphKeys.UPDATE_OPS, use_fused_batchnorm: bool = True) -> Any:
    """Return the defaults of layers for Inception v3, for tf.contrib.slim.arg_scope.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.inception.inception_v3_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> [v.name for v in tf.trainable_variables()]
    ['Conv/weights:0', 'Conv/BatchNorm/beta:0']
    """
    return defaults(weight_decay, batch_norm_var_collection, batch_norm_decay, batch_norm_epsilon,
                    updates_collections)


for _network, _pixels in ((inception_v1, 224), (inception_v2, 224), (inception_v3, 299)):
    vars(_network)["default_image_size"] = _pixels
describe(globals(), SLIM)
