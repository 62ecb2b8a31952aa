"""Distributions around another one: reshaped batches, quantized and autoregressive distributions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.control_flow.assertions import assert_equal, assert_less
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.core.shape import TensorShape
from tfnb.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from tfnb.distributions.parameters import checked, number
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import reshape
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.random.random_ops import get_seed


class BatchReshape(Distribution):
    """A distribution whose batch has another shape, of as many elements.

    distribution: the one whose batch it is; batch_shape: integers, of which one may be -1.

    >>> tfd = tf.contrib.distributions
    >>> d = tfd.BatchReshape(tfd.Normal(tf.zeros([4]), 1.0), batch_shape=[2, 2])
    >>> d.batch_shape, d.sample(3).shape.as_list()
    (TensorShape([Dimension(2), Dimension(2)]), [3, 2, 2])
    """

    def __init__(self, distribution: Any, batch_shape: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str | None = None) -> None:
        parameters = dict(locals())
        name = name or f"BatchReshape{distribution.name.rstrip('/')}"
        with name_scope(name, values=[batch_shape]) as scope:
            wanted = convert_to_tensor(batch_shape, dtype="int32", name="unknown_batch_shape")
            if wanted.shape.ndims not in (None, 1):
                raise ValueError(f"`batch_shape` must be a vector, got the shape {wanted.shape}")
            before = distribution.batch_shape_tensor()
            known = constant_value(wanted)
            rest = raw.FloorDiv(raw.Prod(before, [0]), raw.Abs(raw.Prod(wanted, [0])))
            if known is not None and -1 not in known:
                count = distribution.batch_shape.num_elements()
                if count is not None and count != int(np.prod(known)):
                    raise ValueError(f"batch_shape size ({int(np.prod(known))}) must match that of the distribution's "
                                     f"batch, {distribution.batch_shape}")
            filled = raw.SelectV2(raw.Equal(wanted, -1), rest, wanted)
            self._new = checked(filled, [assert_equal(raw.Prod(before, [0]), raw.Prod(filled, [0]), message=(
                "Shape sizes do not match."))] if validate_args else [])
        self._distribution, self._known = distribution, known
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args, allow_nan_stats,
                         parameters, [self._new], scope)

    @property
    def distribution(self) -> Any:
        """The distribution whose batch is reshaped."""
        return self._distribution

    def _batch_shape(self) -> Any:
        if self._known is None:
            return TensorShape([None] * self._new.shape[0].value if self._new.shape[0].value is not None else None)
        count = self._distribution.batch_shape.num_elements()
        other = int(abs(np.prod(self._known)))
        return [(None if count is None else count // other) if size == -1 else int(size) for size in self._known]

    def _batch_shape_tensor(self) -> Tensor:
        return self._new

    def _event_shape(self) -> Any:
        return self._distribution.event_shape

    def _event_shape_tensor(self) -> Any:
        return self._distribution.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return reshape(self._distribution.sample(n, seed=seed), self._drawn_shape(n))

    def _of_values(self, method: str, x: Tensor) -> Any:
        """Return a method's results for x, of the shape of samples + new batch shape."""
        event = self._distribution.event_shape_tensor()
        given = shape_of(x)
        lead = given[:raw.Rank(x) - raw.Size(self._new) - raw.Size(event)]
        before = reshape(x, concat([lead, self._distribution.batch_shape_tensor(), event], 0))
        found = reshape(getattr(self._distribution, method)(before), concat([lead, self._new], 0))
        if x.shape.ndims is not None and None not in (self.batch_shape.ndims, self.event_shape.ndims):
            cut = x.shape.ndims - self.batch_shape.ndims - self.event_shape.ndims
            found.set_shape(x.shape[:max(cut, 0)].concatenate(self.batch_shape))
        return found

    def _log_prob(self, x: Tensor) -> Any:
        return self._of_values("log_prob", x)

    def _cdf(self, x: Tensor) -> Any:
        return self._of_values("cdf", x)

    def _log_cdf(self, x: Tensor) -> Any:
        return self._of_values("log_cdf", x)

    def _survival_function(self, x: Tensor) -> Any:
        return self._of_values("survival_function", x)

    def _log_survival_function(self, x: Tensor) -> Any:
        return self._of_values("log_survival_function", x)

    def _reshaped(self, found: Any, *more: Any) -> Any:
        made = reshape(found, concat([self._new, *more], 0))
        return made

    def _entropy(self) -> Any:
        return self._reshaped(self._distribution.entropy())

    def _statistic(self, method: str) -> Any:
        return self._reshaped(getattr(self._distribution, method)(), self._distribution.event_shape_tensor())

    def _mean(self) -> Any:
        return self._statistic("mean")

    def _mode(self) -> Any:
        return self._statistic("mode")

    def _variance(self) -> Any:
        return self._statistic("variance")

    def _stddev(self) -> Any:
        return self._statistic("stddev")

    def _covariance(self) -> Any:
        event = self._distribution.event_shape_tensor()
        return self._reshaped(self._distribution.covariance(), event, event)


