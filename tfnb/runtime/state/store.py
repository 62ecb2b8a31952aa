"""Session state between runs: the values of variables, generator states and resources, by container and name."""
from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from time import monotonic
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from tfnb.core.errors import (
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
)
from tfnb.core.shape import Static
from tfnb.graph.parts.operation import Operation
from tfnb.opdef import kinds
from tfnb.proto.mapped import copy_array
from tfnb.resources import queues

Key = tuple[str, str]


class Lent(Protocol):
    """Memory elsewhere (of a GPU) that holds the value of a variable."""

    def copy_to(self, array: np.ndarray) -> None:
        """Write the value to the variable's array."""


class Store:
    """Variables, generator states and other resources of one session.

    A variable's array keeps its memory as long as its shape stays: compiled programs hold its address. `generation`
    changes whenever an array is made, replaced or dropped, so that a program knows when to look again. Who holds
    `updating` runs updates that asked for locking (attr use_locking).

    The value of a variable may be lent to a GPU: it is there, not in the array, until somebody asks for the array. Who
    holds `lending` runs kernels on lent values, or fetches one.
    """

    def __init__(self) -> None:
        self._changes = count(1)
        self.generation = 0
        self.lock = threading.RLock()
        self.updating = threading.RLock()
        self.lending = threading.RLock()
        self._lent: dict[Key, Lent] = {}
        self.places: dict[Key, Lent] = {}          # memory that was lent to, for reuse
        self._arrays: dict[Key, np.ndarray] = {}
        self._makers: WeakValueDictionary[Key, Operation] = WeakValueDictionary()  # op that made the array
        self._states: WeakKeyDictionary[Operation, np.ndarray] = WeakKeyDictionary()
        self._resources: dict[Key, Any] = {}
        self.tensors: dict[bytes, np.ndarray] = {}  # values that the session keeps behind handles
        self._forms: dict[Key, tuple[str, dict[str, Any]]] = {}     # of the op that a resource was made for
        self._taken: Any = None         # of which store we took values last, both generations then, pairs of arrays
        self._closed = False
        self._until = threading.local()

    def copy(self, into: Store | None = None) -> Store:
        """Copy the store: the same values in memory of their own. Queues and other resources are shared.

        into: a copy that was made before, whose memory is reused.
        """
        made = Store() if into is None else into
        self._fetch_all()
        made.take(self)
        with self.lock:
            made._resources, made.tensors = dict(self._resources), self.tensors
        return made

    def take(self, other: Store) -> None:
        """Copy the variables and generator states of another store, and drop all others."""
        self._fetch_all()
        other._fetch_all()
        with self.lock, other.lock:
            if self._taken is None or self._taken[0] is not other or self._taken[1:3] != (
                    other.generation, self.generation):
                self._take_anew(other)
            else:
                for own, array in self._taken[3]:
                    own[...] = array
            for op, state in other._states.items():
                if op in self._states:
                    self._states[op][...] = state
                else:
                    self._states[op] = state.copy()

    def _take_anew(self, other: Store) -> None:
        if self._arrays.keys() - other._arrays.keys():
            self._arrays = {key: array for key, array in self._arrays.items() if key in other._arrays}
            self._changed()
        for key, array in other._arrays.items():
            own = self._arrays.get(key)
            if own is not None and own.shape == array.shape and own.dtype == array.dtype:
                own[...] = array
            else:
                self._arrays[key] = array.copy()
                self._changed()
        self._makers.update(other._makers)
        pairs = [(self._arrays[key], array) for key, array in other._arrays.items()]
        self._taken = other, other.generation, self.generation, pairs

    def arrays(self) -> list[tuple[Key, np.ndarray]]:
        """Return the initialized variables."""
        self._fetch_all()
        with self.lock:
            return list(self._arrays.items())

    def array(self, op: Operation) -> np.ndarray | None:
        """Return the array of a variable, or None while it is not initialised (with the dtype and shape of `op`)."""
        array = self.peek(op)
        if self._lent and array is not None:
            self._fetch(variable_key(op))
        return array

    def peek(self, op: Operation) -> np.ndarray | None:
        """Return the array of a variable like `array`, but without fetching a value that is lent."""
        key = variable_key(op)
        array = self._arrays.get(key)
        if array is None or array.dtype != variable_dtype(op):
            return None
        return array if _fits(op.attrs["shape"], array.shape) or self._makers.get(key) is op else None

    def holds(self, array: np.ndarray) -> bool:
        """Return whether an array is that of a variable, which updates change."""
        return any(array is own for own in list(self._arrays.values()))

    def _changed(self) -> None:
        """Start a new generation. Thread-safe: generation numbers are unique."""
        self.generation = next(self._changes)

    def lend(self, op: Operation, memory: Lent) -> None:
        """Lend the value of a variable to `memory`. Programs on the CPU fetch it when they run next."""
        self._lent[variable_key(op)] = memory
        self._changed()

    def lent(self, op: Operation) -> Lent | None:
        """Return the memory that the value of a variable is lent to, or None."""
        return self._lent.get(variable_key(op))

    def _fetch(self, key: Key) -> None:
        with self.lending:
            memory, array = self._lent.get(key), self._arrays.get(key)
            if memory is not None and array is not None:
                memory.copy_to(array)
            if self._lent.pop(key, None) is not None:
                self._changed()

    def _fetch_all(self) -> None:
        for key in list(self._lent):
            self._fetch(key)

    def value(self, op: Operation, reader: Operation) -> np.ndarray:
        """Return the array of a variable. Raises what `uninitialized` builds where it has none."""
        array = self.array(op)
        if array is None:
            raise uninitialized(op, reader)
        return array

    def assign(self, op: Operation, value: np.ndarray) -> np.ndarray:
        """Assign a value (copied) to a variable; its memory stays where it is if the shape does.

        The value may have another shape than `op` states: of this `op`, not of another one of its name, it then is.
        """
        array = self.array(op)
        if array is not None and array.shape == value.shape:
            copy_array(array, value)
            return array
        with self.lock:
            array, key = np.empty(value.shape, variable_dtype(op)), variable_key(op)
            copy_array(array, value)
            self._lent.pop(key, None)
            self._arrays[key], self._makers[key] = array, op
            self._changed()
        return array

    def allocate(self, op: Operation) -> None:
        """Give an uninitialized variable of a known shape its memory, whose pages are not touched yet."""
        with self.lock:
            self._arrays[variable_key(op)] = np.zeros(op.attrs["shape"], variable_dtype(op))
            self._makers[variable_key(op)] = op
            self._changed()

    def forget(self, op: Operation) -> None:
        """Make a variable uninitialised again."""
        with self.lock:
            self._lent.pop(variable_key(op), None)
            self._arrays.pop(variable_key(op), None)
            self._changed()

    def state(self, op: Operation, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Return the generator state of a random op, made at its first use in this session."""
        with self.lock:
            state = self._states.get(op)
            if state is None:
                state = self._states[op] = make()
            return state

    def resource(self, op: Operation, make: Callable[[], Any]) -> Any:
        """Return the resource of an op that makes one (a queue, a reader), made at its first use in this session.

        An op of the same name and other attrs, which a notebook put in the place of the one it was made for, gets a
        new one. Raises CancelledError once the session is closed.
        """
        key = variable_key(op)
        found = self._resources.get(key)
        if found is not None:
            form = self._forms.get(key)
            if form is None or form[1] is not op.attrs:
                found = self._still_fits(key, op, found)
        if found is None:
            with self.lock:
                if self._closed:
                    raise CancelledError(None, op, "The session was closed")
                found = self._resources.get(key)
                if found is None:
                    found = self._resources[key] = make()
                    self._forms[key] = op.type, op.attrs
        return found

    def known_resource(self, op: Operation) -> Any | None:
        """Return the resource of an op, None if it has not been made."""
        return self._resources.get(variable_key(op))

    def _still_fits(self, key: Key, op: Operation, found: Any) -> Any:
        with self.lock:
            form = self._forms.get(key)
            if form is not None and not op.attrs.get("shared_name") and form != (op.type, op.attrs):
                del self._resources[key]
                if hasattr(found, "cancel"):
                    found.cancel()
                return None
            self._forms[key] = op.type, op.attrs
        return found

    def limit(self, seconds: float | None) -> None:
        """Set a timeout for blocking ops in this thread, in seconds from now on; None: no limit."""
        self._until.time = None if seconds is None else monotonic() + seconds

    def deadline(self) -> float | None:
        """Return this thread's deadline, by `time.monotonic`; None: no limit."""
        until: float | None = getattr(self._until, "time", None)
        return until

    def wait_until(self, deadline: float | None) -> None:
        """Set this thread's deadline for blocking ops; with one in the past they don't block."""
        self._until.time = deadline

    def time_left(self) -> float | None:
        """Return the seconds until this thread's deadline; None: no limit."""
        until = getattr(self._until, "time", None)
        return None if until is None else until - monotonic()

    @property
    def limited(self) -> bool:
        """Whether this thread's run may end early: it has a deadline, or may be cancelled."""
        return getattr(self._until, "time", None) is not None or queues.run.cancelled is not None

    def check_time(self) -> None:
        """Raise DeadlineExceededError if this thread has no time left, CancelledError if its run was cancelled."""
        if queues.run.cancelled is not None:
            queues.run.cancelled.check()
        left = self.time_left()
        if left is not None and left < 0:
            raise DeadlineExceededError(None, None, "Timed out waiting for notification: the run took longer than its "
                                                    "timeout_in_ms")

    def close(self) -> None:
        """Drop everything for good, and wake all threads that wait for a resource."""
        with self.lock:
            self._closed = True
            self.tensors.clear()
            self.clear()

    def clear(self, containers: list[str] | None = None) -> None:
        """Drop all values, or those in some containers ("" is the default container)."""
        with self.lock:
            for table in (self._lent, self.places, self._arrays, self._resources):
                for key in [k for k in table if containers is None or k[0] in containers]:
                    gone = table.pop(key)
                    if hasattr(gone, "cancel"):
                        gone.cancel()
            self._changed()


def variable_key(op: Operation) -> Key:
    """Return the key of a variable's value: its container, and its shared name or else its own."""
    container, shared = op.attrs.get("container", b""), op.attrs.get("shared_name", b"")
    return container.decode(), shared.decode() or op.name


def variable_dtype(op: Operation) -> np.dtype[Any]:
    """Return the NumPy dtype of a variable's array."""
    dtype: np.dtype[Any] = np.dtype(op.attrs["dtype"].as_numpy_dtype)
    return dtype


def handle_array(op: Operation) -> np.ndarray:
    """Return the handle of a variable: a scalar that holds its op."""
    made = np.empty((), object)
    made[()] = op
    return made


def uninitialized(op: Operation, reader: Operation) -> OpError:
    """Build the error of using an uninitialized variable: as in TensorFlow NotFoundError where an op takes its handle,
    but to read it."""
    what = f"Attempting to use uninitialized value {op.name}"
    made: type[FailedPreconditionError] | type[NotFoundError] = FailedPreconditionError
    if isinstance(op.spec, kinds.Handle):
        where = variable_key(op)[0] or "localhost"
        made = FailedPreconditionError if isinstance(reader.spec, kinds.Read) else NotFoundError
        what = f"Error while reading resource variable {op.name} from Container: {where}. This could mean that the " \
               f"variable was uninitialized. Not found: Resource {where}/{variable_key(op)[1]} does not exist: {what}"
    return made(None, reader, f"{what}\n\t [[node {reader.name}]]\nRun its initializer first, for example "
                              "sess.run(tf.global_variables_initializer()); in a notebook, `%vars --init` leaves the "
                              "values of all others as they are.")


def _fits(static: Static, shape: tuple[int, ...]) -> bool:
    return static is None or (len(static) == len(shape)
                              and all(n is None or n == m for n, m in zip(static, shape, strict=True)))
