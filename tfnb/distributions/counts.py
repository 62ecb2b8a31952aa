"""Distributions of vectors that sum to one or to a count: Dirichlet, multinomial and their compound."""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.assertions import assert_equal, assert_near, assert_positive
from tfnb.control_flow.functional import map_fn
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from tfnb.distributions.families import OfLogits, OfVectors
from tfnb.distributions.kullback_leibler import RegisterKL
from tfnb.distributions.parameters import (
    checked,
    floats,
    integer_checks,
    logits_and_probs,
    new_seed,
    number,
    ones_of,
    where_defined,
)
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import ones_like
from tfnb.ops.array.diagonals import matrix_set_diag
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.reshape import broadcast_static_shape, expand_dims, transpose
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.special import lbeta
from tfnb.ops.random.random_ops import multinomial
from tfnb.ops.random.samples import random_gamma
from tfnb.ops.reductions.matmul import matmul


def _sum(x: Tensor, keep: bool = False) -> Any:
    found: Tensor = raw.Sum(x, [-1], keep_dims=keep)
    return found


def _log_combinations(n: Tensor, counts: Tensor) -> Any:
    """Return the logarithm of the multinomial coefficient of counts along the last axis, which sum to n."""
    return raw.Lgamma(n + 1) - _sum(raw.Lgamma(counts + 1))


def _outer(x: Tensor, y: Tensor) -> Any:
    return matmul(expand_dims(x, -1), expand_dims(y, -2))


