"""The pools of `tf.contrib.layers`: those of `tf.layers` with other names, defaults and collections."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import CONTRIB_LAYERS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.layers.contrib.arg_scope import add_arg_scope
from tfnb.layers.contrib.outputs import collect_named_outputs
from tfnb.layers.pooling import AveragePooling2D, AveragePooling3D, MaxPooling2D, MaxPooling3D


def layout(data_format: str | None) -> str:
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


def pair(sizes: Any) -> tuple[int, int]:
    found: tuple[int, int] = tuple(sizes) if isinstance(sizes, (list, tuple, TensorShape)) else (sizes, sizes)
    return found


def _pooled(kind: Any, name: str, inputs: Any, kernel_size: Any, stride: Any, padding: str, data_format: str,
            outputs_collections: Any, scope: Any) -> Any:
    with name_scope(scope, name, [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        layer = kind(kernel_size, stride, padding, layout(data_format), _scope=sc)
        return collect_named_outputs(outputs_collections, sc, layer(inputs))


@add_arg_scope
def max_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NHWC",
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """The largest number of each window of images.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.contrib.layers.max_pool2d(image, [2, 2])))
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """
    return _pooled(MaxPooling2D, "MaxPool2D", inputs, pair(kernel_size), pair(stride), padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def avg_pool2d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NHWC",
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """The mean of each window of images.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.contrib.layers.avg_pool2d(image, [2, 2])))
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """
    return _pooled(AveragePooling2D, "AvgPool2D", inputs, pair(kernel_size), pair(stride), padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def max_pool3d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NDHWC",
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """The largest number of each window of volumes.

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.contrib.layers.max_pool3d(volume, [2, 2, 2])))
    7.0
    """
    return _pooled(MaxPooling3D, "MaxPool3D", inputs, kernel_size, stride, padding, data_format, outputs_collections,
                   scope)


@add_arg_scope
def avg_pool3d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID", data_format: str = "NDHWC",
               outputs_collections: Any = None, scope: Any = None) -> Any:
    """The mean of each window of volumes.

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.contrib.layers.avg_pool3d(volume, [2, 2, 2])))
    3.5
    """
    return _pooled(AveragePooling3D, "AvgPool3D", inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


describe(globals(), CONTRIB_LAYERS)
