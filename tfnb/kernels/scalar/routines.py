"""Special functions of two and three arguments as routines: loops over float64 in the kernels that use them.

A routine is a function in the language of kernel sources (llvm/lowering.py): no vectors, but an element takes only the
terms that it needs, up to `eps` of the result, which follows from the dtype. Numbers in brackets are those of the
Digital Library of Mathematical Functions. Where a loop would be long (parameters of hundreds beside a transition),
SciPy's function is called, which has uniform expansions there.
"""
# ruff: noqa: F821
# mypy: disable-error-code="name-defined, attr-defined"
from __future__ import annotations

import ast
import inspect
import math
from functools import cache
from typing import Any

from tfnb.kernels.scalar.number_types import kind


def gamma_factor(a: Any, x: Any) -> Any:
    """Return x**a exp(-x) / gamma(a + 1)."""
    if a < 12.0:
        return exp(a * log(x) - x - math.lgamma(a + 1.0))
    # Stirling's series [5.11.1]: the large parts of numerator and denominator cancel before they are added
    i = 1.0 / a
    s = i * i
    rest = i * (0.08333333333333333 - s * (0.002777777777777778 - s * (0.0007936507936507937 - s * (
        0.0005952380952380953 - s * (0.0008417508417508417 - s * 0.0019175269175269176)))))
    ratio = x / a
    if ratio > 0.5 and ratio < 2.0:
        distance = a * math.log1p((x - a) * i) + (a - x)
    else:
        distance = a * log(ratio) + (a - x)
    return exp(distance - rest) * 0.3989422804014327 / sqrt(a)


def gamma_series(a: Any, x: Any, eps: Any) -> Any:
    """Return P(a, x) by its series in x [8.7.1]."""
    term = 1.0
    total = 1.0
    r = a
    while term > eps * total:
        r = r + 1.0
        term = term * (x / r)
        total = total + term
    return total * gamma_factor(a, x)


def gamma_small(a: Any, x: Any, eps: Any) -> Any:
    """Return Q(a, x) for small x, where it is no difference of numbers near 1 [8.7.3]."""
    k = 0.0
    term = 1.0
    total = 0.0
    part = 1.0
    while abs(part) > eps * abs(total):
        k = k + 1.0
        term = term * (-x / k)
        part = term / (a + k)
        total = total + part
    if a < 0.005:                         # log(gamma(1 + a)) [5.7.3]
        rest = a * (-0.5772156649015329 + a * (0.8224670334241132 - a * (0.40068563438653143 - a * (
            0.27058080842778454 - a * (0.20738555102867398 - a * (0.1695571769974082 - a * 0.1440498967684612))))))
    else:
        rest = math.lgamma(1.0 + a)
    power = a * log(x) - rest
    return -(expm1(power) + a * exp(power) * total)


def gamma_fraction(a: Any, x: Any, eps: Any) -> Any:
    """Return Q(a, x) by the continued fraction of gamma(a, x) [8.9.2], its convergents by recurrence."""
    y = 1.0 - a
    z = x + y + 1.0
    c = 0.0
    p1 = 1.0
    q1 = x
    p = x + 1.0
    q = z * x
    error = 1.0
    limit = 0.0
    while error > limit:
        c = c + 1.0
        y = y + 1.0
        z = z + 2.0
        yc = y * c
        p2 = p1
        q2 = q1
        p1 = p
        q1 = q
        p = p1 * z - p2 * yc
        q = q1 * z - q2 * yc
        error = abs(p * q1 - p1 * q)
        limit = eps * abs(p * q1)
        if abs(p) > 1e+100:
            p = p * 1e-100
            q = q * 1e-100
            p1 = p1 * 1e-100
            q1 = q1 * 1e-100
        if c > 2000.0:
            limit = error
    return p / q * a * gamma_factor(a, x)


def igamma(a: Any, x: Any, eps: Any) -> Any:
    """Return the regularized lower incomplete gamma function P(a, x)."""
    if x == 0.0:
        return 0.0
    if not (a > 0.0 and x > 0.0) or a > 200.0 and abs(x - a) < 0.3 * a or x > 1e+300 or a > 1e+300:
        return math.nan if a <= 0.0 else math.scipy_gammainc(a, x)
    if x > a + 8.0:
        return 1.0 - gamma_fraction(a, x, eps)
    return gamma_series(a, x, eps)


def igammac(a: Any, x: Any, eps: Any) -> Any:
    """Return the regularized upper incomplete gamma function Q(a, x)."""
    if not (a > 0.0 and x > 0.0) or a > 200.0 and abs(x - a) < 0.3 * a or x > 1e+300 or a > 1e+300:
        return math.nan if a <= 0.0 else math.scipy_gammaincc(a, x)
    if x <= 1.1:
        if x <= 0.5 and -0.4 < a * log(x) or x > 0.5 and x * 1.1 > a:
            return gamma_small(a, x, eps)
        return 1.0 - gamma_series(a, x, eps)
    if x < a or a > 0.5 and x < a + 1.0:
        return 1.0 - gamma_series(a, x, eps)
    return gamma_fraction(a, x, eps)


