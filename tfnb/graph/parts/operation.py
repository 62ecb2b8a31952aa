"""The nodes of a graph: `Operation`, and its outputs, `Tensor`. Plain records; graphs make and change them.

Their `graph` has no type here, since graphs are made of nodes: `graph_of(node)` is the same as a Graph.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tfnb.core.device import canonical, device_text
from tfnb.core.dtypes import DType
from tfnb.core.shape import Static, TensorShape, as_static, merge
from tfnb.core.source import Frames, Recorded, describe, frames_of, traceback_of
from tfnb.graph.formats import protos
from tfnb.graph.parts.context import session_for

if TYPE_CHECKING:
    from tfnb.opdef.op import Op

OVERLOADABLE = frozenset(
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __div__ __rdiv__ __truediv__ __rtruediv__ __floordiv__"
    " __rfloordiv__ __mod__ __rmod__ __lt__ __le__ __gt__ __ge__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__"
    " __getitem__ __pow__ __rpow__ __invert__ __neg__ __abs__ __matmul__ __rmatmul__".split())


class Reference:
    """Hashable reference to an object, compared by identity: `Tensor.experimental_ref`."""

    __slots__ = ("_object",)

    def __init__(self, referred: Any) -> None:
        self._object = referred

    def deref(self) -> Any:
        """The object."""
        return self._object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._object is self._object

    def __hash__(self) -> int:
        return id(self._object)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._object!r}>"


if TYPE_CHECKING:
    class Operators:
        """Python's operators on tensors, declared for editors: `ops/overloads.py` installs them."""

        def __add__(self, other: Any, /) -> Tensor: ...
        def __radd__(self, other: Any, /) -> Tensor: ...
        def __sub__(self, other: Any, /) -> Tensor: ...
        def __rsub__(self, other: Any, /) -> Tensor: ...
        def __mul__(self, other: Any, /) -> Tensor: ...
        def __rmul__(self, other: Any, /) -> Tensor: ...
        def __truediv__(self, other: Any, /) -> Tensor: ...
        def __rtruediv__(self, other: Any, /) -> Tensor: ...
        def __floordiv__(self, other: Any, /) -> Tensor: ...
        def __rfloordiv__(self, other: Any, /) -> Tensor: ...
        def __mod__(self, other: Any, /) -> Tensor: ...
        def __rmod__(self, other: Any, /) -> Tensor: ...
        def __pow__(self, other: Any, /) -> Tensor: ...
        def __rpow__(self, other: Any, /) -> Tensor: ...
        def __matmul__(self, other: Any, /) -> Tensor: ...
        def __rmatmul__(self, other: Any, /) -> Tensor: ...
        def __and__(self, other: Any, /) -> Tensor: ...
        def __rand__(self, other: Any, /) -> Tensor: ...
        def __or__(self, other: Any, /) -> Tensor: ...
        def __ror__(self, other: Any, /) -> Tensor: ...
        def __xor__(self, other: Any, /) -> Tensor: ...
        def __rxor__(self, other: Any, /) -> Tensor: ...
        def __lt__(self, other: Any, /) -> Tensor: ...
        def __le__(self, other: Any, /) -> Tensor: ...
        def __gt__(self, other: Any, /) -> Tensor: ...
        def __ge__(self, other: Any, /) -> Tensor: ...
        def __getitem__(self, other: Any, /) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
else:
    Operators = object


