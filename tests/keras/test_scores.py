"""Losses, metrics, activations, constraints and regularizers beside Keras 3 of real TensorFlow, and what is 1.15's."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

RANDOM = np.random.default_rng(7)
SCORES = RANDOM.uniform(0.05, 0.95, (6, 4)).astype(np.float32)
SHARES = (SCORES / SCORES.sum(1, keepdims=True)).astype(np.float32)
ONE_HOT = np.eye(4, dtype=np.float32)[[0, 3, 1, 1, 2, 0]]
BITS = RANDOM.integers(0, 2, (6, 4)).astype(np.float32)
CLASSES = np.array([0, 3, 1, 1, 2, 0], np.int32)
WEIGHTS = np.array([0.5, 1, 2, 0, 1, 3], np.float32)
# (class, arguments, y_true, y_pred)
LOSSES = [
    *[(name, {}, BITS, SCORES) for name in (
        "MeanSquaredError", "MeanAbsoluteError", "MeanSquaredLogarithmicError", "BinaryCrossentropy", "Hinge",
        "SquaredHinge", "Poisson", "LogCosh", "CosineSimilarity")],
    ("MeanAbsolutePercentageError", {}, SCORES, SHARES), ("KLDivergence", {}, ONE_HOT, SHARES),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, BITS, SCORES),
    ("CategoricalCrossentropy", {}, ONE_HOT, SHARES), ("CategoricalHinge", {}, ONE_HOT, SHARES),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.2}, ONE_HOT, SCORES),
    ("SparseCategoricalCrossentropy", {}, CLASSES, SHARES), ("Huber", {"delta": 0.3}, BITS, SCORES),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, CLASSES, SCORES),
    ("MeanSquaredError", {"reduction": "sum"}, BITS, SCORES), ("Hinge", {"reduction": "none"}, BITS, SCORES)]
METRICS = [
    *[(name, {}, BITS, SCORES) for name in (
        "BinaryAccuracy", "MeanSquaredError", "MeanAbsoluteError", "MeanSquaredLogarithmicError",
        "RootMeanSquaredError", "BinaryCrossentropy", "Hinge", "SquaredHinge", "Poisson", "LogCoshError",
        "CosineSimilarity", "TruePositives", "FalseNegatives", "Precision", "Recall")],
    ("Accuracy", {}, CLASSES, CLASSES[::-1].copy()), ("BinaryAccuracy", {"threshold": 0.3}, BITS, SCORES),
    ("CategoricalAccuracy", {}, ONE_HOT, SHARES), ("SparseCategoricalAccuracy", {}, CLASSES, SHARES),
    ("TopKCategoricalAccuracy", {"k": 2}, ONE_HOT, SHARES), ("KLDivergence", {}, ONE_HOT, SHARES),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, CLASSES, SHARES), ("CategoricalHinge", {}, ONE_HOT, SHARES),
    ("CategoricalCrossentropy", {}, ONE_HOT, SHARES), ("SparseCategoricalCrossentropy", {}, CLASSES, SHARES),
    ("MeanAbsolutePercentageError", {}, SCORES, SHARES),
    ("FalsePositives", {"thresholds": [0.2, 0.6]}, BITS, SCORES),
    ("TrueNegatives", {"thresholds": [0.2, 0.6]}, BITS, SCORES), ("Precision", {"top_k": 2}, BITS, SCORES),
    ("Recall", {"class_id": 1, "thresholds": [0.3, 0.5]}, BITS, SCORES), ("AUC", {}, BITS, SCORES),
    ("AUC", {"curve": "PR", "num_thresholds": 20}, BITS, SCORES),
    ("AUC", {"curve": "PR", "summation_method": "minoring"}, BITS, SCORES),
    ("AUC", {"thresholds": [0.2, 0.5, 0.7], "summation_method": "majoring"}, BITS, SCORES)]
FLAT = {"AUC", "Precision", "Recall", "TruePositives", "FalseNegatives", "FalsePositives", "TrueNegatives"}
ASK = """
import keras
from tensorflow.python.eager import context
result = []
with context.eager_mode():
    for kind, cases in (("losses", losses), ("metrics", metrics)):
        for name, arguments, y_true, y_pred in cases:
            given = dict(arguments)
            if given.get("reduction") == "none":
                given["reduction"] = None
            for weights in (None, weight):
                made = getattr(getattr(keras, kind), name)(**given)
                if kind == "losses":
                    result.append(np.array(made(y_true, y_pred, weights)))
                    continue
                for part in (slice(0, 3), slice(3, 6)):
                    w = None if weights is None else weights[part]
                    if w is not None and name in flat and y_pred.ndim > 1:
                        w = np.repeat(w[:, None], y_pred.shape[1], 1)
                        if "class_id" in given:
                            w = w[:, 0]
                    made.update_state(y_true[part], y_pred[part], w)
                result.append(np.array(made.result()))
