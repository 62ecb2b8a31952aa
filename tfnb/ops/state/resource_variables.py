"""Resource variables, which graphs of TensorFlow with use_resource=True have: VarHandleOp and the ops on handles.

The values stand in the same store as those of reference variables, and an op that writes to one has the definition of
its reference form (ApplyAdam for ResourceApplyAdam). All are host calls: what reads a variable gets a copy, which later
updates leave as it is.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.errors import InvalidArgumentError, NotFoundError, OutOfRangeError
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.kernels import scatter
from tfnb.kernels.scalar.definition import reference
from tfnb.opdef import kinds, registry
from tfnb.opdef.op import Op
from tfnb.opdef.signature import read_signature
from tfnb.ops.array.slicing import bound_count
from tfnb.ops.composite.indexed_slices import IndexedSlices
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.construct import Constructor
from tfnb.ops.declaration.declare import declared, host
from tfnb.ops.declaration.evaluate import evaluate, numpy_name, scalar_attrs
from tfnb.ops.declaration.raw import raw
from tfnb.ops.declaration.validate import validate_arrays
from tfnb.ops.state import assign as state
from tfnb.ops.state import scatter as scatters
from tfnb.ops.state.slice_assign import MASK_ATTRS, assigned_shape, write_slice

Array = np.ndarray[Any, Any]


# What a handle tells

def _handle_op(op: Operation) -> Operation | None:
    """Return the VarHandleOp behind a handle, through branches and loops; None if it is not known."""
    while op.type != "VarHandleOp":
        if not op.inputs:
            return None
        op = op.inputs[0].op
    return op


def handle_shape(tensor: Tensor) -> Static:
    """Return the static shape of the variable behind a handle."""
    op = _handle_op(tensor.op)
    return None if op is None else op.attrs["shape"]


def _variable(ctx: Any, handle: Array, dtype: DType | None = None) -> Operation:
    """Return the VarHandleOp that a handle is of. Raises InvalidArgumentError for another resource or dtype."""
    op = handle.item()
    if getattr(op, "type", "") != "VarHandleOp":
        raise InvalidArgumentError(None, ctx.op, f"{ctx.op.name}: the handle is not a variable's, but of {op!r}")
    if dtype is not None and op.attrs["dtype"] is not dtype:
        raise InvalidArgumentError(None, ctx.op, f"{ctx.op.name}: Trying to access resource {op.name} as a variable of "
                                   f"{dtype.name}, but it is of {op.attrs['dtype'].name}")
    return op


def _value(ctx: Any, handle: Array, dtype: DType | None = None) -> Array:
    """Return the variable's own array. Raises FailedPreconditionError while it has none."""
    value: Array = ctx.store.value(_variable(ctx, handle, dtype), ctx.op)
    return value


# The variable itself

@host("-> resource: resource", shape=shapes.scalar, stateful=True, container="string = ''", shared_name="string = ''",
      debug_name="string = ''", dtype="type", shape_="shape", allowed_devices="list(string) = []")
def VarHandleOp(*, ctx: Any) -> Any:
    """Create a handle of a variable that the session keeps. It has no value until something is assigned to it."""
    handle = np.empty((), object)
    handle[()] = ctx.op
    return handle


@host("resource: resource -> value: dtype", shape=lambda ctx: [handle_shape(ctx.op.inputs[0])], stateful=True,
      dtype="type")
def ReadVariableOp(resource: Any, *, dtype: DType, ctx: Any) -> Any:
    """Read the value of a variable; later updates don't change it."""
    return _value(ctx, resource, dtype).copy()


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


@host("resource: resource", shape=_nothing, stateful=True, ignore_lookup_error="bool = true")
def DestroyResourceOp(resource: Any, *, ignore_lookup_error: bool, ctx: Any) -> Any:
    """Remove the value of a variable. Without one: NotFoundError, unless ignore_lookup_error."""
    op = _variable(ctx, resource)
    if ctx.store.array(op) is None and not ignore_lookup_error:
        raise NotFoundError(None, ctx.op, f"{ctx.op.name}: the variable {op.name} does not exist")
    ctx.store.forget(op)
    return ()


def _assignable(ctx: Any) -> list[Static]:
    merge(handle_shape(ctx.op.inputs[0]), ctx.shape(1))
    return []


@host("resource: resource, value: dtype", shape=_assignable, stateful=True, dtype="type",
      validate_shape="bool = false")
