"""Gamma, Poisson and stateless samples: TensorFlow's values for the same seeds, interpreted and compiled."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.modes import compiling

GRAPHS = """
tf.set_random_seed(4)
alpha = tf.placeholder(tf.{type}, [None]); rate = tf.placeholder(tf.{type}, [None])
fed = {{alpha: [0.01, 0.5, 1.0, 3.0, 200.0], rate: [0.0, 0.3, 5.0, 10.0, 33.0, 6e4]}}
"""
RUNS = "y = {}\n[sess.run(y, fed) for _ in range(3)]"
SEEDED = """
seed = tf.placeholder(tf.{}, [2])
sess.run({}, {{seed: [-7, 2**31 - 2]}})
"""
BOUNDS = {"wide": "0.0, 1.0, -2.0, 2.0", "one side": "1.0, 2.0, -inf, 1.5", "near": "0.0, 1.0, 0.2, 0.4",
          "tail": "0.0, 1.0, 3.0, inf", "below": "0.0, 1.0, -9.0, -4.0", "far": "5.0, 0.5, 7.0, 7.1"}
TRUNCATED = """
inf, raw = float("inf"), tf.raw_ops
call = lambda seed, shape, *p: raw.ParameterizedTruncatedNormal(
    shape=shape, seed=seed, seed2=2, **{n: tf.constant(v, tf.TYPE) for n, v in zip(
        ("means", "stdevs", "minvals", "maxvals"), p)})
free = lambda shape, *p: tf.random.stateless_parameterized_truncated_normal(shape, [3, 4], *[
    tf.constant(v, tf.TYPE) for v in p])
"""
CALLS = {
    "normal": "tf.random.stateless_normal([5, 3], seed, 1.0, 2.0)",
    "double": "tf.random.stateless_normal([7], seed, dtype=tf.float64)",
    "half": "tf.random.stateless_uniform([7], seed, dtype=tf.float16)",
    "truncated": "tf.random.stateless_truncated_normal([50], seed)",
    "uniform": "tf.random.stateless_uniform([9], seed, -1.0, 4.0)",
    "int32": "tf.random.stateless_uniform([9], seed, -5, 100, tf.int32)",
    "int64": "tf.random.stateless_uniform([9], seed, -5, 2**40, tf.int64)",
    "full": "[tf.random.stateless_uniform([9], seed, None, None, t)"
            " for t in (tf.int32, tf.int64, tf.uint32, tf.uint64)]",
    "classes": "tf.random.stateless_categorical([[0.5, 1.0, -1.0], [0.0, 0.0, 9.0]], 6, seed, dtype=tf.int32, seed=3)",
    "multinomial": "tf.random.stateless_multinomial([[0.5, 1.0, -1.0], [0.0, 0.0, 9.0]], 6, seed)",
    "gamma": "tf.random.stateless_gamma([4, 3], seed, [0.5, 1.0, 7.0], 2.0)",
    "poisson": "tf.random.stateless_poisson([40, 3], seed, [0.5, 9.0, 70.0])",
    "empty": "tf.random.stateless_gamma([0, 3], seed, [0.5, 1.0, 7.0])",
}
SNIPPETS = {
    **{f"{name} {type}": GRAPHS.format(type=type) + RUNS.format(call) for type in ("float32", "float64")
       for name, call in {"gamma": f"tf.random_gamma([2, 3], alpha, dtype=tf.{type}, seed=3)",
                          "scaled": f"tf.random_gamma([4], alpha, [[2.0], [0.5]], dtype=tf.{type}, seed=3)",
                          "poisson": f"tf.random_poisson(rate, [3], dtype=tf.{type}, seed=3)",
                          "counts": "tf.random.poisson(rate, [2, 2], dtype=tf.int32, seed=3)",
                          "counts of 64 bits": "tf.random.poisson(rate, [2, 2], dtype=tf.int64, seed=3)"}.items()},
    **{f"truncated {name}, {type}": TRUNCATED.replace("TYPE", type) + f"""
[sess.run([call(5, [6, 2], {p}), free([4, 2], {p})]) for _ in range(2)]""" for name, p in BOUNDS.items()
       for type in ("float32", "float64")},
    "truncated rows": TRUNCATED.replace("TYPE", "float32") + """
rows = call(0, [3, 7], [0.0, 5.0, 0.0], 1.0, [-1.0, 4.0, 3.0], [1.0, 9.0, inf])
[sess.run([rows, free([2, 2, 3], [0.0, 5.0, 0.0], [[1.0], [2.0]], [-1.0, 4.0, 3.0], 9.0)]) for _ in range(3)]""",
    **{f"truncated error {p}": TRUNCATED.replace("TYPE", "float32") + f"""
