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


def test_loops_are_for_the_cpu_and_branches_are_not():
    x, flag = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    looped = tf.while_loop(lambda v: v < 9.0, lambda v: tf.add(v, 1.0, name="gpu_add"), [x])
    chosen = tf.cond(flag, lambda: tf.exp(x, name="gpu_exp"), lambda: x)
    plan = build([looped, chosen], [], [x, flag], lambda op: has_gpu_kernel(op) and "gpu" in op.name)
    found = {op.name.split("/")[-1] for stage in plan.stages if stage.gpu for op in stage.ops}
    assert "gpu_exp" in found and "gpu_add" not in found


@pytest.mark.parametrize("types", ["float32", "int64", "bool"])
def test_which_ops_have_kernels(types):
    x = tf.placeholder(types, [2])
    assert has_gpu_kernel(tf.identity(x).op)
    assert not has_gpu_kernel(tf.as_string(x).op) and not has_gpu_kernel(tf.cast(x, tf.complex64).op)
    assert not has_gpu_kernel(tf.assign(tf.Variable(x, validate_shape=False), x, validate_shape=False).op)
