"""Resource variables, which graphs of TensorFlow with use_resource=True have: VarHandleOp and the ops on handles.

The values stand in the same store as those of reference variables, and the record of an op that writes to one follows
from that of its reference form (ApplyAdam for ResourceApplyAdam). What is read is a snapshot, which later updates leave
as it is. Where the graph itself names the variable of a handle, kernels read and write it; else these are host calls.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.core.errors import NotFoundError, OutOfRangeError
from tfnb.core.shape import Static, is_known, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import handle_shape
from tfnb.graph.parts.shape_context import ShapeContext
from tfnb.kernels.library import gather as kernels
from tfnb.opdef import kinds
from tfnb.opdef.op import Op
from tfnb.opdef.ranks import AtLeast
from tfnb.opdef.signature import read_signature
from tfnb.ops.array.gather import (
    behind_batch,
    coordinates,
    gathered,
    nd_shape,
    picked,
    something_to_pick,
    take_nd,
    take_slices,
)
from tfnb.ops.array.slicing import bound_count
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import declared, host, kernel, structural
from tfnb.ops.declaration.raw import raw
from tfnb.ops.declaration.validate import check_handle
from tfnb.ops.state import assign as state
from tfnb.ops.state import scatter as scatters
from tfnb.ops.state.slice_assign import MASK_ATTRS, assigned_shape, write_slice

Fn = Callable[..., Any]
Array = np.ndarray[Any, Any]


# What host calls take the handle for

def _variable(ctx: Any, handle: Array, dtype: DType | None = None) -> Operation:
    """Return the VarHandleOp that a handle is of. Raises InvalidArgumentError for another resource or dtype."""
    op: Operation = handle.item()
    check_handle(ctx.op, op, dtype)
    return op


def _value(ctx: Any, handle: Array, dtype: DType | None = None) -> Array:
    """Return the variable's own array. Raises FailedPreconditionError while it has none."""
    value: Array = ctx.store.value(_variable(ctx, handle, dtype), ctx.op)
    return value


# The variable itself

@structural("-> resource: resource", kinds.Handle, shape=shapes.scalar, stateful=True, container="string = ''",
            shared_name="string = ''", debug_name="string = ''", dtype="type", shape_="shape",
            allowed_devices="list(string) = []")
def VarHandleOp() -> None:
    """Create a handle of a variable that the session keeps. It has no value until something is assigned to it."""


@structural("resource: resource -> value: dtype", kinds.Read, shape=lambda ctx: [ctx.shape(0)], stateful=True,
            dtype="type")
def ReadVariableOp() -> None:
    """Read the value of a variable; later updates don't change it."""


@ReadVariableOp.gradient
def _(op: Operation, dy: Tensor) -> Tensor:
    return dy


@host("resource: resource -> is_initialized: bool", shape=shapes.scalar, stateful=True)
def VarIsInitializedOp(resource: Any, *, ctx: Any) -> Any:
    """Return whether the variable has a value."""
    return np.bool_(ctx.store.array(_variable(ctx, resource)) is not None)


def _rank_of_handle(ctx: Any) -> list[Static]:
    shape = handle_shape(ctx.op.inputs[0])
    return [(None if shape is None else len(shape),)]


@host("input: resource -> output: out_type", shape=_rank_of_handle, stateful=True,
      out_type="{int32, int64} = DT_INT32")
def VariableShape(input: Any, *, out_type: DType, ctx: Any) -> Any:
    """Return the shape of a variable, as a vector."""
    return np.array(_value(ctx, input).shape, out_type.as_numpy_dtype)


def _nothing(ctx: Any) -> list[Static]:
    return []


@host("resource: resource", shape=_nothing, stateful=True, writes=True, ignore_lookup_error="bool = true")
def DestroyResourceOp(resource: Any, *, ignore_lookup_error: bool, ctx: Any) -> Any:
    """Remove the value of a variable. Without one: NotFoundError, unless ignore_lookup_error."""
    op = _variable(ctx, resource)
    if ctx.store.array(op) is None and not ignore_lookup_error:
        raise NotFoundError(None, ctx.op, f"{ctx.op.name}: the variable {op.name} does not exist")
    ctx.store.forget(op)
    return ()


@host("resource: resource -> output: T", shape=shapes.scalar, stateful=True, writes=True, limit="int",
      T="{int32, int64}")
def ResourceCountUpTo(resource: Any, *, limit: int, T: DType, ctx: Any) -> Any:
    """Add one to a scalar variable and return its value before that. OutOfRangeError once it is `limit`."""
    with ctx.store.updating:
        before = _value(ctx, resource, T).copy()
        if before >= limit:
            raise OutOfRangeError(None, ctx.op, f"Reached limit of {limit} in {ctx.op.name!r}")
        ctx.store.assign(_variable(ctx, resource), before + before.dtype.type(1))
    return before


# Parts of it

@kernel("resource: resource, indices: Tindices -> output: dtype", shape=gathered, launch=kernels.gather,
        ranks={"resource": AtLeast(1)}, validate=behind_batch, stateful=True, numpy=take_slices, batch_dims="int = 0",
        validate_indices="bool = true", dtype="type", Tindices="indextype", halves="moved")
