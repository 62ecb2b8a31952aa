"""tf.contrib.layers, framework, slim, rnn and learn: names, collections, numbers."""
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tfnb as tf

layers, framework, slim = tf.contrib.layers, tf.contrib.framework, tf.contrib.slim


def session():
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess


def test_a_network_of_slim_has_the_names_of_release_1_15():
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(.1),
                        normalizer_fn=slim.batch_norm, normalizer_params={"is_training": True}):
        h = slim.repeat(slim.conv2d(x, 4, 3, scope="c1"), 2, slim.conv2d, 4, [3, 3], scope="c2")
        h = slim.fully_connected(slim.dropout(slim.flatten(slim.max_pool2d(h, 2, scope="p")), .5), 5)
    h = slim.separable_conv2d(x, 4, 3, activation_fn=None)
    slim.separable_conv2d(h, None, 3)
    slim.conv2d_transpose(h, 2, 3, 2)
    names = [v.op.name for v in tf.global_variables()]
    norm = ("BatchNorm/beta", "BatchNorm/moving_mean", "BatchNorm/moving_variance")
    assert names == [f"{scope}/{n}" for scope in ("c1", "c2/c2_1", "c2/c2_2", "fully_connected")
                     for n in ("weights", *norm)] + [
        f"SeparableConv2d/{n}" for n in ("depthwise_weights", "pointwise_weights", "biases")] + [
        "SeparableConv2d_1/depthwise_weights", "SeparableConv2d_1/biases", "Conv2d_transpose/weights",
        "Conv2d_transpose/biases"]
    assert [t.op.name for t in tf.losses.get_regularization_losses()] == [
        f"{scope}/kernel/Regularizer/l2_regularizer" for scope in ("c1", "c2/c2_1", "c2/c2_2", "fully_connected")]
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 8 and tf.model_variables() == tf.global_variables()
    graph = tf.get_default_graph()
    for name in ("c1/Conv2D", "c1/Relu", "p/MaxPool", "Flatten/flatten/Reshape", "fully_connected/Relu"):
        graph.get_operation_by_name(name)


def test_collections_and_scopes():
    x = tf.ones([2, 3])
    out = layers.fully_connected(x, 4, scope="f", variables_collections={"weights": ["w"]}, outputs_collections="o")
    layers.linear(x, 4, scope="f2", variables_collections=["all"])
    assert tf.get_collection("o") == [out] and [v.op.name for v in tf.get_collection("w")] == ["f/weights"]
    assert [v.op.name for v in tf.get_collection("all")] == ["f2/weights", "f2/biases"]
    layers.fully_connected(x, 4, scope="f", reuse=True)
    assert len(tf.global_variables()) == 4


def test_updates_may_run_with_the_output():
    x = np.random.default_rng(0).normal(3, 2, (50, 4)).astype(np.float32)
    out = layers.batch_norm(tf.constant(x), decay=.5, updates_collections=None)
    with session() as sess:
        value = sess.run(out)
        assert abs(value.mean(0)).max() < 1e-5
        np.testing.assert_allclose(sess.run(slim.get_variables_by_name("moving_mean")[0]), x.mean(0) / 2, rtol=1e-4)
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)


def test_initializers_have_their_variances():
    tf.set_random_seed(1)
    with tf.Session() as sess:
        uniform = sess.run(layers.xavier_initializer()([300, 200]))
        normal = sess.run(layers.xavier_initializer(uniform=False)([300, 200]))
        scaled = sess.run(layers.variance_scaling_initializer()([300, 200]))
    assert abs(uniform).max() <= np.sqrt(6 / 500)
    np.testing.assert_allclose([uniform.var(), scaled.var()], [2 / 500, 2 / 300], rtol=.05)
    np.testing.assert_allclose(normal.var(), 2 / 500 * 1.3 * .774, rtol=.05)
    with pytest.raises(TypeError):
        layers.xavier_initializer(dtype=tf.int32)


def test_regularizers():
    w = tf.constant([1., -2.])
    with tf.Session() as sess:
        both = layers.l1_l2_regularizer(.5, .5)
        assert sess.run([layers.l1_regularizer(.5)(w), layers.l2_regularizer(.5)(w), both(w)]) == [1.5, 1.25, 2.75]
        total = layers.apply_regularization(both, [w, w])
        assert sess.run(total) == 5.5 and tf.losses.get_regularization_losses() == [total]
    assert layers.l2_regularizer(0.0)(w) is None and layers.sum_regularizer([None]) is None
    for scale in (1, -1.0):
        with pytest.raises(ValueError):
            layers.l2_regularizer(scale)
    with pytest.raises(ValueError, match="No weights"):
        layers.apply_regularization(both)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "Momentum", tf.train.AdagradOptimizer,
                                       tf.train.RMSPropOptimizer(.1), lambda rate: tf.train.FtrlOptimizer(rate)])
