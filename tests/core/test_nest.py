"""Structures nested so deeply that no function over them may recurse, and such as contain themselves."""
from __future__ import annotations

import collections

import numpy as np
import pytest

import tfnb as tf
from tfnb.core import nest
from tfnb.data import structure

DEEP = 2_000
Pair = collections.namedtuple("Pair", "a b")


def deep(leaf, wrap=lambda v: [v], levels=DEEP):
    for _ in range(levels):
        leaf = wrap(leaf)
    return leaf


def level(value, part):
    count = 0
    while isinstance(value, (list, tuple, dict)):
        value, count = part(value), count + 1
    return value, count


@pytest.mark.parametrize("wrap, part", [
    (lambda v: [v], lambda v: v[0]), (lambda v: (v, 1), lambda v: v[0]), (lambda v: {"b": v, "a": 2}, lambda v: v["b"]),
    (lambda v: Pair(1, v), lambda v: v.b)])
def test_deep_structures(wrap, part):
    given = deep(7, wrap)
    assert nest.flatten(given).count(7) == 1
    assert level(nest.map_structure(lambda v: v + 1, given), part) == (8, DEEP)
    nest.assert_same_structure(given, deep(5, wrap))
    with pytest.raises((ValueError, TypeError)):
        nest.assert_same_structure(given, deep([3], wrap))
    with pytest.raises(ValueError, match="Structure had"):
        nest.pack_sequence_as(given, [])


def test_the_order_of_leaves_and_the_classes_of_parts():
    given = {"z": [1, (2, Pair(3, [4]))], "a": collections.OrderedDict([("y", 5), ("x", 6)])}
    assert nest.flatten(given) == [6, 5, 1, 2, 3, 4]
    made = nest.pack_sequence_as(given, list("abcdef"))
    assert made == {"z": ["c", ("d", Pair("e", ["f"]))], "a": {"y": "b", "x": "a"}}
    assert list(made) == ["z", "a"] and list(made["a"]) == ["y", "x"] and type(made["a"]) is collections.OrderedDict


def test_a_structure_that_contains_itself():
    endless, _ = [], tf.no_op()
    tf.ragged.constant([[1]])               # from now on calls look for ragged tensors in their arguments
    endless.append(endless)
    for use in (nest.flatten, tf.constant, tf.convert_to_tensor, lambda v: tf.add_n([v]), tf.Session().run,
                lambda v: tf.cond(tf.constant(True), lambda: v, lambda: v), tf.ragged.constant,
                tf.ragged.constant_value):
        with pytest.raises(ValueError, match="nested levels"):
            use(endless)


def test_deep_fetches_feeds_and_branches():
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        for _ in range(3):
            made = sess.run(deep({"x": [x * 2.0, x.op]}), {x: 3.0})
            assert level(made, lambda v: v[0])[0] == 6.0 if isinstance(made, dict) else True
            while isinstance(made, list):
                made = made[0]
            assert made == {"x": [6.0, None]}
        with pytest.raises(ValueError, match="dimension"):
            sess.run(x, {x: deep(1.0)})
        branch = tf.cond(x > 0.0, lambda: deep(x), lambda: deep(-x), strict=True)
        assert level(sess.run(branch, {x: -4.0}), lambda v: v[0]) == (4.0, DEEP)


def test_lists_of_more_axes_than_arrays_have():
    tf.ragged.constant([[1]])
    for use in (tf.constant, tf.convert_to_tensor, lambda v: tf.add(v, 1.0), tf.ragged.constant):
        with pytest.raises((ValueError, TypeError)):
            use(deep(1.0, levels=100))
        for leaf in (1.0, tf.constant(1.0)):
            with pytest.raises((ValueError, TypeError)):
                use(deep(leaf))


def test_deep_elements_of_datasets():
    given = deep(np.float32(3), lambda v: (v,))
    dataset = tf.data.Dataset.from_tensors(given)
    assert level(dataset.output_types, lambda v: v[0]) == (tf.float32, DEEP)
    assert structure.flatten_up_to(given, deep(4, lambda v: [v]), "x") == [4]
    with pytest.raises(TypeError, match="tuple of 1"):
        structure.flatten_up_to(given, 4, "x")
