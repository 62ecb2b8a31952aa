"""Loops and branches with values of several tensors, their gradients, and graphs that were exported or imported."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

CASES = {
    "split_and_concat": """
x = tf.constant([1.0, 2.0, 3.0])
y = tf.TensorArray(tf.float32, 3, dynamic_size=True).split(x, [1, 1, 1]).write(3, [4.0]).concat()
result = [y, *tf.gradients(y * tf.range(1.0, 5.0), x)]
""",
    "split_into_unequal_pieces": """
x = tf.constant(np.arange(8.0).reshape(4, 2))
y = tf.TensorArray(tf.float64, 3, infer_shape=False).split(x, [1, 2, 1]).concat()
result = [y, *tf.gradients(y * y, x)]
""",
    "gather_alone_in_the_body": """
x = tf.constant(np.arange(5.0))
y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.gather(a, [0, 1, 1])), [0, x],
                  shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]
result = [y, *tf.gradients(y * 2, x)]
""",
    "gathered_twice": """
x = tf.constant(np.arange(10.0).reshape(5, 2))
body = lambda i, a: (i + 1, tf.concat([tf.gather(a, [0, 2]), a[:3]], 0))
y = tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
result = [y, tf.convert_to_tensor(tf.gradients(y * y, x)[0])]
""",
    "slices_that_grow": """
start = tf.IndexedSlices(tf.constant([[1.0, 2], [3, 4]]), tf.constant([0, 2]), tf.constant([3, 2]))
body = lambda i, s: (i + 1, tf.IndexedSlices(tf.concat([s.values, s.values], 0), tf.concat([s.indices, s.indices], 0),
                                             s.dense_shape))
s = tf.while_loop(lambda i, s: i < 2, body, [0, start],
                  shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])[1]
result = [s.values, s.indices, s.dense_shape]
shapes = [t.shape.as_list() for t in result]
""",
    "slices_without_a_dense_shape": """
start = tf.IndexedSlices(tf.constant([[1.0, 2]]), tf.constant([0]))
body = lambda s: [tf.IndexedSlices(tf.concat([s.values, s.values], 0), tf.concat([s.indices, s.indices], 0))]
s = tf.while_loop(lambda s: tf.size(s.indices) < 5, body, [start], shape_invariants=[tf.TensorShape([None, 2])])
kind = type(s).__name__
s = s[0] if isinstance(s, list) else s
result = [s.values, s.indices]
shapes = [t.shape.as_list() for t in result]
""",
    "sparse_tensor_that_grows": """
start = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
def body(i, s):
    rows = tf.concat([s.indices, s.indices + 3], 0)
    return i + 1, tf.SparseTensor(rows, tf.concat([s.values, s.values * 2], 0), s.dense_shape * 2)
s = tf.while_loop(lambda i, s: i < 2, body, [0, start], shape_invariants=[tf.TensorShape([]), tf.TensorShape(given)])[1]
result = [s.values, s.indices, s.dense_shape]
shapes = [t.shape.as_list() for t in result]
""",
    "sparse_tensor_without_invariants": """
start = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
body = lambda i, s: (i + 1, tf.SparseTensor(tf.concat([s.indices] * 2, 0), tf.concat([s.values] * 2, 0), s.dense_shape))
s = tf.while_loop(lambda i, s: i < 2, body, [0, start])[1]
result = [s.values, s.indices, s.dense_shape]
shapes = [t.shape.as_list() for t in result]
""",
    "gradient_inside_a_loop_of_something_outside": """
x = tf.constant(2.0)
y = x * x
result = [tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.gradients(y, x)[0]), [0, x])[1]]
""",
    "slices_with_other_indices_in_a_branch": """
result = []
for flag in (True, False):
    p = tf.placeholder_with_default(flag, [])
    s = tf.cond(p, lambda: tf.IndexedSlices(tf.constant([[1.0, 2]]), tf.constant([0])),
                lambda: tf.IndexedSlices(tf.constant([[3.0, 2]]), tf.constant([1], tf.int64)))
    result += [s.values, s.indices]
""",
    "scalar_mul_of_slices": """
s = tf.scalar_mul(-3, tf.IndexedSlices(tf.constant([[1.0, 2]]), tf.constant([0])))
t = tf.scalar_mul(tf.constant(2.0), tf.IndexedSlices(tf.constant([[1.0, 2]]), tf.constant([0]), tf.constant([3, 2])))
result = [s.values, s.indices, t.values, t.indices, t.dense_shape]
""",
}

IMPORTED = {
    "a_branch_that_runs": "tf.cond(tf.constant(1.0) > 0.0, imported, lambda: tf.constant(3.0))",
    "a_branch_that_does_not": "tf.cond(tf.constant(1.0) < 0.0, imported, lambda: tf.constant(3.0))",
}
for _name, _place in IMPORTED.items():
    CASES[f"imported_into_{_name}"] = f"""
inner = tf.Graph()
with inner.as_default():
    n = tf.constant(10.0)
    y = tf.while_loop(lambda a: a < n, lambda a: a + 1, [tf.constant(0.0)])
    y = tf.cond(y > 5.0, lambda: tf.while_loop(lambda a: a < 30.0, lambda a: a * 2.0, [y]), lambda: y)
    tf.identity(y, name="y")
