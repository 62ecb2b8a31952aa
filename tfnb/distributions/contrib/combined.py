"""Distributions that are made of others: transformed, independent, mixtures."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.core.shape import TensorShape
from tfnb.distributions.bijectors.scalar import Identity
from tfnb.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from tfnb.distributions.kullback_leibler import RegisterKL, kl_divergence
from tfnb.distributions.parameters import new_seed
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.gather import one_hot
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.reshape import expand_dims
from tfnb.ops.declaration.raw import raw
from tfnb.ops.nn.cross_entropy import log_softmax
from tfnb.ops.reductions.reduce import reduce_logsumexp


def _sum_of_last(x: Any, count: int) -> Any:
    return raw.Sum(x, np.arange(-count, 0, dtype=np.int32)) if count else x


def _ndims(distribution: Distribution) -> int:
    found = distribution.event_shape.ndims
    if found is None:
        raise ValueError(f"expected an event shape of known rank, got {distribution}")
    return int(found)


class TransformedDistribution(Distribution):
    """The distribution of g(X) for a distribution of X and a bijector g.

    distribution: that of X; bijector: g, by default the identity; batch_shape, event_shape: lists of integers, where X
    of scalars is to be drawn as many times, independently, as one batch or event.

    >>> tfd = tf.contrib.distributions
    >>> log_normal = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfd.bijectors.Exp())
    >>> sess.run([log_normal.prob([1.0, 2.0]), log_normal.cdf(1.0)])
    [array([0.3989, 0.1569], dtype=float32), 0.5]
    """

    def __init__(self, distribution: Any, bijector: Any = None, batch_shape: Any = None, event_shape: Any = None,
                 validate_args: bool = False, name: str | None = None) -> None:
        parameters = dict(locals())
        self._distribution, self._bijector = distribution, bijector or Identity()
        self._more_batch = None if batch_shape is None else [int(n) for n in batch_shape]
        self._more_event = None if event_shape is None else [int(n) for n in event_shape]
        if batch_shape is not None and distribution.batch_shape.ndims != 0:
            raise ValueError("Base distribution is not scalar: batch_shape needs one with the batch shape []")
        if event_shape is not None and distribution.event_shape.ndims != 0:
            raise ValueError("Base distribution is not scalar: event_shape needs one with the event shape []")
        default = f"{self._bijector.name}{distribution.name.rstrip('/')}"
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args,
                         distribution.allow_nan_stats, parameters, [*self._bijector.graph_parents], name or default, ())

    @property
    def distribution(self) -> Any:
        """The distribution of X."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The transform."""
        return self._bijector

    def _inner_event(self) -> TensorShape:
        return self._distribution.event_shape if self._more_event is None else TensorShape(self._more_event)

    def _batch_shape(self) -> Any:
        return self._distribution.batch_shape if self._more_batch is None else self._more_batch

    def _batch_shape_tensor(self) -> Tensor:
        found: Tensor = self._distribution.batch_shape_tensor()
        return found

    def _event_shape(self) -> Any:
        return self._bijector.forward_event_shape(self._inner_event())

    def _event_shape_tensor(self) -> Tensor:
        found: Tensor = self._bijector.forward_event_shape_tensor(self._distribution.event_shape_tensor())
        return found

    def _inner_ndims(self) -> int:
        return _ndims(self._distribution) if self._more_event is None else len(self._more_event)

    def _sample_n(self, n: Any, seed: int | None, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        more = [*(self._more_batch or ()), *(self._more_event or ())]
        drawn = self._distribution.sample(concat([raw.Reshape(n, [1]), np.array(more, np.int32)], 0), seed=seed,
                                          **(distribution_kwargs or {}))
        if self._more_event is not None and self._more_batch is None and self._distribution.batch_shape.ndims:
            raise NotImplementedError("event_shape needs a distribution with the batch shape []")
        return self._bijector.forward(drawn, **(bijector_kwargs or {}))

    def _log_prob(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        inner = self._inner_ndims()
        ndims = inner + self._bijector.inverse_min_event_ndims - self._bijector.forward_min_event_ndims
        x = self._bijector.inverse(y, **(bijector_kwargs or {}))
        slopes = self._bijector.inverse_log_det_jacobian(y, ndims, **(bijector_kwargs or {}))
        pairs = zip(x, slopes, strict=True) if isinstance(x, tuple) else [(x, slopes)]
        found = [_sum_of_last(self._distribution.log_prob(each, **(distribution_kwargs or {})),
                              len(self._more_event or ())) + slope for each, slope in pairs]
        return found[0] if len(found) == 1 else reduce_logsumexp(stack(found), 0)

    def _of_scalars(self, method: str, y: Tensor, bijector_kwargs: Any, distribution_kwargs: Any) -> Any:
        if self._inner_ndims() or self._bijector.forward_min_event_ndims:
            raise NotImplementedError(f"{method} is not implemented when overriding event_shape or for vectors")
        x = self._bijector.inverse(y, **(bijector_kwargs or {}))
        if isinstance(x, tuple):
            raise NotImplementedError(f"{method} is not implemented when bijector is not injective.")
        return getattr(self._distribution, method)(x, **(distribution_kwargs or {}))

    def _cdf(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_scalars("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_cdf(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_scalars("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_scalars("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(self, y: Tensor, bijector_kwargs: Any = None, distribution_kwargs: Any = None) -> Any:
        return self._of_scalars("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(self, p: Tensor) -> Any:
        if self._inner_ndims():
            raise NotImplementedError("quantile is not implemented when overriding event_shape or for vectors")
        return self._bijector.forward(self._distribution.quantile(p))

    def _linear(self) -> bool:
        b = self._bijector
        return b.is_constant_jacobian and b._is_injective and self._more_event is None

    def _mean(self) -> Any:
        if not self._linear():
            raise NotImplementedError("mean is not implemented for non-affine bijectors")
        return self._bijector.forward(self._distribution.mean())

    def _entropy(self) -> Any:
        if not self._linear():
            raise NotImplementedError("entropy is not implemented")
        at = self._bijector.forward(raw.ZerosLike(self._distribution.mean()))
        return self._distribution.entropy() - self._bijector.inverse_log_det_jacobian(at, self._inner_ndims())


class Independent(Distribution):
    """A distribution whose last batch axes are counted as axes of an event.

    distribution: of which the batch is; reinterpreted_batch_ndims: how many axes, by default all but the first.

    >>> tfd = tf.contrib.distributions
    >>> d = tfd.Independent(tfd.Normal(tf.zeros([2, 3]), 1.0), reinterpreted_batch_ndims=1)
    >>> d.batch_shape, d.event_shape
    (TensorShape([Dimension(2)]), TensorShape([Dimension(3)]))
    """

    def __init__(self, distribution: Any, reinterpreted_batch_ndims: int | None = None, validate_args: bool = False,
                 name: str | None = None) -> None:
        parameters = dict(locals())
        self._distribution = distribution
        batch = distribution.batch_shape.ndims
        if reinterpreted_batch_ndims is None:
            reinterpreted_batch_ndims = max(0, batch - 1)
        self._count = int(reinterpreted_batch_ndims)
        if batch is not None and self._count > batch:
            raise ValueError(f"reinterpreted_batch_ndims({self._count}) cannot exceed the batch's rank, {batch}")
        super().__init__(distribution.dtype, distribution.reparameterization_type, validate_args,
                         distribution.allow_nan_stats, parameters, (),
                         name or f"Independent{distribution.name.rstrip('/')}")

    @property
    def distribution(self) -> Any:
        """The distribution whose batch it is."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> int:
        """The number of batch axes that are axes of an event."""
        return self._count

    def _cut(self, shape: Any) -> int:
        return int(self._distribution.batch_shape.ndims) - self._count

    def _batch_shape(self) -> Any:
        shape = self._distribution.batch_shape
        return shape[:self._cut(shape)]

    def _batch_shape_tensor(self) -> Any:
        shape = self._distribution.batch_shape_tensor()
        return shape[:self._cut(shape)]

    def _event_shape(self) -> Any:
        shape = self._distribution.batch_shape
        return shape[self._cut(shape):].concatenate(self._distribution.event_shape)

    def _event_shape_tensor(self) -> Any:
        shape = self._distribution.batch_shape_tensor()
        return concat([shape[self._cut(shape):], self._distribution.event_shape_tensor()], 0)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return self._distribution.sample(n, seed=seed)

    def _log_prob(self, x: Tensor) -> Any:
        return _sum_of_last(self._distribution.log_prob(x), self._count)

    def _entropy(self) -> Any:
        return _sum_of_last(self._distribution.entropy(), self._count)

    def _mean(self) -> Any:
        return self._distribution.mean()

    def _variance(self) -> Any:
        return self._distribution.variance()

    def _stddev(self) -> Any:
        return self._distribution.stddev()

    def _mode(self) -> Any:
        return self._distribution.mode()


@RegisterKL(Independent, Independent)
def _kl_independent(a: Any, b: Any, name: str | None = None) -> Any:
    if a.event_shape.as_list() != b.event_shape.as_list():
        raise ValueError(f"Event shapes do not match: {a.event_shape} and {b.event_shape}")
    with name_scope(name, "kl_independent"):
        return _sum_of_last(kl_divergence(a.distribution, b.distribution), a.reinterpreted_batch_ndims)


class MixtureSameFamily(Distribution):
    """Mixture of the distributions of a batch: those along its last axis are the components.

    mixture_distribution: a Categorical over them; components_distribution: of batch shape (..., components).

    >>> tfd = tf.contrib.distributions
    >>> d = tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal(loc=[-1.0, 1.0], scale=[0.1, 0.5]))
    >>> sess.run([d.mean(), d.prob(1.0)])
    [0.4, 0.5585]
    """

    def __init__(self, mixture_distribution: Any, components_distribution: Any, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MixtureSameFamily") -> None:
        parameters = dict(locals())
        self._mixture, self._components = mixture_distribution, components_distribution
        if not mixture_distribution.dtype.is_integer:
            raise ValueError(f"`mixture_distribution.dtype` ({mixture_distribution.dtype.name}) is not over integers")
        super().__init__(components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
                         parameters, (), name)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution over the components."""
        return self._mixture

    @property
    def components_distribution(self) -> Any:
        """The components."""
        return self._components

    def _batch_shape(self) -> Any:
        return self._components.batch_shape[:-1]

    def _batch_shape_tensor(self) -> Any:
        return self._components.batch_shape_tensor()[:-1]

    def _event_shape(self) -> Any:
        return self._components.event_shape

    def _event_shape_tensor(self) -> Any:
        return self._components.event_shape_tensor()

    def _over_components(self, values: Any, weights: Any) -> Any:
        """Return sums over the components of values (..., components, *event) by weights (..., components)."""
        ndims = _ndims(self._components)
        for _ in range(ndims):
            weights = expand_dims(weights, -1)
        return raw.Sum(values * weights, [-1 - ndims])

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = self._components.sample(n, seed=seed)
        chosen = self._mixture.sample(n, seed=new_seed(seed, "mixture"))
        count = self._components.batch_shape_tensor()[-1]
        weights = one_hot(chosen, count, dtype=self.dtype)
        return self._over_components(drawn, weights + raw.ZerosLike(_sum_of_last(drawn, _ndims(self._components))))

    def _by_components(self, method: str, x: Tensor) -> Any:
        x = expand_dims(x, -1 - _ndims(self._components))
        return getattr(self._components, method)(x)

    def _log_prob(self, x: Tensor) -> Any:
        return reduce_logsumexp(self._by_components("log_prob", x) + log_softmax(self._mixture.logits), axis=-1)

    def _cdf(self, x: Tensor) -> Any:
        return raw.Sum(self._by_components("cdf", x) * self._mixture.probs, [-1])

    def _mean(self) -> Any:
        return self._over_components(self._components.mean(), self._mixture.probs)

    def _variance(self) -> Any:
        means = self._components.mean()
        center = expand_dims(self._mean(), -1 - _ndims(self._components))
        spread = self._components.variance() + raw.SquaredDifference(means, center)
        return self._over_components(spread, self._mixture.probs)


class Mixture(Distribution):
    """Mixture of distributions of any kinds with equal batch and event shapes.

    cat: a Categorical over them; components: a list of distributions of one dtype; use_static_graph: accepted without
    effect.

    >>> tfd = tf.contrib.distributions
    >>> d = tfd.Mixture(tfd.Categorical(probs=[0.3, 0.7]), [tfd.Normal(-1.0, 0.1), tfd.Laplace(1.0, 0.5)])
    >>> sess.run([d.mean(), d.prob(1.0)])
    [0.4, 0.7]
    """

    def __init__(self, cat: Any, components: Sequence[Any], validate_args: bool = False, allow_nan_stats: bool = True,
                 use_static_graph: bool = False, name: str = "Mixture") -> None:
        parameters = dict(locals())
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if len({each.dtype for each in components}) > 1:
            raise TypeError("All components must have the same dtype, but saw dtypes: "
                            f"{[(each.name, each.dtype.name) for each in components]}")
        self._cat, self._components = cat, list(components)
        super().__init__(components[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, (),
                         name)

    @property
    def cat(self) -> Any:
        """The distribution over the components."""
        return self._cat

    @property
    def components(self) -> list[Any]:
        """The components."""
        return self._components

    @property
    def num_components(self) -> int:
        """The number of components."""
        return len(self._components)

    def _batch_shape(self) -> Any:
        return self._cat.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self._cat.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self._components[0].event_shape

    def _event_shape_tensor(self) -> Any:
        return self._components[0].event_shape_tensor()

    def _weighted(self, values: Sequence[Any], weights: Any) -> Any:
        """Return the sum of values (..., *event) by the last axis of weights."""
        for _ in range(_ndims(self._components[0])):
            weights = expand_dims(weights, -2)
        return raw.Sum(stack(list(values), -1) * weights, [-1])

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        chosen = one_hot(self._cat.sample(n, seed=seed), len(self._components), dtype=self.dtype)
        drawn = [each.sample(n, seed=new_seed(seed, f"mixture{i}")) for i, each in enumerate(self._components)]
        return self._weighted(drawn, chosen)

    def _log_prob(self, x: Tensor) -> Any:
        each = stack([component.log_prob(x) for component in self._components], -1)
        return reduce_logsumexp(each + log_softmax(self._cat.logits), axis=-1)

    def _cdf(self, x: Tensor) -> Any:
        return raw.Sum(stack([component.cdf(x) for component in self._components], -1) * self._cat.probs, [-1])

    def _mean(self) -> Any:
        return self._weighted([each.mean() for each in self._components], self._cat.probs)

    def _variance(self) -> Any:
        center = self._mean()
        return self._weighted([each.variance() + raw.SquaredDifference(each.mean(), center)
                               for each in self._components], self._cat.probs)


describe(globals(), DISTRIBUTIONS)
