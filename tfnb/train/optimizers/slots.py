"""Slots: per-variable state of optimizers and moving averages, in variables named "w/Adam", "w/Adam_1"..."""
from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from tfnb.core.dtypes import DType
from tfnb.core.shape import as_shape
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import colocate_with
from tfnb.ops.array.create import fill
from tfnb.ops.array.reshape import shape as shape_of
from tfnb.ops.control.source import constant
from tfnb.variables.initializers import zeros_initializer
from tfnb.variables.resource_variable import ResourceVariable
from tfnb.variables.scope import get_variable, variable_scope
from tfnb.variables.slice_info import SaveSliceInfo
from tfnb.variables.variable import Variable


def is_alive(variable: Variable) -> bool:
    """Return whether the variable's node is still in its graph (a rerun of its notebook cell removes it)."""
    op = variable.op
    return op._dead is None


def create_slot(primary: Any, val: Tensor, name: str, colocate_with_primary: bool = True) -> Variable:
    """Make a variable "primary/name" with the initial value `val`, whose shape may differ from that of `primary`."""
    return _create(primary, name, val, None, val.dtype, val.shape.is_fully_defined(), colocate_with_primary)


def create_slot_with_initializer(primary: Any, initializer: Any, shape: Any, dtype: DType, name: str,
                                 colocate_with_primary: bool = True) -> Variable:
    """Make a variable "primary/name" of `shape`, initialized by `initializer(shape, dtype)`.

    Where the shape is not known it is that of the initial value of `primary`, and the initializer must be a constant.
    """
    shape = as_shape(shape)
    if not shape.is_fully_defined():
        value = primary.initialized_value() if isinstance(primary, Variable) else primary
        start = fill(shape_of(value), initializer([], dtype))
        return _create(primary, name, start, None, dtype, False, colocate_with_primary)
    return _create(primary, name, initializer, shape, dtype, shape.is_fully_defined(), colocate_with_primary)


def create_zeros_slot(primary: Any, name: str, dtype: DType | None = None,
                      colocate_with_primary: bool = True) -> Variable:
    """Make a variable "primary/name" of the shape of `primary`, initially zero. dtype: that of `primary` if None."""
    dtype = dtype or primary.dtype.base_dtype
    return create_slot_with_initializer(primary, zeros_initializer(), primary.shape, dtype, name,
                                        colocate_with_primary)


def constant_like(primary: Variable, value: float) -> Tensor:
    """Return a tensor filled with `value`, of the variable's dtype and (static or dynamic) shape."""
    dtype = primary.dtype.base_dtype
    if primary.shape.is_fully_defined():
        return constant(value, shape=primary.shape, dtype=dtype)
    return fill(shape_of(primary.initialized_value()), constant(value, dtype=dtype))


def _create(primary: Any, name: str, initializer: Any, shape: Any, dtype: DType, validate_shape: bool,
            beside: bool) -> Variable:
    with variable_scope(None, f"{primary.op.name}/{name}") as scope:
        scope.set_partitioner(None)
        with colocate_with(primary.op) if beside else nullcontext():
            if isinstance(primary, ResourceVariable):
                made: Variable = _resource_variable(f"{scope.name}/", initializer, shape, dtype, validate_shape)
            else:
                made = _variable(initializer, shape, dtype, validate_shape)
    if isinstance(primary, Variable) and primary._save_slice_info is not None:
        made._set_save_slice_info(_slice_of(made, primary.op.name, primary._save_slice_info))
    return made


def _resource_variable(name: str, initializer: Any, shape: Any, dtype: DType, validate_shape: bool) -> Variable:
    def start() -> Any:
        return initializer(shape.as_list(), dtype=dtype.base_dtype)

    return ResourceVariable(start if callable(initializer) else initializer, trainable=False, name=name,
                            dtype=dtype.base_dtype, validate_shape=validate_shape)


def _slice_of(slot: Variable, primary: str, info: SaveSliceInfo) -> SaveSliceInfo | None:
    """Return the slice info of a partition's slot: of "w/Adam", for a slot "w/part_0/Adam". None for a scalar."""
    rank = len(info.full_shape or ()) if slot.shape.ndims is None else slot.shape.ndims
    full, offset, shape = (list(sizes or ())[:rank] for sizes in (info.full_shape, info.var_offset, info.var_shape))
    own = slot.op.name[len(primary) + 1:]          # by length, as TensorFlow: made in a scope "dnn" it is "t_0/Adam"
    return SaveSliceInfo(f"{info.full_name}/{own}", full, offset, shape) if rank else None


def _variable(initializer: Any, shape: Any, dtype: DType, validate_shape: bool) -> Variable:
    """Make a variable named as its scope: its own name is empty."""
    made: Variable = get_variable("", shape=shape, dtype=dtype.base_dtype, initializer=initializer, trainable=False,
                                  validate_shape=validate_shape, use_resource=False)
    return made
