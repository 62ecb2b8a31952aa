"""ResNet (He et al., 2015) and ResNetV2 (He et al., 2016): blocks whose input is added to their output."""
from __future__ import annotations

from typing import Any

from tfnb.keras.applications.nets.parts import Net, begin, described, finish, kernels, norm
from tfnb.keras.layers.convolutional import Conv2D
from tfnb.keras.layers.core import Activation
from tfnb.keras.layers.merge import Add
from tfnb.keras.layers.pooling import MaxPooling2D
from tfnb.keras.layers.resizing import ZeroPadding2D

_EPSILON = 1.001e-5


def _relu(name: str) -> Activation:
    return Activation("relu", name=name)


def _block1(x: Any, filters: int, name: str, stride: int = 1, shortcut: bool = True) -> Any:
    """Compute a block of ResNet: 1 x 1, 3 x 3, 1 x 1, each before its normalization."""
    short = x
    if shortcut:
        short = norm(f"{name}_0_bn", epsilon=_EPSILON)(Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(x))
    for i, (size, count) in enumerate(((1, filters), (3, filters), (1, 4 * filters)), 1):
        x = Conv2D(count, size, strides=stride if i == 1 else 1, padding="same" if size == 3 else "valid",
                   name=f"{name}_{i}_conv")(x)
        x = norm(f"{name}_{i}_bn", epsilon=_EPSILON)(x)
        x = _relu(f"{name}_{i}_relu")(x) if i < 3 else x
    return _relu(f"{name}_out")(Add(name=f"{name}_add")([short, x]))


def _block2(x: Any, filters: int, name: str, stride: int = 1, shortcut: bool = False) -> Any:
    """Compute a block of ResNetV2: normalization and activation come before each convolution."""
    before = _relu(f"{name}_preact_relu")(norm(f"{name}_preact_bn", epsilon=_EPSILON)(x))
    if shortcut:
        short = Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(before)
    else:
        short = MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = Conv2D(filters, 1, use_bias=False, name=f"{name}_1_conv")(before)
    x = _relu(f"{name}_1_relu")(norm(f"{name}_1_bn", epsilon=_EPSILON)(x))
    x = ZeroPadding2D(1, name=f"{name}_2_pad")(x)
    x = Conv2D(filters, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = _relu(f"{name}_2_relu")(norm(f"{name}_2_bn", epsilon=_EPSILON)(x))
    x = Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x)
    return Add(name=f"{name}_out")([short, x])


def _stack(x: Any, filters: int, depth: int, name: str, second: bool, last: bool, first: bool) -> Any:
    if second:
        x = _block2(x, filters, f"{name}_block1", shortcut=True)
        for i in range(2, depth):
            x = _block2(x, filters, f"{name}_block{i}")
        return _block2(x, filters, f"{name}_block{depth}", stride=1 if last else 2)
    x = _block1(x, filters, f"{name}_block1", stride=1 if first else 2)
    for i in range(2, depth + 1):
        x = _block1(x, filters, f"{name}_block{i}", shortcut=False)
    return x


def _resnet(name: str, depths: tuple[int, ...], second: bool, include_top: bool, weights: Any, input_tensor: Any,
            input_shape: Any, pooling: Any, classes: int) -> Any:
    net = Net(name, 224, 32, kernels("resnet", name), "probs")
    inputs = x = begin(net, include_top, weights, input_tensor, input_shape, classes)
    x = ZeroPadding2D(3, name="conv1_pad")(x)
    x = Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    if not second:
        x = _relu("conv1_relu")(norm("conv1_bn", epsilon=_EPSILON)(x))
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(ZeroPadding2D(1, name="pool1_pad")(x))
    for i, (filters, depth) in enumerate(zip((64, 128, 256, 512), depths, strict=True), 2):
        x = _stack(x, filters, depth, f"conv{i}", second, last=i == 5, first=i == 2)
    if second:
        x = _relu("post_relu")(norm("post_bn", epsilon=_EPSILON)(x))
    return finish(net, inputs, x, include_top, weights, pooling, classes)


def _architecture(public_name: str, depths: tuple[int, ...], second: bool, count: int) -> Any:
    def build(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
              pooling: Any = None, classes: int = 1000) -> Any:
        return _resnet(public_name.lower(), depths, second, include_top, weights, input_tensor, input_shape, pooling,
                       classes)
    build.__name__ = build.__qualname__ = public_name
    build.__doc__ = (
        f"Return a model {public_name}: {sum(depths)} residual blocks"
        f"{', activated before each convolution' if second else ''}.\n\n"
        f"    >>> model = tf.keras.applications.{public_name}(False, None, input_shape=(32, 32, 3))\n"
        f"    >>> model.output_shape, model.count_params()\n    ((None, 1, 1, 2048), {count})\n    ")
    return described(build)


ResNet50 = _architecture("ResNet50", (3, 4, 6, 3), False, 23587712)
ResNet101 = _architecture("ResNet101", (3, 4, 23, 3), False, 42658176)
ResNet152 = _architecture("ResNet152", (3, 8, 36, 3), False, 58370944)
ResNet50V2 = _architecture("ResNet50V2", (3, 4, 6, 3), True, 23564800)
ResNet101V2 = _architecture("ResNet101V2", (3, 4, 23, 3), True, 42626560)
ResNet152V2 = _architecture("ResNet152V2", (3, 8, 36, 3), True, 58331648)