"""


def ours() -> list[np.ndarray]:
    """Return each loss and metric without and with weights, a metric after two batches."""
    found = []
    for kind, cases in (("losses", LOSSES), ("metrics", METRICS)):
        for name, arguments, y_true, y_pred in cases:
            for weights in (None, WEIGHTS):
                with tf.Graph().as_default(), tf.Session():
                    made = getattr(getattr(tf.keras, kind), name)(**arguments)
                    if kind == "losses":
                        found.append(tf.keras.backend.eval(made(y_true, y_pred, weights)))
                        continue
                    for part in (slice(0, 3), slice(3, 6)):
                        w = None if weights is None else weights[part]
                        if w is not None and name in FLAT and y_pred.ndim > 1 and "class_id" not in arguments:
                            w = np.repeat(w[:, None], y_pred.shape[1], 1)
                        update = made.update_state(y_true[part], y_pred[part], w)
                        tf.keras.backend.get_session().run(update)
                    found.append(tf.keras.backend.eval(made.result()))
    return found


@pytest.mark.slow
def test_losses_and_metrics_are_those_of_keras(oracle):
    theirs = oracle(ASK, losses=LOSSES, metrics=METRICS, weight=WEIGHTS, flat=FLAT)
    names = [f"{name} {arguments} {weights}" for name, arguments, *_ in LOSSES + METRICS for weights in ("", "weights")]
    found = ours()
    assert len(found) == len(theirs) == len(names) == 2 * (len(LOSSES) + len(METRICS))
    different = {name: (a, b) for name, a, b in zip(names, found, theirs, strict=True)
                 if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=2e-4, atol=2e-5)}
    assert different == {}


def test_probabilities_of_a_softmax_count_by_their_logits():
    logits = tf.constant([[200.0, 0.0]])
    for loss, truth in ((tf.keras.losses.categorical_crossentropy, [[0.0, 1.0]]),
                        (tf.keras.losses.sparse_categorical_crossentropy, [1])):
        with tf.Session() as session:
            assert session.run(loss(tf.constant(truth), tf.nn.softmax(logits))) == pytest.approx([200.0])
    with tf.Session() as session:
        found = session.run(tf.keras.losses.binary_crossentropy(tf.constant([[0.0]]), tf.sigmoid([[100.0]])))
        assert found == pytest.approx([100.0])


def test_a_metric_of_the_program_may_return_no_op():
    class Count(tf.keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="count")
            self.n = self.add_weight("n", initializer="zeros")

        def update_state(self, values, sample_weight=None):
            self.n.assign_add(tf.reduce_sum(values))

        def result(self):
            return tf.identity(self.n)
    with tf.Graph().as_default(), tf.Session() as session:
        metric = Count()
        value = metric(tf.constant([1.0, 2.0]))
        tf.keras.backend.get_session()
        assert [session.run(value), session.run(value)] == [3.0, 6.0]
        metric.reset_states()
        assert session.run(metric.result()) == 0


def test_predictions_outside_of_zero_and_one_are_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        scores = tf.placeholder(tf.float32, [2])
        value = tf.keras.metrics.AUC()([0.0, 1.0], scores)
        tf.keras.backend.get_session()
        with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be <= 1"):
            session.run(value, {scores: [0.5, 1.5]})


def test_rates_where_another_one_is_nearest():
    """1.15 takes the nearest threshold; later releases the best one beyond."""
    thresholds = np.array([0.0, *[(i + 1) / 199 for i in range(198)], 1.0])
    positive = SCORES.ravel()[None] > thresholds[:, None]
    truth = BITS.ravel().astype(bool)
    sensitivity, specificity = positive[:, truth].mean(1), (~positive[:, ~truth]).mean(1)
    for name, known, wanted in (("SensitivityAtSpecificity", specificity, sensitivity),
                                ("SpecificityAtSensitivity", sensitivity, specificity)):
        with tf.Graph().as_default(), tf.Session() as session:
            value = getattr(tf.keras.metrics, name)(0.5)(BITS, SCORES)
            tf.keras.backend.get_session()
            assert session.run(value) == pytest.approx(wanted[np.argmin(abs(known - 0.5))])


@pytest.mark.parametrize("module, make", [
    ("losses", lambda m: m.Huber(delta=0.5)), ("losses", lambda m: m.CategoricalCrossentropy(label_smoothing=0.1)),
    ("metrics", lambda m: m.AUC(num_thresholds=5, curve="PR")), ("metrics", lambda m: m.Recall(thresholds=[0.1, 0.2])),
    ("metrics", lambda m: m.MeanIoU(3)), ("metrics", lambda m: m.TopKCategoricalAccuracy(k=2, name="top")),
    ("initializers", lambda m: m.RandomNormal(stddev=2.0, seed=3)), ("initializers", lambda m: m.Constant(3.0)),
    ("regularizers", lambda m: m.l1_l2(0.1, 0.2)), ("constraints", lambda m: m.MinMaxNorm(0.1, 0.9, 0.5, axis=1))])
def test_configs_come_back(module, make):
    module = getattr(tf.keras, module)
    one = make(module)
    again = module.deserialize(module.serialize(one))
    assert type(again) is type(one) and again.get_config() == one.get_config()
    assert module.get(module.serialize(one)).get_config() == one.get_config()


@pytest.mark.parametrize("module", ["losses", "metrics", "activations", "initializers", "regularizers", "constraints"])
def test_unknown_names_are_refused(module):
    with pytest.raises(ValueError, match="nonesuch"):
        getattr(tf.keras, module).get("nonesuch")


def test_names_of_initializers_are_those_of_1_15():
    get, serialize = tf.keras.initializers.get, tf.keras.initializers.serialize
    assert serialize(get("glorot_uniform")) == {"class_name": "GlorotUniform",
                                                "config": {"seed": None, "dtype": "float32"}}
    assert serialize(get("he_normal")) == {"class_name": "VarianceScaling", "config": {
        "scale": 2.0, "mode": "fan_in", "distribution": "truncated_normal", "seed": None, "dtype": "float32"}}
    assert serialize(tf.random_normal_initializer(stddev=2.0))["class_name"] == "RandomNormal"
    assert get("uniform").get_config() == {"minval": -0.05, "maxval": 0.05, "seed": None, "dtype": "float32"}
