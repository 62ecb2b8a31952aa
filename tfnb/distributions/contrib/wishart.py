"""Wishart distributions: random positive definite matrices."""
from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_less_equal, assert_positive
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfnb.distributions.parameters import checked, floats, new_seed, number, where_defined
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import cholesky
from tfnb.linalg.operators.dense import LinearOperatorLowerTriangular
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.ops.array.diagonals import matrix_diag_part, matrix_set_diag
from tfnb.ops.array.joining import broadcast_to, concat
from tfnb.ops.array.reshape import broadcast_dynamic_shape, broadcast_static_shape, expand_dims
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random.random_ops import random_normal
from tfnb.ops.random.samples import random_gamma
from tfnb.ops.reductions.matmul import matmul


class _Wishart(Distribution):
    """Wishart distribution by the Cholesky factor of its scale."""

    _operator: LinearOperator

    def _begin(self, df: Any, factor: Tensor, cholesky_matrices: bool, options: tuple[bool, bool],
               parameters: dict[str, Any], name: str) -> None:
        self._operator = LinearOperatorLowerTriangular(factor, is_non_singular=True)
        self._df, _ = floats(("df", convert_to_tensor(df, dtype=factor.dtype)), ("scale", factor))
        size = self._operator.domain_dimension.value
        known = size if size is not None else self._operator.domain_dimension_tensor()
        self._size = raw.Cast(convert_to_tensor(known, name="dimension"), DstT=factor.dtype)
        if options[0]:
            message = f"Degrees of freedom (df = {df}) cannot be less than dimension of scale matrix ({known})"
            self._df = checked(self._df, [
                assert_less_equal(self._size, self._df, message=message),
                assert_positive(matrix_diag_part(factor), message="scale must be positive definite")])
        self._cholesky_matrices = bool(cholesky_matrices)
        Distribution.__init__(self, factor.dtype, FULLY_REPARAMETERIZED, *options, parameters, [self._df, factor], name,
                              ())

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    def scale(self) -> Tensor:
        """Return the scale matrix, (..., k, k)."""
        factor = self._operator.to_dense()
        return matmul(factor, factor, transpose_b=True)

    @property
    def scale_operator(self) -> LinearOperator:
        """The operator of the scale's Cholesky factor."""
        return self._operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether samples and values are Cholesky factors."""
        return self._cholesky_matrices

    @property
    def dimension(self) -> Tensor:
        """The number of rows of a matrix."""
        found: Tensor = raw.Cast(self._size, DstT="int32")
        return found

    def _batch_shape(self) -> Any:
        return broadcast_static_shape(self._df.shape, self._operator.batch_shape)

    def _batch_shape_tensor(self) -> Any:
        return broadcast_dynamic_shape(shape_of(self._df), self._operator.batch_shape_tensor())

    def _event_shape(self) -> Any:
        return self._operator.shape[-2:]

    def _event_shape_tensor(self) -> Any:
        return self._operator.shape_tensor()[-2:]

    def _of_df(self, x: Any) -> Any:
        """Return a number for each matrix so that it multiplies matrices."""
        return expand_dims(expand_dims(x, -1), -1)

    def _halves(self) -> Any:
        """Return (df - i) / 2 for each row i: (..., k)."""
        places = raw.Cast(raw.Range(0, self.dimension, 1), DstT=self.dtype)
        return 0.5 * (expand_dims(self._df, -1) - places)

    def _log_gamma(self) -> Any:
        """Return the logarithm of the multivariate gamma function at df / 2."""
        k = self._size
        return raw.Sum(raw.Lgamma(self._halves()), [-1]) + 0.25 * k * (k - 1) * log(pi)

    def _digamma(self) -> Any:
        return raw.Sum(raw.Digamma(self._halves()), [-1])

    def _log_scale(self) -> Any:
        """Return the logarithm of the determinant of the scale's factor, half of that of the scale."""
        return self._operator.log_abs_determinant()

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        shape = self._drawn_shape(n)
        below = random_normal(shape, dtype=self.dtype, seed=seed)
        halves = broadcast_to(self._halves(), concat([self.batch_shape_tensor(), self.event_shape_tensor()[-1:]], 0))
        squares = random_gamma(raw.Reshape(n, [1]), halves, number(0.5, halves), self.dtype,
                               seed=new_seed(seed, "wishart"))
        standard = matrix_set_diag(raw.MatrixBandPart(below, -1, 0), raw.Sqrt(squares))
        factor = self._operator.matmul(standard)
        return factor if self._cholesky_matrices else matmul(factor, factor, transpose_b=True)

    def _log_prob(self, x: Tensor) -> Any:
        factor = x if self._cholesky_matrices else cholesky(x)
        ratio = self._operator.solve(factor)
        squares = raw.Sum(raw.Square(ratio), np.array([-2, -1], np.int32))
        log_det = 2 * raw.Sum(raw.Log(matrix_diag_part(factor)), [-1])
        return 0.5 * ((self._df - self._size - 1) * log_det - squares) - self.log_normalization()

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """Return the logarithm of the constant that densities are divided by."""
        with self._name_scope(name):
            return self._df * (self._log_scale() + 0.5 * log(2.0) * self._size) + self._log_gamma()

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """Return the mean of the logarithm of the determinant of a sample."""
        with self._name_scope(name):
            return self._digamma() + self._size * log(2.0) + 2 * self._log_scale()

    def _entropy(self) -> Any:
        k, df = self._size, self._df
        return (k + 1) * self._log_scale() + 0.5 * k * (k + 1) * log(2.0) + self._log_gamma() \
            - 0.5 * (df - k - 1) * self._digamma() + 0.5 * df * k

    def _multiple(self, factor: Any) -> Any:
        """Return factor * scale, or its Cholesky factor."""
        if self._cholesky_matrices:
            return raw.Sqrt(self._of_df(factor)) * self._operator.to_dense()
        return self._of_df(factor) * self.scale()

    def _mean(self) -> Any:
        return self._multiple(self._df)

    def _variance(self) -> Any:
        v = self.scale()
        diagonal = matrix_diag_part(v)
        found = self._of_df(self._df) * (raw.Square(v) + expand_dims(diagonal, -1) * expand_dims(diagonal, -2))
        return cholesky(found) if self._cholesky_matrices else found

    def _stddev(self) -> Any:
        if self._cholesky_matrices:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return raw.Sqrt(self._variance())

    def _mode(self) -> Any:
        factor = self._df - self._size - 1
        return self._multiple(where_defined(raw.GreaterEqual(factor, number(0, factor)), factor, True, ""))


