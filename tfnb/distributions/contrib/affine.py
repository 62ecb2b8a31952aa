"""Distributions of vectors loc + scale @ z for independent elements of z: normal, exponential, Laplace."""
from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfnb.distributions.families import OfVectors, keep_parameters
from tfnb.distributions.kullback_leibler import RegisterKL
from tfnb.distributions.linear import gram, gram_diagonal, is_diagonal, scale_operator, vector_zeros
from tfnb.distributions.parameters import checked
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.matrices import cholesky
from tfnb.linalg.operators.dense import LinearOperatorLowerTriangular
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.ops.array.create import ones_like
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random.random_ops import random_normal, random_uniform


class _Affine(OfVectors):
    """The distribution of loc + scale @ z. A subclass states moments of an element of z, how to draw z, its density."""

    _scale: LinearOperator
    _moments = (0.0, 1.0, 0.0, 0.0)                      # mean, variance, mode, entropy

    def _begin(self, loc: Any, scale: LinearOperator, options: tuple[bool, bool], name: str,
               parameters: dict[str, Any]) -> None:
        self._scale = scale
        self._vector = convert_to_tensor(0.0 if loc is None else loc, name="loc", dtype=scale.dtype) \
            + vector_zeros(scale)
        if options[0]:
            self._vector = checked(self._vector, [scale.assert_non_singular()])
        Distribution.__init__(self, self._vector.dtype, FULLY_REPARAMETERIZED, *options, parameters,
                              [self._vector, *scale.graph_parents], name)

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._vector

    @property
    def scale(self) -> LinearOperator:
        """The linear operator that vectors of independent elements are multiplied by."""
        return self._scale

    def _size(self) -> Any:
        return raw.Cast(self.event_shape_tensor()[0], DstT=self.dtype)

    def _standard_sample(self, shape: Tensor, seed: int | None) -> Any: raise NotImplementedError

    def _standard_log_prob(self, z: Tensor) -> Any: raise NotImplementedError

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return self._scale.matvec(self._standard_sample(self._drawn_shape(n), seed)) + self._vector

    def _log_prob(self, x: Tensor) -> Any:
        z = self._scale.solvevec(x - self._vector)
        return raw.Sum(self._standard_log_prob(z), [-1]) - self._scale.log_abs_determinant()

    def _entropy(self) -> Any:
        return self._size() * self._moments[3] + self._scale.log_abs_determinant() \
            + raw.ZerosLike(raw.Sum(self._vector, [-1]))

    def _at(self, z: float) -> Any:
        if z == 0.0:
            return raw.Identity(self._vector)
        return self._scale.matvec(z * ones_like(self._vector)) + self._vector

    def _mean(self) -> Any:
        return self._at(self._moments[0])

    def _mode(self) -> Any:
        return self._at(self._moments[2])

    def _variance(self) -> Any:
        return self._moments[1] * gram_diagonal(self._scale) + raw.ZerosLike(self._vector)

    def _covariance(self) -> Any:
        return self._moments[1] * gram(self._scale) + raw.ZerosLike(expand_dims(self._vector, -1))


