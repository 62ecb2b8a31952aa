"""Primitives defined by other primitives: division of integers, rounding, comparisons, digamma.

Each function is a scalar body that a kernel has in the primitive's place where the machine has no instruction for it
(primitives.py says for which types). The transcendental ones are in polynomials.py. Integers are divided as in C; a
division by zero gives 0 and never traps.
"""
from __future__ import annotations

from math import inf, nan, pi
from typing import Any

from tfnb.kernels.scalar.polynomials import Definition, horner
from tfnb.kernels.scalar.symbols import primitive

(absolute, ceil, cos, exp, floor, fma, fmod, integer_divide, integer_power, log, sin, sqrt, where, to_even,
 to_zero) = map(primitive, ("abs ceil cos exp floor fma fmod integer_divide integer_power log sin sqrt where rint "
                            "trunc").split())


def digamma(x: Any) -> Any:
    """Return psi(x): its asymptotic series above 8, reached by psi(x) = psi(x + 1) - 1 / x; by reflection below 0.5."""
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
    turn = (x - to_even(x)) * pi
    value = where(mirrored, value - pi * cos(turn) / sin(turn), value)
    return where((x <= 0) & (floor(x) == x), where(x == 0, -inf, nan), value)


def _integer_quotient(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return x // y, its remainder and a divisor that no processor traps on: 1 where y is 0 or -1."""
    safe = where((y == 0) | (y == -1), 1, y)
    q = integer_divide(x, safe)
    return q, x - q * safe, safe


def floordiv(x: Any, y: Any) -> Any:
    """Return x // y of signed integers, rounded down; 0 for y = 0."""
    return where(y == 0, 0, where(y == -1, -x, _integer_quotient(x, y)[0]))


def floormod(x: Any, y: Any) -> Any:
    """Return the remainder of signed integers with the sign of y; 0 for y = 0."""
    return _integer_quotient(x, y)[1]


def truncdiv(x: Any, y: Any) -> Any:
    """Return x / y of signed integers, rounded toward zero; 0 for y = 0."""
    q, rest, safe = _integer_quotient(x, y)
    q = where((rest != 0) & ((x < 0) != (safe < 0)), q + 1, q)
    return where(y == 0, 0, where(y == -1, -x, q))


def truncmod(x: Any, y: Any) -> Any:
    """Return the remainder of signed integers with the sign of x; 0 for y = 0."""
    q, rest, safe = _integer_quotient(x, y)
    return where((rest != 0) & ((x < 0) != (safe < 0)), rest - safe, rest)


def power_by_squaring(width: int) -> Definition:
    """Return the body of x ** y for y >= 0: a square and a product for each of the `width` bits of y."""
    def _power(x: Any, y: Any) -> Any:
        result = where((y & 1) != 0, x, 1)
        for _ in range(width - 1):
            x, y = x * x, y >> 1
            result = where((y & 1) != 0, result * x, result)
        return result
    return _power


def unsigned_quotient(x: Any, y: Any) -> Any:
    """Return x // y of unsigned integers; 0 for y = 0."""
    return where(y == 0, 0, integer_divide(x, where(y == 0, 1, y)))


def unsigned_rest(x: Any, y: Any) -> Any:
    """Return the remainder of unsigned integers; 0 for y = 0."""
    return where(y == 0, 0, x - unsigned_quotient(x, y) * y)


def floormod_float(x: Any, y: Any) -> Any:
    """Return the remainder of floats with the sign of y."""
    rest = fmod(x, y)
    return where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


def rint(x: Any) -> Any:
    """Return x rounded to the nearest integer, halves to the even one."""
    low = floor(x)
    rest = x - low
    up = (rest > 0.5) | ((rest == 0.5) & (low - 2 * floor(low * 0.5) != 0))
    return where(rest == rest, where(up, low + 1, low), x)          # infinities have no rest


def sigmoid(x: Any) -> Any:
    """Return e / (1 + e) or 1 / (1 + e) of e = exp(-|x|), as 1 less the other one: the quotient's errors count less."""
    small = exp(-absolute(x))
    side = where(x < 0, small, 1)
    return fma(-side, small / (1 + small), side)


def integer_pow(x: Any, y: Any) -> Any:
    """Return x ** y of integers; 0 for y < 0."""
    return where(y < 0, 0, integer_power(x, where(y < 0, 0, y)))


def trunc(x: Any) -> Any:
    """Return x rounded toward zero."""
    return where(x < 0, ceil(x), floor(x))


def sign(x: Any) -> Any:
    """Return -1, 0 or 1; NaN stays NaN."""
    return where(x > 0, 1, where(x < 0, -1, x))


def integer_sign(x: Any) -> Any:
    """Return -1, 0 or 1."""
    return where(x > 0, 1, where(x < 0, -1, 0))


def maximum(x: Any, y: Any) -> Any:
    """Return the larger value; NaN if x or y is."""
    return where((x > y) | (x != x), x, y)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller value; NaN if x or y is."""
    return where((x < y) | (x != x), x, y)


def integer_maximum(x: Any, y: Any) -> Any:
    """Return the larger integer."""
    return where(x > y, x, y)


def integer_minimum(x: Any, y: Any) -> Any:
    """Return the smaller integer."""
    return where(x < y, x, y)


def isinf(x: Any) -> Any:
    """Return whether x is an infinity."""
    return absolute(x) == inf


def isfinite(x: Any) -> Any:
    """Return whether x is neither infinite nor NaN."""
    return absolute(x) < inf


def rsqrt(x: Any) -> Any:
    """Return 1 / sqrt(x)."""
    return 1 / sqrt(x)


def floor_quotient(x: Any, y: Any) -> Any:
    """Return x / y of floats, rounded down."""
    return floor(x / y)


def truncated_quotient(x: Any, y: Any) -> Any:
    """Return x / y of floats, rounded toward zero."""
    return to_zero(x / y)
