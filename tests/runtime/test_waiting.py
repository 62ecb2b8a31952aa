"""Runs in which one op waits for another one of the same run. Those that TensorFlow can do are compared with it."""
from __future__ import annotations

import _thread
import queue
import threading
import time

import numpy as np
import pytest

import tfnb as tf
from tests.differential import here, there
from tfnb.core.options import options
from tfnb.debug.tap import Tap, inspect_run
from tfnb.runtime.runners import waiting

# What is left for others is put in and taken out in the same snippet: an oracle that blocks would never answer.
SNIPPETS = ["""
q = tf.FIFOQueue(10, [tf.float32]); d = q.dequeue(); e = q.enqueue(3.0)
---
[sess.run(f) for f in ([d, e], [e, d], {"a": [d], "b": e})]
""", """
q = tf.FIFOQueue(3, [tf.float32], shapes=[[]]); d = q.dequeue_many(5); e = q.enqueue_many([[1.0, 2.0, 3.0, 4.0, 5.0]])
---
[sess.run([d, e]) for _ in range(3)], sess.run(q.size())
""", """
a = tf.FIFOQueue(10, [tf.float32], shapes=[[]]); b = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
y = b.dequeue(); x = a.dequeue(); e = b.enqueue(x * 2.0); z = y + 1.0; start = a.enqueue(1.0)
---
[(sess.run(start), sess.run([z, y, e])) for _ in range(3)]
""", """
q = tf.FIFOQueue(1, [tf.float32]); es = [q.enqueue(float(i)) for i in range(5)]; ds = [q.dequeue() for _ in range(5)]
---
[sorted(sess.run(ds + es)[:5]) for _ in range(2)]
""", """
q = tf.FIFOQueue(9, [tf.float32]); v = tf.Variable(0.0); d = q.dequeue()
with tf.control_dependencies([d]): up = v.assign_add(1.0)
---
[sess.run([up.op, d, q.enqueue(1.0), v]) for _ in range(3)]
""", """
q = tf.FIFOQueue(9, [tf.float32]); d = q.dequeue()
with tf.control_dependencies([q.enqueue(5.0)]): late = q.size()
---
sess.run([d, late.op]), outcome(lambda: sess.run([d, q.dequeue(), q.close()]))
""", """
q = tf.FIFOQueue(9, [tf.string]); s = tf.string_join([q.dequeue(), "b"]); p = tf.placeholder(tf.string, [])
---
[sess.run([s, q.enqueue(p)], {p: "a"}) for _ in range(3)]
""", """
import queue; q = queue.Queue(); one = np.int64(1); p = tf.placeholder_with_default(True, [])
a = tf.py_func(lambda: q.get(), [], tf.int64); b = tf.py_func(lambda: [q.put(np.int64(5)), one][1], [], tf.int64)
c = tf.cond(p, lambda: a + 1, lambda: tf.constant(0, tf.int64)); d = tf.py_func(lambda x: x + 1, [a], tf.int64)
---
[sess.run(f) for f in ([a, b], [b, a], {"x": a, "y": [b]}, [a, b, d], [c, b])]
""", """
import threading; both = threading.Barrier(2)
def body(i, x):
    calls = [tf.py_func(lambda j: np.int32(j + 0 * both.wait()), [i], tf.int32) for _ in range(2)]
    return i + 1, x + tf.reshape(calls[0] + calls[1], [])
y = tf.while_loop(lambda i, x: i < 4, body, [0, 0])
---
[sess.run(y) for _ in range(3)]
""", """
q = tf.FIFOQueue(9, [tf.float32], shapes=[[]]); p = tf.placeholder(tf.bool, []); x = tf.placeholder(tf.float32, [])
d = tf.cond(p, lambda: q.dequeue() * 2.0, lambda: tf.constant(1.0)); e = q.enqueue(x)
---
[sess.run([d, e], {p: i % 2 == 0, x: i}) for i in range(3)], sess.run(q.size())
"""]


@pytest.mark.parametrize("mode", ["never", "second", "always"])
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_run_that_feeds_itself_ends_as_in_tensorflow(snippet, mode, monkeypatch, oracle):
    monkeypatch.setattr(options, "compile", mode)
    assert repr(here([snippet])) == repr(there(oracle, [snippet]))


def queues(number):
    return [tf.FIFOQueue(1, [tf.float32], shapes=[[]]) for _ in range(number)]


def test_nothing_waits_in_a_thread_while_something_can_go_on(monkeypatch):
    monkeypatch.setattr(waiting.threading, "Thread", None)
    a, b = queues(2)
    fetches = [a.dequeue() + 1.0, b.dequeue(), a.enqueue(1.0), b.enqueue(2.0)]
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run(fetches)[:2] == [2.0, 2.0]


def test_ops_in_opposite_branches_do_not_wait_for_one_another():
    a, b = queues(2)
    p = tf.placeholder(tf.bool, [])
    taken = tf.cond(p, a.dequeue, b.dequeue)
    with tf.Session() as sess:
        assert sess.plan(taken, [p]).before is None and sess.plan([taken, a.enqueue(1.0)], [p]).before is not None


def test_two_ops_wait_at_once_for_another_run():
    a, b = queues(2)
    taken, first, second = [a.dequeue(), b.dequeue()], a.enqueue(1.0), b.enqueue(2.0)
    with tf.Session() as sess:
        def feed():
            for op in (second, second, first):          # the second `second` has room only once b.dequeue was served
                sess.run(op)
        thread = threading.Thread(target=feed)
        thread.start()
        assert sess.run(taken) == [1.0, 2.0]
        thread.join()


