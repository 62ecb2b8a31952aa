"""Updates of rows: each scatter op against TensorFlow, interpreted and compiled; duplicates, bad indices, hazards."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
import tfnb.contrib.opt  # noqa: F401  (it declares the steps of all optimizers)
from tests.handles import applied
from tfnb.core.options import options
from tfnb.opdef import kinds, registry
from tfnb.ops.declaration.raw import raw

NUMBERS = {"lr": 0.1, "alpha": 0.1, "momentum": 0.9, "epsilon": 1e-3, "rho": 0.9, "l1": 0.1, "l2": 0.05,
           "l2_shrinkage": 0.2, "lr_power": -0.5, "global_step": 3}
ROOTS = ("ms", "accum", "accum_update", "gradient_squared_accumulator")
SPARSE = sorted(name for name, spec in registry.OPS.items() if isinstance(spec, kinds.Scatter) and "grad" in
                [arg.name for arg in spec.inputs])
FLAGS = ("use_nesterov", "update_slots", "multiply_linear_by_lr")


@pytest.fixture(params=["never", "always"])
def mode(request, monkeypatch):
    monkeypatch.setattr(options, "compile", request.param)
    return request.param


def arguments(spec, dtype, random):
    made = {}
    for arg in spec.inputs:
        if arg.name in NUMBERS:
            made[arg.name] = np.asarray(NUMBERS[arg.name], np.int64 if arg.name == "global_step" else dtype)
        elif arg.name == "indices":
            made[arg.name] = np.array([4, 0, 2], np.int32 if dtype == "float32" else np.int64)
        else:
            made[arg.name] = random.normal(size=(5, 3) if arg.is_variable else (3, 3)).astype(dtype)
            if arg.name in ROOTS:
                made[arg.name] = made[arg.name] ** 2 + (4 if arg.name == "ms" else 1)
    return made


def variants(spec):
    names = [attr.name for attr in spec.attrs]
    found = [{}, *({flag: True} for flag in FLAGS if flag in names)]
    return found + [{"update_slots": False}] * ("update_slots" in names)


def run_here(name, values, refs, attrs):
    if name.startswith("Resource"):
        return applied(getattr(raw, name), values, attrs, True)
    tf.reset_default_graph()
    held = {key: tf.Variable(values[key]) for key in refs}
    op = getattr(raw, name)(**{**values, **held}, **attrs)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(op), *sess.run(list(held.values()))]


THERE = """
held = {k: tf.Variable(values[k], use_resource=name.startswith("Resource")) for k in refs}
op = getattr(tf.raw_ops, name)(**{**values, **{k: getattr(v, "handle", v) for k, v in held.items()}}, **attrs)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(op), *sess.run(list(held.values()))][name.startswith("Resource"):]
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_training_ops(name, dtype, mode, oracle):
    spec = registry.OPS[name]
    values = arguments(spec, dtype, np.random.default_rng(1))
    refs = [arg.name for arg in spec.inputs if arg.is_variable]
    powers = [-0.5, -0.8] if "lr_power" in values else [None]
    for attrs in variants(spec):
        for power in powers:
            if power is not None:
                values["lr_power"] = np.asarray(power, dtype)
            want = oracle(THERE, name=name, values=values, refs=refs, attrs=attrs)
            for got, expected in zip(run_here(name, values, refs, attrs), want, strict=True):
                np.testing.assert_allclose(got, expected, rtol=3e-6 if dtype == "float32" else 1e-13,
                                           atol=3e-7 if dtype == "float32" else 1e-14, err_msg=str(attrs))


ROWS = ["Update", "Add", "Sub", "Mul", "Div", "Min", "Max"]
CASES = {
    "repeated rows": ([1, 3, 1, 1], (4, 3)), "a scalar": ([1, 3, 1], ()), "no index": (np.zeros([0], "i"), (0, 3)),
    "indices of two axes": ([[1, 2], [1, 4]], (2, 2, 3)), "one index": (2, (3,)), "64-bit": (np.array([4, 4]), (2, 3)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "float16", "complex64"])
@pytest.mark.parametrize("what", ROWS)
def test_rows(what, dtype, mode, oracle):
    if what in ("Min", "Max") and dtype in ("uint8", "complex64"):
        pytest.skip("not of this dtype")
    random = np.random.default_rng(2)
    ref = random.integers(1, 9, (5, 3)).astype(dtype)
    for indices, shape in CASES.values():
        indices = np.array(indices, np.int32) if not isinstance(indices, np.ndarray) else indices
        values = {"ref": ref, "indices": indices, "updates": random.integers(1, 5, shape).astype(dtype)}
        want = oracle(THERE, name=f"Scatter{what}", values=values, refs=["ref"], attrs={})
        for got, expected in zip(run_here(f"Scatter{what}", values, ["ref"], {}), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6)


VECTORS = {
    "elements": ([[1, 2], [0, 0], [1, 2]], (3,)), "rows": ([[1], [3], [1]], (3, 3)),
    "none": (np.zeros([0, 2], "i"), (0,)), "two axes": ([[[1, 0], [4, 2]]], (1, 2)),
}


