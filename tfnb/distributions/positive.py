"""Distributions of positive numbers: gamma, exponential, beta."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_less, assert_positive
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfnb.distributions.kullback_leibler import RegisterKL
from tfnb.distributions.parameters import checked, floats, new_seed, number, ones_of, where_defined
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.random.samples import random_gamma


class OfRate(Distribution):
    """Base of distributions with the parameters of a gamma distribution."""

    def _begin(self, concentration: Any, rate: Any, validate_args: bool, allow_nan_stats: bool, name: str,
               parameters: dict[str, Any]) -> None:
        with name_scope(name, values=[concentration, rate]) as scope:
            self._concentration, self._rate = floats(
                ("concentration", concentration), ("rate", rate), positive=("concentration", "rate"),
                validate=validate_args)
        Distribution.__init__(self, self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
                              parameters, [self._concentration, self._rate], scope)

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse scale of the gamma distribution."""
        return self._rate


class Gamma(OfRate):
    """Gamma distribution of shape `concentration` and inverse scale `rate`, both positive.

    Samples have gradients with respect to both parameters, by implicit reparameterization.

    >>> d = tf.distributions.Gamma(concentration=[2.0, 3.0], rate=2.0)
    >>> sess.run([d.prob(1.0), d.mean(), d.cdf(1.0)])
    [array([0.5413, 0.5413], dtype=float32),
     array([1. , 1.5], dtype=float32),
     array([0.594 , 0.3233], dtype=float32)]
    """

    def __init__(self, concentration: Any, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Gamma") -> None:
        self._begin(concentration, rate, validate_args, allow_nan_stats, name, dict(locals()))

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        return {name: convert_to_tensor(sample_shape, dtype="int32") for name in ("concentration", "rate")}

    def _valid(self, x: Tensor) -> Any:
        return checked(x, [assert_positive(x)] if self.validate_args else [])

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return random_gamma(raw.Reshape(n, [1]), self._concentration, self._rate, self.dtype, seed=seed)

    def _log_prob(self, x: Tensor) -> Any:
        a, rate = self._concentration, self._rate
        x = self._valid(x)
        normalizer = raw.Lgamma(a) - a * raw.Log(rate)
        return raw.Xlogy(a - 1, x) - rate * x - normalizer

    def _cdf(self, x: Tensor) -> Any:
        return raw.Igamma(self._concentration, self._rate * self._valid(x))

    def _survival_function(self, x: Tensor) -> Any:
        return raw.Igammac(self._concentration, self._rate * self._valid(x))

    def _entropy(self) -> Any:
        a = self._concentration
        return a - raw.Log(self._rate) + raw.Lgamma(a) + (1 - a) * raw.Digamma(a)

    def _mean(self) -> Any:
        return self._concentration / self._rate

    def _variance(self) -> Any:
        return self._concentration / raw.Square(self._rate)

    def _stddev(self) -> Any:
        return raw.Sqrt(self._concentration) / self._rate

    def _mode(self) -> Any:
        found = (self._concentration - 1) / self._rate
        return where_defined(raw.Greater(self._concentration, ones_of(self._concentration, self._rate)), found,
                             self.allow_nan_stats, "mode not defined when any concentration <= 1")


@RegisterKL(Gamma, Gamma)
def _kl_gamma(g0: Any, g1: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_gamma_gamma"):
        a, b = g0.concentration, g1.concentration
        found: Tensor = (a - b) * raw.Digamma(a) + raw.Lgamma(b) - raw.Lgamma(a) + b * raw.Log(g0.rate) \
            - b * raw.Log(g1.rate) + a * (g1.rate / g0.rate - 1)
        return found


class Exponential(Gamma):
    """Exponential distribution of `rate` (inverse mean); samples have gradients.

    >>> d = tf.distributions.Exponential(rate=[0.5, 2.0])
    >>> sess.run([d.prob(1.0), d.mean()])
    [array([0.3033, 0.2707], dtype=float32), array([2. , 0.5], dtype=float32)]
    """

    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Exponential") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as scope:
            rate = convert_to_tensor(rate, name="rate")
            self._begin(ones_of(rate), rate, validate_args, allow_nan_stats, scope, parameters)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        return {"rate": convert_to_tensor(sample_shape, dtype="int32")}

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        return -raw.Log(random_uniform(self._drawn_shape(n), tiny, 1.0, self.dtype, seed=seed)) / self._rate

    def _cdf(self, x: Tensor) -> Any:
        return -raw.Expm1(-self._rate * raw.Maximum(self._valid(x), number(0, x)))

    def _quantile(self, p: Tensor) -> Any:
        return -raw.Log1p(-p) / self._rate


class Beta(Distribution):
    """Beta distribution on (0, 1) of parameters `concentration1` (alpha) and `concentration0` (beta), both positive.

    Each of them is 1 where it is not given. Samples have gradients.

    >>> d = tf.distributions.Beta(concentration1=[2.0, 0.5], concentration0=3.0)
    >>> sess.run([d.prob(0.5), d.mean(), d.mode()])
    [array([1.5   , 0.3315], dtype=float32),
     array([0.4   , 0.1429], dtype=float32),
     array([0.3333,    nan], dtype=float32)]
    """

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Beta") -> None:
        parameters = dict(locals())
        one, zero = (1.0 if each is None else each for each in (concentration1, concentration0))
        with name_scope(name, values=[one, zero]) as scope:
            self._one, self._zero = floats(("concentration1", one), ("concentration0", zero), validate=validate_args,
                                           positive=("concentration1", "concentration0"))
            self._total = self._one + self._zero
        super().__init__(self._total.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._one, self._zero], scope)

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        return {name: convert_to_tensor(sample_shape, dtype="int32") for name in ("concentration1", "concentration0")}

    @property
    def concentration1(self) -> Tensor:
        """The parameter alpha, of `x`."""
        return self._one

    @property
    def concentration0(self) -> Tensor:
        """The parameter beta, of `1 - x`."""
        return self._zero

    @property
    def total_concentration(self) -> Tensor:
        """The sum of the two parameters."""
        return self._total

    def _valid(self, x: Tensor) -> Any:
        return checked(x, [assert_positive(x, message="sample must be positive"),
                           assert_less(x, number(1, x), message="sample must be less than `1`.")]
                       if self.validate_args else [])

    def _log_beta(self) -> Any:
        found: Tensor = raw.Lgamma(self._one) + raw.Lgamma(self._zero) - raw.Lgamma(self._total)
        return found

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        ones, count = ones_of(self._one, self._zero), raw.Reshape(n, [1])
        first = random_gamma(count, self._one * ones, dtype=self.dtype, seed=seed)
        second = random_gamma(count, self._zero * ones, dtype=self.dtype, seed=new_seed(seed, "beta"))
        return first / (first + second)

    def _log_prob(self, x: Tensor) -> Any:
        x = self._valid(x)
        return raw.Xlogy(self._one - 1, x) + (self._zero - 1) * raw.Log1p(-x) - self._log_beta()

    def _cdf(self, x: Tensor) -> Any:
        x = self._valid(x)
        ones = ones_of(x, self._one, self._zero)
        return raw.Betainc(self._one * ones, self._zero * ones, x * ones)

    def _entropy(self) -> Any:
        return self._log_beta() - (self._one - 1) * raw.Digamma(self._one) \
            - (self._zero - 1) * raw.Digamma(self._zero) + (self._total - 2) * raw.Digamma(self._total)

    def _mean(self) -> Any:
        return self._one / self._total

    def _variance(self) -> Any:
        mean = self._mean()
        return mean * (1 - mean) / (1 + self._total)

    def _mode(self) -> Any:
        has = raw.LogicalAnd(raw.Greater(self._one, 1), raw.Greater(self._zero, 1))
        return where_defined(has, (self._one - 1) / (self._total - 2), self.allow_nan_stats,
                             "Mode undefined for concentration1 <= 1 or concentration0 <= 1.")


@RegisterKL(Beta, Beta)
def _kl_beta(d1: Any, d2: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_beta_beta"):
        found: Tensor = d2._log_beta() - d1._log_beta()
        for a, b, sign in ((d1.concentration1, d2.concentration1, 1), (d1.concentration0, d2.concentration0, 1),
                           (d1.total_concentration, d2.total_concentration, -1)):
            found = found + sign * (a - b) * raw.Digamma(a)
        return found


describe(globals(), DISTRIBUTIONS)
