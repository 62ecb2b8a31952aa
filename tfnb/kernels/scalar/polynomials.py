"""Polynomial approximations of exp, log, sin, erf, pow and their kin after range reduction.

There is no call and no branch in them, so that loops over them become vector instructions (libm's functions are
scalar). The rows of coefficients are minimax fits made for tfnb (Remez exchange on the intervals named beside them).

Errors in units of the last place are in docs/accuracy.md (tests/accuracy.py measures them): 2 at most. Zeros,
infinities, NaN and subnormal numbers are treated as in C. sin and cos: up to |x| = 1e14; beyond 1e16 the result is -1,
0 or 1.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

from tfnb.kernels.scalar.symbols import primitive

Definition = Callable[..., Any]


@dataclass(frozen=True)
class Format:
    """A floating-point format and the constants that go with it. ln2, pi/2: sums of parts, the first ones short."""

    bias: int
    fraction: int                       # bits of the mantissa that are stored
    smallest: float                     # the smallest normal number
    lowest: float                       # exp of it is 0
    highest: float                      # exp of it is inf
    one: float                          # tanh of it is 1
    sign: int                           # the bits of -0.0
    ln2: tuple[float, float]
    sqrt_half: int                      # the bits of sqrt(1/2)
    exp: tuple[float, ...]              # (exp(r) - 1 - r) / r**2, |r| <= ln2 / 2
    tanh: tuple[float, ...]             # (tanh(x) / x - 1) / x**2 in x**2, |x| <= 0.55
    log: tuple[float, ...]              # (log((1 + s) / (1 - s)) - 2 s) / s**3 in s**2, |s| <= 0.1716
    sin: tuple[float, ...]              # (sin(r) - r) / r**3 in r**2, |r| <= pi / 4
    cos: tuple[float, ...]              # (cos(r) - 1 + r**2 / 2) / r**4 in r**2, |r| <= pi / 4
    erf: tuple[float, ...]              # erf(x) / x - 1 in x**2, |x| <= 1
    log_erfc: tuple[float, ...]         # log(erfc(x)), 1 <= x <= erf_one
    erf_one: float                      # erf of it is 1


FLOAT32 = Format(
    bias=127, fraction=23, smallest=1.1754943508222875e-38, lowest=-104.0, highest=88.75, one=10.0, sign=-1 << 31,
    ln2=(0.693145751953125, 1.4286068203094173e-06), sqrt_half=0x3f3504f3, erf_one=4.0,
    exp=(0.5, 0.16666518, 0.041666206, 0.008368889, 0.0013950486),
    tanh=(-0.3333333, 0.13333113, -0.05390943, 0.021309389, -0.0066102277),
    log=(0.6666666, 0.40000337, 0.28537238, 0.2358357),
    sin=(-0.16666655, 0.008332176, -1.9516978e-04),
    cos=(0.041666646, -0.0013887364, 2.4438092e-05),
    erf=(0.1283791670955126, -0.37612626, 0.112836, -0.026854444, 0.0051895357, -8.020845e-04, 7.8891324e-05),
    log_erfc=(-3.5372685e-04, -1.12704, -0.63822573, -0.10303731, 0.021805292, -0.0029396, 1.8557323e-04),
)
FLOAT64 = Format(
    bias=1023, fraction=52, smallest=2.2250738585072014e-308, lowest=-746.0, highest=710.0, one=20.0, sign=-1 << 63,
    ln2=(0.6931471805601177, -1.7239444525614835e-13), sqrt_half=0x3fe6a09e667f3bcd, erf_one=6.0,
    exp=(0.5, 0.16666666666666685, 0.04166666666666673, 0.008333333333316739, 0.0013888888888858536,
         0.0001984126989706009, 2.480158737357557e-05, 2.755723423560187e-06, 2.7557233488677067e-07,
         2.511224026160162e-08, 2.0926906181295867e-09),
    tanh=(-0.3333333333333333, 0.13333333333332714, -0.053968253967434016, 0.021869488493666944,
          -0.008863234397814355, 0.003592110378689024, -0.001455661830100716, 0.0005889360520074057,
          -0.0002346347410887237, 8.511313685577671e-05, -2.060276537636634e-05),
    log=(0.6666666666666735, 0.39999999999411107, 0.2857142874326038, 0.22222198476135893, 0.18183569735260127,
         0.15313903302117507, 0.1479750761863225),
    sin=(-0.16666666666666632, 0.00833333333332237, -0.00019841269829771097, 2.7557313678648017e-06,
         -2.5050755959312377e-08, 1.5896666411492763e-10),
    cos=(0.0416666666666666, -0.0013888888888874064, 2.4801587289443543e-05, -2.755731434067798e-07,
         2.087572162623802e-09, -1.1359559457292312e-11),
    erf=(0.12837916709551258, -0.3761263890318375, 0.11283791670954885, -0.026866170645077875,
         0.0052239776248284315, -0.0008548326981425884, 0.00012055331132976754, -1.4925595772854553e-05,
         1.6461008490952578e-06, -1.6350396383911513e-07, 1.4660329934243189e-08, -1.1374960859212245e-09,
         5.960694668779614e-11),
    log_erfc=(-5.725634564866665e-07, -1.1283733554828879, -0.636647191092962, -0.10269284451975272,
              0.018968557977993697, 0.00044276514374825475, -0.0019519761399923938, 0.000801772737953649,
              -0.00015602999162167832, -9.17333244452133e-06, 1.8220109914332093e-05, -7.177405014997185e-06,
              1.7640158170425554e-06, -3.0333102712726836e-07, 3.6820967352502504e-08, -3.0291016156085196e-09,
              1.521485425653858e-10, -3.5298565360434558e-12),
)
LOG2_E = 1.4426950408889634
TWO_OVER_PI = 0.6366197723675814
# (log((1 + s) / (1 - s)) - 2 s - 2/3 s**3) / s**5 in s**2, |s| <= 0.1716, to 2**-66 of the logarithm
LOG_TAIL = (0.4, 0.2857142857142938, 0.2222222222164882, 0.1818181833699257, 0.15384594791762352, 0.13334813971292003,
            0.11705988156500907, 0.11725771221811145)
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)

(absolute, bits, exp, exp_of_sum, float32, float64, floor, fma, from_bits, int32, log, rint,
 where) = map(primitive, "abs bits exp exp_of_sum float32 float64 floor fma from_bits int32 log rint "
                    "where".split())


def horner(coefficients: Sequence[float]) -> Definition:
    """Return the polynomial with these coefficients, lowest power first, by Horner's scheme."""
    def _polynomial(x: Any) -> Any:
        total = coefficients[-1]
        for c in coefficients[-2::-1]:
            total = fma(total, x, c)
        return total
    return _polynomial


