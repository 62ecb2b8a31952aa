"""The sum of the gradients that reach one tensor on several ways."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfnb.graph.parts.operation import Operation
from tfnb.graph.stack import colocate_with, name_scope
from tfnb.ops.array.joining import ConcatV2
from tfnb.ops.composite.indexed_slices import IndexedSlices, with_equal_indices
from tfnb.ops.math.arithmetic import AddN


class AggregationMethod:
    """Methods by which `tf.gradients` adds several gradients of one tensor.

    ADD_N: one AddN once all are there. EXPERIMENTAL_TREE, EXPERIMENTAL_ACCUMULATE_N: two at a time as they come, which
    needs less memory at once. DEFAULT is ADD_N.

    >>> x = tf.constant(3.0)
    >>> sess.run(tf.gradients([x, 2 * x], [x], aggregation_method=tf.AggregationMethod.ADD_N))
    [3.0]
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2

    @classmethod
    def check(cls, method: int | None) -> None:
        """Raises ValueError if `method` is neither None nor one of the constants."""
        accepted = [cls.ADD_N, cls.EXPERIMENTAL_TREE, cls.EXPERIMENTAL_ACCUMULATE_N]
        if method is not None and method not in accepted:
            raise ValueError(f"Invalid `aggregation_method` specified {method}. Accepted values are {accepted}.")


def aggregate(parts: Sequence[Any], op: Operation, method: int | None, colocated: bool) -> Any:
    """The sum of `parts` (not empty): gradients of one output of `op`, tensors or IndexedSlices.

    colocated: the caller put itself beside `op` already; else the sum stands beside its first summand.
    """
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, IndexedSlices) for part in parts):
        return _concatenate(with_equal_indices(parts))
    if method in (None, AggregationMethod.ADD_N):
        return _by_device(parts, colocated)
    total = parts[0]
    with name_scope(f"{op.name}_gradient_sum"):
        for part in parts[1:]:
            total = AddN([total, part])
    return total


def _by_device(parts: Sequence[Any], colocated: bool) -> Any:
    """First the sum on each device, then that of the devices."""
    devices: dict[str, list[Any]] = {}
    for part in parts:
        devices.setdefault(part.device, []).append(part)
    sums = [_add(group, colocated) for group in devices.values()]
    return sums[0] if len(sums) == 1 else AddN(sums)


def _add(parts: Sequence[Any], colocated: bool) -> Any:
    if len(parts) == 1:
        return parts[0]
    if colocated or isinstance(parts[0], IndexedSlices):
        return AddN(parts)
    with colocate_with(parts[0].op, ignore_existing=True):
        return AddN(parts)


def _concatenate(parts: Sequence[IndexedSlices]) -> IndexedSlices:
    """Rows that stand at the same place add up, so the sum is all the rows together."""
    values = ConcatV2([part.values for part in parts], 0, name="concat")
    indices = ConcatV2([part.indices for part in parts], 0, name="concat")
    shape = next((part.dense_shape for part in parts if part.dense_shape is not None), None)
    return IndexedSlices(values, indices, shape)
