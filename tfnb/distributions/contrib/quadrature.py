"""Compound distributions with integrals as sums over a grid: Poisson of a log-normal rate, mixtures of affine maps."""
from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.bijectors.matrices import SoftmaxCentered
from tfnb.distributions.continuous import Normal
from tfnb.distributions.contrib.discrete import Poisson
from tfnb.distributions.discrete import Categorical
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution
from tfnb.distributions.linear import gram_diagonal, is_diagonal
from tfnb.distributions.parameters import floats, new_seed, number
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.linalg.operators.dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from tfnb.linalg.operators.diagonal import LinearOperatorDiag
from tfnb.linalg.operators.operator import LinearOperator
from tfnb.ops.array.diagonals import matrix_diag
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.reductions.reduce import reduce_logsumexp

Scheme = Callable[..., tuple[Tensor, Tensor]]


def _hermite(size: int, like: Tensor) -> tuple[Any, Any]:
    """Return nodes of the standard normal distribution and their weights, vectors."""
    nodes, weights = np.polynomial.hermite.hermgauss(int(size))
    return number(nodes * sqrt(2.0), like), number(weights / weights.sum(), like)


def _midpoints(size: int, normal: Normal, function: Callable[[Any], Any]) -> Any:
    """Return the midpoints between `size` + 1 quantiles, the outer two left out, of a function of a normal variable."""
    levels = np.linspace(0.0, 1.0, int(size) + 3)[1:-1]
    edges = [function(expand_dims(normal.quantile(number(level, normal.loc)), -1)) for level in levels]
    return concat([(low + high) / 2 for low, high in zip(edges, edges[1:], strict=False)], -1)


def _even(size: int, like: Tensor) -> Any:
    return number(np.full(int(size), 1 / int(size)), like)


