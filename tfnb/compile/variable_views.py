"""Views of variables in a program: which of them are copied before an update writes to the memory behind them."""
from __future__ import annotations

from collections.abc import Callable, Iterable

from tfnb.compile.values import Buffer, Value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.parts.references import refers
from tfnb.kernels.view import View


class VariableViews:
    """The tensors of a trace that are views of variables, and were not overwritten since they were read.

    The whole of a variable that is read from a reference (by Identity or Reshape) is the variable itself, as in
    TensorFlow. All else is a value of its own: slices and transposes, and whatever was read by a handle (a snapshot).
    """

    def __init__(self, values: dict[Tensor, Value]) -> None:
        self._values = values
        self._parts: dict[Buffer, list[Tensor]] = {}
        self._snapshots = set[Buffer]()

    def read(self, variable: Value) -> Value:
        """Return a snapshot of a variable: a view, from now on one of those that an update copies first."""
        self._snapshots.add(variable.buffer)
        return Value(variable.buffer, variable.view)

    def note(self, tensor: Tensor, value: Value) -> None:
        """Record the value of a tensor, if it is a view."""
        if value.buffer.role == "variable" and (value.buffer in self._snapshots or not value.is_plain()) \
                and not refers(tensor):
            self._parts.setdefault(value.buffer, []).append(tensor)

    def keep(self, written: Iterable[Buffer], is_used: Callable[[Tensor], bool],
             copy: Callable[[Value], Value]) -> None:
        """Copy the views of memory that is written to next, where they are used later."""
        for buffer in written:
            copies: dict[View, Value] = {}
            for tensor in filter(is_used, self._parts.pop(buffer, ())):
                value = self._values[tensor]
                if value.view not in copies:
                    copies[value.view] = copy(value)
                self._values[tensor] = copies[value.view]
