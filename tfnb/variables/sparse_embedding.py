"""Embeddings of sparse ids: the rows of a table that a row of ids picks, weighted and combined into one."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import TensorShape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.composite.sparse_tensor import SparseTensor, SparseTensorValue
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.reduce import reduce_prod
from tfnb.ops.reductions.segments import (
    segment_sum,
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
)
from tfnb.ops.sparse.shapes import sparse_fill_empty_rows, sparse_reshape
from tfnb.ops.sparse.structure import sparse_retain
from tfnb.variables.embedding import embedding_lookup
from tfnb.variables.partitioned import PartitionedVariable

COMBINERS = {"mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n, "sum": sparse_segment_sum}


def _checked(combiner: str | None) -> str:
    """Return the name of a combiner, "mean" for None. Raises ValueError for another one."""
    if combiner is not None and combiner not in COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}")
    return combiner or "mean"


def _tables(params: Any, name: str) -> list[Any]:
    tables = list(params) if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
    if not tables:
        raise ValueError(f"Missing {name} {params}.")
    return tables


@public("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod",
                            name: str | None = None, combiner: str | None = None,
                            max_norm: float | None = None) -> Tensor:
    """Combine the rows of `params` that each row of sparse ids picks: a float tensor [rows, ...].

    params, partition_strategy, max_norm: as of `tf.nn.embedding_lookup`. sp_ids: int32 or int64, no row empty.
    sp_weights: floats with the indices of `sp_ids`, or None for 1. combiner: "sum", "mean" (the weighted mean; the
    default) or "sqrtn" (over the square root of the sum of squared weights). Raises TypeError for ids or weights that
    are not sparse, ValueError for another combiner or no table.

    >>> table = tf.constant([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    >>> ids = tf.SparseTensor(indices=[[0, 0], [0, 1], [1, 0]], values=[0, 2, 1], dense_shape=[2, 2])
    >>> sess.run(tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum"))
    array([[5., 5.],
           [2., 2.]], dtype=float32)
    """
    combiner = _checked(combiner)
    tables = _tables(params, "params")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None:
        _same_indices(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [*tables, sp_ids]) as scope:
        places: Any = sp_ids.indices
        rows = cast(places[:, 0], dtypes.int32)
        ids, order = raw.Unique(sp_ids.values)
        found = embedding_lookup(tables, ids, partition_strategy, max_norm=max_norm)
        if sp_weights is None:
            return COMBINERS[combiner](found, order, rows, name=scope)
        return _weighted(raw.GatherV2(found, order, 0), cast(sp_weights.values, found.dtype), rows, combiner, scope)


def _same_indices(sp_ids: SparseTensor, sp_weights: Any) -> None:
    """Raise TypeError or ValueError unless the weights have the static shapes of the ids."""
    if not isinstance(sp_weights, SparseTensor):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    for ours, theirs in zip(sp_ids.parts, sp_weights.parts, strict=True):
        ours.shape.assert_is_compatible_with(theirs.shape)


def _weighted(found: Tensor, weights: Tensor, rows: Tensor, combiner: str, name: str) -> Tensor:
    """Return sums of weighted embeddings by row, over those of the weights as the combiner says."""
    rank = None if found.static is None else len(found.static)
    inner: Any = [1] * (rank - 1) if rank is not None else raw.Fill(
        raw.ExpandDims(raw.Sub(raw.Rank(found), 1), 0), 1)
    columns = raw.Reshape(weights, raw.ConcatV2([raw.Shape(weights), inner], 0))
    if rank is not None:
        columns.set_shape(TensorShape(weights.shape).concatenate([1] * (rank - 1)))
    scaled = raw.Mul(found, columns)
    if combiner == "sum":
        total: Tensor = segment_sum(scaled, rows, name=name)
        return total
    sums = segment_sum(scaled, rows)
    if combiner == "mean":
        mean: Tensor = raw.RealDiv(sums, segment_sum(columns, rows), name=name)
        return mean
    root: Tensor = raw.RealDiv(sums, raw.Sqrt(segment_sum(raw.Square(columns), rows)), name=name)
    return root


@public("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None,
                                 combiner: str | None = "mean", default_id: Any = None, name: str | None = None,
                                 partition_strategy: str = "div", max_norm: float | None = None) -> Tensor:
    """Combine rows of `embedding_weights` as `tf.nn.embedding_lookup_sparse`, with ids < 0 and empty rows allowed.

    sparse_ids: rank 2 or more; the result has their leading axes. Ids below 0 are left out, and those without a
    positive weight (except for "sum"). default_id: what an empty row picks; by default it gives zeros.
    sparse_weights, combiner, partition_strategy, max_norm: as there. Raises ValueError without tables, for another
    combiner or strategy.

    >>> table = tf.constant([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    >>> ids = tf.SparseTensor(indices=[[0, 0], [0, 1], [2, 0]], values=[2, -1, 1], dense_shape=[3, 2])
    >>> sess.run(tf.nn.safe_embedding_lookup_sparse(table, ids))
    array([[4., 4.],
           [0., 0.],
           [2., 2.]], dtype=float32)
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    tables = _tables(embedding_weights, "embedding_weights")
    combiner = _checked(combiner)
    with name_scope(name, "embedding_lookup", [*tables, sparse_ids, sparse_weights]) as scope:
        ids, weights = _sparse(sparse_ids), None if sparse_weights is None else _sparse(sparse_weights)
        whole, rank = ids.dense_shape, ids.dense_shape.shape.as_list()[0]
        leading = raw.Slice(whole, [0], [rank - 1])
        lines = raw.Pack([reduce_prod(leading), raw.GatherV2(whole, rank - 1, 0)])
        ids = sparse_reshape(ids, lines)
        weights = None if weights is None else SparseTensor(ids.indices, weights.values, ids.dense_shape)
        ids, weights = _kept(ids, weights, combiner)
        filled, empty = sparse_fill_empty_rows(ids, 0 if default_id is None else default_id)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        made = embedding_lookup_sparse(tables, filled, weights, partition_strategy, combiner=combiner,
                                       max_norm=max_norm, name=None if default_id is None else scope)
        if default_id is None:
            made = raw.SelectV2(_column(empty, made), raw.ZerosLike(made), made, name=scope)
        return _unflattened(made, leading, ids, rank)


def _sparse(value: Any) -> SparseTensor:
    return SparseTensor.from_value(value) if isinstance(value, (SparseTensor, SparseTensorValue)) else value


def _kept(ids: SparseTensor, weights: SparseTensor | None,
          combiner: str) -> tuple[SparseTensor, SparseTensor | None]:
    """Leave out ids below 0 and, except for sums, those whose weight is not positive."""
    valid = raw.GreaterEqual(ids.values, convert_to_tensor(0, dtype=ids.dtype))
    if weights is None:
        return sparse_retain(ids, valid), None
    if combiner != "sum":
        valid = raw.LogicalAnd(valid, raw.Greater(weights.values, convert_to_tensor(0, dtype=weights.dtype)))
    return sparse_retain(ids, valid), sparse_retain(weights, valid)


def _column(empty: Tensor, made: Tensor) -> Tensor:
    """Return a vector with as many axes as `made` has."""
    rank = None if made.static is None else len(made.static)
    inner: Any = [1] * (rank - 1) if rank is not None else raw.Fill(raw.ExpandDims(raw.Sub(raw.Rank(made), 1), 0), 1)
    column: Tensor = raw.Reshape(empty, raw.ConcatV2([raw.Shape(empty), inner], 0))
    return column


def _unflattened(made: Tensor, leading: Tensor, ids: SparseTensor, rank: int) -> Tensor:
    """Give the rows of a table of results the leading axes of the ids."""
    size: Any = raw.Shape(made)
    whole: Tensor = raw.Reshape(made, raw.ConcatV2([cast(leading, dtypes.int32), size[1:]], 0))
    if made.static is not None:
        whole.set_shape(TensorShape([None] * (rank - 1)).concatenate(TensorShape(made.static[1:])))
    return whole


describe(globals(), TENSORS)
