"""NodeDefs of a GraphDef: the names that stand in their inputs, and copies with other inputs."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

VARIABLE_OPS = frozenset(["Variable", "VariableV2", "VarHandleOp"])


def node_name(text: str) -> str:
    """The node that an input comes from: of "x:1" and "^x", x."""
    return text.removeprefix("^").partition(":")[0]


def tensor_name(text: str) -> str:
    """The name of a tensor in full: of "x", x:0. A control input stays what it is."""
    return text if ":" in text or text.startswith("^") else f"{text}:0"


def copied(node: Any) -> Any:
    """The same NodeDef once more, to be changed."""
    made = type(node)()
    made.CopyFrom(node)
    return made


def with_inputs(node: Any, inputs: Iterable[str]) -> Any:
    """A copy of a NodeDef with other inputs."""
    made = copied(node)
    del made.input[:]
    made.input.extend(inputs)
    return made
