"""tf.GradientTape over a graph: what it watches and records, beside TensorFlow's own in graph mode."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

# Each piece leaves tensors, or None, in `result`: of x = 3, c = 2, and variables v = 5 and w = 7, not trainable.
PIECES = {
    "watched": "tape.watch(x)\n  y = x * x * c\nresult = tape.gradient(y, [x, c])",
    "not watched": "y = x * x\nresult = [tape.gradient(y, x)]",
    "variables": "tape.watch(x)\n  y = v * w * x\nresult = tape.gradient(y, {'a': v, 'b': w, 'c': x})\n"
                 "result = [result[k] for k in 'abc']",
    "a non-trainable variable that is watched": "tape.watch(w)\n  y = v * w\nresult = tape.gradient(y, [v, w])",
    "made before": "tape.watch(x)\n  y = early * x\nresult = tape.gradient(y, [x, early])",
    "made before, watched": "tape.watch(early)\n  y = early * x\nresult = tape.gradient(y, [x, early])",
    "made after": "tape.watch(x)\n  y = x * x\ny = y * x\nresult = [tape.gradient(y, x)]",
    "between": "tape.watch(x)\n  y = x * x\n  z = y * y * x\nresult = tape.gradient(z, [y, x])",
    "several targets": "tape.watch(x)\n  y, z = x * x, 5. * x\nresult = [tape.gradient([y, z], x)]",
    "output gradients": "tape.watch(x)\n  y = x * x\nresult = [tape.gradient(y, x, output_gradients=c)]",
    "zeros": "tape.watch(x)\n  y = x * x\nresult = tape.gradient(y, [x, c], unconnected_gradients='zero')",
    "stopped": "tape.watch(x)\n  y = x * x\n  with tape.stop_recording():\n    z = y * x\n  u = z * x\n"
               "result = tape.gradient(u, [x])",
    "reset": "tape.watch(x)\n  y = x * x\n  tape.reset()\n  tape.watch(x)\n  z = y * x\nresult = tape.gradient(z, [x])",
    "second order": "tape.watch(x)\n  with tf.GradientTape() as inner:\n    inner.watch(x)\n    y = x * x * x\n"
                    "  d = inner.gradient(y, x)\nresult = [d, tape.gradient(d, x)]",
    "the target is a source": "tape.watch(x)\nresult = [tape.gradient(x, x)]",
    "structures": "tape.watch(x)\n  y = x * v\nresult = list(tape.gradient(y, (x, v)))",
}
FRAME = """
x, c = tf.constant(3.), tf.constant(2.)
v, w = (tf.Variable(start, trainable=start < 6, use_resource={resource}) for start in (5., 7.))
early = x * x
with tf.GradientTape() as tape:
  {piece}
with tf.Session() as sess:
  sess.run(tf.global_variables_initializer())
  result = [None if each is None else float(sess.run(each)) for each in result]
"""


def derivatives(piece, resource):
    tf.reset_default_graph()
    scope = {"tf": tf}
    exec(FRAME.format(piece=PIECES[piece], resource=resource), scope)
    return scope["result"]


def test_pieces_as_in_tensorflow(oracle):
    """TensorFlow's tape takes no reference variables as sources; this one does."""
    wanted = oracle("""
result_of = {}
for name, text in pieces.items():
    scope = {"tf": tf}
    with tf.Graph().as_default():
        exec(text, scope)
    result_of[name] = scope["result"]
result = result_of
""", pieces={name: FRAME.format(piece=text, resource=True) for name, text in PIECES.items()})
    for resource in (True, False):
        assert {name: derivatives(name, resource) for name in PIECES} == wanted


def test_known_values_without_tensorflow():
    for piece, wanted in (("watched", [12, None]), ("variables", [21, None, 35]), ("made before", [9, None]),
                          ("second order", [27, 18])):
        assert derivatives(piece, False) == wanted


def test_a_persistent_tape_and_one_that_is_not():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is not None and tape.gradient(y, x) is not None
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="can only be called once on non-persistent tapes"):
        tape.gradient(y, x)
    with pytest.raises(ValueError, match="while the tape records"):
        tape.watch(x)


def test_watched_variables():
    v, w, u = tf.Variable(1.0), tf.Variable(1.0, trainable=False), tf.get_variable("u", [], use_resource=True)
    with tf.GradientTape() as tape:
        tape.watch(w)
        _ = v * u
    assert set(tape.watched_variables()) == {v, w, u}
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * u
    assert tape.watched_variables() == () and tape.gradient(y, v) is None


@pytest.mark.parametrize("use_resource", [False, True])
def test_training_by_a_tape(use_resource):
    weights = tf.get_variable("weights", [2], initializer=tf.zeros_initializer(), use_resource=use_resource)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(weights - [1.0, -2.0]))
    step = tf.train.GradientDescentOptimizer(0.25).apply_gradients([(tape.gradient(loss, weights), weights)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(25):
            session.run(step)
        assert session.run(weights).tolist() == pytest.approx([1, -2], abs=1e-5)


def test_jacobians():
    x, unknown = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.placeholder(tf.float32, [None, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, unknown])
        y = tf.stack([x[:, 0] * x[:, 1], x[:, 0], x[:, 1] ** 2], 1)
        z = unknown * unknown
    with tf.Session() as session:
        whole, rows = session.run([tape.jacobian(y, x), tape.batch_jacobian(y, x)])
        assert whole.shape == (2, 3, 2, 2)
        assert rows.tolist() == [[[2, 1], [1, 0], [0, 4]], [[4, 3], [1, 0], [0, 8]]]
        assert whole[0, :, 0].tolist() == rows[0].tolist() and not whole[0, :, 1].any()
        assert session.run(tape.batch_jacobian(z, unknown), {unknown: [[5, 6]]}).tolist() == [[[10, 0], [0, 12]]]
        assert tape.jacobian(y, unknown) is None
        assert session.run(tape.batch_jacobian(y, tf.ones([2, 2]))).tolist() == np.zeros([2, 3, 2]).tolist()
        assert not session.run(tape.jacobian(y, unknown, unconnected_gradients="zero"), {unknown: [[5, 6]]}).any()
    with pytest.raises(ValueError, match="same number of rows"):
        tape.batch_jacobian(y, tf.zeros([3, 2]))
