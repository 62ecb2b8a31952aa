"""Batches of several runs: tensors of calls in different threads, joined along their first axes."""
from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np

from tfnb.core.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, OpError, UnavailableError
from tfnb.resources.monitor import Monitor

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Limits:
    """Limits of batches: rows, their allowed counts, seconds that one stays open, batches that wait or are computed."""

    most: int
    allowed: tuple[int, ...]
    seconds: float
    waiting: int
    threads: int

    def padded(self, rows: int) -> int:
        """Return the least allowed number of rows."""
        return next((size for size in self.allowed if size >= rows), rows)


@dataclass(eq=False)
class Task:
    """Tensors of one call, with as many rows each; id: a random number; outcome: its results, or their error."""

    tensors: Arrays
    rows: int
    id: int = field(default_factory=lambda: random.SystemRandom().getrandbits(62))
    outcome: Any = None


@dataclass(eq=False)
class Batch:
    """Tasks that go together. Its last one is the owner: the call that computes, once the batch is closed."""

    deadline: float
    tasks: list[Task] = field(default_factory=list)
    closed: bool = False
    taken: bool = False

    @property
    def rows(self) -> int:
        """Rows of all tasks."""
        return sum(task.rows for task in self.tasks)

    def index(self) -> np.ndarray:
        """Return a row (id, first row, row behind the last one) for each task."""
        ends = np.cumsum([task.rows for task in self.tasks])
        return np.array([(task.id, end - task.rows, end) for task, end in zip(self.tasks, ends, strict=True)], np.int64)

    def joined(self, rows: int) -> list[np.ndarray]:
        """Return the tensors of all tasks with `rows` rows, the first one repeated at the end.

        Raises InvalidArgumentError for tensors that differ in more than their first axes.
        """
        made = []
        for parts in zip(*(task.tensors for task in self.tasks), strict=True):
            if len({part.shape[1:] for part in parts}) > 1:
                raise InvalidArgumentError(None, None, "Tensors of one batch may differ in their first axes alone, got "
                                                       f"shapes {sorted(part.shape for part in parts)}")
            more = [parts[0][:1]] * (rows - self.rows)
            made.append(np.concatenate([*parts, *more]))
        return made


class Batches(Monitor):
    """The batches of one op, or of all that share its name, in a session."""

    what = "A batch"

    def __init__(self) -> None:
        super().__init__()
        self._queue: list[Batch] = []              # the last one may be open
        self._computing = 0

    def join(self, task: Task, limits: Limits, timeout: float | None, alone: bool = False) -> Batch | None:
        """Wait until the batch of `task` is closed; return it if the caller has to compute it, else None.

        alone: wait also until fewer than `limits.threads` batches are computed; `deliver` ends that. Raises
        UnavailableError where too many batches wait, DeadlineExceededError after `timeout` seconds.
        """
        if timeout is not None and timeout <= 0:   # a call that must not wait leaves no trace
            raise DeadlineExceededError(None, None, "Timed out waiting for a batch")
        until = None if timeout is None else monotonic() + timeout
        batch = self.change(lambda: self._entered(task, limits))

        def closed() -> Any:
            """Return whether the batch is closed and this call may go on, else None."""
            if not batch.closed and monotonic() >= batch.deadline:
                self._close(batch)
            if not batch.closed:
                return None
            if task is not batch.tasks[-1]:
                return False
            if alone and self._computing >= limits.threads:
                return None
            batch.taken, self._computing = True, self._computing + alone
            self._queue.remove(batch)
            return True
        try:
            return batch if self._until(closed, batch, until) else None
        except BaseException:
            self.change(lambda: self._left(batch, task))
            raise

    def _until(self, attempt: Any, batch: Batch, until: float | None) -> Any:
        """Wait for `attempt`, and look again when the batch is due."""
        while True:
            end = until if batch.closed else min(batch.deadline, until or batch.deadline)
            try:
                return self.wait(attempt, None if end is None else max(0.0, end - monotonic()))
            except DeadlineExceededError:
                if until is not None and monotonic() >= until:
                    raise

    def _entered(self, task: Task, limits: Limits) -> Batch:
        last = self._queue[-1] if self._queue else None
        if last is not None and not last.closed and last.rows + task.rows > limits.most:
            self._close(last)
        if last is None or last.closed:
            if len(self._queue) >= limits.waiting:
                raise UnavailableError(None, None, "The batch scheduling queue to which this task was submitted is "
                                                   f"full: {len(self._queue)} batches wait")
            last = Batch(monotonic() + limits.seconds)
            self._queue.append(last)
        last.tasks.append(task)
        if last.rows >= limits.most:
            self._close(last)
        return last

    def _close(self, batch: Batch) -> None:
        batch.closed = True
        self._wake()

    def _left(self, batch: Batch, task: Task) -> None:
        """A call ends before its batch: others go on without it, those of a closed batch fail."""
        if batch.closed and task is batch.tasks[-1] and not batch.taken:
            self._queue.remove(batch)
            for other in batch.tasks:
                other.outcome = CancelledError(None, None, "The run that computes the batch was cancelled")
        elif not batch.closed:
            batch.tasks.remove(task)
            if not batch.tasks:
                self._queue.remove(batch)

    def deliver(self, batch: Batch, outputs: Arrays | OpError) -> None:
        """Give each task its rows of `outputs`, or all of them an error."""
        def given() -> None:
            """Set the outcomes."""
            self._computing -= 1
            for task, (_, start, end) in zip(batch.tasks, batch.index().tolist(), strict=True):
                task.outcome = outputs if isinstance(outputs, OpError) else [y[start:end] for y in outputs]
        self.change(given)

    def outcome(self, task: Task, timeout: float | None) -> list[np.ndarray]:
        """Wait for the results of a task. Raises the error of its batch."""
        found = self.wait(lambda: task.outcome, timeout)
        if isinstance(found, OpError):
            raise copy.copy(found)
        rows: list[np.ndarray] = found
        return rows


class Exchange(Monitor):
    """Tensors that one run leaves for another, by ids."""

    what = "A part of a batch"

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[int, np.ndarray] = {}

    def put(self, parts: dict[int, np.ndarray]) -> None:
        """Leave tensors."""
        self.change(lambda: self._parts.update(parts))

    def take(self, ids: Sequence[int], timeout: float | None) -> list[np.ndarray]:
        """Wait for the tensors of all `ids` and take them."""
        def attempt() -> list[np.ndarray] | None:
            """Return the tensors once all are there."""
            return [self._parts.pop(i) for i in ids] if all(i in self._parts for i in ids) else None
        return self.wait(attempt, timeout)
