"""Connectionist temporal classification: losses, gradients, decoders and errors as in TensorFlow; a speech toy."""
from __future__ import annotations

import itertools

import numpy as np

import tfnb as tf
from tests.differential import differences
from tests.restored import assert_restores
from tfnb.contrib import audio_ops

SETUP = '''
r = np.random.RandomState(0)
feeds = {}
def fed(value, dtype):
    p = tf.placeholder(dtype, [None] * np.ndim(value))
    feeds[p] = np.array(value, dtype)
    return p
def rows(labels):
    places = [[b, i] for b, row in enumerate(labels) for i in range(len(row))]
    return tf.SparseTensor(fed(np.reshape(places, (-1, 2)), "int64"), fed(sum(labels, []), "int32"),
                           [len(labels), max(map(len, labels))])
def run(*fetches):
    with tf.Session() as sess:
        for _ in range(2):
            found = sess.run(fetches, feeds)
    return found
def loss(shape, labels, lengths, dtype="float32", scale=2.0, function=None, **options):
    x = fed(scale * r.randn(*shape), dtype)
    made = tf.nn.ctc_loss(labels if isinstance(labels, tf.SparseTensor) else rows(labels), x, fed(lengths, "int32"),
                          **options)
    weights = fed(np.arange(1, 1 + len(lengths)), dtype)
    return run(made, tf.gradients(made * weights, x)[0])
def random(batch, steps, classes, most, seed, **options):
    s = np.random.RandomState(seed)
    labels = [s.randint(0, classes - 1, s.randint(1, most + 1)).tolist() for _ in range(batch)]
    lengths = [s.randint(2 * len(row), max(2 * len(row), steps) + 1) for row in labels]
    return loss((max(steps, *lengths), batch, classes), labels, lengths, **options)
def dense(labels, counts, lengths, steps=5, **options):
    x = fed(r.randn(steps, len(labels), 4), "float32")
    made = tf.nn.ctc_loss_v2(fed(labels, "int32"), tf.reshape(x, [steps, len(labels), 4]), fed(counts, "int32"),
                             fed(lengths, "int32"), **options)
    return run(made, tf.gradients(made, x)[0])
def decoded(found):
    sparse, scores = found
    return run(*[part for one in sparse for part in (one.indices, one.values, one.dense_shape)], scores)
'''
LOSSES = {
    "two": "loss((5, 2, 4), [[0, 1], [2]], [5, 3])",
    "equal neighbours": "loss((7, 2, 3), [[0, 0, 0], [1, 1, 0]], [7, 6])",
    "none merged": "loss((7, 2, 3), [[0, 0, 0], [1, 1, 0]], [7, 5], ctc_merge_repeated=False)",
    "collapsed": "loss((5, 2, 4), [[0, 0, 1], [2, 2]], [5, 5], preprocess_collapse_repeated=True)",
    "no room for blanks": "loss((2, 2, 4), [[0, 0], [2]], [2, 2])",
    "left out": "loss((4, 3, 4), [[0, 1, 2], [2], [1]], [2, 4, 0], ignore_longer_outputs_than_inputs=True)",
    "nulls at the end": "loss((5, 2, 4), [[0, 3], [2, 7, 9]], [5, 5])",
    "batch major": "loss((2, 5, 4), [[0, 1], [2]], [5, 3], time_major=False)",
    "large logits": "loss((30, 2, 4), [[0, 1, 2] * 3, [2]], [30, 20], scale=10.0)",
    **{f"random {seed}": f"random(4, 12, {3 + seed}, 5, {seed}, dtype='float{64 if seed % 2 else 32}')"
       for seed in range(6)},
    "long": "random(2, 150, 30, 40, 9)",
    "sparse v2": "x = fed(r.randn(5, 2, 4), 'float32')\nx.set_shape([5, 2, 4])\n"
                 "run(*[tf.nn.ctc_loss_v2(rows([[0, 1], [3 - i % 2]]), x, None, fed([5, 5], 'int32'), blank_index=b) "
                 "for i, b in enumerate((2, -1))])",
    "dense v2": "dense([[1, 2, 3], [1, 1, 9], [0, 0, 0]], [3, 2, 0], [5, 4, 5])",
    "dense v2 last": "dense([[1, 2, 0], [1, 1, 9]], [3, 2], [5, 4], blank_index=-1)",
}
ERRORS = {
    "no labels": "loss((5, 2, 4), [[0, 1], []], [5, 3])",
    "no time": "loss((2, 2, 4), [[0, 1, 2], [2]], [2, 2])",
    "no steps": "loss((5, 2, 4), [[0, 1], [2]], [5, 0])",
    "behind a null": "loss((5, 2, 4), [[0, 3, 1], [2, 2]], [5, 5])",
    "negative": "loss((5, 2, 4), [[0, -1], [2, 2]], [5, 5])",
    "long sequence": "loss((5, 2, 4), [[0, 1], [2]], [6, 5])",
    "other batch": "loss((5, 2, 4), [[0, 1], [2]], [5])",
    "label of nobody": "loss((5, 2, 4), [[0, 1], [2], [1]], [5, 5])",
    **{f"places {places}": "loss((5, 2, 4), tf.SparseTensor(fed(" + str(places) + ", 'int64'), fed([0, 1, 2], 'int32'),"
       " [2, 2]), [5, 5])" for places in ([[1, 0], [0, 0], [0, 1]], [[0, 0], [0, 0], [1, 0]], [[0, 0], [0, 1]])},
    "empty batch": "loss((5, 0, 4), tf.SparseTensor(fed(np.zeros((0, 2)), 'int64'), fed([], 'int32'), [0, 0]), [])",
    "dense labels": "tf.nn.ctc_loss(tf.constant([[1]]), tf.zeros([2, 1, 3]), [2])",
    "rank": "tf.nn.ctc_loss(rows([[1]]), tf.zeros([2, 3]), [2])",
    "no blank": "tf.nn.ctc_loss_v2(rows([[1]]), tf.zeros([2, 1, 3]), None, [2])",
    "beams": "decoded(tf.nn.ctc_beam_search_decoder(fed(r.randn(3, 1, 3), 'float32'), [3], 2, 3))",
    "greedy too long": "decoded(tf.nn.ctc_greedy_decoder(fed(r.randn(3, 1, 3), 'float32'), fed([4], 'int32')))",
    "second gradient": "x = fed(r.randn(3, 1, 3), 'float32')\nl = tf.nn.ctc_loss(rows([[1]]), x, [3])\n"
                       "tf.gradients(tf.gradients(l, x), x)",
}
DECODERS = {
    **{f"greedy {merge}": f"decoded(tf.nn.ctc_greedy_decoder(fed(r.randn(9, 4, 3), 'float32'), [9, 5, 0, 1], {merge}))"
       for merge in (True, False)},
    "greedy of another blank": "decoded(tf.nn.ctc_greedy_decoder(fed(r.randn(9, 2, 3), 'float64'), [9, 5], True, 0))",
    **{f"beam {width} {paths} {merge}": f"decoded(tf.nn.ctc_beam_search_decoder(fed(2 * r.randn(8, 3, 4), 'float32'), "
       f"[8, 5, 2], {width}, {paths}, {merge}))" for width, paths, merge in (
           (1, 1, False), (3, 2, False), (10, 5, True), (100, 3, False))},
    "beam v2": "decoded(tf.nn.ctc_beam_search_decoder_v2(fed(r.randn(20, 2, 6), 'float64'), [20, 17], 8, 4))",
    "collapse": "run(*tf.nn.collapse_repeated(fed([[3, 4, 4, 3, 0], [1, 1, 1, 2, 2]], 'int64'), fed([3, 5], 'int32')))",
    "collapse of nothing": "run(*tf.nn.collapse_repeated(fed([[3, 4], [1, 1]], 'int32'), fed([0, 1], 'int32')))",
    "unique": "run(*tf.nn.ctc_unique_labels(fed([[3, 4, 4, 3, 0], [1, 1, 1, 2, 0]], 'int32')))",
}