def estrin(coefficients: Sequence[float]) -> Definition:
    """Return the same of x and its square, by Estrin's scheme: as many operations, in a chain of half the length.

    What a processor can start at once is as short as its queue, and loops of long chains wait.
    """
    def _polynomial(x: Any, square: Any) -> Any:
        pairs = [fma(high, x, low) for low, high in zip(coefficients[::2], coefficients[1::2], strict=False)]
        pairs += coefficients[len(pairs) * 2:]
        total = pairs[-1]
        for pair in pairs[-2::-1]:
            total = fma(total, square, pair)
        return total
    return _polynomial


def _signed(of: Format) -> Definition:
    """Return a body that gives nonnegative results the sign of x and leaves others alone; zeros have signs, too."""
    def _with(y: Any, x: Any) -> Any:
        return from_bits(bits(y) | (bits(x) & of.sign))
    return _with


# --- exponentials -------------------------------------------------------------------------------------------------

def _exponentials(of: Format) -> dict[str, Definition]:
    """Return exp, expm1, tanh, sigmoid: x = n ln2 + r, exp(x) = 2**n exp(r).

    n is rounded by adding a number so large that its last bit counts ones; what is added to it beside makes the low
    bits of the sum an exponent as it stands in a number, so that 2**n is one shift away.
    """
    series, (ln2_high, ln2_low), bias, shift = estrin(of.exp), of.ln2, of.bias, of.fraction
    highest, one, whole, lift = of.highest, of.one, 1.5 * 2.0 ** of.fraction, (of.bias + 1) // 2
    near, signed = estrin(of.tanh), _signed(of)

    def reduced(x: Any, offset: int, rest: Any = 0) -> tuple[Any, Any]:
        """Return the bits whose low end is n + offset, and r, for x + rest."""
        z = fma(x, LOG2_E, whole + offset)
        n = z - (whole + offset)
        r = fma(n, -ln2_low, fma(n, -ln2_high, x))
        return bits(z), r if isinstance(rest, int) else r + rest

    def at_least(x: Any, lowest: float) -> Any:
        return where(x < lowest, lowest, x)                         # NaN stays NaN

    def power(r: Any, factor: Any) -> Any:
        """Return exp(r) times a power of 2, folded into the last sum: 1 is added to nothing that is rounded before."""
        square = r * r
        return fma(factor, fma(series(r, square), square, r), factor)

    def _exp(x: Any, rest: Any = 0) -> Any:
        low = at_least(x, of.lowest)
        n, r = reduced(where(low > highest, highest, low), 2 * bias, rest)
        half = n >> 1                                   # 2**n in two factors: n may leave the range of exponents
        return power(r, from_bits(half << shift)) * from_bits((n - half) << shift)

    def _exp_of_two(x: Any, rest: Any) -> Any:
        return _exp(x, rest)

    def _exp_of_one(x: Any) -> Any:
        return _exp(x)

    def _exp_nonpositive(x: Any) -> Any:
        n, r = reduced(at_least(x, of.lowest), bias + lift)
        return power(r, from_bits(n << shift)) * 2.0 ** -lift

    def _expm1(x: Any) -> Any:
        low = at_least(x, -4 * one)
        n, r = reduced(where(low > highest, highest, low), bias - 1)
        half, square = from_bits(n << shift), r * r     # half of 2**n, which itself may be too large
        return signed(fma(half, fma(series(r, square), square, r), half - 0.5) * 2, x)

    def _tanh(x: Any) -> Any:
        """Return tanh; beyond 0.55: 1 - 2 / (exp(2 |x|) + 1), rounded to fewer bits than the result before dividing."""
        size = absolute(x)
        twice = size + size
        n, r = reduced(where(twice > 2 * one, 2 * one, twice), bias)
        two_to_n, square = from_bits(n << shift), r * r
        far = 1 - 2 / fma(two_to_n, fma(series(r, square), square, r), two_to_n + 1)
        z = size * size
        return signed(where(size < 0.55, fma(size, z * near(z, z * z), size), far), x)

    def _sigmoid(x: Any) -> Any:
        """Return 1 / (1 + 2**n exp(r)), both sides times a power of 2."""
        low = at_least(-x, of.lowest)
        n, r = reduced(where(low > -of.lowest, -of.lowest, low), 2 * bias)
        half, square = n >> 1, r * r
        above, below = from_bits((2 * bias - half) << shift), from_bits((n - half) << shift)
        return above / (fma(below, fma(series(r, square), square, r), above) + below)

    return {"exp": _exp_of_one, "exp_of_sum": _exp_of_two, "exp_nonpositive": _exp_nonpositive, "expm1": _expm1,
            "tanh": _tanh, "sigmoid": _sigmoid}