def test_optimize_loss_trains(optimizer):
    w = tf.Variable([3., -2.])
    step = framework.get_or_create_global_step()
    loss = layers.optimize_loss(tf.reduce_sum(w * w), step, .1, optimizer, clip_gradients=1.0,
                                learning_rate_decay_fn=lambda rate, n: tf.train.exponential_decay(rate, n, 10, .9))
    with session() as sess:
        losses = [sess.run(loss) for _ in range(5)]
        assert losses == sorted(losses, reverse=True) and sess.run(step) == 5


def test_optimize_loss_checks_its_arguments():
    loss = tf.reduce_sum(tf.Variable([1.]))
    for rate, optimizer in ((None, "SGD"), (-1., "SGD"), (.1, "Newton"), (.1, lambda rate: 3)):
        with pytest.raises(ValueError):
            layers.optimize_loss(loss, None, rate, optimizer)


def test_variables_are_found_and_restored(tmp_path):
    with tf.variable_scope("a"):
        first = framework.model_variable("w", [2], initializer=tf.ones_initializer())
    second = framework.variable("b/w", [2], initializer=tf.zeros_initializer())
    assert framework.get_variables("a") == [first] and framework.get_variables_by_name("w") == [first, second]
    assert slim.get_variables_to_restore(exclude=["a"]) == [second] and slim.get_model_variables() == [first]
    assert framework.get_unique_variable("b/w") is second
    with session() as sess:
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
        sess.run(tf.assign(first, [5., 6.]))
        op, feeds = framework.assign_from_checkpoint(path, {"b/w": first})
        sess.run(op, feeds)
        assert sess.run(first).tolist() == [0, 0]
        slim.assign_from_checkpoint_fn(path, [first])(sess)
        assert sess.run(first).tolist() == [1, 1]
    with pytest.raises(ValueError, match="missing variable"):
        framework.assign_from_checkpoint(path, {"c": first})
    assert framework.load_variable(path, "a/w").tolist() == [1, 1]


def test_arg_scopes_nest_and_come_back():
    @framework.add_arg_scope
    def f(a, b=1, c=2):
        return a, b, c
    with framework.arg_scope([f], b=5) as outer:
        with framework.arg_scope([f], c=6):
            assert f(0) == (0, 5, 6) and f(0, b=7) == (0, 7, 6)
        assert f(0) == (0, 5, 2)
    assert f(0) == (0, 1, 2)
    with framework.arg_scope(outer):
        assert f(0) == (0, 5, 2)
    with pytest.raises(ValueError, match="not decorated"), framework.arg_scope([len], b=1):
        pass
    with pytest.raises(TypeError), framework.arg_scope(f, b=1):
        pass


def test_small_ones():
    with session() as sess:
        assert sess.run(layers.one_hot_encoding([1, 0], 2)).tolist() == [[0, 1], [1, 0]]
        np.testing.assert_allclose(sess.run(layers.unit_norm(tf.constant([[3., 4.]]), 1)), [[.6, .8]], rtol=1e-5)
        table = layers.embed_sequence([[1, 2], [0, 1]], 5, 3)
        sess.run(tf.global_variables_initializer())
        assert sess.run(table).shape == (2, 2, 3)
    out = layers.stack(tf.ones([1, 2]), layers.fully_connected, [3, 4], scope="s")
    assert out.shape.as_list() == [1, 4] and tf.trainable_variables()[-1].op.name == "s/s_2/biases"


PROGRAM = """
import tfnb; tfnb.install_as_tensorflow()
import tensorflow as tf
from tensorflow.contrib import rnn
import tensorflow.contrib.slim as slim
import tensorflow.contrib.layers as layers
from tensorflow.contrib.layers import xavier_initializer, l2_regularizer
from tensorflow.contrib.framework import arg_scope
from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets
from tensorflow.examples.tutorials.mnist import input_data
from tensorflow.python.ops import rnn_cell, rnn as rnn_ops
assert rnn.BasicLSTMCell is tf.nn.rnn_cell.BasicLSTMCell is rnn_cell.BasicLSTMCell is tf.contrib.rnn.BasicLSTMCell
assert rnn.static_rnn is tf.nn.static_rnn is rnn_ops.static_rnn and read_data_sets is input_data.read_data_sets
assert tf.contrib.learn.datasets.mnist.read_data_sets is read_data_sets
assert slim.conv2d is layers.conv2d is tf.contrib.slim.layers.conv2d and slim.arg_scope is arg_scope
tf.layers.dense(tf.ones([2, 2]), 3); tf.losses.mean_squared_error(tf.ones([2]), tf.ones([2]))
"""