def test_losses_gradients_decoders_and_errors_are_those_of_tensorflow(oracle):
    assert differences(oracle, {**LOSSES, **ERRORS, **DECODERS}, SETUP, 2e-4, ("never", "always")) == {}


def test_the_probability_is_that_of_all_paths():
    x, labels = np.random.RandomState(0).randn(4, 1, 3), [0, 1]
    y = np.exp(x[:, 0]) / np.exp(x[:, 0]).sum(1, keepdims=True)
    total = 0.0
    for path in itertools.product(range(3), repeat=4):
        merged = [c for i, c in enumerate(path) if (i == 0 or path[i - 1] != c) and c != 2]
        total += np.prod(y[range(4), path]) if merged == labels else 0
    sparse = tf.SparseTensor([[0, 0], [0, 1]], labels, [1, 2])
    (found,), _ = tf.nn.ctc_beam_search_decoder(tf.constant(x), [4], 50, merge_repeated=False)
    with tf.Session() as sess:
        for _ in range(2):
            np.testing.assert_allclose(sess.run(tf.nn.ctc_loss(sparse, tf.constant(x), [4])), [-np.log(total)], 1e-10)
        assert sess.run(found.dense_shape).tolist()[0] == 1


def test_the_blank_of_the_second_loss_is_first():
    x = np.random.RandomState(0).randn(6, 2, 4).astype("f")
    places, values = [[0, 0], [0, 1], [1, 0]], np.array([1, 1, 3])
    first = tf.raw_ops.CTCLossV2(inputs=tf.placeholder_with_default(x, None), labels_indices=places,
                                 labels_values=values, sequence_length=[6, 3])
    last = tf.raw_ops.CTCLoss(inputs=np.roll(x, -1, 2), labels_indices=places, labels_values=values - 1,
                              sequence_length=[6, 3])
    with tf.Session() as sess:
        for _ in range(3):
            ours, theirs = sess.run([first, last])
            np.testing.assert_allclose(ours[0], theirs[0], 1e-5)
            np.testing.assert_allclose(ours[1], np.roll(theirs[1], 1, 2), 1e-4, 1e-6)


