"""Heads: losses and metrics beside NumPy's, labels and weights of each kind, names as tensorflow_estimator has them."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

LOGITS = np.array([[0.5], [-1.0], [2.0], [0.1]], np.float32)
heads = tf.contrib.estimator


def evaluated(head, logits, labels, features=None, folder="model"):
    """Return the results of an Estimator whose logits are given."""
    def model_fn(features, labels, mode):
        return head.create_estimator_spec(features, mode, tf.constant(logits), labels, train_op_fn=lambda loss: loss.op)
    features = {"x": np.zeros(len(logits), np.float32), **(features or {})}
    found = tf.estimator.Estimator(model_fn, str(folder)).evaluate(
        lambda: tf.data.Dataset.from_tensors((features, labels)))
    return {name: value for name, value in found.items() if name != "global_step"}


def crossed(logits, labels):
    """Sigmoid cross entropies."""
    return np.log1p(np.exp(-logits)) * labels + np.log1p(np.exp(logits)) * (1 - labels)


def test_binary_metrics_with_weights_and_thresholds(tmp_path):
    labels, weights = np.array([1, 0, 1, 0]), np.array([1.0, 2.0, 1.0, 0.0], np.float32)
    head = heads.binary_classification_head("w", thresholds=[0.5, 0.8], loss_reduction=tf.losses.Reduction.SUM)
    found = evaluated(head, LOGITS, labels, {"w": weights}, tmp_path)
    losses, chances = crossed(LOGITS[:, 0], labels), 1 / (1 + np.exp(-LOGITS[:, 0]))
    wanted = {"loss": (losses * weights).sum(), "average_loss": np.average(losses, weights=weights), "accuracy": 1,
              "precision": 1, "recall": 1, "auc": 1, "auc_precision_recall": 1, "label/mean": 0.5,
              "accuracy_baseline": 0.5, "prediction/mean": np.average(chances, weights=weights),
              "accuracy/positive_threshold_0.5": 1, "precision/positive_threshold_0.5": 1,
              "recall/positive_threshold_0.5": 1, "accuracy/positive_threshold_0.8": 0.75,
              "precision/positive_threshold_0.8": 1, "recall/positive_threshold_0.8": 0.5}
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, err_msg=name)


def test_names_as_labels_and_predictions(tmp_path):
    names = ["low", "middle", "high"]
    head = heads.multi_class_head(3, label_vocabulary=names)
    logits = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 4.0]], np.float32)
    found = evaluated(head, logits, np.array([["low"], ["middle"]]), folder=tmp_path)
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(found["loss"], -np.log([chances[0, 0], chances[1, 1]]).mean(), rtol=1e-5)
    assert found["accuracy"] == 0.5 and set(found) == {"accuracy", "loss", "average_loss"}
    spec = head.create_estimator_spec({}, "infer", tf.constant(logits))
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        made = sess.run(spec.predictions)
    np.testing.assert_array_equal(made["classes"], [[b"low"], [b"high"]])
    np.testing.assert_array_equal(made["all_class_ids"], [[0, 1, 2]] * 2)
    np.testing.assert_allclose(made["probabilities"], chances, rtol=1e-5)
    assert set(spec.export_outputs) == {"serving_default", "classification", "predict"}


@pytest.mark.parametrize("head, logits, labels, loss", [
    (heads.regression_head(label_dimension=2), [[1.0, 2.0]], [[2.0, 4.0]], 2.5),
    (heads.poisson_regression_head(compute_full_loss=False), [[0.5]], [[2.0]], np.exp(0.5) - 1),
    (heads.logistic_regression_head(), [[0.5]], [[0.25]], crossed(0.5, 0.25)),
    (heads.multi_label_head(2), [[0.5, -1.0]], [[1, 0]], crossed(np.array([0.5, -1.0]), np.array([1, 0])).mean()),
    (heads.regression_head(loss_fn=lambda labels, logits: tf.abs(labels - logits)), [[1.0]], [[3.0]], 2.0),
])
def test_losses(head, logits, labels, loss, tmp_path):
    found = evaluated(head, np.array(logits, np.float32), np.array(labels), folder=tmp_path)
    np.testing.assert_allclose(found["loss"], loss, rtol=1e-5)
    np.testing.assert_allclose(found["average_loss"], loss, rtol=1e-5)


def test_labels_of_several_classes_may_be_sparse():
    labels = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["b", "a", "c"], [3, 2])
    head = heads.multi_label_head(3, label_vocabulary=["a", "b", "c"])
    with tf.Session() as sess:
        made = head.create_loss({}, "eval", tf.zeros([3, 3]), labels).processed_labels
        sess.run(tf.tables_initializer())
        np.testing.assert_array_equal(sess.run(made), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])


def test_several_heads_of_one_model(tmp_path):
    head = heads.multi_head([heads.binary_classification_head(name="kind"), heads.regression_head(name="price")],
                            head_weights=[1.0, 0.5])
    labels = {"kind": np.array([1, 0]), "price": np.array([1.0, 2.0], np.float32)}
    found = evaluated(head, np.array([[0.0, 1.0], [0.0, 4.0]], np.float32), labels, folder=tmp_path)
    np.testing.assert_allclose(found["loss"], np.log(2) + 0.5 * 2, rtol=1e-5)
    assert {"accuracy/kind", "auc/kind", "average_loss/price", "label/mean/price"} <= set(found)
    spec = head.create_estimator_spec({}, "infer", {"kind": tf.zeros([1, 1]), "price": tf.zeros([1, 1])})
    assert ("kind", "classes") in spec.predictions and {"kind/regression", "price", "serving_default"} <= set(
        spec.export_outputs)


@pytest.mark.parametrize("error, match, call", [
    (ValueError, "n_classes must be > 2", lambda: heads.multi_class_head(2)),
    (ValueError, "thresholds not in", lambda: heads.binary_classification_head(thresholds=[1.5])),
    (ValueError, "Invalid loss_reduction", lambda: heads.regression_head(loss_reduction="all")),
    (ValueError, "different names", lambda: heads.multi_head([heads.regression_head()])),
    (ValueError, "logits shape", lambda: heads.regression_head().create_loss({}, "eval", tf.zeros([2, 3]), [1.0, 2])),
    (ValueError, "Mismatched label shape", lambda: heads.regression_head().create_loss(
        {}, "eval", tf.zeros([2, 1]), tf.zeros([2, 3]))),
    (ValueError, "labels Tensor", lambda: heads.regression_head().create_loss({}, "eval", tf.zeros([2, 1]), None)),
    (ValueError, "not in features", lambda: heads.regression_head("w").create_loss(
        {}, "eval", tf.zeros([2, 1]), tf.zeros([2, 1]))),
    (ValueError, "should be integer", lambda: heads.multi_class_head(3).create_loss(
        {}, "eval", tf.zeros([2, 3]), tf.constant(["a", "b"]))),
    (ValueError, "exactly one of", lambda: heads.regression_head().create_estimator_spec(
        {}, "train", tf.zeros([2, 1]), tf.zeros([2, 1])))])
def test_what_is_refused(error, match, call):
    with pytest.raises(error, match=match):
        call()


def test_classes_out_of_range_are_found_in_a_run():
    labels = tf.placeholder(tf.int32, [None])
    loss = heads.multi_class_head(3).create_loss({}, "eval", tf.zeros([2, 3]), labels).training_loss
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="n_classes - 1"):
        sess.run(loss, {labels: [0, 3]})


def test_gradients_are_clipped_and_features_forwarded(tmp_path):
    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        optimizer = heads.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 0.5)
        return heads.regression_head().create_estimator_spec(
            features, mode, w * features["x"][:, None], labels, optimizer=optimizer)
    data = {"x": np.ones(2, np.float32), "id": np.array([7, 8])}, np.array([9.0, 9.0], np.float32)
    estimator = heads.forward_features(tf.estimator.Estimator(model_fn, str(tmp_path)), "id")
    estimator = heads.add_metrics(estimator, lambda labels, predictions: {
        "error": tf.metrics.mean_absolute_error(labels[:, None], predictions["predictions"])})
    estimator.train(lambda: tf.data.Dataset.from_tensors(data))
    assert estimator.get_variable_value("w") == 0.5
    found = list(estimator.predict(lambda: tf.data.Dataset.from_tensors(data)))
    assert [each["id"] for each in found] == [7, 8] and found[0]["predictions"] == [0.5]
    assert estimator.evaluate(lambda: tf.data.Dataset.from_tensors(data))["error"] == 8.5
