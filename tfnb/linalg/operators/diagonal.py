"""Operators by their diagonals: identities, multiples of them, diagonal matrices; and zeros."""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.assertions import assert_equal, assert_none_equal, assert_positive
from tfnb.core.arguments import LINEAR_OPERATORS, describe
from tfnb.core.dtypes import as_dtype, float32
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import adjoint as adjoint_of
from tfnb.linalg.operators.batches import batch_sizes, column, dimension, joined, matrices, no_numbers, sizes
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.linalg.operators.shaped import implied
from tfnb.ops.array.create import ones, zeros
from tfnb.ops.array.diagonals import matrix_diag, matrix_diag_part, matrix_set_diag
from tfnb.ops.array.reshape import expand_dims, shape
from tfnb.ops.control.group import no_op
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import conj
from tfnb.ops.math.functions import log
from tfnb.ops.reductions.reduce import reduce_prod, reduce_sum

_REAL_DIAGONAL = "A real diagonal operator is always self adjoint."


def size_of(tensor: Tensor) -> int | None:
    """Return the value of a scalar of sizes, where it is known."""
    known = constant_value(tensor)
    return None if known is None else int(known)


def known_sizes(vector: Tensor | None) -> TensorShape:
    """Return the shape that a vector of sizes states."""
    if vector is None:
        return TensorShape([])
    known = constant_value(vector)
    return TensorShape([None] * vector.shape[0].value if vector.shape[0].value is not None else None) \
        if known is None else TensorShape(known.tolist())


