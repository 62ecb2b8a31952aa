"""Shapes, order and padding of tensors in `tf.keras.backend`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.core.arguments import KERAS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.keras.backend import ops
from tfnb.keras.backend.config import image_data_format
from tfnb.layers.choices import channels_first


def is_channels_first(data_format: str | None) -> bool:
    """Return whether a data format, or for None the default one, is "channels_first". Raises ValueError for others."""
    return channels_first(image_data_format() if data_format is None else data_format)


def concatenate(tensors: Sequence[Any], axis: int = -1) -> Any:
    """Return tensors joined along an axis. tensors: a list of them.

    >>> sess.run(tf.keras.backend.concatenate([tf.constant([1.0]), tf.constant([2.0])]))
    array([1., 2.], dtype=float32)
    """
    if axis < 0:
        rank = convert_to_tensor(tensors[0]).shape.ndims
        axis = axis % rank if rank else 0
    return ops.concat([convert_to_tensor(tensor) for tensor in tensors], axis)


def reshape(x: Any, shape: Any) -> Any:
    """Return `x` in another shape, of which one size may be -1.

    >>> tf.keras.backend.reshape(tf.ones([2, 3]), (3, -1)).shape.as_list()
    [3, 2]
    """
    return ops.reshape(x, shape)


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """Return `x` with its axes in the order of `pattern`.

    >>> tf.keras.backend.permute_dimensions(tf.ones([2, 3, 4]), (0, 2, 1)).shape.as_list()
    [2, 4, 3]
    """
    return ops.transpose(x, list(pattern))


def resize_images(x: Any, height_factor: int, width_factor: int, data_format: str,
                  interpolation: str = "nearest") -> Any:
    """Return images enlarged by integer factors of height and width.

    height_factor, width_factor: the factors. interpolation: "nearest" or "bilinear", else ValueError.

    >>> tf.keras.backend.resize_images(tf.ones([1, 2, 3, 1]), 2, 3, "channels_last").shape.as_list()
    [1, 4, 9, 1]
    """
    resizers = {"nearest": ops.resize_nearest_neighbor, "bilinear": ops.resize_bilinear}
    if interpolation not in resizers:
        raise ValueError(f"interpolation should be one of 'nearest', 'bilinear', got {interpolation!r}")
    first = channels_first(data_format)
    x = permute_dimensions(x, [0, 2, 3, 1]) if first else x
    height, width = x.shape.as_list()[1:3]
    sizes: Any = ops.shape(x)
    wanted = [height * height_factor, width * width_factor] if None not in (height, width) else \
        sizes[1:3] * ops.constant([height_factor, width_factor])
    made = resizers[interpolation](x, wanted)
    made.set_shape([None, height and height * height_factor, width and width * width_factor, None])
    return permute_dimensions(made, [0, 3, 1, 2]) if first else made


def resize_volumes(x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str) -> Any:
    """Return volumes enlarged by repetition of their elements.

    depth_factor, height_factor, width_factor: how often along each axis.

    >>> tf.keras.backend.resize_volumes(tf.ones([1, 2, 2, 2, 1]), 2, 1, 3, "channels_last").shape.as_list()
    [1, 4, 2, 6, 1]
    """
    begin = 2 if channels_first(data_format) else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), begin):
        x = repeat_elements(x, factor, axis)
    return x


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Return `x` with each element repeated `rep` times along an axis.

    >>> sess.run(tf.keras.backend.repeat_elements(tf.constant([1, 2]), rep=2, axis=0))
    array([1, 1, 2, 2], dtype=int32)
    """
    return ops.repeat(x, rep, axis=axis)


