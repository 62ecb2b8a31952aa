"""TensorHandle: the Python object for a value that a session keeps between runs (`tf.get_session_handle`)."""
from __future__ import annotations

from typing import Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.errors import InvalidArgumentError


class TensorHandle:
    """A value kept in a session: what fetching `tf.get_session_handle(x)` returns.

    handle: its name, to be fed to the holder of `tf.get_session_tensor`. The value is dropped with the last reference
    to the object, unless `get_raw_handle` was called. session: the one that keeps it; dtype: of the value.
    """

    def __init__(self, handle: bytes, dtype: DType, session: Any) -> None:
        self.handle = handle.decode()
        self._dtype, self._session = dtype, session
        self._collects = True

    def __str__(self) -> str:
        return self.handle

    def __del__(self) -> None:
        if getattr(self, "_collects", False):
            self._session._store.tensors.pop(self.handle.encode(), None)

    def _check(self) -> None:
        if not self._collects:
            raise TypeError(f"Persistent tensor {self.handle} may have already been deleted.")

    def kept(self) -> np.ndarray:
        """Return the array that the session keeps. Raises InvalidArgumentError if it was dropped."""
        found: np.ndarray | None = self._session._store.tensors.get(self.handle.encode())
        if found is None:
            raise InvalidArgumentError(None, None, f"The tensor with handle '{self.handle}' is not in the session "
                                                   "store.")
        return found

    def eval(self) -> Any:
        """Return the value. Raises TypeError after `delete` or `get_raw_handle`, RuntimeError in a closed session."""
        self._check()
        self._session._check_open()
        value = np.array(self.kept())
        return value if value.ndim else value[()]

    def delete(self) -> None:
        """Drop the value. Raises TypeError after `delete` or `get_raw_handle`."""
        self._check()
        self.kept()
        self._collects = False
        del self._session._store.tensors[self.handle.encode()]

    def get_raw_handle(self) -> str:
        """Return the name; the value stays in the session from now on, also without this object."""
        self._collects = False
        return self.handle
