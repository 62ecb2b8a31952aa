"""The bits of integers: `tf.bitwise`."""
from __future__ import annotations

from typing import Any

from tfnb.ops.declaration.declare import elementwise
from tfnb.ops.declaration.public import public

_INTEGERS = "{int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
_BINARY: dict[str, Any] = {"T": _INTEGERS}


@public("bitwise.bitwise_and")
@elementwise("x: T, y: T -> z: T", **_BINARY)
def BitwiseAnd(x, y):
    """Compute the bitwise "and" of integers, element-wise.

    >>> sess.run(tf.bitwise.bitwise_and([0b1100, 7], [0b1010, 0]))
    array([8, 0], dtype=int32)
    """
    return x & y


@public("bitwise.bitwise_or")
@elementwise("x: T, y: T -> z: T", **_BINARY)
def BitwiseOr(x, y):
    """Compute the bitwise "or" of integers, element-wise.

    >>> sess.run(tf.bitwise.bitwise_or([0b1100, 7], [0b1010, 0]))
    array([14,  7], dtype=int32)
    """
    return x | y


@public("bitwise.bitwise_xor")
@elementwise("x: T, y: T -> z: T", **_BINARY)
def BitwiseXor(x, y):
    """Compute the bitwise exclusive "or" of integers, element-wise.

    >>> sess.run(tf.bitwise.bitwise_xor([0b1100, 7], [0b1010, 0]))
    array([6, 7], dtype=int32)
    """
    return x ^ y


@public("bitwise.invert")
@elementwise("x: T -> y: T", **_BINARY)
def Invert(x):
    """Invert all bits of integers, element-wise.

    >>> sess.run(tf.bitwise.invert([0, 7]))
    array([-1, -8], dtype=int32)
    """
    return ~x


@public("bitwise.left_shift")
@elementwise("x: T, y: T -> z: T", **_BINARY)
def LeftShift(x, y):
    """Shift the bits of integers to the left, element-wise: x * 2 ** y; y is cut to the places there are.

    >>> sess.run(tf.bitwise.left_shift([1, 3], [4, 1]))
    array([16,  6], dtype=int32)
    """
    return shifted_left(x, y)


@public("bitwise.right_shift")
@elementwise("x: T, y: T -> z: T", **_BINARY)
def RightShift(x, y):
    """Shift the bits of integers to the right, element-wise, with copies of the sign; y is cut to the places there are.

    >>> sess.run(tf.bitwise.right_shift([16, -6], [4, 1]))
    array([ 1, -3], dtype=int32)
    """
    return shifted_right(x, y)


for _op in (BitwiseAnd, BitwiseOr, BitwiseXor, Invert, LeftShift, RightShift):
    _op.no_gradient("it is of integers")
