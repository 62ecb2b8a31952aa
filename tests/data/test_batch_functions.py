"""Batch functions: runs of a session in several threads are one batch. Batches are full: none waits for time."""
from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

LONG = 60_000_000                                  # microseconds


def together(session, *calls):
    """The values, or errors, of runs (fetches, feeds) in threads of their own."""
    found = [None] * len(calls)

    def run(i):
        try:
            found[i] = session.run(*calls[i])
        except Exception as error:
            found[i] = error
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def rows(i):
    return np.full(i + 1, i + 1.0, np.float32)


def test_runs_are_one_call_of_a_function():
    sizes = []
    a, b = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None, 2])
    factor = tf.Variable(3.0)

    @tf.nondifferentiable_batch_function(2, 6, LONG)
    def fn(x, y):
        seen = tf.py_func(lambda v: (sizes.append(len(v)), v)[1], [x], tf.float32)
        return {"product": tf.reshape(seen, [-1]) * factor, "sums": tf.reduce_sum(y, 1)}

    made = fn(a, b)
    assert made["sums"].shape.as_list() == [None] and made["sums"].op.type == "BatchFunction"
    with tf.Session() as session:
        session.run(factor.initializer)
        for _ in range(2):
            found = together(session, *[(made, {a: rows(i), b: np.full([i + 1, 2], i)}) for i in range(3)])
            for i, one in enumerate(found):
                assert one["product"].tolist() == [3 * i + 3.0] * (i + 1)
                assert one["sums"].tolist() == [2.0 * i] * (i + 1)
    assert sizes == [6, 6]


def test_functions_of_one_name_have_batches_of_their_own():
    x = tf.placeholder(tf.float32, [None])

    def times(factor):
        @tf.nondifferentiable_batch_function(1, 2, 50_000)
        def fn(v):
            return v * factor
        return fn(x)

    made = [times(2.0), times(10.0)]
    assert [y.op.name for y in made] == ["batch/BatchFunction", "batch_1/BatchFunction"]
    assert [y.op.get_attr("shared_name") for y in made] == [b"batch/", b"batch_1/"]
    with tf.Session() as session:
        assert [y.tolist() for y in together(session, *[(y, {x: [1.0]}) for y in made])] == [[2.0], [10.0]]


def test_an_interrupt_of_the_run_that_computes_ends_the_others():
    x = tf.placeholder(tf.float32, [None])

    @tf.nondifferentiable_batch_function(1, 6, LONG)
    def fn(v):
        return tf.py_func(compute, [v], tf.float32)

    def compute(v):
        if v[0] == 7:
            return v
        raise KeyboardInterrupt

    def run(session, i):
        try:
            return session.run(made, {x: rows(i)})
        except BaseException as error:
            return error

    made = fn(x)
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=10_000)) as session, \
            ThreadPoolExecutor(3) as threads:
        ends = {type(end) for end in threads.map(run, [session] * 3, range(3))}
        assert ends == {KeyboardInterrupt, tf.errors.CancelledError}
        assert session.run(made, {x: [7.0] * 6}).tolist() == [7.0] * 6     # the one thread for batches is free


def test_gradients_go_back_to_each_run():
    x = tf.placeholder(tf.float32, [None])
    y = tf.contrib.batching.batch_function(1, 6, LONG)(lambda v: v * v)(x)
    fetched = [y, tf.gradients(y, x)[0]]
    with tf.Session() as session:
        for _ in range(2):
            for i, (square, grad) in enumerate(together(session, *[(fetched, {x: rows(i)}) for i in range(3)])):
                assert square.tolist() == (rows(i) ** 2).tolist() and grad.tolist() == (2 * rows(i)).tolist()


def test_batches_are_padded_to_allowed_sizes():
    sizes = []
    x = tf.placeholder(tf.float32, [None, 2])

    @tf.nondifferentiable_batch_function(1, 8, 0, allowed_batch_sizes=[3, 5, 8])
    def fn(v):
        return tf.py_func(lambda v: (sizes.append(v.tolist()), v)[1], [v], tf.float32)

    made = tf.raw_ops.Batch(in_tensors=[x], num_batch_threads=1, max_batch_size=5, batch_timeout_micros=0,
                            allowed_batch_sizes=[3, 5], grad_timeout_micros=0)
    values = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
    with tf.Session() as session:
        assert session.run(fn(x), {x: values}).tolist() == values
        found = session.run(made, {x: values[:2]})
        alone = session.run(made, {x: np.zeros([0, 2])})
    assert sizes == [[*values, values[0]]]
    assert found.batched_tensors[0].tolist() == [*values[:2], values[0]]
    assert found.batch_index.tolist() == [[found.id, 0, 2]] and alone.batch_index.shape == (0, 3)


