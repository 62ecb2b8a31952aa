"""Decoders, helpers and attention beside NumPy; names of variables of 1.15; a program that learns to reverse digits."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.restored import assert_restores

seq2seq = tf.contrib.seq2seq
UNITS = 3


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def runs(fetches, feed=None, count=3):
    """The values of the last run, a compiled one."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(count):
            found = sess.run(fetches, feed)
        weights = {v.op.name: sess.run(v) for v in tf.global_variables()}
    return found, weights


def rnn(weights, x, h, scope):
    return np.tanh(np.concatenate([x, h], 1) @ weights[f"{scope}/kernel"] + weights[f"{scope}/bias"])


@pytest.mark.parametrize("impute", [False, True])
def test_training_helper_is_the_cell_over_the_targets(impute):
    x, lengths = np.random.RandomState(0).randn(4, 5, 2).astype("f"), np.array([5, 0, 3, 1], "i")
    fed = tf.placeholder(tf.float32, [None, None, 2])
    helper = seq2seq.TrainingHelper(fed, tf.constant(lengths))
    cell = tf.nn.rnn_cell.BasicRNNCell(UNITS)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(4, tf.float32), tf.layers.Dense(6))
    outputs, state, found = seq2seq.dynamic_decode(decoder, impute_finished=impute)
    gradients = tf.gradients(tf.reduce_sum(outputs.rnn_output ** 2), [fed, *tf.trainable_variables()])
    (logits, ids, last, steps, first, *_), w = runs([outputs.rnn_output, outputs.sample_id, state, found, *gradients],
                                                    {fed: x})
    h, wanted, last_wanted = np.zeros((4, UNITS), "f"), [], np.zeros((4, UNITS), "f")
    for t in range(5):
        h = rnn(w, x[:, t], h, "decoder/basic_rnn_cell")
        wanted.append(h @ w["decoder/dense/kernel"] + w["decoder/dense/bias"])
        last_wanted = np.where((t < lengths)[:, None], h, last_wanted)
    wanted = np.stack(wanted, 1)
    if impute:
        wanted *= np.arange(5)[None, :, None] < lengths[:, None, None]
        np.testing.assert_allclose(last, last_wanted, 1e-4, 1e-5)
        assert (first[1] == 0).all() and (first[3, 1:] == 0).all() and (first[0] != 0).all()
    np.testing.assert_allclose(logits, wanted, 1e-4, 1e-5)
    if not impute:
        np.testing.assert_array_equal(ids, wanted.argmax(-1))
    assert steps.tolist() == lengths.tolist()


def test_decoding_ends_with_the_longest_example_or_the_limit():
    table = tf.constant([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]], tf.float32)
    start, most = tf.placeholder(tf.int32, [None]), tf.placeholder_with_default(10, [])
    helper = seq2seq.GreedyEmbeddingHelper(table, start, end_token=3)

    class Echo(tf.nn.rnn_cell.RNNCell):
        state_size, output_size = 4, 4

        def call(self, inputs, state):
            return inputs, state + 1.0
    decoder = seq2seq.BasicDecoder(Echo(), helper, tf.zeros([tf.shape(start)[0], 4]))
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, output_time_major=True, maximum_iterations=most,
                                                     impute_finished=True)
    with tf.Session() as sess:
        for _ in range(3):
            ids, steps, last = sess.run([outputs.sample_id, lengths, state], {start: [0, 1, 2]})
            assert ids.T.tolist() == [[1, 2, 3], [2, 3, 0], [3, 0, 0]]
            assert steps.tolist() == [3, 2, 1] and last[:, 0].tolist() == [3, 2, 1]
            assert sess.run(outputs.sample_id, {start: [0, 1], most: 1}).tolist() == [[1, 2]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="size zero"):  # and unknown batch
            sess.run(outputs.sample_id, {start: [0], most: 0})


