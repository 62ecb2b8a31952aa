"""Distributions of classes: Bernoulli and categorical."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_less_equal
from tfnb.core import dtypes
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.core.shape import TensorShape
from tfnb.distributions.distribution import NOT_REPARAMETERIZED
from tfnb.distributions.families import OfLogits, logits_shapes
from tfnb.distributions.kullback_leibler import RegisterKL
from tfnb.distributions.parameters import checked, integer_checks, logits_and_probs, number
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.gather import sequence_mask
from tfnb.ops.array.joining import broadcast_to, concat
from tfnb.ops.array.reshape import broadcast_dynamic_shape, transpose
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from tfnb.ops.random.random_ops import multinomial, random_uniform


class Bernoulli(OfLogits):
    """Bernoulli distribution: 1 with probability `probs`, else 0.

    dtype: of the samples, int32 by default.

    >>> d = tf.distributions.Bernoulli(probs=[0.2, 0.5])
    >>> sess.run([d.prob(1), d.entropy(), d.mode()])
    [array([0.2, 0.5], dtype=float32),
     array([0.5004, 0.6931], dtype=float32),
     array([0, 0], dtype=int32)]
    """

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Bernoulli") -> None:
        parameters = dict(locals())
        with name_scope(name) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, validate=validate_args)
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._probs], scope)

    _param_shapes = staticmethod(logits_shapes)

    def _valid(self, event: Tensor) -> Any:
        checks = [*integer_checks(event), assert_less_equal(
            event, number(1, event), message="event is not less than or equal to 1.")] if self.validate_args else []
        return checked(event, checks)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = random_uniform(self._drawn_shape(n), dtype=self._probs.dtype, seed=seed)
        return raw.Cast(raw.Less(drawn, self._probs), DstT=self.dtype)

    def _log_prob(self, event: Tensor) -> Any:
        x, logits = raw.Cast(self._valid(event), DstT=self._logits.dtype), self._logits
        loss = raw.Maximum(logits, number(0, logits)) - logits * x + raw.Log1p(raw.Exp(-raw.Abs(logits)))
        return -loss

    def _entropy(self) -> Any:
        return -self._logits * (raw.Sigmoid(self._logits) - 1) + raw.Softplus(-self._logits)

    def _mean(self) -> Any:
        found: Tensor = raw.Identity(self._probs)
        return found

    def _variance(self) -> Any:
        return self._mean() * (1 - self._probs)

    def _mode(self) -> Any:
        return raw.Cast(raw.Greater(self._probs, number(0.5, self._probs)), DstT=self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_bernoulli_bernoulli"):
        for_zero = raw.Softplus(-b.logits) - raw.Softplus(-a.logits)
        for_one = raw.Softplus(b.logits) - raw.Softplus(a.logits)
        found: Tensor = raw.Sigmoid(a.logits) * for_zero + raw.Sigmoid(-a.logits) * for_one
        return found


class Categorical(OfLogits):
    """Categorical distribution over the classes 0 to k - 1: those along the last axis of `logits` or `probs`.

    dtype: of the samples, int32 by default.

    >>> d = tf.distributions.Categorical(probs=[0.1, 0.2, 0.7])
    >>> sess.run([d.prob([0, 2]), d.entropy(), d.mode()])
    [array([0.1, 0.7], dtype=float32), 0.8018, 2]
    >>> d.sample([4], seed=1).shape.as_list()
    [4]
    """

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Categorical") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
            if self._logits.shape.ndims == 0:
                raise ValueError("Categorical expects logits or probs of classes along the last axis, got a scalar")
            self._sizes = shape_of(self._logits)
            known = self._logits.shape.as_list()[-1] if self._logits.shape.ndims is not None else None
            self._classes = convert_to_tensor(known, name="event_size") if known is not None else self._sizes[-1]
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._logits, self._probs], scope)

    _param_shapes = staticmethod(logits_shapes)

    @property
    def event_size(self) -> Tensor:
        """The number of classes."""
        return self._classes

    def _batch_shape(self) -> TensorShape:
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self) -> Any:
        return self._sizes[:-1]

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        rows = raw.Reshape(self._logits, raw.Pack([-1, self._classes]))
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = multinomial(rows, n, seed=seed, output_dtype=kind)
        found = raw.Reshape(transpose(drawn), concat([raw.Reshape(n, [1]), self.batch_shape_tensor()], 0))
        return raw.Cast(found, DstT=self.dtype)

    def _aligned(self, k: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return classes and the rows of `values` that they index, broadcast."""
        k = checked(k, integer_checks(k) if self.validate_args else [])
        if k.shape.is_fully_defined() and k.shape == values.shape[:-1]:
            return k, values
        batch = broadcast_dynamic_shape(shape_of(k), shape_of(values)[:-1])
        sizes = concat([batch, raw.Reshape(self._classes, [1])], 0)
        return broadcast_to(k, batch), broadcast_to(values, sizes)

    def _log_prob(self, k: Tensor) -> Any:
        k, logits = self._aligned(k, self._logits)
        if not k.dtype.is_integer:
            k = raw.Cast(k, DstT="int32")
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, k: Tensor) -> Any:
        k, probs = self._aligned(raw.Cast(k, DstT="int32"), self._probs)
        return raw.Sum(probs * sequence_mask(k, self._classes, probs.dtype), [-1])

    def _entropy(self) -> Any:
        return -raw.Sum(raw.LogSoftmax(self._logits) * self._probs, [-1])

    def _mode(self) -> Any:
        found = raw.ArgMax(self._logits, -1)
        return raw.Cast(found, DstT=self.dtype)


@RegisterKL(Categorical, Categorical)
def _kl_categorical(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_categorical_categorical"):
        ratio = raw.LogSoftmax(a.logits) - raw.LogSoftmax(b.logits)
        found: Tensor = raw.Sum(raw.Softmax(a.logits) * ratio, np.array([-1], np.int32))
        return found


describe(globals(), DISTRIBUTIONS)
