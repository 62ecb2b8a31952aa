"""Values kept in a session behind handles, and functions that create variables otherwise: as in TensorFlow."""
from __future__ import annotations

import gc

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SNIPPETS = {
    "a kept value": """
x = tf.placeholder(tf.float32, [None])
---
handle = sess.run(tf.get_session_handle(x * 2), {x: [1, 2]})
holder, kept = tf.get_session_tensor(handle.handle, tf.float32)
y = kept + 1
[handle.handle.split(";")[0], str(handle) == handle.handle, handle.eval(), sess.run(y, {holder: handle.handle}),
 sess.run(y, {holder: handle.handle}), holder.dtype.name, holder.shape, kept.shape, kept.op.type]""",
    "a handle for any tensor": """
c = tf.constant(10.0) * 5
d = c * c
q, r, s = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32), tf.placeholder(tf.string)
---
fetched = sess.run([tf.get_session_handle(c), {"a": tf.get_session_handle(d)}])
h = fetched[0]
[sess.run(d, {c: h}), sess.run(d, {c: fetched[1]["a"]}), outcome(lambda: sess.run(r + 1, {r: h})),
 outcome(lambda: sess.run(tf.string_to_number(s), {s: h})), sess.run(d, {c: h}), fetched[1]["a"].eval()]""",
    "one that is gone": """
c = tf.constant([1.0, 2.0])
---
get = tf.get_session_handle(c)
h = sess.run(get)
holder, deleter = tf.delete_session_tensor(h.handle)
other, kept = tf.get_session_tensor(h.handle, tf.float32)
of_int, wrong = tf.get_session_tensor(h.handle, tf.int32)
found = [outcome(lambda: sess.run(wrong, {of_int: h.handle})), sess.run(deleter, {holder: h.handle}),
         outcome(lambda: sess.run(deleter, {holder: h.handle})), outcome(lambda: sess.run(kept, {other: h.handle})),
         outcome(h.eval),
         outcome(lambda: tf.get_session_tensor("foo", tf.float32))]
h = sess.run(get)
found += [h.delete(), outcome(h.eval), outcome(h.delete)]
h = sess.run(get)
raw = h.get_raw_handle()
found + [outcome(h.eval), outcome(h.delete), sess.run(kept, {other: raw})]""",
    "strings, and references": """
v = tf.Variable([1, 2])
---
h, t = sess.run([tf.get_session_handle(v), tf.get_session_handle(tf.constant(["a", "b"]))])
sess.run(tf.assign_add(v, [10, 10]))
[h.eval(), t.eval(), sess.run(v)]""",
    "creators": """
seen = []
def first(next_creator, **kwargs):
    seen.append(("first", kwargs["name"], kwargs["trainable"], kwargs["dtype"] and kwargs["dtype"].name,
                 callable(kwargs["initial_value"])))
    kwargs["trainable"] = False
    return next_creator(**kwargs)
def second(next_creator, **kwargs):
    seen.append(("second", kwargs["name"]))
    kwargs["name"] = "other"
    return next_creator(**kwargs)
with tf.variable_creator_scope(first):
    v = tf.Variable(1.0, name="a")
    w = tf.get_variable("w", [2], trainable=True)
    with tf.variable_creator_scope(second):
        u = tf.Variable(2.0)
        x = tf.get_variable("x", [2], trainable=True)
    y = tf.get_variable("y", [2], use_resource=True, trainable=True)
    with tf.Graph().as_default():
        seen.append(tf.Variable(1.0).trainable)
after = tf.Variable(1.0)
with tf.variable_creator_scope(lambda next_creator, **kwargs: 5):
    seen.append(tf.Variable(1.0))
[seen, [(z.name, z.trainable) for z in (v, w, u, x, y, after)], [z.name for z in tf.trainable_variables()]]""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS, modes=("never", "always"))


def test_a_value_goes_with_its_last_handle():
    with tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
        name = handle.handle
        holder, kept = tf.get_session_tensor(name, tf.float32)
        np.testing.assert_array_equal(session.run(kept, {holder: name}), [1, 2])
        del handle
        gc.collect()
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
            session.run(kept, {holder: name})
        handle = session.run(tf.get_session_handle(tf.constant(1.0)))
    with pytest.raises(RuntimeError, match="closed Session"):
        handle.eval()
    with pytest.raises(ValueError, match=r"Cannot feed value of shape \(2,\)"), tf.Session() as session:
        session.run(tf.placeholder(tf.float32, [3], name="x"), {
            "x:0": session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))})


def test_handles_in_steps_of_a_run():
    x = tf.placeholder(tf.float32, [])
    handle = tf.get_session_handle(x + 1)
    with tf.Session() as session:
        step = session.partial_run_setup([handle], [x])
        assert session.partial_run(step, handle, {x: 2.0}).eval() == 3


def test_creators_leave_subclasses_and_other_calls_alone():
    class Mine(tf.Variable):
        """A variable of the user."""

    with tf.variable_creator_scope(lambda next_creator, **kwargs: 5):
        assert isinstance(Mine(1.0), Mine)
    with pytest.raises(TypeError, match="must be a function"), tf.variable_creator_scope(3):
        pass
