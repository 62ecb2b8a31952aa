"""What a value read of a variable is worth behind an update of it, with host calls between."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.compile.planning.reads import updates_before

# `look` is what is made of a read; it is used behind an update, which is between two host calls. Run by both systems.
PROGRAM = """
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
p = tf.placeholder(tf.bool, [])
shape = tf.placeholder(tf.int32, [2])

def call(fn, given):
    made = tf.py_func(fn, [given], tf.float32)
    made.set_shape([])
    return made

def part(*before):
    with tf.control_dependencies(before):
        seen = look(v.read_value())
    update = tf.assign_add(v, call(lambda a: np.float32(10.0), seen * 0.0) * tf.ones([2, 2]))
    return seen + call(lambda a: np.float32(0.0), update)

none = tf.zeros(look(v).shape)
if where == "plain":
    y = part()
elif where == "cond":
    y = tf.cond(p, part, lambda: none)
else:
    y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, part(y)), [0, none])[1]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    result = [session.run(y, {p: True, shape: wanted}) for wanted in ([4, 1], [2, 2], [4, 1])]
"""

SAME_MEMORY = {
    "itself": "lambda read: read",
    "identity": "lambda read: tf.identity(read)",
    "reshaped": "lambda read: tf.reshape(tf.reshape(read, [-1]), [4, 1])",
    "expanded": "lambda read: tf.squeeze(tf.stop_gradient(tf.expand_dims(read, 1)), [1])",
    "reshaped_as_fed": "lambda read: tf.reshape(tf.reshape(read, shape), [2, 2])",
}
COPIES = {
    "transposed": "lambda read: tf.transpose(read)",
    "reversed": "lambda read: read[:, ::-1]",
    "part": "lambda read: read[:1]",
    "computed": "lambda read: read * 1.0",
}
LOOKS = SAME_MEMORY | COPIES
PLACES = ("plain", "cond", "loop")


def program(look: str, where: str) -> str:
    return f"look = {LOOKS[look]}\nwhere = {where!r}\n{PROGRAM}"


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("look", LOOKS)
def test_only_what_has_the_memory_of_the_variable_sees_the_update(look, where):
    tf.reset_default_graph()
    scope = {"tf": tf, "np": np}
    exec(program(look, where), scope)
    rounds = 2 if where == "loop" else 1
    most = 1 if look == "part" else 3                   # of the part, its last number is 2
    seen = [10 * rounds * (k + 1) - (0 if look in SAME_MEMORY else 10) for k in range(3)]
    assert [value.max() for value in scope["result"]] == [1 + most + n for n in seen]


@pytest.mark.oracle
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("look", LOOKS)
def test_as_tensorflow(look, where, oracle):
    tf.reset_default_graph()
    scope = {"tf": tf, "np": np}
    exec(program(look, where), scope)
    for got, want in zip(scope["result"], oracle(program(look, where)), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_shape_that_only_a_run_tells():
    """Such a Reshape is a host call, which no kernel repeats: the copy that it handed on has to do."""
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    seen = tf.reshape(v.read_value(), tf.py_func(lambda: np.int32([4, 1]), [], tf.int32))
    with tf.control_dependencies([seen]):
        update = tf.assign_add(v, tf.ones([2, 2]))
    with tf.control_dependencies([tf.py_func(lambda a: np.float32(0.0), [update], tf.float32)]):
        y = tf.reshape(seen + 0.0, [4])
    with tf.Session() as session:
        session.run(v.initializer)
        assert [session.run(y).tolist() for _ in range(3)] == [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]


IN_A_LOOP = """
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
seen = tf.reshape(v.read_value(), [-1])
start = tf.py_func(lambda a: np.float32(10.0 + a), [tf.reduce_sum(seen) * 0.0], tf.float32)
start.set_shape([])

def body(i):
    with tf.control_dependencies([tf.assign_add(v, tf.fill([2, 2], start))]):
        return i + 1

done = tf.while_loop(lambda i: i < 3, body, [0])
with tf.control_dependencies([done]):
    y = seen + 1.0
with tf.Session() as session:
    session.run(v.initializer)
    result = [session.run(y) for _ in range(3)]
"""


@pytest.mark.oracle
def test_updates_by_the_iterations_of_a_loop_are_seen_behind_it(oracle):
    scope = {"tf": tf, "np": np}
    exec(IN_A_LOOP, scope)
    np.testing.assert_array_equal(scope["result"], [np.arange(2.0, 6.0) + 30 * (k + 1) for k in range(3)])
    np.testing.assert_array_equal(scope["result"], oracle(IN_A_LOOP))


def test_a_read_is_no_update():
    """What makes a stage read anew is an update before it in the run, never a read."""
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
    read = v.read_value()
    with tf.control_dependencies([read]):
        update = tf.assign_add(v, [1.0, 1.0])
    behind_read, behind_update = tf.square(read), tf.square(update)
    written = updates_before(lambda op: [t.op for t in op.inputs] + list(op.control_inputs))
    assert [written(t.op, v.op) for t in (behind_read, update, behind_update)] == [False, False, True]
    assert not written(behind_update.op, w.op)


def test_rows_that_a_host_call_chooses_are_read_from_the_variable_itself():
    """No stage hands a copy of a variable on to the next one, unless the variable is updated between them."""
    v = tf.Variable(np.arange(12.0, dtype="f").reshape(6, 2))
    read = v.read_value()
    ids = tf.py_func(lambda most: np.int32([1, 2 if most > 4 else 0]), [tf.reduce_max(read)], tf.int32)
    ids.set_shape([2])
    rows = tf.gather(read, ids) + 1.0
    trained = tf.scatter_add(v, ids, rows)
    with tf.Session() as session:
        session.run(v.initializer)
        assert [read in stage.inputs for stage in session.plan([rows, trained]).stages] == [False] * 3
        for want in ([3, 5], [5, 9], [9, 17]):              # interpreted, then compiled
            found, after = session.run([rows, trained])
            assert found[:, 0].tolist() == want, (found, after)
            session.run(tf.scatter_sub(v, [1, 2], [[1.0, 1.0]] * 2))
