"""Argument of shape functions: attrs, static shapes and, as far as they are known, values of the inputs."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import taps
from tfnb.core.shape import Static
from tfnb.graph.parts.constant_value import constant_value, constant_value_as_shape
from tfnb.graph.parts.operation import Operation, brackets
from tfnb.graph.parts.references import handle_shape


class ShapeContext:
    """The argument of a shape function: `op` (its outputs have no shapes yet) and `attrs`."""

    __slots__ = ("op", "attrs")
    concrete = False                    # True of shapes and values at hand in a run (ops/declaration/validate.py)

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.attrs: dict[str, Any] = op.attrs

    def shape(self, i: int) -> Static:
        """The static shape of input `i`; of the variable, where the op takes its handle."""
        return handle_shape(self.op.inputs[i]) if i in self.op.spec.handles else self.op.inputs[i].static

    def value(self, i: int) -> np.ndarray | None:
        """The value of input `i` if it is known while the graph is built, else None. Not to be changed."""
        return constant_value(self.op.inputs[i])

    def partial(self, i: int) -> Static:
        """The shape that the value of input `i`, a vector of sizes, tells: unknown sizes and -1 are None."""
        return constant_value_as_shape(self.op.inputs[i])


def shape_error(op: Operation, error: ValueError) -> ValueError:
    """The error of a shape function, with the op, its input shapes and the user's line; `attempt` is the op."""
    shapes = ", ".join(brackets(t.static) for t in op.inputs)
    inputs = f" with input shapes: {shapes}" if op.inputs else ""
    names = f" (inputs: {', '.join(t.name for t in op.inputs)})" if op.inputs else ""
    made = ValueError(f"{str(error).rstrip('.')} for '{op.name}' (op: '{op.type}'){inputs}.{names}\n"
                      f"While making it at {op.made_at}{taps.tell_op(op, None)}")
    made.attempt = op       # type: ignore[attr-defined]    # a notebook draws it
    return made
