"""cond, case, while_loop, TensorArray, functional loops: errors, structures, protos, imports, memory."""
from __future__ import annotations

import functools
import gc
import inspect
import os
import tracemalloc

import numpy as np
import pytest

import tfnb as tf
from tfnb.compile.printed import print_plan
from tfnb.control_flow.cond import CondContext
from tfnb.control_flow.while_context import WhileContext
from tfnb.core.options import options


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()


def run(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


def truth():
    return tf.placeholder(tf.bool, [], name="p")


@pytest.mark.parametrize("make, error, words", [
    (lambda p: tf.cond(True, lambda: 1, lambda: 2), TypeError, "Python bool"),
    (lambda p: tf.cond(p, 1, lambda: 2), TypeError, "true_fn must be callable"),
    (lambda p: tf.cond(p, lambda: 1), TypeError, "false_fn must be callable"),
    (lambda p: tf.cond(p, lambda: None, lambda: 2), ValueError, "true_fn must have a return value"),
    (lambda p: tf.cond(p, lambda: (1, 2), lambda: (1,)), TypeError, "Incompatible return types"),
    (lambda p: tf.cond(p, lambda: 1, lambda: 2.0), ValueError, "must have the same type"),
    (lambda p: tf.cond(p, lambda: 1, lambda: 2, fn1=lambda: 1), ValueError, "Cannot specify both"),
    (lambda p: tf.cond([p, p], lambda: 1, lambda: 2), ValueError, "Switch"),
    (lambda p: tf.case([]), ValueError, "at least one"),
    (lambda p: tf.case([(p, 1)]), TypeError, "callable"),
    (lambda p: tf.case([(1, lambda: 1)]), TypeError, "bool"),
    (lambda p: tf.while_loop(lambda i: i < 1, lambda i: i, []), ValueError, "loop_vars"),
    (lambda p: tf.while_loop(1, lambda i: i, [0]), TypeError, "'cond' must be callable"),
    (lambda p: tf.while_loop(lambda i: i < 1, 1, [0]), TypeError, "'body' must be callable"),
    (lambda p: tf.while_loop(lambda i: i < 1, lambda i: i, [0], parallel_iterations=0), TypeError, "positive"),
    (lambda p: tf.while_loop(lambda i: i < 1, lambda i: (i, i), [0]), ValueError, "same number"),
    (lambda p: tf.while_loop(lambda i: i < 1, lambda i: tf.to_float(i), [0]), TypeError, "dtype float32"),
    (lambda p: tf.while_loop(lambda a: p, lambda a: tf.concat([a, a], 0), [tf.zeros([2])]), ValueError,
     "shape_invariants"),
    (lambda p: tf.while_loop(lambda a: p, lambda a: a, [tf.zeros([2])], shape_invariants=[tf.TensorShape([3])]),
     ValueError, "not compatible"),
    (lambda p: tf.while_loop(lambda i: i < 1, lambda i: i, [0], maximum_iterations=[1]), ValueError, "scalar"),
    (lambda p: tf.map_fn(1, [1.0]), TypeError, "callable"),
    (lambda p: tf.map_fn(lambda a: a, 1.0), ValueError, "1\\+ dimensional"),
    (lambda p: tf.TensorArray(tf.float32), ValueError, "Size must be provided"),
    (lambda p: tf.TensorArray(tf.float32, 1).write(0, tf.constant(1)), TypeError, "trying to write dtype"),
    (lambda p: tf.TensorArray(tf.float32, 2).write(0, [1.0]).write(1, 1.0), ValueError, "Inconsistent shapes"),
])
def test_errors_while_building(make, error, words):
    with pytest.raises(error, match=words):
        make(truth())
    assert tf.get_default_graph()._get_control_flow_context() is None


@pytest.mark.parametrize("make, words", [
    (lambda: tf.TensorArray(tf.float32, 2).write(2, 1.0).flow, "not resizeable"),
    (lambda: tf.TensorArray(tf.float32, 2).write(0, 1.0).write(0, 1.0).flow, "already been written"),
    (lambda: tf.TensorArray(tf.float32, 2, infer_shape=False).read(0), "Could not read from TensorArray index 0"),
    (lambda: tf.TensorArray(tf.float32, 2).read(5), "array size is: 2"),
    (lambda: [(a := tf.TensorArray(tf.float32, 1).write(0, 1.0)).read(0) + a.read(0)], "twice"),
    (lambda: tf.case([(tf.constant(False) & True, lambda: tf.constant(1))]), "None of conditions"),
])
def test_errors_while_running(make, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(make())


def test_unwritten_elements_of_a_known_shape_are_zero():
    array = tf.TensorArray(tf.float32, 2, element_shape=[2]).write(1, [1.0, 2.0])
    np.testing.assert_array_equal(run(array.stack()), [[0, 0], [1, 2]])


def test_nothing_inside_may_be_fetched_or_used_outside():
    inside = []

    def body(i):
        inside.append(i + 1)
        return inside[0]
    tf.while_loop(lambda i: i < 3, body, [0])
    with pytest.raises(ValueError, match="not fetchable"):
        run(inside[0])
    with pytest.raises(ValueError, match="is in a while loop"):
        tf.negative(inside[0])


def test_a_value_of_a_branch_that_is_not_taken():
    p, inside = truth(), []
    tf.cond(p, lambda: inside.append(tf.constant(2.0) * 3) or 1, lambda: 2)
    outside = tf.identity(inside[0])
    assert run(outside, {p: True}) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="not taken"):
        run(outside, {p: False})


def test_only_what_is_taken_runs():
    p = truth()
    x = tf.placeholder(tf.float32, [])
    check = tf.cond(p, lambda: tf.check_numerics(x, "bad"), lambda: x * 0 + 1)
    assert np.isnan(run(check, {p: False, x: np.nan}))
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        run(check, {p: True, x: np.nan})


def test_contexts_go_through_their_protos():
    p = truth()
    tf.cond(p, lambda: tf.constant(1) + 1, lambda: tf.cond(p, lambda: 1, lambda: 2))
    tf.while_loop(lambda i: i < 3, lambda i: tf.while_loop(lambda j: j < i + 2, lambda j: j + 1, [i]), [0])
    graph = tf.get_default_graph()
    conds, loops = (graph.get_collection(key) for key in ("cond_context", "while_context"))
    assert [len(conds), len(loops), len(loops[0].nested)] == [2, 1, 1]
    protos = [c.to_proto() for c in (*conds, *loops)]
    copy = tf.Graph()
    with copy.as_default():
        tf.import_graph_def(graph.as_graph_def(), name="")
        again = [CondContext.from_proto(proto) for proto in protos[:2]] + [WhileContext.from_proto(protos[2])]
    assert [c.to_proto() for c in again] == protos


@pytest.mark.parametrize("name", ["", "in"])
def test_an_imported_loop_runs(name):
    n = tf.placeholder(tf.int32, [], name="n")
    tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.cond(a > 10, lambda: a - 10, lambda: a * 3)), [0, 1],
                  name="loop")
    data = tf.get_default_graph().as_graph_def()
    tf.reset_default_graph()
    fed, result = tf.import_graph_def(data, name=name, return_elements=["n:0", "loop/Exit_1:0"])
    expected = [1]
    for _ in range(6):
        expected.append(expected[-1] - 10 if expected[-1] > 10 else expected[-1] * 3)
    for k in (0, 1, 6):
        assert run(result, {fed: k}) == expected[k]


