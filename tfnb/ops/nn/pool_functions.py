"""Pooling functions of `tf.nn`, with the argument names of all releases of TF 1."""
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import NN, describe
from tfnb.core.errors import UnimplementedError
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import stack
from tfnb.ops.array.reshape import expand_dims, reshape, squeeze, transpose
from tfnb.ops.declaration.arguments import padding_attrs, per_axis, renamed
from tfnb.ops.declaration.raw import raw
from tfnb.ops.nn.conv3d import AvgPool3D, MaxPool3D
from tfnb.ops.nn.pool import LRN, AvgPool, MaxPool, MaxPoolWithArgmax


def max_pool(value: Any = None, ksize: Any = None, strides: Any = None, padding: Any = None,
             data_format: str | None = "NHWC", name: str | None = None, input: Any = None) -> Tensor:
    """Compute the maximum of each window, per channel.

    ksize, strides: one number, height and width, or one for each axis. padding: "SAME", "VALID" or a pair of numbers
    for each axis. A window over channels, [1, 1, 1, n], needs the same strides. Raises ValueError where the window does
    not fit.

    >>> image = tf.reshape(tf.range(16), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.max_pool(image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")))
    array([[ 5,  7],
           [13, 15]], dtype=int32)
    """
    value = renamed("input", input, "value", value)
    paddings, explicit = padding_attrs(padding)
    with name_scope(name, "MaxPool", [value]) as scope:
        value = convert_to_tensor(value, name="input")
        sizes, steps = per_axis(ksize, data_format, "ksize"), per_axis(strides, data_format, "strides")
        if list(sizes[:3]) == [1, 1, 1] != list(sizes[1:]) and list(steps) == list(sizes) and data_format != "NCHW":
            return _max_over_depth(value, sizes[3], scope)
        return MaxPool(value, ksize=sizes, padding=paddings, strides=steps, explicit_paddings=explicit,
                       data_format=data_format, name=scope)


