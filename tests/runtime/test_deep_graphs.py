"""Long chains and long lists of inputs: no recursion, no step that takes the square of their length."""
import os

import numpy as np
import pytest

import tfnb as tf
from tfnb.compile.planning import reads
from tfnb.graph.parts.constant_value import constant_value
from tfnb.ops.declaration.raw import raw

LONG = 50_000 if os.environ.get("TFNB_STRESS") == "1" else 1_000


@pytest.mark.parametrize("count", [31, 32, 33, 63, 64, 3_000, *([30_000] if LONG == 50_000 else [])])
def test_add_n_of_any_number(count):
    xs = [tf.placeholder(tf.float32, [2]) for _ in range(count)]
    total = tf.add_n(xs)
    grads = tf.gradients(total, [xs[0], xs[-1]], grad_ys=tf.constant([2.0, 3.0]))
    given = {x: [i, 1] for i, x in enumerate(xs)}
    with tf.Session() as sess:
        for _ in range(3):
            value, first, last = sess.run([total, *grads], given)
            np.testing.assert_allclose(value, [count * (count - 1) / 2, count], rtol=1e-6)
            assert first.tolist() == last.tolist() == [2, 3]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8", "complex64"])
def test_add_n_adds_in_one_order_in_all_runs(dtype):
    values = np.random.default_rng(3).integers(-50, 50, (100, 7)) / (4 if dtype[0] in "fb" else 1)
    xs = [tf.placeholder(dtype, [7]) for _ in values]
    total = tf.add_n(xs)
    given = {x: v.astype(tf.as_dtype(dtype).as_numpy_dtype) for x, v in zip(xs, values, strict=True)}
    with tf.Session() as sess:
        first, second = (sess.run(total, given) for _ in range(2))
    assert first.dtype == second.dtype == tf.as_dtype(dtype).as_numpy_dtype
    assert first.tobytes() == second.tobytes()


def test_an_operand_used_thousands_of_times_has_one_gradient():
    x = tf.placeholder(tf.float32, [2])
    grad = tf.gradients([x * 2.0 for _ in range(LONG)], x)[0]
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run(grad, {x: [1, 2]}).tolist() == [2 * LONG, 2 * LONG]


@pytest.mark.parametrize("step", [tf.identity, lambda y: tf.reshape(y, [3]), lambda y: y + 1.0 - 1.0, tf.abs,
                                  lambda y: y + 0.0 * tf.reduce_sum(y)])
def test_long_chains_run_have_gradients_and_travel(step):
    x = tf.placeholder(tf.float32, [3], name="x")
    y = x
    for _ in range(LONG // 5):
        y = step(y)
    y = tf.identity(y, name="y")
    grad = tf.gradients(y, x)[0]
    with tf.Session() as sess:
        for _ in range(3):
            assert [v.tolist() for v in sess.run([y, grad], {x: [1, 2, 3]})] == [[1, 2, 3], [1, 1, 1]]
    exported = tf.get_default_graph().as_graph_def()
    small = tf.graph_util.extract_sub_graph(exported, ["y"])
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(small, name="")
        assert sess.run("y:0", {"x:0": [1, 2, 3]}).tolist() == [1, 2, 3]


def test_a_chain_of_reshapes_is_walked_once(monkeypatch):
    x = tf.placeholder(tf.string, [])
    y = x
    for _ in range(200):
        y = tf.identity(y)
    steps = []
    refers = reads.refers
    monkeypatch.setattr(reads, "refers", lambda t: steps.append(t) or refers(t))
    with tf.Session() as sess:
        assert sess.run(tf.string_join([y, "!"]), {x: b"a"}) == b"a!"
    assert len(steps) < 1000                            # 20,100 where each walks back to the placeholder


def test_a_wait_for_thousands_of_ops():
    last = tf.no_op()
    for _ in range(LONG):
        with tf.control_dependencies([last]):
            last = tf.no_op()
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run(last) is None


@pytest.mark.parametrize("join", [lambda xs: tf.concat(xs, 0), tf.stack])
def test_joining_thousands(join):
    xs = [tf.placeholder(tf.float32, [2]) for _ in range(LONG // 2)]
    joined = join(xs)
    grads = tf.gradients(joined * tf.reshape(tf.range(0.0, LONG), tf.shape(joined)), xs)
    with tf.Session() as sess:
        for _ in range(3):
            value, first, last = sess.run([joined, grads[0], grads[-1]], {x: [1, 2] for x in xs})
            assert value.sum() == 3 * (LONG // 2)
            assert first.tolist() == [0, 1] and last.tolist() == [LONG - 2, LONG - 1]


def test_parting_into_thousands():
    x = tf.placeholder(tf.float32, [LONG // 5, 2])
    parts = [p * float(i) for i, p in enumerate(tf.split(x, LONG // 5))]
    grad = tf.gradients(parts, x)[0]
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run(grad, {x: np.ones((LONG // 5, 2))})[:, 1].tolist() == list(range(LONG // 5))


def test_the_values_of_an_op_with_many_outputs_follow_the_graph():
    sizes = [tf.constant([n, 2]) for n in range(1, 13)]
    offsets = raw.ConcatOffset(tf.constant(0), sizes)
    assert [constant_value(t).tolist() for t in offsets[:3]] == [[0, 0], [1, 0], [3, 0]]
    offsets[0].op._update_input(1, tf.constant([5, 2]))
    assert [constant_value(t).tolist() for t in offsets[:3]] == [[0, 0], [5, 0], [7, 0]]


def test_shape_arithmetic_of_any_length():
    x = tf.placeholder(tf.float32, [None, 3])
    for step in (lambda s: tf.stack([s[0], s[1]]), lambda s: tf.concat([s[:1], s[1:]], 0), tf.identity,
                 lambda s: tf.cast(tf.cast(s, tf.int64), tf.int32)):
        shape = tf.shape(x)
        for _ in range(120):                            # 2 ** 120 steps where both elements look for the same
            shape = step(shape)
        with tf.Session() as sess:
            assert sess.run(tf.reshape(x, shape), {x: np.ones((2, 3))}).shape == (2, 3)
