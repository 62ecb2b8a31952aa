"""Pooling layers over rows, images and volumes: classes and functions of `tf.layers`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfnb.core.arguments import LAYERS, describe
from tfnb.core.shape import TensorShape
from tfnb.layers.base import Layer
from tfnb.layers.choices import channels_first, layout, sizes_for
from tfnb.layers.convolutional import output_length
from tfnb.layers.functional import functional
from tfnb.layers.input_spec import InputSpec
from tfnb.ops.array.reshape import expand_dims, squeeze
from tfnb.ops.nn import pool_functions


class _Pooling(Layer):
    """One number for each window and channel. pool_size, strides: one integer or one for each axis (strides None: as
    pool_size). padding: "valid" or "same". data_format: "channels_last" or "channels_first"."""

    rank: ClassVar[int]
    pool: ClassVar[Callable[..., Any]]

    def __init__(self, pool_size: Any, strides: Any, padding: str = "valid", data_format: str = "channels_last",
                 name: Any = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes_for(pool_size, self.rank, "pool_size")
        self.strides = sizes_for(pool_size if strides is None else strides, self.rank, "strides")
        self.padding, self.data_format, self.first = padding.lower(), data_format, channels_first(data_format)
        if self.padding not in ("valid", "same"):
            raise ValueError(f"The `padding` argument must be one of \"valid\", \"same\". Received: {padding!r}")
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        """(batch, sizes..., channels) -> (batch, windows..., channels)."""
        size, strides = self.pool_size, self.strides
        if self.rank == 1:
            axis = 3 if self.first else 2
            row = expand_dims(inputs, axis)
            made = self._pooled(row, (*size, 1), (*strides, 1), layout(self.data_format, 4))
            return squeeze(made, [axis])
        return self._pooled(inputs, size, strides, layout(self.data_format, self.rank + 2))

    def _pooled(self, inputs: Any, size: tuple[int, ...], strides: tuple[int, ...], data_format: str) -> Any:
        size, strides = ((1, 1, *s) if self.first else (1, *s, 1) for s in (size, strides))
        return type(self).pool(inputs, size, strides, self.padding.upper(), data_format)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, windows..., channels)."""
        sizes = TensorShape(input_shape).as_list()
        spatial = sizes[2:] if self.first else sizes[1:-1]
        lengths = [output_length(size, window, self.padding, stride, 1)
                   for size, window, stride in zip(spatial, self.pool_size, self.strides, strict=True)]
        return TensorShape([*sizes[:2], *lengths] if self.first else [sizes[0], *lengths, sizes[-1]])


class MaxPooling1D(_Pooling):
    """The largest number of each window of rows (batch, width, channels).

    >>> row = tf.reshape([1.0, 4.0, 2.0, 3.0], [1, 4, 1])
    >>> sess.run(tf.squeeze(tf.layers.max_pooling1d(row, pool_size=2, strides=2)))
    array([4., 3.], dtype=float32)
    >>> tf.layers.MaxPooling1D(pool_size=2, strides=2)(row).shape.as_list()
    [1, 2, 1]
    """

    rank, pool = 1, staticmethod(pool_functions.max_pool)


class AveragePooling1D(_Pooling):
    """The mean of each window of rows (batch, width, channels).

    >>> row = tf.reshape([1.0, 4.0, 2.0, 3.0], [1, 4, 1])
    >>> sess.run(tf.squeeze(tf.layers.average_pooling1d(row, pool_size=2, strides=2)))
    array([2.5, 2.5], dtype=float32)
    >>> tf.layers.AveragePooling1D(pool_size=2, strides=2)(row).shape.as_list()
    [1, 2, 1]
    """

    rank, pool = 1, staticmethod(pool_functions.avg_pool)


class MaxPooling2D(_Pooling):
    """The largest number of each window of images (batch, height, width, channels).

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.layers.max_pooling2d(image, pool_size=2, strides=2)))
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    >>> tf.layers.MaxPooling2D(pool_size=2, strides=2)(image).shape.as_list()
    [1, 2, 2, 1]
    """

    rank, pool = 2, staticmethod(pool_functions.max_pool)


class AveragePooling2D(_Pooling):
    """The mean of each window of images (batch, height, width, channels).

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.layers.average_pooling2d(image, pool_size=2, strides=2)))
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    >>> tf.layers.AveragePooling2D(pool_size=2, strides=2)(image).shape.as_list()
    [1, 2, 2, 1]
    """

    rank, pool = 2, staticmethod(pool_functions.avg_pool)


class MaxPooling3D(_Pooling):
    """The largest number of each window of volumes (batch, depth, height, width, channels).

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.layers.max_pooling3d(volume, pool_size=2, strides=2)))
    7.0
    >>> tf.layers.MaxPooling3D(pool_size=2, strides=2)(volume).shape.as_list()
    [1, 1, 1, 1, 1]
    """

    rank, pool = 3, staticmethod(pool_functions.max_pool3d)


class AveragePooling3D(_Pooling):
    """The mean of each window of volumes (batch, depth, height, width, channels).

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.layers.average_pooling3d(volume, pool_size=2, strides=2)))
    3.5
    >>> tf.layers.AveragePooling3D(pool_size=2, strides=2)(volume).shape.as_list()
    [1, 1, 1, 1, 1]
    """

    rank, pool = 3, staticmethod(pool_functions.avg_pool3d)


max_pooling1d = functional(MaxPooling1D, "max_pooling1d", reuse=False)
max_pooling2d = functional(MaxPooling2D, "max_pooling2d", reuse=False)
max_pooling3d = functional(MaxPooling3D, "max_pooling3d", reuse=False)
average_pooling1d = functional(AveragePooling1D, "average_pooling1d", reuse=False)
average_pooling2d = functional(AveragePooling2D, "average_pooling2d", reuse=False)
average_pooling3d = functional(AveragePooling3D, "average_pooling3d", reuse=False)


describe(globals(), LAYERS)