@pytest.mark.parametrize("compiled", ["never", "second", "always"])
def test_a_thousand_rounds(compiled, monkeypatch):
    monkeypatch.setattr(options, "compile", compiled)
    x = tf.placeholder(tf.float64, [4])
    i, a, total = tf.while_loop(lambda i, a, t: i < 1000, lambda i, a, t: (i + 1, a * 0.999 + x, t + a[1]),
                                [0, x, tf.constant(0.0, tf.float64)])
    at, want, sum_ = np.arange(4.0), np.arange(4.0), 0.0
    for _ in range(1000):
        sum_, want = sum_ + want[1], want * 0.999 + at
    for _ in range(2):
        got = run([i, a, total], {x: at})
        assert got[0] == 1000
        np.testing.assert_allclose(got[1], want, rtol=1e-12)
        assert got[2] == pytest.approx(sum_, rel=1e-12)


def test_results_belong_to_the_caller():
    x = tf.placeholder(tf.float32, [2])
    loop = tf.while_loop(lambda i, a: i < 50, lambda i, a: (i + 1, a + x), [0, x])
    with tf.Session() as sess:
        first = sess.run(loop[1], {x: [1, 2]})
        second = sess.run(loop[1], {x: [2, 2]})
        np.testing.assert_array_equal(first, [51, 102])
        np.testing.assert_array_equal(second, [102, 102])
        given = np.ones(2, np.float32)
        untouched = sess.run(tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a + x), [0, x])[1], {x: given})
        untouched += 1
        assert given.tolist() == [1, 1]


