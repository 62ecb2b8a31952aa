"""Convolutions of Keras over rows, images and volumes, by all channels, by each, and transposed."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import convolution as convolve
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import image_data_format
from tfnb.keras.functions import regularizers
from tfnb.keras.layers.described import Described, shape_list
from tfnb.layers.choices import channels_first, layout, sizes_for
from tfnb.layers.convolutional import output_length
from tfnb.layers.input_spec import InputSpec
from tfnb.layers.weighted import channel_size


class Conv(Described):
    """`activation(convolution of the inputs with kernel, plus bias)`: what the layers of all ranks share.

    Variables: kernel (window..., inputs, filters), bias (filters) with use_bias.
    """

    rank: ClassVar[int]
    _arguments: ClassVar[tuple[str, ...]] = (
        "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation", "use_bias",
        "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer",
        "kernel_constraint", "bias_constraint")

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = None, dilation_rate: Any = 1, activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.filters = filters if filters is None else int(filters)
        self.kernel_size = sizes_for(kernel_size, self.rank, "kernel_size")
        self.strides = sizes_for(strides, self.rank, "strides")
        self.dilation_rate = sizes_for(dilation_rate, self.rank, "dilation_rate")
        self.padding = padding.lower()
        if self.padding not in ("valid", "same", *(("causal",) if self.rank == 1 else ())):
            raise ValueError(f'The `padding` argument must be one of "valid", "same"'
                             f'{", causal" if self.rank == 1 else ""}. Received: {padding!r}')
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        self.data_format = image_data_format() if data_format is None else data_format
        self.first = channels_first(self.data_format)
        self._keep(activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                   bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                   bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint,
                   bias_constraint=bias_constraint)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _channels(self, input_shape: Any) -> int:
        axis = 1 if self.first else self.rank + 1
        found = channel_size(TensorShape(input_shape), axis, "channel dimension")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: found})
        return found

    def _add_bias(self, size: int) -> None:
        self.bias = self.add_weight("bias", [size], None, self.bias_initializer, self.bias_regularizer, True,
                                    self.bias_constraint) if self.use_bias else None

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        self.kernel = self.add_weight("kernel", [*self.kernel_size, self._channels(input_shape), self.filters], None,
                                      self.kernel_initializer, self.kernel_regularizer, True, self.kernel_constraint)
        self._add_bias(self.filters)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The convolution, bias and activation."""
        made = self._convolved(inputs)
        if self.use_bias:
            made = convolve.bias_add(made, self.bias, self.data_format)
        return self.activation(made)

    def _convolved(self, inputs: Any) -> Any:
        convolution: Any = (convolve.conv1d, convolve.conv2d, convolve.conv3d)[self.rank - 1]
        one = self.rank == 1
        return convolution(inputs, self.kernel, self.strides[0] if one else self.strides, self.padding,
                           self.data_format, self.dilation_rate[0] if one else self.dilation_rate)

    def _spatial(self, input_shape: Any) -> list[int | None]:
        sizes = shape_list(input_shape)
        return sizes[2:] if self.first else sizes[1:-1]

    def _shape(self, input_shape: Any, spatial: list[int | None], channels: int | None = None) -> TensorShape:
        batch, channels = shape_list(input_shape)[0], channels or self.filters
        return TensorShape([batch, channels, *spatial] if self.first else [batch, *spatial, channels])

    def _lengths(self, input_shape: Any) -> list[int | None]:
        return [output_length(size, window, self.padding, stride, dilation) for size, window, stride, dilation in
                zip(self._spatial(input_shape), self.kernel_size, self.strides, self.dilation_rate, strict=True)]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, places..., filters)."""
        return self._shape(input_shape, self._lengths(input_shape))


class Conv1D(Conv):
    """A convolution of rows (batch, width, channels). padding: "valid", "same" or "causal".

    >>> tf.keras.layers.Conv1D(8, 3, padding="causal")(tf.ones([4, 10, 2])).shape.as_list()
    [4, 10, 8]
    """

    rank = 1

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = "channels_last", dilation_rate: Any = 1, activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, **kwargs)


class Conv2D(Conv):
    """A convolution of images (batch, height, width, channels).

    >>> tf.keras.layers.Conv2D(8, 3, activation="relu")(tf.ones([4, 28, 28, 1])).shape.as_list()
    [4, 26, 26, 8]
    """

    rank = 2


class Conv3D(Conv):
    """A convolution of volumes (batch, depth, height, width, channels).

    >>> tf.keras.layers.Conv3D(4, 3)(tf.ones([1, 8, 8, 8, 3])).shape.as_list()
    [1, 6, 6, 6, 4]
    """

    rank = 3


class _Transpose(Conv):
    """The transpose of a convolution. Variables: kernel (window..., filters, inputs), bias (filters)."""

    _arguments: ClassVar[tuple[str, ...]] = (*Conv._arguments, "output_padding")

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 output_padding: Any = None, data_format: str | None = None, dilation_rate: Any = 1,
                 activation: Any = None, use_bias: bool = True, kernel_initializer: Any = "glorot_uniform",
                 bias_initializer: Any = "zeros", kernel_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, **kwargs)
        self.output_padding = None if output_padding is None else sizes_for(output_padding, self.rank,
                                                                           "output_padding")
        if self.output_padding and any(more >= stride for more, stride in
                                       zip(self.output_padding, self.strides, strict=True)):
            raise ValueError(f"Stride {self.strides} must be greater than output padding {self.output_padding}")

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        self.kernel = self.add_weight("kernel", [*self.kernel_size, self.filters, self._channels(input_shape)], None,
                                      self.kernel_initializer, self.kernel_regularizer, True, self.kernel_constraint)
        self._add_bias(self.filters)
        self.built = True

    def _length(self, size: Any, axis: int) -> Any:
        """Return the output size along an axis; `size` may be a tensor."""
        window, stride = self.kernel_size[axis], self.strides[axis]
        if self.output_padding is None:
            return size * stride if self.padding == "same" else size * stride + max(window - stride, 0)
        cut = window // 2 if self.padding == "same" else 0
        return (size - 1) * stride + window - 2 * cut + self.output_padding[axis]

    def _convolved(self, inputs: Any) -> Any:
        sizes: Any = ops.shape(inputs)
        begin = 2 if self.first else 1
        spatial = [self._length(sizes[begin + axis], axis) for axis in range(self.rank)]
        output = ops.stack([sizes[0], self.filters, *spatial] if self.first else [sizes[0], *spatial, self.filters])
        transposed: Any = (ops.conv2d_transpose, ops.conv3d_transpose)[self.rank - 2]
        strides = [1, 1, *self.strides] if self.first else [1, *self.strides, 1]
        if max(self.dilation_rate) > 1:
            raise ValueError(f"{type(self).__name__} takes a dilation_rate of 1, got {self.dilation_rate}")
        made = transposed(inputs, self.kernel, output, strides, self.padding.upper(),
                          layout(self.data_format, self.rank + 2))
        made.set_shape(self.compute_output_shape(inputs.shape))
        return made

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, sizes..., filters)."""
        return self._shape(input_shape, [None if size is None else self._length(size, axis)
                                         for axis, size in enumerate(self._spatial(input_shape))])