def test_scheduled_helpers_feed_targets_or_samples():
    x = np.random.RandomState(1).randn(2, 4, 3).astype("f")
    more, embedding = np.ones((2, 4, 2), "f"), np.random.RandomState(2).randn(3, 3).astype("f")
    cell = tf.nn.rnn_cell.BasicRNNCell(UNITS)
    chosen = tf.placeholder(tf.float32, [])
    results = []
    for helper in (seq2seq.TrainingHelper(x, [4, 4]),
                   seq2seq.ScheduledEmbeddingTrainingHelper(x, [4, 4], embedding, chosen, seed=1, scheduling_seed=2),
                   seq2seq.ScheduledOutputTrainingHelper(x, [4, 4], chosen, seed=3),
                   seq2seq.ScheduledOutputTrainingHelper(x, [4, 4], chosen, auxiliary_inputs=more,
                                                         next_inputs_fn=lambda outputs: 2.0 * outputs)):
        with tf.variable_scope(f"{len(results)}"):
            decoder = seq2seq.BasicDecoder(tf.nn.rnn_cell.BasicRNNCell(UNITS), helper, cell.zero_state(2, tf.float32))
            results.append(seq2seq.dynamic_decode(decoder)[0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        weights = {v.op.name: sess.run(v) for v in tf.global_variables()}
        for part in ("kernel", "bias"):
            for number in (1, 2):
                variable = next(v for v in tf.global_variables()
                                if v.op.name == f"{number}/decoder/basic_rnn_cell/{part}")
                variable.load(weights[f"0/decoder/basic_rnn_cell/{part}"], sess)
        for _ in range(3):
            targets, *never = sess.run(results, {chosen: 0.0})
            for outputs in never[:2]:
                np.testing.assert_allclose(outputs.rnn_output, targets.rnn_output, rtol=1e-5)
            assert (never[0].sample_id == -1).all() and (never[1].sample_id == 0).all()
            _, words, own, longer = sess.run(results, {chosen: 1.0})
        w = {v.op.name: sess.run(v) for v in tf.global_variables()}
    assert (words.sample_id >= 0).all() and (own.sample_id == 1).all()
    for number, found, fed in ((1, words, lambda t: embedding[words.sample_id[:, t]]),
                               (2, own, lambda t: own.rnn_output[:, t]),
                               (3, longer, lambda t: np.concatenate([2 * longer.rnn_output[:, t], more[:, 0]], 1))):
        h, inputs = np.zeros((2, UNITS), "f"), x[:, 0]
        inputs = np.concatenate([inputs, more[:, 0]], 1) if number == 3 else inputs
        for t in range(4):
            h = rnn(w, inputs, h, f"{number}/decoder/basic_rnn_cell")
            np.testing.assert_allclose(found.rnn_output[:, t], h, 1e-4, 1e-5)
            inputs = fed(t)


def test_samples_have_the_frequencies_of_the_softmax():
    logits = tf.constant(np.log([[0.1, 0.9]] * 2000).astype("f"))
    helpers = [seq2seq.SampleEmbeddingHelper(tf.eye(2), [0], 1, softmax_temperature=temperature, seed=5)
               for temperature in (None, 0.5)]
    with tf.Session() as sess:
        for _ in range(2):
            plain, sharp = (sess.run(helper.sample(0, logits, ())) for helper in helpers)
    assert abs(plain.mean() - 0.9) < 0.03 and abs(sharp.mean() - 0.81 / 0.82) < 0.015
    with pytest.raises(TypeError, match="single Tensor"):
        helpers[0].sample(0, (logits, logits), ())


@pytest.mark.parametrize("kind", ["bahdanau", "normalized", "luong", "scaled"])
def test_attention_is_that_of_the_papers(kind):
    rng = np.random.RandomState(0)
    memory, lengths, x = rng.randn(2, 5, 4).astype("f"), np.array([5, 2]), rng.randn(2, 3, 2).astype("f")
    if kind in ("bahdanau", "normalized"):
        attention = seq2seq.BahdanauAttention(6, memory, lengths, normalize=kind == "normalized")
    else:
        attention = seq2seq.LuongAttention(UNITS, memory, lengths, scale=kind == "scaled")
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicRNNCell(UNITS), attention, attention_layer_size=4,
                                    alignment_history=True)
    decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(x, [3, 3]), cell.zero_state(2, tf.float32))
    outputs, state, _ = seq2seq.dynamic_decode(decoder)
    (found, history, last), w = runs([outputs.rnn_output, state.alignment_history.stack(), state.alignments])
    scope = "decoder/attention_wrapper"
    own = {"bahdanau": ["query_layer/kernel", "attention_v"], "luong": [], "scaled": ["attention_g"],
           "normalized": ["query_layer/kernel", "attention_v", "attention_g", "attention_b"]}[kind]
    mechanism = f"{scope}/{'luong' if kind in ('luong', 'scaled') else 'bahdanau'}_attention"
    assert list(w) == ["memory_layer/kernel", f"{scope}/basic_rnn_cell/kernel", f"{scope}/basic_rnn_cell/bias",
                       *[f"{mechanism}/{name}" for name in own], f"{scope}/attention_layer/kernel"]
    values = memory * (np.arange(5)[None, :, None] < lengths[:, None, None])
    keys, h, attended = values @ w["memory_layer/kernel"], np.zeros((2, UNITS), "f"), np.zeros((2, 4), "f")
    for t in range(3):
        h = rnn(w, np.concatenate([x[:, t], attended], 1), h, f"{scope}/basic_rnn_cell")
        if kind in ("luong", "scaled"):
            score = np.einsum("btu,bu->bt", keys, h)
        else:
            v = w[f"{mechanism}/attention_v"]
            query = (h @ w[f"{mechanism}/query_layer/kernel"])[:, None]
            if kind == "normalized":
                v = w[f"{mechanism}/attention_g"] * v / np.linalg.norm(v)
                query = query + w[f"{mechanism}/attention_b"]
            score = (v * np.tanh(keys + query)).sum(2)
        weights = softmax(np.where(np.arange(5) < lengths[:, None], score, -np.inf))
        context = np.einsum("bt,btv->bv", weights, values)
        attended = np.concatenate([h, context], 1) @ w[f"{scope}/attention_layer/kernel"]
        np.testing.assert_allclose(history[t], weights, 1e-4, 1e-5)
        np.testing.assert_allclose(found[:, t], attended, 1e-4, 1e-5)
    np.testing.assert_allclose(last, weights, 1e-4, 1e-5)


