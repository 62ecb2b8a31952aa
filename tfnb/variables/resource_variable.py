"""Variables behind handles: what `use_resource=True` makes, and those of imported graphs."""
from __future__ import annotations

from typing import Any

from tfnb.core.dtypes import DType
from tfnb.core.shape import TensorShape
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.parts.references import handle_shape
from tfnb.graph.stack import colocate_with, control_dependencies
from tfnb.ops.declaration.raw import raw
from tfnb.ops.state import resource_variables as ops
from tfnb.variables.variable import Variable


class ResourceVariable(Variable):
    """A variable whose ops take its handle. `tf.Variable` makes one where `use_resource` asks for it."""

    _start_name = "Initializer/initial_value"

    def _declared(self, shape: Any, dtype: DType, scope: str) -> Tensor:
        handle: Tensor = ops.VarHandleOp(shape=shape, dtype=dtype, shared_name=scope.rstrip("/"), name=scope)
        with colocate_with(handle.op):
            ops.VarIsInitializedOp(handle, name="IsInitialized/VarIsInitializedOp")
        return handle

    def _assigned(self, start: Any, validate_shape: bool) -> Operation:
        made: Operation = ops.AssignVariableOp(self._variable, start, name="Assign")
        return made

    def _read(self) -> Tensor:
        return self.read_value()

    @property
    def handle(self) -> Tensor:
        """The handle: what the ops of the variable take."""
        return self._variable

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._variable.op.attrs["dtype"]

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(handle_shape(self._variable))

    def get_shape(self) -> TensorShape:
        """Return the static shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raise NotImplementedError: the handle states the shape."""
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    def _as_graph_element(self) -> Tensor:
        return self._snapshot

    def _AsTensor(self) -> Tensor:
        return self.value()

    def value(self) -> Tensor:
        """Return a new read of the value."""
        with colocate_with(self.op):
            made: Tensor = ops.ReadVariableOp(self._variable, dtype=self.dtype)
            return made

    def read_value(self) -> Tensor:
        """Return a new read of the value, which keeps to the control dependencies of the place where it is called."""
        result: Tensor = ops.ReadVariableOp(self._variable, dtype=self.dtype, name="Read/ReadVariableOp")
        return result

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Return a bool scalar: True if the variable has a value."""
        result: Tensor = ops.VarIsInitializedOp(self._variable, name=name)
        return result

    def eval(self, session: Any = None) -> Any:
        """Return the value in `session` (default: the default session), an array. Raises ValueError without one."""
        return self._snapshot.eval(session=session)

    def _changed(self, op: Any, name: str | None, read_value: bool, *values: Any) -> Any:
        """Return the operation, or (read_value) the value after it."""
        done = op(self._variable, *values, dtype=self.dtype, name=name)
        if not read_value:
            return done
        with control_dependencies([done]):
            return self.read_value()

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Assign `value` to the variable. Returns its value after that (read_value=False: the operation)."""
        return self._changed(ops.AssignVariableOp, name, read_value, value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Add `delta`; else as `assign`."""
        return self._changed(ops.AssignAddVariableOp, name, read_value, delta)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None,
                   read_value: bool = True) -> Any:
        """Subtract `delta`; else as `assign`."""
        return self._changed(ops.AssignSubVariableOp, name, read_value, delta)

    def count_up_to(self, limit: int) -> Tensor:
        """Add one and return the value before that. Once the value is `limit`: OutOfRangeError when it runs."""
        result: Tensor = ops.ResourceCountUpTo(self._variable, limit=limit, T=self.dtype)
        return result

    def _assign_slice(self, bounds: Any, value: Any, masks: dict[str, int], name: str) -> Tensor:
        done = ops.ResourceStridedSliceAssign(self._variable, *bounds, value, **masks, name=name)
        with control_dependencies([done]):
            return self.read_value()

    def _scatter(self, kind: str, indices: Any, updates: Any, name: str | None) -> Tensor:
        """Return the value after the update `kind` ("ScatterAdd") of some of its rows."""
        done = getattr(raw, f"Resource{kind}")(self._variable, indices, updates, name=name)
        with control_dependencies([done]):
            return self.read_value()

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the VariableDef, as of `tf.Variable`, which says that this is a handle's."""
        made = super().to_proto(export_scope)
        if made is not None:
            made.is_resource = True
        return made
