"""Separable convolutions: `tf.layers.SeparableConv1D`, `SeparableConv2D` and their functions."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import LAYERS, describe
from tfnb.layers.choices import activation_of, initializer_of
from tfnb.layers.convolutional import Conv
from tfnb.layers.functional import functional
from tfnb.ops.array.reshape import expand_dims, squeeze
from tfnb.ops.nn.activations import bias_add
from tfnb.ops.nn.conv_functions import separable_conv2d as _separable_conv2d
from tfnb.variables.initializers import zeros_initializer


class _Separable(Conv):
    """A convolution of each channel by its own filters, then one of 1 x 1 over all channels.

    Variables: depthwise_kernel (window..., inputs, multiplier), pointwise_kernel (1..., inputs * multiplier, filters),
    bias (filters).
    """

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str = "channels_last", dilation_rate: Any = 1, depth_multiplier: int = 1,
                 activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                 pointwise_initializer: Any = None, bias_initializer: Any = zeros_initializer(),     # noqa: B008
                 depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, depthwise_constraint: Any = None, pointwise_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: Any = None, **kwargs: Any) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self._settle(filters, kernel_size, strides, padding, data_format, dilation_rate)
        self.depth_multiplier = depth_multiplier
        self.activation, self.use_bias = activation_of(activation), use_bias
        self.depthwise_initializer = initializer_of(depthwise_initializer)
        self.pointwise_initializer = initializer_of(pointwise_initializer)
        self.depthwise_regularizer, self.pointwise_regularizer = depthwise_regularizer, pointwise_regularizer
        self.depthwise_constraint, self.pointwise_constraint = depthwise_constraint, pointwise_constraint
        self._weigh(None, bias_initializer, None, bias_regularizer, None, bias_constraint)

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], self.dtype,
            self.depthwise_initializer, self.depthwise_regularizer, True, self.depthwise_constraint)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", [1] * self.rank + [channels * self.depth_multiplier, self.filters], self.dtype,
            self.pointwise_initializer, self.pointwise_regularizer, True, self.pointwise_constraint)
        self._make_bias()
        self.built = True


class SeparableConv2D(_Separable):
    """A separable convolution of images: channel by channel, then over the channels.

    >>> tf.layers.separable_conv2d(tf.ones([4, 9, 9, 3]), filters=8, kernel_size=3).shape.as_list()
    [4, 7, 7, 8]
    >>> layer = tf.layers.SeparableConv2D(filters=8, kernel_size=3, padding="same")
    >>> layer(tf.ones([4, 9, 9, 3])).shape.as_list(), [w.shape.as_list() for w in layer.weights]
    ([4, 9, 9, 8], [[3, 3, 3, 1], [1, 1, 3, 8], [8]])
    """

    rank = 2

    def _convolved(self, inputs: Any) -> Any:
        return _separable_conv2d(inputs, self.depthwise_kernel, self.pointwise_kernel, self._per_axis(self.strides),
                                 self.padding.upper(), rate=self.dilation_rate, data_format=self._layout)


class SeparableConv1D(_Separable):
    """A separable convolution of rows.

    >>> tf.layers.separable_conv1d(tf.ones([4, 9, 3]), filters=8, kernel_size=3).shape.as_list()
    [4, 7, 8]
    >>> layer = tf.layers.SeparableConv1D(filters=8, kernel_size=3, padding="same")
    >>> layer(tf.ones([4, 9, 3])).shape.as_list(), [w.shape.as_list() for w in layer.weights]
    ([4, 9, 8], [[3, 3, 1], [1, 3, 8], [8]])
    """

    rank = 1

    def call(self, inputs: Any) -> Any:
        """The two convolutions, as of images of height 1, bias and activation."""
        axis = 2 if self.first else 1
        sides = self.strides * 2
        strides = [1, 1, *sides] if self.first else [1, *sides, 1]
        wide = expand_dims(inputs, axis)
        depthwise, pointwise = expand_dims(self.depthwise_kernel, 0), expand_dims(self.pointwise_kernel, 0)
        made = _separable_conv2d(wide, depthwise, pointwise, strides, self.padding.upper(),
                                 rate=(1, *self.dilation_rate), data_format="NCHW" if self.first else "NHWC")
        if self.use_bias:
            made = bias_add(made, self.bias, data_format="NCHW" if self.first else "NHWC")
        return self._activated(squeeze(made, [axis]))


separable_conv1d = functional(SeparableConv1D, "separable_conv1d")
separable_conv2d = functional(SeparableConv2D, "separable_conv2d")


describe(globals(), LAYERS)
