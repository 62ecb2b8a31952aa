"""Going through a run: forth, back, to breakpoints, with changed values; nothing is left of it."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.debug.stepper import Stepper
from tfnb.debug.tap import inspect_run


@pytest.fixture
def stepper():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        w = tf.Variable([1.0, 2.0], name="w")
        y = tf.multiply(x, w, name="y")
        z = tf.reduce_sum(tf.square(y, name="sq"), name="z")
        update = tf.assign_sub(w, y, name="update")
        session.run(w.initializer)
        made = Stepper(inspect_run(session, [z, update], {x: [3.0, 4.0]}), "^sq$")
        made.session = session
        yield made


def test_it_begins_before_the_first_op_and_knows_all_of_them(stepper):
    assert [op.name for op in stepper.calls] == ["w/read", "y", "sq", "z", "update"]
    assert stepper.position == 0 and stepper.op.name == "w/read" and not stepper.done


def test_what_a_loop_passes_on_is_fixed():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], "x")
        end = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, tf.square(x, name="start")])
        stepper = Stepper(inspect_run(session, end[1:], {x: 1.0}), "").step(3)
        assert stepper.fixed("x:0") == stepper.fixed("start:0") == ""
        with pytest.raises(ValueError, match="while/Switch:1 passes a value on into a loop"):
            stepper.set("while/Switch:1", 1)
        assert stepper.set("x", 3.0).step(99).result == [72.0]


def test_steps_forth_and_back_show_inputs_and_values(stepper):
    assert stepper.step(2).op.name == "sq"
    assert [(t.name, a.tolist()) for t, a in stepper.inputs] == [("y:0", [3.0, 8.0])]
    assert stepper.value("x").tolist() == [3.0, 4.0] and stepper.value("w:0").tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.NotFoundError, match="before op 2"):
        stepper.value("sq")
    assert stepper.back().op.name == "y" and stepper.back(9).position == 0
    stepper.step(99)
    assert stepper.done and stepper.op is None and stepper.result[0] == 73.0
    assert stepper.session.run("w:0").tolist() == [1.0, 2.0]


def test_breakpoints_and_expressions_stop_it(stepper):
    assert stepper.go().op.name == "sq"
    assert stepper.go("upd").op.name == "update"
    assert stepper.go().done and stepper.restart().position == 0
    with pytest.raises(ValueError, match="no regular expression"):
        stepper.go("(")


def test_changed_values_go_on(stepper):
    stepper.go().set("y", [1.0, 1.0])
    assert stepper.op.name == "sq" and stepper.go().result[0] == 2.0
    assert stepper.result[1].tolist() == [0.0, 1.0]
    assert stepper.back().op.name == "update", "a change holds when one goes back"
    stepper.restart().step().set("x", [1.0, 1.0]).set("w", [5.0, 5.0])
    stepper.changes = [c for c in stepper.changes if c.tensor.name != "y:0"]
    assert stepper.go("nothing").result[0] == 50.0
    with pytest.raises(ValueError, match="shape"):
        stepper.set("y", [1.0])
    stepper.set("update", [7.0, 7.0])
    assert stepper.value("update").tolist() == [7.0, 7.0] == stepper.result[1].tolist()


def test_rounds_of_loops_are_steps_and_random_numbers_stay():
    with tf.Graph().as_default(), tf.Session() as session:
        _, v = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.multiply(v, 2.0, name="twice")), [0, 1.0])
        noise = tf.random_normal([2], seed=1, name="noise")
        stepper = Stepper(inspect_run(session, [v, noise]), "twice")
        assert [float(stepper.go().inputs[0][1]) for _ in range(3)] == [1.0, 2.0, 4.0]
        stepper.step().set("while/twice", 100.0)
        assert stepper.go().result[0] == 100.0
        first = stepper.result[1]
        np.testing.assert_array_equal(stepper.back().go().result[1], first)


def test_an_op_that_fails_is_where_it_ends():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        bad = tf.reshape(tf.negative(x, name="neg"), [2], name="bad")
        stepper = Stepper(inspect_run(session, bad, {x: [1.0, 2.0, 3.0]}))
        stepper.go()
        assert stepper.done and stepper.op.name == "bad" and "bad" in str(stepper.error)
        assert stepper.back().op.name == "neg" and not stepper.done


def test_what_leaves_a_loop_or_a_branch_is_no_step_of_its_own():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        _, v = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v * x), [0, x])
        y = tf.cond(x > 0, lambda: v + 1, lambda: v - 1)
        stepper = Stepper(inspect_run(session, [tf.gradients(y, x)[0], y], {x: 3.0}))
        calls = len(stepper.calls)
        assert stepper.step(calls).result[0] == 27.0 and stepper.position == calls
        assert stepper.back().op is stepper.calls[-1] and stepper.position == calls - 1
