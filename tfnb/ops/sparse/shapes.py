"""Shapes of sparse tensors: reshaped, reset, axes of size 1, rows without values, ids as an axis."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.constant_value import constant_value
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.graph.stack import graph_of, name_scope
from tfnb.kernels.library.rows import sparse as kernels
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import named, public
from tfnb.ops.declaration.raw import raw
from tfnb.ops.math.casting import cast
from tfnb.ops.sparse.conversion import sparse_tensor_to_dense
from tfnb.ops.sparse.structure import Coordinates, belong, flat_places, sparse_reorder


def _reshaped(ctx: Any) -> list[Static]:
    indices = merge(ctx.shape(0), (None, None)) or (None, None)
    merge(ctx.shape(1), (indices[1],))
    new = merge(ctx.shape(2), (None,)) or (None,)
    return [(indices[0], new[0]), new]


@host("input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, output_shape: int64",
      shape=_reshaped, ranks={"input_indices": 2, "input_shape": 1, "new_shape": 1})
def SparseReshape(indices: Any, shape: Any, new_shape: Any) -> Any:
    """Give the indices of a sparse tensor another dense shape with as many elements; one size may be -1."""
    total, free = int(np.prod(shape, dtype=np.int64)), np.flatnonzero(new_shape == -1)
    if len(free) > 1:
        raise ValueError(f"only one output dimension may be -1, not both {free[0]} and {free[1]}")
    if (new_shape < -1).any():
        axis = int((new_shape < -1).argmax())
        raise ValueError(f"size {axis} must be non-negative, not {int(new_shape[axis])}")
    sizes = new_shape.copy()
    if len(free):
        known = int(np.prod(np.delete(new_shape, free), dtype=np.int64))
        if not known:
            raise ValueError("reshape cannot infer the missing input size for an empty tensor unless all specified "
                             "input sizes are non-zero")
        sizes[free] = total // known
    if int(np.prod(sizes, dtype=np.int64)) != total:
        raise ValueError(f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape has "
                         f"{int(np.prod(sizes, dtype=np.int64))}. input_shape= {shape.tolist()} output_shape= "
                         f"{new_shape.tolist()}")
    places = flat_places(indices, shape)
    return kernels.unfolded(places, sizes), sizes


SparseReshape.no_gradient("indices have none")


@public("sparse.reshape", "sparse_reshape")
def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """Give a SparseTensor another dense shape with as many elements.

    shape: one size may be -1. Raises ValueError for another number of elements, where it is known; running it raises
    InvalidArgumentError.

    >>> x = tf.SparseTensor(indices=[[0, 1], [1, 2]], values=[5, 6], dense_shape=[2, 3])
    >>> sess.run(tf.sparse.reshape(x, [3, -1])).indices
    array([[0, 1],
           [2, 1]])
    """
    sparse = SparseTensor.from_value(sp_input)
    shape = convert_to_tensor(shape, dtype=dtypes.int64)
    with name_scope(name, "SparseReshape", [sparse.values]) as scope:
        indices, sizes = SparseReshape(sparse.indices, sparse.dense_shape, shape, name=scope)
        told = _reshaped_statically(sparse.shape.as_list() if sparse.shape.ndims is not None else None,
                                    constant_value(shape))
        if told is not None:
            sizes = convert_to_tensor(told, dtype=dtypes.int64)
        return SparseTensor(indices, raw.Identity(sparse.values), sizes)


def _reshaped_statically(old: list[int | None] | None, new: Any) -> list[int] | None:
    """Return the new shape where both are known. Raises ValueError for another number of elements."""
    if old is None or new is None or None in old:
        return None
    sizes, total = [int(n) for n in new], int(np.prod([n for n in old if n is not None], dtype=np.int64))
    known = int(np.prod([n for n in sizes if n != -1], dtype=np.int64))
    if sizes.count(-1) == 1 and known and total % known == 0:
        return [total // known if n == -1 else n for n in sizes]
    if -1 in sizes or known != total:
        raise ValueError(f"Cannot reshape a tensor with {total} elements to shape {sizes} ({known} elements).")
    return sizes


@public("sparse.reset_shape", "sparse_reset_shape")
def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """Give a SparseTensor a larger dense shape; its values stay where they are.

    new_shape: [rank]; by default the smallest that holds all values. Raises ValueError where it is known to be too
    small or of another rank; running it raises InvalidArgumentError.

    >>> x = tf.SparseTensor(indices=[[0, 1]], values=[5], dense_shape=[4, 4])
    >>> sess.run(tf.sparse.reset_shape(x)).dense_shape
    array([1, 2])
    """
    sparse = SparseTensor.from_value(sp_input)
    indices, values = raw.Identity(sparse.indices), raw.Identity(sparse.values)
    if new_shape is None:
        low = raw.Max(sparse.indices, 0) + convert_to_tensor(1, dtype=dtypes.int64)
        return SparseTensor(indices, values, raw.Maximum(convert_to_tensor(0, dtype=dtypes.int64), low))
    sizes = convert_to_tensor(new_shape, dtype=dtypes.int64)
    sizes.shape.with_rank(1)[0].merge_with(sparse.dense_shape.shape.with_rank(1)[0])
    told, known = constant_value(sizes), sparse.shape
    if told is not None and known.is_fully_defined():
        if len(told) != known.ndims:
            raise ValueError(f"new_shape.ndims should be equal to {known.ndims}, got {len(told)}")
        if any(n < m for n, m in zip(told.tolist(), known.as_list(), strict=True)):
            raise ValueError(f"Requested dimension sizes {told.tolist()} are smaller than those of the tensor, "
                             f"{known.as_list()}")
        return SparseTensor(indices, values, sizes)
    fits = raw.All(raw.LessEqual(sparse.dense_shape, sizes), [0])
    told = raw.Assert(fits, ["the new shape is smaller than that of the tensor:", sizes, sparse.dense_shape])
    with graph_of(sizes).control_dependencies([told]):
        return SparseTensor(indices, values, raw.Identity(sizes))


@public("sparse.expand_dims")
@named("expand_dims")
def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """Insert an axis of size 1 into a SparseTensor, at `axis` (by default the last).

    >>> x = tf.SparseTensor(indices=[[0], [2]], values=[5, 6], dense_shape=[3])
    >>> sess.run(tf.sparse.expand_dims(x, 0)).indices
    array([[0, 0],
           [0, 2]])
    """
    rank = sp_input.dense_shape.shape.as_list()[0]
    axis = -1 if axis is None else axis
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"expected axis between {-rank - 1} and {rank}, got {axis}")
    at = axis if axis >= 0 else rank + axis + 1
    with name_scope(name, "expand_dims", [sp_input]):
        zeros: Any = raw.ZerosLike(sp_input.indices[:, :1])
        indices = raw.ConcatV2([sp_input.indices[:, :at], zeros if rank else raw.Fill(
            raw.Pack([raw.GatherV2(raw.Shape(sp_input.indices), 0, 0), 1]), convert_to_tensor(0, dtype=dtypes.int64)),
            sp_input.indices[:, at:]], 1)
        sizes = raw.ConcatV2([sp_input.dense_shape[:at], convert_to_tensor([1], dtype=dtypes.int64),
                              sp_input.dense_shape[at:]], 0)
        return SparseTensor(indices, sp_input.values, sizes)


# Rows without values

def _filled(ctx: Any) -> list[Static]:
    _, rank = belong(ctx)
    merge(ctx.shape(3), ())
    sizes = ctx.partial(2)
    return [(None, rank), (None,), (sizes[0] if sizes else None,), merge(ctx.shape(1), (None,))]


@host("indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, output_values: T, "
      "empty_row_indicator: bool, reverse_index_map: int64", shape=_filled,
      ranks={**Coordinates(shape="dense_shape").ranks, "default_value": 0}, validate=belong, T="type")
def SparseFillEmptyRows(indices: Any, values: Any, shape: Any, default: Any) -> Any:
    """Give each row that has no value `default_value` in its first column; rows come in order.

    The last output is the new place of each value.
    """
    if not len(shape):
        raise ValueError("Dense shape cannot be empty.")
    rows, count = indices[:, 0], int(shape[0])
    if not count and len(rows):
        raise ValueError(f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(rows)}")
    if (shape < 0).any():
        raise ValueError(f"expected sizes of 0 or more, got dense_shape {shape.tolist()}")
    made = kernels.by_row(indices, count)
    if isinstance(made, int):
        raise ValueError(f"indices({made}, 0) is invalid: {int(rows[made])} >= {count}")
    every, empty, back = made
    given = np.full(len(every), default, values.dtype)
    given[back] = values
    return every, given, empty, back


@host("reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
      shape=lambda ctx: [merge(ctx.shape(0), (None,)), ()], ranks={"reverse_index_map": 1, "grad_values": 1}, T="type")
def SparseFillEmptyRowsGrad(places: Any, dy: Any) -> Any:
    """Compute the gradients of SparseFillEmptyRows: of each value, and of the default value."""
    if len(places) and not 0 <= places.min() <= places.max() < len(dy):
        raise ValueError(f"Elements in reverse index must be in [0, {len(dy)}), got {places.tolist()}")
    rest = dy.copy()
    rest[places] = 0
    return dy[places], np.asarray(rest.sum(), dy.dtype)


SparseFillEmptyRowsGrad.no_gradient("as in TensorFlow, it has none")


@SparseFillEmptyRows.gradient
def _(op: Operation, _d_indices: Any, dy: Tensor, _d_empty: Any, _d_map: Any) -> list[Tensor | None]:
    d_values, d_default = SparseFillEmptyRowsGrad(op.outputs[3], dy)
    return [None, d_values, None, d_default]


@public("sparse.fill_empty_rows", "sparse_fill_empty_rows")
def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> tuple[SparseTensor, Tensor]:
    """Give each row of a 2-D SparseTensor that has no value `default_value` in its first column.

    Returns it, and a bool vector that says which rows were empty.

    >>> x = tf.SparseTensor(indices=[[0, 1], [2, 0]], values=[5, 6], dense_shape=[3, 2])
    >>> filled, empty = tf.sparse.fill_empty_rows(x, -1)
    >>> sess.run([tf.sparse_tensor_to_dense(filled), empty])
    [array([[ 0,  5],
           [-1,  0],
           [ 6,  0]], dtype=int32), array([False,  True, False])]
    """
    sparse = SparseTensor.from_value(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sparse]):
        default = convert_to_tensor(default_value, dtype=sparse.values.dtype)
        indices, values, empty, _ = SparseFillEmptyRows(*sparse.parts, default)
        return SparseTensor(indices, values, sparse.dense_shape), empty


# Indicators and merged features

@public("sparse.to_indicator", "sparse_to_indicator")
def sparse_to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Tensor:
    """Turn ids in the last axis into a dense bool tensor [..., vocab_size], True at the ids.

    sp_input: int32 or int64 ids, 0 <= id < vocab_size. Raises TypeError for something else.

    >>> ids = tf.SparseTensor(indices=[[0, 0], [1, 1]], values=[2, 0], dense_shape=[2, 2])
    >>> sess.run(tf.sparse.to_indicator(ids, 3))
    array([[False, False,  True],
           [ True, False, False]])
    """
    sparse = SparseTensor.from_value(sp_input)
    with name_scope(name, "SparseToIndicator", [sparse]) as scope:
        ones = raw.Fill(raw.Shape(sparse.values), True)
        merged = sparse_merge(sparse, SparseTensor(sparse.indices, ones, sparse.dense_shape), vocab_size, name=scope)
        return sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=scope)


@public("sparse.merge", "sparse_merge")
def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None,
                 already_sorted: bool = False) -> SparseTensor:
    """Join ids and values into one SparseTensor whose last axis is the id: value v stands at [..., id].

    sp_ids: a SparseTensor of ids (or several, for as many axes), with the indices of sp_values. vocab_size: size of the
    last axis (a list for several). already_sorted: ids of a row ascend, so that nothing has to be put in order. Raises
    TypeError for a list of ids without a list of sizes, ValueError for lists of other lengths.

    >>> ids = tf.SparseTensor(indices=[[0, 0], [1, 0]], values=[2, 0], dense_shape=[2, 1])
    >>> values = tf.SparseTensor(indices=[[0, 0], [1, 0]], values=[0.5, 0.7], dense_shape=[2, 1])
    >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse.merge(ids, values, 3)))
    array([[0. , 0. , 0.5],
           [0.7, 0. , 0. ]], dtype=float32)
    """
    several = isinstance(sp_ids, (list, tuple)) and not hasattr(sp_ids, "dense_shape")
    if several and not isinstance(vocab_size, (list, tuple)):
        raise TypeError(f"vocab_size has to be a list for a list of ids, got {type(vocab_size).__name__}")
    ids = [SparseTensor.from_value(each) for each in (sp_ids if several else [sp_ids])]
    sizes = [convert_to_tensor(n, dtype=dtypes.int64) for n in (vocab_size if several else [vocab_size])]
    if len(sizes) != len(ids):
        raise ValueError(f"sp_ids and vocab_size have to have equal lengths, got {len(ids)} and {len(sizes)}")
    values = SparseTensor.from_value(sp_values)
    with name_scope(name, "SparseMerge", [*ids, values]):
        columns = [raw.ExpandDims(cast(each.values, dtypes.int64), 1) for each in ids]
        indices = raw.ConcatV2([ids[0].indices[:, :-1], *columns], 1)
        shape = raw.ConcatV2([ids[0].dense_shape[:-1], raw.Pack(sizes)], 0)
        merged = SparseTensor(indices, values.values, shape)
        return merged if already_sorted else sparse_reorder(merged)


describe(globals(), TENSORS)