# --- logarithms ---------------------------------------------------------------------------------------------------

def _split(of: Format, x: Any) -> tuple[Any, Any]:
    """Return k and m of x = 2**k m, m in [sqrt(1/2), sqrt(2)), for a positive finite x."""
    lift = of.fraction + 1
    tiny = x < of.smallest
    b = bits(where(tiny, x * 2.0 ** lift, x))
    k = (b - of.sqrt_half) >> of.fraction
    m = from_bits(b - (k << of.fraction))
    return (float64(int32(k)) if of is FLOAT64 else float32(k)) - where(tiny, lift, 0), m


def _logarithms(of: Format) -> dict[str, Definition]:
    """Return log, log1p: x = 2**k m with m around 1, log(m) as a series in s = (m - 1) / (m + 1)."""
    series, (ln2_high, ln2_low) = horner(of.log), of.ln2

    def _log(x: Any) -> Any:
        k, m = _split(of, x)
        f = m - 1
        s = f / (f + 2)
        z = s * s
        half_square = 0.5 * f * f
        low = fma(s, fma(z, series(z), half_square), k * ln2_low)
        y = fma(k, ln2_high, f - (half_square - low))
        return where(x > 0, where(x < inf, y, x), where(x == 0, -inf, nan))

    def _log1p(x: Any) -> Any:
        u = 1 + x
        y = log(u)
        exact = y + (x - (u - 1)) / u                   # what rounding took from u
        return where(absolute(x) > 0, where((u > 0) & (u < inf), exact, y), x)

    return {"log": _log, "log1p": _log1p}


# --- sine and cosine ----------------------------------------------------------------------------------------------

