"""Scale operators of multivariate distributions and affine transforms, from their diagonals, triangles and updates."""
from __future__ import annotations

from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.linalg.operators.dense import LinearOperatorLowerTriangular
from tfnb.linalg.operators.diagonal import LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.linalg.operators.updated import LinearOperatorLowRankUpdate
from tfnb.ops.array.create import zeros
from tfnb.ops.array.diagonals import matrix_diag
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw

_DIAGONAL = (LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity)


def scale_operator(diag: Any = None, multiple: Any = None, tril: Any = None, like: Any = None, factor: Any = None,
                   update: Any = None, positive: bool | None = None) -> LinearOperator:
    """Return the operator tril + diag(diag) + multiple * I + factor @ diag(update) @ factor^T, by default I.

    diag: (..., k); multiple: (...); tril: lower triangles of (..., k, k); factor: (..., k, r); update: (..., r), 1 by
    default; like: vectors (..., k), which give k where neither diag nor tril does; positive: whether all numbers of
    the diagonal are so. Raises ValueError where nothing gives k.
    """
    given = next((each for each in (diag, tril, multiple, like) if each is not None), None)
    dtype = None if given is None else convert_to_tensor(given).dtype
    multiple = None if multiple is None else convert_to_tensor(multiple, dtype=dtype, name="scale_identity_multiplier")
    if diag is not None:
        diag = convert_to_tensor(diag, dtype=dtype, name="scale_diag")
        diag = diag if multiple is None else diag + multiple[..., None]
    if tril is not None:
        tril = raw.MatrixBandPart(convert_to_tensor(tril, dtype=dtype, name="scale_tril"), -1, 0)
        extra = diag if diag is not None else None if multiple is None else \
            raw.ZerosLike(tril[..., 0]) + multiple[..., None]
        made: LinearOperator = LinearOperatorLowerTriangular(
            tril if extra is None else tril + matrix_diag(extra), is_non_singular=True)
    elif diag is not None:
        made = LinearOperatorDiag(diag, is_non_singular=True, is_self_adjoint=True, is_positive_definite=positive)
    elif like is None:
        raise ValueError("expected scale_diag, scale_tril or loc, from which the size of vectors follows")
    else:
        vectors = convert_to_tensor(like, name="loc")
        size = vectors.shape[-1].value if vectors.shape.ndims else None
        rows = shape_of(vectors)[-1] if size is None else size
        made = LinearOperatorIdentity(rows, dtype=vectors.dtype) if multiple is None else LinearOperatorScaledIdentity(
            rows, multiple, is_non_singular=True, is_self_adjoint=True, is_positive_definite=positive)
    if factor is None:
        return made
    definite = True if positive and tril is None and update is None else None
    return LinearOperatorLowRankUpdate(made, factor, update, is_diag_update_positive=update is None,
                                       is_non_singular=True, is_positive_definite=definite)


def is_diagonal(operator: LinearOperator) -> bool:
    """Return whether the class says that all matrices are diagonal."""
    return isinstance(operator, _DIAGONAL)


def vector_zeros(operator: LinearOperator) -> Tensor:
    """Return a zero for each row: (..., k)."""
    static = operator.shape
    if static.ndims is not None and static.is_fully_defined():
        return zeros(static.as_list()[:-1], operator.dtype)
    return zeros(operator.shape_tensor()[:-1], operator.dtype)


def gram(operator: LinearOperator) -> Tensor:
    """Return the products of the matrices and their transposes."""
    if is_diagonal(operator):
        return matrix_diag(raw.Square(operator.diag_part()))
    found: Tensor = operator.matmul(operator.to_dense(), adjoint_arg=True)
    return found


def gram_diagonal(operator: LinearOperator) -> Any:
    """Return the diagonals of these products."""
    if is_diagonal(operator):
        return raw.Square(operator.diag_part())
    return raw.Sum(raw.Square(operator.to_dense()), [-1])