def _max_over_depth(x: Tensor, size: int, name: str) -> Tensor:
    """Return the largest of each `size` channels that lie side by side."""
    *lead, channels = _axis_sizes(x, 4)
    if isinstance(channels, int) and channels % size:
        raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to evenly divide the "
                                             f"input depth, got {size} and {channels}")
    return raw.Max(reshape(x, [*lead, channels // size, size]), -1, name=name)


def avg_pool(value: Any = None, ksize: Any = None, strides: Any = None, padding: Any = None,
             data_format: str | None = "NHWC", name: str | None = None, input: Any = None) -> Tensor:
    """Compute the mean of each window, per channel; arguments as of max_pool, padding "SAME" or "VALID".

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.avg_pool(image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")))
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """
    value = renamed("input", input, "value", value)
    with name_scope(name, "AvgPool", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        return AvgPool(value, ksize=per_axis(ksize, data_format, "ksize"), padding=padding,
                       strides=per_axis(strides, data_format, "strides"), data_format=data_format, name=scope)


def max_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NHWC",
               name: str | None = None) -> Tensor:
    """max_pool, as release 1.15 calls it too.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.max_pool2d(image, ksize=2, strides=2, padding="VALID")))
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """
    return max_pool(input, ksize, strides, padding, data_format, name or "MaxPool2d")


avg_pool2d = avg_pool


def max_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NDHWC",
               name: str | None = None) -> Tensor:
    """Compute the maximum of each window of volumes; ksize, strides: one int, three, or one for each axis.

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.nn.max_pool3d(volume, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")))
    7.0
    """
    return _pool3d(MaxPool3D, "MaxPool3D", input, ksize, strides, padding, data_format, name)


def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NDHWC",
               name: str | None = None) -> Tensor:
    """Compute the mean of each window of volumes; arguments as of max_pool3d.

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> sess.run(tf.squeeze(tf.nn.avg_pool3d(volume, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")))
    3.5
    """
    return _pool3d(AvgPool3D, "AvgPool3D", input, ksize, strides, padding, data_format, name)


def _pool3d(op: Any, scope_name: str, x: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None,
            name: str | None) -> Tensor:
    layout = data_format or "NDHWC"
    with name_scope(name, scope_name, [x]) as scope:
        made: Tensor = op(x, ksize=per_axis(ksize, layout, "ksize", 3), padding=padding, data_format=layout, name=scope,
                          strides=per_axis(strides, layout, "strides", 3))
        return made


def pool(input: Any, window_shape: Any, pooling_type: str, padding: str, dilation_rate: Any = None, strides: Any = None,
         name: str | None = None, data_format: str | None = None, dilations: Any = None) -> Tensor:
    """Compute the "MAX" or "AVG" pool of rows, images or volumes, by the rank of the input.

    window_shape, strides: a number for each axis of the windows. Raises ValueError for another type, for strides with
    a dilation rate and for "SAME" with one.

    >>> row = tf.reshape([1.0, 4.0, 2.0, 3.0], [1, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.pool(row, [2], "MAX", padding="VALID", strides=[2])))
    array([4., 3.], dtype=float32)
    """
    rate = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be 'MAX' or 'AVG', not {pooling_type!r}")
    pools = {"MAX": (None, max_pool, max_pool3d), "AVG": (None, avg_pool, avg_pool3d)}[pooling_type]
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        places = len(window_shape)
        rates = np.broadcast_to(np.asarray(1 if rate is None else rate, np.int32), [places])
        steps = np.broadcast_to(np.asarray(1 if strides is None else strides), [places]).tolist()
        convert_to_tensor(rates, dtype=dtypes.int32, name="dilation_rate")
        first = data_format is not None and data_format.startswith("NC")
        if (rates > 1).any():
            _check_dilation(rates, steps, padding)
            return _dilated(x, list(window_shape), rates.tolist(), pooling_type, first)
        if places != 1:
            layout = ("NCHW" if places == 2 else "NCDHW") if first else "NHWC" if places == 2 else "NDHWC"
            return pools[places - 1](x, list(window_shape), steps, padding, layout, name=scope)    # type: ignore[misc]
        axis = 2 if first else 1
        made = pools[1](expand_dims(x, axis), [1, *window_shape], [1, *steps], padding,
                        "NCHW" if first else "NHWC", name=scope)
        return squeeze(made, [axis])


def _check_dilation(rates: np.ndarray, strides: list[int], padding: str) -> None:
    if any(n > 1 for n in strides):
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    if padding == "SAME":
        raise ValueError(f"pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: "
                         f"padding={padding} and dilation_rate={rates}")


def _dilated(x: Tensor, window: list[int], rates: list[int], pooling_type: str, channels_first: bool) -> Tensor:
    """A "VALID" pool with a dilation rate: undilated ones of each phase of rows and columns, as images of a batch."""
    count = len(rates)
    if channels_first:
        x = transpose(x, [0, *range(2, count + 2), 1])
    batch, *places, channels = _axis_sizes(x, count + 2)
    more = [-n % rate for n, rate in zip(places, rates, strict=True)]
    padded = raw.Pad(x, stack([[0, 0], *([0, n] for n in more), [0, 0]]))
    split = [size for n, m, rate in zip(places, more, rates, strict=True) for size in ((n + m) // rate, rate)]
    phases = transpose(reshape(padded, [batch, *split, channels]),
                       [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), 2 * count + 1])
    images = reshape(phases, [batch * prod(rates), *split[::2], channels])
    pooled = pool(images, window, pooling_type, "VALID")
    rest = [n - size + 1 for n, size in zip(split[::2], window, strict=True)]
    together = transpose(reshape(pooled, [*rates, batch, *rest, channels]),
                         [count, *(i for axis in range(count) for i in (count + 1 + axis, axis)), 2 * count + 1])
    whole = reshape(together, [batch, *(n * rate for n, rate in zip(rest, rates, strict=True)), channels])
    kept = [n - (size - 1) * rate for n, size, rate in zip(places, window, rates, strict=True)]
    made: Tensor = raw.Slice(whole, [0] * (count + 2), [-1, *kept, -1])
    return transpose(made, [0, count + 1, *range(1, count + 1)]) if channels_first else made


def _axis_sizes(x: Tensor, count: int) -> list[Any]:
    """Return the size of each of `count` axes: an integer where it is known, else an int32 scalar."""
    static = (None,) * count if x.static is None else x.static
    if len(static) != count:
        raise ValueError(f"expected an input of rank {count}, got shape {x.shape}")
    sizes: Any = raw.Shape(x)
    return [sizes[i] if n is None else n for i, n in enumerate(static)]


def _by_rank(pools: tuple[Callable[..., Tensor], ...], input: Any, ksize: Any, strides: Any, padding: Any,
             data_format: str | None, name: str | None) -> Tensor:
    """Return the pool for an input of rank 3, 4 (or unknown) or 5."""
    x = convert_to_tensor(input, name="input")
    rank = 4 if x.static is None else len(x.static)
    if rank not in (3, 4, 5):
        raise ValueError(f"a pool needs an input of rank 3, 4 or 5, not {rank}")
    return pools[rank - 3](x, ksize, strides, padding, data_format or ("NWC", "NHWC", "NDHWC")[rank - 3], name=name)


def max_pool_v2(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None,
                name: str | None = None) -> Tensor:
    """Compute max_pool of rows, images or volumes, by the rank of the input.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.max_pool_v2(image, ksize=2, strides=2, padding="VALID")))
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """
    return _by_rank((max_pool1d, max_pool, max_pool3d), input, ksize, strides, padding, data_format, name)


def avg_pool_v2(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None,
                name: str | None = None) -> Tensor:
    """Compute avg_pool of rows, images or volumes, by the rank of the input.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.avg_pool_v2(image, ksize=2, strides=2, padding="VALID")))
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """
    return _by_rank((avg_pool1d, avg_pool, avg_pool3d), input, ksize, strides, padding, data_format, name)


def max_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NWC",
               name: str | None = None) -> Tensor:
    """Compute the maximum of each window of rows (batch, width, channels).

    >>> row = tf.reshape([1.0, 4.0, 2.0, 3.0], [1, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.max_pool1d(row, ksize=2, strides=2, padding="VALID")))
    array([4., 3.], dtype=float32)
    """
    return _pool1d(max_pool, "MaxPool1d", input, ksize, strides, padding, data_format, name)


def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NWC",
               name: str | None = None) -> Tensor:
    """Compute the mean of each window of rows (batch, width, channels).

    >>> row = tf.reshape([1.0, 4.0, 2.0, 3.0], [1, 4, 1])
    >>> sess.run(tf.squeeze(tf.nn.avg_pool1d(row, ksize=2, strides=2, padding="VALID")))
    array([2.5, 2.5], dtype=float32)
    """
    return _pool1d(avg_pool, "AvgPool1D", input, ksize, strides, padding, data_format, name)


