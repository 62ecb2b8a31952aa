"""Every optimizer against TensorFlow: the same nodes, and the same numbers after 50 steps, dense and sparse."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there
from tfnb.core.options import options

OPTIMIZERS = {
    "gradient descent": "GradientDescentOptimizer(0.1)",
    "a rate that falls": "GradientDescentOptimizer(tf.train.exponential_decay(number(0.5), step, 10, 0.9))",
    "momentum": "MomentumOptimizer(0.05, 0.9)",
    "Nesterov": "MomentumOptimizer(0.05, 0.9, use_nesterov=True)",
    "Adagrad": "AdagradOptimizer(0.3)",
    "Adam": "AdamOptimizer(0.05)",
    "RMSProp": "RMSPropOptimizer(0.02, momentum=0.5)",
    "RMSProp, centered": "RMSPropOptimizer(0.02, momentum=0.5, centered=True)",
    "Adadelta": "AdadeltaOptimizer(1.0, epsilon=1e-3)",
    "Ftrl": "FtrlOptimizer(0.3, l1_regularization_strength=0.02, l2_regularization_strength=0.01)",
    "Ftrl, power": "FtrlOptimizer(0.3, learning_rate_power=-0.7, initial_accumulator_value=0.5)",
    "Ftrl, constant rate": "FtrlOptimizer(0.1, learning_rate_power=0.0, l1_regularization_strength=0.02)",
    "Ftrl, shrinkage and beta": "FtrlOptimizer(0.3, l2_shrinkage_regularization_strength=0.1, beta=0.2, name='F')",
    "AdagradDA": "AdagradDAOptimizer(0.3, step, l1_regularization_strength=0.01, l2_regularization_strength=0.02)",
    "AdagradDA, plain": "AdagradDAOptimizer(0.3, step)",
    "proximal gradient descent": "ProximalGradientDescentOptimizer(number(0.1), number(0.02), number(0.05))",
    "proximal Adagrad": "ProximalAdagradOptimizer(number(0.3), 0.1, number(0.02), number(0.05))",
    "proximal Adagrad, plain": "ProximalAdagradOptimizer(number(0.3), 0.1, number(0.0), number(0.0))",
}
NUMBER = "number = lambda value: tf.constant(value, w.dtype.base_dtype)\n"
PROBLEM = """
step = tf.train.get_or_create_global_step()
w = tf.Variable(start, name="w")
x = tf.placeholder(w.dtype.base_dtype, [None, 3], name="x")
ids = tf.placeholder(tf.int32, [None], name="ids")
"""
DENSE = "loss = tf.reduce_mean(tf.square(tf.gather(x, ids) @ w - tf.reduce_sum(x)))\n"
SPARSE = "loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(w, ids) - x))\n"
TRAIN = """
optimizer = tf.train.{}
train = optimizer.minimize(loss, global_step=step)
held = {{slot: optimizer.get_slot(w, slot) for slot in optimizer.get_slot_names()}}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for xs, picks in batches:
        sess.run(train, {{x: xs, ids: picks}})
    result = sess.run([w, step, held]), [v.name for v in optimizer.variables()]
"""


def batches(dtype, rows):
    """50 batches; rows come several times, and how many different ones there are changes."""
    random = np.random.default_rng(5)
    found = []
    for _ in range(50):
        count = int(random.integers(1, 9))
        found.append((random.normal(size=(count, 3)).astype(dtype),
                      random.integers(0, min(rows, count), count).astype(np.int32)))
    return found


@pytest.mark.parametrize("mode", ["never", "second"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("problem", [DENSE, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fifty_steps(name, problem, dtype, mode, oracle, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    rows = 3 if problem is DENSE else 7
    given = {"start": np.random.default_rng(6).normal(size=(rows, 3)).astype(dtype), "batches": batches(dtype, rows)}
    code = PROBLEM + NUMBER + problem + TRAIN.format(OPTIMIZERS[name])
    scope = {"tf": tf, **given}
    exec(code, scope)
    (w, step, held), made = oracle(code, **given)
    (got, got_step, slots), names = scope["result"]
    tolerance = {"rtol": 1e-6, "atol": 2e-6} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(got, w, **tolerance)
    assert (got_step, names, sorted(slots)) == (step, made, sorted(held)) and got_step == 50
    for slot, value in held.items():
        np.testing.assert_allclose(slots[slot], value, err_msg=slot, **tolerance)


GRAPH = """
w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="w")
ids = tf.placeholder(tf.int32, [None], name="ids")
step = tf.train.get_or_create_global_step()
number = lambda value: tf.constant(value)
optimizer = tf.train.{}
rows = tf.IndexedSlices(tf.ones([2, 2]), ids, tf.constant([3, 2]))
optimizer.apply_gradients([(rows, w)])
optimizer.apply_gradients([(tf.ones([3, 2]), w)])
"""


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_nodes(name, oracle):
    code = GRAPH.format(OPTIMIZERS[name])
    assert rows_here(code, tf) == rows_there(code, oracle)


@pytest.mark.parametrize("make", [
    lambda: tf.train.FtrlOptimizer(0.1, initial_accumulator_value=-1.0),
    lambda: tf.train.FtrlOptimizer(0.1, learning_rate_power=0.5),
    lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-0.1),
    lambda: tf.train.FtrlOptimizer(0.1, l2_regularization_strength=-0.1),
    lambda: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=-0.1),
    lambda: tf.train.AdagradDAOptimizer(0.1, None, 0.0), lambda: tf.train.ProximalAdagradOptimizer(0.1, 0.0)])
def test_numbers_out_of_range(make):
    with pytest.raises(ValueError):
        make()


def test_rows_with_a_constraint_are_refused():
    w = tf.Variable([[1.0], [2.0]], constraint=lambda x: x)
    with pytest.raises(RuntimeError, match="constraint"):
        tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.gather(w, [0])))


def test_an_optimizer_of_the_users_own():
    class Half(tf.train.Optimizer):
        def _apply_dense(self, grad, var):
            return var.assign_sub(grad * 0.5)

        def _apply_sparse(self, grad, var):
            return var.scatter_sub(tf.IndexedSlices(grad.values * 0.5, grad.indices))

    w = tf.Variable([[2.0], [4.0]])
    trains = [Half(False, "Half").minimize(loss) for loss in (tf.reduce_sum(w), tf.reduce_sum(tf.gather(w, [1, 1])))]
    with tf.Session() as sess:
        sess.run(w.initializer)
        for train in trains:
            sess.run(train)
        assert sess.run(w).tolist() == [[1.5], [2.5]]
