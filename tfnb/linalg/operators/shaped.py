"""Names, hints and shapes of linear operators."""
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from tfnb.core.dtypes import as_dtype, int32
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.operators.batches import sizes
from tfnb.ops.declaration.raw import raw


def implied(hint: bool | None, holds: Any, message: str) -> bool | None:
    """Return a hint, True where the structure implies it. Raises ValueError(message) if it was False then."""
    if not holds:
        return hint
    if hint is False:
        raise ValueError(message)
    return True


class Shaped(ABC):
    """Properties that an operator is known to have."""

    def __init__(self, dtype: Any, graph_parents: Any = None, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
                 is_square: bool | None = None, name: str | None = None) -> None:
        is_non_singular = implied(is_non_singular, is_positive_definite,
                                  "A positive definite matrix is always non-singular.")
        is_square = implied(is_square, is_non_singular, "A non-singular matrix is always square.")
        self._square = implied(is_square, is_self_adjoint, "A self-adjoint matrix is always square.")
        self._dtype = as_dtype(dtype).base_dtype
        self._hints = is_non_singular, is_self_adjoint, is_positive_definite
        self._parents = list(graph_parents or ())
        self._name = name or type(self).__name__

    @property
    def dtype(self) -> Any:
        """The DType of the elements."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name, with which the names of the ops begin."""
        return self._name

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that the operator was made of, if its class says so."""
        return self._parents

    @property
    def is_non_singular(self) -> bool | None:
        """The hint."""
        return self._hints[0]

    @property
    def is_self_adjoint(self) -> bool | None:
        """The hint."""
        return self._hints[1]

    @property
    def is_positive_definite(self) -> bool | None:
        """The hint: x^H A x has a positive real part for all x != 0, also where A is not self-adjoint."""
        return self._hints[2]

    @property
    def is_square(self) -> bool | None:
        """Whether matrices are square, as far as it is known. Raises ValueError where the hint was wrong."""
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        if None in (rows, columns):
            return self._square
        if self._square is False and rows == columns:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return rows == columns if self._square is None else self._square

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} shape={self.shape} dtype={self.dtype.name}>"

    def _scope(self, name: str) -> name_scope:
        return name_scope(f"{self.name}/{name}")

    # Shapes

    @abstractmethod
    def _shape(self) -> TensorShape: ...

    def _shape_tensor(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _shape_tensor, and its shape is not known")

    @property
    def shape(self) -> TensorShape:
        """The static shape, of matrices and batch."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape without the last two axes."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of axes."""
        return self.shape.ndims

    @property
    def domain_dimension(self) -> Any:
        """The number of columns, a Dimension."""
        return TensorShape([None])[0] if self.shape.ndims is None else self.shape[-1]

    @property
    def range_dimension(self) -> Any:
        """The number of rows, a Dimension."""
        return TensorShape([None])[0] if self.shape.ndims is None else self.shape[-2]

    def _sizes(self, part: slice = slice(None)) -> Any:
        """Return a part of the shape, a list where it is known, or else a vector."""
        return sizes(self.shape[part], lambda: self._shape_tensor()[part])

    def _lead(self) -> Any:
        return self._sizes(slice(-2))

    def _side(self, axis: int) -> Any:
        """Return the number of rows (-2) or columns (-1), an integer or a scalar."""
        known = (self.range_dimension if axis == -2 else self.domain_dimension).value
        return self._shape_tensor()[axis] if known is None else known

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """Return the shape as an int32 vector."""
        with self._scope(name):
            return convert_to_tensor(self._sizes(), dtype=int32)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """Return the shape without the last two axes as an int32 vector."""
        with self._scope(name):
            return convert_to_tensor(self._lead(), dtype=int32)

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """Return the number of axes as an int32 scalar."""
        with self._scope(name):
            made: Tensor = raw.Size(self._shape_tensor()) if self.tensor_rank is None else \
                convert_to_tensor(self.tensor_rank, dtype=int32)
            return made

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """Return the number of columns as an int32 scalar."""
        with self._scope(name):
            return convert_to_tensor(self._side(-1), dtype=int32)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """Return the number of rows as an int32 scalar."""
        with self._scope(name):
            return convert_to_tensor(self._side(-2), dtype=int32)
