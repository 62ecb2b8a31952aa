"""SciPy's special functions as symbols of kernels: C functions of float64, found by their addresses.

A kernel calls such a function (30 to 200 ns an element; scalar/scipy_functions.py says why it has no expansion). Its
object names a symbol, "scipy_gammainc", so that it can be kept on disk; `provide` tells LLVM the address in this
process before the object is loaded.
"""
from __future__ import annotations

import ctypes
import re
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.scalar.scipy_functions import SCIPY

llvm = lazy_module("llvmlite.binding")
cython_special = lazy_module("scipy.special.cython_special", extra="scipy")

_LABEL = re.compile(r"double \(double(?:, double)*(?:, int __pyx_skip_dispatch)?\)")      # the flag is never read
_provided: set[bytes] = set()


def symbol(name: str) -> str:
    """Return the linker's name of a primitive that SciPy has."""
    return f"scipy_{SCIPY[name].scipy}"


SYMBOLS = {symbol(name): row for name, row in SCIPY.items() if row.scipy}
_CALLED = re.compile(rb"scipy_[a-z0-9]+")


def provide(payload: bytes) -> None:
    """Tell LLVM the addresses of SciPy's functions that an object refers to."""
    for found in set(_CALLED.findall(payload)) - _provided if b"scipy_" in payload else ():
        if (row := SYMBOLS.get(found.decode())) is not None:
            llvm.add_symbol(found.decode(), _address(row.scipy, row.arity))
        _provided.add(found)


def _address(name: str, arity: int) -> int:
    """Return the address of a function of float64. Functions of several types have a capsule for each of them."""
    capsules = cython_special.__pyx_capi__
    for key in (name, f"__pyx_fuse_0{name}", f"__pyx_fuse_1{name}"):
        label = _label(capsules[key]).decode() if key in capsules else ""
        if _LABEL.fullmatch(label) and label.count("double") == arity + 1:
            return address_of(capsules[key])
    raise ImportError(f"expected a function {name} of {arity} doubles in scipy.special.cython_special")


def _label(capsule: Any) -> bytes:
    found: bytes = _python_api("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)(capsule)
    return found


def address_of(capsule: Any) -> int:
    """Return the address that a capsule of a Cython module holds."""
    pointer = _python_api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return int(pointer(capsule, _label(capsule)))


def _python_api(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))
