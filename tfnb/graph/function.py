"""Functions: graphs that ops of another graph call, with what they take from it as further inputs.

An attr of type "func" names one; the graph keeps the bodies by name (`Graph._functions`). The bodies of equal
definitions are one function, since its name ends in a hash of its nodes.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tfnb.core.dtypes import DType
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static
from tfnb.graph.formats import export
from tfnb.graph.graph import Graph
from tfnb.graph.parts.elements import spec_of
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef import kinds
from tfnb.opdef.op import Op

hashlib = lazy_module("hashlib")

attr_value_pb2 = lazy_module("tfnb.proto.attr_value_pb2")


class FunctionGraph(Graph):
    """The body of a function while it is made, and after.

    inputs: its placeholders, those of captured tensors last; captured: tensor of `outer` -> its placeholder; outputs:
    what a call gives. A tensor of `outer` that an op takes is captured: by value, which copies the ops that make it,
    or as an input. Used as a context, it is the default graph.
    """

    def __init__(self, outer: Graph, by_value: bool = False) -> None:
        super().__init__()
        self.outer, self.by_value = outer, by_value
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.captured: dict[Tensor, Tensor] = {}
        self.name = ""
        self.owner, self.seed = outer.owner, outer.seed
        self._building_function = True
        self._functions = outer._functions
        self._entered: list[Any] = []

    def __enter__(self) -> FunctionGraph:
        self.outer._lent += 1
        context = self.as_default()
        context.__enter__()
        self._entered.append(context)
        return self

    def __exit__(self, *error: Any) -> None:
        self.outer._lent -= 1
        self._entered.pop().__exit__(*error)

    def add_op(self, spec: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str,
               output_types: Sequence[DType], waits: Sequence[Operation] = ()) -> Operation:
        """As Graph.add_op; tensors of the graph around are captured. Raises ValueError for a new variable."""
        if isinstance(spec, kinds.Variable):
            raise ValueError(f"a function can't make variables, but its body makes {name.rstrip('/')!r}: make it "
                             "before the function, and use it there")
        return super().add_op(spec, [self.capture(t) for t in inputs], attrs, name, output_types, waits)

    @property
    def targets(self) -> list[Operation]:
        """The ops that a call runs even if no output needs them: they may have effects."""
        return [op for op in self.get_operations() if op.spec.stateful]

    def placeholder(self, dtype: DType, static: Static, name: str) -> Tensor:
        """A new input."""
        op = super().add_op(spec_of("Placeholder"), [], {"dtype": dtype, "shape": static}, name, [dtype])
        self.inputs.append(op.outputs[0])
        return op.outputs[0]

    def capture(self, tensor: Tensor) -> Tensor:
        """The tensor that stands for `tensor` here. Raises ValueError for one that can't be captured."""
        if tensor.graph is self:
            return tensor
        if tensor.graph is not self.outer:
            if not isinstance(self.outer, FunctionGraph):
                raise ValueError(f"{tensor} is of another graph than the one that the function is made for")
            tensor = self.outer.capture(tensor)
        found = self.captured.get(tensor)
        if found is None:
            found = self.captured[tensor] = self._copied(tensor) if self.by_value else self._taken(tensor)
        return found

    def _taken(self, tensor: Tensor) -> Tensor:
        name = re.sub(r"\W", "_", tensor.op.name.rsplit("/")[-1]).lower()      # official: names of arguments
        return self.placeholder(tensor.dtype.base_dtype, tensor.static, name if name[0].isalpha() else f"x{name}")

    def _copied(self, tensor: Tensor) -> Tensor:
        op = tensor.op
        if isinstance(op.spec, (kinds.Placeholder, kinds.Variable)):
            what = "placeholder" if isinstance(op.spec, kinds.Placeholder) else "stateful node"
            raise ValueError(f"Cannot capture a {what} (name:{op.name}, type:{op.type}) by value.")
        inputs = [self.capture(t) for t in op.inputs]
        made = super().add_op(op.spec, inputs, op.attrs, op.name.rsplit("/")[-1], [t.dtype for t in op.outputs])
        self.captured.update(zip(op.outputs, made.outputs, strict=True))
        return made.outputs[tensor.value_index]

    def finish(self, outputs: Iterable[Tensor], name: str) -> Any:
        """Set the outputs, and enter the function in the graph under `name` and a hash: the NameAttrList of calls."""
        self.outputs = [self.capture(t) for t in outputs]
        self._finalized = True
        text = re.sub(r"\W", "_", name).strip("_") or "function"
        digest = hashlib.sha256(export.function_def(self).SerializeToString(deterministic=True)).hexdigest()[:8]
        self.name = f"{text}_{digest}"
        self._functions.setdefault(self.name, self)
        return attr_value_pb2.NameAttrList(name=self.name)
