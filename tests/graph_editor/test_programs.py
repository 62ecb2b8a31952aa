"""Programs that change their graphs with the graph editor, each run three times: interpreted, then compiled."""
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tfnb as tf

ge = tf.contrib.graph_editor


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        tf.set_random_seed(1)
        yield made


def thrice(sess, fetches, feed=None):
    """The value of three runs, which must agree."""
    flatten = tf.contrib.framework.nest.flatten
    first, *others = [sess.run(fetches, feed) for _ in range(3)]
    for other in others:
        for a, b in zip(flatten(first), flatten(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return first


def network(x):
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        w = tf.get_variable("w", [3, 4], initializer=tf.random_normal_initializer(seed=2))
        v = tf.get_variable("v", [4, 1], initializer=tf.random_normal_initializer(seed=3))
    return tf.matmul(tf.nn.tanh(tf.matmul(x, w), name="hidden"), v, name="y")


ROWS = np.arange(6, dtype=np.float32).reshape(2, 3) / 6


def test_the_input_of_a_trained_network_is_replaced():
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = network(x)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y - 1)))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(20):
            sess.run(train, {x: ROWS})
        expected = thrice(sess, y, {x: ROWS})
        assert abs(expected - 1).max() < 0.5
        fixed = ge.graph_replace(y, {x: tf.constant(ROWS)})
        both = ge.graph_replace({"y": y, "same": [y * 2]}, {x: tf.constant(ROWS)}, dst_scope="served")
        np.testing.assert_allclose(thrice(sess, fixed), expected, rtol=1e-5)
        np.testing.assert_allclose(thrice(sess, both["same"][0]), 2 * expected, rtol=1e-5)
        sess.run(train, {x: ROWS})                  # the weights are shared
        np.testing.assert_allclose(thrice(sess, fixed), sess.run(y, {x: ROWS}), rtol=1e-5)
    assert both["y"].name == "served/y:0" and len(tf.global_variables()) == 2


def test_noise_is_put_between_two_layers_of_a_session_that_runs():
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = network(x)
    hidden = tf.get_default_graph().get_tensor_by_name("hidden:0")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        h, before, v = thrice(sess, [hidden, y, "net/v/read:0"], {x: ROWS})
        np.testing.assert_allclose(h @ v, before, rtol=1e-5)
        shifted = hidden + 5.0
        assert ge.reroute_ts([shifted], [hidden], cannot_modify=[shifted.op]) == 1
        np.testing.assert_allclose(thrice(sess, y, {x: ROWS}), (h + 5) @ v, rtol=1e-4)


def test_a_network_is_copied_with_its_variables_and_with_other_ones():
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = network(x)
    ops = ge.get_walks_intersection_ops([x], [y])
    z = tf.placeholder(tf.float32, [None, 3], "z")
    shared, info = ge.copy_with_input_replacements(ge.sgv(ops), {x: z}, dst_scope="twin")
    alone, _ = ge.copy(ge.sgv(ge.get_backward_walk_ops(y)), dst_scope="alone")
    assert info.transformed(y) is shared.outputs[0] and info.original(shared.outputs[0]) is y
    assert info.transformed("hidden").name == "twin/hidden"
    assert all(op.name.startswith("alone/") for op in alone.ops)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        a, b = thrice(sess, [y, shared.outputs[0]], {x: ROWS, z: 2 * ROWS})
        np.testing.assert_allclose(b, sess.run(y, {x: 2 * ROWS}), rtol=1e-5)
        with pytest.raises(tf.errors.FailedPreconditionError, match="alone/net/"):
            sess.run("alone/y:0", {"alone/x:0": ROWS})
        sess.run([tf.assign(sess.graph.get_tensor_by_name(f"alone/net/{n}:0"), sess.run(f"net/{n}:0")) for n in "wv"])
        np.testing.assert_allclose(thrice(sess, "alone/y:0", {"alone/x:0": ROWS}), a, rtol=1e-5)


def test_gradients_that_compute_activations_again():
    """Checkpoints: the ops between two of them are copied, take the checkpoint, and wait for the loss."""
    x = tf.constant(ROWS)
    layers = [x]
    for i in range(6):
        w = tf.get_variable(f"w{i}", [3, 3], initializer=tf.random_normal_initializer(stddev=0.8, seed=i))
        layers.append(tf.nn.tanh(tf.matmul(layers[-1], w), name=f"layer{i}"))
    loss, middle = tf.reduce_sum(tf.square(layers[-1])), layers[3]
    weights = tf.trainable_variables()
    plain = tf.gradients(loss, weights)
    back = ge.get_backward_walk_ops(loss.op, inclusive=True)
    forward = ge.get_forward_walk_ops([w.op for w in weights], within_ops=back)
    kept = tf.stop_gradient(middle)
    again, info = ge.copy_with_input_replacements(
        ge.sgv(ge.get_walks_intersection_ops([middle], [loss], within_ops=forward)), {})
    copies = list(info._transformed_ops.values())
    assert ge.reroute_ts([kept], [middle], can_modify=copies) == 1
    upper = tf.gradients(info.transformed(loss), weights[3:])
    grad = tf.gradients(info.transformed(loss), kept)
    lower = tf.gradients(middle, weights[:3], grad_ys=grad)
    late = info.transformed(layers[4].op)
    ge.add_control_inputs(late, [loss.op])
    assert info._transformed_ops[layers[-1].op]._outputs[0].op in copies and loss.op in late.control_inputs
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        expected, found = thrice(sess, [plain, lower + upper])
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert len(again.ops) == len(copies)


