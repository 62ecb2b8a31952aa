"""Native loops of host calls beside the same in NumPy, which serves where there is no compiler."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.arrays import ctc as ctc_arrays
from tfnb.kernels.arrays import philox
from tfnb.kernels.arrays.truncated import truncated
from tfnb.kernels.library.random.candidates import Counts, chain
from tfnb.kernels.library.random.truncated import drawn
from tfnb.kernels.library.rows import vectors
from tfnb.kernels.library.sequences.ctc import greedy


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_truncated_normal_samples(dtype):
    parameters = np.array([[0, 1, -2, 2], [0, 1, 3, np.inf], [1, 2, -np.inf, 0], [0, 1, 0.1, 0.2], [5, 1, -9, 4.5]],
                          dtype)
    state = np.array([7, 0, 5, 0], np.uint64)
    plain = truncated(state, [tuple(row) for row in parameters], 50, np.dtype(dtype))
    np.testing.assert_allclose(drawn(state, parameters, 50), plain, rtol=1e-4)


@pytest.mark.parametrize(("row", "error"), [([0, 0, 1, 2], ValueError), ([0, 1, 2, 1], ValueError),
                                            ([0, 1, np.nan, 1], ValueError)])
def test_truncated_normal_samples_of_no_distribution(row, error):
    state, parameters = np.zeros(4, np.uint64), np.array([[0, 1, -1, 1], row], np.float32)
    for draw in (lambda: drawn(state, parameters, 3),
                 lambda: truncated(state, [tuple(row) for row in parameters], 3, np.dtype(np.float32))):
        with pytest.raises(error, match="Invalid parameters"):
            draw()


@pytest.mark.parametrize("count", [1, 2, 5, 256, 257, 258, 1001])
def test_a_markov_chain_ends_at_the_same_point(count):
    distances, chosen = np.random.default_rng(count).random(count, np.float32), 0
    state = np.array([3, 0, 0, 0], np.uint64)
    for i, word in zip(range(1, count), philox.words_from(state), strict=False):
        if distances[i] > np.float32(philox.unit_float(word) * float(distances[chosen])):
            chosen = i
    assert chain(state, distances) == chosen


@pytest.mark.parametrize("merge", [True, False])
def test_best_classes(merge):
    random = np.random.default_rng(2)
    x, lengths = random.normal(size=(9, 5, 3)).astype("f"), np.array([9, 4, 0, -1, 7], "i")
    rows, sums = ctc_arrays.greedy(x, lengths, merge, 1)
    indices, values, shape, found = greedy(x, lengths, merge, 1)
    assert [values[indices[:, 0] == i].tolist() for i in range(5)] == rows
    assert shape.tolist() == [5, max(map(len, rows))]
    np.testing.assert_allclose(found, sums, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_ranges(dtype):
    first, last, step = np.array([0, 5, 7, -3], dtype), np.array([3, 6, 2, -3], dtype), np.array([1, 2, -2, 1], dtype)
    splits, values = vectors.ranges(first, last, step)
    rows = [np.arange(*row) for row in zip(first, last, step, strict=True)]
    assert np.diff(splits).tolist() == [len(row) for row in rows]
    np.testing.assert_array_equal(values, np.concatenate(rows))
    assert values.dtype == dtype
    assert vectors.ranges(first, last, np.zeros((), dtype)) is None


@pytest.mark.parametrize("n", [1, 7, 8, 100])
def test_classes_drawn_by_growing_counts(n):
    random, kept, counts = np.random.default_rng(n), Counts(n), np.ones(n, int)
    for seed in range(5):
        state, sampled = np.array([seed, 0, 0, 0], np.uint64), np.empty(6, np.int64)
        words, ends = philox.words_from(state), np.cumsum(counts)
        expected = [np.searchsorted(ends, philox.below(int(ends[-1]), words), "right") for _ in range(6)]
        assert kept.draw(state, sampled, False) == 6
        assert sampled.tolist() == expected
        seen = random.integers(0, n, 20)
        kept.learn(seen)
        counts += np.bincount(seen, minlength=n)
        assert kept.counts.tolist() == counts.tolist()
