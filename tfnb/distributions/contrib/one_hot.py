"""Categorical distributions over one-hot vectors, and their continuous relaxations."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.discrete import Categorical
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED
from tfnb.distributions.families import OfLogits, OfVectors
from tfnb.distributions.parameters import logits_and_probs, number
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.nn.cross_entropy import log_softmax
from tfnb.ops.random.random_ops import random_uniform


class OneHotCategorical(Categorical):
    """Categorical distribution over one-hot vectors.

    dtype: of the samples, int32 by default.

    >>> d = tf.contrib.distributions.OneHotCategorical(probs=[0.1, 0.2, 0.7])
    >>> sess.run([d.prob([0.0, 0.0, 1.0]), d.mode(), d.mean()])
    [0.7, array([0, 0, 1], dtype=int32), array([0.1, 0.2, 0.7], dtype=float32)]
    """

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "OneHotCategorical") -> None:
        super().__init__(logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _event_shape(self) -> Any:
        return self._logits.shape[-1:]

    def _event_shape_tensor(self) -> Any:
        return self._sizes[-1:]

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return one_hot(super()._sample_n(n, seed), self._classes, dtype=self.dtype)

    def _log_prob(self, x: Tensor) -> Any:
        return raw.Sum(log_softmax(self._logits) * raw.Cast(x, DstT=self._logits.dtype), [-1])

    def _mode(self) -> Any:
        return one_hot(super()._mode(), self._classes, dtype=self.dtype)

    def _mean(self) -> Any:
        return raw.Identity(self._probs)

    def _variance(self) -> Any:
        return self._probs * (1 - self._probs)


class _Relaxed(OfLogits):
    """Base of continuous relaxations of distributions of classes."""

    _temperature: Tensor

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self._temperature


class ExpRelaxedOneHotCategorical(_Relaxed, OfVectors):
    """The logarithm of RelaxedOneHotCategorical, which is numerically more stable.

    temperature: positive; logits, probs: as there.

    >>> d = tf.contrib.distributions.ExpRelaxedOneHotCategorical(0.5, logits=[0.0, 1.0])
    >>> sess.run(tf.reduce_sum(tf.exp(d.sample(seed=1))))
    1.0
    """

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "ExpRelaxedOneHotCategorical") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args, dtype=dtype)
            self._vector = self._logits
            self._temperature = convert_to_tensor(temperature, name="temperature", dtype=self._logits.dtype)
        super().__init__(self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._probs, self._temperature], scope)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        shape = concat([raw.Reshape(n, [1]), shape_of(self._logits)], 0)
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        gumbel = -raw.Log(-raw.Log(random_uniform(shape, tiny, 1.0, self.dtype, seed=seed)))
        return log_softmax((gumbel + self._logits) / self._temperature)

    def _log_prob(self, x: Tensor) -> Any:
        k = raw.Cast(self.event_shape_tensor()[0], DstT=self.dtype)
        normalizer = raw.Lgamma(k) + (k - 1) * raw.Log(self._temperature)
        inner = log_softmax(self._logits - x * self._temperature)
        return raw.Sum(inner, [-1]) + normalizer


class RelaxedOneHotCategorical(ExpRelaxedOneHotCategorical):
    """Continuous relaxation of OneHotCategorical (Gumbel-softmax, Concrete), whose samples have gradients.

    temperature: positive; near 0 samples are nearly one-hot, large ones are nearly uniform.

    >>> d = tf.contrib.distributions.RelaxedOneHotCategorical(0.5, probs=[0.1, 0.9])
    >>> sess.run(tf.reduce_sum(d.sample(seed=1)))
    1.0
    """

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "RelaxedOneHotCategorical") -> None:
        super().__init__(temperature, logits, probs, dtype, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return raw.Exp(super()._sample_n(n, seed))

    def _log_prob(self, x: Tensor) -> Any:
        return super()._log_prob(raw.Log(x)) - raw.Sum(raw.Log(x), [-1])


class RelaxedBernoulli(_Relaxed):
    """Continuous relaxation of Bernoulli on (0, 1) (Concrete), whose samples have gradients.

    temperature: positive; near 0 samples are nearly 0 or 1.

    >>> d = tf.contrib.distributions.RelaxedBernoulli(0.1, logits=[-20.0, 20.0])
    >>> sess.run(tf.round(d.sample(seed=1)))
    array([0., 1.], dtype=float32)
    """

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "RelaxedBernoulli") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, validate=validate_args)
            self._temperature = convert_to_tensor(temperature, name="temperature", dtype=self._logits.dtype)
        super().__init__(self._logits.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._temperature], scope)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        u = random_uniform(self._drawn_shape(n), tiny, 1.0, self.dtype, seed=seed)
        return raw.Sigmoid((raw.Log(u) - raw.Log1p(-u) + self._logits) / self._temperature)

    def _log_prob(self, y: Tensor) -> Any:
        t = self._temperature
        z = raw.Log(y) - raw.Log1p(-y)
        shifted = z * t - self._logits
        return raw.Log(t) - shifted - 2 * raw.Softplus(-shifted) - raw.Log(y) - raw.Log1p(-y)

    def _cdf(self, y: Tensor) -> Any:
        z = raw.Log(y) - raw.Log1p(-y)
        return raw.Sigmoid(z * self._temperature - self._logits) * number(1, y)


describe(globals(), DISTRIBUTIONS)
