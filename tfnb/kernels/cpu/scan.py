"""Argmax, argmin, cumsum and cumprod kernels.

    argmax(call), argmin(call)      ArgMax, ArgMin (input, dimension); int32 or int64
    cumsum(call), cumprod(call)     Cumsum, Cumprod (x, axis; attrs exclusive, reverse)
    argmax_rows, argmin_rows, cumsum_rows, cumprod_rows     their NumPy forms

The value of the axis must be known (Meta.value). Of equal elements the first one wins; NaN never does.
ValueError: argmax or argmin of an empty axis.
"""
from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from tfnb.kernels.launch import Call, Launch, known_axis

WORK = 1 << 16                                          # elements a thread takes at a time

# Items: the rows of (outer, n, inner). A NaN that was taken as the first element gives way to any number.
EXTREME_TEXT = """
def kernel(args, begin, end):
    n, inner = args[2], args[3]
    for i in range(begin, end):
        x = {type}_array(args[0] + {bytes} * n * inner * i, n * inner)
        out = {output}_array(args[1] + {output_bytes} * inner * i, inner)
        if inner == 1:
            best, place = x[0], 0
            for k in range(1, n):
                value = x[k]
                if value {sign} best or (best != best and value == value):
                    best, place = value, k
            out[0] = place
        else:
            for j in range(inner):
                out[j] = 0
            for k in range(1, n):
                for j in range(inner):
                    value, best = x[k * inner + j], x[out[j] * inner + j]
                    if value {sign} best or (best != best and value == value):
                        out[j] = k
"""

# Items: the rows of (outer, n, inner). Step t of n is at `first` + t * `move`.
SCAN_TEXT = """
FASTMATH = ()
INDEPENDENT = True

def kernel(args, begin, end):
    n, inner, first, move = args[2], args[3], args[4], args[5]
    for i in range(begin, end):
        x = {type}_array(args[0] + {bytes} * n * inner * i, n * inner)
        y = {type}_array(args[1] + {bytes} * n * inner * i, n * inner)
        if inner == 1:
            total = {type}({start})
            for t in range(n):
                at = first + t * move
                value = x[at]
{one}
        else:
            for j in range(inner):
                y[first * inner + j] = {many_first}
            for t in range(1, n):
                at = (first + t * move) * inner
                back = at - move * inner
                for j in range(inner):
                    y[at + j] = {type}(y[back + j] {sign} {many_source})
"""


def argmax_rows(x: np.ndarray, axis: int, dtype: Any = np.int64) -> np.ndarray:
    """Compute argmax with NumPy."""
    return _argext(np.argmax, -np.inf, x, axis, dtype)


def argmin_rows(x: np.ndarray, axis: int, dtype: Any = np.int64) -> np.ndarray:
    """Compute argmin with NumPy."""
    return _argext(np.argmin, np.inf, x, axis, dtype)


def cumsum_rows(x: np.ndarray, axis: int, exclusive: bool = False, reverse: bool = False) -> np.ndarray:
    """Compute cumsum with NumPy."""
    return _accumulate(np.add, 0, x, axis, exclusive, reverse)


def cumprod_rows(x: np.ndarray, axis: int, exclusive: bool = False, reverse: bool = False) -> np.ndarray:
    """Compute cumprod with NumPy."""
    return _accumulate(np.multiply, 1, x, axis, exclusive, reverse)


def _extreme(call: Call, sign: str) -> list[Launch]:
    x, out = call.inputs[0], call.outputs[0]
    axis = known_axis(call.inputs[1], len(x.shape))
    outer, n, inner = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1:])
    if not out.size:
        return []
    if not n:
        raise ValueError(f"Reduction axis {axis} is empty in shape {list(x.shape)}")
    text = EXTREME_TEXT.format(type=x.type.replace("bool", "uint8"), bytes=x.itemsize, output=out.type,
                               output_bytes=out.itemsize, sign=sign)
    args = (call.input(0).reach(outer * n * inner * x.itemsize), call.output().reach(outer * inner * out.itemsize), n,
            inner)
    return [Launch(text, args, outer, max(1, WORK // (n * inner)), "argmax")]


def _scan(call: Call, sign: str, start: int) -> list[Launch]:
    x = call.inputs[0]
    axis = known_axis(call.inputs[1], len(x.shape))
    outer, n, inner = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1:])
    if not x.size:
        return []
    exclusive = bool(call.attrs.get("exclusive"))
    add, put = f"                total = {x.type}(total {sign} value)\n", "                y[at] = total\n"
    text = SCAN_TEXT.format(
        type=x.type, bytes=x.itemsize, start=start, sign=sign, one=put + add if exclusive else add + put,
        many_first=f"{x.type}({start})" if exclusive else "x[first * inner + j]",
        many_source="x[back + j]" if exclusive else "x[at + j]")
    first, move = (n - 1, -1) if call.attrs.get("reverse") else (0, 1)
    whole = outer * n * inner * x.itemsize
    args = (call.input(0).reach(whole), call.output().reach(whole), n, inner, first, move)
    return [Launch(text, args, outer, max(1, WORK // (n * inner)), "cumulative")]


argmax, argmin = partial(_extreme, sign=">"), partial(_extreme, sign="<")
cumsum, cumprod = partial(_scan, sign="+", start=0), partial(_scan, sign="*", start=1)


def _argext(function: Any, last: float, x: np.ndarray, axis: int, dtype: Any) -> np.ndarray:
    if not np.issubdtype(x.dtype, np.integer) and x.dtype != bool:
        x = np.where(np.isnan(x), np.asarray(last, x.dtype), x)
    return np.asarray(function(x, axis), dtype)


def _accumulate(ufunc: Any, start: int, x: np.ndarray, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
    x = np.moveaxis(x, axis, 0)
    x = x[::-1] if reverse else x
    out = np.array(ufunc.accumulate(x, dtype=x.dtype))
    if exclusive and len(out):
        out = np.concatenate([np.full_like(x[:1], start), out[:-1]])
    return np.ascontiguousarray(np.moveaxis(out[::-1] if reverse else out, 0, axis))
