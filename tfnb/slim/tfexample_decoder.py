"""Examples to tensors by items: `tf.contrib.slim.tfexample_decoder`."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.core import dtypes
from tfnb.image.files import decode_image
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import expand_dims, reshape, transpose
from tfnb.ops.composite.sparse_tensor import SparseTensor as _Sparse
from tfnb.ops.io.parsing import FixedLenFeature, parse_single_example
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import LogicalOr, equal
from tfnb.ops.sparse.conversion import sparse_tensor_to_dense
from tfnb.ops.sparse.shapes import sparse_reshape
from tfnb.ops.strings.decoding import decode_raw
from tfnb.slim.data_decoder import DataDecoder


class ItemHandler:
    """Base of what makes an item of parsed features. keys: of the features, a list or one.

    >>> tf.contrib.slim.tfexample_decoder.ItemHandler("a").keys
    ['a']
    """

    def __init__(self, keys: Any) -> None:
        self._keys = list(keys) if isinstance(keys, (list, tuple)) else [keys]

    @property
    def keys(self) -> list[str]:
        """The keys of the features."""
        return self._keys

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Return the item. keys_to_tensors: the parsed features."""
        raise NotImplementedError(f"{type(self).__name__} must define tensors_to_item")


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes. keys: of the features. func: of the dict of keys to tensors.

    >>> handler = tf.contrib.slim.tfexample_decoder.ItemHandlerCallback(["a"], lambda found: found["a"] * 2)
    >>> sess.run(handler.tensors_to_item({"a": tf.constant(3)}))
    6
    """

    def __init__(self, keys: Any, func: Callable[[Any], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Return what the function makes."""
        return self._func(keys_to_tensors)


