"""User-defined element-wise ops and reductions: values in all runs, gradients, fusion, files, errors with lines."""
# ruff: noqa: F821
from __future__ import annotations

import math

import numpy as np
import pytest

import tfnb as tf

SHIFT = 3


def clipped_at_six(v):
    return tf.minimum(max(v, 0), 6)


def runs(fetches, feeds=None, count=3):
    """The values of the first (interpreted) and later (compiled) runs, which must be equal."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first, *others = [sess.run(fetches, feeds) for _ in range(count)]
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-6)
    return first


def declare_hard_swish():
    @tf.custom.elementwise
    def hard_swish(x):
        """Multiply by a piecewise linear sigmoid."""
        return x * clipped_at_six(x + SHIFT) / 6
    return hard_swish


def hard_swish_in_numpy(x):
    return x * np.clip(x + 3, 0, 6) / 6


def test_values_gradient_and_type():
    x = tf.placeholder(tf.float32, [None])
    y = declare_hard_swish()(x)
    assert (y.op.type, y.op.name, y.shape.as_list(), y.dtype) == ("HardSwish", "HardSwish", [None], tf.float32)
    given = np.array([-4, -2.5, 0.5, 2, 5], "f")
    made, slope = runs([y, tf.gradients(y, x)[0]], {x: given})
    np.testing.assert_allclose(made, hard_swish_in_numpy(given), rtol=1e-6)
    small = 1e-3
    above, below = (hard_swish_in_numpy(given.astype("d") + step) for step in (small, -small))
    np.testing.assert_allclose(slope, (above - below) / 2 / small, rtol=1e-4)


def test_it_fuses_with_the_ops_around_it():
    x = tf.placeholder(tf.float32, [64])
    y = tf.exp(declare_hard_swish()(x * 2)) + 1
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(y, {x: np.ones(64, "f")})
        text = str(tf.explain(y, {x: np.ones(64, "f")}, session=sess))
    assert "1 kernel" in text or text.count("launch") <= 2, text


def test_broadcasting_attrs_and_several_results():
    @tf.custom.elementwise
    def blend(x, y, *, share=0.25, negative: bool = False):
        both = share * x + (1 - share) * y
        return where(negative, -both, both), x - y
    both, difference = blend(np.ones((2, 1), "f"), np.arange(3, dtype="f"), share=0.5)
    assert both.op.type == "Blend" and both.shape == (2, 3)
    np.testing.assert_allclose(runs(both), np.broadcast_to(0.5 + np.arange(3) / 2, (2, 3)))
    np.testing.assert_allclose(runs(difference), np.broadcast_to(1.0 - np.arange(3), (2, 3)))
    x, y = tf.constant([2.0]), tf.constant([[3.0], [5.0]])
    np.testing.assert_allclose(runs(tf.gradients(blend(x, y, negative=True)[0], [x, y])[1]), [[-0.75], [-0.75]])


def test_a_registered_gradient_is_taken():
    op = declare_hard_swish()

    @op.gradient
    def _(op, dy):
        return dy * 7
    x = tf.constant([1.0])
    assert runs(tf.gradients(op(x), x)[0]).tolist() == [7.0]


def test_second_derivative():
    @tf.custom.elementwise(dtypes=[tf.float64])
    def bell(x):
        return math.pi * np.exp(-x * x)
    x = tf.constant([0.5], tf.float64)
    once, = tf.gradients(bell(x), x)
    twice, = tf.gradients(once, x)
    np.testing.assert_allclose(runs(twice), math.pi * (4 * 0.25 - 2) * np.exp([-0.25]))


def test_a_body_that_branches_is_compiled_by_numba():
    @tf.custom.elementwise
    def escape(x, y, *, most=50):
        a, b, count = 0.0, 0.0, 0
        while a * a + b * b < 4 and count < most:
            a, b, count = a * a - b * b + x, 2 * a * b + y, count + 1
        return count
    x = np.array([-3, -1, 0, 0.5, 1], "f")
    assert runs(escape(x, np.zeros(5, "f"), most=9)).tolist() == [1, 9, 9, 5, 2]
    v = tf.constant([1.0])
    with pytest.raises(LookupError, match="Escape"):
        tf.gradients(escape(v, v), v)


def test_reduction_with_all_its_parts():
    @tf.custom.reduction(identity=0)
    def spread(total, x):
        return total + x

    @spread.prepare
    def _(x):
        return x * x

    @spread.finish
    def _(total, count):
        return tf.sqrt(total / count)

    @spread.gradient
    def _(op, dy):
        return [op.inputs[0] * 2, None]
    x = np.arange(6, dtype="f").reshape(2, 3)
    np.testing.assert_allclose(runs(spread(x, axis=1)), np.sqrt((x * x).mean(1)), rtol=1e-6)
    np.testing.assert_allclose(runs(spread(x, axis=-2, keepdims=True)), np.sqrt((x * x).mean(0))[None], rtol=1e-6)
    fed = tf.placeholder(tf.float32)
    np.testing.assert_allclose(runs(spread(fed), {fed: x}), np.sqrt((x * x).mean()), rtol=1e-6)


def test_exported_under_its_name_and_imported_where_it_is_declared():
    from tfnb.opdef import registry
    op = declare_hard_swish()
    with tf.Graph().as_default() as graph:
        op(tf.placeholder(tf.float32, [2], name="x"), name="y")
    definition = graph.as_graph_def()
    assert [node.op for node in definition.node] == ["Placeholder", "HardSwish"]
    with tf.Graph().as_default():
        y, = tf.import_graph_def(definition, return_elements=["y:0"], name="")
        assert runs(y, {"x:0": [3.0, -3.0]}).tolist() == [3.0, 0.0]
    registry.restore_custom({})
    with tf.Graph().as_default(), pytest.raises(tf.errors.NotFoundError, match="HardSwish"):
        tf.import_graph_def(definition)


def test_declared_again_old_nodes_keep_their_definition():
    with tf.Graph().as_default():
        old = declare_hard_swish()(tf.constant([1.0]))

        @tf.custom.elementwise
        def hard_swish(x):
            return -x
        new = hard_swish(tf.constant([1.0]))
        first, second = runs([old, new])
        assert first == pytest.approx([4 / 6]) and second.tolist() == [-1.0]


def test_a_reduction_that_depends_on_the_order_is_refused():
    def squares(total, x):
        return total + x * x

    def difference(total, x):
        return where(total == 0, x, total - x)

    def last(total, x):
        return where(x == x, x, total)
    for fn, words in ((squares, "expected x for"), (difference, "order"), (last, "order")):
        assert words in str(failing(fn, lambda fn: tf.custom.reduction(fn, identity=0)))
    highest = tf.custom.reduction(lambda a, b: max(a, b), identity="lowest", name="Highest")
    assert runs(highest([[1.0, 5.0], [-3.0, -7.0]], axis=1)).tolist() == [5.0, -3.0]


def failing(fn, kind=tf.custom.elementwise):
    with pytest.raises(SyntaxError) as caught:
        kind(fn)
    return caught.value


def test_errors_name_the_line_and_what_is_not_allowed():
    def uses_a_layer(x):
        y = x + 1
        return tf.nn.conv2d(y)
    error = failing(uses_a_layer)
    assert error.lineno == uses_a_layer.__code__.co_firstlineno + 2 and "tf.nn.conv2d" in str(error)
    assert error.text == "return tf.nn.conv2d(y)" and error.filename == __file__

    def unknown(x):
        return nothing_of_that_name(x)
    assert "nothing_of_that_name" in str(failing(unknown))

    def opens(x):
        if x > 0:
            return open(x)
        return x
    error = failing(opens)
    assert error.lineno == opens.__code__.co_firstlineno + 1 and "straight-line" in str(error) and "open" in str(error)
    assert "*xs" in str(failing(lambda *xs: xs[0]))
    assert "two parameters" in str(failing(lambda a: a, lambda fn: tf.custom.reduction(fn, identity=0)))


def test_names_of_tensorflow_are_refused():
    def relu(x):
        return x
    with pytest.raises(ValueError, match="'Relu' is one of TensorFlow's"):
        tf.custom.elementwise(relu)
    assert tf.custom.elementwise(relu, name="OwnRelu")(tf.constant([1.0])).op.type == "OwnRelu"
    with pytest.raises(TypeError, match="expected a function"):
        tf.custom.elementwise(3)


def test_a_dtype_that_is_not_allowed():
    with pytest.raises(TypeError, match="int32"):
        declare_hard_swish()(tf.constant([1]))
