"""Convolutions and pools of `tf.keras.backend`, over tensors of either data format."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.shapes import is_channels_first, temporal_padding
from tfnb.layers.choices import layout, sizes_for


def _format(data_format: str | None, rank: int) -> str:
    return layout("channels_first" if is_channels_first(data_format) else "channels_last", rank)


def _padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: expected 'same' or 'valid', got {padding!r}")
    return padding.upper()


def _wide(sizes: tuple[int, ...], first: bool) -> list[int]:
    return [1, 1, *sizes] if first else [1, *sizes, 1]


def conv1d(x: Any, kernel: Any, strides: int = 1, padding: str = "valid", data_format: str | None = None,
           dilation_rate: int = 1) -> Any:
    """Return the convolution of rows. kernel: (width, inputs, filters). padding: "same", "valid" or "causal".

    >>> tf.keras.backend.conv1d(tf.ones([1, 5, 2]), tf.ones([3, 2, 4])).shape.as_list()
    [1, 3, 4]
    """
    kernel = convert_to_tensor(kernel)
    if padding == "causal":
        x, padding = temporal_padding(x, ((kernel.shape.as_list()[0] - 1) * dilation_rate, 0)), "valid"
    return ops.conv1d(x, kernel, strides, _padding(padding), data_format=_format(data_format, 3),
                      dilations=dilation_rate)


def conv2d(x: Any, kernel: Any, strides: Any = (1, 1), padding: str = "valid", data_format: str | None = None,
           dilation_rate: Any = (1, 1)) -> Any:
    """Return the convolution of images. kernel: (height, width, inputs, filters).

    >>> tf.keras.backend.conv2d(tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4])).shape.as_list()
    [1, 3, 3, 4]
    """
    first = is_channels_first(data_format)
    return ops.conv2d(x, kernel, _wide(sizes_for(strides, 2, "strides"), first), _padding(padding),
                      data_format=_format(data_format, 4),
                      dilations=_wide(sizes_for(dilation_rate, 2, "dilation_rate"), first))


def conv3d(x: Any, kernel: Any, strides: Any = (1, 1, 1), padding: str = "valid", data_format: str | None = None,
           dilation_rate: Any = (1, 1, 1)) -> Any:
    """Return the convolution of volumes. kernel: (depth, height, width, inputs, filters).

    >>> tf.keras.backend.conv3d(tf.ones([1, 5, 5, 5, 2]), tf.ones([3, 3, 3, 2, 4])).shape.as_list()
    [1, 3, 3, 3, 4]
    """
    first = is_channels_first(data_format)
    return ops.conv3d(x, kernel, _wide(sizes_for(strides, 3, "strides"), first), _padding(padding),
                      _format(data_format, 5), _wide(sizes_for(dilation_rate, 3, "dilation_rate"), first))


def conv2d_transpose(x: Any, kernel: Any, output_shape: Any, strides: Any = (1, 1), padding: str = "valid",
                     data_format: str | None = None, dilation_rate: Any = (1, 1)) -> Any:
    """Return the transpose of a convolution of images. kernel: (height, width, filters, inputs).

    output_shape: the shape of the result; a batch of None is that of `x`. Raises NotImplementedError for a
    dilation_rate other than 1.

    >>> x, kernel = tf.ones([1, 3, 3, 4]), tf.ones([3, 3, 2, 4])
    >>> tf.keras.backend.conv2d_transpose(x, kernel, (1, 5, 5, 2)).shape.as_list()
    [1, 5, 5, 2]
    """
    if sizes_for(dilation_rate, 2, "dilation_rate") != (1, 1):
        raise NotImplementedError(f"conv2d_transpose takes a dilation_rate of 1, got {dilation_rate}: use "
                                  "tf.nn.atrous_conv2d_transpose")
    if isinstance(output_shape, (tuple, list)):
        sizes: Any = ops.shape(x)
        if output_shape[0] is None:
            output_shape = [sizes[0], *output_shape[1:]]
        output_shape = ops.stack(list(output_shape))
    return ops.conv2d_transpose(x, kernel, output_shape, _wide(sizes_for(strides, 2, "strides"),
                                is_channels_first(data_format)), _padding(padding), _format(data_format, 4))


def separable_conv2d(x: Any, depthwise_kernel: Any, pointwise_kernel: Any, strides: Any = (1, 1),
                     padding: str = "valid", data_format: str | None = None, dilation_rate: Any = (1, 1)) -> Any:
    """Return a convolution channel by channel, then one of size 1 over the channels.

    depthwise_kernel: (height, width, inputs, multiplier). pointwise_kernel: (1, 1, inputs * multiplier, filters).

    >>> x, depthwise, pointwise = tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 1]), tf.ones([1, 1, 2, 4])
    >>> tf.keras.backend.separable_conv2d(x, depthwise, pointwise).shape.as_list()
    [1, 3, 3, 4]
    """
    return ops.separable_conv2d(
        x, depthwise_kernel, pointwise_kernel,
        _wide(sizes_for(strides, 2, "strides"), is_channels_first(data_format)), _padding(padding),
        rate=sizes_for(dilation_rate, 2, "dilation_rate"), data_format=_format(data_format, 4))


def depthwise_conv2d(x: Any, depthwise_kernel: Any, strides: Any = (1, 1), padding: str = "valid",
                     data_format: str | None = None, dilation_rate: Any = (1, 1)) -> Any:
    """Return a convolution channel by channel. depthwise_kernel: (height, width, inputs, multiplier).

    >>> tf.keras.backend.depthwise_conv2d(tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4])).shape.as_list()
    [1, 3, 3, 8]
    """
    return ops.depthwise_conv2d(
        x, depthwise_kernel, _wide(sizes_for(strides, 2, "strides"), is_channels_first(data_format)),
        _padding(padding), rate=sizes_for(dilation_rate, 2, "dilation_rate"), data_format=_format(data_format, 4))


def _pooled(x: Any, rank: int, pool_size: Any, strides: Any, padding: str, data_format: str | None,
            pool_mode: str) -> Any:
    pools = {"max": (ops.max_pool, ops.max_pool3d), "avg": (ops.avg_pool, ops.avg_pool3d)}
    if pool_mode not in pools:
        raise ValueError(f"Invalid pooling mode: expected 'max' or 'avg', got {pool_mode!r}")
    first = is_channels_first(data_format)
    return pools[pool_mode][rank - 2](
        x, _wide(sizes_for(pool_size, rank, "pool_size"), first), _wide(sizes_for(strides, rank, "strides"), first),
        _padding(padding), _format(data_format, rank + 2))


def pool2d(x: Any, pool_size: Any, strides: Any = (1, 1), padding: str = "valid", data_format: str | None = None,
           pool_mode: str = "max") -> Any:
    """Return maxima or means of windows of images. pool_mode: "max" or "avg".

    >>> tf.keras.backend.pool2d(tf.ones([1, 4, 4, 2]), (2, 2), (2, 2)).shape.as_list()
    [1, 2, 2, 2]
    """
    return _pooled(x, 2, pool_size, strides, padding, data_format, pool_mode)


def pool3d(x: Any, pool_size: Any, strides: Any = (1, 1, 1), padding: str = "valid", data_format: str | None = None,
           pool_mode: str = "max") -> Any:
    """Return maxima or means of windows of volumes. pool_mode: "max" or "avg".

    >>> tf.keras.backend.pool3d(tf.ones([1, 4, 4, 4, 2]), (2, 2, 2), (2, 2, 2)).shape.as_list()
    [1, 2, 2, 2, 2]
    """
    return _pooled(x, 3, pool_size, strides, padding, data_format, pool_mode)


def _local(inputs: Any, kernel: Any, window: tuple[int, ...], strides: tuple[int, ...], places: tuple[int, ...],
           first: bool) -> Any:
    """Apply weights of its own to each window: kernel (places, window * inputs, filters)."""
    rank = len(window)
    x = ops.transpose(inputs, [0, *range(2, rank + 2), 1]) if first else convert_to_tensor(inputs)
    rows = [x]
    for axis in range(rank):                        # each axis is cut in windows: (batch, places, window) in the end
        index = [[place * strides[axis] + tap for tap in range(window[axis])] for place in range(places[axis])]
        rows = [ops.gather(each, index, axis=1 + 2 * axis) for each in rows]
    taps, channel = [*range(2, 2 * rank + 1, 2)], [2 * rank + 1]
    order = [0, *range(1, 2 * rank + 1, 2), *(channel + taps if first else taps + channel)]
    count = 1
    for each in places:
        count *= each
    width = kernel.shape.as_list()[1]
    patches = ops.reshape(ops.transpose(rows[0], order), [-1, count, width])
    made = ops.transpose(ops.matmul(ops.transpose(patches, [1, 0, 2]), kernel), [1, 0, 2])
    made = ops.reshape(made, [-1, *places, kernel.shape.as_list()[2]])
    return ops.transpose(made, [0, rank + 1, *range(1, rank + 1)]) if first else made


def local_conv1d(inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None) -> Any:
    """Return a convolution of rows with weights of its own at each place.

    kernel: (places, window * inputs, filters).

    >>> x, kernel = tf.ones([1, 5, 2]), tf.ones([3, 6, 4])
    >>> tf.keras.backend.local_conv1d(x, kernel, (3,), (1,)).shape.as_list()
    [1, 3, 4]
    """
    kernel = convert_to_tensor(kernel)
    return _local(inputs, kernel, sizes_for(kernel_size, 1, "kernel_size"), sizes_for(strides, 1, "strides"),
                  (kernel.shape.as_list()[0],), is_channels_first(data_format))


def local_conv2d(inputs: Any, kernel: Any, kernel_size: Any, strides: Any, output_shape: Any,
                 data_format: str | None = None) -> Any:
    """Return a convolution of images with weights of its own at each place.

    kernel: (places, window * inputs, filters). output_shape: rows and columns of the result.

    >>> x, kernel = tf.ones([1, 4, 4, 2]), tf.ones([4, 18, 5])
    >>> tf.keras.backend.local_conv2d(x, kernel, (3, 3), (1, 1), (2, 2)).shape.as_list()
    [1, 2, 2, 5]
    """
    kernel = convert_to_tensor(kernel)
    return _local(inputs, kernel, sizes_for(kernel_size, 2, "kernel_size"), sizes_for(strides, 2, "strides"),
                  tuple(output_shape), is_channels_first(data_format))


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """Return `x` plus a bias of its channels, or a bias of the shape of an example.

    Raises ValueError for a bias whose rank is neither 1 nor one less than that of `x`.

    >>> sess.run(tf.keras.backend.bias_add(tf.zeros([1, 2, 2]), tf.constant([1.0, 2.0])))
    array([[[1., 2.],
            [1., 2.]]], dtype=float32)
    """
    x, bias = convert_to_tensor(x), convert_to_tensor(bias)
    rank, sizes = x.shape.ndims, bias.shape.as_list()
    if len(sizes) not in (1, rank - 1):
        raise ValueError(f"Unexpected bias of {len(sizes)} dimensions: expected 1 or {rank - 1}, x has {rank}")
    if not is_channels_first(data_format) or rank < 3:
        return ops.bias_add(x, bias) if len(sizes) == 1 else x + bias
    moved = bias if len(sizes) == 1 else ops.transpose(bias, [rank - 2, *range(rank - 2)])
    return x + ops.reshape(moved, [1, *moved.shape.as_list(), *[1] * (rank - 2 if len(sizes) == 1 else 0)])


describe(globals(), KERAS)
