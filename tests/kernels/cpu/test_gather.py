"""Index kernels against NumPy, and against their own NumPy forms."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.functions.language import KernelFailure
from tfnb.kernels.library import gather

RNG = np.random.default_rng(0)


def sample(shape, type_):
    if type_ == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    return RNG.integers(-100, 100, shape).astype(type_)


@pytest.mark.parametrize("type_", ["float32", "int8", "bool", "float64", "complex128", "float16"])
@pytest.mark.parametrize("shape, axis, indices", [
    ((5,), 0, (3,)), ((5, 3), 0, (4,)), ((5, 3), 1, (2, 2)), ((2, 5, 3), 1, (4,)), ((5, 4), -1, ()), ((5, 0), 0, (2,)),
    ((5,), 0, (0,)), ((300, 130), 0, (500,))])
def test_gather(shape, axis, indices, type_, run):
    params = sample(shape, type_)
    where = RNG.integers(0, shape[axis], indices).astype(np.int32)
    want = np.take(params, where, axis)
    got, = run(gather.gather, [params, where, np.array(axis)], [(want.shape, type_)], known=(2,))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("batch, axis", [(1, 1), (1, 2), (-1, 2), (2, 2)])
def test_gather_by_batch(batch, axis, run):
    params, where = sample((2, 3, 4, 5), "float32"), RNG.integers(0, 3, (2, 3)).astype(np.int16)
    want = []
    for i in range(2):
        if batch == 2:
            want.append([np.take(params[i, j], where[i, j], axis - 2) for j in range(3)])
        else:
            want.append(np.take(params[i], where[i], axis - 1))
    attrs = {"batch_dims": batch}
    got, = run(gather.gather, [params, where, np.array(axis)], [(np.shape(want), "float32")], attrs, known=(2,))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("bad", [-1, 5])
def test_gather_reports_a_bad_index(bad, run):
    params, where = sample((5, 2), "float32"), np.array([1, bad, 0])
    with pytest.raises(KernelFailure, match=rf"indices\[1\] = {bad} is not in \[0, 5\)"):
        run(gather.gather, [params, where], [((3, 2), "float32")])


@pytest.mark.parametrize("type_", ["float32", "uint8", "float64"])
@pytest.mark.parametrize("shape, axis", [((4,), -1), ((4,), 0), ((2, 3), -1), ((2, 3), 1), ((2, 3), 0), ((), -1),
                                         ((0,), 0)])
def test_one_hot(shape, axis, type_, run):
    where = RNG.integers(-1, 6, shape)
    want = np.moveaxis(np.where(where[..., None] == np.arange(5), 7, 2), -1, axis).astype(type_)
    inputs = [where, np.array(5, np.int32), np.array(7, type_), np.array(2, type_)]
    got, = run(gather.one_hot, inputs, [(want.shape, type_)], {"axis": axis}, known=(1,))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("type_", ["float32", "int32", "uint8"])
@pytest.mark.parametrize("ids, inner", [((6,), ()), ((6,), (3,)), ((2, 3), (2, 2)), ((0,), (3,)), ((500,), (200,))])
@pytest.mark.parametrize("places", [4, 50])
def test_unsorted_segment_sum(ids, inner, type_, places, run):
    data, where = sample((*ids, *inner), type_), RNG.integers(-1, 4, ids).astype(np.int32)
    want = np.zeros((places, *inner), type_)
    for place in np.ndindex(*ids):
        if where[place] >= 0:
            with np.errstate(over="ignore"):
                want[where[place]] += data[place]
    got, = run(gather.unsorted_segment_sum, [data, where, np.array(places)], [(want.shape, type_)], known=(2,))
    np.testing.assert_array_equal(got, want)


def test_segment_sum_reports_a_bad_id(run):
    data, where = sample((2, 2), "float32"), np.array([0, 4])
    with pytest.raises(KernelFailure, match=r"segment_ids\[1\] = 4 is out of range \[0, 3\)"):
        run(gather.unsorted_segment_sum, [data, where, np.array(3)], [((3, 2), "float32")])
