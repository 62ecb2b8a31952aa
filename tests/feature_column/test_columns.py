"""Feature columns beside TensorFlow's: values, names of variables, errors; and what TensorFlow 2 has no more."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.feature_column.column_snippets import SETUP, SNIPPETS

F = tf.feature_column


def test_as_in_tensorflow(oracle):
    assert differences(oracle, SNIPPETS, SETUP, 1e-5) == {}


@pytest.mark.parametrize("mode", [1, 2])
def test_ids_outside_of_the_range_are_named(mode):
    x = tf.placeholder(tf.int64, [None, 1])
    layer = F.input_layer({"day": x}, [F.indicator_column(F.categorical_column_with_identity("day", 3))])
    with tf.Session() as sess:
        for _ in range(mode):
            with pytest.raises(tf.errors.InvalidArgumentError, match="assert_less_than_num_buckets"):
                sess.run(layer, {x: [[3]]})
        assert sess.run(layer, {x: [[2]]}).tolist() == [[0, 0, 1]]


def test_sequences_of_different_lengths_are_refused():
    words = tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [1, 2])
    numbers = tf.SparseTensor([[0, 0], [0, 1]], [1.0, 2.0], [1, 2])
    ids = F.indicator_column(F.sequence_categorical_column_with_identity("words", 4))
    columns = [ids, F.sequence_numeric_column("numbers")]
    layer, lengths = tf.contrib.feature_column.sequence_input_layer({"words": words, "numbers": numbers}, columns)
    short = {"words": words, "numbers": tf.SparseTensor([[0, 0]], [1.0], [1, 2])}
    bad, _ = tf.contrib.feature_column.sequence_input_layer(short, columns)
    with tf.Session() as sess:
        found, sizes = sess.run([layer, lengths])
        assert found.tolist() == [[[1, 0, 1, 0, 0], [2, 0, 0, 1, 0]]] and sizes.tolist() == [2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="sequence_length_check"):
            sess.run(bad)


def test_an_embedding_starts_from_a_checkpoint(tmp_path):
    stored = np.arange(6, dtype=np.float32).reshape(3, 2)
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.Variable(stored, name="words")
        sess.run(variable.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
    ids = F.categorical_column_with_identity("i", 3)
    column = F.embedding_column(ids, 2, ckpt_to_load_from=path, tensor_name_in_ckpt="words")
    layer = F.input_layer({"i": [[2], [0]]}, [column])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(layer), stored[[2, 0]])


def test_columns_of_other_kinds_are_different_keys():
    ids = F.categorical_column_with_identity("i", 3)
    assert len({F.indicator_column(ids), ids, F.bucketized_column(F.numeric_column("i"), [1])}) == 3


def test_columns_read_parsed_protos():
    pet = F.categorical_column_with_vocabulary_list("pet", ["cat", "dog"])
    columns = [F.numeric_column("age"), F.indicator_column(pet)]
    feature, ints = tf.train.Feature, tf.train.FloatList
    protos = [tf.train.Example(features=tf.train.Features(feature={
        "age": feature(float_list=ints(value=[age])), "pet": feature(bytes_list=tf.train.BytesList(value=pets))}))
        for age, pets in ((3.0, [b"dog"]), (5.0, []), (7.0, [b"cat", b"dog"]))]
    parsed = tf.parse_example([p.SerializeToString() for p in protos], F.make_parse_example_spec(columns))
    layer = F.input_layer(parsed, columns)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(layer).tolist() == [[3, 0, 1], [5, 0, 0], [7, 1, 1]]
