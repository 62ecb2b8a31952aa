"""Element-wise functions: exponentials, roots, circular and hyperbolic functions, the error function."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.ops.composite.sparse_tensor import of_values
from tfnb.ops.declaration.declare import elementwise
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import functions, public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import FLOATS, REAL, AddV2, Neg, Reciprocal, Square, Sub
from tfnb.ops.math.broadcast import unbroadcast
from tfnb.ops.math.complex import conj

if TYPE_CHECKING:
    where: Any                                 # a primitive (kernels/scalar/primitives.py)


def _at(op: Operation, dy: Tensor, function: Any, x: Tensor | None = None) -> Any:
    """Return a factor of a gradient, computed once `dy` is there: `function` of the input, or of `x`."""
    with control_dependencies([dy]):
        return function(conj(op.inputs[0] if x is None else x))


def _square_and_one(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    with control_dependencies([dy]):
        square = Square(conj(op.inputs[0]))
        return square, convert_to_tensor(1, dtype=dy.dtype, name="Const")


# Exponentials, logarithms, roots

@elementwise("x: T -> y: T", T=FLOATS)
def Exp(x):
    """Compute the exponential of `x`, element-wise.

    >>> sess.run(tf.exp([-1.0, 0.0, 1.0]))
    array([0.3679, 1.    , 2.7183], dtype=float32)
    """
    return exp(x)


Exp.hint_for_nan("exp of more than 88 is inf in float32: subtract the largest number first, or use tf.nn.softmax")


@Exp.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy * conj(op.outputs[0])


@elementwise("x: T -> y: T", T=FLOATS)
def Expm1(x):
    """Compute `exp(x) - 1` element-wise, accurate for small `x` too.

    >>> sess.run(tf.expm1([0.0, 1.0, 1e-3]))
    array([0.    , 1.7183, 0.001 ], dtype=float32)
    """
    return expm1(x)


@Expm1.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy * _at(op, dy, Exp)


@elementwise("x: T -> y: T", T=FLOATS, domain="positive")
def Log(x):
    """Compute the natural logarithm of `x`, element-wise.

    >>> sess.run(tf.log([1.0, 2.718282, 10.0]))
    array([0.    , 1.    , 2.3026], dtype=float32)
    """
    return log(x)


Log.hint_for_nan("the logarithm of 0 is -inf, that of a negative number NaN: add a small number, or take a loss that "
                 "gets logits (tf.nn.softmax_cross_entropy_with_logits)")


@Log.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy * _at(op, dy, Reciprocal)


@elementwise("x: T -> y: T", T=FLOATS, domain="positive")
def Log1p(x):
    """Compute `log(1 + x)` element-wise, accurate for small `x` too.

    >>> sess.run(tf.log1p([0.0, 1.0, 1e-3]))
    array([0.    , 0.6931, 0.001 ], dtype=float32)
    """
    return log1p(x)


@Log1p.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    with control_dependencies([dy]):
        more = 1 + conj(op.inputs[0])
    return dy * Reciprocal(more)


@elementwise("x: T -> y: T", T=FLOATS, domain="positive")
def Sqrt(x):
    """Compute the square root of `x`, element-wise."""
    return sqrt(x)


Sqrt.hint_for_nan("the root of a negative number is NaN")


@elementwise("y: T, dy: T -> z: T", T=FLOATS, domain="positive")
def SqrtGrad(y, dy):
    """Compute the gradient of Sqrt from its output; 0 where `dy` is 0, even if `y` is."""
    return where(dy == 0, 0, dy * 0.5 / conj(y))


SqrtGrad.hint_for_nan("the slope of sqrt at 0 is infinite: add a small number before the root")


@Sqrt.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return SqrtGrad(op.outputs[0], dy)


@SqrtGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    quotient = dz / op.inputs[0]
    return [-conj(quotient) * op.outputs[0], 0.5 * quotient]


@elementwise("x: T -> y: T", T=FLOATS, domain="positive")
def Rsqrt(x):
    """Compute the reciprocal of the square root of `x`, element-wise.

    >>> sess.run(tf.rsqrt([0.25, 4.0, 16.0]))
    array([2.  , 0.5 , 0.25], dtype=float32)
    """
    return rsqrt(x)


Rsqrt.hint_for_nan("1 / sqrt(x) of 0 is inf: add a small number")


@elementwise("y: T, dy: T -> z: T", T=FLOATS, domain="positive")
def RsqrtGrad(y, dy):
    """Compute the gradient of Rsqrt from its output; 0 where `dy` is 0, even if `y` is infinite."""
    y = conj(y)
    return where(dy == 0, 0, dy * -0.5 * y * y * y)


@Rsqrt.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return RsqrtGrad(op.outputs[0], dy)


@RsqrtGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    y = conj(op.inputs[0])
    return [-1.5 * conj(dz) * op.inputs[1] * Square(y), RsqrtGrad(y, dz)]


# Circular functions

@elementwise("x: T -> y: T", T=FLOATS)
def Sin(x):
    """Compute the sine of `x` (radians), element-wise.

    >>> sess.run(tf.sin([0.0, np.pi / 6, np.pi / 2]))
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return sin(x)