class MultivariateNormalLinearOperator(_Affine):
    """Normal distribution of vectors of covariance scale @ scale^T; samples have gradients.

    loc: the mean, (..., k), 0 by default; scale: a LinearOperator, square and not singular.

    >>> scale = tf.linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [0.5, 2.0]])
    >>> d = tf.contrib.distributions.MultivariateNormalLinearOperator([1.0, -1.0], scale)
    >>> sess.run([d.log_prob([1.0, 0.0]), d.variance()])
    [-2.656, array([1.  , 4.25], dtype=float32)]
    """

    _moments = (0.0, 1.0, 0.0, 0.5 * (1 + log(2 * pi)))

    def __init__(self, loc: Any = None, scale: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalLinearOperator") -> None:
        parameters = dict(locals())
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError(f"`scale` parameter must have floating-point dtype, got {scale.dtype.name}")
        with name_scope(name, values=[loc, *scale.graph_parents]) as scope:
            self._begin(loc, scale, (validate_args, allow_nan_stats), scope, parameters)

    def _standard_sample(self, shape: Tensor, seed: int | None) -> Any:
        return random_normal(shape, dtype=self.dtype, seed=seed)

    def _standard_log_prob(self, z: Tensor) -> Any:
        return -0.5 * (raw.Square(z) + log(2 * pi))


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_multivariate_normal(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_mvn"):
        shift = b.scale.solvevec(b.loc - a.loc)
        if is_diagonal(a.scale) and is_diagonal(b.scale):
            squares = raw.Sum(raw.Square(a.scale.diag_part() / b.scale.diag_part()), [-1])
        else:
            ratio = b.scale.solve(a.scale.to_dense())
            squares = raw.Sum(raw.Square(ratio), np.array([-2, -1], np.int32))
        return b.scale.log_abs_determinant() - a.scale.log_abs_determinant() \
            + 0.5 * (squares + raw.Sum(raw.Square(shift), [-1]) - a._size())


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """Normal distribution of vectors with independent elements; samples have gradients.

    loc: the mean, (..., k), 0 by default; scale_diag: standard deviations, (..., k), 1 by default;
    scale_identity_multiplier: added to all of them, (...).

    >>> d = tf.contrib.distributions.MultivariateNormalDiag(loc=[1.0, -1.0], scale_diag=[1.0, 2.0])
    >>> sess.run([d.log_prob([1.0, 0.0]), d.covariance()])
    [-2.656,
     array([[1., 0.],
            [0., 4.]], dtype=float32)]
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiag") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            scale = scale_operator(scale_diag, scale_identity_multiplier, like=loc)
            self._begin(loc, scale, (validate_args, allow_nan_stats), scope, parameters)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag with the standard deviations softplus(`scale_diag`).

    loc, scale_diag: as there.

    >>> d = tf.contrib.distributions.MultivariateNormalDiagWithSoftplusScale([0.0], [0.0])
    >>> sess.run(d.stddev())
    array([0.6931], dtype=float32)
    """

    def __init__(self, loc: Any, scale_diag: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiagWithSoftplusScale") -> None:
        parameters = dict(locals())
        super().__init__(loc, raw.Softplus(convert_to_tensor(scale_diag)), None, validate_args, allow_nan_stats, name)
        keep_parameters(self, parameters)


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """Normal distribution of vectors of covariance scale @ scale^T, scale = D + F diag(u) F^T; samples have gradients.

    loc: the mean, (..., k), 0 by default; scale_diag: the diagonal of D, (..., k), 1 by default;
    scale_identity_multiplier: added to all of it, (...); scale_perturb_factor: F, (..., k, r), by default no such part;
    scale_perturb_diag: u, (..., r), 1 by default.

    >>> d = tf.contrib.distributions.MultivariateNormalDiagPlusLowRank(
    ...     loc=[0.0, 0.0], scale_diag=[1.0, 2.0], scale_perturb_factor=[[1.0], [1.0]])
    >>> sess.run([d.scale.to_dense(), d.variance()])
    [array([[2., 1.],
            [1., 3.]], dtype=float32),
     array([ 5., 10.], dtype=float32)]
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 scale_perturb_factor: Any = None, scale_perturb_diag: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalDiagPlusLowRank") -> None:
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        with name_scope(name, values=given) as scope:
            like = loc
            if like is None and scale_perturb_factor is not None:
                like = convert_to_tensor(scale_perturb_factor)[..., 0]
            scale = scale_operator(scale_diag, scale_identity_multiplier, like=like, factor=scale_perturb_factor,
                                   update=scale_perturb_diag, positive=True)
            self._begin(loc, scale, (validate_args, allow_nan_stats), scope, parameters)


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """Normal distribution of vectors of covariance scale_tril @ scale_tril^T; samples have gradients.

    loc: the mean, (..., k), 0 by default; scale_tril: lower triangular matrices, (..., k, k), the identity by default.

    >>> d = tf.contrib.distributions.MultivariateNormalTriL([1.0, -1.0], [[1.0, 0.0], [0.5, 2.0]])
    >>> sess.run([d.log_prob([1.0, 0.0]), d.covariance()])
    [-2.656,
     array([[1.  , 0.5 ],
            [0.5 , 4.25]], dtype=float32)]
    """

    def __init__(self, loc: Any = None, scale_tril: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalTriL") -> None:
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name, values=[loc, scale_tril]) as scope:
            self._begin(loc, scale_operator(tril=scale_tril, like=loc), (validate_args, allow_nan_stats), scope,
                        parameters)


class MultivariateNormalFullCovariance(MultivariateNormalLinearOperator):
    """Normal distribution of vectors with a covariance matrix; samples have gradients.

    loc: the mean, (..., k), 0 by default; covariance_matrix: symmetric and positive definite, (..., k, k).

    >>> d = tf.contrib.distributions.MultivariateNormalFullCovariance([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]])
    >>> sess.run([d.log_prob([1.0, 0.0]), d.variance()])
    [-2.7205, array([2., 2.], dtype=float32)]
    """

    def __init__(self, loc: Any = None, covariance_matrix: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalFullCovariance") -> None:
        parameters = dict(locals())
        if loc is None and covariance_matrix is None:
            raise ValueError("Must specify one or both of `loc`, `covariance_matrix`.")
        with name_scope(name, values=[loc, covariance_matrix]) as scope:
            if covariance_matrix is None:
                scale = scale_operator(like=loc)
            else:
                factor = cholesky(convert_to_tensor(covariance_matrix, name="covariance_matrix"))
                scale = LinearOperatorLowerTriangular(factor, is_non_singular=True)
            self._begin(loc, scale, (validate_args, allow_nan_stats), scope, parameters)


class VectorExponentialDiag(_Affine):
    """Distribution of vectors loc + scale @ z for z of independent Exponential(1) elements; samples have gradients.

    loc: the least vector where scale is positive, (..., k), 0 by default; scale_diag: (..., k), 1 by default;
    scale_identity_multiplier: added to all of it, (...).

    >>> d = tf.contrib.distributions.VectorExponentialDiag(loc=[-1.0, 1.0], scale_diag=[1.0, 2.0])
    >>> sess.run([d.mean(), d.log_prob([0.0, 1.0])])
    [array([0., 3.], dtype=float32), -1.6931]
    """

    _moments = (1.0, 1.0, 0.0, 1.0)

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "VectorExponentialDiag") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            scale = scale_operator(scale_diag, scale_identity_multiplier, like=loc)
            self._begin(loc, scale, (validate_args, allow_nan_stats), scope, parameters)

    def _standard_sample(self, shape: Tensor, seed: int | None) -> Any:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        return -raw.Log(random_uniform(shape, tiny, 1.0, self.dtype, seed=seed))

    def _standard_log_prob(self, z: Tensor) -> Any:
        return -z


class VectorLaplaceDiag(_Affine):
    """Distribution of vectors loc + scale @ z for z of independent Laplace(0, 1) elements; samples have gradients.

    loc: the mean, (..., k), 0 by default; scale_diag: (..., k), 1 by default; scale_identity_multiplier: added to all
    of it, (...).

    >>> d = tf.contrib.distributions.VectorLaplaceDiag(loc=[-1.0, 1.0], scale_diag=[1.0, 2.0])
    >>> sess.run([d.variance(), d.log_prob([0.0, 1.0])])
    [array([2., 8.], dtype=float32), -3.0794]
    """

    _moments = (0.0, 2.0, 0.0, 1 + log(2.0))

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True, name: str = "VectorLaplaceDiag") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            scale = scale_operator(scale_diag, scale_identity_multiplier, like=loc)
            self._begin(loc, scale, (validate_args, allow_nan_stats), scope, parameters)

    def _standard_sample(self, shape: Tensor, seed: int | None) -> Any:
        below = np.nextafter(self.dtype.as_numpy_dtype(-1), self.dtype.as_numpy_dtype(0))
        u = random_uniform(shape, below, 1.0, self.dtype, seed=seed)
        return -raw.Sign(u) * raw.Log1p(-raw.Abs(u))

    def _standard_log_prob(self, z: Tensor) -> Any:
        return -raw.Abs(z) - log(2.0)


describe(globals(), DISTRIBUTIONS)
