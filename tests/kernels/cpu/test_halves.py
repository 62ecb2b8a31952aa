"""16-bit floats in kernels: every number, rounded as NumPy, ml_dtypes and TensorFlow round."""
from __future__ import annotations

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
