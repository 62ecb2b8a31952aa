"""Slots of variables: names, shapes that are known late, parts of partitioned variables."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.train.optimizers.slots import create_slot, create_slot_with_initializer, create_zeros_slot


def test_a_slot_of_unknown_shape_takes_that_of_its_value():
    v, value = tf.Variable([1.0, 2.0], name="v"), tf.placeholder(tf.float32, name="value")
    slot = create_slot(v, value, "late")
    assert slot.op.name == "v/late" and slot.shape.ndims is None and slot not in tf.trainable_variables()
    with tf.Session() as session:
        for given in ([[1.0, 2.0, 3.0]], 4.0):
            session.run(slot.initializer, {value: given})
            np.testing.assert_array_equal(session.run(slot), given)


def test_a_slot_of_known_shape_keeps_it():
    v = tf.Variable([1.0, 2.0], name="v")
    slot = create_slot(v, tf.ones([3]), "known")
    assert slot.shape.as_list() == [3]
    with pytest.raises(ValueError, match="shape"):
        tf.assign(slot, tf.ones([4]))
    made = create_slot_with_initializer(v, tf.ones_initializer(), [2, 2], tf.float64, "made")
    zeros = create_zeros_slot(v, "zeros"), create_zeros_slot(v, "wide", tf.float64)
    assert [slot.dtype.base_dtype for slot in (made, *zeros)] == [tf.float64, tf.float32, tf.float64]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(made).tolist() == [[1, 1], [1, 1]] and session.run(zeros[0]).tolist() == [0, 0]


@pytest.mark.parametrize("beside", [True, False])
def test_a_slot_lies_beside_its_variable(beside):
    with tf.device("/job:ps/task:1"):
        v = tf.Variable([1.0], name="v")
    slot = create_zeros_slot(v, "zeros", colocate_with_primary=beside)
    assert slot.op.device == (v.op.device if beside else "")
    assert slot.op.colocation_groups() == ([b"loc:@v"] if beside else [b"loc:@v/zeros"])


def parts():
    with tf.variable_scope("scope", partitioner=tf.fixed_size_partitioner(2)):
        return list(tf.get_variable("w", [5, 3]))


def test_slots_of_parts_are_parts_of_a_slot(tmp_path):
    """They are saved as slices of one tensor, which may be restored to other parts."""
    w = parts()
    slots = [create_zeros_slot(part, "Adam") for part in w]
    for slot, offset, size in zip(slots, (0, 3), (3, 2), strict=True):
        info = slot._save_slice_info
        assert (info.full_name, list(info.full_shape), list(info.var_offset), list(info.var_shape)) == (
            "scope/w/Adam", [5, 3], [offset, 0], [size, 3])
    rows = create_slot(w[1], tf.zeros([2]), "rows")._save_slice_info
    assert (rows.full_name, list(rows.full_shape), list(rows.var_offset), list(rows.var_shape)) == (
        "scope/w/rows", [5], [3], [2])
    assert create_slot(w[1], tf.constant(0.0), "scalar")._save_slice_info is None
    late = create_slot(w[0], tf.placeholder(tf.float32), "late")._save_slice_info
    assert list(late.full_shape) == [5, 3] and late.full_name == "scope/w/late"
