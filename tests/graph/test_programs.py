"""Small programs, run here and in real TensorFlow: the same nodes, names, inputs, devices and attrs come out."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tfnb.core import dtypes
from tfnb.graph import stack
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.importing import import_graph_def
from tfnb.ops.array.reshape import Identity
from tfnb.ops.control.group import no_op
from tfnb.ops.control.source import constant, placeholder, placeholder_with_default
from tfnb.ops.math.arithmetic import Mul, Square
from tfnb.ops.math.functions import Tanh

TF = SimpleNamespace(
    Graph=Graph, constant=constant, placeholder=placeholder, placeholder_with_default=placeholder_with_default,
    no_op=no_op, identity=Identity, square=Square, tanh=Tanh, multiply=Mul, convert_to_tensor=convert_to_tensor,
    name_scope=stack.name_scope, control_dependencies=stack.control_dependencies, device=stack.device,
    colocate_with=stack.colocate_with, get_default_graph=stack.get_default_graph, container=stack.container,
    float32=dtypes.float32, float64=dtypes.float64, int32=dtypes.int32, string=dtypes.string,
    import_graph_def=import_graph_def)

PROGRAMS = {
    "chain": """
x = tf.placeholder(tf.float32, [None, 3])
tf.identity(tf.tanh(tf.square(x, name='sq')), name='out')
""",
    "converted arguments": """
tf.multiply(tf.square(2.0), [1.0, 2.0]); tf.multiply(tf.constant(1), 3, name='m'); tf.tanh(1.5)
""",
    "names taken": """
for i in range(3): tf.square(1.0)
tf.constant(1.0, name='square'); tf.constant(1.0, name='Square_3'); tf.square(1.0)
""",
    "nested scopes": """
with tf.name_scope('a') as a:
    x = tf.constant(1.0)
    with tf.name_scope('b'): tf.square(x)
    with tf.name_scope('b'): tf.square(x, name='Sq')
    with tf.name_scope(a): tf.square(x)
    with tf.name_scope(''): tf.square(x)
    with tf.name_scope(None): tf.square(x)
with tf.name_scope('A'): tf.constant(2.0)
with tf.name_scope('a/'): tf.constant(2.0)
with tf.name_scope('x/y'): tf.constant(2.0)
""",
    "an op called as its scope": """
x = tf.constant(1.0)
for _ in range(2):
    with tf.name_scope('layer', values=[x]) as scope:
        tf.tanh(tf.square(x), name=scope)
tf.square(x, name='layer')
with tf.name_scope(None, 'default', [x]) as scope: tf.square(x, name=scope)
""",
    "control inputs": """
a, b, c = tf.constant(1.0, name='a'), tf.no_op('b'), tf.no_op('c')
with tf.control_dependencies([c, a, b]):
    d = tf.square(a)
    tf.square(d)
    e = tf.no_op('e')
    with tf.control_dependencies([b, e]):
        f = tf.square(2.0)
        tf.multiply(d, f)
        tf.identity(a)
    with tf.control_dependencies(None):
        tf.no_op()
        with tf.control_dependencies([d, a]): tf.identity(a)
    with tf.control_dependencies([]): tf.no_op()
""",
    "devices": """
def fn(op): return '/cpu:1' if op.type == 'Const' else op.device
with tf.device('/job:w/task:1'):
    with tf.device('/gpu:0'):
        x = tf.square(tf.constant(1.0))
        with tf.device('/cpu:2'): tf.tanh(x)
        with tf.device(None): tf.tanh(x)
        with tf.device(fn): tf.tanh(tf.constant(1.0))
    with tf.device(fn), tf.device('/job:v'): tf.tanh(tf.constant(1.0))
""",
    "colocation": """
with tf.device('/cpu:0'): a = tf.constant(1.0, name='a')
b = tf.constant(1.0, name='b')
with tf.device('/gpu:0'), tf.colocate_with(b):
    tf.square(b)
    with tf.colocate_with(a): c = tf.square(3.0)
    with tf.colocate_with(a, ignore_existing=True): tf.square(b)
    with tf.colocate_with(None, ignore_existing=True): tf.square(b)
with tf.colocate_with(c): tf.no_op()
""",
    "constants": """
tf.constant(1); tf.constant([1, 2.5]); tf.constant([[True], [False]]); tf.constant('a'); tf.constant([b'a', 'bc'])
tf.constant(np.arange(6).reshape(2, 3)); tf.constant(np.float64(2)); tf.constant(2 ** 40); tf.constant(3, tf.float64)
tf.constant([1, 2, 3, 4], shape=[2, 2]); tf.constant(np.array([1, 2], np.float16)); tf.constant([], tf.int32)
tf.constant([[1.5]]); tf.constant(1 + 2j); tf.constant(np.array([1, 2], np.uint16)); tf.constant(np.zeros([0, 3]))
tf.constant(np.array(['x', 'y'])); tf.constant(-1, tf.int32, name='minus')
""",
    "placeholders": """
tf.placeholder(tf.float32); tf.placeholder(tf.int32, []); tf.placeholder(tf.string, [None, 2], name='s')
tf.placeholder_with_default([1.0, 2.0], [None])
""",
    "gradient override": """
g = tf.get_default_graph()
with g.gradient_override_map({'Square': 'Other'}): tf.tanh(tf.square(1.0))
""",
    "import": """
