"""Updates of variables: each training op against TensorFlow, interpreted and compiled; order of reads and writes."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
import tfnb.contrib.opt  # noqa: F401  (it declares the steps of all optimizers)
from tests.handles import applied
from tfnb.core import errors
from tfnb.core.options import options
from tfnb.opdef import kinds, registry
from tfnb.ops.declaration.raw import raw

SHAPE = (3, 5)
NUMBERS = {"lr": 0.1, "alpha": 0.1, "momentum": 0.9, "beta1": 0.9, "beta2": 0.99, "beta1_power": 0.81,
           "beta2_power": 0.98, "epsilon": 1e-3, "rho": 0.9, "l1": 0.1, "l2": 0.05, "l2_shrinkage": 0.2,
           "lr_power": -0.5, "beta": 0.9, "logbase": 0.7, "sign_decay": 0.6}
APPLY = sorted(name for name, spec in registry.OPS.items()
               if isinstance(spec, kinds.Update) and name.startswith(("Apply", "ResourceApply")))
FLAGS = ("use_nesterov", "update_slots", "multiply_linear_by_lr")


def arguments(spec, random):
    """Arrays for the Ref inputs and the gradient (squares where an op takes a root of them), numbers for the rest."""
    made = {}
    for arg in spec.inputs:
        if arg.name in NUMBERS:
            made[arg.name] = np.float32(NUMBERS[arg.name])
        elif arg.name == "global_step":
            made[arg.name] = np.int64(3)
        else:
            made[arg.name] = random.normal(size=SHAPE).astype(np.float32)
            if arg.is_variable and arg.name in ("v", "ms", "accum", "accum_update", "gradient_squared_accumulator"):
                made[arg.name] = made[arg.name] ** 2 + np.float32(4.0 if arg.name == "ms" else 0.1)
    return made


def variants(spec):
    flags = [attr.name for attr in spec.attrs if attr.name in FLAGS]
    return [{}, *({flag: value} for flag in flags for value in (True, False))]


def apply_here(spec, values, attrs):
    if spec.name.startswith("Resource"):
        return applied(getattr(raw, spec.name), values, attrs, True)
    tf.reset_default_graph()
    refs = {arg.name: tf.Variable(values[arg.name]) for arg in spec.inputs if arg.is_ref}
    op = getattr(raw, spec.name)(**{**values, **refs}, **attrs)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = sess.run(op)
        return [out, *sess.run(list(refs.values()))]


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("name", APPLY)
def test_training_ops(name, mode, oracle, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    spec = registry.OPS[name]
    values = arguments(spec, np.random.default_rng(1))
    code = f"""
by_handle = "{name}".startswith("Resource")
refs = {{k: tf.Variable(values[k], use_resource=by_handle) for k in refs}}
op = tf.raw_ops.{name}(**{{**values, **{{k: v.handle if by_handle else v for k, v in refs.items()}}}}, **attrs)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    out = sess.run(op)
    result = [out, *sess.run(list(refs.values()))][by_handle:]
"""
    for attrs in variants(spec):
        want = oracle(code, values=values, attrs=attrs, refs=[arg.name for arg in spec.inputs if arg.is_variable])
        for got, expected in zip(apply_here(spec, values, attrs), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=3e-6, atol=1e-7, err_msg=str(attrs))


ORDER = """
v = tf.Variable([1.0, 2.0], name="v")
count = tf.Variable(0)
add = v.assign_add([1.0, 1.0])
with tf.control_dependencies([add]):
    late = [v + 0.0, v.read_value(), tf.identity(v)]
before = v * 1.0
with tf.control_dependencies([before]):
    after = v.assign_add([10.0, 10.0])
double = tf.assign_add(count, 1) * 2
chain = tf.assign(v, tf.assign_add(v, [1.0, 1.0]) * 2.0)
fetches = [*late, [before, after], double, chain, v, [add, late[0]]]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(f) for _ in range(3) for f in fetches]
"""


@pytest.mark.parametrize("mode", ["never", "always", "second"])
def test_reads_and_writes_keep_the_order_of_tensorflow(mode, oracle, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    scope = {"tf": tf}
    exec(ORDER, scope)
    np.testing.assert_equal(scope["result"], oracle(ORDER))


def test_old_values_are_all_read_before_a_swap():
    a, b = tf.Variable([1.0]), tf.Variable([2.0])
    olds = [a * 1.0, b * 1.0]
    with tf.control_dependencies(olds):
        swap = tf.group(tf.assign(a, olds[1]), tf.assign(b, olds[0]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for want in ([[2.0], [1.0]], [[1.0], [2.0]], [[2.0], [1.0]]):
            sess.run(swap)
            assert [v.tolist() for v in sess.run([a, b])] == want


@pytest.mark.parametrize("mode", ["never", "always"])
def test_updates_of_uninitialised_variables(mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.Session() as sess:
        with pytest.raises(errors.FailedPreconditionError, match="v"):
            sess.run(v.assign_add([1.0, 1.0]))
        assert sess.run(v.assign([3.0, 4.0])).tolist() == [3, 4]


@pytest.mark.parametrize("make", [
    lambda v: raw.ApplyGradientDescent(v, 0.1, [1.0, 2.0, 3.0]),
    lambda v: raw.ApplyGradientDescent(v, [0.1], [1.0, 2.0]),
    lambda v: tf.assign_add(v, 1.0), lambda v: tf.assign_sub(v, [1.0])])
def test_shapes_must_agree(make):
    v = tf.Variable([1.0, 2.0])
    count = len(tf.get_default_graph().get_operations())
    with pytest.raises(ValueError):
        make(v)
    made = tf.get_default_graph().get_operations()[count:]
    assert all(op.type == "Const" for op in made)


def test_a_value_of_another_shape_at_run_time():
    v, x = tf.Variable([1.0, 2.0], name="v"), tf.placeholder(tf.float32)
    add = v.assign_add(x)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(2):
            with pytest.raises(errors.InvalidArgumentError, match="AssignAdd"):
                sess.run(add, {x: [1.0, 2.0, 3.0]})
        assert sess.run(add, {x: [1.0, 1.0]}).tolist() == [2, 3]


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("value", [np.float16(2), np.complex64(2j), np.bool_(True), b"text"])
def test_fetching_variables_of_any_dtype(value, mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    v, w = tf.Variable(value), tf.Variable([1.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(2):
            assert sess.run(v) == value
            assert sess.run([v, w * 2.0, w]) == [value, 2, 1]


def test_dtypes():
    for dtype in ("int32", "int64", "float64", "uint8"):
        v = tf.Variable([1, 2], dtype=dtype)
        with tf.Session() as sess:
            sess.run(v.initializer)
            assert sess.run(v.assign_add([3, 4])).dtype == dtype
            assert sess.run(v.assign_sub([1, 1])).tolist() == [3, 5]
    text = tf.Variable(["a", "b"])
    with tf.Session() as sess:
        sess.run(text.initializer)
        assert sess.run(text.assign(["c", "dd"])).tolist() == [b"c", b"dd"]
