"""Reads of state in loops that write to it: as TensorFlow with reference variables, interpreted and compiled."""
from __future__ import annotations

import inspect
import os

import numpy as np
import pytest

import tfnb as tf
from tests.runtime import random_loops
from tfnb.core.options import options

# Each makes `fetches`; `after(waits, fn)` makes something that waits.
START = """
def after(waits, fn):
    with tf.control_dependencies(waits):
        return fn()
"""

PROGRAMS = {
    "read_in_the_body": """
v = tf.Variable(1.0, use_resource=resource)
i = tf.while_loop(lambda i: i < 4, lambda i: after([tf.assign(v, v * 2)], lambda: i + 1), [0])
fetches = [i, after([i], lambda: v * 1.0)]
""",
    "read_in_the_condition": """
v = tf.Variable(3.0, use_resource=resource)
i = tf.while_loop(lambda i: after([i], lambda: v * 1.0) > 0, lambda i: after([tf.assign_sub(v, 1.0)], lambda: i + 1),
                  [0], maximum_iterations=20)
left = after([i], lambda: v * 1.0)
fetches = [i, left, after([left], lambda: tf.assign(v, 3.0))]
""",
    "the_variable_is_the_condition": """
v = tf.Variable(True)
i = tf.while_loop(lambda i: v, lambda i: after([tf.assign(v, i < 5)], lambda: i + 1), [0])
fetches = [i, after([i], lambda: tf.assign(v, True))]
""",
    "gradient_descent": """
x = tf.Variable(5.0)
def body(i):
    step = tf.assign_sub(x, 0.1 * tf.gradients(x * x, x)[0])
    return after([step], lambda: i + 1)
i = tf.while_loop(lambda i: i < 5, body, [0])
fetches = [after([i], lambda: x * 1.0)]
""",
    "optimizer_with_slots": """
x = tf.Variable([5.0, 1.0])
adam = tf.train.AdamOptimizer(0.1)
warm = adam.apply_gradients([(tf.zeros([2]), x)])
def body(i, s):
    step = adam.apply_gradients([(x * tf.gather(x, [1, 0]), x)])
    return after([step], lambda: (i + 1, s + adam.get_slot(x, "v") + x))
i, s = tf.while_loop(lambda i, s: i < 5, body, [0, tf.zeros([2])], parallel_iterations=1)
fetches = [i, s, after([i, s], lambda: x * 1.0)]
""",
    "gather_and_scatter": """
v = tf.Variable([1.0, 0, 0, 0, 0])
body = lambda i: after([tf.scatter_update(v, [i + 1], [tf.gather(v, i) * 2])], lambda: i + 1)
i = tf.while_loop(lambda i: i < 4, body, [0])
fetches = [after([i], lambda: v * 1.0)]
""",
    "scan_and_map": """
v, w = tf.Variable(0.0), tf.Variable(0.0)
xs = tf.constant([1.0, 2.0, 3.0])
fetches = [tf.scan(lambda a, x: after([after([a], lambda: tf.assign_add(v, x))], lambda: v + 0.5), xs, 0.0),
           tf.map_fn(lambda x: after([tf.assign_add(w, x)], lambda: w * 2.0), xs, parallel_iterations=1)]
""",
    "parts_of_a_variable": """
v = tf.Variable([1.0, 2.0, 3.0])
body = lambda i: after([v[i].assign(tf.reduce_sum(v))], lambda: i + 1)
i = tf.while_loop(lambda i: i < 3, body, [0])
fetches = [after([i], lambda: v * 1.0)]
""",
    "counting": """
n = tf.Variable(0)
def body(i, s):
    step = after([s], lambda: n.count_up_to(100))
    return after([step], lambda: (i + 1, s * 10 + n))
i, s = tf.while_loop(lambda i, s: i < 4, body, [0, 0])
fetches = [i, s]
""",
    "a_look_from_outside_in_another_shape": """
v = tf.Variable([[1.0, 2.0]])
look = tf.squeeze(tf.reshape(tf.identity(v), [2, 1]), [1])
def body(i, s):
    step = after([s], lambda: tf.assign(v, v + 1))
    return after([step], lambda: (i + 1, s * 10 + look))
i, s = tf.while_loop(lambda i, s: i < 3, body, [0, tf.zeros([2])])
fetches = [i, s]
""",
    "inner_loops_and_branches": """
v = tf.Variable(1.0)
def inner(j):
    step = lambda: after([tf.assign(v, v * 2)], lambda: j + 1)
    return tf.cond(v < 40.0, step, lambda: after([tf.assign_sub(v, 37.0)], lambda: j + 1))
def body(i, s):
    j = after([i], lambda: tf.while_loop(lambda j: v + tf.to_float(j) < 60.0, inner, [0], maximum_iterations=4))
    total = after([j], lambda: s * 100 + v)
    return after([total], lambda: i + 1), total
i, s = tf.while_loop(lambda i, s: i < 3, body, [0, 0.0])
fetches = [i, s, after([i, s], lambda: v * 1.0)]
""",
    "written_in_an_inner_loop_read_in_the_outer_condition": """
v = tf.Variable(0.0)
def body(i):
    j = after([i], lambda: tf.while_loop(lambda j: j < 2, lambda j: after([tf.assign_add(v, 1.0)], lambda: j + 1), [0]))
    return i + j
i = tf.while_loop(lambda i: tf.logical_and(v < 9.0, i < 100), body, [0])
fetches = [i, after([i], lambda: tf.assign(v, 0.0))]
""",
    "a_loop_variable_that_is_a_variable_at_first": """
v = tf.Variable(1.0)
def body(i, x):
    y = after([tf.assign_add(v, 1.0)], lambda: x + 1.0)
    return after([y], lambda: i + 1), y
fetches = list(tf.while_loop(lambda i, x: i < 3, body, [0, v]))
""",
    "a_loop_variable_that_becomes_a_variable": """
v = tf.Variable(1.0)
def body(i, x, y):
    step = after([y], lambda: tf.assign_add(v, 1.0))
    return after([step], lambda: (i + 1, step, y + x * 10))
fetches = list(tf.while_loop(lambda i, x, y: i < 3, body, [0, 0.0, 0.0]))
""",
    "a_loop_variable_that_stays_a_variable": """
v = tf.Variable(1.0)
def body(i, x, y):
    step = after([y], lambda: tf.assign_add(v, 1.0))
    return after([step], lambda: (i + 1, x, y * 10 + x))
fetches = list(tf.while_loop(lambda i, x, y: i < 3, body, [0, v, 0.0]))
""",
    "a_queue_in_the_condition": """
q = tf.FIFOQueue(20, [tf.int32], [[]])
i = tf.while_loop(lambda i: after([i], q.size) < 5, lambda i: after([q.enqueue(i)], lambda: i + 1), [0])
fetches = [i, after([i], lambda: q.dequeue_many(5))]
""",
    "elements_of_an_array_that_are_the_variable": """
v = tf.Variable([1.0, 2.0])
def body(i, ta):
    ta = after([ta.flow], lambda: ta.write(i, v))
    step = after([ta.flow], lambda: tf.assign_add(v, [1.0, 1.0]))
    return after([step], lambda: i + 1), ta.identity()
i, ta = tf.while_loop(lambda i, ta: i < 6, body, [0, tf.TensorArray(tf.float32, 6)])
fetches = [i, after([i], ta.stack)]
""",
    "elements_of_an_array_that_are_copies": """
v = tf.Variable([1.0, 2.0, 3.0])
ta = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(v.read_value())
other = tf.TensorArray(tf.float32, 2, infer_shape=False).split(v.read_value(), [1, 2])
step = after([ta.flow, other.flow], lambda: tf.assign_add(v, [1.0, 1.0, 1.0]))
fetches = [after([step], lambda: ta.read(1)), after([step], ta.stack), after([step], other.concat)]
""",
    "written_before_the_loop_behind_a_host_call": """
v = tf.Variable(1.0)
before = tf.py_func(lambda x: x, [v * 3], tf.float32)
step = after([before], lambda: tf.assign_add(v, 5.0))
i, x = after([step], lambda: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + v), [0, 0.0]))
fetches = [before, i, x]
""",
    "without_a_loop": """
v, n = tf.Variable([1.0, 2.0, 3.0]), tf.Variable(0)
before = tf.exp(v) * tf.to_float(n)
steps = after([before], lambda: [v[0].assign(5.0), n.count_up_to(100)])
y = after(steps, lambda: v * 1.0)
z = after([after([y], lambda: v[:2].assign(y[:2] + 1))], lambda: v * 1.0)
fetches = [y, z, *steps[1:], after(steps, lambda: n * 1)]
""",
}

