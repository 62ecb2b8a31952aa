"""Operating system errors as TensorFlow's: one table from errno to the classes of tf.errors."""
from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from tfnb.core import errors

_NAMES: dict[type[errors.OpError], str] = {
    errors.InvalidArgumentError: "EINVAL ENAMETOOLONG E2BIG EDOM EFAULT EILSEQ ENOTTY ESPIPE ELOOP",
    errors.DeadlineExceededError: "ETIMEDOUT ETIME",
    errors.NotFoundError: "ENOENT ENODEV ENXIO ESRCH",
    errors.AlreadyExistsError: "EEXIST EADDRNOTAVAIL EALREADY",
    errors.PermissionDeniedError: "EPERM EACCES EROFS",
    errors.FailedPreconditionError: "ENOTEMPTY EISDIR ENOTDIR EBADF EBUSY EPIPE ETXTBSY",
    # EFBIG is OUT_OF_RANGE in TensorFlow, but training loops take OutOfRangeError for the end of the data and would
    # stop without a word where a checkpoint grows beyond the limit of a file.
    errors.ResourceExhaustedError: "ENOSPC EDQUOT EMFILE EMLINK ENFILE ENOBUFS ENOMEM EFBIG",
    errors.OutOfRangeError: "EOVERFLOW ERANGE",
    errors.UnimplementedError: "ENOSYS ENOTSUP EOPNOTSUPP EXDEV",
    errors.UnavailableError: "EAGAIN EINTR ENOLCK ENOLINK ECONNREFUSED ECONNABORTED ECONNRESET ENETDOWN ENETUNREACH "
                             "EHOSTDOWN EHOSTUNREACH",
    errors.AbortedError: "EDEADLK ESTALE",
    errors.CancelledError: "ECANCELED",
}
_CLASSES = {getattr(errno, name): cls for cls, names in _NAMES.items() for name in names.split()
            if hasattr(errno, name)}


def named_error(error: OSError, path: str | bytes | os.PathLike[str]) -> errors.OpError:
    """Return the tf.errors exception for an OSError about `path`: "<path>; <reason>"."""
    kind: type = _CLASSES.get(error.errno or 0, errors.UnknownError)
    found: errors.OpError = kind(None, None, f"{os.fsdecode(path)}; {error.strerror or error}")
    return found


@contextmanager
def os_errors(path: str | bytes | os.PathLike[str]) -> Iterator[None]:
    """Turn an OSError of the block into the error of tf.errors for it, naming the error's file or else `path`."""
    try:
        yield
    except OSError as error:
        name = error.filename if isinstance(error.filename, (str, bytes)) else path
        raise named_error(error, name) from error
