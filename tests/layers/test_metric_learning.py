"""Losses over distances of embeddings, beside their definitions in NumPy; and predictors."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

losses = tf.contrib.losses.metric_learning


@pytest.fixture
def sess():
    with tf.Session() as made:
        yield made


def semihard(labels, x, margin):
    d = ((x[:, None] - x[None]) ** 2).sum(2)
    found, pairs = 0.0, 0
    for i in range(len(x)):
        negatives = d[i][labels != labels[i]]
        for j in range(len(x)):
            if i != j and labels[i] == labels[j]:
                outside = negatives[negatives > d[i, j]]
                chosen = outside.min() if outside.size else negatives.max() if negatives.size else d[i].min()
                found, pairs = found + max(margin + d[i, j] - chosen, 0.0), pairs + 1
    return found / pairs


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_semihard_triplets(sess, classes):
    random = np.random.RandomState(classes)
    labels, x = random.randint(0, classes, 12), random.randn(12, 4).astype(np.float32)
    y = tf.constant(x)
    loss = losses.triplet_semihard_loss(labels, y, margin=0.7)
    got, slope = sess.run([loss, tf.gradients(loss, y)[0]])
    assert got == pytest.approx(semihard(labels, x.astype(float), 0.7), rel=1e-4)
    assert np.isfinite(slope).all() and slope.any()


def test_pairs(sess):
    random = np.random.RandomState(0)
    a, p = random.randn(2, 6, 3).astype(np.float32)
    labels = np.array([0, 1, 1, 2, 0, 3])
    scores = np.exp(a @ p.T)
    same = labels[:, None] == labels[None]
    entropy = -(same / same.sum(1, keepdims=True) * np.log(scores / scores.sum(1, keepdims=True))).sum(1).mean()
    lengths = 0.25 * 0.1 * ((a ** 2).sum(1).mean() + (p ** 2).sum(1).mean())
    assert sess.run(losses.npairs_loss(labels, a, p, 0.1)) == pytest.approx(entropy + lengths, rel=1e-5)
    d = np.sqrt(((a - p) ** 2).sum(1))
    kind = np.array([1, 0, 1, 0, 0, 1])
    assert sess.run(losses.contrastive_loss(kind, a, p, 2.0)) == pytest.approx(
        (kind * d ** 2 + (1 - kind) * np.maximum(2 - d, 0) ** 2).mean(), rel=1e-5)
    with pytest.raises(ValueError, match=r"tf\.Print"):
        losses.npairs_loss(labels, a, p, print_losses=True)


def test_a_predictor_names_its_keys(sess, tmp_path):
    x = tf.placeholder(tf.float32, [None], name="x")
    v = tf.Variable(2.0)
    y = tf.multiply(x, v, name="y")
    sess.run(v.initializer)
    tf.saved_model.simple_save(sess, str(tmp_path / "m"), inputs={"x": x}, outputs={"y": y})
    load = tf.contrib.predictor.from_saved_model
    predict = load(str(tmp_path / "m"))
    assert predict({"x": [1.0, 2.0]})["y"].tolist() == [2.0, 4.0]
    named = load(str(tmp_path / "m"), input_names={"in": "x:0"}, output_names={"out": "y:0"})
    assert named({"in": [3.0]})["out"] == [6.0]
    with pytest.raises(ValueError, match=r"unexpected keys in input_dict: \['z'\]\nexpected: \['x'\]"):
        predict({"z": 1.0})
    with pytest.raises(ValueError, match="Available signatures are"):
        load(str(tmp_path / "m"), signature_def_key="other")
    with pytest.raises(ValueError, match="at most one"):
        load(str(tmp_path / "m"), signature_def_key="a", input_names={}, output_names={})
    with pytest.raises(ValueError, match="both"):
        load(str(tmp_path / "m"), input_names={})
    predict.close()


def test_optimizers_of_tpus_say_where_they_run():
    with pytest.raises(ValueError, match="use_tpu=False"):
        tf.contrib.tpu.CrossShardOptimizer(tf.train.AdamOptimizer()).minimize(tf.Variable(1.0) ** 2)
