"""Barriers: components of tuples that arrive one by one under keys; a tuple can be taken when all of its have come."""
from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfnb.core.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tfnb.core.shape import Static, shape_str
from tfnb.resources.queues import PriorityQueue

_FIRST = -2**63                                    # TensorFlow's number of the first insertion


class Barrier:
    """Tuples that are incomplete, by their keys, and a queue of those that are complete, by their insertion.

    name: for messages; types: NumPy dtypes of the components; shapes: theirs, empty where they may differ.
    """

    def __init__(self, name: str, types: Sequence[Any], shapes: Sequence[Static]) -> None:
        self.name, self.types, self.shapes = name, tuple(map(np.dtype, types)), tuple(shapes)
        self._lock = threading.Lock()
        self._incomplete: dict[bytes, tuple[int, dict[int, np.ndarray]]] = {}
        self._ready = PriorityQueue("Barrier", name, -1)
        self._next, self._closed, self._cancelling = _FIRST, False, False

    def insert(self, component: int, keys: Sequence[bytes], values: Sequence[np.ndarray]) -> None:
        """Add a component to the tuples of some keys.

        Raises InvalidArgumentError for a component that a tuple has already, or of another shape than is stated;
        CancelledError for new keys once the barrier is closed.
        """
        with self._lock:
            if self._closed and (self._cancelling or keys and not self._incomplete):
                raise self._closed_error(f"{len(keys)} keys come")
            new = False
            try:
                for key, value in zip(keys, values, strict=True):
                    new = key not in self._incomplete or new
                    self._insert_one(component, key, value)
            finally:
                self._next += new
                if self._closed and not self._incomplete:
                    self._ready.close(cancel_pending=True)

    def _insert_one(self, component: int, key: bytes, value: np.ndarray) -> None:
        if self._closed and key not in self._incomplete:
            raise self._closed_error(f"the key {key!r} is new")
        index, parts = self._incomplete.setdefault(key, (self._next, {}))
        if component in parts:
            raise InvalidArgumentError(None, None, f"Key {key!r} already has a value for component {component} in "
                                                   f"barrier {self.name}")
        parts[component] = value
        if len(parts) == len(self.types):
            del self._incomplete[key]
            self._check_shapes(key, parts)
            self._ready.enqueue((index, key, *[parts[i] for i in range(len(parts))]))

    def _check_shapes(self, key: bytes, parts: dict[int, np.ndarray]) -> None:
        for i, shape in enumerate(self.shapes):
            if parts[i].shape != shape:
                raise InvalidArgumentError(None, None, f"Shape mismatch in component {i} of key {key!r}: expected "
                                                       f"{shape_str(shape)}, got {shape_str(parts[i].shape)}")

    def _closed_error(self, reason: str) -> CancelledError:
        return CancelledError(None, None, f"Barrier {self.name} is closed: {reason}, and {len(self._incomplete)} keys "
                                          "are incomplete")

    def take(self, count: int, partial: bool, timeout: float | None) -> list[tuple[Any, ...]]:
        """Return `count` tuples (insertion, key, components...), as soon as there are as many.

        Of a closed barrier: with `partial` those that are ready, if there are any, else OutOfRangeError where
        incomplete tuples are too few for the rest.
        """
        with self._lock:
            if self._closed:
                present = self._ready.size()
                count = min(count, present) if partial else count
                present += 0 if partial else len(self._incomplete)
                if present < max(count, 1):
                    raise OutOfRangeError(None, None, f"Barrier '{self.name}' is closed and has insufficient elements "
                                                      f"(requested {count}, total size {present})")
        return self._ready.dequeue_many(count, partial, timeout) if count else []

    def close(self, cancel_pending: bool) -> None:
        """Refuse new keys from now on; with `cancel_pending` drop incomplete tuples too.

        Raises CancelledError if the barrier is closed already, but for cancelling what is pending.
        """
        with self._lock:
            if self._closed and (self._cancelling or not cancel_pending):
                raise CancelledError(None, None, f"Barrier '{self.name}' is already closed.")
            self._closed, self._cancelling = True, cancel_pending
            if cancel_pending:
                self._incomplete.clear()
            if not self._incomplete:
                self._ready.close(cancel_pending=True)

    def cancel(self) -> None:
        """Raise CancelledError in all blocked and later calls: the session is closed."""
        self._ready.cancel()

    def sizes(self) -> tuple[int, int]:
        """Return the counts of complete and of incomplete tuples."""
        with self._lock:
            return self._ready.size(), len(self._incomplete)
