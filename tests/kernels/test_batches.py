"""Batches of matrices as runs of equal steps."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

from tfnb.kernels.batches import runs


@pytest.mark.parametrize("batch, a, b, want", [
    ((4,), (4,), (4,), [(4, (0, 0, 0), (1, 1, 1))]),
    ((4,), (4,), (1,), [(4, (0, 0, 0), (1, 0, 1))]),
    ((4,), (1,), (4,), [(4, (0, 0, 0), (0, 1, 1))]),
    ((2, 3), (2, 3), (2, 3), [(6, (0, 0, 0), (1, 1, 1))]),
    ((2, 3), (2, 3), (1, 3), [(3, (0, 0, 0), (1, 1, 1)), (3, (3, 0, 3), (1, 1, 1))]),
    ((2, 3), (2, 1), (2, 3), [(3, (0, 0, 0), (0, 1, 1)), (3, (1, 3, 3), (0, 1, 1))]),
    ((1,), (1,), (1,), [(1, (0, 0, 0), (0, 0, 0))]), ((0,), (0,), (0,), [])])
def test_runs_are_as_long_as_they_can_be(batch, a, b, want):
    assert list(runs(batch, a, b)) == want


def test_runs_meet_each_matrix_once():
    shapes = [(1, 1), (1, 3), (2, 1), (2, 3)]
    for a, b in itertools.product(shapes, shapes):
        batch = np.broadcast_shapes(a, b)
        met = [tuple(start + k * move for start, move in zip(starts, moves, strict=True))
               for count, starts, moves in runs(batch, a, b) for k in range(count)]
        places = [np.broadcast_to(np.arange(np.prod(s)).reshape(s), batch).ravel().tolist() for s in (a, b, batch)]
        assert met == list(zip(*places, strict=True))
