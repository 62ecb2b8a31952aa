"""The errors of the runtime: `OpError` and a class for each of TensorFlow's status codes."""
from __future__ import annotations

from typing import Any

from tfnb.core.arguments import ERRORS, describe

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

    >>> try:
    ...     sess.run(tf.read_file("missing.txt"))
    ... except tf.OpError as error:
    ...     print(error.error_code == tf.errors.NOT_FOUND, error.op.type)
    True ReadFile
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
    """The run was cancelled: a queue or the session was closed while the op waited.

    >>> queue = tf.FIFOQueue(10, [tf.float32])
    >>> sess.run(queue.close(cancel_pending_enqueues=True))
    >>> sess.run(queue.enqueue([1.0]))
    Traceback (most recent call last):
        ...
    CancelledError: FIFOQueue ... is closed.
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, CANCELLED, *args)


class UnknownError(OpError):
    """The error is of no other class, or its cause is unknown.

    >>> raise tf.errors.UnknownError(None, None, "no cause is known")
    Traceback (most recent call last):
        ...
    UnknownError: no cause is known
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNKNOWN, *args)


class InvalidArgumentError(OpError):
    """An op received an invalid value, such as one of a wrong shape.

    >>> x = tf.placeholder(tf.float32, [2])
    >>> sess.run(tf.gather([1, 2, 3], x.shape.as_list() + tf.placeholder_with_default([3], [1])))
    Traceback (most recent call last):
        ...
    InvalidArgumentError: indices[0] = 5 is not in [0, 3) (op 'GatherV2' of type GatherV2, inputs ...
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT, *args)


class DeadlineExceededError(OpError):
    """The deadline of an operation expired before it was complete.

    >>> queue = tf.FIFOQueue(10, [tf.float32])
    >>> sess.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=20))
    Traceback (most recent call last):
        ...
    DeadlineExceededError: Timed out waiting for notification
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED, *args)


class NotFoundError(OpError):
    """A requested entity (a file, a key of a checkpoint) does not exist.

    >>> sess.run(tf.read_file("missing.txt"))
    Traceback (most recent call last):
        ...
    NotFoundError: missing.txt; No such file or directory
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, NOT_FOUND, *args)


class AlreadyExistsError(OpError):
    """An entity to be created (a file, a resource) exists already.

    >>> for name in "ab":
    ...     with tf.gfile.GFile(name, "w") as file:
    ...         file.write("text")
    >>> tf.gfile.Copy("a", "b")
    Traceback (most recent call last):
        ...
    AlreadyExistsError: file already exists: b
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS, *args)


class PermissionDeniedError(OpError):
    """The caller lacks the permission, for example to read a protected file.

    >>> raise tf.errors.PermissionDeniedError(None, None, "the file is read-only")
    Traceback (most recent call last):
        ...
    PermissionDeniedError: the file is read-only
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED, *args)


class UnauthenticatedError(OpError):
    """The request carries no valid credentials.

    >>> raise tf.errors.UnauthenticatedError(None, None, "no credentials")
    Traceback (most recent call last):
        ...
    UnauthenticatedError: no credentials
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED, *args)


class ResourceExhaustedError(OpError):
    """Memory, disk space or a quota is exhausted.

    >>> raise tf.errors.ResourceExhaustedError(None, None, "no space left")
    Traceback (most recent call last):
        ...
    ResourceExhaustedError: no space left
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED, *args)


class FailedPreconditionError(OpError):
    """The system is not in the state that the op needs, such as a variable that was not initialized.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v)
    Traceback (most recent call last):
        ...
    FailedPreconditionError: Attempting to use uninitialized value Variable
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION, *args)


class AbortedError(OpError):
    """The operation was aborted, usually because of a concurrent one.

    >>> raise tf.errors.AbortedError(None, None, "interrupted by another step")
    Traceback (most recent call last):
        ...
    AbortedError: interrupted by another step
    """

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
    """The op, or this case of it (a dtype, a device), is not implemented.

    >>> raise tf.errors.UnimplementedError(None, None, "not written yet")
    Traceback (most recent call last):
        ...
    UnimplementedError: not written yet
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED, *args)


class InternalError(OpError):
    """An invariant of the runtime is broken.

    >>> raise tf.errors.InternalError(None, None, "an invariant is broken")
    Traceback (most recent call last):
        ...
    InternalError: an invariant is broken
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, INTERNAL, *args)


class UnavailableError(OpError):
    """The runtime is currently unavailable.

    >>> raise tf.errors.UnavailableError(None, None, "try again")
    Traceback (most recent call last):
        ...
    UnavailableError: try again
    """

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, UNAVAILABLE, *args)


class DataLossError(OpError):
    """Stored data is damaged beyond repair.

    >>> with tf.gfile.GFile("data.tfrecord", "wb") as file:
    ...     file.write(b"no records here")
    >>> list(tf.python_io.tf_record_iterator("data.tfrecord"))
    Traceback (most recent call last):
        ...
    DataLossError: corrupted record at 0 of data.tfrecord (is this a TFRecord file, and compressed as ...
    """

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
    """Return the exception class of a status code. Raises KeyError for an unknown code.

    >>> tf.errors.exception_type_from_error_code(tf.errors.NOT_FOUND).__name__
    'NotFoundError'
    """
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """Return the status code of an exception class; UNKNOWN for a class without one.

    >>> tf.errors.error_code_from_exception_type(tf.errors.NotFoundError) == tf.errors.NOT_FOUND
    True
    """
    return CODES.get(cls, UNKNOWN)


describe(globals(), ERRORS)
