"""Scopes around the making of an op: devices, colocation, control dependencies, container, gradient overrides."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.device import canonical, device_text, merged
from tfnb.graph.formats.protos import native_attr
from tfnb.graph.parts.names import check_scope_name
from tfnb.graph.parts.operation import Operation

# A device name in canonical form; a function from an Operation to one; None: forget the outer ones.
DeviceEntry = str | Callable[[Operation], Any] | None


class ControlGroup:
    """One `control_dependencies` block: what its ops wait for, and the ops made in it so far.

    An op that takes an output of another op of the block needs no control inputs from it: it waits already.
    """

    __slots__ = ("inputs", "made", "fresh")

    def __init__(self, inputs: Sequence[Operation], fresh: bool) -> None:
        self.inputs = list(inputs)
        self.made: set[Operation] = set()
        self.fresh = fresh                  # the block began with None: outer blocks don't count in it


class Scopes:
    """The stacks that surround ops. They are shared by threads until `Graph.switch_to_thread_local`."""

    __slots__ = ("devices", "colocation", "controls")

    def __init__(self) -> None:
        self.devices: list[DeviceEntry] = []
        self.colocation: list[Operation] = []
        self.controls: list[ControlGroup] = []

    def copy(self) -> Scopes:
        """The same stacks for another thread."""
        made = Scopes()
        made.devices, made.colocation, made.controls = self.devices[:], self.colocation[:], self.controls[:]
        return made

    def active_controls(self) -> list[ControlGroup]:
        """The blocks that count, outermost first: those since the last one that began with None."""
        start = 0
        for i, group in enumerate(self.controls):
            if group.fresh:
                start = i
        return self.controls[start:]

    def surround(self, op: Operation) -> None:
        """Give a new op its control inputs, device and colocation."""
        if self.controls:
            op.control_inputs += self.control_inputs_for(op.inputs)
        if self.devices:
            self.place(op)
        if self.colocation:
            self.colocate(op)

    def made(self, op: Operation) -> None:
        """Note in the blocks around that they made `op`."""
        for group in self.active_controls():
            group.made.add(op)

    def control_inputs_for(self, inputs: Sequence[Any]) -> list[Operation]:
        """The control inputs for an op with these inputs: those of each block that the inputs are not made in."""
        sources = {t.op for t in inputs}
        wanted: dict[Operation, None] = {}
        for group in self.active_controls():
            if sources.isdisjoint(group.made):
                wanted.update((c, None) for c in group.inputs if c not in sources)
        return list(wanted)

    def place(self, op: Operation) -> None:
        """Merge the device names around `op`, innermost first; functions see what inner ones gave."""
        for entry in reversed(self.devices):
            if entry is None:
                break
            if isinstance(entry, str):
                op.device = merged(entry, op.device)
            else:
                op.device = device_text(entry(op))      # in the words of the function, as in TensorFlow
                canonical(op.device)                    # raises for a name that is none

    def colocate(self, op: Operation) -> None:
        """Put `op` in the colocation groups around it, and on their devices."""
        groups: set[bytes] = set()
        for other in self.colocation:
            groups.update(other.colocation_groups())
        for other in reversed(self.colocation):         # as TensorFlow: the outermost device is set last
            if other.device:
                op.device = other.device
        op.attrs["_class"] = sorted(groups)


class Entering:
    """A context that changes one attribute of an object and puts it back; entering gives `result`."""

    __slots__ = ("target", "attribute", "value", "result", "_before")

    def __init__(self, target: Any, attribute: str, value: Any, result: Any = None) -> None:
        self.target, self.attribute, self.value, self.result = target, attribute, value, result

    def __enter__(self) -> Any:
        self._before = getattr(self.target, self.attribute)
        setattr(self.target, self.attribute, self.value)
        return self.result

    def __exit__(self, *exc: object) -> None:
        setattr(self.target, self.attribute, self._before)


class NameScope:
    """The context manager that `Graph.name_scope` returns. Entering gives the full prefix.

    local: has the current scope of the thread; unique_name: of the graph.
    """

    __slots__ = ("_local", "_unique_name", "_name", "_before")

    def __init__(self, local: Any, unique_name: Callable[[str], str], name: str | None) -> None:
        self._local, self._unique_name = local, unique_name
        self._name = name.decode() if isinstance(name, bytes) else name

    def __enter__(self) -> str:
        local, name = self._local, self._name
        self._before = local.scope
        if not name:
            local.scope = ""
            return ""
        check_scope_name(name, bool(self._before))
        local.scope = inner = name[:-1] if name[-1] == "/" else self._unique_name(name)
        return inner + "/"

    def __exit__(self, *exc: object) -> None:
        self._local.scope = self._before


class Pushed:
    """Return a context in which `value` is on top of a stack. Raises RuntimeError if it is left before an inner one."""

    __slots__ = ("stack", "value", "what")

    def __init__(self, stack: Callable[[], list[Any]], value: Any, what: str) -> None:
        self.stack, self.value, self.what = stack, value, what

    def __enter__(self) -> Any:
        self.stack().append(self.value)
        return self.value

    def __exit__(self, *exc: object) -> None:
        stack = self.stack()
        if not stack or stack[-1] is not self.value:
            raise RuntimeError(f"{self.what} scopes must be left in the reverse order of entering")
        stack.pop()


class Outside:
    """A context that no control inputs of the outside count in, and whose ops are part of no branch or loop."""

    __slots__ = ("_graph", "_pushed", "_before")

    def __init__(self, graph: Any, pushed: Pushed) -> None:
        self._graph, self._pushed = graph, pushed

    def __enter__(self) -> Any:
        self._before, self._graph._flow_context = self._graph._flow_context, None
        return self._pushed.__enter__()

    def __exit__(self, *exc: object) -> None:
        self._graph._flow_context = self._before
        self._pushed.__exit__(*exc)


def device_entry(device: Any) -> DeviceEntry:
    """Return the stack item for an argument of `device()`. Raises ValueError for a name that is none."""
    if device is None or (callable(device) and not hasattr(device, "to_string")):
        return device       # type: ignore[no-any-return]
    return canonical(device_text(device))


def check_override_map(op_type_map: Any) -> dict[str, str]:
    """The argument of `gradient_override_map`. Raises TypeError if it maps not strings to strings."""
    if not isinstance(op_type_map, dict) or not all(isinstance(s, str) for kv in op_type_map.items() for s in kv):
        raise TypeError(f"op_type_map must be a dictionary mapping strings to strings, got {op_type_map!r}")
    return op_type_map


def attrs_within(outer: dict[str, Any], attr_map: Any) -> dict[str, Any]:
    """Return the attrs of an `_attr_scope` inside of another one.

    attr_map: name -> AttrValue, a function from the NodeDef to one, bytes or a list of bytes; None takes an outer one
    away. Raises TypeError for another map.
    """
    if not isinstance(attr_map, dict):
        raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers, got "
                        f"{attr_map!r}")
    for name, value in attr_map.items():
        if not isinstance(name, str) or not (
                value is None or callable(value) or isinstance(value, (bytes, list)) or hasattr(value, "WhichOneof")):
            raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers or callables "
                            f"that emit AttrValue protocol buffers, got {name!r}: {value!r}")
    merged_map = {**outer, **{name: native_attr(value) for name, value in attr_map.items()}}
    return {name: value for name, value in merged_map.items() if value is not None}