class QuantizedDistribution(Distribution):
    """The distribution of ceil(X), at least `low` and at most `high`: probabilities of integers.

    distribution: that of X, with a cdf; low, high: integers, or None for no limit, which broadcast to the batch shape.

    >>> tfd = tf.contrib.distributions
    >>> d = tfd.QuantizedDistribution(tfd.Uniform(0.0, 4.0), low=2.0)
    >>> sess.run(d.prob([1.0, 2.0, 3.0, 4.0]))
    array([0.  , 0.5 , 0.25, 0.25], dtype=float32)
    """

    def __init__(self, distribution: Any, low: Any = None, high: Any = None, validate_args: bool = False,
                 name: str = "QuantizedDistribution") -> None:
        parameters = dict(locals())
        dtype = distribution.dtype
        with name_scope(name, values=[low, high]) as scope:
            bounds = [None if each is None else convert_to_tensor(each, dtype=dtype, name=key)
                      for key, each in (("low", low), ("high", high))]
            given: list[Any] = [each for each in bounds if each is not None]
            if validate_args:
                checks = [assert_equal(each, raw.Floor(each), message="low and high must be integers")
                          for each in given]
                if len(given) == 2:
                    checks.append(assert_less(given[0], given[1], message="`low` must be strictly less than `high`."))
                bounds = [None if each is None else checked(each, checks) for each in bounds]
        self._distribution = distribution
        self._low, self._high = bounds
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats, parameters, given,
                         scope, ())

    @property
    def distribution(self) -> Any:
        """The distribution of X."""
        return self._distribution

    @property
    def low(self) -> Any:
        """The least integer, or None."""
        return self._low

    @property
    def high(self) -> Any:
        """The largest integer, or None."""
        return self._high

    def _batch_shape(self) -> Any:
        return self._distribution.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self._distribution.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self._distribution.event_shape

    def _event_shape_tensor(self) -> Any:
        return self._distribution.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        y = raw.Ceil(self._distribution.sample(n, seed=seed))
        y = y if self._low is None else raw.Maximum(y, self._low)
        return y if self._high is None else raw.Minimum(y, self._high)

    def _valid(self, y: Tensor) -> Any:
        if not self.validate_args:
            return y
        return checked(y, [assert_equal(y, raw.Floor(y), message="expected integers")])

    def _limited(self, j: Tensor, inner: Any, below: float, above: float) -> Any:
        """Return `inner` of an integer j, a function of X <= j, with its values below `low` and from `high` on."""
        if self._low is not None:
            inner = raw.SelectV2(raw.Less(j, self._low), number(below, j), inner)
        if self._high is not None:
            inner = raw.SelectV2(raw.GreaterEqual(j, self._high), number(above, j), inner)
        return inner

    def _log_cdf(self, y: Tensor) -> Any:
        j = raw.Floor(self._valid(y))
        return self._limited(j, self._distribution.log_cdf(j), -np.inf, 0.0)

    def _cdf(self, y: Tensor) -> Any:
        j = raw.Floor(self._valid(y))
        return self._limited(j, self._distribution.cdf(j), 0.0, 1.0)

    def _survival_function(self, y: Tensor) -> Any:
        j = raw.Floor(self._valid(y))
        return self._limited(j, self._distribution.survival_function(j), 1.0, 0.0)

    def _log_survival_function(self, y: Tensor) -> Any:
        j = raw.Floor(self._valid(y))
        return self._limited(j, self._distribution.log_survival_function(j), 0.0, -np.inf)

    def _prob(self, y: Tensor) -> Any:
        y = self._valid(y)                                           # of the two tails, the one where less is lost
        upper = self._survival_function(y - 1) - self._survival_function(y)
        lower = self._cdf(y) - self._cdf(y - 1)
        return raw.SelectV2(raw.Less(self._cdf(y), self._survival_function(y)), lower, upper)

    def _log_prob(self, y: Tensor) -> Any:
        y = self._valid(y)
        tail = raw.Less(self._log_survival_function(y), self._log_cdf(y))
        big = raw.SelectV2(tail, self._log_survival_function(y - 1), self._log_cdf(y))
        small = raw.SelectV2(tail, self._log_survival_function(y), self._log_cdf(y - 1))
        ratio = raw.SelectV2(raw.Greater(big, number(-np.inf, big)), small - big, number(-np.inf, big))
        return big + raw.Log1p(-raw.Exp(ratio))


