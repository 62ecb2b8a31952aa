"""Functions of float32 computed in float64, where that makes one formula enough: hyperbolic ones, erfc, integrals.

Their errors are one rounding (docs/accuracy.md). In float64 they are those of doubles.py, or else the C library's and
SciPy's functions.
"""
from __future__ import annotations

from math import nan
from typing import Any

from tfnb.kernels.scalar.bessel import HIGHEST, integrals
from tfnb.kernels.scalar.doubles import doubles
from tfnb.kernels.scalar.polynomials import Definition, horner
from tfnb.kernels.scalar.symbols import primitive

absolute, exp, expm1, float32, float64, log1p, sqrt, where = map(
    primitive, "abs exp expm1 float32 float64 log1p sqrt where".split())

# (1 + 2 x) exp(x**2) erfc(x) in t = (x - 2) / (x + 2), 0 <= x <= 10.6, to 2e-9 of it: an interpolation
_ERFC = (1.2769783822921372, -0.09276381453844498, -0.16603048349431704, 0.16405087159802756, -0.05421846245529097,
         -0.008029727637054602, 0.008712946243964285, 0.0012504998762415587, -0.0014305770160294136,
         -0.00040185348588577717, 0.00017820864947934868, 8.403989530845111e-05)
_ERFC_ZERO = 10.6                         # erfc of it is 0 in float32


def _signed(y: Any, x: Any) -> Any:
    """Return y >= 0 with the sign of x; a zero x as it is."""
    return where(x < 0, -y, where(x > 0, y, x))


def _limited(x: Any, limit: float) -> Any:
    return where(x > limit, limit, x)                             # NaN stays NaN


def _atanh(x: Any) -> Any:
    size = absolute(x)
    return _signed(0.5 * log1p(2 * size / (1 - size)), x)


def _asinh(x: Any) -> Any:
    size = absolute(x)
    square = size * size
    return _signed(log1p(size + where(size > 1e30, size, square / (1 + sqrt(square + 1)))), x)


def _acosh(x: Any) -> Any:
    above = x - 1
    return where(x < 1, nan, log1p(above + sqrt(above * (above + 2))))


def _sinh(x: Any) -> Any:
    y = expm1(_limited(absolute(x), HIGHEST))
    return _signed(0.5 * (y + y / (y + 1)), x)


def _cosh(x: Any) -> Any:
    y = exp(_limited(absolute(x), HIGHEST))
    return 0.5 * (y + 1 / y)


def _erfc(x: Any) -> Any:
    size = _limited(absolute(x), _ERFC_ZERO)
    y = exp(-(size * size)) * horner(_ERFC)((size - 2) / (size + 2)) / (1 + 2 * size)
    return where(x < 0, 2 - y, y)


def _widened(body: Definition) -> Definition:
    return lambda x: float32(body(float64(x)))


def widened() -> dict[str, dict[str, Definition]]:
    """Return the definitions: primitive -> type -> body."""
    bodies = {"atanh": _atanh, "asinh": _asinh, "acosh": _acosh, "sinh": _sinh, "cosh": _cosh, "erfc": _erfc,
              **integrals()}
    wide: dict[str, Definition] = doubles()
    return {name: {"float32": _widened(body), **({"float64": wide[name]} if name in wide else {})}
            for name, body in bodies.items()}