class _Diagonal(LinearOperator):
    """Square matrices whose elements off the diagonal are zero."""

    def _numbers(self) -> Tensor:
        """Return the elements of the diagonal, [..., n] or [..., 1]."""
        raise NotImplementedError

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        numbers = conj(self._numbers()) if adjoint else self._numbers()
        made: Tensor = raw.Mul(column(numbers), adjoint_of(x) if adjoint_arg else x)
        return made

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        made: Tensor = raw.Mul(conj(self._numbers()) if adjoint else self._numbers(), x)
        return made

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        numbers = conj(self._numbers()) if adjoint else self._numbers()
        made: Tensor = raw.Mul(column(1 / numbers), adjoint_of(rhs) if adjoint_arg else rhs)
        return made

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        made: Tensor = raw.RealDiv(rhs, conj(self._numbers()) if adjoint else self._numbers())
        return made

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self) -> Tensor:
        return reduce_sum(log(self._sizes_of(self._diag_part())), -1)

    def _sizes_of(self, numbers: Tensor) -> Tensor:
        """Return absolute values, in the dtype of the operator."""
        return cast(raw.ComplexAbs(numbers) if self.dtype.is_complex else raw.Abs(numbers), self.dtype)

    def _to_dense(self) -> Tensor:
        return matrix_diag(self._diag_part())

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        numbers: Any = matrix_diag_part(x) + self._numbers()
        lead = sizes(numbers.shape[:-1], lambda: shape(numbers)[:-1])
        x = raw.BroadcastTo(x, joined(lead, sizes(x.shape[-2:], lambda: shape(x)[-2:])))
        return matrix_set_diag(x, numbers)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _assert_non_singular(self) -> Operation:
        return assert_none_equal(self._numbers(), raw.ZerosLike(self._numbers()),
                                 message="Singular operator: Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Operation:
        numbers = self._numbers()
        return assert_positive(raw.Real(numbers) if self.dtype.is_complex else numbers,
                               message="Diagonal operator had diagonal entries with non-positive real part, thus was "
                                       "not positive definite.")

    def _assert_self_adjoint(self) -> Operation:
        if not self.dtype.is_complex:
            return no_op()
        numbers = raw.Imag(self._numbers())
        return assert_equal(numbers, raw.ZerosLike(numbers), message="This diagonal operator contained non-zero "
                            "imaginary values, thus was not self-adjoint.")


class _ByNumbers(_Diagonal):
    """Square matrices, whose diagonal follows from sizes and a number."""

    _rows: Tensor

    def _factor(self) -> Any:
        """Return the number, of the batch shape."""
        raise NotImplementedError

    def _numbers(self) -> Tensor:
        return expand_dims(self._factor(), -1)

    def _diag_part(self) -> Tensor:
        made: Tensor = raw.Mul(self._numbers(), ones([self._side(-1)], self.dtype))
        return made

    def _power(self) -> Tensor:
        return cast(self._side(-1), self.dtype)

    def _determinant(self) -> Tensor:
        made: Tensor = raw.Pow(self._factor(), self._power())
        return made

    def _log_abs_determinant(self) -> Tensor:
        made: Tensor = raw.Mul(self._power(), log(self._sizes_of(self._factor())))
        return made

    def _trace(self) -> Tensor:
        made: Tensor = raw.Mul(self._factor(), self._power())
        return made


@public("linalg.LinearOperatorScaledIdentity", "contrib.linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(_ByNumbers):
    """Multiples of the identity. multiplier: of the batch shape, it has the dtype. num_rows: an integer scalar.

    assert_proper_shapes: check num_rows in each run, too. Raises ValueError for hints that don't fit.

    >>> sess.run(tf.linalg.LinearOperatorScaledIdentity(2, 3.0).matvec([1.0, 2.0]))
    array([3., 6.], dtype=float32)
    """

    def __init__(self, num_rows: Any, multiplier: Any, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None,
                 is_square: bool | None = True, assert_proper_shapes: bool = False,
                 name: str = "LinearOperatorScaledIdentity") -> None:
        with name_scope(name, None, [multiplier, num_rows]):
            self._multiplier = convert_to_tensor(multiplier, name="multiplier")
            real = not self._multiplier.dtype.is_complex
            is_self_adjoint = implied(is_self_adjoint, real, _REAL_DIAGONAL)
            is_square = implied(is_square, True, "A ScaledIdentity operator is always square.")
            self._rows = dimension(num_rows, "num_rows", assert_proper_shapes)
        super().__init__(self._multiplier.dtype, [self._multiplier], is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)

    @property
    def multiplier(self) -> Tensor:
        """The numbers on the diagonals, of the batch shape."""
        return self._multiplier

    def _factor(self) -> Tensor:
        return self._multiplier

    def _shape(self) -> TensorShape:
        rows = size_of(self._rows)
        return self._multiplier.shape.concatenate([rows, rows])

    def _shape_tensor(self) -> Any:
        return joined(sizes(self._multiplier.shape, lambda: shape(self._multiplier)), [self._rows, self._rows])


@public("linalg.LinearOperatorIdentity", "contrib.linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(_ByNumbers):
    """Identity matrices, of float32 if no dtype is given.

    num_rows: an integer scalar. batch_shape: a vector of integers, by default []. assert_proper_shapes: check both
    in each run, too. Hints are True, or else a ValueError.

    >>> sess.run(tf.linalg.LinearOperatorIdentity(2).add_to_tensor([[0.0, 1.0], [2.0, 3.0]]))
    array([[1., 1.],
           [2., 4.]], dtype=float32)
    """

    def __init__(self, num_rows: Any, batch_shape: Any = None, dtype: Any = None, is_non_singular: bool | None = True,
                 is_self_adjoint: bool | None = True, is_positive_definite: bool | None = True,
                 is_square: bool | None = True, assert_proper_shapes: bool = False,
                 name: str = "LinearOperatorIdentity") -> None:
        for hint, what in ((is_self_adjoint, "self adjoint"), (is_square, "square"), (is_non_singular, "non-singular"),
                           (is_positive_definite, "positive-definite")):
            if not hint:
                raise ValueError(f"An identity operator is always {what}.")
        with name_scope(name):
            self._rows = dimension(num_rows, "num_rows", assert_proper_shapes)
            self._batch = None if batch_shape is None else batch_sizes(batch_shape, assert_proper_shapes)
        super().__init__(as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    def _shape(self) -> TensorShape:
        rows = size_of(self._rows)
        return known_sizes(self._batch).concatenate([rows, rows])

    def _shape_tensor(self) -> Any:
        return joined([] if self._batch is None else self._batch, [self._rows, self._rows])

    def _numbers(self) -> Tensor:
        return ones(joined(self._lead(), [1]), self.dtype)

    def _factor(self) -> Tensor:
        return ones(self._lead(), self.dtype)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        made: Tensor = x if self._batch is None else raw.AddV2(x, no_numbers(self._lead(), 1, 1, self.dtype))
        return made

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        made: Tensor = x if self._batch is None else raw.AddV2(x, zeros(joined(self._lead(), [1]), self.dtype))
        return made

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self._matvec(rhs)

    def _determinant(self) -> Tensor:
        return ones(self._lead(), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self._lead(), self.dtype)

    def _assert_non_singular(self) -> Operation:
        return no_op()

    _assert_positive_definite = _assert_self_adjoint = _assert_non_singular


@public("linalg.LinearOperatorDiag", "contrib.linalg.LinearOperatorDiag")
class LinearOperatorDiag(_Diagonal):
    """Diagonal matrices. diag: their diagonals, [..., n].

    Raises ValueError for a scalar, and for hints that don't fit.

    >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
    >>> sess.run([operator.determinant(), operator.solvevec([1.0, 1.0])])
    [8.0, array([0.5 , 0.25], dtype=float32)]
    """

    def __init__(self, diag: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str = "LinearOperatorDiag") -> None:
        with name_scope(name, None, [diag]):
            self._diagonal = matrices(diag, "diag", 1)
            is_self_adjoint = implied(is_self_adjoint, not self._diagonal.dtype.is_complex, _REAL_DIAGONAL)
            is_square = implied(is_square, True, "Only square diagonal operators currently supported.")
        super().__init__(self._diagonal.dtype, [self._diagonal], is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)

    @property
    def diag(self) -> Tensor:
        """The diagonals, [..., n]."""
        return self._diagonal

    def _shape(self) -> TensorShape:
        found = self._diagonal.shape
        return found if found.ndims is None else found.concatenate(found[-1:])

    def _shape_tensor(self) -> Any:
        found: Any = shape(self._diagonal)
        return joined(found, found[-1:])

    def _numbers(self) -> Tensor:
        return self._diagonal

    _diag_part = _numbers


@public("linalg.LinearOperatorZeros", "contrib.linalg.LinearOperatorZeros")
class LinearOperatorZeros(LinearOperator):
    """Matrices of zeros, of float32 if no dtype is given.

    num_rows, num_columns: integer scalars; by default as many columns as rows. batch_shape: a vector of integers.
    assert_proper_shapes: check them in each run, too. Raises ValueError for hints that don't fit.

    >>> sess.run(tf.linalg.LinearOperatorZeros(2).matvec([1.0, 2.0]))
    array([0., 0.], dtype=float32)
    """

    def __init__(self, num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = None,
                 is_non_singular: bool | None = False, is_self_adjoint: bool | None = True,
                 is_positive_definite: bool | None = False, is_square: bool | None = True,
                 assert_proper_shapes: bool = False, name: str = "LinearOperatorZeros") -> None:
        for hint, what in ((is_non_singular, "singular"), (is_positive_definite, "not positive-definite")):
            if hint:
                raise ValueError(f"A zero operator is always {what}.")
        with name_scope(name):
            self._rows = dimension(num_rows, "num_rows", assert_proper_shapes)
            self._columns = self._rows if num_columns is None else \
                dimension(num_columns, "num_columns", assert_proper_shapes)
            self._batch = None if batch_shape is None else batch_sizes(batch_shape, assert_proper_shapes)
        rows, columns = size_of(self._rows), size_of(self._columns)
        if is_square and None not in (rows, columns) and rows != columns:
            raise ValueError(f"LinearOperatorZeros initialized as is_square=True, but got num_rows({rows}) != "
                             f"num_columns({columns})")
        super().__init__(as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    def _shape(self) -> TensorShape:
        return known_sizes(self._batch).concatenate([size_of(self._rows), size_of(self._columns)])

    def _shape_tensor(self) -> Any:
        return joined([] if self._batch is None else self._batch, [self._rows, self._columns])

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = adjoint_of(x) if adjoint_arg else x
        rest = no_numbers(self._lead(), self._side(-1 if adjoint else -2), 1, self.dtype)
        made: Tensor = raw.AddV2(rest, raw.ZerosLike(x[..., :1, :]))
        return made

    def _determinant(self) -> Tensor:
        return zeros(self._lead(), self.dtype)

    _trace = _determinant

    def _diag_part(self) -> Tensor:
        return zeros(joined(self._lead(), [raw.Minimum(self._side(-2), self._side(-1))]), self.dtype)

    def _to_dense(self) -> Tensor:
        return no_numbers(self._lead(), self._side(-2), self._side(-1), self.dtype)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        made: Tensor = raw.AddV2(x, no_numbers(self._lead(), 1, 1, self.dtype))
        return made

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _assert_non_singular(self) -> Operation:
        raise InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Operation:
        raise InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Operation:
        return no_op()


describe(globals(), LINEAR_OPERATORS)