TONES, RATE = (400.0, 900.0, 1800.0), 8000


def recordings(count, rng):
    """Sounds of 2 or 3 tones with pauses between them, and the tones."""
    sounds, labels = np.zeros((count, RATE // 2), "f"), []
    for sound in sounds:
        own, at = rng.randint(0, 3, rng.randint(2, 4)).tolist(), rng.randint(0, 400)
        for tone in own:
            length = rng.randint(600, 900)
            sound[at:at + length] = np.sin(2 * np.pi * TONES[tone] * np.arange(length) / RATE)
            at += length + rng.randint(200, 400)
        labels.append(own)
    return sounds + 0.05 * rng.randn(*sounds.shape).astype("f"), labels


def test_a_toy_recognizes_tones_by_their_mfccs(tmp_path):
    sounds = tf.placeholder(tf.float32, [None, RATE // 2])
    labels = tf.sparse_placeholder(tf.int32)
    spectra = audio_ops.audio_spectrogram(tf.transpose(sounds), 256, 160, magnitude_squared=True)
    features = audio_ops.mfcc(spectra, RATE, upper_frequency_limit=3800, filterbank_channel_count=20)
    features.set_shape([None, None, 13])
    cell = tf.nn.rnn_cell.GRUCell(16, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    outputs, _ = tf.nn.dynamic_rnn(cell, features / 10.0, dtype=tf.float32)
    logits = tf.transpose(tf.layers.dense(outputs, 4, kernel_initializer=tf.glorot_uniform_initializer(seed=2)),
                          [1, 0, 2])
    lengths = tf.fill([tf.shape(sounds)[0]], tf.shape(logits)[0])
    loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, lengths))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    (found,), _ = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=5, merge_repeated=False)
    error = tf.reduce_mean(tf.edit_distance(tf.cast(found, tf.int32), labels))
    rng = np.random.RandomState(0)

    def feed(count):
        data, tones = recordings(count, rng)
        places = [[b, i] for b, row in enumerate(tones) for i in range(len(row))]
        return {sounds: data, labels: tf.SparseTensorValue(places, sum(tones, []), [count, 3])}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(120):
            value, _ = sess.run([loss, train], feed(16))
        wrong = sess.run(error, feed(40))
        assert_restores(sess, logits, feed(4), tmp_path)
    assert wrong < 0.3, (value, wrong)
