"""Gradient accumulators that several threads add to, and that return the mean once enough gradients have arrived.

A gradient of an older step than the accumulator's own is dropped as stale: it was computed from old variables.
"""
from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import inf
from time import monotonic
from typing import Any

import numpy as np

from tfnb.core.errors import CancelledError, DeadlineExceededError, InvalidArgumentError
from tfnb.core.interrupts import LOOK
from tfnb.core.program.log import warning
from tfnb.core.shape import Static, shape_str
from tfnb.resources.queues import run


class Accumulator(ABC):
    """Sum of gradients, their count, and the step that they belong to.

    dtype: a NumPy dtype; shape: static shape of the gradients. mean: return the mean, else the sum. Methods
    raise InvalidArgumentError for gradients that don't fit, CancelledError once the session is closed.
    """

    def __init__(self, dtype: Any, shape: Static, mean: bool) -> None:
        self.dtype, self.shape, self.mean = np.dtype(dtype), shape, mean
        self.step = self.count = 0
        self._changed = threading.Condition()
        self._cancelled = False

    def apply(self, local_step: int, gradient: Any) -> None:
        """Add a gradient that was computed at `local_step`; an older one is dropped."""
        with self._changed:
            self._check(gradient)
            if local_step >= self.step:
                self._add(gradient)
                self.count += 1
                self._changed.notify_all()

    def take(self, required: int, timeout: float | None = None) -> Any:
        """Wait for `required` gradients, return their mean or sum, and begin the next step with none."""
        if required <= 0:
            raise InvalidArgumentError(None, None, f"Argument num_required must be positive, but is {required}")
        with self._changed:
            ready = self._wait(lambda: self._cancelled or self.count >= required, timeout)
            if self._cancelled:
                raise CancelledError(None, None, "TakeGrad operation was cancelled")
            if not ready:
                raise DeadlineExceededError(None, None, "Timed out waiting for notification")
            taken = self._take()
            self.step += 1
            self.count = 0
            return taken

    def _wait(self, ready: Callable[[], bool], timeout: float | None) -> bool:
        """Wait, with the lock held, and return whether it is `ready`. Raises CancelledError if the run is cancelled."""
        if run.cancelled is None:
            return self._changed.wait_for(ready, timeout)
        until = inf if timeout is None else monotonic() + timeout
        while not self._changed.wait_for(ready, max(0.0, min(LOOK, until - monotonic()))):
            run.cancelled.check()
            if monotonic() >= until:
                return False
        return True

    def set_global_step(self, step: int) -> None:
        """Set the accumulator's step: older gradients are dropped from now on. A decrease logs a warning."""
        with self._changed:
            if step < self.step:
                warning("Attempt to set current_global_step_ to smaller value: current_global_step_ = %d >= "
                        "new_global_step = %d", self.step, step)
            self.step = step

    def cancel(self) -> None:
        """Cancel all waiting calls: the session is closed."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    @abstractmethod
    def _check(self, gradient: Any) -> None:
        """Raise InvalidArgumentError unless the gradient is compatible with the static shape."""

    @abstractmethod
    def _add(self, gradient: Any) -> None:
        """Add a gradient to the sum; where `count` is 0, begin a new sum with it."""

    @abstractmethod
    def _take(self) -> Any:
        """Return the mean or the sum of the gradients."""


def _compatible(known: Static, shape: Sequence[int]) -> bool:
    return known is None or (len(known) == len(shape)
                             and all(n in (None, m) for n, m in zip(known, shape, strict=True)))


def _require(known: Static, shape: tuple[int, ...]) -> None:
    if not _compatible(known, shape):
        raise InvalidArgumentError(None, None, f"Shape mismatch: expected {shape_str(known)}, got {shape_str(shape)}")


class DenseAccumulator(Accumulator):
    """Accumulator of dense gradients."""

    _sum: np.ndarray

    def _check(self, gradient: np.ndarray) -> None:
        _require(self.shape, gradient.shape)
        if self.count:
            _require(self._sum.shape, gradient.shape)

    def _add(self, gradient: np.ndarray) -> None:
        self._sum = self._sum + gradient if self.count else np.array(gradient)

    def _take(self) -> np.ndarray:
        return _divided(self._sum, self.count) if self.mean else self._sum


class SparseAccumulator(Accumulator):
    """Accumulator of sparse gradients: (indices, values, dense shape or None), rows of arrays.

    The mean of a row is over the gradients that have it. It gives (indices, values, dense shape), with the indices in
    order and -1 as first size of the shape where that was never said.
    """

    def _check(self, gradient: tuple[np.ndarray, np.ndarray, np.ndarray | None]) -> None:
        indices, values, shape = gradient
        if indices.ndim != 1 or not values.ndim or len(indices) != len(values):
            raise InvalidArgumentError(None, None, "a sparse gradient has a vector of indices and a row for each: got "
                                       f"indices of shape {shape_str(indices.shape)}, values of shape "
                                       f"{shape_str(values.shape)}")
        if len(indices) == 0:
            raise InvalidArgumentError(None, None, "Input indices should be a vector of at least one element")
        known = self.shape or ()                   # TensorFlow's rule: of the first axes, as many as are stated
        if shape is not None:
            _require(known, tuple(shape.tolist()[:len(known)]))
        rows = (int(shape[0]) if shape is not None and len(shape) else None)
        _require((None, *known[1:]), values.shape[:max(1, len(known))])
        if self.count:
            _require((None, *self._values.shape[1:]), values.shape)
        if indices.min() < 0 or (rows is not None and indices.max() >= rows):
            raise InvalidArgumentError(None, None, f"Shape mismatch: indices {indices.tolist()} are not those of "
                                                   f"{rows} rows")

    def _add(self, gradient: tuple[np.ndarray, np.ndarray, np.ndarray | None]) -> None:
        indices, values, _ = gradient
        rows, places = np.unique(indices, return_inverse=True)
        added = np.zeros((len(rows), *values.shape[1:]), self.dtype)
        np.add.at(added, places, values)
        if not self.count:
            self._rows, self._values, self._times = rows, added, np.ones(len(rows), np.int64)
            return
        both, places = np.unique(np.concatenate([self._rows, rows]), return_inverse=True)
        total = np.zeros((len(both), *values.shape[1:]), self.dtype)
        times = np.zeros(len(both), np.int64)
        old, new = places[:len(self._rows)], places[len(self._rows):]
        total[old], times[old] = self._values, self._times
        total[new] += added
        times[new] += 1
        self._rows, self._values, self._times = both, total, times

    def _take(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values = self._values
        if self.mean:
            values = _divided(values, self._times.reshape([-1] + [1] * (values.ndim - 1)))
        first = self.shape[0] if self.shape else None
        shape = np.array([-1 if first is None else first, *values.shape[1:]], np.int64)
        return self._rows.astype(np.int64), values, shape


def _divided(total: np.ndarray, count: Any) -> np.ndarray:
    """Return `total / count` in the dtype of `total`; integer division truncates towards zero, as in C."""
    whole = total.dtype.kind in "iu"
    quotient: np.ndarray = np.trunc(total / count) if whole else total / np.asarray(count, total.dtype)
    return quotient.astype(total.dtype, copy=False)
