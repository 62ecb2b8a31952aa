"""Levenshtein distances of many pairs of sequences, by dynamic programming over a row (Wagner and Fischer, 1974)."""
from __future__ import annotations

import numpy as np

from tfnb.kernels.functions.kernel import kernel_function
from tfnb.kernels.functions.language import Array


@kernel_function
def count_edits(first: Array, first_begins: Array, second: Array, second_begins: Array, row: Array, changes: Array,
                item: int) -> None:
    """Count the edits between sequences `item` of both: first[first_begins[item]:first_begins[item + 1]] and its like.

    row: room for the longest second sequence and one element.
    """
    begin, start = int(first_begins[item]), int(second_begins[item])
    rows, columns = int(first_begins[item + 1]) - begin, int(second_begins[item + 1]) - start
    for j in range(columns + 1):
        row[j] = j
    for i in range(rows):
        before, left = int(row[0]), i + 1
        row[0] = left
        for j in range(columns):
            above = int(row[j + 1])
            other = before + (1 if first[begin + i] != second[start + j] else 0)
            left = min(min(above, left) + 1, other)
            row[j + 1] = left
            before = above
    changes[item] = row[columns]


def distances(first: np.ndarray, first_counts: np.ndarray, second: np.ndarray, second_counts: np.ndarray) -> np.ndarray:
    """Return the distance of each pair of sequences, of int64 [elements] and their lengths: int64."""
    begins = [np.concatenate([[0], np.cumsum(counts)]) for counts in (first_counts, second_counts)]
    changes, row = np.zeros(len(first_counts), np.int64), np.zeros(int(second_counts.max(initial=0)) + 1, np.int64)
    count_edits.run(len(changes), first, begins[0], second, begins[1], row, changes)
    return changes
