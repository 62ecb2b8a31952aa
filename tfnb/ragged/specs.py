"""Specifications of ragged tensors: `tf.RaggedTensorSpec`."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.shape import TensorShape
from tfnb.ops.composite import specs
from tfnb.ops.declaration.public import public
from tfnb.ragged.partition import SPLITS_DTYPES
from tfnb.ragged.tensor import RaggedTensor


@public("RaggedTensorSpec")
class RaggedTensorSpec(specs.TypeSpec):
    """The dtype, the static shape and the ragged axes of a RaggedTensor.

    shape: with None for ragged axes and unknown sizes; None for an unknown rank. dtype: of the values. ragged_rank:
    the number of ragged axes, by default all but the first. row_splits_dtype: int32 or int64. Raises ValueError for a
    ragged rank that is not below the rank, and where both are unknown; TypeError for one that is no integer.

    >>> spec = tf.RaggedTensorSpec([None, None], tf.int32)
    >>> spec.is_compatible_with(tf.ragged.constant([[1, 2], [3]]))
    True
    """

    value_type = RaggedTensor

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32, ragged_rank: int | None = None,
                 row_splits_dtype: Any = dtypes.int64) -> None:
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int, got {ragged_rank!r}")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        if self._row_splits_dtype not in SPLITS_DTYPES:
            raise ValueError(f"row_splits_dtype must be int32 or int64, got {self._row_splits_dtype.name}")
        self._ragged_rank = ragged_rank

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Return the specification of a RaggedTensor."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    def _parts(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    def __repr__(self) -> str:
        return (f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, "
                f"{self._row_splits_dtype!r})")


specs.of_values(RaggedTensor, RaggedTensorSpec.from_value)
