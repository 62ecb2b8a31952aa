"""LinearOperator: the methods of all operators, and their general forms by dense matrices."""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_equal, assert_less, assert_positive
from tfnb.core.arguments import LINEAR_OPERATORS, describe
from tfnb.core.dtypes import as_dtype
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.linalg.decompositions import self_adjoint_eigvals
from tfnb.linalg.matrices import adjoint as adjoint_of
from tfnb.linalg.matrices import cholesky, matrix_determinant, slogdet
from tfnb.linalg.operators.batches import broadcast_shapes, column, solve_by_cholesky, solve_dense
from tfnb.linalg.operators.shaped import Shaped
from tfnb.ops.array.create import eye
from tfnb.ops.array.diagonals import matrix_diag_part
from tfnb.ops.array.reshape import squeeze
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import real
from tfnb.ops.math.functions import exp, log
from tfnb.ops.reductions.reduce import reduce_max, reduce_min, reduce_sum

# (what, class of the left operator, that of the right one, if any) -> function of the operators: see `rule`.
RULES: dict[tuple[Any, ...], Callable[..., Any]] = {}


def rule(what: str, *classes: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how to take the adjoint, inverse, cholesky factor, product or solution of classes (a decorator)."""
    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        RULES[what, *classes] = fn
        return fn
    return register


def apply_rule(what: str, *operators: LinearOperator) -> Any:
    """Return what the rule for the nearest classes of the operators gives; the left one's class counts first."""
    lines = [type(each).__mro__[:-2] for each in operators]
    for first in lines[0]:
        for second in lines[1] if lines[1:] else (None,):
            found = RULES.get((what, first) if second is None else (what, first, second))
            if found is not None:
                return found(*operators)
    raise NotImplementedError(f"No rule for {what} of {[type(each).__name__ for each in operators]}")


@public("linalg.LinearOperator", "contrib.linalg.LinearOperator")
class LinearOperator(Shaped):
    """Base class of linear operators: [batch] matrices [..., m, n] that know a structure, and compute by it.

    A class of one's own defines `_shape()`, a TensorShape, and `_matmul(x, adjoint, adjoint_arg)`; where sizes may be
    unknown also `_shape_tensor()`. All other methods follow, by the dense matrix where no better `_solve`,
    `_determinant`, `_log_abs_determinant`, `_trace`, `_diag_part`, `_to_dense`, `_add_to_tensor` is defined. Batch
    shapes of operators and arguments broadcast. dtype: of the elements. graph_parents: tensors it was made of. Hints
    are promises that choose the algorithm and are not checked in a run: None says that nothing is known. Raises
    ValueError for hints that contradict one another.

    >>> class Twice(tf.linalg.LinearOperator):
    ...     def _shape(self):
    ...         return tf.TensorShape([2, 2])
    ...     def _matmul(self, x, adjoint=False, adjoint_arg=False):
    ...         return 2 * (tf.linalg.adjoint(x) if adjoint_arg else x)
    >>> twice = Twice(tf.float32, is_square=True)
    >>> sess.run([twice.matvec([1.0, 3.0]), twice.solvevec([1.0, 3.0]), twice.determinant()])
    [array([2., 6.], dtype=float32), array([0.5, 1.5], dtype=float32), 4.0]
    """

    @abstractmethod
    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor: ...

    def _taken(self, x: Any, adjoint: bool, axis: int, solved: bool, name: str) -> Any:
        """Return an argument as a tensor. Raises TypeError for its dtype, ValueError for its size along `axis`."""
        made: Any = convert_to_tensor(x, name=name)
        if made.dtype.base_dtype != self.dtype:
            raise TypeError(f"Expected argument `{name}` to have dtype {self.dtype.name}, got {made.dtype.name}")
        if self.shape.ndims is not None and made.shape.ndims is not None:
            self.shape[-2 if adjoint != solved else -1].assert_is_compatible_with(made.shape[axis])
        return made

    def _told(self, made: Tensor, x: Tensor, rows: int, columns: int) -> Tensor:
        """Return matrices with what is known of their shape. rows, columns: axes of the operator and of x."""
        if self.shape.ndims is not None and x.shape.ndims is not None:
            made.set_shape(broadcast_shapes(self.batch_shape, x.shape[:-2]).concatenate(
                [self.shape[rows], x.shape[columns]]))
        return made

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """Multiply the matrices by x, [..., n, k]; another operator gives an operator.

        adjoint: take the adjoint of the matrices. adjoint_arg: take the adjoint of x. Raises ValueError for sizes that
        don't fit, TypeError for another dtype.
        """
        if isinstance(x, LinearOperator):
            return self._with_operator("product", x, adjoint, adjoint_arg, name)
        with self._scope(name):
            x = self._taken(x, adjoint, -1 if adjoint_arg else -2, False, "x")
            return self._told(self._matmul(x, adjoint, adjoint_arg), x, -1 if adjoint else -2,
                              -2 if adjoint_arg else -1)

    def __matmul__(self, x: Any) -> Any:
        return self.matmul(x)

    def _with_operator(self, what: str, x: LinearOperator, adjoint: bool, adjoint_arg: bool, name: str) -> Any:
        left, right = (self.adjoint() if adjoint else self), (x.adjoint() if adjoint_arg else x)
        inner = left.domain_dimension if what == "product" else left.range_dimension
        if not inner.is_compatible_with(right.range_dimension):
            raise ValueError(f"Operators are incompatible. Expected `x` to have dimension {inner} but got "
                             f"{right.range_dimension}.")
        with self._scope(name):
            return apply_rule(what, left, right)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """Multiply the matrices by vectors x, [..., n]. adjoint: take the adjoint of the matrices."""
        with self._scope(name):
            return self._matvec(self._taken(x, adjoint, -1, False, "x"), adjoint)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return squeeze(self._matmul(column(x), adjoint), -1)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """Solve A X = rhs for X, [..., n, k]; another operator gives an operator.

        rhs: [..., n, k]. adjoint: solve with the adjoint of A. adjoint_arg: take the adjoint of rhs. Raises
        NotImplementedError for what is known to be singular or not square, ValueError and TypeError as `matmul`.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            return self._with_operator("solution", rhs, adjoint, adjoint_arg, name)
        with self._scope(name):
            rhs = self._taken(rhs, adjoint, -1 if adjoint_arg else -2, True, "rhs")
            return self._told(self._solve(rhs, adjoint, adjoint_arg), rhs, -2 if adjoint else -1,
                              -2 if adjoint_arg else -1)

    def _check_solvable(self) -> None:
        problem = "be singular" if self.is_non_singular is False else "not be square" if self.is_square is False else ""
        if problem:
            raise NotImplementedError(f"Exact solve not implemented for an operator that is expected to {problem}.")

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        if self._has_cholesky():
            return solve_by_cholesky(cholesky(self._to_dense()), rhs)
        return solve_dense(self._to_dense(), rhs, adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """Solve A x = rhs for vectors x, [..., n]. rhs: vectors. adjoint: solve with the adjoint of A."""
        self._check_solvable()
        with self._scope(name):
            return self._solvevec(self._taken(rhs, adjoint, -1, True, "rhs"), adjoint)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return squeeze(self._solve(column(rhs), adjoint), -1)

    # Operators

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """Return the operator of the conjugate transposes."""
        if self.is_self_adjoint is True:
            return self
        with self._scope(name):
            made: LinearOperator = apply_rule("adjoint", self)
            return made

    @property
    def H(self) -> LinearOperator:      # noqa: N802  TensorFlow's name
        """The adjoint."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """Return the operator of the inverses. Raises ValueError for what is not square or known to be singular."""
        problem = "non square" if self.is_square is False else "singular" if self.is_non_singular is False else ""
        if problem:
            raise ValueError(f"Cannot take the Inverse: This operator represents a {problem} matrix.")
        with self._scope(name):
            made: LinearOperator = apply_rule("inverse", self)
            return made

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """Return the operator of the lower triangular factors L, L L^H = A.

        Raises ValueError unless hints say that A is self-adjoint and positive definite.
        """
        if not self._has_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._scope(name):
            made: LinearOperator = apply_rule("cholesky", self)
            return made

    def _has_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    # Numbers and dense matrices

    def _check_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is expected to not be square.")

    def determinant(self, name: str = "det") -> Tensor:
        """Compute the determinants, of the batch shape. Raises NotImplementedError for what is not square."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._determinant()

    def _determinant(self) -> Tensor:
        return exp(self._log_abs_determinant()) if self._has_cholesky() else matrix_determinant(self._to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """Compute the logarithms of the absolute determinants. Raises NotImplementedError for what is not square."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self._has_cholesky():
            return 2 * reduce_sum(log(matrix_diag_part(cholesky(self._to_dense()))), -1)
        return slogdet(self._to_dense())[1]

    def trace(self, name: str = "trace") -> Tensor:
        """Compute the sums of the diagonals."""
        with self._scope(name):
            return self._trace()

    def _trace(self) -> Tensor:
        return reduce_sum(self._diag_part(), -1)

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """Return the diagonals, [..., min(m, n)]."""
        with self._scope(name):
            return self._diag_part()

    def _diag_part(self) -> Tensor:
        return matrix_diag_part(self._to_dense())

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """Return the matrices, [..., m, n]."""
        with self._scope(name):
            made = self._to_dense()
            made.set_shape(self.shape)
            return made

    def _to_dense(self) -> Tensor:
        return self._matmul(eye(self._side(-1), batch_shape=self._lead(), dtype=self.dtype))

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """Add the matrices to x. x: matrices, whose shape broadcasts with theirs. Raises TypeError for its dtype."""
        with self._scope(name):
            made = convert_to_tensor(x, name="x")
            if made.dtype.base_dtype != self.dtype:
                raise TypeError(f"Expected argument `x` to have dtype {self.dtype.name}, got {made.dtype.name}")
            return self._add_to_tensor(made)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        made: Tensor = raw.AddV2(self._to_dense(), x)
        return made

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """Compute the eigenvalues, [..., n]. Raises NotImplementedError unless the hint says that A is self-adjoint."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        with self._scope(name):
            return self._eigvals()

    def _eigvals(self) -> Tensor:
        return self_adjoint_eigvals(self._to_dense())

    def cond(self, name: str = "cond") -> Tensor:
        """Compute the condition numbers: the largest over the least singular value."""
        with self._scope(name):
            return self._cond()

    def _cond(self) -> Tensor:
        if self.is_self_adjoint:
            values = raw.ComplexAbs(self._eigvals()) if self.dtype.is_complex else raw.Abs(self._eigvals())
        else:
            values = raw.Svd(self._to_dense(), compute_uv=False)[0]
        made: Tensor = raw.RealDiv(reduce_max(values, -1), reduce_min(values, -1))
        return cast(made, self.dtype)

    # Checks in a run

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """Return an op that raises InvalidArgumentError for what is singular, or almost so in this precision."""
        with self._scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self) -> Operation:
        dtype = as_dtype(self.dtype.real_dtype)
        sides: Any = cast(raw.Maximum(self._side(-2), self._side(-1)), dtype)
        return assert_less(cast(self._cond(), dtype), 1 / (sides * float(np.finfo(dtype.as_numpy_dtype).eps)),
                           message="Singular matrix up to precision epsilon.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        """Return an op that raises InvalidArgumentError for what is not positive definite.

        Raises NotImplementedError where no hint says that A is self-adjoint, and its class knows no other way.
        """
        with self._scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Operation:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        numbers = real(matrix_diag_part(cholesky(self._to_dense())))
        return assert_positive(numbers, message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """Return an op that raises InvalidArgumentError for what is not its own adjoint."""
        with self._scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Operation:
        dense = self._to_dense()
        return assert_equal(adjoint_of(dense), dense, message="Matrix was not equal to its adjoint.")


describe(globals(), LINEAR_OPERATORS)
