"""User-defined optimizers beside those of tf.train that have the same rule; slots, sparse gradients, errors."""
# ruff: noqa: F821
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.variables.resource_variable import ResourceVariable


def own_adagrad():
    @tf.custom.optimizer(name="OwnAdagrad")
    def adagrad(var, gradient, accum=0.1, *, learning_rate):
        """Adagrad, written once more."""
        accum = accum + gradient * gradient
        return var - learning_rate * gradient / tf.sqrt(accum), accum
    return adagrad


def trained(optimizer, sparse, steps=4):
    with tf.Graph().as_default():
        w = tf.Variable(np.arange(8, dtype="f").reshape(4, 2) / 4 - 1, name="w")
        rows = tf.gather(w, [1, 1, 3]) if sparse else w
        step = optimizer.minimize(tf.reduce_sum(tf.square(rows) * [1.0, 3.0]))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            values = []
            for _ in range(steps):
                sess.run(step)
                values.append(sess.run(w))
            return values, sorted(v.name for v in optimizer.variables()), step.graph


@pytest.mark.parametrize("sparse", [False, True])
def test_the_rule_of_adagrad(sparse):
    own, names, graph = trained(own_adagrad()(learning_rate=0.2), sparse)
    official, _, _ = trained(tf.train.AdagradOptimizer(0.2), sparse)
    np.testing.assert_allclose(own, official, rtol=1e-6)
    types = {op.type for op in graph.get_operations()}
    assert ("SparseApplyOwnAdagrad" if sparse else "ApplyOwnAdagrad") in types
    with graph.as_default():
        assert [v.name for v in tf.global_variables()] == ["w:0", "w/OwnAdagrad/accum:0"]


def test_hyperparameters_by_place_name_tensor_and_default():
    @tf.custom.optimizer
    def blended(var, grad, speed, *, learning_rate=0.5, decay=0.0):
        speed = decay * speed + grad
        return var - learning_rate * speed, speed
    rate = tf.placeholder_with_default(0.25, [])
    v = tf.Variable(1.0)
    steps = [blended(0.25).minimize(v), blended(learning_rate=rate).minimize(v), blended(lambda: rate).minimize(v)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i, step in enumerate(steps, 1):
            sess.run(step)
            assert sess.run(v) == 1 - i / 4
    assert blended.__doc__ and blended(0.1).get_name() == "Blended" and issubclass(blended, tf.train.Optimizer)


def test_slots_are_saved(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    opt = own_adagrad()(0.1)
    step = opt.minimize(tf.reduce_sum(v * v))
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        path = saver.save(sess, str(tmp_path / "model"))
        kept = sess.run(opt.get_slot(v, "accum"))
        sess.run(step)
        saver.restore(sess, path)
        assert sess.run(opt.get_slot(v, "accum")).tolist() == kept.tolist()
    assert kept == pytest.approx([4.1, 16.1])


@pytest.mark.parametrize("sparse", [False, True])
def test_a_variable_behind_a_handle(sparse):
    w = ResourceVariable(np.arange(8, dtype="f").reshape(4, 2) / 4 - 1, name="w")
    optimizer = own_adagrad()(learning_rate=0.2)
    step = optimizer.minimize(tf.reduce_sum(tf.square(tf.gather(w, [1, 1, 3]) if sparse else w) * [1.0, 3.0]))
    types = {op.type for op in step.graph.get_operations()}
    assert ("ResourceSparseApplyOwnAdagrad" if sparse else "ResourceApplyOwnAdagrad") in types
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for wanted in trained(own_adagrad()(learning_rate=0.2), sparse)[0]:
            sess.run(step)
            np.testing.assert_allclose(sess.run(w), wanted, rtol=1e-6)


def test_names_of_hyperparameters_and_slots_are_the_users():
    """Those that optimizers and ops have themselves are refused; others don't meet the attributes of the class."""
    @tf.custom.optimizer(name="Named")
    def named(v, g, rule, *, slots=0.5, values=0.25):
        return v - slots * g, rule + values
    v = tf.Variable(1.0)
    optimizer = named()
    assert trained_once(optimizer.minimize(v), v, optimizer.get_slot(v, "rule")) == [0.5, 0.25]
    for taken in (lambda v, g, grad: (v, grad), lambda v, g, *, name: v - g, lambda v, g, *, indices: v - g):
        with pytest.raises(SyntaxError, match="expected slots and hyperparameters that have other names"):
            tf.custom.optimizer(taken, name="Taken")


def trained_once(train, *wanted):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        return sess.run(list(wanted))


def test_faults():
    with pytest.raises(TypeError, match="OwnAdagrad: expected the hyperparameters learning_rate; got none"):
        own_adagrad()()
    with pytest.raises(TypeError, match="got rate"):
        own_adagrad()(rate=3)
    with pytest.raises(SyntaxError, match="expected it to return 2 numbers"):
        tf.custom.optimizer(lambda var, grad, slot: var - grad, name="One")
    with pytest.raises(SyntaxError, match="expected the parameters"):
        tf.custom.optimizer(lambda var: var, name="Two")

    def branches(var, grad):
        if grad > 0:
            return var
        return -var
    with pytest.raises(SyntaxError, match="straight-line") as caught:
        tf.custom.optimizer(branches)
    assert caught.value.lineno == branches.__code__.co_firstlineno + 1

    def adagrad(var, grad):
        return var
    with pytest.raises(ValueError, match="'ApplyAdagrad' is one of TensorFlow's"):
        tf.custom.optimizer(adagrad)
