"""Columns of tf.contrib.layers: the names of variables, the combiners, features from protos. TensorFlow 2 has none."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

L = tf.contrib.layers


def run(fetches, *feeds):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for v in tf.global_variables():
            v.load(np.arange(int(np.prod(v.shape.as_list())), dtype=np.float32).reshape(v.shape.as_list()) + 1, sess)
        return sess.run(fetches, *feeds)


def test_a_linear_model_of_all_kinds():
    age = L.real_valued_column("age")
    pet = L.sparse_column_with_keys("pet", ["cat", "dog"])
    words = L.sparse_column_with_integerized_feature("words", 3, combiner="mean")
    columns = [age, L.bucketized_column(age, [18, 18, 65]), pet, words, L.crossed_column([pet, words], 1),
               L.weighted_sparse_column(L.sparse_column_with_integerized_feature("ids", 2), "weights"),
               L.one_hot_column(pet)]
    features = {"age": [[30.0], [70.0]], "pet": [["dog"], ["cow"]], "words": [[0, 2], [1, -1]],
                "ids": [[1, 0], [0, -1]], "weights": [[2.0, 3.0], [5.0, 0.0]]}
    with tf.variable_scope("linear"):
        outputs, weights, bias = L.weighted_sum_from_feature_columns(features, columns, 1, scope="s")
    assert [v.op.name for v in weights[words]] == ["linear/s/words/weights"] and bias.op.name == "linear/s/bias_weight"
    assert [v.op.name for v in weights[age]] == ["linear/s/age/weight"] and len(weights) == 7
    # age, its bucket, pet, the mean of words, the crosses (one bucket of weight 1), ids by weight, one hot, bias
    expected = [30 + 2 + 2 + 2 + 2 + (2 * 2 + 3) + 2 + 1, 70 + 3 + 0 + 2 + 2 + 5 + 0 + 1]
    assert run(outputs)[:, 0].tolist() == expected


def test_an_input_layer():
    ids = L.sparse_column_with_integerized_feature("ids", 3)
    columns = [L.embedding_column(ids, 2), L.real_valued_column("x", dimension=2, normalizer=lambda x: x + 1),
               *L.shared_embedding_columns([ids, L.sparse_column_with_integerized_feature("other", 3)], 1)]
    features = {"ids": [[2], [0]], "x": [[1.0, 2.0], [3.0, 4.0]], "other": [[1], [2]]}
    layer = L.input_from_feature_columns(features, columns, scope="dnn")
    assert [v.op.name for v in tf.global_variables()] == ["dnn/ids_embedding/weights",
                                                          "dnn/ids_other_shared_embedding/weights"]
    assert run(layer).tolist() == [[5, 6, 3, 2, 2, 3], [1, 2, 1, 3, 4, 5]]


def test_the_column_without_a_name():
    """Programs call the only feature ""."""
    column = L.real_valued_column("", dimension=4)
    assert L.input_from_feature_columns({"": np.ones([2, 4], np.float32)}, [column]).shape.as_list() == [2, 4]
    outputs, weights, _ = L.weighted_sum_from_feature_columns({"": np.ones([2, 4], np.float32)}, [column], 1,
                                                              scope="linear")
    assert [v.op.name for v in weights[column]] == ["linear//weight"]
    assert run(outputs).tolist() == [[11], [11]]


def test_features_from_protos(tmp_path):
    (tmp_path / "pets").write_text("cat\ndog\n")
    pet = L.sparse_column_with_vocabulary_file("pet", str(tmp_path / "pets"), num_oov_buckets=1)
    columns = [L.real_valued_column("age"), L.one_hot_column(pet)]
    assert L.create_feature_spec_for_parsing(columns) == tf.feature_column.make_parse_example_spec(columns)
    proto = tf.train.Example()
    proto.features.feature["age"].float_list.value.append(3.0)
    proto.features.feature["pet"].bytes_list.value.append(b"cow")
    parsed = L.parse_feature_columns_from_examples([proto.SerializeToString()], columns)
    held = L.make_place_holder_tensors_for_base_features(columns)
    changed = L.transform_features(held, columns)
    assert run(L.input_from_feature_columns(parsed, columns)).tolist() == [[3, 0, 0, 1]]
    pets = tf.SparseTensorValue([[0, 0]], [b"dog"], [1, 1])
    assert run(changed[columns[1]], {held["age"]: [[1.0]], held["pet"]: pets}).tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("call", [
    lambda: L.real_valued_column("x", dimension=None), lambda: L.sparse_column_with_hash_bucket("x", 5, combiner="max"),
    lambda: L.sparse_column_with_integerized_feature("x", 3, dtype=tf.float32),
    lambda: L.crossed_column([L.sparse_column_with_hash_bucket("x", 5)] * 2, 5, ckpt_to_load_from="c"),
    lambda: L.crossed_column([L.real_valued_column("x"), L.real_valued_column("y")], 5),
    lambda: L.input_from_feature_columns({}, [L.sparse_column_with_hash_bucket("x", 5)])])
def test_refused(call):
    with pytest.raises(ValueError, match="must|supported|Unsupported|_DenseColumn"):
        call()
