"""Skewed and heavy-tailed distributions: transformed uniform and normal ones."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.bijectors.intervals import Kumaraswamy as KumaraswamyBijector
from tfnb.distributions.bijectors.scalar import AffineScalar
from tfnb.distributions.bijectors.scalar import SinhArcsinh as SinhArcsinhBijector
from tfnb.distributions.bijectors.vectors import AffineLinearOperator, Chain
from tfnb.distributions.continuous import Normal, Uniform
from tfnb.distributions.contrib.combined import TransformedDistribution
from tfnb.distributions.contrib.scalars import EULER
from tfnb.distributions.families import keep_parameters
from tfnb.distributions.linear import scale_operator, vector_zeros
from tfnb.distributions.parameters import number, ones_of, where_defined
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.raw import raw


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy distribution on (0, 1), of density a b x^(a - 1) (1 - x^a)^(b - 1); samples have gradients.

    concentration1: a, concentration0: b; positive, 1 by default.

    >>> d = tf.contrib.distributions.Kumaraswamy(concentration1=2.0, concentration0=1.0)
    >>> sess.run([d.prob(0.5), d.mean(), d.cdf(0.5)])
    [1.0, 0.6667, 0.25]
    """

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Kumaraswamy") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            self._made = KumaraswamyBijector(concentration1, concentration0, validate_args)
            ones = ones_of(self._made.concentration1, self._made.concentration0)
            super().__init__(Uniform(raw.ZerosLike(ones), ones, allow_nan_stats=allow_nan_stats), self._made,
                             validate_args=validate_args, name=scope)
        keep_parameters(self, parameters)

    @property
    def concentration1(self) -> Tensor:
        """The parameter a."""
        found: Tensor = self._made.concentration1
        return found

    @property
    def concentration0(self) -> Tensor:
        """The parameter b."""
        found: Tensor = self._made.concentration0
        return found

    def _moment(self, n: int) -> Any:
        a, b = self._made.concentration1, self._made.concentration0
        at = 1 + n / a
        return raw.Exp(raw.Log(b) + raw.Lgamma(at) + raw.Lgamma(b) - raw.Lgamma(at + b))

    def _entropy(self) -> Any:
        a, b = self._made.concentration1, self._made.concentration0
        harmonic = raw.Digamma(b + 1) + EULER
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - raw.Log(a) - raw.Log(b)

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - raw.Square(self._moment(1))

    def _mode(self) -> Any:
        a, b = self._made.concentration1, self._made.concentration0
        defined = raw.LogicalAnd(raw.Greater(a, number(1, a)), raw.Greater(b, number(1, b)))
        return where_defined(defined, ((a - 1) / (a * b - 1)) ** (1 / a), self.allow_nan_stats,
                             "mode undefined for concentrations <= 1")


def _tailed(skewness: Any, tailweight: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the bijector, and the factor 2 / F(2) of one without skewness: its values have about the scale of z."""
    tail = convert_to_tensor(1.0 if tailweight is None else tailweight, dtype=dtype, name="tailweight")
    skew = convert_to_tensor(0.0 if skewness is None else skewness, dtype=dtype, name="skewness")
    return SinhArcsinhBijector(skew, tail), 2 / raw.Sinh(np.arcsinh(2.0) * tail)


class _SinhArcsinh(TransformedDistribution):
    """Base of distributions of loc + scale * F(Z) * 2 / F_0(2)."""

    _loc: Tensor
    _scale: Any
    _f: SinhArcsinhBijector

    @property
    def loc(self) -> Tensor:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    @property
    def skewness(self) -> Any:
        """The skewness."""
        return self._f._skewness

    @property
    def tailweight(self) -> Any:
        """The weight of the tails."""
        return self._f._tailweight


class SinhArcsinh(_SinhArcsinh):
    """Normal distribution with other skewness and tails (Jones and Pewsey, 2009); samples have gradients.

    A sample is loc + scale * F(Z) * 2 / F_0(2), F(Z) = sinh((arcsinh(Z) + skewness) * tailweight), F_0 without
    skewness. loc, scale: location and positive scale; skewness: 0 by default; tailweight: 1 by default, larger for
    heavier tails; distribution: of Z, a standard normal one by default, of scalars.

    >>> d = tf.contrib.distributions.SinhArcsinh(loc=1.0, scale=2.0)
    >>> sess.run([d.prob(1.0), tf.distributions.Normal(1.0, 2.0).prob(1.0)])
    [0.1995, 0.1995]
    """

    def __init__(self, loc: Any, scale: Any, skewness: Any = None, tailweight: Any = None, distribution: Any = None,
                 validate_args: bool = False, allow_nan_stats: bool = True, name: str = "SinhArcsinh") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as scope:
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, dtype=self._loc.dtype, name="scale")
            self._f, factor = _tailed(skewness, tailweight, self._loc.dtype)
            if distribution is None:
                ones = ones_of(self._loc, self._scale, *self._f.graph_parents)
                distribution = Normal(raw.ZerosLike(ones), ones, allow_nan_stats=allow_nan_stats)
            chain = Chain([AffineScalar(self._loc, self._scale * factor), self._f])
            super().__init__(distribution, chain, validate_args=validate_args, name=scope)
        keep_parameters(self, parameters)


class VectorSinhArcsinhDiag(_SinhArcsinh):
    """Distribution of vectors loc + scale @ F(Z) * 2 / F_0(2), with F of `SinhArcsinh`; samples have gradients.

    loc: (..., k), 0 by default; scale_diag: (..., k), 1 by default; scale_identity_multiplier: added to all of it,
    (...); skewness, tailweight: as there; distribution: of an element of Z, standard normal by default, of scalars
    and the batch shape [].

    >>> d = tf.contrib.distributions.VectorSinhArcsinhDiag(loc=[1.0, 2.0], skewness=0.5)
    >>> d.sample(3, seed=1).shape.as_list()
    [3, 2]
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 skewness: Any = None, tailweight: Any = None, distribution: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "VectorSinhArcsinhDiag") -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier, skewness, tailweight]) as scope:
            self._scale = scale_operator(scale_diag, scale_identity_multiplier, like=loc)
            dtype = self._scale.dtype
            self._loc = convert_to_tensor(0.0 if loc is None else loc, dtype=dtype, name="loc") \
                + vector_zeros(self._scale)
            self._f, factor = _tailed(skewness, tailweight, dtype)
            if distribution is None:
                distribution = Normal(number(0, self._loc), number(1, self._loc), allow_nan_stats=allow_nan_stats)
            shape = ones_of(self._loc, *self._f.graph_parents).shape
            if not shape.is_fully_defined():
                raise ValueError(f"expected parameters of known shapes, got {shape}")
            chain = Chain([AffineLinearOperator(self._loc, self._scale), AffineScalar(scale=factor), self._f])
            super().__init__(distribution, chain, shape[:-1].as_list(), shape[-1:].as_list(), validate_args, scope)
        keep_parameters(self, parameters)

describe(globals(), DISTRIBUTIONS)
