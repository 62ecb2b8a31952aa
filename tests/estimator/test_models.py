"""The models of tf.estimator in programs of courses; names of variables, predictions and signatures are TensorFlow's.

The names were taken from tensorflow_estimator 2.15, whose models of version 1 are those of TensorFlow 1.15.
"""
from __future__ import annotations

import os

import numpy as np
import pytest

import tfnb as tf

RANDOM = np.random.RandomState(2)
columns = tf.feature_column
CONFIG = tf.estimator.RunConfig(tf_random_seed=1, save_summary_steps=50)


def iris_like(count=90):
    """Flowers of three kinds, by four lengths."""
    kinds = np.arange(count) % 3
    centers = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.5, 2.0]])
    return (centers[kinds] + 0.25 * RANDOM.randn(count, 4)).astype(np.float32), kinds


def batches(features, labels, epochs=None):
    return tf.estimator.inputs.numpy_input_fn(features, labels, 32, num_epochs=epochs, shuffle=epochs is None)


def test_a_deep_classifier_of_flowers_whose_files_tensorflow_reads(tmp_path, oracle):
    x, y = iris_like()
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    features = {name: x[:, i] for i, name in enumerate(names)}
    model = tf.estimator.DNNClassifier([10, 10], [columns.numeric_column(name) for name in names], str(tmp_path),
                                       n_classes=3, config=CONFIG)
    model.train(batches(features, y), steps=150)
    found = model.evaluate(batches(features, y, 1))
    assert found["accuracy"] > 0.6 and set(found) == {"accuracy", "average_loss", "loss", "global_step"}
    assert [name for name in model.get_variable_names() if "bias" in name] == [
        f"dnn/{layer}/bias{slot}" for layer in ("hiddenlayer_0", "hiddenlayer_1", "logits")
        for slot in ("", "/t_0/Adagrad")]
    spec = columns.make_parse_example_spec([columns.numeric_column(name) for name in names])
    folder = model.export_saved_model(str(tmp_path / "export"),
                                      tf.estimator.export.build_parsing_serving_input_receiver_fn(spec))
    examples = [tf.train.Example(features=tf.train.Features(feature={
        name: tf.train.Feature(float_list=tf.train.FloatList(value=[row[i]])) for i, name in enumerate(names)
    })).SerializeToString() for row in x[:5]]
    scores, variables = oracle("""
with tf.Session(graph=tf.Graph()) as sess:
    signature = tf.saved_model.load(sess, ["serve"], folder).signature_def["serving_default"]
    scores = sess.run(signature.outputs["scores"].name, {signature.inputs["inputs"].name: examples})
result = scores, [name for name, _ in tf.train.list_variables(model)]
""", folder=os.fsdecode(folder), examples=examples, model=str(tmp_path))
    ours = [each["probabilities"] for each in model.predict(batches(features, None, 1))][:5]
    np.testing.assert_allclose(scores, ours, rtol=1e-4)
    assert variables == model.get_variable_names()


def census_like(count=200):
    """People: age, hours and job decide whether they earn much."""
    age, hours = RANDOM.randint(18, 70, count), RANDOM.randint(10, 60, count)
    job = RANDOM.choice(["tech", "craft", "sales"], count)
    rich = (age * 0.4 + hours * 0.5 + (job == "tech") * 15 + RANDOM.randn(count) > 45).astype(np.int64)
    return {"age": age.astype(np.float32), "hours": hours.astype(np.float32), "job": job.astype(object)}, rich


