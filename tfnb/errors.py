"""The errors that ops raise when they run: `tf.errors`."""
# ruff: noqa: F401, I001
from tfnb.core.errors import (
    ABORTED, ALREADY_EXISTS, AbortedError, AlreadyExistsError, CANCELLED, CancelledError, DATA_LOSS,
    DEADLINE_EXCEEDED, DataLossError, DeadlineExceededError, FAILED_PRECONDITION, FailedPreconditionError, INTERNAL,
    INVALID_ARGUMENT, InternalError, InvalidArgumentError, NOT_FOUND, NotFoundError, OK, OUT_OF_RANGE, OpError,
    OutOfRangeError, PERMISSION_DENIED, PermissionDeniedError, RESOURCE_EXHAUSTED, ResourceExhaustedError,
    UNAUTHENTICATED, UNAVAILABLE, UNIMPLEMENTED, UNKNOWN, UnauthenticatedError, UnavailableError, UnimplementedError,
    UnknownError, error_code_from_exception_type, exception_type_from_error_code,
)