def _pool1d(pool_: Any, scope_name: str, x: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None,
            name: str | None) -> Tensor:
    first = data_format == "NCW"
    axis = 2 if first else 1

    def wide(value: Any) -> list[int]:
        given = [value] if np.ndim(value) == 0 else list(value)
        return [1, given[axis] if len(given) == 3 else given[0]]

    with name_scope(name, scope_name, [x]) as scope:
        image = expand_dims(x, axis)
        made = pool_(image, wide(ksize), wide(strides), padding, "NCHW" if first else "NHWC", name=scope)
        return squeeze(made, axis)


def max_pool_with_argmax(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = "NHWC",
                         Targmax: Any = None, name: str | None = None, output_dtype: Any = None,
                         include_batch_in_index: bool = False) -> tuple[Tensor, Tensor]:
    """Compute max_pool, and the flat index of each maximum in its image. Raises ValueError for "NCHW".

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> y, index = tf.nn.max_pool_with_argmax(image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    >>> sess.run(tf.squeeze(index))
    array([[ 5,  7],
           [13, 15]])
    """
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported. Received: {data_format}")
    return MaxPoolWithArgmax(input, ksize=per_axis(ksize, data_format, "ksize"),
                             strides=per_axis(strides, data_format, "strides"), padding=padding, name=name,
                             Targmax=renamed("output_dtype", output_dtype, "Targmax", Targmax, "int64"),
                             include_batch_in_index=include_batch_in_index)


def lrn(input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5,
        name: str | None = None) -> Tensor:
    """Compute `input / (bias + alpha * sum of squares) ** beta`; the sum is over channels up to depth_radius away.

    >>> x = tf.constant([[[[1.0, 2.0, 3.0]]]])
    >>> sess.run(tf.nn.lrn(x, depth_radius=1, bias=1.0, alpha=1.0, beta=1.0))
    array([[[[0.1667, 0.1333, 0.2143]]]], dtype=float32)
    """
    return LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


local_response_normalization = lrn


describe(globals(), NN)