def test_a_wide_and_deep_classifier_of_people(tmp_path):
    features, rich = census_like()
    job = columns.categorical_column_with_vocabulary_list("job", ["tech", "craft", "sales"])
    buckets = columns.bucketized_column(columns.numeric_column("age"), [25, 35, 45, 55])
    wide = [job, buckets, columns.crossed_column([buckets, "job"], 50)]
    deep = [columns.numeric_column("hours", normalizer_fn=lambda h: (h - 35.0) / 15.0),
            columns.numeric_column("age", normalizer_fn=lambda a: (a - 45.0) / 15.0),
            columns.indicator_column(job), columns.embedding_column(job, 2)]
    model = tf.estimator.DNNLinearCombinedClassifier(
        str(tmp_path), wide, dnn_feature_columns=deep, dnn_hidden_units=[16, 8], config=CONFIG,
        linear_optimizer=tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001),
        dnn_optimizer=lambda: tf.train.AdamOptimizer(0.02))
    model.train(batches(features, rich), steps=120)
    found = model.evaluate(batches(features, rich, 1))
    assert found["accuracy"] > 0.75 and found["auc"] > 0.8 and found["global_step"] == 120
    assert {"linear/linear_model/age_bucketized_X_job/weights", "linear/linear_model/bias_weights/Ftrl_1",
            "dnn/input_from_feature_columns/input_layer/job_embedding/embedding_weights",
            "dnn/hiddenlayer_1/kernel/Adam_1"} <= set(model.get_variable_names())


def test_linear_models_find_the_weights(tmp_path):
    x = RANDOM.rand(64, 2).astype(np.float32)
    y = x @ np.array([[2.0], [-1.0]], np.float32) + 0.5
    model = tf.estimator.LinearRegressor([columns.numeric_column("x", shape=[2])], str(tmp_path / "r"), config=CONFIG)
    model.train(batches({"x": x}, y), steps=300)
    np.testing.assert_allclose(model.get_variable_value("linear/linear_model/x/weights"), [[2], [-1]], atol=0.1)
    np.testing.assert_allclose(model.get_variable_value("linear/linear_model/bias_weights"), [0.5], atol=0.1)
    text = np.where(y[:, 0] > 1, "high", "low").astype(object)
    classes = tf.estimator.LinearClassifier(
        [columns.bucketized_column(columns.numeric_column(f"x{i}"), [0.25, 0.5, 0.75]) for i in range(2)],
        str(tmp_path / "c"), label_vocabulary=["low", "high"], config=CONFIG, weight_column="w")
    features = {"x0": x[:, 0], "x1": x[:, 1], "w": np.ones(64, np.float32)}
    classes.train(batches(features, text), steps=60)
    assert classes.evaluate(batches(features, text, 1))["accuracy"] > 0.7
    assert next(classes.predict(batches(features, None, 1)))["classes"][0] in (b"low", b"high")


def test_dropout_and_normalization_are_for_training(tmp_path):
    x, y = iris_like(60)
    model = tf.estimator.DNNRegressor([8], [columns.numeric_column("x", shape=[4])], str(tmp_path), dropout=0.5,
                                      batch_norm=True, config=CONFIG, optimizer=tf.train.AdamOptimizer(0.05))
    model.train(batches({"x": x}, y.astype(np.float32)), steps=5)
    first, second = ([each["predictions"][0] for each in model.predict(batches({"x": x}, None, 1))] for _ in range(2))
    assert first == second and model.get_variable_value("dnn/hiddenlayer_0/batchnorm_0/moving_mean").any()


@pytest.mark.parametrize("error, match, call", [
    (ValueError, "must be defined", lambda: tf.estimator.DNNLinearCombinedRegressor()),
    (ValueError, "dnn_hidden_units", lambda: tf.estimator.DNNLinearCombinedClassifier(
        dnn_feature_columns=[columns.numeric_column("x")])),
    (ValueError, "feature_columns", lambda: tf.estimator.LinearClassifier([])),
    (ValueError, "Unsupported optimizer name", lambda: tf.estimator.BaselineRegressor("m", optimizer="Best").train(
        batches({"x": np.zeros(3)}, np.zeros(3)), steps=1)),
    (ValueError, "dictionary", lambda: tf.estimator.LinearRegressor([columns.numeric_column("x")], "m").train(
        batches(np.zeros(3), np.zeros(3)), steps=1))])
def test_what_is_refused(error, match, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=match):
        call()
