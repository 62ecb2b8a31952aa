"""tf.contrib.metrics: the names of tf.metrics with predictions first, and what it has beside them."""
from __future__ import annotations

import numpy as np

import tfnb as tf

RANDOM = np.random.RandomState(5)


def fed(make, *batches):
    """Return the value of a metric of placeholders after some batches, and that of its last update."""
    with tf.Graph().as_default(), tf.Session() as sess:
        places = [tf.placeholder(tf.float32, [None]) for _ in batches[0]]
        value, update = make(*places)
        sess.run(tf.local_variables_initializer())
        for batch in batches:
            last = sess.run(update, dict(zip(places, batch, strict=True)))
        np.testing.assert_allclose(sess.run(value), last, rtol=1e-5)
    return last


def test_covariance_and_correlation_over_batches_are_numpys():
    batches = [tuple(RANDOM.rand(3, n).astype(np.float32)) for n in (4, 1, 6)]
    x, y, w = (np.concatenate(each) for each in zip(*batches, strict=True))
    metrics = tf.contrib.metrics
    np.testing.assert_allclose(fed(lambda x, y, w: metrics.streaming_covariance(x, y), *batches), np.cov(x, y)[0, 1],
                               rtol=1e-4)
    np.testing.assert_allclose(fed(lambda x, y, w: metrics.streaming_pearson_correlation(x, y), *batches),
                               np.corrcoef(x, y)[0, 1], rtol=1e-4)
    mean = [np.average(each, weights=w) for each in (x, y)]
    np.testing.assert_allclose(fed(metrics.streaming_covariance, *batches),
                               (w * (x - mean[0]) * (y - mean[1])).sum() / (w.sum() - 1), rtol=1e-4)
    np.testing.assert_allclose(fed(lambda x, y, w: metrics.count(x, w), *batches), w.sum(), rtol=1e-5)


def test_predictions_come_before_labels():
    labels, predictions = np.array([1, 1, 0, 0], np.float32), np.array([1, 0, 0, 0], np.float32)
    metrics = tf.contrib.metrics
    for name, wanted in (("recall", 0.5), ("precision", 1.0), ("false_negatives", 1.0), ("accuracy", 0.75)):
        assert fed(getattr(metrics, f"streaming_{name}"), (predictions, labels)) == wanted, name
    found = fed(lambda p, y: metrics.streaming_auc(predictions=p, labels=y, num_thresholds=3), (predictions, labels))
    np.testing.assert_allclose(found, 0.75, rtol=1e-5)
    assert fed(lambda p, y: metrics.streaming_accuracy(p, y, weights=y), (predictions, labels)) == 0.5
    accuracy = metrics.accuracy(tf.constant([1, 2]), tf.constant([1, 3]), weights=[3.0, 1.0])
    with tf.Session() as sess:
        assert sess.run(accuracy) == 0.75


def test_losses_join_the_collection():
    loss = tf.contrib.losses.mean_squared_error(tf.constant([1.0, 4.0]), tf.constant([1.0, 2.0]), weights=[0.0, 1.0])
    hinge = tf.contrib.losses.hinge_loss([[0.5]], [[1.0]])
    assert tf.contrib.losses.get_losses() == [loss] and hinge.shape == (1, 1)
    with tf.Session() as sess:
        assert sess.run([loss, tf.contrib.losses.get_total_loss()]) == [4.0, 4.0]
