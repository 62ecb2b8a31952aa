"""Columns of numbers: as they are, and in buckets."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureCache,
    IdWeightPair,
    Variables,
    check_key,
)
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.joining import stack, tile
from tfnb.ops.array.reshape import expand_dims, reshape, shape, transpose
from tfnb.ops.array.searching import Bucketize
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.io.parsing import FixedLenFeature
from tfnb.ops.math.casting import cast


@dataclass(frozen=True)
class NumericColumn(DenseColumn):
    """See numeric_column."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Callable[[Tensor], Tensor] | None

    @property
    def name(self) -> str:
        """The key."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of fixed shape."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> Tensor:
        """Return the normalised feature, float32. Raises ValueError for a sparse one."""
        tensor = cache.get(self.key, variables)
        if isinstance(tensor, SparseTensor):
            raise ValueError("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
                             f"supported. key: {self.key}")
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        made: Tensor = cast(tensor, dtypes.float32)
        return made

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """The shape of the feature."""
        return self.shape

    def get_dense_tensor(self, cache: FeatureCache, variables: Variables) -> Tensor:
        """Return the feature."""
        tensor: Tensor = cache.get(self, variables)
        return tensor


def check_shape(sizes: Any, key: str) -> tuple[int, ...]:
    """Return a shape. Raises TypeError for sizes that are no integers, ValueError for sizes below 1."""
    found = tuple(sizes) if isinstance(sizes, (list, tuple, np.ndarray)) else (sizes,)
    for size in found:
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool):
            raise TypeError(f"shape dimensions must be integer. shape: {found}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {found}, key: {key}")
    return tuple(int(size) for size in found)


def _check_default(sizes: tuple[int, ...], default: Any, dtype: DType, key: str) -> Any:
    """Return a default value of `sizes`, as nested tuples. Raises TypeError, ValueError if it doesn't fit."""
    if default is None:
        return None
    value = np.asarray(default)
    if value.dtype.kind not in "iuf" or (value.dtype.kind == "f" and dtype.is_integer):
        raise TypeError(f"default_value must be compatible with dtype. default_value: {default}, dtype: {dtype}, key: "
                        f"{key}")
    if value.ndim and value.shape != sizes:
        raise ValueError(f"The shape of default_value must be equal to given shape. default_value: {default}, shape: "
                         f"{sizes}, key: {key}")
    return _tuples(np.broadcast_to(value, sizes).astype(dtype.as_numpy_dtype).tolist())


def _tuples(values: Any) -> Any:
    return tuple(map(_tuples, values)) if isinstance(values, list) else values


def numeric_column(key: str, shape: Any = (1,), default_value: Any = None, dtype: Any = dtypes.float32,
                   normalizer_fn: Callable[[Tensor], Tensor] | None = None) -> NumericColumn:
    """Return a column of numbers.

    key: the feature's name; shape: of one example. default_value: of examples without the feature when protos are
    parsed, a number or of that shape; dtype: integer or float, of the protos; the column's values are float32.
    normalizer_fn: from the feature to what the model gets, such as `lambda x: (x - 40.0) / 10.0`.

    Raises ValueError, TypeError for a key that is no string, other dtypes, a shape with sizes below 1, a default value
    of another shape or dtype, and a normalizer_fn that is no function.

    >>> age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: x / 10.0)
    >>> sess.run(tf.feature_column.input_layer({"age": [[25.0], [40.0]]}, [age]))
    array([[2.5],
           [4. ]], dtype=float32)
    """
    check_key(key)
    sizes, kind = check_shape(shape, key), dtypes.as_dtype(dtype)
    if not (kind.is_integer or kind.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return NumericColumn(key, sizes, _check_default(sizes, default_value, kind, key), kind, normalizer_fn)


@dataclass(frozen=True)
class BucketizedColumn(DenseColumn, CategoricalColumn):
    """See bucketized_column."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        """The source's name and "_bucketized"."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the source."""
        return self.source_column.parse_example_spec

    def transform_feature(self, cache: FeatureCache, variables: Variables | None = None) -> Tensor:
        """Return the numbers of the buckets."""
        made: Tensor = Bucketize(cache.get(self.source_column, variables), boundaries=self.boundaries)
        return made

    @property
    def variable_shape(self) -> tuple[int, ...]:
        """The shape of the source, and one element for each bucket."""
        return (*self.source_column.shape, len(self.boundaries) + 1)

    def get_dense_tensor(self, cache: FeatureCache, variables: Variables) -> Tensor:
        """Return the buckets, one-hot."""
        buckets = cast(cache.get(self, variables), dtypes.int64)
        return one_hot(buckets, len(self.boundaries) + 1, 1.0, 0.0)

    @property
    def num_buckets(self) -> int:
        """The number of buckets, for each number of the source."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def get_sparse_tensors(self, cache: FeatureCache, variables: Variables | None = None) -> IdWeightPair:
        """Return the buckets as ids, those of each number of the source after those of the one before."""
        buckets = cache.get(self, variables)
        batch, width = shape(buckets)[0], prod(self.source_column.shape)
        rows = reshape(tile(expand_dims(range_(0, batch), 1), [1, width]), (-1,))
        columns = tile(range_(0, width), [batch])
        ids = reshape(buckets, (-1,)) + (len(self.boundaries) + 1) * columns
        indices = cast(transpose(stack((rows, columns))), dtypes.int64)
        size = cast(stack([batch, width]), dtypes.int64)
        return IdWeightPair(SparseTensor(indices, cast(ids, dtypes.int64), size), None)


def bucketized_column(source_column: NumericColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """Return a column of the buckets between `boundaries` that numbers fall into: dense (one-hot) and categorical.

    source_column: a numeric_column of one axis. boundaries: ascending; `[0., 1.]` makes the buckets (-inf, 0), [0, 1),
    [1, inf). Raises ValueError for another source, and boundaries that are empty or not ascending.

    >>> age = tf.feature_column.numeric_column("age")
    >>> groups = tf.feature_column.bucketized_column(age, boundaries=[18, 65])
    >>> sess.run(tf.feature_column.input_layer({"age": [[10.0], [30.0], [65.0]]}, [groups]))
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a sorted list, not empty, got {boundaries!r}")
    if any(a >= b for a, b in zip(boundaries, boundaries[1:], strict=False)):
        raise ValueError(f"boundaries must be a sorted list, got {boundaries}")
    return BucketizedColumn(source_column, tuple(boundaries))
