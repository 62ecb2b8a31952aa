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


SUBCLASSES = """
class LazyAdam(tf.train.AdamOptimizer):
    '''Rows of the slots only: what subclasses take from Adam.'''
    def _apply_sparse(self, grad, var):
        first, second = self._get_beta_accumulators()
        rate = self._lr_t * tf.sqrt(1.0 - second) / (1.0 - first)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        rows = lambda slot, beta, new: tf.scatter_update(
            slot, grad.indices, beta * tf.gather(slot, grad.indices) + (1.0 - beta) * new)
        m_t, v_t = rows(m, self._beta1_t, grad.values), rows(v, self._beta2_t, tf.square(grad.values))
        step = rate * tf.gather(m_t, grad.indices) / (tf.sqrt(tf.gather(v_t, grad.indices)) + self._epsilon_t)
        return tf.group(tf.scatter_sub(var, grad.indices, step), m_t, v_t)

class EverySecond(tf.train.AdamOptimizer):
    '''Sum gradients and apply each second sum, with a counter of its own.'''
    def _create_slots(self, var_list):
        super()._create_slots(var_list)
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=0.0, name="count", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "sum", self._name)
    def _count(self):
        return self._get_non_slot_variable("count", graph=tf.get_default_graph())
    def _prepare(self):
        super()._prepare()
        self._every_t = tf.convert_to_tensor(2.0, name="every")
    def _apply_dense(self, grad, var):
        total = tf.assign_add(self.get_slot(var, "sum"), grad)
        def apply():
            step = super(EverySecond, self)._apply_dense(total / self._every_t, var)
            with tf.control_dependencies([step]):
                return tf.group(tf.assign(self.get_slot(var, "sum"), tf.zeros_like(total)))
        return tf.cond(tf.equal(tf.floormod(self._count() + 1.0, self._every_t), 0.0), apply, tf.no_op)
    def _finish(self, update_ops, name_scope):
        powers = self._get_beta_accumulators()
        with tf.control_dependencies(update_ops):
            done = [power.assign(power * beta) for power, beta in zip(powers, (self._beta1_t, self._beta2_t))]
            done.append(tf.assign_add(self._count(), 1.0))
        return tf.group(*update_ops + done, name=name_scope)

class Noisy(tf.train.MomentumOptimizer):
    '''Another constructor, changed gradients, the tensors of the base.'''
    def __init__(self, scale, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._scale = scale
    def compute_gradients(self, loss, var_list=None, **kwargs):
        return [(g * self._scale, v) for g, v in super().compute_gradients(loss, var_list, **kwargs)]
    def _apply_dense(self, grad, var):
        with tf.control_dependencies([grad]):
            less = tf.assign_sub(var, self._learning_rate_tensor * self._momentum_tensor * var)
        with tf.control_dependencies([less]):
            return super()._apply_dense(grad, var)

class Wrapper(tf.train.Optimizer):
    '''As wrappers for many workers are written.'''
    def __init__(self, optimizer, name=None, use_locking=False):
        super().__init__(name=name or "Distributed" + type(optimizer).__name__, use_locking=use_locking)
        self._optimizer = optimizer
    def compute_gradients(self, *args, **kwargs):
        return [(2.0 * g, v) for g, v in self._optimizer.compute_gradients(*args, **kwargs)]
    def apply_gradients(self, *args, **kwargs):
        return self._optimizer.apply_gradients(*args, **kwargs)
    def get_slot(self, *args, **kwargs):
        return self._optimizer.get_slot(*args, **kwargs)
    def get_slot_names(self, *args, **kwargs):
        return self._optimizer.get_slot_names(*args, **kwargs)
    def variables(self, *args, **kwargs):
        return self._optimizer.variables(*args, **kwargs)

changed = tf.train.AdamOptimizer(0.1)
changed._lr = 0.5
result = []
for i, optimizer in enumerate([LazyAdam(0.1), EverySecond(0.1, beta2=0.9), Noisy(0.5, 0.1, 0.9, use_nesterov=True),
                               Wrapper(tf.train.AdagradOptimizer(0.1)), changed]):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v%d" % i)
    rows = tf.gather(v, [1]) if i == 0 else v
    with tf.name_scope("train%d" % i):
        train = optimizer.minimize(tf.reduce_sum(rows * rows), var_list=[v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            session.run(train)
        result.append((session.run(v), optimizer.get_slot_names(), [x.name for x in optimizer.variables()], train.name))
"""


def test_subclasses_and_wrappers_of_the_optimizers(oracle):
    scope = {"tf": tf}
    exec(SUBCLASSES, scope)
    for (value, *names), (wanted, *official) in zip(scope["result"], oracle(SUBCLASSES), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-6)
        assert names == list(official)


PROTECTED = """
made = [tf.train.GradientDescentOptimizer(0.1), tf.train.MomentumOptimizer(0.1, 0.9), tf.train.AdamOptimizer(),
        tf.train.AdagradOptimizer(0.1), tf.train.AdadeltaOptimizer(), tf.train.RMSPropOptimizer(0.1, centered=True),
        tf.train.FtrlOptimizer(0.1), tf.train.ProximalAdagradOptimizer(0.1), tf.train.AdagradDAOptimizer(
            0.1, tf.train.get_or_create_global_step()), tf.train.ProximalGradientDescentOptimizer(0.1)]
for optimizer in made:
    optimizer.minimize(tf.Variable(1.0) * 2.0)
base = vars(tf.train.Optimizer(False, "x"))
result = [{name: getattr(value, "name", None) or value for name, value in vars(optimizer).items()
           if name not in base and (isinstance(value, (tf.Tensor, float)) or value is None)} for optimizer in made]
"""


def test_protected_names_are_tensorflows(oracle):
    """What public programs read, such as `optimizer._lr_t`: numbers, and the names of tensors."""
    scope = {"tf": tf}
    exec(PROTECTED, scope)
    ours, official = scope["result"], oracle(PROTECTED)
    for got, wanted in zip(ours, official, strict=True):
        assert {name: value for name, value in wanted.items() if value is not None} == {
            name: got.get(name) for name, value in wanted.items() if value is not None}