class Conv2DTranspose(_Transpose):
    """The transpose of a convolution of images: larger images. kernel: (height, width, filters, inputs).

    >>> tf.keras.layers.Conv2DTranspose(3, 3, strides=2, padding="same")(tf.ones([4, 7, 7, 8])).shape.as_list()
    [4, 14, 14, 3]
    """

    rank = 2


class Conv3DTranspose(_Transpose):
    """The transpose of a convolution of volumes.

    >>> tf.keras.layers.Conv3DTranspose(3, 3, strides=2)(tf.ones([1, 4, 4, 4, 2])).shape.as_list()
    [1, 9, 9, 9, 3]
    """

    rank = 3
    _arguments = Conv._arguments

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = None, activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any) -> None:
        kwargs.pop("dilation_rate", None)
        super().__init__(filters, kernel_size, strides, padding, None, data_format, 1, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, **kwargs)


class _Separable(Conv):
    """A convolution channel by channel, then one of size 1 over the channels.

    Variables: depthwise_kernel (window..., inputs, depth_multiplier), pointwise_kernel (1..., inputs *
    depth_multiplier, filters), bias (filters).
    """

    _arguments: ClassVar[tuple[str, ...]] = (
        *(name for name in Conv._arguments if not name.startswith("kernel_") or name == "kernel_size"),
        "depth_multiplier", "depthwise_initializer", "pointwise_initializer", "depthwise_regularizer",
        "pointwise_regularizer", "depthwise_constraint", "pointwise_constraint")

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = None, dilation_rate: Any = 1, depth_multiplier: int = 1,
                 activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = "glorot_uniform",
                 pointwise_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, depthwise_constraint: Any = None, pointwise_constraint: Any = None,
                 bias_constraint: Any = None, **kwargs: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, **kwargs)
        self.depth_multiplier = depth_multiplier
        self._keep(depthwise_initializer=depthwise_initializer, pointwise_initializer=pointwise_initializer,
                   depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
                   depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint)

    def build(self, input_shape: Any) -> None:
        """Make the kernels and the bias."""
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], None,
            self.depthwise_initializer, self.depthwise_regularizer, True, self.depthwise_constraint)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", [1] * self.rank + [channels * self.depth_multiplier, self.filters], None,
            self.pointwise_initializer, self.pointwise_regularizer, True, self.pointwise_constraint)
        self._add_bias(self.filters)
        self.built = True

    def _convolved(self, inputs: Any) -> Any:
        depthwise, pointwise = self.depthwise_kernel, self.pointwise_kernel
        if self.rank == 2:
            return convolve.separable_conv2d(inputs, depthwise, pointwise, self.strides, self.padding,
                                             self.data_format, self.dilation_rate)
        axis, padding = 2 if self.first else 1, self.padding        # rows are images of height 1
        if padding == "causal":
            before = (self.kernel_size[0] - 1) * self.dilation_rate[0]
            inputs, padding = ops.pad(inputs, [[0, 0], *([[0, 0], [before, 0]] if self.first else
                                                         [[before, 0], [0, 0]])]), "valid"
        made = convolve.separable_conv2d(
            ops.expand_dims(inputs, axis), ops.expand_dims(depthwise, 0), ops.expand_dims(pointwise, 0),
            self.strides * 2, padding, self.data_format, (1, *self.dilation_rate))
        return ops.squeeze(made, [axis])


