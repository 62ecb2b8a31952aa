"""Batches of matrices of different batch shapes: products and solutions that broadcast; arguments of operators."""
from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from tfnb.control_flow.assertions import assert_non_negative
from tfnb.core.dtypes import int32
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies
from tfnb.linalg.matrices import NUMBERS, cholesky_solve
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, identity, reshape, shape
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast

FLOATS = tuple(NUMBERS.strip("{}").replace("double", "float64").replace("half", "float16")
               .replace("float,", "float32,").split(", "))


def matrices(value: Any, name: str, rank: int = 2) -> Tensor:
    """Return an argument as a tensor. Raises ValueError for fewer than `rank` axes."""
    made = convert_to_tensor(value, name=name)
    if made.shape.ndims is not None and made.shape.ndims < rank:
        raise ValueError(f"Argument `{name}` must have a rank of at least {rank}, got shape {made.shape}")
    return made


def floating(tensor: Tensor, name: str) -> Tensor:
    """Return a tensor. Raises TypeError for a dtype of integers."""
    if tensor.dtype.base_dtype.name not in FLOATS:
        raise TypeError(f"Argument `{name}` must have a dtype in {list(FLOATS)}, got {tensor.dtype.name}")
    return tensor


def sizes(known: TensorShape, dynamic: Any) -> Any:
    """Return a shape as a list of integers where it is known, or else as an int32 vector. dynamic: fn() -> that."""
    return known.as_list() if known.is_fully_defined() else dynamic()


def joined(*parts: Any) -> Any:
    """Return the concatenation of shapes, lists or vectors: a list if all are."""
    if all(isinstance(part, list) and not any(isinstance(n, Tensor) for n in part) for part in parts):
        return [n for part in parts for n in part]
    return concat([convert_to_tensor(part, dtype=int32) for part in parts], 0)


def common_lead(shapes: Sequence[TensorShape]) -> TensorShape:
    """Return the batch shape that batch shapes broadcast to. Raises ValueError where they don't."""
    found = TensorShape([])
    for each in shapes:
        found = broadcast_shapes(found, each)
    return found


def broadcast_shapes(a: TensorShape, b: TensorShape) -> TensorShape:
    """Return the shape that two broadcast to, unknown sizes included."""
    if a.ndims is None or b.ndims is None:
        return TensorShape(None)
    rank = max(a.ndims, b.ndims)
    rows = [[1] * (rank - each.ndims) + each.as_list() for each in (a, b)]
    return TensorShape([_broadcast_size(m, n) for m, n in zip(*rows, strict=True)])


def _broadcast_size(m: int | None, n: int | None) -> int | None:
    if m == 1 or n == 1:
        return n if m == 1 else m
    if None not in (m, n) and m != n:
        raise ValueError(f"Incompatible batch shapes: sizes {m} and {n} don't broadcast")
    return n if m is None else m


def with_lead(matrix: Tensor, lead: Any) -> Tensor:
    """Return matrices broadcast to the batch shape `lead`, a list or a vector."""
    if isinstance(lead, list) and matrix.shape.ndims is not None and matrix.shape[:-2].as_list() == lead:
        return matrix
    made: Tensor = raw.BroadcastTo(matrix, joined(lead, sizes(matrix.shape[-2:], lambda: shape(matrix)[-2:])))
    return made


def broadcast_batches(*parts: Tensor) -> list[Tensor]:
    """Return batches of matrices, all of one batch shape."""
    known = common_lead([part.shape[:-2] for part in parts])
    lead = sizes(known, lambda: reduce(raw.BroadcastArgs, [shape(part)[:-2] for part in parts]))
    return [with_lead(part, lead) for part in parts]


def solve_dense(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """Solve systems of matrices whose batch shapes broadcast."""
    matrix, rhs = broadcast_batches(matrix, rhs)
    made: Tensor = raw.MatrixSolve(matrix, rhs, adjoint=adjoint)
    return made


def solve_by_cholesky(factor: Tensor, rhs: Tensor) -> Tensor:
    """Solve systems by Cholesky factors whose batch shapes broadcast."""
    factor, rhs = broadcast_batches(factor, rhs)
    return cholesky_solve(factor, rhs)


def dimension(value: Any, name: str, checked: bool) -> Tensor:
    """Return a number of rows or columns. Raises TypeError for what is no integer, ValueError for no such scalar.

    checked: check it in each run, too.
    """
    return _natural(value, name, name, 0, checked)


def batch_sizes(value: Any, checked: bool) -> Tensor:
    """Return a batch shape as a vector. Raises TypeError for what are no integers, ValueError for what is no shape."""
    return _natural(value, "batch_shape", "batch_shape_arg", 1, checked)


def _natural(value: Any, what: str, name: str, rank: int, checked: bool) -> Tensor:
    made = convert_to_tensor(value, name=name, dtype=int32 if isinstance(value, (list, tuple)) and not value else None)
    if not made.dtype.is_integer:
        raise TypeError(f"Argument `{what}` must be of integers, got {made.dtype.name}")
    if made.shape.ndims not in (None, rank):
        raise ValueError(f"Argument `{what}` must have {rank} dimensions, got shape {made.shape}")
    known = constant_value(made)
    if known is not None and (known < 0).any():
        raise ValueError(f"Argument `{what}` must be non-negative, got {known.tolist()}")
    if checked and known is None:
        with control_dependencies([assert_non_negative(made, message=f"Argument `{what}` must be non-negative.")]):
            made = identity(made)
    return cast(made, int32)


def column(x: Tensor) -> Tensor:
    """Return vectors [..., n] as matrices [..., n, 1]."""
    return expand_dims(x, -1)


def split_batch(x: Tensor, lead: Any, *rest: Any) -> Tensor:
    """Return x reshaped to its batch shape and these sizes."""
    return reshape(x, joined(lead, list(rest)))


def no_numbers(lead: Any, rows: Any, columns: Any, dtype: Any) -> Tensor:
    """Return matrices of zeros."""
    return zeros(joined(lead, [rows, columns]), dtype)
