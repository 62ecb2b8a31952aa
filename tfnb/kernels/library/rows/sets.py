"""Sets in rows: the sorted, different elements of each row, and which of two sets has them, by machine code.

    combined(a, b, groups, kept)        rows, columns and elements of the result, and the most that a row has
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfnb.core import indexing
from tfnb.core.options import has_compiler
from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array, int64

WIDE = 64                                # elements of a row up to which insertion is the quickest sort
SPARSE = 16                              # rows for each element from which going through all of them takes longer


class Elements(NamedTuple):
    """Elements of sets, int64, and the number of the set that each belongs to."""

    rows: np.ndarray
    values: np.ndarray


@kernel_function
def sort_row(begins: Array, values: Array, item: int) -> None:
    """Sort the elements of one row by insertion."""
    begin = int(begins[item])
    for i in range(begin + 1, int(begins[item + 1])):
        value, at = int64(values[i]), i
        going = int64(values[at - 1]) > value
        while going:
            values[at] = values[at - 1]
            at -= 1
            going = at > begin
            if going:
                going = int64(values[at - 1]) > value
        values[at] = value


@kernel_function
def combine(a: Array, a_begins: Array, b: Array, b_begins: Array, rows: Array, columns: Array, values: Array,
            found: Array, groups: int, kept: int, item: int) -> None:
    """Merge the sorted rows of two lists; found: how many elements there are, and the most of a row.

    kept: bit 1 is set if elements of `a` alone belong to the result, bit 2 those of `b` alone, bit 3 those of both.
    """
    made, most = 0, 0
    for row in range(groups):
        i, j, a_stop, b_stop = int(a_begins[row]), int(b_begins[row]), int(a_begins[row + 1]), int(b_begins[row + 1])
        first = made
        while i < a_stop or j < b_stop:
            value, of = int64(0), 2
            if i < a_stop:
                value, of = int64(a[i]), 1
            if j < b_stop:
                other = int64(b[j])
                if of == 2 or other < value:
                    value, of = other, 2
                elif other == value:
                    of = 3
            going = i < a_stop
            while going:                                       # past equal ones
                going = int64(a[i]) == value
                if going:
                    i += 1
                    going = i < a_stop
            going = j < b_stop
            while going:
                going = int64(b[j]) == value
                if going:
                    j += 1
                    going = j < b_stop
            if kept >> of & 1 > 0:
                rows[made], columns[made], values[made] = int64(row), int64(made - first), value
                made += 1
        most = max(most, made - first)
    found[0], found[1] = int64(made), int64(most)


def _sorted(given: Elements, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the elements sorted within their rows, and where each row begins, with the end of the last."""
    counts = indexing.bincount(given.rows, minlength=groups)
    begins = np.zeros(groups + 1, np.int64)
    np.cumsum(counts, out=begins[1:])
    if counts.max(initial=0) > WIDE:
        return given.values[np.lexsort((given.values, given.rows))], begins
    values = given.values.copy() if (given.rows[1:] >= given.rows[:-1]).all() else \
        given.values[np.argsort(given.rows, kind="stable")]
    sort_row.run(groups, begins, values)
    return values, begins


def combined(a: Elements, b: Elements, groups: int, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray,
                                                                                  int]:
    """Return the rows, columns and values (int64) of the elements of a result, and the most that a row has.

    kept: which elements it has: those of `a` alone (1), of `b` alone (2), of both (3).

    >>> a, b = (Elements(np.zeros(2, int), np.array(values)) for values in ([3, 1], [3, 2]))
    >>> combined(a, b, 1, [1, 2])
    (array([0, 0]), array([0, 1]), array([1, 2]), 2)
    """
    if not has_compiler() or groups > SPARSE * (len(a.values) + len(b.values) + 1):
        return _combined(a, b, kept)
    (av, a_begins), (bv, b_begins) = _sorted(a, groups), _sorted(b, groups)
    parts, found = np.empty((3, len(av) + len(bv)), np.int64), np.empty(2, np.int64)
    combine.run(1, av, a_begins, bv, b_begins, *parts, found, groups, sum(1 << of for of in kept))
    made, most = found.tolist()
    rows, columns, values = parts[:, :made]
    return rows, columns, values, most


def _combined(a: Elements, b: Elements, kept: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    rows, values = np.concatenate([a.rows, b.rows]), np.concatenate([a.values, b.values])
    order = np.lexsort((values, rows))
    rows, values = rows[order], values[order]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])
    of = indexing.repeat([1, 2], [len(a.rows), len(b.rows)])[order]
    owners = indexing.reduceat(np.bitwise_or, of, np.flatnonzero(first)) if len(of) else of
    chosen = np.isin(owners, kept)
    rows, values = rows[first][chosen], values[first][chosen]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    counts = np.diff(starts, append=len(rows))
    return rows, np.arange(len(rows)) - indexing.repeat(starts, counts), values, int(counts.max(initial=0))
