"""Convolutional layers over rows, images and volumes: classes and functions of `tf.layers`."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core import dtypes
from tfnb.core.arguments import LAYERS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.layers.base import Layer
from tfnb.layers.choices import activation_of, channels_first, initializer_of, layout, sizes_for
from tfnb.layers.functional import functional
from tfnb.layers.input_spec import InputSpec
from tfnb.layers.weighted import channel_size
from tfnb.ops.array.reshape import reshape
from tfnb.ops.nn import activations as nn
from tfnb.ops.nn.conv_functions import conv1d as _conv1d
from tfnb.ops.nn.conv_functions import conv2d as _conv2d
from tfnb.ops.nn.conv_functions import conv3d as _conv3d
from tfnb.variables.initializers import zeros_initializer


def output_length(size: int | None, window: int, padding: str, stride: int, dilation: int) -> int | None:
    """Return the output size of a window along an axis; None if the size of the axis is not known."""
    if size is None:
        return None
    reach = (window - 1) * dilation + 1
    places = size if padding in ("same", "causal") else size - reach + 1
    return -(-places // stride)


class Conv(Layer):
    """`activation(convolution of the inputs with kernel, plus bias)`: what the layers of all ranks share.

    Variables: kernel (window..., inputs, filters), bias (filters) with `use_bias`. kernel_size, strides,
    dilation_rate: one integer or one for each axis. padding: "valid" or "same". data_format: "channels_last" or
    "channels_first". Raises ValueError for strides and dilations both above 1, or an unknown number of channels.
    """

    rank: ClassVar[int]
    use_bias: bool
    activation: Any

    def _settle(self, filters: int, kernel_size: Any, strides: Any, padding: str, data_format: str,
                dilation_rate: Any) -> None:
        self.filters = int(filters)
        self.kernel_size = sizes_for(kernel_size, self.rank, "kernel_size")
        self.strides = sizes_for(strides, self.rank, "strides")
        self.dilation_rate = sizes_for(dilation_rate, self.rank, "dilation_rate")
        self.padding, self.data_format, self.first = padding.lower(), data_format, channels_first(data_format)
        if self.padding not in ("valid", "same"):
            raise ValueError(f"The `padding` argument must be one of \"valid\", \"same\". Received: {padding!r}")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _weigh(self, kernel_initializer: Any, bias_initializer: Any, kernel_regularizer: Any, bias_regularizer: Any,
               kernel_constraint: Any, bias_constraint: Any) -> None:
        self.kernel_initializer = initializer_of(kernel_initializer)
        self.bias_initializer = initializer_of(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    @property
    def _layout(self) -> str:
        return layout(self.data_format, self.rank + 2)

    def _per_axis(self, sizes: tuple[int, ...]) -> list[int]:
        return [1, 1, *sizes] if self.first else [1, *sizes, 1]

    def _channels(self, input_shape: Any) -> int:
        axis = 1 if self.first else self.rank + 1
        found = channel_size(TensorShape(input_shape), axis, "channel dimension")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: found})
        return found

    def _make_bias(self) -> None:
        self.bias = self.add_weight("bias", [self.filters], self.dtype, self.bias_initializer, self.bias_regularizer,
                                    True, self.bias_constraint) if self.use_bias else None

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        channels = self._channels(input_shape)
        self.kernel = self.add_weight("kernel", [*self.kernel_size, channels, self.filters], self.dtype,
                                      self.kernel_initializer, self.kernel_regularizer, True, self.kernel_constraint)
        self._make_bias()
        convert_to_tensor(self.dilation_rate, dtype=dtypes.int32, name="dilation_rate")   # TensorFlow 1.15 makes it
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The convolution, bias and activation."""
        return self._activated(self._biased(self._convolved(inputs)))

    def _convolved(self, inputs: Any) -> Any:
        raise NotImplementedError

    def _biased(self, made: Any) -> Any:
        if not self.use_bias:
            return made
        if self.first and self.rank == 1:
            return made + reshape(self.bias, (1, self.filters, 1))
        return nn.bias_add(made, self.bias, data_format="NCHW" if self.first else "NHWC")

    def _activated(self, made: Any) -> Any:
        return made if self.activation is None else self.activation(made)

    def _shape(self, input_shape: Any, spatial: list[int | None]) -> TensorShape:
        batch = TensorShape(input_shape).as_list()[0]
        return TensorShape([batch, self.filters, *spatial] if self.first else [batch, *spatial, self.filters])

    def _spatial(self, input_shape: Any) -> list[int | None]:
        sizes = TensorShape(input_shape).as_list()
        found: list[int | None] = list(sizes[2:] if self.first else sizes[1:-1])
        return found

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, places..., filters)."""
        lengths = [output_length(size, window, self.padding, stride, dilation) for size, window, stride, dilation in
                   zip(self._spatial(input_shape), self.kernel_size, self.strides, self.dilation_rate, strict=True)]
        return self._shape(input_shape, lengths)


class _Dense(Conv):
    """A convolution in which each filter sees all channels."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str = "channels_last", dilation_rate: Any = 1, activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None,
                 bias_initializer: Any = zeros_initializer(), kernel_regularizer: Any = None,   # noqa: B008
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: Any = None, **kwargs: Any) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self._settle(filters, kernel_size, strides, padding, data_format, dilation_rate)
        self.activation, self.use_bias = activation_of(activation), use_bias
        self._weigh(kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, kernel_constraint,
                    bias_constraint)


