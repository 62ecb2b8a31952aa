"""Bijectors, element by element, onto intervals and half-lines: cumulative distribution functions and others."""
from __future__ import annotations

from typing import Any

from tfnb.control_flow.assertions import assert_less_equal, assert_non_negative
from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.bijectors.bijector import Bijector
from tfnb.distributions.parameters import checked, floats, number
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.raw import raw


class AbsoluteValue(Bijector):
    """The function y = |x|, which is not injective: its inverse is the tuple (-y, y).

    >>> b = tf.contrib.distributions.bijectors.AbsoluteValue()
    >>> sess.run([b.forward([-1.0, 2.0]), *b.inverse(3.0)])
    [array([1., 2.], dtype=float32), -3.0, 3.0]
    """

    _is_injective = False

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _valid(self, y: Any) -> Any:
        return checked(y, [assert_non_negative(y, message="Argument y was negative")] if self.validate_args else [])

    def _forward(self, x: Any) -> Any:
        return raw.Abs(x)

    def _inverse(self, y: Any) -> Any:
        y = self._valid(y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zeros = raw.ZerosLike(self._valid(y))
        return zeros, zeros


class Softsign(Bijector):
    """The bijector y = x / (1 + |x|), onto (-1, 1).

    >>> sess.run(tf.contrib.distributions.bijectors.Softsign().forward([-1.0, 3.0]))
    array([-0.5 ,  0.75], dtype=float32)
    """

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return x / (1 + raw.Abs(x))

    def _valid(self, y: Any) -> Any:
        checks = [assert_less_equal(raw.Abs(y), number(1, y), message="expected y in (-1, 1)")] \
            if self.validate_args else []
        return checked(y, checks)

    def _inverse(self, y: Any) -> Any:
        y = self._valid(y)
        return y / (1 - raw.Abs(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2 * raw.Log1p(raw.Abs(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2 * raw.Log1p(-raw.Abs(self._valid(y)))


class _ToUnit(Bijector):
    """Base of bijectors onto (0, 1)."""

    def __init__(self, parameters: list[Any], validate_args: bool, name: str) -> None:
        super().__init__(parameters, forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _valid(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        return checked(y, [assert_non_negative(y, message="y must be at least 0"),
                           assert_less_equal(y, number(1, y), message="y must be at most 1")])

    def _positive(self, x: Any) -> Any:
        message = "Forward transformation input must be at least 0."
        return checked(x, [assert_non_negative(x, message=message)] if self.validate_args else [])


class Gumbel(_ToUnit):
    """The bijector y = exp(-exp(-(x - loc) / scale)): the cumulative distribution function of a Gumbel distribution.

    loc: the location; scale: positive.

    >>> sess.run(tf.contrib.distributions.bijectors.Gumbel().forward([0.0, 1.0]))
    array([0.3679, 0.6922], dtype=float32)
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel") -> None:
        with name_scope(name):
            self._loc, self._scale = floats(("loc", loc), ("scale", scale), positive=["scale"], validate=validate_args)
        super().__init__([self._loc, self._scale], validate_args, name)

    @property
    def loc(self) -> Any:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return raw.Exp(-raw.Exp(-(x - self._loc) / self._scale))

    def _inverse(self, y: Any) -> Any:
        return self._loc - self._scale * raw.Log(-raw.Log(self._valid(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self._loc) / self._scale
        return -z - raw.Exp(-z) - raw.Log(self._scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._valid(y)
        return raw.Log(self._scale / (-raw.Log(y) * y))


class Kumaraswamy(_ToUnit):
    """The bijector y = (1 - (1 - x)**(1 / b))**(1 / a) of x in [0, 1], which makes a Kumaraswamy of a uniform variable.

    concentration1: a, concentration0: b; positive.

    >>> b = tf.contrib.distributions.bijectors.Kumaraswamy(concentration1=2.0, concentration0=1.0)
    >>> sess.run(b.forward([0.0, 0.25, 1.0]))
    array([0. , 0.5, 1. ], dtype=float32)
    """

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
                 name: str = "kumaraswamy") -> None:
        a, b = (1.0 if each is None else each for each in (concentration1, concentration0))
        with name_scope(name):
            self._a, self._b = floats(("concentration1", a), ("concentration0", b),
                                      positive=["concentration1", "concentration0"], validate=validate_args)
        super().__init__([self._a, self._b], validate_args, name)

    @property
    def concentration1(self) -> Any:
        """The parameter a."""
        return self._a

    @property
    def concentration0(self) -> Any:
        """The parameter b."""
        return self._b

    def _forward(self, x: Any) -> Any:
        x = self._valid(x)
        return raw.Exp(raw.Log1p(-raw.Exp(raw.Log1p(-x) / self._b)) / self._a)

    def _inverse(self, y: Any) -> Any:
        y = self._valid(y)
        return raw.Exp(raw.Log1p(-raw.Exp(raw.Log1p(-y ** self._a) * self._b)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y, a, b = self._valid(y), self._a, self._b
        return raw.Log(a) + raw.Log(b) + raw.Xlogy(a - 1, y) + (b - 1) * raw.Log1p(-y ** a)


class Weibull(_ToUnit):
    """The bijector y = 1 - exp(-(x / scale)**concentration) of x >= 0: the distribution function of a Weibull variable.

    scale, concentration: positive.

    >>> sess.run(tf.contrib.distributions.bijectors.Weibull(scale=2.0, concentration=1.0).forward([0.0, 2.0]))
    array([0.    , 0.6321], dtype=float32)
    """

    def __init__(self, scale: Any = 1.0, concentration: Any = 1.0, validate_args: bool = False,
                 name: str = "weibull") -> None:
        with name_scope(name):
            self._scale, self._concentration = floats(("scale", scale), ("concentration", concentration),
                                                      positive=["scale", "concentration"], validate=validate_args)
        super().__init__([self._scale, self._concentration], validate_args, name)

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    @property
    def concentration(self) -> Any:
        """The shape parameter."""
        return self._concentration

    def _forward(self, x: Any) -> Any:
        return -raw.Expm1(-(self._positive(x) / self._scale) ** self._concentration)

    def _inverse(self, y: Any) -> Any:
        return self._scale * (-raw.Log1p(-self._valid(y))) ** (1 / self._concentration)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x, k = self._positive(x), self._concentration
        return -(x / self._scale) ** k + raw.Xlogy(k - 1, x) + raw.Log(k) - k * raw.Log(self._scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y, k = self._valid(y), self._concentration
        return -raw.Log1p(-y) + raw.Xlogy(1 / k - 1, -raw.Log1p(-y)) + raw.Log(self._scale / k)


describe(globals(), DISTRIBUTIONS)
