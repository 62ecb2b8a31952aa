"""Errors name the operands of an op as the program does, with their shapes and places."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.graph.parts.python_names import told_operands


class Model:
    def __init__(self) -> None:
        self.logits = tf.placeholder(tf.float32, [None, 24], name="logits")


def told(kind, call) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_shapes_that_do_not_fit() -> None:
    h, w = tf.nn.relu(tf.placeholder(tf.float32, [None, 24])), tf.Variable(tf.zeros([10, 3]), name="weights")
    text = told(ValueError, lambda: tf.matmul(h, w))
    assert text.startswith("Dimensions must be equal, but are 24 and 10 for 'MatMul'")
    assert "\n`h` ('Relu:0') is float32 [?,24], made at test_told_operands.py:" in text
    assert "\n`w` ('weights:0') is float32 [10,3], made at" in text


def test_what_the_user_gave_to_a_function_of_ours() -> None:
    model, labels = Model(), tf.zeros([2, 10])
    text = told(ValueError, lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=model.logits))
    assert "`model.logits` ('logits:0') is float32 [?,24]" in text and "`labels` ('zeros:0') is float32 [2,10]" in text
    parts = [tf.ones([2, 3]), tf.zeros([4, 5])]
    text = told(ValueError, lambda: tf.concat(parts, 0))
    assert "`parts[0]` ('ones:0')" in text and "`parts[1]`" in text and "axis" not in text.partition("\n")[2]


def test_dtypes_that_do_not_fit() -> None:
    x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [None])
    text = told(TypeError, lambda: x * n)
    assert text.startswith("Input 'y' of 'Mul' Op has type int32 that does not match type float32 of argument 'x'.")
    assert "\n`x` ('Placeholder:0') is float32 <unknown>" in text and "\n`n` ('Placeholder_1:0') is int32 [?]" in text


def test_graphs_that_differ() -> None:
    here = tf.ones([2])
    with tf.Graph().as_default():
        there = tf.zeros([3], name="far")
    text = told(ValueError, lambda: here + there)
    assert "must be from the same graph" in text and "`here` ('ones:0')" in text and "`there` ('far:0')" in text
    sess = tf.Session()
    assert "`there` ('far:0') is float32 [3]" in told(ValueError, lambda: sess.run(there))


def test_first_and_later_runs_alike() -> None:
    a, b, at = tf.placeholder(tf.float32), tf.placeholder(tf.float32), tf.placeholder(tf.int32, [None])
    total, taken = a + b, tf.gather(tf.constant([1, 2, 3]), at)
    sess = tf.Session()
    sums = {told(tf.errors.InvalidArgumentError, lambda: sess.run(total, {a: [1, 2, 3], b: [1, 2]})) for _ in range(3)}
    assert len(sums) == 1 and "\n`a` ('Placeholder:0') is float32 <unknown>, made at" in sums.pop()
    for _ in range(3):
        assert "\n`at` ('Placeholder_2:0') is int32 [?]" in told(
            tf.errors.InvalidArgumentError, lambda: sess.run(taken, {at: [5]}))


def test_feeds_and_placeholders() -> None:
    images = tf.placeholder(tf.float32, [None, 4], name="x")
    sess, double = tf.Session(), images * 2
    text = told(ValueError, lambda: sess.run(double, {images: np.zeros([4, 3])}))
    assert text.startswith("Cannot feed value of shape (4, 3) for Tensor 'x:0'")
    assert "`images` ('x:0') is float32 [?,4]" in text
    assert "`images` ('x:0') is float32 [?,4]" in told(tf.errors.InvalidArgumentError, lambda: sess.run(double))
    text = told(TypeError, lambda: sess.run(double, {images: double}))
    assert "`double` ('mul:0')" in text and "`images` ('x:0')" in text


def test_hostile_objects_are_left_alone() -> None:
    class Loud:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(name)

    class Liar:
        @property
        def __class__(self) -> type:
            raise AssertionError("asked")

    x, loud, liar, rows = tf.ones([2, 3]), Loud(), Liar(), {"<script>": tf.ones([4, 4])}
    text = told(ValueError, lambda: tf.matmul(x, rows["<script>"]))
    assert "`rows['<script>']`" in text and "`x`" in text and loud is not liar
    assert told_operands(()) == told_operands([7]) == ""


def test_a_value_that_has_the_name_of_a_tensor() -> None:
    sess, loss = tf.Session(), tf.constant(3.0)
    assert "`loss` is a value, no tensor: a line such as `loss = sess.run(loss)`" in _twice(sess, loss)
    assert "`" not in told(TypeError, lambda: sess.run(7))


def _twice(sess: tf.Session, loss: object) -> str:
    loss = sess.run(loss)
    return told(TypeError, lambda: sess.run(loss))
