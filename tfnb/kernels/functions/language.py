"""The names that kernel functions are written in, beside Python's: import from here what a function uses.

    Array           a flat array: `x[i]`, with i >= 0
    int             an integer that each launch has its own value of
    float           a number, of a function that a kernel calls
    Ints            several of them, as a tuple: indices are constants, `len` is one; of a function that a kernel calls,
                    any tuple of numbers
    Static          a constant: a number, a flag, a string, a tuple, None
    Type            a constant: a dtype, which casts: `T(x)`
    MaybeOne        an integer that is a constant where it is 1, and else known only in the run
    array_at(a, T)  the array of `T` at an address that a run knows (of this process, on the CPU)
    libm.log(x)     a function of the C library (of libdevice on a GPU), where `log(x)` may be a polynomial
    unrolled(n)     a range of constants: the body of the loop is written out n times
    stream(y, x, n) copy n elements past the caches (kernels/llvm/streaming.py; on the CPU)
    fail(code, ...) report a value that the op does not take (FAILURES of kernels/launch.py); `return` follows

Casts are int(x) and float(x) (64 bits), int32(x), float32(x), ...; a constant of the module that has a NumPy type, such
as `LOW = np.uint64(0xFFFFFFFF)`, keeps it, and arithmetic of uint64 wraps around. A name may hold a tuple, for example
what a function returns: indices are constants. The primitives of kernels/scalar/primitives.py and `math` go by their
names. A test whether a MaybeOne is 1 is always decided when the kernel is compiled. All of these exist in plain Python
too, as NumPy's.
"""
from __future__ import annotations

import ctypes
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from tfnb.kernels.launch import FAILURES
from tfnb.kernels.scalar.definition import numpy_form
from tfnb.kernels.scalar.number_types import dtype_of
from tfnb.kernels.scalar.primitives import PRIMITIVES

TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
CASTS = {"int": "int64", "float": "float64", "bool_": "bool", **{type: type for type in TYPES}}

Array = Any                # of a kernel function's parameters: annotations, read from the source
Ints = Any
Static = Any
Type = Any
MaybeOne = int


class KernelFailure(ValueError):
    """A value that a kernel does not take, found by its plain Python form. code, words: those of its status."""

    def __init__(self, code: int, words: Iterable[int]) -> None:
        self.code, self.words = code, tuple(int(word) for word in words)
        super().__init__(FAILURES.get(code, "failure {0}").format(*self.words, *[""] * 4))


def unrolled(count: int) -> range:
    """Return range(count), of which a compiled kernel has each iteration written out."""
    return range(count)


def fail(code: int, *words: int) -> NoReturn:
    """Raise KernelFailure; a compiled kernel stores code and words in its status, of the first thread that fails."""
    raise KernelFailure(code, words)


def stream(target: np.ndarray, source: np.ndarray, count: int) -> None:
    """Copy `count` elements from the start of one array to that of another."""
    target[:count] = source[:count]


def array_at(address: int, type: Any) -> np.ndarray:
    """Return the flat array at an address, whose end only the caller knows."""
    dtype, space = np.dtype(type), 1 << 40
    return np.ndarray(space // dtype.itemsize, dtype, memoryview((ctypes.c_char * space).from_address(int(address))))


class PlainPrimitive:
    """A primitive over NumPy's numbers, as kernel functions call it in plain Python."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._form = numpy_form(name)

    def __call__(self, *operands: Any) -> Any:
        """Return a number of the operands' type."""
        return self._form(*map(np.asarray, operands))[()]


class LibraryFunction(PlainPrimitive):
    """A function of the C library, as kernel functions call it in plain Python: NumPy's."""


libm = SimpleNamespace(**{row.libm: LibraryFunction(name) for name, row in PRIMITIVES.items() if row.libm and row.cuda})


def __getattr__(name: str) -> Any:
    """Return the NumPy form of a cast or primitive, so that kernel functions run as plain Python."""
    if name in CASTS:
        return dtype_of(CASTS[name]).type
    if is_primitive(name):
        return globals().setdefault(name, PlainPrimitive(name))
    raise AttributeError(f"expected a name of the kernel language, got {name!r}")


def is_primitive(name: str) -> bool:
    """Return whether a kernel function may call this primitive: it is one of numbers, not of rows."""
    return name in PRIMITIVES and PRIMITIVES[name].rule in ("same", "compare", "logical", "select", "real", "bits")