def beta_fraction(a: Any, b: Any, x: Any, eps: Any) -> Any:
    """Return the continued fraction of the incomplete beta function [8.17.22], its convergents by recurrence."""
    p1 = 1.0
    q1 = 1.0
    m = 0.0
    top = a + b
    p = 1.0
    q = 1.0 - top * x / (a + 1.0)
    error = 1.0
    limit = 0.0
    while error > limit:
        m = m + 1.0
        even = a + 2.0 * m
        d = m * (b - m) * x / ((even - 1.0) * even)
        p1 = p + d * p1
        q1 = q + d * q1
        d = -(a + m) * (top + m) * x / (even * (even + 1.0))
        p = p1 + d * p
        q = q1 + d * q
        error = abs(p * q1 - p1 * q)
        limit = eps * abs(p * q1)
        if abs(q) > 1e+100:
            p = p * 1e-100
            q = q * 1e-100
            p1 = p1 * 1e-100
            q1 = q1 * 1e-100
        if m > 2000.0:
            limit = error
    return p / q


def betainc(a: Any, b: Any, x: Any, eps: Any) -> Any:
    """Return the regularized incomplete beta function."""
    if a <= 0.0 or b <= 0.0:
        return math.nan
    # beyond, lgamma's differences have too few digits
    if eps < 1e-12 or not (a + b < 1000.0 and min(a, b) > 1e-3 and x > 0.0 and x < 1.0):
        return math.scipy_betainc(a, b, x)
    factor = exp(a * log(x) + b * log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    if x < (a + 1.0) / (a + b + 2.0):
        return factor * beta_fraction(a, b, x, eps) / a
    return 1.0 - factor * beta_fraction(b, a, 1.0 - x, eps) / b


def inverse_power(q: Any, x: Any, eps: Any) -> Any:
    """Return q**-x: for small integers x by products."""
    if x == 2.0:
        return 1.0 / (q * q)
    if x <= 32.0 and x == floor(x):
        n = int64(x)
        y = q if n & 1 else 1.0
        n = n >> 1
        square = q
        while n > 0:
            square = square * square
            if n & 1:
                y = y * square
            n = n >> 1
        return 1.0 / y
    if eps > 1e-12 and q > 0.0:
        return exp(-x * log(q))
    return math.pow(q, -x)


def zeta(x: Any, q: Any, eps: Any) -> Any:
    """Return the Hurwitz zeta function: terms, and the Euler-Maclaurin formula for the rest [2.10.1]."""
    if not x > 1.0:
        return math.inf if x == 1.0 else math.nan
    if not q > 0.0 and q == floor(q):
        return math.inf
    if q <= 0.0 and x != floor(x) or q != q:
        return math.nan
    if q > 1e+8:                          # [25.11.43]
        return (1.0 / (x - 1.0) + 1.0 / (2.0 * q)) * math.pow(q, 1.0 - x)
    limit = 0.5 * x + (3.0 if eps > 1e-12 else 10.0)
    w = q
    power = inverse_power(w, x, eps)
    total = 0.0
    while w < limit and (w <= 0.0 or power > eps * total):
        total = total + power
        w = w + 1.0
        power = inverse_power(w, x, eps)
    if power <= eps * total:
        return math.nan if total == 0.0 and x > 1e+12 else total       # as SciPy's, whose factors overflow
    total = total + power * (w / (x - 1.0) + 0.5)
    i = 1.0 / w
    square = i * i
    term = power * x * i                  # (x)_(2 k - 1) w**(1 - x - 2 k), by B_2k / (2 k)!
    total = total + term * 0.08333333333333333
    term = term * ((x + 1.0) * (x + 2.0) * square)
    total = total - term * 0.001388888888888889
    term = term * ((x + 3.0) * (x + 4.0) * square)
    total = total + term * 3.306878306878307e-05
    term = term * ((x + 5.0) * (x + 6.0) * square)
    total = total - term * 8.267195767195768e-07
    term = term * ((x + 7.0) * (x + 8.0) * square)
    total = total + term * 2.08767569878681e-08
    term = term * ((x + 9.0) * (x + 10.0) * square)
    total = total - term * 5.284190138687493e-10
    term = term * ((x + 11.0) * (x + 12.0) * square)
    total = total + term * 1.3382536530684679e-11
    term = term * ((x + 13.0) * (x + 14.0) * square)
    total = total - term * 3.3896802963225827e-13
    term = term * ((x + 15.0) * (x + 16.0) * square)
    total = total + term * 8.586062056277844e-15
    term = term * ((x + 17.0) * (x + 18.0) * square)
    return total - term * 2.1748686985580617e-16


def polygamma(n: Any, x: Any, eps: Any) -> Any:
    """Return the derivative of order n of digamma [5.15.1]; NaN for an order that is no integer, or negative."""
    if not (n >= 0.0 and n == floor(n)):
        return math.nan
    if n == 0.0:
        return digamma(x)
    if n <= 20.0:
        factor = 1.0
        k = 1.0
        while k < n:
            k = k + 1.0
            factor = factor * k
    else:
        factor = math.exp(math.lgamma(n + 1.0))
    found = factor * zeta(n + 1.0, x, eps)
    return found if 2.0 * floor(n * 0.5) != n else -found


_FUNCTIONS = (gamma_factor, gamma_series, gamma_small, gamma_fraction, igamma, igammac, beta_fraction, betainc,
              inverse_power, zeta, polygamma)
_EPSILON = {"float64": 2.0**-53}


def epsilon(type: str) -> float:
    """Return the share of a result of a dtype that a routine may leave out."""
    return _EPSILON.get(type, 2.0**-29) if kind(type) == "f" else 0.0


@cache
def definitions() -> dict[str, ast.FunctionDef]:
    """Return the functions of this file that kernels may hold, by name, without their docstrings."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(definitions)))                # type: ignore[arg-type]
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)
            and node.name in {function.__name__ for function in _FUNCTIONS}}
