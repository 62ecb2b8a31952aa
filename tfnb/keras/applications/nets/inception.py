"""Inception v3 (Szegedy et al., 2015) and Inception-ResNet v2 (Szegedy et al., 2016): branches side by side."""
from __future__ import annotations

from typing import Any

from tfnb.keras.applications.nets.parts import Net, begin, channel_axis, described, finish, kernels, norm
from tfnb.keras.layers.convolutional import Conv2D
from tfnb.keras.layers.core import Activation
from tfnb.keras.layers.merge import Concatenate
from tfnb.keras.layers.pooling import AveragePooling2D, MaxPooling2D
from tfnb.keras.layers.wrappers import Lambda


def _conv(x: Any, filters: int, size: Any, strides: int = 1, padding: str = "same", name: str | None = None) -> Any:
    """Apply a convolution, normalization without scale, and ReLU."""
    x = Conv2D(filters, size, strides=strides, padding=padding, use_bias=False, name=name)(x)
    x = norm(f"{name}_bn" if name else None, scale=False)(x)
    return Activation("relu", name=f"{name}_ac" if name else None)(x)


def _chain(x: Any, *steps: Any) -> Any:
    """Apply convolutions one after the other: (filters, size), and strides with padding "valid" where there are any."""
    for filters, size, *strides in steps:
        x = _conv(x, filters, size, strides[0], "valid") if strides else _conv(x, filters, size)
    return x


def _pooled(x: Any, filters: int) -> Any:
    return _conv(AveragePooling2D(3, strides=1, padding="same")(x), filters, 1)


def _joined(name: str | None, *branches: Any) -> Any:
    return Concatenate(axis=channel_axis(), name=name)(list(branches))


def _stem(x: Any) -> Any:
    x = _chain(x, (32, 3, 2), (32, 3, 1), (64, 3))
    x = _chain(MaxPooling2D(3, strides=2)(x), (80, 1, 1), (192, 3, 1))
    return MaxPooling2D(3, strides=2)(x)


@described
def InceptionV3(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
                input_shape: Any = None, pooling: Any = None, classes: int = 1000) -> Any:
    """Return a model Inception v3.

    >>> model = tf.keras.applications.InceptionV3(include_top=False, weights=None, input_shape=(75, 75, 3))
    >>> model.output_shape, model.count_params()
    ((None, 1, 1, 2048), 21802784)
    """
    net = Net("inception_v3", 299, 75, kernels("inception_v3", "inception_v3"))
    inputs = begin(net, include_top, weights, input_tensor, input_shape, classes)
    x = _stem(inputs)
    for i, count in enumerate((32, 64, 64)):
        x = _joined(f"mixed{i}", _conv(x, 64, 1), _chain(x, (48, 1), (64, 5)), _chain(x, (64, 1), (96, 3), (96, 3)),
                    _pooled(x, count))
    x = _joined("mixed3", _chain(x, (384, 3, 2)), _chain(x, (64, 1), (96, 3), (96, 3, 2)),
                MaxPooling2D(3, strides=2)(x))
    for i, n in enumerate((128, 160, 160, 192), 4):
        x = _joined(f"mixed{i}", _conv(x, 192, 1), _chain(x, (n, 1), (n, (1, 7)), (192, (7, 1))),
                    _chain(x, (n, 1), (n, (7, 1)), (n, (1, 7)), (n, (7, 1)), (192, (1, 7))), _pooled(x, 192))
    x = _joined("mixed8", _chain(x, (192, 1), (320, 3, 2)),
                _chain(x, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2)), MaxPooling2D(3, strides=2)(x))
    for i in (9, 10):
        near, far = _conv(x, 384, 1), _chain(x, (448, 1), (384, 3))
        near = _joined(f"mixed9_{i - 9}", _conv(near, 384, (1, 3)), _conv(near, 384, (3, 1)))
        far = _joined(None, _conv(far, 384, (1, 3)), _conv(far, 384, (3, 1)))
        x = _joined(f"mixed{i}", _conv(x, 320, 1), near, far, _pooled(x, 192))
    return finish(net, inputs, x, include_top, weights, pooling, classes)


_BLOCKS: dict[str, Any] = {
    "block35": lambda x: [_conv(x, 32, 1), _chain(x, (32, 1), (32, 3)), _chain(x, (32, 1), (48, 3), (64, 3))],
    "block17": lambda x: [_conv(x, 192, 1), _chain(x, (128, 1), (160, (1, 7)), (192, (7, 1)))],
    "block8": lambda x: [_conv(x, 192, 1), _chain(x, (192, 1), (224, (1, 3)), (256, (3, 1)))]}


def _residual(x: Any, scale: float, kind: str, number: int, activation: bool = True) -> Any:
    """Add a scaled block of branches to its input."""
    name = f"{kind}_{number}"
    mixed = _joined(f"{name}_mixed", *_BLOCKS[kind](x))
    channels = x.shape.as_list()[channel_axis()]
    up = Conv2D(channels, 1, padding="same", name=f"{name}_conv")(mixed)
    x = Lambda(lambda pair, scale: pair[0] + pair[1] * scale, arguments={"scale": scale}, name=name)([x, up])
    return Activation("relu", name=f"{name}_ac")(x) if activation else x


@described
def InceptionResNetV2(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
                      input_shape: Any = None, pooling: Any = None, classes: int = 1000) -> Any:
    """Return a model Inception-ResNet v2.

    >>> model = tf.keras.applications.InceptionResNetV2(False, None, input_shape=(75, 75, 3))
    >>> model.output_shape, model.count_params()
    ((None, 1, 1, 1536), 54336736)
    """
    net = Net("inception_resnet_v2", 299, 75, kernels("inception_resnet_v2", "inception_resnet_v2"))
    inputs = begin(net, include_top, weights, input_tensor, input_shape, classes)
    x = _stem(inputs)
    x = _joined("mixed_5b", _conv(x, 96, 1), _chain(x, (48, 1), (64, 5)), _chain(x, (64, 1), (96, 3), (96, 3)),
                _pooled(x, 64))
    for i in range(1, 11):
        x = _residual(x, 0.17, "block35", i)
    x = _joined("mixed_6a", _chain(x, (384, 3, 2)), _chain(x, (256, 1), (256, 3), (384, 3, 2)),
                MaxPooling2D(3, strides=2)(x))
    for i in range(1, 21):
        x = _residual(x, 0.1, "block17", i)
    x = _joined("mixed_7a", _chain(x, (256, 1), (384, 3, 2)), _chain(x, (256, 1), (288, 3, 2)),
                _chain(x, (256, 1), (288, 3), (320, 3, 2)), MaxPooling2D(3, strides=2)(x))
    for i in range(1, 10):
        x = _residual(x, 0.2, "block8", i)
    x = _residual(x, 1.0, "block8", 10, activation=False)
    return finish(net, inputs, _conv(x, 1536, 1, name="conv_7b"), include_top, weights, pooling, classes)
