"""Staging areas: buffers of tuples of arrays, in FIFO order or by keys, with bounds on their number and bytes."""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core.errors import InvalidArgumentError, ResourceExhaustedError
from tfnb.resources.monitor import Monitor

Arrays = tuple[Any, ...]


def nbytes(arrays: Sequence[np.ndarray]) -> int:
    """Return the memory that arrays take; of strings, their bytes."""
    return sum(sum(map(len, a.reshape(-1))) if a.dtype == object else a.nbytes for a in arrays)


class _Bounded(Monitor):
    """Counts of elements and bytes, with their bounds (0: none)."""

    what = "Staging"

    def __init__(self, capacity: int, limit: int) -> None:
        super().__init__()
        self.capacity, self.limit, self.bytes = capacity, limit, 0

    def _check(self, size: int) -> None:
        """Raise ResourceExhaustedError for what will never fit."""
        if 0 < self.limit < size:
            raise ResourceExhaustedError(None, None, f"Attempted to insert tensors with combined size of '{size}' "
                                         f"bytes into Staging Area with a memory limit of '{self.limit}'.")

    def _fits(self, count: int, size: int) -> bool:
        """Return whether there is room beside `count` elements. Raises ResourceExhaustedError if there never is."""
        return not (0 < self.capacity <= count or 0 < self.limit < self.bytes + size)


class Staging(_Bounded):
    """FIFO buffer of tuples of arrays."""

    def __init__(self, capacity: int, limit: int) -> None:
        super().__init__(capacity, limit)
        self._items: deque[Arrays] = deque()

    def put(self, values: Arrays, timeout: float | None) -> None:
        """Append a tuple, as soon as there is room."""
        size = nbytes(values)
        self._check(size)

        def attempt() -> bool | None:
            if not self._fits(len(self._items), size):
                return None
            self.bytes += size
            self._items.append(values)
            return True
        self.wait(attempt, timeout)

    def get(self, timeout: float | None) -> Arrays:
        """Remove and return the first tuple, as soon as there is one."""
        def attempt() -> Arrays | None:
            if not self._items:
                return None
            found = self._items.popleft()
            self.bytes -= nbytes(found)
            return found
        return self.wait(attempt, timeout)

    def peek(self, index: int, timeout: float | None) -> Arrays:
        """Return the tuple at `index`, as soon as there are as many; it stays."""
        return self.wait(lambda: self._items[index] if -1 < index < len(self._items) else None, timeout)

    def __len__(self) -> int:
        return len(self._items)

    def clear(self) -> None:
        """Remove everything."""
        def action() -> None:
            self._items.clear()
            self.bytes = 0
        self.change(action)


class MapStaging(_Bounded):
    """Buffer of tuples of `width` arrays by int64 keys. A tuple may come and go in parts.

    ordered: what is taken without a key has the least one.
    """

    def __init__(self, capacity: int, limit: int, width: int, ordered: bool) -> None:
        super().__init__(capacity, limit)
        self.width, self.ordered = width, ordered
        self._whole: dict[int, list[Any]] = {}
        self._parts: dict[int, list[Any]] = {}

    def _check_indices(self, indices: Sequence[int], count: int | None = None) -> None:
        """Raise InvalidArgumentError for indices that don't ascend, are out of range, or not as many as values."""
        if count is not None and len(indices) != count:
            raise InvalidArgumentError(None, None, f"Number of indices ({len(indices)}) and of values ({count}) differ")
        if list(indices) != sorted(set(indices)):
            raise InvalidArgumentError(None, None, f"Indices are not strictly ordered: {list(indices)}")
        if len(indices) and not 0 <= indices[0] <= indices[-1] < self.width:
            raise InvalidArgumentError(None, None, f"indices must be in [0, {self.width}), got {list(indices)}")

    def put(self, key: int, indices: Sequence[int], values: Arrays, timeout: float | None) -> None:
        """Insert the components at `indices` of the tuple of a key, as soon as there is room."""
        self._check_indices(indices, len(values))
        size = nbytes(values)
        self._check(size)

        def attempt() -> bool | None:
            begun = self._parts.get(key) if len(indices) < self.width else None
            if not self._fits(len(self._whole), size) and begun is None:
                return None
            found: list[Any] = [None] * self.width if begun is None else begun
            for i, value in zip(indices, values, strict=True):
                if found[i] is not None:
                    raise InvalidArgumentError(None, None, f"The tensor for index '{i}' for key '{key}' was already "
                                                           "initialized")
                found[i] = value
            self.bytes += size
            if any(value is None for value in found):
                self._parts[key] = found
                return True
            if len(indices) < self.width:
                self._parts.pop(key, None)
            if self._whole.setdefault(key, found) is not found:     # official: the tuple that is there stays
                self.bytes -= nbytes(found)
            return True
        self.wait(attempt, timeout)

    def _taken(self, key: int, indices: Sequence[int], remove: bool) -> Arrays:
        found = self._whole[key]
        for i in indices:
            if found[i] is None:
                raise InvalidArgumentError(None, None, f"Tensor at index '{i}' for key '{key}' has already been "
                                                       "removed.")
        values = tuple(found[i] for i in indices)
        if remove:
            self.bytes -= nbytes(values)
            for i in indices:
                found[i] = None
            if all(value is None for value in found):
                del self._whole[key]
        return values

    def get(self, key: int, indices: Sequence[int], timeout: float | None, remove: bool = True) -> Arrays:
        """Return components of the tuple of a key, as soon as it is whole, and remove them."""
        self._check_indices(indices)
        return self.wait(lambda: self._taken(key, indices, remove) if key in self._whole else None, timeout)

    def pop(self, indices: Sequence[int], timeout: float | None) -> tuple[int, Arrays]:
        """Return a key and components of its tuple, as soon as there is one, and remove them."""
        self._check_indices(indices)

        def attempt() -> tuple[int, Arrays] | None:
            if not self._whole:
                return None
            key = min(self._whole) if self.ordered else next(iter(self._whole))
            return key, self._taken(key, indices, True)
        return self.wait(attempt, timeout)

    def __len__(self) -> int:
        return len(self._whole)

    def incomplete(self) -> int:
        """Return the number of tuples of which components are missing."""
        return len(self._parts)

    def clear(self) -> None:
        """Remove everything."""
        def action() -> None:
            self._whole.clear()
            self._parts.clear()
            self.bytes = 0
        self.change(action)