def quadrature_scheme_lognormal_gauss_hermite(loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False,
                                              name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return a grid of log-rates, (..., quadrature_size), of a log-normal rate, and weights: Gauss-Hermite quadrature.

    loc, scale: mean and standard deviation of the logarithm; quadrature_size: how many.

    >>> tfd = tf.contrib.distributions
    >>> grid, probs = tfd.quadrature_scheme_lognormal_gauss_hermite(0.0, 1.0, quadrature_size=3)
    >>> sess.run([grid, probs])
    [array([-1.7321,  0.    ,  1.7321], dtype=float32), array([0.1667, 0.6667, 0.1667], dtype=float32)]
    """
    with name_scope(name, "lognormal_gauss_hermite", values=[loc, scale]):
        loc, scale = floats(("loc", loc), ("scale", scale))
        nodes, weights = _hermite(quadrature_size, loc)
        return loc[..., None] + scale[..., None] * nodes, weights


def quadrature_scheme_lognormal_quantiles(loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False,
                                          name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return a grid of log-rates, (..., quadrature_size), of a log-normal rate, and weights: all equal.

    The rates are midpoints between quantiles. loc, scale: mean and standard deviation of the logarithm;
    quadrature_size: how many.

    >>> tfd = tf.contrib.distributions
    >>> grid, probs = tfd.quadrature_scheme_lognormal_quantiles(0.0, 1.0, quadrature_size=2)
    >>> sess.run([tf.exp(grid), probs])
    [array([0.7547, 1.4815], dtype=float32), array([0.5, 0.5], dtype=float32)]
    """
    with name_scope(name, "lognormal_quantiles", values=[loc, scale]):
        loc, scale = floats(("loc", loc), ("scale", scale))
        rates = _midpoints(quadrature_size, Normal(loc, scale), lambda x: raw.Exp(x))
        return raw.Log(rates), _even(quadrature_size, loc)


class _OfGrid(Distribution):
    """Base of mixtures of the points of a grid."""

    _weights: Categorical

    def _choices(self, shape: Any, seed: int | None, dtype: Any) -> Any:
        """Return one-hot vectors of drawn points, (*shape, quadrature size)."""
        drawn = self._weights.sample(shape, seed=new_seed(seed, "quadrature"))
        return one_hot(drawn, self._weights.event_size, dtype=dtype)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the points."""
        return self._weights


class PoissonLogNormalQuadratureCompound(_OfGrid):
    """Poisson distribution whose rate is log-normal, the integral over the rate being a sum over a grid.

    loc, scale: mean and standard deviation of the logarithm of the rate; quadrature_size: points of the grid;
    quadrature_fn: fn(loc, scale, quadrature_size, validate_args) -> (log-rates, weights).

    >>> d = tf.contrib.distributions.PoissonLogNormalQuadratureCompound(loc=0.0, scale=0.5, quadrature_size=10)
    >>> sess.run(tf.reduce_sum(d.prob(tf.range(30.0))))
    1.0
    """

    def __init__(self, loc: Any, scale: Any, quadrature_size: int = 8,
                 quadrature_fn: Scheme = quadrature_scheme_lognormal_quantiles, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "PoissonLogNormalQuadratureCompound") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as scope:
            self._loc, self._scale = floats(("loc", loc), ("scale", scale), positive=["scale"], validate=validate_args)
            grid, weights = quadrature_fn(self._loc, self._scale, quadrature_size, validate_args)
            self._weights = Categorical(logits=raw.Log(weights))
            self._poisson = Poisson(log_rate=grid)
        self._quadrature_size = quadrature_size
        super().__init__(self._loc.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._loc, self._scale], scope)

    @property
    def distribution(self) -> Any:
        """The Poisson distributions of the points, along the last batch axis."""
        return self._poisson

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm of the rate."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithm of the rate."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """The number of points."""
        return self._quadrature_size

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        chosen = self._choices(self._drawn_shape(n), seed, self.dtype)
        rates = raw.Sum(chosen * self._poisson.rate, [-1])
        return Poisson(rates).sample(seed=seed)

    def _log_prob(self, x: Tensor) -> Any:
        each = self._poisson.log_prob(expand_dims(x, -1))
        return reduce_logsumexp(each + raw.LogSoftmax(self._weights.logits), axis=-1)

    def _mean(self) -> Any:
        return raw.Sum(self._weights.probs * self._poisson.rate, [-1])

    def _variance(self) -> Any:
        mean = self._mean()
        spread = raw.SquaredDifference(self._poisson.rate, expand_dims(mean, -1))
        return mean + raw.Sum(self._weights.probs * spread, [-1])


def _classes(logits: Any) -> Any:
    """Return the probabilities (..., k + 1, points) of logits (..., k, points) and a 0."""
    return _swapped(SoftmaxCentered().forward(_swapped(logits)))


def _swapped(x: Any) -> Any:
    ndims = x.shape.ndims
    if ndims is None:
        raise ValueError("expected parameters of known rank")
    return raw.Transpose(x, np.array([*range(ndims - 2), ndims - 1, ndims - 2], np.int32))


def quadrature_scheme_softmaxnormal_gauss_hermite(normal_loc: Any, normal_scale: Any, quadrature_size: int,
                                                  validate_args: bool = False,
                                                  name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return a grid of probabilities of two classes, softmax of a normal logit and 0, and weights: Gauss-Hermite.

    normal_loc, normal_scale: of the logit, (..., 1); quadrature_size: how many points. The grid has the shape
    (..., 2, quadrature_size), the weights (quadrature_size,).

    >>> tfd = tf.contrib.distributions
    >>> grid, probs = tfd.quadrature_scheme_softmaxnormal_gauss_hermite([0.0], [1.0], quadrature_size=3)
    >>> sess.run([grid, probs])
    [array([[0.1503, 0.5   , 0.8497],
            [0.8497, 0.5   , 0.1503]], dtype=float32),
     array([0.1667, 0.6667, 0.1667], dtype=float32)]
    """
    with name_scope(name, "softmaxnormal_gauss_hermite", values=[normal_loc, normal_scale]):
        loc, scale = floats(("normal_loc", normal_loc), ("normal_scale", normal_scale))
        nodes, weights = _hermite(quadrature_size, loc)
        return _classes(loc[..., None] + scale[..., None] * nodes), weights


def quadrature_scheme_softmaxnormal_quantiles(normal_loc: Any, normal_scale: Any, quadrature_size: int,
                                              validate_args: bool = False,
                                              name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return a grid of probabilities of two classes, softmax of a normal logit and 0, and weights: all equal.

    Points are midpoints between quantiles. normal_loc, normal_scale: of the logit, (..., 1); quadrature_size: how many
    points. The grid has the shape (..., 2, quadrature_size), the weights (quadrature_size,).

    >>> tfd = tf.contrib.distributions
    >>> grid, probs = tfd.quadrature_scheme_softmaxnormal_quantiles([0.0], [1.0], quadrature_size=2)
    >>> sess.run([grid, probs])
    [array([[0.4188, 0.5812],
            [0.5812, 0.4188]], dtype=float32),
     array([0.5, 0.5], dtype=float32)]
    """
    with name_scope(name, "softmaxnormal_quantiles", values=[normal_loc, normal_scale]):
        loc, scale = floats(("normal_loc", normal_loc), ("normal_scale", normal_scale))
        grid = _midpoints(quadrature_size, Normal(loc, scale), _classes)
        return grid, _even(quadrature_size, loc)


class VectorDiffeomixture(_OfGrid):
    """Mixture of affine maps of vectors of independent elements, the weights of two maps being random.

    A sample is w @ locs + (w @ scales) @ z, z of independent elements of `distribution` and w = softmax of a normal
    logit, of mean mix_loc / temperature and standard deviation 1 / temperature, and 0; the integral over w is a sum
    over a grid. mix_loc: (..., 1); temperature: (..., 1); distribution: of scalars, with the batch shape []; loc: a
    list of two vectors, None for 0; scale: a list of two LinearOperators; quadrature_size: points of the grid;
    quadrature_fn: fn(loc, scale, quadrature_size, validate_args) -> (probabilities, weights). Raises ValueError for
    other numbers of maps.

    >>> tfd = tf.contrib.distributions
    >>> d = tfd.VectorDiffeomixture(
    ...     mix_loc=[0.0], temperature=[1.0], distribution=tfd.Normal(0.0, 1.0), loc=[None, [2.0, 2.0]],
    ...     scale=[tf.linalg.LinearOperatorDiag([1.0, 1.0]), tf.linalg.LinearOperatorDiag([2.0, 3.0])])
    >>> sess.run(d.mean())
    array([1., 1.], dtype=float32)
    """

    def __init__(self, mix_loc: Any, temperature: Any, distribution: Any, loc: Any = None, scale: Any = None,
                 quadrature_size: int = 8, quadrature_fn: Scheme = quadrature_scheme_softmaxnormal_quantiles,
                 validate_args: bool = False, allow_nan_stats: bool = True, name: str = "VectorDiffeomixture") -> None:
        parameters = dict(locals())
        if not scale or len(scale) < 2:
            raise ValueError(f"Must specify list (or list-like object) of scale LinearOperators, one for each mixture "
                             f"component, got {scale}")
        locs = [None] * len(scale) if loc is None else list(loc)
        if len(locs) != len(scale):
            raise ValueError(f"loc/scale must be same-length lists, got {len(locs)} and {len(scale)}")
        if len(scale) != 2:
            raise ValueError(f"Currently only bimixtures are supported; got {len(scale)} components")
        with name_scope(name, values=[mix_loc, temperature]) as scope:
            mix, degree = floats(("mix_loc", mix_loc), ("temperature", temperature), positive=["temperature"],
                                 validate=validate_args)
            grid, weights = quadrature_fn(mix / degree, 1 / degree, quadrature_size, validate_args)
            self._grid, self._weights = grid, Categorical(logits=raw.Log(weights))
            self._locs = [None if each is None else convert_to_tensor(each, dtype=distribution.dtype, name=f"loc_{k}")
                          for k, each in enumerate(locs)]
            self._scales, self._distribution = list(scale), distribution
            self._middle_loc, self._middle = self._interpolated()
        super().__init__(distribution.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [mix, degree], scope, ())

    def _interpolated(self) -> tuple[Any, LinearOperator]:
        """Return locations (..., points, k) and scales (..., points, k, k) at the points of the grid."""
        shares = [self._grid[..., k, :] for k in range(2)]
        moved = [share[..., None] * expand_dims(each, -2) for share, each in zip(shares, self._locs, strict=True)
                 if each is not None]
        loc = moved[0] if len(moved) == 1 else moved[0] + moved[1] if moved else None
        if all(is_diagonal(each) for each in self._scales):
            diag = sum(share[..., None] * expand_dims(each.diag_part(), -2)
                       for share, each in zip(shares, self._scales, strict=True))
            return loc, LinearOperatorDiag(diag, is_non_singular=True)
        dense = sum(share[..., None, None] * expand_dims(each.to_dense(), -3)
                    for share, each in zip(shares, self._scales, strict=True))
        triangular = all(is_diagonal(each) or isinstance(each, LinearOperatorLowerTriangular) for each in self._scales)
        kind = LinearOperatorLowerTriangular if triangular else LinearOperatorFullMatrix
        return loc, kind(dense, is_non_singular=True)

    @property
    def distribution(self) -> Any:
        """The distribution of the elements of z."""
        return self._distribution

    @property
    def grid(self) -> Tensor:
        """The weights of the maps at the points of the grid, (..., 2, points)."""
        return self._grid

    @property
    def endpoint_affine(self) -> list[tuple[Any, Any]]:
        """The two maps: (loc, scale) of each."""
        return list(zip(self._locs, self._scales, strict=True))

    def _batch_shape(self) -> Any:
        return self._points().shape[:-2]

    def _points(self) -> Any:
        """Return the locations, with all axes of the scales: (..., points, k)."""
        zeros = raw.ZerosLike(self._middle.diag_part())
        return zeros if self._middle_loc is None else self._middle_loc + zeros

    def _batch_shape_tensor(self) -> Any:
        return shape_of(self._points())[:-2]

    def _event_shape(self) -> Any:
        return self._points().shape[-1:]

    def _event_shape_tensor(self) -> Any:
        return shape_of(self._points())[-1:]

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        z = self._distribution.sample(self._drawn_shape(n), seed=seed)
        each = self._middle.matvec(expand_dims(z, -2)) + self._points()
        shape = concat([raw.Reshape(n, [1]), self.batch_shape_tensor()], 0)
        chosen = self._choices(shape, seed, self.dtype)
        return raw.Sum(each * expand_dims(chosen, -1), [-2])

    def _log_prob(self, x: Tensor) -> Any:
        z = self._middle.solvevec(expand_dims(x, -2) - self._points())
        each = raw.Sum(self._distribution.log_prob(z), [-1]) - self._middle.log_abs_determinant()
        return reduce_logsumexp(each + raw.LogSoftmax(self._weights.logits), axis=-1)

    def _of_points(self) -> Any:
        ones = raw.OnesLike(self._points())
        return self._middle.matvec(self._distribution.mean() * ones) + self._points()

    def _mean(self) -> Any:
        return raw.Sum(self._of_points() * self._weights.probs[:, None], [-2])

    def _variance(self) -> Any:
        spread = raw.SquaredDifference(self._of_points(), expand_dims(self._mean(), -2))
        inner = self._distribution.variance() * gram_diagonal(self._middle)
        return raw.Sum((spread + inner) * self._weights.probs[:, None], [-2])

    def _covariance(self) -> Any:
        away = self._of_points() - expand_dims(self._mean(), -2)
        dense = matrix_diag(self._middle.diag_part()) if is_diagonal(self._middle) else self._middle.to_dense()
        inner = self._distribution.variance() * raw.BatchMatMulV2(dense, dense, adj_y=True)
        outer = expand_dims(away, -1) * expand_dims(away, -2)
        return raw.Sum((inner + outer) * self._weights.probs[:, None, None], [-3])


describe(globals(), DISTRIBUTIONS)
