"""Distributions of real numbers: normal, Laplace, uniform, Student's t."""
from __future__ import annotations

from math import inf, log, pi, sqrt
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_less
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfnb.distributions.kullback_leibler import RegisterKL
from tfnb.distributions.parameters import (
    HALF_LOG_TWO_PI,
    checked,
    floats,
    log_ndtr,
    ndtr,
    new_seed,
    number,
    ones_of,
    where_defined,
)
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random.random_ops import random_normal, random_uniform
from tfnb.ops.random.samples import random_gamma


def _loc_and_scale(sample_shape: Any) -> dict[str, Tensor]:
    return {name: convert_to_tensor(sample_shape, dtype="int32") for name in ("loc", "scale")}


class LocationScale(Distribution):
    """Base of distributions with a location and a scale, by their standard form."""

    _positive = ("scale",)

    def __init__(self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str,
                 parameters: dict[str, Any]) -> None:
        with name_scope(name, values=[loc, scale]) as scope:
            self._loc, self._scale = floats(("loc", loc), ("scale", scale), positive=self._positive,
                                            validate=validate_args)
        super().__init__(self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._loc, self._scale], scope)

    _param_shapes = staticmethod(_loc_and_scale)

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def _z(self, x: Tensor) -> Any:
        return (x - self._loc) / self._scale

    def _everywhere(self, value: Tensor) -> Any:
        """Return a statistic of one parameter, over the whole batch shape."""
        return value * ones_of(self._loc, self._scale)


class Normal(LocationScale):
    """Normal (Gaussian) distribution of mean `loc` and standard deviation `scale`; samples have gradients.

    >>> d = tf.distributions.Normal(loc=[0.0, 1.0], scale=2.0)
    >>> sess.run([d.prob(0.0), d.cdf(1.0)])
    [array([0.1995, 0.176 ], dtype=float32), array([0.6915, 0.5   ], dtype=float32)]
    >>> d.sample([5], seed=1).shape.as_list()
    [5, 2]
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Normal") -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = random_normal(self._drawn_shape(n), 0.0, 1.0, self.dtype, seed=seed)
        return drawn * self._scale + self._loc

    def _log_prob(self, x: Tensor) -> Any:
        return -0.5 * raw.Square(self._z(x)) - (HALF_LOG_TWO_PI + raw.Log(self._scale))

    def _cdf(self, x: Tensor) -> Any:
        return ndtr(self._z(x))

    def _log_cdf(self, x: Tensor) -> Any:
        return log_ndtr(self._z(x))

    def _survival_function(self, x: Tensor) -> Any:
        return ndtr(-self._z(x))

    def _log_survival_function(self, x: Tensor) -> Any:
        return log_ndtr(-self._z(x))

    def _quantile(self, p: Tensor) -> Any:
        return raw.Ndtri(p) * self._scale + self._loc

    def _entropy(self) -> Any:
        return 0.5 + HALF_LOG_TWO_PI + raw.Log(self._everywhere(self._scale))

    def _mean(self) -> Any:
        return self._everywhere(self._loc)

    def _stddev(self) -> Any:
        return self._everywhere(self._scale)

    _mode = _mean


@RegisterKL(Normal, Normal)
def _kl_normal(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_normal_normal"):
        ratio = raw.Square(a.scale) / raw.Square(b.scale)
        distance = raw.SquaredDifference(a.loc, b.loc) / (2 * raw.Square(b.scale))
        found: Tensor = distance + 0.5 * (ratio - 1 - raw.Log(ratio))
        return found


class Laplace(LocationScale):
    """Laplace (double exponential) distribution around `loc` with `scale`; samples have gradients.

    >>> d = tf.distributions.Laplace(loc=0.0, scale=[1.0, 2.0])
    >>> sess.run([d.prob(0.0), d.stddev()])
    [array([0.5 , 0.25], dtype=float32), array([1.4142, 2.8284], dtype=float32)]
    """

    def __init__(self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Laplace") -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        kind = self.dtype.as_numpy_dtype
        drawn = random_uniform(self._drawn_shape(n), np.nextafter(kind(-1), kind(0)), 1.0, self.dtype, seed=seed)
        return self._loc - self._scale * raw.Sign(drawn) * raw.Log1p(-raw.Abs(drawn))

    def _log_prob(self, x: Tensor) -> Any:
        return -raw.Abs(self._z(x)) - log(2.0) - raw.Log(self._scale)

    def _cdf(self, x: Tensor) -> Any:
        z = self._z(x)
        return 0.5 + 0.5 * raw.Sign(z) * (1 - raw.Exp(-raw.Abs(z)))

    def _log_cdf(self, x: Tensor) -> Any:
        z = self._z(x)
        upper = raw.Log1p(-0.5 * raw.Exp(-raw.Abs(z)))
        return raw.SelectV2(raw.Less(z, 0), z - log(2.0), upper)

    def _log_survival_function(self, x: Tensor) -> Any:
        return self._log_cdf(2 * self._loc - x)

    def _quantile(self, p: Tensor) -> Any:
        from_middle = p - 0.5
        return self._loc - self._scale * raw.Sign(from_middle) * raw.Log1p(-2 * raw.Abs(from_middle))

    def _entropy(self) -> Any:
        return log(2.0) + 1 + raw.Log(self._everywhere(self._scale))

    def _mean(self) -> Any:
        return self._everywhere(self._loc)

    def _stddev(self) -> Any:
        return sqrt(2.0) * self._everywhere(self._scale)

    _mode = _mean


class Uniform(Distribution):
    """Uniform distribution on [`low`, `high`); samples have gradients. validate_args: low < high.

    >>> d = tf.distributions.Uniform(low=[0.0, 1.0], high=3.0)
    >>> sess.run([d.prob(0.5), d.mean(), d.cdf(2.0)])
    [array([0.3333, 0.    ], dtype=float32),
     array([1.5, 2. ], dtype=float32),
     array([0.6667, 0.5   ], dtype=float32)]
    """

    def __init__(self, low: Any = 0.0, high: Any = 1.0, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Uniform") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as scope:
            self._low, self._high = floats(("low", low), ("high", high))
            if validate_args:
                check = assert_less(self._low, self._high, message="uniform not defined when low >= high.")
                self._low = checked(self._low, [check])
        super().__init__(self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._low, self._high], scope)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        return {name: convert_to_tensor(sample_shape, dtype="int32") for name in ("low", "high")}

    @property
    def low(self) -> Tensor:
        """The lower bound."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The upper bound."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """Return high - low."""
        with self._name_scope(name):
            return self._high - self._low

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return self._low + self.range() * random_uniform(self._drawn_shape(n), dtype=self.dtype, seed=seed)

    def _prob(self, x: Tensor) -> Any:
        x = x * ones_of(x, self._low, self._high)
        outside = raw.LogicalOr(raw.Less(x, self._low), raw.GreaterEqual(x, self._high))
        inside = raw.SelectV2(outside, number(0, x), 1 / self.range())
        return raw.SelectV2(raw.IsNan(x), x, inside)

    def _cdf(self, x: Tensor) -> Any:
        return raw.Minimum(raw.Maximum((x - self._low) / self.range(), number(0, x)), number(1, x))

    def _quantile(self, p: Tensor) -> Any:
        return self._low + self.range() * p

    def _entropy(self) -> Any:
        return raw.Log(self.range())

    def _mean(self) -> Any:
        return (self._low + self._high) / 2

    def _stddev(self) -> Any:
        return self.range() / sqrt(12.0)


