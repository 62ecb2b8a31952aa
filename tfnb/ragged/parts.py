"""Parts of ragged tensors: values, row splits, and what follows from them of rows."""
from __future__ import annotations

from typing import Any, Self

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import shape
from tfnb.ops.declaration.dispatch import Composite
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ragged import partition


class RaggedParts(Composite):
    """Values and row splits of a ragged tensor: what its class reads of them."""

    _values: Any
    _row_splits: Any
    _known: dict[str, Tensor]                       # "lengths", "rows", "nrows": what it was made of

    @classmethod
    def _of(cls, values: Any, row_splits: Any, **known: Tensor) -> Self:
        """Return an object of parts that are known to fit."""
        made = cls.__new__(cls)
        made._values, made._row_splits, made._known = values, row_splits, known
        return made

    @property
    def values(self) -> Any:
        """The concatenated rows: a Tensor, or a RaggedTensor if the next axis is ragged, too."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """The places between the rows, [rows + 1]."""
        return self._row_splits  # type: ignore[no-any-return]

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        found = self._values
        while isinstance(found, RaggedParts):
            found = found.values
        return found  # type: ignore[no-any-return]

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged axes, outermost first."""
        return tuple(level.row_splits for level in self._levels())

    def _levels(self) -> list[RaggedParts]:
        found = [self]
        while isinstance(found[-1].values, RaggedParts):
            found.append(found[-1].values)
        return found

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return len(self._levels())

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The static shape: None for ragged axes."""
        rows, inner = self._row_splits.shape.static, self._values.shape
        count = rows[0] - 1 if rows is not None and rows[0] is not None else None
        return TensorShape(None) if inner.ndims is None else TensorShape([count, None]).concatenate(inner[1:])

    def get_shape(self) -> TensorShape:
        """Return the static shape: None for ragged axes."""
        return self.shape

    @property
    def graph(self) -> Any:
        """The graph of the values."""
        return self._values.graph

    @property
    def op(self) -> Operation:
        """The operation that makes the values."""
        return self._values.op  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """The name of the values."""
        return self._values.name  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """The device of the values."""
        return self._values.device  # type: ignore[no-any-return]

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """The row splits of all axes and the innermost values: what is fetched and fed."""
        return *self.nested_row_splits, self.flat_values

    def consumers(self) -> list[Operation]:
        """Return the operations that take a part as their input."""
        return list(dict.fromkeys(op for part in self.parts for op in part.consumers()))

    # Rows

    def value_rowids(self, name: str | None = None) -> Tensor:
        """Return the row of each value, [n]."""
        if "rows" not in self._known:
            with name_scope(name, "RaggedValueRowIds", [self]):
                self._known["rows"] = partition.rows_of(self._row_splits, partition.size_of(
                    self._values, self._row_splits.dtype))
        return self._known["rows"]

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Return the row of each value for all ragged axes, outermost first."""
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(level.value_rowids() for level in self._levels())

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """Return the number of rows, a scalar of out_type (int32 or int64; by default that of the row splits)."""
        wanted = self._row_splits.dtype if out_type is None else as_dtype(out_type)
        with name_scope(name, "RaggedNRows", [self]):
            if "nrows" in self._known:
                found: Tensor = cast(self._known["nrows"], wanted)
                return found
            sizes: Any = shape(self._row_splits, out_type=wanted)
            return sizes[0] - 1  # type: ignore[no-any-return]

    def row_starts(self, name: str | None = None) -> Tensor:
        """Return the place where each row begins, [rows]."""
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]  # type: ignore[no-any-return]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Return the place behind the end of each row, [rows]."""
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]  # type: ignore[no-any-return]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the lengths of the rows along an axis: [rows] for axis 1, a RaggedTensor for axes behind it.

        Raises ValueError for an axis that there is not.
        """
        rank = self.shape.ndims
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        axis = axis + rank if axis < 0 and rank is not None else axis
        with name_scope(name, "RaggedRowLengths", [self]):
            if axis == 0:
                return self.nrows()
            if axis == 1:
                if "lengths" not in self._known:
                    self._known["lengths"] = partition.lengths_of(self._row_splits)
                return self._known["lengths"]
            if isinstance(self._values, RaggedParts):
                return self._with(self._values.row_lengths(axis - 1))
            sizes: Any = shape(self._values, out_type=self._row_splits.dtype)
            return self._with(raw.Fill(sizes[:axis - 1], sizes[axis - 1]))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Return the row lengths of all ragged axes, outermost first."""
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(level.row_lengths() for level in self._levels())

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Any:
        """Return the shape of the smallest tensor that all rows fit into, or its sizes at `axis` (a number or a list).

        out_type: int32 or int64, by default that of the row splits.
        """
        wanted = self._row_splits.dtype if out_type is None else as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self, axis]):
            outer = [self.nrows(), *(partition.longest(splits) for splits in self.nested_row_splits)]
            inner: Any = shape(self.flat_values, out_type=self._row_splits.dtype)
            sizes: Any = cast(concat([stack(outer), inner[1:]], 0), wanted)
            if axis is None:
                return sizes
            return stack([sizes[each] for each in axis]) if isinstance(axis, (list, tuple)) else sizes[axis]

    def _with(self, values: Any) -> Self:
        """Return an object with these rows and other values, which are known to fit."""
        return type(self)._of(values, self._row_splits, **self._known)
