"""Distributions of constants: numbers and vectors."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from tfnb.distributions.families import OfVectors
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.joining import broadcast_to
from tfnb.ops.declaration.raw import raw


class _Constant(Distribution):
    """Base of distributions of a constant."""

    def _begin(self, loc: Any, atol: Any, rtol: Any, options: tuple[bool, bool], parameters: dict[str, Any],
               name: str) -> None:
        with name_scope(name, values=[loc, atol, rtol]) as scope:
            self._loc = convert_to_tensor(loc, name="loc")
            self._slack = sum((convert_to_tensor(each, dtype=self._loc.dtype) * factor for each, factor in (
                (atol, 1), (rtol, raw.Abs(self._loc))) if each is not None), raw.ZerosLike(self._loc))
        Distribution.__init__(self, self._loc.dtype, FULLY_REPARAMETERIZED, *options, parameters, [self._loc], scope)

    @property
    def loc(self) -> Tensor:
        """The constant."""
        return self._loc

    def _near(self, x: Tensor) -> Any:
        return raw.LessEqual(raw.Abs(x - self._loc), self._slack)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return broadcast_to(self._loc, self._drawn_shape(n))

    def _mean(self) -> Any:
        return raw.Identity(self._loc)

    def _variance(self) -> Any:
        return raw.ZerosLike(self._loc)

    _mode = _mean


class Deterministic(_Constant):
    """The distribution of the constant `loc`.

    atol, rtol: a value is taken for loc where it differs by at most atol + rtol * abs(loc); 0 by default.

    >>> sess.run(tf.contrib.distributions.Deterministic(2.0).prob([1.0, 2.0]))
    array([0., 1.], dtype=float32)
    """

    def __init__(self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Deterministic") -> None:
        self._begin(loc, atol, rtol, (validate_args, allow_nan_stats), dict(locals()), name)

    def _prob(self, x: Tensor) -> Any:
        return raw.Cast(self._near(x), DstT=self.dtype)

    def _cdf(self, x: Tensor) -> Any:
        return raw.Cast(raw.GreaterEqual(x, self._loc - self._slack), DstT=self.dtype)

    def _entropy(self) -> Any:
        return raw.ZerosLike(self._loc)


class VectorDeterministic(_Constant, OfVectors):
    """The distribution of a constant vector.

    loc: (..., k); atol, rtol: a vector is taken for loc where each element differs by at most atol + rtol * abs(loc).

    >>> d = tf.contrib.distributions.VectorDeterministic([1.0, 2.0])
    >>> sess.run(d.prob([[1.0, 2.0], [1.0, 3.0]]))
    array([1., 0.], dtype=float32)
    """

    def __init__(self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "VectorDeterministic") -> None:
        self._begin(loc, atol, rtol, (validate_args, allow_nan_stats), dict(locals()), name)
        self._vector = self._loc
        if self._loc.shape.ndims == 0:
            raise ValueError("loc must be a vector, got a scalar")

    def _prob(self, x: Tensor) -> Any:
        return raw.Cast(raw.All(self._near(x), np.array([-1], np.int32)), DstT=self.dtype)

    def _entropy(self) -> Any:
        return raw.ZerosLike(raw.Sum(self._loc, [-1]))


describe(globals(), DISTRIBUTIONS)