class Tensor(Operators):
    """An output of an operation: the promise of an array of `dtype`, which a session makes.

    op, value_index: which output it is; graph; static: its shape as far as it is known, a plain tuple or None.
    Compared and hashed by identity.

    >>> x = tf.constant([1, 2]) + 1
    >>> x.name, x.dtype, x.shape.as_list()
    ('add:0', tf.int32, [2])
    >>> sess.run(x)
    array([2, 3], dtype=int32)
    """

    __slots__ = ("op", "value_index", "dtype", "graph", "static", "_consumers", "__dict__", "__weakref__")
    __array_priority__ = 100            # NumPy leaves `array + tensor` to the tensor
    OVERLOADABLE_OPERATORS = OVERLOADABLE

    def __init__(self, op: Operation, value_index: int, dtype: DType, graph: Any) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self.graph = graph
        self.static: Static = None
        self._consumers: list[Operation] = []       # one entry for each edge, in the order they were made

    @property
    def name(self) -> str:
        """The name of the op, ":" and the index of the output."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def device(self) -> str:
        """The device that the op was asked to be on, in full spelling; "" if none."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """The static shape, as a TensorShape."""
        return TensorShape.of(self.static)

    def get_shape(self) -> TensorShape:
        """The static shape, as a TensorShape."""
        return TensorShape.of(self.static)

    @property
    def ndim(self) -> int | None:
        """The number of axes, or None if it is not known."""
        return None if self.static is None else len(self.static)

    def experimental_ref(self) -> Reference:
        """A key of dicts and sets that stands for this tensor; its `deref()` is the tensor."""
        return Reference(self)

    ref = experimental_ref

    def set_shape(self, shape: Any) -> None:
        """Add what is known of the shape. Raises ValueError if it contradicts what is known already."""
        more = as_static(shape)
        try:
            merged = merge(self.static, more)
        except ValueError:
            raise ValueError(_conflict(self, more)) from None
        if merged != self.static:
            self.graph._save(self, "static")
            self.static = merged

    def consumers(self) -> list[Operation]:
        """The ops that take this tensor as an input, once for each such input."""
        return list(self._consumers)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value, from `session` or the default session. Raises ValueError if there is no session."""
        return session_for(session, self.graph, "evaluate tensor using `eval()`").run(self, feed_dict)

    @staticmethod
    def _override(operator: str, fn: Callable[..., Any]) -> None:
        """Give all tensors the operator (`"__add__"`). Raises ValueError if it is none or is given already."""
        if operator not in OVERLOADABLE:
            raise ValueError(f"Overriding {operator} is disallowed")
        if operator in Tensor.__dict__:
            raise ValueError(f"{operator} cannot be overwritten again")
        setattr(Tensor, operator, fn)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"Tensor objects are only iterable when their values are there: {self.name!r} has none "
                        "before a session runs it. To split it, use tf.unstack; to map over it, tf.map_fn.")

    def __bool__(self) -> NoReturn:
        raise TypeError(f"Using a `tf.Tensor` as a Python `bool` is not allowed: {self.name!r} has no value before a "
                        "session runs it. Use `if t is not None:` to test whether a tensor is defined, and tf.cond "
                        "or tf.where for a choice that depends on its value.")

    __nonzero__ = __bool__

    def __len__(self) -> int:
        raise TypeError(f"len is not well defined for the tensor {self.name!r}: use its shape, or tf.size.")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array: it has no value "
                                  "before a session runs it.")

    def __str__(self) -> str:
        shape = "" if self.static is None else f", shape={self.shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


def _conflict(tensor: Tensor, more: Static) -> str:
    old = tensor.static
    assert old is not None and more is not None         # else nothing can conflict
    if len(old) != len(more):
        start = f"Shapes must be equal rank, but are {len(old)} and {len(more)}"
    else:
        axis = next(i for i, (m, n) in enumerate(zip(old, more, strict=True)) if None not in (m, n) and m != n)
        start = f"Dimension {axis} in both shapes must be equal, but are {old[axis]} and {more[axis]}"
    return f"{start}. Shapes are {brackets(old)} and {brackets(more)}, of tensor {tensor.name!r}."


def brackets(shape: Static) -> str:
    """A static shape in the form of error messages: `[2,?]`, `<unknown>`."""
    return "<unknown>" if shape is None else f"[{','.join('?' if n is None else str(n) for n in shape)}]"


