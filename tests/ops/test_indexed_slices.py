"""IndexedSlices: what it holds, conversion to a tensor, errors."""
from __future__ import annotations

import pytest

import tfnb as tf
from tfnb.control_flow.nodes import merge_values, switch
from tfnb.ops.control.group import tuple_, with_dependencies


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


@pytest.mark.parametrize("dense_first", [True, False])
def test_a_merge_of_rows_and_a_tensor(dense_first):
    p, x = tf.placeholder(tf.bool, []), tf.constant([[1.0], [2.0], [3.0]])
    no, yes = switch(x, p)
    at, size = switch(tf.constant([2, 0]), p), switch(tf.constant([3, 1]), p)
    rows = [tf.IndexedSlices(value[:2] * 10.0, at[i], size[i]) for i, value in enumerate((no, yes))]
    made, _ = merge_values([no, rows[1]] if dense_first else [rows[0], yes])
    assert isinstance(made, tf.IndexedSlices)
    with tf.Session() as session:
        for chosen in (True, False, True):
            values, indices, shape = session.run([made.values, made.indices, made.dense_shape], {p: chosen})
            if chosen == dense_first:
                assert values.ravel().tolist() == [10, 20] and indices.tolist() == [2, 0]
            else:
                assert values.ravel().tolist() == [1, 2, 3] and indices.tolist() == [0, 1, 2]
            assert shape.tolist() == [3, 1]


def test_gates():
    slices = rows()
    x = tf.constant(1.0, name="x")
    gated = with_dependencies([x], slices)
    assert [op.name for op in gated.values.op.control_inputs] == ["x"] and gated.indices is slices.indices
    first, second = tuple_([slices, x])
    assert isinstance(first, tf.IndexedSlices) and isinstance(second, tf.Tensor)