def test_an_error_ends_the_waiting_of_the_others():
    a, b = queues(2)
    with tf.Session() as sess:
        sess.run(b.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="closed and has insufficient"):
            sess.run([a.dequeue(), b.dequeue()])
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run([a.dequeue(), queues(1)[0].dequeue()], options=tf.RunOptions(timeout_in_ms=50))
        assert sess.run([a.enqueue(1.0), a.dequeue()])[1] == 1.0        # nobody of those runs waits any more


def test_closing_the_session_ends_the_waiting():
    a, b = queues(2)
    sess = tf.Session()
    errors = []

    def wait():
        try:
            sess.run([a.dequeue(), b.dequeue()])
        except tf.errors.CancelledError as error:
            errors.append(error)
    sess.run(a.size())
    thread = threading.Thread(target=wait)
    thread.start()
    while not any(t.name != "MainThread" and "_in_thread" in repr(t._target) for t in threading.enumerate()):
        pass
    sess.close()
    thread.join(10)
    assert not thread.is_alive() and len(errors) == 1


def test_the_limit_of_a_server():
    server = tf.train.Server.create_local_server(config=tf.ConfigProto(operation_timeout_in_ms=50))
    taken = tf.FIFOQueue(3, [tf.float32]).dequeue()
    for config in (None, tf.ConfigProto(operation_timeout_in_ms=60_000)):
        with tf.Session(server.target, config=config) as session:
            for _ in range(2):
                with pytest.raises(tf.errors.DeadlineExceededError):
                    session.run(taken)
            assert session.run(tf.constant(1.0)) == 1


def calling(*fns):
    """A py_func of each function, which returns nothing that counts."""
    return [tf.py_func(lambda fn=fn: [fn(), np.int64(0)][1], [], tf.int64) for fn in fns]


def test_quick_functions_run_in_order_in_the_thread_of_the_caller():
    seen = []
    ops = calling(*(lambda i=i: seen.append((i, threading.current_thread())) for i in range(5)))
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(ops)
    assert seen == [(i, threading.main_thread()) for i in range(5)] * 3


def test_three_functions_that_meet_several_times():
    """The second and the third last too: deputies take over from deputies."""
    meeting, given = threading.Barrier(3), queue.Queue()

    def meet():
        meeting.wait()
        time.sleep(0.03)
        meeting.wait()
    ops = calling(meet, meet, given.get, meet, lambda: given.put(1))
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run(ops) == [0] * 5


def test_functions_wait_for_queues_and_runs_of_the_same_run():
    q = tf.FIFOQueue(1, [tf.int64], shapes=[[]])
    item, give, given = q.dequeue(), q.enqueue(tf.constant(3, tf.int64)), queue.Queue()
    with tf.Session() as sess:
        put, get = calling(lambda: [sess.run(give), given.put(1)], given.get)
        for _ in range(3):
            assert sess.run([get, item, put]) == [0, 3, 0]


@pytest.mark.parametrize("failing_first", [True, False])
def test_an_error_of_a_function_is_raised_when_the_others_are_done(failing_first):
    begun, fails, done = threading.Event(), threading.Event(), []

    def last():
        begun.set()
        fails.wait(60)
        time.sleep(0.1)
        done.append(1)

    def fail():
        begun.wait(60)
        fails.set()
        raise KeyError("it fails")
    ops = calling(*([fail, last] if failing_first else [last, fail]))
    with tf.Session() as sess:
        for count in (1, 2):
            with pytest.raises(tf.errors.UnknownError, match="it fails"):
                sess.run(ops)
            assert len(done) == count
            begun.clear(), fails.clear()
        assert sess.run(tf.constant(1)) == 1


def test_a_function_that_waits_for_one_that_failed_is_left_behind(monkeypatch):
    monkeypatch.setattr(waiting, "GRACE", 0.1)
    begun, never, later = threading.Event(), threading.Event(), []

    def fail():
        begun.wait(60)
        raise ValueError("it fails")
    first, second, third = calling(fail, lambda: [begun.set(), never.wait(60)], lambda: later.append(1))
    with tf.control_dependencies([second]):
        after = tf.identity(third)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="it fails"):
            sess.run([first, second, tf.py_func(lambda x: [later.append(2), x][1], [after], tf.int64)])
        before = list(later)
        never.set()
        for thread in threading.enumerate():
            if thread.name == "tfnb-deputy":
                thread.join(60)
        assert later == before, "the run went on after its end"


def test_an_interrupt_ends_functions_that_wait_for_each_other():
    begun, free = threading.Event(), threading.Event()

    def wait():
        while not free.wait(0.01):
            pass
    first, second = calling(wait, lambda: [begun.set(), wait()])
    with tf.Session() as sess:
        threading.Thread(target=lambda: [begun.wait(60), _thread.interrupt_main()]).start()
        with pytest.raises(KeyboardInterrupt):
            sess.run([first, second])
        free.set()
        assert sess.run([first, second]) == [0, 0]


def test_the_limit_of_a_run_of_functions():
    sleeping = calling(*[lambda: time.sleep(0.1)] * 4)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run([*sleeping, tf.py_func(lambda *x: np.int64(1), sleeping, tf.int64)],
                     options=tf.RunOptions(timeout_in_ms=20))
        assert sess.run(sleeping) == [0] * 4


def test_functions_under_a_debugger_run_in_order():
    seen = []
    ops = calling(*(lambda i=i: [time.sleep(0.05), seen.append(i)] for i in range(3)))
    with tf.Session() as sess:
        inspect_run(sess, ops).run(Tap())
    assert seen == [0, 1, 2]
