"""Conditions on values and slices of tensors: what they mean, what they refuse, and where a stepper stops for them."""
import numpy as np
import pytest

import tfnb as tf
from tfnb.debug.conditions import Condition, conditions, split_slice
from tfnb.debug.stepper import Stepper
from tfnb.debug.tap import inspect_run


@pytest.fixture(scope="module")
def op():
    with tf.Graph().as_default():
        return tf.constant(1.0, name="scope/h").op


@pytest.mark.parametrize("text, value, holds", [
    ("has_nan", [1.0, np.nan], True), ("has_nan", [np.inf], False), ("has_inf", [np.inf], True),
    ("has_inf_or_nan", [np.nan], True), ("has_inf_or_nan", [1, 2], False), ("abs(x).max() > 100", [3.0, -101.0], True),
    ("x.mean() > 2", [1.0, 2.0], False), ("'h' in name and op == 'Const' and shape == (2,)", [1.0, 2.0], True),
    ("dtype == 'float64' and call == 3", [1.0], True), ("np.any(x > 3)", [1.0, 4.0], True),
    ("any(v > 1 for v in x)", [1.0, 4.0], True), ("sum([v for v in [1, 2]]) == 3", [0.0], True),
    ("(lambda a: a > math.pi)(x.max())", [4.0], True), ("x > 1", [2.0], True), ("  True ", [0.0], True),
    ("True", [], False), ("x", [True], True)])
def test_a_condition_is_an_expression_over_the_value(op, text, value, holds):
    assert Condition(text).holds(np.asarray(value), op, 3) is holds


def test_values_without_numbers_meet_none_and_half_precision_counts(op):
    assert not Condition("True").holds(np.array([b"a"], object), op, 0)
    assert Condition("x.max() > 1").holds(np.array([2.0], tf.bfloat16.as_numpy_dtype), op, 0)
    assert Condition("has_nan").holds(np.array([np.nan], tf.bfloat16.as_numpy_dtype), op, 0)


@pytest.mark.parametrize("text, said", [
    ("abs(x", "is no Python expression"), ("x = 1", "is no Python expression"), ("has_man", "did you mean 'has_nan'"),
    ("open('f')", "reads 'open', which it does not have"), ("y > 1", "there are x, has_nan"),
    ("__import__('os')", "reads '__import__'"), ("x\0", "is no Python expression")])
def test_what_is_none_is_refused_at_once(text, said):
    with pytest.raises(ValueError, match=said.replace("(", "\\(")):
        Condition(text)


@pytest.mark.parametrize("text, said", [
    ("x > 1", r"can't be told of scope/h, float64\[2\]: it is an array of several elements: end it with .any"),
    ("x[5] > 1", "IndexError"), ("x.maximum() > 1", "AttributeError: .*maximum"), ("1 / 0", "ZeroDivisionError")])
def test_what_fails_says_of_which_value(op, text, said):
    with pytest.raises(ValueError, match=said):
        Condition(text).holds(np.array([1.0, 2.0]), op, 0)


def test_no_text_is_no_condition():
    assert conditions("") == conditions(["", " "]) == [] and conditions("has_nan") == [Condition("has_nan")]


@pytest.mark.parametrize("text, name, index", [
    ("h", "h", ()), ("h[0:10, :]", "h", (slice(0, 10), slice(None))), ("a/h:1[-1]", "a/h:1", -1),
    ("h[..., ::2]", "h", (Ellipsis, slice(None, None, 2))), (" h [None, [0, 2]] ", "h", (None, [0, 2]))])
def test_slices_are_read(text, name, index):
    assert split_slice(text) == (name, index)


@pytest.mark.parametrize("text", ["h[f()]", "h[x]", "h[]", "h[1.5]", "h['a']", "h[1:2:3:4]"])
def test_other_indices_are_refused(text):
    with pytest.raises(ValueError, match="is no index: write numbers and slices"):
        split_slice(text)


@pytest.fixture
def run():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3], name="x")
        h = tf.log(tf.multiply(x, 2.0, name="twice"), name="log")
        loss = tf.reduce_sum(tf.exp(h, name="exp"), name="loss")
        yield inspect_run(session, loss, {x: [1.0, 0.0, 3.0]})


def test_the_stepper_stops_behind_the_op(run):
    stepper = Stepper(run, when="has_inf_or_nan").go()
    assert stepper.met == "log:0 meets has_inf_or_nan" and "log" in stepper.calls[stepper.position - 1].name
    assert stepper.go().done and stepper.met == ""
    stepper.restart()
    assert stepper.go("^exp$").op.name == "exp" and stepper.met == "", "until is the only place to stop"
    assert stepper.restart().go(when="x.max() > 5").met == "twice:0 meets x.max() > 5"
    assert stepper.step().met == "" and stepper.restart().met == ""
    both = Stepper(run, "^log$", "x.sum() == 8")
    assert both.go().met == "twice:0 meets x.sum() == 8" and both.op.name == "log"
    assert Stepper(run, when="name == 'loss'").go().result is not None, "the last op has none behind it"


def test_a_failing_condition_loses_nothing(run):
    stepper = Stepper(run, when="x[2] > 100")
    with pytest.raises(ValueError, match="can't be told of loss, float32\\[\\]: IndexError"):
        stepper.go()
    assert stepper.result is not None and stepper.value("log").shape == (3,) and not stepper.error
    assert stepper.back(2).position == len(stepper.calls) - 2 and stepper.go("loss").op.name == "loss"
    stepper.when = conditions("has_nan")
    assert stepper.restart().go().done


def test_values_of_slices(run):
    stepper = Stepper(run).step(1)
    assert stepper.value("twice[1:]").tolist() == [0.0, 6.0] and stepper.value("x[-1]") == 3.0
    with pytest.raises(ValueError, match="twice has the shape \\(3,\\): too many indices"):
        stepper.value("twice[0, 0]")
    with pytest.raises(tf.errors.NotFoundError, match="has no value before op 1"):
        stepper.value("log[0]")


def test_each_op_has_its_time(run):
    stepper = Stepper(run)
    assert len(stepper.seconds) == len(stepper.calls) and all(0 < seconds < 10 for seconds in stepper.seconds)
    before = list(stepper.seconds)
    stepper.step(99)
    assert all(now <= then for now, then in zip(stepper.seconds, before, strict=True))


def test_iterations_of_a_loop_are_checked_one_by_one():
    with tf.Graph().as_default(), tf.Session() as session:
        _, v = tf.while_loop(lambda i, v: i < 9, lambda i, v: (i + 1, tf.multiply(v, 2.0, name="twice")), [0, 1.0])
        stepper = Stepper(inspect_run(session, v), when="op == 'Mul' and x > 100").go()
    assert stepper.met.startswith("while/twice:0 meets") and stepper.value("while/twice") == 128.0
    assert stepper.go().value("while/twice") == 256.0
