"""Barriers: tuples whose components come one by one, as in TensorFlow, and between threads."""
from __future__ import annotations

import threading

import pytest

import tfnb as tf
from tests.differential import differences
from tfnb.ops.data_flow.barriers import KeyedBarrier

SETUP = """
if hasattr(tf, "contrib"):
    from tfnb.python.ops.data_flow_ops import Barrier
else:
    from tensorflow.python.ops.data_flow_ops import Barrier
sess = tf.Session()
x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
keys = tf.placeholder(tf.string)
def tried(what, feed=None):
    found = []
    told = outcome(lambda: found.append(sess.run(what, feed)))
    return found[0] if found else told
def flat(rows):
    return [rows[0], rows[1], list(rows[2])] if isinstance(rows, tuple) else rows
def take(barrier, count, small=False):
    return flat(tried(barrier.take_many(count, small)))
"""
TWO = "b = Barrier((tf.float32, tf.int32), shapes=((), (2,)), name='B')\n" \
      "first, second = b.insert_many(0, keys, x), b.insert_many(1, keys, [[1, 2], [3, 4], [5, 6]])\n" \
      "sizes = [b.ready_size(), b.incomplete_size()]\n"
SNIPPETS = {
    "names and shapes": TWO + """
t, u = b.take_many(3), b.take_many(n)
[b.name, b.barrier_ref.name, b.barrier_ref.shape.as_list(), first.name, t[0].name, b.close().name, sizes[0].name,
 sizes[1].name] + [a.shape.as_list() for a in (t[0], t[1], *t[2], u[0], *u[2])]""",
    "in order of insertion": TWO + """
found = [tried(first, {keys: ["a", "b"], x: [1, 2]}), sess.run(sizes), tried(first, {keys: ["c"], x: [3]}),
         tried(second, {keys: ["c", "a", "d"]}), sess.run(sizes), take(b, 2), sess.run(sizes),
         tried(first, {keys: ["d"], x: [9]}), take(b, 1), take(b, 0), tried(first, {keys: ["b"], x: [7]}),
         tried(second, {keys: ["z", "z", "b"]}), sess.run(sizes)]
found""",
    "closed": TWO + """
both = b.insert_many(1, keys, [[1, 2], [3, 4]])
found = [tried(first, {keys: ["a", "b"], x: [1, 2]}), tried(b.close()), tried(first, {keys: ["c"], x: [3]}),
         tried(second, {keys: ["e", "b", "a"]}), tried(both, {keys: ["a", "b"]}),
         sess.run(sizes), tried(b.close()), take(b, 1), take(b, 3),
         take(b, 3, True),
         take(b, 1, True), take(b, 0), tried(b.close(True)), tried(b.close(True)), tried(first, {keys: [], x: []})]
found""",
    "closed with incomplete ones": TWO + """
[tried(first, {keys: ["a", "b", "c"], x: [1, 2, 3]}), tried(b.close()), take(b, 4), take(b, 1, True),
 tried(second, {keys: ["a", "b", "c"]}), take(b, 2), sess.run(sizes), take(b, 2), take(b, 2, True)]""",
    "cancelled": TWO + """
[tried(first, {keys: ["a", "b"], x: [1, 2]}), tried(b.close(True)), sess.run(sizes), tried(second, {keys: ["a"] * 3}),
 take(b, 1), take(b, 1, True), tried(b.close())]""",
    "one component": """
b = Barrier(tf.string, shapes=[[]])
insert = b.insert_many(0, ["a", "b"], ["x", "y"])
[tried(insert), tried(insert), sess.run(b.ready_size()), sorted(take(b, 2)[2][0]), take(b, 1)[0], take(b, 1)[0]]""",
    "what does not fit": TWO + """
raw = tf.raw_ops
found = [tried(first, {keys: ["a", "b"], x: [[1], [2]]}), tried(second, {keys: ["a", "b", "c"]}), sess.run(sizes),
         outcome(lambda: b.insert_many(0, "a", [1.0])), outcome(lambda: b.insert_many(0, ["a"], 1.0)),
         outcome(lambda: b.insert_many(0, ["a", "b"], [1.0])),
         tried(b.insert_many(1, ["k"], [1.0])), tried(b.insert_many(2, ["k"], [1.0])),
         tried(first, {keys: ["k", "l"], x: np.ones((2, 0))}),
         outcome(lambda: Barrier(tf.float32, shapes=[[None]])), outcome(lambda: Barrier(tf.float32, shapes=[[0]])),
         tried(b.take_many(n), {n: [1]}), tried(Barrier((tf.float32,)).ready_size()),
         tried(Barrier((tf.float32,)).insert_many(0, ["a"], [[1.0]])),
         tried(raw.BarrierReadySize(handle=raw.Barrier(component_types=[tf.int32, tf.int32], shapes=[[]]))),
         tried(raw.BarrierReadySize(handle=raw.Barrier(component_types=[tf.int32], shapes=[[]], capacity=3))),
         tried(raw.BarrierTakeMany(handle=b.barrier_ref, num_elements=1, component_types=[tf.float32]))]
found""",
    "shared": """
a, b = [Barrier(tf.int32, shapes=[[]], shared_name="s") for _ in range(2)]
[tried(a.insert_many(0, ["k"], [5])), sess.run(b.ready_size()), take(b, 1)[2],
 tried(Barrier(tf.float32, shapes=[[]], shared_name="s").ready_size()),
 tried(Barrier(tf.int32, shapes=[[2]], shared_name="s").ready_size())]""",
}


def test_barriers(oracle):
    assert not differences(oracle, SNIPPETS, SETUP)


def test_keys_and_values_that_do_not_match():
    keys, x = tf.placeholder(tf.string), tf.placeholder(tf.float32)
    barrier = KeyedBarrier(tf.float32, shapes=[[]])
    insert = barrier.insert_many(0, keys, x)
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="BarrierInsertMany"):
                session.run(insert, {keys: ["k", "l"], x: [1]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="timeout_ms must be -1"):
            session.run(barrier.take_many(1, timeout=5))


def taking(session, fetch):
    """Return (a thread that runs `fetch`, the list that gets its value or error)."""
    found = []

    def run():
        try:
            found.append(session.run(fetch))
        except tf.errors.OpError as error:
            found.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def test_a_blocked_take_gets_what_comes():
    barrier = KeyedBarrier(tf.int32, shapes=[[]])
    with tf.Session() as session:
        thread, found = taking(session, barrier.take_many(2))
        for key in ("a", "b"):
            session.run(barrier.insert_many(0, [key], [7]))
        thread.join()
    assert found[0][1].tolist() == [b"a", b"b"] and found[0][2][0].tolist() == [7, 7]


@pytest.mark.parametrize("cancel", [False, True])
def test_a_blocked_take_ends_when_no_more_comes(cancel):
    barrier = KeyedBarrier([tf.int32, tf.int32], shapes=[[], []])
    with tf.Session() as session:
        session.run(barrier.insert_many(0, ["a"], [7]))
        thread, found = taking(session, barrier.take_many(2))
        session.run(barrier.close(cancel))
        if not cancel:
            session.run(barrier.insert_many(1, ["a"], [8]))
        thread.join()
    assert isinstance(found[0], tf.errors.OutOfRangeError)


def test_the_end_of_a_session_cancels():
    barrier = KeyedBarrier(tf.int32, shapes=[[]])
    session = tf.Session()
    session.run(barrier.ready_size())
    thread, found = taking(session, barrier.take_many(2))
    session.close()
    thread.join()
    assert isinstance(found[0], (tf.errors.CancelledError, RuntimeError))
