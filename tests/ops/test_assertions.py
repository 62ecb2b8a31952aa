"""The family of assertions, checks of the whole graph, and Python functions as ops."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()


def run(fetches, feeds=None):
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


PAIRS = {"equal": [2, 2], "none_equal": [2, 3], "less": [2, 3], "less_equal": [2, 2], "greater": [3, 2],
         "greater_equal": [3, 3], "near": [1.0, 1.0 + 1e-7]}
WRONG = {"equal": [2, 3], "none_equal": [2, 2], "less": [2, 2], "less_equal": [3, 2], "greater": [2, 2],
         "greater_equal": [2, 3], "near": [1.0, 1.1]}
SIGNS = {"negative": (-1, 0), "positive": (1, 0), "non_negative": (0, -1), "non_positive": (0, 1)}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name):
    check = getattr(tf, f"assert_{name}")
    x = tf.placeholder(tf.float32, [None], name="x")
    op = check(x, [float(PAIRS[name][1])], message="mine")
    run(op, {x: [PAIRS[name][0]]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        run(op, {x: [WRONG[name][0] if name != "near" else 2.0]} if WRONG[name][1] == PAIRS[name][1] or name == "near"
            else {x: [PAIRS[name][1] + (name in ("equal", "less_equal")) - (name == "greater_equal")]})


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "near"])
def test_what_is_known_fails_at_once(name):
    check = getattr(tf, f"assert_{name}")
    check(*PAIRS[name])
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
        check(*WRONG[name])


@pytest.mark.parametrize("name", SIGNS)
def test_signs(name):
    check = getattr(tf, f"assert_{name}")
    x = tf.placeholder(tf.int32, [2])
    good, bad = SIGNS[name]
    op = check(x)
    run(op, {x: [good, good]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-wise"):
        run(op, {x: [good, bad]})


def test_ranks_and_types():
    x, y = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32)
    for op in (tf.assert_rank(x, 2), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, [1, 2]),
               tf.assert_type(x, tf.float32), tf.assert_integer(tf.constant(1))):
        assert op.type == "NoOp"
    for make, error in ((lambda: tf.assert_rank(x, 1), ValueError), (lambda: tf.assert_rank_at_least(x, 3), ValueError),
                        (lambda: tf.assert_rank_in(x, [0, 3]), ValueError),
                        (lambda: tf.assert_type(x, tf.int32), TypeError), (lambda: tf.assert_integer(x), TypeError),
                        (lambda: tf.assert_scalar(x), ValueError),
                        (lambda: tf.assert_same_float_dtype([x, tf.constant(1)]), ValueError)):
        with pytest.raises(error):
            make()
    op = tf.assert_rank_in(y, [0, 2])
    run(op, {y: 1.0})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank in"):
        run(op, {y: [1.0]})
    assert tf.assert_same_float_dtype([x, None, y]) == tf.float32
    assert tf.is_numeric_tensor(x) and not tf.is_numeric_tensor(3)
    z = tf.placeholder(tf.float32, [3])
    both = [tf.is_non_decreasing(z), tf.is_strictly_increasing(z)]
    assert [run(both, {z: v}) for v in ([1, 1, 2], [1, 2, 3], [2, 1, 3])] == [[True, False], [True, True],
                                                                             [False, False]]


@pytest.mark.oracle
def test_nodes_are_those_of_tensorflow(oracle):
    code = """
x = tf.placeholder(tf.float32, [None], name='x')
y = tf.placeholder(tf.float32, name='y')
tf.assert_equal(x, 1.0)
tf.assert_less(x, x + 1, message='m', name='mine')
tf.assert_positive(x)
tf.assert_equal(tf.placeholder(tf.int32, [2], name='i'), 3)
result = [(op.name, op.type.replace('AddV2', 'Add'), [t.name for t in op.inputs],
           sorted(c.name for c in op.control_inputs)) for op in tf.get_default_graph().get_operations()]
"""
    scope = {"tf": tf}
    exec(code, scope)
    assert [n[:3] for n in scope["result"] if "Switch" in n[1] or "Assert" in n[0]] == [
        n[:3] for n in oracle(code) if "Switch" in n[1] or "Assert" in n[0]]


def test_numbers_of_the_whole_graph():
    x = tf.placeholder(tf.float32, [2])
    y = tf.log(x, name="log")
    check = tf.add_check_numerics_ops()
    run([y, check], {x: [1, 2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="log:0"):
        run([y, check], {x: [1, 0]})
    tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0)
    with pytest.raises(ValueError, match="not compatible"):
        tf.add_check_numerics_ops()


def test_python_functions():
    x = tf.placeholder(tf.float32, [2])
    calls = []

    def both(a, n):
        calls.append((type(a), type(n)))
        return a * n, "text"
    y, text = tf.py_func(both, [x, 3.0], [tf.float32, tf.string])
    got = run([y, text], {x: [1, 2]})
    np.testing.assert_array_equal(got[0], [3, 6])
    assert got[1] == b"text" and calls == [(np.ndarray, np.float32)]
    assert run(tf.py_func(lambda: 7, [], tf.int64, stateful=False)) == 7


@pytest.mark.parametrize("fn, error, words", [
    (lambda a: np.float64(1), tf.errors.InvalidArgumentError, "float64, but expects float32"),
    (lambda a: (a, a), tf.errors.InvalidArgumentError, "returns 2 values"),
    (lambda a: [][1], tf.errors.UnknownError, "IndexError"),
    (lambda a: int("x"), tf.errors.InvalidArgumentError, "ValueError: invalid literal"),
    (lambda a: next(iter([])), tf.errors.OutOfRangeError, "StopIteration"),
])
def test_errors_of_python_functions(fn, error, words):
    with pytest.raises(error, match=words):
        run(tf.py_func(fn, [1.0], tf.float32))


_STATIC_MESSAGES = """
def told(check):
    try:
        check()
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error).replace("<dtype: 'float32'>", "tf.float32")

x = tf.placeholder(tf.float32, [3], name="x")
result = [told(lambda: check(x, *more, message=message)) for message in (None, "hello") for check, *more in (
    (tf.assert_rank, 2), (tf.assert_rank_at_least, 2), (tf.assert_rank_in, [2, 3]), (tf.assert_scalar,),
    (tf.assert_type, tf.int32), (tf.assert_integer,))]
"""


def test_messages_of_checks_of_what_the_graph_knows(oracle):
    """A message comes before the text, which begins with nothing else."""
    scope = {"tf": tf}
    exec(_STATIC_MESSAGES, scope)
    assert scope["result"] == oracle(_STATIC_MESSAGES)
