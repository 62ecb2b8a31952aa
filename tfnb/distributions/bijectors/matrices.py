"""Bijectors between vectors and matrices, of triangular matrices, and of ordered and normalized vectors."""
from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import Assert, assert_equal, assert_near, assert_positive
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.core.shape import TensorShape
from tfnb.distributions.bijectors.bijector import Bijector
from tfnb.distributions.bijectors.scalar import AffineScalar, Softplus
from tfnb.distributions.bijectors.vectors import Chain
from tfnb.distributions.matrices import fill_triangular, fill_triangular_inverse, triangle_size
from tfnb.distributions.parameters import checked, number
from tfnb.graph.parts.operation import Tensor
from tfnb.linalg.matrices import cholesky
from tfnb.ops.array.create import eye
from tfnb.ops.array.diagonals import matrix_diag_part, matrix_set_diag
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.reductions.matmul import matmul
from tfnb.ops.reductions.reduce import cumsum


def _size_of(count: Tensor) -> Any:
    """Return n with n (n + 1) / 2 = count, as a tensor."""
    root = raw.Sqrt(raw.Cast(8 * count + 1, DstT="float64"))
    return raw.Cast(raw.Round((root - 1) / 2), DstT="int32")


class FillTriangular(Bijector):
    """The bijector that fills triangular matrices, (..., n, n), with vectors, (..., n (n + 1) / 2), in a spiral.

    upper: whether the upper triangle is filled, in place of the lower one.

    >>> sess.run(tf.contrib.distributions.bijectors.FillTriangular().forward([1.0, 2.0, 3.0]))
    array([[3., 0.],
           [2., 1.]], dtype=float32)
    """

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular") -> None:
        self._upper = upper
        super().__init__(None, True, validate_args, forward_min_event_ndims=1, inverse_min_event_ndims=2, name=name)

    def _forward(self, x: Any) -> Any:
        return fill_triangular(x, self._upper)

    def _inverse(self, y: Any) -> Any:
        return fill_triangular_inverse(y, self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return raw.ZerosLike(raw.Sum(x, [-1]))

    def _forward_event_shape(self, shape: TensorShape) -> Any:
        size = triangle_size(shape[-1].value)
        return shape[:-1].concatenate([size, size])

    def _inverse_event_shape(self, shape: TensorShape) -> Any:
        size = shape[-1].value
        if not shape[-1].is_compatible_with(shape[-2]):
            raise ValueError(f"Matrix must be square, got the shape {shape}")
        return shape[:-2].concatenate([None if size is None else size * (size + 1) // 2])

    def _forward_event_shape_tensor(self, shape: Any) -> Any:
        size = raw.Reshape(_size_of(shape[-1]), [1])
        return concat([shape[:-1], size, size], 0)

    def _inverse_event_shape_tensor(self, shape: Any) -> Any:
        size = shape[-1:]
        return concat([shape[:-2], raw.FloorDiv(size * (size + 1), 2)], 0)


class TransformDiagonal(Bijector):
    """The bijector that applies another one to the diagonals of matrices, and leaves the rest.

    diag_bijector: of numbers, or of vectors.

    >>> tfb = tf.contrib.distributions.bijectors
    >>> sess.run(tfb.TransformDiagonal(tfb.Exp()).forward([[0.0, 5.0], [6.0, 0.0]]))
    array([[1., 5.],
           [6., 1.]], dtype=float32)
    """

    def __init__(self, diag_bijector: Bijector, validate_args: bool = False, name: str = "transform_diagonal") -> None:
        self._diag_bijector = diag_bijector
        super().__init__(diag_bijector.graph_parents, diag_bijector.is_constant_jacobian, validate_args,
                         forward_min_event_ndims=2, name=name)

    def _forward(self, x: Any) -> Any:
        return matrix_set_diag(x, self._diag_bijector.forward(matrix_diag_part(x)))

    def _inverse(self, y: Any) -> Any:
        return matrix_set_diag(y, self._diag_bijector.inverse(matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(matrix_diag_part(x), 1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(matrix_diag_part(y), 1)


class ScaleTriL(Chain):
    """The bijector of vectors, (..., n (n + 1) / 2), to lower triangular matrices with positive diagonals.

    diag_bijector: of the diagonal, softplus by default; diag_shift: added to it then, None for nothing.

    >>> tfb = tf.contrib.distributions.bijectors
    >>> sess.run(tfb.ScaleTriL(diag_bijector=tfb.Exp(), diag_shift=None).forward([0.0, 3.0, 0.0]))
    array([[1., 0.],
           [3., 1.]], dtype=float32)
    """

    def __init__(self, diag_bijector: Bijector | None = None, diag_shift: Any = 1e-5, validate_args: bool = False,
                 name: str = "scale_tril") -> None:
        diagonal = Softplus() if diag_bijector is None else diag_bijector
        if diag_shift is not None:
            diagonal = Chain([AffineScalar(shift=diag_shift), diagonal])
        super().__init__([TransformDiagonal(diagonal), FillTriangular()], validate_args, name)


def _weighted_logs(diagonal: Any, weights: Callable[[np.ndarray], np.ndarray], size: Any) -> Any:
    """Return sums of log |d[i]| * weights(i) of diagonals d (..., n)."""
    places = raw.Cast(raw.Range(0, size, 1), DstT=diagonal.dtype)
    return raw.Sum(raw.Log(raw.Abs(diagonal)) * weights(places), [-1])


class CholeskyOuterProduct(Bijector):
    """The bijector y = x x^T of lower triangular matrices with positive diagonals.

    >>> b = tf.contrib.distributions.bijectors.CholeskyOuterProduct()
    >>> sess.run([b.forward([[1.0, 0.0], [2.0, 1.0]]), b.inverse([[1.0, 2.0], [2.0, 5.0]])])
    [array([[1., 2.],
            [2., 5.]], dtype=float32),
     array([[1., 0.],
            [2., 1.]], dtype=float32)]
    """

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        if self.validate_args:
            x = checked(x, [assert_equal(x, raw.MatrixBandPart(x, -1, 0), message="expected lower triangular matrices"),
                            assert_positive(matrix_diag_part(x), message="Diagonal part must be positive.")])
        return matmul(x, x, transpose_b=True)

    def _inverse(self, y: Any) -> Any:
        return cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        n = shape_of(x)[-1]                                          # 2^n times the product of x[i, i]^(n - i)
        size = raw.Cast(n, DstT=x.dtype)
        return size * log(2.0) + _weighted_logs(matrix_diag_part(x), lambda i: size - i, n)


class MatrixInverseTriL(Bijector):
    """The bijector y = inverse of x, of lower triangular matrices.

    >>> sess.run(tf.contrib.distributions.bijectors.MatrixInverseTriL().forward([[1.0, 0.0], [2.0, 1.0]]))
    array([[ 1.,  0.],
           [-2.,  1.]], dtype=float32)
    """

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        if self.validate_args:
            fine = raw.All(raw.NotEqual(matrix_diag_part(x), number(0, x)), raw.Range(0, raw.Rank(x) - 1, 1))
            x = checked(x, [assert_equal(x, raw.MatrixBandPart(x, -1, 0), message="expected lower triangular matrices"),
                            Assert(fine, ["expected diagonals without zeros", x])])
        right = eye(shape_of(x)[-1], dtype=x.dtype) + raw.ZerosLike(x)
        return raw.MatrixTriangularSolve(x, right, lower=True)

    _inverse = _forward

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        n = shape_of(x)[-1]
        return -raw.Cast(n + 1, DstT=x.dtype) * _weighted_logs(matrix_diag_part(x), raw.OnesLike, n)


class Ordered(Bijector):
    """The bijector of vectors with increasing elements to any vectors: y[0] = x[0], y[i] = log(x[i] - x[i - 1]).

    >>> b = tf.contrib.distributions.bijectors.Ordered()
    >>> sess.run([b.forward([2.0, 3.0, 4.0]), b.inverse([2.0, 0.0, 0.0])])
    [array([2., 0., 0.], dtype=float32), array([2., 3., 4.], dtype=float32)]
    """

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _steps(self, x: Any) -> Any:
        steps = x[..., 1:] - x[..., :-1]
        checks = [assert_positive(steps, message="Forward transformation input must be strictly increasing.")] \
            if self.validate_args else []
        return checked(steps, checks)

    def _forward(self, x: Any) -> Any:
        return concat([x[..., :1], raw.Log(self._steps(x))], -1)

    def _inverse(self, y: Any) -> Any:
        return cumsum(concat([y[..., :1], raw.Exp(y[..., 1:])], -1), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -raw.Sum(raw.Log(self._steps(x)), [-1])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return raw.Sum(y[..., 1:], [-1])


class SoftmaxCentered(Bijector):
    """The bijector of vectors to probabilities with one element more: y = softmax of x and a 0 behind it.

    >>> b = tf.contrib.distributions.bijectors.SoftmaxCentered()
    >>> sess.run([b.forward(tf.log([2.0, 3.0, 4.0])), b.inverse([0.2, 0.3, 0.4, 0.1])])
    [array([0.2, 0.3, 0.4, 0.1], dtype=float32), array([0.6931, 1.0986, 1.3863], dtype=float32)]
    """

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        y = raw.Softmax(concat([x, raw.ZerosLike(x[..., :1])], -1))
        y.set_shape(x.shape[:-1].concatenate(self._forward_event_shape(x.shape[-1:])) if x.shape.ndims else None)
        return y

    def _valid(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        return checked(y, [assert_positive(y, message="expected probabilities above 0"), assert_near(
            raw.Sum(y, [-1]), number(1, y), message="Last dimension does not sum to `1`.")])

    def _inverse(self, y: Any) -> Any:
        logs = raw.Log(self._valid(y))
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:              # of all elements but the last, which follows
        return -raw.Sum(raw.Log(self._valid(y)), [-1])

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return raw.Sum(raw.LogSoftmax(concat([x, raw.ZerosLike(x[..., :1])], -1)), [-1])

    def _forward_event_shape(self, shape: TensorShape) -> Any:
        return shape[:-1].concatenate([None if shape[-1].value is None else shape[-1].value + 1])

    def _inverse_event_shape(self, shape: TensorShape) -> Any:
        if shape[-1].value is not None and shape[-1].value < 2:
            raise ValueError(f"expected vectors of at least 2 elements, got the shape {shape}")
        return shape[:-1].concatenate([None if shape[-1].value is None else shape[-1].value - 1])

    def _forward_event_shape_tensor(self, shape: Any) -> Any:
        return concat([shape[:-1], shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, shape: Any) -> Any:
        return concat([shape[:-1], shape[-1:] - 1], 0)


describe(globals(), DISTRIBUTIONS)
