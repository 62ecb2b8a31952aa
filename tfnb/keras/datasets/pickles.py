"""Pickles of data sets, read without running code: arrays, lists, dicts, numbers and strings."""
from __future__ import annotations

import pickle
from typing import IO, Any

_NUMPY = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric")
_NAMES = ("ndarray", "dtype", "_reconstruct", "scalar", "_frombuffer")


class _Unpickler(pickle.Unpickler):
    """Unpickler that makes no objects but NumPy's arrays and numbers."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what makes an array. Raises UnpicklingError for all else, which might be any function."""
        if module in _NUMPY and name in _NAMES or (module, name) == ("_codecs", "encode"):    # (bytes of Python 2)
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"expected arrays, lists, numbers and strings in a data set, got {module}.{name}")


def unpickled(file: IO[bytes], encoding: str = "ASCII") -> Any:
    """Return the object that a file has. encoding: of strings of Python 2, "bytes" to leave them as they are.

    Raises pickle.UnpicklingError for objects of other classes than NumPy's, which might run code.
    """
    return _Unpickler(file, encoding=encoding).load()
