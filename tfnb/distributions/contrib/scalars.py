"""Distributions of numbers beside those of `tf.distributions`."""
from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.continuous import LocationScale
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfnb.distributions.kullback_leibler import RegisterKL
from tfnb.distributions.parameters import floats, number, where_defined
from tfnb.distributions.positive import Gamma, OfRate
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random.random_ops import random_normal, random_uniform
from tfnb.ops.random.samples import random_gamma

EULER = 0.5772156649015329


def _positive_uniform(shape: Tensor, dtype: Any, seed: int | None) -> Tensor:
    return random_uniform(shape, np.finfo(dtype.as_numpy_dtype).tiny, 1.0, dtype, seed=seed)


class Logistic(LocationScale):
    """Logistic distribution around `loc` with `scale`; samples have gradients.

    >>> sess.run(tf.contrib.distributions.Logistic(0.0, 1.0).cdf([0.0, 2.0]))
    array([0.5   , 0.8808], dtype=float32)
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Logistic") -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        u = _positive_uniform(self._drawn_shape(n), self.dtype, seed)
        return (raw.Log(u) - raw.Log1p(-u)) * self._scale + self._loc

    def _log_prob(self, x: Tensor) -> Any:
        z = self._z(x)
        return -z - 2 * raw.Softplus(-z) - raw.Log(self._scale)

    def _cdf(self, x: Tensor) -> Any:
        return raw.Sigmoid(self._z(x))

    def _log_cdf(self, x: Tensor) -> Any:
        return -raw.Softplus(-self._z(x))

    def _survival_function(self, x: Tensor) -> Any:
        return raw.Sigmoid(-self._z(x))

    def _log_survival_function(self, x: Tensor) -> Any:
        return -raw.Softplus(self._z(x))

    def _quantile(self, p: Tensor) -> Any:
        return (raw.Log(p) - raw.Log1p(-p)) * self._scale + self._loc

    def _entropy(self) -> Any:
        return 2 + raw.Log(self._everywhere(self._scale))

    def _mean(self) -> Any:
        return self._everywhere(self._loc)

    def _stddev(self) -> Any:
        return self._everywhere(self._scale) * (pi / sqrt(3.0))

    _mode = _mean


class Gumbel(LocationScale):
    """Gumbel distribution (of maxima) around `loc` with `scale`; samples have gradients.

    >>> sess.run(tf.contrib.distributions.Gumbel(0.0, 1.0).mean())
    0.5772
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Gumbel") -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        u = _positive_uniform(self._drawn_shape(n), self.dtype, seed)
        return self._loc - self._scale * raw.Log(-raw.Log(u))

    def _log_prob(self, x: Tensor) -> Any:
        z = self._z(x)
        return -(z + raw.Exp(-z)) - raw.Log(self._scale)

    def _log_cdf(self, x: Tensor) -> Any:
        return -raw.Exp(-self._z(x))

    def _cdf(self, x: Tensor) -> Any:
        return raw.Exp(self._log_cdf(x))

    def _entropy(self) -> Any:
        return 1 + raw.Log(self._everywhere(self._scale)) + EULER

    def _mean(self) -> Any:
        return self._loc + self._everywhere(self._scale) * EULER

    def _stddev(self) -> Any:
        return self._everywhere(self._scale) * (pi / sqrt(6.0))

    def _mode(self) -> Any:
        return self._everywhere(self._loc)