def ResourceGather() -> None:
    """Gather rows of a variable at `indices` (with batch_dims: of each batch, at its own indices)."""


ResourceGather.checked(picked)


@ResourceGather.gradient
def _(op: Operation, dy: Tensor) -> list[Any]:
    known = handle_shape(op.inputs[0])
    sizes: Any = raw.VariableShape(op.inputs[0]) if not is_known(known) else \
        convert_to_tensor(list(known), dtypes.int32)
    count = raw.ExpandDims(raw.Size(op.inputs[1]), 0)
    values = raw.Reshape(dy, raw.ConcatV2([count, sizes[1:]], 0))
    return [IndexedSlices(values, raw.Reshape(op.inputs[1], count), sizes), None]


@kernel("resource: resource, indices: Tindices -> output: dtype", shape=nd_shape, launch=kernels.gather_nd,
        ranks={"resource": AtLeast(1), "indices": AtLeast(1)}, validate=something_to_pick, stateful=True, numpy=take_nd,
        dtype="type", Tindices="indextype", halves="moved")
def ResourceGatherNd() -> None:
    """Gather slices of a variable at the index vectors in the last axis of `indices`."""


ResourceGatherNd.checked(coordinates)


class _Sliced(ShapeContext):
    """Context of a shape function that takes the variable for the first input, its handle."""

    def shape(self, i: int) -> Static:
        """The static shape of input `i`."""
        return super().shape(i) if i else handle_shape(self.op.inputs[0])


@host("ref: resource, begin: Index, end: Index, strides: Index, value: T", stateful=True, writes=True, T="type",
      Index="indextype", shape=lambda ctx: assigned_shape(_Sliced(ctx.op))[:0], validate=bound_count, **MASK_ATTRS)
def ResourceStridedSliceAssign(ref: Any, begin: Any, end: Any, strides: Any, value: Any, *, T: DType, ctx: Any) -> Any:
    """Assign to the slice of a variable that `begin`, `end` and `strides` select, as StridedSlice."""
    with ctx.store.updating:
        write_slice(_value(ctx, ref, T), (begin, end, strides), ctx.attrs, value)
    return ()


# What writes to it: the record of the reference form says what is written

def _assigned(ctx: Any) -> list[Static]:
    """Raise ValueError for a value of a shape that the handle, or with validate_shape the variable, does not have."""
    value = ctx.shape(1)
    if ctx.concrete and ctx.attrs["validate_shape"] and ctx.shape(0) != value:
        raise ValueError("Trying to assign to variable with tensor with wrong shape. Expected "
                         f"{list(ctx.shape(0))} got {list(value)}")
    merge(handle_shape(ctx.op.inputs[0]), value)
    return []


def by_handle(like: Op, name: str = "", text: str = "", shape: Fn | None = None, **attrs: str) -> Op:
    """Return the record of the op that does by handles what `like` does by references: ResourceApplyAdam of ApplyAdam.

    text, attrs: its signature, if it is not that of `like` without outputs; shape: its shape function, if another one.
    """
    inputs, outputs, read = read_signature(text, attrs) if text else (
        [replace(arg, type="resource", is_ref=False) if arg.is_ref else arg for arg in like.inputs], (), like.attrs)
    return like.replaced(name=name or f"Resource{like.name}", inputs=tuple(inputs), outputs=outputs, attrs=read,
                         stateful=True, doc=f"{like.name}, by handles.",
                         shape=shape or (lambda ctx: like.shape(ctx)[:0]))


def _by_handle(of: Constructor, *signature: Any, **attrs: Any) -> Constructor:
    """Declare what `by_handle` returns of the op."""
    return declared(by_handle(of.spec, *signature, **attrs))


_WHOLE = "resource: resource, value: dtype"
AssignVariableOp = _by_handle(state.Assign, "AssignVariableOp", _WHOLE, _assigned, dtype="type",
                              validate_shape="bool = false")
AssignVariableOp.spec.amend(role="")               # initializers and other assignments are one op
AssignAddVariableOp = _by_handle(state.AssignAdd, "AssignAddVariableOp", _WHOLE, dtype="type")
AssignSubVariableOp = _by_handle(state.AssignSub, "AssignSubVariableOp", _WHOLE, dtype="type")

_ROWS = "resource: resource, indices: Tindices, updates: dtype"
_VECTORS = "ref: resource, indices: Tindices, updates: T"
ROWS = [_by_handle(getattr(scatters, f"Scatter{what}"), f"ResourceScatter{what}", _ROWS,
                   dtype="type" if what == "Update" else "numbertype", Tindices="indextype")
        for what in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")]
VECTORS = [_by_handle(getattr(scatters, f"ScatterNd{what}"), f"ResourceScatterNd{what}", _VECTORS, T="type",
                      Tindices="indextype", use_locking="bool = true", bad_indices_policy="string = ''")
           for what in ("Update", "Add", "Sub", "Min", "Max")]

VarHandleOp.no_gradient("it has no inputs")
ResourceGatherNd.no_gradient("it reads a variable by its handle")
for _op in (VarIsInitializedOp, VariableShape, DestroyResourceOp, ResourceCountUpTo, ResourceStridedSliceAssign):
    _op.no_gradient("it makes no floats of what it gets")
