"""16-bit floats in kernels: every number, rounded as NumPy, ml_dtypes and TensorFlow round."""
from __future__ import annotations

import inspect

import ml_dtypes
import numpy as np
import pytest

import tfnb as tf
from tests import modes
from tfnb.kernels.llvm.microkernel import converts_halves

pytestmark = pytest.mark.skipif(not converts_halves(), reason="this processor does not convert 16-bit floats")
HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
EVERY = np.arange(1 << 16, dtype=np.uint16)


def same(got, expected):
    """Equal bits, but for those of NaN."""
    assert got.dtype == expected.dtype
    bits = got.view(np.uint16) == expected.view(np.uint16)
    bad = ~(bits | np.isnan(got.astype("f4")) & np.isnan(expected.astype("f4")))
    assert not bad.any(), (got[bad][:5], expected[bad][:5])


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_arithmetic_of_every_number_rounds_each_result_once(dtype):
    x, y = EVERY.view(dtype), np.random.default_rng(1).permutation(EVERY).view(dtype)
    a, b = tf.placeholder(dtype, x.shape), tf.placeholder(dtype, y.shape)
    wanted = [a + b, a * b, a / b, a * b - a, -a, tf.sqrt(a), tf.maximum(a, b), tf.where(a > b, a, b), a + 0.1]
    got = modes.run(wanted, {a: x, b: y})
    f, g = x.astype("f4"), y.astype("f4")
    with np.errstate(all="ignore"):
        product = (f * g).astype(dtype).astype("f4")
        expected = [f + g, f * g, f / g, product - f, -f, np.sqrt(f), np.maximum(f, g), np.where(f > g, f, g),
                    f + np.float32(np.asarray(0.1, dtype))]
        for found, exact, plain in zip(got, expected, modes.run(wanted, {a: x, b: y}, "never"), strict=True):
            same(found, exact.astype(dtype))
            same(plain, found)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_draws_are_those_of_the_interpreter(dtype):
    logits = tf.constant(np.random.default_rng(4).normal(size=(3, 9)).astype(dtype))
    rows = tf.constant(EVERY[:700].reshape(350, 2).view(dtype))
    shape = tf.constant([33, 7])
    wanted = [tf.random_normal(shape, seed=5, dtype=dtype), tf.truncated_normal(shape, seed=5, dtype=dtype),
              tf.multinomial(logits, 50, seed=6), tf.random_shuffle(rows, seed=7)]
    with tf.Session() as plain, modes.compiling("never"):
        expected = [plain.run(wanted) for _ in range(3)]
    with tf.Session() as sess, modes.compiling("always"):
        found = [sess.run(wanted) for _ in range(3)]
    for got, want in zip(found, expected, strict=True):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}"))


@np.errstate(all="ignore")
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_conversions_of_every_number_and_of_those_between(dtype):
    """From float64 and integers by way of float32, as TensorFlow does: 1 + 2**-11 + 2**-40 is 1 in float16."""
    random = np.random.default_rng(2)
    ties = (EVERY[:-1].view(dtype).astype("f8") + EVERY[1:].view(dtype).astype("f8")) / 2
    wide = np.concatenate([ties, random.integers(0, 1 << 32, 1 << 16, np.uint32).view("f4"), [1 + 2**-11 + 2**-40]])
    whole = random.integers(-1 << 62, 1 << 62, 1000) >> random.integers(0, 62, 1000)
    x, w, n = tf.placeholder(dtype, [None]), tf.placeholder(tf.float64, [None]), tf.placeholder(tf.int64, [None])
    feeds = {x: EVERY.view(dtype), w: wide, n: whole}
    fetches = [tf.cast(x, tf.float32), tf.cast(x, tf.float64), tf.cast(x, tf.bool), tf.cast(w, dtype),
               tf.cast(tf.cast(w, tf.float32), dtype), tf.cast(n, dtype)]
    for mode in ("never", "always"):
        single, double, truth, narrow, again, of_whole = modes.run(fetches, feeds, mode)
        np.testing.assert_array_equal(single, feeds[x].astype("f4"))
        np.testing.assert_array_equal(double, feeds[x].astype("f8"))
        np.testing.assert_array_equal(truth, feeds[x].astype("f4") != 0)
        for found, source in ((narrow, wide), (again, wide), (of_whole, whole)):
            same(found, source.astype("f4").astype(dtype))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_sums_are_rounded_at_their_end(dtype):
    x = tf.placeholder(dtype, [None, None])
    ones = np.ones((5000, 8), dtype)
    fetches = [tf.reduce_sum(x, 0), tf.reduce_sum(x), tf.reduce_mean(x, 1), tf.reduce_max(x, 0), tf.nn.softmax(x)[0]]
    for mode in ("never", "always"):
        columns, everything, means, most, shares = modes.run(fetches, {x: ones}, mode)
        same(columns, np.full(8, 5000, "f4").astype(dtype))
        same(everything, np.asarray(40000, "f4").astype(dtype))
        assert (means == 1).all() and (most == 1).all() and (shares == 0.125).all()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_step_of_training_is_one_program(dtype):
    random = np.random.default_rng(4)
    start, data = random.normal(size=(6, 4)).astype(dtype), random.normal(size=(5, 6)).astype(dtype)
    found = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), modes.compiling(mode), tf.Session() as sess:
            v = tf.Variable(start)
            x = tf.placeholder(dtype, data.shape)
            loss = tf.reduce_mean(tf.square(tf.tanh(tf.reduce_sum(x[:, :, None] * v, 1))))
            step = tf.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
            sess.run(tf.global_variables_initializer())
            found.append([sess.run([loss, step], {x: data})[0].astype("f4") for _ in range(30)])
            if mode == "always":
                assert "stage 1" not in tf.explain(step, {x: data}, sess)
    np.testing.assert_allclose(*found, rtol=0.02)
    assert found[1][-1] < 0.8 * found[1][0]


