"""Kullback-Leibler divergences: formulas registered for pairs of classes of distributions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfnb.control_flow.assertions import Assert
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.array.reshape import identity
from tfnb.ops.declaration.raw import raw

Formula = Callable[..., Any]
_FORMULAS: dict[tuple[type, type], Formula] = {}


def _registered(a: type, b: type) -> Formula | None:
    """Return the formula of the nearest base classes of both, the sum of the steps up being the distance."""
    found = [(i + j, (p, q)) for i, p in enumerate(a.__mro__) for j, q in enumerate(b.__mro__) if (p, q) in _FORMULAS]
    return _FORMULAS[min(found, key=lambda pair: pair[0])[1]] if found else None


class RegisterKL:
    """Decorator that registers fn(a, b, name=None) -> tensor as the KL divergence of two classes of distributions.

    dist_cls_a, dist_cls_b: the classes; subclasses without a formula of their own use it too. Raises ValueError where
    the pair has one, TypeError for what is no function.

    >>> class Mine(tf.distributions.Normal): pass
    >>> @tf.distributions.RegisterKL(Mine, Mine)
    ... def _kl(a, b, name=None):
    ...     return a.loc - b.loc
    >>> sess.run(tf.distributions.kl_divergence(Mine(3.0, 1.0), Mine(1.0, 1.0)))
    2.0
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = dist_cls_a, dist_cls_b

    def __call__(self, kl_fn: Formula) -> Formula:
        """Register the function and return it."""
        a, b = self._key
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _FORMULAS:
            raise ValueError(f"KL({a.__name__} || {b.__name__}) has already been registered to: {_FORMULAS[self._key]}")
        _FORMULAS[self._key] = kl_fn
        return kl_fn


def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True,
                  name: str | None = None) -> Tensor:
    """Return the Kullback-Leibler divergence KL(a || b), in nats, of shape the broadcast batch shape.

    distribution_a, distribution_b: of a pair of classes that has a formula (else NotImplementedError);
    allow_nan_stats: False makes NaN an error of the run.

    >>> a, b = tf.distributions.Normal(0.0, 1.0), tf.distributions.Normal([0.0, 1.0], 1.0)
    >>> sess.run(tf.distributions.kl_divergence(a, b))
    array([0. , 0.5], dtype=float32)
    """
    formula = _registered(type(distribution_a), type(distribution_b))
    if formula is None:
        raise NotImplementedError(
            f"No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}")
    with name_scope("KullbackLeibler"):
        found: Tensor = formula(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        fine = raw.LogicalNot(raw.Any(raw.IsNan(found), raw.Range(0, raw.Rank(found), 1)))
        text = f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values " \
               f"(and was called with allow_nan_stats=False). Values:"
        with control_dependencies([Assert(fine, [text, found])]):
            checked: Tensor = identity(found, name="checked_kl")
            return checked


def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None) -> Tensor:
    """Return the cross entropy H(ref, other), in nats. allow_nan_stats: as of `kl_divergence`."""
    with name_scope(name, "cross_entropy"):
        found: Tensor = ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)
        return found
