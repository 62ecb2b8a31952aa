"""MobileNet v1 (Howard et al., 2017): convolutions by channel, and pointwise ones behind them."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.graph.parts.keys import GraphKeys
from tfnb.layers.contrib.arg_scope import arg_scope
from tfnb.layers.contrib.layers import batch_norm, conv2d, dropout, separable_convolution2d
from tfnb.layers.contrib.pools import avg_pool2d
from tfnb.layers.contrib.repeating import softmax
from tfnb.losses.regularizers import l2_regularizer
from tfnb.ops.array.reshape import squeeze
from tfnb.ops.nn.activations import relu6
from tfnb.ops.reductions.reduce import reduce_mean
from tfnb.slim.nets.inception_base import depths, normal, window
from tfnb.variables.scope import variable_scope

# (stride, depth) of the pairs of convolutions, behind a first one of 32 channels.
_PAIRS = ((1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512), *((1, 512),) * 5, (2, 1024), (1, 1024))


def mobilenet_v1_base(inputs: Any, final_endpoint: str = "Conv2d_13_pointwise", min_depth: int = 8,
                      depth_multiplier: float = 1.0, conv_defs: Any = None, output_stride: int | None = None,
                      use_explicit_padding: bool = False, scope: Any = None) -> tuple[Any, dict[str, Any]]:
    """Return (features, end points by name), whose point Conv2d_13_pointwise is [batch, 7, 7, 1024] of 224 pixels.

    output_stride: 8, 16 or 32: convolutions behind it have rates in place of strides. conv_defs,
    use_explicit_padding: not there, a NotImplementedError. Raises ValueError for a depth_multiplier that is not
    positive, or an unknown final_endpoint.

    >>> net, points = tf.contrib.slim.nets.mobilenet_v1.mobilenet_v1_base(tf.zeros([1, 224, 224, 3]))
    >>> net.shape.as_list(), len(points)
    ([1, 7, 7, 1024], 27)
    """
    if conv_defs is not None or use_explicit_padding:
        raise NotImplementedError("mobilenet_v1_base: expected no conv_defs and no use_explicit_padding")
    if output_stride not in (None, 8, 16, 32):
        raise ValueError(f"Only allowed output_stride values are 8, 16, 32, got {output_stride}")
    depth, points = depths(depth_multiplier, min_depth), dict[str, Any]()
    with variable_scope(scope, "MobilenetV1", [inputs]), \
            arg_scope([conv2d, separable_convolution2d], padding="SAME"):
        net = points["Conv2d_0"] = conv2d(inputs, depth(32), [3, 3], stride=2, normalizer_fn=batch_norm,
                                          scope="Conv2d_0")
        reached, rate = 2, 1
        for number, (stride, channels) in enumerate(_PAIRS, 1):
            if final_endpoint in points:
                break
            wide = rate
            if output_stride is not None and reached == output_stride:
                stride, rate = 1, rate * stride
            else:
                reached *= stride
            name = f"Conv2d_{number}_depthwise"
            net = points[name] = separable_convolution2d(
                net, None, [3, 3], depth_multiplier=1, stride=stride, rate=wide, normalizer_fn=batch_norm, scope=name)
            if name == final_endpoint:
                break
            name = f"Conv2d_{number}_pointwise"
            net = points[name] = conv2d(net, depth(channels), [1, 1], stride=1, normalizer_fn=batch_norm, scope=name)
    if final_endpoint not in points:
        raise ValueError(f"expected one of {', '.join(points)} as final_endpoint, got {final_endpoint!r}")
    return net, points


def mobilenet_v1(inputs: Any, num_classes: int = 1000, dropout_keep_prob: float = 0.999, is_training: bool = True,
                 min_depth: int = 8, depth_multiplier: float = 1.0, conv_defs: Any = None,
                 prediction_fn: Any = softmax, spatial_squeeze: bool = True, reuse: Any = None,
                 scope: Any = "MobilenetV1", global_pool: bool = False) -> tuple[Any, dict[str, Any]]:
    """Return (logits, end points by name) of MobileNet v1, for images of 224 pixels.

    is_training: whether dropout drops and moments are the batch's. num_classes: 0 for features. conv_defs: not there.
    global_pool: average over images of any size.

    >>> logits, points = tf.contrib.slim.nets.mobilenet_v1.mobilenet_v1(tf.zeros([2, 224, 224, 3]), num_classes=10)
    >>> logits.shape.as_list(), points["Conv2d_13_pointwise"].shape.as_list()
    ([2, 10], [2, 7, 7, 1024])
    """
    if inputs.shape.ndims != 4:
        raise ValueError(f"Invalid input tensor rank, expected 4, was: {inputs.shape.ndims}")
    with variable_scope(scope, "MobilenetV1", [inputs], reuse=reuse) as within, \
            arg_scope([batch_norm, dropout], is_training=is_training):
        net, points = mobilenet_v1_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier,
                                        conv_defs=conv_defs, scope=within)
        with variable_scope("Logits"):
            if global_pool:
                net = points["global_pool"] = reduce_mean(net, [1, 2], keepdims=True, name="global_pool")
            else:
                net = points["AvgPool_1a"] = avg_pool2d(net, window(net, (7, 7)), padding="VALID", scope="AvgPool_1a")
            if not num_classes:
                return net, points
            net = dropout(net, dropout_keep_prob, scope="Dropout_1b")
            logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_1c_1x1")
            if spatial_squeeze:
                logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
        points["Logits"] = logits
        points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, points


def mobilenet_v1_arg_scope(is_training: bool = True, weight_decay: float = 0.00004, stddev: float = 0.09,
                           regularize_depthwise: bool = False, batch_norm_decay: float = 0.9997,
                           batch_norm_epsilon: float = 0.001,
                           batch_norm_updates_collections: Any = GraphKeys.UPDATE_OPS,
                           normalizer_fn: Any = batch_norm) -> Any:
    """Return the defaults of layers for MobileNet v1, for tf.contrib.slim.arg_scope.

    is_training: whether moments are the batch's; None leaves that open. stddev: of the weights. regularize_depthwise:
    whether weights of convolutions by channel decay, too. batch_norm_updates_collections: keys of the
    updates of moments. normalizer_fn: of the convolutions.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.mobilenet_v1.mobilenet_v1_arg_scope()):
    ...     y = tf.contrib.slim.conv2d(tf.ones([1, 4, 4, 1]), 2, [3, 3])
    >>> [v.name for v in tf.model_variables()][1]
    'Conv/BatchNorm/gamma:0'
    """
    norm: dict[str, Any] = {"center": True, "scale": True, "decay": batch_norm_decay, "epsilon": batch_norm_epsilon,
                            "updates_collections": batch_norm_updates_collections}
    if is_training is not None:
        norm["is_training"] = is_training
    decay = l2_regularizer(weight_decay)
    with arg_scope([conv2d, separable_convolution2d], weights_initializer=normal(stddev), activation_fn=relu6,
                   normalizer_fn=normalizer_fn), \
            arg_scope([batch_norm], **norm), arg_scope([conv2d], weights_regularizer=decay), \
            arg_scope([separable_convolution2d], weights_regularizer=decay if regularize_depthwise else None) as made:
        return made


vars(mobilenet_v1)["default_image_size"] = 224
describe(globals(), SLIM)
