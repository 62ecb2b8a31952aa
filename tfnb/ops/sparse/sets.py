"""Operations on sets: each row (last axis) of a tensor is a set of its elements."""
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tfnb.core import indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.shape import Static, merge
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.rows.sets import Elements, combined
from tfnb.kernels.library.rows.sparse import unfolded
from tfnb.ops.composite.sparse_tensor import SparseTensor
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.ops.sparse.structure import belong, flat_places, unknown_count
from tfnb.ops.strings.decoding import strings

# By operation: which elements the result has: those of `a` alone (1), of `b` alone (2), of both (3)
OPERATIONS = {"a-b": [1], "b-a": [2], "intersection": [3], "union": [1, 2, 3]}
_TYPES = "{int8, int16, int32, int64, uint8, uint16, string}"
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"
_ATTRS: dict[str, Any] = {"set_operation": "string", "validate_indices": "bool = true", "T": _TYPES}


class Sets(NamedTuple):
    """Elements of sets, and the number of the set that each belongs to, in row-major order of `groups`."""

    rows: np.ndarray
    values: np.ndarray
    groups: tuple[int, ...]


def _sets_of_dense(values: np.ndarray) -> Sets:
    if values.ndim < 2:
        raise ValueError(f"expected a set of rank 2 or more, got rank {values.ndim}")
    rows = indexing.repeat(np.arange(prod(values.shape[:-1])), values.shape[-1])
    return Sets(rows, values.reshape(-1), values.shape[:-1])


def _sets_of_sparse(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, validate: bool) -> Sets:
    if len(shape) < 2:
        raise ValueError(f"expected a set of rank 2 or more, got rank {len(shape)}")
    if len(indices) != len(values):
        raise ValueError(f"expected as many values as indices, got {len(values)} values and {len(indices)} indices")
    places = flat_places(indices, shape)
    if validate and (np.diff(places) <= 0).any():
        row = int((np.diff(places) <= 0).argmax()) + 1
        raise ValueError(f"indices[{row}] = {indices[row].tolist()} is repeated or out of order")
    return Sets(flat_places(indices[:, :-1], shape[:-1]), values, tuple(shape[:-1].tolist()))


def _numbered(*given: Sets) -> tuple[list[Elements], list[bytes] | None]:
    """Return integers as they are; of strings their places in sorted order, and the strings in that order."""
    if given[0].values.dtype.kind != "O":
        return [Elements(sets.rows, sets.values.astype(np.int64, copy=False)) for sets in given], None
    names = sorted({name for sets in given for name in sets.values.tolist()})
    places = {name: i for i, name in enumerate(names)}
    return [Elements(sets.rows, np.fromiter(map(places.__getitem__, sets.values.tolist()), np.int64, len(sets.values)))
            for sets in given], names


def _result(operation: bytes, dtype: np.dtype, a: Sets, b: Sets) -> Any:
    """Return a sparse tensor with the sorted elements of each set of the result."""
    if a.groups != b.groups:
        raise ValueError(f"Mismatched group shapes: {list(a.groups)} and {list(b.groups)}")
    (first, second), names = _numbered(a, b)
    rows, columns, values, most = combined(first, second, prod(a.groups), OPERATIONS[operation.decode()])
    indices = np.empty((len(rows), len(a.groups) + 1), np.int64)
    indices[:, :-1] = rows[:, None] if len(a.groups) == 1 else unfolded(rows, np.array(a.groups, np.int64))
    indices[:, -1] = columns
    return (indices, values.astype(dtype) if names is None else strings([names[i] for i in values.tolist()]),
            np.array([*a.groups, most], np.int64))


def _known_operation(ctx: Any) -> None:
    name = ctx.attrs["set_operation"]
    text = name.decode() if isinstance(name, bytes) else name
    if text not in OPERATIONS:
        raise ValueError(f"Invalid set_operation {text!r}: expected one of {', '.join(sorted(OPERATIONS))}")


def _shapes(first: int, second: int) -> Callable[[Any], list[Static]]:
    """Return a shape function. first, second: how many inputs each set is (1 if dense, 3 if sparse)."""
    def shape(ctx: Any) -> list[Static]:
        """Return shapes of a sparse tensor of the common rank."""
        _known_operation(ctx)
        rank, groups = None, None
        for at, count in ((0, first), (first, second)):
            sizes = ctx.partial(at + 2) if count == 3 else ctx.shape(at)
            known = belong(ctx, at)[1] if count == 3 else None if sizes is None else len(sizes)
            if known is not None and known < 2:
                raise ValueError(f"Input rank must be 2 or more, got {known}")
            (rank,) = merge((rank,), (known,)) or (None,)
            groups = merge(groups, None if sizes is None else sizes[:-1])
        return unknown_count(rank)
    return shape


@host(f"set1: T, set2: T -> {_RESULT}", shape=_shapes(1, 1), **_ATTRS)
def DenseToDenseSetOperation(a: Any, b: Any, *, set_operation: bytes, validate_indices: bool) -> Any:
    """Apply a set operation to the rows of two dense tensors."""
    return _result(set_operation, a.dtype, _sets_of_dense(a), _sets_of_dense(b))


