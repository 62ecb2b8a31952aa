"""Maps from handles to sparse tensors: in queues of dense tensors, a handle represents a sparse one."""
from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.dtypes import DType
from tfnb.core.errors import InvalidArgumentError
from tfnb.core.shape import Static, merge
from tfnb.ops.composite.sparse_tensor import SparseTensorValue
from tfnb.ops.declaration.declare import host


class SparseTensorsMap:
    """Sparse tensors by handle; each is taken out once. Threads may use it at once."""

    def __init__(self) -> None:
        self._held: dict[int, SparseTensorValue] = {}
        self._handles = itertools.count()
        self._lock = threading.Lock()

    def add(self, sparse: SparseTensorValue) -> int:
        """Keep a sparse tensor; its handle."""
        with self._lock:
            handle = next(self._handles)
            self._held[handle] = sparse
            return handle

    def take(self, handle: int) -> SparseTensorValue:
        """Take a sparse tensor out. Raises InvalidArgumentError if there is none."""
        with self._lock:
            if handle not in self._held:
                raise InvalidArgumentError(None, None, f"Unable to find SparseTensor: {handle} in map")
            return self._held.pop(handle)


def _parts(ctx: Any) -> None:
    merge(merge(ctx.shape(0), (None, None))[:1], ctx.shape(1))                      # type: ignore[index]
    merge(merge(ctx.shape(0), (None, None))[1:], ctx.shape(2))                      # type: ignore[index]


def _one_handle(ctx: Any) -> list[Static]:
    _parts(ctx)
    return [()]


def _many_handles(ctx: Any) -> list[Static]:
    _parts(ctx)
    return [(None,)]


_SPARSE = "sparse_indices: int64, sparse_values: T, sparse_shape: int64"
_NAMED: dict[str, Any] = {"container": "string = ''", "shared_name": "string = ''"}


def rows_of(op: Any, indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> list[SparseTensorValue]:
    """Return copies of the rows, along the first axis, of a sparse tensor in row-major order.

    Raises InvalidArgumentError for a rank below 2, and for rows that are out of order or outside of the shape.
    """
    if len(shape) < 2:
        raise InvalidArgumentError(None, op, f"Rank of input SparseTensor should be > 1, got {len(shape)}")
    rows = indices[:, 0]
    if len(rows) and (rows.min() < 0 or rows.max() >= shape[0] or (np.diff(rows) < 0).any()):
        raise InvalidArgumentError(None, op, "indices of the first axis must be in order and between 0 and "
                                             f"{int(shape[0])}, got {rows.tolist()}")
    ends = np.searchsorted(rows, np.arange(int(shape[0]) + 1))
    return [SparseTensorValue(indices[a:b, 1:].copy(), values[a:b].copy(), shape[1:].copy())
            for a, b in itertools.pairwise(ends)]


@host(f"{_SPARSE} -> sparse_handle: int64", shape=_one_handle, stateful=True, T="type", **_NAMED)
def AddSparseToTensorsMap(indices: Any, values: Any, shape: Any, *, ctx: Any) -> Any:
    """Put a sparse tensor into a map of the session and return its handle."""
    held = ctx.store.resource(ctx.op, SparseTensorsMap)
    return np.int64(held.add(SparseTensorValue(indices.copy(), values.copy(), shape.copy())))


@host(f"{_SPARSE} -> sparse_handles: int64", shape=_many_handles, stateful=True, T="type", **_NAMED)
def AddManySparseToTensorsMap(indices: Any, values: Any, shape: Any, *, ctx: Any) -> Any:
    """Put the rows, along the first axis, of a sparse tensor into a map of the session and return their handles."""
    held = ctx.store.resource(ctx.op, SparseTensorsMap)
    return np.array([held.add(row) for row in rows_of(ctx.op, indices, values, shape)], np.int64)


def _taken_shapes(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), (None,))
    return [(None, None), (None,), (None,)]


@host("sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64", stateful=True,
      shape=_taken_shapes, dtype="type", **_NAMED)
def TakeManySparseFromTensorsMap(handles: Any, *, dtype: Any, ctx: Any) -> Any:
    """Take sparse tensors out of a map and stack them: [N, the largest size along each axis]."""
    held = ctx.store.resource(ctx.op, SparseTensorsMap)
    taken = [held.take(handle) for handle in handles.tolist()]
    return stacked(ctx.op, taken, dtype)


def stacked(op: Any, taken: Sequence[SparseTensorValue], dtype: DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the parts of sparse tensors along a new first axis: [N, the largest size along each axis].

    Raises InvalidArgumentError for none, other ranks or values of another dtype than `dtype`.
    """
    ranks = {len(one.dense_shape) for one in taken}
    if len(ranks) != 1:
        raise InvalidArgumentError(None, op, f"Inconsistent rank across SparseTensors: got ranks {sorted(ranks)}"
                                   if ranks else "Must have at least 1 serialized SparseTensor, got 0")
    wanted = dtype.as_numpy_dtype
    if any(one.values.dtype != wanted for one in taken):
        raise InvalidArgumentError(None, op, f"Requested SparseTensor of type {dtype.name}, but the map has "
                                             f"{[str(one.values.dtype) for one in taken]}")
    numbers = indexing.repeat(np.arange(len(taken)), [len(one.values) for one in taken])
    indices = np.concatenate([one.indices for one in taken])
    shape = np.max([one.dense_shape for one in taken], axis=0)
    return (np.column_stack([numbers, indices]).astype(np.int64), np.concatenate([one.values for one in taken]),
            np.array([len(taken), *shape], np.int64))


for _op in (AddSparseToTensorsMap, AddManySparseToTensorsMap, TakeManySparseFromTensorsMap):
    _op.no_gradient("it is made of handles")