def test_control_inputs_that_are_added_are_waited_for_from_the_next_run_on():
    w = tf.Variable(0.0, use_resource=True)
    step = w.assign_add(1.0)
    y = tf.identity(tf.constant(3.0), name="y")
    with tf.Session() as sess:
        sess.run(w.initializer)
        thrice(sess, y)
        ge.reroute.add_control_inputs(y.op, step.op)
        for count in 1, 2, 3:
            assert sess.run(y) == 3 and sess.run(w) == count
        ge.remove_control_inputs(y.op, [step.op])
        thrice(sess, y)
        assert sess.run(w) == 3
    with pytest.raises(ValueError, match="is not a control input"):
        ge.remove_control_inputs(y.op, step.op)
    ge.add_control_inputs(y.op, step.op)
    with pytest.raises(ValueError, match="already a control input of 'y'"):
        ge.add_control_inputs(y.op, step.op)
    with pytest.raises(TypeError, match=r"Expected a tf\.Operation, got: Tensor"):
        ge.add_control_inputs(y, step.op)


def test_static_shapes_are_those_of_the_new_inputs():
    """Constant folding uses static shapes: `tf.shape` of a rerouted batch must not be that of the old one."""
    x, z = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [None, 3])
    size, doubled = tf.placeholder_with_default([3, 2], [2]), x * 2
    rows, flat = tf.raw_ops.Shape(input=doubled)[0], tf.reshape(doubled, tf.constant([3, 2], name="sizes"))
    with tf.Session() as sess:
        assert thrice(sess, rows, {x: ROWS}) == 2
        ge.reroute_ts(z, x)
        assert doubled.shape.as_list() == [None, 3] and flat.shape.as_list() == [3, 2]
        assert thrice(sess, rows, {z: np.ones([5, 3])}) == 5
        ge.reroute_ts(size, sess.graph.get_tensor_by_name("sizes:0"))
        assert flat.shape.as_list() == [None, None]
        assert thrice(sess, flat, {z: np.ones([5, 3]), size: [5, 3]}).shape == (5, 3)


def test_shapes_that_were_set_stay_where_the_new_input_says_no_less():
    x, z = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    y = tf.py_func(lambda v: v[:2], [x], tf.float32)
    y.set_shape([2])
    ge.reroute_ts(z, x)
    assert y.shape.as_list() == [2]


def test_a_loop_and_a_conditional_are_copied():
    x = tf.placeholder(tf.float32, [], "x")
    _, power = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [tf.constant(0), x])
    chosen = tf.cond(x > 2.0, lambda: power + 1.0, lambda: power - 1.0)
    other = ge.graph_replace(chosen, {x: tf.constant(3.0)})
    with tf.Session() as sess:
        assert thrice(sess, [chosen, other], {x: 2.0}) == [15.0, 82.0]


def test_a_part_is_copied_to_another_graph(graph):
    x = tf.constant(2.0, name="x")
    with tf.device("/cpu:0"):
        y = tf.square(x, name="y")
    tf.add_to_collection("marked", y)
    tf.add_to_collection(tf.GraphKeys.LOSSES, y)
    other = tf.Graph()
    view, _ = ge.copy([y.op], other, dst_scope="copy")
    assert other.get_collection("copy/marked") == other.get_collection("losses") == view.outputs
    assert view.inputs[0].graph is other and view.ops[0].device == y.op.device
    with tf.Session(graph=other) as sess:
        assert thrice(sess, view.outputs, {view.inputs[0]: 4.0}) == [16.0]
    with pytest.raises(TypeError, match=r"Expected a tf\.Graph"):
        ge.copy([y.op], "other")


def test_a_layer_is_bypassed_and_two_networks_are_connected():
    x = tf.placeholder(tf.float32, [], "x")
    with tf.name_scope("a"):
        a = tf.square(x) + 1.0
    with tf.name_scope("b"):
        b = tf.negative(tf.constant(7.0)) * 2.0
    y = a + 0.5
    with tf.Session() as sess:
        assert thrice(sess, [y, b], {x: 3.0}) == [10.5, -14.0]
        ge.connect(ge.sgv_scope("a", graph=sess.graph), ge.sgv(b.op, b.op.inputs[0].op).remap_inputs([1]))
        assert thrice(sess, [y, b], {x: 3.0}) == [10.5, -20.0]
        ge.bypass(ge.sgv([a.op, a.op.inputs[0].op]).remap_inputs([x]))
        assert thrice(sess, y, {x: 3.0}) == 3.5


PROGRAM = """
import tfnb; tfnb.install_as_tensorflow()
import tensorflow as tf
import tensorflow.contrib.graph_editor as ge
from tensorflow.contrib import graph_editor
from tensorflow.contrib.graph_editor import select, subgraph
from tensorflow.contrib.graph_editor import transform
x = tf.constant(2.0, name="x"); y = tf.square(x, name="y")
tf.add_to_collection("losses", y)
ge.graph_replace(y, {x: x + 1})
print(len(tf.get_collection("losses")))
transform.assign_renamed_collections_handler = lambda info, elem, elem_: None
ge.graph_replace(y, {x: x + 1})
print(len(tf.get_collection("losses")), select.select_ops("^y$", graph=tf.get_default_graph()))
"""


def test_programs_that_import_tensorflow_replace_its_handler():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["2", "2 [<tf.Operation 'y' type=Square>]"], done.stderr
