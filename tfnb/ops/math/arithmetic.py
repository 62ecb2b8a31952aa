"""Element-wise arithmetic: sums, products, powers, extremes, signs, reciprocals, rounding."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tfnb.core import dtypes
from tfnb.core.nest import listed
from tfnb.core.shape import merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import control_dependencies, name_scope
from tfnb.kernels.library.checks import NEGATIVE, Check
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.composite.sparse_tensor import of_values
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import elementwise
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import function, functions
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import ones_node, same_shapes, unbroadcast, zeros_node
from tfnb.ops.math.casting import cast
from tfnb.ops.math.complex import conj
from tfnb.resources.lists import sum_of_lists

if TYPE_CHECKING:
    # Primitives (kernels/scalar/primitives.py).
    where: Any

REAL = "{bfloat16, half, float, double}"
FLOATS = "{bfloat16, half, float, double, complex64, complex128}"
SIGNED = "{bfloat16, half, float, double, int8, int16, int32, int64}"
SIGNED_OR_COMPLEX = "{bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"
NUMBERS = ("{bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64,"
           " complex128}")
ORDERED = "{bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"


# Sums and products

@elementwise("x: T, y: T -> z: T",
             T="{bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}")
def Add(x, y):
    """Compute `x + y` element-wise, with broadcasting (the older op, which also concatenates strings)."""
    return x + y


@elementwise("x: T, y: T -> z: T",
             T="{bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, complex64,"
               " complex128}")
def AddV2(x, y):
    """Compute `x + y` element-wise, with broadcasting."""
    return x + y


@Add.gradient
@AddV2.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [dz, dz] if same_shapes(*op.inputs, dz) else unbroadcast(op, dz, dz)


@elementwise("x: T, y: T -> z: T",
             T="{bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, complex128,"
               " uint32, uint64}")
def Sub(x, y):
    """Compute `x - y` element-wise, with broadcasting.

    >>> sess.run(tf.subtract([5, 6], [1, 2]))
    array([4, 4], dtype=int32)
    """
    return x - y


@Sub.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [dz, Neg(dz)] if same_shapes(*op.inputs, dz) else unbroadcast(op, dz, Neg(dz))


@elementwise("x: T, y: T -> z: T", T=NUMBERS)
def Mul(x, y):
    """Compute `x * y` element-wise, with broadcasting.

    >>> sess.run(tf.multiply([1, 2, 3], [4, 5, 6]))
    array([ 4, 10, 18], dtype=int32)
    """
    return x * y


@Mul.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = op.inputs
    if dz.dtype in (dtypes.float32, dtypes.int32) and same_shapes(x, y, dz):
        return [Mul(dz, y), Mul(dz, x)]
    return unbroadcast(op, Mul(dz, conj(y)), Mul(conj(x), dz))


@elementwise("x: T, y: T -> z: T", domain="positive",
             T="{bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}")
def Pow(x, y):
    """Compute `x ** y` element-wise, with broadcasting.

    >>> sess.run(tf.pow([2, 3], [3, 2]))
    array([8, 9], dtype=int32)
    """
    return pow(x, y)


@Pow.checked
def _(ctx: Any) -> list[Check]:
    return [Check(1, NEGATIVE)] if ctx.op.inputs[1].dtype.is_integer else []


@Pow.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y, z = conj(op.inputs[0]), conj(op.inputs[1]), conj(op.outputs[0])
    dx = dz * y * Pow(x, y - 1)
    usable = raw.NotEqual(x, convert_to_tensor(0, dtype=x.dtype)) if x.dtype.is_complex else x > 0
    log = raw.Log(raw.Select(usable, x, ones_node(x)))
    log = raw.Select(usable, log, zeros_node(x))
    return unbroadcast(op, dx, dz * z * log)


def _sum_of(count: int) -> Callable[..., Any]:
    names = [f"x{i}" for i in range(count)]
    return eval(f"lambda {', '.join(names)}: {' + '.join(names)}")


@elementwise("inputs: N * T -> sum: T", shape=shapes.same_inputs, variadic=_sum_of, of_lists=sum_of_lists,
             N="int >= 1",
        T="{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16,"
          " quint16, uint16, complex128, half, uint32, uint64, variant}")
def AddN() -> None:
    """Compute the sum of tensors of one shape, element-wise."""


@AddN.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [dz] * len(op.inputs)


@elementwise("inputs: N * T -> sum: T", shape=lambda ctx: [merge(shapes.same_inputs(ctx)[0], ctx.attrs["shape"])],
             variadic=_sum_of, N="int >= 1", T="numbertype", shape_="shape")
def AccumulateNV2() -> None:
    """Compute the sum of tensors of one shape, element-wise. shape: what is known of it."""


@AccumulateNV2.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return [dz] * len(op.inputs)


@elementwise("x: T, y: T -> z: T", T=ORDERED)
def Maximum(x, y):
    """Compute the maximum of `x` and `y` element-wise, with broadcasting; NaN if one is NaN.

    >>> sess.run(tf.maximum([1, 5, 3], [4, 2, 3]))
    array([4, 5, 3], dtype=int32)
    """
    return maximum(x, y)


@elementwise("x: T, y: T -> z: T", T=ORDERED)
def Minimum(x, y):
    """Compute the minimum of `x` and `y` element-wise, with broadcasting; NaN if one is NaN.

    >>> sess.run(tf.minimum([1, 5, 3], [4, 2, 3]))
    array([1, 2, 3], dtype=int32)
    """
    return minimum(x, y)


@Maximum.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return _select_gradient(op, dz, raw.GreaterEqual)


@Minimum.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    return _select_gradient(op, dz, raw.LessEqual)


def _select_gradient(op: Operation, dz: Tensor, compare: Any) -> list[Tensor]:
    zeros = zeros_node(dz)
    first = compare(*op.inputs)
    return unbroadcast(op, raw.SelectV2(first, dz, zeros), raw.SelectV2(first, zeros, dz))


@elementwise("x: T, y: T -> z: T", T="{bfloat16, half, float, double, int32, int64, complex64, complex128}")
def SquaredDifference(x, y):
    """Compute `(x - y) conj(x - y)` element-wise, with broadcasting: the squared absolute difference.

    >>> sess.run(tf.squared_difference([1, 5], [3, 2]))
    array([4, 9], dtype=int32)
    """
    return (x - y) * conj(x - y)


@SquaredDifference.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    x, y = op.inputs
    with control_dependencies([dz]):
        two = Mul(convert_to_tensor(2, dtype=dz.dtype, name="scalar"), dz)
        difference = x - y
    dx = two * difference
    return [dx, Neg(dx)] if same_shapes(x, y, dz) else unbroadcast(op, dx, Neg(dx))


# One input

@elementwise("x: T -> y: T", T=SIGNED_OR_COMPLEX)
def Neg(x):
    """Compute the negation `-x`, element-wise.

    >>> sess.run(tf.neg([1, -2]))
    array([-1,  2], dtype=int32)
    """
    return -x


@Neg.gradient
def _(op: Operation, dy: Any) -> Any:
    return -dy                        # IndexedSlices stay what they are


@elementwise("x: T -> y: T", T=SIGNED)
def Abs(x):
    """Compute the absolute value of `x`, element-wise."""
    return abs(x)


@Abs.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy * Sign(op.inputs[0])


@elementwise("x: T -> y: T", T=SIGNED_OR_COMPLEX)
def Sign(x):
    """Compute the sign of `x` element-wise: -1, 0 or 1; NaN for NaN; of complex numbers `x / abs(x)`, and 0 for 0."""
    return sign(x)


@Sign.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return zeros_node(op.inputs[0])


@elementwise("x: T -> y: T", T="{bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32,"
                               " uint64, complex64, complex128}")
def Square(x):
    """Compute the square of `x`, element-wise."""
    return x * x


@Square.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    x = op.inputs[0]
    with control_dependencies([dy]):
        x = conj(x)
        two = convert_to_tensor(2, dtype=x.dtype, name="Const")
    return Mul(dy, Mul(x, two))


@elementwise("x: T -> y: T", T=SIGNED_OR_COMPLEX, domain="nonzero")
def Reciprocal(x):
    """Compute the reciprocal `1 / x`, element-wise.

    >>> sess.run(tf.reciprocal([0.5, 2.0, -4.0]))
    array([ 2.  ,  0.5 , -0.25], dtype=float32)
    """
    return 1 / x


@elementwise("x: T -> y: T", T=SIGNED_OR_COMPLEX, domain="nonzero")
def Inv(x):
    """Compute the reciprocal `1 / x`, element-wise (the older name of Reciprocal).

    >>> sess.run(tf.inv([0.5, 2.0, -4.0]))
    array([ 2.  ,  0.5 , -0.25], dtype=float32)
    """
    return 1 / x


Pow.hint_for_nan("a negative number to a fractional power is NaN, 0 to a negative one inf")
for _op in (Reciprocal, Inv):
    _op.hint_for_nan("division by 0")


@elementwise("y: T, dy: T -> z: T", T=FLOATS)
def ReciprocalGrad(y, dy):
    """Compute the gradient of Reciprocal from its output; 0 where `dy` is 0, even if `y` is infinite."""
    y = conj(y)
    return where(dy == 0, 0, -dy * y * y)


@elementwise("y: T, dy: T -> z: T", T=FLOATS)
def InvGrad(y, dy):
    """Compute the gradient of Inv from its output; 0 where `dy` is 0, even if `y` is infinite."""
    y = conj(y)
    return where(dy == 0, 0, -dy * y * y)


@Reciprocal.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return ReciprocalGrad(op.outputs[0], dy)


@Inv.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return InvGrad(op.outputs[0], dy)


@ReciprocalGrad.gradient
@InvGrad.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    y = conj(op.inputs[0])
    return [conj(dz) * -2.0 * op.inputs[1] * y, ReciprocalGrad(y, dz)]


@elementwise("x: T -> y: T", T=REAL)
def Floor(x):
    """Round `x` down to an integer, element-wise.

    >>> sess.run(tf.floor([-1.5, 0.5, 2.0]))
    array([-2.,  0.,  2.], dtype=float32)
    """
    return floor(x)


@elementwise("x: T -> y: T", T=REAL)
def Ceil(x):
    """Round `x` up to an integer, element-wise.

    >>> sess.run(tf.ceil([-1.5, 0.5, 2.0]))
    array([-1.,  1.,  2.], dtype=float32)
    """
    return ceil(x)


@elementwise("x: T -> y: T", T=REAL)
def Rint(x):
    """Round `x` to the nearest integer element-wise, ties to even.

    >>> sess.run(tf.rint([-1.5, 0.5, 2.6]))
    array([-2.,  0.,  3.], dtype=float32)
    """
    return rint(x)


@elementwise("x: T -> y: T", T=SIGNED_OR_COMPLEX)
def Round(x):
    """Round `x` to the nearest integer element-wise, ties to even."""
    return rint(x)


for _op in (Floor, Ceil, Rint, Round):
    _op.no_gradient("it is constant between jumps")


# What users call

@dispatched
def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x + y` element-wise, with broadcasting; strings are concatenated.

    Raises TypeError if the dtypes differ, ValueError where the shapes can't be broadcast.

    >>> sess.run(tf.add([1, 2], [10, 20]))
    array([11, 22], dtype=int32)
    """
    with name_scope(name, "Add", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, preferred_dtype=x.dtype.base_dtype, name="y")
        return (Add if x.dtype.base_dtype == dtypes.string else AddV2)(x, y, name=scope)


