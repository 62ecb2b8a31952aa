"""Primitives that are functions of SciPy: called by their addresses (kernels/llvm/special_functions.py), or routines.

An expansion of one would be hundreds of steps, of which each element needs a few: it would slow down the compilation of
a kernel more than the calls slow down its run. No GPU has them: ops that use them run on the CPU.
"""
from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.kernels.scalar import numpy_forms as forms
from tfnb.kernels.scalar.primitive import Primitive
from tfnb.kernels.scalar.symbols import primitive

_special = lazy_module("scipy.special", extra="scipy")
Body = Callable[..., Any]
_Made = Callable[[Body, Body], Body]             # (where, function of SciPy) -> body


def _function(name: str, arity: int = 1) -> Primitive:
    return Primitive(arity, "same", forms.special(name), scipy=name, costly=True)


def _around(function: str, made: _Made) -> Primitive:
    """Return SciPy's function with TensorFlow's values where the two differ."""
    in_numpy = made(np.where, forms.special(function.removeprefix("scipy_")))
    return Primitive(1, "same", lambda x: np.asarray(in_numpy(x), x.dtype), costly=True,
                     expansion={"f": made(primitive("where"), primitive(function))})


def _routine(arity: int, numpy: Body) -> Primitive:
    """Return a primitive of routines.py with its form for arrays."""
    return Primitive(arity, "same", lambda *arrays: np.asarray(numpy(*arrays), arrays[-1].dtype), routine=True,
                     costly=True)


def _polygamma(n: Any, x: Any) -> Any:
    whole = (n >= 0) & (n == np.floor(n))
    return np.where(whole, _special.polygamma(np.where(whole, n, 0).astype(np.int64), x), nan)


def _for_negative(value: float) -> _Made:
    return lambda where, function: lambda x: where(x < 0, value, function(x))


_RAW = {name: _function(name) for name in "i0 i1 j0 j1 k0 k0e k1 k1e y0 y1 dawsn spence expi".split()} | {
    "gammainc": _function("gammainc", 2), "gammaincc": _function("gammaincc", 2), "betainc": _function("betainc", 3)}
_NAMED = {f"bessel_{name}": _RAW[name] for name in ("i0", "i1", "j0", "j1")}
_POLES = {f"scipy_{name}": _RAW[name] for name in "k0 k0e k1 k1e y0 y1 expi gammainc gammaincc betainc".split()}
_ALIKE = {
    **{f"bessel_{name}": _around(f"scipy_{name}", _for_negative(inf)) for name in ("k0", "k0e", "k1", "k1e")},
    **{f"bessel_{name}": _around(f"scipy_{name}", _for_negative(-inf)) for name in ("y0", "y1")},
    "expint": _around("scipy_expi", _for_negative(nan)),
}
_ROUTINES = {
    "igamma": _routine(2, lambda a, x: np.where(x == 0, 0, np.where(a <= 0, nan, _special.gammainc(a, x)))),
    "igammac": _routine(2, lambda a, x: np.where(a <= 0, nan, _special.gammaincc(a, x))),
    "betainc": _routine(3, lambda a, b, x: np.where((a <= 0) | (b <= 0), nan, _special.betainc(a, b, x))),
    "zeta": _routine(2, lambda x, q: _special.zeta(x, q)),
    "polygamma": _routine(2, _polygamma),
}
SCIPY: dict[str, Primitive] = {**_POLES, **_NAMED, "dawsn": _RAW["dawsn"], "spence": _RAW["spence"], **_ALIKE,
                               **_ROUTINES}
