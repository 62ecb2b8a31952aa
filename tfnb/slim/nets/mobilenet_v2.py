"""MobileNet v2 (Sandler et al., 2018): inverted residuals, which widen, filter by channel and project."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.core.arguments import SLIM, describe
from tfnb.layers.contrib.arg_scope import add_arg_scope, arg_scope
from tfnb.layers.contrib.layers import batch_norm, conv2d, dropout, fully_connected, separable_convolution2d
from tfnb.layers.contrib.repeating import softmax
from tfnb.losses.regularizers import l2_regularizer
from tfnb.ops.array.reshape import identity, squeeze
from tfnb.ops.nn.activations import relu6
from tfnb.ops.reductions.reduce import reduce_mean
from tfnb.slim.nets.inception_base import normal
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.scope import variable_scope

# (expansion, channels, stride) of the inverted residuals, between convolutions of 32 and of 1280 channels.
_BLOCKS = ((1, 16, 1), (6, 24, 2), (6, 24, 1), (6, 32, 2), *((6, 32, 1),) * 2, (6, 64, 2), *((6, 64, 1),) * 3,
           *((6, 96, 1),) * 3, (6, 160, 2), *((6, 160, 1),) * 2, (6, 320, 1))
_LAST = len(_BLOCKS) + 2
_MOBILENET = "MobilenetV2"


def _multiple(size: float, divisor: int, least: int | None) -> int:
    """Return the multiple of `divisor` next to `size`, at least `least` and 90 % of it."""
    found = max(least or divisor, int(size + divisor / 2) // divisor * divisor)
    return found + divisor if found < 0.9 * size else found


def _inverted(net: Any, expansion: int, channels: int, stride: int, rate: int, points: dict[str, Any],
              layer: str) -> Any:
    """Return an inverted residual of `net`, in the current scope."""
    before, inner = net, net.shape.as_list()[3] * expansion
    if expansion > 1:
        net = points[f"{layer}/expansion_output"] = conv2d(
            net, _multiple(inner, 8, None), [1, 1], normalizer_fn=batch_norm, scope="expand")
    net = points[f"{layer}/depthwise_output"] = separable_convolution2d(
        net, None, [3, 3], depth_multiplier=1, stride=stride, rate=rate, normalizer_fn=batch_norm, scope="depthwise")
    net = conv2d(net, channels, [1, 1], activation_fn=identity, normalizer_fn=batch_norm, scope="project")
    if stride == 1 and before.shape.as_list()[3] == channels:
        net += before
    return identity(net, name="output")


@add_arg_scope
def mobilenet_base(input_tensor: Any, depth_multiplier: float = 1.0, final_endpoint: str | None = None,
                   output_stride: int | None = None, finegrain_classification_mode: bool = False,
                   min_depth: int | None = None, divisible_by: int | None = None, activation_fn: Any = None,
                   is_training: bool | None = False, scope: Any = _MOBILENET) -> tuple[Any, dict[str, Any]]:
    """Return (features, end points layer_1 to layer_19) of MobileNet v2, [batch, 7, 7, 1280] of 224 pixels.

    Raises ValueError for a depth_multiplier that is not positive, an output_stride that no stride reaches, or an
    unknown final_endpoint.

    >>> net, points = tf.contrib.slim.nets.mobilenet_v2.mobilenet_base(tf.zeros([1, 224, 224, 3]))
    >>> net.shape.as_list(), points["layer_15/expansion_output"].shape.as_list()
    ([1, 7, 7, 1280], [1, 14, 14, 576])
    """
    if depth_multiplier <= 0:
        raise ValueError(f"multiplier is not greater than zero: {depth_multiplier}")
    if output_stride not in (None, 1, 2, 4, 8, 16, 32):
        raise ValueError(f"output_stride must be 1 or even, a power of two up to 32, got {output_stride}")
    if final_endpoint is not None and final_endpoint not in (names := [f"layer_{i + 1}" for i in range(_LAST)]):
        raise ValueError(f"expected one of {', '.join(names)} as final_endpoint, got {final_endpoint!r}")
    divisor, points = divisible_by or 8, dict[str, Any]()
    strides = _Strides(output_stride)
    last = 1.0 if finegrain_classification_mode and depth_multiplier < 1 else depth_multiplier

    def depth(channels: int) -> int:
        return _multiple(channels * depth_multiplier, divisor, min_depth)

    with variable_scope(scope, _MOBILENET, [input_tensor]), \
            arg_scope([conv2d, separable_convolution2d], padding="SAME", activation_fn=activation_fn or relu6), \
            arg_scope([batch_norm], center=True, scale=True, **_given(is_training=is_training)):
        stride, rate = strides.next(2)
        net = points["layer_1"] = conv2d(input_tensor, depth(32), [3, 3], stride=stride, rate=rate,
                                         normalizer_fn=batch_norm, scope="Conv")
        for number, (expansion, channels, wanted) in enumerate(_BLOCKS):
            if final_endpoint in points:
                return net, points
            layer, (stride, rate) = f"layer_{number + 2}", strides.next(wanted)
            with variable_scope("expanded_conv" + (f"_{number}" if number else "")):
                net = _inverted(net, expansion, depth(channels), stride, rate, points, layer)
            points[layer] = points[f"{layer}/output"] = net
        if final_endpoint not in points:
            net = points[f"layer_{_LAST}"] = conv2d(net, _multiple(1280 * max(last, 1.0), divisor, min_depth), [1, 1],
                                                    normalizer_fn=batch_norm, scope="Conv_1")
    return net, points


class _Strides:
    """Strides of layers until `limit` is reached, and rates of convolutions from then on."""

    def __init__(self, limit: int | None) -> None:
        self._limit, self._reached, self._rate = limit, 1, 1

    def next(self, stride: int) -> tuple[int, int]:
        """Return (stride, rate) of the next layer."""
        rate = self._rate
        if self._limit is not None and self._reached == self._limit:
            self._rate *= stride
            return 1, rate
        self._reached *= stride
        return stride, rate


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


@add_arg_scope
def mobilenet(input_tensor: Any, num_classes: int = 1001, depth_multiplier: float = 1.0, scope: Any = _MOBILENET,
              conv_defs: Any = None, finegrain_classification_mode: bool = False, min_depth: int | None = None,
              divisible_by: int | None = None, activation_fn: Any = None, prediction_fn: Any = softmax,
              base_only: bool = False, is_training: bool | None = False, reuse: Any = None,
              final_endpoint: str | None = None, output_stride: int | None = None) -> tuple[Any, dict[str, Any]]:
    """Return (logits, end points by name) of MobileNet v2, for images whose sizes are multiples of 32.

    num_classes: 0 for features. conv_defs: must be None, or NotImplementedError. base_only: the features of
    `mobilenet_base`. is_training: whether dropout drops and moments are the batch's; None leaves that open.

    >>> logits, points = tf.contrib.slim.nets.mobilenet_v2.mobilenet(tf.zeros([2, 96, 96, 3]), num_classes=10)
    >>> logits.shape.as_list(), points["layer_19"].shape.as_list()
    ([2, 10], [2, 3, 3, 1280])
    """
    if conv_defs is not None:
        raise NotImplementedError("mobilenet: expected conv_defs=None: the layers are those of MobileNet v2")
    if input_tensor.shape.ndims != 4:
        raise ValueError(f"Expected rank 4 input, was: {input_tensor.shape.ndims}")
    with variable_scope(scope, _MOBILENET, reuse=reuse) as within:
        net, points = mobilenet_base(input_tensor, depth_multiplier, final_endpoint, output_stride,
                                     finegrain_classification_mode, min_depth, divisible_by, activation_fn,
                                     is_training=is_training, scope=within)
        if base_only:
            return net, points
        with variable_scope("Logits"):
            net = points["global_pool"] = reduce_mean(net, [1, 2], keepdims=True, name="global_pool")
            if not num_classes:
                return net, points
            net = dropout(net, scope="Dropout", **_given(is_training=is_training))
            logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                            biases_initializer=zeros_initializer(), scope="Conv2d_1c_1x1")
            logits = squeeze(logits, [1, 2])
    points["Logits"] = logits = identity(logits, name="output")
    points["Predictions"] = prediction_fn(logits, "Predictions")
    return logits, points


def training_scope(is_training: bool | None = True, weight_decay: float = 0.00004, stddev: float = 0.09,
                   dropout_keep_prob: float = 0.8, bn_decay: float = 0.997) -> Any:
    """Return the defaults of layers for the training of MobileNet v2, for tf.contrib.slim.arg_scope.

    is_training: whether dropout drops and moments are the batch's; None leaves that open. stddev: of the weights.
    bn_decay: of the averages of moments.

    >>> with tf.contrib.slim.arg_scope(tf.contrib.slim.nets.mobilenet_v2.training_scope(weight_decay=0.001)):
    ...     logits, points = tf.contrib.slim.nets.mobilenet_v2.mobilenet(tf.zeros([1, 32, 32, 3]), 10)
    >>> len(tf.losses.get_regularization_losses())
    36
    """
    layers: list[Callable[..., Any]] = [conv2d, fully_connected, separable_convolution2d]
    with arg_scope(layers, weights_initializer=normal(stddev)), \
            arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)), \
            arg_scope([separable_convolution2d], weights_regularizer=None), \
            arg_scope([mobilenet, mobilenet_base], is_training=is_training), \
            arg_scope([batch_norm], decay=bn_decay, **_given(is_training=is_training)), \
            arg_scope([dropout], keep_prob=dropout_keep_prob, **_given(is_training=is_training)) as made:
        return made


vars(mobilenet)["default_image_size"] = 224
describe(globals(), SLIM)