def test_memory_stays_flat():
    x = tf.placeholder(tf.float32, [1000])
    array = tf.TensorArray(tf.float32, 50)
    i, a, array = tf.while_loop(lambda i, a, t: i < 50, lambda i, a, t: (i + 1, a * 0.5 + x, t.write(i, a)),
                                [0, x, array])
    gradient = tf.gradients(array.stack(), x)[0]
    at = np.ones(1000, np.float32)
    with tf.Session() as sess:
        for _ in range(5):
            sess.run(gradient, {x: at})
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(10):
            sess.run(gradient, {x: at})
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    assert grown < 100_000


def test_second_order_of_a_loop_is_an_error_as_in_tensorflow():
    x = tf.placeholder(tf.float32, [])
    a = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]
    first = tf.gradients(a, x)[0]
    with pytest.raises(TypeError, match="Second-order gradient for while loops not supported"):
        tf.gradients(first, x)


def test_print_in_a_branch_and_in_a_loop(capfd):
    p = truth()
    shown = tf.cond(p, lambda: tf.Print(1, [7], "taken: "), lambda: tf.constant(0))
    i = tf.while_loop(lambda i: i < 2, lambda i: tf.Print(i, [i], "round: ") + 1, [0])
    run([shown, i], {p: False})
    assert capfd.readouterr().err.split("\n")[:2] == ["round: 0", "round: 1"]
    run(shown, {p: True})
    assert "taken: 7" in capfd.readouterr().err


def test_gradients_in_an_imported_meta_graph():
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.cond(x > 1, lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1], lambda: -x)
    tf.identity(y, name="y")
    meta = tf.train.export_meta_graph()
    tf.reset_default_graph()
    tf.train.import_meta_graph(meta)
    graph = tf.get_default_graph()
    x, y = (graph.get_tensor_by_name(name) for name in ("x:0", "y:0"))
    (slope,) = tf.gradients(y, x)
    assert [run([y, slope], {x: v}) for v in (2.0, 0.5)] == [[16, 32], [-0.5, -1]]


def test_a_variable_in_a_loop_needs_a_function_for_its_initial_value():
    def body(i, h):
        return i + 1, h * tf.Variable(lambda: tf.ones([]) * 2.0, name="w")
    assert run(tf.while_loop(lambda i, h: i < 3, body, [0, 1.0])[1]) == 8
    with pytest.raises(ValueError, match="use a lambda"):
        tf.while_loop(lambda i: i < 3, lambda i: i + tf.Variable(i), [0])


def test_sparse_tensors_come_out_of_branches():
    p = truth()
    sparse = tf.cond(p, lambda: tf.SparseTensor([[0]], [1.0], [3]),
                     lambda: tf.SparseTensor([[1], [2]], [2.0, 3.0], [3]))
    dense = tf.sparse_tensor_to_dense(sparse)
    assert [run(dense, {p: v}).tolist() for v in (True, False)] == [[1, 0, 0], [0, 2, 3]]


def test_a_plan_shows_conditions_and_loops():
    p, x = truth(), tf.placeholder(tf.float32, [2], name="x")
    y = tf.cond(p, lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), [0, x])[1], lambda: x)
    with tf.Session() as sess:
        text = print_plan(sess.plan(y, {p: True, x: [1, 2]}))
    assert "(loop) if p:0 is True" in text and "test plan:" in text and "step plan:" in text and "(merge)" in text


def test_branches_of_a_case_are_called_from_one_depth_of_the_stack():
    """300 branches, each in the one before, were a RecursionError."""
    x, depths = tf.placeholder(tf.int32, []), []

    def branch(i):
        depths.append(len(inspect.stack(0)))
        return tf.constant(i)
    count = 300 if os.environ.get("TFNB_STRESS") == "1" else 12
    y = tf.case([(tf.equal(x, i), functools.partial(branch, i)) for i in range(count)],
                default=functools.partial(branch, -1))
    assert len(set(depths)) == 1 and len(depths) == count + 1
    with tf.Session() as sess:
        for given, expected in ((0, 0), (count // 2, count // 2), (count - 1, count - 1), (count, -1)):
            assert sess.run(y, {x: given}) == expected


def test_an_error_in_a_branch_of_a_case_leaves_all_scopes():
    x, graph = tf.placeholder(tf.int32, []), tf.get_default_graph()

    def fails():
        raise LookupError("mine")
    for actions in ((fails, tf.no_op), (tf.no_op, fails)):
        with pytest.raises(LookupError, match="mine") as caught:
            tf.case([(tf.equal(x, i), fn) for i, fn in enumerate(actions)], default=tf.no_op)
        assert caught.traceback[-1].name == "fails"
        assert graph._flow_context is None and tf.identity(x, name="after").name.startswith("after")
        with tf.Session() as sess:
            assert sess.run(tf.cond(x > 0, lambda: x, lambda: -x), {x: -3}) == 3
