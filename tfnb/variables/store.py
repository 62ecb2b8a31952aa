"""The variables of a graph by the names that `get_variable` gave them, and the rules by which it finds or makes them.

Both lists stand in collections of the graph (with keys that are no strings, so that nobody meets them): entries that a
notebook cell made leave the graph together with its ops.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.core.shape import TensorShape, as_shape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import colocate_with, control_dependencies, name_scope
from tfnb.ops.array.slicing import Slice
from tfnb.variables.initializers import Initializer, glorot_uniform_initializer, zeros_initializer
from tfnb.variables.partitioned import PartitionedVariable, PartitionInfo, slices_along
from tfnb.variables.partitioners import Partitioner, partitions_of
from tfnb.variables.slice_info import SaveSliceInfo
from tfnb.variables.variable import Variable

_STORED = ("variables by name",)
_PARTITIONED = ("partitioned variables by name",)
_OPENED = ("opened variable scopes",)


class _ReuseMode(Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE


@dataclass(eq=False, slots=True)
class _Stored:
    name: str
    variable: Any                                  # a Variable, or a PartitionedVariable

    @property
    def op(self) -> Operation:
        """The op of the variable; of a partitioned one that of its first part."""
        found: Operation = next(iter(self.variable)).op if isinstance(self.variable, PartitionedVariable) \
            else self.variable.op
        return found


@dataclass(eq=False, slots=True)
class _Opened:
    scope: str


def stored(graph: Graph, name: str, key: Any = _STORED) -> Any:
    """Return the variable that `get_variable` made under this full name, or None."""
    for entry in reversed(graph.get_collection_ref(key)):
        if entry.name == name:
            return entry.variable
    return None


def open_scope(graph: Graph, name: str) -> None:
    """Note that a variable scope with this full name is opened."""
    graph.add_to_collection(_OPENED, _Opened(name))


def close_subscopes(graph: Graph, name: str) -> None:
    """Forget which scopes were opened inside `name`: default names in it begin anew."""
    opened = graph.get_collection_ref(_OPENED)
    opened[:] = [entry for entry in opened if not entry.scope.startswith(f"{name}/" if name else "")]


def opened_scopes(graph: Graph) -> list[Any]:
    """Return the scopes opened so far, for `restore_opened`."""
    return list(graph.get_collection_ref(_OPENED))


def restore_opened(graph: Graph, opened: list[Any]) -> None:
    """Forget what was opened since `opened_scopes` gave its result."""
    graph.get_collection_ref(_OPENED)[:] = opened


def unique_scope(graph: Graph, parent: str, name: str) -> str:
    """`name`, or the first of name_1, name_2... that was not opened inside the scope `parent` yet."""
    prefix = f"{parent}/" if parent else ""
    taken = {entry.scope for entry in graph.get_collection_ref(_OPENED)}
    tried, number = name, 0
    while prefix + tried in taken:
        number += 1
        tried = f"{name}_{number}"
    return tried


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of `get_variable`, with the defaults of the scope filled in. name: the full name."""

    name: str
    shape: Any
    dtype: DType
    initializer: Any
    regularizer: Callable[[Any], Any] | None
    reuse: bool | _ReuseMode | None
    trainable: bool | None
    collections: Any
    caching_device: Any
    validate_shape: bool
    constraint: Callable[[Any], Any] | None
    synchronization: Any
    aggregation: Any
    use_resource: bool | None = None
    partition_info: PartitionInfo | None = None


def find_or_make(graph: Graph, request: Request) -> Variable:
    """Return the variable of that name, shared if the reuse rules say so, else made.

    Raises ValueError if it exists but may not be shared, must be shared but does not exist, or has another shape or
    dtype than requested; if the shape of a new one is not known, or given besides a constant initializer.
    """
    constant = request.initializer is not None and not callable(request.initializer)
    if constant and request.shape is not None:
        raise ValueError("If initializer is a constant, do not specify shape.")
    found = stored(graph, request.name)
    if found is not None:
        return _share(found, request)
    if stored(graph, f"{request.name}/part_0") is not None:
        raise ValueError("No partitioner was provided, but a partitioned version of the variable was found: "
                         f"{request.name}/part_0. Perhaps a variable of the same name was already created with "
                         "partitioning?")
    if request.reuse is True:
        raise ValueError(f"Variable {request.name} does not exist, or was not created with tf.get_variable(). "
                         "Did you mean to set reuse=tf.AUTO_REUSE in VarScope?")
    with control_dependencies(None):
        made = _make(request, constant)
    graph.add_to_collection(_STORED, _Stored(request.name, made))
    _regularize(graph, made, request)
    return made