def AssignVariableOp(resource: Any, value: Any, *, dtype: DType, validate_shape: bool, ctx: Any) -> Any:
    """Assign `value`, of any shape that the handle allows, to a variable."""
    op = _variable(ctx, resource, dtype)
    array = ctx.store.array(op)
    if validate_shape and array is not None and array.shape != value.shape:
        raise InvalidArgumentError(None, ctx.op, f"{ctx.op.name}: Trying to assign to variable with tensor with wrong "
                                   f"shape. Expected {list(array.shape)} got {list(value.shape)}")
    merge(op.attrs["shape"], value.shape)
    with ctx.store.updating:
        ctx.store.assign(op, value)
    return ()


@host("resource: resource -> output: T", shape=shapes.scalar, stateful=True, limit="int", T="{int32, int64}")
def ResourceCountUpTo(resource: Any, *, limit: int, T: DType, ctx: Any) -> Any:
    """Add one to a scalar variable and return its value before that. OutOfRangeError once it is `limit`."""
    with ctx.store.updating:
        before = _value(ctx, resource, T).copy()
        if before >= limit:
            raise OutOfRangeError(None, ctx.op, f"Reached limit of {limit} in {ctx.op.name!r}")
        ctx.store.assign(_variable(ctx, resource), before + before.dtype.type(1))
    return before


# Rows of it

class _Shapes(NamedTuple):
    """Context of a shape function, with the variables' shapes in the place of their handles'."""

    op: Any
    attrs: dict[str, Any]
    found: Sequence[Static]
    context: Any = None

    def shape(self, i: int) -> Static:
        """Return the static shape of input number i."""
        return self.found[i]

    def value(self, i: int) -> Any:
        """Return the static value of an input; of a gather (whose third input is the axis) its batch_dims."""
        if "batch_dims" in self.attrs and i == 2:
            return np.array(self.attrs["batch_dims"])
        return None if self.context is None else self.context.value(i)

    def partial(self, i: int) -> Any:
        """Return the static sizes of input number i, a shape: None for unknown ones."""
        return None if self.context is None else self.context.partial(i)


class _Of(NamedTuple):
    """An op as one of the form that takes values or references where it takes handles."""

    spec: Op
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    attrs: dict[str, Any] = {}
    name: str = ""


def _evaluated(of: str, ctx: Any, *arrays: Array) -> Array:
    """Evaluate the op `of` on arrays, validated as it is itself."""
    op: Any = _Of(registry.OPS[of], ctx.op.inputs, ctx.op.outputs, ctx.op.attrs, ctx.op.name)
    return evaluate(op, arrays, ctx)[0]


def _seen(spec: Op, ctx: Any) -> _Shapes:
    """Return the static shapes of the inputs."""
    found = [handle_shape(t) if t.dtype.name == "resource" else ctx.shape(i) for i, t in enumerate(ctx.op.inputs)]
    found += [()] * ("batch_dims" in ctx.attrs)    # the axis of a gather
    return _Shapes(_Of(spec, ctx.op.inputs, ctx.op.inputs[:1]), ctx.attrs, found, ctx)


@host("resource: resource, indices: Tindices -> output: dtype", stateful=True, batch_dims="int = 0",
      shape=lambda ctx: registry.OPS["GatherV2"].shape(_seen(ctx.op.spec, ctx)), validate_indices="bool = true",
      dtype="type", Tindices="indextype")
def ResourceGather(resource: Any, indices: Any, *, batch_dims: int, dtype: DType, ctx: Any) -> Any:
    """Gather rows of a variable at `indices` (with batch_dims: of each batch, at its own indices)."""
    return _evaluated("GatherV2", ctx, _value(ctx, resource, dtype), indices, np.array(batch_dims))


@ResourceGather.gradient
def _(op: Operation, dy: Tensor) -> list[Any]:
    sizes = raw.VariableShape(op.inputs[0])
    count = raw.ExpandDims(raw.Size(op.inputs[1]), 0)
    values = raw.Reshape(dy, raw.ConcatV2([count, sizes[1:]], 0))
    return [IndexedSlices(values, raw.Reshape(op.inputs[1], count), sizes), None]


@host("resource: resource, indices: Tindices -> output: dtype", stateful=True, dtype="type", Tindices="indextype",
      shape=lambda ctx: registry.OPS["GatherNd"].shape(_seen(ctx.op.spec, ctx)))
def ResourceGatherNd(resource: Any, indices: Any, *, dtype: DType, ctx: Any) -> Any:
    """Gather slices of a variable at the index vectors in the last axis of `indices`."""
    return _evaluated("GatherNd", ctx, _value(ctx, resource, dtype), indices)


