"""Stochastic dual coordinate ascent (SDCA) of linear models (Shalev-Shwartz and Zhang, 2013).

    ascend.run(steps, ...)      one step for each example of `order`, in order
    find_twice.run(n, ...)      an example that has a feature twice

An example is a row of dense features and a span of sparse ones; a weight vector has those of the dense features first.
The state of an example has four numbers: dual variable, primal loss, dual loss, weight.
"""
from __future__ import annotations

import math
from typing import Any

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, exp, float32, log, log1p, maximum, minimum, tanh

LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
LOGISTIC, SQUARED, HINGE, SMOOTH_HINGE, POISSON = range(5)      # places in LOSSES
STEPS = 60                  # of Newton's method at most: bisection alone halves the bracket often enough


def soft(w: float, threshold: float) -> Any:
    """Return w moved towards 0 by `threshold` (soft thresholding)."""
    return maximum(w - threshold, float32(0)) + minimum(w + threshold, float32(0))


def entropy(p: float) -> Any:
    """Return p log p."""
    return p * log(p) if p > 0.0 else 0.0


def logistic_dual(y: float, dual: float, wx: float, curvature: float) -> Any:
    """Return the dual variable y (1 + tanh x) / 2 with 2 x + y wx + curvature ((1 + tanh x) / 2 - y dual) = 0."""
    high = 0.5 * (curvature * y * dual - y * wx)
    low = high - 0.5 * curvature
    x = minimum(maximum(0.0, low), high)
    step, left = 1.0, STEPS
    while abs(step) > 1e-9 * (1.0 + abs(x)) and left > 0:
        t = tanh(x)
        value = 2.0 * x + y * wx + curvature * (0.5 * (1.0 + t) - y * dual)
        if value > 0.0:
            high = x
        else:
            low = x
        after = x - value / (2.0 + 0.5 * curvature * (1.0 - t * t))
        if after < low or after > high:
            after = 0.5 * (low + high)
        step = after - x
        x = after
        left -= 1
    return y * 0.5 * (1.0 + tanh(x))


def poisson_dual(y: float, dual: float, wx: float, curvature: float) -> Any:
    """Return the dual variable y - exp(x) with x = wx + curvature (y - exp(x) - dual)."""
    total = wx + curvature * (y - dual)
    x = total
    if curvature > 0.0 and total > 0.0:
        x = minimum(total, maximum(0.0, log(total / curvature)))
    step, left = 1.0, STEPS
    while abs(step) > 1e-9 * (1.0 + abs(x)) and left > 0:
        e = exp(x)
        step = (x - total + curvature * e) / (1.0 + curvature * e)
        x -= step
        left -= 1
    return y - exp(x)


def clipped_dual(y: float, dual: float, rise: float, curvature: float) -> Any:
    """Return dual + rise / curvature, with y times it between 0 and 1."""
    moved = y * dual
    if curvature > 0.0:
        moved += y * rise / curvature
    elif y * rise > 0.0:
        moved = 1.0
    elif y * rise < 0.0:
        moved = 0.0
    return y * minimum(maximum(moved, 0.0), 1.0)


def loss_at(margin: float) -> Any:
    """Return log(1 + exp(-margin))."""
    return log1p(exp(-margin)) if margin > 0.0 else log1p(exp(margin)) - margin


@kernel_function
def find_twice(starts: Array, places: Array, seen: Array, found: Array, item: int) -> None:
    """Set found[0] to `item` where two of its places are equal. seen: zeros, for each place."""
    for k in range(int(starts[item]), int(starts[item + 1])):
        place = int(places[k])
        if seen[place] == item + 1:
            found[0] = item
        seen[place] = item + 1


@kernel_function
def ascend(order: Array, state: Array, labels: Array, weights: Array, dense: Array, starts: Array, places: Array,
           values: Array, w: Array, shrunk: Array, delta: Array, settings: Array, width: int, loss: int,
           item: int) -> None:
    """Maximize the dual of one example, and add what the weights change by to `delta`.

    state: [n, 4], in place; dense: [n, width]; starts: n + 1 spans of places and values; w: the weights, `shrunk` by
    the threshold; settings: threshold, 1 / l2, partitions of the loss. loss: its place in LOSSES.
    """
    i = int(order[item])
    row = dense[i * width:]
    threshold, scale, partitions = settings[0], settings[1], settings[2]
    wx, before, square = 0.0, 0.0, float32(0)
    for j in range(width):
        x = row[j]
        now = float32(soft(w[j] + partitions * delta[j], threshold))
        wx += float(x) * float(now)
        before += float(x) * float(shrunk[j])
        square = float32(square + x * x)
    first, last = int(starts[i]), int(starts[i + 1])
    for k in range(first, last):
        place, x = int(places[k]), values[k]
        now = float32(soft(w[place] + partitions * delta[place], threshold))
        wx += float(x) * float(now)
        before += float(x) * float(shrunk[place])
        square = float32(square + x * x)
    y, dual, weight = float(labels[i]), float(state[4 * i]), float(weights[i])
    curvature = float(partitions) * weight * float(square) * float(scale)
    if loss == SQUARED:
        after = dual + (y - dual - wx) / (1.0 + curvature)
        primal, conjugate = 0.5 * (before - y) * (before - y), dual * (0.5 * dual - y)
    elif loss == HINGE:
        after = clipped_dual(y, dual, y - wx, curvature)
        primal, conjugate = maximum(1.0 - y * before, 0.0), -y * dual
    elif loss == SMOOTH_HINGE:
        after = clipped_dual(y, dual, y - wx - dual, curvature + 1.0)
        gap = maximum(1.0 - y * before, 0.0)
        primal = gap - 0.5 if gap > 1.0 else 0.5 * gap * gap
        conjugate = dual * (0.5 * dual - y)
    elif loss == LOGISTIC:
        after = logistic_dual(y, dual, wx, curvature)
        primal, conjugate = loss_at(y * before), entropy(y * dual) + entropy(1.0 - y * dual)
    else:
        after = poisson_dual(y, dual, wx, curvature)
        primal = exp(before) - before * y
        conjugate = entropy(y - dual) - (y - dual)
    if loss == POISSON:
        conjugate = math.inf if dual > y else conjugate
    elif loss != SQUARED:
        conjugate = math.inf if y * dual < 0.0 or y * dual > 1.0 else conjugate
    change = float32((after - dual) * weight * float(scale))
    for j in range(width):
        delta[j] = float32(delta[j] + row[j] * change)
    for k in range(first, last):
        place = int(places[k])
        delta[place] = float32(delta[place] + values[k] * change)
    state[4 * i] = float32(after)
    state[4 * i + 1] = float32(primal * weight)
    state[4 * i + 2] = float32(conjugate * weight)
    state[4 * i + 3] = weights[i]
