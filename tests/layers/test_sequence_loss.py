"""The order in which the loss function of a sequence loss gets labels and logits: that of its own arguments."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

FUNCTIONS = {
    "since 1.1": "lambda labels, logits: check(labels, logits)",
    "since 1.1, in another order": "lambda logits, labels: check(labels, logits)",
    "with more": "lambda logits, labels, name=None: check(labels, logits)",
    "any names": "lambda **given: check(given['labels'], given['logits'])",
    "1.0": "lambda labels, inputs: check(labels, inputs)",
    "1.0, own names": "lambda a, b: check(a, b)",
    "0.x": "lambda inputs, labels: check(labels, inputs)",
    "0.x, by its second": "lambda x, targets: check(targets, x)",
    "0.x, a target": "lambda x, target: check(target, x)",
    "0.x, a label": "lambda x, label: check(label, x)",
    "0.x, by its first": "lambda logits, y: check(y, logits)",
    "0.x, local": "lambda local_inputs, y: check(y, local_inputs)",
    "a target first": "lambda targets, x: check(targets, x)",
    "one of many": "lambda *given: check(*given)",
}


def check(labels, logits):
    assert labels.dtype == tf.int32 and logits.dtype == tf.float32
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_of_loss_functions(name):
    logits = tf.constant(np.random.RandomState(1).rand(2, 3, 5).astype("f"))
    targets = tf.constant([[1, 2, 3], [4, 0, 1]])
    weights = tf.constant([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    plain = tf.contrib.seq2seq.sequence_loss(logits, targets, weights)
    other = tf.contrib.seq2seq.sequence_loss(logits, targets, weights, softmax_loss_function=eval(
        FUNCTIONS[name], {"check": check}))
    with tf.Session() as session:
        assert session.run(plain) == session.run(other)


@pytest.mark.parametrize("steps, batch, shape", [(True, True, ()), (True, False, (2,)), (False, True, (3,)),
                                                 (False, False, (2, 3))])
def test_means(steps, batch, shape):
    rng = np.random.RandomState(2)
    logits, targets = rng.rand(2, 3, 5), rng.randint(0, 5, (2, 3))
    weights = np.array([[1.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    made = tf.contrib.seq2seq.sequence_loss(
        tf.constant(logits, tf.float32), tf.constant(targets, tf.int32), tf.constant(weights, tf.float32),
        average_across_timesteps=steps, average_across_batch=batch)
    each = weights * (np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, targets[..., None], -1)[..., 0])
    axes = tuple(axis for axis, mean in ((0, batch), (1, steps)) if mean)
    with np.errstate(invalid="ignore", divide="ignore"):
        want = each.sum(axes) / (weights.sum(axes) + 1e-12) if axes else each
    with tf.Session() as session:
        found = session.run(made)
    assert found.shape == shape
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("which, shape", [("logits", [2, 3]), ("targets", [2]), ("weights", [2, 3, 1])])
def test_ranks(which, shape):
    shapes = {"logits": [2, 3, 5], "targets": [2, 3], "weights": [2, 3], which: shape}
    with pytest.raises(ValueError, match=f"{which.capitalize()} must be a"):
        tf.contrib.seq2seq.sequence_loss(tf.zeros(shapes["logits"]), tf.zeros(shapes["targets"], tf.int32),
                                         tf.zeros(shapes["weights"]))