@host("ref: resource, begin: Index, end: Index, strides: Index, value: T", stateful=True, T="type", Index="indextype",
      shape=lambda ctx: assigned_shape(_seen(ctx.op.spec, ctx)) and [], validate=bound_count, **MASK_ATTRS)
def ResourceStridedSliceAssign(ref: Any, begin: Any, end: Any, strides: Any, value: Any, *, T: DType, ctx: Any) -> Any:
    """Assign to the slice of a variable that `begin`, `end` and `strides` select, as StridedSlice."""
    with ctx.store.updating:
        write_slice(_value(ctx, ref, T), (begin, end, strides), ctx.attrs, value)
    return ()


# What writes to it: the reference form of each op says what is written

def _handled(of: Constructor, **signature: Any) -> Constructor:
    """Declare an op of this signature, whose handles stand where the op `of` has references."""
    like: Any = of.spec
    refs = [i for i, arg in enumerate(like.inputs) if arg.is_ref]

    def shape(ctx: Any) -> list[Static]:
        like.shape(_seen(like, ctx))
        return []

    def run(*arrays: Array, ctx: Any) -> Any:
        """Do to the variables behind the handles what the reference op does to its references."""
        attrs, definition = ctx.op.attrs, like.body
        dtype: DType = attrs["T"] if "T" in attrs else attrs["dtype"]
        with ctx.store.updating:
            variables = [_variable(ctx, arrays[i], dtype) for i in refs]
            given = list(arrays)
            for i in refs:
                given[i] = _value(ctx, arrays[i], dtype)
            stands: Any = _Of(like, ctx.op.inputs, ctx.op.inputs[:1], attrs, ctx.op.name)
            validate_arrays(stands, given)
            kind, wanted = numpy_name(dtype), scalar_attrs(ctx.op, definition)
            if isinstance(like, kinds.Scatter):
                scatter.apply(like.form, given, wanted, kind)
                return ()
            made = reference(definition, given, wanted, kind, [kind] * len(refs))
            for op, value, i in zip(variables, made, refs, strict=True):
                ctx.store.assign(op, np.broadcast_to(np.asarray(value), given[i].shape))
        return ()

    return declared(kinds.Host(**signature, shape=shape, call=run, stateful=True, role=like.role,
                               no_gradient="it writes to a variable"))


def _declared(of: Constructor, name: str, text: str, **attrs: str) -> Constructor:
    inputs, outputs, read = read_signature(text, attrs)
    return _handled(of, name=name, inputs=inputs, outputs=outputs, attrs=read, doc=f"{of.spec.name}, by a handle.")


def by_handle(of: Constructor) -> Constructor:
    """Declare ResourceApplyAdam for ApplyAdam: the same inputs and attrs, and no outputs."""
    inputs = tuple(replace(arg, type="resource", is_ref=False) if arg.is_ref else arg for arg in of.spec.inputs)
    return _handled(of, name=f"Resource{of.spec.name}", inputs=inputs, outputs=(), attrs=of.spec.attrs,
                    doc=f"{of.spec.name}, by handles.")


_WHOLE = "resource: resource, value: dtype"
AssignAddVariableOp = _declared(state.AssignAdd, "AssignAddVariableOp", _WHOLE, dtype="type")
AssignSubVariableOp = _declared(state.AssignSub, "AssignSubVariableOp", _WHOLE, dtype="type")

_ROWS = "resource: resource, indices: Tindices, updates: dtype"
_VECTORS = "ref: resource, indices: Tindices, updates: T"
ROWS = [_declared(getattr(scatters, f"Scatter{what}"), f"ResourceScatter{what}", _ROWS,
                  dtype="type" if what == "Update" else "numbertype", Tindices="indextype")
        for what in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")]
VECTORS = [_declared(getattr(scatters, f"ScatterNd{what}"), f"ResourceScatterNd{what}", _VECTORS, T="type",
                     Tindices="indextype", use_locking="bool = true", bad_indices_policy="string = ''")
           for what in ("Update", "Add", "Sub", "Min", "Max")]

VarHandleOp.no_gradient("it has no inputs")
ResourceGatherNd.no_gradient("it reads a variable by its handle")
for _op in (VarIsInitializedOp, VariableShape, DestroyResourceOp, AssignVariableOp, ResourceCountUpTo,
            ResourceStridedSliceAssign):
    _op.no_gradient("it makes no floats of what it gets")
