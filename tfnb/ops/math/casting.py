"""Casts: conversion of elements to another dtype."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.errors import UnimplementedError
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import elementwise, kernel
from tfnb.ops.declaration.dispatch import dispatched


def _check_text(ctx: Any) -> None:
    source, target = ctx.attrs["SrcT"].base_dtype, ctx.attrs["DstT"].base_dtype
    if source != target and dtypes.string in (source, target):
        raise UnimplementedError(None, ctx.op, f"Cast {source.name} to {target.name} is not supported: use "
                                               "tf.as_string or tf.string_to_number")


@elementwise("x: SrcT -> y: DstT", validate=_check_text, converts=True, SrcT="type", DstT="type",
             Truncate="bool = false")
def Cast(x):
    """Convert `x` to another dtype: fractions are truncated, anything but 0 is True, True is 1."""
    return x


@Cast.gradient
def _(op: Operation, dy: Tensor) -> Tensor | None:
    source, target = op.inputs[0].dtype.base_dtype, op.outputs[0].dtype.base_dtype
    if not (source.is_floating or source.is_complex) or not (target.is_floating or target.is_complex):
        return None
    return cast(dy, source)


# What users call

@dispatched
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert `x` (IndexedSlices and SparseTensors too) to another dtype; `x` itself if it has that dtype already.

    Numbers and bools become each other: floats are cut towards zero, all but 0 is True.

    >>> sess.run(tf.cast([-1.7, 0.2, 1.7], tf.int32))
    array([-1,  0,  1], dtype=int32)
    """
    wanted = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, Tensor) and x.dtype.base_dtype == wanted:
        return x
    if isinstance(x, IndexedSlices):
        with name_scope(name, "Cast", [x]) as scope:
            return IndexedSlices(Cast(x.values, DstT=wanted, name=scope), x.indices, x.dense_shape)
    if isinstance(x, SparseTensor):
        with name_scope(name, "Cast", [x]) as scope:
            return SparseTensor(x.indices, Cast(x.values, DstT=wanted, name=scope), x.dense_shape)
    with name_scope(name, "Cast", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return x if x.dtype.base_dtype == wanted else Cast(x, DstT=wanted, name=scope)


def _truth(ctx: Any, x: np.ndarray) -> np.ndarray:
    return np.array(bool(x[()]) if x.ndim == 0 else x.size > 0)


@kernel("input: T -> output: bool", shape=shapes.scalar, numpy=_truth, T="type")
def ToBool() -> None:
    """Return whether `input` is true: a scalar that is not 0 or empty, or another tensor that has elements."""


ToBool.no_gradient("it is a truth value")


@dispatched
def to_float(x: Any, name: str = "ToFloat") -> Tensor:
    """Convert `x` to float32.

    >>> sess.run(tf.to_float([1, 2]))
    array([1., 2.], dtype=float32)
    """
    return cast(x, dtypes.float32, name=name)


@dispatched
def to_double(x: Any, name: str = "ToDouble") -> Tensor:
    """Convert `x` to float64.

    >>> sess.run(tf.to_double([1, 2]))
    array([1., 2.])
    """
    return cast(x, dtypes.float64, name=name)


@dispatched
def to_int32(x: Any, name: str = "ToInt32") -> Tensor:
    """Convert `x` to int32.

    >>> sess.run(tf.to_int32([1.9, -1.9]))
    array([ 1, -1], dtype=int32)
    """
    return cast(x, dtypes.int32, name=name)


@dispatched
def to_int64(x: Any, name: str = "ToInt64") -> Tensor:
    """Convert `x` to int64.

    >>> sess.run(tf.to_int64([1.9, -1.9]))
    array([ 1, -1])
    """
    return cast(x, dtypes.int64, name=name)


def to_complex64(x: Any, name: str = "ToComplex64") -> Tensor:
    """Convert `x` to complex64.

    >>> sess.run(tf.to_complex64([1.0, -2.0]))
    array([ 1.+0.j, -2.+0.j], dtype=complex64)
    """
    return cast(x, dtypes.complex64, name=name)


def to_complex128(x: Any, name: str = "ToComplex128") -> Tensor:
    """Convert `x` to complex128.

    >>> sess.run(tf.to_complex128([1.0, -2.0]))
    array([ 1.+0.j, -2.+0.j])
    """
    return cast(x, dtypes.complex128, name=name)


def to_bfloat16(x: Any, name: str = "ToBFloat16") -> Tensor:
    """Convert `x` to bfloat16.

    >>> sess.run(tf.to_float(tf.to_bfloat16([1.0, 1.001, 3.14159])))
    array([1.    , 1.    , 3.1406], dtype=float32)
    """
    return cast(x, dtypes.bfloat16, name=name)