# Sizes of the calls for `rows` of one run: those of TensorFlow 2.21.
SIZES = """
def attempt(rows, most, **options):
    tf.reset_default_graph()
    a, sizes = tf.placeholder(tf.float32, [None]), []
    def fn(x):
        return tf.py_func(lambda v: (sizes.append(len(v)), v * 2)[1], [x], tf.float32)
    try:
        y = tf.nondifferentiable_batch_function(1, most, 1000, **options)(fn)(a)
        with tf.Session() as sess:
            return sess.run(y, {a: np.arange(rows)}).tolist(), sizes
    except tf.errors.InvalidArgumentError:
        return "refused", sizes
result = [attempt(5, 4), attempt(3, 4), attempt(5, 4, enable_large_batch_splitting=False)]
result += [attempt(rows, 8, allowed_batch_sizes=[2, 4]) for rows in (6, 7, 9)]
result += [attempt(rows, 4, allowed_batch_sizes=[2, 4]) for rows in (3, 5)]
result += [attempt(6, 8, allowed_batch_sizes=[2, 4], enable_large_batch_splitting=False),
           attempt(6, 8, allowed_batch_sizes=[2, 9]), attempt(6, 8, allowed_batch_sizes=[4, 2])]
"""


def test_runs_of_many_rows_like_tensorflow(oracle):
    assert differences(oracle, {"sizes": SIZES}, modes=("never",)) == {}


def test_a_run_of_more_rows_than_the_last_allowed_size_is_several_calls():
    x = tf.placeholder(tf.float32, [None])
    sizes = []

    def fn(v):
        return tf.py_func(lambda v: (sizes.append(len(v)), v * 2)[1], [v], tf.float32)
    many = tf.nondifferentiable_batch_function(1, 8, 0, allowed_batch_sizes=[1, 3])(fn)(x)
    with tf.Session() as session:
        assert session.run(many, {x: np.arange(7)}).tolist() == list(range(0, 14, 2)) and sizes == [3, 3, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Task size 9 is larger than maximum input batch size"):
            session.run(many, {x: np.arange(9)})


def test_all_runs_get_the_error_of_their_batch():
    x = tf.placeholder(tf.float32, [None])
    fn = tf.nondifferentiable_batch_function(1, 2, LONG)
    failing, scalar = fn(lambda v: tf.check_numerics(v, "here"))(x), fn(lambda v: tf.reduce_sum(v))(x)
    with tf.Session() as session:
        found = together(session, (failing, {x: [1.0]}), (failing, {x: [np.nan]}))
        assert [type(e) for e in found] == [tf.errors.InvalidArgumentError] * 2 and "here" in str(found[0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected 2 rows of each output"):
            session.run(scalar, {x: [1.0, 2.0]})


def test_a_run_that_is_cancelled_leaves_its_batch():
    x = tf.placeholder(tf.float32, [None])
    made = tf.nondifferentiable_batch_function(1, 3, LONG)(lambda v: v * 2.0)(x)
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(made, {x: [1.0, 2.0]}, options=tf.RunOptions(timeout_in_ms=20))
        assert session.run(made, {x: [1.0, 2.0, 3.0]}).tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize(("attrs", "values", "told"), [
    ({}, [[1.0], [1.0, 2.0]], "equal 0th-dimension size, got"), ({}, [1.0, 2.0], "at least one dimension"),
    ({}, [[1.0] * 5, [1.0] * 5], "Task size 5 is larger than maximum input batch size 4"),
    ({"allowed_batch_sizes": [2, 3]}, [[1.0], [1.0]], "must match max_batch_size; was 3, expected 4"),
    ({"allowed_batch_sizes": [3, 2, 4]}, [[1.0], [1.0]], "monotonically increasing"),
    ({"num_batch_threads": 0}, [[1.0], [1.0]], "num_batch_threads must be at least 1"),
    ({"batch_timeout_micros": -1}, [[1.0], [1.0]], "batch_timeout_micros must be at least 0")])
def test_what_is_no_batch_is_refused(attrs, values, told):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    made = tf.raw_ops.Batch(in_tensors=[x, y], grad_timeout_micros=0, **{
        "num_batch_threads": 1, "max_batch_size": 4, "batch_timeout_micros": 0, **attrs})
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match=told):
                session.run(made, dict(zip((x, y), values, strict=True)))


def test_rows_that_never_come_are_waited_for_until_the_timeout():
    x, index = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    made = tf.raw_ops.Unbatch(batched_tensor=x, batch_index=index, id=np.int64(7), timeout_micros=1000)
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(made, {x: [], index: np.zeros([0, 3])})
        assert session.run(made, {x: [1.0, 2.0, 3.0], index: [[8, 0, 2], [7, 2, 3]]}).tolist() == [3.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="outside of the rows"):
            session.run(made, {x: [1.0], index: [[7, 0, 2]]})
