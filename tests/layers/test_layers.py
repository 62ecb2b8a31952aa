"""tf.layers: variables, names, sharing, numbers; graphs beside those of TensorFlow's own layers."""
from __future__ import annotations

import copy

import numpy as np
import pytest

import tfnb as tf
from tests.graph_rows import rows_here, rows_there
from tfnb.rnn.linear import linear

# TensorFlow 2.21 keeps the layers of 1.x for its own use. It makes these nodes differently from 1.15: a constant per
# convolution less, a second loss beside each that a scope's regularizer makes; static sizes in Flatten, Dropout and
# transposed convolutions, which are not compared.
THEIRS = """
from types import SimpleNamespace
from tensorflow.python.keras.legacy_tf_layers import base, convolutional, core, pooling
for module in (core, pooling, convolutional, base):
    for key in dir(module):
        if key[0] != '_' and callable(getattr(module, key)):
            globals().setdefault('_all', {}).setdefault(key, getattr(module, key))
layers = SimpleNamespace(**_all)
"""
OURS = "layers = tf.layers\n"

PROGRAMS = {
    "dense": """
x = tf.placeholder(tf.float32, [None, 7])
h = layers.dense(x, 5, activation=tf.nn.relu, kernel_regularizer=tf.nn.l2_loss, bias_regularizer=tf.nn.l2_loss)
h = layers.dense(h, 5, name="out", use_bias=False)
h = layers.dense(h, 5, name="out", use_bias=False, reuse=True)
layer = layers.Dense(3, activity_regularizer=tf.nn.l2_loss)
layer(layer(h[:, :3])[:, :3])
with tf.variable_scope("scope", regularizer=tf.nn.l2_loss, initializer=tf.zeros_initializer()):
    layers.dense(h, 2)
    layers.dense(tf.zeros([2, 3, 5]), 2)
with tf.variable_scope("scope", reuse=True):
    layers.dense(h, 2)
with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
    layers.dense(h, 2, name="twice")
    layers.dense(h, 2, name="twice")
layers.dense(np.ones([2, 3], np.float32), 2)
""",
    "convolutions": """
x = tf.placeholder(tf.float32, [None, 8, 9, 3])
h = layers.conv2d(x, 4, 3, activation=tf.nn.relu, padding="same")
h = layers.max_pooling2d(h, 2, 2)
h = layers.average_pooling2d(h, (2, 1), 1, "same")
h = layers.conv2d(h, 4, [3, 2], strides=2, use_bias=False, name="second")
row = tf.placeholder(tf.float32, [None, 8, 3])
h = layers.conv1d(row, 4, 3)
h = layers.max_pooling1d(h, 2, 2)
h = layers.average_pooling1d(h, 2, 1)
volume = tf.placeholder(tf.float32, [None, 6, 6, 6, 2])
h = layers.conv3d(volume, 4, 3)
h = layers.max_pooling3d(h, 2, 2)
layers.average_pooling3d(h, 2, 1)
layers.separable_conv2d(x, 4, 3, depth_multiplier=2)
layers.separable_conv1d(row, 4, 3, strides=2)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_graphs_are_tensorflows(name, oracle):
    program = PROGRAMS[name].replace("np.", "__import__('numpy').")

    def plain(rows):
        return [row for row in rows if not row[0].endswith("/dilation_rate") and not row[0].startswith("L2Loss")]
    assert plain(rows_here(OURS + program, tf)) == plain(rows_there(THEIRS + program, oracle))


@pytest.mark.parametrize("name", PROGRAMS)
def test_variables_and_losses_are_tensorflows(name, oracle):
    tail = """
result = ([(v.name, v.shape.as_list(), v in tf.trainable_variables()) for v in tf.global_variables()],
          [t.name for t in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)])
