"""Class Variable: a value that lives in a session from one run to the next, with the nodes that start and read it.

`tf.Variable(3.0, name="w")` adds four nodes: "w/initial_value", the variable "w" itself (a reference), "w/Assign",
which sets it to its initial value, and "w/read", through which the rest of the graph sees its value.
"""
from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from enum import Enum
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Operation, Operators, Tensor
from tfnb.graph.stack import (
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    get_default_session,
    graph_of,
    name_scope,
)
from tfnb.ops.array.gather import gather, gather_nd
from tfnb.ops.array.reshape import Identity
from tfnb.ops.state import assign as state
from tfnb.ops.state.scatter import RowUpdates
from tfnb.ops.state.slice_assign import StridedSliceAssign, assignable
from tfnb.variables.creators import Created
from tfnb.variables.safe_initial_value import safe_initial_value
from tfnb.variables.slice_info import SaveSliceInfo

_proto = lazy_module("tfnb.proto.variable_pb2")
_handles = lazy_module("tfnb.variables.resource_variable")


_resource_by_default = [False]


def enable_resource_variables() -> None:
    """Make new variables resource variables, whose reads are snapshots, unless they ask for something else.

    >>> tf.enable_resource_variables()
    >>> resource = tf.resource_variables_enabled()
    >>> tf.disable_resource_variables()
    >>> resource, tf.resource_variables_enabled()
    (True, False)
    """
    _resource_by_default[0] = True


def disable_resource_variables() -> None:
    """Undo `enable_resource_variables`.

    >>> tf.disable_resource_variables()
    >>> tf.resource_variables_enabled()
    False
    """
    _resource_by_default[0] = False


def resource_variables_enabled() -> bool:
    """Return whether `enable_resource_variables` was called.

    >>> tf.resource_variables_enabled()
    False
    """
    return _resource_by_default[0]


class VariableSynchronization(Enum):
    """Synchronization of the copies of a distributed variable. Accepted everywhere; there is one copy here.

    >>> v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ)
    >>> v.synchronization == tf.VariableSynchronization.ON_READ
    True
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """Aggregation of updates to a distributed variable. Accepted everywhere; there is one copy here.

    >>> v = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
    >>> v.aggregation == tf.VariableAggregation.MEAN
    True
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


_Slice = SaveSliceInfo                              # Variable has an attribute of that name


