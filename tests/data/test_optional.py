"""Optional elements, random integers, rows of databases, files of records that datasets write."""
from __future__ import annotations

import sqlite3

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

experimental = tf.data.experimental
SNIPPETS = {
    "optional": """
iterator = tf.data.Dataset.from_tensor_slices(([1, 2], ["a", "b"])).make_initializable_iterator()
element = tf.data.experimental.get_next_as_optional(iterator)
with tf.Session() as sess:
    sess.run(iterator.initializer)
    result = [sess.run([element.has_value(), element.get_value()]) for _ in range(2)] + [sess.run(element.has_value())]
    some = tf.data.experimental.Optional.from_value({"b": tf.constant([1.5, x]), "a": tf.constant("z")})
    result.append(sess.run([some.has_value(), some.get_value()]))
""",
    "random": """
tf.set_random_seed(5)
numbers = [tf.data.experimental.RandomDataset(seed=seed).batch(3).make_one_shot_iterator().get_next()
           for seed in (None, 1, 7)]
with tf.Session() as sess:
    result = [sess.run(numbers), sess.run(numbers)]
""",
    "rows": """
def rows(types, query="SELECT * FROM t"):
    found = []
    row = tf.data.experimental.SqlDataset("sqlite", path, query, types).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        try:
            while True:
                found.append([type(value).__name__ + " " + repr(value.tolist() if hasattr(value, "tolist") else value)
                              for value in sess.run(row)])
        except tf.errors.OpError as error:
            return found + [type(error).__name__]
result = [rows((tf.int32, tf.string, tf.float64, tf.string)), rows((tf.bool, tf.string, tf.string, tf.string)),
          rows((tf.int32,) * 4), rows((tf.int8, tf.int32)), rows((tf.float32,) * 4),
          rows((tf.int32,), "SELECT no FROM t"),
          rows((tf.uint16, tf.int8, tf.bool, tf.bool, tf.int32, tf.uint8), "SELECT 70000, 300, 2, 'x', 2.7, -1")]
""",
}


def test_like_tensorflow(oracle, tmp_path):
    path = str(tmp_path / "rows.db")
    connection = sqlite3.connect(path)
    with connection:
        connection.executescript("CREATE TABLE t (a INTEGER, b TEXT, c REAL, d BLOB);"
                                 "INSERT INTO t VALUES (1, 'x', 1.5, x'00ff'), (2, NULL, NULL, NULL)")
    connection.close()
    assert differences(oracle, SNIPPETS, f"path, x = {path!r}, 2.5", 1e-6, modes=("never", "always")) == {}


def test_structures_and_errors(tmp_path):
    spec = (tf.TensorSpec([None], tf.int32), tf.SparseTensorSpec([2, 3], tf.float32))
    nothing = experimental.Optional.none_from_structure(spec)
    assert nothing.value_structure == spec and tf.type_spec_from_value(nothing) == tf.OptionalSpec(spec)
    assert experimental.OptionalStructure is tf.OptionalSpec and experimental.Structure is tf.TypeSpec
    assert experimental.TensorStructure(tf.int32, [None]) == spec[0]
    assert experimental.SparseTensorStructure(tf.float32, [2, 3]) == spec[1]
    assert experimental.TensorArrayStructure(tf.int32, [2], True, False) == tf.TensorArraySpec(
        [2], tf.int32, True, False)
    assert experimental.RaggedTensorStructure(tf.int32, [2, None], 1) == tf.RaggedTensorSpec([2, None], tf.int32)
    numbers = tf.data.Dataset.range(3)
    assert tf.type_spec_from_value(numbers) == experimental.DatasetStructure(tf.TensorSpec([], tf.int64))
    with pytest.raises(TypeError, match="expected a structure of tf.TensorSpec"):
        experimental.Optional.none_from_structure(tf.int32)
    with pytest.raises(TypeError, match="must produce scalar `DT_STRING`"):
        experimental.TFRecordWriter("x").write(numbers)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
            sess.run(nothing.get_value()[0])
        sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 3])
        value = sess.run(experimental.Optional.from_value((sparse, np.int32(4))).get_value())
        assert value[0].values.tolist() == [2.0] and value[1] == 4
        path = str(tmp_path / "strings")
        strings = tf.data.Dataset.from_tensor_slices(["a", "b"]).repeat(2)
        sess.run(experimental.TFRecordWriter(path, "GZIP").write(strings))
        read = tf.data.TFRecordDataset(path, "GZIP").batch(9).make_one_shot_iterator().get_next()
        assert sess.run(read).tolist() == [b"a", b"b", b"a", b"b"]
        other = experimental.SqlDataset("mysql", path, "SELECT 1", (tf.int32,)).make_initializable_iterator()
        with pytest.raises(tf.errors.InvalidArgumentError, match="mysql, is not supported.*'sqlite'"):
            sess.run(other.initializer)
