"""DenseNet (Huang et al., 2016): each block sees the outputs of all before it."""
from __future__ import annotations

from typing import Any

from tfnb.keras.applications.nets.parts import Net, begin, channel_axis, described, finish, kernels, norm
from tfnb.keras.layers.convolutional import Conv2D
from tfnb.keras.layers.core import Activation
from tfnb.keras.layers.merge import Concatenate
from tfnb.keras.layers.pooling import AveragePooling2D, MaxPooling2D
from tfnb.keras.layers.resizing import ZeroPadding2D

_EPSILON = 1.001e-5




def _dense_block(x: Any, blocks: int, name: str) -> Any:
    for i in range(1, blocks + 1):
        stem = f"{name}_block{i}"
        y = Activation("relu", name=f"{stem}_0_relu")(norm(f"{stem}_0_bn", epsilon=_EPSILON)(x))
        y = Conv2D(128, 1, use_bias=False, name=f"{stem}_1_conv")(y)
        y = Activation("relu", name=f"{stem}_1_relu")(norm(f"{stem}_1_bn", epsilon=_EPSILON)(y))
        y = Conv2D(32, 3, padding="same", use_bias=False, name=f"{stem}_2_conv")(y)
        x = Concatenate(axis=channel_axis(), name=f"{stem}_concat")([x, y])
    return x


def _transition(x: Any, name: str) -> Any:
    """Halve the channels and the size."""
    x = Activation("relu", name=f"{name}_relu")(norm(f"{name}_bn", epsilon=_EPSILON)(x))
    x = Conv2D(x.shape.as_list()[channel_axis()] // 2, 1, use_bias=False, name=f"{name}_conv")(x)
    return AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _densenet(name: str, blocks: tuple[int, ...], include_top: bool, weights: Any, input_tensor: Any,
              input_shape: Any, pooling: Any, classes: int) -> Any:
    net = Net(name, 224, 32, kernels("densenet", name), "fc1000")
    inputs = x = begin(net, include_top, weights, input_tensor, input_shape, classes)
    x = Conv2D(64, 7, strides=2, use_bias=False, name="conv1/conv")(ZeroPadding2D(3)(x))
    x = Activation("relu", name="conv1/relu")(norm("conv1/bn", epsilon=_EPSILON)(x))
    x = MaxPooling2D(3, strides=2, name="pool1")(ZeroPadding2D(1)(x))
    for i, count in enumerate(blocks, 2):
        x = _dense_block(x, count, f"conv{i}")
        x = _transition(x, f"pool{i}") if i < 5 else x
    x = Activation("relu", name="relu")(norm("bn", epsilon=_EPSILON)(x))
    return finish(net, inputs, x, include_top, weights, pooling, classes)


def _architecture(public_name: str, blocks: tuple[int, ...], channels: int, count: int) -> Any:
    def build(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
              pooling: Any = None, classes: int = 1000) -> Any:
        return _densenet(public_name.lower(), blocks, include_top, weights, input_tensor, input_shape, pooling,
                         classes)
    build.__name__ = build.__qualname__ = public_name
    build.__doc__ = (
        f"Return a model {public_name}: dense blocks of {', '.join(map(str, blocks))} layers.\n\n"
        f"    >>> model = tf.keras.applications.{public_name}(False, None, input_shape=(32, 32, 3))\n"
        f"    >>> model.output_shape, model.count_params()\n    ((None, 1, 1, {channels}), {count})\n    ")
    return described(build)


DenseNet121 = _architecture("DenseNet121", (6, 12, 24, 16), 1024, 7037504)
DenseNet169 = _architecture("DenseNet169", (6, 12, 32, 32), 1664, 12642880)
DenseNet201 = _architecture("DenseNet201", (6, 12, 48, 32), 1920, 18321984)