class Operation:
    """A node of a graph.

    name; type (of op); spec; graph; inputs, outputs (Tensors); control_inputs (Operations that must run before);
    attrs (native values: DType, static shapes, int, float, bool, bytes, arrays, lists of these); device; owner (of the
    graph when it was made: a notebook's cell). Graphs make operations, with their number and the frames that are
    recorded: see `Graph.create_op`.

    >>> op = tf.add(1, 2, name="sum").op
    >>> op.name, op.type, [x.name for x in op.inputs], [y.name for y in op.outputs]
    ('sum', 'AddV2', ['sum/x:0', 'sum/y:0'], ['sum:0'])
    """

    __slots__ = ("name", "type", "spec", "graph", "inputs", "outputs", "control_inputs", "attrs", "device", "_recorded",
                 "owner", "_id", "_dead", "__dict__", "__weakref__")
    _original_op: Operation | None = None       # of a gradient: the op that it differentiates
    _control_flow_context: Any = None           # the branch or loop that it is part of

    def __init__(self, spec: Op, graph: Any, name: str, inputs: Sequence[Tensor], attrs: dict[str, Any],
                 number: int, recorded: Recorded, owner: Any) -> None:
        self.name = name
        self.type = spec.name
        self.spec = spec
        self.graph = graph
        self.inputs = tuple(inputs)     # TensorFlow's can't be changed either; see `Graph.replace_input`
        self.outputs: list[Tensor] = []
        self.control_inputs: list[Operation] = []
        self.attrs = attrs
        self.device = ""
        self._recorded = recorded
        self.owner = owner
        self._id = number               # how many ops the graph had made before, and one
        self._dead: str | None = None   # why it is no part of its graph any more

    @property
    def _outputs(self) -> list[Tensor]:
        """The outputs, by the name that programs of TensorFlow 1 use."""
        return self.outputs

    @property
    def frames(self) -> Frames:
        """The user's frames that made the op: (code object, line) of each, innermost first."""
        return frames_of(self._recorded)

    def values(self) -> tuple[Tensor, ...]:
        """The outputs."""
        return tuple(self.outputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the op in `session` or the default session. Raises ValueError if there is no session."""
        session_for(session, self.graph, "execute operation using `run()`").run(self, feed_dict)

    def get_attr(self, name: str) -> Any:
        """The attr as TensorFlow gives it: DTypes, numbers, bool, bytes, lists; shapes and tensors as protos.

        Raises ValueError if the op has no such attr.
        """
        if name not in self.attrs:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        return protos.public_attr(self.spec, name, self.attrs[name])

    def _set_attr(self, name: str, value: Any) -> None:
        """Set an attr, given as an AttrValue proto or as a native value."""
        self.graph._save(self, "attrs")
        self.attrs[name] = protos.native_attr(value)

    @property
    def node_def(self) -> Any:
        """The NodeDef proto."""
        return self.to_node_def()

    def to_node_def(self, add_shapes: bool = False) -> Any:
        """Return the NodeDef proto. add_shapes: with the static shapes of the outputs as attr `_output_shapes`."""
        inputs = [t.op.name if t.value_index == 0 else t.name for t in self.inputs]
        inputs += sorted("^" + c.name for c in self.control_inputs)         # sorted, as in TensorFlow's GraphDefs
        made = protos.node_def(self.name, self.spec, self.device, inputs, self.attrs)
        if add_shapes:
            shapes = protos.attr_value([t.shape for t in self.outputs], "list(shape)")
            made.attr["_output_shapes"].CopyFrom(shapes)
        return made

    @property
    def op_def(self) -> Any:
        """The OpDef proto of the type of op."""
        return protos.op_def(self.spec)

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        """The user's frames that made the op: (file, line, function, source text), outermost first."""
        return traceback_of(self.frames)

    @property
    def made_at(self) -> str:
        """The innermost such place in words: `cell [3], line 2: y = ...`."""
        return describe(self.frames)

    def colocation_groups(self) -> list[bytes]:
        """The groups of ops that must share a device with this one (`loc:@name`); its own if there is no other."""
        named = [c for c in self.attrs.get("_class", ()) if c.startswith(b"loc:@")]
        return named or [b"loc:@" + self.name.encode()]

    def _get_control_flow_context(self) -> Any:
        """The branch or loop that the op is part of, or None."""
        return self._control_flow_context

    @property
    def _control_outputs(self) -> list[Operation]:
        """The ops that wait for this one."""
        return [op for op in self.graph.get_operations() if self in op.control_inputs]

    def _set_device(self, device: Any) -> None:
        """Ask for another device, given as a name, a DeviceSpec or None."""
        self.graph._save(self, "device")
        self.device = canonical(device_text(device))

    def _add_control_input(self, op: Operation) -> None:
        """Let `op` run before this one."""
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: list[Operation]) -> None:
        """Let `ops` run before this one. Raises ValueError if one is of another graph."""
        for op in ops:
            if op.graph is not self.graph:
                raise ValueError(f"{op.name!r} and {self.name!r} are not in the same graph")
        self.graph._save(self, "control_inputs")
        self.control_inputs += [op for op in dict.fromkeys(ops) if op not in self.control_inputs]
        self.graph.mutations += 1

    def _remove_control_inputs(self, ops: list[Operation]) -> None:
        """Wait no more for `ops`."""
        self.graph._save(self, "control_inputs")
        self.control_inputs = [op for op in self.control_inputs if op not in ops]
        self.graph.mutations += 1

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Take `tensor` for the input at `index`: plans that were made before hold no more."""
        self.graph.replace_input(self, index, tensor)

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"
