"""Element-wise quotients and remainders: true, rounded down as in Python, and truncated as in C."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfnb.core import dtypes
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.library.checks import ZERO, Check
from tfnb.ops.declaration.declare import elementwise
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import function, public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import NUMBERS, Mul, Neg, Sub
from tfnb.ops.math.broadcast import unbroadcast
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import conj

if TYPE_CHECKING:
    # Primitives (kernels/scalar/primitives.py).
    truncdiv: Any
    truncmod: Any
    where: Any


@elementwise("x: T, y: T -> z: T", T=NUMBERS, domain="nonzero")
def RealDiv(x, y):
    """Compute `x / y` element-wise, with broadcasting; on integers the quotient is truncated.

    >>> sess.run(tf.realdiv([7.0, -7.0], 2.0))
    array([ 3.5, -3.5], dtype=float32)
    """
    return x / y


@elementwise("x: T, y: T -> z: T", T=NUMBERS, domain="nonzero")
def Div(x, y):
    """Compute `x / y` element-wise, with broadcasting; on integers the quotient is truncated."""
    return x / y


@RealDiv.gradient
@Div.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = conj(op.inputs[0]), conj(op.inputs[1])
    return unbroadcast(op, RealDiv(dz, y), dz * RealDiv(RealDiv(Neg(x), y), y))


@elementwise("x: T, y: T -> z: T", T="{half, float, bfloat16, double, complex64, complex128}")
def DivNoNan(x, y):
    """Compute `x / y` element-wise, with broadcasting, and 0 where `y` is 0."""
    return where(y == 0, 0, x / where(y == 0, 1, y))


@DivNoNan.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = conj(op.inputs[0]), conj(op.inputs[1])
    def over(z: Tensor) -> Tensor:
        return DivNoNan(z, y, name="div_no_nan")
    return unbroadcast(op, over(dz), dz * over(over(Neg(x))))


@elementwise("x: T, y: T -> z: T", T="{bfloat16, half, float, double, complex64, complex128}")
def MulNoNan(x, y):
    """Compute `x * y` element-wise, with broadcasting, and 0 where `y` is 0, even if `x` is infinite or NaN."""
    return where(y == 0, 0, x * y)


@MulNoNan.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = conj(op.inputs[0]), conj(op.inputs[1])
    return unbroadcast(op, MulNoNan(dz, y), MulNoNan(x, dz))


@elementwise("x: T, y: T -> z: T", T=NUMBERS, domain="nonzero")
def FloorDiv(x, y):
    """Compute `x / y` rounded down, element-wise, with broadcasting.

    >>> sess.run(tf.floor_div([7, -7], 2))
    array([ 3, -4], dtype=int32)
    """
    return x // y


FloorDiv.no_gradient("it is constant between jumps")


@elementwise("x: T, y: T -> z: T", T=NUMBERS, domain="nonzero")
def TruncateDiv(x, y):
    """Compute `x / y` rounded towards zero, element-wise, with broadcasting.

    >>> sess.run(tf.truncatediv([7, -7], 2))
    array([ 3, -3], dtype=int32)
    """
    return truncdiv(x, y)


TruncateDiv.no_gradient("it is constant between jumps")


@elementwise("x: T, y: T -> z: T", domain="nonzero",
             T="{int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}")
def FloorMod(x, y):
    """Compute the remainder of FloorDiv element-wise: it has the sign of `y`, as Python's `%`.

    >>> sess.run(tf.mod([7, -7], 3))
    array([1, 2], dtype=int32)
    """
    return x % y


@FloorMod.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = op.inputs
    return unbroadcast(op, dz, dz * Neg(FloorDiv(x, y)))


@elementwise("x: T, y: T -> z: T", T="{int32, int64, bfloat16, half, float, double}", domain="nonzero")
def TruncateMod(x, y):
    """Compute the remainder of TruncateDiv element-wise: it has the sign of `x`, as C's `fmod`.

    >>> sess.run(tf.truncatemod([7, -7], 3))
    array([ 1, -1], dtype=int32)
    """
    return truncmod(x, y)


@elementwise("x: T, y: T -> z: T", T="{int32, int64, half, half, bfloat16, float, double}", domain="nonzero")
def Mod(x, y):
    """As TruncateMod (the older op)."""
    return truncmod(x, y)


@TruncateMod.gradient
@Mod.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = op.inputs
    return unbroadcast(op, dz, Mul(dz, Neg(RealDiv(Sub(x, op.outputs[0]), y))))


@Div.checked
@FloorDiv.checked
@TruncateDiv.checked
@FloorMod.checked
@TruncateMod.checked
@Mod.checked
def _(ctx: Any) -> list[Check]:
    return [Check(1, ZERO)] if ctx.op.inputs[1].dtype.is_integer else []


RealDiv.hint_for_nan("division by 0: add a small number, or use tf.div_no_nan")
Div.hint_for_nan("division by 0")


# What users call

floormod = mod = function(FloorMod, "floormod")
realdiv, truncatediv, truncatemod = (function(op, op.spec.name.lower()) for op in (RealDiv, TruncateDiv, TruncateMod))
floor_div = function(FloorDiv)


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(x, name="x")
    y = convert_to_tensor(y, preferred_dtype=x.dtype.base_dtype, name="y")
    if x.dtype.base_dtype != y.dtype.base_dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype.base_dtype!r} != {y.dtype.base_dtype!r}.")
    return x, y


AS_FLOAT = {dtypes.int8: dtypes.float32, dtypes.uint8: dtypes.float32, dtypes.int16: dtypes.float32,
             dtypes.uint16: dtypes.float32, dtypes.int32: dtypes.float64, dtypes.uint32: dtypes.float64,
             dtypes.int64: dtypes.float64, dtypes.uint64: dtypes.float64}


@dispatched
def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x / y` as Python 3 divides: integers become floats first. Raises TypeError if the dtypes differ.

    >>> sess.run(tf.truediv([7, -7], 2))
    array([ 3.5, -3.5])
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x, y = _pair(x, y)
        wide = AS_FLOAT.get(x.dtype.base_dtype)
        if wide is not None:
            x, y = cast(x, wide), cast(y, wide)
        elif not (x.dtype.is_floating or x.dtype.is_complex):
            raise TypeError(f"Invalid dtype {x.dtype.base_dtype!r} for truediv: a number is wanted")
        return RealDiv(x, y, name=scope)


@dispatched
def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x / y` as Python 3 divides.

    >>> sess.run(tf.divide([7, -7], 2))
    array([ 3.5, -3.5])
    """
    if name is not None or not (isinstance(x, Tensor) or isinstance(y, Tensor)):
        return truediv(x, y, name=name)
    return x / y