@pytest.mark.parametrize("what", ["Update", "Add", "Sub", "Min", "Max"])
def test_vectors(what, mode, oracle):
    random = np.random.default_rng(3)
    ref = random.normal(size=(5, 3)).astype("f")
    for indices, shape in VECTORS.values():
        values = {"ref": ref, "indices": np.array(indices, np.int32), "updates": random.normal(size=shape).astype("f")}
        want = oracle(THERE, name=f"ScatterNd{what}", values=values, refs=["ref"], attrs={})
        for got, expected in zip(run_here(f"ScatterNd{what}", values, ["ref"], {}), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_many_rows_and_columns(dtype, mode):
    random = np.random.default_rng(4)
    ref, ids = np.zeros((50, 300), dtype), random.integers(0, 50, 2000)
    updates = random.integers(-9, 9, (2000, 300)).astype(dtype)
    want = ref.copy()
    np.add.at(want, ids, updates)
    got = run_here("ScatterAdd", {"ref": ref, "indices": ids, "updates": updates}, ["ref"], {})
    np.testing.assert_array_equal(got[1], want)


def test_bad_indices_write_nothing(mode):
    v = tf.Variable(np.arange(6.0).reshape(3, 2))
    ids, pairs = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None, 2])
    rows, points = tf.scatter_add(v, ids, 1.0), tf.scatter_nd_add(v, pairs, [1.0, 1.0])
    empty = tf.Variable(np.zeros((3, 0)))
    nothing = tf.scatter_add(empty, ids, np.zeros((2, 0)))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for bad in (3, -1):
            for op in (rows, nothing):
                with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[1\] = {bad} is not in \[0, 3\)"):
                    sess.run(op, {ids: [0, bad]})
            with pytest.raises(tf.errors.InvalidArgumentError, match="index into"):
                sess.run(points, {pairs: [[0, 0], [0, bad]]})
        assert sess.run(v).tolist() == [[0, 1], [2, 3], [4, 5]]
        assert sess.run(rows, {ids: [0, 0, 2]}).tolist() == [[2, 3], [2, 3], [5, 6]]


def test_what_it_writes_from_its_own_memory(mode):
    v = tf.Variable([1.0, 2.0, 3.0])
    ids = tf.Variable([1, 2, 0])
    turned, moved = tf.scatter_update(v, ids, v), tf.scatter_update(ids, ids, [5, 6, 7])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(turned).tolist() == [3, 1, 2]
        assert sess.run(moved).tolist() == [7, 5, 6]


def test_order_of_reads_and_writes(mode, oracle):
    code = """
v = tf.Variable([1.0, 2.0, 3.0])
before = v * 1.0
with tf.control_dependencies([before]):
    add = tf.scatter_add(v, [0, 0, 2], [1.0, 1.0, 1.0])
after = add * 10.0
with tf.control_dependencies([after]):
    last = v.assign_sub([1.0, 1.0, 1.0])
twice = tf.scatter_mul(tf.scatter_add(v, [1], [1.0]), [1, 1], 2.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result = [sess.run(f) for _ in range(3) for f in ([before, after], [before, last], twice, v)]
"""
    scope = {"tf": tf}
    exec(code, scope)
    np.testing.assert_equal(scope["result"], oracle(code))


def test_uninitialised(mode):
    v = tf.Variable([1.0], name="v")
    add = tf.scatter_add(v, [0], [1.0])
    with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError, match="v"):
        sess.run(add)


def test_strings():
    v = tf.Variable(["a", "b"])
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(tf.scatter_update(v, [1], ["xyz"])).tolist() == [b"a", b"xyz"]


@pytest.mark.parametrize("make, error", [
    (lambda v: tf.scatter_add(v, [0], [[1.0, 2.0, 3.0]]), ValueError),
    (lambda v: tf.scatter_add(v, [0, 1], [[1.0, 2.0]]), ValueError),
    (lambda v: tf.scatter_nd_add(v, [[0, 0, 0]], [1.0]), ValueError),
    (lambda v: tf.scatter_add(tf.constant([1.0]), [0], 1.0), TypeError),
    (lambda v: tf.scatter_add(v, [0.5], 1.0), TypeError),
    (lambda v: v.scatter_sub([1.0]), TypeError),
    (lambda v: raw.SparseApplyAdagrad(v, v, [1.0], [[1.0, 2.0]], [0]), ValueError),
    (lambda v: raw.SparseApplyAdagrad(v, v, 1.0, [[1.0, 2.0]], [[0]]), ValueError),
])
def test_errors(make, error):
    with pytest.raises(error):
        make(tf.Variable([[1.0, 2.0], [3.0, 4.0]]))


METHODS = """
v = tf.Variable([[8.0, 8.0], [4.0, 4.0], [2.0, 2.0]], name="v")
delta = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 0]))
ops = [getattr(v, "scatter_" + name)(delta) for name in ("sub", "add", "max", "min", "mul", "div", "update")]
ops += [getattr(v, "scatter_nd_" + name)([[0, 1], [2, 0]], [1.0, 2.0]) for name in ("sub", "add", "update")]
ops.append(v.batch_scatter_update(tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([[1], [0], [1]]))))
ops.append(tf.batch_scatter_update(v, tf.constant([[1], [0], [1]]), tf.constant([[5.0], [6.0], [7.0]])))
with tf.Session() as sess:
    sess.run(v.initializer)
    values = [sess.run(op) for op in ops]
    values.append(sess.run(v))
"""


def test_methods_of_variables(oracle):
    scope = {"tf": tf}
    exec(METHODS, scope)
    want = oracle(METHODS + "names = [op.name for op in tf.get_default_graph().get_operations()]\n"
                            "result = values, names")
    np.testing.assert_equal(scope["values"], want[0])
    assert [op.name for op in tf.get_default_graph().get_operations()] == want[1]
