"""Operators by dense matrices, and lower triangular ones; those by a reflection; adjoints and inverses of others."""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.assertions import assert_none_equal
from tfnb.core.arguments import LINEAR_OPERATORS, describe
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import adjoint as adjoint_of
from tfnb.linalg.operators.batches import column, floating, joined, matrices
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.linalg.operators.shaped import implied
from tfnb.ops.array.create import ones, ones_like, zeros
from tfnb.ops.array.diagonals import matrix_diag_part, matrix_set_diag
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import shape
from tfnb.ops.control.group import no_op
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import conj
from tfnb.ops.math.functions import log
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import l2_normalize, reduce_prod, reduce_sum


class _Matrix(LinearOperator):
    """An operator that holds matrices."""

    _matrix: Tensor

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return shape(self._matrix)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)


@public("linalg.LinearOperatorFullMatrix", "contrib.linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(_Matrix):
    """Dense matrices. matrix: [..., m, n], floating or complex.

    Raises ValueError for less than two axes, TypeError for a dtype of integers.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(operator.matvec([1.0, 1.0]))
    array([3., 7.], dtype=float32)
    """

    def __init__(self, matrix: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorFullMatrix") -> None:
        with name_scope(name, None, [matrix]):
            self._matrix = floating(matrices(matrix, "matrix"), "matrix")
        super().__init__(self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    def _to_dense(self) -> Tensor:
        return self._matrix


@public("linalg.LinearOperatorLowerTriangular", "contrib.linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(_Matrix):
    """Lower triangular matrices. tril: [..., n, n], whose elements above the diagonal are not read.

    Raises ValueError for less than two axes, TypeError for a dtype of integers.

    >>> sess.run(tf.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [3.0, 4.0]]).to_dense())
    array([[1., 0.],
           [3., 4.]], dtype=float32)
    """

    def __init__(self, tril: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorLowerTriangular") -> None:
        is_square = implied(is_square, True, "Only square lower triangular operators supported at this time.")
        with name_scope(name, None, [tril]):
            self._matrix = floating(matrices(tril, "tril"), "tril")
        super().__init__(self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    @property
    def tril(self) -> Tensor:
        """The matrices as they were given."""
        return self._matrix

    def _to_dense(self) -> Tensor:
        made: Tensor = raw.MatrixBandPart(self._matrix, -1, 0)
        return made

    def _diag_part(self) -> Tensor:
        return matrix_diag_part(self._matrix)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        made: Tensor = raw.MatrixTriangularSolve(self._matrix, rhs, lower=True, adjoint=adjoint)
        return made

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self) -> Tensor:
        numbers = self._diag_part()
        return reduce_sum(log(raw.ComplexAbs(numbers) if self.dtype.is_complex else raw.Abs(numbers)), -1)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _assert_non_singular(self) -> Operation:
        numbers = self._diag_part()
        return assert_none_equal(numbers, raw.ZerosLike(numbers),
                                 message="Singular operator: Diagonal contained zero values.")


@public("linalg.LinearOperatorHouseholder", "contrib.linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """Reflections at the hyperplanes through 0 orthogonal to `reflection_axis`, [..., n]: I - 2 v v^H, v its direction.

    Raises ValueError for a scalar, and for hints that don't fit.

    >>> sess.run(tf.linalg.LinearOperatorHouseholder([2.0, 0.0]).matvec([1.0, 1.0]))
    array([-1.,  1.], dtype=float32)
    """

    def __init__(self, reflection_axis: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorHouseholder") -> None:
        is_self_adjoint = implied(is_self_adjoint, True, "A Householder operator is always self adjoint.")
        is_square = implied(is_square, True, "A Householder operator is always square.")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        with name_scope(name, None, [reflection_axis]):
            self._axis = floating(matrices(reflection_axis, "reflection_axis", 1), "reflection_axis")
        super().__init__(self._axis.dtype, [self._axis], is_non_singular, is_self_adjoint, False, is_square, name)

    @property
    def reflection_axis(self) -> Tensor:
        """The normals of the hyperplanes, [..., n]."""
        return self._axis

    def _shape(self) -> TensorShape:
        found = self._axis.shape
        return found if found.ndims is None else found.concatenate(found[-1:])

    def _shape_tensor(self) -> Any:
        found: Any = shape(self._axis)
        return joined(found, found[-1:])

    def _direction(self) -> Tensor:
        if not self.dtype.is_complex:
            return l2_normalize(self._axis, axis=-1)
        length = raw.Sqrt(reduce_sum(raw.Square(raw.ComplexAbs(self._axis)), -1, keepdims=True))
        made: Tensor = raw.RealDiv(self._axis, cast(length, self.dtype))
        return made

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x, v = adjoint_of(x) if adjoint_arg else x, column(self._direction())
        made: Tensor = raw.Sub(x, raw.Mul(2 * v, matmul(v, x, adjoint_a=True)))
        return made

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return -ones(self._lead(), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self._lead(), self.dtype)

    def _trace(self) -> Tensor:
        made: Any = cast(self._side(-1), self.dtype) - 2
        return made + zeros(self._lead(), self.dtype)

    def _diag_part(self) -> Tensor:
        v = self._direction()
        made: Tensor = raw.Sub(ones_like(v), 2 * v * conj(v))
        return made

    def _to_dense(self) -> Tensor:
        v = column(self._direction())
        dense = -2 * matmul(v, v, adjoint_b=True)
        return matrix_set_diag(dense, matrix_diag_part(dense) + 1)

    def _eigvals(self) -> Tensor:
        rest = ones(joined(self._lead(), [self._side(-1) - 1]), self.dtype)
        return concat([-ones(joined(self._lead(), [1]), self.dtype), rest], -1)

    def _cond(self) -> Tensor:
        return ones(self._lead(), self.dtype)

    def _assert_non_singular(self) -> Operation:
        return no_op()

    _assert_self_adjoint = _assert_non_singular

    def _assert_positive_definite(self) -> Operation:
        raise InvalidArgumentError(None, None, "Householder operators are always non-positive definite.")


class _Of(LinearOperator):
    """An operator made of one other, which has its hints. same: how their properties depend on one another."""

    _suffix, _same = "", ""

    def __init__(self, operator: LinearOperator, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
                 is_square: bool | None = None, name: str | None = None) -> None:
        self._operator = operator
        super().__init__(
            operator.dtype, operator.graph_parents,
            self._agreed("non-singular", operator.is_non_singular, is_non_singular),
            self._agreed("self-adjoint", operator.is_self_adjoint, is_self_adjoint),
            self._agreed("positive-definite", operator.is_positive_definite, is_positive_definite),
            self._agreed("square", operator.is_square, is_square), name or operator.name + self._suffix)

    def _agreed(self, what: str, first: bool | None, second: bool | None) -> bool | None:
        if None not in (first, second) and first != second:
            raise ValueError(f"An operator is {what} if and only if its {self._same} is {what}.")
        return second if first is None else first

    @property
    def operator(self) -> LinearOperator:
        """The operator that it is made of."""
        return self._operator

    def _shape(self) -> TensorShape:
        found = self._operator.shape
        return found if found.ndims is None else found[:-2].concatenate([found[-1], found[-2]])

    def _shape_tensor(self) -> Any:
        return joined(self._operator._lead(), [self._operator._side(-1), self._operator._side(-2)])

    def _assert_non_singular(self) -> Operation:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        return self._operator.assert_self_adjoint()

    def _cond(self) -> Tensor:
        return self._operator.cond()


@public("linalg.LinearOperatorAdjoint", "contrib.linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(_Of):
    """Conjugate transposes of another operator's matrices. operator: that; hints that are None are its hints.

    Raises ValueError for hints that contradict those of `operator`.

    >>> matrix = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.linalg.LinearOperatorAdjoint(matrix).matvec([1.0, 0.0]))
    array([1., 2.], dtype=float32)
    """

    _suffix, _same = "_adjoint", "adjoint"

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        made: Tensor = self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)
        return made

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        made: Tensor = self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)
        return made

    def _conjugated(self, x: Tensor) -> Tensor:
        return conj(x) if self.dtype.is_complex else x

    def _determinant(self) -> Tensor:
        return self._conjugated(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return self._conjugated(self._operator.trace())

    def _diag_part(self) -> Tensor:
        return self._conjugated(self._operator.diag_part())

    def _to_dense(self) -> Tensor:
        return adjoint_of(self._operator.to_dense())

    def _eigvals(self) -> Tensor:
        return self._conjugated(self._operator.eigvals())


@public("linalg.LinearOperatorInversion", "contrib.linalg.LinearOperatorInversion")
class LinearOperatorInversion(_Of):
    """Inverses of another operator's matrices. operator: that; hints that are None are its hints.

    Raises ValueError for hints that contradict those of `operator`, and for what is not square or singular.

    >>> diagonal = tf.linalg.LinearOperatorDiag([2.0, 4.0])
    >>> sess.run(tf.linalg.LinearOperatorInversion(diagonal).matvec([1.0, 1.0]))
    array([0.5 , 0.25], dtype=float32)
    """

    _suffix, _same = "_inv", "inverse"

    def _agreed(self, what: str, first: bool | None, second: bool | None) -> bool | None:
        if what in ("non-singular", "square") and False in (first, second):
            raise ValueError(f"What has an inverse is {what}, got the hints {first} of the operator and {second}.")
        return super()._agreed(what, first, second)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        made: Tensor = self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return made

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        made: Tensor = self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return made

    def _determinant(self) -> Tensor:
        made: Any = self._operator.determinant()
        return 1 / made

    def _log_abs_determinant(self) -> Tensor:
        return -self._operator.log_abs_determinant()

    def _eigvals(self) -> Tensor:
        made: Any = self._operator.eigvals()
        return 1 / made


describe(globals(), LINEAR_OPERATORS)
