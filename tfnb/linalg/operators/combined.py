"""Operators made of several: products, block diagonals, Kronecker products."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import Any

from tfnb.core.arguments import LINEAR_OPERATORS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.linalg.matrices import adjoint as adjoint_of
from tfnb.linalg.operators.batches import (
    broadcast_batches,
    common_lead,
    joined,
    no_numbers,
    sizes,
    split_batch,
    with_lead,
)
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.linalg.operators.shaped import implied
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims, matrix_transpose, shape
from tfnb.ops.control.group import group
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import add_n
from tfnb.ops.math.casting import cast


class _Several(LinearOperator):
    """An operator made of a list of others."""

    _joint, _what = "", ""
    _inherited: Sequence[str] = ("non-singular", "self-adjoint", "positive definite")

    def __init__(self, operators: Any, is_non_singular: bool | None, is_self_adjoint: bool | None,
                 is_positive_definite: bool | None, is_square: bool | None, name: str | None) -> None:
        operators = list(operators) if isinstance(operators, (list, tuple)) else [operators]
        if not operators:
            raise ValueError("Expected a non-empty list of operators. Found: []")
        if len({each.dtype for each in operators}) > 1:
            raise TypeError("Expected all operators to have the same dtype. Found "
                            + ", ".join(f"{each.name}: {each.dtype.name}" for each in operators))
        self._operators: list[LinearOperator] = operators
        super().__init__(
            operators[0].dtype, [p for each in operators for p in each.graph_parents],
            self._agreed("non-singular", is_non_singular), self._agreed("self-adjoint", is_self_adjoint),
            self._agreed("positive definite", is_positive_definite), is_square,
            name or self._joint.join(each.name for each in operators))

    def _agreed(self, what: str, hint: bool | None) -> bool | None:
        """Return a hint, True where all operators have it and the combination inherits it."""
        asked = "is_" + what.replace("-", "_").replace(" ", "_")
        return implied(hint, what in self._inherited and all(getattr(each, asked) for each in self._operators),
                       f"The {self._what} of {what} operators is always {what}.")

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators that it is made of."""
        return self._operators

    def _common_batch(self) -> TensorShape:
        return common_lead([each.batch_shape for each in self._operators])

    def _lead(self) -> Any:
        return sizes(self._common_batch(),
                     lambda: reduce(raw.BroadcastArgs, [each.batch_shape_tensor() for each in self._operators]))

    def _known(self, rows: Any, columns: Any) -> TensorShape:
        """Return the static shape, given the numbers of rows and columns where they are known."""
        batch = self._common_batch()
        return batch if batch.ndims is None else batch.concatenate([rows, columns])

    def _known_sides(self, axis: int) -> list[Any]:
        return [(each.range_dimension if axis == -2 else each.domain_dimension).value for each in self._operators]