[outcome(lambda: sess.run(call(5, [2, 3], {p}))), outcome(lambda: sess.run(free([2, 3], {p})))]""" for p in (
        "0.0, -1.0, 0.0, 1.0", "0.0, 1.0, 1.0, 0.0", "0.0, 1.0, -inf, inf")},
    "half gamma": GRAPHS.format(type="half") + RUNS.format("tf.random_gamma([4], alpha + 0.3, dtype=tf.half, seed=3)"),
    **{f"{name} {type}": SEEDED.format(type, call) for name, call in CALLS.items() for type in ("int32", "int64")},
    "gradient": GRAPHS.format(type="float64") + "x = tf.random_gamma([3], alpha, [[2.0], [0.5]], tf.float64, seed=1)\n"
                "sess.run([x, *tf.gradients(x * x, alpha)], fed)",
    "stateless gradient": GRAPHS.format(type="float32") + "x = tf.random.stateless_gamma([3, 5], [1, 2], alpha)\n"
                          "sess.run([x, *tf.gradients(x * x, alpha)], fed)",
    **{f"error {i}": f"outcome(lambda: sess.run({call}))" for i, call in enumerate([
        "tf.random.stateless_uniform([3], [1, 2, 3])",
        "tf.random.stateless_uniform([2], [1, 2], 10, 10, tf.int32)",
        "tf.random.stateless_uniform([2], [1, 2], 0, None, tf.int32)", "tf.random_poisson(1.0, [2.0])",
        "tf.random.stateless_uniform([2], [1, 2], None, 3, tf.float32)",
        "tf.random_gamma([2], 1, dtype=tf.int32)",
        "tf.random.stateless_uniform([2], tf.placeholder_with_default([1], [None]))"])},
}


def test_values_are_tensorflows(oracle):
    assert not differences(oracle, SNIPPETS, tolerance=2e-6, modes=("never", "always"))


def test_interpreted_and_compiled_go_on_with_one_stream():
    tf.set_random_seed(1)
    made = [tf.random_gamma([5], [0.3, 4.0]), tf.random_poisson([3.0, 50.0], [5])]
    runs = []
    for modes in (("never", "always", "never"), ("always", "never", "always")):
        with tf.Session() as sess:
            drawn = []
            for mode in modes:
                with compiling(mode):
                    drawn.append(np.concatenate(sess.run(made)))
            runs.append(np.stack(drawn))
    np.testing.assert_allclose(*runs, rtol=1e-6)
    assert np.ptp(runs[0][:, :5], axis=0).all()              # of the gamma samples: counts may repeat


@pytest.mark.parametrize("mode", ["never", "always"])
def test_moments(mode):
    alpha, rate = np.float32([0.2, 1.0, 8.0]), np.float32([2.0, 40.0])
    with compiling(mode), tf.Session() as sess:
        fed = {tf.placeholder(tf.float32, [3]): alpha, tf.placeholder(tf.float32, [2]): rate}
        a, r = fed
        x, n = sess.run([tf.random_gamma([4000], a, seed=1), tf.random_poisson(r, [4000], seed=2)], fed)
    for drawn, mean, variance in ((x, alpha, alpha), (n, rate, rate)):
        np.testing.assert_allclose(drawn.mean(0), mean, atol=5 * np.sqrt(variance / 4000).max())
        np.testing.assert_allclose(drawn.var(0), variance, rtol=0.25)


@pytest.mark.parametrize("mode", ["never", "always"])
def test_impossible_parameters(mode):
    with compiling(mode), tf.Session() as sess:
        rate = tf.placeholder(tf.float32, [None])
        fed = {rate: [-1.0, np.nan, np.inf, 0.0]}
        real, counts = sess.run([tf.random_poisson(rate, []), tf.random_poisson(rate, [], tf.int32)], fed)
        drawn = sess.run(tf.raw_ops.RandomGamma(shape=[2], alpha=rate), fed)
    np.testing.assert_array_equal(real, [np.nan] * 3 + [0])
    np.testing.assert_array_equal(counts, [-1, -1, -1, 0])
    assert np.isnan(drawn[:, [0, 1, 3]]).all()


@pytest.mark.parametrize("sizes", [[2, -1], [-1, -1], [-2, 3]])
@pytest.mark.parametrize("op", ["RandomGamma", "RandomPoisson", "RandomPoissonV2"])
def test_sizes_below_0_are_refused_in_each_run(op, sizes):
    raw = getattr(tf.raw_ops, op)
    shape, each = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
    drawn = raw(shape, each)
    with pytest.raises(ValueError, match=r"Dimension -\d must be >= 0"):
        raw(sizes, each)
    with tf.Session() as sess, compiling("always"):
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"Dimension -\d must be >= 0"):
                sess.run(drawn, {shape: sizes, each: [1.0, 2.0]})
        assert sess.run(drawn, {shape: [2, 3], each: [1.0, 2.0]}).shape == (2, 3, 2)


def test_the_earlier_poisson_op_draws_the_same():
    old, new = (op(shape=[3], rate=[0.5, 20.0], seed=1, seed2=2) for op in (
        tf.raw_ops.RandomPoisson, lambda **args: tf.raw_ops.RandomPoissonV2(dtype="float32", **args)))
    with tf.Session() as sess:
        np.testing.assert_array_equal(*sess.run([old, new]))