class WishartCholesky(_Wishart):
    """Wishart distribution of `df` degrees of freedom, its scale matrix given by its Cholesky factor.

    df: at least k; scale: lower triangular matrices with positive diagonals, (..., k, k);
    cholesky_input_output_matrices: whether samples, values and means are Cholesky factors (log_prob is still the
    density of the matrix). Samples have gradients.

    >>> d = tf.contrib.distributions.WishartCholesky(df=5.0, scale=[[1.0, 0.0], [1.0, 2.0]])
    >>> sess.run(d.mean())
    array([[ 5.,  5.],
           [ 5., 25.]], dtype=float32)
    """

    def __init__(self, df: Any, scale: Any, cholesky_input_output_matrices: bool = False, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "WishartCholesky") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as scope:
            factor = convert_to_tensor(scale, name="scale")
            self._begin(df, factor, cholesky_input_output_matrices, (validate_args, allow_nan_stats), parameters, scope)


class WishartFull(_Wishart):
    """Wishart distribution of `df` degrees of freedom and a scale matrix.

    df: at least k; scale: positive definite, (..., k, k); cholesky_input_output_matrices: as of `WishartCholesky`.

    >>> d = tf.contrib.distributions.WishartFull(df=5.0, scale=[[1.0, 1.0], [1.0, 5.0]])
    >>> sess.run(d.mean())
    array([[ 5.,  5.],
           [ 5., 25.]], dtype=float32)
    """

    def __init__(self, df: Any, scale: Any, cholesky_input_output_matrices: bool = False, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "WishartFull") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as scope:
            factor = cholesky(convert_to_tensor(scale, name="scale"))
            self._begin(df, factor, cholesky_input_output_matrices, (validate_args, allow_nan_stats), parameters, scope)


describe(globals(), DISTRIBUTIONS)
