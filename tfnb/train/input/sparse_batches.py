"""Batches of SparseTensors, which queues store as handles."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfnb.control_flow.cond import cond
from tfnb.core import dtypes
from tfnb.core.dtypes import DType
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph
from tfnb.ops.array.create import ones
from tfnb.ops.array.gather import boolean_mask, gather
from tfnb.ops.array.reshape import shape
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.control.source import constant
from tfnb.ops.sparse.maps import AddManySparseToTensorsMap, AddSparseToTensorsMap, TakeManySparseFromTensorsMap


@dataclass(frozen=True)
class Stored:
    """Plan to restore a sparse component: the map's name, the dtype of the values, the rank if known."""

    shared_name: str
    dtype: DType
    rank: int | None

    def restore(self, handles: Tensor) -> SparseTensor:
        """Return the SparseTensor of a batch, its examples along a new first axis."""
        taken = TakeManySparseFromTensorsMap(handles, dtype=self.dtype, shared_name=self.shared_name)
        indices, values, sizes = taken
        rank = None if self.rank is None else self.rank + 1
        indices.set_shape([None, rank])
        sizes.set_shape([rank])
        return SparseTensor(indices, values, sizes)


def store(lists: Sequence[Sequence[Any]], keep: Tensor, enqueue_many: bool
          ) -> tuple[list[list[Tensor]], list[Stored | None]]:
    """Replace SparseTensors of examples by handles; return these and a plan per component (None: dense).

    Raises ValueError if a component is sparse in one example and not in another, or of another rank.
    """
    first = [_plan(t, enqueue_many) for t in lists[0]]
    for tensors in lists[1:]:
        found = [_plan(t, enqueue_many) for t in tensors]
        if [_kind(plan) for plan in first] != [_kind(plan) for plan in found]:
            raise ValueError(f"Inconsistent SparseTensors list: {list(lists[0])} vs. {list(tensors)}")
    made = [[t if plan is None else _handles(t, plan, keep, enqueue_many)
             for t, plan in zip(tensors, first, strict=True)] for tensors in lists]
    return made, first


def restore(batch: Any, plans: Sequence[Stored | None]) -> Any:
    """Replace the handles of a dequeued batch by SparseTensors."""
    given = list(batch) if isinstance(batch, (list, tuple)) else [batch]
    made = [t if plan is None else plan.restore(t) for t, plan in zip(given, plans, strict=True)]
    return made if isinstance(batch, (list, tuple)) else made[0]


def _plan(tensor: Any, enqueue_many: bool) -> Stored | None:
    if not isinstance(tensor, SparseTensor):
        return None
    rank = tensor.dense_shape.get_shape().with_rank(1)[0].value
    name = get_default_graph().unique_name("SparseTensorsMap")
    return Stored(name, tensor.dtype.base_dtype, rank if rank is None or not enqueue_many else rank - 1)


def _kind(plan: Stored | None) -> Any:
    return None if plan is None else ("sparse", plan.rank)


def _handles(sparse: SparseTensor, plan: Stored, keep: Tensor, enqueue_many: bool) -> Tensor:
    """Return the handle of an example, or the handles of many; -1 for those that are not kept."""
    add = AddManySparseToTensorsMap if enqueue_many else AddSparseToTensorsMap

    def handle(sparse: SparseTensor) -> Tensor:
        return add(*sparse.parts, shared_name=plan.shared_name)  # type: ignore[no-any-return]

    if keep.get_shape().ndims == 1:
        rows: Any = sparse.indices
        kept = gather(keep, rows[:, 0])
        return handle(SparseTensor(boolean_mask(sparse.indices, kept), boolean_mask(sparse.values, kept),
                                   sparse.dense_shape))
    known = constant_value(keep)
    if known is not None and known:
        return handle(sparse)

    def nothing() -> Tensor:
        none = constant(-1, dtypes.int64)
        return none * ones(shape(sparse)[:1], dtypes.int64) if enqueue_many else none

    handles: Tensor = cond(keep, lambda: handle(sparse), nothing)
    if enqueue_many:
        handles.set_shape([None])
    return handles
