"""tf.random.Generator and the ops over its state, binomial values, Sobol sequences, learned candidates."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tfnb.kernels.arrays import rejection

SETUP = """
G = tf.random.Generator
def drawn(make, seed=5):
    g = G.from_seed(seed)
    fetches = make(g)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    found = [sess.run(each) for _ in range(2) for each in fetches]
    return found, sess.run(g.state)
def started(g):
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess.run(g.state), g.state.dtype.name, int(g.algorithm)
def op(name, *args, state=(1, 2, 3), dtype=np.int64, algorithm=1, **attrs):
    v = tf.Variable(np.array(state, dtype), use_resource=True)
    made = getattr(tf.raw_ops, name)(resource=v.handle, algorithm=tf.constant(algorithm, tf.int64), **attrs)
    sess = tf.Session()
    sess.run(v.initializer)
    return [sess.run(made) for _ in range(2)], sess.run(v)
i8 = lambda x: tf.constant(x, tf.int64)
"""
SNIPPETS = {
    "normal": "drawn(lambda g: [g.normal([3]), g.normal([2, 2], 1.0, 2.0, tf.float64), g.normal([5], "
              "dtype=tf.float16)])",
    "truncated": "drawn(lambda g: [g.truncated_normal([30]), g.truncated_normal([3], 5.0, 2.0, tf.float64)])",
    "uniform": "drawn(lambda g: [g.uniform([3]), g.uniform([2, 2], 1.0, 5.0, tf.float64), g.uniform([3], "
               "dtype=tf.bfloat16)])",
    "integers": "drawn(lambda g: [g.uniform([4], 0, 10, t) for t in (tf.int32, tf.int64)])",
    "full integers": "drawn(lambda g: [g.uniform_full_int([3])] + [g.uniform([3], None, None, t) for t in (tf.int32, "
                     "tf.int64, tf.uint32)])",
    "binomial": "drawn(lambda g: [g.binomial([5, 2], [1000.0, 40.0], [0.7, 0.5])])[0][0]",
    "seeds": "drawn(lambda g: [g.make_seeds(3)])",
    "starts": "[started(G.from_seed(s)) for s in (0, -5, [1, 2, 3], [[1, 2], [3, 4]], 2**70, [7])]",
    "states": "[started(G.from_state([1, 2, 3], 'philox')), started(G.from_key_counter(5, [1, 2], 1)), "
              "started(G(state=[1, 2, 3], alg=1))]",
    "no algorithm": "G.from_state([1, 2, 3], 'foo')",
    "state of another size": "G.from_state([1, 2], 1)",
    "half bounds": "G.from_seed(1).uniform([2], dtype=tf.int32)",
    "split": "G.from_seed(1).split(2)",
    "ops": "[op('StatefulUniform', shape=[3]), op('StatefulStandardNormalV2', shape=i8([3]), dtype=tf.float64), "
           "op('StatefulTruncatedNormal', shape=[3], state=(1, 2, 3, 4)), op('StatefulUniformInt', shape=[2], "
           "minval=np.uint32(3), maxval=np.uint32(30)), op('StatefulUniformFullInt', shape=[2], dtype=tf.uint32), "
           "op('RngSkip', delta=i8(5)), op('RngSkip', delta=i8(-1)), op('RngSkip', delta=i8(5), state=(-1, 2, 3))]",
    "short state": "op('StatefulUniform', shape=[2], state=(1, 2))",
    "matrix": "op('StatefulUniform', shape=[2], state=((1, 2, 3),))",
    "unknown": "op('StatefulUniform', shape=[2], algorithm=7)",
    "threefry": "op('StatefulUniform', shape=[2], algorithm=2)",
    "float state": "op('RngSkip', delta=i8(5), dtype=np.float32)",
    "no integers": "op('StatefulUniformInt', shape=[2], minval=3, maxval=3)",
    "negative size": "op('StatefulUniform', shape=[-2])",
    "scalar shape": "op('StatefulUniform', shape=2)",
    "non-deterministic": "[sess.run(tf.raw_ops.NonDeterministicInts(shape=[2], dtype=t)).dtype.name for t in "
                         "(tf.int64, tf.uint32)]",
    "stateless binomial": "sess.run([tf.random.stateless_binomial([4, 2], [1, 2], [50.0, 100.0], [0.3, 0.6]), "
                          "tf.random.stateless_binomial([3], [1, 2], [-1.0, 0.0, 9.0], [0.3, 0.5, 1.0]), "
                          "tf.random.stateless_binomial([2], [1, 2], 50.0, 0.5, tf.float64)])",
    "binomial of another shape": "sess.run(tf.random.stateless_binomial([4, 3], [1, 2], [50.0, 100.0], [0.3, 0.6]))",
    "sobol": "sess.run([tf.math.sobol_sample(3, 5), tf.math.sobol_sample(40, 4, 7, tf.float64), "
             "tf.math.sobol_sample(1, 9, 1000)])",
    **{f"sobol {args}": f"sess.run(tf.math.sobol_sample{args})" for args in (
        (0, 3), (3, 0), (3, 2, -1), (21201, 2), (3, 2**31 - 1, 1))},
    "learned": "[list(sess.run(list(tf.random.learned_unigram_candidate_sampler(np.array([[3, 1], [0, 5]]), 2, 3, "
               "unique, 6, seed=seed)))) for seed in (1, 2) for unique in (False, True)]",
    "learned again": "x = tf.random.learned_unigram_candidate_sampler(np.array([[3, 1], [0, 5]]), 2, 3, True, 6, "
                     "seed=1)\n"
                     "[[np.asarray(part) for part in sess.run(list(x))] for _ in range(3)]",
    "learned beyond": "sess.run(tf.nn.learned_unigram_candidate_sampler(np.array([[6]]), 1, 3, True, 6, seed=1))",
}


def test_generators_are_tensorflows(oracle):
    assert differences(oracle, SNIPPETS, SETUP, 1e-6) == {}


def test_counts_of_few_successes_have_the_distribution():
    n, p = np.array([20.0, 10.0, 7.0]), np.array([0.45, 0.2, 0.9])
    found = rejection.binomial(np.array([1, 0, 2, 3], np.uint64), 40000, n, p)
    np.testing.assert_allclose(found.mean(0), n * p, atol=0.05)
    np.testing.assert_allclose(found.var(0), n * p * (1 - p), rtol=0.04)


def test_a_generator_is_skipped_reset_and_copied():
    with tf.Graph().as_default(), tf.Session() as sess:
        generator = tf.random.Generator.from_seed(3)
        other = tf.random.Generator(copy_from=generator)
        sess.run(tf.global_variables_initializer())
        assert sess.run(other.state).tolist() == [3, 0, 0] and sess.run(generator.key) == 0
        sess.run(generator.skip(2))
        assert sess.run(generator.state).tolist() == [3 + 512, 0, 0]
        sess.run(generator.reset_from_key_counter(9, [1, 2]))
        assert sess.run(generator.state).tolist() == [1, 2, 9]
        sess.run(generator.reset([4, 5, 6]))
        assert sess.run(generator.state).tolist() == [4, 5, 6]


def test_each_graph_has_a_global_generator_of_its_own():
    with tf.Graph().as_default():
        first = tf.random.get_global_generator()
        with tf.Graph().as_default():
            assert tf.random.experimental.get_global_generator() is not first
    with tf.Graph().as_default(), pytest.raises(ValueError, match="either copy_from or state"):
        tf.random.Generator()


def test_negative_sizes_are_refused():
    sizes = tf.placeholder(tf.int64, [2])
    draws = [tf.raw_ops.NonDeterministicInts(shape=sizes),
             tf.random.experimental.Generator.from_seed(1).normal(sizes)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for drawn in draws:
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"at least 0, got \[2, -1\]"):
                sess.run(drawn, {sizes: [2, -1]})
