"""tf.custom_gradient: as in TensorFlow, and with variables."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SNIPPETS = {
    "a stable function": """
@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    def grad(dy):
        return dy * (1 - 1 / (1 + e))
    return tf.log(1 + e), grad
x = tf.placeholder(tf.float32, [])
y = log1pexp(x)
tf.Session().run([y, tf.gradients(y, x)[0]], {x: 50.0})""",
    "several arguments and results": """
@tf.custom_gradient
def f(a, b):
    def grad(da, db):
        return 10 * da + db, 100 * db
    return (a * b, a + b), grad
a, b = tf.constant(2.0), tf.constant(3.0)
p, s = f(a, b)
with tf.Session() as session:
    result = session.run([p, s, tf.gradients(p, [a, b]), tf.gradients([p, s], [a, b]), tf.gradients(s * p, a)])
result, p.op.type, [t.name for t in (p, s)]""",
    "second derivatives": """
@tf.custom_gradient
def cube(x):
    def grad(dy):
        return dy * square(x)
    return x * x * x, grad
def square(x):
    return 3 * x * x
x = tf.constant(2.0)
first = tf.gradients(cube(x), x)[0]
tf.Session().run([first, tf.gradients(first, x)[0]])""",
    "a gradient that is none": """
@tf.custom_gradient
def f(x, y):
    return x * y, lambda dy: (dy, None)
x, y = tf.constant(2.0), tf.constant(3.0)
found = tf.gradients(f(x, y), [x, y])
tf.Session().run(found[0]), found[1]""",
    "too few gradients": """
@tf.custom_gradient
def f(x, y):
    return x * y, lambda dy: dy
x, y = tf.constant(2.0), tf.constant(3.0)
outcome(lambda: tf.gradients(f(x, y), [x, y]))""",
    "numbers": """
@tf.custom_gradient
def f(x):
    return x * 2.0, lambda dy: dy * 7
y = f(3.0)
tf.Session().run(y), f.__name__""",
    "in a loop": """
@tf.custom_gradient
def f(x):
    return x * 2, lambda dy: dy * 3
x = tf.constant(1.0)
y = f(f(f(x)))
tf.Session().run([y, tf.gradients(y, x)[0]])""",
    "passing through": """
f = tf.grad_pass_through(tf.round)
x = tf.constant([1.4, 2.6])
y = f(x * 2)
tf.Session().run([y, tf.gradients(y, x)[0]])""",
}


@pytest.mark.slow
def test_as_in_tensorflow(oracle):
    assert not differences(oracle, SNIPPETS)


def test_variables_have_gradients_of_their_own():
    w = tf.get_variable("w", initializer=[2.0, 3.0])

    @tf.custom_gradient
    def f(x):
        b = tf.get_variable("b", initializer=1.0)

        def grad(dy, variables=None):
            assert [v.op.name for v in variables] == ["w", "b"]
            return dy * 10, [dy * 100, tf.reduce_sum(dy) * 1000]
        return x * w + b, grad
    x = tf.constant([1.0, 1.0])
    y = f(x)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_sum(y))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [g.tolist() for g in session.run([y, *tf.gradients(y, [x])])] == [[3, 4], [10, 10]]
        session.run(train)
        values = session.run(tf.trainable_variables())
    np.testing.assert_allclose(values[0], [1.0, 2.0], rtol=1e-6)
    assert values[1] == pytest.approx(1 - 20)


def test_who_uses_variables_must_say_their_gradients():
    w = tf.get_variable("w", initializer=2.0)

    @tf.custom_gradient
    def f(x):
        return x * w, lambda dy: dy
    with pytest.raises(TypeError, match="'variables' keyword argument. It uses w:0"):
        f(tf.constant(1.0))
