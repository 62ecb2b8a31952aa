"""tf.metrics: values, updates, names of variables and collections beside TensorFlow's, over several runs."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

GIVEN = """
import numpy
rs = numpy.random.RandomState(3)
p, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4])
w = tf.placeholder(tf.float32, [None, 1])
pb, yb, c = p > .5, y > .5, tf.placeholder(tf.int32, [None])
k = tf.placeholder(tf.int32, [None])
one = tf.cast(k, tf.int64)
many = tf.cast(tf.stack([k, 2 * k + 1, -k], 1), tf.int64)
spots = tf.where(tf.equal(many % 2, 0))
sparse = tf.SparseTensor(spots, tf.gather_nd(many, spots), tf.shape(many, out_type=tf.int64))
feeds = [{p: rs.rand(n, 4), y: (rs.rand(n, 4) > .5) * 1., w: rs.rand(n, 1), c: rs.randint(3, size=n),
          k: rs.randint(3, size=n)} for n in (3, 5, 1)]
"""
TAIL = """
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    values = [sess.run(made[0])]
    for feed in feeds:
        values += [sess.run(made[1], feed), sess.run(made[0])]
result = (values, [v.op.name for v in tf.local_variables()], len(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)),
          [t.op.name for t in tf.get_collection("m")], [t.op.name for t in tf.get_collection("u")])
"""
SIMPLE = ["mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "accuracy"]
BOOLS = ["true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall"]
CHANCES = ["true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall"]
CALLS = [*(f"{name}(y, p{more})" for name in SIMPLE for more in ("", ", w", ", 2.")),
         *(f"{name}(yb, pb{more})" for name in BOOLS for more in ("", ", w * tf.ones([1, 4])")),
         *(f"{name}_at_thresholds(yb, p, [.2, .7], w * tf.ones([1, 4]))" for name in CHANCES),
         *(f"auc(yb, p, curve={curve!r}, summation_method={method!r})" for curve in ("ROC", "PR")
           for method in ("trapezoidal", "careful_interpolation", "minoring", "majoring")),
         "auc(yb, p, w, num_thresholds=20)", "auc(yb, p, thresholds=[.3, .6])", "mean(p)", "mean(p, w, name='mine')",
         "mean_relative_error(y, p, y)", "mean_cosine_distance(y, p, 1)", "percentage_below(p, .4, w)",
         "mean_tensor(tf.reduce_sum(p, 0))", "mean_per_class_accuracy(c, k, 3)",
         "sensitivity_at_specificity(yb, p, .6)", "specificity_at_sensitivity(yb, p, .6)", "accuracy(c, k)",
         "accuracy(c[:, None], k)", "mean_iou(c, k, 3)", "mean_iou(c[:, None], k[:, None], 5, w, name='iou')",
         *(f"{name}({labels}, p, 2{more})" for name in ("recall_at_k", "precision_at_k") for labels in (
             "many", "sparse", "one") for more in ("", ", class_id=1", ", weights=w[:, 0]")),
         "recall_at_top_k(many, many[:, :2])", "precision_at_top_k(many, many[:, :2], k=2, name='mine')",
         "sparse_precision_at_k(many, p, 3)", "sparse_average_precision_at_k(many, p, 3)",
         *(f"average_precision_at_k({labels}, p, 3{more})" for labels in ("many", "sparse", "one")
           for more in ("", ", weights=w[:, 0]"))]


@pytest.mark.parametrize("call", CALLS)
def test_values_updates_and_names_are_tensorflows(call, oracle):
    program = GIVEN + f"made = tf.metrics.{call[:-1]}, metrics_collections='m', updates_collections=['u'])" + TAIL
    scope = {"tf": tf}
    exec(program, scope)
    theirs = oracle(program)
    for ours, their in zip(scope["result"][0], theirs[0], strict=True):
        np.testing.assert_allclose(ours, their, rtol=1e-4, atol=1e-6)
    assert scope["result"][1] == [name.replace("/max_1", "/max") for name in theirs[1]]     # 2.21 has an op Max
    assert scope["result"][2] == theirs[2] and len(scope["result"][3]) == len(scope["result"][4]) == 1
    assert scope["result"][4] == theirs[4]


def test_metrics_begin_anew_with_their_variables():
    value, update = tf.metrics.accuracy([1, 2, 3], [1, 2, 4])
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(tf.local_variables_initializer())
            assert sess.run(value) == 0
            np.testing.assert_allclose(sess.run([update, update])[0], 2 / 3)
            np.testing.assert_allclose(sess.run(value), 2 / 3)


@pytest.mark.parametrize("make", [
    lambda: tf.metrics.accuracy([1, 2], [1, 2, 3]), lambda: tf.metrics.auc([True], [.5], curve="ROK"),
    lambda: tf.metrics.auc([True], [.5], summation_method="sum"),
    lambda: tf.metrics.sensitivity_at_specificity([True], [.5], 2.)])
def test_errors(make):
    with pytest.raises(ValueError):
        make()


def test_chances_are_checked():
    chances = tf.placeholder(tf.float32, [2])
    _, update = tf.metrics.auc(tf.constant([1, 0]), chances)       # bools would need no op that waits for the check
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be in"):
            sess.run(update, {chances: [.5, 1.5]})