made = tf.Graph()
with made.as_default():
    x = tf.placeholder(tf.float32, [2], name='x')
    with tf.control_dependencies([tf.no_op('before')]), tf.colocate_with(x): tf.square(x, name='y')
for _ in range(2): tf.import_graph_def(made.as_graph_def(), input_map={'x:0': tf.constant([1.0, 2.0])})
tf.import_graph_def(made.as_graph_def(), name='')
with tf.name_scope('outer'): tf.import_graph_def(made.as_graph_def(), name='in')
""",
}
NODES = """
later = {'_has_manual_control_dependencies'}       # an attr that only TensorFlow 2 sets
result = [(n.name, n.op, list(n.input), n.device,
           {k: v.SerializeToString(deterministic=True) for k, v in n.attr.items() if k not in later})
          for n in tf.get_default_graph().as_graph_def().node]
"""


def ours(program: str) -> Any:
    scope: dict[str, Any] = {"tf": TF, "np": np}
    exec(compile(program + NODES, "<program>", "exec"), scope)
    return scope["result"]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_same_nodes_as_tensorflow(oracle: Any, program: str) -> None:
    for mine, theirs in zip(ours(program), oracle(program + NODES), strict=True):
        assert mine == theirs


ERRORS = """
def outcome(code):
    try:
        exec(code, {'tf': tf, 'np': np, 'a': a, 'g': g, 'foreign': foreign})
    except Exception as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == 'builtins')
    return 'nothing'

g = tf.get_default_graph()
a = tf.placeholder(tf.float32, [2, None], name='a')
with tf.Graph().as_default():
    foreign = tf.constant(1.0)
result = [outcome(code) for code in codes]
"""
CODES = [
    "bool(a)", "list(a)", "len(a)", "float(a)", "np.array(a)", "a.set_shape([3, 4])", "a.set_shape([2])", "a.eval()",
    "a.op.run()", "g.get_tensor_by_name('a')", "g.get_tensor_by_name('a:1')", "g.get_tensor_by_name('b:0')",
    "g.get_tensor_by_name('a:x')", "g.get_tensor_by_name(3)", "g.get_operation_by_name('a:0')",
    "g.get_operation_by_name('b')", "g.get_operation_by_name(None)", "g.as_graph_element(3)",
    "g.as_graph_element(a, allow_tensor=False)", "g.as_graph_element(foreign)", "tf.multiply(a, foreign)",
    "g.name_scope('_x').__enter__()", "g.name_scope(3).__enter__()", "tf.no_op('a b')",
    "tf.name_scope(None, None, [a]).__enter__()",
    "tf.name_scope(None, 'x', [a, foreign]).__enter__()", "tf.device('abc').__enter__()",
    "tf.control_dependencies(5)", "tf.control_dependencies([5])", "tf.control_dependencies(['b'])",
    "tf.colocate_with(None).__enter__()", "a.op.get_attr('zz')", "g.gradient_override_map([]).__enter__()",
    "g.gradient_override_map({1: 'a'}).__enter__()", "tf.convert_to_tensor(None)", "tf.convert_to_tensor([None, 1])",
    "tf.convert_to_tensor([1, 'a'])", "tf.convert_to_tensor([[1, 2], [3]])", "tf.convert_to_tensor(object())",
    "tf.convert_to_tensor({1, 2})", "tf.convert_to_tensor(1.5, tf.int32)", "tf.convert_to_tensor('a', tf.float32)",
    "tf.convert_to_tensor(1, tf.string)", "tf.convert_to_tensor(1 + 2j, tf.float32)",
    "tf.convert_to_tensor(a, tf.int32)", "tf.convert_to_tensor(a.op)",
    "tf.convert_to_tensor([np.zeros(2), np.zeros(2)])", "tf.convert_to_tensor(np.array([1], object))",
    "tf.convert_to_tensor(True, tf.float32)", "tf.convert_to_tensor(-1, tf.int32)", "tf.constant([1, 2, 3], shape=[2])",
    "tf.constant(a)", "tf.square('a')", "tf.multiply(a, tf.constant(1))", "tf.multiply(a, 'x')",
    "tf.tanh(tf.constant(1))",
    "tf.multiply(tf.constant([1, 2]), tf.constant([1, 2, 3]))", "g.create_op('Identity', [1.0], [tf.float32])",
    "g.create_op('NoSuchOp', [], [])", "(g.finalize(), tf.no_op())",
]


def test_the_same_classes_of_errors_as_tensorflow(oracle: Any) -> None:
    scope: dict[str, Any] = {"tf": TF, "np": np, "codes": CODES}
    exec(ERRORS, scope)
    theirs = oracle(ERRORS, codes=CODES)
    assert dict(zip(CODES, scope["result"], strict=True)) == dict(zip(CODES, theirs, strict=True))


def test_tensorflow_reads_what_is_written_here(oracle: Any) -> None:
    ours(PROGRAMS["control inputs"] + PROGRAMS["constants"])
    graph = stack.get_default_graph()
    written = graph.as_graph_def().SerializeToString()
    read = oracle("""
graph_def = tf.GraphDef.FromString(written)
tf.import_graph_def(graph_def, name='')
result = [(n.name, n.op, sorted(n.input)) for n in tf.get_default_graph().as_graph_def().node]
""", written=written)
    assert read == [(op.name, op.type, sorted(op.node_def.input)) for op in graph.get_operations()]
