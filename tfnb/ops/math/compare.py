"""Comparisons, logical ops, tests for NaN and infinity, and selection between two tensors."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, broadcast, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.declaration.declare import elementwise
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import functions
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.broadcast import zeros_node

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext

    # Primitives (kernels/scalar/primitives.py).
    isfinite: Any
    isinf: Any
    isnan: Any


@elementwise("x: T, y: T -> z: bool", T="realnumbertype")
def Less(x, y):
    """Compute `x < y` element-wise, with broadcasting.

    >>> sess.run(tf.less([1, 2, 3], 2))
    array([ True, False, False])
    """
    return x < y


@elementwise("x: T, y: T -> z: bool", T="realnumbertype")
def LessEqual(x, y):
    """Compute `x <= y` element-wise, with broadcasting.

    >>> sess.run(tf.less_equal([1, 2, 3], 2))
    array([ True,  True, False])
    """
    return x <= y


@elementwise("x: T, y: T -> z: bool", T="realnumbertype")
def Greater(x, y):
    """Compute `x > y` element-wise, with broadcasting.

    >>> sess.run(tf.greater([1, 2, 3], 2))
    array([False, False,  True])
    """
    return x > y


@elementwise("x: T, y: T -> z: bool", T="realnumbertype")
def GreaterEqual(x, y):
    """Compute `x >= y` element-wise, with broadcasting.

    >>> sess.run(tf.greater_equal([1, 2, 3], 2))
    array([False,  True,  True])
    """
    return x >= y


def _equality(ctx: ShapeContext) -> list[Static]:
    try:
        return [broadcast(ctx.shape(0), ctx.shape(1))]
    except ValueError:
        if ctx.attrs["incompatible_shape_error"]:
            raise
        return [None]


@elementwise("x: T, y: T -> z: bool", shape=_equality, T="type", incompatible_shape_error="bool = true")
def Equal(x, y):
    """Compute `x == y` element-wise, with broadcasting, for every dtype, strings too."""
    return x == y


@elementwise("x: T, y: T -> z: bool", shape=_equality, T="type", incompatible_shape_error="bool = true")
def NotEqual(x, y):
    """Compute `x != y` element-wise, with broadcasting, for every dtype, strings too."""
    return x != y


@elementwise("x: T, y: T -> z: bool", T="numbertype", tolerance="float = 9.999999747378752e-06")
def ApproximateEqual(x, y, *, tolerance):
    """Compute `abs(x - y) < tolerance` element-wise."""
    return abs(x - y) < tolerance


@elementwise("x: bool, y: bool -> z: bool")
def LogicalAnd(x, y):
    """Compute the logical conjunction `x and y` element-wise, with broadcasting.

    >>> sess.run(tf.logical_and([True, True, False], [True, False, False]))
    array([ True, False, False])
    """
    return x & y


@elementwise("x: bool, y: bool -> z: bool")
def LogicalOr(x, y):
    """Compute the logical disjunction `x or y` element-wise, with broadcasting.

    >>> sess.run(tf.logical_or([True, True, False], [True, False, False]))
    array([ True,  True, False])
    """
    return x | y


@elementwise("x: bool -> y: bool")
def LogicalNot(x):
    """Compute the logical negation `not x` element-wise.

    >>> sess.run(tf.logical_not([True, False]))
    array([False,  True])
    """
    return logical_not(x)


@elementwise("x: T -> y: bool", T="{bfloat16, half, float, double}")
def IsNan(x):
    """Return whether each element of `x` is NaN.

    >>> sess.run(tf.is_nan([1.0, np.nan, np.inf]))
    array([False,  True, False])
    """
    return isnan(x)


@elementwise("x: T -> y: bool", T="{bfloat16, half, float, double}")
def IsInf(x):
    """Return whether each element of `x` is positive or negative infinity.

    >>> sess.run(tf.is_inf([1.0, np.nan, np.inf]))
    array([False, False,  True])
    """
    return isinf(x)


@elementwise("x: T -> y: bool", T="{bfloat16, half, float, double}")
def IsFinite(x):
    """Return whether each element of `x` is finite: neither NaN nor infinite.

    >>> sess.run(tf.is_finite([1.0, np.nan, np.inf]))
    array([ True, False, False])
    """
    return isfinite(x)


for _op in (Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, ApproximateEqual, LogicalAnd, LogicalOr,
            LogicalNot, IsNan, IsInf, IsFinite):
    _op.no_gradient("a truth value has none")


# Choosing

@elementwise("condition: bool, t: T, e: T -> output: T", T="type")
def SelectV2(condition, t, e):
    """Select elements of `t` where `condition` is True, else of `e`, with broadcasting."""
    return where(condition, t, e)


@SelectV2.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    condition, t, e = op.inputs
    zeros = raw.ZerosLike(dz, name="zeros_like")
    return [None, _to_shape(SelectV2(condition, dz, zeros), t, op), _to_shape(SelectV2(condition, zeros, dz), e, op)]


def _to_shape(gradient: Tensor, x: Tensor, op: Operation) -> Tensor:
    """Return the gradient of the broadcast input `x` from its values at each place of the output."""
    z = op.outputs[0]
    if x.static is not None and None not in x.static and x.static == z.static:
        return gradient
    shape_x = raw.Shape(x)
    return raw.Reshape(raw.Sum(gradient, raw.BroadcastGradientArgs(shape_x, raw.Shape(z))[0]), shape_x)


def _select_shape(ctx: ShapeContext) -> list[Static]:
    chosen = merge(ctx.shape(1), ctx.shape(2))
    condition = ctx.shape(0)
    if condition is None or condition == ():
        return [chosen]
    if chosen is not None and len(condition) == 1 and len(chosen) > 1:
        merge(condition, chosen[:1])
        return [chosen]
    return [merge(condition, chosen)]


def _by_rows(attrs: Any, condition: tuple[int, ...], t: tuple[int, ...], e: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [condition + (1,) * (len(t) - 1) if len(condition) == 1 and t else condition, t, e]


@elementwise("condition: bool, t: T, e: T -> output: T", shape=_select_shape, align=_by_rows, T="type")
def Select(condition, t, e):
    """Select elements of `t` where `condition` is True, else of `e`; a vector selects rows, a scalar all.

    >>> sess.run(tf.select([True, False, True], [1, 2, 3], [10, 20, 30]))
    array([ 1, 20,  3], dtype=int32)
    """
    return where(condition, t, e)


@Select.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor | None]:
    condition = op.inputs[0]
    zeros = zeros_node(op.inputs[1])
    return [None, Select(condition, dz, zeros), Select(condition, zeros, dz)]


@elementwise("t: T, clip_value_min: T, clip_value_max: T -> output: T", T="numbertype")
def ClipByValue(t, clip_value_min, clip_value_max):
    """Clip `t` to [`clip_value_min`, `clip_value_max`] element-wise, with broadcasting."""
    return minimum(maximum(t, clip_value_min), clip_value_max)


@ClipByValue.gradient
def _(op: Operation, dz: Tensor) -> list[Tensor]:
    t, low, high = op.inputs
    zeros = raw.ZerosLike(dz, name="zeros_like")
    below, above = t < low, t > high
    inside = SelectV2(LogicalOr(below, above), zeros, dz)
    return [_to_shape(inside, t, op), _to_shape(SelectV2(below, dz, zeros), low, op),
            _to_shape(SelectV2(above, dz, zeros), high, op)]


# What users call

less, less_equal, greater, greater_equal = functions(Less, LessEqual, Greater, GreaterEqual)
logical_and, logical_or, logical_not = functions(LogicalAnd, LogicalOr, LogicalNot)
is_nan, is_inf, is_finite, select = functions(IsNan, IsInf, IsFinite, Select)


@dispatched
def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x == y` element-wise, with broadcasting: bools.

    Raises TypeError if the dtypes differ, ValueError where the shapes can't be broadcast.

    >>> sess.run(tf.equal([1, 2, 3], [1, 0, 3]))
    array([ True, False,  True])
    """
    return Equal(x, y, name=name)


