"""Beam search beside exhaustive search and beside NumPy, and full beams of parents and ids."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfnb as tf

seq2seq = tf.contrib.seq2seq
END = 3


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


class Markov(tf.nn.rnn_cell.RNNCell):
    """Logits of the next word from the last one alone; the state counts steps."""

    state_size, output_size = 1, 4

    def __init__(self, table):
        super().__init__()
        self.table = table

    def call(self, inputs, state):
        return tf.matmul(inputs, self.table), state + 1.0


def decoded(table, width, steps, runs=3, **options):
    batch = 2
    decoder = seq2seq.BeamSearchDecoder(Markov(tf.constant(table)), tf.eye(4), tf.fill([batch], 0), END,
                                        tf.zeros([batch * width, 1]), width, **options)
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=steps)
    with tf.Session() as sess:
        for _ in range(runs):
            found = sess.run([outputs.predicted_ids, state.log_probs, lengths, outputs.beam_search_decoder_output])
    return found


def every_sequence(table, steps):
    """(log probability, words) of all sequences of at most `steps` words that end, or are cut."""
    found = {}
    for words in itertools.product(range(4), repeat=steps):
        end = words.index(END) + 1 if END in words else steps
        before = (0, *words)
        found[words[:end]] = sum(log_softmax(table[before[i]])[words[i]] for i in range(end))
    return sorted(((value, words) for words, value in found.items()), reverse=True)


def test_a_wide_beam_finds_the_best_of_all_sequences():
    table = np.random.RandomState(0).randn(4, 4).astype("f")
    ids, log_probs, lengths, _ = decoded(table, 60, 3)
    best = every_sequence(table, 3)
    for example in range(2):
        for beam in range(5):
            words = tuple(ids[example, :lengths[example, beam], beam])
            assert words == best[beam][1]
            np.testing.assert_allclose(log_probs[example, beam], best[beam][0], rtol=1e-5)
            assert (ids[example, lengths[example, beam]:, beam] == END).all()


def beams_in_numpy(table, width, steps, weight):
    """The beams of one example, step by step: (words, log probability, finished, length)."""
    beams = [((), 0.0, False, 0)]
    for _ in range(steps):
        options = []
        for words, value, finished, length in beams:
            row = log_softmax(table[words[-1] if words else 0])
            for word in range(4):
                if finished and word != END:
                    continue
                total = value if finished else value + row[word]
                counted = length + (0 if finished or word == END else 1)
                score = total / ((5 + counted) / 6) ** weight
                options.append((score, (*words, word), total, finished or word == END, length + (not finished)))
        options.sort(key=lambda one: -one[0])
        beams = [option[1:] for option in options[:width]]
        if all(beam[2] for beam in beams):
            break
    return beams


@pytest.mark.parametrize("width, weight, steps", [(1, 0.0, 6), (2, 0.0, 6), (3, 0.7, 6), (5, 1.5, 4)])
def test_narrow_beams_are_those_of_numpy(width, weight, steps):
    for seed in range(3):
        table = np.random.RandomState(seed).randn(4, 4).astype("f")
        tf.reset_default_graph()
        ids, log_probs, lengths, _ = decoded(table, width, steps, length_penalty_weight=weight)
        wanted = beams_in_numpy(table, width, steps, weight)[:max(1, min(width, 4))]
        for beam, (words, value, _, length) in enumerate(wanted):
            assert tuple(ids[0, :length, beam]) == words[:length] and lengths[0, beam] == length
            np.testing.assert_allclose(log_probs[0, beam], value, rtol=1e-5)


def test_greedy_is_a_beam_of_one():
    table = np.random.RandomState(3).randn(4, 4).astype("f")
    ids, _, _, _ = decoded(table, 1, 8)
    helper = seq2seq.GreedyEmbeddingHelper(tf.eye(4), [0, 0], END)
    decoder = seq2seq.BasicDecoder(Markov(tf.constant(table)), helper, tf.zeros([2, 1]))
    outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=8)
    with tf.Session() as sess:
        words, lengths = sess.run([outputs.sample_id, lengths])
    assert words.tolist() == ids[:, :, 0].tolist() and (lengths == words.shape[1]).all()


def test_gather_tree_with_random_beams():
    rng = np.random.RandomState(0)
    ids, parents = rng.randint(0, 9, (6, 3, 4)), rng.randint(0, 4, (6, 3, 4))
    lengths = np.array([6, 3, 0])
    wanted = np.full((6, 3, 4), 8)
    for example, beam in np.ndindex(3, 4):
        at = beam
        for time in reversed(range(lengths[example])):
            wanted[time, example, beam] = ids[time, example, at]
            at = parents[time, example, at]
        ended = np.flatnonzero(wanted[:, example, beam] == 8)
        if len(ended):
            wanted[ended[0]:, example, beam] = 8
    fed = [tf.placeholder(tf.int32, [None] * 3), tf.placeholder(tf.int32, [None] * 3), tf.placeholder(tf.int32, [None])]
    beams = seq2seq.gather_tree(*fed, end_token=8)
    with tf.Session() as sess:
        for _ in range(3):
            np.testing.assert_array_equal(sess.run(beams, dict(zip(fed, (ids, parents, lengths), strict=True))), wanted)
        parents[2, 0, 1] = 4
        with pytest.raises(tf.errors.InvalidArgumentError, match="4 is not in"):
            sess.run(beams, dict(zip(fed, (ids, parents, lengths), strict=True)))


def test_histories_of_beams_follow_their_beams():
    rng = np.random.RandomState(1)
    memory = tf.constant(rng.randn(2, 5, 3).astype("f"))
    attention = seq2seq.LuongAttention(4, seq2seq.tile_batch(memory, 3), seq2seq.tile_batch([5, 2], 3))
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), attention, 4, alignment_history=True)
    words = tf.constant(rng.randn(6, 3).astype("f"))
    layer = tf.layers.Dense(6, kernel_initializer=tf.random_normal_initializer(stddev=3, seed=1), name="words")
    raw, (outputs, state, lengths) = (seq2seq.dynamic_decode(seq2seq.BeamSearchDecoder(
        cell, words, [0, 0], 5, cell.zero_state(6, tf.float32), 3, output_layer=layer, coverage_penalty_weight=0.2,
        reorder_tensor_arrays=ordered), maximum_iterations=5) for ordered in (False, True))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            history, lengths_, seen, parents, unordered = sess.run([
                state.cell_state.alignment_history, lengths, state.accumulated_attention_probs,
                outputs.beam_search_decoder_output.parent_ids, raw[1].cell_state.alignment_history.stack()])
    steps = parents.shape[1]
    assert history.shape == unordered.shape == (steps, 6, 5)
    for example, beam in np.ndindex(2, 3):
        at = beam
        for time in reversed(range(lengths_[example].max())):
            if time < lengths_[example, beam]:
                np.testing.assert_array_equal(history[time, 3 * example + beam], unordered[time, 3 * example + at])
            at = parents[example, time, at]
    assert (seen[1, :, 2:] == 0).all()
    np.testing.assert_allclose(seen.sum(2), lengths_, rtol=1e-5)


def test_arguments_are_checked():
    cell = tf.nn.rnn_cell.GRUCell(4)
    with pytest.raises(ValueError, match="start_tokens must be a vector"):
        seq2seq.BeamSearchDecoder(cell, tf.eye(4), 0, END, tf.zeros([2, 4]), 2)
    with pytest.raises(ValueError, match="end_token must be a scalar"):
        seq2seq.BeamSearchDecoder(cell, tf.eye(4), [0], [END], tf.zeros([2, 4]), 2)
    with pytest.raises(TypeError, match="output_layer must be a Layer"):
        seq2seq.BeamSearchDecoder(cell, tf.eye(4), [0], END, tf.zeros([2, 4]), 2, output_layer=tf.matmul)
    with pytest.raises(ValueError, match=r"coverage_penalty_weight must be 0\.0"):
        seq2seq.BeamSearchDecoder(cell, tf.eye(4), [0], END, tf.zeros([2, 4]), 2,
                                  coverage_penalty_weight=0.1).initialize()
    with pytest.raises(ValueError, match="rank of 1 or more"):
        seq2seq.tile_batch(tf.constant(1.0), 3)
    state = (tf.ones([2, 3]), [tf.ones([2])])
    tiled = seq2seq.tile_batch(state, 4)
    assert [part.shape.as_list() for part in (tiled[0], tiled[1][0])] == [[8, 3], [8]]