def repeat(x: Any, n: int) -> Any:
    """Return matrices repeated as steps of a sequence: (batch, features) -> (batch, `n`, features).

    >>> tf.keras.backend.repeat(tf.ones([2, 3]), n=4).shape.as_list()
    [2, 4, 3]
    """
    return ops.tile(ops.expand_dims(x, 1), [1, n, 1])


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Return numbers from `start` to `stop` (not included) by `step`; from 0 to `start` where `stop` is None.

    >>> sess.run(tf.keras.backend.arange(3))
    array([0, 1, 2], dtype=int32)
    """
    if stop is None and not hasattr(start, "op") and start < 0:
        start = 0
    made = ops.range(start, limit=stop, delta=step, name="arange") if stop is not None else \
        ops.range(0, limit=start, delta=step, name="arange")
    return ops.cast(made, dtype) if dtype != "int32" else made


def tile(x: Any, n: Any) -> Any:
    """Return `x` repeated along its axes. n: how often, one number for each axis.

    >>> sess.run(tf.keras.backend.tile(tf.constant([1, 2]), 2))
    array([1, 2, 1, 2], dtype=int32)
    """
    return ops.tile(x, [n] if isinstance(n, int) else n)


def flatten(x: Any) -> Any:
    """Return `x` as a vector.

    >>> tf.keras.backend.flatten(tf.ones([2, 3])).shape.as_list()
    [6]
    """
    return ops.reshape(x, [-1])


def batch_flatten(x: Any) -> Any:
    """Return `x` as a matrix, a row for each example.

    >>> tf.keras.backend.batch_flatten(tf.ones([2, 3, 4])).shape.as_list()
    [2, 12]
    """
    sizes: Any = ops.shape(x)
    return ops.reshape(x, ops.stack([-1, ops.reduce_prod(sizes[1:])]))


def expand_dims(x: Any, axis: int = -1) -> Any:
    """Return `x` with an axis of size 1 more.

    >>> tf.keras.backend.expand_dims(tf.ones([2, 3])).shape.as_list()
    [2, 3, 1]
    """
    return ops.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Any:
    """Return `x` without an axis of size 1.

    >>> tf.keras.backend.squeeze(tf.ones([2, 1]), 1).shape.as_list()
    [2]
    """
    return ops.squeeze(x, [axis])


def temporal_padding(x: Any, padding: Any = (1, 1)) -> Any:
    """Return sequences (batch, steps, features) with zeros before and after the steps. padding: the two counts.

    >>> tf.keras.backend.temporal_padding(tf.ones([2, 3, 4])).shape.as_list()
    [2, 5, 4]
    """
    return ops.pad(x, [[0, 0], list(padding), [0, 0]])


def _padded(x: Any, padding: Any, data_format: str | None) -> Any:
    inner = [list(pair) for pair in padding]
    return ops.pad(x, [[0, 0], [0, 0], *inner] if is_channels_first(data_format) else [[0, 0], *inner, [0, 0]])


def spatial_2d_padding(x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None) -> Any:
    """Return images with zeros around them. padding: the counts before and after, of rows and columns.

    >>> tf.keras.backend.spatial_2d_padding(tf.ones([1, 2, 2, 1])).shape.as_list()
    [1, 4, 4, 1]
    """
    return _padded(x, padding, data_format)


def spatial_3d_padding(x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None) -> Any:
    """Return volumes with zeros around them. padding: the counts before and after, of each axis.

    >>> tf.keras.backend.spatial_3d_padding(tf.ones([1, 2, 2, 2, 1])).shape.as_list()
    [1, 4, 4, 4, 1]
    """
    return _padded(x, padding, data_format)


def stack(x: Any, axis: int = 0) -> Any:
    """Return the tensors of a list along a new axis.

    >>> sess.run(tf.keras.backend.stack([tf.constant([1.0]), tf.constant([2.0])]))
    array([[1.],
           [2.]], dtype=float32)
    """
    return ops.stack(x, axis=axis)


def one_hot(indices: Any, num_classes: int) -> Any:
    """Return one-hot vectors of length `num_classes` for integer `indices`, along a new last axis.

    >>> sess.run(tf.keras.backend.one_hot(tf.constant([1]), 3))
    array([[0., 1., 0.]], dtype=float32)
    """
    return ops.one_hot(indices, depth=num_classes, axis=-1)


def reverse(x: Any, axes: Any) -> Any:
    """Return `x` reversed along `axes`, one or a list.

    >>> sess.run(tf.keras.backend.reverse(tf.constant([1, 2, 3]), 0))
    array([3, 2, 1], dtype=int32)
    """
    return ops.reverse(x, [axes] if isinstance(axes, int) else list(axes))


def static_sizes(x: Any) -> list[int | None]:
    """Return the sizes of a tensor, or of a shape."""
    return list(TensorShape(x.shape if hasattr(x, "shape") else x).as_list())


describe(globals(), KERAS)
