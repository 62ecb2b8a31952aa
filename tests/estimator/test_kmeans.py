"""K-means clustering: the program of courses, its estimator, its steps by NumPy."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

factorization = tf.contrib.factorization
RANDOM = np.random.RandomState(5)
MIDDLES = np.array([[0, 0], [6, 0], [0, 6]], np.float32)
OWN = np.repeat(np.arange(3), 30)
X = (MIDDLES[OWN] + RANDOM.randn(90, 2) * 0.4).astype(np.float32)


def is_partition(index):
    """Return whether clusters are the three groups."""
    return all(len(set(index[OWN == own])) == 1 for own in range(3)) and len(set(index)) == 3


@pytest.mark.parametrize("options", [
    {"initial_clusters": "kmeans_plus_plus"}, {"initial_clusters": "kmc2", "use_mini_batch": True},
    {"initial_clusters": "kmeans_plus_plus", "use_mini_batch": True, "mini_batch_steps_per_iteration": 3},
    {"initial_clusters": lambda inputs, k: inputs[0][:90:30]}, {"initial_clusters": X[[1, 40, 80]]}])
def test_the_program_of_courses(options):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2])
        kmeans = factorization.KMeans(inputs=x, num_clusters=3, random_seed=3, **options)
        all_scores, cluster_idx, scores, initialized, init_op, train_op = kmeans.training_graph()
        average = tf.reduce_mean(scores)
        sess.run(tf.global_variables_initializer(), {x: X})
        assert not sess.run(initialized)
        sess.run(init_op, {x: X})
        assert sess.run(initialized)
        for _ in range(12):
            _, distance, index = sess.run([train_op, average, cluster_idx[0]], {x: X})
        found = sess.run([all_scores[0], scores[0]], {x: X})
        assert is_partition(index) and distance < 0.5
        np.testing.assert_allclose(found[0].min(1), found[1], atol=1e-4)


def test_steps_are_those_of_the_papers():
    start = X[[0, 30]]
    with tf.Graph().as_default(), tf.Session() as sess:
        made = [factorization.KMeans(X, 2, start, use_mini_batch=mini).training_graph() for mini in (False, True)]
        centers = [v for v in tf.global_variables() if v.op.name.startswith("clusters")]
        sess.run(tf.global_variables_initializer())
        sess.run([graph[4] for graph in made])
        for _ in range(2):
            sess.run([graph[5] for graph in made])
        full, mini = sess.run(centers)
    wanted, moved, counts = start.copy(), start.copy(), np.zeros(2)
    for _ in range(2):
        near = np.square(X[:, None] - wanted).sum(2).argmin(1)
        wanted = np.stack([X[near == k].sum(0) / ((near == k).sum() + 1e-6) for k in range(2)])
        near = np.square(X[:, None] - moved).sum(2).argmin(1)
        for k in range(2):
            count = (near == k).sum()
            moved[k] += (X[near == k].sum(0) - count * moved[k]) / (counts[k] + count)
            counts[k] += count
    np.testing.assert_allclose(full, wanted, rtol=1e-4)
    np.testing.assert_allclose(mini, moved, rtol=1e-4)


def test_directions_and_batches_that_are_too_small():
    rows = np.array([[1, 0.1], [2, 0.1], [0.1, 1], [0.1, 3]], np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2])
        kmeans = factorization.KMeans(x, 2, "kmeans_plus_plus", "cosine")
        _, index, scores, initialized, init_op, train_op = kmeans.training_graph()
        sess.run(tf.global_variables_initializer())
        sess.run(init_op, {x: rows[:1]})
        assert not sess.run(initialized)
        sess.run(init_op, {x: rows[2:]})
        assert sess.run(initialized)
        sess.run(train_op, {x: rows})
        first, distances = sess.run([index[0], scores[0]], {x: rows})
        assert first[0] == first[1] != first[2] == first[3] and (distances < 0.02).all()
    with pytest.raises(ValueError, match="Unsupported distance metric passed to Kmeans 'l1'"):
        factorization.KMeans(X, 2, distance_metric="l1")
    with pytest.raises(ValueError, match="Unsupported initialization algorithm 'best'"):
        factorization.KMeans(X, 2, "best")


def test_an_estimator_clusters_and_restores(tmp_path):
    data = tf.estimator.inputs.numpy_input_fn({"x": X}, batch_size=90, num_epochs=1, shuffle=False)
    model = tf.estimator.experimental.KMeans(3, str(tmp_path), "kmeans_plus_plus", seed=2, use_mini_batch=False)
    for _ in range(3):
        model.train(data)
    again = factorization.KMeansClustering(3, str(tmp_path), use_mini_batch=False)
    index = np.array(list(again.predict_cluster_index(data)))
    centers = again.cluster_centers()
    assert is_partition(index) and again.score(data) < 90 * 0.5
    np.testing.assert_allclose(np.array(list(again.transform(data))).min(1),
                               np.linalg.norm(X - centers[index], axis=1), atol=1e-3)
