"""Indices of sparse tensors [values, rank], whose number only a run knows: NumPy forms by machine code.

    located(indices, shape)         the place of each value in row-major order, the first that is outside, their order
    is_ordered(indices)             whether they are in row-major order
    united(a, b)                    the union of two lists in row-major order, and the places of both in it
    taken(wanted, rows, values)     the values at indices of another list
    unfolded(places, sizes)         indices of places
    reduced(...)                    sums or maxima along axes, in a dense tensor
    by_row(rows, count)             values sorted by their row, with room in rows that have none

Where there is no compiler, each is found by NumPy, or None: the ops have a form without.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfnb.core import indexing
from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function, type_name
from tfnb.kernels.functions.language import TYPES, Array, Static, Type, int64, unrolled

MIXED, ASCENDING, STRICT = range(3)         # orders: out of order, equal ones beside each other, each only once


@kernel_function
def locate(indices: Array, shape: Array, places: Array, found: Array, count: int, rank: int, item: int) -> None:
    """Compute the place of each index; found: the first that is outside (-1: none), and their order."""
    outside, order, last = -1, STRICT, -1
    for i in range(count):
        place = 0
        for k in range(rank):
            at, size = int(indices[i * rank + k]), int(shape[k])
            if outside < 0 and (at < 0 or at >= size):
                outside = i
            place = place * size + at
        if i > 0 and place <= last:
            order = min(order, ASCENDING) if place == last else MIXED
        places[i] = place
        last = place
    found[0] = outside
    found[1] = order


def located(indices: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Return the places of integer indices [n, rank] in a tensor of `shape`; the first index outside, -1 if there is
    none; and the order of the places (of indices inside). Raises ValueError for another rank."""
    count, rank = indices.shape
    if len(shape) != rank:
        raise ValueError(f"expected indices of {len(shape)} coordinates, got shape [{count}, {rank}]")
    places = np.empty(count, np.int64)
    if has_compiler():
        found = np.empty(2, np.int64)
        locate.run(1, indices, shape, places, found, count, rank)
        outside, order = found.tolist()
        return places, outside, order
    bad = ((indices < 0) | (indices >= shape)).any(1)
    strides = np.cumprod(np.concatenate([[1], shape[:0:-1]]))[::-1] if rank else np.zeros(0, np.int64)
    np.matmul(indices, strides.astype(np.int64), out=places)
    least = np.diff(places).min(initial=1)
    return places, int(bad.argmax()) if bad.any() else -1, STRICT if least > 0 else ASCENDING if least == 0 else MIXED


def compared(a: Array, b: Array, i: int, j: int, rank: Static) -> int:
    """Return -1, 0 or 1: row i of `a` comes before row j of `b`, is equal to it, comes after it.

    Without a branch: where two lists meet is no order that a processor could learn.
    """
    made = 0
    for k in unrolled(rank):
        left, right = int(a[i * rank + k]), int(b[j * rank + k])
        side = int(left > right) - int(left < right)
        made = side if made == 0 else made
    return made


@kernel_function
def look_for_disorder(indices: Array, found: Array, count: int, rank: Static, item: int) -> None:
    """Look for the first row that comes before the one ahead of it; `count` if there is none."""
    i = 1
    while i < count and compared(indices, indices, i - 1, i, rank) <= 0:
        i += 1
    found[0] = i


def is_ordered(indices: np.ndarray) -> bool:
    """Return whether indices [n, rank] are known to be in row-major order."""
    count, rank = indices.shape
    if not has_compiler():
        return bool(count < 2)
    found = np.empty(1, np.int64)
    look_for_disorder.run(1, indices, found, count, rank=rank)
    reached: int = found.item()
    return bool(reached >= count)


def ascending(rows: Array, count: int, rank: Static) -> int:
    """Return 1 if the rows of a list are in order without repetitions."""
    fits = 1
    for i in range(1, count):
        fits = fits & int(compared(rows, rows, i - 1, i, rank) < 0)
    return fits


