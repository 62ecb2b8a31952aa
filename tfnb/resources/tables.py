"""Lookup tables: maps from keys to values that live in a session.

Keys and scalar values are held as Python objects (bytes, int, float, bool), other values as arrays. Threads may use a
table at once: writes hold its lock.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from tfnb.core.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tfnb.core.shape import shape_str

Shape = tuple[int, ...]
Key = Hashable


def invalid(message: str) -> InvalidArgumentError:
    """Build the error of arguments that don't fit a table; the runner adds the op."""
    return InvalidArgumentError(None, None, message)


class Table:
    """A mutable table. key_dtype, value_dtype: NumPy dtypes; value_shape: of one value.

    Methods take arrays and raise InvalidArgumentError for shapes that don't fit.
    """

    def __init__(self, key_dtype: np.dtype[Any], value_dtype: np.dtype[Any], value_shape: Shape = ()) -> None:
        self.key_dtype, self.value_dtype, self.value_shape = key_dtype, value_dtype, value_shape
        self.lock = threading.Lock()
        self.handle = np.empty((), object)
        self.handle[()] = self
        self._entries: dict[Key, Any] = {}

    def size(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """Return the value of each key, of shape keys.shape + value_shape.

        default: the value of a key that is not there, or one such value for each key.
        """
        whole = keys.shape + self.value_shape
        if default.shape == self.value_shape:
            others: Iterable[Any] = repeat(self._values(default[None])[0])
        elif default.shape == whole:
            others = self._values(default.reshape(-1, *self.value_shape))
        else:
            raise invalid(f"Expected shape {shape_str(self.value_shape)} or {shape_str(whole)} for default value, got "
                          f"{shape_str(default.shape)}")
        return self._array(list(map(self._entries.get, keys.ravel().tolist(), others)), whole)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Set the value of each key; the last one of equal keys holds."""
        pairs = self._pairs(keys, values)
        with self.lock:
            self._entries.update(pairs)

    def remove(self, keys: np.ndarray) -> None:
        """Drop the entries of keys; those without one are ignored."""
        with self.lock:
            for key in keys.ravel().tolist():
                self._entries.pop(key, None)

    def load(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Replace all entries."""
        pairs = dict(self._pairs(keys, values))
        with self.lock:
            self._entries = pairs

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all keys [n] and values [n] + value_shape."""
        with self.lock:
            keys, values = list(self._entries), list(self._entries.values())
        made = np.empty(len(keys), self.key_dtype)
        made[:] = keys
        return made, self._array(values, (len(keys), *self.value_shape))

    def initialize(self, pairs: Callable[[], Sequence[tuple[Key, Any]]]) -> None:
        """Fill a table once. Raises InvalidArgumentError: only a static table can be."""
        raise invalid("Expected a HashTable to initialize, got a mutable table: insert into it")

    def _pairs(self, keys: np.ndarray, values: np.ndarray) -> list[tuple[Key, Any]]:
        want = keys.shape + self.value_shape
        if values.shape != want:
            raise invalid(f"Expected shape {shape_str(want)} for value, got {shape_str(values.shape)}")
        return list(zip(keys.ravel().tolist(), self._values(values.reshape(-1, *self.value_shape)), strict=True))

    def _values(self, rows: np.ndarray) -> list[Any]:
        return list(rows.copy()) if self.value_shape else rows.tolist()

    def _array(self, values: list[Any], shape: Shape) -> np.ndarray:
        if not values:
            return np.empty(shape, self.value_dtype)
        return np.array(values, self.value_dtype).reshape(shape)


class StaticTable(Table):
    """A table that is initialized once and immutable after that."""

    _ready = False
    _sorted: tuple[np.ndarray, np.ndarray] | None = None     # ascending integer keys, and their values

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """See Table. Raises FailedPreconditionError before the initialization."""
        if not self._ready:
            raise FailedPreconditionError(None, None, "Table not initialized: run sess.run(tf.tables_initializer()) "
                                                      "first")
        if self._sorted is None or default.shape:
            return super().find(keys, default)
        known, values = self._sorted
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[places] == keys, values[places], default)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Raise UnimplementedError."""
        raise UnimplementedError(None, None, "insert not supported by HashTable implementations")

    def remove(self, keys: np.ndarray) -> None:
        """Raise UnimplementedError."""
        raise UnimplementedError(None, None, "remove not supported by HashTable implementations")

    def load(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Initialize the table."""
        if keys.ndim != 1:
            raise invalid(f"Expected keys of shape [n], got {shape_str(keys.shape)}")
        self.initialize(lambda: self._pairs(keys, values))

    def initialize(self, pairs: Callable[[], Sequence[tuple[Key, Any]]]) -> None:
        """Fill the table, in one step. pairs: a function that returns keys with values.

        Raises FailedPreconditionError for a key that comes with two values, and where the table is initialized
        already, with another number of pairs.
        """
        found = pairs()
        with self.lock:
            if self._ready:
                if len(found) != self.size():
                    raise FailedPreconditionError(None, None, "Table was already initialized with different data: "
                                                              f"expected {self.size()} entries, got {len(found)}")
                return
            made: dict[Key, Any] = {}
            for key, value in found:
                if made.setdefault(key, value) != value:
                    raise FailedPreconditionError(None, None, "HashTable has different value for same key. Key "
                                                              f"{key!r} has {made[key]!r} and trying to add value "
                                                              f"{value!r}")
            if made and self.key_dtype.kind in "iu":       # bisection of an array is faster than a dict
                known, values = np.array(list(made), self.key_dtype), self._array(list(made.values()), (len(made),))
                order = np.argsort(known)
                self._sorted = known[order], values[order]
            self._entries, self._ready = made, True

    @property
    def ready(self) -> bool:
        """Whether the table is initialized."""
        return self._ready


class DenseTable(Table):
    """A mutable table in buckets, by open addressing with quadratic probing, as TensorFlow's checkpoints hold it.

    empty, deleted (or None): arrays of one key each, which mark buckets and can be no keys; hashed: the hash of a
    key's element; buckets: their first number, a power of 2, doubled when more than the share `load` is used.
    """

    def __init__(self, value_dtype: np.dtype[Any], value_shape: Shape, empty: np.ndarray, deleted: np.ndarray | None,
                 hashed: Callable[[Any], int], buckets: int, load: float) -> None:
        super().__init__(empty.dtype, value_dtype, value_shape)
        if deleted is not None and deleted.shape != empty.shape:
            raise invalid(f"Expected empty_key and deleted_key of one shape, got {shape_str(empty.shape)} and "
                          f"{shape_str(deleted.shape)}")
        if deleted is not None and np.array_equal(empty, deleted):
            raise invalid("Expected an empty_key and a deleted_key that differ, got the same key twice")
        if buckets < 4 or buckets & buckets - 1:
            raise invalid(f"Expected a power of 2 that is at least 4 for initial_num_buckets, got {buckets}")
        if not 0 < load < 1:
            raise invalid(f"Expected a max_load_factor between 0 and 1, got {load}")
        self._empty, self._deleted, self._hashed, self._load = empty.copy(), deleted, hashed, load
        self._marks = dict(zip(self._as_keys(empty[None]), ("empty_key",), strict=True))
        if deleted is not None:
            self._marks[self._as_keys(deleted[None])[0]] = "deleted_key"
        self._clear(buckets)

    def _clear(self, buckets: int) -> None:
        """Take new, empty buckets. `_entries` maps keys to the numbers of their buckets."""
        self._entries = {}
        self._keys = np.empty((buckets, *self._empty.shape), self.key_dtype)
        self._keys[...] = self._empty
        self._used = bytearray(buckets)
        self._stored = np.empty((buckets, *self.value_shape), self.value_dtype)
        self._stored[...] = b"" if self.value_dtype.hasobject else 0

    def _as_keys(self, rows: np.ndarray) -> list[Key]:
        """Return keys [n] + the shape of a key as Python objects."""
        return list(map(tuple, rows.reshape(-1, self._empty.size).tolist())) if self._empty.ndim else rows.tolist()

    def _listed(self, keys: np.ndarray) -> list[Key]:
        """Return keys as Python objects. Raises InvalidArgumentError for other shapes and for those that mark."""
        if keys.shape[1:] != self._empty.shape or not keys.ndim:
            raise invalid(f"Expected key shape {shape_str((None, *self._empty.shape))}, got {shape_str(keys.shape)}")
        found = self._as_keys(keys)
        for mark in self._marks.keys() & set(found):
            raise invalid(f"Using the {self._marks[mark]} as a table key is not allowed: got {mark!r}")
        return found

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """See Table. Raises InvalidArgumentError also for the keys that mark buckets."""
        listed = self._listed(keys)
        if default.shape not in (self.value_shape, (len(listed), *self.value_shape)):
            raise invalid(f"Expected shape {shape_str(self.value_shape)} for default value, got "
                          f"{shape_str(default.shape)}")
        made = np.empty((len(listed), *self.value_shape), self.value_dtype)
        made[...] = default
        with self.lock:
            places = [self._entries.get(key, -1) for key in listed]
            there = [i for i, place in enumerate(places) if place >= 0]
            made[there] = self._stored[[places[i] for i in there]]
        return made

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Table. Raises InvalidArgumentError also for the keys that mark buckets."""
        listed = self._listed(keys)
        want = (len(listed), *self.value_shape)
        if values.shape != want:
            raise invalid(f"Expected shape {shape_str(want)} for value, got {shape_str(values.shape)}")
        with self.lock:
            self._make_room(len(listed))
            for key, row, value in zip(listed, keys, values, strict=True):
                self._put(key, row, value)

    def _make_room(self, more: int) -> None:
        buckets = len(self._keys)
        while len(self._entries) + more > buckets * self._load:
            buckets *= 2
        if buckets > len(self._keys):
            self._rehash(self._keys, self._stored, buckets)

    def _rehash(self, keys: np.ndarray, values: np.ndarray, buckets: int) -> None:
        """Put the entries of some buckets into `buckets` new ones."""
        self._clear(buckets)
        for key, row, value in zip(self._as_keys(keys), keys, values, strict=True):
            if key not in self._marks:
                self._put(key, row, value)

    def _put(self, key: Key, row: Any, value: Any) -> None:
        place = self._entries.get(key)
        if place is None:
            place, mask, probes = self._hash(key), len(self._keys) - 1, 0
            while self._used[place & mask]:
                probes += 1
                place += probes
            place &= mask
            self._entries[key], self._keys[place], self._used[place] = place, row, 1
        self._stored[place] = value

    def _hash(self, key: Key) -> int:
        if not isinstance(key, tuple):
            return self._hashed(key)
        found = 0
        for part in key:
            found ^= self._hashed(part) + 0x9E3779B97F4A7800 + (found << 10) + (found >> 4) & (1 << 64) - 1
        return found

    def remove(self, keys: np.ndarray) -> None:
        """See Table. Raises InvalidArgumentError also for the keys that mark buckets."""
        listed = self._listed(keys)
        if self._deleted is None:
            raise UnimplementedError(None, None, "remove needs a table with a deleted_key")
        with self.lock:
            for key in listed:
                if (place := self._entries.pop(key, None)) is not None:
                    self._keys[place], self._used[place] = self._deleted, 0

    def load(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Replace all buckets by exported ones: keys [n, elements of a key], values [n, elements of a value]."""
        buckets = len(keys)
        if keys.size != buckets * self._empty.size or values.size != buckets * int(np.prod(self.value_shape)):
            raise invalid(f"Expected keys [n, {self._empty.size}] and values [n, {int(np.prod(self.value_shape))}] "
                          f"with n buckets, got {shape_str(keys.shape)} and {shape_str(values.shape)}")
        with self.lock:
            self._rehash(keys.reshape(-1, *self._empty.shape), values.reshape(-1, *self.value_shape),
                         max(4, 1 << max(buckets - 1, 0).bit_length()))

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all buckets: keys [n, elements of a key], also those that mark, and values [n, elements of one]."""
        with self.lock:
            return self._keys.reshape(len(self._keys), -1).copy(), self._stored.reshape(len(self._keys), -1).copy()
