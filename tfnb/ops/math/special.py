"""Special functions: inverses of the error function and of the normal distribution, Bessel functions, the gamma
function and its derivatives."""
from __future__ import annotations

import math
from typing import Any

from tfnb.core.arguments import TENSORS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.declaration.declare import elementwise
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import REAL, Neg, Square
from tfnb.ops.math.broadcast import unbroadcast
from tfnb.ops.math.complex import conj
from tfnb.ops.math.functions import Exp


@public("math.erfinv")
@elementwise("x: T -> y: T", T=REAL, domain="unit")
def Erfinv(x):
    """Compute the inverse of the error function, `erf(erfinv(x)) = x`, element-wise; NaN outside of [-1, 1].

    >>> sess.run(tf.math.erfinv([-1.0, 0.0, 0.5]))
    array([  -inf, 0.    , 0.4769], dtype=float32)
    """
    return erfinv(x)


@Erfinv.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    half_root = convert_to_tensor(math.sqrt(math.pi) / 2, dtype=dy.dtype)
    with control_dependencies([dy]):
        return dy * half_root * Exp(Square(op.outputs[0]))


@public("math.ndtri")
@elementwise("x: T -> y: T", T=REAL, domain="probability")
def Ndtri(x):
    """Compute the quantile of the standard normal distribution at probability `x`; NaN outside of [0, 1].

    >>> sess.run(tf.math.ndtri([0.5, 0.975, 1.0]))
    array([0.  , 1.96,  inf], dtype=float32)
    """
    return ndtri(x)


@Ndtri.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    root = convert_to_tensor(math.sqrt(2 * math.pi), dtype=dy.dtype)
    with control_dependencies([dy]):
        return dy * root * Exp(Square(op.outputs[0]) / 2)


# Modified Bessel functions

@public("math.bessel_i0e", "math.special.bessel_i0e")
@elementwise("x: T -> y: T", T=REAL)
def BesselI0e(x):
    """Compute `exp(-abs(x))` times the modified Bessel function of order 0 of `x`, element-wise.

    >>> sess.run(tf.math.bessel_i0e([0.0, 1.0, -100.0]))
    array([1.    , 0.4658, 0.0399], dtype=float32)
    """
    return i0e(x)


@BesselI0e.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([dy]):
        return dy * (BesselI1e(x) - raw.Sign(x) * y)


@public("math.bessel_i1e", "math.special.bessel_i1e")
@elementwise("x: T -> y: T", T=REAL)
def BesselI1e(x):
    """Compute `exp(-abs(x))` times the modified Bessel function of order 1 of `x`, element-wise.

    >>> sess.run(tf.math.bessel_i1e([0.0, 1.0, -100.0]))
    array([ 0.    ,  0.2079, -0.0397], dtype=float32)
    """
    return i1e(x)


@BesselI1e.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    zero, one = raw.ZerosLike(x), raw.OnesLike(x)
    at_zero = raw.Equal(x, zero)
    with control_dependencies([dy]):
        safe = raw.SelectV2(at_zero, one, x)
        slope = BesselI0e(x) - y * (raw.Sign(x) + raw.Reciprocal(safe))
        return dy * raw.SelectV2(at_zero, 0.5 * one, slope)


@public("math.erfcinv")
def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """Compute the inverse of the complementary error function, element-wise. x: floats in [0, 2] (else NaN).

    >>> sess.run(tf.math.erfcinv([0.5, 1.0, 1e-30]))
    array([ 0.4769, -0.    ,  8.1486], dtype=float32)
    """
    with name_scope(name, "erfcinv", [x]):
        return Neg(Ndtri(0.5 * convert_to_tensor(x, name="start")) * math.sqrt(0.5))


# Gamma function and its derivatives

@public("lgamma", "math.lgamma")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def Lgamma(x):
    """Compute the logarithm of the absolute value of the gamma function of `x`, element-wise.

    >>> sess.run(tf.lgamma([1.0, 4.0, 0.5]))
    array([0.    , 1.7918, 0.5724], dtype=float32)
    """
    return lgamma(x)


@Lgamma.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    with control_dependencies([dy]):
        return dy * Digamma(conj(op.inputs[0]))


@public("digamma", "math.digamma")
@elementwise("x: T -> y: T", T=REAL, domain="positive")
def Digamma(x):
    """Compute the derivative of Lgamma (the psi function) of `x`, element-wise.

    >>> sess.run(tf.digamma([1.0, 2.0, 0.5]))
    array([-0.5772,  0.4228, -1.9635], dtype=float32)
    """
    return digamma(x)


@Digamma.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    x = op.inputs[0]
    with control_dependencies([dy]):
        one = convert_to_tensor(1, dtype=x.dtype, name="Const")
    return dy * Polygamma(one, x)


@public("polygamma", "math.polygamma")
@elementwise("a: T, x: T -> z: T", T="{float, double}", domain="positive")
def Polygamma(a, x):
    """Compute the polygamma function: the derivative of integer order `a` of Digamma, element-wise.

    NaN for an order that is no integer, or negative.

    >>> sess.run(tf.polygamma(1.0, [1.0, 2.0, 3.0]))
    array([1.6449, 0.6449, 0.3949], dtype=float32)
    """
    return polygamma(a, x)


@Polygamma.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    a, x = op.inputs
    return [None, unbroadcast(op, dz, dz * Polygamma(a + 1, x))[1]]


@public("zeta", "math.zeta")
@elementwise("x: T, q: T -> z: T", T="{float, double}", domain="positive")
def Zeta(x, q):
    """Compute the Hurwitz zeta function, element-wise.

    >>> sess.run(tf.zeta(2.0, [1.0, 2.0, 3.0]))
    array([1.6449, 0.6449, 0.3949], dtype=float32)
    """
    return zeta(x, q)


@Zeta.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    x, q = op.inputs
    return [None, unbroadcast(op, dz, -x * Zeta(x + 1, q) * dz)[1]]


@public("lbeta", "math.lbeta")
def lbeta(x: Any, name: str | None = None) -> Tensor:
    """Compute the logarithm of the absolute value of the beta function of the elements along the last axis.

    >>> sess.run(tf.lbeta([2.0, 3.0]))
    -2.4849
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        return raw.Sum(Lgamma(x), [-1]) - Lgamma(raw.Sum(x, [-1]))


describe(globals(), TENSORS)
