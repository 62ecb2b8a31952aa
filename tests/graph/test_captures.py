"""Bodies of functions: what they take from the graphs around, as inputs or by copies."""
from __future__ import annotations

import pytest

import tfnb as tf
from tfnb.graph.function import FunctionGraph
from tfnb.runtime.session import Session

D = tf.data.Dataset


def elements(dataset, session: Session):
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    session.run(iterator.initializer)
    found = []
    try:
        while True:
            found.append(session.run(element))
    except tf.errors.OutOfRangeError:
        return found


def test_a_tensor_is_captured_once():
    c, d = tf.constant(2.0, name="My-Number"), tf.constant(3.0, name="7up")
    with FunctionGraph(tf.get_default_graph()) as body:
        x = body.placeholder(tf.float32, (), "x")
        y = x * c + c * d
    assert list(body.captured) == [c, d] and body.inputs == [x, *body.captured.values()]
    assert [t.op.name.split("/")[-1] for t in body.inputs] == ["x", "my_number", "x7up"]
    assert body.capture(c) is body.captured[c] and body.capture(y) is y and body.capture(x) is x
    assert [t.graph for t in body.captured.values()] == [body, body] and c.graph is body.outer
    assert tf.get_default_graph() is body.outer


def test_a_body_inside_a_body_takes_from_the_outermost():
    c = tf.constant(10, tf.int64)
    dataset = D.range(1, 3).flat_map(lambda x: D.range(x).map(lambda y: c * x + y + c))
    with tf.Session() as session:
        assert elements(dataset, session) == [20, 30, 31]
    outer = tf.get_default_graph()
    with FunctionGraph(outer) as first:
        with FunctionGraph(first) as second:
            _ = tf.identity(c)
    assert list(first.captured) == [c] and list(second.captured) == [first.captured[c]]


@pytest.mark.parametrize("levels", [1, 2])
def test_tensors_of_another_graph_are_refused(levels):
    with tf.Graph().as_default():
        foreign = tf.constant(1, tf.int64, name="foreign")
    with pytest.raises(ValueError, match="foreign.*is of another graph than the one that the function is made for"):
        if levels == 1:
            D.range(3).map(lambda x: x + foreign)
        else:
            D.range(3).flat_map(lambda x: D.range(x).map(lambda y: y + foreign))


def test_a_body_takes_nothing_from_a_body_beside_it():
    graph = tf.get_default_graph()
    with FunctionGraph(graph) as first:
        inside = tf.constant(1.0)
    with FunctionGraph(graph) as second, pytest.raises(ValueError, match="is of another graph"):
        second.capture(inside)
    assert tf.get_default_graph() is graph and first.outer is graph


def test_captures_by_value_copy_all_that_is_behind():
    a, b = tf.split(tf.constant([1.0, 2.0, 3.0, 4.0], name="c"), 2)
    graph = tf.get_default_graph()
    with FunctionGraph(graph, by_value=True) as body:
        y = a - b
    assert not body.inputs and [t.graph for t in y.op.inputs] == [body, body]
    assert [t.value_index for t in y.op.inputs] == [0, 1] and y.op.inputs[0].op is y.op.inputs[1].op
    assert [op.type for op in body.get_operations()].count("Const") == 2 and len(body.get_operations()) == 4
    with tf.Session(graph=body) as session:
        assert session.run(y).tolist() == [-2.0, -2.0]


@pytest.mark.parametrize("make, words", [
    (lambda: tf.placeholder(tf.float32, name="p"), r"a placeholder \(name:p, type:Placeholder\)"),
    (lambda: tf.Variable(1.0, name="v")._ref(), r"a stateful node \(name:v, type:VariableV2\)"),
    (lambda: tf.Variable(1.0, name="v") + 1.0, r"a stateful node \(name:v, type:VariableV2\)")])
def test_state_and_feeds_are_not_copied(make, words):
    outside = make()
    with pytest.raises(ValueError, match="Cannot capture " + words + " by value"):
        with FunctionGraph(tf.get_default_graph(), by_value=True):
            tf.identity(outside)


def test_a_body_makes_no_variables():
    with pytest.raises(ValueError, match="a function can't make variables, but its body makes 'w'"):
        D.range(3).map(lambda x: x + tf.Variable(tf.constant(1, tf.int64), name="w"))


def test_ops_with_effects_run_with_the_body():
    v = tf.Variable(0, name="v")
    with FunctionGraph(tf.get_default_graph()) as body:
        x = body.placeholder(tf.int32, (), "x")
        put = tf.Print(x, [x])
        tf.identity(x)
    assert body.targets == [put.op] and v.graph is body.outer


def test_names_of_functions():
    graph = tf.get_default_graph()

    def made(name, add):
        with FunctionGraph(graph) as body:
            x = body.placeholder(tf.float32, (), "x")
            assert body.finish([x + add], name).name == body.name
        return body.name
    one, same, other = made("f", 1.0), made("f", 1.0), made("f", 2.0)
    assert one == same != other and one.startswith("f_") and len(one) == len("f_") + 8
    assert made("<lambda>", 1.0).startswith("lambda_") and made("--", 1.0).startswith("function_")


def test_a_finished_body_takes_no_more_ops():
    with FunctionGraph(tf.get_default_graph()) as body:
        body.finish([tf.constant(1.0)], "f")
        with pytest.raises(RuntimeError, match="finalized"):
            tf.constant(2.0)
