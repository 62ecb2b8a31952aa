"""Kernels of derivatives of the incomplete gamma function with respect to its parameter.

    igamma_grad_a(call), random_gamma_grad(call) -> launches       (a, x) broadcast, float32, float64

The NumPy form, and the method: kernels/arrays/gamma.py.
"""
from __future__ import annotations

import math
from functools import partial
from typing import Any

from tfnb.kernels.arrays.gamma import LARGE, MOST_TERMS
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, Static, Type, exp, libm, log, unrolled
from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.scalar.routines import epsilon


def positive_digamma(x: float) -> Any:
    """Return digamma of x > 0 by its asymptotic series above 8 [DLMF 5.11.2], reached by recurrence."""
    total, y = 0.0, x
    while y < 8.0:
        total -= 1.0 / y
        y += 1.0
    i = 1.0 / y
    z = i * i
    rest = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12))))))
    return total + log(y) - 0.5 * i - rest


def by_series(a: float, x: float, eps: float) -> Any:
    """Return the series of the derivative, without its factor."""
    r, term, slope, total, total_slope, count = a, 1.0, 0.0, 1.0, 0.0, 0
    while count < MOST_TERMS:
        count += 1
        r += 1.0
        inverse = 1.0 / r
        ratio = x * inverse
        slope = ratio * (slope - term * inverse)
        term = term * ratio
        total += term
        total_slope += slope
        if abs(slope) <= eps * abs(total_slope):
            count = MOST_TERMS
    return total_slope + total * (log(x) - positive_digamma(a + 1.0))


def by_fraction(a: float, x: float, eps: float) -> Any:
    """Return the derivative of the continued fraction, without its factor."""
    y, z, c = 1.0 - a, x + 2.0 - a, 0.0
    p2, q2, p1, q1 = 1.0, x, x + 1.0, z * x
    dp2, dq2, dp1, dq1 = 0.0, 0.0, 0.0, -x
    value = p1 / q1
    slope = (dp1 - value * dq1) / q1
    while c < MOST_TERMS:
        c += 1.0
        y += 1.0
        z += 2.0
        yc = y * c
        p = p1 * z - p2 * yc
        q = q1 * z - q2 * yc
        dp = dp1 * z - p1 - dp2 * yc + p2 * c
        dq = dq1 * z - q1 - dq2 * yc + q2 * c
        inverse = 1.0 / q
        value = p * inverse
        new = (dp - value * dq) * inverse
        if abs(new - slope) <= eps * abs(new):
            c = MOST_TERMS * 1.0
        slope = new
        scale = 1.0 / LARGE if abs(p) > LARGE else 1.0
        p2 = p1 * scale
        q2 = q1 * scale
        dp2 = dp1 * scale
        dq2 = dq1 * scale
        p1 = p * scale
        q1 = q * scale
        dp1 = dp * scale
        dq1 = dq * scale
    return slope + value * (log(x) - positive_digamma(a))


@kernel_function(fastmath=())
def gamma_derivative(a: Array, x: Array, target: Array, sizes: Ints, of_a: Ints, of_x: Ints, T: Type,
                     of_sample: Static, beyond: Static, eps: Static, item: int) -> None:
    """Write an element of the derivative. sizes: of the result; of_a, of_x: the strides of the operands in it.

    beyond: how far above `a` the series serves, whose sum loses digits there; eps: the share that is left out.
    """
    rest, at_a, at_x = item, 0, 0
    for axis in unrolled(len(sizes)):
        place = rest % sizes[axis]
        rest = rest // sizes[axis]
        at_a += place * of_a[axis]
        at_x += place * of_x[axis]
    b, z = float(a[at_a]), float(x[at_x])
    found = math.nan
    if z == 0.0 or b > 0.0 and z > 0.0 and (b == math.inf or z == math.inf):
        found = 0.0
    elif b > 0.0 and z > 0.0:
        if z <= 1.0 + beyond or z <= b + beyond:
            inner = by_series(b, z, eps)
            found = -inner * z / b if of_sample else inner * exp(b * log(z) - z - libm.lgamma(b + 1.0))
        else:
            inner = by_fraction(b, z, eps)
            found = inner * z if of_sample else -inner * exp(b * log(z) - z - libm.lgamma(b))
    target[item] = T(found)


def _strides(shape: tuple[int, ...], of: tuple[int, ...]) -> list[int]:
    """Return the strides, last axis first, of an operand that is broadcast to the shape `of`; 0 where it repeats."""
    found, step = [], 1
    for size in reversed((1,) * (len(of) - len(shape)) + shape):
        found.append(step if size != 1 else 0)
        step *= size
    return found


def _derivative(call: Call, of_sample: bool) -> list[Launch]:
    a, x, out = *call.inputs, call.outputs[0]
    if not out.size:
        return []
    return [gamma_derivative.launch(
        call, out.size, call.input(0).reach(a.size * a.itemsize), call.input(1).reach(x.size * x.itemsize),
        call.output().reach(out.size * out.itemsize), tuple(reversed(out.shape)), tuple(_strides(a.shape, out.shape)),
        tuple(_strides(x.shape, out.shape)), T=out.type, of_sample=of_sample,
        beyond=2.0 if out.type == "float64" else 7.0, eps=epsilon(out.type), cost=50, label="gamma derivative")]


igamma_grad_a, random_gamma_grad = partial(_derivative, of_sample=False), partial(_derivative, of_sample=True)
