"""Kernels over rows that depend on data, beside NumPy: segments and candidate samplers, interpreted and compiled."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.kernels.library.rows import segments
from tfnb.ops.declaration.raw import raw

UFUNCS = {"Sum": np.add, "Prod": np.multiply, "Min": np.minimum, "Max": np.maximum}


def both(build, monkeypatch):
    """The fetches of `build()`, interpreted and compiled."""
    found = []
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        tf.reset_default_graph()
        fetches, feeds = build()
        with tf.Session() as sess:
            found.append([sess.run(fetches, feeds) for _ in range(2)])
    return found


def sample(dtype, shape):
    random = np.random.RandomState(3)
    return (random.uniform(0.5, 1.5, shape) if dtype[0] == "f" else random.randint(1, 3, shape)).astype(dtype)


@pytest.mark.parametrize("dtype, inner", [("float32", (5,)), ("float64", ()), ("int32", (2, 3)), ("uint8", ())])
def test_sorted_segments_by_machine_code(dtype, inner):
    data = sample(dtype, (900, *inner))
    ids = np.sort(np.random.RandomState(0).randint(0, 300, 900)) + 2            # some have no rows
    count = int(ids[-1]) + 1
    assert segments.is_worth_it(np.zeros(4000, dtype), ids)
    with tf.Session() as sess:
        for name, ufunc in UFUNCS.items():
            want = np.full((count, *inner), int(name == "Prod"), dtype)
            present = np.isin(np.arange(count), ids)
            want[present] = ufunc.reduceat(data, np.searchsorted(ids, np.arange(count)[present]))
            made = segments.combined(data, ids.astype(np.int32), count, {"Sum": "sum", "Prod": "product", "Min": "min",
                                                                         "Max": "max"}[name], int(name == "Prod"))
            np.testing.assert_allclose(made, want, rtol=1e-5)
            x = tf.placeholder(dtype, [None, *inner])
            got = sess.run(getattr(raw, f"Segment{name}")(x, ids), {x: data})
            np.testing.assert_allclose(got, want, rtol=1e-5)
        picks = np.random.RandomState(1).randint(0, 900, 900)
        if dtype != "uint8":
            want = np.zeros((count + 4, *inner), dtype)
            np.add.at(want, ids, data[picks])
            got = sess.run(raw.SparseSegmentSumWithNumSegments(data, picks, ids, count + 4))
            np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_unsorted_segments_compile_to_what_is_interpreted(dtype, monkeypatch):
    def build():
        x, ids = tf.placeholder(dtype, [7, 3]), tf.placeholder(tf.int32, [7])
        empty = tf.placeholder(dtype, [0, 3])
        made = [getattr(raw, f"UnsortedSegment{name}")(x, ids, 5) for name in ("Prod", "Min", "Max")]
        made += [raw.UnsortedSegmentMax(empty, np.zeros([0], np.int32), 2), raw.UnsortedSegmentMin(x, ids, 200)]
        return made, {x: sample(dtype, (7, 3)), ids: [4, 0, -1, 4, 2, 0, 4], empty: np.zeros((0, 3))}
    for results in zip(*both(build, monkeypatch), strict=True):
        for a, b in zip(*results, strict=True):
            assert a.dtype == b.dtype and np.array_equal(a, b)


def test_an_id_that_is_too_large(monkeypatch):
    x, ids = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [2])
    made = tf.unsorted_segment_max(x, ids, 3)
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=r"segment_ids\[1\] = 3"):
            sess.run(made, {x: [1, 2], ids: [0, 3]})


@pytest.mark.parametrize("name", ["uniform", "log_uniform"])
@pytest.mark.parametrize("unique, most, count", [(True, 30, 12), (True, 64, 64), (False, 5, 40), (False, 1, 3)])
def test_samplers_compile_to_what_is_interpreted(name, unique, most, count, monkeypatch):
    def build():
        true = tf.placeholder(tf.int64, [3, 2])
        made = getattr(tf.nn, f"{name}_candidate_sampler")(true, 2, count, unique, most, seed=5)
        return list(made), {true: np.arange(6).reshape(3, 2) % most}
    interpreted, compiled = both(build, monkeypatch)
    for a, b in zip(interpreted, compiled, strict=True):           # two runs of each
        assert np.array_equal(a[0], b[0]) and len(set(b[0].tolist())) == count * unique + (1 - unique) * len(set(b[0]))
        np.testing.assert_allclose(a[1:][0], b[1:][0], rtol=1e-6)
        np.testing.assert_allclose(a[2], b[2], rtol=1e-6)


def test_the_table_of_unigrams_is_made_once(monkeypatch):
    from tfnb.ops.random import candidates
    made, build = [], candidates._Unigrams
    monkeypatch.setattr(candidates, "_Unigrams", lambda attrs: made.append(attrs) or build(attrs))
    sampled, _, _ = tf.nn.fixed_unigram_candidate_sampler(np.array([[1]]), 1, 3, True, 6, unigrams=[1, 2, 3, 4, 5, 6],
                                                          seed=1)
    with tf.Session() as sess:
        runs = [sess.run(sampled).tolist() for _ in range(3)]
    assert len(made) == 1 and all(len(set(run)) == 3 for run in runs)


@pytest.mark.parametrize(("weights", "text"), [
    ([0, 0, 1], "expected 2 classes of weights above 0"), ([0, 0, 0], "a sum above 0"),
    ([-1, 1, 1], "weights of 0 or more"), ([float("nan"), 1, 1], "weights of 0 or more")])
def test_weights_that_nothing_can_be_drawn_by(weights, text):
    sampled = tf.nn.fixed_unigram_candidate_sampler(np.array([[1]]), 1, 2, True, 3, unigrams=weights)[0]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        sess.run(sampled)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_places_compile_to_what_is_interpreted(dtype, monkeypatch):
    cube = (np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5) % 7 + 1).astype(dtype)

    def build():
        x, lengths = tf.placeholder(dtype, [2, None, 4, 5]), tf.placeholder(tf.int32, [None])
        made = [tf.matrix_band_part(x, *band) for band in ((-1, 0), (0, -1), (0, 0), (1, 2), (4, 5), (-1, -1))]
        made += [raw.ReverseSequence(x, lengths[:size], seq_dim=seq, batch_dim=batch) for seq, batch, size in (
            (1, 0, 2), (0, 1, 3), (3, 0, 2), (2, 3, 5), (1, 2, 4))]
        places, new = tf.placeholder(tf.int32, [3, 2]), tf.placeholder(dtype, [3, 4, 5])
        names = ("Update", "Add", "Sub", "Max", "Min") if dtype != "bool" else ("Update",)
        made += [getattr(raw, f"TensorScatter{name}")(x, places, new) for name in names]
        made += [raw.TensorScatterUpdate(x, tf.zeros([0, 2], tf.int32), new[:0]), x]
        return made, {x: cube, lengths: [2, 0, 1, 2, 1], places: [[1, 2], [0, 0], [1, 2]], new: cube[0, ::-1]}
    for results in zip(*both(build, monkeypatch), strict=True):
        for a, b in zip(*results, strict=True):
            assert a.dtype == b.dtype and np.array_equal(a, b)


@pytest.mark.parametrize("mode", ["never", "always"])
def test_places_that_are_not_there(mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    x, numbers, limit = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int64, [])
    faults = {tf.reverse_sequence(x, numbers, 1, 0): r"seq_lengths must be in \[0, 4\), got 4 at position 1",
              raw.TensorScatterAdd(x, tf.expand_dims(numbers, 1), x): "does not index into|not in",
              tf.matrix_band_part(x, limit, 0): "num_lower must be negative or less or equal to number of rows"}
    with tf.Session() as sess:
        for fetch, message in faults.items():
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(fetch, {x: np.ones((2, 3)), numbers: [0, 4], limit: 3})


def test_large_permutations():
    order = np.random.RandomState(0).permutation(1000).astype(np.int32)
    with tf.Session() as sess:
        assert np.array_equal(sess.run(tf.invert_permutation(tf.constant(order) + 0))[order], np.arange(1000))


@pytest.mark.parametrize("dtype, high", [("int32", 50), ("int64", 2**40), ("uint8", 200)])
def test_unique_elements_by_machine_code(dtype, high):
    x = np.random.RandomState(2).randint(0, high, 3000).astype(dtype)
    with tf.Session() as sess:
        y, places = sess.run(tf.unique(x, tf.int64))
        again, _, counts = sess.run(tf.unique_with_counts(x))
    assert again.tolist() == y.tolist() and np.array_equal(counts, [np.sum(x == value) for value in y])
    assert y.tolist() == list(dict.fromkeys(x.tolist())) and np.array_equal(y[places], x) and places.dtype == np.int64
