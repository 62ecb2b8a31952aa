"""Distributions whose methods take further named arguments."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.contrib.combined import TransformedDistribution
from tfnb.distributions.distribution import Distribution
from tfnb.graph.parts.operation import Tensor


class ConditionalDistribution(Distribution):
    """Base of distributions whose samples and probabilities depend on further named arguments, which hooks get.

    dtype, reparameterization_type, parameters, graph_parents, batch: as of `tf.distributions.Distribution`.

    >>> class Shifted(tf.contrib.distributions.ConditionalDistribution):
    ...     def __init__(self):
    ...         super().__init__(tf.float32, tf.distributions.NOT_REPARAMETERIZED, False, True)
    ...     def _log_prob(self, value, shift):
    ...         return tf.distributions.Normal(shift, 1.0).log_prob(value)
    >>> sess.run(Shifted().prob(3.0, shift=3.0))
    0.3989
    """

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample",
               **condition_kwargs: Any) -> Tensor:
        """Draw samples: a tensor of shape `sample_shape` + batch shape + event shape."""
        return self._drawn(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> Tensor:
        """Return the logarithm of the density, or of the probability mass, at `value`."""
        return self._computed("log_prob", name, value, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Tensor:
        """Return the density, or the probability mass, at `value`."""
        return self._computed("prob", name, value, **condition_kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **condition_kwargs: Any) -> Tensor:
        """Return the logarithm of the cumulative distribution function at `value`."""
        return self._computed("log_cdf", name, value, **condition_kwargs)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> Tensor:
        """Return the cumulative distribution function, P[X <= value]."""
        return self._computed("cdf", name, value, **condition_kwargs)

    def log_survival_function(self, value: Any, name: str = "log_survival_function", **condition_kwargs: Any) -> Tensor:
        """Return the logarithm of P[X > value]."""
        return self._computed("log_survival_function", name, value, **condition_kwargs)

    def survival_function(self, value: Any, name: str = "survival_function", **condition_kwargs: Any) -> Tensor:
        """Return P[X > value]."""
        return self._computed("survival_function", name, value, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """TransformedDistribution whose methods take bijector_kwargs and distribution_kwargs, for its two parts.

    distribution, bijector, batch_shape, event_shape: as there.

    >>> tfd = tf.contrib.distributions
    >>> class Times(tfd.bijectors.ConditionalBijector):
    ...     def __init__(self):
    ...         super().__init__(forward_min_event_ndims=0)
    ...     def _inverse(self, y, factor):
    ...         return y / factor
    ...     def _inverse_log_det_jacobian(self, y, factor):
    ...         return -tf.log(factor)
    >>> d = tfd.ConditionalTransformedDistribution(tfd.Normal(0.0, 1.0), Times())
    >>> sess.run(d.prob(0.0, bijector_kwargs={"factor": 2.0}))
    0.1995
    """


describe(globals(), DISTRIBUTIONS)
