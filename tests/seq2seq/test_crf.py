"""Conditional random fields beside all tag sequences, and a tagger that learns."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfnb as tf
from tests.restored import assert_restores

crf = tf.contrib.crf
TAGS, LENGTHS = 3, np.array([4, 1, 0, 3], "i")


def score(inputs, transitions, tags):
    return sum(inputs[t, tag] for t, tag in enumerate(tags)) + sum(
        transitions[a, b] for a, b in itertools.pairwise(tags))


def logsumexp(values):
    values = np.array(values)
    return values.max() + np.log(np.exp(values - values.max()).sum())


def paths(inputs, transitions, allowed=None):
    """(score, tags) of all paths over the steps of one sequence."""
    for tags in itertools.product(range(TAGS), repeat=len(inputs)):
        if allowed is None or all(allowed[t, tag] for t, tag in enumerate(tags)):
            yield score(inputs, transitions, tags), list(tags)


def fields(seed=0, steps=4):
    rng = np.random.RandomState(seed)
    return rng.randn(4, steps, TAGS).astype("f"), rng.randn(TAGS, TAGS).astype("f"), rng.randint(0, TAGS, (4, steps))


@pytest.mark.parametrize("known", [True, False])
def test_likelihoods_and_best_tags_are_those_of_all_paths(known):
    inputs, transitions, tags = fields()
    allowed = np.random.RandomState(1).rand(4, 4, TAGS) > 0.4
    allowed[..., 0] |= ~allowed.any(-1)
    x = tf.placeholder(tf.float32, [4, 4, TAGS] if known else [None, None, TAGS])
    lengths = tf.placeholder(tf.int32 if known else tf.int64, [None])
    likelihood, _ = crf.crf_log_likelihood(x, tags, lengths, transitions)
    gradient, = tf.gradients(tf.reduce_sum(likelihood), x)
    fetches = [crf.crf_sequence_score(x, tags, lengths, transitions), crf.crf_log_norm(x, lengths, transitions),
               likelihood, crf.crf_multitag_sequence_score(x, allowed, lengths, transitions),
               *crf.crf_decode(x, transitions, lengths), gradient]
    with tf.Session() as sess:
        for _ in range(3):
            scores, norms, likelihoods, many, best, best_score, slopes = sess.run(fetches, {x: inputs,
                                                                                            lengths: LENGTHS})
    for example, length in enumerate(LENGTHS):
        own = inputs[example, :length]
        every = list(paths(own, transitions))
        np.testing.assert_allclose(scores[example], score(own, transitions, tags[example, :length]), 1e-4, 1e-5)
        np.testing.assert_allclose(norms[example], logsumexp([one[0] for one in every]) if length else 0, 1e-4, 1e-5)
        np.testing.assert_allclose(likelihoods[example], scores[example] - norms[example], 1e-4, 1e-5)
        if length:
            np.testing.assert_allclose(many[example], logsumexp([one[0] for one in paths(
                own, transitions, allowed[example])]), 1e-4, 1e-5)
            top = max(every)
            np.testing.assert_allclose(best_score[example], top[0], 1e-4, 1e-5)
            assert best[example, :length].tolist() == top[1] and (best[example, length:] == 0).all()
            words, value = crf.viterbi_decode(own, transitions)
            assert words == top[1] and np.isclose(value, top[0])
            weights = np.exp([one[0] - norms[example] for one in every])
            for t in range(length):                 # d log p / d x[t, k] = [tag t is k] - P(tag t is k)
                wanted = np.eye(TAGS)[tags[example, t]] - sum(
                    w * np.eye(TAGS)[one[1][t]] for w, one in zip(weights, every, strict=True))
                np.testing.assert_allclose(slopes[example, t], wanted, 1e-3, 1e-4)
        assert (slopes[example, length:] == 0).all()


def test_sequences_of_one_step():
    inputs, transitions, tags = fields(steps=1)
    x = tf.placeholder(tf.float32, [None, None, TAGS])
    fetches = [crf.crf_log_likelihood(x, tags, [1, 1, 0, 1], transitions)[0],
               *crf.crf_decode(x, transitions, [1, 1, 1, 1])]
    with tf.Session() as sess:
        for _ in range(3):
            likelihood, best, best_score = sess.run(fetches, {x: inputs})
    wanted = [inputs[i, 0, tags[i, 0]] - logsumexp(inputs[i, 0]) for i in range(4)]
    wanted[2] = 0
    np.testing.assert_allclose(likelihood, wanted, 1e-4, 1e-5)
    assert best.tolist() == inputs[:, 0].argmax(-1)[:, None].tolist()
    np.testing.assert_allclose(best_score, inputs[:, 0].max(-1), 1e-5)


def test_a_tagger_learns_what_only_neighbours_tell(tmp_path):
    """Words name a tag only after another: an embedding alone can't tell, the transitions and a BiLSTM do."""
    rng = np.random.RandomState(0)

    def data(count=32, steps=8):
        tags, lengths = np.zeros((count, steps), "i"), rng.randint(2, steps + 1, count)
        tags[:, 0] = rng.randint(0, 3, count)
        for t in range(1, steps):                  # 0 is followed by 1 or 2, 1 by 2, 2 by 0
            tags[:, t] = np.select([tags[:, t - 1] == 0, tags[:, t - 1] == 1], [rng.randint(1, 3, count), 2], 0)
        words = np.where(rng.rand(count, steps) < 0.6, tags, 3)          # 3 says nothing
        return words, tags, lengths
    words, tags = (tf.placeholder(tf.int32, [None, None]) for _ in range(2))
    lengths = tf.placeholder(tf.int32, [None])
    embedded = tf.nn.embedding_lookup(tf.get_variable("embedding", [4, 8], initializer=tf.random_normal_initializer(
        seed=1)), words)
    start = tf.glorot_uniform_initializer(seed=2)
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*(tf.nn.rnn_cell.GRUCell(8, kernel_initializer=start)
                                                   for _ in range(2)), embedded, lengths, dtype=tf.float32)
    scores = tf.layers.dense(tf.concat(outputs, 2), TAGS, kernel_initializer=start)
    likelihood, transitions = crf.crf_log_likelihood(scores, tags, lengths)
    train = tf.train.AdamOptimizer(0.03).minimize(-tf.reduce_mean(likelihood))
    best, _ = crf.crf_decode(scores, transitions, lengths)
    assert [v.op.name for v in tf.trainable_variables()][-1] == "transitions"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(60):
            sess.run(train, dict(zip((words, tags, lengths), data(), strict=True)))
        fed = data(100)
        found, table = sess.run([best, transitions], dict(zip((words, tags, lengths), fed, strict=True)))
        assert_restores(sess, [best, likelihood], dict(zip((words, tags, lengths), fed, strict=True)), tmp_path)
    mask = np.arange(8) < fed[2][:, None]
    assert (found == fed[1])[mask].mean() > 0.85
    assert min(table[0, 1], table[1, 2], table[2, 0]) > max(table[0, 0], table[1, 1], table[2, 2])
