"""Rows replaced in a copy, concatenation by rows, axes of image layouts, aliases of values."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, TensorShape, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import name_scope
from tfnb.kernels.view import View
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import kernel, movement
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw

# Rows


def _replacing(ctx: Any) -> list[Static]:
    x, rows, v = ctx.shape(0), ctx.shape(1), ctx.shape(2)
    if x == ():
        raise ValueError("Shape must be at least rank 1 but is rank 0: x")
    merge(v, None if x is None else ((rows or (None,))[0], *x[1:]))
    return [x]


def _at_rows(change: Any) -> Any:
    def numpy(ctx: Any, x: np.ndarray, rows: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Apply `change` at the rows of a copy, which count modulo their number, as in TensorFlow."""
        made = x.copy()
        if len(x):
            change(made, rows % len(x), v)
        return made
    return numpy


def _set(made: np.ndarray, rows: np.ndarray, v: np.ndarray) -> None:
    for row, value in zip(rows.tolist(), v, strict=True):       # the last one of equal rows stays
        made[row] = value


_INPLACE = "x: T, i: int32, v: T -> y: T"


@kernel(_INPLACE, shape=_replacing, numpy=_at_rows(np.add.at), ranks={"i": 1}, T="type")
def InplaceAdd() -> None:
    """Return `x` with `v` added to the rows `i`; x itself stays as it is."""


@kernel(_INPLACE, shape=_replacing, numpy=_at_rows(np.subtract.at), ranks={"i": 1}, T="type")
def InplaceSub() -> None:
    """Return `x` with `v` subtracted from the rows `i`; x itself stays as it is."""


@kernel(_INPLACE, shape=_replacing, numpy=_at_rows(_set), ranks={"i": 1}, T="type")
def InplaceUpdate() -> None:
    """Return `x` with `v` in place of the rows `i`; x itself stays as it is."""


def _stacked_rows(ctx: Any) -> list[Static]:
    shape = ctx.attrs["shape"]
    if shape is None or None in shape:
        raise ValueError("shape attr must be fully defined.")
    if not shape:
        raise ValueError("the shape must have at least one dimension, the number of values, got shape []")
    if len(ctx.op.inputs) != shape[0]:
        raise ValueError(f"expected {shape[0]} values for shape {list(shape)}, got {len(ctx.op.inputs)}")
    for i in range(len(ctx.op.inputs)):
        merge(ctx.shape(i), (1, *shape[1:]))
    return [shape]


@kernel("values: N * T -> output: T", shape=_stacked_rows, numpy=lambda ctx, *rows: np.concatenate(rows),
        N="int >= 1", T="type", shape_="shape")
def ParallelConcat() -> None:
    """Concatenate values of one row each; each must have the row shape of the attr `shape`."""


@public("parallel_stack")
def parallel_stack(values: Sequence[Any], name: str = "parallel_stack") -> Tensor:
    """Stack tensors of one shape, which must be known, along a new first axis; `tf.stack` takes others too.

    Raises ValueError for a shape that is not fully known.

    >>> sess.run(tf.parallel_stack([[1, 2], [3, 4]]))
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    with name_scope(name):
        rows = [convert_to_tensor(value) for value in values]
        shape = TensorShape([len(rows)]).concatenate(rows[0].shape)
        stacked: Tensor = ParallelConcat([raw.ExpandDims(row, 0) for row in rows], shape=shape)
        return stacked


# Layouts

_FORMATS: dict[str, Any] = {"T": "{int32, int64} = DT_INT32", "src_format": "string = 'NHWC'",
                            "dst_format": "string = 'NCHW'"}


def _order(ctx: Any, only: bytes = b"") -> list[int]:
    """Return the place in the source format of each axis of the destination's; of the axes `only`, if given."""
    source, target = (bytes(code for code in ctx.attrs[name] if not only or code in only)
                      for name in ("src_format", "dst_format"))
    if sorted(source) != sorted(target):
        raise ValueError(f"expected formats of the same axes, got {ctx.attrs['src_format']!r} and "
                         f"{ctx.attrs['dst_format']!r}")
    return [source.index(axis) for axis in target]


def _axis_map(ctx: Any, x: np.ndarray) -> np.ndarray:
    places = np.argsort(_order(ctx))
    return places[x % len(places)].astype(x.dtype)


@kernel("x: T -> y: T", shape=shapes.like_first, numpy=_axis_map, validate=_order, **_FORMATS)
def DataFormatDimMap() -> None:
    """Return the number in `dst_format` of the axes that have the numbers `x` in `src_format`; they may be negative."""


def _one_of_each(ctx: Any) -> list[Static]:
    shape, full = ctx.shape(0), len(ctx.attrs["src_format"])
    if shape is not None and (len(shape) not in (1, 2) or shape[0] not in (None, full, full - 2)
                              or (len(shape) == 2 and shape[1] not in (None, 2))):
        raise ValueError(f"expected a vector of {full - 2} or {full} elements, or as many pairs, got shape "
                         f"{list(shape)}")
    _order(ctx)
    return [shape]


def _permuted(ctx: Any, x: np.ndarray) -> np.ndarray:
    return x[_order(ctx, b"" if len(x) == len(ctx.attrs["src_format"]) else b"DHW")]


@kernel("x: T -> y: T", shape=lambda ctx: [ctx.shape(0)], numpy=_permuted, validate=_one_of_each, **_FORMATS)
def DataFormatVecPermute() -> None:
    """Permute a vector with an element for each axis (or each spatial one) of `src_format` to `dst_format`."""


# Aliases

@public("guarantee_const")
@movement("input: T -> output: T", shape=shapes.like_first, in_order=True, same=True, T="type")
def GuaranteeConst(view: View) -> View:
    """Return the input as it is. In TensorFlow it promises the compiler that the value will not change.

    >>> sess.run(tf.guarantee_const(3))
    3
    """
    return view


GuaranteeConst.spec.amend(stateful=True)            # as its OpDef says


@movement("input: T -> output: T", shape=shapes.like_first, in_order=True, same=True, T="type")
def Snapshot(view: View) -> View:
    """Return the input as it is."""
    return view


@kernel("x: T -> y: T", shape=shapes.like_first, numpy=lambda ctx, x: x.copy(), stateful=True, T="type")
def DeepCopy() -> None:
    """Return a copy of the input."""


@Snapshot.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy


for _op in (GuaranteeConst, ParallelConcat, InplaceAdd, InplaceSub, InplaceUpdate, DeepCopy, DataFormatDimMap,
            DataFormatVecPermute):
    _op.no_gradient("TensorFlow has none")


describe(globals(), TENSORS)
