"""Large output arrays serve again, but never while somebody has them; what stages pass on is row-major."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.runtime.runners import interpreter

SIDE = 600               # 1.4 MB of floats: above what is recycled


def test_a_kept_array_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    y = x + 1.0
    with tf.Session() as sess:
        kept = [sess.run(y, {x: np.full([SIDE, SIDE], i, "f")}) for i in range(4)]
        views = [sess.run(y, {x: np.full([SIDE, SIDE], i, "f")})[3:5] for i in range(4)]
    assert [float(a[7, 7]) for a in kept] == [1, 2, 3, 4]
    assert [float(a[1, 7]) for a in views] == [1, 2, 3, 4]


def test_a_dropped_array_serves_again(monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    y = x + 1.0
    value = np.zeros([SIDE, SIDE], "f")
    with tf.Session() as sess:
        addresses = {sess.run(y, {x: value}).ctypes.data for _ in range(5)}
    assert len(addresses) == 1


def test_what_the_caller_did_to_a_dropped_array_does_not_matter(monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    y = x + 1.0
    with tf.Session() as sess:
        for i in range(3):
            made = sess.run(y, {x: np.full([SIDE, SIDE], i, "f")})
            assert made.shape == (SIDE, SIDE) and made[3, 3] == i + 1
            made.flags.writeable = False
            del made


@pytest.mark.parametrize("shape", [(2100, 1024), (4100, 4096)])
def test_large_arrays_start_at_a_cache_line(monkeypatch, shape):
    """Kernels that store past the caches rely on it; the second is too large to serve again."""
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, shape)
    y = x - tf.reduce_mean(x, 1, keepdims=True)
    value = np.random.RandomState(0).randint(0, 9, shape).astype("f")
    with tf.Session() as sess:
        made = sess.run(y, {x: value})
    assert made.ctypes.data % 64 == 0 and made.flags.writeable and made.flags.c_contiguous
    np.testing.assert_allclose(made, value - value.mean(1, keepdims=True), atol=1e-5)


def test_a_view_of_a_view_keeps_the_memory(monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, [SIDE, SIDE])
    y = x + 1.0
    with tf.Session() as sess:
        views = [sess.run(y, {x: np.full([SIDE, SIDE], i, "f")}).reshape(-1)[5:].T[:2].view("i4").view("f")
                 for i in range(3)]
    assert [float(v[1]) for v in views] == [1, 2, 3]


@pytest.mark.parametrize("made", [tf.real, tf.abs, tf.imag], ids=["real", "abs", "imag"])
def test_a_program_reads_interpreted_values_row_by_row(made):
    """NumPy keeps the order of the axes in memory: an elementwise op of a transposed array gives a transposed one."""
    given = np.arange(6).reshape(2, 3) * (1 + 2j)
    with tf.Graph().as_default(), tf.Session() as sess:
        z = tf.placeholder(tf.complex128, [2, 3])
        turned, flat = tf.transpose(made(tf.transpose(z))), tf.reshape(made(tf.transpose(z)), [6])
        elements = tf.TensorArray(tf.float64, 1).write(0, made(tf.transpose(z))).stack() * 1
        expected = {tf.real: given.real, tf.abs: np.abs(given), tf.imag: given.imag}[made]
        for _ in range(3):
            found = sess.run([turned, flat, elements], {z: given})
            for value, wanted in zip(found, [expected, expected.T.reshape(-1), expected.T[None]], strict=True):
                np.testing.assert_allclose(value, wanted)


def test_outputs_of_host_stages_are_the_callers():
    """Views, reductions and elementwise ops beside an op without a kernel: none is the memory of a variable."""
    dims, value = tf.Variable([1, 4]), tf.Variable(4.0)
    rows = tf.Variable(np.arange(6, dtype="f").reshape(3, 2))
    ids = tf.range(tf.reduce_min(dims) + 2) * 0
    fetches = [tf.fill(dims, value), tf.segment_sum(tf.reshape(rows, [6]), [0, 0, 0, 1, 1, 2]),
               tf.expand_dims(tf.segment_max(rows, ids), 0), tf.transpose(rows), ids]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            found = sess.run(fetches)
            assert [a.tolist() for a in found] == [[[4.0] * 4], [3.0, 7.0, 5.0], [[[4.0, 5.0]]],
                                                   [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]], [0, 0, 0]]
            with pytest.raises(tf.errors.InvalidArgumentError, match="SegmentMax"):
                sess.run(fetches, {ids: [0, 0, -1]})
            for array in found:
                array[...] = 77
        assert sess.run(rows).tolist() == [[0, 1], [2, 3], [4, 5]] and sess.run(value) == 4


def test_an_interpreter_computes_once_what_follows_from_shapes_and_constants(monkeypatch):
    monkeypatch.setattr(options, "compile", "never")
    ran, real = [], interpreter.run_op
    monkeypatch.setattr(interpreter, "run_op", lambda op, *more: ran.append(op.type) or real(op, *more))
    x = tf.placeholder(tf.float32, [None, 2])
    rows, noise = tf.fill([tf.shape(x)[0] * 2], 7.0), tf.random_uniform(tf.shape(x)[:1])
    y, seen = tf.reduce_sum(x, 0), []
    with tf.Session() as sess:
        for count in 3, 3, 5, 3:
            ran.clear()
            found, noises, total = sess.run([rows, noise, y], {x: np.ones([count, 2])})
            assert found.tolist() == [7.0] * 2 * count and noises.shape == (count,) and total.tolist() == [count] * 2
            found[:], total[:] = 0, 0                        # whose arrays are the program's own
            seen.append(("Fill" in ran, "RandomUniform" in ran and "Sum" in ran))
    assert seen == [(True, True), (False, True), (True, True), (False, False)]      # the fourth run is prepared


STEPS = """
import numpy as np, tfnb as tf
x = tf.placeholder(tf.float32, [None, 3], name="x")
k = tf.placeholder(tf.int32, [None], name="k")
w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
r = tf.get_variable("r", initializer=[1.0, 2.0], use_resource=True)
h = tf.nn.relu(tf.matmul(x, w) + r) / tf.reduce_sum(tf.reshape(x, [-1]))
part = tf.gather(tf.transpose(h), k)
noise = tf.nn.dropout(h, rate=0.5, seed=3)
loss = tf.reduce_mean(tf.square(h)) + tf.reduce_max(part) + tf.reduce_mean(noise)
step = tf.train.AdamOptimizer(0.1).minimize(loss)
half = tf.cast(h, tf.float16) * 2
turned = tf.matmul(tf.nn.bias_add(h, [0.5, 0.25]), w, transpose_b=True) + tf.matmul(h, h, transpose_a=True)[0, 0]
sums = tf.add_n([tf.reduce_sum(turned, 0), tf.reduce_mean(turned, [0]), turned[0], turned[0] * 2])
count = tf.assign(tf.Variable([[0.0, 0.0], [0.0, 0.0]], name="count"), tf.matmul(h, h, transpose_a=True))
again = tf.assign(tf.get_variable("again", [2], use_resource=True), h[0] + count[1])
"""


def test_prepared_runs_compute_bit_by_bit_what_first_runs_do(monkeypatch):
    monkeypatch.setattr(options, "compile", "never")
    names: dict = {}
    exec(STEPS, names)
    values = []
    for prepared in True, False:
        if not prepared:
            monkeypatch.setattr(interpreter.Interpreted, "_learn", lambda *more: None)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(12):
                feeds = {"x:0": np.arange(6 + 3 * (i % 2)).reshape(-1, 3) + 1, "k:0": [i % 2]}
                values.append(sess.run([names[n] for n in ("loss", "step", "half", "noise", "w", "r", "turned", "sums",
                                                                "count", "again")], feeds))
            assert prepared == any(each for stage in sess._executors.values() for row in stage[1]._rows[0]
                                   for each in getattr(row.runner, "_prepared", {}).values())
    for one, other in zip(values[:12], values[12:], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True) if a is not None)


def test_prepared_runs_raise_what_first_runs_do_and_see_variables_change(monkeypatch):
    monkeypatch.setattr(options, "compile", "never")
    x, k = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [None])
    v = tf.Variable(tf.zeros([2]), validate_shape=False)
    y, grown = tf.gather(x, k, name="picked"), tf.assign(v, tf.concat([v, [1.0]], 0), validate_shape=False)
    total = tf.reduce_sum(v) + tf.reduce_sum(y)
    with tf.control_dependencies([grown]):
        after = v.read_value() * 1
    with tf.Session() as sess:
        sess.run(v.initializer)
        said = []
        for _ in range(4):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 7 .*picked") as told:
                sess.run(total, {x: [5, 6], k: [7]})
            said.append(str(told.value))
            assert sess.run(total, {x: [5, 6], k: [1]}) == 6
        assert said == said[:1] * 4
        for n in range(3, 7):
            assert sess.run(after).tolist() == [0, 0] + [1] * (n - 2)
            assert sess.run(total, {x: [5, 6], k: [1]}) == n + 4
        sess.run(v.initializer)
        assert sess.run(total, {x: [5, 6], k: [1]}) == 6
