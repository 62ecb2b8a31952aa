"""BLAS and LAPACK as addresses of C functions: those of the package scipy-openblas32, on macOS those of Accelerate.

OpenBLAS is loaded by its path at the first use (15 ms), in a copy of its own, and set to one thread: our own pool
splits large products, and two pools of spinning threads would fight for the cores. NumPy's own copy is left as it is.
"""
from __future__ import annotations

import ctypes
import importlib.util
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ACCELERATE = "/System/Library/Frameworks/Accelerate.framework/Accelerate"
# The symbols of a function with 32-bit integers, the first that there is; NEWLAPACK: of macOS 13.3 and later.
_SYMBOLS = ("{}$NEWLAPACK", "{}_") if sys.platform == "darwin" else ("scipy_{}_",)
_loading = threading.Lock()


@cache
def function(name: str) -> int:
    """Return the address of a function of BLAS or LAPACK ("sgemm", "dgetrf"...): Fortran's calling convention, 32-bit
    integers. Raises ImportError where there is no library."""
    with _loading:
        library = _library()
    names = [symbol.format(name) for symbol in _SYMBOLS]
    found = next((getattr(library, each) for each in names if hasattr(library, each)), None)
    if found is None:
        raise ImportError(f"expected a function {name} in {library._name}")
    return ctypes.cast(found, ctypes.c_void_p).value or 0


@cache
def has_library() -> bool:
    """Return whether there is a library: browsers have none."""
    return sys.platform == "darwin" or _file() is not None


@cache
def _file() -> Path | None:
    package = importlib.util.find_spec("scipy_openblas32")
    folders = package.submodule_search_locations or () if package is not None else ()
    return next((file for folder in folders for file in sorted(Path(folder, "lib").glob("*scipy_openblas*"))
                 if file.suffix in (".so", ".dll", ".dylib")), None)


@cache
def _library() -> ctypes.CDLL:
    if sys.platform == "darwin":
        return ctypes.CDLL(ACCELERATE)
    file = _file()
    if file is None:
        raise ImportError("matmul needs the package scipy-openblas32, which tfnb's installation brings: "
                          "pip install scipy-openblas32", name="scipy_openblas32")
    library = ctypes.CDLL(str(file))
    library.scipy_openblas_set_num_threads(1)
    return library


def call(name: str, *arguments: Any) -> None:
    """Call a subroutine: bytes are characters, integers are int32, arrays give their memory.

    Arrays are written to in place, in Fortran's order: whoever calls sees to both.
    """
    ctypes.CFUNCTYPE(None)(function(name))(*[
        ctypes.c_void_p(given.ctypes.data) if isinstance(given, np.ndarray) else
        ctypes.c_char_p(given) if isinstance(given, bytes) else ctypes.byref(ctypes.c_int32(given))
        for given in arguments])
