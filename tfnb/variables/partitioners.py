"""Partitioners: functions from the shape and dtype of a variable to the number of its parts along each axis."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core import dtypes
from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.shape import TensorShape

Partitioner = Callable[..., Sequence[int]]


def variable_axis_size_partitioner(max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16,
                                   max_shards: int | None = None) -> Partitioner:
    """Return a partitioner into parts of at most `max_shard_bytes` along `axis`, one row or more each.

    bytes_per_string_element: what a string is reckoned to take. max_shards: no more parts than this, however large they
    become. Raises ValueError for sizes or numbers that are not positive.

    >>> partitioner = tf.variable_axis_size_partitioner(max_shard_bytes=64)
    >>> w = tf.get_variable("w", [10, 3], partitioner=partitioner)
    >>> [part.shape.as_list() for part in w]
    [[5, 3], [5, 3]]
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive. Currently, "
                         f"max_shard_bytes is {max_shard_bytes} and bytes_per_string_element is "
                         f"{bytes_per_string_element}")
    if max_shards is not None and max_shards < 1:
        raise ValueError(f"max_shards must be positive, but is {max_shards}.")

    def partition(shape: Any, dtype: Any) -> list[int]:
        sizes = _sizes(shape, axis)
        row = _element_bytes(dtype, bytes_per_string_element) * math.prod(sizes) // max(sizes[axis], 1)
        rows = max(1, max_shard_bytes // row) if row else max(sizes[axis], 1)
        parts = max(1, -(-sizes[axis] // rows))
        return _along(sizes, axis, parts if max_shards is None else min(parts, max_shards))
    return partition


def min_max_variable_partitioner(max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10,
                                 bytes_per_string_element: int = 16) -> Partitioner:
    """Return a partitioner into parts of `min_slice_size` bytes along `axis`, at most `max_partitions`.

    bytes_per_string_element: what a string is reckoned to take.

    Raises ValueError for numbers that are not positive.

    >>> partitioner = tf.min_max_variable_partitioner(max_partitions=2, min_slice_size=32)
    >>> w = tf.get_variable("w", [10, 3], partitioner=partitioner)
    >>> [part.shape.as_list() for part in w]
    [[5, 3], [5, 3]]
    """
    for name, value in (("max_partitions", max_partitions), ("min_slice_size", min_slice_size),
                        ("bytes_per_string_element", bytes_per_string_element)):
        if value < 1:
            raise ValueError(f"{name} must be positive, but is {value}.")

    def partition(shape: Any, dtype: Any) -> list[int]:
        sizes = _sizes(shape, axis)
        total = math.prod(sizes) * _element_bytes(dtype, bytes_per_string_element)
        parts = max(1, -(-total // min_slice_size))
        return _along(sizes, axis, min(sizes[axis], max_partitions, parts))
    return partition


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Return a partitioner into `num_shards` parts along `axis`, no more than it is long.

    >>> partitioner = tf.fixed_size_partitioner(2)
    >>> w = tf.get_variable("w", [10, 3], partitioner=partitioner)
    >>> [part.shape.as_list() for part in w]
    [[5, 3], [5, 3]]
    """
    def partition(shape: Any, dtype: Any = None, **_: Any) -> list[int]:
        sizes = [1 if n is None else n for n in TensorShape(shape).as_list()]
        return _along(sizes, axis, min(num_shards, sizes[axis]))
    return partition


def _sizes(shape: Any, axis: int) -> list[int]:
    if not isinstance(shape, TensorShape):
        raise ValueError(f"shape is not a TensorShape: {shape}")
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    sizes: list[int] = shape.as_list()
    if not -len(sizes) <= axis < len(sizes):
        raise ValueError(f"can't cut the shape {shape} along axis {axis}")
    return sizes


def _element_bytes(dtype: Any, string: int) -> int:
    found: DType = as_dtype(dtype).base_dtype
    return string if found is dtypes.string else int(found.size)


def _along(sizes: Sequence[int], axis: int, parts: int) -> list[int]:
    found = [1] * len(sizes)
    found[axis] = parts
    return found


def partitions_of(partitioner: Partitioner, shape: TensorShape, dtype: DType) -> list[int]:
    """Return the number of parts along each axis by a partitioner. Raises ValueError for an invalid result."""
    if not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {shape}.")
    found = partitioner(shape=shape, dtype=dtype)
    if not isinstance(found, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {found}")
    parts = [int(n) for n in found]
    if len(parts) != shape.ndims:
        raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {parts} vs. "
                         f"{shape}")
    if any(n < 1 for n in parts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
    if sum(n > 1 for n in parts) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {parts}")
    return parts
