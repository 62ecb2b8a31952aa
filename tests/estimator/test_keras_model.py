"""Models of Keras as Estimators: training from the model's weights, evaluation, prediction, export."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

L = tf.keras.layers
X = np.random.RandomState(0).randn(60, 3).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int64)[:, None]


def batches(epochs=None):
    return tf.estimator.inputs.numpy_input_fn({"x": X}, Y, 20, num_epochs=epochs, shuffle=False)


def made(optimizer):
    tf.set_random_seed(1)
    inputs = tf.keras.Input((3,), name="x")
    hidden = L.BatchNormalization()(L.Dense(8, activation="relu")(inputs))
    model = tf.keras.Model(inputs, L.Dense(2, activation="softmax", name="kind")(L.Dropout(0.2)(hidden)))
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


@pytest.mark.parametrize("optimizer", [tf.keras.optimizers.Adam, tf.train.AdamOptimizer])
def test_a_model_is_trained_by_an_estimator(optimizer, tmp_path):
    model = made(optimizer(0.05))
    model.fit(X, Y, verbose=0)                                  # moving means differ from their start
    estimator = tf.keras.estimator.model_to_estimator(
        model, model_dir=str(tmp_path), config=tf.estimator.RunConfig(tf_random_seed=1))
    first = estimator.evaluate(batches(1))
    assert [first["loss"], first["acc"]] == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-4)
    estimator.train(batches(), steps=60)
    assert estimator.evaluate(batches(1))["acc"] > 0.75
    assert next(estimator.predict(batches(1)))["kind"].sum() == pytest.approx(1, rel=1e-5)
    assert {"dense/kernel", "batch_normalization/moving_mean"} <= set(estimator.get_variable_names())
    folder = estimator.export_saved_model(
        str(tmp_path / "export"), tf.estimator.export.build_raw_serving_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [None, 3])}))
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.load(session, ["serve"], folder).signature_def["serving_default"]
        assert session.run(signature.outputs["kind"].name, {signature.inputs["x"].name: X}).shape == (60, 2)
    estimator.train(batches(), steps=5)
    assert estimator.get_variable_value("global_step") == 65


class Subclass(tf.keras.Model):
    def call(self, inputs):
        return inputs


@pytest.mark.parametrize("match, call", [
    ("got neither", lambda make: make()), ("got both", lambda make: make(1, "path")),
    ("not been compiled", lambda make: make(tf.keras.Sequential([L.Dense(1, input_shape=(1,))]))),
    ("subclass", lambda make: make(Subclass())),
    ("format 'saver'", lambda make: make(1, checkpoint_format="checkpoint")),
    (r"\['x'\], got \['y'\]", lambda make: make(made("sgd")).train(
        lambda: ({"y": tf.zeros([1, 3])}, tf.zeros([1])), steps=1)),
    ("expected 1 tensors", lambda make: make(made("sgd")).train(
        lambda: ((tf.zeros([1]),) * 2, tf.zeros([1])), steps=1))])
def test_what_is_refused(match, call):
    with pytest.raises(ValueError, match=match):
        call(tf.keras.estimator.model_to_estimator)
