"""MobileNet (Howard et al., 2017) and MobileNetV2 (Sandler et al., 2018): convolutions by channel."""
from __future__ import annotations

from typing import Any

from tfnb.keras.applications.nets.parts import Net, begin, channel_axis, described, finish, loaded, norm
from tfnb.keras.layers.convolutional import Conv2D, DepthwiseConv2D
from tfnb.keras.layers.core import Activation, Dropout, Reshape
from tfnb.keras.layers.elements import ReLU
from tfnb.keras.layers.merge import Add
from tfnb.keras.layers.pooling import GlobalAveragePooling2D
from tfnb.keras.layers.resizing import ZeroPadding2D
from tfnb.keras.training.model import Model


def _size(input_shape: Any) -> int:
    sizes = [] if input_shape is None else [n for n in input_shape if n not in (None, 1, 3)]
    return sizes[0] if sizes and sizes[0] in (128, 160, 192, 224) else 224


def _depthwise_block(x: Any, filters: int, alpha: float, multiplier: int, stride: int, number: int) -> Any:
    if stride > 1:
        x = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
    x = DepthwiseConv2D(3, strides=stride, padding="same" if stride == 1 else "valid", depth_multiplier=multiplier,
                        use_bias=False, name=f"conv_dw_{number}")(x)
    x = ReLU(6.0, name=f"conv_dw_{number}_relu")(norm(f"conv_dw_{number}_bn")(x))
    x = Conv2D(int(filters * alpha), 1, padding="same", use_bias=False, name=f"conv_pw_{number}")(x)
    return ReLU(6.0, name=f"conv_pw_{number}_relu")(norm(f"conv_pw_{number}_bn")(x))


@described
def MobileNet(input_shape: Any = None, alpha: float = 1.0, depth_multiplier: int = 1, dropout: float = 1e-3,
              include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, pooling: Any = None,
              classes: int = 1000) -> Any:
    """Return a model MobileNet. alpha: factor of the channels. depth_multiplier: output channels by input channel.

    dropout: share of the features that is dropped before the last layer.

    >>> model = tf.keras.applications.MobileNet((32, 32, 3), include_top=False, weights=None)
    >>> model.output_shape, model.count_params()
    ((None, 1, 1, 1024), 3228864)
    """
    text = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0"}.get(alpha, "2_5")
    rows = _size(input_shape)
    net = Net(f"mobilenet_{alpha:0.2f}_{rows}", rows, 32,
              lambda top: f"mobilenet/mobilenet_{text}_{rows}_tf{'' if top else '_no_top'}.h5")
    inputs = x = begin(net, include_top, weights, input_tensor, input_shape, classes)
    x = ZeroPadding2D(((0, 1), (0, 1)), name="conv1_pad")(x)
    x = Conv2D(int(32 * alpha), 3, strides=2, use_bias=False, name="conv1")(x)
    x = ReLU(6.0, name="conv1_relu")(norm("conv1_bn")(x))
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for number, (filters, stride) in enumerate(plan, 1):
        x = _depthwise_block(x, filters, alpha, depth_multiplier, stride, number)
    if not include_top:
        return finish(net, inputs, x, False, weights, pooling, classes)
    shape = (int(1024 * alpha), 1, 1) if channel_axis() == 1 else (1, 1, int(1024 * alpha))
    x = Reshape(shape, name="reshape_1")(GlobalAveragePooling2D()(x))
    x = Dropout(dropout, name="dropout")(x)
    x = Conv2D(classes, 1, padding="same", name="conv_preds")(x)
    x = Activation("softmax", name="act_softmax")(Reshape((classes,), name="reshape_2")(x))
    return loaded(net, Model(inputs, x, name=net.name), True, weights)


def _divisible(value: float) -> int:
    """Return the multiple of 8 that is nearest, and not below 90 % of the value."""
    found = max(8, int(value + 4) // 8 * 8)
    return found + 8 if found < 0.9 * value else found


def _inverted(x: Any, expansion: int, stride: int, alpha: float, filters: int, number: int) -> Any:
    """Compute an inverted residual block: wide inside, narrow where it is added."""
    channels = x.shape.as_list()[channel_axis()]
    out, start, prefix = _divisible(int(filters * alpha)), x, f"block_{number}_" if number else "expanded_conv_"
    options = {"epsilon": 1e-3, "momentum": 0.999}
    if number:
        x = Conv2D(expansion * channels, 1, padding="same", use_bias=False, name=f"{prefix}expand")(x)
        x = ReLU(6.0, name=f"{prefix}expand_relu")(norm(f"{prefix}expand_BN", **options)(x))
    if stride == 2:
        x = ZeroPadding2D(((0, 1), (0, 1)), name=f"{prefix}pad")(x)
    x = DepthwiseConv2D(3, strides=stride, use_bias=False, padding="same" if stride == 1 else "valid",
                        name=f"{prefix}depthwise")(x)
    x = ReLU(6.0, name=f"{prefix}depthwise_relu")(norm(f"{prefix}depthwise_BN", **options)(x))
    x = norm(f"{prefix}project_BN", **options)(
        Conv2D(out, 1, padding="same", use_bias=False, name=f"{prefix}project")(x))
    return Add(name=f"{prefix}add")([start, x]) if channels == out and stride == 1 else x


@described
def MobileNetV2(input_shape: Any = None, alpha: float = 1.0, include_top: bool = True, weights: Any = "imagenet",
                input_tensor: Any = None, pooling: Any = None, classes: int = 1000) -> Any:
    """Return a model MobileNetV2. alpha: factor of the channels.

    >>> model = tf.keras.applications.MobileNetV2((32, 32, 3), include_top=False, weights=None)
    >>> model.output_shape, model.count_params()
    ((None, 1, 1, 1280), 2257984)
    """
    rows = _size(input_shape)
    net = Net(f"mobilenetv2_{alpha:0.2f}_{rows}", rows, 32,
              lambda top: f"mobilenet_v2/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{alpha}_{rows}"
                          f"{'' if top else '_no_top'}.h5", "Logits")
    inputs = x = begin(net, include_top, weights, input_tensor, input_shape, classes)
    options = {"epsilon": 1e-3, "momentum": 0.999}
    x = ZeroPadding2D(((0, 1), (0, 1)), name="Conv1_pad")(x)
    x = Conv2D(_divisible(32 * alpha), 3, strides=2, use_bias=False, name="Conv1")(x)
    x = ReLU(6.0, name="Conv1_relu")(norm("bn_Conv1", **options)(x))
    number = 0
    for filters, count, stride, expansion in ((16, 1, 1, 1), (24, 2, 2, 6), (32, 3, 2, 6), (64, 4, 2, 6),
                                              (96, 3, 1, 6), (160, 3, 2, 6), (320, 1, 1, 6)):
        for i in range(count):
            x = _inverted(x, expansion, stride if i == 0 else 1, alpha, filters, number)
            number += 1
    last = _divisible(1280 * alpha) if alpha > 1.0 else 1280
    x = norm("Conv_1_bn", **options)(Conv2D(last, 1, use_bias=False, name="Conv_1")(x))
    x = ReLU(6.0, name="out_relu")(x)
    if include_top:
        x = GlobalAveragePooling2D()(x)
    return finish(net, inputs, x, include_top, weights, pooling, classes, pooled=True)
