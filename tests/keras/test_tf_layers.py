"""Layers of tf.layers in models of Keras: on inputs, in a Sequential, as attributes of a subclass."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

K = tf.keras.backend
RANDOM = np.random.RandomState(3)
X = RANDOM.randn(96, 4)
Y = (X @ [1.0, -2.0, 0.5, 0] > 0).astype(int)


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    K.clear_session()
    tf.set_random_seed(2)
    yield
    K.clear_session()


def functional():
    inputs = tf.keras.Input((4,))
    hidden = tf.layers.dense(inputs, 8, name="hidden", kernel_regularizer=tf.keras.regularizers.l2(1e-3))
    hidden = tf.nn.relu(tf.layers.BatchNormalization(momentum=0.5, name="norm")(hidden, training=K.learning_phase()))
    hidden = tf.layers.Dropout(0.1)(hidden, training=K.learning_phase())
    return tf.keras.Model(inputs, tf.keras.layers.Dense(2, activation="softmax")(hidden))


def sequential():
    return tf.keras.Sequential([
        tf.layers.Dense(8, activation=tf.nn.relu, input_shape=(4,), name="hidden"), tf.layers.Dropout(0.1),
        tf.layers.Dense(2, activation=tf.nn.softmax)])


class Subclass(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.norm = tf.layers.Dense(8, tf.nn.relu), tf.layers.BatchNormalization(momentum=0.5)
        self.classes = tf.keras.layers.Dense(2, activation="softmax")

    def call(self, inputs, training=None):
        return self.classes(self.norm(self.hidden(inputs), training=training))


@pytest.mark.parametrize("make", [functional, sequential, Subclass])
def test_a_model_trains_and_restores(make):
    model = make()
    model.compile(tf.train.AdamOptimizer(0.05), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(X, Y, epochs=15, verbose=0)
    assert model.evaluate(X, Y, verbose=0)[1] > 0.85
    before = model.predict(X)
    assert len(model.weights) == {functional: 8, sequential: 4, Subclass: 8}[make]
    model.save_weights("weights")
    if make is not Subclass:
        pytest.importorskip("h5py")
        model.save_weights("weights.h5")
    for path in ("weights", "weights.h5")[:1 + (make is not Subclass)]:
        model.set_weights([np.zeros(w.shape) for w in model.get_weights()])
        model.load_weights(path)
        np.testing.assert_allclose(model.predict(X), before, rtol=1e-5, atol=1e-6)


def test_names_calls_and_phases_are_those_of_keras(caplog):
    model = functional()
    assert [v.name for v in model.weights][:2] == ["hidden/kernel:0", "hidden/bias:0"]
    assert [layer.name for layer in model.layers][:3] == ["input_1", "hidden", "norm"]
    assert len(model.losses) == 1 and len(model.updates) == 2
    dense = model.get_layer("hidden")
    assert dense.units == 8 and dense.output_shape == (None, 8) and dense.input is model.inputs[0]
    dense.trainable = False
    assert len(model.trainable_weights) == 4
    lines = []
    model.summary(print_fn=lines.append)
    assert any("hidden" in line and "40" in line for line in lines)
    with pytest.raises(NotImplementedError, match=r"Layer 'hidden' is tf.layers.Dense.*use tf.keras.layers.Dense"):
        model.to_json()
    inputs = tf.keras.Input((50,))
    dropped, kept = tf.layers.Dropout(0.5)(inputs, training=None), tf.layers.Dropout(0.5, name="late")(inputs)
    assert "Layer 'late' is tf.layers.Dropout, which computes with training=False" in caplog.text
    test, train = (K.get_session().run([dropped, kept], {inputs: np.ones([4, 50]), K.learning_phase(): phase})
                   for phase in (False, True))
    assert (test[0] == 1).all() and (train[0] == 0).any() and (train[1] == 1).all()


def test_a_shared_layer_has_one_pair_of_variables():
    dense, first, second = tf.layers.Dense(3), tf.keras.Input((4,)), tf.keras.Input((4,))
    model = tf.keras.Model([first, second], tf.keras.layers.add([dense(first), dense(second)]))
    assert len(model.weights) == 2 and [v.name for v in tf.global_variables()] == ["dense/kernel:0", "dense/bias:0"]
    np.testing.assert_allclose(model.predict([X, X]), 2 * (X @ K.get_value(dense.kernel)), rtol=1e-4, atol=1e-5)


def test_checkpoints_of_objects_know_them(tmp_path):
    dense = tf.layers.Dense(3)
    y = dense(tf.ones([1, 4]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(layer=dense).save(str(tmp_path / "c"), session=sess)
        before = sess.run(y)
        sess.run(dense.kernel.assign(tf.zeros([4, 3])))
        tf.train.Checkpoint(layer=dense).restore(path).run_restore_ops(sess)
        np.testing.assert_array_equal(sess.run(y), before)
    assert "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