subtract = sub = function(Sub, "subtract")
multiply = mul = function(Mul, "multiply")
neg, squared_difference = functions(Neg, SquaredDifference)
pow, maximum, minimum = functions(Pow, Maximum, Minimum)
floor, ceil, rint, reciprocal, inv = functions(Floor, Ceil, Rint, Reciprocal, Inv)


@dispatched
def add_n(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """Return the sum of the tensors `inputs`, of one dtype and shape.

    Raises ValueError for an empty list or another shape, TypeError for another dtype.

    >>> sess.run(tf.add_n([[1, 2], [10, 20], [100, 200]]))
    array([111, 222], dtype=int32)
    """
    inputs = listed(inputs)
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and "
                         "shape.")
    tensors = [convert_to_tensor(x) for x in inputs]
    if len(tensors) == 1:
        return raw.Identity(tensors[0], name=name) if name else tensors[0]
    return AddN(tensors, name=name)


def accumulate_n(inputs: Sequence[Any], shape: Any = None, tensor_dtype: Any = None,
                 name: str | None = None) -> Tensor:
    """Compute the sum of tensors of one dtype and shape (else ValueError); `shape`, `tensor_dtype` are only checked.

    inputs: a list of them.

    >>> sess.run(tf.accumulate_n([tf.constant([1, 2]), tf.constant([10, 20])]))
    array([11, 22], dtype=int32)
    """
    try:
        total = add_n(inputs, name=name)
    except TypeError as error:
        raise ValueError(f"inputs must be tensors of one dtype and shape: {error}") from None
    if shape is not None:
        total.set_shape(shape)
    if tensor_dtype is not None and total.dtype.base_dtype != dtypes.as_dtype(tensor_dtype):
        raise TypeError(f"tensor_dtype is {dtypes.as_dtype(tensor_dtype).name}, but the inputs are "
                        f"{total.dtype.base_dtype.name}")
    return total


