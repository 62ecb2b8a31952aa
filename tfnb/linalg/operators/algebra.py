"""Adjoints, inverses, Cholesky factors, products and solutions of operators, as operators: a rule for classes each."""
from __future__ import annotations

from typing import Any

from tfnb.linalg.matrices import cholesky
from tfnb.linalg.operators.batches import common_lead, sizes
from tfnb.linalg.operators.circulant import _Circulant
from tfnb.linalg.operators.combined import LinearOperatorBlockDiag, LinearOperatorComposition, LinearOperatorKronecker
from tfnb.linalg.operators.dense import (
    LinearOperatorAdjoint,
    LinearOperatorHouseholder,
    LinearOperatorInversion,
    LinearOperatorLowerTriangular,
)
from tfnb.linalg.operators.diagonal import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from tfnb.linalg.operators.operator import LinearOperator, apply_rule, rule
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.complex import conj
from tfnb.ops.math.functions import sqrt


def lead_of(a: LinearOperator, b: LinearOperator) -> Any:
    """Return the common batch shape, a list or a vector."""
    return sizes(common_lead([a.batch_shape, b.batch_shape]),
                 lambda: raw.BroadcastArgs(a.batch_shape_tensor(), b.batch_shape_tensor()))


def hints(like: LinearOperator, **other: Any) -> dict[str, Any]:
    """Return the hints of an operator as arguments, but for others."""
    return {"is_non_singular": like.is_non_singular, "is_self_adjoint": like.is_self_adjoint,
            "is_positive_definite": like.is_positive_definite, "is_square": True, **other}


def _non_singular(a: LinearOperator, b: LinearOperator) -> bool | None:
    if False in (a.is_non_singular, b.is_non_singular):
        return False
    return True if a.is_non_singular and b.is_non_singular else None