@dispatched
def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Compute `x != y` element-wise, with broadcasting: bools. Errors as of `equal`.

    >>> sess.run(tf.not_equal([1, 2, 3], [1, 0, 3]))
    array([False,  True, False])
    """
    return NotEqual(x, y, name=name)


@dispatched
def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """Compute the exclusive disjunction of `x` and `y` element-wise: bools.

    >>> sess.run(tf.logical_xor([True, True, False], [True, False, False]))
    array([False,  True, False])
    """
    return LogicalAnd(LogicalOr(x, y), LogicalNot(LogicalAnd(x, y)), name=name)


@dispatched
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Select elements of `x` where `condition` is True, else of `y`, all of one shape (a vector selects rows).

    Without `x` and `y`: the places where `condition` is true (or not 0), an int64 matrix with a row for each. Raises
    ValueError if only one of the two is given.

    >>> sess.run(tf.where([True, False, True], [1, 2, 3], [10, 20, 30]))
    array([ 1, 20,  3], dtype=int32)
    >>> sess.run(tf.where([True, False, True]))
    array([[0],
           [2]])
    """
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
            return raw.Where(condition, name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return Select(condition, x, y, name=name)


@dispatched
def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """As `where`, with broadcasting.

    >>> sess.run(tf.where_v2([[True], [False]], [1, 2, 3], 0))
    array([[1, 2, 3],
           [0, 0, 0]], dtype=int32)
    """
    if x is None and y is None:
        return where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return SelectV2(condition, x, y, name=name)


describe(globals(), TENSORS)
