from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.arrays import histogram as interpreted
from tfnb.kernels.arrays.histogram import bucket_limits, places
from tfnb.kernels.library import histogram as compiled
from tfnb.ops.io.summary import histogram_proto

FORMS = pytest.mark.parametrize("measure", [interpreted.histogram, compiled.histogram])
LARGEST = float(np.finfo(np.float64).max)


def test_limits_grow_by_a_tenth_on_both_sides_of_zero():
    limits = bucket_limits()
    positive = limits[limits > 0]
    assert (positive[0], positive[-1]) == (1e-12, LARGEST)
    assert np.allclose(positive[1:-1] / positive[:-2], 1.1)
    assert np.array_equal(limits, -limits[::-1])


@FORMS
def test_counts_and_moments(measure):
    histogram = histogram_proto(measure(np.array([[1.0, 2.5], [2.5, -1.0]])))
    assert (histogram.min, histogram.max, histogram.num) == (-1.0, 2.5, 4.0)
    assert (histogram.sum, histogram.sum_squares) == (5.0, 14.5)
    assert sum(histogram.bucket) == 4
    limits = np.array(histogram.bucket_limit)
    assert histogram.bucket[int(np.searchsorted(limits, 2.5, side="right"))] == 2
    assert not any(a == b == 0 for a, b in zip(histogram.bucket, histogram.bucket[1:], strict=False))


@FORMS
def test_no_numbers(measure):
    histogram = histogram_proto(measure(np.zeros((0, 3))))
    assert (histogram.min, histogram.max, histogram.num) == (LARGEST, -LARGEST, 0.0)
    assert (list(histogram.bucket_limit), list(histogram.bucket)) == ([LARGEST], [0.0])


SAMPLES = {
    "normal": np.random.default_rng(1).normal(size=(100, 100)).astype(np.float32),
    "wide": np.random.default_rng(2).normal(size=1000) * 10.0 ** np.random.default_rng(3).integers(-20, 30, 1000),
    "limits": bucket_limits()[::7],
    "integers": np.arange(-50, 1000, dtype=np.int64),
    "bytes": np.arange(256, dtype=np.uint8),
    "half": np.linspace(-5, 5, 77, dtype=np.float16),
    "zero": np.zeros(5, np.float32),
    "one": np.array(3.0),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_bytes_are_tensorflows(oracle, name):
    values = SAMPLES[name]
    theirs = oracle("""
summary = tf.Session().run(tf.summary.histogram("h", tf.constant(values)))
result = tf.Summary.FromString(summary).value[0].histo.SerializeToString()
""", values=values)
    assert histogram_proto(interpreted.histogram(values)).SerializeToString() == theirs
    if values.dtype.name in compiled.TYPES:
        assert histogram_proto(compiled.histogram(np.ascontiguousarray(values))).SerializeToString() == theirs


def test_places_are_those_of_searchsorted():
    limits = bucket_limits()
    random = np.random.RandomState(0)
    inner = limits[1:-1]
    near = np.concatenate([limits, np.nextafter(inner, np.inf), np.nextafter(inner, -np.inf)])
    many = random.randn(20_000) * 10.0 ** random.randint(-14, 22, 20_000)
    numbers = np.concatenate([near, many, [0.0, -0.0, 5e-324, -5e-324, 1e300, -1e300]])
    numbers = numbers[np.isfinite(numbers)]
    np.testing.assert_array_equal(places(numbers), np.searchsorted(limits, numbers, side="right"))


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_compiled_and_interpreted_are_the_same_bits(type):
    random = np.random.RandomState(1)
    values = (random.randn(30_000) * 10.0 ** random.randint(-14, 22, 30_000)).astype(type)
    values[:4] = 0.0, -0.0, np.finfo(type).max, np.finfo(type).min
    a, b = interpreted.histogram(values), compiled.histogram(values)
    np.testing.assert_array_equal(a.counts, b.counts)
    assert (a.low, a.high, a.number, a.total, a.squares) == (b.low, b.high, b.number, b.total, b.squares)


@FORMS
@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_shows_in_the_total(measure, bad):
    values = np.arange(1000.0)
    values[500] = bad
    assert not np.isfinite(measure(values).total)
