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
    """An error that an op raised while a session ran it.

    node_def: the NodeDef of the op, or None; op: the Operation, or None (an error of the session itself); message:
    says the op's name, what was expected and what was received; error_code: one of this module's numbers.
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any) -> None:
        super().__init__(message, *args)
        self._node_def, self._op, self._message, self._error_code = node_def, op, message, error_code

    @property
    def message(self) -> str:
        """What went wrong, without the place in the user's code."""
        return self._message

    def of(self, op: Any) -> None:
        """Say which op failed, where the place that raised did not know."""
        if self._op is None:
            self._op = op

    @property
    def op(self) -> Any:
        """The Operation that failed, or None."""
        return self._op

    @property
    def error_code(self) -> int:
        """The official number of this kind of error."""
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
    """An error of no other kind, or one that says too little to tell."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNKNOWN, *args)


class InvalidArgumentError(OpError):
    """An op got a value it can't work with, such as a wrong shape."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT, *args)


class DeadlineExceededError(OpError):
    """The time given to an operation ran out before it was done."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED, *args)


class NotFoundError(OpError):
    """What was asked for (a file, a key of a checkpoint) is not there."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, NOT_FOUND, *args)


class AlreadyExistsError(OpError):
    """What was to be made (a file, a resource) is there already."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS, *args)


class PermissionDeniedError(OpError):
    """The user may not do that, such as read a protected file."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED, *args)


class UnauthenticatedError(OpError):
    """The request carries no valid credentials."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED, *args)


class ResourceExhaustedError(OpError):
    """Memory, disk space or a quota is used up."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED, *args)


class FailedPreconditionError(OpError):
    """The system is not in the state that the op needs, such as a variable that was not initialized."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION, *args)


class AbortedError(OpError):
    """The operation was given up, usually because another one ran at the same time."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, ABORTED, *args)


class OutOfRangeError(OpError):
    """The end was passed: of a file, or of a closed queue. Input loops end so."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, OUT_OF_RANGE, *args)


class UnimplementedError(OpError):
    """The op, or this case of it (a dtype, a device), is not there."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED, *args)


class InternalError(OpError):
    """The system broke one of its own rules."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, INTERNAL, *args)


class UnavailableError(OpError):
    """The runtime can't be reached at present."""

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
    """The class of an official number. Raises KeyError if there is none."""
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The official number of a class; UNKNOWN for a class that has none."""
    return CODES.get(cls, UNKNOWN)
