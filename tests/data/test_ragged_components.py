"""RaggedTensors and Optionals as components of datasets: as in TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = """
ragged = tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]])
deep = tf.ragged.constant([[["a"], ["b", "c"]], [], [["d"]]], row_splits_dtype=tf.int32)
pairs = tf.RaggedTensor.from_row_lengths([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 0, 2])
def plain(value):
    if hasattr(value, "row_splits"):
        return ["ragged", value.to_list()]
    return [plain(v) for v in value] if isinstance(value, (tuple, list)) else np.asarray(value).tolist()
def elements(dataset, count=9):
    iterator = tf.data.make_initializable_iterator(dataset)
    element, found = iterator.get_next(), []
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        try:
            for _ in range(count):
                found.append(plain(sess.run(element)))
        except tf.errors.OutOfRangeError:
            found.append("end")
    return found, str(tf.data.get_output_shapes(dataset)), str(tf.data.get_output_types(dataset))
Dataset, Optional = tf.data.Dataset, tf.data.experimental.Optional
"""
SNIPPETS = {
    "one": "elements(Dataset.from_tensors((ragged, deep)))",
    "rows": "elements(Dataset.from_tensor_slices((ragged, tf.range(4))))",
    "deep rows": "elements(Dataset.from_tensor_slices(deep)), elements(Dataset.from_tensor_slices(pairs))",
    "batches": "elements(Dataset.from_tensor_slices((ragged, tf.range(4))).batch(3)), elements("
               "Dataset.from_tensor_slices(deep).batch(2, drop_remainder=True)), elements("
               "Dataset.from_tensor_slices(pairs).batch(2).batch(2))",
    "unbatched": "elements(Dataset.from_tensors((ragged, tf.range(4))).unbatch()), elements("
                 "Dataset.from_tensor_slices(deep).batch(2).unbatch())",
    "maps": """
def change(r, n):
    return {"r": r + 1, "n": tf.reduce_sum(r, axis=1) + n[0]}
rows = Dataset.from_tensor_slices((ragged, tf.range(4))).batch(2)
result = elements(rows.map(change).map(lambda d: (d["n"], d["r"])))
made = Dataset.range(3).map(lambda n: tf.RaggedTensor.from_row_lengths(tf.range(n + 1), [n, 1]))
result = result, elements(made), elements(made.batch(3))""",
    "filter, flat_map, zip": """
data = Dataset.from_tensor_slices(ragged).batch(2).filter(lambda r: tf.size(r.values) > 2)
both = Dataset.zip((data, Dataset.from_tensors(deep))).shuffle(1).cache().prefetch(1)
result = elements(both.repeat(2)), elements(data.flat_map(lambda r: Dataset.from_tensor_slices(r)))
result = result, elements(data.concatenate(data.skip(1)))""",
    "reduce": """
rows = Dataset.from_tensor_slices(ragged).batch(3)
tf.Session().run(rows.reduce(0, lambda total, r: total + tf.reduce_sum(r)))""",
    "iterators": """
data = Dataset.from_tensor_slices(ragged).batch(2)
iterator = tf.data.Iterator.from_structure(data.output_types, data.output_shapes, output_classes=data.output_classes)
element = iterator.get_next()
with tf.Session() as sess:
    sess.run(iterator.make_initializer(data))
    result = [plain(sess.run(element)) for _ in range(2)]""",
    "optionals": """
some = Dataset.range(3).map(lambda x: Optional.from_value((x * 2, ragged)))
elements(some.map(lambda o: (o.has_value(),) + o.get_value()))
elements(Dataset.from_tensors(Optional.from_value(tf.constant(3))).map(lambda o: o.get_value() + 1))""",
}


def test_like_tensorflow(oracle):
    assert differences(oracle, SNIPPETS, SETUP, modes=("never", "always")) == {}


def test_structures_and_errors():
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    rows = tf.data.Dataset.from_tensor_slices((ragged, [1, 2, 3]))
    spec = tf.RaggedTensorSpec([None], tf.int32, 0)
    assert tf.data.experimental.get_structure(rows)[0] == spec and rows.output_classes == (spec, tf.Tensor)
    value = tf.ragged.RaggedTensorValue(np.array([1, 2]), np.array([0, 1, 2]))
    optional = tf.data.experimental.Optional.from_value(tf.constant(1))
    some = tf.data.Dataset.from_tensors(optional)
    assert tf.data.experimental.get_structure(some) == tf.OptionalSpec(tf.TensorSpec([], tf.int32))
    with tf.Session() as sess:
        element = tf.data.Dataset.from_tensors({"a": value}).make_one_shot_iterator().get_next()
        assert sess.run(element)["a"].to_list() == [[1], [2]]
        empty = tf.data.experimental.Optional.none_from_structure(tf.RaggedTensorSpec([None, None], tf.int32))
        assert not sess.run(empty.has_value())
    with pytest.raises(TypeError, match="ragged ones"):
        rows.padded_batch(2)
    with pytest.raises(ValueError, match="same size|not compatible"):
        tf.data.Dataset.from_tensor_slices((ragged, [1, 2]))
    with pytest.raises(TypeError, match="must return a `Dataset`"):
        tf.data.Dataset.range(2).flat_map(lambda x: tf.data.experimental.Optional.from_value(x))


def test_variants_that_hold_something_else():
    texts = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=["a"], batched_input=False)
    wrong = tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=texts, input_ragged_rank=0, output_ragged_rank=0,
                                               Tvalues=tf.int32)
    deep = tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=texts, input_ragged_rank=-1, output_ragged_rank=1,
                                              Tvalues=tf.string)
    with tf.Session() as sess:
        for op in (wrong, deep):
            with pytest.raises(tf.errors.InvalidArgumentError, match="expected variants of ragged tensors"):
                sess.run(op.output_dense_values)
    with pytest.raises(ValueError, match="must be equal to input_ragged_rank"):
        tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=texts, input_ragged_rank=1, output_ragged_rank=0,
                                           Tvalues=tf.int32)