@host(f"set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULT}", shape=_shapes(1, 3),
      ranks={"set2_indices": 2, "set2_values": 1, "set2_shape": 1}, **_ATTRS)
def DenseToSparseSetOperation(a: Any, bi: Any, bv: Any, bs: Any, *, set_operation: bytes,
                              validate_indices: bool) -> Any:
    """Apply a set operation to the rows of a dense and of a sparse tensor."""
    return _result(set_operation, a.dtype, _sets_of_dense(a), _sets_of_sparse(bi, bv, bs, validate_indices))


@host("set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, set2_values: T, "
      f"set2_shape: int64 -> {_RESULT}", shape=_shapes(3, 3),
      ranks={f"set{i}_{part}": rank for i in (1, 2) for part, rank in (("indices", 2), ("values", 1), ("shape", 1))},
      **_ATTRS)
def SparseToSparseSetOperation(ai: Any, av: Any, a_shape: Any, bi: Any, bv: Any, b_shape: Any, *,
                               set_operation: bytes, validate_indices: bool) -> Any:
    """Apply a set operation to the rows of two sparse tensors."""
    return _result(set_operation, av.dtype, _sets_of_sparse(ai, av, a_shape, validate_indices),
                   _sets_of_sparse(bi, bv, b_shape, validate_indices))


def _row_shape(ctx: Any) -> list[Static]:
    sizes, (_, rank) = ctx.partial(2), belong(ctx)
    return [sizes[:-1] if sizes is not None else None if rank is None else (None,) * (rank - 1)]


@host("set_indices: int64, set_values: T, set_shape: int64 -> size: int32", shape=_row_shape,
      ranks={"set_indices": 2, "set_values": 1, "set_shape": 1}, validate_indices="bool = true", T=_TYPES)
def SetSize(indices: Any, values: Any, shape: Any, *, validate_indices: bool) -> Any:
    """Count the different elements of each row of a sparse tensor."""
    found = _sets_of_sparse(indices, values, shape, validate_indices)
    (elements,), _ = _numbered(found)
    rows, _, _, _ = combined(elements, Elements(elements.rows[:0], elements.values[:0]), prod(found.groups), [1])
    return indexing.bincount(rows, minlength=prod(found.groups)).astype(np.int32).reshape(found.groups)


for _op in (DenseToDenseSetOperation, DenseToSparseSetOperation, SparseToSparseSetOperation, SetSize):
    _op.no_gradient("as in TensorFlow, sets have none")


@public("sets.set_size", "sets.size")
def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """Count the different elements of each row (last axis) of a SparseTensor: int32, one axis less.

    validate_indices: indices must be in row-major order, without repetitions. Raises TypeError for a dense tensor.

    >>> x = tf.SparseTensor(indices=[[0, 0], [0, 1], [1, 0]], values=[3, 3, 4], dense_shape=[2, 2])
    >>> sess.run(tf.sets.size(x))
    array([1, 1], dtype=int32)
    """
    if not isinstance(a, SparseTensor):
        a = SparseTensor.from_value(a)
    size: Tensor = SetSize(*a.parts, validate_indices=validate_indices)
    return size


def _applied(operation: str, a: Any, b: Any, validate: bool) -> SparseTensor:
    a, b = (each if isinstance(each, SparseTensor) else convert_to_tensor(each) for each in (a, b))
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b, operation = b, a, {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    options: dict[str, Any] = {"set_operation": operation, "validate_indices": validate}
    if isinstance(a, SparseTensor):
        return SparseTensor(*SparseToSparseSetOperation(*a.parts, *b.parts, **options))
    if isinstance(b, SparseTensor):
        return SparseTensor(*DenseToSparseSetOperation(a, *b.parts, **options))
    return SparseTensor(*DenseToDenseSetOperation(a, b, **options))


@public("sets.set_intersection", "sets.intersection")
def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Return the elements that each row (last axis) has in both `a` and `b`, sorted, as a SparseTensor.

    a, b: integers or strings, dense or sparse, with equal leading axes. validate_indices: those of sparse ones must be
    in row-major order. Raises ValueError for a rank below 2, or other leading axes.

    >>> sess.run(tf.sets.intersection([[1, 2, 3]], [[3, 1, 9]])).values
    array([1, 3], dtype=int32)
    """
    return _applied("intersection", a, b, validate_indices)


@public("sets.set_difference", "sets.difference")
def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Return the elements that each row (last axis) has in `a` and not in `b`, sorted, as a SparseTensor.

    a, b, validate_indices: as of `tf.sets.intersection`. aminusb: False for those in `b` and not in `a`.

    >>> sess.run(tf.sets.difference([[1, 2, 3]], [[3, 1, 9]])).values
    array([2], dtype=int32)
    """
    return _applied("a-b" if aminusb else "b-a", a, b, validate_indices)


@public("sets.set_union", "sets.union")
def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """Return the elements that each row (last axis) has in `a` or `b`, sorted, as a SparseTensor.

    a, b, validate_indices: as of `tf.sets.intersection`.

    >>> sess.run(tf.sets.union([[1, 2]], [[3, 1]])).values
    array([1, 2, 3], dtype=int32)
    """
    return _applied("union", a, b, validate_indices)


describe(globals(), TENSORS)
