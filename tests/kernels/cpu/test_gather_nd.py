"""Kernels by vectors of coordinates against NumPy."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.cpu.scatter_nd import scatter_nd
from tfnb.kernels.functions.language import KernelFailure
from tfnb.kernels.library.gather import gather_nd

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("type_", ["float32", "float64", "uint8", "int16"])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("lead", [(), (4,), (2, 3), (0,), (3000,)])
def test_both(lead, depth, type_, index, run):
    shape = (3, 4, 5)
    vectors = np.stack([RNG.integers(0, n, lead) for n in shape[:depth]], -1) if depth else np.zeros((*lead, 0))
    vectors = vectors.astype(index)
    params = RNG.integers(0, 9, shape).astype(type_)
    want = params[tuple(np.moveaxis(vectors, -1, 0))] if depth else np.broadcast_to(params, (*lead, *shape))
    got, = run(gather_nd, [params, vectors], [(want.shape, type_)])
    np.testing.assert_array_equal(got, want)
    updates = RNG.integers(0, 3, want.shape).astype(type_)
    total = np.zeros(shape, type_)
    np.add.at(total, tuple(np.moveaxis(vectors, -1, 0)), updates) if depth else np.add(
        total, updates.reshape(-1, *shape).sum(0, dtype=type_), out=total)
    got, = run(scatter_nd, [vectors, updates, np.array(shape)], [(shape, type_)], known=(2,))
    np.testing.assert_array_equal(got, total)


@pytest.mark.parametrize("bad, axis", [([3, 0], 0), ([-1, 0], 0), ([0, 4], 1), ([2, -1], 1)])
def test_bad_coordinates(bad, axis, run):
    vectors = np.array([[0, 0], bad])
    words = rf"position 1 .* {bad[axis]} is not in \[0, {(3, 4)[axis]}\) \(axis {axis}\)"
    with pytest.raises(KernelFailure, match=words):
        run(gather_nd, [np.zeros((3, 4)), vectors], [((2,), "float64")])
    with pytest.raises(KernelFailure, match=words):
        run(scatter_nd, [vectors, np.ones(2), np.array([3, 4])], [((3, 4), "float64")], known=(2,))
