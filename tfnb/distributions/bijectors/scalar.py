"""Bijectors that are applied element by element."""
from __future__ import annotations

from math import log
from typing import Any

from tfnb.core.arguments import DISTRIBUTIONS, describe
from tfnb.distributions.bijectors.bijector import Bijector
from tfnb.graph.convert import convert_to_tensor
from tfnb.ops.declaration.raw import raw


def softplus_inverse(x: Any, name: str | None = None) -> Any:
    """Return log(exp(x) - 1), the inverse of softplus, for positive `x`. name: unused.

    >>> sess.run(tf.contrib.distributions.softplus_inverse(tf.nn.softplus([0.5, 30.0])))
    array([ 0.5, 30. ], dtype=float32)
    """
    x = convert_to_tensor(x, name="x")
    return x + raw.Log(-raw.Expm1(-x))


class Identity(Bijector):
    """The bijector y = x.

    >>> sess.run(tf.contrib.distributions.bijectors.Identity().forward([1.0, 2.0]))
    array([1., 2.], dtype=float32)
    """

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, dtype=x.dtype)


class AffineScalar(Bijector):
    """The bijector y = scale * x + shift, element by element.

    shift: 0 by default; scale: 1 by default, not 0.

    >>> b = tf.contrib.distributions.bijectors.AffineScalar(shift=1.0, scale=[2.0, 3.0])
    >>> sess.run([b.forward([1.0, 1.0]), b.forward_log_det_jacobian([1.0, 1.0], event_ndims=1)])
    [array([3., 4.], dtype=float32), 1.7918]
    """

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False,
                 name: str = "affine_scalar") -> None:
        self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
        self._scale = None if scale is None else convert_to_tensor(scale, name="scale")
        super().__init__([t for t in (self._shift, self._scale) if t is not None], forward_min_event_ndims=0,
                         is_constant_jacobian=True, validate_args=validate_args, name=name)

    @property
    def shift(self) -> Any:
        """The shift, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The scale, or None."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        x = x if self._scale is None else x * self._scale
        return x if self._shift is None else x + self._shift

    def _inverse(self, y: Any) -> Any:
        y = y if self._shift is None else y - self._shift
        return y if self._scale is None else y / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, dtype=x.dtype) if self._scale is None else raw.Log(raw.Abs(self._scale))


class PowerTransform(Bijector):
    """The bijector y = (1 + x * power) ** (1 / power), for x > -1 / power; exp(x) for power 0 (Box and Cox).

    power: a Python number, not negative.

    >>> sess.run(tf.contrib.distributions.bijectors.PowerTransform(2.0).forward([0.0, 4.0]))
    array([1., 3.], dtype=float32)
    """

    def __init__(self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform") -> None:
        if power < 0:
            raise ValueError(f"`power` must be a non-negative Python number, got {power}")
        self._power = float(power)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def power(self) -> float:
        """The power."""
        return self._power

    def _forward(self, x: Any) -> Any:
        return raw.Exp(x) if self._power == 0 else raw.Exp(raw.Log1p(x * self._power) / self._power)

    def _inverse(self, y: Any) -> Any:
        return raw.Log(y) if self._power == 0 else raw.Expm1(raw.Log(y) * self._power) / self._power

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self._power - 1) * raw.Log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return raw.Identity(x) if self._power == 0 else (1 / self._power - 1) * raw.Log1p(x * self._power)


class Exp(PowerTransform):
    """The bijector y = exp(x).

    >>> sess.run(tf.contrib.distributions.bijectors.Exp().inverse([1.0, 10.0]))
    array([0.    , 2.3026], dtype=float32)
    """

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(0.0, validate_args, name)


class Sigmoid(Bijector):
    """The bijector y = 1 / (1 + exp(-x)).

    >>> sess.run(tf.contrib.distributions.bijectors.Sigmoid().forward([0.0, 2.0]))
    array([0.5   , 0.8808], dtype=float32)
    """

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return raw.Sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return raw.Log(y) - raw.Log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -raw.Log1p(-y) - raw.Log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -raw.Softplus(-x) - raw.Softplus(x)


class Softplus(Bijector):
    """The bijector y = log(1 + exp(x)), or with a softness s: s * log(1 + exp(x / s)).

    hinge_softness: s, not 0; 1 by default.

    >>> sess.run(tf.contrib.distributions.bijectors.Softplus().inverse([0.5, 2.0]))
    array([-0.4328,  1.8546], dtype=float32)
    """

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus") -> None:
        self._softness = None if hinge_softness is None else convert_to_tensor(hinge_softness, name="hinge_softness")
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def hinge_softness(self) -> Any:
        """The softness, or None."""
        return self._softness

    def _forward(self, x: Any) -> Any:
        return raw.Softplus(x) if self._softness is None else self._softness * raw.Softplus(x / self._softness)

    def _inverse(self, y: Any) -> Any:
        return softplus_inverse(y) if self._softness is None else \
            self._softness * softplus_inverse(y / self._softness)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -raw.Softplus(-(x if self._softness is None else x / self._softness))


class Square(Bijector):
    """The bijector y = x**2 of x >= 0.

    >>> sess.run(tf.contrib.distributions.bijectors.Square().inverse([4.0]))
    array([2.], dtype=float32)
    """

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return raw.Square(x)

    def _inverse(self, y: Any) -> Any:
        return raw.Sqrt(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(2.0) + raw.Log(x)


class SinhArcsinh(Bijector):
    """The bijector y = sinh((arcsinh(x) + skewness) * tailweight) (Jones and Pewsey).

    skewness: positive for a heavier right side; tailweight: positive, above 1 for heavier tails.

    >>> sess.run(tf.contrib.distributions.bijectors.SinhArcsinh(skewness=1.0, tailweight=1.0).forward([0.0]))
    array([1.1752], dtype=float32)
    """

    def __init__(self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False,
                 name: str = "SinhArcsinh") -> None:
        self._skewness = convert_to_tensor(0.0 if skewness is None else skewness, name="skewness")
        self._tailweight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight",
                                             preferred_dtype=self._skewness.dtype)
        super().__init__([self._skewness, self._tailweight], forward_min_event_ndims=0, validate_args=validate_args,
                         name=name)

    def _forward(self, x: Any) -> Any:
        return raw.Sinh((raw.Asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y: Any) -> Any:
        return raw.Sinh(raw.Asinh(y) / self._tailweight - self._skewness)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        inner = (raw.Asinh(x) + self._skewness) * self._tailweight
        return raw.Log(raw.Cosh(inner)) + raw.Log(self._tailweight) - 0.5 * raw.Log1p(raw.Square(x))


describe(globals(), DISTRIBUTIONS)
