"""Optimizers that users write, other dtypes, and the tensors that may stand for their numbers."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

PROGRAM = """
class Decaying(tf.train.Optimizer):
    '''Momentum by hand: slots, shared tensors, a variable of the whole optimizer, something at the end.'''
    def __init__(self, rate, name="Decaying"):
        super().__init__(True, name)
        self._rate = rate
    def _prepare(self):
        self._rate_tensor = tf.convert_to_tensor(self._rate, name="rate")
    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "speed", self._name)
            self._get_or_make_slot(v, tf.ones(v.get_shape(), v.dtype.base_dtype), "start", self._name)
            self._get_or_make_slot_with_initializer(v, tf.ones_initializer(), v.get_shape(), v.dtype.base_dtype, "made",
                                                    self._name)
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=1.0, name="share", colocate_with=first)
    def _share(self):
        return self._get_non_slot_variable("share", tf.get_default_graph())
    def _apply_dense(self, grad, var):
        speed = self.get_slot(var, "speed")
        new = tf.assign(speed, 0.5 * speed + grad * tf.cast(self._share(), grad.dtype))
        return tf.assign_sub(var, tf.cast(self._rate_tensor, grad.dtype) * new).op
    def _apply_sparse(self, grad, var):
        return tf.scatter_sub(var, grad.indices, grad.values * tf.cast(self._rate_tensor, grad.dtype)).op
    def _finish(self, update_ops, name_scope):
        with tf.control_dependencies(update_ops):
            less = tf.assign(self._share(), self._share() * 0.5)
        return tf.group(*(update_ops + [less]), name=name_scope)

v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
w = tf.Variable([[1.0], [2.0], [3.0]], name="w")
step = tf.train.get_or_create_global_step()
loss = tf.reduce_sum(v * v) + tf.reduce_sum(tf.square(tf.gather(w, [2, 0, 2])))
optimizer = Decaying(0.1)
train = optimizer.minimize(loss, global_step=step)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(4):
        session.run(train)
    values = session.run([v, w, step])
    result = values, optimizer.get_slot_names(), [x.name for x in optimizer.variables()], train.name
"""


@pytest.mark.slow
def test_an_optimizer_by_hand(oracle):
    scope = {"tf": tf}
    exec(PROGRAM, scope)
    values, *names = scope["result"]
    wanted, *official = oracle(PROGRAM)
    for value, expected in zip(values, wanted, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-6)
    assert names == list(official)


HALF = """
v = tf.Variable(np.array([[1.0, -2.0], [3.0, 0.5]], dtype), name="v")
loss = tf.reduce_sum(tf.square(v)) / np.array(4.0, dtype)
optimizer = tf.train.{}
train = optimizer.minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(10):
        session.run(train)
    result = session.run(v), [optimizer.get_slot(v, name).dtype.base_dtype.name for name in optimizer.get_slot_names()]
"""
OPTIMIZERS = ["GradientDescentOptimizer(0.1)", "MomentumOptimizer(0.1, 0.9, use_nesterov=True)", "AdamOptimizer(0.1)",
              "AdagradOptimizer(0.1)", "RMSPropOptimizer(0.1)", "AdadeltaOptimizer(1.0)", "FtrlOptimizer(0.1)"]


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_half_precision(name, oracle):
    scope = {"tf": tf, "np": np, "dtype": "float16"}
    exec(HALF.format(name), scope)
    value, slots = scope["result"]
    wanted, official = oracle(HALF.format(name), dtype="float16")
    assert value.dtype == np.float16 and slots == official
    np.testing.assert_allclose(value.astype("f"), wanted.astype("f"), rtol=5e-3, atol=5e-3)


TENSORS = [
    ("GradientDescentOptimizer({})", (0.1,)), ("MomentumOptimizer({}, {})", (0.1, 0.9)),
    ("AdamOptimizer({}, {}, {}, {})", (0.1, 0.9, 0.99, 1e-4)), ("AdagradOptimizer({})", (0.1,)),
    ("RMSPropOptimizer({}, {}, {}, {})", (0.1, 0.9, 0.5, 1e-4)), ("AdadeltaOptimizer({}, {}, {})", (1.0, 0.9, 1e-4)),
    ("ProximalGradientDescentOptimizer({})", (0.1,))]


@pytest.mark.parametrize("kind", ["tf.constant({})", "(lambda: {})", "tf.Variable({})"])
@pytest.mark.parametrize("form, numbers", TENSORS)
def test_numbers_may_be_tensors_or_functions(form, numbers, kind):
    if kind.startswith("(lambda") and form.startswith("Proximal"):
        pytest.skip("TensorFlow takes no functions there")
    found = []
    for text in ([str(n) for n in numbers], [kind.format(n) for n in numbers]):
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.Variable([1.0, -2.0])
            train = eval(f"tf.train.{form}".format(*text)).minimize(tf.reduce_sum(v * v), var_list=[v])
            session.run(tf.global_variables_initializer())
            for _ in range(5):
                session.run(train)
            found.append(session.run(v))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


def test_what_is_no_variable_is_refused():
    v = tf.Variable([1.0])
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    for wrong in ([3], ["v"]):
        with pytest.raises(TypeError):
            optimizer.compute_gradients(v * v, var_list=wrong)
