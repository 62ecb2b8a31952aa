"""NumPy forms of primitives that are not one NumPy function.

Integer division is C's where it truncates, and gives 0 where the divisor is 0: nothing here raises or warns.
"""
from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.kernels.scalar.number_types import extreme

_special = lazy_module("scipy.special", extra="scipy")

Array = Any                               # np.ndarray: NumPy's own annotations lose the type in every other operation


def trunc_divide(x: Array, y: Array) -> Array:
    """Return the quotient truncated toward zero; 0 where y is 0."""
    safe = np.where(y == 0, y.dtype.type(1), y)
    quotient = x // safe
    rest = x - quotient * safe
    quotient = quotient + ((rest != 0) & ((x < 0) != (safe < 0)))
    return np.where(y == 0, x.dtype.type(0), quotient)


def _is_integer(x: Array) -> bool:
    return x.dtype.kind in "iu"


def divide(x: Array, y: Array) -> Array:
    """Return x / y, truncated for integers; 0 where an integer divisor is 0."""
    return trunc_divide(x, y) if _is_integer(x) else np.true_divide(x, y)


def floor_divide(x: Array, y: Array) -> Array:
    """Return x / y rounded down; 0 where an integer divisor is 0."""
    if _is_integer(x):
        return np.where(y == 0, x.dtype.type(0), x // np.where(y == 0, y.dtype.type(1), y))
    return np.floor(x / y)


def floor_modulo(x: Array, y: Array) -> Array:
    """Return the remainder with the sign of y; 0 where an integer divisor is 0."""
    if _is_integer(x):
        return np.where(y == 0, x.dtype.type(0), x % np.where(y == 0, y.dtype.type(1), y))
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


def trunc_modulo(x: Array, y: Array) -> Array:
    """Return the remainder with the sign of x; 0 where an integer divisor is 0."""
    if _is_integer(x):
        return np.where(y == 0, x.dtype.type(0), np.fmod(x, np.where(y == 0, y.dtype.type(1), y)))
    return np.fmod(x, y)


def truncating_divide(x: Array, y: Array) -> Array:
    """Return x / y rounded toward zero; 0 where an integer divisor is 0."""
    return trunc_divide(x, y) if _is_integer(x) else np.trunc(x / y)


def power(x: Array, y: Array) -> Array:
    """Return x ** y; an integer to a negative power is 0."""
    if not _is_integer(x):
        if x.dtype.kind == "f" and y.size == 1 and y == 0.5:       # NumPy takes a square root, which C's power is not
            x = np.where(np.isneginf(x), -x, x) + x.dtype.type(0)
        return np.power(x, y)
    return np.where(y < 0, x.dtype.type(0), np.power(x, np.where(y < 0, y.dtype.type(0), y)))


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)), without overflow."""
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, small.dtype.type(1)) / (1 + small)


def row(ufunc: np.ufunc, identity: float | str) -> Callable[[Array], Array]:
    """Return the reduction of the last axis, which keeps size 1."""
    def _reduce(x: Array) -> Array:
        start = extreme(x.dtype.name, identity) if isinstance(identity, str) else identity
        return ufunc.reduce(x, axis=-1, keepdims=True, initial=start, dtype=x.dtype)
    return _reduce


def same(x: Array) -> Array:
    """Return x."""
    return x


def fma(x: Array, y: Array, z: Array) -> Array:
    """Return x * y + z, for float32 rounded once, for float64 twice."""
    if x.dtype == np.float32:
        return (x.astype(np.float64) * y + z).astype(np.float32)
    return x * y + z


def rounding(ufunc: np.ufunc) -> Callable[[Array], Any]:
    """Return a rounding function that leaves integers (NumPy would go through float64, which lacks most of int64)."""
    return lambda x: x if x.dtype.kind in "iub" else ufunc(x)


def lgamma(x: Array) -> Any:
    """Return log(abs(gamma(x))); infinity for -inf too, where SciPy's function is -inf and C's is not."""
    return np.where(np.isneginf(x), np.asarray(np.inf, x.dtype), _special.gammaln(x))


def erfinv(x: Array) -> Any:
    """Return the inverse error function; -0.0 for -0.0, where SciPy's is 0.0."""
    return np.where(x == 0, x, _special.erfinv(x))


def select(condition: Array, x: Array, y: Array) -> Any:
    """Return x where the condition holds, else y; many floats by their bits, where NumPy branches at each (4 ns)."""
    if condition.size < 1024 or x.dtype != y.dtype or x.dtype.kind != "f" or x.itemsize not in (4, 8):
        return np.where(condition, x, y)
    bits = f"i{x.itemsize}"
    mask = np.negative(condition.view(np.int8), dtype=bits)
    one, other = x.view(bits), y.view(bits)
    if not other.ndim and not other:
        return (one & mask).view(x.dtype)
    made = (one ^ other) & mask
    made ^= other
    return made.view(x.dtype)


def shifted(ufunc: Any) -> Callable[[Array, Array], Any]:
    """Return a shift by y places, cut to those that a number has."""
    return lambda x, y: ufunc(x, np.clip(y, 0, 8 * np.asarray(y).itemsize - 1))


@cache
def has_scipy() -> bool:
    """Return whether SciPy is installed."""
    return importlib.util.find_spec("scipy") is not None


def of_c_library(name: str) -> Callable[[Array], Any]:
    """Return a function of Python's `math` for arrays, 0.1 us an element: infinity at a pole."""
    function = getattr(math, name)

    def scalar(x: float) -> float:
        """Return the function of one number."""
        try:
            return float(function(x))
        except (ValueError, OverflowError):
            return math.inf
    each = np.frompyfunc(scalar, 1, 1)
    return lambda x: np.asarray(each(x), np.float64).astype(x.dtype)


def special(name: str) -> Callable[[Array], Any]:
    """Return a function of scipy.special, which is imported at its first call (60 ms)."""
    return lambda *arrays: getattr(_special, name)(*arrays)