class Cauchy(LocationScale):
    """Cauchy distribution around `loc` with `scale`; samples have gradients. It has no mean.

    >>> sess.run(tf.contrib.distributions.Cauchy(0.0, 1.0).cdf([0.0, 1.0]))
    array([0.5 , 0.75], dtype=float32)
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Cauchy") -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return self._quantile(random_uniform(self._drawn_shape(n), dtype=self.dtype, seed=seed))

    def _log_prob(self, x: Tensor) -> Any:
        return -raw.Log1p(raw.Square(self._z(x))) - log(pi) - raw.Log(self._scale)

    def _cdf(self, x: Tensor) -> Any:
        return raw.Atan(self._z(x)) / pi + 0.5

    def _quantile(self, p: Tensor) -> Any:
        return self._loc + self._scale * raw.Tan(pi * (p - 0.5))

    def _entropy(self) -> Any:
        return log(4 * pi) + raw.Log(self._everywhere(self._scale))

    def _mode(self) -> Any:
        return self._everywhere(self._loc)

    def _mean(self) -> Any:
        if not self.allow_nan_stats:
            raise ValueError("`mean` is undefined for the Cauchy distribution.")
        return self._everywhere(self._loc) * np.nan

    _variance = _mean


class HalfNormal(Distribution):
    """Distribution of the absolute value of a normal variable of mean 0; samples have gradients.

    scale: the standard deviation of that variable.

    >>> sess.run(tf.contrib.distributions.HalfNormal(scale=2.0).mean())
    1.5958
    """

    def __init__(self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "HalfNormal") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as scope:
            self._scale, = floats(("scale", scale), positive=["scale"], validate=validate_args)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._scale], scope)

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return raw.Abs(random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed) * self._scale)

    def _prob(self, x: Tensor) -> Any:
        density = sqrt(2 / pi) / self._scale * raw.Exp(-0.5 * raw.Square(x / self._scale))
        return density * raw.Cast(raw.GreaterEqual(x, number(0, x)), DstT=x.dtype)

    def _cdf(self, x: Tensor) -> Any:
        return raw.Erf(raw.Maximum(x, number(0, x)) / (self._scale * sqrt(2.0)))

    def _quantile(self, p: Tensor) -> Any:
        return sqrt(2.0) * self._scale * raw.Erfinv(p)

    def _entropy(self) -> Any:
        return 0.5 * log(pi / 2) + 0.5 + raw.Log(self._scale)

    def _mean(self) -> Any:
        return self._scale * sqrt(2 / pi)

    def _variance(self) -> Any:
        return raw.Square(self._scale) * (1 - 2 / pi)

    def _mode(self) -> Any:
        return raw.ZerosLike(self._scale)


@RegisterKL(HalfNormal, HalfNormal)
def _kl_half_normal(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_half_normal_half_normal"):
        ratio = a.scale / b.scale
        return -raw.Log(ratio) + 0.5 * (raw.Square(ratio) - 1)


class Chi2(Gamma):
    """Chi-squared distribution of `df` degrees of freedom.

    df: positive.

    >>> sess.run(tf.contrib.distributions.Chi2([1.0, 4.0]).mean())
    array([1., 4.], dtype=float32)
    """

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as scope:
            self._df, = floats(("df", df))
            self._begin(0.5 * self._df, number(0.5, self._df), validate_args, allow_nan_stats, scope, parameters)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df


class InverseGamma(OfRate):
    """Distribution of 1 / X for X of Gamma(`concentration`, `rate`); samples have gradients.

    concentration, rate: positive; the mean is defined for concentration > 1, the variance for > 2.

    >>> sess.run(tf.contrib.distributions.InverseGamma(3.0, 2.0).mean())
    1.0
    """

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "InverseGamma") -> None:
        self._begin(concentration, rate, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return 1 / random_gamma(raw.Reshape(n, [1]), self._concentration, self._rate, self.dtype, seed=seed)

    def _log_prob(self, x: Tensor) -> Any:
        a, b = self._concentration, self._rate
        return a * raw.Log(b) - raw.Lgamma(a) - (1 + a) * raw.Log(x) - b / x

    def _cdf(self, x: Tensor) -> Any:
        return raw.Igammac(self._concentration, self._rate / x)

    def _entropy(self) -> Any:
        a = self._concentration
        return a + raw.Log(self._rate) + raw.Lgamma(a) - (1 + a) * raw.Digamma(a)

    def _mean(self) -> Any:
        a = self._concentration
        return where_defined(raw.Greater(a, number(1, a)), self._rate / (a - 1), self.allow_nan_stats,
                             "mean undefined when any concentration <= 1")

    def _variance(self) -> Any:
        a = self._concentration
        found = raw.Square(self._rate) / (raw.Square(a - 1) * (a - 2))
        return where_defined(raw.Greater(a, number(2, a)), found, self.allow_nan_stats,
                             "variance undefined when any concentration <= 2")

    def _mode(self) -> Any:
        return self._rate / (1 + self._concentration)


describe(globals(), DISTRIBUTIONS)