imported = lambda: tf.import_graph_def(inner.as_graph_def(), return_elements=["y:0"], name="imported")[0]
result = [{_place}]
"""

BODIES = {
    "while_in_cond": "tf.cond(i > 0, lambda: tf.while_loop(lambda j, y: j < 3, lambda j, y: (j + 1, tf.sin(y) * v + "
                     "v), [0, x + v])[1], lambda: tf.sin(x) + v)",
    "while_in_cond_in_while": "tf.while_loop(lambda j, y: j < 3, lambda j, y: (j + 1, tf.cond(y > 2.0, lambda: "
                              "tf.while_loop(lambda k, z: k < 2, lambda k, z: (k + 1, z * v), [0, y])[1], "
                              "lambda: y + v)), [0, x])[1]",
}
for _name, _body in BODIES.items():
    for _scope in ("", "model"):
        CASES[f"imported_{_name}_{_scope}"] = f"""
first = tf.Graph()
with first.as_default():
    v = tf.constant(1.1, name="v")
    tf.identity(tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, {_body}), [0, 0.0])[1], name="y")
    meta = tf.train.export_meta_graph()
tf.train.import_meta_graph(meta, import_scope={_scope!r} or None)
find = tf.get_default_graph().get_tensor_by_name
y, v = (find({_scope + "/" if _scope else ""!r} + name) for name in ("y:0", "v:0"))
result = [y, *tf.gradients(y, v)]
"""

ALL = """
found = []
for code in cases:
    with tf.Graph().as_default():
        scope = {"tf": tf, "np": np, "given": [2]}
        exec(code, scope)
        with tf.Session() as session:
            found.append(([session.run(scope["result"]) for _ in range(3)], (scope.get("kind"), scope.get("shapes"))))
result = found
"""


def test_as_tensorflow(oracle):
    scope = {"tf": tf, "np": np, "cases": list(CASES.values())}
    exec(ALL, scope)
    for name, (got, shapes), (want, wanted) in zip(CASES, scope["result"], oracle(ALL, cases=list(CASES.values())),
                                                   strict=True):
        assert shapes == wanted, name
        for one, other in zip(got, want, strict=True):
            for a, b in zip(one, other, strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_allclose(a, b, rtol=2e-5, err_msg=name)


ERRORS = {
    "gradient_through_the_start": """
x = tf.constant(2.0, name="start")
tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.gradients(x * a, x)[0]), [0, x])
""",
    "rank_of_a_sparse_invariant": """
s = tf.SparseTensor([[0, 1]], [1.0], [3, 2])
tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s), [0, s],
              shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])])
""",
    "another_sparse_invariant": """
s = tf.SparseTensor([[0, 1]], [1.0], [3, 2])
tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s), [0, s],
              shape_invariants=[tf.TensorShape([]), tf.TensorShape([3])])
""",
    "slices_that_grow": """
s = tf.IndexedSlices(tf.constant([[1.0, 2]]), tf.constant([0]))
tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.IndexedSlices(
    tf.concat([s.values] * 2, 0), tf.concat([s.indices] * 2, 0))), [0, s])
""",
    "map_of_nothing": "tf.map_fn(lambda x: x, [])",
    "cycle": """
a, b = tf.constant(1.0) * 1, tf.constant(2.0) * 1
a.op._add_control_input(b.op)
b.op._add_control_input(a.op)
tf.Session().run(a)
""",
    "cycle_beside_a_branch": """
p = tf.placeholder_with_default(True, [])
a = tf.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(2.0)) * 1
b = tf.constant(2.0) * 1
a.op._add_control_input(b.op)
b.op._add_control_input(a.op)
tf.Session().run(a)
""",
    "cycle_beside_a_loop": """
a = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]) * 1
b = tf.constant(2.0) * 1
a.op._add_control_input(b.op)
b.op._add_control_input(a.op)
tf.Session().run(a)
""",
}

EACH = """
result = []
for code in cases:
    with tf.Graph().as_default():
        try:
            exec(code, {"tf": tf, "np": np})
            result.append("nothing")
        except Exception as error:
            result.append((type(error).__name__, str(error)))
"""


def test_errors_as_tensorflow(oracle):
    scope = {"tf": tf, "np": np, "cases": list(ERRORS.values())}
    exec(EACH, scope)
    want = oracle(EACH, cases=list(ERRORS.values()))
    assert [error[0] for error in scope["result"]] == [error[0] for error in want]
    messages = dict(zip(ERRORS, (error[1] for error in scope["result"]), strict=True))
    assert "inside while loop with respect to op 'start'" in messages["gradient_through_the_start"]
    assert "cycle" in messages["cycle_beside_a_loop"]


def flow_node(kind):
    """A graph that has one node of control flow, outside of any loop."""
    with tf.Graph().as_default() as graph:
        made = tf.constant(True) if kind == "LoopCond" else tf.constant(1.5)
        node = getattr(tf.raw_ops, kind)(input=made) if kind == "LoopCond" else getattr(tf.raw_ops, kind)(data=made)
        return graph, node, tf.identity(node)


@pytest.mark.parametrize("kind", ["NextIteration", "LoopCond", "Exit"])
def test_nodes_of_loops_outside_of_loops(kind):
    graph, node, after = flow_node(kind)
    with tf.Session(graph=graph) as session:
        for _ in range(3):
            if kind == "Exit":
                with pytest.raises(tf.errors.InvalidArgumentError, match="cannot find a corresponding Enter") as raised:
                    session.run(after)
                assert raised.value.op is node.op
            else:
                want = True if kind == "LoopCond" else 1.5
                assert session.run([node, after]) == [want, want]
                session.run(after.op)