@elementwise("x: T -> y: T", T=FLOATS)
def Cos(x):
    """Compute the cosine of `x` (radians), element-wise.

    >>> sess.run(tf.cos([0.0, np.pi / 3, np.pi]))
    array([ 1. ,  0.5, -1. ], dtype=float32)
    """
    return cos(x)


@elementwise("x: T -> y: T", T=FLOATS)
def Tan(x):
    """Compute the tangent of `x` (radians), element-wise.

    >>> sess.run(tf.tan([0.0, np.pi / 4, 1.0]))
    array([0.    , 1.    , 1.5574], dtype=float32)
    """
    return tan(x)


@Sin.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy * _at(op, dy, Cos)


@Cos.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return Neg(dy) * _at(op, dy, Sin)


@Tan.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return Square(Reciprocal(_at(op, dy, Cos))) * dy


@elementwise("x: T -> y: T", T=FLOATS, domain="unit")
def Asin(x):
    """Compute the inverse sine of `x`, in [-pi/2, pi/2], element-wise.

    >>> sess.run(tf.asin([-1.0, 0.0, 0.5]))
    array([-1.5708,  0.    ,  0.5236], dtype=float32)
    """
    return asin(x)


@elementwise("x: T -> y: T", T=FLOATS, domain="unit")
def Acos(x):
    """Compute the inverse cosine of `x`, in [0, pi], element-wise.

    >>> sess.run(tf.acos([-1.0, 0.0, 0.5]))
    array([3.1416, 1.5708, 1.0472], dtype=float32)
    """
    return acos(x)


@elementwise("x: T -> y: T", T=FLOATS)
def Atan(x):
    """Compute the inverse tangent of `x`, in (-pi/2, pi/2), element-wise.

    >>> sess.run(tf.atan([-1.0, 0.0, 3.0]))
    array([-0.7854,  0.    ,  1.249 ], dtype=float32)
    """
    return atan(x)


@Asin.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    square, one = _square_and_one(op, dy)
    return dy * Reciprocal(Sqrt(Sub(one, square)))


@Acos.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    square, one = _square_and_one(op, dy)
    slope = Reciprocal(Sqrt(Sub(one, square)))
    return Neg(dy) * slope


@Atan.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    square, one = _square_and_one(op, dy)
    return dy * Reciprocal(AddV2(one, square, name="Add"))


@elementwise("y: T, x: T -> z: T", T=REAL)
def Atan2(y, x):
    """Compute the angle of the point (`x`, `y`), in [-pi, pi], element-wise, with broadcasting.

    >>> sess.run(tf.atan2([1.0, 1.0, -1.0], [1.0, -1.0, -1.0]))
    array([ 0.7854,  2.3562, -2.3562], dtype=float32)
    """
    return atan2(y, x)


@Atan2.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    y, x = op.inputs
    with control_dependencies([dz]):
        scaled = dz / (Square(y) + Square(x))
        return unbroadcast(op, x * scaled, Neg(y) * scaled)


# Hyperbolic functions

@elementwise("x: T -> y: T", T=FLOATS)
def Sinh(x):
    """Compute the hyperbolic sine of `x`, element-wise.

    >>> sess.run(tf.sinh([-1.0, 0.0, 2.0]))
    array([-1.1752,  0.    ,  3.6269], dtype=float32)
    """
    return sinh(x)


@elementwise("x: T -> y: T", T=FLOATS)
def Cosh(x):
    """Compute the hyperbolic cosine of `x`, element-wise.

    >>> sess.run(tf.cosh([-1.0, 0.0, 2.0]))
    array([1.5431, 1.    , 3.7622], dtype=float32)
    """
    return cosh(x)