class SeparableConv1D(_Separable):
    """A separable convolution of rows: channel by channel, then over the channels.

    >>> tf.keras.layers.SeparableConv1D(8, 3)(tf.ones([4, 9, 3])).shape.as_list()
    [4, 7, 8]
    """

    rank = 1


class SeparableConv2D(_Separable):
    """A separable convolution of images: channel by channel, then over the channels.

    >>> tf.keras.layers.SeparableConv2D(8, 3)(tf.ones([4, 9, 9, 3])).shape.as_list()
    [4, 7, 7, 8]
    """

    rank = 2


class DepthwiseConv2D(Conv):
    """A convolution of images channel by channel. Variables: depthwise_kernel, bias (inputs * depth_multiplier).

    >>> tf.keras.layers.DepthwiseConv2D(3, depth_multiplier=2)(tf.ones([4, 9, 9, 3])).shape.as_list()
    [4, 7, 7, 6]
    """

    rank = 2
    _arguments: ClassVar[tuple[str, ...]] = (
        *(name for name in Conv._arguments if name != "filters" and
        (not name.startswith("kernel_") or name == "kernel_size")),
        "depth_multiplier", "depthwise_initializer", "depthwise_regularizer", "depthwise_constraint")

    def __init__(self, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid", depth_multiplier: int = 1,
                 data_format: str | None = None, activation: Any = None, use_bias: bool = True,
                 depthwise_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 depthwise_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 depthwise_constraint: Any = None, bias_constraint: Any = None, **kwargs: Any) -> None:
        dilation_rate = kwargs.pop("dilation_rate", 1)
        super().__init__(1, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, **kwargs)
        self.depth_multiplier = depth_multiplier
        self._keep(depthwise_initializer=depthwise_initializer, depthwise_regularizer=depthwise_regularizer,
                   depthwise_constraint=depthwise_constraint)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], None,
            self.depthwise_initializer, self.depthwise_regularizer, True, self.depthwise_constraint)
        self._add_bias(channels * self.depth_multiplier)
        self.built = True

    def _convolved(self, inputs: Any) -> Any:
        return convolve.depthwise_conv2d(convert_to_tensor(inputs), self.depthwise_kernel, self.strides, self.padding,
                                         self.data_format, self.dilation_rate)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, places..., channels)."""
        channels = shape_list(input_shape)[1 if self.first else 3]
        return self._shape(input_shape, self._lengths(input_shape), (channels or 0) * self.depth_multiplier)


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D


describe(globals(), KERAS)
