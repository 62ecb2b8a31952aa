"""Sessions that are closed or entered at the wrong time."""
from __future__ import annotations

import threading

import numpy as np
import pytest

import tfnb as tf


@pytest.fixture
def paused():
    """(tensor that a run waits at, event that the run is there, event that lets it go on)"""
    there, go = threading.Event(), threading.Event()

    def wait():
        there.set()
        go.wait(30)
        return np.float32(2)
    return tf.py_func(wait, [], tf.float32), there, go


@pytest.mark.parametrize("fetch", ["read", "assign", "op"])
def test_a_session_closed_during_a_run(paused, fetch):
    tensor, there, go = paused
    v = tf.Variable(1.0)
    with tf.control_dependencies([tensor]):
        fetches = {"read": v.read_value() + tensor, "assign": v.assign(tensor), "op": v.assign(tensor).op}
    sess, found = tf.Session(), []
    sess.run(v.initializer)

    def work():
        try:
            found.append(sess.run(fetches[fetch]))
        except Exception as error:
            found.append(error)
    thread = threading.Thread(target=work)
    thread.start()
    assert there.wait(30)
    sess.close()
    go.set()
    thread.join(30)
    assert isinstance(found[0], tf.errors.CancelledError) and "Session has been closed." in str(found[0])
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(tensor)


def test_a_closed_session_has_no_callables():
    with tf.Session() as sess:
        fn = sess.make_callable(tf.constant(1))
        assert fn() == 1
    with pytest.raises(tf.errors.CancelledError, match="closed"):
        fn()


def test_with_twice_leaves_the_session_open():
    with tf.Session() as sess:
        with pytest.raises(RuntimeError, match="not re-entrant"), sess:
            pass
        assert sess.run(tf.constant(1)) == 1


def scopes_left_in_the_wrong_order():
    outer, inner = tf.variable_scope("a"), tf.variable_scope("b")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)


def one_left_open():
    with tf.variable_scope("a"):
        tf.variable_scope("b").__enter__()


def one_left_twice():
    scope = tf.variable_scope("a")
    scope.__enter__()
    scope.__exit__(None, None, None)
    scope.__exit__(None, None, None)


@pytest.mark.parametrize("program", [scopes_left_in_the_wrong_order, one_left_open, one_left_twice])
def test_variable_scopes_must_be_nested(program):
    # In a graph and a thread of its own: what is left entered stays so.
    found = []

    def work():
        try:
            with tf.Graph().as_default():
                program()
        except Exception as error:
            found.append(error)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert isinstance(found[0], RuntimeError) and "nesting" in str(found[0])