SNIPPET = """
result = []
for dtype in (tf.float16, tf.bfloat16):
    a, b = (tf.cast(tf.constant(v), dtype) for v in (x, y))
    result += [tf.cast(t, tf.float32) for t in (
        a * b + a, a / b, tf.exp(a), tf.tanh(b), tf.squared_difference(a, b), tf.nn.relu(a - b), tf.rsqrt(tf.abs(a)))]
"""


def test_results_are_those_of_tensorflow(oracle):
    x, y = np.random.default_rng(5).normal(size=(2, 400)).astype(np.float32)
    scope = {"tf": tf, "x": x, "y": y}
    exec(SNIPPET, scope)
    with np.errstate(all="ignore"):
        theirs = oracle(f"{SNIPPET}result = tf.Session().run(result)", x=x, y=y)
        for found, expected in zip(modes.run(scope["result"]), theirs, strict=True):
            np.testing.assert_array_equal(found, expected)


def by_hand(tf, dtype, x, f):
    """Outputs of ops that are written by hand, of images and filters of a dtype."""
    a, b = tf.cast(x, dtype), tf.cast(f, dtype)
    m, parts = tf.reshape(a, [-1, 32]), tf.constant([0, 2, 1, 0, 2, 2, 1, 1])
    conv, pool = tf.nn.conv2d(a, b, [1, 2, 2, 1], "SAME"), tf.nn.max_pool(a, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
    made = [conv, pool, *tf.gradients([conv, pool], [a, b]), tf.matmul(m, m, transpose_a=True),
            tf.matmul(a, a, transpose_b=True), tf.linalg.band_part(m, 1, 2),
            tf.nn.avg_pool(a, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), tf.concat([a, -a], 1), tf.gather(m, [3, 0, 3]),
            tf.pad(a, [[0, 0], [1, 1], [1, 1], [0, 0]], constant_values=tf.cast(1.5, dtype)), tf.stack([a, a], 2),
            tf.tile(m, [2, 3]), tf.roll(m, 3, 1), tf.one_hot([1, 2], 3, tf.cast(0.1, dtype)),
            tf.reverse_sequence(m, [3] * 16, 1, batch_axis=0), tf.unsorted_segment_sum(m[:8], parts, 3),
            tf.space_to_depth(a, 2), tf.argmax(m, 1), tf.nn.top_k(m, 3)[0], tf.gather_nd(m, [[1, 2], [3, 4]]),
            tf.tensor_scatter_nd_update(m, [[1], [2]], m[:2]), tf.image.resize_nearest_neighbor(a, [5, 3])]
    return [tf.cast(y, tf.float32) for y in made]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_ops_written_by_hand_round_once(name, oracle):
    """Interpreted, compiled and by TensorFlow, which alone sums in 16 bits in places; all in one program."""
    random = np.random.default_rng(6)
    x, f = random.normal(size=(2, 8, 8, 4)).astype("f4"), random.normal(size=(3, 3, 4, 6)).astype("f4")
    a, b = tf.placeholder(tf.float32, x.shape), tf.placeholder(tf.float32, f.shape)
    fetches, feeds = by_hand(tf, getattr(tf, name), a, b), {a: x, b: f}
    with tf.Session() as sess:
        assert [stage.on_device for stage in sess.plan(fetches, feeds).stages] == [True]
    plain, compiled = modes.run(fetches, feeds, "never"), modes.run(fetches, feeds)
    source = f"{inspect.getsource(by_hand)}\nresult = tf.Session().run(by_hand(tf, tf.{name}, x, f))"
    last = 2**-10 if name == "float16" else 2**-7
    for got, other, theirs in zip(compiled, plain, oracle(source, x=x, f=f), strict=True):
        np.testing.assert_allclose(got, other, last, last)
        np.testing.assert_allclose(got, theirs, 8 * last, 8 * last)
