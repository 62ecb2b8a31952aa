"""Embedding lookup: rows of tables by index."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, TensorShape, is_known, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import colocate_with, device, name_scope
from tfnb.ops.array.create import range_
from tfnb.ops.array.gather import gather
from tfnb.ops.array.joining import concat, stack
from tfnb.ops.array.partition import ParallelDynamicStitch, dynamic_partition
from tfnb.ops.array.reshape import identity, rank, shape, size
from tfnb.ops.control.source import constant
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.arithmetic import Maximum
from tfnb.ops.math.casting import cast
from tfnb.ops.math.compare import Less, Select
from tfnb.ops.reductions.clip import clip_by_norm
from tfnb.ops.reductions.reduce import reduce_sum
from tfnb.variables.partitioned import PartitionedVariable


@dispatched
def embedding_lookup(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None,
                     validate_indices: bool = True, max_norm: float | None = None) -> Tensor:
    """The rows of `params` numbered `ids`; where `params` is a list (or partitioned), the rows are spread over its
    tables.

    partition_strategy: row i stands in table i modulo their number ("mod"), or the tables follow one another ("div").
    max_norm: longer rows are scaled down to this length. Raises ValueError without tables or for another strategy.

    >>> table = tf.constant([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    >>> sess.run(tf.nn.embedding_lookup(table, [2, 0, 2]))
    array([[ 2., 20.],
           [ 0.,  0.],
           [ 2., 20.]], dtype=float32)
    """
    tables = list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
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
        made = _from_tables(tensors, ids, partition_strategy, scope)
        return _clipped(made, ids, max_norm)


def _from_tables(tables: list[Tensor], ids: Tensor, strategy: str, name: str) -> Tensor:
    """Deal the ids out to the tables, look them up in each, and put the rows together in the order of the ids."""
    flat: Any = raw.Reshape(ids, [-1])
    order = range_(size(flat))
    owner, row = _modulo(flat, len(tables)) if strategy == "mod" else _division(flat, tables)
    owner = cast(owner, "int32")
    picked = dynamic_partition(row, owner, len(tables))
    places = dynamic_partition(order, owner, len(tables))
    rows = []
    for table, picks in zip(tables, picked, strict=True):
        with device(None), colocate_with(table):
            rows.append(gather(table, picks))
    made = ParallelDynamicStitch(places, rows, name=name)
    element: Static = None
    for table in tables:
        element = merge(element, None if table.static is None else table.static[1:])
    if is_known(element):
        tail: Any = list(element or ())
    else:
        with colocate_with(tables[0]):
            whole: Any = shape(tables[0])
        tail = whole[1:]
    result: Tensor = raw.Reshape(made, concat([shape(ids), tail], 0))
    result.set_shape(ids.shape.concatenate(TensorShape(element)))
    return result


def _modulo(flat: Any, count: int) -> tuple[Tensor, Tensor]:
    """Return the table of each id, and its row there, where ids are dealt out in turn."""
    return flat % count, flat // count


def _division(flat: Any, tables: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The same where the tables follow one another, the first ones with a row more if they don't all have as many."""
    sizes = [None if t.static is None else t.static[0] for t in tables]
    total: Any = None if None in sizes else sum(sizes)
    if total:
        total = constant(total, flat.dtype)
    else:
        rows = []
        for table, known in zip(tables, sizes, strict=True):
            with colocate_with(table):
                sizes_of: Any = shape(table)
                rows.append(sizes_of[0] if known is None else known)
        total = reduce_sum(cast(stack(rows), flat.dtype))
    each, extra = total // len(tables), total % len(tables)
    owner = Maximum(flat // (each + 1), (flat - extra) // each)
    return owner, Select(Less(owner, extra), flat % (each + 1), (flat - extra) % each)


def _clipped(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    if max_norm is None:
        return rows
    first: Any = len(ids.static) if ids.static is not None else rank(ids)
    last: Any = len(rows.static) if rows.static is not None else rank(rows)
    axes = list(range(first, last)) if isinstance(first, int) and isinstance(last, int) else range_(first, last)
    clipped: Tensor = clip_by_norm(rows, max_norm, axes=axes)
    clipped.set_shape(TensorShape(rows.shape))
    return clipped


describe(globals(), TENSORS)