def product_hints(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    """Return the hints of the product of square operators, as arguments."""
    return hints(a, is_non_singular=_non_singular(a, b), is_self_adjoint=None, is_positive_definite=None)


def commuting_hints(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    """Return the hints of the product of square operators that commute, as arguments."""
    known = {a.is_self_adjoint, b.is_self_adjoint}
    symmetric = None if None in known or known == {False} else known == {True}
    definite = all(each.is_self_adjoint and each.is_positive_definite for each in (a, b))
    return hints(a, is_non_singular=_non_singular(a, b), is_self_adjoint=symmetric,
                 is_positive_definite=True if definite else None)


# Adjoints

@rule("adjoint", LinearOperator)
def _(a: Any) -> LinearOperator:
    return LinearOperatorAdjoint(a)


@rule("adjoint", LinearOperatorAdjoint)
@rule("inverse", LinearOperatorInversion)
def _(a: Any) -> LinearOperator:
    found: LinearOperator = a.operator
    return found


@rule("adjoint", LinearOperatorScaledIdentity)
def _(a: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(a._rows, conj(a.multiplier), **hints(a))


@rule("adjoint", LinearOperatorDiag)
def _(a: Any) -> LinearOperator:
    return LinearOperatorDiag(conj(a.diag), **hints(a))


@rule("adjoint", _Circulant)
def _(a: Any) -> LinearOperator:
    made: LinearOperator = type(a)(conj(a.spectrum), a.dtype, **hints(a))
    return made


@rule("adjoint", LinearOperatorBlockDiag)
@rule("adjoint", LinearOperatorKronecker)
def _(a: Any) -> LinearOperator:
    made: LinearOperator = type(a)([each.adjoint() for each in a.operators], **hints(a, is_square=a.is_square))
    return made


# Inverses

@rule("inverse", LinearOperator)
def _(a: Any) -> LinearOperator:
    return LinearOperatorInversion(a)


@rule("inverse", LinearOperatorIdentity)
@rule("inverse", LinearOperatorHouseholder)
@rule("cholesky", LinearOperatorIdentity)
def _(a: Any) -> LinearOperator:
    found: LinearOperator = a
    return found


@rule("inverse", LinearOperatorScaledIdentity)
def _(a: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(a._rows, 1 / a.multiplier, **hints(a))


@rule("inverse", LinearOperatorDiag)
def _(a: Any) -> LinearOperator:
    return LinearOperatorDiag(1 / a.diag, **hints(a))


@rule("inverse", _Circulant)
def _(a: Any) -> LinearOperator:
    made: LinearOperator = type(a)(1 / a.spectrum, a.dtype, **hints(a))
    return made


@rule("inverse", LinearOperatorBlockDiag)
@rule("inverse", LinearOperatorKronecker)
def _(a: Any) -> LinearOperator:
    if not all(each.is_square for each in a.operators):
        return LinearOperatorInversion(a)
    made: LinearOperator = type(a)([each.inverse() for each in a.operators], **hints(a))
    return made


# Cholesky factors

@rule("cholesky", LinearOperator)
def _(a: Any) -> LinearOperator:
    return LinearOperatorLowerTriangular(cholesky(a.to_dense()), is_non_singular=True, is_self_adjoint=False,
                                         is_square=True)


@rule("cholesky", LinearOperatorScaledIdentity)
def _(a: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(a._rows, sqrt(a.multiplier), **hints(a))


@rule("cholesky", LinearOperatorDiag)
def _(a: Any) -> LinearOperator:
    return LinearOperatorDiag(sqrt(a.diag), **hints(a))


@rule("cholesky", LinearOperatorBlockDiag)
@rule("cholesky", LinearOperatorKronecker)
def _(a: Any) -> LinearOperator:
    made: LinearOperator = type(a)([each.cholesky() for each in a.operators], is_non_singular=True, is_square=True)
    return made


# Products

def _composed(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    square = a.is_square if a.is_square is not False and a.is_square == b.is_square else None
    return LinearOperatorComposition([a, b], is_non_singular=_non_singular(a, b) if square else None, is_square=square)


rule("product", LinearOperator, LinearOperator)(_composed)


@rule("product", LinearOperatorIdentity, LinearOperator)
@rule("solution", LinearOperatorIdentity, LinearOperator)
def _(_: Any, b: Any) -> LinearOperator:
    found: LinearOperator = b
    return found


@rule("product", LinearOperator, LinearOperatorIdentity)
def _(a: Any, _: Any) -> LinearOperator:
    found: LinearOperator = a
    return found


@rule("product", LinearOperatorZeros, LinearOperator)
@rule("product", LinearOperator, LinearOperatorZeros)
@rule("product", LinearOperatorIdentity, LinearOperatorZeros)
def _(a: Any, b: Any) -> LinearOperator:
    square = a.is_square is not False and b.is_square is not False
    return LinearOperatorZeros(a._side(-2), b._side(-1), dtype=a.dtype, is_self_adjoint=square, is_square=square,
                               batch_shape=lead_of(a, b))


@rule("product", LinearOperatorScaledIdentity, LinearOperatorScaledIdentity)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(a._rows, a.multiplier * b.multiplier, **commuting_hints(a, b))


@rule("product", LinearOperatorDiag, LinearOperatorDiag)
@rule("product", LinearOperatorDiag, LinearOperatorScaledIdentity)
@rule("product", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorDiag(raw.Mul(a._numbers(), b._numbers()), **commuting_hints(a, b))


@rule("product", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorLowerTriangular(a.diag[..., None] * b.to_dense(), **product_hints(a, b))


@rule("product", LinearOperatorLowerTriangular, LinearOperatorDiag)
def _(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorLowerTriangular(a.to_dense() * b.diag[..., None, :], **product_hints(a, b))


@rule("product", _Circulant, _Circulant)
def _(a: Any, b: Any) -> LinearOperator:
    if type(a) is not type(b):
        return _composed(a, b)
    made: LinearOperator = type(a)(raw.Mul(a._eigenvalues(), b._eigenvalues()) if a.spectrum.dtype != b.spectrum.dtype
                                   else a.spectrum * b.spectrum, a.dtype, **commuting_hints(a, b))
    return made


def _blockwise(what: str, a: Any, b: Any) -> LinearOperator | None:
    """Return the operator of the rule for each pair of blocks; None where blocks differ in size."""
    pairs = list(zip(a.operators, b.operators, strict=False))
    if len(a.operators) != len(b.operators) or any(
            None in (m.domain_dimension.value, n.range_dimension.value) or m.is_square is False or n.is_square is False
            or m.domain_dimension.value != n.range_dimension.value for m, n in pairs):
        return None
    return LinearOperatorBlockDiag([apply_rule(what, m, n) for m, n in pairs], is_non_singular=_non_singular(a, b),
                                   is_square=True)


@rule("product", LinearOperatorBlockDiag, LinearOperatorBlockDiag)
def _(a: Any, b: Any) -> LinearOperator:
    return _blockwise("product", a, b) or _composed(a, b)


# Solutions

def _solved(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    return _composed(LinearOperatorInversion(a), b)


rule("solution", LinearOperator, LinearOperator)(_solved)


@rule("solution", LinearOperator, LinearOperatorIdentity)
def _(a: Any, _: Any) -> LinearOperator:
    made: LinearOperator = a.inverse()
    return made


@rule("solution", LinearOperatorInversion, LinearOperator)
@rule("solution", LinearOperatorInversion, LinearOperatorIdentity)
def _(a: Any, b: Any) -> LinearOperator:
    made: LinearOperator = apply_rule("product", a.operator, b)
    return made


@rule("solution", LinearOperatorScaledIdentity, LinearOperatorScaledIdentity)
@rule("solution", LinearOperatorDiag, LinearOperatorDiag)
@rule("solution", LinearOperatorDiag, LinearOperatorScaledIdentity)
@rule("solution", LinearOperatorScaledIdentity, LinearOperatorDiag)
@rule("solution", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(a: Any, b: Any) -> LinearOperator:
    made: LinearOperator = apply_rule("product", a.inverse(), b)
    return made


@rule("solution", _Circulant, _Circulant)
def _(a: Any, b: Any) -> LinearOperator:
    made: LinearOperator = apply_rule("product", a.inverse(), b) if type(a) is type(b) else _solved(a, b)
    return made


@rule("solution", LinearOperatorBlockDiag, LinearOperatorBlockDiag)
def _(a: Any, b: Any) -> LinearOperator:
    return _blockwise("solution", a, b) or _solved(a, b)
