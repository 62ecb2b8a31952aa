"""Xception (Chollet, 2016): separable convolutions with residual connections."""
from __future__ import annotations

from typing import Any

from tfnb.keras.applications.nets.parts import Net, begin, described, finish, kernels, norm
from tfnb.keras.layers.convolutional import Conv2D, SeparableConv2D
from tfnb.keras.layers.core import Activation
from tfnb.keras.layers.merge import Add
from tfnb.keras.layers.pooling import MaxPooling2D


def _separable(x: Any, filters: int, stem: str, activation: str = "") -> Any:
    """Apply a separable convolution with normalization, activated before or after it."""
    if activation == "before":
        x = Activation("relu", name=f"{stem}_act")(x)
    x = norm(f"{stem}_bn")(SeparableConv2D(filters, 3, padding="same", use_bias=False, name=stem)(x))
    return Activation("relu", name=f"{stem}_act")(x) if activation == "after" else x


def _halved(x: Any, filters: tuple[int, int], block: int) -> Any:
    """Compute a block that halves the size, beside a convolution with stride 2."""
    short = norm()(Conv2D(filters[1], 1, strides=2, padding="same", use_bias=False)(x))
    x = _separable(x, filters[0], f"block{block}_sepconv1", "" if block == 2 else "before")
    x = _separable(x, filters[1], f"block{block}_sepconv2", "before")
    x = MaxPooling2D(3, strides=2, padding="same", name=f"block{block}_pool")(x)
    return Add()([x, short])


@described
def Xception(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
             pooling: Any = None, classes: int = 1000) -> Any:
    """Return a model Xception.

    >>> model = tf.keras.applications.Xception(include_top=False, weights=None, input_shape=(71, 71, 3))
    >>> model.output_shape, model.count_params()
    ((None, 3, 3, 2048), 20861480)
    """
    net = Net("xception", 299, 71, kernels("xception", "xception"))
    inputs = x = begin(net, include_top, weights, input_tensor, input_shape, classes)
    for i, (filters, stride) in enumerate(((32, 2), (64, 1)), 1):
        x = Conv2D(filters, 3, strides=stride, use_bias=False, name=f"block1_conv{i}")(x)
        x = Activation("relu", name=f"block1_conv{i}_act")(norm(f"block1_conv{i}_bn")(x))
    for block, count in ((2, 128), (3, 256), (4, 728)):
        x = _halved(x, (count, count), block)
    for block in range(5, 13):
        short = x
        for i in (1, 2, 3):
            x = _separable(x, 728, f"block{block}_sepconv{i}", "before")
        x = Add()([x, short])
    x = _halved(x, (728, 1024), 13)
    x = _separable(x, 1536, "block14_sepconv1", "after")
    x = _separable(x, 2048, "block14_sepconv2", "after")
    return finish(net, inputs, x, include_top, weights, pooling, classes)