class Autoregressive(Distribution):
    """The distribution of an autoregressive process, whose element i depends on those before it.

    distribution_fn: fn(sample) -> the distribution of all elements, that of element i by the elements before it alone;
    sample0: a first sample for it, by default it is called without one; num_steps: the number of times that samples
    are drawn again, by default once for each element.

    >>> tfd = tf.contrib.distributions
    >>> def after(x=None):
    ...     mean = tf.zeros([3]) if x is None else tf.concat([tf.zeros_like(x[..., :1]), x[..., :-1]], -1)
    ...     return tfd.Independent(tfd.Normal(mean, 1.0), 1)
    >>> walk = tfd.Autoregressive(after)
    >>> sess.run(walk.log_prob([1.0, 2.0, 3.0]))
    -4.2568
    """

    def __init__(self, distribution_fn: Callable[..., Any], sample0: Any = None, num_steps: int | None = None,
                 validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Autoregressive") -> None:
        parameters = dict(locals())
        with name_scope(name) as scope:
            self._fn, self._sample0 = distribution_fn, sample0
            self._first = distribution_fn() if sample0 is None else distribution_fn(sample0)
            count = self._first.event_shape.num_elements() if num_steps is None else num_steps
            if count is None:
                raise ValueError("distribution_fn must generate a distribution with fully known `event_shape`.")
            if count < 1:
                raise ValueError(f"num_steps ({count}) must be at least 1.")
        self._steps = count
        super().__init__(self._first.dtype, self._first.reparameterization_type, validate_args, allow_nan_stats,
                         parameters, self._first._graph_parents, scope, ())

    @property
    def distribution_fn(self) -> Callable[..., Any]:
        """The function that gives the distribution of all elements."""
        return self._fn

    @property
    def distribution0(self) -> Any:
        """The distribution of the first samples."""
        return self._first

    @property
    def sample0(self) -> Any:
        """The first sample, or None."""
        return self._sample0

    @property
    def num_steps(self) -> int:
        """The number of times that samples are drawn."""
        return self._steps

    def _batch_shape(self) -> Any:
        return self._first.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self._first.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self._first.event_shape

    def _event_shape_tensor(self) -> Any:
        return self._first.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        if seed is None:                          # all steps draw the same numbers: settled elements stay as they are
            seed = get_seed(None)[1]
            seed = int(np.random.randint(2 ** 31 - 1)) if seed is None else seed
        drawn = self._first.sample(n, seed=seed)
        for _ in range(self._steps):
            drawn = self._fn(drawn).sample(seed=seed)
        return drawn

    def _log_prob(self, x: Tensor) -> Any:
        return self._fn(x).log_prob(x)

describe(globals(), DISTRIBUTIONS)
