"""VGG (Simonyan and Zisserman, 2014): blocks of 3 x 3 convolutions."""
from __future__ import annotations

from typing import Any

from tfnb.keras.applications.nets.parts import Net, begin, described, finish, kernels
from tfnb.keras.layers.convolutional import Conv2D
from tfnb.keras.layers.core import Dense, Flatten
from tfnb.keras.layers.pooling import MaxPooling2D


def _vgg(net: Net, depths: tuple[int, ...], include_top: bool, weights: Any, input_tensor: Any, input_shape: Any,
         pooling: Any, classes: int) -> Any:
    inputs = x = begin(net, include_top, weights, input_tensor, input_shape, classes)
    for block, (filters, depth) in enumerate(zip((64, 128, 256, 512, 512), depths, strict=True), 1):
        for i in range(1, depth + 1):
            x = Conv2D(filters, 3, padding="same", activation="relu", name=f"block{block}_conv{i}")(x)
        x = MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    if include_top:
        x = Flatten(name="flatten")(x)
        x = Dense(4096, activation="relu", name="fc1")(x)
        x = Dense(4096, activation="relu", name="fc2")(x)
    return finish(net, inputs, x, include_top, weights, pooling, classes, pooled=True)


@described
def VGG16(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
          pooling: Any = None, classes: int = 1000) -> Any:
    """Return a model VGG with 16 layers of weights.

    >>> model = tf.keras.applications.VGG16(include_top=False, weights=None, input_shape=(32, 32, 3))
    >>> model.output_shape, model.count_params()
    ((None, 1, 1, 512), 14714688)
    """
    return _vgg(Net("vgg16", 224, 32, kernels("vgg16", "vgg16")), (2, 2, 3, 3, 3), include_top, weights, input_tensor,
                input_shape, pooling, classes)


@described
def VGG19(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
          pooling: Any = None, classes: int = 1000) -> Any:
    """Return a model VGG with 19 layers of weights.

    >>> model = tf.keras.applications.VGG19(include_top=False, weights=None, input_shape=(32, 32, 3))
    >>> model.output_shape, model.count_params()
    ((None, 1, 1, 512), 20024384)
    """
    return _vgg(Net("vgg19", 224, 32, kernels("vgg19", "vgg19")), (2, 2, 4, 4, 4), include_top, weights, input_tensor,
                input_shape, pooling, classes)
