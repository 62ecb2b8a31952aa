"""Random sequences of reads and writes of variables, in a fixed order: interpreted and compiled alike."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options


def grow(random, variables, ids):
    """One more read or write of a variable; whole numbers, so that no order of additions matters."""
    v, other = (variables[i] for i in random.integers(0, len(variables), 2))
    where = tf.constant(random.integers(0, 4, 3).astype(np.int32)) if random.integers(2) else ids
    rows = tf.constant(random.integers(-3, 4, (3, 3)).astype(np.float32))
    return [
        lambda: v * 1.0, lambda: tf.gather(other, where) + 1.0, lambda: tf.reduce_sum(v, 0) + other,
        lambda: v.assign_add(other * 2.0 - v), lambda: v.assign(tf.transpose(tf.transpose(other))),
        lambda: tf.scatter_add(v, where, rows), lambda: tf.scatter_update(v, where, tf.gather(other, ids)),
        lambda: tf.scatter_sub(v, [3, 2, 1, 0], other), lambda: tf.scatter_min(v, where, rows * 2.0),
        lambda: tf.scatter_nd_add(v, tf.stack([where, where % 3], 1), rows[0]),
        lambda: tf.scatter_add(v, where, 1.0) - 1.0,
    ][random.integers(11)]()


@pytest.mark.parametrize("seed", range(12))
def test_both_ways(seed, monkeypatch):
    random = np.random.default_rng(seed)
    start = random.integers(-3, 4, (3, 4, 3)).astype(np.float32)
    variables = [tf.Variable(value) for value in start]
    ids = tf.placeholder(tf.int32, [3])
    made = []
    for _ in range(14):
        with tf.control_dependencies(made[-1:]):
            made.append(grow(random, variables, ids))
    fetches = [t for t in made if not t.dtype._is_ref_dtype and random.integers(3)] + [made[-1].op]
    picks = random.integers(0, 4, (3, 3))
    results = []
    for mode in ("never", "always", "second"):
        monkeypatch.setattr(options, "compile", mode)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            results.append([[sess.run(fetches, {ids: p}), sess.run(variables)] for p in picks])
    for other in results[1:]:
        for (got, after), (want, after_want) in zip(other, results[0], strict=True):
            for a, b in zip([*got[:-1], *after], [*want[:-1], *after_want], strict=True):
                np.testing.assert_array_equal(a, b)
