"""The errors of the runtime: `OpError` and a class for each of TensorFlow's status codes."""
from __future__ import annotations

from typing import Any

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """Base class of the errors that ops raise while a session runs them.

    node_def: the NodeDef of the op, or None; op: the Operation, or None (an error of the session itself); message:
    says the op's name, what was expected and what was received; error_code: one of this module's numbers.
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any) -> None:
        super().__init__(message, *args)
        self._node_def, self._op, self._message, self._error_code = node_def, op, message, error_code

    @property
    def message(self) -> str:
        """Error message, without the location in the user's code."""
        return self._message

    def of(self, op: Any) -> None:
        """Set the op that failed, if the code that raised did not know it."""
        if self._op is None:
            self._op = op

    @property
    def op(self) -> Any:
        """The Operation that failed, or None."""
        return self._op

    @property
    def error_code(self) -> int:
        """Official status code of this class of errors."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The NodeDef of the op that failed, or None."""
        return self._node_def if self._node_def is not None else getattr(self._op, "node_def", None)

    def __str__(self) -> str:
        made_at = getattr(self._op, "made_at", "")
        return f"{self._message}\n\nOp {self._op.name!r} ({self._op.type}) was made at {made_at}" if made_at \
            else self._message

    def __reduce__(self) -> tuple[Any, ...]:
        # Graphs don't travel between processes: the copy has the message and the code only.
        made = (None, None, self._message)
        return type(self), made if type(self) in CODES else (*made, self._error_code)


class CancelledError(OpError):
    """The run was cancelled: a queue or the session was closed while the op waited."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, CANCELLED, *args)


class UnknownError(OpError):
    """The error is of no other class, or its cause is unknown."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNKNOWN, *args)


class InvalidArgumentError(OpError):
    """An op received an invalid value, such as one of a wrong shape."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT, *args)


class DeadlineExceededError(OpError):
    """The deadline of an operation expired before it was complete."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED, *args)


class NotFoundError(OpError):
    """A requested entity (a file, a key of a checkpoint) does not exist."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, NOT_FOUND, *args)


class AlreadyExistsError(OpError):
    """An entity to be created (a file, a resource) exists already."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS, *args)


class PermissionDeniedError(OpError):
    """The caller lacks the permission, for example to read a protected file."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED, *args)


class UnauthenticatedError(OpError):
    """The request carries no valid credentials."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED, *args)


class ResourceExhaustedError(OpError):
    """Memory, disk space or a quota is exhausted."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED, *args)


class FailedPreconditionError(OpError):
    """The system is not in the state that the op needs, such as a variable that was not initialized."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION, *args)


class AbortedError(OpError):
    """The operation was aborted, usually because of a concurrent one."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, ABORTED, *args)


class OutOfRangeError(OpError):
    """A read went past the end of a file or of a closed queue, which is how input loops end.

    >>> element = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
    >>> sess.run(element)
    0
    >>> sess.run(element)
    Traceback (most recent call last):
        ...
    OutOfRangeError: End of sequence
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, OUT_OF_RANGE, *args)


class UnimplementedError(OpError):
    """The op, or this case of it (a dtype, a device), is not implemented."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED, *args)


class InternalError(OpError):
    """An invariant of the runtime is broken."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, INTERNAL, *args)


class UnavailableError(OpError):
    """The runtime is currently unavailable."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNAVAILABLE, *args)


class DataLossError(OpError):
    """Stored data is damaged beyond repair."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, DATA_LOSS, *args)


CODES: dict[type[OpError], int] = {
    CancelledError: CANCELLED, UnknownError: UNKNOWN, InvalidArgumentError: INVALID_ARGUMENT,
    DeadlineExceededError: DEADLINE_EXCEEDED, NotFoundError: NOT_FOUND, AlreadyExistsError: ALREADY_EXISTS,
    PermissionDeniedError: PERMISSION_DENIED, UnauthenticatedError: UNAUTHENTICATED,
    ResourceExhaustedError: RESOURCE_EXHAUSTED, FailedPreconditionError: FAILED_PRECONDITION, AbortedError: ABORTED,
    OutOfRangeError: OUT_OF_RANGE, UnimplementedError: UNIMPLEMENTED, InternalError: INTERNAL,
    UnavailableError: UNAVAILABLE, DataLossError: DATA_LOSS,
}
_CLASSES = {code: cls for cls, code in CODES.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """Return the exception class of a status code. Raises KeyError for an unknown code."""
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """Return the status code of an exception class; UNKNOWN for a class without one."""
    return CODES.get(cls, UNKNOWN)