@public("linalg.LinearOperatorComposition", "contrib.linalg.LinearOperatorComposition")
class LinearOperatorComposition(_Several):
    """Products of operators, which are applied from the last to the first. operators: a list of at least one.

    Raises ValueError for sizes that don't fit, TypeError for different dtypes.

    >>> twice = tf.linalg.LinearOperatorScaledIdentity(2, 2.0)
    >>> both = tf.linalg.LinearOperatorComposition([twice, tf.linalg.LinearOperatorDiag([1.0, 3.0])])
    >>> sess.run(both.matvec([1.0, 1.0]))
    array([2., 6.], dtype=float32)
    """

    _joint, _what, _inherited = "_o_", "composition", ("non-singular",)

    def __init__(self, operators: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str | None = None) -> None:
        super().__init__(operators, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
        for left, right in zip(self._operators, self._operators[1:], strict=False):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)

    def _shape(self) -> TensorShape:
        return self._known(self._operators[0].range_dimension, self._operators[-1].domain_dimension)

    def _shape_tensor(self) -> Any:
        return joined(self._lead(), [self._operators[0]._side(-2), self._operators[-1]._side(-1)])

    def _through(self, x: Tensor, method: str, operators: Sequence[LinearOperator], adjoint: bool,
                 adjoint_arg: bool) -> Tensor:
        """Return x after the method of each operator."""
        for i, each in enumerate(operators):
            x = getattr(each, method)(x, adjoint=adjoint, adjoint_arg=adjoint_arg and not i)
        return x

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        order = self._operators if adjoint else self._operators[::-1]
        return self._through(x, "matmul", order, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        order = self._operators[::-1] if adjoint else self._operators
        return self._through(rhs, "solve", order, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return reduce(raw.Mul, [each.determinant() for each in self._operators])

    def _log_abs_determinant(self) -> Tensor:
        return reduce(raw.AddV2, [each.log_abs_determinant() for each in self._operators])

    def _assert_non_singular(self) -> Operation:
        if all(each.is_square for each in self._operators):
            return group(*(each.assert_non_singular() for each in self._operators))
        return super()._assert_non_singular()


@public("linalg.LinearOperatorBlockDiag", "contrib.linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(_Several):
    """Block diagonal matrices, of operators along the diagonal. operators: a list of at least one.

    Raises ValueError for hints that don't fit, TypeError for different dtypes.

    >>> blocks = [tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]), tf.linalg.LinearOperatorIdentity(1)]
    >>> sess.run(tf.linalg.LinearOperatorBlockDiag(blocks).to_dense())
    array([[1., 2., 0.],
           [3., 4., 0.],
           [0., 0., 1.]], dtype=float32)
    """

    _joint, _what = "_ds_", "direct sum"

    def __init__(self, operators: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = True,
                 name: str | None = None) -> None:
        super().__init__(operators, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _shape(self) -> TensorShape:
        sides = [self._known_sides(axis) for axis in (-2, -1)]
        return self._known(*(None if None in each else sum(each) for each in sides))

    def _shape_tensor(self) -> Any:
        return joined(self._lead(), [add_n([each.range_dimension_tensor() for each in self._operators]),
                                     add_n([each.domain_dimension_tensor() for each in self._operators])])

    def _blocks(self, x: Tensor, method: str, rows: int, adjoint: bool, adjoint_arg: bool) -> Tensor:
        """Return the results of a method, block by block. rows: the axis of the operators that the rows of x are."""
        parts = raw.SplitV(x, [each._side(rows) for each in self._operators], -1 if adjoint_arg else -2,
                           num_split=len(self._operators)) if len(self._operators) > 1 else [x]
        made = [getattr(each, method)(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
                for each, part in zip(self._operators, parts, strict=True)]
        return concat(broadcast_batches(*made), -2)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._blocks(x, "matmul", -2 if adjoint else -1, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._blocks(rhs, "solve", -1 if adjoint else -2, adjoint, adjoint_arg)

    def _all_square(self) -> bool:
        return all(each.is_square for each in self._operators)

    def _determinant(self) -> Tensor:
        if not self._all_square():
            return super()._determinant()
        return reduce(raw.Mul, [each.determinant() for each in self._operators])

    def _log_abs_determinant(self) -> Tensor:
        if not self._all_square():
            return super()._log_abs_determinant()
        return reduce(raw.AddV2, [each.log_abs_determinant() for each in self._operators])

    def _vectors(self, method: str) -> Tensor:
        made = [expand_dims(getattr(each, method)(), -1) for each in self._operators]
        return concat(broadcast_batches(*made), -2)[..., 0]

    def _diag_part(self) -> Tensor:
        return self._vectors("diag_part") if self._all_square() else super()._diag_part()

    def _trace(self) -> Tensor:
        if not self._all_square():
            return super()._trace()
        return reduce(raw.AddV2, [each.trace() for each in self._operators])

    def _eigvals(self) -> Tensor:
        return self._vectors("eigvals") if self._all_square() else super()._eigvals()

    def _to_dense(self) -> Tensor:
        lead, before, rows = self._lead(), 0, []
        for each in self._operators:
            block = with_lead(each.to_dense(), lead)
            after = self._side(-1) - before - each._side(-1)
            rows.append(concat([no_numbers(lead, each._side(-2), before, self.dtype), block,
                                no_numbers(lead, each._side(-2), after, self.dtype)], -1))
            before = before + each._side(-1)
        return concat(rows, -2)

    def _assert_non_singular(self) -> Operation:
        return group(*(each.assert_non_singular() for each in self._operators))

    def _assert_self_adjoint(self) -> Operation:
        return group(*(each.assert_self_adjoint() for each in self._operators))

    def _assert_positive_definite(self) -> Operation:
        return group(*(each.assert_positive_definite() for each in self._operators))


@public("linalg.LinearOperatorKronecker", "contrib.linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(_Several):
    """Kronecker products: the block (i, j) is element (i, j) of the first operator times the product of the others.

    operators: a list of at least one. Raises ValueError for hints that don't fit, TypeError for different dtypes.

    >>> first = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.linalg.LinearOperatorKronecker([first, tf.linalg.LinearOperatorDiag([1.0, 10.0])]).to_dense())
    array([[ 1.,  0.,  2.,  0.],
           [ 0., 10.,  0., 20.],
           [ 3.,  0.,  4.,  0.],
           [ 0., 30.,  0., 40.]], dtype=float32)
    """

    _joint, _what = "_x_", "Kronecker product"

    def __init__(self, operators: Any, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
                 is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str | None = None) -> None:
        super().__init__(operators, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _shape(self) -> TensorShape:
        sides = [self._known_sides(axis) for axis in (-2, -1)]
        return self._known(*(None if None in each else prod(each) for each in sides))

    def _shape_tensor(self) -> Any:
        return joined(self._lead(), [reduce(raw.Mul, [each.range_dimension_tensor() for each in self._operators]),
                                     reduce(raw.Mul, [each.domain_dimension_tensor() for each in self._operators])])

    def _through(self, x: Tensor, method: str, rows: int, adjoint: bool, adjoint_arg: bool) -> Tensor:
        """Return the results of a method of each operator along its axis of x. rows: the operators' axis that it is.

        Each step takes the leading axis, [..., n, rest], and puts its result last, [..., rest, m]: after the last step
        the columns of x come first.
        """
        x = adjoint_of(x) if adjoint_arg else x
        for each in self._operators:
            lead = sizes(x.shape[:-2], lambda x=x: shape(x)[:-2])
            x = matrix_transpose(getattr(each, method)(split_batch(x, lead, each._side(rows), -1), adjoint=adjoint))
        lead = sizes(x.shape[:-2], lambda: shape(x)[:-2])
        other = self._side(-1 if rows == -2 else -2)
        return matrix_transpose(split_batch(x, lead, -1, other))

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._through(x, "matmul", -2 if adjoint else -1, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        if not all(each.is_square for each in self._operators):
            return super()._solve(rhs, adjoint, adjoint_arg)
        return self._through(rhs, "solve", -1 if adjoint else -2, adjoint, adjoint_arg)

    def _powers(self) -> list[Any]:
        return [cast(raw.FloorDiv(self._side(-1), each._side(-1)), self.dtype) for each in self._operators]

    def _determinant(self) -> Tensor:
        return reduce(raw.Mul, [raw.Pow(each.determinant(), power)
                                for each, power in zip(self._operators, self._powers(), strict=True)])

    def _log_abs_determinant(self) -> Tensor:
        return reduce(raw.AddV2, [raw.Mul(each.log_abs_determinant(), power)
                                  for each, power in zip(self._operators, self._powers(), strict=True)])

    def _trace(self) -> Tensor:
        if not all(each.is_square for each in self._operators):
            return super()._trace()
        return reduce(raw.Mul, [each.trace() for each in self._operators])

    def _outer(self, of: Callable[[LinearOperator], Tensor]) -> Tensor:
        """Return the outer product of vectors [..., n], one of each operator, as vectors."""
        made: Any = of(self._operators[0])
        for each in self._operators[1:]:
            made = expand_dims(made, -1) * expand_dims(of(each), -2)
            made = split_batch(made, sizes(made.shape[:-2], lambda made=made: shape(made)[:-2]), -1)
        found: Tensor = made
        return found

    def _diag_part(self) -> Tensor:
        if not all(each.is_square for each in self._operators):
            return super()._diag_part()
        return self._outer(LinearOperator.diag_part)

    def _eigvals(self) -> Tensor:
        return self._outer(LinearOperator.eigvals)

    def _to_dense(self) -> Tensor:
        made: Any = self._operators[0].to_dense()
        rows, columns = self._operators[0]._side(-2), self._operators[0]._side(-1)
        for each in self._operators[1:]:
            block: Any = each.to_dense()
            made = made[..., :, None, :, None] * block[..., None, :, None, :]
            rows, columns = rows * each._side(-2), columns * each._side(-1)
            made = split_batch(made, sizes(made.shape[:-4], lambda made=made: shape(made)[:-4]), rows, columns)
        found: Tensor = made
        return found

    def _assert_non_singular(self) -> Operation:
        if not all(each.is_square for each in self._operators):
            return super()._assert_non_singular()
        return group(*(each.assert_non_singular() for each in self._operators))

    def _assert_self_adjoint(self) -> Operation:
        return group(*(each.assert_self_adjoint() for each in self._operators))


describe(globals(), LINEAR_OPERATORS)
