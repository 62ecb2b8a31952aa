"""`Graph`: the operations that programs make, their names, collections and the scopes they are made in."""
from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.shape import Static
from tfnb.core.source import recorded_frames
from tfnb.core.stale import check_fresh
from tfnb.graph.formats import export, protos
from tfnb.graph.mutation import Mutation
from tfnb.graph.parts import elements
from tfnb.graph.parts.attrs import native_attrs
from tfnb.graph.parts.constant_value import constant_value_as_shape
from tfnb.graph.parts.context import DefaultStack
from tfnb.graph.parts.control_flow_context import check_inputs
from tfnb.graph.parts.names import check_op_name, check_scope_name
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.scopes import (
    ControlGroup,
    Entering,
    NameScope,
    Outside,
    Pushed,
    Scopes,
    attrs_within,
    check_override_map,
    device_entry,
)
from tfnb.graph.parts.shape_context import ShapeContext, shape_error
from tfnb.opdef.op import Op

__all__ = ["Graph", "ShapeContext", "default_graphs"]


class _ThreadLocal(threading.local):
    scope = ""                      # the current name scope, without its last slash
    scopes: Scopes | None = None    # this thread's own stacks, after switch_to_thread_local


default_graphs = DefaultStack()


class Graph(Mutation):
    """A dataflow graph: operations and the tensors between them. Not to be changed by several threads at once.

    Beyond TensorFlow's: `owner` (put on every op that is made: a notebook's cell), `stale` (owner -> why its ops must
    be made again), and the changes of `Mutation`.

    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     x = tf.constant(1, name="x") + 1
    >>> [op.name for op in graph.get_operations()]
    ['x', 'add/y', 'add']
    """

    def __init__(self) -> None:
        super().__init__()
        self._local = _ThreadLocal()
        self._shared_scopes = Scopes()
        self._per_thread = False
        self._finalized = False
        self._container = ""
        self._overrides: dict[str, str] = {}            # op type -> name of the gradient to use for it
        self._attrs_around: dict[str, Any] = {}         # attrs that ops get unless they have them: see _attr_scope
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Any] = set()
        self._functions: dict[str, Any] = {}            # name -> FunctionGraph: what attrs of type "func" name
        self._building_function, self._lent = False, 0  # lent: to how many bodies of functions under construction

    # Making operations

    def add_op(self, spec: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str,
               output_types: Sequence[DType], waits: Sequence[Operation] = ()) -> Operation:
        """Add a node: the way all ops take.

        inputs: tensors of this graph; attrs: complete, as native values, taken over by the op; name: up to a last
        slash if it has one, else made unique in the current name scope; output_types: a dtype for each output; waits:
        further control inputs. Raises ValueError, and leaves the graph as it was, if the shapes don't fit, an input is
        of another graph, or the name is invalid; StaleTensorError if one left it; RuntimeError if it is finalized.
        """
        if self._finalized:
            self._check_not_finalized()
        inputs = list(inputs)
        for t in inputs:
            if t.graph is not self or t.op._dead is not None or self.stale:
                self._check_input(t, spec, name)
        name, key, base, number = self._full_name(name)
        op = Operation(spec, self, name, inputs, attrs, self._version + 1, recorded_frames(), self.owner)
        op.outputs = [Tensor(op, i, dtype, self) for i, dtype in enumerate(output_types)]
        try:
            for t, static in zip(op.outputs, spec.shape(ShapeContext(op)), strict=True):
                t.static = static
        except ValueError as error:
            raise shape_error(op, error) from None
        context = self._flow_context
        if self._has_flow:
            check_inputs(op, context)
        scopes = self._scopes if self._per_thread else self._shared_scopes
        if scopes.controls or scopes.devices or scopes.colocation:
            scopes.surround(op)
        if self._overrides or self._container or self._attrs_around:
            self._override_attrs(op)
        self._names.take(key, base, number, self.owner)
        self._enter(op)
        if scopes.controls:
            scopes.made(op)
        op.control_inputs += [c for c in waits if c not in op.control_inputs]
        if context is not None:
            op._control_flow_context = context
            context.add_op(op)
        return op

    def _full_name(self, name: str) -> tuple[str, str, str, int]:
        if not name or name[-1] != "/":
            scope = self._local.scope
            found = self._names.propose(f"{scope}/{name}" if scope else name)
            if not scope or not name:
                check_op_name(name)
            else:
                check_scope_name(name, True)
            return found
        name = name[:-1]
        check_op_name(name)
        if name in self._by_name:
            raise ValueError(f"Duplicate node name in graph: {name!r}")
        key = name.lower()
        return name, key, key, max(1, self._names.used.get(key, 0))     # the scope has counted it

    def _check_input(self, tensor: Tensor, spec: Op, name: str) -> None:
        if tensor.graph is not self:
            raise ValueError(f"{tensor} must be from the same graph as {name!r} ({spec.name}), of which it is an input")
        check_fresh(tensor.op)

    def _override_attrs(self, op: Operation) -> None:
        for key, value in self._attrs_around.items():
            op.attrs.setdefault(key, protos.native_attr(value(op.node_def)) if callable(value) else value)
        gradient = self._overrides.get(op.type)
        if gradient is not None:
            op.attrs["_gradient_op_type"] = gradient.encode()
        if self._container and op.spec.stateful and op.attrs.get("container") == b"":
            op.attrs["container"] = self._container.encode()

    def create_op(self, op_type: str, inputs: Sequence[Tensor], dtypes: Sequence[Any] | None = None,
                  input_types: Sequence[Any] | None = None, name: str | None = None,
                  attrs: dict[str, Any] | None = None, op_def: Any = None, compute_shapes: bool = True,
                  compute_device: bool = True) -> Operation:
        """Add a node of a type given by name. `tf.xyz` functions are the usual way.

        dtypes: of the outputs (by default those that the attrs say); attrs: AttrValue protos or native values, the
        others by default; name: by default the type. Raises TypeError for an input that is no tensor, and for wrong
        dtypes; ValueError if a needed attr is missing; RuntimeError for an unknown type. The last three arguments
        do nothing: shapes and devices are always computed.
        """
        spec = elements.spec_of(op_type)
        for i, t in enumerate(inputs):
            if not isinstance(t, Tensor):
                raise TypeError(f"Input #{i} is not a tensor: {t!r}")
        name = name or op_type
        complete = elements.complete_attrs(spec, native_attrs(spec, attrs or {}, name), inputs, name)
        types = elements.output_types(spec, complete)
        if dtypes is not None and [as_dtype(t).base_dtype for t in dtypes] != [t.base_dtype for t in types]:
            raise TypeError(f"op {name!r} ({op_type}) has outputs of type {[t.name for t in types]}, not {dtypes!r}")
        return self.add_op(spec, inputs, complete, name, types)

    # Names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name in the current name scope that no op and no scope has yet, without regard to case."""
        scope = self._local.scope
        return self._names.unique(f"{scope}/{name}" if scope else name, self.owner, mark_as_used)

    def name_scope(self, name: str | None) -> NameScope:
        """A context in which names of ops begin with `name/`; gives the full prefix.

        A name that is taken is made unique; one with a last slash (a prefix that such a context gave) is entered
        again as it is; None and "" lead to the top. Raises ValueError for an invalid name.
        """
        return NameScope(self._local, self.unique_name, name)

    def get_name_scope(self) -> str:
        """The current name scope, without a last slash."""
        return self._local.scope

    # Scopes

    @property
    def _scopes(self) -> Scopes:
        if not self._per_thread:
            return self._shared_scopes
        mine = self._local.scopes
        if mine is None:
            mine = self._local.scopes = self._shared_scopes.copy()
        return mine

    def switch_to_thread_local(self) -> None:
        """Give each thread device, colocation and control stacks of its own, which begin as they are now."""
        if not self._per_thread:
            self._per_thread = True
            self._local.scopes = self._shared_scopes
            self._shared_scopes = self._shared_scopes.copy()

    def as_default(self) -> Any:
        """A context in which this graph is the default graph of the thread."""
        return default_graphs.get_controller(self)

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """A context whose ops run after `control_inputs` (ops, tensors, variables, names).

        Nested contexts add up; None forgets the outer ones. An op that takes an output of an op of the context gets
        no control inputs: it waits already. Raises TypeError for what is no element of a graph.
        """
        scopes = self._scopes
        groups = [] if control_inputs is None else scopes.active_controls()
        current = {op for group in groups for op in group.inputs}
        wanted: dict[Operation, None] = {}
        for c in control_inputs or ():
            element = elements.as_operation(self, c)
            if element not in current:
                wanted[element] = None
        pushed = Pushed(lambda: self._scopes.controls, ControlGroup(list(wanted), control_inputs is None), "control")
        return Outside(self, pushed) if control_inputs is None and self._flow_context is not None else pushed

    def _get_control_flow_context(self) -> Any:
        """The branch or loop that ops are made in, or None."""
        return self._flow_context

    def _control_dependencies_for_inputs(self, input_ops: Iterable[Operation]) -> list[Operation]:
        """The control inputs that a new op with inputs from these ops would get."""
        return self._scopes.control_inputs_for([t for op in input_ops for t in op.outputs[:1]])

    def device(self, device_name_or_function: Any) -> Any:
        """A context whose ops ask for a device: a name, a DeviceSpec, or a function from Operation to a name.

        Inner names go before outer ones, field by field; None forgets the outer ones. Raises ValueError for a name
        that is none.
        """
        return Pushed(lambda: self._scopes.devices, device_entry(device_name_or_function), "device")

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """A context whose ops must share the device of `op` (op, tensor, variable), whatever `device` says outside.

        ignore_existing: outer colocations don't count. Raises ValueError for None without ignore_existing.
        """
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        found = [] if op is None else [elements.as_operation(self, op)]
        scopes = self._scopes
        before = scopes.devices, scopes.colocation
        scopes.devices, scopes.colocation = [], ([] if ignore_existing else scopes.colocation) + found
        try:
            yield
        finally:
            scopes.devices, scopes.colocation = before

    def container(self, container_name: str) -> Any:
        """A context whose stateful ops keep their state in the container of that name."""
        return Entering(self, "_container", container_name, container_name)

    def gradient_override_map(self, op_type_map: dict[str, str]) -> Any:
        """A context in which ops of a type use the gradient registered under another name. See RegisterGradient.

        Raises TypeError unless `op_type_map` maps strings to strings.
        """
        return Entering(self, "_overrides", {**self._overrides, **check_override_map(op_type_map)})

    def _attr_scope(self, attr_map: dict[str, Any]) -> Any:
        """Return a context whose ops get these attrs unless they have them; see `scopes.attrs_within`."""
        return Entering(self, "_attrs_around", attrs_within(self._attrs_around, attr_map))

    # Elements

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """`obj` (a tensor, an op, a name, or what has `_as_graph_element()`) as a Tensor or Operation of this graph.

        Raises TypeError for another kind of object, ValueError for an invalid name or an element of another graph,
        KeyError for a name that is not there.
        """
        return elements.as_graph_element(self, obj, allow_tensor, allow_operation)

    def get_operations(self) -> list[Operation]:
        """All operations, in order."""
        return list(self._ops)

    def get_operation_by_name(self, name: str) -> Operation:
        """Raises TypeError if `name` is no string, ValueError if it is a tensor's, KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        found: Operation = elements.as_graph_element(self, name, False, True)
        return found

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Raises TypeError if `name` is no string, ValueError if it is no tensor's, KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        found: Tensor = elements.as_graph_element(self, name, True, False)
        return found

    def shape_from_tensor(self, tensor: Tensor) -> Static:
        """The static shape that the value of `tensor`, a vector of sizes, tells. See constant_value_as_shape."""
        return constant_value_as_shape(tensor)

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Let sessions refuse a fed value for `tensor`."""
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """True if sessions accept a fed value for `tensor`."""
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Any) -> None:
        """Let sessions refuse to fetch `op`."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """True if sessions may fetch it."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    # Collections

    @property
    def collections(self) -> list[Any]:
        """The names of all collections."""
        return list(self._collections.lists)

    def add_to_collection(self, name: Hashable, value: Any) -> None:
        """Append `value` to the collection `name`. Raises RuntimeError if the graph is finalized."""
        self._check_not_finalized()
        self._collections.add(name, value, self.owner, self._stands_later())

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Append `value` to each of the collections; a string is one name. Raises RuntimeError if finalized."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Hashable) -> list[Any]:
        """The list of the collection itself, made if it is not there."""
        return self._collections.get_ref(name)

    def get_collection(self, name: Hashable, scope: str | None = None) -> list[Any]:
        """A copy of the collection; with `scope`, the entries whose name matches (`re.match`) it."""
        return self._collections.get(name, scope)

    def get_all_collection_keys(self) -> list[str]:
        """The names of all collections that are strings."""
        return [name for name in self._collections.lists if isinstance(name, str)]

    def clear_collection(self, name: Hashable) -> None:
        """Remove all entries. Raises RuntimeError if the graph is finalized."""
        self._check_not_finalized()
        self._collections.clear(name)

    # The graph as a whole

    @property
    def seed(self) -> int | None:
        """The graph-level random seed, or None."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def version(self) -> int:
        """A number that grows with each op that is made."""
        return self._version

    @property
    def building_function(self) -> bool:
        """True if the graph is the body of a function."""
        return self._building_function

    @property
    def finalized(self) -> bool:
        """True if nothing can be added any more."""
        return self._finalized

    def finalize(self) -> None:
        """Allow no more ops and collection entries."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        """Take `finalize` back."""
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def graph_def_versions(self) -> Any:
        """The VersionDef of exported graphs."""
        return export.versions()

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The graph as a GraphDef: of all ops, or of those made since `version` was `from_version`.

        add_shapes: with an attr `_output_shapes` on each node.
        """
        return export.graph_def([op for op in self._ops if from_version is None or op._id > from_version], add_shapes)
