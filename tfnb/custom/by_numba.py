"""Bodies beyond the subset that kernels are written in: compiled by numba, called on the CPU.

numba is imported, and compiles for float64, when such an op is declared: that takes half a second, and reports faults
where they are. Where it is not installed, Python runs them.
"""
from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.custom.by_python import all_positional
from tfnb.custom.definition import Parameters, error_at

numba = lazy_module("numba")
_TELLING = ("Untyped global", "Unknown attribute", "Use of unsupported", "No implementation", "Cannot unify",
            "does not support")                        # lines of numba's messages that say what is wrong


@cache
def has_numba() -> bool:
    """Return whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


def vectorized(fn: Any, given: Parameters, found: SyntaxError) -> Callable[..., Any]:
    """Return a ufunc of a function of single numbers: its operands, then its attrs.

    found: why our own compiler did not take it. Raises SyntaxError if numba does not, either.
    """
    fn = inspect.unwrap(fn)
    if not has_numba():
        return np.vectorize(all_positional(fn), otypes=[np.float64])
    made = numba.vectorize(nopython=True)(all_positional(fn))
    try:
        made.add((numba.float64,) * (len(given.operands) + len(given.attrs)))
    except numba.core.errors.NumbaError as error:
        raise refused(fn, error, found) from None
    return made                                                 # type: ignore[no-any-return]


def refused(fn: FunctionType, error: Exception, found: SyntaxError) -> SyntaxError:
    """Build the error for a body that neither compiler takes: our reason, with its line, and numba's."""
    reasons = [line.strip(" .") for line in str(error).splitlines() if line.strip()]
    told = next((line for mark in _TELLING for line in reasons if mark in line), reasons[0] if reasons else "")
    return error_at(fn, found.lineno or fn.__code__.co_firstlineno, f"{_reason(found)}; numba: {told}")


def _reason(found: SyntaxError) -> str:
    return str(found.msg).partition(": ")[2] or str(found.msg)


def looped(fn: FunctionType, found: SyntaxError, rank: int, inputs: int, outputs: int,
           attrs: list[str]) -> Callable[..., Any]:
    """Return a function (inputs, outputs, attrs) that calls an item kernel for each element of its first output.

    found: why our own compiler did not take it. Raises SyntaxError if numba does not, either.
    """
    arrays = [f"x{i}" for i in range(inputs)] + [f"y{i}" for i in range(outputs)]
    lines = [f"def loop({', '.join([*arrays, *attrs])}):"]
    lines += [f"{'    ' * (axis + 1)}for i{axis} in range(y0.shape[{axis}]):" for axis in range(rank)]
    passed = ", ".join([*arrays, *(f"i{axis}" for axis in range(rank)), *attrs])
    lines.append(f"{'    ' * (rank + 1)}body({passed})")
    body = all_positional(fn)
    scope: dict[str, Any] = {"body": numba.njit(boundscheck=True)(body) if has_numba() else body}
    exec("\n".join(lines), scope)
    if not has_numba():
        return scope["loop"]                                    # type: ignore[no-any-return]
    made = numba.njit(boundscheck=True)(scope["loop"])
    array = numba.types.Array(numba.float64, rank, "C")
    try:
        made.compile((array,) * len(arrays) + (numba.int64,) * len(attrs))
    except numba.core.errors.NumbaError as error:
        raise refused(fn, error, found) from None
    return made                                                 # type: ignore[no-any-return]