@kernel_function
def unite(a: Array, b: Array, rows: Array, a_places: Array, b_places: Array, found: Array, a_count: int, b_count: int,
          rank: Static, item: int) -> None:
    """Merge two lists, each in order without repetitions; found: how many rows there are, -1 for other lists."""
    i, j, made = 0, 0, 0
    if ascending(a, a_count, rank) + ascending(b, b_count, rank) < 2:
        found[0] = int64(-1)
    else:
        while i < a_count and j < b_count:
            side = compared(a, b, i, j, rank)
            for k in unrolled(rank):
                rows[made * rank + k] = a[i * rank + k] if side <= 0 else b[j * rank + k]
            a_places[i], b_places[j] = int64(made), int64(made)       # the larger one is written again
            i += int(side <= 0)
            j += int(side >= 0)
            made += 1
        for left in range(i, a_count):
            for k in unrolled(rank):
                rows[made * rank + k] = a[left * rank + k]
            a_places[left] = int64(made)
            made += 1
        for left in range(j, b_count):
            for k in unrolled(rank):
                rows[made * rank + k] = b[left * rank + k]
            b_places[left] = int64(made)
            made += 1
        found[0] = int64(made)


def united(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the different rows of two int64 lists in row-major order, and the place of each row of a and b.

    None where there is no compiler, or a list is not in order or repeats a row.
    """
    rank = a.shape[1]
    if not has_compiler() or b.shape[1] != rank:
        return None
    rows, found = np.empty((len(a) + len(b), rank), np.int64), np.empty(1, np.int64)
    a_places, b_places = np.empty(len(a), np.int64), np.empty(len(b), np.int64)
    unite.run(1, a, b, rows, a_places, b_places, found, len(a), len(b), rank=rank)
    count: int = found.item()
    return None if count < 0 else (rows if count == len(rows) else rows[:count], a_places, b_places)


@kernel_function
def take_rows(wanted: Array, rows: Array, values: Array, taken: Array, found: Array, wanted_count: int, count: int,
              rank: Static, T: Type, item: int) -> None:
    """Write the value of each wanted row, 0 where there is none; found: whether both are in order, none repeated."""
    i, j = 0, 0
    while i < wanted_count and j < count:
        side = compared(wanted, rows, i, j, rank)
        taken[i] = values[j] if side == 0 else T(0)
        i += int(side <= 0)
        j += int(side >= 0)
    for left in range(i, wanted_count):
        taken[left] = T(0)
    found[0] = ascending(wanted, wanted_count, rank) + ascending(rows, count, rank) == 2


def taken(wanted: np.ndarray, rows: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """Return the values at wanted indices, 0 where there are none. values: those at `rows`.

    None where there is no compiler, no kernel of the dtype, or a list is not in row-major order or repeats a row.
    """
    rank = rows.shape[1]
    if not has_compiler() or wanted.shape[1] != rank or type_name(values.dtype) not in TYPES:
        return None
    made, found = np.empty(len(wanted), values.dtype), np.empty(1, np.int64)
    take_rows.run(1, wanted, rows, values, made, found, len(wanted), len(rows), rank=rank, T=type_name(values.dtype))
    return made if found.item() else None


@kernel_function
def unfold(places: Array, sizes: Array, indices: Array, rank: int, item: int) -> None:
    """Compute the index of one place."""
    left = int(places[item])
    for back in range(rank):
        k = rank - 1 - back
        size = max(1, int(sizes[k]))
        indices[item * rank + k] = left % size
        left = left // size


def unfolded(places: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the int64 indices [n, rank] of places in a tensor of `sizes`, of which none is 0 where there are any."""
    rank = len(sizes)
    if not has_compiler() or not rank:
        made = np.unravel_index(places, tuple(sizes.tolist())) if rank and len(places) else ()
        return np.stack(made, 1).astype(np.int64) if made else np.zeros((len(places), rank), np.int64)
    indices = np.empty((len(places), rank), np.int64)
    unfold.run(len(places), places, sizes, indices, rank)
    return indices


@kernel_function
def reduce_values(indices: Array, shape: Array, strides: Array, values: Array, dense: Array, seen: Array, found: Array,
                  count: int, rank: int, maximum: Static, T: Type, item: int) -> None:
    """Combine each value with those before it at its place in `dense`, which is zero; found: the first index that is
    outside of `shape`, -1 if there is none."""
    outside, i = -1, 0
    while i < count and outside < 0:
        place = 0
        for k in range(rank):
            at = int(indices[i * rank + k])
            if at < 0 or at >= shape[k]:
                outside = i
            place += at * int(strides[k])
        if outside < 0:
            value = values[i]
            if maximum:
                dense[place] = value if seen[place] == 0 or value > dense[place] or value != value else dense[place]
                seen[place] = 1
            else:
                dense[place] = T(dense[place] + value)
        i += 1
    found[0] = outside


def reduced(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, sizes: Sequence[int],
            maximum: bool) -> np.ndarray | None:
    """Return the sums or maxima of a sparse tensor along the axes where `sizes` is 1, as a dense one of those sizes.

    None where there is no compiler, no kernel of the dtype, or an index outside.
    """
    if not has_compiler() or type_name(values.dtype) not in TYPES:
        return None
    kind = np.dtype(np.float64 if values.dtype == np.float32 and not maximum else values.dtype)   # of many addends
    dense, found, strides, step = np.zeros(sizes, kind), np.empty(1, np.int64), [], 1
    for size in reversed(sizes):
        strides.append(0 if size == 1 else step)
        step *= size
    if not step:
        return None
    seen = np.zeros(step if maximum else 1, np.int8)
    reduce_values.run(1, indices, shape, np.array(strides[::-1], np.int64), values, dense, seen, found, *indices.shape,
                      maximum=maximum, T=type_name(kind))
    with np.errstate(over="ignore"):
        return dense.astype(values.dtype, copy=False) if found.item() < 0 else None


@kernel_function
def count_rows(indices: Array, begins: Array, found: Array, count: int, rank: int, rows: int, item: int) -> None:
    """Compute where each row of the result begins, where one without a value gets one; begins: zeros [rows + 1].

    found: the first value whose row is not one of `rows`, -1 if there is none.
    """
    outside, i = -1, 0
    while i < count and outside < 0:
        row = int(indices[i * rank])
        if row < 0 or row >= rows:
            outside = i
        else:
            begins[row + 1] += 1
        i += 1
    found[0] = outside
    total = 0
    for row in range(rows):
        total += max(1, int(begins[row + 1]))
        begins[row + 1] = total


@kernel_function
def sort_rows(indices: Array, begins: Array, ends: Array, every: Array, empty: Array, back: Array, count: int,
              rank: int, rows: int, item: int) -> None:
    """Move each index to the next place of its row; `every` is zero, `ends` a copy of `begins`."""
    for i in range(count):
        row = int(indices[i * rank])
        place = int(ends[row])
        ends[row] = place + 1
        back[i] = place
        for k in range(rank):
            every[place * rank + k] = indices[i * rank + k]
    for row in range(rows):
        empty[row] = ends[row] == begins[row]
        if ends[row] == begins[row]:
            every[int(begins[row]) * rank] = row


def by_row(indices: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | int:
    """Return indices [n, rank] sorted by row, with [row, 0...] for each row without one; which rows these are; and the
    new place of each index. The number of the first index beyond the rows instead, if there is one."""
    count, rank = indices.shape
    if not has_compiler():
        return _by_row(indices, rows)
    begins, found = np.zeros(rows + 1, np.int64), np.empty(1, np.int64)
    count_rows.run(1, indices, begins, found, count, rank, rows)
    if found[0] >= 0:
        return int(found[0])
    every, empty = np.zeros((int(begins[-1]), rank), np.int64), np.empty(rows, bool)
    back = np.empty(count, np.int64)
    sort_rows.run(1, indices, begins, begins.copy(), every, empty, back, count, rank, rows)
    return every, empty, back


def _by_row(indices: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | int:
    row = indices[:, 0]
    outside = (row < 0) | (row >= rows)
    if outside.any():
        return int(outside.argmax())
    empty = indexing.bincount(row, minlength=rows)[:rows] == 0
    extra = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    extra[:, 0] = np.flatnonzero(empty)
    every = np.concatenate([indices, extra])
    order = np.argsort(every[:, 0], kind="stable")
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return every[order], empty, back[:len(row)]