"""
    program = PROGRAMS[name].replace("np.", "__import__('numpy').") + tail
    scope = {"tf": tf}
    exec(OURS + program, scope)
    assert scope["result"] == oracle(THEIRS + program)


def values(tensor, feed=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(tensor, feed)


def test_dense_computes():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    layer = tf.layers.Dense(2, activation="relu", kernel_initializer=tf.ones_initializer(), bias_initializer="ones")
    assert values(layer(tf.constant(x))).tolist() == [[4, 4], [13, 13]]
    assert [v.name for v in layer.weights] == ["dense/kernel:0", "dense/bias:0"]
    assert layer.count_params() == 8 and layer.scope_name == "dense" and layer.dtype == "float32"


def test_transposed_convolutions_have_the_sizes_they_say():
    image = tf.ones([2, 4, 5, 3])
    same = tf.layers.conv2d_transpose(image, 2, 3, strides=2, padding="same")
    valid = tf.layers.conv2d_transpose(image, 2, 5, strides=2)
    volume = tf.layers.conv3d_transpose(tf.ones([1, 2, 3, 4, 2]), 3, 2, strides=(1, 2, 3))
    assert same.shape.as_list() == [2, 8, 10, 2] and valid.shape.as_list() == [2, 11, 13, 2]
    assert [v.shape for v in values([same, valid, volume])] == [(2, 8, 10, 2), (2, 11, 13, 2), (1, 3, 6, 12, 3)]


@pytest.mark.parametrize("fn, shape", [("conv2d", [1, 3, 6, 7]), ("conv1d", [1, 3, 6]), ("conv3d", [1, 3, 4, 5, 6]),
                                       ("separable_conv2d", [1, 3, 6, 7]), ("conv2d_transpose", [1, 3, 6, 7])])
def test_channels_first_gives_the_same_numbers(fn, shape):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    make = getattr(tf.layers, fn)
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE, initializer=tf.random_normal_initializer(seed=1)):
        first = make(tf.constant(x), 2, 2, data_format="channels_first", name="c")
        last = make(tf.constant(np.moveaxis(x, 1, -1)), 2, 2, name="c")
    a, b = values([first, last])
    np.testing.assert_allclose(a, np.moveaxis(b, -1, 1), rtol=1e-5, atol=1e-6)


def test_dropout_asks_whether_it_is_training():
    training = tf.placeholder(tf.bool, [])
    x = tf.ones([100, 100])
    out = tf.layers.dropout(x, 0.25, training=training)
    assert values(out, {training: False}).tolist() == np.ones([100, 100]).tolist()
    kept = values(out, {training: True})
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1 / 0.75)} and 0.7 < (kept > 0).mean() < 0.8
    assert tf.layers.dropout(x).op.type == "Identity"
    columns = values(tf.layers.dropout(x, noise_shape=[None, 1], training=True))
    assert all(len(set(row)) == 1 for row in columns.tolist())


def test_flatten():
    x = tf.placeholder(tf.float32, [None, 2, 3, 4])
    flat = tf.layers.flatten(x)
    assert flat.shape.as_list() == [None, 24] and flat.name == "flatten/Reshape:0"
    value = np.arange(24.).reshape(1, 2, 3, 4)
    first = tf.layers.flatten(x, data_format="channels_first")
    assert values(first, {x: value})[0].tolist() == value[0].transpose(1, 2, 0).reshape(-1).tolist()


class Scale(tf.layers.Layer):
    """A layer as programs write them."""

    def build(self, input_shape):
        self.factor = self.add_variable("factor", [int(input_shape[-1])], initializer=tf.ones_initializer())
        self.still = self.add_weight("still", [], trainable=False, initializer=tf.zeros_initializer())
        super().build(input_shape)

    def call(self, inputs):
        self.add_loss(tf.reduce_sum(self.factor))
        self.add_update(tf.assign_add(self.still, 1))
        return inputs * self.factor


def test_users_subclass_layers():
    layer = Scale(name="mine")
    out = layer(tf.ones([2, 3]))
    assert values(out).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert [v.name for v in layer.trainable_variables] == ["mine/factor:0"]
    assert [v.name for v in layer.non_trainable_variables] == ["mine/still:0"]
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == layer.updates
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == layer.losses
    frozen = Scale(trainable=False)
    frozen(tf.ones([1, 3]))
    assert not frozen.trainable_variables and len(frozen.variables) == 2 and frozen.name == "scale_1"


def test_partitioned_kernels_are_one():
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer(), kernel_regularizer=tf.nn.l2_loss)
        out = layer(tf.ones([1, 4]))
    assert values(out).tolist() == [[4, 4]]
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 2


def test_copies_share_nothing_but_tensors():
    layer = tf.layers.Dense(2, kernel_regularizer=tf.nn.l2_loss)
    fresh = copy.deepcopy(layer)
    layer(tf.ones([1, 2]))
    fresh(tf.ones([1, 3]))
    again = copy.deepcopy(layer)
    assert again.kernel is layer.kernel and fresh.kernel is not layer.kernel
    assert fresh.kernel.name == "dense_1/kernel:0"


@pytest.mark.parametrize("make, words", [
    (lambda: tf.layers.dense(tf.ones([3]), 2), "min_ndim=2, found ndim=1"),
    (lambda: tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 2), "last dimension"),
    (lambda: tf.layers.dense(tf.ones([2, 2], tf.int32), 2), "non-floating"),
    (lambda: tf.layers.conv2d(tf.ones([2, 4, 4]), 2, 2), "expected ndim=4, found ndim=3"),
    (lambda: tf.layers.conv2d(tf.ones([2, 4, 4, 1]), 2, [2, 2, 2]), "tuple of 2 integers"),
    (lambda: tf.layers.conv2d(tf.ones([2, 4, 4, 1]), 2, 2, 2, dilation_rate=2), "in conjunction with dilation_rate"),
    (lambda: tf.layers.max_pooling2d(tf.ones([2, 4, 4, 1]), 2, 2, "full"), "padding"),
    (lambda: tf.layers.flatten(tf.ones([2, 2]), data_format="NCHW"), "data_format"),
    (lambda: tf.layers.dense(tf.ones([2, 2]), 2, activation="rleu"), "Unknown activation"),
    (lambda: tf.layers.Dense(2, nonsense=1), "not understood"),
    (lambda: tf.layers.dense(tf.ones([2, 2]), 2, name="a", reuse=True), "does not exist"),
])
def test_errors(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_layers_of_one_name_must_say_that_they_share():
    tf.layers.dense(tf.ones([2, 2]), 2, name="a")
    with pytest.raises(ValueError, match="already exists"):
        tf.layers.dense(tf.ones([2, 2]), 2, name="a")


def test_a_layer_called_with_other_inputs_says_what_it_was_built_for():
    layer = tf.layers.Dense(2)
    layer(tf.ones([2, 3]))
    with pytest.raises(ValueError, match="axis -1 of input shape to have value 3 but received 4"):
        layer(tf.ones([2, 4]))


@pytest.mark.parametrize("sizes", [[3], [3, 5], [2, 2, 2]])
def test_linear_sums_products(sizes):
    """One product with all arguments side by side, of sizes that are none of the batch's."""
    arrays = [np.random.RandomState(i).rand(4, size).astype("f") for i, size in enumerate(sizes)]
    places = [tf.placeholder(tf.float32, [None, size]) for size in sizes]
    y = linear(places if len(places) > 1 else places[0], 7, True, bias_initializer=2.0)
    kernel, bias = tf.trainable_variables()
    assert kernel.shape.as_list() == [sum(sizes), 7] and bias.shape.as_list() == [7]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, w = session.run([y, kernel], dict(zip(places, arrays, strict=True)))
    np.testing.assert_allclose(found, np.concatenate(arrays, 1) @ w + 2.0, rtol=1e-5)


@pytest.mark.parametrize("args, words", [
    ([], "must be specified"), (None, "must be specified"), ([2], "with a known size"),
    ([2, None], "with a known size"), ([2, 3, 4], "with a known size")])
def test_what_linear_refuses(args, words):
    given = tf.placeholder(tf.float32, args) if args else args
    with pytest.raises(ValueError, match=words):
        linear(given, 7, True)