def test_monotonic_attention_is_the_recursion():
    rng = np.random.RandomState(0)
    p, before = rng.uniform(0.05, 0.95, (3, 6)).astype("f"), softmax(rng.randn(3, 6)).astype("f")
    wanted, stay = np.zeros((3, 6)), np.zeros(3)
    for j in range(6):
        stay = (1 - p[:, j - 1] if j else 1) * stay + before[:, j]
        wanted[:, j] = p[:, j] * stay
    hard = (p > 0.5).astype("f")
    one = np.eye(6, dtype="f")[[0, 2, 5]]
    found, _ = runs([seq2seq.monotonic_attention(p, before, mode) for mode in ("recursive", "parallel")] +
                    [seq2seq.monotonic_attention(hard, one, "hard")])
    np.testing.assert_allclose(found[0], wanted, 1e-4, 1e-6)
    np.testing.assert_allclose(found[1], wanted, 1e-4, 1e-6)
    for row, start in enumerate((0, 2, 5)):
        stops = [j for j in range(start, 6) if hard[row, j]][:1]
        assert np.flatnonzero(found[2][row]).tolist() == stops
    with pytest.raises(ValueError, match="mode must be"):
        seq2seq.monotonic_attention(p, before, "soft")


@pytest.mark.parametrize("additive, mode", [(True, "parallel"), (False, "hard"), (False, "recursive")])
def test_monotonic_mechanisms_move_forward(additive, mode):
    memory = tf.constant(np.random.RandomState(0).randn(2, 6, 4).astype("f"))
    attention = (seq2seq.BahdanauMonotonicAttention if additive else seq2seq.LuongMonotonicAttention)(
        UNITS, memory, score_bias_init=-0.5, mode=mode, sigmoid_noise=0.1, sigmoid_noise_seed=1)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicRNNCell(UNITS), attention, alignment_history=True)
    helper = seq2seq.TrainingHelper(tf.ones([2, 4, 2]), [4, 4])
    outputs, state, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32)))
    assert outputs.rnn_output.shape.as_list() == [2, None, 4]
    history, weights = runs(state.alignment_history.stack())
    name = f"decoder/attention_wrapper/{'bahdanau' if additive else 'luong'}_monotonic_attention/attention_score_bias"
    assert weights[name] == -0.5
    mass_behind = np.cumsum(history, 2)
    assert (mass_behind[1:] <= mass_behind[:-1] + 1e-4).all() and (history.sum(2) <= 1 + 1e-4).all()


