"""GraphDefs with function libraries: TensorFlow's own are imported with the nodes of the functions in their place."""
from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

import tfnb as tf

PROGRAM = """
import tensorflow
from tensorflow.python.framework import function

@tensorflow.function
def inner(a, b):
    c, d = tf.split(a * b, 2)
    return c + d, {"difference": a - b}

@tensorflow.function
def outer(a, b):
    x, more = inner(a, b)
    with tf.control_dependencies([tf.no_op(name="first")]):
        z = tf.identity(x)
    return z * 2.0 + tf.reduce_sum(more["difference"])

@function.Defun(tf.float32, func_name="Older")
def older(x):
    return x * 3.0, tf.reduce_max(x)

@function.Defun(tf.float32, func_name="PassedOn")
def passed_on(x):
    return x

a = tf.placeholder(tf.float32, [4], name="a")
b = passed_on(tf.constant([1.0, 2.0, 3.0, 4.0]))
scaled, largest = older(a)
y = tf.identity(outer(a, b) + scaled[0] + largest + outer(b, a)[0], name="y")
with tf.control_dependencies([scaled.op]):
    after = tf.identity(largest, name="after")
sess = tf.Session()
result = (sess.graph.as_graph_def().SerializeToString(), sess.run([y, after], {a: [4.0, 3.0, 1.0, 2.0]}))
"""


def test_calls_are_replaced_by_nodes(oracle):
    data, (y, after) = oracle(PROGRAM)
    graph_def = tf.GraphDef.FromString(data)
    assert len(graph_def.library.function) >= 4
    made = tf.import_graph_def(graph_def, return_elements=["y:0", "after:0", "Older:1", "PassedOn:0"], name="")
    with tf.Session() as sess:
        found = sess.run(made, {"a:0": [4.0, 3.0, 1.0, 2.0]})
    np.testing.assert_allclose(found[0], y)
    assert found[1] == after == found[2] == 4.0 and found[3].tolist() == [1.0, 2.0, 3.0, 4.0]
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert {"Older", "Older/mul/y", "PartitionedCall/PartitionedCall/mul", "PartitionedCall_1/NoOp"} <= names \
        or {"Older", "Older/mul/y", "PartitionedCall/PartitionedCall/mul"} <= names
    y = tf.get_default_graph().get_tensor_by_name("y:0")
    grad, = tf.gradients(y, tf.get_default_graph().get_tensor_by_name("a:0"))
    with tf.Session() as sess:
        assert sess.run(grad, {"a:0": [4.0, 3.0, 1.0, 2.0]}).shape == (4,)


def text(nodes, functions):
    return text_format.Parse(f"{nodes} library {{ {functions} }}", tf.GraphDef())


DOUBLE = """function {
  signature { name: "Double" input_arg { name: "x" type_attr: "T" number_attr: "N" }
              output_arg { name: "sum" type_attr: "T" } attr { name: "T" type: "type" } attr { name: "N" type: "int" } }
  node_def { name: "add" op: "AddN" input: "x:0" input: "x:1" attr { key: "T" value { placeholder: "T" } }
             attr { key: "N" value { i: 2 } } }
  ret { key: "sum" value: "add:sum:0" } }"""
CONST = """node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value {
  tensor { dtype: DT_INT32 tensor_shape {} int_val: 21 } } } }"""
CALL = """node { name: "call" op: "Double" input: "c" input: "c" attr { key: "T" value { type: DT_INT32 } }
  attr { key: "N" value { i: 2 } } }"""


def test_attrs_of_the_call_are_those_of_the_function():
    call, = tf.import_graph_def(text(CONST + CALL, DOUBLE), return_elements=["call:0"])
    assert call.dtype == tf.int32 and tf.Session().run(call) == 42


RECURSIVE = """function { signature { name: "Again" output_arg { name: "y" type: DT_INT32 } }
  node_def { name: "n" op: "Again" } ret { key: "y" value: "n:y:0" } }"""
NESTED = "".join(f"""function {{ signature {{ name: "F{i}" output_arg {{ name: "y" type: DT_INT32 }} }}
  node_def {{ name: "a" op: "F{i + 1}" }} node_def {{ name: "b" op: "F{i + 1}" }}
  ret {{ key: "y" value: "a:y:0" }} }}"""
                 for i in range(40)) + """function { signature { name: "F40" output_arg { name: "y" type: DT_INT32 } }
  node_def { name: "n" op: "NoOp" } ret { key: "y" value: "n:y:0" } }"""


@pytest.mark.parametrize("nodes, functions, error", [
    ('node { name: "n" op: "Again" }', RECURSIVE, "calls itself, by Again -> Again"),
    ('node { name: "n" op: "F0" }', NESTED, "more than 100,000 nodes"),
    ('node { name: "n" op: "PartitionedCall" attr { key: "f" value { func { name: "Absent" } } } }', RECURSIVE,
     "'n' calls the function 'Absent', which the library does not have"),
    (CONST + CALL.replace('input: "c" input: "c"', 'input: "c"'), DOUBLE, "which are too few"),
    (CONST + CALL, DOUBLE.replace("x:1", "z:sum:0"), "no node or argument 'z:sum:0'"),
    (CONST + CALL.replace('key: "T"', 'key: "U"'), DOUBLE, "needs the attr 'T' of its call"),
])
def test_broken_libraries(nodes, functions, error):
    with pytest.raises(ValueError, match=error):
        tf.import_graph_def(text(nodes, functions))


def test_types_of_ops_that_are_not_there_are_all_named():
    nodes = "".join(f'node {{ name: "n{i}" op: "{op}" }}' for i, op in enumerate(["Zork"] * 5 + ["Frob"]))
    with pytest.raises(tf.errors.NotFoundError, match=r"'Zork' \('n0', 'n1', 'n2' and 2 more\); 'Frob' \('n5'\)"):
        tf.import_graph_def(text(nodes, RECURSIVE))
    assert not tf.get_default_graph().get_operations()