RUN = """
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    if "warm" in scope:
        session.run(scope["warm"])
    result.append([session.run(scope["fetches"]) for _ in range(4)])
"""

ALL = """
result = []
for code in programs:
    tf.reset_default_graph()
    scope = {"tf": tf, "np": np, "resource": False}
    exec(code, scope)
""" + RUN.replace("\n", "\n    ")

SEEDS = [1, 4, 8, 14, 19, 23, 32, 45]


def run(code):
    scope = {"tf": tf, "np": np, "programs": code}
    exec(ALL, scope)
    return scope["result"]


def check(got, want):
    for one, other in zip(got, want, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_as_interpreted(name, monkeypatch):
    found = []
    for mode in ("never", "second", "always"):
        monkeypatch.setattr(options, "compile", mode)
        found += run([START + PROGRAMS[name]])
    check(found[0], found[1])
    check(found[0], found[2])


def test_as_tensorflow(oracle):
    programs = [START + code for code in PROGRAMS.values()]
    for name, got, want in zip(PROGRAMS, run(programs), oracle(ALL, programs=programs), strict=True):
        try:
            check(got, want)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def test_resource_variables_too():
    for name in ("read_in_the_body", "read_in_the_condition"):
        code = START + "resource = True\n" + PROGRAMS[name]
        check(*run([code, START + PROGRAMS[name]]))


def test_a_fed_variable_is_no_look():
    v = tf.Variable(1.0)
    with tf.control_dependencies([tf.assign_add(tf.Variable(0.0), 1.0)]):
        loop = tf.while_loop(lambda i: i < v * 3.0, lambda i: i + v, [0.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            assert session.run(loop, {v.value(): 2.0}) == 6.0
            assert session.run(loop) == 3.0


def seeds():
    return range(200) if os.environ.get("TFNB_STRESS") else SEEDS[::2]


def test_random_programs_as_tensorflow(oracle):
    code = inspect.getsource(random_loops).replace("from __future__ import annotations", "") + """
result = [run(tf, seed) for seed in seeds]
"""
    for seed, want in zip(seeds(), oracle(code, seeds=list(seeds())), strict=True):
        assert_same(random_loops.run(tf, seed), want, seed)


@pytest.mark.parametrize("seed", SEEDS[1::3])
def test_random_programs_interpreted(seed, monkeypatch):
    found = random_loops.run(tf, seed)
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        assert_same(random_loops.run(tf, seed), found, seed)


def assert_same(got, want, seed):
    for one, other in zip(got, want, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b, f"seed {seed}")
