"""Sparse tensors made of dense ones: their nonzero elements, identity matrices."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import ones, range_, zeros_like
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.public import public
from tfnb.ops.declaration.raw import raw


@public("sparse.from_dense")
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """Convert a dense tensor to a SparseTensor of its elements that are not zero (not "", not False).

    The gradient of the values goes to these elements.

    >>> sess.run(tf.sparse.from_dense([[0, 5], [6, 0]])).values
    array([5, 6], dtype=int32)
    """
    with name_scope(name, "dense_to_sparse", [tensor]):
        dense = convert_to_tensor(tensor)
        indices: Any = raw.Where(raw.NotEqual(dense, zeros_like(dense)))
        return SparseTensor(indices, raw.GatherNd(dense, indices), raw.Shape(dense, out_type=dtypes.int64))


@public("sparse.eye")
def eye(num_rows: int, num_columns: int | None = None, dtype: Any = dtypes.float32,
        name: str | None = None) -> SparseTensor:
    """Return the identity matrix [num_rows, num_columns] (by default square) as a SparseTensor.

    >>> sess.run(tf.sparse_tensor_to_dense(tf.sparse.eye(2, 3)))
    array([[1., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = convert_to_tensor(num_rows, dtype=dtypes.int64)
        columns = rows if num_columns is None else convert_to_tensor(num_columns, dtype=dtypes.int64)
        size: Any = raw.Minimum(rows, columns)
        places = range_(size)
        return SparseTensor(raw.Pack([places, places], axis=1), ones(raw.Reshape(size, [1]), dtype),
                            raw.Pack([rows, columns]))


describe(globals(), TENSORS)