@Sinh.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy * _at(op, dy, Cosh)


@Cosh.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy * _at(op, dy, Sinh)


@elementwise("x: T -> y: T", T=FLOATS)
def Tanh(x):
    """Compute the hyperbolic tangent of `x`, element-wise."""
    return tanh(x)


@elementwise("y: T, dy: T -> z: T", T=FLOATS)
def TanhGrad(y, dy):
    """Compute the gradient of Tanh, from its output."""
    return dy * (1 - y * y)


@Tanh.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return TanhGrad(conj(op.outputs[0]), dy)


@TanhGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    y, dy = conj(op.inputs[0]), conj(op.inputs[1])
    return [dz * -2.0 * dy * y, TanhGrad(y, dz)]


@elementwise("x: T -> y: T", T=FLOATS)
def Asinh(x):
    """Compute the inverse hyperbolic sine of `x`, element-wise.

    >>> sess.run(tf.asinh([-1.0, 0.0, 3.0]))
    array([-0.8814,  0.    ,  1.8184], dtype=float32)
    """
    return asinh(x)


@elementwise("x: T -> y: T", T=FLOATS, domain="above one")
def Acosh(x):
    """Compute the inverse hyperbolic cosine of `x`, element-wise (NaN below 1).

    >>> sess.run(tf.acosh([1.0, 2.0, 10.0]))
    array([0.    , 1.317 , 2.9932], dtype=float32)
    """
    return acosh(x)


@elementwise("x: T -> y: T", T=FLOATS, domain="unit")
def Atanh(x):
    """Compute the inverse hyperbolic tangent of `x`, element-wise.

    >>> sess.run(tf.atanh([-0.5, 0.0, 0.9]))
    array([-0.5493,  0.    ,  1.4722], dtype=float32)
    """
    return atanh(x)


@Asinh.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy / _at(op, dy, Cosh, op.outputs[0])


@Acosh.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy / _at(op, dy, Sinh, op.outputs[0])


@Atanh.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    square, one = _square_and_one(op, dy)
    return dy * Reciprocal(Sub(one, square))


@elementwise("x: T -> y: T", T=FLOATS)
def Sigmoid(x):
    """Compute the logistic sigmoid `1 / (1 + exp(-x))`, element-wise."""
    return sigmoid(x)


@elementwise("y: T, dy: T -> z: T", T=FLOATS)
def SigmoidGrad(y, dy):
    """Compute the gradient of Sigmoid, from its output."""
    return dy * y * (1 - y)


@Sigmoid.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return SigmoidGrad(conj(op.outputs[0]), dy)


@SigmoidGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    y, dy = conj(op.inputs[0]), conj(op.inputs[1])
    product = dz * dy
    return [product - 2.0 * product * y, SigmoidGrad(y, dz)]


# Error and gamma functions

@elementwise("x: T -> y: T", T=REAL)
def Erf(x):
    """Compute the Gauss error function of `x`, element-wise."""
    return erf(x)


@elementwise("x: T -> y: T", T=REAL)
def Erfc(x):
    """Compute the complementary error function of `x` element-wise, accurate for large `x` too.

    >>> sess.run(tf.erfc([-1.0, 0.0, 0.5]))
    array([1.8427, 1.    , 0.4795], dtype=float32)
    """
    return erfc(x)


def _bell(op: Operation, dy: Tensor, factor: float) -> Tensor:
    """`factor exp(-x^2)` times `dy`."""
    scaled = dy * convert_to_tensor(factor, dtype=dy.dtype, name="Const")
    with control_dependencies([dy]):
        square = Square(op.inputs[0])
    return scaled * Exp(Neg(square))


@Erf.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return _bell(op, dy, 2 / np.sqrt(np.pi))


@Erfc.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return _bell(op, dy, -2 / np.sqrt(np.pi))


@elementwise("x: T, y: T -> z: T", T="{half, bfloat16, float, double, complex64, complex128}", domain="positive")
def Xlogy(x, y):
    """Compute `x * log(y)` element-wise, and 0 where `x` is 0.

    >>> sess.run(tf.math.xlogy([0.0, 2.0], [0.0, 3.0]))
    array([0.    , 2.1972], dtype=float32)
    """
    return where(x == 0, 0, x * log(y))


