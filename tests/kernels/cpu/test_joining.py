"""Concat, pad and tile against NumPy."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.library import joining

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("type_", ["float32", "int8", "float64", "complex128", "float16"])
@pytest.mark.parametrize("shapes, axis", [([(2,), (3,)], 0), ([(2, 3), (2, 1), (2, 0)], 1), ([(2, 3), (4, 3)], 0),
                                          ([(2, 1, 3), (2, 2, 3)], -2), ([(0,), (0,)], 0), ([(3, 2)], 1)])
def test_concat(shapes, axis, type_, run):
    parts = [RNG.integers(-9, 9, shape).astype(type_) for shape in shapes]
    want = np.concatenate(parts, axis)
    where = np.array(axis, np.int32)
    got, = run(joining.concat, [*parts, where], [(want.shape, type_)], known=(len(parts),))
    np.testing.assert_array_equal(got, want)
    got, = run(joining.concat, [where, *parts], [(want.shape, type_)], known=(0,))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("type_", ["float32", "int8", "float64"])
@pytest.mark.parametrize("shape, pads", [
    ((3,), [(1, 2)]), ((2, 3), [(0, 0), (1, 1)]), ((2, 3), [(2, 0), (0, 0)]), ((2, 3, 4), [(1, 0), (0, 2), (0, 1)]),
    ((2, 3, 4, 2), [(0, 0), (1, 1), (2, 2), (0, 0)]), ((0, 2), [(1, 1), (1, 0)]), ((), np.zeros((0, 2), int))])
def test_pad(shape, pads, type_, run):
    x, pads = RNG.integers(-9, 9, shape).astype(type_), np.array(pads, np.int32).reshape(-1, 2)
    for constant in (None, 5):
        want = np.pad(x, pads, constant_values=constant or 0) if shape else x
        inputs = [x, pads, *([] if constant is None else [np.array(constant, type_)])]
        got, = run(joining.pad, inputs, [(want.shape, type_)], known=(1,))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("type_", ["float32", "int8", "complex128"])
@pytest.mark.parametrize("shape, times", [((3,), (2,)), ((3,), (0,)), ((2, 3), (1, 4)), ((2, 3), (3, 1)),
                                          ((2, 1), (2, 5)), ((2, 3, 4), (3, 2, 2)), ((), ()),
                                          ((0, 2), (2, 2)), ((1, 100), (500, 2))])
def test_tile(shape, times, type_, run):
    x = RNG.integers(-9, 9, shape).astype(type_)
    want = np.tile(x, times) if times else x
    got, = run(joining.tile, [x, np.array(times, np.int32)], [(want.shape, type_)], known=(1,))
    np.testing.assert_array_equal(got, want)


def test_an_unknown_axis_is_refused(run):
    x = np.zeros((2, 2), np.float32)
    with pytest.raises(ValueError, match="must be known"):
        run(joining.concat, [x, x, np.array(0)], [((4, 2), "float32")])
