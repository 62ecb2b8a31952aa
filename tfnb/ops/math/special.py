"""Special functions: inverses of the error function and of the normal distribution."""
from __future__ import annotations

import math
from typing import Any

from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.declaration.declare import elementwise
from tfnb.ops.declaration.public import public
from tfnb.ops.math.arithmetic import REAL, Neg, Square
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


@public("math.erfcinv")
def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """Compute the inverse of the complementary error function, element-wise. x: floats in [0, 2] (else NaN).

    >>> sess.run(tf.math.erfcinv([0.5, 1.0, 1e-30]))
    array([ 0.4769, -0.    ,  8.1486], dtype=float32)
    """
    with name_scope(name, "erfcinv", [x]):
        return Neg(Ndtri(0.5 * convert_to_tensor(x, name="start")) * math.sqrt(0.5))
