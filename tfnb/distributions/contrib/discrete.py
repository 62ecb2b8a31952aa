"""Distributions of counts: Poisson, geometric, binomial, negative binomial."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from tfnb.distributions.families import OfLogits
from tfnb.distributions.kullback_leibler import RegisterKL
from tfnb.distributions.parameters import checked, floats, integer_checks, logits_and_probs, number
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random.random_ops import random_uniform
from tfnb.ops.random.samples import random_gamma, random_poisson


class Poisson(Distribution):
    """Poisson distribution: the number of events at the rate `rate`.

    rate: positive; log_rate: its logarithm, of which one is given (else ValueError); interpolate_nondiscrete: whether
    values between integers have the probability that the formula gives, or none.

    >>> sess.run(tf.contrib.distributions.Poisson(rate=2.0).prob([0.0, 2.0]))
    array([0.1353, 0.2707], dtype=float32)
    """

    def __init__(self, rate: Any = None, log_rate: Any = None, interpolate_nondiscrete: bool = True,
                 validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Poisson") -> None:
        parameters = dict(locals())
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        with name_scope(name, values=[rate, log_rate]) as scope:
            if log_rate is None:
                self._rate, = floats(("rate", rate), positive=["rate"], validate=validate_args)
                self._log_rate: Any = raw.Log(self._rate)
            else:
                self._log_rate, = floats(("log_rate", log_rate))
                self._rate = raw.Exp(self._log_rate)
        self._interpolate = interpolate_nondiscrete
        super().__init__(self._rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._rate], scope)

    @property
    def rate(self) -> Tensor:
        """The rate."""
        return self._rate

    @property
    def log_rate(self) -> Tensor:
        """The logarithm of the rate."""
        found: Tensor = self._log_rate
        return found

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return random_poisson(self._rate, raw.Reshape(n, [1]), self.dtype, seed=seed)

    def _log_prob(self, x: Tensor) -> Any:
        x = checked(x, integer_checks(x) if self.validate_args else [])
        safe = raw.Maximum(x, number(0, x))
        found = raw.Xlogy(safe, self._rate) - raw.Lgamma(1 + safe) - self._rate
        fits = raw.Equal(x, safe if self._interpolate else raw.Floor(safe))
        return raw.SelectV2(fits, found, number(-np.inf, x))

    def _cdf(self, x: Tensor) -> Any:
        safe = raw.Maximum(x if self._interpolate else raw.Floor(x), number(0, x))
        return raw.SelectV2(raw.Less(x, number(0, x)), number(0, x), raw.Igammac(1 + safe, self._rate))

    def _mean(self) -> Any:
        return raw.Identity(self._rate)

    _variance = _mean

    def _mode(self) -> Any:
        return raw.Floor(self._rate)


@RegisterKL(Poisson, Poisson)
def _kl_poisson(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_poisson_poisson"):
        return a.rate * (a.log_rate - b.log_rate) - a.rate + b.rate


class Geometric(OfLogits):
    """Geometric distribution: the number of failures before the first success, of probability `probs`.

    >>> sess.run(tf.contrib.distributions.Geometric(probs=0.25).prob([0.0, 1.0]))
    array([0.25  , 0.1875], dtype=float32)
    """

    def __init__(self, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Geometric") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, validate=validate_args)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._probs], scope)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = random_uniform(self._drawn_shape(n), np.finfo(self.dtype.as_numpy_dtype).tiny, 1.0, self.dtype,
                               seed=seed)
        return raw.Floor(raw.Log(drawn) / raw.Log1p(-self._probs))

    def _log_prob(self, x: Tensor) -> Any:
        x = checked(x, integer_checks(x) if self.validate_args else [])
        return raw.Xlogy(x, 1 - self._probs) + raw.Log(self._probs)

    def _cdf(self, x: Tensor) -> Any:
        found = 1 - (1 - self._probs) ** (1 + raw.Floor(x))
        return raw.SelectV2(raw.Less(x, number(0, x)), number(0, x), found)

    def _entropy(self) -> Any:
        p = self._probs
        return -(raw.Xlogy(1 - p, 1 - p) + p * raw.Log(p)) / p

    def _mean(self) -> Any:
        return raw.Exp(-self._logits)

    def _variance(self) -> Any:
        return self._mean() / self._probs

    def _mode(self) -> Any:
        return raw.ZerosLike(self._probs)


class _Trials(OfLogits):
    """Base of distributions of counts in Bernoulli trials, which depend on `total_count`."""

    def _begin(self, total_count: Any, logits: Any, probs: Any, options: tuple[bool, bool], name: str,
               parameters: dict[str, Any]) -> None:
        with name_scope(name, values=[total_count, logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, validate=options[0])
            self._count = convert_to_tensor(total_count, name="total_count", dtype=self._probs.dtype)
        Distribution.__init__(self, self._probs.dtype, NOT_REPARAMETERIZED, *options, parameters,
                              [self._count, self._probs], scope)

    @property
    def total_count(self) -> Tensor:
        """The count that the trials end with, or their number."""
        return self._count


class Binomial(_Trials):
    """Binomial distribution: the number of successes in `total_count` trials. As in TensorFlow 1.15, without samples.

    total_count: floats of integer value.

    >>> sess.run(tf.contrib.distributions.Binomial(total_count=4.0, probs=0.5).prob([0.0, 2.0]))
    array([0.0625, 0.375 ], dtype=float32)
    """

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Binomial") -> None:
        self._begin(total_count, logits, probs, (validate_args, allow_nan_stats), name, dict(locals()))

    def _log_prob(self, k: Tensor) -> Any:
        n = self._count
        ways = raw.Lgamma(1 + n) - raw.Lgamma(1 + k) - raw.Lgamma(1 + n - k)
        return ways + raw.Xlogy(k, self._probs) + raw.Xlogy(n - k, 1 - self._probs)

    def _mean(self) -> Any:
        return self._count * self._probs

    def _variance(self) -> Any:
        return self._mean() * (1 - self._probs)

    def _mode(self) -> Any:
        return raw.Floor((1 + self._count) * self._probs)


class NegativeBinomial(_Trials):
    """Negative binomial distribution: the number of successes before `total_count` failures.

    total_count: positive floats.

    >>> sess.run(tf.contrib.distributions.NegativeBinomial(total_count=2.0, probs=0.5).prob([0.0, 2.0]))
    array([0.25  , 0.1875], dtype=float32)
    """

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "NegativeBinomial") -> None:
        self._begin(total_count, logits, probs, (validate_args, allow_nan_stats), name, dict(locals()))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        rate = random_gamma(raw.Reshape(n, [1]), self._count, raw.Exp(-self._logits), self.dtype, seed=seed)
        return random_poisson(rate, [], self.dtype, seed=seed)

    def _log_prob(self, x: Tensor) -> Any:
        ways = raw.Lgamma(self._count + x) - raw.Lgamma(1 + x) - raw.Lgamma(self._count)
        return ways - self._count * raw.Softplus(self._logits) - x * raw.Softplus(-self._logits)

    def _mean(self) -> Any:
        return self._count * raw.Exp(self._logits)

    def _variance(self) -> Any:
        return self._mean() / raw.Sigmoid(-self._logits)

    def _mode(self) -> Any:
        one = number(1, self._count)
        return raw.SelectV2(raw.Greater(self._count, one), raw.Floor((self._count - 1) * raw.Exp(self._logits)),
                            raw.ZerosLike(self._count))


describe(globals(), DISTRIBUTIONS)