@of_values
def negative(x: Any, name: str | None = None) -> Tensor:
    """Compute `-x`, of a tensor or SparseTensor of signed or complex numbers (else TypeError).

    >>> sess.run(tf.negative([1, -2]))
    array([-1,  2], dtype=int32)
    """
    return Neg(x, name=name)


@of_values
def square(x: Any, name: str | None = None) -> Tensor:
    """Compute `x * x`, of a tensor or SparseTensor of numbers.

    >>> sess.run(tf.square([-2.0, 0.0, 3.0]))
    array([4., 0., 9.], dtype=float32)
    """
    return Square(x, name=name)


@of_values
def abs(x: Any, name: str | None = None) -> Tensor:
    """Compute the absolute value element-wise; of complex numbers a float. The result has the shape of `x`.

    >>> sess.run(tf.abs([-1.5, 0.0, 2.0]))
    array([1.5, 0. , 2. ], dtype=float32)
    """
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return raw.ComplexAbs(x, Tout=x.dtype.real_dtype, name=scope)
        return Abs(x, name=scope)


complex_abs = abs


@of_values
def sign(x: Any, name: str | None = None) -> Tensor:
    """Compute the sign element-wise: -1, 0 or 1; of complex numbers `x / abs(x)`, and 0 for 0.

    >>> sess.run(tf.sign([-2.5, 0.0, 3.0]))
    array([-1.,  0.,  1.], dtype=float32)
    """
    x = convert_to_tensor(x, name="x")
    if not x.dtype.is_complex:
        return Sign(x, name=name)
    return raw.DivNoNan(x, cast(raw.ComplexAbs(x, Tout=x.dtype.real_dtype), x.dtype.base_dtype), name=name)


@dispatched
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """Multiply `x` (a tensor or IndexedSlices: so is the result) by a scalar. Raises ValueError if it is not one.

    >>> sess.run(tf.scalar_mul(3, tf.constant([1, 2])))
    array([3, 6], dtype=int32)
    """
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.static not in ((), None):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(Mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return Mul(scalar, x, name=name)


@dispatched
def round(x: Any, name: str | None = None) -> Tensor:
    """Round `x` to the nearest integer element-wise, ties to even; integers stay as they are.

    >>> sess.run(tf.round([0.4, 0.5, 1.5, 2.6]))
    array([0., 0., 2., 3.], dtype=float32)
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else Round(x, name=name)


@dispatched
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """Convert `value` to another dtype, clipped to the range of that dtype first.

    >>> sess.run(tf.saturate_cast([-5, 100, 300], tf.uint8))
    array([  0, 100, 255], dtype=uint8)
    """
    wanted = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        if value.dtype.min < wanted.min:
            value = Maximum(value, convert_to_tensor(wanted.min, dtype=value.dtype, name="min"))
        if value.dtype.max > wanted.max:
            value = Minimum(value, convert_to_tensor(wanted.max, dtype=value.dtype, name="max"))
        return cast(value, wanted, name=scope)
