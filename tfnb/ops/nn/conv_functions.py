"""Convolution functions of `tf.nn`, with the argument names of all releases of TF 1."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes, indexing
from tfnb.core.arguments import NN, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, shape, squeeze
from tfnb.ops.declaration.arguments import padding_attrs, per_axis, renamed
from tfnb.ops.nn.conv import (
    Conv2D,
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
    DepthwiseConv2dNative,
    DepthwiseConv2dNativeBackpropFilter,
    DepthwiseConv2dNativeBackpropInput,
    rank4,
)
from tfnb.ops.nn.conv3d import Conv3D, Conv3DBackpropFilterV2, Conv3DBackpropInputV2


def conv2d(input: Any, filter: Any = None, strides: Any = None, padding: Any = None,
           use_cudnn_on_gpu: bool | None = True, data_format: str | None = "NHWC", dilations: Any = (1, 1, 1, 1),
           name: str | None = None, filters: Any = None) -> Tensor:
    """Compute the 2-D convolution of images with a filter (height, width, in, out).

    strides, dilations: one number, height and width, or one for each axis. padding: "SAME", "VALID" or, for each
    axis, a pair of numbers. data_format: "NHWC" or "NCHW". Raises ValueError where shapes don't fit.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> blur = tf.fill([2, 2, 1, 1], 0.25)
    >>> sess.run(tf.squeeze(tf.nn.conv2d(image, blur, strides=[1, 1, 1, 1], padding="VALID")))
    array([[2., 3.],
           [5., 6.]], dtype=float32)
    """
    paddings, explicit = padding_attrs(padding)
    return Conv2D(input, renamed("filters", filters, "filter", filter), use_cudnn_on_gpu=use_cudnn_on_gpu, name=name,
                  strides=per_axis(strides, data_format, "strides"), padding=paddings, explicit_paddings=explicit,
                  data_format=data_format, dilations=per_axis(dilations, data_format, "dilations"))


def conv2d_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any,
                           use_cudnn_on_gpu: bool | None = True, data_format: str | None = "NHWC",
                           dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:
    """Compute the gradient of conv2d for its filter.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> y = tf.nn.conv2d_backprop_filter(image, [2, 2, 1, 1], tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], "VALID")
    >>> sess.run(tf.squeeze(y))
    array([[ 8., 12.],
           [20., 24.]], dtype=float32)
    """
    paddings, explicit = padding_attrs(padding)
    return Conv2DBackpropFilter(input, filter_sizes, out_backprop, strides=per_axis(strides, data_format, "strides"),
                                padding=paddings, explicit_paddings=explicit, use_cudnn_on_gpu=use_cudnn_on_gpu,
                                data_format=data_format, dilations=per_axis(dilations, data_format, "dilations"),
                                name=name)


def conv2d_backprop_input(input_sizes: Any, filter: Any = None, out_backprop: Any = None, strides: Any = None,
                          padding: Any = None, use_cudnn_on_gpu: bool | None = True,
                          data_format: str | None = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
                          filters: Any = None) -> Tensor:
    """Compute the gradient of conv2d for its input.

    >>> filters, gradient = tf.ones([2, 2, 1, 1]), tf.ones([1, 2, 2, 1])
    >>> y = tf.nn.conv2d_backprop_input([1, 3, 3, 1], filters, gradient, [1, 1, 1, 1], "VALID")
    >>> sess.run(tf.squeeze(y))
    array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]], dtype=float32)
    """
    paddings, explicit = padding_attrs(padding)
    return Conv2DBackpropInput(input_sizes, renamed("filters", filters, "filter", filter), out_backprop,
                               strides=per_axis(strides, data_format, "strides"), padding=paddings,
                               explicit_paddings=explicit, use_cudnn_on_gpu=use_cudnn_on_gpu, data_format=data_format,
                               dilations=per_axis(dilations, data_format, "dilations"), name=name)


def conv2d_transpose(value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None,
                     padding: Any = "SAME", data_format: str | None = "NHWC", name: str | None = None,
                     input: Any = None, filters: Any = None, dilations: Any = None) -> Tensor:
    """Compute the transpose of conv2d ("deconvolution"): from its output, images of `output_shape`.

    filter: (height, width, out, in).

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> spread = tf.nn.conv2d_transpose(image, tf.ones([2, 2, 1, 1]), output_shape=[1, 4, 4, 1], strides=[1, 2, 2, 1])
    >>> sess.run(tf.squeeze(spread))
    array([[1., 1., 2., 2.],
           [1., 1., 2., 2.],
           [3., 3., 4., 4.],
           [3., 3., 4., 4.]], dtype=float32)
    """
    value, filter = renamed("input", input, "value", value), renamed("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        return conv2d_backprop_input(output_shape, filter, value, strides, padding, data_format=data_format,
                                     dilations=dilations, name=scope)


def deconv2d(value: Any, filter: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
             name: str | None = None) -> Tensor:
    """conv2d_transpose, as release 0.6 called it.

    >>> image = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> spread = tf.nn.deconv2d(image, tf.ones([2, 2, 1, 1]), output_shape=[1, 4, 4, 1], strides=[1, 2, 2, 1])
    >>> sess.run(tf.squeeze(spread))
    array([[1., 1., 2., 2.],
           [1., 1., 2., 2.],
           [3., 3., 4., 4.],
           [3., 3., 4., 4.]], dtype=float32)
    """
    return conv2d_transpose(value, filter, output_shape, strides, padding, name=name)


def conv1d(value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None,
           use_cudnn_on_gpu: bool | None = None, data_format: str | None = None, name: str | None = None,
           input: Any = None, dilations: Any = None) -> Tensor:
    """Compute the 1-D convolution of rows (batch, width, channels) with a filter (width, in, out), by conv2d.

    data_format: "NWC" ("NHWC" in older releases) or "NCW" ("NCHW").

    >>> row = tf.reshape([1.0, 2.0, 4.0, 8.0], [1, 4, 1])
    >>> difference = tf.reshape([-1.0, 1.0], [2, 1, 1])
    >>> sess.run(tf.squeeze(tf.nn.conv1d(row, difference, stride=1, padding="VALID")))
    array([1., 2., 4.], dtype=float32)
    """
    value = renamed("input", input, "value", value)
    first = _channels_first_row(data_format)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        wide = expand_dims(value, -2 if first else -3)
        kernel = expand_dims(filters, 0)
        result = conv2d(wide, kernel, _row(stride, first), padding, use_cudnn_on_gpu, "NCHW" if first else "NHWC",
                        _row(dilations, first), name=scope)
        return squeeze(result, [-2 if first else -3])


def conv1d_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: str = "SAME",
                     data_format: str | None = "NWC", dilations: Any = None, name: str | None = None) -> Tensor:
    """Compute the transpose of conv1d; filters: (width, out, in).

    >>> row = tf.reshape([1.0, 2.0], [1, 2, 1])
    >>> sess.run(tf.squeeze(tf.nn.conv1d_transpose(row, tf.ones([2, 1, 1]), output_shape=[1, 4, 1], strides=2)))
    array([1., 1., 2., 2.], dtype=float32)
    """
    first = _channels_first_row(data_format)
    axis = 2 if first else 1
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        wide, kernel = expand_dims(input, axis), expand_dims(filters, 0)
        full = (list(output_shape) if isinstance(output_shape, (list, tuple)) else
                convert_to_tensor(output_shape, dtype=dtypes.int32))
        sizes = concat([full[:axis], [1], full[axis:]], axis=0)
        made = conv2d_backprop_input(sizes, kernel, wide, _row(strides, first), padding,
                                     data_format="NCHW" if first else "NHWC", dilations=_row(dilations, first),
                                     name=scope)
        return squeeze(made, [axis])


def conv3d(input: Any, filter: Any = None, strides: Any = None, padding: Any = None, data_format: str | None = "NDHWC",
           dilations: Any = (1, 1, 1, 1, 1), name: str | None = None, filters: Any = None) -> Tensor:
    """Compute the 3-D convolution of volumes with a filter (depth, height, width, in, out).

    strides, dilations: a number for each axis. padding: "SAME" or "VALID". data_format: "NDHWC" or "NCDHW".

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.nn.conv3d(volume, tf.ones([2, 2, 2, 1, 1]), strides=[1] * 5, padding="VALID")))
    28.0
    """
    return Conv3D(input, renamed("filters", filters, "filter", filter), strides=strides, padding=padding,
                  data_format=data_format or "NDHWC", dilations=list(dilations), name=name)


def conv3d_backprop_filter_v2(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any,
                              data_format: str | None = "NDHWC", dilations: Any = (1, 1, 1, 1, 1),
                              name: str | None = None) -> Tensor:
    """Compute the gradient of conv3d for its filter.

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> y = tf.nn.conv3d_backprop_filter_v2(volume, [1] * 5, tf.ones([1, 2, 2, 2, 1]), [1] * 5, "VALID")
    >>> sess.run(tf.squeeze(y))
    28.0
    """
    return Conv3DBackpropFilterV2(input, filter_sizes, out_backprop, strides=strides, padding=padding,
                                  data_format=data_format or "NDHWC", dilations=list(dilations), name=name)


conv3d_backprop_filter = conv3d_backprop_filter_v2


def conv3d_transpose(value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None,
                     padding: Any = "SAME", data_format: str | None = "NDHWC", name: str | None = None,
                     input: Any = None, filters: Any = None, dilations: Any = None) -> Tensor:
    """Compute the transpose of conv3d: from its output, volumes of `output_shape`.

    filter: (depth, height, width, out, in). strides, dilations: one number, three, or one for each axis.

    >>> volume, filters = tf.ones([1, 1, 1, 1, 1]), tf.ones([2, 2, 2, 1, 1])
    >>> spread = tf.nn.conv3d_transpose(volume, filters, output_shape=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1])
    >>> sess.run(tf.reduce_sum(spread))
    8.0
    """
    value, filter = renamed("input", input, "value", value), renamed("filters", filters, "filter", filter)
    layout = data_format or "NDHWC"
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        return Conv3DBackpropInputV2(output_shape, filter, value, strides=per_axis(strides, layout, "strides", 3),
                                     padding=padding, data_format=layout, name=scope,
                                     dilations=per_axis(dilations, layout, "dilations", 3))


def conv_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
                   data_format: str | None = None, dilations: Any = None, name: str | None = None) -> Tensor:
    """Compute the transpose of a convolution of rows, images or volumes, by the length of `output_shape`.

    >>> row = tf.reshape([1.0, 2.0], [1, 2, 1])
    >>> sess.run(tf.squeeze(tf.nn.conv_transpose(row, tf.ones([2, 1, 1]), output_shape=[1, 4, 1], strides=2)))
    array([1., 1., 2., 2.], dtype=float32)
    """
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        length = (convert_to_tensor(output_shape, name="output_shape").static or (None,))[0] if isinstance(
            output_shape, Tensor) else len(output_shape)
        if length not in (3, 4, 5):
            raise ValueError(f"output_shape must be of length 3, 4 or 5, not {length}")
        functions: dict[int, Callable[..., Tensor]] = {
            3: conv1d_transpose, 4: conv2d_transpose, 5: conv3d_transpose}
        layout = data_format or {3: "NWC", 4: "NHWC", 5: "NDHWC"}[length]
        return functions[length](input, filters, output_shape, strides, padding, layout, name=scope,
                                 dilations=dilations)


def depthwise_conv2d_native(input: Any, filter: Any, strides: Any, padding: Any, data_format: str | None = "NHWC",
                            dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:
    """Compute the depthwise convolution: each channel by its own filters (height, width, channels, multiplier).

    >>> image = tf.reshape(tf.range(8.0), [1, 2, 2, 2])
    >>> y = tf.nn.depthwise_conv2d_native(image, tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID")
    >>> sess.run(tf.squeeze(y))
    array([12., 16.], dtype=float32)
    """
    paddings, explicit = padding_attrs(padding)
    return DepthwiseConv2dNative(input, filter, strides=list(strides), padding=paddings, explicit_paddings=explicit,
                                 data_format=data_format, dilations=list(dilations), name=name)


def depthwise_conv2d_native_backprop_input(input_sizes: Any, filter: Any, out_backprop: Any, strides: Any,
                                           padding: Any, data_format: str | None = "NHWC",
                                           dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:
    """Compute the gradient of depthwise_conv2d_native for its input.

    >>> filters, gradient = tf.ones([2, 2, 1, 1]), tf.ones([1, 1, 1, 1])
    >>> y = tf.nn.depthwise_conv2d_backprop_input([1, 2, 2, 1], filters, gradient, [1] * 4, "VALID")
    >>> sess.run(tf.squeeze(y))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    paddings, explicit = padding_attrs(padding)
    return DepthwiseConv2dNativeBackpropInput(
        input_sizes, filter, out_backprop, strides=list(strides), padding=paddings, explicit_paddings=explicit,
        data_format=data_format, dilations=list(dilations), name=name)


def depthwise_conv2d_native_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any,
                                            padding: Any, data_format: str | None = "NHWC",
                                            dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:
    """Compute the gradient of depthwise_conv2d_native for its filter.

    >>> image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    >>> y = tf.nn.depthwise_conv2d_backprop_filter(image, [2, 2, 1, 1], tf.ones([1, 1, 1, 1]), [1] * 4, "VALID")
    >>> sess.run(tf.squeeze(y))
    array([[0., 1.],
           [2., 3.]], dtype=float32)
    """
    paddings, explicit = padding_attrs(padding)
    return DepthwiseConv2dNativeBackpropFilter(
        input, filter_sizes, out_backprop, strides=list(strides), padding=paddings, explicit_paddings=explicit,
        data_format=data_format, dilations=list(dilations), name=name)


depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input
depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter


def depthwise_conv2d(input: Any, filter: Any, strides: Any, padding: Any, rate: Any = None, name: str | None = None,
                     data_format: str | None = None, dilations: Any = None) -> Tensor:
    """Compute the depthwise convolution: each channel by its own filters (height, width, channels, multiplier).

    rate (or `dilations`): how far apart the taps are, in height and width; with one > 1, all strides must be 1.

    >>> image = tf.reshape(tf.range(8.0), [1, 2, 2, 2])
    >>> filters = tf.ones([2, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.nn.depthwise_conv2d(image, filters, strides=[1, 1, 1, 1], padding="VALID")))
    array([12., 16.], dtype=float32)
    """
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        x = convert_to_tensor(input, name="tensor_in")
        kernel = convert_to_tensor(filter, name="filter_in")
        return _dilated_depthwise(x, kernel, strides, padding, rate, data_format, scope)


def separable_conv2d(input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any,
                     rate: Any = None, name: str | None = None, data_format: str | None = None,
                     dilations: Any = None) -> Tensor:
    """Compute a depthwise convolution, then a pointwise one (1 x 1 over all channels).

    pointwise_filter: (1, 1, channels * multiplier, out). Raises ValueError for another shape of it.

    >>> image, depthwise, pointwise = tf.ones([4, 9, 9, 3]), tf.ones([3, 3, 3, 2]), tf.ones([1, 1, 6, 8])
    >>> tf.nn.separable_conv2d(image, depthwise, pointwise, [1, 1, 1, 1], "SAME").shape.as_list()
    [4, 9, 9, 8]
    """
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        x = convert_to_tensor(input, name="tensor_in")
        kernel = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        mixing = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        if any(n not in (1, None) for n in rank4(mixing.static)[:2]):
            raise ValueError(f"pointwise_filter must have the shape [1, 1, in, out], not {mixing.shape}")
        apart = _dilated_depthwise(x, kernel, strides, padding, rate, data_format, "depthwise")
        return conv2d(apart, mixing, [1, 1, 1, 1], "VALID", data_format=data_format or "NHWC", name=scope)


def _dilated_depthwise(x: Tensor, kernel: Tensor, strides: Any, padding: Any, rate: Any, data_format: str | None,
                       name: str) -> Tensor:
    rates = np.asarray([1, 1] if rate is None else rate, np.int32).reshape(-1)
    rates = indexing.repeat(rates, 2) if rates.size == 1 else rates
    if rates.size == 4:
        rates = rates[2:] if data_format == "NCHW" else rates[1:3]
    shape(kernel)                                  # these two nodes stand in TensorFlow's graphs too
    convert_to_tensor(rates, dtype=dtypes.int32, name="dilation_rate")
    if (rates < 1).any():
        raise ValueError(f"dilation rates must be positive, not {rates.tolist()}")
    if (rates > 1).any() and any(n != 1 for n in strides):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return depthwise_conv2d_native(x, kernel, strides, padding, data_format or "NHWC",
                                   per_axis(rates.tolist(), data_format, "dilations"), name=name)


def atrous_conv2d(value: Any, filters: Any, rate: int, padding: Any, name: str | None = None) -> Tensor:
    """Compute the atrous (dilated) 2-D convolution, whose taps are `rate` pixels apart.

    >>> image = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
    >>> spread = tf.nn.atrous_conv2d(image, tf.ones([2, 2, 1, 1]), rate=4, padding="VALID")
    >>> sess.run(tf.squeeze(spread))
    48.0
    """
    return convolution(value, filters, padding, dilation_rate=[rate, rate], name=name)


def atrous_conv2d_transpose(value: Any, filters: Any, output_shape: Any, rate: int, padding: Any,
                            name: str | None = None) -> Tensor:
    """Compute the transpose of atrous_conv2d; filters: (height, width, out, in).

    >>> image, filters = tf.ones([1, 1, 1, 1]), tf.ones([2, 2, 1, 1])
    >>> y = tf.nn.atrous_conv2d_transpose(image, filters, [1, 3, 3, 1], rate=2, padding="VALID")
    >>> sess.run(tf.squeeze(y))
    array([[1., 0., 1.],
           [0., 0., 0.],
           [1., 0., 1.]], dtype=float32)
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as scope:
        return conv2d_backprop_input(output_shape, filters, value, 1, padding, dilations=rate, name=scope)


def convolution(input: Any, filter: Any = None, padding: Any = None, strides: Any = None, dilation_rate: Any = None,
                name: str | None = None, data_format: str | None = None, filters: Any = None,
                dilations: Any = None) -> Tensor:
    """Compute conv1d, conv2d or conv3d, by the input's rank. Raises ValueError for strides and dilations both > 1.

    >>> row = tf.reshape([1.0, 2.0, 4.0, 8.0], [1, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.convolution(row, tf.ones([2, 1, 1]), padding="VALID")))
    array([ 3.,  6., 12.], dtype=float32)
    """
    kernel = renamed("filters", filters, "filter", filter)
    rate = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, "convolution", [input, kernel]) as scope:
        x = convert_to_tensor(input, name="input")
        kernel = convert_to_tensor(kernel, name="filter")
        rank = len(x.static) if x.static is not None else len(kernel.static) if kernel.static is not None else None
        if rank not in (3, 4, 5):
            raise ValueError(f"convolution needs an input of rank 3, 4 or 5, not {rank}")
        if np.max(rate if rate is not None else 1) > 1 and np.max(strides if strides is not None else 1) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        if rank == 3:
            return conv1d(x, kernel, strides, padding, data_format=data_format, dilations=rate, name=scope)
        if rank == 5:
            layout = data_format or "NDHWC"
            return conv3d(x, kernel, per_axis(strides, layout, "strides", 3), padding, layout,
                          per_axis(rate, layout, "dilation_rate", 3), name=scope)
        return conv2d(x, kernel, strides, padding, data_format=data_format or "NHWC", dilations=rate, name=scope)


# Rows

def _channels_first_row(data_format: str | None) -> bool:
    """Return whether the format is "NCW" (or the older "NCHW"). Raises ValueError for no format of rows."""
    if data_format not in (None, "NHWC", "NCHW", "NWC", "NCW"):
        raise ValueError(f"`data_format` must be 'NWC' or 'NCW', not {data_format!r}")
    return data_format in ("NCHW", "NCW")


def _row(value: Any, first: bool) -> list[int]:
    """Strides or dilations of a row, for an image of height 1."""
    given: Sequence[int] = [1] if value is None else [value] if np.ndim(value) == 0 else list(value)
    if len(given) not in (1, 3):
        raise ValueError(f"stride should be of length 1 or 3. Received: {value}")
    width = given[0] if len(given) == 1 else given[2 if first else 1]
    return [1, 1, 1, width] if first else [1, 1, width, 1]


describe(globals(), NN)
