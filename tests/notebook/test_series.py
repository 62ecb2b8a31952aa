"""The series behind live plots: thinning, decimation, smoothing."""
import numpy as np

from tfnb.notebook.plots.series import Series, bucket_size, extremes, points, smooth


def filled(values, capacity=1 << 16):
    series = Series("loss", capacity=capacity)
    series.extend([None] * len(values), np.asarray(values, np.float32))
    return series


def test_steps_count_up_where_none_is_given():
    series = Series("loss")
    series.extend([None, None, 10, None], np.arange(4, dtype=np.float32))
    assert series.steps.tolist() == [0, 1, 10, 11]
    series.extend([None], np.zeros(1, np.float32))
    assert series.steps.tolist()[-1] == 12


def test_what_is_no_step_is_counted():
    series = Series("loss")
    series.extend([3, np.inf, np.nan, 9, -np.inf], np.arange(5, dtype=np.float32))
    assert series.steps.tolist() == [3, 4, 5, 9, 10]


def test_a_step_that_goes_back_starts_anew_from_there():
    series = Series("loss")
    series.extend([0, 1, 2, 3, 4], np.arange(5, dtype=np.float32))
    series.extend([5, 2, 3], np.array([5, 20, 30], np.float32))
    assert series.steps.tolist() == [0, 1, 2, 3] and series.values.tolist() == [0, 1, 20, 30]
    assert series.count == 8 and series.generation == 1
    series.extend([0], np.zeros(1, np.float32))
    assert series.steps.tolist() == [0] and series.generation == 2


def test_equal_steps_are_kept():
    series = Series("loss")
    series.extend([1, 1, 1], np.arange(3, dtype=np.float32))
    assert len(series) == 3 and series.generation == 0


def test_thinning_keeps_first_and_last_step_and_the_extremes():
    values = np.sin(np.arange(1000) / 50).astype(np.float32)
    values[517] = 99
    series = filled(values, capacity=256)
    assert len(series) <= 256 and series.count == 1000 and series.generation > 0
    assert series.values.max() == 99 and series.steps[series.values.argmax()] == 517
    assert series.steps[0] < 50 and series.steps[-1] > 990
    assert (np.diff(series.steps) >= 0).all()


def test_buckets_are_powers_of_two_and_fit_the_width():
    assert bucket_size(200, 100) == 1
    for n in range(201, 5000, 7):
        bucket = bucket_size(n, 100)
        assert bucket & (bucket - 1) == 0 and -(-n // bucket) <= 100 < -(-n // (bucket // 2)) + 1


def test_extremes_are_in_order_and_show_a_nan():
    values = np.array([3, 1, 2, 0, 5, np.nan, 4, 7, 9, 8], np.float32)
    assert extremes(values, 4).tolist() == [0, 3, 5, 5, 8, 9]


def test_points_of_a_short_series_are_all_of_it():
    assert points(filled([3, 2, 1]), 100).tolist() == [[0, 3, 0], [1, 2, 0], [2, 1, 0]]
    assert points(filled([3, 2, 1]), 100, first=2).tolist() == [[2, 1, 0]]


def test_times_stay_with_their_points():
    series = Series("loss", capacity=1000)
    for begin in range(0, 5000, 100):
        series.extend(range(begin, begin + 100), np.random.default_rng(begin).normal(size=100).astype(np.float32),
                      100.0 + np.arange(begin, begin + 100) / 4)
    assert series.generation and len(series.times) == len(series)
    assert np.array_equal(series.times, 100 + series.steps / 4)
    found = points(series, 50, began=100.0)
    assert np.allclose(found[:, 2], found[:, 0] / 4)
    series.extend([10, 0], np.zeros(2, np.float32), np.array([5000.0, 6000.0]))
    assert series.times.tolist() == [6000.0], "a restarted series begins anew"


def test_points_from_a_column_on_are_the_end_of_all_points():
    series = filled(np.random.default_rng(1).normal(size=3001))
    everything = points(series, 100)
    assert len(everything) <= 201 and everything.dtype == np.float32
    assert everything[-1, :2].tolist() == [3000, series.values[-1]], "the newest is what legends tell"
    assert np.array_equal(points(series, 100, first=40), everything[80:])


def test_no_new_column_is_no_points():
    assert points(filled(np.ones(3200)), 100, first=100).shape == (0, 3)


def test_points_keep_the_extremes():
    values = np.zeros(10_000)
    values[7777], values[123] = 5, -5
    found = points(filled(values), 50)
    assert [7777, 5, 0] in found.tolist() and [123, -5, 0] in found.tolist()


def test_smoothing_starts_at_the_first_value_and_passes_over_nan():
    out = smooth(np.array([4, np.nan, 4, 0], np.float32), 0.5)
    assert out[:3].tolist() == [4, 4, 4] and 1 < out[3] < 2
    assert smooth(np.array([1, 2], np.float32), 0.0).tolist() == [1, 2]
