"""Lengths of sequences that are rows of SparseTensors."""
from __future__ import annotations

from typing import Any

from tfnb.core import dtypes
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import name_scope
from tfnb.ops.array.create import zeros
from tfnb.ops.array.joining import concat
from tfnb.ops.array.reshape import shape
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.math.casting import cast
from tfnb.ops.reductions.segments import segment_max


def sequence_length(sparse: SparseTensor, each: int = 1) -> Tensor:
    """Return the length of each row, int64 [batch]: the last column, plus 1, in groups of `each`."""
    with name_scope(None, "sequence_length") as scope:
        indices: Any = sparse.indices
        lengths = segment_max(indices[:, 1] + 1, indices[:, 0])
        lengths = (lengths + (each - 1)) // each
        missing = cast(sparse.dense_shape, dtypes.int32)[:1] - shape(lengths)[:1]
        return concat([lengths, zeros(missing, lengths.dtype)], 0, name=scope)
