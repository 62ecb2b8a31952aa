"""Programs with ragged tensors: text to n-grams to embeddings, trained; gradients; loops and branches; graphs kept."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.modes import compiling


def test_a_classifier_of_texts_by_character_ngrams_learns():
    """Text -> characters -> n-grams -> hashed embedding -> mean by row -> logits, as courses build it."""
    texts = [f"{word}{end}" for word in ("walk", "talk", "jump", "play", "look", "call") for end in ("ing", "ed", "s")]
    labels = [kind for _ in range(6) for kind in range(3)]
    random = np.random.RandomState(0)
    tf.set_random_seed(1)
    words, wanted = tf.placeholder(tf.string, [None]), tf.placeholder(tf.int32, [None])
    grams = tf.strings.ngrams(tf.strings.unicode_split(words, "UTF-8"), [2, 3], separator="", pad_values=("<", ">"))
    table = tf.get_variable("table", [200, 8], initializer=tf.random_normal_initializer(stddev=0.1, seed=2))
    embedded = tf.nn.embedding_lookup(table, tf.strings.to_hash_bucket_fast(grams, 200))
    logits = tf.layers.dense(tf.reduce_mean(embedded, axis=1), 3)
    loss = tf.losses.sparse_softmax_cross_entropy(wanted, logits)
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first = sess.run(loss, {words: texts, wanted: labels})
        for _ in range(40):
            some = random.permutation(18)[:12]
            sess.run(step, {words: [texts[i] for i in some], wanted: [labels[i] for i in some]})
        last, guess = sess.run([loss, tf.argmax(logits, 1)], {words: texts, wanted: labels})
    assert embedded.shape.as_list() == [None, None, 8]
    assert first > 1.0 and last < 0.3 and np.mean(guess == labels) > 0.9


@pytest.mark.parametrize("mode", ["never", "always"])
def test_gradients_flow_through_flat_values(mode):
    flat = tf.placeholder(tf.float64, [6])
    x = tf.RaggedTensor.from_row_splits(flat, [0, 2, 2, 5, 6])
    results = {
        "sum": tf.reduce_sum(tf.reduce_sum(x * x, 1) ** 2), "mean": tf.reduce_sum(tf.reduce_mean(x[::2], 1)),
        "padded": tf.reduce_sum(x.to_tensor(2.0) ** 3), "gathered": tf.reduce_sum(tf.gather(x, [2, 0, 2]).values ** 2),
        "sparse": tf.reduce_sum(x.to_sparse().values ** 2),
        "joined": tf.reduce_sum(tf.concat([x, x * 2.0], 1).values ** 3),
        "broadcast": tf.reduce_sum((x * tf.reduce_sum(x, 1, keepdims=True)).flat_values)}
    value, gap = np.array([1.0, -2.0, 3.0, 0.5, 1.5, -1.0]), 1e-6
    with compiling(mode), tf.Session() as sess:
        for name, result in results.items():
            gradient, = tf.gradients(result, flat)
            gradient = tf.convert_to_tensor(gradient)
            for _ in range(2):
                found = sess.run(gradient, {flat: value})
            wanted = [(sess.run(result, {flat: value + gap * row}) - sess.run(result, {flat: value - gap * row}))
                      / (2 * gap) for row in np.eye(6)]
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=name)


def test_the_default_of_padding_has_a_gradient():
    default = tf.placeholder(tf.float32, [])
    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    gradient, = tf.gradients(tf.reduce_sum(x.to_tensor(default) * [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), default)
    with tf.Session() as sess:
        assert sess.run(gradient, {default: 0.0}) == 52.0


def test_loops_and_branches_carry_ragged_tensors():
    x = tf.ragged.constant([[1, 2], [], [3]])
    _, grown = tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, tf.concat([r, r[:, :1]], 1)), [0, x])
    flag = tf.placeholder(tf.bool, [])
    chosen = tf.cond(flag, lambda: x + 1, lambda: x * 10)
    with tf.Session() as sess:
        assert sess.run(grown).to_list() == [[1, 2, 1, 1, 1], [], [3, 3, 3, 3]]
        assert sess.run(chosen, {flag: True}).to_list() == [[2, 3], [], [4]]
        assert sess.run(chosen, {flag: False}).to_list() == [[10, 20], [], [30]]


def test_feeds_and_fetches_in_structures():
    x = tf.ragged.placeholder(tf.int64, 2, [2])
    value = tf.ragged.constant_value([[[[1, 2]], []], [[[3, 4], [5, 6]]]], np.int64, ragged_rank=2)
    with tf.Session() as sess:
        found = sess.run({"x": [x, x.row_lengths()], "op": tf.no_op()}, {x: value})
        assert x.eval({x: value}, sess).to_list() == value.to_list()
        with pytest.raises(TypeError, match="RaggedTensorValue"):
            sess.run(x, {x: [[1]]})
    assert found["x"][0].to_list() == value.to_list() and found["x"][0].shape == (2, None, None, 2)
    assert found["x"][1].tolist() == [2, 1] and found["op"] is None
    assert x.shape.as_list() == [None, None, None, 2] and x.ragged_rank == 2


def test_specs_describe_and_compare():
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    assert spec == tf.type_spec_from_value(tf.ragged.placeholder(tf.int32, 1, []))
    assert not spec.is_compatible_with(tf.ragged.constant([[1.0]]))
    assert repr(spec) == "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)"
    with pytest.raises(ValueError, match="less than rank"):
        tf.RaggedTensorSpec([2, None], tf.int32, ragged_rank=2)
    with pytest.raises(ValueError, match="known rank"):
        tf.RaggedTensorSpec()


def test_what_has_no_ragged_form_says_what_to_do():
    x = tf.ragged.constant([[1.0], [2.0, 3.0]])
    with pytest.raises(TypeError, match="to_tensor"):
        tf.matmul(x, x)
    with pytest.raises(TypeError, match="boolean"):
        bool(x)
    with pytest.raises(ValueError, match="session.run"):
        x.to_list()
    with pytest.raises(ValueError, match="from_row_splits"):
        tf.RaggedTensor([1], [0, 1])
    with pytest.raises(AttributeError, match="newer than TensorFlow 1.15"):
        _ = tf.ragged.cross


def test_graphs_with_ragged_ops_are_imported():
    x = tf.ragged.placeholder(tf.float32, 1, [])
    tf.identity(tf.gather(x, [1, 0]).to_tensor(), name="y")
    names = [part.name for part in x.parts]
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as sess:
        y, = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
        fed = dict(zip(names, ([0, 1, 3], [5.0, 6.0, 7.0]), strict=True))
        assert sess.run(y, fed).tolist() == [[6.0, 7.0], [5.0, 0.0]]
