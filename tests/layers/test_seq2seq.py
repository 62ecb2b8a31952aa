"""Encoders, decoders and losses of sequences: names of variables of 1.x, numbers beside NumPy, and that they learn."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfnb as tf

seq2seq = tf.contrib.legacy_seq2seq
sparse = tf.nn.sparse_softmax_cross_entropy_with_logits
STEPS, SYMBOLS = 4, 7


def inputs(count: int, name: str) -> list[Any]:
    return [tf.placeholder(tf.int32, [None], f"{name}{i}") for i in range(count)]


def softmax_losses(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(-1, keepdims=True)
    return np.log(np.exp(shifted).sum(-1)) - np.take_along_axis(shifted, targets[..., None], -1)[..., 0]


@pytest.mark.parametrize("over_steps, over_batch", [(True, True), (True, False), (False, True), (False, False)])
def test_sequence_loss(over_steps: bool, over_batch: bool) -> None:
    rng = np.random.RandomState(0)
    logits, targets = rng.randn(3, 4, 5).astype("f"), rng.randint(0, 5, (3, 4))
    weights = (rng.rand(3, 4) > 0.3).astype("f")
    losses = softmax_losses(logits, targets) * weights
    want = losses
    if over_steps and over_batch:
        want = losses.sum() / weights.sum()
    elif over_steps or over_batch:
        want = losses.sum(1 if over_steps else 0) / weights.sum(1 if over_steps else 0)
    loss = tf.contrib.seq2seq.sequence_loss(tf.constant(logits), tf.constant(targets), tf.constant(weights), over_steps,
                                            over_batch)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(loss), want, rtol=1e-5)


def test_losses_of_lists() -> None:
    rng = np.random.RandomState(1)
    logits, targets = rng.randn(4, 3, 5).astype("f"), rng.randint(0, 5, (4, 3))
    weights = rng.rand(4, 3).astype("f")
    losses = softmax_losses(logits, targets) * weights
    lists = [[tf.constant(step) for step in values] for values in (logits, targets.astype("i"), weights)]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(seq2seq.sequence_loss_by_example(*lists)),
                                   losses.sum(0) / weights.sum(0), rtol=1e-5)
        summed = seq2seq.sequence_loss_by_example(*lists, average_across_timesteps=False)
        np.testing.assert_allclose(session.run(summed), losses.sum(0), rtol=1e-5)
        np.testing.assert_allclose(session.run(seq2seq.sequence_loss(*lists)), (losses.sum(0) / weights.sum(0)).mean(),
                                   rtol=1e-5)
    with pytest.raises(ValueError, match="must be the same 4, 4, 3"):
        seq2seq.sequence_loss_by_example(lists[0], lists[1][:3], lists[2])
    with pytest.raises(ValueError, match="Logits must be a 3-dimensional tensor"):
        tf.contrib.seq2seq.sequence_loss(lists[0][0], lists[1][0], lists[2][0])


def test_rnn_decoder_is_the_cell_step_by_step() -> None:
    x = np.random.RandomState(2).randn(3, 2, 4).astype("f")
    steps = [tf.constant(step) for step in x]
    outputs, state = seq2seq.rnn_decoder(steps, tf.zeros([2, 4]), tf.nn.rnn_cell.BasicRNNCell(4))
    fed, _ = seq2seq.rnn_decoder(steps, tf.zeros([2, 4]), tf.nn.rnn_cell.BasicRNNCell(4),
                                 lambda previous, step: previous * tf.cast(step, tf.float32), scope="fed")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        by_name = {v.op.name: session.run(v) for v in tf.global_variables()}
        for made, looped in ((outputs, False), (fed, True)):
            scope = "fed" if looped else "rnn_decoder"
            kernel, bias = (by_name[f"{scope}/basic_rnn_cell/{name}"] for name in ("kernel", "bias"))
            h, found = np.zeros((2, 4), "f"), session.run(made)
            for i in range(3):
                given = h * i if looped and i else x[i]
                h = np.tanh(np.concatenate([given, h], 1) @ kernel + bias)
                np.testing.assert_allclose(found[i], h, rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(*session.run([state, outputs[-1]]))


def test_names_of_variables() -> None:
    encoder, decoder = inputs(2, "e"), inputs(2, "d")
    seq2seq.embedding_attention_seq2seq(encoder, decoder, tf.nn.rnn_cell.BasicRNNCell(3), SYMBOLS, SYMBOLS, 2)
    scope = "embedding_attention_seq2seq"
    inner = f"{scope}/embedding_attention_decoder/attention_decoder"
    assert [v.op.name for v in tf.trainable_variables()] == [
        f"{scope}/rnn/embedding_wrapper/embedding", f"{scope}/rnn/embedding_wrapper/basic_rnn_cell/kernel",
        f"{scope}/rnn/embedding_wrapper/basic_rnn_cell/bias", f"{scope}/embedding_attention_decoder/embedding",
        f"{inner}/AttnW_0", f"{inner}/AttnV_0", f"{inner}/kernel", f"{inner}/bias",
        f"{inner}/output_projection_wrapper/basic_rnn_cell/kernel",
        f"{inner}/output_projection_wrapper/basic_rnn_cell/bias", f"{inner}/output_projection_wrapper/kernel",
        f"{inner}/output_projection_wrapper/bias", f"{inner}/Attention_0/kernel", f"{inner}/Attention_0/bias",
        f"{inner}/AttnOutputProjection/kernel", f"{inner}/AttnOutputProjection/bias"]


def test_tied_and_basic_models_share_what_they_should() -> None:
    steps = [tf.ones([2, 3])] * 3
    seq2seq.basic_rnn_seq2seq(steps, steps, tf.nn.rnn_cell.GRUCell(3))
    assert len(tf.trainable_variables()) == 8
    seq2seq.tied_rnn_seq2seq(steps, steps, tf.nn.rnn_cell.GRUCell(3))
    assert len(tf.trainable_variables()) == 12


@pytest.mark.slow
@pytest.mark.parametrize("make", ["embedding_rnn_seq2seq", "embedding_attention_seq2seq", "embedding_tied_rnn_seq2seq"])
def test_models_learn_to_copy(make: str) -> None:
    """Trained with the right symbols, and decoding with their own (feed_previous, fed as a tensor)."""
    encoder, decoder = inputs(STEPS, "e"), inputs(STEPS + 1, "d")
    alone = tf.placeholder_with_default(False, [])
    sizes = [SYMBOLS, 8] if "tied" in make else [SYMBOLS, SYMBOLS, 8]
    tf.set_random_seed(1)
    outputs, _ = getattr(seq2seq, make)(encoder, decoder[:-1], tf.nn.rnn_cell.GRUCell(24), *sizes, feed_previous=alone)
    weights = [tf.ones_like(d, dtype=tf.float32) for d in decoder[1:]]
    loss = seq2seq.sequence_loss(outputs, decoder[1:], weights)
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    guesses = tf.argmax(tf.stack(outputs), 2)
    rng = np.random.RandomState(0)

    def batch() -> tuple[np.ndarray, dict[Any, Any]]:
        x = rng.randint(1, SYMBOLS, (STEPS, 32))
        return x, {**dict(zip(encoder, x, strict=True)),
                   **dict(zip(decoder, np.concatenate([np.zeros((1, 32), int), x]), strict=True))}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(400):
            session.run(train, batch()[1])
        x, feed = batch()
        assert (session.run(guesses, {**feed, alone: True}) == x).mean() > 0.9


def test_buckets_share_variables() -> None:
    encoder, decoder, targets = inputs(4, "e"), inputs(5, "d"), inputs(5, "t")
    weights = [tf.ones_like(t, dtype=tf.float32) for t in targets]
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    outputs, losses = seq2seq.model_with_buckets(
        encoder, decoder, targets, weights, [(2, 3), (4, 5)],
        lambda e, d: seq2seq.embedding_rnn_seq2seq(e, d, cell, SYMBOLS, SYMBOLS, 2))
    assert [len(o) for o in outputs] == [3, 5] and len(losses) == 2 and len(tf.trainable_variables()) == 8
    with pytest.raises(ValueError, match=r"Length of targets \(2\) must be at least that of last bucket \(5\)"):
        seq2seq.model_with_buckets(encoder, decoder, targets[:2], weights, [(4, 5)], lambda e, d: None)


@pytest.mark.parametrize("call, words", [
    (lambda: seq2seq.attention_decoder([], tf.zeros([1, 2]), tf.zeros([1, 2, 2]), tf.nn.rnn_cell.GRUCell(2)),
     "at least 1 input"),
    (lambda: seq2seq.attention_decoder([tf.zeros([1, 2])], tf.zeros([1, 2]), tf.zeros([1, 2, 2]),
                                       tf.nn.rnn_cell.GRUCell(2), num_heads=0), "less than 1 heads"),
    (lambda: tf.nn.rnn_cell.OutputProjectionWrapper(tf.nn.rnn_cell.GRUCell(2), 0), "must be > 0"),
    (lambda: tf.nn.rnn_cell.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(2), 3, 0), "must be > 0"),
    (lambda: seq2seq.embedding_rnn_decoder(inputs(2, "d"), tf.zeros([1, 2]), tf.nn.rnn_cell.GRUCell(2), 5, 2,
                                           (tf.zeros([3, 5]), tf.zeros([5]))), "output_projection must have shapes"),
])
def test_wrong_arguments(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_input_projection_and_the_names_of_before_1_0() -> None:
    cell = tf.contrib.rnn.InputProjectionWrapper(tf.contrib.rnn.BasicRNNCell(3), 5, tf.nn.relu)
    outputs, state = tf.nn.rnn(cell, [tf.ones([2, 4])] * 2, dtype=tf.float32)
    assert cell.state_size == cell.output_size == 3 and outputs[1].shape.as_list() == [2, 3]
    assert [v.op.name for v in tf.trainable_variables()][:2] == [
        "rnn/input_projection_wrapper/kernel", "rnn/input_projection_wrapper/bias"]
    assert tf.nn.seq2seq.rnn_decoder is seq2seq.rnn_decoder
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(*session.run([outputs[1], state]))


@pytest.mark.parametrize("loss", [
    lambda labels, logits: sparse(labels=labels, logits=logits),
    lambda labels, inputs: sparse(labels=labels, logits=inputs),                   # 1.0, by position
    lambda logit, target: sparse(labels=target, logits=logit),                     # 0.x
    lambda inputs, labels: sparse(labels=labels, logits=inputs),
    lambda a, b: sparse(labels=a, logits=b),
    lambda **named: sparse(**named)])
def test_a_loss_function_is_called_as_its_release_did(loss: Any) -> None:
    logits, targets, weights = [tf.constant([[1.0, 3.0, 2.0]])], [tf.constant([2])], [tf.constant([1.0])]
    for measure in (seq2seq.sequence_loss, seq2seq.sequence_loss_by_example):
        made, wanted = (measure(logits, targets, weights, softmax_loss_function=fn) for fn in (loss, None))
        with tf.Session() as sess:
            np.testing.assert_array_equal(*sess.run([made, wanted]))


def test_one_encoder_has_several_decoders() -> None:
    words, cells = inputs(STEPS, "words"), [tf.nn.rnn_cell.GRUCell(4) for _ in range(3)]
    outputs, states = seq2seq.one2many_rnn_seq2seq(
        words, {"a": words[:3], "b": words[:2]}, cells[0], {"a": cells[1], "b": cells[2]}, SYMBOLS,
        {"a": 5, "b": 6}, 3, feed_previous=tf.constant(True))
    names = [v.op.name for v in tf.global_variables()]
    assert names[0] == "one2many_rnn_seq2seq/rnn/embedding_wrapper/embedding"
    assert [name.split("/")[1] for name in names].count("one2many_decoder_b") == 7
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, last = session.run([outputs, states], {word: [1, 2] for word in words})
    assert [len(found[name]) for name in "ab"] == [3, 2] and found["b"][0].shape == (2, 6)
    assert last["a"].shape == (2, 4)