class _OfConcentration(OfVectors):
    """Base of distributions with one parameter for each element of a vector."""

    _concentration: Tensor
    _total: Tensor

    def _begin_vectors(self, concentration: Any, validate: bool) -> None:
        found, = floats(("concentration", concentration), positive=("concentration",), validate=validate)
        if found.shape.ndims == 0 or found.shape.ndims is not None and found.shape.as_list()[-1] in (0, 1):
            raise ValueError(f"concentration must have a last axis of two or more elements, got shape {found.shape}")
        self._vector = self._concentration = found

    @property
    def concentration(self) -> Tensor:
        """The parameters of the elements, or classes."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """The sum of the parameters."""
        return self._total


class Dirichlet(_OfConcentration):
    """Dirichlet distribution over probability vectors; samples have gradients.

    concentration: positive, one for each element of a vector along the last axis.

    >>> d = tf.distributions.Dirichlet([1.0, 2.0, 3.0])
    >>> sess.run([d.mean(), d.log_prob([0.2, 0.3, 0.5])])
    [array([0.1667, 0.3333, 0.5   ], dtype=float32), 1.5041]
    """

    def __init__(self, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Dirichlet") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as scope:
            self._begin_vectors(concentration, validate_args)
            self._total = _sum(self._concentration)
        super().__init__(self._vector.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._concentration, self._total], scope)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = random_gamma(raw.Reshape(n, [1]), self._concentration, dtype=self.dtype, seed=seed)
        return drawn / _sum(drawn, keep=True)

    def _log_prob(self, x: Tensor) -> Any:
        if self.validate_args:
            x = checked(x, [assert_positive(x, message="samples must be positive"),
                            assert_near(number(1, x), _sum(x), message="sample last-dimension must sum to `1`")])
        return _sum(raw.Xlogy(self._concentration - 1, x)) - lbeta(self._concentration)

    def _entropy(self) -> Any:
        k = raw.Cast(self.event_shape_tensor()[0], DstT=self.dtype)
        return lbeta(self._concentration) + (self._total - k) * raw.Digamma(self._total) \
            - _sum((self._concentration - 1) * raw.Digamma(self._concentration))

    def _mean(self) -> Any:
        return self._concentration / expand_dims(self._total, -1)

    def _variance(self) -> Any:
        mean = self._mean()
        return mean * (1 - mean) / (1 + expand_dims(self._total, -1))

    def _covariance(self) -> Any:
        mean, total = self._mean(), expand_dims(expand_dims(self._total, -1), -1)
        return matrix_set_diag(-_outer(mean, mean) / (1 + total), self._variance())

    def _mode(self) -> Any:
        k = raw.Cast(self.event_shape_tensor()[0], DstT=self.dtype)
        found = (self._concentration - 1) / expand_dims(self._total - k, -1)
        has = raw.All(raw.Greater(self._concentration, 1), [-1], keep_dims=True)
        return where_defined(has, found, self.allow_nan_stats, "Mode undefined when any concentration <= 1")


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet(d1: Any, d2: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_dirichlet_dirichlet"):
        difference = d1.concentration - d2.concentration
        slope = raw.Digamma(d1.concentration) - raw.Digamma(expand_dims(d1.total_concentration, -1))
        return _sum(difference * slope) - lbeta(d1.concentration) + lbeta(d2.concentration)


class _Counts(OfVectors):
    """Base of distributions of counts that sum to `total_count`, which is of the batch shape."""

    _total_count: Tensor

    def _batch_shape(self) -> Any:
        return broadcast_static_shape(self._total_count.shape, super()._batch_shape())

    def _batch_shape_tensor(self) -> Any:
        found = _sum(self._vector)
        return shape_of(found * ones_like(raw.Cast(self._total_count, DstT=found.dtype)))

    @property
    def total_count(self) -> Tensor:
        """The number of trials."""
        return self._total_count

    def _begin_counts(self, total_count: Any, dtype: Any, validate: bool) -> None:
        self._total_count = convert_to_tensor(total_count, name="total_count", dtype=dtype)
        if validate:
            self._total_count = checked(self._total_count, integer_checks(self._total_count))

    def _valid(self, counts: Tensor) -> Any:
        if not self.validate_args:
            return counts
        return checked(counts, [*integer_checks(counts), assert_equal(
            self._total_count, _sum(counts), message="counts must sum to `self.total_count`")])


class Multinomial(_Counts, OfLogits):
    """Multinomial distribution: counts of the classes along the last axis in `total_count` independent trials.

    total_count: a float tensor of integers, of the batch shape or a scalar.

    >>> d = tf.distributions.Multinomial(total_count=4.0, probs=[0.25, 0.75])
    >>> sess.run([d.prob([1.0, 3.0]), d.mean(), d.covariance()])
    [0.4219,
     array([1., 3.], dtype=float32),
     array([[ 0.75, -0.75],
            [-0.75,  0.75]], dtype=float32)]
    """

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Multinomial") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as scope:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
            self._vector = self._logits
            self._begin_counts(total_count, self._logits.dtype, validate_args)
            self._mean_counts = expand_dims(self._total_count, -1) * self._probs
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._total_count, self._logits, self._probs, self._mean_counts], scope)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        k = self.event_shape_tensor()[0]
        zeros = raw.ZerosLike(_sum(self._logits)) + raw.ZerosLike(self._total_count)
        trials = raw.Reshape(raw.Cast(zeros + self._total_count, DstT="int32") * n, [-1])
        rows = raw.Reshape(self._logits + expand_dims(zeros, -1), raw.Pack([-1, k]))

        def draw(each: Any) -> Tensor:
            """Return n vectors of counts of one distribution."""
            logits, count = each
            drawn = raw.Reshape(multinomial(expand_dims(logits, 0), count, seed=seed), raw.Pack([n, -1]))
            found: Tensor = raw.Sum(one_hot(drawn, k, dtype=self.dtype), [-2])
            return found
        drawn = transpose(map_fn(draw, [rows, trials], dtype=self.dtype), [1, 0, 2])
        return raw.Reshape(drawn, self._drawn_shape(n))

    def _log_prob(self, counts: Tensor) -> Any:
        counts = self._valid(counts)
        return _sum(counts * raw.LogSoftmax(self._logits)) + _log_combinations(self._total_count, counts)

    def _mean(self) -> Any:
        found: Tensor = raw.Identity(self._mean_counts)
        return found

    def _variance(self) -> Any:
        return self._mean_counts * (1 - self._probs * ones_of(self._mean_counts))

    def _covariance(self) -> Any:
        probs = self._probs * ones_of(self._mean_counts)
        return matrix_set_diag(-_outer(self._mean_counts, probs), self._variance())


class DirichletMultinomial(_Counts, _OfConcentration):
    """Multinomial distribution whose probabilities are drawn from a Dirichlet distribution (Polya's).

    total_count: a float tensor of integers, of the batch shape or a scalar; samples need a scalar. concentration:
    positive, one for each class along the last axis.

    >>> d = tf.distributions.DirichletMultinomial(4.0, [1.0, 3.0])
    >>> sess.run([d.prob([1.0, 3.0]), d.mean(), d.variance()])
    [0.2857, array([1., 3.], dtype=float32), array([1.2, 1.2], dtype=float32)]
    """

    def __init__(self, total_count: Any, concentration: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "DirichletMultinomial") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as scope:
            self._begin_vectors(concentration, validate_args)
            self._begin_counts(total_count, self._concentration.dtype, validate_args)
            self._total = _sum(self._concentration)
        super().__init__(self._vector.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._total_count, self._concentration], scope)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        trials = raw.Cast(self._total_count, DstT="int32")
        if self._total_count.shape.ndims != 0:
            raise NotImplementedError("Sample only supported for scalar number of draws.")
        k = self.event_shape_tensor()[0]
        odds = raw.Log(random_gamma(raw.Reshape(n, [1]), self._concentration, dtype=self.dtype, seed=seed))
        drawn = multinomial(raw.Reshape(odds, raw.Pack([-1, k])), trials,
                            seed=new_seed(seed, "dirichlet_multinomial"))
        return raw.Reshape(raw.Sum(one_hot(drawn, k), [-2]), self._drawn_shape(n))

    def _log_prob(self, counts: Tensor) -> Any:
        counts = self._valid(counts)
        return lbeta(self._concentration + counts) - lbeta(self._concentration) \
            + _log_combinations(self._total_count, counts)

    def _mean(self) -> Any:
        return expand_dims(self._total_count / self._total, -1) * self._concentration

    def _scale(self) -> Any:
        """Return the square root of the variance's factor over that of a multinomial distribution."""
        return raw.Sqrt((1 + self._total / self._total_count) / (1 + self._total))

    def _parts(self) -> tuple[Tensor, Tensor]:
        scale = expand_dims(self._scale() * self._total_count, -1)
        return scale, self._concentration / expand_dims(self._total, -1) * ones_of(scale)

    def _variance(self) -> Any:
        scale, probs = self._parts()
        return raw.Square(scale) * probs * (1 - probs)

    def _covariance(self) -> Any:
        scale, probs = self._parts()
        return matrix_set_diag(-_outer(scale * probs, scale * probs), self._variance())


describe(globals(), DISTRIBUTIONS)
