"""Values of ragged tensors: NumPy arrays of flat values and of the row splits of each ragged axis."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.ops.declaration.dispatch import Composite


class RaggedTensorValue(Composite):
    """Value of a fetched RaggedTensor, and what is fed for one.

    values: an array, or a RaggedTensorValue for the next ragged axis. row_splits: int32 or int64 [rows + 1].
    Raises TypeError for other values or another dtype, ValueError for row splits that are no vector.

    >>> value = tf.ragged.RaggedTensorValue(np.array([3, 1, 4]), np.array([0, 2, 2, 3]))
    >>> value.to_list()
    [[3, 1], [], [4]]
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        if not isinstance(row_splits, (np.ndarray, np.generic)) or row_splits.dtype not in (np.int64, np.int32):
            raise TypeError(f"row_splits must be a 1D int32 or int64 numpy array, got {row_splits!r}")
        if row_splits.ndim != 1:
            raise ValueError(f"row_splits must be a 1D int32 or int64 numpy array, got shape {row_splits.shape}")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError(f"values must be a numpy array or a RaggedTensorValue, got {values!r}")
        if isinstance(values, RaggedTensorValue) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError(f"row_splits and values.row_splits must have the same dtype, got {row_splits.dtype} and "
                             f"{values.row_splits.dtype}")
        self._values: Any = values
        self._row_splits: Any = row_splits

    @property
    def values(self) -> Any:
        """The concatenated rows: an array or a RaggedTensorValue."""
        return self._values

    @property
    def row_splits(self) -> np.ndarray:
        """The places between rows, [rows + 1]."""
        found: np.ndarray = self._row_splits
        return found

    @property
    def flat_values(self) -> np.ndarray:
        """The innermost values."""
        found: np.ndarray = self._values
        while isinstance(found, RaggedTensorValue):
            found = found.values
        return found

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        """The row splits of all ragged axes, outermost first."""
        found, splits = self, [self._row_splits]
        while isinstance(found.values, RaggedTensorValue):
            found = found.values
            splits.append(found.row_splits)
        return tuple(splits)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, with None for ragged axes."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """Return nested lists."""
        rows = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [rows[a:b] for a, b in zip(self._row_splits[:-1], self._row_splits[1:], strict=True)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"
