"""Indices of any integer type, and histograms of any finite numbers."""
import numpy as np
import pytest

from tfnb.core import indexing
from tfnb.core.indexing import bin_counts


def test_as_numpy():
    values = np.random.RandomState(0).randn(1000)
    assert bin_counts(values, values.min(), values.max(), 24).tolist() == np.histogram(values, 24)[0].tolist()
    assert bin_counts(np.array([[0.0, 1.0], [2.0, 4.0]]), 0.0, 4.0, 4).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("values, counts", [
    ([3.0, 3.0], [0, 0, 2, 0]), ([1e20], [0, 0, 1, 0]), ([], [0, 0, 0, 0]), ([-1.7e308, 0.0, 1.7e308], [1, 0, 1, 1]),
    ([1.0, 1.0 + 2 ** -52], [1, 0, 0, 1]), ([0.0, 5e-324], [0, 0, 2, 0])])
def test_where_numpy_raises_or_warns(values, counts):
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    assert bin_counts(np.array(values), low, high, 4).tolist() == counts


def test_indices_that_numpy_would_not_cast_safely():
    at = np.array([0, 2], np.uint64)               # as int64 is where places are int32
    x = np.arange(6.0).reshape(3, 2)
    with pytest.raises(TypeError, match="safe"):
        np.repeat([5, 6], at)
    assert indexing.bincount(at).tolist() == [1, 0, 1]
    assert indexing.repeat([5, 6], at).tolist() == [6, 6]
    assert indexing.take(x, at, 0).tolist() == [[0, 1], [4, 5]]
    assert indexing.reduceat(np.add, x, at).tolist() == [[2, 4], [4, 5]]
