"""Inception-ResNet v2 (Szegedy et al., 2016): residual blocks whose branches are those of Inception modules."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.graph.parts.keys import GraphKeys
from tfnb.layers.contrib.arg_scope import arg_scope
from tfnb.layers.contrib.layers import batch_norm, conv2d, dropout, flatten, fully_connected
from tfnb.layers.contrib.pools import avg_pool2d, max_pool2d
from tfnb.layers.contrib.repeating import repeat
from tfnb.losses.regularizers import l2_regularizer
from tfnb.ops.nn.activations import relu
from tfnb.ops.nn.cross_entropy import softmax
from tfnb.slim.nets.inception_base import module, rows
from tfnb.variables.scope import variable_scope

_SCOPE = "InceptionResnetV2"
_STEM = ("Conv2d_1a_3x3: 32 s2\nConv2d_2a_3x3: 32\nConv2d_2b_3x3: 64 SAME\nMaxPool_3a_3x3: s2\n"
         "Conv2d_3b_1x1: 80\nConv2d_4a_3x3: 192\nMaxPool_5a_3x3: s2\n"
         "Mixed_5b: 1x1 96 | 0a_1x1 48, 0b_5x5 64 | 0a_1x1 64, 0b_3x3 96, 0c_3x3 96 | AvgPool_0a_3x3, 0b_1x1 64\n")
_MIXED_6A = "1a_3x3 384 s2 VALID | 0a_1x1 256, 0b_3x3 256, 1a_3x3 384 s2 VALID | MaxPool_1a_3x3 s2 VALID"
_MIXED_7A = ("0a_1x1 256, 1a_3x3 384 s2 VALID | 0a_1x1 256, 1a_3x3 288 s2 VALID "
             "| 0a_1x1 256, 0b_3x3 288, 1a_3x3 320 s2 VALID | MaxPool_1a_3x3 s2 VALID")


def _block(name: str, table: str) -> Callable[..., Any]:
    """Return the layer that adds to its input what the branches of a table make of it, times a scale."""
    def layer(net: Any, scale: float = 1.0, activation_fn: Any = relu, scope: Any = None) -> Any:
        with variable_scope(scope, name, [net]):
            found = conv2d(module(net, table, int), net.shape.as_list()[3], [1, 1], normalizer_fn=None,
                           activation_fn=None, scope="Conv2d_1x1")
            net += found * scale
            return activation_fn(net) if activation_fn else net
    layer.__name__ = name.lower()
    return layer


_block35 = _block("Block35", "1x1 32 | 0a_1x1 32, 0b_3x3 32 | 0a_1x1 32, 0b_3x3 48, 0c_3x3 64")
_block17 = _block("Block17", "1x1 192 | 0a_1x1 128, 0b_1x7 160, 0c_7x1 192")
_block8 = _block("Block8", "1x1 192 | 0a_1x1 192, 0b_1x3 224, 0c_3x1 256")


def inception_resnet_v2_base(inputs: Any, final_endpoint: str = "Conv2d_7b_1x1", output_stride: int = 16,
                             align_feature_maps: bool = False, scope: Any = None,
                             activation_fn: Any = relu) -> tuple[Any, dict[str, Any]]:
    """Return (features, end points by name), whose point Conv2d_7b_1x1 is [batch, 8, 8, 1536] of 299 pixels.

    output_stride: 16, or NotImplementedError. align_feature_maps: pad the first layers, too. Raises ValueError for an
    unknown final_endpoint.

    >>> net, points = tf.contrib.slim.nets.inception_resnet_v2.inception_resnet_v2_base(
    ...     tf.zeros([1, 149, 149, 3]), final_endpoint="Mixed_5b")
    >>> net.shape.as_list(), len(points)
    ([1, 16, 16, 320], 8)
    """
    if output_stride != 16:
        raise NotImplementedError(f"inception_resnet_v2: expected output_stride=16, got {output_stride}")
    padding = "SAME" if align_feature_maps else "VALID"
    points: dict[str, Any] = {}

    def mixed(name: str, net: Any, table: str) -> Any:
        with variable_scope(name):
            return module(net, table.replace("VALID", padding), int)

    steps: dict[str, Callable[[Any], Any]] = {
        "Mixed_6a": lambda net: mixed("Mixed_6a", repeat(net, 10, _block35, scale=0.17, activation_fn=activation_fn),
                                      _MIXED_6A),
        "PreAuxLogits": lambda net: repeat(net, 20, _block17, scale=0.10, activation_fn=activation_fn),
        "Mixed_7a": lambda net: mixed("Mixed_7a", net, _MIXED_7A),
        "Conv2d_7b_1x1": lambda net: conv2d(
            _block8(repeat(net, 9, _block8, scale=0.20, activation_fn=activation_fn), activation_fn=None), 1536, [1, 1],
            scope="Conv2d_7b_1x1")}
    with variable_scope(scope, _SCOPE, [inputs]), \
            arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"):
        last = final_endpoint if final_endpoint in _STEM else "Mixed_5b"
        net, points = rows(inputs, _STEM, int, last, padding)
        for name, step in steps.items():
            if final_endpoint in points:
                break
            net = points[name] = step(net)
    if final_endpoint not in points:
        raise ValueError(f"expected one of {', '.join(points)} as final_endpoint, got {final_endpoint!r}")
    return net, points


def _side(net: Any, num_classes: int) -> Any:
    """Return the logits of the side branch."""
    with variable_scope("AuxLogits"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="Conv2d_1a_3x3")
        net = conv2d(net, 128, [1, 1], scope="Conv2d_1b_1x1")
        net = conv2d(net, 768, net.shape.as_list()[1:3], padding="VALID", scope="Conv2d_2a_5x5")
        return fully_connected(flatten(net), num_classes, activation_fn=None, scope="Logits")


def inception_resnet_v2(inputs: Any, num_classes: int = 1001, is_training: bool = True,
                        dropout_keep_prob: float = 0.8, reuse: Any = None, scope: Any = _SCOPE,
                        create_aux_logits: bool = True, activation_fn: Any = relu) -> tuple[Any, dict[str, Any]]:
    """Return (logits, end points by name) of Inception-ResNet v2, for images of 299 pixels.

    is_training: whether dropout drops and moments are the batch's. create_aux_logits: whether there is the side branch,
    the end point AuxLogits. num_classes: 0 for features.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.inception_resnet_v2.inception_resnet_v2_arg_scope()):
    ...     logits, points = tf.contrib.slim.nets.inception_resnet_v2.inception_resnet_v2(
    ...         tf.zeros([2, 139, 139, 3]), num_classes=10, create_aux_logits=False)
    >>> logits.shape.as_list(), points["Conv2d_7b_1x1"].shape.as_list()
    ([2, 10], [2, 3, 3, 1536])
    """
    with variable_scope(scope, _SCOPE, [inputs], reuse=reuse) as within, \
            arg_scope([batch_norm, dropout], is_training=is_training):
        net, points = inception_resnet_v2_base(inputs, scope=within, activation_fn=activation_fn)
        with arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"):
            if create_aux_logits and num_classes:
                points["AuxLogits"] = _side(points["PreAuxLogits"], num_classes)
            with variable_scope("Logits"):
                net = avg_pool2d(net, net.shape.as_list()[1:3], padding="VALID", scope="AvgPool_1a_8x8")
                points["global_pool"] = net
                if not num_classes:
                    return net, points
                net = dropout(flatten(net), dropout_keep_prob, scope="Dropout")
                points["PreLogitsFlatten"] = net
                points["Logits"] = fully_connected(net, num_classes, activation_fn=None, scope="Logits")
                points["Predictions"] = softmax(points["Logits"], name="Predictions")
    return points["Logits"], points


def inception_resnet_v2_arg_scope(weight_decay: float = 0.00004, batch_norm_decay: float = 0.9997,
                                  batch_norm_epsilon: float = 0.001, activation_fn: Any = relu,
                                  batch_norm_updates_collections: Any = GraphKeys.UPDATE_OPS,
                                  batch_norm_scale: bool = False) -> Any:
    """Return the defaults of layers for Inception-ResNet v2, for tf.contrib.slim.arg_scope.

    batch_norm_updates_collections: keys of the updates of moments. batch_norm_scale: whether there are gammas.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.inception_resnet_v2.inception_resnet_v2_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> [v.name for v in tf.model_variables()][1]
    'Conv/BatchNorm/beta:0'
    """
    decay = l2_regularizer(weight_decay)
    norm = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale, "fused": None,
            "updates_collections": batch_norm_updates_collections}
    with arg_scope([conv2d, fully_connected], weights_regularizer=decay, biases_regularizer=decay), \
            arg_scope([conv2d], activation_fn=activation_fn, normalizer_fn=batch_norm,
                      normalizer_params=norm) as made:
        return made


vars(inception_resnet_v2)["default_image_size"] = 299
describe(globals(), SLIM)
