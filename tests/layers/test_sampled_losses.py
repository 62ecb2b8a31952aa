"""Candidate samplers, nce_loss and sampled_softmax_loss: TensorFlow's numbers for the same seeds."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

GIVEN = """
import numpy
rs = numpy.random.RandomState(0)
tf.set_random_seed(3)
weights, biases = tf.Variable(rs.randn(50, 4).astype("f")), tf.Variable(rs.randn(50).astype("f"))
inputs, labels = tf.constant(rs.randn(6, 4).astype("f")), tf.constant(rs.randint(9, size=(6, 2)))
one = labels[:, :1]
"""
TAIL = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [[numpy.asarray(v) for v in sess.run(list(made))] for _ in range(3)]
"""
PROGRAMS = [
    *(f"made = tf.nn.{kind}_candidate_sampler(labels, 2, 7, {unique}, {most}, seed=5)"
      for kind in ("uniform", "log_uniform") for unique in (True, False) for most in (9, 16, 50)),
    *(f"made = tf.nn.fixed_unigram_candidate_sampler(labels, 2, 7, {more}, seed=5)" for more in (
        "True, 9, unigrams=list(range(1, 10))", "False, 9, unigrams=list(range(1, 10)), distortion=0.75",
        "False, 12, unigrams=list(range(1, 10)), num_reserved_ids=3",
        "True, 9, unigrams=list(range(1, 19)), num_shards=2, shard=1")),
    "made = tf.nn.all_candidate_sampler(labels, 2, 12, True)",
    *(f"drawn = tf.nn.log_uniform_candidate_sampler({given.split(',')[0]}, {1 + ('2' in given)}, 8, True, 50, seed=9)\n"
      f"loss = tf.nn.{loss}(weights, biases, {given}, num_sampled=8, num_classes=50, remove_accidental_hits={remove}, "
      "sampled_values=drawn)\n"
      "made = [loss] + [tf.convert_to_tensor(g) for g in tf.gradients(loss, [weights, biases, inputs])]"
      for loss in ("nce_loss", "sampled_softmax_loss") for given in ("one, inputs", "labels, inputs, num_true=2")
      for remove in (True, False)),
]
PROGRAMS = [p.replace("labels, inputs, num_true=2, num_sampled=8, num_classes=50",
                      "labels, inputs, 8, 50, num_true=2") for p in PROGRAMS]


def test_weights_of_another_number_are_refused(tmp_path):
    file = tmp_path / "vocabulary.csv"
    file.write_text("a,1\nb,2\n")
    true = tf.constant([[0]], tf.int64)
    good, bad = (tf.nn.fixed_unigram_candidate_sampler(true, 1, 4, False, most, vocab_file=str(file))
                 for most in (2, 3))
    with tf.Session() as sess:
        assert set(sess.run(good[0])) <= {0, 1}
        np.testing.assert_allclose(sess.run(good[1]), [[4 / 3]], rtol=1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError, match="range_max is 3, expected .* 2"):
            sess.run(bad)


@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers_are_tensorflows(program, oracle):
    scope = {"tf": tf}
    exec(GIVEN + program + TAIL, scope)
    for ours, theirs in zip(scope["result"], oracle(GIVEN + program + TAIL), strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_hits_are_found():
    made = tf.nn.compute_accidental_hits([[1, 2], [3, 4]], tf.constant([4, 2, 9, 1], tf.int64), num_true=2)
    with tf.Session() as sess:
        rows, places, weights = sess.run(made)
    assert rows.tolist() == [0, 0, 1] and places.tolist() == [1, 3, 0] and (weights < -1e38).all()


def test_there_must_be_enough_classes():
    with pytest.raises(ValueError, match="range is too small"):
        tf.nn.uniform_candidate_sampler([[1]], 1, 5, True, 4)
