"""Elements of one shape in one buffer, which loop kernels read and write by index.

A kernel's view of them is `head`, int64 values at positions named here. A kernel that can't go on (no
room, no such element) changes nothing and stops its program; who plays the program then asks the owner of the rows
for room or for the error (resources/elements.py).
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

DATA, COUNT, CAPACITY, STATES, FLAGS, HEAD_WORDS = range(6)

# Of all elements. CLEARS: reading drops; DYNAMIC: writing behind the end makes them more; SUMS: a second write adds;
# SAME: one element determines the shape of all; ZEROS: that is known, so an unwritten element is zeros; LENT: others
# have the buffer too, so it is copied before anything is added to an element.
CLEARS, DYNAMIC, SUMS, SAME, ZEROS, LENT = 1, 2, 4, 8, 16, 32
# Of one element. PRESENT: it has a value; KNOWN: it had one, so its shape is known; GONE: reading dropped it.
PRESENT, KNOWN, GONE = 1, 2, 4


class Rows:
    """Buffer of `count` elements of one dtype and shape, with room for `capacity`. No element is present at first.

    data: rows that are all elements, and never change.
    """

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], count: int, capacity: int = 0,
                 flags: int = 0, data: np.ndarray | None = None) -> None:
        self.dtype, self.shape = dtype, shape
        self.head = np.zeros(HEAD_WORDS, np.int64)
        self.head[COUNT], self.head[FLAGS] = count, flags if data is None else flags | LENT
        room = max(count, capacity)
        self._place(np.empty((room, *shape), dtype) if data is None else data, np.zeros(room, np.uint8))
        if data is not None:
            self.states.fill(PRESENT | KNOWN)
            self._told()

    def _place(self, data: np.ndarray, states: np.ndarray) -> None:
        self.data, self.states, self._found = data, states, False

    def _lend(self, lent: bool = True) -> None:
        self.head[FLAGS] = self.flags | LENT if lent else self.flags & ~LENT

    def keep(self) -> None:
        """Copy the buffer if others have it too: elements are about to change."""
        if self.flags & LENT:
            self._place(self.data.copy(), self.states)
            self._lend(False)

    def ready(self) -> np.ndarray:
        """Return the head, up to date for kernels."""
        if not self._found:                        # an address costs 1 us, and most uses have no need of it
            head = self.head
            head[DATA], head[STATES], head[CAPACITY] = self.data.ctypes.data, self.states.ctypes.data, len(self.states)
            self._found = True
        return self.head

    def __len__(self) -> int:
        return int(self.head[COUNT])

    @property
    def flags(self) -> int:
        """Flags of all elements."""
        return int(self.head[FLAGS])

    def _told(self) -> None:
        if self.flags & SAME:
            self.head[FLAGS] |= ZEROS

    def reserve(self, capacity: int, limit: int = -1) -> None:
        """Grow the rows to hold at least `capacity`, and at least double them; a `limit` >= 0 bounds the growth."""
        before = len(self.states)
        if capacity > before:
            wide = max(capacity, 2 * before, 8)
            wide = wide if limit < 0 else min(wide, limit)
            data, states = np.empty((wide, *self.shape), self.dtype), np.zeros(wide, np.uint8)
            used = len(self)
            data[:used], states[:used] = self.data[:used], self.states[:used]
            self._place(data, states)
            self._lend(False)

    # One element. resources/elements.py calls the same methods of separate arrays.

    def extend(self, count: int) -> None:
        """Set the count of elements."""
        self.reserve(count)
        self.head[COUNT] = count

    def has(self, i: int) -> bool:
        """Return whether element `i` has a value."""
        return bool(self.states[i] & PRESENT)

    def gone(self, i: int) -> bool:
        """Return whether element `i` was dropped by a read."""
        return bool(self.states[i] & GONE)

    def shape_of(self, i: int) -> tuple[int, ...] | None:
        """Return the shape of the value written at `i`."""
        return self.shape if self.states[i] & KNOWN else None

    def all_shapes(self) -> list[tuple[int, ...] | None]:
        """Return `shape_of` each element."""
        return [self.shape if known else None for known in (self.states[:len(self)] & KNOWN).tolist()]

    def get(self, i: int) -> np.ndarray:
        """Return a copy of element `i`."""
        return np.array(self.data[i])

    def take(self, i: int) -> np.ndarray:
        """Return element `i` and drop it."""
        self.states[i] = KNOWN | GONE
        return np.array(self.data[i])

    def put(self, i: int, value: np.ndarray) -> None:
        """Set element `i` to `value`, of the right shape and dtype."""
        self.data[i] = value
        self.states[i] = PRESENT | KNOWN
        self._told()

    def add(self, i: int, value: np.ndarray) -> None:
        """Add `value` to element `i`."""
        self.data[i] = self.data[i] + value

    # All of them

    def put_all(self, values: np.ndarray) -> bool:
        """Set all elements to the rows of `values`, unless one has a value, or had one that was dropped."""
        states = self.states[:len(self)]
        if (states & (PRESENT | GONE)).any():
            return False
        self.data[:len(self)], states[:] = values, PRESENT | KNOWN
        self._told()
        return True

    def take_all(self) -> np.ndarray | None:
        """Return all elements in one array, dropping them if reading clears; None unless each has a value."""
        used = len(self)
        if not used or self.states[:used].tobytes().count(PRESENT | KNOWN) < used:
            return None
        if self.flags & CLEARS:
            self.states[:used] = KNOWN | GONE
        if not self.flags & (CLEARS | SUMS) or self.flags & LENT or used < len(self.data):
            return self.data[:used].copy()
        self._lend()
        return self.data


class Items:
    """Elements that are separate arrays, of any shapes."""

    def __init__(self, count: int, shapes: Sequence[tuple[int, ...] | None] = ()) -> None:
        self.values: list[np.ndarray | None] = [None] * count
        self.shapes = [*shapes] or [None] * count                        # of what was ever written there
        self.kinds = set(shapes) - {None}
        self._gone: set[int] = set()

    def __len__(self) -> int:
        return len(self.values)

    def extend(self, count: int) -> None:
        """Set the count of elements."""
        more = count - len(self.values)
        self.values += [None] * more
        self.shapes += [None] * more

    def has(self, i: int) -> bool:
        """Return whether element `i` has a value."""
        return self.values[i] is not None

    def untouched(self) -> bool:
        """Return whether no element ever had a value."""
        return not self._gone and all(value is None for value in self.values)

    def gone(self, i: int) -> bool:
        """Return whether element `i` was dropped by a read."""
        return i in self._gone

    def shape_of(self, i: int) -> tuple[int, ...] | None:
        """Return the shape of the value written at `i`."""
        return self.shapes[i]

    def all_shapes(self) -> list[tuple[int, ...] | None]:
        """Return `shape_of` each element."""
        return self.shapes

    def get(self, i: int) -> np.ndarray:
        """Return a copy of element `i`."""
        return np.array(self.values[i])

    def take(self, i: int) -> np.ndarray:
        """Return element `i` and drop it."""
        value, self.values[i] = self.values[i], None
        self._gone.add(i)
        assert value is not None
        return value

    def put(self, i: int, value: np.ndarray) -> None:
        """Set element `i` to `value`, which must not change."""
        self.values[i], self.shapes[i] = value, value.shape
        self.kinds.add(value.shape)

    def add(self, i: int, value: np.ndarray) -> None:
        """Add `value` to element `i`."""
        self.values[i] = self.values[i] + value

    def take_all(self) -> np.ndarray | None:
        """Return None: the elements are not in one array."""
        return None


def gathered(items: Items, dtype: np.dtype[Any], shape: tuple[int, ...], flags: int) -> Rows:
    """Copy elements into one buffer. All of them must have that dtype and shape."""
    rows = Rows(dtype, shape, len(items), flags=flags)
    for i, value in enumerate(items.values if items.kinds else ()):
        if value is not None:
            rows.put(i, value)
        elif items.shapes[i] is not None:
            rows.states[i] = KNOWN | GONE if items.gone(i) else KNOWN
    return rows


def scattered(rows: Rows) -> Items:
    """Return the same elements as separate arrays."""
    items = Items(len(rows), rows.all_shapes())
    for i in range(len(rows)):
        if rows.has(i) or rows.gone(i):
            items.put(i, rows.get(i))
        if rows.gone(i):
            items.take(i)
    return items
