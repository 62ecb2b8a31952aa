"""Operators plus a product of low rank, by the formulas of Woodbury and of matrix determinants."""
from __future__ import annotations

from functools import reduce
from typing import Any

from tfnb.core.arguments import LINEAR_OPERATORS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import adjoint as adjoint_of
from tfnb.linalg.matrices import cholesky, matrix_determinant, slogdet
from tfnb.linalg.operators.batches import common_lead, joined, matrices, sizes, solve_by_cholesky, solve_dense
from tfnb.linalg.operators.diagonal import LinearOperatorDiag, LinearOperatorIdentity
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.linalg.operators.shaped import implied
from tfnb.ops.array.diagonals import matrix_diag_part
from tfnb.ops.array.reshape import matrix_transpose, shape
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.functions import log
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import reduce_sum


@public("linalg.LinearOperatorLowRankUpdate", "contrib.linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """Operators of the form L + U D V^H, where U and V have few columns: solutions cost about what L's do.

    base_operator: L, [..., m, n]. u: [..., m, k]. diag_update: the diagonal of D, [..., k], by default ones. v: V,
    [..., n, k], by default u. is_diag_update_positive: promises that D is real and positive. Raises ValueError for
    sizes and hints that don't fit.

    >>> base = tf.linalg.LinearOperatorDiag([1.0, 1.0], is_positive_definite=True)
    >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, u=[[1.0], [2.0]])
    >>> sess.run([operator.to_dense(), operator.determinant()])
    [array([[2., 2.],
           [2., 5.]], dtype=float32), 6.0]
    """

    def __init__(self, base_operator: LinearOperator, u: Any, diag_update: Any = None, v: Any = None,
                 is_diag_update_positive: bool | None = None, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
                 is_square: bool | None = None, name: str = "LinearOperatorLowRankUpdate") -> None:
        dtype = base_operator.dtype
        positive = implied(is_diag_update_positive, diag_update is None, "The default diagonal is the identity, which "
                           "is positive, got is_diag_update_positive=False")
        symmetric = v is None and base_operator.is_self_adjoint and (not dtype.is_complex or positive)
        is_self_adjoint = implied(is_self_adjoint, symmetric, "L + U D U^H is self-adjoint, with a self-adjoint L and "
                                  "a real diagonal D: got is_self_adjoint=False")
        self._definite = bool(symmetric and base_operator.is_positive_definite and positive)
        message = "Arguments imply this is self-adjoint positive-definite operator."
        is_positive_definite = implied(is_positive_definite, self._definite, message)
        is_non_singular = implied(is_non_singular, self._definite, message)
        self._base, self._positive = base_operator, positive
        with name_scope(name):
            self._u = matrices(convert_to_tensor(u, dtype=dtype, name="u"), "u")
            self._v = self._u if v is None else matrices(convert_to_tensor(v, dtype=dtype, name="v"), "v")
            self._diagonal = None if diag_update is None else \
                matrices(convert_to_tensor(diag_update, dtype=dtype, name="diag_update"), "diag_update", 1)
            self._diag_operator = self._middle()
        super().__init__(dtype, [*base_operator.graph_parents, self._u, self._v], is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)

    def _middle(self) -> LinearOperator:
        """Return the operator D. Raises ValueError for sizes that don't fit."""
        u, v, base = self._u.shape, self._v.shape, self._base
        if u.ndims is not None:
            base.range_dimension.assert_is_compatible_with(u[-2])
        if v.ndims is not None:
            base.domain_dimension.assert_is_compatible_with(v[-2])
        if None not in (u.ndims, v.ndims):
            u[-1].assert_is_compatible_with(v[-1])
        if self._diagonal is None:
            rank: Any = u[-1].value if u.ndims is not None else None
            return LinearOperatorIdentity(shape(self._u)[-1] if rank is None else rank, dtype=self._u.dtype)
        if None not in (u.ndims, self._diagonal.shape.ndims):
            u[-1].assert_is_compatible_with(self._diagonal.shape[-1])
        return LinearOperatorDiag(self._diagonal, is_positive_definite=self._positive)

    @property
    def base_operator(self) -> LinearOperator:
        """The operator L."""
        return self._base

    @property
    def u(self) -> Tensor:
        """U, [..., m, k]."""
        return self._u

    @property
    def v(self) -> Tensor:
        """V, [..., n, k]."""
        return self._v

    @property
    def is_diag_update_positive(self) -> bool | None:
        """The hint."""
        return self._positive

    @property
    def diag_update(self) -> Tensor | None:
        """The diagonal of D, [..., k]; None: ones."""
        return self._diagonal

    @property
    def diag_operator(self) -> LinearOperator:
        """The operator D."""
        return self._diag_operator

    def _leads(self) -> TensorShape:
        return common_lead([self._base.batch_shape, self._diag_operator.batch_shape, self._u.shape[:-2],
                            self._v.shape[:-2]])

    def _shape(self) -> TensorShape:
        batch = self._leads()
        return batch if batch.ndims is None else batch.concatenate(
            [self._base.range_dimension, self._base.domain_dimension])

    def _lead(self) -> Any:
        return sizes(self._leads(), lambda: reduce(raw.BroadcastArgs, [
            self._base.batch_shape_tensor(), self._diag_operator.batch_shape_tensor(), shape(self._u)[:-2],
            shape(self._v)[:-2]]))

    def _shape_tensor(self) -> Any:
        return joined(self._lead(), [self._base._side(-2), self._base._side(-1)])

    def _sides(self, adjoint: bool) -> tuple[Tensor, Tensor]:
        """Return U and V, exchanged for the adjoint."""
        return (self._v, self._u) if adjoint else (self._u, self._v)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        u, v = self._sides(adjoint)
        inner = matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg)
        update = matmul(u, self._diag_operator.matmul(inner, adjoint=adjoint))
        made: Tensor = raw.AddV2(self._base.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg), update)
        return made

    def _capacitance(self) -> Tensor:
        """Return D^-1 + V^H L^-1 U, [..., k, k]."""
        inner = matmul(self._v, self._base.solve(self._u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        u, v = self._sides(adjoint)
        plain: Tensor = self._base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner, small = matmul(v, plain, adjoint_a=True), self._capacitance()
        weights = solve_by_cholesky(cholesky(small), inner) if self._definite else solve_dense(small, inner, adjoint)
        made: Tensor = raw.Sub(plain, self._base.solve(matmul(u, weights), adjoint=adjoint))
        return made

    def _determinant(self) -> Tensor:
        small = self._capacitance()
        inner = raw.Exp(self._log_small(small)) if self._definite else matrix_determinant(small)
        made: Tensor = raw.Mul(raw.Mul(inner, self._diag_operator.determinant()), self._base.determinant())
        return made

    def _log_abs_determinant(self) -> Tensor:
        inner = raw.AddV2(self._log_small(self._capacitance()), self._diag_operator.log_abs_determinant())
        made: Tensor = raw.AddV2(inner, self._base.log_abs_determinant())
        return made

    def _log_small(self, small: Tensor) -> Tensor:
        if self._definite:
            return 2 * reduce_sum(log(matrix_diag_part(cholesky(small))), -1)
        return slogdet(small)[1]

    def _diag_part(self) -> Tensor:
        known: Any = self.shape[-2:].as_list() if self.shape.ndims is not None else [None]
        if None in known or known[0] != known[1]:
            return super()._diag_part()
        numbers = self._diag_operator.matmul(adjoint_of(self._v))
        update = reduce_sum(raw.Mul(self._u, matrix_transpose(numbers)), -1)
        made: Tensor = raw.AddV2(self._base.diag_part(), update)
        return made

    def _to_dense(self) -> Tensor:
        inner = self._diag_operator.matmul(self._v, adjoint_arg=True)
        return self._base.add_to_tensor(matmul(self._u, inner))


describe(globals(), LINEAR_OPERATORS)
