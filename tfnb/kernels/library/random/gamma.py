"""Kernels of derivatives of the incomplete gamma function with respect to its parameter.

    igamma_grad_a(call), random_gamma_grad(call) -> launches       (a, x) broadcast, float32, float64

The NumPy form, and the method: kernels/arrays/gamma.py.
"""
from __future__ import annotations

import math
from functools import partial
from typing import Any

from tfnb.kernels.arrays.gamma import EPSILON, LARGE, MOST_TERMS
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, Ints, Static, Type, digamma, exp, libm, log, unrolled
from tfnb.kernels.launch import Call, Launch


def by_series(a: float, x: float) -> Any:
    """Return the series of the derivative, without its factor."""
    r, term, slope, total, total_slope, count = a, 1.0, 0.0, 1.0, 0.0, 0
    while count < MOST_TERMS:
        count += 1
        r += 1.0
        ratio = x / r
        slope = ratio * (slope - term / r)
        term = term * ratio
        total += term
        total_slope += slope
        if abs(slope) <= EPSILON * abs(total_slope):
            count = MOST_TERMS
    return total_slope + total * (log(x) - digamma(a + 1.0))


def by_fraction(a: float, x: float) -> Any:
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
        value = p / q
        new = (dp - value * dq) / q
        if abs(new - slope) <= EPSILON * abs(new):
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
    return slope + value * (log(x) - digamma(a))


@kernel_function(fastmath=())
def gamma_derivative(a: Array, x: Array, target: Array, sizes: Ints, of_a: Ints, of_x: Ints, T: Type,
                     of_sample: Static, item: int) -> None:
    """Write an element of the derivative. sizes: of the result; of_a, of_x: the strides of the operands in it."""
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
        if z <= 1.0 or z <= b:
            inner = by_series(b, z)
            found = -inner * z / b if of_sample else inner * exp(b * log(z) - z - libm.lgamma(b + 1.0))
        else:
            inner = by_fraction(b, z)
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
        tuple(_strides(x.shape, out.shape)), T=out.type, of_sample=of_sample, cost=50, label="gamma derivative")]


igamma_grad_a, random_gamma_grad = partial(_derivative, of_sample=False), partial(_derivative, of_sample=True)
