"""What a cell's new run made, held against what its run before made: op by op, by name."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.graph.operation import Operation, Tensor


@dataclass(frozen=True, slots=True)
class Changes:
    """old: name -> op of the run before, in order; new: likewise; same: the names of ops that are what they were.

    An op is the same if type, attrs, device and static shapes are, and if it takes the same tensors, or the same
    outputs of ops of its cell that are the same themselves.
    """

    old: dict[str, Operation]
    new: dict[str, Operation]
    same: frozenset[str]

    @property
    def identical(self) -> bool:
        """Nothing is new, changed or gone, and there was something."""
        return bool(self.old) and len(self.same) == len(self.old) == len(self.new)


def compare(old: Iterable[Operation], new: Iterable[Operation]) -> Changes:
    """The changes between two runs of a cell, each given by its ops in the order they were made."""
    olds = {op.name: op for op in old}
    news = {op.name: op for op in new}
    same: set[str] = set()
    for name, op in news.items():               # creation order: inputs are judged before what takes them
        before = olds.get(name)
        if before is not None and _same(before, op, olds, same):
            same.add(name)
    return Changes(olds, news, frozenset(same))


def _same(old: Operation, new: Operation, olds: dict[str, Operation], same: set[str]) -> bool:
    def alike(before: Operation, after: Operation) -> bool:
        own = olds.get(before.name) is before and before.name == after.name
        return before is after or (own and before.name in same)

    return (old.type == new.type and old.device == new.device
            and len(old.inputs) == len(new.inputs) and len(old.outputs) == len(new.outputs)
            and len(old.control_inputs) == len(new.control_inputs)
            and all(a.value_index == b.value_index and alike(a.op, b.op)
                    for a, b in zip(old.inputs, new.inputs, strict=True))
            and all(alike(a, b) for a, b in zip(old.control_inputs, new.control_inputs, strict=True))
            and all(fits(a, b) for a, b in zip(old.outputs, new.outputs, strict=True))
            and same_value(old.attrs, new.attrs))


def fits(old: Tensor, new: Tensor) -> bool:
    """True if what took `old` can take `new`: equal dtype and equal static shape."""
    return bool(old.dtype == new.dtype) and old.static == new.static


def same_value(a: Any, b: Any) -> bool:
    """Equality of attr values; arrays by dtype, shape and bytes, so that NaN equals NaN and 0.0 is not -0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_value(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return bool(a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())
    if isinstance(a, float):
        return bool(a == b or (a != a and b != b))
    return bool(a == b)
