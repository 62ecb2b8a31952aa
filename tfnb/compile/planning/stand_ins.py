"""Ops and tensors that only plans have: copies, orders and loops, with the names of those they stand for."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.opdef.op import Op


def stand_in(like: Operation, spec: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor],
             attrs: dict[str, Any] | None = None) -> Operation:
    """Build an op that belongs to no graph: it has the name of `like`, and existing tensors as outputs."""
    if attrs is None:
        attrs = {"T": outputs[0].dtype.base_dtype} if outputs else {}
    made = Operation(spec, like.graph, like.name, list(inputs), attrs, like._id, like._recorded, like.owner)
    made.outputs = list(outputs)
    return made


def named_again(tensor: Tensor) -> Tensor:
    """Build a new tensor for a copy of `tensor`."""
    made = Tensor(tensor.op, tensor.value_index, tensor.dtype.base_dtype, tensor.graph)
    made.static = tensor.static
    return made
