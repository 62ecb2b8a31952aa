"""Rows of tables by their numbers: embedding_lookup."""
from __future__ import annotations

from typing import Any

from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.operation import Tensor
from tfnb.graph.stack import colocate_with, name_scope
from tfnb.ops.array import identity, rank, shape
from tfnb.ops.clip import clip_by_norm
from tfnb.ops.create import range_
from tfnb.ops.gather import gather
from tfnb.ops.joining import concat, stack
from tfnb.ops.math import FloorDiv, FloorMod
from tfnb.ops.reduce import cumsum


def embedding_lookup(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None,
                     validate_indices: bool = True, max_norm: float | None = None) -> Tensor:
    """The rows of `params` numbered `ids`; where `params` is a list, the rows are spread over its tables.

    partition_strategy: row i stands in table i modulo their number ("mod"), or the tables follow one another ("div").
    max_norm: longer rows are scaled down to this length. Raises ValueError without tables or for another strategy.
    """
    tables = list(params) if isinstance(params, (list, tuple)) else [params]
    if not tables:
        raise ValueError("Value for `params` must be specified: got an empty list")
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f"Unrecognized partition strategy {partition_strategy!r}: \"mod\" or \"div\" is wanted")
    with name_scope(name, "embedding_lookup", [*tables, ids]) as scope:
        tensors = [convert_to_tensor(table, name="params") for table in tables]
        ids = convert_to_tensor(ids, name="ids")
        if len(tensors) == 1:
            with colocate_with(tensors[0]):
                return identity(_clipped(gather(tensors[0], ids, name=scope), ids, max_norm))
        rows = ids if partition_strategy == "div" else _row_of_all(tensors, ids)
        return identity(_clipped(gather(concat(tensors, 0), rows), ids, max_norm))


def _row_of_all(tables: list[Tensor], ids: Tensor) -> Tensor:
    """Where the rows stand that are dealt out to the tables in turn, when the tables follow one another."""
    count = convert_to_tensor(len(tables), dtype=ids.dtype)
    starts = cumsum(stack([shape(table, out_type=ids.dtype)[0] for table in tables]), exclusive=True)
    return gather(starts, FloorMod(ids, count)) + FloorDiv(ids, count)


def _clipped(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    if max_norm is None:
        return rows
    first: Any = len(ids.static) if ids.static is not None else rank(ids)
    last: Any = len(rows.static) if rows.static is not None else rank(rows)
    axes = list(range(first, last)) if isinstance(first, int) and isinstance(last, int) else range_(first, last)
    clipped: Tensor = clip_by_norm(rows, max_norm, axes=axes)
    clipped.set_shape(TensorShape(rows.shape))
    return clipped