class Tensor(ItemHandler):
    """A feature as it is, or in another shape; a sparse one becomes dense.

    tensor_key: of the feature. shape_keys: features that hold the shape, or shape: the shape. default_value: of what a
    sparse feature lacks. Raises ValueError for both shapes.

    >>> handler = tf.contrib.slim.tfexample_decoder.Tensor("a", shape=[2, 2])
    >>> sess.run(handler.tensors_to_item({"a": tf.range(4)}))
    array([[0, 1],
           [2, 3]], dtype=int32)
    """

    def __init__(self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        self._shape_keys = list(shape_keys) if isinstance(shape_keys, (list, tuple)) else \
            [shape_keys] if shape_keys else []
        super().__init__([tensor_key, *self._shape_keys])
        self._tensor_key, self._shape, self._default = tensor_key, shape, default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Return the tensor."""
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            parts = [sparse_tensor_to_dense(part) if isinstance(part, _Sparse) else part
                     for part in (keys_to_tensors[key] for key in self._shape_keys)]
            shape = concat([reshape(cast(part, dtypes.int32), [-1]) for part in parts], 0)
        if isinstance(tensor, _Sparse):
            if shape is not None:
                tensor = sparse_reshape(tensor, cast(shape, dtypes.int64))
            return sparse_tensor_to_dense(tensor, default_value=self._default)
        return tensor if shape is None else reshape(tensor, shape)


class LookupTensor(Tensor):
    """A feature through a lookup table. table: it; other arguments as of Tensor.

    tensor_key, shape_keys, shape, default_value: as there.

    >>> table = tf.contrib.lookup.index_table_from_tensor(["cat", "dog"])
    >>> handler = tf.contrib.slim.tfexample_decoder.LookupTensor("pet", table)
    >>> item = handler.tensors_to_item({"pet": tf.constant(["dog"])})
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(item)
    array([1])
    """

    def __init__(self, tensor_key: str, table: Any, shape_keys: Any = None, shape: Any = None,
                 default_value: Any = "") -> None:
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = table

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Return what the table has."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class SparseTensor(ItemHandler):
    """A sparse tensor of features with its indices and values.

    indices_key, values_key: of the features. shape_key: of a feature with the dense shape, or shape: that; by default
    what the values have. densify: make it dense, with default_value where there is none.

    >>> handler = tf.contrib.slim.tfexample_decoder.SparseTensor(shape=[4], densify=True)
    >>> sess.run(handler.tensors_to_item({
    ...     "indices": tf.SparseTensor([[0], [1]], [1, 3], [2]), "values": tf.SparseTensor([[0], [1]], [5., 6.], [2])}))
    array([0., 5., 0., 6.], dtype=float32)
    """

    def __init__(self, indices_key: str | None = None, values_key: str | None = None, shape_key: str | None = None,
                 shape: Any = None, densify: bool = False, default_value: Any = 0) -> None:
        self._indices, self._values, self._shape_key = indices_key or "indices", values_key or "values", shape_key
        super().__init__([self._indices, self._values, *([shape_key] if shape_key else [])])
        self._shape, self._densify, self._default = shape, densify, default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Return the sparse tensor, or the dense one."""
        indices, values = (each.values if isinstance(each, _Sparse) else each for each in (
            keys_to_tensors[self._indices], keys_to_tensors[self._values]))
        shape = self._shape
        if self._shape_key:
            shape = keys_to_tensors[self._shape_key]
            shape = shape.values if isinstance(shape, _Sparse) else shape
        elif shape is None:
            shape = keys_to_tensors[self._values].dense_shape
        rank = len(shape) if isinstance(shape, (list, tuple)) else shape.shape.as_list()[0]
        found = _Sparse(reshape(cast(indices, dtypes.int64), [-1, rank or 1]), values, cast(shape, dtypes.int64))
        return sparse_tensor_to_dense(found, default_value=self._default) if self._densify else found


class BoundingBox(ItemHandler):
    """Boxes [number, 4] of features with the coordinates of their sides.

    keys: of ymin, xmin, ymax, xmax, behind `prefix`. Raises ValueError unless there are four.

    >>> handler = tf.contrib.slim.tfexample_decoder.BoundingBox(prefix="box/")
    >>> found = {f"box/{side}": tf.constant([0.25 * i]) for i, side in enumerate(("ymin", "xmin", "ymax", "xmax"))}
    >>> sess.run(handler.tensors_to_item(found))
    array([[0.  , 0.25, 0.5 , 0.75]], dtype=float32)
    """

    def __init__(self, keys: Any = None, prefix: str | None = None) -> None:
        keys = ("ymin", "xmin", "ymax", "xmax") if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([f"{prefix or ''}{key}" for key in keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Return the boxes."""
        sides = [keys_to_tensors[key] for key in self.keys]
        rows = [expand_dims(side.values if isinstance(side, _Sparse) else side, 0) for side in sides]
        return transpose(concat(rows, 0))


class Image(ItemHandler):
    """An image of a feature with a file's bytes: PNG, JPEG, GIF, BMP, or raw numbers where the format says "raw".

    image_key, format_key: of the features. shape: of the image; needed for raw ones. channels: of the image. dtype: of
    raw numbers. repeated: the feature holds several images. dct_method: accepted.

    >>> handler = tf.contrib.slim.tfexample_decoder.Image(shape=[1, 2, 3])
    >>> png = tf.image.encode_png(tf.constant([[[1, 2, 3], [4, 5, 6]]], tf.uint8))
    >>> sess.run(handler.tensors_to_item({"image/encoded": png, "image/format": tf.constant("png")}))
    array([[[1, 2, 3],
            [4, 5, 6]]], dtype=uint8)
    """

    def __init__(self, image_key: str | None = None, format_key: str | None = None, shape: Any = None,
                 channels: int = 3, dtype: Any = dtypes.uint8, repeated: bool = False, dct_method: str = "") -> None:
        self._image, self._format = image_key or "image/encoded", format_key or "image/format"
        super().__init__([self._image, self._format])
        self._shape, self._channels, self._dtype, self._repeated = shape, channels, dtypes.as_dtype(dtype), repeated

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Return the image, or the images side by side."""
        bytes_, kind = keys_to_tensors[self._image], keys_to_tensors[self._format]
        if not self._repeated:
            return self._decoded(bytes_, kind)
        if bytes_.shape.ndims != 1 or bytes_.shape.as_list()[0] is None:
            raise ValueError(f"repeated images need a feature of a known number of files, got shape {bytes_.shape}")
        return stack([self._decoded(bytes_[i], kind) for i in range(bytes_.shape.as_list()[0])])

    def _decoded(self, bytes_: Any, kind: Any) -> Any:
        def file() -> Any:
            return cast(decode_image(bytes_, self._channels), self._dtype)

        def raw() -> Any:
            return decode_raw(bytes_, self._dtype)
        image = cond(LogicalOr(equal(kind, "raw"), equal(kind, "RAW")), raw, file)
        if self._shape is not None:
            return reshape(image, self._shape)
        image.set_shape([None, None, self._channels])
        return image


class TFExampleDecoder(DataDecoder):
    """Decoder of serialized Examples.

    keys_to_features: dict of keys to features, as of tf.parse_single_example. items_to_handlers: dict of items to
    handlers of this module.

    >>> decoder = tf.contrib.slim.tfexample_decoder.TFExampleDecoder(
    ...     {"y": tf.FixedLenFeature([], tf.int64)}, {"label": tf.contrib.slim.tfexample_decoder.Tensor("y")})
    >>> decoder.list_items()
    ['label']
    """

    def __init__(self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, Any]) -> None:
        self._features, self._handlers = dict(keys_to_features), dict(items_to_handlers)

    def list_items(self) -> list[str]:
        """Return the names of the items."""
        return list(self._handlers)

    def decode(self, serialized_example: Any, items: Any = None) -> list[Any]:
        """Return the tensors of items, by default of all, of a scalar string. Raises KeyError for unknown ones."""
        found = parse_single_example(serialized_example, self._features)
        for key, feature in sorted(self._features.items()):
            if isinstance(feature, FixedLenFeature):
                found[key] = reshape(found[key], feature.shape)
        return [self._handlers[item].tensors_to_item({key: found[key] for key in self._handlers[item].keys})
                for item in (items or self._handlers)]
