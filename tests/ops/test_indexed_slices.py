"""IndexedSlices: what it holds, conversion to a tensor, errors."""
from __future__ import annotations

import pytest

import tfnb as tf
from tfnb.ops.control import tuple_, with_dependencies


def rows(dense_shape=(4, 2)):
    shape = None if dense_shape is None else tf.constant(dense_shape)
    return tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="values"),
                            tf.constant([2, 0, 2]), shape)


def test_what_it_holds():
    slices = rows()
    assert (slices.name, slices.dtype, slices.device) == ("values:0", tf.float32, "")
    assert slices.op is slices.values.op and slices.graph is tf.get_default_graph()
    assert slices.shape.as_list() == [4, 2] == slices.get_shape().as_list() and rows(None).shape.ndims is None
    assert "IndexedSlices(indices=Tensor(" in str(slices)


def test_dense():
    slices = rows()
    with tf.Session() as sess:
        assert sess.run(tf.convert_to_tensor(slices)).tolist() == [[3, 4], [0, 0], [6, 8], [0, 0]]
        assert sess.run(tf.convert_to_tensor(-slices)).tolist()[0] == [-3, -4]
        assert sess.run(tf.multiply(slices, 2.0)).tolist()[2] == [12, 16]


def test_conversion_leaves_it_as_it_is():
    slices = rows()
    assert tf.convert_to_tensor_or_indexed_slices(slices) is slices
    assert isinstance(tf.convert_to_tensor_or_indexed_slices([1.0]), tf.Tensor)
    with pytest.raises(ValueError, match="float32"):
        tf.convert_to_tensor_or_indexed_slices(slices, dtype=tf.int32)
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(rows(None))


def test_gates():
    slices = rows()
    x = tf.constant(1.0, name="x")
    gated = with_dependencies([x], slices)
    assert [op.name for op in gated.values.op.control_inputs] == ["x"] and gated.indices is slices.indices
    first, second = tuple_([slices, x])
    assert isinstance(first, tf.IndexedSlices) and isinstance(second, tf.Tensor)
