"""Sparse tensors: `tf.sparse`."""
# ruff: noqa: F401, I001
from tfnb.ops.array.gather import sparse_mask as mask
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.data_flow.accumulators import SparseConditionalAccumulator
from tfnb.ops.reductions.segments import (
    sparse_segment_mean as segment_mean, sparse_segment_sqrt_n as segment_sqrt_n, sparse_segment_sum as segment_sum,
)
from tfnb.ops.sparse.conversion import sparse_placeholder as placeholder, sparse_tensor_to_dense as to_dense
from tfnb.ops.declaration.public import exports as _exports

__getattr__ = _exports(__name__)