@elementwise("x: T, y: T -> z: T", T="{half, bfloat16, float, double, complex64, complex128}", domain="nonzero")
def Xdivy(x, y):
    """Compute `x / y` element-wise, and 0 where `x` is 0.

    >>> sess.run(tf.math.xdivy([0.0, 2.0], [0.0, 4.0]))
    array([0. , 0.5], dtype=float32)
    """
    return where(x == 0, 0, x / y)


@Xlogy.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = op.inputs
    nonzero = raw.Cast(raw.NotEqual(x, raw.ZerosLike(x)), DstT=x.dtype)
    return unbroadcast(op, dz * Xlogy(nonzero, y), dz * Xdivy(x, y))


@Xdivy.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = op.inputs
    nonzero = raw.Cast(raw.NotEqual(x, raw.ZerosLike(x)), DstT=x.dtype)
    return unbroadcast(op, dz * Xdivy(nonzero, y), dz * Xdivy(Neg(x), Square(y)))


# What users call

exp, expm1, log, log1p, rsqrt = functions(Exp, Expm1, Log, Log1p, Rsqrt)
cos, acos, atan2, sinh, cosh, acosh = functions(Cos, Acos, Atan2, Sinh, Cosh, Acosh)
sin, tan, asin, atan, asinh, atanh = map(of_values, functions(Sin, Tan, Asin, Atan, Asinh, Atanh))
erfc, = functions(Erfc)
@public("math.xlog1py")
@elementwise("x: T, y: T -> z: T", T="{half, bfloat16, float, double, complex64, complex128}", domain="positive")
def Xlog1py(x, y):
    """Compute `x * log(1 + y)` element-wise, and 0 where `x` is 0.

    >>> sess.run(tf.math.xlog1py([0.0, 2.0], [-1.0, 1.0]))
    array([0.    , 1.3863], dtype=float32)
    """
    return where(x == 0, 0, x * log1p(y))


@Xlog1py.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = op.inputs
    nonzero = raw.Cast(raw.NotEqual(x, raw.ZerosLike(x)), DstT=x.dtype)
    one = convert_to_tensor(1, dtype=y.dtype)
    return unbroadcast(op, dz * Xlog1py(nonzero, y), dz * Xdivy(x, y + one))


xlogy, xdivy = functions(Xlogy, Xdivy, module="tfnb.math")


@of_values
def sqrt(x: Any, name: str | None = None) -> Tensor:
    """Compute the square root of `x` element-wise: floats or complex (else TypeError), a tensor or SparseTensor.

    >>> sess.run(tf.sqrt([0.25, 4.0, 2.0]))
    array([0.5   , 2.    , 1.4142], dtype=float32)
    """
    return Sqrt(x, name=name)


@of_values
def erf(x: Any, name: str | None = None) -> Tensor:
    """Compute the Gauss error function element-wise. x: a tensor or SparseTensor of floats (else TypeError).

    >>> sess.run(tf.erf([-1.0, 0.0, 0.5]))
    array([-0.8427,  0.    ,  0.5205], dtype=float32)
    """
    return Erf(x, name=name)


@of_values
def tanh(x: Any, name: str | None = None) -> Tensor:
    """Compute the hyperbolic tangent of `x`, element-wise: floats or complex (else TypeError), as is the result.

    >>> sess.run(tf.tanh([-1.0, 0.0, 3.0]))
    array([-0.7616,  0.    ,  0.9951], dtype=float32)
    """
    return Tanh(x, name=name)


@dispatched
def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """Compute `1 / (1 + exp(-x))`, element-wise. x: floats or complex numbers (else TypeError), as is the result.

    >>> sess.run(tf.sigmoid([-2.0, 0.0, 2.0]))
    array([0.1192, 0.5   , 0.8808], dtype=float32)
    """
    with name_scope(name, "Sigmoid", [x]) as scope:
        return Sigmoid(convert_to_tensor(x, name="x"), name=scope)


@dispatched
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """Compute the logarithm of `sigmoid(x)` element-wise, accurate for large negative `x` too.

    >>> sess.run(tf.log_sigmoid([-100.0, 0.0, 2.0]))
    array([-100.    ,   -0.6931,   -0.1269], dtype=float32)
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return Neg(raw.Softplus(Neg(x)), name=scope)


describe(globals(), TENSORS)
