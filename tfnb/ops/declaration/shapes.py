"""Static shape functions shared by the op families: fn(ctx: ShapeContext) -> [static shape of each output].

A static shape is a tuple of int or None (unknown), or None when not even the rank is known.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfnb.core.shape import Static, broadcast, merge
from tfnb.kernels.scalar.definition import row_level_results
from tfnb.opdef import kinds

if TYPE_CHECKING:
    from tfnb.graph.graph import ShapeContext


def _count(ctx: ShapeContext) -> int:
    return len(ctx.op.outputs)


def of_rank(found: Static, rank: int) -> tuple[int | None, ...]:
    """Return a shape of `rank` axes. Raises ValueError for another rank."""
    if found is not None and len(found) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(found)}")
    return (None,) * rank if found is None else found


def named_by(index: int) -> Callable[[ShapeContext], list[Static]]:
    """Return a shape function for the sizes that an input names; None for those that are not known.

    It raises ValueError for negative sizes.
    """
    def named(ctx: ShapeContext) -> list[Static]:
        """Return the shape."""
        known, count, value = ctx.partial(index), ctx.shape(index), ctx.value(index)
        if value is not None and (value < 0).any():
            raise ValueError(f"Dimension {int(value.min())} must be >= 0")
        if known is None:
            return [None if not count or count[0] is None else (None,) * count[0]]
        return [tuple(known)]
    return named


named_by_first = named_by(0)


def broadcast_inputs(ctx: ShapeContext) -> list[Static]:
    """Give every output the broadcast shape of all inputs. Raises ValueError if they don't broadcast."""
    shape: Static = ()
    for i in range(len(ctx.op.inputs)):
        shape = ctx.shape(i) if i == 0 else broadcast(shape, ctx.shape(i))
    return [shape] * _count(ctx)


def like_first(ctx: ShapeContext) -> list[Static]:
    """Give every output the shape of the first input."""
    return [ctx.shape(0)] * _count(ctx)


def same_inputs(ctx: ShapeContext) -> list[Static]:
    """Give every output the shape that all inputs share. Raises ValueError if two inputs differ."""
    shape: Static = None
    for i in range(len(ctx.op.inputs)):
        shape = merge(shape, ctx.shape(i))
    return [shape] * _count(ctx)


def scalar(ctx: ShapeContext) -> list[Static]:
    """Give every output the shape of a scalar."""
    return [()] * _count(ctx)


def vector(ctx: ShapeContext) -> list[Static]:
    """Give every output the shape of a vector of unknown length."""
    return [(None,)] * _count(ctx)


def unknown(ctx: ShapeContext) -> list[Static]:
    """Leave the shapes of all outputs unknown before the op runs."""
    return [None] * _count(ctx)


def normalized_axes(axes: np.ndarray, rank: int) -> list[int]:
    """Return the axes as sorted, distinct non-negative ints. Raises ValueError for one outside [-rank, rank)."""
    found = set()
    for axis in np.asarray(axes).reshape(-1).tolist():
        if not -rank <= axis < rank:
            raise ValueError(f"Invalid reduction dimension {axis} for input with {rank} dimensions.")
        found.add(axis % rank)
    return sorted(found)


def reduced(ctx: ShapeContext) -> list[Static]:
    """Return the shape of input 0 without its reduced axes (size 1 in their place with `keep_dims`)."""
    shape, keep = ctx.shape(0), ctx.attrs.get("keep_dims", False)
    assert isinstance(ctx.op.spec, kinds.Reduction)
    fixed = ctx.op.spec.axes
    if fixed is None and len(ctx.shape(1) or ()) > 1 and not ctx.concrete:
        raise ValueError(f"Shape must be at most rank 1 but is rank {len(ctx.shape(1) or ())}: reduction axes")
    if shape is None:
        return [None]
    axes = ctx.value(1) if fixed is None else fixed(ctx.attrs, len(shape))
    if axes is None:
        return [(None,) * len(shape) if keep else None]
    gone = normalized_axes(axes, len(shape))
    return [tuple(1 if i in gone else n for i, n in enumerate(shape) if keep or i not in gone)]


def rowwise(ctx: ShapeContext) -> list[Static]:
    """Full-level outputs have the shape of the full-level inputs, row-level ones all of its axes but the last."""
    spec: Any = ctx.op.spec
    full: Static = None
    lead: Static = None
    for i, arg in enumerate(spec.inputs):
        if arg.name in spec.rows:
            lead = merge(lead, ctx.shape(i))
        else:
            full = merge(full, ctx.shape(i))
    if full is not None:
        if not full:
            raise ValueError("the input must have at least one axis, but is a scalar")
        lead = merge(lead, full[:-1])
        full = (*lead, full[-1]) if lead is not None else full
    return [lead if row else full for row in row_level_results(spec.body, spec, spec.rows)]
