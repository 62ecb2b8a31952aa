"""Words that are written with other words: what they mean in kernels, for each kind of number.

`expansion(word, type)` gives the definition that a kernel has in the word's place where the machine has no instruction
for it. The transcendental ones are in polynomials.py; here are the table and all that is small: division of integers
as in C (a division by zero gives 0 and never traps), rounding, comparisons, digamma.
"""
from __future__ import annotations

from functools import cache
from math import inf, nan, pi
from typing import Any

from tfnb.kernels.polynomials import Definition, horner, polynomials
from tfnb.kernels.scalar import Scalar, word
from tfnb.kernels.words import kind

(absolute, ceil, cos, exp, floor, fma, fmod, integer_divide, integer_power, log, rint, sin, sqrt, trunc, where) = map(
    word, "abs ceil cos exp floor fma fmod integer_divide integer_power log rint sin sqrt trunc where".split())


@cache
def expansion(name: str, type: str, bits: bool = True) -> Scalar | None:
    """What the word `name` stands for over operands of `type` (a NumPy dtype name); None if it has no definition.

    bits: has the machine the word `bits`? The polynomials need it.
    """
    for key in (type, kind(type), "any"):
        if (name, key) in _EXPANSIONS and (bits or (name, key) not in _POLYNOMIALS):
            return Scalar(_EXPANSIONS[name, key])
    return None


def _digamma(x: Any) -> Any:
    """The asymptotic series above 6, reached by psi(x) = psi(x + 1) - 1 / x; below 0.5 by reflection."""
    mirrored = x < 0.5
    y = where(mirrored, 1 - x, x)
    total: Any = 0
    for _ in range(8):
        small = y < 8
        total = where(small, total - 1 / y, total)
        y = where(small, y + 1, y)
    z = 1 / (y * y)
    series = horner((1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160,
                     43867 / 14364))(z)
    value = total + log(y) - 0.5 / y - z * series
    turn = (x - rint(x)) * pi
    value = where(mirrored, value - pi * cos(turn) / sin(turn), value)
    return where((x <= 0) & (floor(x) == x), where(x == 0, -inf, nan), value)


def _integer_quotient(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """x // y (floor), its remainder and a divisor that no processor traps on; where y is 0 or -1, x // 1."""
    safe = where((y == 0) | (y == -1), 1, y)
    q = integer_divide(x, safe)
    return q, x - q * safe, safe


def _floordiv(x: Any, y: Any) -> Any:
    return where(y == 0, 0, where(y == -1, -x, _integer_quotient(x, y)[0]))


def _floormod(x: Any, y: Any) -> Any:
    return _integer_quotient(x, y)[1]


def _truncdiv(x: Any, y: Any) -> Any:
    q, rest, safe = _integer_quotient(x, y)
    q = where((rest != 0) & ((x < 0) != (safe < 0)), q + 1, q)
    return where(y == 0, 0, where(y == -1, -x, q))


def _truncmod(x: Any, y: Any) -> Any:
    q, rest, safe = _integer_quotient(x, y)
    return where((rest != 0) & ((x < 0) != (safe < 0)), rest - safe, rest)


def _integer_power(width: int) -> Definition:
    """x ** y for y >= 0 by squaring, for each bit of y."""
    def _power(x: Any, y: Any) -> Any:
        result = where((y & 1) != 0, x, 1)
        for _ in range(width - 1):
            x, y = x * x, y >> 1
            result = where((y & 1) != 0, result * x, result)
        return result
    return _power


def _unsigned_quotient(x: Any, y: Any) -> Any:
    return where(y == 0, 0, integer_divide(x, where(y == 0, 1, y)))


def _unsigned_rest(x: Any, y: Any) -> Any:
    return where(y == 0, 0, x - _unsigned_quotient(x, y) * y)


def _floormod_float(x: Any, y: Any) -> Any:
    rest = fmod(x, y)
    return where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


def _rint(x: Any) -> Any:
    low = floor(x)
    rest = x - low
    up = (rest > 0.5) | ((rest == 0.5) & (low - 2 * floor(low * 0.5) != 0))
    return where(rest == rest, where(up, low + 1, low), x)          # infinities have no rest


def _sigmoid(x: Any) -> Any:
    """e / (1 + e) or 1 / (1 + e) of e = exp(-|x|), as 1 less the other one: the quotient's errors count less."""
    small = exp(-absolute(x))
    side = where(x < 0, small, 1)
    return fma(-side, small / (1 + small), side)


_POLYNOMIALS = polynomials()
_EXPANSIONS: dict[tuple[str, str], Any] = {
    **_POLYNOMIALS,
    ("sigmoid", "f"): _sigmoid,
    ("digamma", "f"): _digamma,
    ("pow", "i"): lambda x, y: where(y < 0, 0, integer_power(x, where(y < 0, 0, y))),
    **{("integer_power", f"{sign}int{n}"): _integer_power(n) for sign in ("", "u") for n in (8, 16, 32, 64)},
    ("fma", "f"): lambda x, y, z: x * y + z,
    ("rsqrt", "f"): lambda x: 1 / sqrt(x),
    ("square", "any"): lambda x: x * x,
    ("reciprocal", "any"): lambda x: 1 / x,
    ("rint", "f"): _rint,
    ("trunc", "f"): lambda x: where(x < 0, ceil(x), floor(x)),
    ("sign", "f"): lambda x: where(x > 0, 1, where(x < 0, -1, x)),
    ("sign", "i"): lambda x: where(x > 0, 1, where(x < 0, -1, 0)),
    ("maximum", "f"): lambda x, y: where((x > y) | (x != x), x, y),
    ("minimum", "f"): lambda x, y: where((x < y) | (x != x), x, y),
    ("maximum", "any"): lambda x, y: where(x > y, x, y),
    ("minimum", "any"): lambda x, y: where(x < y, x, y),
    ("maximum", "b"): lambda x, y: x | y,
    ("minimum", "b"): lambda x, y: x & y,
    ("isnan", "f"): lambda x: x != x,
    ("isinf", "f"): lambda x: absolute(x) == inf,
    ("isfinite", "f"): lambda x: absolute(x) < inf,
    **{(name, "i"): (lambda x: x == x) if name == "isfinite" else (lambda x: x != x)
       for name in ("isnan", "isinf", "isfinite")},
    ("logical_and", "b"): lambda x, y: x & y,
    ("logical_or", "b"): lambda x, y: x | y,
    ("logical_xor", "b"): lambda x, y: x ^ y,
    ("logical_not", "b"): lambda x: ~x,
    ("floordiv", "i"): _floordiv, ("floormod", "i"): _floormod,
    ("truncdiv", "i"): _truncdiv, ("truncmod", "i"): _truncmod, ("div", "i"): _truncdiv,
    **{(name, f"uint{n}"): fn for n in (8, 16, 32, 64) for name, fn in {
        "floordiv": _unsigned_quotient, "truncdiv": _unsigned_quotient, "div": _unsigned_quotient,
        "floormod": _unsigned_rest, "truncmod": _unsigned_rest}.items()},
    ("floordiv", "f"): lambda x, y: floor(x / y), ("floormod", "f"): _floormod_float,
    ("truncdiv", "f"): lambda x, y: trunc(x / y), ("truncmod", "f"): lambda x, y: fmod(x, y),
    **{(name, key): (lambda x: x) for name in ("floor", "ceil", "rint", "trunc", "conj", "real") for key in "ib"},
    **{(name, "f"): (lambda x: x) for name in ("conj", "real")},
}
EXPANDED = frozenset(name for name, _ in _EXPANSIONS)