@dispatched
def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x / y` as Python 2 divides: integers stay integers (rounded down).

    Raises TypeError if the dtypes differ. Running it raises InvalidArgumentError for an integer divided by 0.

    >>> sess.run(tf.div([7, -7], 2)), sess.run(tf.div(7.0, 2.0))
    (array([ 3, -4], dtype=int32), 3.5)
    """
    with name_scope(name, "div", [x, y]) as scope:
        x, y = _pair(x, y)
        whole = not (x.dtype.is_floating or x.dtype.is_complex)
        return (FloorDiv if whole else RealDiv)(x, y, name=scope)


@public("math.divide_no_nan")
@dispatched
def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x / y` element-wise, and 0 where `y` is 0.

    >>> sess.run(tf.div_no_nan([1.0, 2.0], [0.0, 4.0]))
    array([0. , 0.5], dtype=float32)
    """
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        return DivNoNan(x, convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y"), name=scope)


@public("math.reciprocal_no_nan")
@dispatched
def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """Compute `1 / x` element-wise, and 0 where `x` is 0.

    x: floats or complex numbers.

    >>> sess.run(tf.math.reciprocal_no_nan([2.0, 0.0]))
    array([0.5, 0. ], dtype=float32)
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        quotient: Tensor = DivNoNan(convert_to_tensor(1, dtype=x.dtype.base_dtype), x, name=scope)
        return quotient


@dispatched
def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x / y` rounded down, as Python's `//`.

    >>> sess.run(tf.floordiv([7, -7], 2))
    array([ 3, -4], dtype=int32)
    """
    with name_scope(name, "floordiv", [x, y]) as scope:
        return FloorDiv(x, y, name=scope)


@dispatched
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x * y` element-wise, and 0 where `y` is 0, even if `x` is infinite or NaN.

    >>> sess.run(tf.math.multiply_no_nan([np.inf, 2.0], [0.0, 3.0]))
    array([0., 6.], dtype=float32)
    """
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw.MulNoNan(x, convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y"), name=scope)
