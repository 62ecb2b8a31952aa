"""Where NaN comes from: the op, its line, the places, the path; what is ignored; nothing changes."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def network():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    w = tf.Variable(tf.random_normal([4, 3], seed=1) * 40, name="w")
    p = tf.nn.softmax(tf.matmul(x, w), name="p")
    loss = tf.reduce_mean(-tf.reduce_sum(y * tf.log(p, name="log"), 1), name="loss")
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    rng = np.random.RandomState(0)
    return loss, train, w, {x: rng.randn(8, 4), y: np.eye(3)[rng.randint(0, 3, 8)]}


def started(*keep):
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_the_first_op_with_finite_inputs_is_named_with_its_line_and_path():
    loss, _, w, feed = network()
    session = started()
    before = session.run(w)
    report = tf.find_nan(loss, feed, session)
    assert report.found and report.kind == "op" and report.op.name == "log" and report.problem == "inf"
    assert [op.name for op in report.path] == ["log", "mul_1", "Sum", "Neg", "loss"]
    values = session.run("log:0", feed)
    assert report.bad == np.isinf(values).sum() and report.size == values.size
    assert all(np.isinf(values[index]) for index in report.indices)
    assert report.inputs[0].name == "p:0" and report.inputs[0].at == "0"
    assert "test_nan.py" in str(report) and "tf.log(p" in str(report) and report.hint
    np.testing.assert_array_equal(session.run(w), before)


def test_the_op_that_spoils_the_weights_is_named_for_a_training_step():
    loss, train, _, feed = network()
    session = started()
    report = tf.find_nan(train, feed, session)
    assert report.op.type == "Reciprocal" and report.path[-1] is train and "log" in report.others
    assert "in the gradient of 'log' (Log), made at test_nan.py" in report.headline
    assert all("Shape" not in op.type for op in report.path)
    assert np.isfinite(session.run("w:0")).all()                # the step did not happen


def test_finite_runs_are_said_to_be_so():
    network()
    report = tf.find_nan("p:0", {"x:0": np.zeros((2, 4))}, started())
    assert not report.found and report.ops >= 3 and "finite" in str(report) and report.hint == ""


def test_bad_feeds_and_bad_variables_are_named():
    loss, _, w, feed = network()
    session = started()
    spoiled = {key: np.array(value) for key, value in feed.items()}
    spoiled[next(iter(feed))][3, 1] = np.nan
    report = tf.find_nan(loss, spoiled, session)
    assert report.kind == "feed" and report.op.name == "x" and report.indices == ((3, 1),)
    w.load(np.full((4, 3), np.inf), session)
    report = tf.find_nan(loss, feed, session)
    assert report.kind == "variable" and report.op.name == "w" and report.bad == 12


def test_an_op_that_writes_what_is_bad_is_named_before_the_variable():
    v = tf.Variable([1.0], name="v")
    broken = tf.assign_sub(v, tf.log(tf.zeros([1])), name="broken")
    with tf.control_dependencies([broken]):
        after = v + 1.0
    report = tf.find_nan(after, session=started())
    assert report.op.type == "Log"


def test_ignored_infinities_may_be_passed_on_but_not_made_into_nan():
    scores = tf.placeholder(tf.float32, [3], name="scores")
    mask = tf.log(tf.constant([1.0, 0.0, 1.0]), name="mask")
    masked = tf.add(scores, mask, name="masked")
    soft = tf.nn.softmax(masked, name="soft")
    feed, session = {scores: [1.0, 2.0, 3.0]}, tf.Session()
    assert tf.find_nan(soft, feed, session).op.name == "mask"
    assert not tf.find_nan(soft, feed, session, ignore="^mask$").found
    product = tf.multiply(masked, tf.zeros([3]), name="product")
    report = tf.find_nan(product, feed, session, ignore=["^mask$"])
    assert report.op.name == "product" and report.problem == "NaN"


def test_constants_that_are_written_as_infinite_are_meant():
    clipped = tf.minimum(tf.placeholder(tf.float32, [2], name="x"), tf.constant(np.inf, tf.float32), name="clipped")
    session = tf.Session()
    assert not tf.find_nan(clipped, {"x:0": [1.0, 2.0]}, session).found
    report = tf.find_nan(tf.multiply(clipped - np.inf, 0.0), {"x:0": [1.0, 2.0]}, session)
    assert report.problem == "NaN"


def test_abs_max_finds_what_has_grown_too_large():
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.square(x * 10.0, name="y") + 0.0
    session = tf.Session()
    assert not tf.find_nan(y, {x: [1, 2]}, session, abs_max=1000).found
    report = tf.find_nan(y, {x: [1, 5]}, session, abs_max=1000)
    assert report.op.name == "y" and report.indices == ((1,),) and "1000" in report.problem


def test_ops_in_branches_and_loops_are_found():
    z = tf.placeholder(tf.float32, [], name="z")
    out = tf.cond(z > 0, lambda: tf.sqrt(z), lambda: tf.sqrt(z - 1, name="wrong"))
    session = tf.Session()
    assert tf.find_nan(out, {z: -1.0}, session).op.name == "cond/wrong"
    _, v = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, tf.log(v)), [0, tf.constant(2.0)])
    report = tf.find_nan(v, session=session)
    assert report.op.type == "Log" and report.path[-1] is v.op and report.inputs[0].text.endswith("-0.3665")


def test_bfloat16_and_complex_numbers_are_looked_at():
    half = tf.cast(tf.log(tf.cast(tf.constant([0.0]), tf.bfloat16)), tf.float32)
    session = tf.Session()
    assert tf.find_nan(half, session=session).op.type == "Log"
    assert tf.find_nan(tf.complex([1.0], tf.log([0.0])), session=session).op.type == "Log"


def test_an_error_after_the_fault_does_not_hide_it():
    checked = tf.check_numerics(tf.log(tf.zeros([2]), name="log"), "it went wrong")
    session = tf.Session()
    assert tf.find_nan(checked, session=session).op.name == "log"
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
        tf.find_nan(tf.log(tf.placeholder(tf.float32)), session=session)


def test_wrong_expressions_and_missing_sessions_are_told():
    y = tf.log(0.0)
    with pytest.raises(ValueError, match="no regular expression"):
        tf.find_nan(y, session=tf.Session(), ignore="(")
    with pytest.raises(ValueError, match="no default session"):
        tf.find_nan(y)


def test_random_numbers_and_variables_stay_as_they_are():
    noise = tf.random_normal([3], seed=1)
    with tf.Session() as first, tf.Session() as second:
        first.run(noise)
        tf.find_nan(noise, session=first)
        second.run(noise)
        np.testing.assert_array_equal(first.run(noise), second.run(noise))


def test_the_first_of_several_runs_that_goes_wrong_is_looked_into():
    w = tf.Variable(1.0, name="w")
    loss = tf.log(3.5 - w, name="loss")
    train = tf.assign_add(w, 1.0, name="train")
    session = started()
    with tf.control_dependencies([loss]):
        both = tf.group(train, name="both")
    report = tf.find_nan([loss, both], session=session, steps=20)
    assert report.step == 4 and report.op.name == "loss" and report.problem == "NaN" and "in run 4" in str(report)
    assert session.run(w) == 1.0, "the runs were on a copy"
    assert str(tf.find_nan([loss, both], session=session, steps=3)).endswith("in each of 3 runs")
    assert tf.find_nan([loss, both], session=session, steps=20, abs_max=2.5).step == 2
    assert not tf.find_nan([loss, both], session=session, steps=20, ignore="loss").found


def test_a_run_of_several_that_fails_otherwise_raises():
    w = tf.Variable(1.0)
    with tf.control_dependencies([tf.assert_less(w, 3.0)]):
        train = tf.assign_add(w, 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.find_nan(train, session=started(), steps=9)


@pytest.mark.parametrize("shape, shown", [([], ""), ([1], ""), ([2], "100000"), ([3], "100000")])
def test_an_integer_behind_a_bad_value_is_shown_where_there_are_others(shape, shown):
    i = tf.placeholder(tf.int32, shape, name="i")
    report = tf.find_nan(tf.cast(i, tf.float16), {i: np.full(shape, 100_000)}, tf.Session())
    assert report.problem == "inf" and [(seen.name, seen.at) for seen in report.inputs] == [("i:0", shown)]
