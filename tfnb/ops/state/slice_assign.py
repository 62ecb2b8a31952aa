"""Assignment to a slice of a variable: `v[1:3].assign(x)`."""
from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.view import View
from tfnb.ops.array.slicing import MASKS, Bounds, StridedSlice, bound_count, read_slices, take
from tfnb.ops.declaration.declare import host

MASK_ATTRS: dict[str, Any] = dict.fromkeys(MASKS, "int = 0")


def assigned_shape(ctx: Any) -> list[Static]:
    """Return the shape of the variable, the first input; the last one must fit that of the slice. Raises ValueError."""
    (part,) = StridedSlice.spec.shape(ctx)
    value = ctx.shape(4)
    if part is not None and value is not None:
        if len(value) > len(part):
            raise ValueError(f"a value of shape {list(value)} does not fit a slice of shape {list(part)}")
        merge(part[len(part) - len(value):], tuple(None if n == 1 else n for n in value))
    return [ctx.shape(0)]


def write_slice(array: np.ndarray[Any, Any], bounds: tuple[Any, ...], masks: Mapping[str, int], value: Any) -> None:
    """Set the part of an array that begin, end and strides name. Raises ValueError if the value can't be broadcast."""
    begin, end, steps = (tuple(bound.tolist()) for bound in bounds)
    part = _part(array.shape, begin, end, steps, tuple(masks[name] for name in MASKS)).of(array)
    part[...] = value if np.shape(value) == part.shape else np.broadcast_to(value, part.shape)


@lru_cache(256)
def _part(shape: tuple[int, ...], begin: Bounds, end: Bounds, steps: Bounds, masks: tuple[int, ...]) -> View:
    """Return the view of an array of this shape that begin, end and strides name. masks: of MASKS, in order."""
    return take(View.whole(shape), read_slices(shape, begin, end, steps, dict(zip(MASKS, masks, strict=True))))


@host("ref: Ref(T), begin: Index, end: Index, strides: Index, value: T -> output_ref: Ref(T)", shape=assigned_shape,
      validate=bound_count, writes=True, T="type", Index="indextype", **MASK_ATTRS)
def StridedSliceAssign(ref: Any, begin: Any, end: Any, strides: Any, value: Any, *, ctx: Any) -> Any:
    """Assign to the slice of a variable that `begin`, `end` and `strides` select, as StridedSlice."""
    with ctx.store.updating:
        write_slice(ref, (begin, end, strides), ctx.attrs, value)
    return ref


StridedSliceAssign.no_gradient("it writes to a variable")


def assignable(part: Tensor, variable: Any) -> Tensor:
    """`part`, a slice of a variable's value, with a method `assign(value, name=None)` that sets it in the variable.

    The method returns the variable after that. It raises ValueError for a value that can't be broadcast to the slice.
    """
    if part.op.type != "StridedSlice":
        return part
    bounds, masks = part.op.inputs[1:], {name: part.op.attrs[name] for name in MASKS}

    def assign(value: Any, name: str | None = None) -> Tensor:
        scope = f"{part.op.name}/_assign" if name is None else name
        return variable._assign_slice(bounds, value, masks, scope)
    part.assign = assign  # type: ignore[attr-defined]
    return part
