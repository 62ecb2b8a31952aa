"""tf.layers.batch_normalization and tf.nn.fused_batch_norm: numbers, slopes, averages, names."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options

X = np.random.default_rng(0).normal(2, 3, size=(6, 4, 5, 3)).astype(np.float32)


def session():
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess


@pytest.mark.parametrize("fused", [None, False])
@pytest.mark.parametrize("axis", [-1, 1])
def test_training_normalizes_and_averages(fused, axis):
    x = X if axis == -1 else np.moveaxis(X, -1, 1)
    out = tf.layers.batch_normalization(tf.constant(x), axis, .9, training=True, fused=fused)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    mean, variance = X.mean((0, 1, 2)), X.var((0, 1, 2))
    with session() as sess:
        for n in (1, 2):
            value = sess.run([out, updates])[0]
            np.testing.assert_allclose(value if axis == -1 else np.moveaxis(value, 1, -1),
                                       (X - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)
            kept = variance * (120 / 119 if fused is None else 1)
            moving = sess.run(tf.global_variables()[2:])
            np.testing.assert_allclose(moving[0], mean * (1 - .9 ** n), rtol=1e-4)
            np.testing.assert_allclose(moving[1], .9 ** n + kept * (1 - .9 ** n), rtol=1e-4)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("training, factor", [(True, 1.0), (True, 0.25), (False, 1.0)])
def test_fused_forms_compile_to_what_is_interpreted(data_format, training, factor, monkeypatch):
    image = X * 4 + 50 if data_format == "NHWC" else np.moveaxis(X * 4 + 50, -1, 1)
    numbers = [np.random.RandomState(i).uniform(0.5, 2, 3).astype("f") for i in range(4)]
    found = []
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        tf.reset_default_graph()
        x, scale, offset, mean, variance = fed = [tf.placeholder(tf.float32, a.shape) for a in (image, *numbers)]
        made = tf.nn.fused_batch_norm(x, scale, offset, mean, variance, data_format=data_format, is_training=training,
                                      exponential_avg_factor=factor)
        slopes = tf.gradients(tf.nn.relu(made[0]) * np.random.RandomState(9).rand(*image.shape), [x, scale, offset])
        with tf.Session() as sess:
            fetched = [*made[0].op.outputs, *slopes]
            feeds = dict(zip(fed, (image, *numbers), strict=True))
            assert mode == "never" or all(stage.on_device for stage in sess.plan(fetched, feeds).stages)
            found.append(sess.run(fetched, feeds))
    for interpreted, compiled in zip(*found, strict=True):
        assert interpreted.shape == compiled.shape
        np.testing.assert_allclose(compiled, interpreted, rtol=2e-5, atol=2e-5)


def test_names_are_those_of_release_1_15():
    image = tf.placeholder(tf.float32, [None, 4, 5, 3])
    tf.layers.batch_normalization(image, training=True)
    tf.layers.batch_normalization(image, name="bn", scale=False)
    rows = tf.layers.batch_normalization(tf.placeholder(tf.float32, [None, 3]), training=True)
    assert [v.op.name for v in tf.global_variables()] == [
        *(f"batch_normalization/{n}" for n in ("gamma", "beta", "moving_mean", "moving_variance")),
        *(f"bn/{n}" for n in ("beta", "moving_mean", "moving_variance")),
        *(f"batch_normalization_1/{n}" for n in ("gamma", "beta", "moving_mean", "moving_variance"))]
    assert [v.op.name for v in tf.trainable_variables()] == [
        "batch_normalization/gamma", "batch_normalization/beta", "bn/beta", "batch_normalization_1/gamma",
        "batch_normalization_1/beta"]
    assert [op.name for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS)] == [
        f"batch_normalization{n}/AssignMovingAvg{m}" for n in ("", "_1") for m in ("", "_1")]
    assert tf.get_default_graph().get_operation_by_name("batch_normalization/FusedBatchNormV3")
    assert rows.name == "batch_normalization_1/batchnorm/add_1:0"


@pytest.mark.parametrize("fused", [None, False])
def test_a_placeholder_says_whether_it_is_training(fused):
    training = tf.placeholder(tf.bool, [])
    out = tf.layers.batch_normalization(tf.constant(X), momentum=.5, training=training, fused=fused)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with session() as sess:
        for _ in range(2):
            still = sess.run([out, updates], {training: False})[0]
            np.testing.assert_allclose(still, X / np.sqrt(1.001), rtol=1e-5)
        moved = sess.run([out, updates], {training: True})[0]
        assert abs(moved.mean()) < 1e-4
        np.testing.assert_allclose(sess.run(tf.global_variables()[2]), X.mean((0, 1, 2)) / 2, rtol=1e-4)


@pytest.mark.parametrize("training", [True, False])
def test_slopes_of_the_fused_op_are_those_of_its_parts(training):
    with tf.variable_scope("n", reuse=tf.AUTO_REUSE, initializer=tf.random_uniform_initializer(.5, 2, seed=1)):
        made = [tf.layers.batch_normalization(
            tf.constant(X), training=training, fused=fused, name="bn", gamma_initializer=
            tf.random_uniform_initializer(.5, 2, seed=3)) for fused in (True, False)]
    weights = tf.constant(np.random.default_rng(1).normal(size=X.shape).astype(np.float32))
    inputs = [tf.get_default_graph().get_tensor_by_name(name) for name in ("n/Const:0", "n/Const_1:0")]
    variables = tf.trainable_variables()
    slopes = [tf.gradients(tf.reduce_sum(y * y * weights), [x, *variables])
              for x, y in zip(inputs, made, strict=True)]
    with session() as sess:
        for _ in range(2):
            fused, composed = sess.run(slopes)
            for a, b in zip(fused, composed, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("order", ["NHWC", "NCHW"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.oracle
def test_the_fused_op_is_tensorflows(order, training, oracle):
    if order == "NCHW":
        program = "x = tf.transpose(x, [0, 3, 1, 2])\n"
    else:
        program = ""
    program = ("x, scale, offset = tf.constant(X), tf.constant([1., 2., .5]), tf.constant([0., 1., -1.])\n" + program +
               f"args = dict(data_format={order!r}, is_training={training})\n"
               f"args.update({{}} if {training} else dict(mean=tf.constant([1., 2., 3.]), "
               "variance=tf.constant([1., 4., 9.])))\n"
               "made = tf.nn.fused_batch_norm(x, scale, offset, **args)\n"
               "slopes = tf.gradients(made[0] * made[0] * x, [x, scale, offset])\n"
               "with tf.Session() as sess:\n    result = sess.run([*made, *slopes])\n")
    scope = {"tf": tf, "X": X}
    exec(program, scope)
    if order == "NCHW":                     # TensorFlow has it on GPUs only
        program = program.replace("x = tf.transpose(x, [0, 3, 1, 2])\n", "").replace("NCHW", "NHWC")
    theirs = oracle(program, X=X)
    for ours, their in zip(scope["result"], theirs, strict=True):
        ours = np.moveaxis(ours, 1, -1) if order == "NCHW" and ours.ndim == 4 else ours
        np.testing.assert_allclose(ours, their, rtol=2e-3, atol=2e-3)


def test_renorm_begins_as_plain_normalization_with_corrections():
    out = tf.layers.batch_normalization(tf.constant(X), training=True, renorm=True,
                                        renorm_clipping={"rmax": 1.0, "rmin": 1.0, "dmax": 0.0})
    with session() as sess:
        value = sess.run([out, tf.get_collection(tf.GraphKeys.UPDATE_OPS)])[0]
    mean, variance = X.mean((0, 1, 2)), X.var((0, 1, 2))
    np.testing.assert_allclose(value, (X - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)
    names = [v.op.name.split("/")[1] for v in tf.global_variables()]
    assert names == ["gamma", "beta", "moving_mean", "moving_variance", "moving_stddev", "renorm_mean",
                     "renorm_stddev"]


def test_parts_of_a_batch_are_normalized_on_their_own():
    out = tf.layers.batch_normalization(tf.constant(X), training=True, virtual_batch_size=2)
    with session() as sess:
        value = sess.run(out)
    # Part j holds the examples j, j + 3: the batch is taken apart as (size, parts).
    for j in range(3):
        assert abs(value[j::3].mean((0, 1, 2))).max() < 1e-5


def test_several_axes():
    layer = tf.layers.BatchNormalization([1, 3])
    with session() as sess:
        out = layer(tf.constant(X), training=True)
        sess.run(tf.global_variables_initializer())
        value = sess.run(out)
    assert layer.gamma.shape.as_list() == [1, 4, 1, 3] and abs(value.mean((0, 2))).max() < 1e-5


@pytest.mark.parametrize("make", [
    lambda: tf.layers.batch_normalization(tf.ones([2, 3]), axis=2),
    lambda: tf.layers.batch_normalization(tf.ones([2, 3]), axis=[1, -1]),
    lambda: tf.layers.batch_normalization(tf.placeholder(tf.float32, [2, None])),
    lambda: tf.layers.batch_normalization(tf.placeholder(tf.float32)),
    lambda: tf.layers.batch_normalization(tf.ones([2, 3]), renorm=True, renorm_clipping={"max": 1}),
    lambda: tf.nn.fused_batch_norm(tf.ones([2, 2, 2, 3]), tf.ones([3]), tf.ones([3]), is_training=False),
    lambda: tf.nn.fused_batch_norm(tf.ones([2, 3]), tf.ones([3]), tf.ones([3])),
    lambda: tf.nn.fused_batch_norm(tf.ones([2, 2, 2, 3]), tf.ones([2]), tf.ones([3])),
])
def test_errors(make):
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize("make", [lambda: tf.layers.BatchNormalization(), lambda: tf.layers.Dense(2),
                                  lambda: tf.layers.Conv2D(3, 1), lambda: tf.nn.rnn_cell.BasicRNNCell(4)])
def test_a_layer_that_is_called_again_has_its_variables(make):
    layer = make()
    recurrent = isinstance(layer, tf.nn.rnn_cell.RNNCell)
    xs = [tf.zeros([2, 5]) if recurrent else tf.zeros([2, 4, 4, 3]) for _ in range(2)]
    assert not layer.built
    made = []
    for x in xs:
        layer(x, tf.zeros([2, 4])) if recurrent else layer(x)
        made.append(list(layer.variables))
        assert layer.built and made[-1] == tf.global_variables()
    assert made[0] == made[1] and len(made[0]) >= 2
