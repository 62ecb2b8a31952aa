"""The errors of the runtime: `OpError` and a class for each of TensorFlow's status codes."""
from __future__ import annotations

from typing import Any, ClassVar

from tfnb.core import taps
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
        if not made_at:
            return self._message
        operands = taps.tell_op(self._op, self.__traceback__)
        return f"{self._message}\n\nOp {self._op.name!r} ({self._op.type}) was made at {made_at}{operands}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Graphs don't travel between processes: the copy has the message and the code only.
        made = (None, None, self._message)
        return type(self), made if type(self) in CODES else (*made, self._error_code)


class _StatusError(OpError):
    """Base of the classes that represent one status code each."""

    _code: ClassVar[int]

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any) -> None:
        super().__init__(node_def, op, message, self._code, *args)


class CancelledError(_StatusError):
    """The run was cancelled: a queue or the session was closed while the op waited.

    >>> queue = tf.FIFOQueue(10, [tf.float32])
    >>> sess.run(queue.close(cancel_pending_enqueues=True))
    >>> sess.run(queue.enqueue([1.0]))
    Traceback (most recent call last):
        ...
    CancelledError: FIFOQueue ... is closed.
    """

    _code = CANCELLED


class UnknownError(_StatusError):
    """The error is of no other class, or its cause is unknown.

    >>> raise tf.errors.UnknownError(None, None, "no cause is known")
    Traceback (most recent call last):
        ...
    UnknownError: no cause is known
    """

    _code = UNKNOWN


class InvalidArgumentError(_StatusError):
    """An op received an invalid value, such as one of a wrong shape.

    >>> x = tf.placeholder(tf.float32, [2])
    >>> sess.run(tf.gather([1, 2, 3], x.shape.as_list() + tf.placeholder_with_default([3], [1])))
    Traceback (most recent call last):
        ...
    InvalidArgumentError: indices[0] = 5 is not in [0, 3) (op 'GatherV2' of type GatherV2, inputs ...
    """

    _code = INVALID_ARGUMENT


class DeadlineExceededError(_StatusError):
    """The deadline of an operation expired before it was complete.

    >>> queue = tf.FIFOQueue(10, [tf.float32])
    >>> sess.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=20))
    Traceback (most recent call last):
        ...
    DeadlineExceededError: Timed out waiting for notification
    """

    _code = DEADLINE_EXCEEDED


class NotFoundError(_StatusError):
    """A requested entity (a file, a key of a checkpoint) does not exist.

    >>> sess.run(tf.read_file("missing.txt"))
    Traceback (most recent call last):
        ...
    NotFoundError: missing.txt; No such file or directory
    """

    _code = NOT_FOUND


class AlreadyExistsError(_StatusError):
    """An entity to be created (a file, a resource) exists already.

    >>> for name in "ab":
    ...     with tf.gfile.GFile(name, "w") as file:
    ...         file.write("text")
    >>> tf.gfile.Copy("a", "b")
    Traceback (most recent call last):
        ...
    AlreadyExistsError: file already exists: b
    """

    _code = ALREADY_EXISTS


class PermissionDeniedError(_StatusError):
    """The caller lacks the permission, for example to read a protected file.

    >>> raise tf.errors.PermissionDeniedError(None, None, "the file is read-only")
    Traceback (most recent call last):
        ...
    PermissionDeniedError: the file is read-only
    """

    _code = PERMISSION_DENIED


class UnauthenticatedError(_StatusError):
    """The request carries no valid credentials.

    >>> raise tf.errors.UnauthenticatedError(None, None, "no credentials")
    Traceback (most recent call last):
        ...
    UnauthenticatedError: no credentials
    """

    _code = UNAUTHENTICATED


class ResourceExhaustedError(_StatusError):
    """Memory, disk space or a quota is exhausted.

    >>> raise tf.errors.ResourceExhaustedError(None, None, "no space left")
    Traceback (most recent call last):
        ...
    ResourceExhaustedError: no space left
    """

    _code = RESOURCE_EXHAUSTED


class FailedPreconditionError(_StatusError):
    """The system is not in the state that the op needs, such as a variable that was not initialized.

    >>> v = tf.Variable(1.0)
    >>> sess.run(v)
    Traceback (most recent call last):
        ...
    FailedPreconditionError: Attempting to use uninitialized value Variable
    """

    _code = FAILED_PRECONDITION


class AbortedError(_StatusError):
    """The operation was aborted, usually because of a concurrent one.

    >>> raise tf.errors.AbortedError(None, None, "interrupted by another step")
    Traceback (most recent call last):
        ...
    AbortedError: interrupted by another step
    """

    _code = ABORTED


class OutOfRangeError(_StatusError):
    """A read went past the end of a file or of a closed queue, which is how input loops end.

    >>> element = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
    >>> sess.run(element)
    0
    >>> sess.run(element)
    Traceback (most recent call last):
        ...
    OutOfRangeError: End of sequence
    """

    _code = OUT_OF_RANGE


class UnimplementedError(_StatusError):
    """The op, or this case of it (a dtype, a device), is not implemented.

    >>> raise tf.errors.UnimplementedError(None, None, "not written yet")
    Traceback (most recent call last):
        ...
    UnimplementedError: not written yet
    """

    _code = UNIMPLEMENTED


class InternalError(_StatusError):
    """An invariant of the runtime is broken.

    >>> raise tf.errors.InternalError(None, None, "an invariant is broken")
    Traceback (most recent call last):
        ...
    InternalError: an invariant is broken
    """

    _code = INTERNAL


class UnavailableError(_StatusError):
    """The runtime is currently unavailable.

    >>> raise tf.errors.UnavailableError(None, None, "try again")
    Traceback (most recent call last):
        ...
    UnavailableError: try again
    """

    _code = UNAVAILABLE


class DataLossError(_StatusError):
    """Stored data is damaged beyond repair.

    >>> with tf.gfile.GFile("data.tfrecord", "wb") as file:
    ...     file.write(b"no records here")
    >>> list(tf.python_io.tf_record_iterator("data.tfrecord"))
    Traceback (most recent call last):
        ...
    DataLossError: corrupted record at 0 of data.tfrecord (is this a TFRecord file, and compressed as ...
    """

    _code = DATA_LOSS


CODES: dict[type[OpError], int] = {cls: cls._code for cls in _StatusError.__subclasses__()}
_CLASSES = {code: cls for cls, code in CODES.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """Return the exception class of a status code. Raises KeyError for an unknown code.

    >>> tf.errors.exception_type_from_error_code(tf.errors.NOT_FOUND).__name__
    'NotFoundError'
    """
    return _CLASSES[error_code]


def error_of(code: int, op: Any, message: str) -> OpError:
    """Return the error of a status code; of one that is unknown, UnknownError."""
    made: OpError = _CLASSES.get(code, UnknownError)(None, op, message)     # type: ignore[call-arg]
    return made


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """Return the status code of an exception class; UNKNOWN for a class without one.

    >>> tf.errors.error_code_from_exception_type(tf.errors.NotFoundError) == tf.errors.NOT_FOUND
    True
    """
    return CODES.get(cls, UNKNOWN)


describe(globals(), ERRORS)