def test_several_mechanisms_side_by_side():
    first, second = (seq2seq.LuongAttention(UNITS, tf.ones([2, steps, 4])) for steps in (5, 3))
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(UNITS), [first, second], attention_layer_size=[4, 2],
                                    output_attention=False)
    output, state = cell(tf.ones([2, 2]), cell.zero_state(2, tf.float32))
    assert output.shape.as_list() == [2, 3] and state.attention.shape.as_list() == [2, 6]
    assert [part.shape.as_list() for part in state.alignments] == [[2, 5], [2, 3]]
    assert cell.output_size == 3 and cell.state_size.alignments == (5, 3)
    names = [v.op.name for v in tf.global_variables()]
    assert names[-2:] == ["attention_wrapper/attention_layer/kernel", "attention_wrapper/attention_layer_1/kernel"]
    given = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(UNITS), first, attention_layer=tf.layers.Dense(7),
                                     attention_fn=None, cell_input_fn=lambda inputs, attention: inputs)
    assert given.output_size == 7


def test_what_is_wrong_is_said():
    cell = tf.nn.rnn_cell.GRUCell(UNITS)
    attention = seq2seq.LuongAttention(4, tf.ones([2, 5, 4]))
    with pytest.raises(TypeError, match="AttentionMechanism"):
        seq2seq.AttentionWrapper(cell, tf.ones([2, 5, 4]))
    with pytest.raises(ValueError, match=r"one element per attention_mechanism, saw: 2 vs 1"):
        seq2seq.AttentionWrapper(cell, attention, attention_layer_size=[1, 2])
    with pytest.raises(ValueError, match="Only one of"):
        seq2seq.AttentionWrapper(cell, attention, 4, attention_layer=tf.layers.Dense(4))
    wrapper = seq2seq.AttentionWrapper(cell, attention)
    with pytest.raises(ValueError, match="units: 3. Keys"):
        wrapper(tf.ones([2, 2]), wrapper.zero_state(2, tf.float32))
    with pytest.raises(TypeError, match="instance of AttentionWrapperState"):
        wrapper(tf.ones([2, 2]), tf.ones([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="tile_batch"):
        wrapper.zero_state(6, tf.float32)
    with pytest.raises(ValueError, match="Expected a tensor of the shape"):
        wrapper.zero_state(2, tf.float32).clone(cell_state=tf.ones([6, 3]))
    with pytest.raises(TypeError, match="helper must be a Helper"):
        seq2seq.BasicDecoder(cell, cell, tf.ones([2, 3]))
    with pytest.raises(TypeError, match="to be type Decoder"):
        seq2seq.dynamic_decode(cell)
    with pytest.raises(ValueError, match="sampling_probability must be either"):
        seq2seq.ScheduledOutputTrainingHelper(tf.ones([2, 3, 4]), [3, 3], [[0.1]])
    with pytest.raises(ValueError, match="batch_size accessed"):
        _ = seq2seq.CustomHelper(None, None, None).batch_size
    with pytest.raises(ValueError, match="fully defined inner dims"):
        seq2seq.LuongAttention(4, tf.placeholder(tf.float32, [2, 5, None]))
    lengths = tf.placeholder(tf.int32, [2])
    keys = seq2seq.LuongAttention(4, tf.ones([2, 5, 4]), lengths).keys
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="must greater than zero"):
        sess.run(tf.global_variables_initializer())
        sess.run(keys, {lengths: [1, 0]})


DIGITS, GO, STOP = 10, 10, 11


def reverser(batch, steps):
    """Reads digits, writes them in reverse: an LSTM with attention, as courses build it. (loss, greedy, beam) ops."""
    digits = tf.placeholder(tf.int32, [None, None], "digits")
    lengths = tf.placeholder(tf.int32, [None], "lengths")
    targets = tf.concat([tf.reverse_sequence(digits, lengths, 1), tf.fill([batch, 1], STOP)], 1)
    places = tf.range(tf.shape(targets)[1])
    targets = tf.where(places < lengths[:, None], targets, tf.fill(tf.shape(targets), STOP))
    embedding = tf.get_variable("embedding", [12, 12], initializer=tf.random_normal_initializer(seed=1))
    encoder = tf.nn.rnn_cell.GRUCell(32, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    memory, last = tf.nn.dynamic_rnn(encoder, tf.nn.embedding_lookup(embedding, digits), lengths, dtype=tf.float32,
                                     scope="encoder")
    layer = tf.layers.Dense(12, name="words", kernel_initializer=tf.glorot_uniform_initializer(seed=3))

    def decode(make, memory, lengths, last, size, reuse=True):
        with tf.variable_scope("decoding", reuse=reuse, initializer=tf.glorot_uniform_initializer(seed=4)):
            attention = seq2seq.LuongAttention(32, memory, lengths)
            cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(32), attention, attention_layer_size=32)
            state = cell.zero_state(size, tf.float32).clone(cell_state=last)
            return seq2seq.dynamic_decode(make(cell, state), maximum_iterations=steps + 2)[0]
    shifted = tf.concat([tf.fill([batch, 1], GO), targets[:, :-1]], 1)
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, shifted), lengths + 1)
    trained = decode(lambda cell, state: seq2seq.BasicDecoder(cell, helper, state, layer), memory, lengths, last, batch,
                     None)
    weights = tf.sequence_mask(lengths + 1, tf.shape(targets)[1], tf.float32)
    width = tf.shape(trained.rnn_output)[1]
    loss = seq2seq.sequence_loss(trained.rnn_output, targets[:, :width], weights[:, :width])
    start = tf.fill([batch], GO)
    greedy = decode(lambda cell, state: seq2seq.BasicDecoder(
        cell, seq2seq.GreedyEmbeddingHelper(embedding, start, STOP), state, layer), memory, lengths, last, batch)
    beam = decode(lambda cell, state: seq2seq.BeamSearchDecoder(
        cell, embedding, start, STOP, state, 3, layer), *seq2seq.tile_batch((memory, lengths, last), 3), 3 * batch)
    return loss, greedy.sample_id, beam.predicted_ids


def test_a_program_learns_to_reverse_digits(tmp_path):
    batch, steps, rng = 32, 6, np.random.RandomState(0)
    loss, greedy, beam = reverser(batch, steps)
    train = tf.train.AdamOptimizer(0.01).minimize(loss)

    def data():
        lengths = rng.randint(2, steps + 1, batch)
        lengths[0] = steps
        return {"digits:0": rng.randint(0, DIGITS, (batch, steps)), "lengths:0": lengths}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(250):
            value, _ = sess.run([loss, train], data())
        fed = data()
        found, beams = sess.run([greedy, beam], fed)
        assert_restores(sess, [loss, beam], fed, tmp_path)
    right = {"greedy": 0, "beam": 0}
    for example in range(batch):
        length = fed["lengths:0"][example]
        wanted = [*fed["digits:0"][example, :length][::-1], STOP]
        right["greedy"] += found[example, :length + 1].tolist() == wanted
        right["beam"] += beams[example, :length + 1, 0].tolist() == wanted
    assert value < 0.5 and min(right.values()) > batch // 2 and abs(right["greedy"] - right["beam"]) < 6, right
