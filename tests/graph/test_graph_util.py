"""`tf.graph_util`: parts of graphs, and constants in place of variables; TensorFlow reads and runs what comes out."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb import graph_util

PROGRAM = """
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
unused = tf.Variable(5.0, name="unused")
h = tf.check_numerics(tf.matmul(x, w), "h", name="h")
passed = tf.identity(h, name="passed") + 1.0
with tf.control_dependencies([tf.identity(h, name="waited")]):
    y = tf.identity(passed, name="y")
z = tf.identity(y * 2.0, name="z")
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""
FREEZE = PROGRAM + """
frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph.as_graph_def(), ["z"])
result = (frozen.SerializeToString(), sess.run("z:0", {"x:0": [[1.0, 1.0]]}))
"""
RUN = """
tf.import_graph_def(tf.GraphDef.FromString(data), name="")
result = tf.Session().run("z:0", {"x:0": [[1.0, 1.0]]})
"""


def run(code, **scope):
    scope = {"tf": tf, "np": np, **scope}
    exec(code, scope)
    return scope


def shown(graph_def):
    return [(node.name, node.op, list(node.input)) for node in graph_def.node]


def test_frozen_graphs_run_here_and_there(oracle):
    ours, value = run(FREEZE)["result"]
    theirs, expected = oracle(FREEZE)
    assert shown(tf.GraphDef.FromString(ours)) == shown(tf.GraphDef.FromString(theirs))
    np.testing.assert_array_equal(value, expected)
    for data in (ours, theirs):
        tf.reset_default_graph()
        np.testing.assert_array_equal(run(RUN, data=data)["result"], expected)
        np.testing.assert_array_equal(oracle(RUN, data=data), expected)


def test_variables_can_be_chosen():
    scope = run(PROGRAM)
    graph_def, sess = scope["sess"].graph_def, scope["sess"]
    for chosen in ({"variable_names_whitelist": ["unused"]}, {"variable_names_blacklist": ["w"]}):
        left = graph_util.convert_variables_to_constants(sess, graph_def, ["z"], **chosen)
        assert [node.op for node in left.node if node.name == "w"] == ["VariableV2"]


def test_a_variable_without_a_value():
    tf.Variable(1.0, name="v")
    with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError, match="v"):
        graph_util.convert_variables_to_constants(sess, sess.graph_def, ["v/read"])


def test_a_part_of_a_graph():
    graph_def = run(PROGRAM)["sess"].graph_def
    part = graph_util.extract_sub_graph(graph_def, ["passed", "h"])
    assert [node.name for node in part.node] == ["x", "w", "w/read", "MatMul", "h", "passed"]
    assert part.versions == graph_def.versions
    with pytest.raises(ValueError, match="absent is not in graph"):
        graph_util.extract_sub_graph(graph_def, ["absent"])
    with pytest.raises(TypeError, match="iterable of strings"):
        graph_util.extract_sub_graph(graph_def, "y")
    with pytest.raises(TypeError, match="GraphDef"):
        graph_util.extract_sub_graph(tf.get_default_graph(), ["y"])


def test_nodes_that_only_training_needs():
    graph_def = run(PROGRAM)["sess"].graph_def
    nodes = {node.name: list(node.input) for node in graph_util.remove_training_nodes(graph_def, ["z"]).node}
    assert nodes["add"][0] == nodes["waited"][0] == "MatMul" and nodes["MatMul"] == ["x", "w"]
    assert nodes["y"] == ["add", "^waited"] and nodes["z"] == ["mul"] and nodes["mul"][0] == "y"
    assert not {"h", "passed", "w/read"} & nodes.keys()


def test_shapes_by_name():
    graph = run(PROGRAM)["sess"].graph
    assert graph_util.tensor_shape_from_node_def_name(graph, "h").as_list() == [None, 2]
    assert graph_util.tensor_shape_from_node_def_name(graph, "w:0").as_list() == [2, 2]
