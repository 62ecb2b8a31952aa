"""Segments, partitions and stitching against TensorFlow; errors."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.kernels.library.rows import segments

RNG = np.random.default_rng(7)
X = np.random.default_rng(1).normal(size=(6, 2)).astype("f")
PROGRAMS = {
    **{f"segment_{name}": f"tf.segment_{name}(x, ids)" for name in ("sum", "mean", "prod", "min", "max")},
    **{f"integers, {name}": f"tf.segment_{name}(tf.cast(x * 9.0, tf.int32), ids)"
       for name in ("sum", "prod", "min", "max")},
    **{f"unsorted_segment_{name}": f"tf.unsorted_segment_{name}(x, loose, 5)"
       for name in ("sum", "prod", "min", "max", "mean", "sqrt_n")},
    **{f"unsorted integers, {name}": f"tf.unsorted_segment_{name}(tf.cast(x * 9.0, tf.int32), loose, 5)"
       for name in ("sum", "prod", "min", "max")},
    **{f"an id for each number, {name}": f"tf.unsorted_segment_{name}(x, table, 4)" for name in ("sum", "max", "mean")},
    **{f"sparse_segment_{name}": f"tf.sparse_segment_{name}(x, picks, ids)" for name in ("sum", "mean", "sqrt_n")},
    **{f"counted segments, {name}": f"tf.sparse_segment_{name}(x, picks, ids, num_segments=6)"
       for name in ("sum", "mean", "sqrt_n")},
    "zeros in products": "tf.segment_prod(x * [[0., 0.], [1., 0.], [1., 1.], [0., 1.], [1., 1.], [1., 1.]], ids)",
    "equal numbers": "tf.segment_max(tf.zeros_like(x) * x + x[:1], ids)",
}
GIVEN = {"x0": X, "ids0": np.array([0, 0, 1, 3, 3, 3]), "loose0": np.array([3, -1, 0, 3, 4, 0]),
         "table0": np.array([[0, 3], [1, 1], [-1, 2], [2, 2], [0, 0], [3, -1]]), "picks0": np.array([5, 0, 0, 2, 3, 3])}
RUN = """
x, ids = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
loose = tf.placeholder(tf.int32, [None])
table, picks = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int32, [None])
y = {}
weights = tf.cast(tf.reshape(tf.range(tf.size(y)), tf.shape(y)), tf.float32)
fetches = [y] + ([tf.gradients(tf.reduce_sum(y * weights), x)[0] + 0.0] if y.dtype == tf.float32 else [])
with tf.Session() as sess:
    result = [sess.run(fetches, {{x: x0, ids: ids0, loose: loose0, table: table0, picks: picks0}}) for _ in range(2)]
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name, oracle):
    code = RUN.format(PROGRAMS[name])
    scope = {"tf": tf, **GIVEN}
    exec(code, scope)
    want = oracle(code, **GIVEN)
    for got, expected in zip(scope["result"], want, strict=True):
        for a, b in zip(got, expected, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


PARTS = """
x, parts = tf.placeholder(tf.float32, [None, 2], name="x"), tf.placeholder(tf.int32, [None], name="parts")
pieces = tf.dynamic_partition(x, parts, 3)
places = tf.dynamic_partition(tf.range(tf.size(parts)), parts, 3)
whole = tf.dynamic_stitch(places, [p * p for p in pieces])
other = tf.dynamic_stitch([[2, 0], 4, [[0, 1]]], [[[1., 2.], [3., 4.]], [5., 6.], [[[7., 8.], [9., 10.]]]])
g = tf.gradients(tf.reduce_sum(whole * whole), x)[0]
shapes = [str(t.shape) for t in (*pieces, whole, other)]
with tf.Session() as sess:
    result = shapes, [sess.run([*pieces, whole, other, g], {x: x0, parts: p}) for p in (p0, p0 * 0, p0)]
"""


def test_partition_and_stitch(oracle):
    given = {"x0": X, "p0": np.array([1, 0, 2, 2, 0, 1], np.int32)}
    scope = {"tf": tf, **given}
    exec(PARTS, scope)
    shapes, values = oracle(PARTS, **given)
    assert scope["result"][0] == shapes
    for got, want in zip(scope["result"][1], values, strict=True):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("shape", [(5000,), (1500, 3), (700, 5, 2), (3000, 1)])
@pytest.mark.parametrize("type", [np.float32, np.float64, np.int8, np.float16])
def test_many_rows_are_dealt_and_stitched(shape, type):
    """As few rows are, by NumPy: machine code moves them in units of 1 to 8 bytes."""
    data, parts = RNG.normal(0, 50, shape).astype(type), RNG.integers(0, 3, shape[0]).astype(np.int32)
    pieces = tf.dynamic_partition(data, tf.constant(parts), 4)
    places = tf.dynamic_partition(tf.range(len(parts)), tf.constant(parts), 4)
    twice = [places[0], *places], [pieces[0] - pieces[0], *pieces]
    holes = tf.dynamic_stitch([2 * p + 1 for p in places], pieces)
    with tf.Session() as sess:
        dealt, again, spread = sess.run([pieces, tf.parallel_dynamic_stitch(*twice), holes])
    for number, piece in enumerate(dealt):
        np.testing.assert_array_equal(piece, data[parts == number])
    np.testing.assert_array_equal(again, data)
    np.testing.assert_array_equal(spread[1::2], data)
    assert not spread[::2].any()


@pytest.mark.parametrize("type", ["float16", "float32", "float64", "int32"])
def test_means_of_many_rows(type):
    data = RNG.uniform(0, 100, (900, 4)).astype(type)
    ids = np.sort(RNG.integers(0, 200, 900)).astype(np.int32)
    counts = np.bincount(ids, minlength=ids[-1] + 1)[:, None]
    sums = np.zeros((ids[-1] + 1, 4))
    np.add.at(sums, ids, data.astype(float))
    with tf.Session() as sess:
        found = sess.run(tf.segment_mean(data, ids))
        if type.startswith("float"):
            root = sess.run(tf.sparse_segment_sqrt_n(data, np.arange(900)[::-1].copy(), ids))
            backwards = np.zeros_like(sums)
            np.add.at(backwards, ids, data[::-1].astype(float))
            np.testing.assert_allclose(root, backwards / np.maximum(counts, 1) ** 0.5, rtol=2e-3)
    wanted = sums / np.maximum(counts, 1)
    if type.startswith("float"):
        np.testing.assert_allclose(found, wanted, rtol=2e-3 if type == "float16" else 1e-6)
    else:
        np.testing.assert_array_equal(found, np.trunc(wanted))


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("make", [
    lambda i: tf.segment_sum([1.0, 2.0, 3.0], i([1, 0, 2])), lambda i: tf.segment_max([1.0, 2.0], i([-1, 0])),
    lambda i: tf.unsorted_segment_sum([1.0, 2.0], i([0, 3]), 3), lambda i: tf.unsorted_segment_max([1.0], i([3]), 3),
    lambda i: tf.sparse_segment_sum([1.0, 2.0], i([0, 2]), [0, 1]),
    lambda i: tf.sparse_segment_mean([1.0, 2.0], [0, 1], i([1, 0])),
    lambda i: tf.sparse_segment_sum([1.0, 2.0], [0, 1], i([0, 2]), num_segments=2),
    lambda i: tf.sparse_segment_mean([1.0, 2.0], [0, 1], [0, 0], num_segments=i(-1)),
    lambda i: tf.dynamic_partition([1.0, 2.0], i([0, 2]), 2)[0],
    lambda i: tf.dynamic_stitch([i([0, -1])], [[1.0, 2.0]]),
    lambda i: tf.gather_nd([1.0, 2.0], i([[2]])), lambda i: tf.scatter_nd(i([[5]]), [1.0], [3]),
])
def test_bad_indices(make, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    feed = {}

    def fed(value):
        t = tf.placeholder(tf.int32, np.shape(value))
        feed[t] = value
        return t

    made = make(fed)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(made, feed)


def test_static_shapes_do_not_count_segments(oracle):
    """TensorFlow leaves their number to the run, where the ids are constants too."""
    code = """
x = tf.zeros([4, 13])
made = [tf.segment_mean(x, [0, 0, 1, 2]), tf.segment_sum(x, [0, 0, 1, 2]), tf.sparse_segment_sum(x, [0, 1], [0, 1])]
result = [str(tensor.shape) for tensor in made]"""
    scope = {"tf": tf}
    exec(code, scope)
    assert scope["result"] == oracle(code) == ["(?, 13)"] * 3


@pytest.mark.parametrize("ids", [[], [0], [2], [0, 0, 1], [0, 1, 4], [0, 3, 3, 3]])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_sums_of_ascending_segments_end_with_the_last_id(ids, dtype):
    data = np.arange(1, 2 * len(ids) + 1, dtype=dtype).reshape(-1, 2)
    want = np.zeros((ids[-1] + 1 if ids else 0, 2), dtype)
    np.add.at(want, np.array(ids, int), data)
    x, i = tf.placeholder(dtype, [None, 2]), tf.placeholder(tf.int32, [None])
    with tf.Session() as session:
        for _ in range(3):
            np.testing.assert_array_equal(session.run(tf.segment_sum(x, i), {x: data, i: ids}), want)


@pytest.mark.parametrize("size", [40, 5000])
@pytest.mark.parametrize("type", [np.float32, np.int64, np.float16])
def test_elements_are_added_where_they_belong(size, type):
    values, places = RNG.integers(-9, 9, size).astype(type), RNG.integers(0, 50, size)
    wanted = np.zeros(50, type)
    np.add.at(wanted, places, values)
    np.testing.assert_array_equal(segments.added(values, places, 50), wanted)