@pytest.mark.slow
def test_the_imports_of_programs():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_variables_by_scope_and_suffix():
    with tf.variable_scope("a") as scope:
        w, b = framework.model_variable("w", [1]), framework.variable("b", [1])
        local = framework.local_variable(0.0, name="l")
    other = framework.variable("other/w", [1], trainable=False)
    assert framework.get_variables(scope) == framework.get_variables("a") == [w, b]
    assert framework.get_variables() == [w, b, other] and framework.get_variables(suffix="w") == [w, other]
    assert framework.get_variables(scope, "w") == [w] == framework.get_variables("a", "w:0")
    assert framework.get_variables("a", "x") == [] and framework.get_model_variables(scope) == [w]
    assert framework.get_local_variables("a") == [local] and framework.get_trainable_variables() == [w, b]


@pytest.mark.parametrize("make, size", [
    (lambda x: layers.max_pool2d(x, 2), 4), (lambda x: layers.avg_pool2d(x, 2), 4),
    (lambda x: layers.max_pool2d(x, 3), 3),
    (lambda x: layers.max_pool2d(x, 2, 1), 7), (lambda x: layers.max_pool2d(x, 3, padding="SAME"), 4),
    (lambda x: layers.conv2d(x, 3, 3), 8), (lambda x: layers.conv2d(x, 3, 3, 2), 4),
    (lambda x: layers.conv2d(x, 3, 3, padding="VALID"), 6), (lambda x: layers.separable_conv2d(x, 3, 3, 1), 8),
    (lambda x: layers.conv2d_transpose(x, 3, 3), 8), (lambda x: layers.conv2d_transpose(x, 3, 3, 2), 16)])
@pytest.mark.parametrize("order", ["NHWC", "NCHW"])
def test_sizes_by_default(make, size, order):
    with framework.arg_scope([layers.max_pool2d, layers.avg_pool2d, layers.conv2d, layers.separable_conv2d,
                              layers.conv2d_transpose], data_format=order):
        found = make(tf.zeros([2, 8, 8, 3] if order == "NHWC" else [2, 3, 8, 8])).shape.as_list()
    assert found == ([2, size, size, 3] if order == "NHWC" else [2, 3, size, size])


def test_outputs_are_collected_under_their_scopes():
    x = tf.ones([2, 4, 4, 3])
    made = {
        "flat": layers.flatten(x, "seen", "flat"),
        "pool": layers.max_pool2d(x, 2, outputs_collections="seen", scope="pool"),
        "full": layers.fully_connected(x, 5, outputs_collections="seen", scope="full"),
        "drop": layers.dropout(x, outputs_collections="seen", scope="drop"),
        "bias": layers.bias_add(x, outputs_collections="seen", scope="bias")}
    assert tf.get_collection("seen") == list(made.values())
    assert made["flat"].shape.as_list() == [2, 48]


@pytest.mark.parametrize("order, channels", [("NHWC", 3), ("NCHW", 4)])
def test_a_bias_for_each_channel(order, channels):
    x = tf.ones([2, 4, 5, 3])
    y = layers.bias_add(x, tf.negative, tf.constant_initializer(2.0), data_format=order,
                        regularizer=layers.l2_regularizer(0.5), variables_collections={"biases": ["mine"]})
    biases, = tf.get_collection("mine")
    assert biases.op.name == "BiasAdd/biases" and biases.shape.as_list() == [channels]
    assert biases in tf.trainable_variables() and len(tf.losses.get_regularization_losses()) == 1
    with session() as sess:
        assert (sess.run(y) == -3.0).all() and sess.run(tf.losses.get_regularization_loss()) == channels
    layers.bias_add(x, trainable=False, scope="fixed")
    assert tf.trainable_variables() == [biases] and len(tf.model_variables()) == 2


def test_dropout_keeps_half_while_it_is_training():
    x, training = tf.ones([1000]), tf.placeholder(tf.bool, [])
    given = [layers.dropout(x, seed=1), layers.dropout(x, 0.25, is_training=training, seed=1),
             layers.dropout(x, is_training=False)]
    with session() as sess:
        half, quarter, same = sess.run(given, {training: True})
        assert set(half) == {0.0, 2.0} and 400 < np.count_nonzero(half) < 600
        assert set(quarter) == {0.0, 4.0} and 200 < np.count_nonzero(quarter) < 300 and (same == 1.0).all()
        assert (sess.run(given[1], {training: False}) == 1.0).all()