class Conv1D(_Dense):
    """A convolution of rows (batch, width, channels): `activation(conv1d(inputs, kernel) + bias)`.

    >>> tf.layers.conv1d(tf.ones([4, 10, 3]), filters=8, kernel_size=5).shape.as_list()
    [4, 6, 8]
    >>> layer = tf.layers.Conv1D(filters=8, kernel_size=5, strides=2, padding="same")
    >>> layer(tf.ones([4, 10, 3])).shape.as_list(), layer.kernel.shape.as_list()
    ([4, 5, 8], [5, 3, 8])
    """

    rank = 1

    def _convolved(self, inputs: Any) -> Any:
        return _conv1d(inputs, self.kernel, self.strides, self.padding.upper(), data_format=self._layout,
                       dilations=self.dilation_rate)


class Conv2D(_Dense):
    """A convolution of images (batch, height, width, channels): `activation(conv2d(inputs, kernel) + bias)`.

    >>> tf.layers.conv2d(tf.ones([4, 28, 28, 1]), filters=8, kernel_size=3).shape.as_list()
    [4, 26, 26, 8]
    >>> layer = tf.layers.Conv2D(filters=8, kernel_size=3, padding="same", activation=tf.nn.relu)
    >>> layer(tf.ones([4, 28, 28, 1])).shape.as_list(), [w.shape.as_list() for w in layer.weights]
    ([4, 28, 28, 8], [[3, 3, 1, 8], [8]])
    """

    rank = 2

    def _convolved(self, inputs: Any) -> Any:
        return _conv2d(inputs, self.kernel, self._per_axis(self.strides), self.padding.upper(),
                       data_format=self._layout, dilations=self._per_axis(self.dilation_rate))


class Conv3D(_Dense):
    """A convolution of volumes (batch, depth, height, width, channels).

    >>> tf.layers.conv3d(tf.ones([1, 8, 8, 8, 3]), filters=4, kernel_size=3).shape.as_list()
    [1, 6, 6, 6, 4]
    >>> layer = tf.layers.Conv3D(filters=4, kernel_size=3, padding="same")
    >>> layer(tf.ones([1, 8, 8, 8, 3])).shape.as_list(), layer.kernel.shape.as_list()
    ([1, 8, 8, 8, 4], [3, 3, 3, 3, 4])
    """

    rank = 3

    def _convolved(self, inputs: Any) -> Any:
        return _conv3d(inputs, self.kernel, self._per_axis(self.strides), self.padding.upper(), self._layout,
                       self._per_axis(self.dilation_rate))


conv1d = functional(Conv1D, "conv1d")
conv2d = functional(Conv2D, "conv2d")
conv3d = functional(Conv3D, "conv3d")


describe(globals(), LAYERS)
