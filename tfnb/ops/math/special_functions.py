"""Bessel functions of orders 0 and 1, and integrals: Dawson's, Fresnel's, Spence's, the exponential one."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import elementwise, kernel
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import REAL, Square
from tfnb.ops.math.broadcast import unbroadcast
from tfnb.ops.math.functions import Cos, Exp, Log, Sin

special = lazy_module("scipy.special", extra="scipy")


@public("math.bessel_i0", "math.special.bessel_i0")
@elementwise("x: T -> y: T", T=REAL)
def BesselI0(x):
    """Compute the modified Bessel function of the first kind of order 0 of `x`, element-wise.

    >>> sess.run(tf.math.bessel_i0([0.0, 1.0, -2.0]))
    array([1.    , 1.2661, 2.2796], dtype=float32)
    """
    return bessel_i0(x)


@public("math.bessel_i1", "math.special.bessel_i1")
@elementwise("x: T -> y: T", T=REAL)
def BesselI1(x):
    """Compute the modified Bessel function of the first kind of order 1 of `x`, element-wise.

    >>> sess.run(tf.math.bessel_i1([0.0, 1.0, -2.0]))
    array([ 0.    ,  0.5652, -1.5906], dtype=float32)
    """
    return bessel_i1(x)


@public("math.special.bessel_j0")
@elementwise("x: T -> y: T", T=REAL)
def BesselJ0(x):
    """Compute the Bessel function of the first kind of order 0 of `x`, element-wise.

    >>> sess.run(tf.math.special.bessel_j0([0.0, 1.0, -2.0]))
    array([1.    , 0.7652, 0.2239], dtype=float32)
    """
    return bessel_j0(x)


@public("math.special.bessel_j1")
@elementwise("x: T -> y: T", T=REAL)
def BesselJ1(x):
    """Compute the Bessel function of the first kind of order 1 of `x`, element-wise.

    >>> sess.run(tf.math.special.bessel_j1([0.0, 1.0, -2.0]))
    array([ 0.    ,  0.4401, -0.5767], dtype=float32)
    """
    return bessel_j1(x)


@public("math.special.bessel_k0")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def BesselK0(x):
    """Compute the modified Bessel function of the second kind of order 0 of `x` (infinity for x <= 0), element-wise.

    >>> sess.run(tf.math.special.bessel_k0([0.0, 1.0, 2.0]))
    array([   inf, 0.421 , 0.1139], dtype=float32)
    """
    return bessel_k0(x)


@public("math.special.bessel_k0e")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def BesselK0e(x):
    """Compute `exp(x)` times the modified Bessel function of the second kind of order 0 of `x`, element-wise.

    >>> sess.run(tf.math.special.bessel_k0e([0.0, 1.0, 2.0]))
    array([   inf, 1.1445, 0.8416], dtype=float32)
    """
    return bessel_k0e(x)


@public("math.special.bessel_k1")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def BesselK1(x):
    """Compute the modified Bessel function of the second kind of order 1 of `x` (infinity for x <= 0), element-wise.

    >>> sess.run(tf.math.special.bessel_k1([0.0, 1.0, 2.0]))
    array([   inf, 0.6019, 0.1399], dtype=float32)
    """
    return bessel_k1(x)


@public("math.special.bessel_k1e")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def BesselK1e(x):
    """Compute `exp(x)` times the modified Bessel function of the second kind of order 1 of `x`, element-wise.

    >>> sess.run(tf.math.special.bessel_k1e([0.0, 1.0, 2.0]))
    array([   inf, 1.6362, 1.0335], dtype=float32)
    """
    return bessel_k1e(x)


@public("math.special.bessel_y0")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def BesselY0(x):
    """Compute the Bessel function of the second kind of order 0 of `x` (minus infinity for x <= 0), element-wise.

    >>> sess.run(tf.math.special.bessel_y0([0.0, 1.0, 2.0]))
    array([  -inf, 0.0883, 0.5104], dtype=float32)
    """
    return bessel_y0(x)


@public("math.special.bessel_y1")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def BesselY1(x):
    """Compute the Bessel function of the second kind of order 1 of `x` (minus infinity for x <= 0), element-wise.

    >>> sess.run(tf.math.special.bessel_y1([0.0, 1.0, 2.0]))
    array([   -inf, -0.7812, -0.107 ], dtype=float32)
    """
    return bessel_y1(x)


@public("math.special.dawsn")
@elementwise("x: T -> y: T", T=REAL)
def Dawsn(x):
    """Compute Dawson's integral of `x`, `exp(-x**2)` times that of `exp(t**2)` from 0 to x, element-wise.

    >>> sess.run(tf.math.special.dawsn([0.0, 1.0, -2.0]))
    array([ 0.    ,  0.5381, -0.3013], dtype=float32)
    """
    return dawsn(x)


@public("math.special.spence")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def Spence(x):
    """Compute Spence's integral of `x`, that of `log(t) / (1 - t)` from 1 to x, element-wise.

    >>> sess.run(tf.math.special.spence([0.0, 1.0, 2.0]))
    array([ 1.6449,  0.    , -0.8225], dtype=float32)
    """
    return spence(x)


@public("math.special.expint")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def Expint(x):
    """Compute the exponential integral Ei of `x`; NaN for x < 0, as in TensorFlow, element-wise.

    >>> sess.run(tf.math.special.expint([0.5, 1.0, 2.0]))
    array([0.4542, 1.8951, 4.9542], dtype=float32)
    """
    return expint(x)


def _fresnel(which: int) -> Callable[..., np.ndarray]:
    return lambda ctx, x: np.asarray(special.fresnel(x.astype(np.float64))[which], x.dtype)


@public("math.special.fresnel_sin")
@kernel("x: T -> y: T", shape=shapes.like_first, numpy=_fresnel(0), T=REAL)
def FresnelSin() -> None:
    """Compute Fresnel's sine integral of `x`, that of `sin(pi t**2 / 2)` from 0 to x, element-wise.

    >>> sess.run(tf.math.special.fresnel_sin([0.0, 1.0, -2.0]))
    array([ 0.    ,  0.4383, -0.3434], dtype=float32)
    """


@public("math.special.fresnel_cos")
@kernel("x: T -> y: T", shape=shapes.like_first, numpy=_fresnel(1), T=REAL)
def FresnelCos() -> None:
    """Compute Fresnel's cosine integral of `x`, that of `cos(pi t**2 / 2)` from 0 to x, element-wise.

    >>> sess.run(tf.math.special.fresnel_cos([0.0, 1.0, -2.0]))
    array([ 0.    ,  0.7799, -0.4883], dtype=float32)
    """


@public("math.nextafter")
@elementwise("x1: T, x2: T -> output: T", T="{double, float} = DT_FLOAT")
def NextAfter(x1, x2):
    """Compute the float that follows `x1` in the direction of `x2`, element-wise.

    >>> sess.run(tf.math.nextafter([1.0, 0.0], [2.0, -1.0])) - np.float32([1, 0])
    array([ 1.1921e-07, -1.4013e-45], dtype=float32)
    """
    return nextafter(x1, x2)


@NextAfter.gradient
def _(op: Operation, dy: Tensor) -> list[Tensor]:
    return unbroadcast(op, dy, raw.ZerosLike(dy))


def _half_at_zero(x: Tensor, slope: Tensor) -> Tensor:
    """Return the derivative of a function of order 1, which is 1/2 at 0."""
    found: Tensor = raw.SelectV2(raw.Equal(x, raw.ZerosLike(x)), 0.5 * raw.OnesLike(x), slope)
    return found


def _derivative(op: Constructor, slope: Callable[[Tensor, Tensor], Any]) -> None:
    """Register the gradient of a function of one variable. slope: fn(x, y) -> dy/dx, as a tensor."""
    def gradient(node: Operation, dy: Tensor) -> Tensor:
        """Return dy times the derivative."""
        with control_dependencies([dy]):
            found: Tensor = dy * slope(node.inputs[0], node.outputs[0])
            return found
    op.gradient(gradient)


_derivative(BesselI0, lambda x, y: BesselI1(x))
_derivative(BesselI1, lambda x, y: _half_at_zero(x, BesselI0(x) - raw.DivNoNan(y, x)))
_derivative(BesselJ0, lambda x, y: -BesselJ1(x))
_derivative(BesselJ1, lambda x, y: _half_at_zero(x, BesselJ0(x) - raw.DivNoNan(y, x)))
_derivative(BesselK0, lambda x, y: -BesselK1(x))
_derivative(BesselK0e, lambda x, y: y - BesselK1e(x))
_derivative(BesselK1, lambda x, y: -BesselK0(x) - y / x)
_derivative(BesselK1e, lambda x, y: y * (1 - raw.Reciprocal(x)) - BesselK0e(x))
_derivative(BesselY0, lambda x, y: -BesselY1(x))
_derivative(BesselY1, lambda x, y: BesselY0(x) - y / x)
_derivative(Dawsn, lambda x, y: 1 - 2 * x * y)
_derivative(Spence, lambda x, y: raw.SelectV2(raw.Equal(x, raw.OnesLike(x)), -raw.OnesLike(x), Log(x) / (1 - x)))
_derivative(Expint, lambda x, y: Exp(x) / x)
_derivative(FresnelSin, lambda x, y: Sin(math.pi / 2 * Square(x)))
_derivative(FresnelCos, lambda x, y: Cos(math.pi / 2 * Square(x)))
