"""Numeric types of scalar bodies and kernels: names, kinds, extremes, and type promotion of operands.

A type is the name of a NumPy dtype ("float32", "bfloat16", "bool"); its kind is one letter.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant in a scalar body: it takes the type of the operands beside it, else that of the op."""

    value: bool | int | float | complex


BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALVES = ("float16", "bfloat16")             # stored in 16 bits, computed in float32, each result rounded


def dtype_of(name: str) -> np.dtype[Any]:
    """Return the NumPy dtype of a type name ("bfloat16" included)."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


@cache                                       # NumPy takes 3 us to spell a name
def name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a NumPy dtype."""
    return dtype.name


def computed_as(type: str) -> str:
    """Return the type in which arithmetic of a type is done."""
    return "float32" if type in HALVES else type


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return 16-bit floats as float32: NumPy is slow on them, and LAPACK lacks them."""
    return x.astype(np.float32) if x.itemsize == 2 and x.dtype in (np.float16, BFLOAT16) else x


def kind(type: str) -> str:
    """Return "b"ool, "i"nteger (signed or not), "f"loat or "c"omplex."""
    return "f" if type == "bfloat16" else type[0].replace("u", "i")


def extreme(type: str, which: str) -> float | int | bool:
    """Return the "lowest" or "highest" value of a type: the identity of a maximum or a minimum."""
    if kind(type) == "f":
        return float("-inf") if which == "lowest" else float("inf")
    if kind(type) == "b":
        return which == "highest"
    limits = np.iinfo(type)
    return int(limits.min if which == "lowest" else limits.max)


def common_type(args: Sequence[str | Literal], type: str) -> str:
    """Return the type to which operands are promoted; `type` (the op's) where there are only literals.

    A float and an integer meet in the float; a float literal beside integers only makes them the op's type.
    """
    own = list(dict.fromkeys(arg for arg in args if isinstance(arg, str)))
    if not own:
        return type
    found = own[0]
    for other in own[1:]:
        found = _meet(found, other)
    fraction = any(isinstance(arg, Literal) and isinstance(arg.value, float) and not arg.value.is_integer()
                   for arg in args)
    return type if fraction and kind(found) in "ib" and kind(type) in "fc" else found


def _meet(a: str, b: str) -> str:
    order = "bifc"
    if kind(a) != kind(b):
        return max(a, b, key=lambda type: order.index(kind(type)))
    return str(np.promote_types(dtype_of(a), dtype_of(b)))
