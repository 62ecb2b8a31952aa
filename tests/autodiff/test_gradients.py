"""tf.gradients: names and structure, every argument, errors; RegisterGradient; hessians."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.autodiff import registry as gradient_registry


def names(start=""):
    return [op.name for op in tf.get_default_graph().get_operations() if op.name.startswith(start)]


def run(fetches, feed_dict=None):
    with tf.Session() as sess:
        return sess.run(fetches, feed_dict)


def x3(name="x"):
    return tf.placeholder(tf.float32, [3], name=name)


@pytest.fixture
def gradient_names():
    """Names that a test registers, forgotten afterwards."""
    before = dict(gradient_registry._registered)
    yield
    gradient_registry._registered.clear()
    gradient_registry._registered.update(before)


def test_names():
    x = x3()
    y = tf.exp(x, name="e")
    (g,) = tf.gradients(tf.multiply(x, y, name="m"), x)
    assert names("gradients") == [
        "gradients/Shape", "gradients/grad_ys_0/Const", "gradients/grad_ys_0", "gradients/m_grad/Mul",
        "gradients/m_grad/Mul_1", "gradients/e_grad/mul", "gradients/AddN"]
    assert g.op.attrs["_class"] == [b"loc:@gradients/m_grad/Mul"]
    assert tf.gradients(y, x)[0].name == "gradients_1/e_grad/mul:0"
    assert tf.gradients(y, x, name="mine")[0].name == "mine/e_grad/mul:0"


def test_several_ys_and_xs():
    x = x3()
    y = tf.exp(x)
    z = x * y
    gx, gy = tf.gradients([z, y], [x, y])
    at = np.array([0.5, -1.0, 2.0], np.float32)
    got = run([gx, gy], {x: at})
    np.testing.assert_allclose(got[0], np.exp(at) * (at + 2), rtol=1e-6)
    np.testing.assert_allclose(got[1], at + 1, rtol=1e-6)


def test_a_y_twice_and_an_x_twice():
    x = x3()
    y = tf.exp(x)
    a, b = tf.gradients([y, y], [x, x])
    assert a is b
    np.testing.assert_allclose(run(a, {x: np.zeros(3)}), [2, 2, 2])


def test_where_nothing_leads_is_none():
    x, other = x3(), tf.constant(1.0)
    y = x * 2.0
    assert tf.gradients(y, other) == [None] == tf.gradients(x, y)
    assert tf.gradients(tf.cast(tf.cast(y, tf.int32), tf.float32), x) == [None]
    assert tf.gradients(tf.stop_gradient(y), x) == [None]
    assert tf.gradients(tf.argmax(y, 0), x) == [None]
    zero = tf.gradients(y, [other], unconnected_gradients="zero")
    assert run(zero) == [0.0]
    assert tf.gradients(y, [other], unconnected_gradients=tf.UnconnectedGradients.NONE) == [None]


def test_grad_ys():
    x = x3()
    y = x * x
    (g,) = tf.gradients(y, x, grad_ys=[np.array([1, 10, 100], np.float32)])
    assert g.op.type == "AddN" and "gradients/grad_ys_0" in names() and "gradients/grad_y_0" in names()
    np.testing.assert_allclose(run(g, {x: [1, 2, 3]}), [2, 40, 600])
    assert run(tf.gradients([y, y], x, grad_ys=[None, tf.zeros([3])]), {x: [1, 2, 3]})[0].tolist() == [2, 4, 6]


def test_stop_gradients():
    x = x3()
    y = tf.exp(x)
    (g,) = tf.gradients(y * x, x, stop_gradients=[y])
    np.testing.assert_allclose(run(g, {x: [0, 1, 2]}), np.exp([0, 1, 2]), rtol=1e-6)


def test_gating():
    x = x3()
    tf.gradients(x * tf.exp(x), x, gate_gradients=True)
    assert "gradients/mul_grad/tuple/group_deps" in names()
    a = tf.get_default_graph().get_operation_by_name("gradients/mul_grad/tuple/control_dependency_1")
    assert a.type == "Identity" and [c.name for c in a.control_inputs] == ["gradients/mul_grad/tuple/group_deps"]


def test_colocation():
    x = x3()
    with tf.device("/cpu:0"):
        y = tf.exp(x, name="e")
    (g,) = tf.gradients(y, x, colocate_gradients_with_ops=True)
    assert g.device == "/device:CPU:0" and g.op.colocation_groups() == [b"loc:@e"]


@pytest.mark.parametrize("method", [None, *range(3)])
def test_aggregation_methods(method):
    x = x3()
    (g,) = tf.gradients(tf.exp(x) + tf.sin(x) + x * x, x, aggregation_method=method)
    assert g.op.type == "AddN" and len(g.op.inputs) == (2 if method else 4)
    at = np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(run(g, {x: at}), np.exp(at) + np.cos(at) + 2 * at, rtol=1e-6)


def test_missing_gradients_of_outputs_are_zeros():
    x = x3()
    parts = tf.split(x, 3)
    (g,) = tf.gradients(parts[0] * parts[1], x)
    assert "gradients/zeros_like" in names()
    assert run(g, {x: [2, 3, 4]}).tolist() == [3, 2, 0]


def test_second_order_and_hessians():
    x = x3()
    y = tf.reduce_sum(x * x * x)
    at = np.array([1, 2, 3], np.float32)
    (g,) = tf.gradients(tf.gradients(y, x), x)
    np.testing.assert_allclose(run(g, {x: at}), 6 * at)
    np.testing.assert_allclose(run(tf.hessians(y, x), {x: at})[0], np.diag(6 * at))
    m = tf.placeholder(tf.float32, [2, 1])
    (h,) = tf.hessians(tf.reduce_prod(m), m)
    assert run(h, {m: [[2], [3]]}).reshape(2, 2).tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match="hessians"):
        tf.hessians(y, tf.constant(1.0))


def test_of_variables():
    v = tf.Variable([1.0, 2.0], name="v")
    (g,) = tf.gradients(v * 3.0, v)
    assert g.name == "gradients/mul_grad/Mul:0"
    assert tf.gradients(v, v)[0].name == "gradients_1/grad_ys_0:0"


def test_unknown_shapes():
    x = tf.placeholder(tf.float32)
    y = tf.placeholder(tf.float32)
    gx, gy = tf.gradients(x * y, [x, y])
    got = run([gx, gy], {x: np.ones([2, 3]), y: [1.0, 2.0, 3.0]})
    assert got[0].tolist() == [[1, 2, 3]] * 2 and got[1].tolist() == [2, 2, 2]


@pytest.mark.parametrize("arguments, error, match", [
    ({"grad_ys": [None, None]}, ValueError, "Length mismatch"), ({"aggregation_method": 7}, ValueError, "7"),
    ({"unconnected_gradients": "foo"}, ValueError, "foo"), ({"grad_ys": [1]}, TypeError, "int32"),
    ({"grad_ys": ["a"]}, TypeError, "string"),
])
def test_errors(arguments, error, match):
    x = x3()
    with pytest.raises(error, match=match):
        tf.gradients(x * 2.0, x, **arguments)


def test_complex_ys_need_grad_ys():
    z = tf.complex(x3(), x3("y"))
    with pytest.raises(TypeError, match="complex"):
        tf.gradients(z * z, z)
    tf.gradients(z * z, z, grad_ys=[z])


def test_prevent_gradient():
    x = x3()
    y = tf.raw_ops.PreventGradient(input=x, message="not here") if hasattr(tf, "raw_ops") else None
    if y is not None:
        with pytest.raises(LookupError, match="not here"):
            tf.gradients(y, x)


def test_registered_gradients(gradient_names):
    @tf.RegisterGradient("Double")
    def double(op, dy):
        assert op.type == "Exp"
        return dy * 2.0

    x = x3()
    with tf.get_default_graph().gradient_override_map({"Exp": "Double"}):
        y = tf.exp(x)
    assert run(tf.gradients(y, x), {x: [1, 2, 3]})[0].tolist() == [2, 2, 2]
    assert tf.gradients(tf.exp(x), x)[0].op.inputs[1].op.type == "Exp"


def test_registering_twice(gradient_names):
    tf.RegisterGradient("Mine")(lambda op, dy: dy)
    tf.NotDifferentiable("NotMine")
    for name in ("Mine", "NotMine", "Exp"):
        with pytest.raises(KeyError, match=name):
            tf.RegisterGradient(name)(lambda op, dy: dy)
        with pytest.raises(KeyError, match=name):
            tf.NoGradient(name)
    for register in (tf.RegisterGradient, tf.NotDifferentiable):
        with pytest.raises(TypeError):
            register(3)


def test_a_cell_may_register_again(gradient_names):
    graph = tf.get_default_graph()
    graph.owner = "cell"
    tf.RegisterGradient("Mine")(lambda op, dy: dy)
    tf.RegisterGradient("Mine")(lambda op, dy: -dy)
    graph.owner = "other"
    with pytest.raises(KeyError):
        tf.RegisterGradient("Mine")(lambda op, dy: dy)


@pytest.mark.parametrize("function, error, match", [
    (lambda op, dy: (dy, dy), ValueError, "2 .*Exp.* 1"),
    (lambda op, dy: tf.concat([dy, dy], 0), ValueError, r"Exp.*\(3,\).*\(6,\)"),
    (None, LookupError, "Exp"),
])
def test_wrong_gradients(gradient_names, function, error, match):
    if function is not None:
        tf.RegisterGradient("Wrong")(function)
    x = x3()
    with tf.get_default_graph().gradient_override_map({"Exp": "Wrong"}):
        y = tf.exp(x)
    before = len(names())
    with pytest.raises(error, match=match):
        tf.gradients(y, x)
    assert tf.get_default_graph().get_name_scope() == "" and len(names()) >= before


def test_rows_of_a_gather_stay_rows():
    x = x3()
    rows = tf.gather(x, [0, 2, 2])
    (g,) = tf.gradients(rows, x)
    assert run(tf.convert_to_tensor(g), {x: [1, 2, 3]}).tolist() == [1, 0, 2]
    (both,) = tf.gradients([rows, tf.gather(x, [1])], x)
    assert run(tf.convert_to_tensor(both), {x: [1, 2, 3]}).tolist() == [1, 1, 2]
    (mixed,) = tf.gradients([rows, x * 2.0], x)
    assert run(mixed, {x: [1, 2, 3]}).tolist() == [3, 2, 4]


@pytest.mark.parametrize("shape", [[2, 3], [None, 3], [2, None], [None, None], None])
@pytest.mark.parametrize("axis", [0, 1, [0, 1], [1, 0]])
def test_products_over_axes_of_unknown_size(shape, axis):
    """The gradient is the product of all others, whichever sizes are known when the graph is built."""
    x, value = tf.placeholder(tf.float64, shape), np.array([[2.0, 3.0, 0.0], [5.0, 7.0, 11.0]])
    axes = tuple(np.ravel(axis))
    gradient = tf.gradients(tf.reduce_prod(x, axis), x)[0]
    want = np.empty_like(value)
    for place in np.ndindex(value.shape):
        others = value.copy()
        others[place] = 1.0
        want[place] = np.prod(others, axes, keepdims=True)[tuple(0 if i in axes else n for i, n in enumerate(place))]
    with tf.Session() as session:
        for _ in range(3):
            np.testing.assert_allclose(session.run(gradient, {x: value}), want)
