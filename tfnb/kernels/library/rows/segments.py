"""Rows combined by segment ids: sums, products, minima and maxima.

    unsorted(how)(call)         UnsortedSegmentProd, -Min, -Max (data, segment_ids, num_segments); ids < 0 are dropped;
                                failure 3: id >= num_segments
    combined(how, ...)          NumPy form over sorted ids, by machine code where there are many elements; the number of
                                segments, and so the shape, only a run knows: these ops are host calls
"""
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import Array, MaybeOne, Static, Type, fail, maximum, minimum, sqrt, truncdiv
from tfnb.kernels.launch import Call, Launch
from tfnb.kernels.library.checks import BAD_SEGMENT
from tfnb.kernels.library.rows.halves import rounded, widened
from tfnb.kernels.scalar.number_types import HALVES

LEAST = 2048                # elements: fewer are not worth a kernel
CHAINED = 8                 # rows of a segment, of one element, from which they are combined in four chains
TYPES = frozenset(map(np.dtype, "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()))
_POWERS: dict[tuple[float, str], str] = {
    (0, "f"): "", (0, "i"): "", (0, "u"): "", (1, "f"): "float mean", (1, "i"): "mean", (1, "u"): "mean",
    (0.5, "f"): "root"}


def both(x: float, y: float, how: Static) -> Any:
    """Return the combination of two elements: their sum, product, minimum or maximum."""
    return x + y if how == "sum" else x * y if how == "product" else minimum(x, y) if how == "min" else maximum(x, y)


@kernel_function(independent=True)
def combine_columns(data: Array, ids: Array, target: Array, rows: int, limit: int, size: int, width: MaybeOne,
                    how: Static, empty: Static, T: Type, item: int) -> None:
    """Combine `width` columns of all rows with those of their segments, in order, from `empty` on."""
    start = item * width
    count = min(width, size - start)
    for i in range(limit):
        line = target[size * i + start:]
        for j in range(count):
            line[j] = T(empty)
    for i in range(rows):
        place = int(ids[i])
        if place >= limit:
            fail(BAD_SEGMENT, i, place, limit)
            return
        if place >= 0:
            source = data[size * i + start:]
            line = target[size * place + start:]
            for j in range(count):
                line[j] = T(both(line[j], source[j], how))


def unsorted(how: str) -> Callable[[Call], list[Launch]]:
    """Return the function that launches a combination; an empty segment is its identity."""
    def launch(call: Call) -> list[Launch]:
        """Return one launch; an item is a block of columns."""
        data, ids = call.inputs[:2]
        out = call.outputs[0]
        if not out.size:
            return []
        limit, size = out.shape[0], out.size // out.shape[0]
        rows = ids.size if data.size else 0
        width = max(64, (1 << 16) // max(1, rows)) if call.device == "cpu" else 1
        return [combine_columns.launch(
            call, -(-size // width), call.input(0).reach(data.size * data.itemsize),
            call.input(1).reach(ids.size * ids.itemsize), call.output().reach(out.size * out.itemsize), rows, limit,
            size, width, how=how, empty=identity(how, out.type), T=out.type, grain=1, label=f"segment {how}")]
    return launch


def identity(how: str, type: str) -> Any:
    """Return what a product, minimum or maximum leaves as it is; of floats the largest numbers, not infinity."""
    if how == "product":
        return 1
    limits: Any = np.finfo(type) if type.startswith("float") else np.iinfo(type)
    found = limits.max if how == "min" else limits.min
    return float(found) if type.startswith("float") else int(found)


def share(total: float, count: int, power: Static, T: Type) -> Any:
    """Return a sum over the count of its rows to a power; of integers the quotient towards 0."""
    if power == "mean":
        return T(truncdiv(int(total), count))
    return T(total / T(count)) if power == "float mean" else T(total / sqrt(T(count)))


@kernel_function(independent=True)
def combine_sorted(data: Array, picked: Array, ids: Array, target: Array, rows: int, segments: int, size: MaybeOne,
                   how: Static, power: Static, empty: Static, T: Type, item: int) -> None:
    """Combine the rows of each segment, in order. picked: None, or the row of data that each id is of.

    power: "", or what is done with sums: see `share`.
    """
    at = 0
    for segment in range(segments):
        line = target[segment * size:]
        if at >= rows or int(ids[at]) != segment:
            for j in range(size):
                line[j] = T(empty)
        elif size == 1:
            start = at
            while at < rows and int(ids[at]) == segment:
                at += 1
            total, i = data[start if picked is None else int(picked[start])], start + 1
            if at - start >= CHAINED:              # four chains, since each combination waits for the one before
                a, i = total, start + 4
                b = data[start + 1 if picked is None else int(picked[start + 1])]
                c = data[start + 2 if picked is None else int(picked[start + 2])]
                d = data[start + 3 if picked is None else int(picked[start + 3])]
                while i + 4 <= at:
                    a = T(both(a, data[i if picked is None else int(picked[i])], how))
                    b = T(both(b, data[i + 1 if picked is None else int(picked[i + 1])], how))
                    c = T(both(c, data[i + 2 if picked is None else int(picked[i + 2])], how))
                    d = T(both(d, data[i + 3 if picked is None else int(picked[i + 3])], how))
                    i += 4
                total = T(both(T(both(a, b, how)), T(both(c, d, how)), how))
            while i < at:
                total = T(both(total, data[i if picked is None else int(picked[i])], how))
                i += 1
            if power == "":
                line[0] = total
            else:
                line[0] = share(total, at - start, power, T)
        else:
            start = at
            first = data[(at if picked is None else int(picked[at])) * size:]
            for j in range(size):
                line[j] = first[j]
            at += 1
            while at < rows and int(ids[at]) == segment:
                source = data[(at if picked is None else int(picked[at])) * size:]
                for j in range(size):
                    line[j] = T(both(line[j], source[j], how))
                at += 1
            if power != "":
                for j in range(size):
                    line[j] = share(line[j], at - start, power, T)


@kernel_function(fastmath=())
def add_element(values: Array, places: Array, target: Array, item: int) -> None:
    """Add an element where it belongs."""
    target[int(places[item])] += values[item]


def added(values: np.ndarray, places: np.ndarray, size: int) -> np.ndarray:
    """Return the sums of values by their places in [0, size), added in order: flat arrays."""
    out = np.zeros(size, values.dtype)
    if is_worth_it(values, places) and values.dtype in TYPES:
        add_element.run(values.size, values, places, out)
    else:
        np.add.at(out, places, values)
    return out


def is_worth_it(data: np.ndarray, ids: np.ndarray) -> bool:
    """Return whether machine code should combine these rows."""
    return has_compiler() and (data.dtype in TYPES or data.dtype.name in HALVES) and data.size + ids.size >= LEAST


def combined(data: np.ndarray, ids: np.ndarray, segments: int, how: str, empty: int = 0,
             picked: np.ndarray | None = None, power: float = 0) -> np.ndarray:
    """Return a row for each of `segments` segments of sorted ids, `empty` where there is none.

    picked: the row of data that each id is of, by default the rows in order. Ids and rows must be in range. power: 1 or
    0.5 divides by the counts of rows, or their roots. Results of 16-bit floats are rounded once.
    """
    kind, data = data.dtype, widened(data)
    out = np.empty((segments, *data.shape[1:]), data.dtype)
    if out.size:
        rows: dict[str, Any] = {"picked": None} if picked is None else {}
        combine_sorted.run(1, data, *(() if picked is None else (picked,)), ids, out, len(ids), segments,
                           prod(data.shape[1:]), how=how, power=_POWERS[power, data.dtype.kind], empty=empty,
                           T=type_name(data.dtype), **rows)
    return rounded(out, kind)