def _circular(of: Format) -> dict[str, Definition]:
    """Return sin, cos: x = n pi/2 + r (reduced in float64 for both formats); the quadrant n mod 4 selects a series."""
    sine, cosine, (first, second, third) = horner(of.sin), horner(of.cos), HALF_PI

    def both(x: Any) -> tuple[Any, Any, Any]:
        """Return the quadrant, sin(r) and cos(r)."""
        wide = float64(x)
        n = rint(wide * TWO_OVER_PI)
        part = fma(n, -first, wide)                     # exact, as both are multiples of 2**-52
        if of is FLOAT64:
            small = n * second
            r = part - small
            rest = ((part - r) - small) - fma(n, third, fma(n, second, -small))
        else:
            r, rest = float32(fma(n, -second, part)), 0
        unknown = absolute(r) > 1                       # |x| far above 1e14: no digit of r is known
        r = where(unknown, 0, r)
        z = r * r
        quadrant = int32(fma(floor(n * 0.25), -4, n))
        s = fma(r * z, sine(z), r) if of is FLOAT32 else r + fma(r * z, sine(z), where(unknown, 0, rest))
        return quadrant, s, fma(z * z, cosine(z), fma(z, -0.5, 1))

    def _sin(x: Any) -> Any:
        quadrant, s, c = both(x)
        y = where((quadrant & 1) != 0, c, s)
        return where((quadrant & 2) != 0, -y, where(x == 0, x, y))

    def _cos(x: Any) -> Any:
        quadrant, s, c = both(x)
        y = where((quadrant & 1) != 0, s, c)
        return where(((quadrant + 1) & 2) != 0, -y, y)

    return {"sin": _sin, "cos": _cos}


# --- error function -----------------------------------------------------------------------------------------------

def _error_function(of: Format) -> dict[str, Definition]:
    """Return erf: a series near 0; beyond 1, the exponential of a polynomial for 1 - erf."""
    near, far, one, signed = horner(of.erf), horner(of.log_erfc), of.erf_one, _signed(of)

    def _erf(x: Any) -> Any:
        size = absolute(x)
        y = 1 - exp(far(where(size < one, size, one)))
        return signed(where(size > 1, y, fma(size, near(size * size), size)), x)

    return {"erf": _erf}


# --- powers -------------------------------------------------------------------------------------------------------

def _with_sign(x: Any, y: Any, size: Any) -> Any:
    """Return x ** y, given |x| ** y: C's special cases."""
    whole = floor(y) == y
    odd = whole & (floor(y * 0.5) != y * 0.5)
    result = where((bits(x) < 0) & odd, -size, size)
    result = where((x < 0) & (x > -inf) & ~whole, nan, result)
    result = where((absolute(x) == 1) & (absolute(y) == inf), 1, result)
    return where((y == 0) | (x == 1), 1, result)


def _power32(x: Any, y: Any) -> Any:
    """Return exp(y log |x|), computed in float64; its error in float32 is one rounding."""
    return _with_sign(x, y, float32(exp(float64(y) * log(float64(absolute(x))))))


def _log_in_two_parts(m: Any, k: Any) -> tuple[Any, Any]:
    """Return log(2**k m) as a sum of two float64 values, accurate to 2**-63."""
    ln2_high, ln2_low = FLOAT64.ln2
    d = m + 1
    f = m - 1
    s = f / d
    s_low = (fma(-s, d, f) - s * (m - (d - 1))) / d
    z = s * s
    z_low = fma(s, s, -z) + 2 * s * s_low
    tail = z * horner(LOG_TAIL)(z)
    a = tail + 2 / 3
    a_low = (2 / 3 - a) + tail + 3.700743415417188e-17              # of 2/3, what float64 does not hold
    cube = s * z
    cube_low = fma(s, z, -cube) + s * z_low + s_low * z
    t = cube * a
    t_low = fma(cube, a, -t) + cube * a_low + cube_low * a
    h = 2 * s + t
    low = ((2 * s - h) + t) + (t_low + 2 * s_low)
    n = k * ln2_high
    high = n + h
    part = high - n
    return high, ((n - (high - part)) + (h - part)) + fma(k, ln2_low, low)


def _power64(x: Any, y: Any) -> Any:
    """Return exp(y log |x|), with log |x| and its product with y in two parts."""
    size = absolute(x)
    normal = where((size > 0) & (size < inf), size, 1)
    k, m = _split(FLOAT64, normal)
    high, low = _log_in_two_parts(m, k)
    product = y * high
    rest = fma(y, high, -product) + y * low
    rest = where(absolute(product) < 1000, rest, 0)
    result = exp_of_sum(product, rest)
    at_zero = where(y < 0, inf, 0)
    at_inf = where(y < 0, 0, inf)
    result = where(size == 0, at_zero, where(size == inf, at_inf, result))
    return _with_sign(x, y, where((x != x) | (y != y), nan, result))


def polynomials() -> dict[str, dict[str, Definition]]:
    """Return the polynomial definitions: primitive -> type -> body."""
    found: dict[str, dict[str, Definition]] = {"pow": {"float32": _power32, "float64": _power64}}
    for type, of in (("float32", FLOAT32), ("float64", FLOAT64)):
        for family in (_exponentials, _logarithms, _circular, _error_function):
            for name, body in family(of).items():
                found.setdefault(name, {})[type] = body
    return found