def find_or_make_parts(graph: Graph, request: Request, partitioner: Partitioner | None) -> PartitionedVariable:
    """As `find_or_make`, for a variable that `partitioner` cuts; None to share one that is there, however it is cut.

    Raises ValueError also if the partitioner says what can't be, or something else than it said of the one there is.
    """
    name, value = request.name.rstrip("/"), request.initializer
    constant = value is not None and not callable(value)
    if stored(graph, name) is not None:
        raise ValueError("A partitioner was provided, but an unpartitioned version of the variable was found: "
                         f"{name}. Perhaps a variable of the same name was already created without partitioning?")
    shape = as_shape(request.shape)
    if constant:
        with control_dependencies(None):
            value = convert_to_tensor(value, dtype=request.dtype)
        shape = shape.merge_with(value.shape)
    parts = None if partitioner is None else partitions_of(partitioner, shape, request.dtype)
    found: PartitionedVariable | None = stored(graph, name, _PARTITIONED)
    if found is not None:
        return _share_parts(found, request, shape, parts)
    if request.reuse is True or parts is None:
        raise ValueError(f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did "
                         "you mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?")
    sizes: list[int] = shape.as_list()
    variables = []
    for i, (offset, size) in enumerate(slices_along(sizes, parts)):
        part = f"{name}/part_{i}"
        if constant:
            with name_scope(f"{part}/PartitionedInitializer/"):
                start, given = Slice(value, offset, size), None
        else:
            start, given = value, size
        made = find_or_make(graph, replace(request, name=part, shape=given, initializer=start,
                                           partition_info=PartitionInfo(sizes, offset)))
        made._set_save_slice_info(SaveSliceInfo(name, sizes, offset, size))
        variables.append(made)
    whole = PartitionedVariable(name, shape, request.dtype, variables, parts)
    graph.add_to_collection(_PARTITIONED, _Stored(name, whole))
    return whole


def is_partitioned(graph: Graph, name: str) -> bool:
    """Return whether `get_variable` made a partitioned variable of this full name."""
    return stored(graph, name, _PARTITIONED) is not None


def _share_parts(found: PartitionedVariable, request: Request, shape: TensorShape,
                 parts: list[int] | None) -> PartitionedVariable:
    name = found.name
    if not request.reuse:
        raise ValueError(f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
                         f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n{next(iter(found)).op.made_at}")
    for what, wanted, there, same in (
            ("shape", shape, found.shape, shape.is_compatible_with(found.shape)),
            ("dtype", request.dtype.name, found.dtype.name, request.dtype.is_compatible_with(found.dtype)),
            ("partitions", parts, found._get_partitions(), parts in (None, found._get_partitions()))):
        if not same:
            raise ValueError(f"Trying to reuse partitioned variable {name}, but specified {what} {wanted} and found "
                             f"{what} {there}.")
    return found


def _share(found: Variable, request: Request) -> Variable:
    name, shape = request.name, as_shape(request.shape)
    if not request.reuse:
        raise ValueError(f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                         f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n{found.op.made_at}")
    if not shape.is_compatible_with(found.shape):
        raise ValueError(f"Trying to share variable {name}, but specified shape {shape} and found shape "
                         f"{found.shape}.")
    if not request.dtype.is_compatible_with(found.dtype):
        raise ValueError(f"Trying to share variable {name}, but specified dtype {request.dtype.name} and found dtype "
                         f"{found.dtype.name}.")
    return found


def _make(request: Request, constant: bool) -> Variable:
    shape = as_shape(request.shape)
    if constant:
        start, dtype = request.initializer, None
    else:
        initializer = request.initializer or _default_initializer(request.dtype, request.name)
        start, dtype = _bound(initializer, shape, request)
    return Variable(start, trainable=request.trainable, collections=request.collections,
                    caching_device=request.caching_device, name=request.name, dtype=dtype,
                    validate_shape=request.validate_shape, constraint=request.constraint,
                    use_resource=request.use_resource, synchronization=request.synchronization,
                    aggregation=request.aggregation, shape=shape if shape.is_fully_defined() else None)


def _default_initializer(dtype: DType, name: str) -> Any:
    if dtype.is_floating or dtype.is_complex:
        return glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool or dtype.base_dtype == dtypes.string:
        return zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype.name} is required")


def _bound(initializer: Any, shape: TensorShape, request: Request) -> tuple[Callable[[], Any], DType | None]:
    """Return the initializer as a function without arguments, and the dtype to convert its result to."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if isinstance(initializer, Initializer) and shape.is_fully_defined():
        return lambda: initializer(shape.as_list(), dtype=request.dtype,
                                   partition_info=request.partition_info), request.dtype
    parameters = inspect.signature(initializer).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if not shape.is_fully_defined():
        if needed:
            raise ValueError(f"Shape of a new variable ({request.name}) must be fully defined, but instead was "
                             f"{shape}.")
        return initializer, None
    if not parameters:
        return initializer, request.dtype
    options = {name: value for name, value in (("dtype", request.dtype), ("partition_info", request.partition_info))
               if any(p.name == name or (p.kind is p.VAR_KEYWORD and name == "dtype") for p in parameters)}
    return lambda: initializer(shape.as_list(), **options), request.dtype


def _regularize(graph: Graph, variable: Variable, request: Request) -> None:
    if request.regularizer is None:
        return
    with colocate_with(variable.op), name_scope(f"{request.name}/Regularizer/"):
        loss = request.regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
