"""Variables behind handles in each situation: as real TensorFlow, interpreted and compiled."""
from __future__ import annotations

import threading

import numpy as np
import pytest

import tfnb as tf
from tests.handles import hold
from tests.runtime.handle_snippets import BEGIN, PROGRAMS
from tfnb.compile.planning.structure import build
from tfnb.core.options import options
from tfnb.ops.declaration.raw import raw


@pytest.fixture(scope="module")
def theirs(oracle):
    code = "import numpy as np\nfound = {}\nfor name, code in programs.items():\n    scope = {'tf': tf, 'np': np}\n" \
           "    exec(begin + code, scope)\n    found[name] = scope['result']\nresult = found"
    return oracle(code, begin=BEGIN, programs=PROGRAMS)


def here(code):
    scope = {"tf": tf, "np": np}
    exec(BEGIN + code, scope)
    return scope["result"]


def assert_same(got, want, place):
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want), place
        for i, (a, b) in enumerate(zip(got, want, strict=True)):
            assert_same(a, b, f"{place}[{i}]")
    elif isinstance(want, str) or isinstance(got, str) or want is None:
        assert got == want, place
    else:
        np.testing.assert_array_equal(got, want, place)


@pytest.mark.parametrize("mode", ["never", "second", "always"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_tensorflow(name, mode, theirs, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    assert_same(here(PROGRAMS[name]), theirs[name], name)


def test_steps_in_a_loop_give_the_bits_of_references(monkeypatch):
    monkeypatch.setattr(options, "compile", "second")
    found = [trained_in_a_loop(by_handle) for by_handle in (False, True)]
    assert found[0][0].any()
    for got, want in zip(*found, strict=True):
        np.testing.assert_array_equal(got, want)


def trained_in_a_loop(by_handle):
    """Variables after runs of a loop of sparse and dense steps, the slots' decay in between."""
    tf.reset_default_graph()
    random = np.random.RandomState(4)
    w, m, v, table, accum = (hold(random.rand(4, 3).astype("f") + 1, by_handle, name) for name in "wmvta")
    prefix = "Resource" * by_handle

    def read(held):
        return raw.ReadVariableOp(held.taken, dtype=tf.float32) if by_handle else tf.identity(held.taken)

    def body(i, s):
        now = read(w)
        rows = raw.ResourceGather(table.taken, [1, 3, 1], dtype=tf.float32) if by_handle \
            else tf.gather(table.taken, [1, 3, 1])
        grad = tf.matmul(now, now, transpose_a=True)[:1] * now + tf.reduce_sum(rows) + s * 0
        with tf.control_dependencies([grad]):
            dense = getattr(raw, f"{prefix}ApplyAdam")(w.taken, m.taken, v.taken, 0.5, 0.9, 0.01, 0.9, 0.99, 1e-6, grad)
            sparse = getattr(raw, f"{prefix}SparseApplyAdagrad")(table.taken, accum.taken, 0.1, grad[:2], [2, 0])
        with tf.control_dependencies([dense, sparse]):
            return i + 1, s + tf.reduce_mean(read(w)) + read(table)[0, 0]
    _, total = tf.while_loop(lambda i, s: i < 9, body, [0, 0.0], parallel_iterations=1)
    with tf.Session() as sess:
        sess.run([held.start for held in (w, m, v, table, accum)])
        totals = [sess.run(total) for _ in range(3)]
        return [np.array(totals), *sess.run([held.read for held in (w, m, v, table, accum)])]


def test_additions_of_threads_are_whole():
    v, n = hold(np.zeros(500, "f")), hold(np.int64(0))
    adds = [raw.AssignAddVariableOp(v.taken, tf.ones(500)), raw.AssignAddVariableOp(n.taken, np.int64(1))]

    def body(i):
        with tf.control_dependencies([raw.AssignAddVariableOp(n.taken, tf.cast(i * 0 + 1, tf.int64))]):
            return i + 1
    loop = tf.while_loop(lambda i: i < 10, body, [0])
    with tf.Session() as sess:
        sess.run([v.start, n.start])
        threads = [threading.Thread(target=lambda: [sess.run(op) for _ in range(50) for op in (adds, loop)])
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sums, count = sess.run([v.read, n.read])
    assert (sums == 200).all() and count == 200 * 11


def test_a_step_is_one_stage_of_kernels():
    """A read, the gradient and the update: one launch, which writes to the variable's memory."""
    v = hold(np.ones([4, 3], "f"))
    step = raw.ResourceApplyGradientDescent(v.taken, 0.1, tf.exp(v.read))
    plan = build([], [step], [])
    assert plan.direct and plan.stages[0].on_device and plan.stages[0].variables == (v.taken.op,)
    with tf.Session() as sess:
        sess.run(v.start)
        assert "1 launches" in str(tf.explain(step, session=sess))


def test_a_program_of_handles_is_searched_for_nan():
    v = hold(np.float32([1, 0]))
    bad = tf.log(v.read)
    step = raw.AssignAddVariableOp(v.taken, bad)
    late = raw.ReadVariableOp(v.taken, dtype=tf.float32) * 2
    with tf.Session() as sess:
        sess.run(v.start)
        assert tf.find_nan([bad, step], session=sess).op is bad.op
        assert sess.run(v.read).tolist() == [1, 0]
        sess.run(step)
        assert tf.find_nan(late, session=sess).op is v.taken.op


def test_a_function_of_a_dataset_reads_a_variable():
    v = hold(np.float32(3))
    data = tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32) + raw.ReadVariableOp(v.taken, tf.float32))
    iterator = data.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as sess:
        sess.run(v.start)
        sess.run(iterator.initializer)
        assert [sess.run(element) for _ in range(3)] == [3, 4, 5]
