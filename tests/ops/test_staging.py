"""Staging areas and critical sections: as in TensorFlow, and between threads."""
from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = """
if hasattr(tf, "contrib"):
    from tfnb.contrib.staging import MapStagingArea, StagingArea
else:
    from tensorflow.python.ops.data_flow_ops import MapStagingArea, StagingArea
c = tf.constant
sess = tf.Session()
def tried(make):
    found = []
    told = outcome(lambda: found.append(sess.run(make() if callable(make) else make)))
    return found[0] if found else told
"""

SNIPPETS = {
    "in order": """
area = StagingArea([tf.float32, tf.int32], shapes=[[2], []])
x = tf.placeholder(tf.float32, [2])
put, get, peek = area.put([x, c(3)]), area.get(), area.peek(1)
found = [area.name, area.capacity, area.memory_limit, area.names, [d.name for d in area.dtypes], put.name, put.type,
         get[0].name, peek[0].name, get[0].shape.as_list()]
for k in range(3):
    sess.run(put, {x: [k, k + 1]})
found += [sess.run(area.size()), sess.run(peek), sess.run(get), sess.run(get), sess.run(area.size()),
          sess.run([area.clear()]), sess.run(area.size())]
bounded = StagingArea([tf.float32], memory_limit=4)
found + [tried(bounded.put([c([1.0, 2.0])])), outcome(lambda: area.put([c([1.0, 2.0, 3.0]), c(1)])),
         outcome(lambda: area.put([c([1, 2]), c(1)])), outcome(lambda: area.put({"a": c(1)})),
         outcome(lambda: StagingArea([tf.float32], names=["a", "b"])),
         outcome(lambda: StagingArea([tf.float32], shapes=[[], []])), StagingArea([tf.float32], shared_name="s").name,
         outcome(lambda: StagingArea([tf.float32], shared_name=3))]""",
    "by names": """
area = StagingArea([tf.float32, tf.int32], names=["x", "y"])
put, get = area.put({"x": c(1.5), "y": c(2)}), area.get()
sess.run(put)
found = [sess.run(get), outcome(lambda: area.put([c(1.0), c(2)])), outcome(lambda: area.put({"z": c(1)}))]
area = MapStagingArea([tf.float32, tf.int32], names=["x", "y"])
sess.run(area.put(c(1, tf.int64), {"x": c(1.5), "y": c(2)}))
found + [sess.run(area.peek(c(1, tf.int64))), sess.run(area.get(c(1, tf.int64), ["y"])[1]),
sess.run(area.get(c(1, tf.int64), [0])[1]),
         outcome(lambda: area.get(c(1, tf.int64), [0, "x"]))]""",
    **{f"by keys, ordered={ordered}": f"""
area = MapStagingArea([tf.float32, tf.int32], shapes=[[], []], ordered={ordered})
k, x = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [])
put, first, second = area.put(k, [x, c(7)], [0, 1]), area.put(k, [x], [0]), area.put(k, [c(4)], [1])
sizes, any_one = [area.size(), area.incomplete_size()], area.get()
whole, of_one, peek = area.get(k)[1], area.get(k, [1])[1], area.peek(k)
found = [put.type, put.name, any_one[0].name, any_one[1][0].name, peek[0].name, whole[0].shape.as_list()]
for key in (7, 3) if {ordered} else (3,):
    sess.run(put, {{k: key, x: key / 2}})
found += [list(sess.run(any_one)), sess.run(sizes)]
sess.run(area.clear())
sess.run(put, {{k: 5, x: 1.0}})
found += [sess.run(peek, {{k: 5}}), sess.run(whole, {{k: 5}}), sess.run(sizes)]
sess.run(first, {{k: 1, x: 1.0}})
found += [outcome(lambda: sess.run(first, {{k: 1, x: 1.0}})), sess.run(sizes)]
sess.run(second, {{k: 1}})
found += [sess.run(sizes), sess.run(second, {{k: 1}}), sess.run(sizes), sess.run(put, {{k: 1, x: 9.0}}),
sess.run(sizes),
          sess.run(of_one, {{k: 1}}), sess.run(sizes), outcome(lambda: sess.run(of_one, {{k: 1}})),
          sess.run(area.get(k, [0])[1], {{k: 1}}), sess.run(sizes), sess.run(area.clear()), sess.run(sizes)]
found + [outcome(lambda: area.put(k, [x])), outcome(lambda: area.put(k, [x], [5])),
outcome(lambda: area.put(k, [x, c(4)], [0])),
         outcome(lambda: area.get(k, ["a"]))]""" for ordered in (False, True)},
    "critical sections": """
v, w = tf.Variable(0.0, use_resource=True), tf.Variable(1.0, use_resource=True)
section, other = tf.CriticalSection(), tf.CriticalSection(name="mine")
def count():
    before = v.read_value()
    with tf.control_dependencies([before]):
        return v.assign(before + 1.0)
both = section.execute(lambda: (count(), {"a": tf.constant(2)}))
again = section.execute(count)
sess.run(tf.global_variables_initializer())
[sess.run(both), sess.run([both, both]), sess.run([both[0], again])[0] > 0, sess.run(v), section.name, other.name,
 outcome(lambda: section.execute(lambda: section.execute(count))), outcome(lambda: other.execute(count)),
 outcome(lambda: other.execute(count, exclusive_resource_access=False)),
 tried(other.execute(lambda: w.assign_add(1.0))), tried(section.execute(lambda: 3)),
 tried(section.execute(lambda: tf.no_op())), outcome(lambda: section.execute(3)),
 [(op.name, op.type) for op in tf.get_default_graph().get_operations() if "utex" in op.type][:3]]""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, modes=("never", "always"))


def waiting(session, name):
    """Wait until a call of the resource blocks."""
    until = time.monotonic() + 30
    while not getattr(session._store._resources.get(("", name)), "_gates", None):
        assert time.monotonic() < until
        time.sleep(0.001)


def in_thread(call):
    """A thread that has begun, and the list that the error of `call` goes into."""
    errors = []

    def run():
        try:
            call()
        except Exception as error:
            errors.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    return thread, errors


def test_who_waits_gets_what_comes_or_is_cancelled():
    area = tf.contrib.staging.StagingArea([tf.float32], capacity=1)
    by_key = tf.contrib.staging.MapStagingArea([tf.float32], shared_name="keys")
    x = tf.placeholder(tf.float32)
    put, get, (_, keyed) = area.put([x]), area.get(), by_key.get(5)
    found = []
    with tf.Session() as session:
        thread, errors = in_thread(lambda: found.append(session.run(get)))
        waiting(session, area.name)
        session.run(put, {x: 1.0})
        thread.join()
        assert found == [[1.0]] and not errors
        session.run(put, {x: 2.0})
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(put, {x: 3.0}, options=tf.RunOptions(timeout_in_ms=20))
        assert session.run([put, get], {x: 4.0})[1] == [2.0]           # put waits for the get of its own run
        thread, errors = in_thread(lambda: session.run(keyed))
        waiting(session, "keys")
    thread.join()
    assert isinstance(errors[0], tf.errors.CancelledError)


def test_sections_of_threads_go_one_after_another():
    v, p = tf.Variable(0.0, use_resource=True), tf.placeholder(tf.float32, [])

    def count():
        before = v.read_value()
        with tf.control_dependencies([tf.Assert(p > 0, ["not positive"])]):
            slower = tf.py_func(lambda value: np.float32(value + 1), [before], tf.float32)
            return v.assign(slower)
    counted = tf.CriticalSection().execute(count)
    with tf.Session() as session:
        session.run(v.initializer)
        runs = [in_thread(lambda: [session.run(counted, {p: 1.0}) for _ in range(10)]) for _ in range(4)]
        for thread, errors in runs:
            thread.join()
            assert not errors
        assert session.run(v) == 40
        with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
            session.run(counted, {p: -1.0})
        assert session.run(counted, {p: 1.0}) == 41
