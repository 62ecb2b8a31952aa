"""Transposed convolutions: `tf.layers.Conv2DTranspose`, `Conv3DTranspose` and their functions."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import LAYERS, describe
from tfnb.core.shape import TensorShape
from tfnb.layers.choices import activation_of
from tfnb.layers.convolutional import Conv
from tfnb.layers.functional import functional
from tfnb.ops.array.joining import stack
from tfnb.ops.array.reshape import shape
from tfnb.ops.nn.conv_functions import conv2d_transpose as _conv2d_transpose
from tfnb.ops.nn.conv_functions import conv3d_transpose as _conv3d_transpose
from tfnb.variables.initializers import zeros_initializer


class _Transpose(Conv):
    """The transpose of a convolution. Variables: kernel (window..., filters, inputs), bias (filters)."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str = "channels_last", activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = None, bias_initializer: Any = zeros_initializer(),   # noqa: B008
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True, name: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self._settle(filters, kernel_size, strides, padding, data_format, 1)
        self.activation, self.use_bias = activation_of(activation), use_bias
        self._weigh(kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, kernel_constraint,
                    bias_constraint)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        channels = self._channels(input_shape)
        self.kernel = self.add_weight("kernel", [*self.kernel_size, self.filters, channels], self.dtype,
                                      self.kernel_initializer, self.kernel_regularizer, True, self.kernel_constraint)
        self._make_bias()
        self.built = True

    def _length(self, size: Any, axis: int) -> Any:
        """Return the output size along an axis; `size` may be a tensor."""
        longer = size * self.strides[axis]
        return longer if self.padding == "same" else longer + max(self.kernel_size[axis] - self.strides[axis], 0)

    def _output_sizes(self, inputs: Any) -> Any:
        sizes: Any = shape(inputs)
        batch = sizes[0]
        begin = 2 if self.first else 1
        given = [sizes[begin + axis] for axis in range(self.rank)]
        spatial = [self._length(size, axis) for axis, size in enumerate(given)]
        return stack([batch, self.filters, *spatial] if self.first else [batch, *spatial, self.filters])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, sizes..., filters)."""
        sizes = [None if size is None else self._length(size, axis)
                 for axis, size in enumerate(self._spatial(input_shape))]
        return self._shape(input_shape, sizes)


class Conv2DTranspose(_Transpose):
    """The transpose of a convolution of images: (batch, height, width, channels) -> larger images.

    kernel: (height, width, filters, inputs). The output is strides times as large, with padding "valid" longer by
    what the window exceeds the stride.

    >>> tf.layers.conv2d_transpose(tf.ones([4, 7, 7, 8]), filters=3, kernel_size=3, strides=2).shape.as_list()
    [4, 15, 15, 3]
    >>> layer = tf.layers.Conv2DTranspose(filters=3, kernel_size=3, strides=2, padding="same")
    >>> layer(tf.ones([4, 7, 7, 8])).shape.as_list()
    [4, 14, 14, 3]
    """

    rank = 2

    def _convolved(self, inputs: Any) -> Any:
        sizes = self._output_sizes(inputs)
        sizes[0]                                    # TensorFlow 1.15 looks at it: its node counts for seeds
        made = _conv2d_transpose(inputs, self.kernel, sizes, self._per_axis(self.strides), self.padding.upper(),
                                 self._layout)
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made


class Conv3DTranspose(_Transpose):
    """The transpose of a convolution of volumes: as Conv2DTranspose, with three spatial axes.

    >>> tf.layers.conv3d_transpose(tf.ones([1, 4, 4, 4, 2]), filters=3, kernel_size=3, strides=2).shape.as_list()
    [1, 9, 9, 9, 3]
    >>> layer = tf.layers.Conv3DTranspose(filters=3, kernel_size=3, strides=2, padding="same")
    >>> layer(tf.ones([1, 4, 4, 4, 2])).shape.as_list()
    [1, 8, 8, 8, 3]
    """

    rank = 3

    def _convolved(self, inputs: Any) -> Any:
        made = _conv3d_transpose(inputs, self.kernel, self._output_sizes(inputs), self._per_axis(self.strides),
                                 self.padding.upper(), self._layout)
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made


conv2d_transpose = functional(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = functional(Conv3DTranspose, "conv3d_transpose")


describe(globals(), LAYERS)
