"""Figures of tensors, and how variables moved between looks."""
import math

import ml_dtypes
import numpy as np
import pytest

from tfnb.notebook.drawing.tensor_stats import Motion, spread_sample, stats


def test_figures_are_those_of_the_finite_elements():
    values = np.array([3.0, -4.0, np.nan, np.inf, -np.inf], np.float32)
    found = stats(values)
    assert (found.mean, found.low, found.high, found.norm) == (-0.5, -4.0, 3.0, 5.0)
    assert (found.size, found.nan, found.inf) == (5, 0.2, 0.4) and found.bad == pytest.approx(0.6)
    nothing = stats(np.full(4, np.nan, np.float32))
    assert math.isnan(nothing.mean) and nothing.nan == 1.0


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32, bool, ml_dtypes.bfloat16])
def test_all_dtypes_of_numbers_have_figures(dtype):
    found = stats(np.array([[0, 1], [1, 0]], dtype))
    assert found.mean == 0.5 and found.high == 1.0


def test_complex_numbers_count_by_size_and_strings_not():
    assert stats(np.array([3 + 4j])).high == 5.0
    assert stats(np.array([b"a"], object)) is None


def test_large_tensors_are_sampled_all_over():
    values = np.arange(1000.0)
    sample = spread_sample(values, 100)
    assert len(sample) == 100 and sample[0] == 0 and sample[-1] == 990
    assert stats(values, 100).norm == pytest.approx(np.linalg.norm(values), rel=0.02)


def test_motion_is_relative_and_per_step():
    motion, value = Motion(), np.array([3.0, 4.0])
    assert motion.see(value, 10) and math.isnan(motion.ratio)
    assert not motion.see(value, 20), "nothing changed: the curve has no new point"
    value += [0.3, 0.4]
    assert motion.see(value, 15)
    assert motion.ratio == pytest.approx(0.02), "a tenth in five steps, counted from the last change"
    assert list(motion.norms) == pytest.approx([5.0, 5.5])
    assert motion.see(value * 2, None) and motion.ratio == pytest.approx(1.0)
    assert motion.see(np.ones(3), None) and len(motion.norms) == 4, "another shape starts anew"
