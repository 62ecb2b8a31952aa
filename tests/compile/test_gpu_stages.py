"""How a plan falls into stages where some ops are for a GPU. No GPU is needed to plan for one."""
from __future__ import annotations

import pytest

import tfnb as tf
from tfnb.compile.planning.placement import has_gpu_kernel
from tfnb.compile.planning.structure import build


def on_gpu(op):
    """Those that are named so, if there are kernels for them."""
    return op.name.startswith("gpu") and has_gpu_kernel(op)


def stages(fetches, feeds, targets=()):
    """The place of each stage, and the names of its ops without constants and variables."""
    plan = build(fetches, targets, feeds, on_gpu)
    leaves = ("Const", "VariableV2")
    return [("gpu" if s.gpu else "cpu" if s.on_device else "host", [op.name for op in s.ops if op.type not in leaves])
            for s in plan.stages]


def test_chains_that_need_nothing_of_one_another_are_a_stage_each():
    x = tf.placeholder(tf.float32, [2])
    a, b = x, x
    for i in range(3):
        a, b = tf.exp(a, name=f"gpu_{i}"), tf.exp(b, name=f"other_{i}")
    assert stages([a, b], [x]) == [("cpu", ["other_0", "other_1", "other_2"]), ("gpu", ["gpu_0", "gpu_1", "gpu_2"])]


def test_what_goes_back_and_forth_is_cut_at_each_border():
    x = tf.placeholder(tf.float32, [2])
    y = tf.exp(tf.exp(tf.exp(x, name="gpu_a"), name="b"), name="gpu_c")
    assert [place for place, _ in stages([y], [x])] == ["gpu", "cpu", "gpu"]


def test_reads_come_before_updates_on_both_sides():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="gpu_w")
    x = tf.placeholder(tf.float32, [])
    seen = [tf.add(v, x, name="gpu_seen"), tf.add(w, x, name="seen")]
    moved = [tf.assign_add(v, x, name="move"), tf.assign_add(w, x, name="gpu_move")]
    order = [name for _, names in stages([*seen, *moved], [x]) for name in names]
    assert max(order.index(t.op.name) for t in seen) < min(order.index(t.op.name) for t in moved)


def test_what_has_no_kernel_stays_where_it_was():
    x = tf.placeholder(tf.float32, [None])
    text = tf.as_string(tf.exp(x, name="gpu_a"), name="gpu_text")
    places, _ = tf.unique(tf.cast(x, tf.int32, name="gpu_cast"), name="gpu_unique")
    found = stages([text, places], [x])
    assert {name for place, names in found if place == "gpu" for name in names} == {"gpu_a", "gpu_cast"}


def test_arithmetic_of_shapes_needs_no_stage_of_its_own():
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.name_scope("gpu"):
        y = tf.reshape(x, tf.stack([-1, tf.size(tf.range(tf.shape(x)[0]))])) + 1.0
    (place, names), = stages([y], [x])
    assert place == "gpu" and {"gpu/Shape", "gpu/range", "gpu/stack", "gpu/Reshape"} <= set(names)


def test_a_shape_that_depends_on_data_is_for_the_cpu():
    x, n = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [])
    y = tf.reshape(x, tf.stack([-1, tf.cast(n, tf.int32)]), name="gpu_y")
    assert all(place != "gpu" for place, names in stages([y], [x, n]) if "gpu_y" in names)


def test_a_loop_is_for_the_gpu_as_a_whole_or_not_at_all():
    x, flag = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    looped = [tf.while_loop(lambda v: v < 9.0, lambda v: tf.exp(tf.add(v, 1.0, name="gpu_add"), name="exp"), [x],
                            name=name) for name in ("gpu_loop", "mixed")]
    chosen = tf.cond(flag, lambda: tf.exp(x, name="gpu_exp"), lambda: x)
    plan = build([*looped, chosen], [], [x, flag], lambda op: has_gpu_kernel(op) and "gpu" in op.name)
    found = {op.name for op in plan.gpu_ops()}
    assert {"cond/gpu_exp", "gpu_loop/gpu_add", "gpu_loop/exp"} <= found
    assert not any(name.startswith("mixed/") for name in found)


def test_a_loop_with_a_tensorarray_or_a_loop_in_it_is_for_the_cpu():
    x = tf.placeholder(tf.float32, [])
    rows = tf.map_fn(lambda v: v * 2.0, tf.stack([x, x]))
    nested = tf.while_loop(lambda v: v < 9.0, lambda v: tf.while_loop(lambda u: u < v, lambda u: u + 1.0, [v - 3.0]),
                           [x])
    for fetched in (rows, nested):
        plan = build([fetched], [], [x], has_gpu_kernel)
        assert not any(op.type == "Mul" or "while" in op.name for op in plan.gpu_ops())


@pytest.mark.parametrize("types", ["float32", "int64", "bool"])
def test_which_ops_have_kernels(types):
    x = tf.placeholder(types, [2])
    assert has_gpu_kernel(tf.identity(x).op)
    assert not has_gpu_kernel(tf.as_string(x).op) and not has_gpu_kernel(tf.cast(x, tf.complex64).op)
    assert not has_gpu_kernel(tf.assign(tf.Variable(x, validate_shape=False), x, validate_shape=False).op)
