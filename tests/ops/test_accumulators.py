"""Conditional accumulators: as in TensorFlow, and between threads."""
from __future__ import annotations

import threading

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.graph_rows import rows_here, rows_there

SNIPPETS = {
    "the mean": """
acc = tf.ConditionalAccumulator(tf.float32, shape=[2])
adds = [acc.apply_grad([float(i), 2.0 * i], local_step=0) for i in (1, 2, 6)]
taken, count = acc.take_grad(3), acc.num_accumulated()
sess = tf.Session()
found = [sess.run(count)]
for op in adds:
    sess.run(op)
    found.append(sess.run(count))
found + [sess.run(taken), sess.run(count), taken.shape.as_list(), acc.name, acc.dtype.name]""",
    "the sum": """
acc = tf.ConditionalAccumulator(tf.float16, shape=[], reduction_type="SUM", name="mine")
add, taken = acc.apply_grad(5.5, local_step=tf.constant(3)), acc.take_grad(2)
sess = tf.Session()
sess.run(add); sess.run(add); sess.run(add)
sess.run(taken), acc.accumulator_ref.name""",
    "what is too old": """
acc = tf.ConditionalAccumulator(tf.float64, shape=[])
steps = [acc.apply_grad(tf.constant(10.0 ** i, tf.float64), local_step=i) for i in range(4)]
taken, count = acc.take_grad(1), acc.num_accumulated()
at_two, at_zero = acc.set_global_step(2), acc.set_global_step(tf.constant(0, tf.int64))
sess = tf.Session()
sess.run(at_two)
found = []
for op in steps:
    sess.run(op)
    found.append(sess.run(count))
found.append(sess.run(taken))
for op in steps:
    sess.run(op)
    found.append(sess.run(count))
found.append(sess.run(taken))
sess.run(at_zero)
sess.run(steps[0])
found + [sess.run(count), sess.run(taken)]""",
    "shapes that don't fit": """
acc = tf.ConditionalAccumulator(tf.float32, shape=[2])
free = tf.ConditionalAccumulator(tf.float32)
half = tf.ConditionalAccumulator(tf.float32, shape=[None, 2])
x = tf.placeholder(tf.float32)
sess = tf.Session()
def add(a, value):
    return outcome(lambda: sess.run(a.apply_grad(x), {x: value}))
[outcome(lambda: acc.apply_grad([1.0, 2.0, 3.0])), outcome(lambda: acc.apply_grad([1, 2.5], 0).type), add(acc, [1.0]),
 add(acc, [1.0, 2.0]), add(free, [1.0]), add(free, [[1.0]]), add(free, [3.0]), sess.run(free.take_grad(2)),
 add(free, [[1.0]]), add(half, [[1.0, 2.0]]), add(half, [[1.0, 2.0]] * 2), add(half, [[1.0]]),
 outcome(lambda: sess.run(acc.take_grad(0))), outcome(lambda: sess.run(acc.take_grad(-1))),
 outcome(lambda: tf.ConditionalAccumulator(tf.float32, reduction_type="MAX")),
 outcome(lambda: acc.apply_grad(tf.constant([1, 2])))]""",
    "rows": """
acc = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 2])
sess = tf.Session()
for indices, values in (([1, 3], [[1., 2.], [3., 4.]]), ([0, 3], [[5., 6.], [7., 8.]])):
    sess.run(acc.apply_grad(indices, tf.constant(values), [5, 2]))
first = sess.run(acc.num_accumulated())
taken = acc.take_grad(2)
sess.run(acc.apply_grad([4], tf.constant([[9., 9.]])))
slices = acc.take_indexed_slices_grad(1)
found = [sess.run(taken)]
sess.run(acc.apply_indexed_slices_grad(tf.IndexedSlices(tf.ones([2, 2]), tf.constant([2, 4])), local_step=1))
[first] + [list(f) for f in found] + [list(sess.run(slices))]""",
    "rows of an unknown shape": """
acc = tf.SparseConditionalAccumulator(tf.float32, reduction_type="SUM")
sess = tf.Session()
for indices, values in (([1, 3], [1., 2.]), ([3], [5.])):
    sess.run(acc.apply_grad(indices, tf.constant(values)))
list(sess.run(acc.take_grad(1)))""",
    "rows that don't fit": """
acc = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 2])
sess = tf.Session()
def add(indices, values, shape=None):
    return outcome(lambda: sess.run(acc.apply_grad(indices, tf.constant(values), shape)))
[add([1], [[1., 2., 3.]]), add([1], [[1., 2.]], [4, 2]), add([[1]], [[1., 2.]]), add([1, 2], [[1., 2.]]),
 add([1], [[1., 2.]], [5, 2]), add([1], [[1., 2.]], [5, 3]), outcome(lambda: sess.run(acc.take_grad(0)))]""",
    "too old rows": """
acc = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 2])
sess = tf.Session()
sess.run(acc.set_global_step(3))
sess.run(acc.apply_grad([1], tf.ones([1, 2]), local_step=2))
before = sess.run(acc.num_accumulated())
sess.run(acc.apply_grad([1], tf.ones([1, 2]), local_step=3))
before, sess.run(acc.num_accumulated())""",
    "one by its name": """
one = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name="s")
two = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name="s")
sess = tf.Session()
sess.run(one.apply_grad(3.0))
sess.run(two.take_grad(1)), one.name, two.name""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS)


GRAPH = """
dense = tf.ConditionalAccumulator(tf.float32, shape=[2])
sparse = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 2], name="rows")
dense.apply_grad([1.0, 2.0], 3); dense.take_grad(2); dense.num_accumulated(); dense.set_global_step(2)
sparse.apply_grad([1], [[1.0, 2.0]], [5, 2]); sparse.take_grad(2); sparse.num_accumulated(); sparse.set_global_step(2)
"""


def test_nodes(oracle):
    assert rows_here(GRAPH, tf) == rows_there(GRAPH, oracle)


def test_a_taker_waits_for_the_threads_that_add():
    acc = tf.ConditionalAccumulator(tf.float32, shape=[3])
    x = tf.placeholder(tf.float32, [3])
    add, taken = acc.apply_grad(x, local_step=10), acc.take_grad(8)
    with tf.Session() as session:
        threads = [threading.Thread(target=session.run, args=(add, {x: np.full(3, i, "f")})) for i in range(8)]
        for thread in threads:
            thread.start()
        np.testing.assert_allclose(session.run(taken), np.full(3, 3.5))
        for thread in threads:
            thread.join()


def test_duplicate_rows_add_up():
    acc = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 1])
    with tf.Session() as session:
        session.run(acc.apply_grad([2, 0, 2], tf.constant([[1.0], [5.0], [3.0]])))
        session.run(acc.apply_grad([2], tf.constant([[8.0]])))
        indices, values, shape = session.run(acc.take_grad(2))
    assert (indices.tolist(), values.tolist(), shape.tolist()) == ([0, 2], [[5.0], [6.0]], [4, 1])


def test_waiting_ends_with_the_session_or_a_limit():
    acc = tf.ConditionalAccumulator(tf.float32, shape=[])
    taken, errors = acc.take_grad(1), []
    session = tf.Session()
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(taken, options=tf.RunOptions(timeout_in_ms=20))

    def take():
        try:
            session.run(taken)
        except tf.errors.CancelledError as error:
            errors.append(error)
    thread = threading.Thread(target=take)
    thread.start()
    threading.Event().wait(0.05)
    session.close()
    thread.join(10)
    assert errors[0].op is taken.op


def test_old_handles_pass_through_a_graph_def():
    acc = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 1], name="acc")
    acc.apply_grad([2], tf.constant([[1.0]]), name="add")
    acc.take_grad(1, name="take")
    described = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        add, taken = tf.import_graph_def(described, return_elements=["add", "take:1"], name="")
        session.run(add)
        assert session.run(taken).tolist() == [[1.0]]