class Variable(RowUpdates, Operators, metaclass=Created):
    """A variable of a graph: `w = tf.Variable(tf.zeros([2, 3]), name="w")`.

    initial_value: a tensor, something convertible to one, or a function without arguments that returns it.
    trainable: also enter it in GraphKeys.TRAINABLE_VARIABLES (None: yes). collections: where to enter it, by default
    [GraphKeys.GLOBAL_VARIABLES]. validate_shape: False leaves the shape open. caching_device: a device on which reads
    are cached. name: "Variable" by default, made unique. dtype: convert the initial value to it. constraint: a
    function from the variable's value to what an optimizer writes back after its step. variable_def: a VariableDef to
    recreate a variable of the graph from (import_scope: what its names were prefixed with); it excludes
    initial_value. shape: what the variable may hold, by default the initial value's shape. synchronization: a
    variable that is synchronized ON_READ is not trained by default. use_resource: put it behind a
    handle, so that what is read is a snapshot (None: as the variable scope or `tf.enable_resource_variables` says).
    expected_shape and aggregation are accepted without effect.

    Raises ValueError without an initial value, for one of unknown shape (unless validate_shape=False), for a
    constraint that can't be called, for collections that are no list.

    >>> w = tf.Variable([1.0, 2.0], name="w")
    >>> sess.run(w.initializer)
    >>> sess.run(w.assign_add([10.0, 10.0]))
    array([11., 12.], dtype=float32)
    """

    __array_priority__ = 100
    SaveSliceInfo = SaveSliceInfo
    _start_name = "initial_value"
    _variable: Tensor
    _initializer_op: Operation | Tensor
    _snapshot: Tensor
    _initial_value: Tensor | None
    _trainable: bool

    def __new__(cls, *args: Any, use_resource: bool | None = None, **options: Any) -> Variable:
        """Return an object of the class for handles, if that is asked for, by the scope or as the default."""
        if use_resource is None:
            use_resource = SCOPE_DEFAULT[0]()
        by_handle = _resource_by_default[0] if use_resource is None else use_resource
        given = options.get("variable_def")
        if cls is Variable and (by_handle if given is None else getattr(given, "is_resource", False)):
            cls = _handles.ResourceVariable
        return object.__new__(cls)

    def __init__(self, initial_value: Any = None, trainable: bool | None = None, collections: Any = None,
                 validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
                 variable_def: Any = None, dtype: Any = None, expected_shape: Any = None,
                 import_scope: str | None = None, constraint: Callable[[Tensor], Tensor] | None = None,
                 use_resource: bool | None = None,
                 synchronization: VariableSynchronization = VariableSynchronization.AUTO,
                 aggregation: VariableAggregation = VariableAggregation.NONE, shape: Any = None) -> None:
        self._synchronization, self._aggregation = synchronization, aggregation
        self._save_slice_info: _Slice | None = None
        self._constraint = constraint
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._from_def(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self._trainable = self._checked_trainable(trainable)
        keys = _collection_keys(collections, self._trainable)
        with control_dependencies(None):
            self._build(initial_value, validate_shape, caching_device, name, dtype, shape)
        self.graph.add_to_collections(keys, self)

    def _checked_trainable(self, trainable: bool | None) -> bool:
        """Return whether it is trained. Raises ValueError for modes that there are not."""
        self._synchronization = VariableSynchronization(self._synchronization or 0)
        self._aggregation = VariableAggregation(self._aggregation or 0)
        on_read = self._synchronization is VariableSynchronization.ON_READ
        return not on_read if trainable is None else bool(trainable)

    def _build(self, initial_value: Any, validate_shape: bool, caching_device: Any, name: str | None,
               dtype: Any, shape: Any) -> None:
        lazy = callable(initial_value)
        dtype = None if dtype is None else as_dtype(dtype).base_dtype
        with name_scope(name, "Variable", [] if lazy else [initial_value]) as scope, ExitStack() as stack:
            if lazy:                         # what the function makes, and the variable, stand where the variable does
                group = [f"loc:@{scope.rstrip('/')}".encode()]
                stack.enter_context(get_default_graph()._attr_scope({"_class": group}))
                with name_scope("Initializer"), device(None):
                    value = convert_to_tensor(initial_value(), dtype=dtype, name="initial_value")
            else:
                value = convert_to_tensor(initial_value, dtype=dtype, name=self._start_name)
                if value.op._get_control_flow_context() is not None:
                    raise ValueError(f"Initializer for variable {scope} is from inside a control-flow construct, such "
                                     "as a loop or conditional. When creating a variable inside a loop or conditional, "
                                     "use a lambda as the initializer.")
            if validate_shape and not value.shape.is_fully_defined():
                raise ValueError(f"initial_value must have a shape specified: {value}")
            if shape is None and validate_shape:
                shape = value.shape
            self._initial_value = value
            self._variable = self._declared(shape, value.dtype.base_dtype, scope)
            stack.close()
            start = safe_initial_value(value, scope)
            self._initializer_op = self._assigned(start, validate_shape)
            where = colocate_with(self._variable.op) if caching_device is None else device(caching_device)
            with where:
                self._snapshot = self._read()

    def _declared(self, shape: Any, dtype: DType, scope: str) -> Tensor:
        """Return the tensor that the ops of the variable take."""
        made: Tensor = state.VariableV2(shape=shape, dtype=dtype, name=scope)
        return made

    def _assigned(self, start: Any, validate_shape: bool) -> Operation:
        """Return the op that assigns the initial value."""
        return state.assign(self._variable, start, validate_shape=validate_shape).op

    def _read(self) -> Tensor:
        """Return the read that stands for the variable."""
        made: Tensor = Identity(self._variable, name="read")
        return made

    def _from_def(self, variable_def: Any, import_scope: str | None) -> None:
        if not isinstance(variable_def, _proto.VariableDef):
            raise TypeError(f"variable_def must be a VariableDef, but is {variable_def!r}")
        graph = get_default_graph()

        def find(name: str) -> Any:
            return graph.as_graph_element(f"{import_scope.rstrip('/')}/{name}" if import_scope else name)

        self._variable = find(variable_def.variable_name)
        self._initializer_op = find(variable_def.initializer_name)
        self._snapshot = find(variable_def.snapshot_name)
        self._initial_value = find(variable_def.initial_value_name) if variable_def.initial_value_name else None
        self._trainable = bool(variable_def.trainable)
        self._synchronization = VariableSynchronization(variable_def.synchronization)
        self._aggregation = VariableAggregation(variable_def.aggregation)
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(save_slice_info_def=variable_def.save_slice_info_def,
                                                  import_scope=import_scope)

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _AsTensor(self) -> Tensor:
        return self._snapshot

    def _ref(self) -> Tensor:
        return self._variable

    # What it is

    @property
    def name(self) -> str:
        """The name of the reference: "w:0"."""
        return self._variable.name

    @property
    def _shared_name(self) -> str:
        return self.op.name

    @property
    def dtype(self) -> DType:
        """The dtype, as a reference (float32_ref)."""
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._variable.shape

    def get_shape(self) -> TensorShape:
        """Return the static shape."""
        return self._variable.shape

    def set_shape(self, shape: Any) -> None:
        """State the shape, as far as it is known, of a variable that was made with validate_shape=False."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    @property
    def device(self) -> str:
        """The device of the variable."""
        return self._variable.device

    @property
    def graph(self) -> Graph:
        """The graph of the variable."""
        return graph_of(self._variable)

    @property
    def op(self) -> Operation:
        """The operation of the variable itself."""
        return self._variable.op

    @property
    def initializer(self) -> Operation | Tensor:
        """The operation that sets the variable to its initial value. After `tf.train.init_from_checkpoint` it is the
        output of an assignment, as in TensorFlow."""
        return self._initializer_op

    @property
    def _start(self) -> Tensor:
        """Value that the initializer assigns."""
        found = self._initializer_op
        return (found if isinstance(found, Operation) else found.op).inputs[1]

    @property
    def initial_value(self) -> Tensor | None:
        """The tensor that the initializer assigns. None for a variable whose VariableDef does not tell it."""
        return self._initial_value

    @property
    def trainable(self) -> bool:
        """Whether optimizers train it by default."""
        return self._trainable

    @property
    def constraint(self) -> Callable[[Tensor], Tensor] | None:
        """The function that optimizers apply to the value after their step, or None."""
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        """As given to the constructor."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """As given to the constructor."""
        return self._aggregation

    def _set_save_slice_info(self, save_slice_info: _Slice | None) -> None:
        """Say which part of a partitioned variable this one is."""
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> _Slice | None:
        return self._save_slice_info

    # Its value

    def value(self) -> Tensor:
        """Return the value, as a tensor that can't be assigned to. All ops that take the variable read this one."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """Return a new read of the value, which keeps to the control dependencies of the place where it is called."""
        result: Tensor = Identity(self._variable, name="read")
        return result

    def ref(self) -> Tensor:
        """Return the reference: a tensor that assignments accept."""
        return self._variable

    def initialized_value(self) -> Tensor:
        """Return the value, or the initial value while there is none: for another variable's initial value.

        So both can be initialized in one run, in any order, and a random initial value is drawn once.
        """
        with control_dependencies(None):
            start = self._start                        # not the initial value, which may wait for others
            made: Tensor = cond(state.is_variable_initialized(self), self.read_value, lambda: start)
            return made

    def eval(self, session: Any = None) -> Any:
        """Return the value in `session` (default: the default session), an array. Raises ValueError without one."""
        return self._variable.eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Set the value in `session` (default: the default session) without adding to the graph.

        value: a NumPy array or what makes one, of the variable's shape. Raises ValueError without a session.
        """
        session = session or get_default_session()
        if session is None:
            raise ValueError("Either session argument should be provided or default session should be established")
        session.run(self._initializer_op, {self._start: value})

    # Changes

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Assign `value`. Returns the variable after that (read_value=False: the operation)."""
        result = state.assign(self._variable, value, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Add `delta`. Returns the variable after that (read_value=False: the operation)."""
        result = state.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Subtract `delta`. Returns the variable after that (read_value=False: the operation)."""
        result = state.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def count_up_to(self, limit: int) -> Tensor:
        """Add one and return the value before that. Once the value is `limit`: OutOfRangeError when it runs."""
        return state.count_up_to(self._variable, limit=limit)

    def __iter__(self) -> Any:
        raise TypeError("'Variable' object is not iterable.")

    # Parts of it

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the rows at `indices`, as `tf.gather` does."""
        return gather(self, indices, name=name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the slices at the index vectors in the last axis of `indices`, as `tf.gather_nd` does."""
        return gather_nd(self, indices, name=name)

    def __getitem__(self, key: Any) -> Tensor:
        """Return a slice of the value; its method `assign(value, name=None)` sets that part of the variable."""
        part: Tensor = self._AsTensor()[key]
        return assignable(part, self)

    def _sliced(self, part: Tensor) -> Tensor:
        return assignable(part, self)

    def _assign_slice(self, bounds: Any, value: Any, masks: dict[str, int], name: str) -> Tensor:
        result: Tensor = StridedSliceAssign(self._variable, *bounds, value, **masks, name=name)
        return result

    # As a protocol buffer

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the VariableDef of this variable; None if it does not stand under `export_scope`, which names lose."""
        prefix = f"{export_scope.rstrip('/')}/" if export_scope else ""
        if not self.name.startswith(prefix):
            return None
        names = {"variable_name": self.name, "initializer_name": self.initializer.name,
                 "snapshot_name": self._snapshot.name}
        if self._initial_value is not None:
            names["initial_value_name"] = self._initial_value.name
        info = self._save_slice_info
        return _proto.VariableDef(trainable=self._trainable, synchronization=self._synchronization.value,
                                  aggregation=self._aggregation.value,
                                  save_slice_info_def=None if info is None else info.to_proto(export_scope),
                                  **{field: name.removeprefix(prefix) for field, name in names.items()})

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
        """Return the default graph's variable that `variable_def` names. Raises KeyError if its nodes are not there."""
        return Variable(variable_def=variable_def, import_scope=import_scope)


SCOPE_DEFAULT: list[Callable[[], bool | None]] = []             # what the variable scope says of `use_resource`
Created.scoped = Variable


def _collection_keys(collections: Any, trainable: bool) -> list[str]:
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, (list, tuple, set)):
        raise ValueError("collections argument to Variable constructor must be a list, tuple, or set. "
                         f"Got {collections} of type {type(collections)}")
    keys = list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
        keys.append(GraphKeys.TRAINABLE_VARIABLES)
    return keys


def _to_tensor(value: Variable, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if dtype is not None and not value.dtype.base_dtype.is_compatible_with(as_dtype(dtype).base_dtype):
        raise ValueError(f"Incompatible type conversion requested to type {as_dtype(dtype).name!r} for variable "
                         f"{value.name!r} of type {value.dtype.name!r}")
    return value._ref() if as_ref else value.value()


register_tensor_conversion_function(Variable, _to_tensor)

OPERATORS = ("add sub mul div truediv floordiv mod pow matmul and or xor radd rsub rmul rdiv rtruediv rfloordiv rmod "
             "rpow rmatmul rand ror rxor lt le gt ge neg abs invert").split()


def pass_on_operators(cls: type) -> None:
    """Let the operators of a class be those of Tensor, on the tensor that its `_AsTensor` gives."""
    for name in OPERATORS:
        def operator(self: Any, *args: Any, _name: str = f"__{name}__") -> Any:
            """Return the operator of the variable's value."""
            return getattr(self._AsTensor(), _name)(*args)
        setattr(cls, f"__{name}__", operator)


pass_on_operators(Variable)
