"""The bits of numbers: reinterpretation as another dtype, population count."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.shape import Static
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import kernel
from tfnb.ops.declaration.public import public

_NUMBERS = ("{bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, "
            "complex128, qint8, quint8, qint16, quint16, qint32}")


def _recast(ctx: Any) -> list[Static]:
    """Add an axis for the parts of each number, or take the last one away, whose size must fit."""
    shape, before, after = ctx.shape(0), ctx.attrs["T"].size, ctx.attrs["type"].size
    if shape is None or before == after:
        return [shape]
    if before > after:
        return [(*shape, before // after)]
    if not shape:
        raise ValueError("Shape must be at least rank 1 but is rank 0: input of Bitcast to a larger dtype")
    if shape[-1] not in (None, after // before):
        raise ValueError(f"Cannot bitcast from {ctx.attrs['T'].name} to {ctx.attrs['type'].name}: the last axis has "
                         f"size {shape[-1]}, expected {after // before}")
    return [shape[:-1]]


@public("bitcast", "dtypes.bitcast")
@kernel("input: T -> output: type", shape=_recast, numpy=lambda ctx, x: _reinterpreted(ctx.attrs["type"], x),
        T=_NUMBERS, type=_NUMBERS)
def Bitcast() -> None:
    """Reinterpret the bits of numbers as another dtype, of the same bytes in memory.

    A smaller dtype adds an axis of the parts of each number at the end (little-endian: the low ones first); a larger
    one takes the last axis away. Raises ValueError where its size does not fit.

    >>> sess.run(tf.bitcast([1.0, -2.0], tf.int32))
    array([ 1065353216, -1073741824], dtype=int32)
    """


def _reinterpreted(dtype: Any, x: np.ndarray) -> np.ndarray:
    before, after = x.dtype.itemsize, dtype.np_dtype.itemsize
    shape = x.shape if before == after else (*x.shape, before // after) if before > after else x.shape[:-1]
    x = np.ascontiguousarray(x)                                   # of a scalar a vector
    if before < after:
        x = x.reshape(*shape, 1, x.shape[-1])
    return x.view(dtype.np_dtype).reshape(shape).copy()


@kernel("x: T -> y: uint8", shape=shapes.like_first, numpy=lambda ctx, x: _ones(x),
        T="{int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
def PopulationCount() -> None:
    """Count the bits of integers that are 1, element-wise."""


def _ones(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.bitwise_count(x.view(f"u{x.itemsize}"))           # of signed ones it counts the magnitude's
    return found


Bitcast.no_gradient("bits are no numbers that could change a little")
PopulationCount.no_gradient("it is of integers")