class StudentT(Distribution):
    """Student's t distribution of `df` degrees of freedom around `loc` with `scale`; samples have gradients.

    The mean is defined for df > 1; the variance is infinite for 1 < df <= 2, and undefined below.

    >>> d = tf.distributions.StudentT(df=[1.0, 3.0], loc=0.0, scale=1.0)
    >>> sess.run([d.prob(0.0), d.mean(), d.variance()])
    [array([0.3183, 0.3676], dtype=float32),
     array([nan,  0.], dtype=float32),
     array([nan,  3.], dtype=float32)]
    """

    def __init__(self, df: Any, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "StudentT") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as scope:
            self._df, self._loc, self._scale = floats(("df", df), ("loc", loc), ("scale", scale), positive=["df"],
                                                      validate=validate_args)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._df, self._loc, self._scale], scope)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        return {name: convert_to_tensor(sample_shape, dtype="int32") for name in ("df", "loc", "scale")}

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def _ones(self) -> Any:
        return ones_of(self._df, self._loc, self._scale)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        df = self._df * self._ones()
        squares = random_gamma(raw.Reshape(n, [1]), 0.5 * df, number(0.5, df), self.dtype,
                               seed=new_seed(seed, "student_t"))
        return drawn * raw.Rsqrt(squares / df) * self._scale + self._loc

    def _log_prob(self, x: Tensor) -> Any:
        df, y = self._df, (x - self._loc) / self._scale
        normalizer = raw.Log(raw.Abs(self._scale)) + 0.5 * raw.Log(df) + 0.5 * log(pi) + raw.Lgamma(0.5 * df) \
            - raw.Lgamma(0.5 * (df + 1))
        return -0.5 * (df + 1) * raw.Log1p(raw.Square(y) / df) - normalizer

    def _cdf(self, x: Tensor) -> Any:
        y = (x - self._loc) / raw.Abs(self._scale)
        ones = ones_of(y, self._df)
        below = 0.5 * raw.Betainc(0.5 * self._df * ones, number(0.5, y) * ones,
                                  self._df / (raw.Square(y) + self._df))
        return raw.SelectV2(raw.Less(y, 0), below, 1 - below)

    def _entropy(self) -> Any:
        df, half = self._df, 0.5 * (self._df + 1)
        log_beta = raw.Lgamma(0.5 * df) + raw.Lgamma(number(0.5, df)) - raw.Lgamma(half)
        found: Tensor = raw.Log(raw.Abs(self._scale)) + 0.5 * raw.Log(df) + log_beta \
            + half * (raw.Digamma(half) - raw.Digamma(0.5 * df))
        return found * self._ones()

    def _mean(self) -> Any:
        ones = self._ones()
        return where_defined(raw.Greater(self._df, ones), self._loc * ones, self.allow_nan_stats,
                             "mean not defined for components of df <= 1")

    def _variance(self) -> Any:
        ones = self._ones()
        has = raw.Greater(self._df, 2 * ones)
        finite = raw.Square(self._scale) * self._df / raw.SelectV2(has, self._df - 2, ones)
        found = raw.SelectV2(has, finite, number(inf, ones))
        return where_defined(raw.Greater(self._df, ones), found, self.allow_nan_stats,
                             "variance not defined for components of df <= 1")

    def _mode(self) -> Any:
        return self._loc * self._ones()


describe(globals(), DISTRIBUTIONS)
