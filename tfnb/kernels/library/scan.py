"""Argmax, argmin, cumulative sum and product kernels.

    argmax(call), argmin(call)      ArgMax, ArgMin (input, dimension)
    cumsum(call), cumprod(call)     Cumsum, Cumprod (x, axis; attrs exclusive, reverse)
    argmax_rows, argmin_rows        NumPy forms

The value of the axis must be known (Meta.value). Of equal elements the first one wins; NaN never does.
ValueError: argmax or argmin of an empty axis.
"""
from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, MaybeOne, Static, Type, exp, log
from tfnb.kernels.launch import Call, Launch, known_axis

LEAST = np.float64(-np.inf)


@kernel_function
def find_extreme(x: Array, out: Array, n: int, inner: MaybeOne, width: MaybeOne, blocks: MaybeOne, largest: Static,
                 item: int) -> None:
    """Find where `width` columns of (outer, n, inner) are largest or smallest, along n.

    A NaN that was taken as the first element gives way to any number.
    """
    lane = item % blocks * width
    column = x[item // blocks * n * inner + lane:]
    places = out[item // blocks * inner + lane:]
    if width == 1:
        best, place = column[0], 0
        for k in range(1, n):
            value = column[k * inner]
            if (value > best if largest else value < best) or (best != best and value == value):
                best, place = value, k
        places[0] = place
    else:
        for j in range(width):
            places[j] = 0
        for k in range(1, n):
            for j in range(width):
                value, best = column[k * inner + j], column[int(places[j]) * inner + j]
                if (value > best if largest else value < best) or (best != best and value == value):
                    places[j] = k


@kernel_function(independent=True, fastmath=())
def accumulate(x: Array, y: Array, n: int, inner: MaybeOne, width: MaybeOne, blocks: MaybeOne, T: Type,
               product: Static, exclusive: Static, reverse: Static, item: int) -> None:
    """Compute the cumulative sum or product of `width` columns of (outer, n, inner) along n."""
    start = item // blocks * n * inner + item % blocks * width
    if width == 1:
        total = T(1 if product else 0)
        for k in range(n):
            at = start + (n - 1 - k if reverse else k) * inner
            value = x[at]
            if exclusive:
                y[at] = total
            total = T(total * value if product else total + value)
            if not exclusive:
                y[at] = total
    else:
        first = start + (n - 1) * inner if reverse else start
        for j in range(width):
            y[first + j] = T(1 if product else 0) if exclusive else x[first + j]
        for k in range(1, n):
            at = start + (n - 1 - k if reverse else k) * inner
            before = at + inner if reverse else at - inner
            for j in range(width):
                value = x[before + j] if exclusive else x[at + j]
                y[at + j] = T(y[before + j] * value if product else y[before + j] + value)


@kernel_function(fastmath=())
def accumulate_logs(x: Array, y: Array, n: int, inner: MaybeOne, T: Type, W: Type, exclusive: Static, reverse: Static,
                    item: int) -> None:
    """Compute the logarithm of the cumulative sum of exp(x) of a column of (outer, n, inner) along n.

    The sum, of type W, is kept relative to the largest element so far.
    """
    start = item // inner * n * inner + item % inner
    top, total = W(LEAST), W(0)
    for k in range(n):
        at = start + (n - 1 - k if reverse else k) * inner
        value = W(x[at])
        if exclusive:
            y[at] = T(top + log(total))
        if value > top:
            total = W(total * exp(W(top - value)) + W(1))
            top = value
        else:
            total = W(total + (W(1) if value == top else exp(W(value - top))))
        if not exclusive:
            y[at] = T(top + log(total))


def _extreme(call: Call, largest: bool) -> list[Launch]:
    x, out = call.inputs[0], call.outputs[0]
    axis = known_axis(call.inputs[1], len(x.shape))
    outer, n, inner = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1:])
    if not out.size:
        return []
    if not n:
        raise ValueError(f"Reduction axis {axis} is empty in shape {list(x.shape)}")
    width, blocks = call.columns(inner)
    return [find_extreme.launch(call, outer * blocks, call.input(0).reach(outer * n * inner * x.itemsize),
                                call.output().reach(outer * inner * out.itemsize), n, inner, width, blocks, largest,
                                cost=n * width)]


def _scan(call: Call, product: bool) -> list[Launch]:
    x = call.inputs[0]
    axis = known_axis(call.inputs[1], len(x.shape))
    outer, n, inner = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1:])
    if not x.size:
        return []
    width, blocks = call.columns(inner)
    whole = outer * n * inner * x.itemsize
    return [accumulate.launch(call, outer * blocks, call.input(0).reach(whole), call.output().reach(whole), n, inner,
                              width, blocks, T=x.type, product=product, exclusive=bool(call.attrs.get("exclusive")),
                              reverse=bool(call.attrs.get("reverse")), cost=n * width)]


def cumulative_logsumexp(call: Call) -> list[Launch]:
    """Return the launch for CumulativeLogsumexp (x, axis; attrs exclusive, reverse)."""
    x = call.inputs[0]
    axis = known_axis(call.inputs[1], len(x.shape))
    outer, n, inner = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1:])
    whole = x.size * x.itemsize
    return [accumulate_logs.launch(call, outer * inner, call.input(0).reach(whole), call.output().reach(whole), n,
                                   inner, T=x.type, W="float32" if x.itemsize == 2 else x.type,
                                   exclusive=bool(call.attrs["exclusive"]),
                                   reverse=bool(call.attrs["reverse"]), cost=n)]


argmax, argmin = partial(_extreme, largest=True), partial(_extreme, largest=False)
cumsum, cumprod = partial(_scan, product=False), partial(_scan, product=True)


def argmax_rows(x: np.ndarray, axis: int, dtype: Any = np.int64) -> np.ndarray:
    """Compute argmax with NumPy."""
    return _argext(np.argmax, -np.inf, x, axis, dtype)


def argmin_rows(x: np.ndarray, axis: int, dtype: Any = np.int64) -> np.ndarray:
    """Compute argmin with NumPy."""
    return _argext(np.argmin, np.inf, x, axis, dtype)


def _argext(function: Any, last: float, x: np.ndarray, axis: int, dtype: Any) -> np.ndarray:
    if not np.issubdtype(x.dtype, np.integer) and x.dtype != bool:
        x = np.where(np.isnan(x), np.asarray(last, x.dtype), x)
    return np.asarray(function(x, axis), dtype)
