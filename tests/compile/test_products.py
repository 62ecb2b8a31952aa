"""Products of matrices in programs: epilogues, sums, transposed operands; and what must stop them."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests import processors
from tfnb.compile import epilogues
from tfnb.core.options import options
from tfnb.kernels.cpu.matmul import tiled
from tfnb.kernels.llvm import microkernel
from tfnb.kernels.llvm.tape import Tape
from tfnb.ops.declaration.raw import raw
from tfnb.runtime.runners.loops import LoopRunner

pytestmark = pytest.mark.skipif(microkernel.machine() is None, reason="tiles need fused multiply-add")


@pytest.fixture(autouse=True)
def tiles_for_small_products(monkeypatch):
    monkeypatch.setattr(tiled, "LEAST_WORK", 0)
    monkeypatch.setattr(tiled, "PARALLEL_FLOPS", 20_000)
    monkeypatch.setattr(tiled, "ITEM_FLOPS", 10_000)


def random(*shape, seed=0):
    return np.random.RandomState(seed + sum(shape)).randn(*shape).astype("f")


def kernels(text):
    return [line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("kernel")]


def check(monkeypatch, fetches, feed=None, runs=3, tolerance=1e-4):
    """Interpreted and compiled runs give the same, with one thread and with two bit for bit; the kernels' names."""
    found = {}
    for mode, threads in (("never", 1), ("always", 1), ("always", 2)):
        monkeypatch.setattr(options, "compile", mode)
        monkeypatch.setattr(options, "threads", threads)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            results = [sess.run(fetches, feed) for _ in range(runs)]
            found[mode, threads] = [np.copy(x) for result in [*results, sess.run(tf.global_variables())] for x in result
                                    if x is not None]
            text = tf.explain(fetches, feed, sess)
    for want, one, two in zip(*found.values(), strict=True):
        np.testing.assert_allclose(one, want, rtol=tolerance, atol=tolerance)
        np.testing.assert_array_equal(one, two)
    return kernels(text)


@pytest.mark.parametrize("m, n", [(40, 64), (100, 24), (96, 512), (64, 13)])
def test_bias_and_activation_follow(m, n, monkeypatch):
    x, w, b = tf.placeholder(tf.float32, [None, 30]), tf.Variable(random(30, n)), tf.Variable(random(n))
    found = check(monkeypatch, [tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))], {x: random(m, 30)})
    assert found == ["MatMul+BiasAdd+Relu"]


def test_updates_of_long_products_have_a_launch_of_their_own(monkeypatch):
    """It is never cut in two by an interrupt, the product may be."""
    x, v = tf.placeholder(tf.float32, [40, 30]), tf.Variable(random(40, 64))
    up = v.assign_sub(tf.matmul(x, tf.constant(random(30, 64))) * 0.1)
    assert len(check(monkeypatch, [up.op], {x: random(40, 30)})) == 1
    monkeypatch.setattr(epilogues, "MOST_WHOLE", 40 * 30 * 64)
    assert len(check(monkeypatch, [up.op], {x: random(40, 30)})) == 2


def test_the_product_is_kept_where_others_read_it(monkeypatch):
    x = tf.placeholder(tf.float32, [40, 30])
    y = tf.matmul(x, tf.constant(random(30, 64)))
    found = check(monkeypatch, [y, tf.tanh(y), tf.matmul(y, tf.constant(random(64, 32)))], {x: random(40, 30)})
    assert found == ["MatMul+Tanh", "MatMul"] or found == ["MatMul", "MatMul+Tanh"]


def test_several_outputs_and_other_types(monkeypatch):
    x = tf.placeholder(tf.float32, [40, 30])
    y = tf.matmul(x, tf.constant(random(30, 64)))
    assert check(monkeypatch, [y > 0.0, tf.cast(y, tf.float64), y * 2.0], {x: random(40, 30)}) == [
        "MatMul+Greater+Cast+Mul"]


@pytest.mark.parametrize("optimizer", [tf.train.AdamOptimizer(0.01), tf.train.GradientDescentOptimizer(0.01),
                                       tf.train.MomentumOptimizer(0.01, 0.9)])
def test_updates_follow_the_gradient_of_weights(optimizer, monkeypatch):
    x, y = tf.placeholder(tf.float32, [None, 40]), tf.placeholder(tf.float32, [None, 32])
    h = x
    for i, size in enumerate((96, 64, 32)):
        w, b = tf.Variable(random(int(h.shape[1]), size) * 0.1), tf.Variable(random(size))
        h = tf.matmul(h, w) + b if i == 2 else tf.nn.relu(tf.matmul(h, w) + b)
    loss = tf.reduce_mean(tf.square(h - y))
    train = optimizer.minimize(loss)
    found = check(monkeypatch, [loss, train], {x: random(48, 40), y: random(48, 32)})
    assert sum(name.startswith("MatMul+Apply") for name in found) == 3


def test_an_update_of_an_operand_does_not_follow(monkeypatch):
    v, w = tf.Variable(random(48, 48) * 0.1), tf.Variable(random(48, 48) * 0.1)
    found = check(monkeypatch, [tf.assign_add(v, tf.matmul(v, w)), tf.assign_sub(w, tf.matmul(w, w, transpose_b=True))])
    assert not any(name.startswith("MatMul+") for name in found)


def test_a_product_does_not_wait_beyond_an_update_of_its_operand(monkeypatch):
    v = tf.Variable(random(48, 48) * 0.1)
    y = tf.matmul(tf.constant(random(48, 48)), v)
    with tf.control_dependencies([y]):
        changed = tf.assign(v, v * 2.0)
    with tf.control_dependencies([changed]):
        z = tf.tanh(y) + v.read_value()
    check(monkeypatch, [z, changed])


def test_sums_of_products_become_one(monkeypatch):
    w = tf.Variable(random(36, 64) * 0.1)
    xs = [tf.placeholder(tf.float32, [24, 36]) for _ in range(5)]
    products = [tf.matmul(x, w) for x in xs]
    feed = {x: random(24, 36, seed=i) for i, x in enumerate(xs)}
    assert check(monkeypatch, [tf.add_n(products)], feed) == ["MatMul+AddN"]
    chain = products[0] + products[1] + products[2]
    assert check(monkeypatch, [tf.nn.relu(chain + random(64))], feed) == ["MatMul+AddV2+Relu"]
    twice = tf.add_n([products[0], products[0], products[1]])
    assert len(check(monkeypatch, [twice], feed)) > 1
    assert len(check(monkeypatch, [tf.add_n(products), products[3]], feed)) > 1
    narrow = tf.placeholder(tf.float32, [24, 8])
    unequal = products[0] + tf.matmul(narrow, tf.constant(random(8, 64)))
    assert len(check(monkeypatch, [unequal], {**feed, narrow: random(24, 8)})) == 2


def test_a_term_does_not_wait_beyond_an_update_of_its_operand(monkeypatch):
    v = tf.Variable(random(48, 48) * 0.1)
    c = tf.constant(random(48, 48))
    first = tf.matmul(c, v)
    with tf.control_dependencies([first]):
        changed = tf.assign(v, v * 2.0)
    with tf.control_dependencies([changed]):
        total = first + tf.matmul(c, v.read_value())
    check(monkeypatch, [total, changed])


def test_an_operand_is_transposed_once_until_it_changes(monkeypatch):
    v = tf.Variable(random(64, 48) * 0.1)
    xs = [tf.placeholder(tf.float32, [32, 48]) for _ in range(3)]
    feed = {x: random(32, 48, seed=i) for i, x in enumerate(xs)}
    before = [tf.matmul(x, v, transpose_b=True) for x in xs]
    text = check(monkeypatch, before, feed)
    assert len(text) == 4
    with tf.control_dependencies(before):
        changed = tf.assign(v, v * 2.0)
    with tf.control_dependencies([changed]):
        after = tf.matmul(xs[0], v.read_value(), transpose_b=True)
    check(monkeypatch, [*before, after, changed], feed)


def test_stacks_and_constants_are_transposed_before(monkeypatch):
    x = tf.placeholder(tf.float32, [3, 32, 48])
    found = check(monkeypatch, [raw.BatchMatMulV2(x, tf.constant(random(3, 64, 48)), adj_y=True)],
                  {x: random(3, 32, 48)})
    assert found == ["BatchMatMulV2"]


@pytest.mark.parametrize("machine", [microkernel.AVX2, microkernel.NEON])
def test_epilogues_and_sums_with_tiles_of_other_processors(machine, monkeypatch):
    processors.use(machine, monkeypatch)
    w = tf.Variable(random(37, 48) * 0.1)
    xs = [tf.placeholder(tf.float32, [29, 37]) for _ in range(2)]
    y = tf.tanh(tf.matmul(xs[0], w) + tf.matmul(xs[1], w))
    train = tf.train.AdamOptimizer(0.01).minimize(tf.reduce_sum(y))
    check(monkeypatch, [y, train], {x: random(29, 37, seed=i) for i, x in enumerate(xs)})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_random_graphs_with_products(seed, monkeypatch):
    rng = np.random.RandomState(seed)
    x = tf.placeholder(tf.float32, [24, 24])
    variables = [tf.Variable(random(24, 24, seed=seed + i) * 0.2) for i in range(2)]
    tensors = [x, *(v.value() for v in variables)]
    updates = []
    for _ in range(14):
        a, b, c = (tensors[rng.randint(len(tensors))] for _ in range(3))
        flags = {"transpose_a": bool(rng.randint(2)), "transpose_b": bool(rng.randint(2))}
        with tf.control_dependencies(updates[-1:] if rng.randint(2) else []):
            tensors.append([
                lambda: tf.matmul(a, b, **flags) * 0.2, lambda: tf.tanh(tf.matmul(a, b) + c),  # noqa: B023
                lambda: tf.matmul(a, b) * 0.1 + tf.matmul(c, b), lambda: a * 0.5 + b,  # noqa: B023
                lambda: 0.1 * tf.add_n([tf.matmul(a, b), tf.matmul(b, c), tf.matmul(c, a)])][rng.randint(5)]())  # noqa: B023
            tensors[-1] = tf.clip_by_value(tensors[-1], -2.0, 2.0)
            if rng.randint(3) == 0:
                v = variables[rng.randint(2)]
                updates.append(tf.assign_add(v, 0.1 * tf.matmul(a, b, **flags)))
    chosen = [tensors[i] for i in rng.choice(len(tensors), 4)]
    check(monkeypatch, [*chosen, tensors[-1], *updates], {x: random(24, 24) * 0.3}, runs=2, tolerance=1e-3)


@pytest.mark.parametrize("m, k, n", [(24, 30, 64), (13, 300, 45), (64, 7, 96)])
def test_a_fed_matrix_is_added_within_the_product(m, k, n, monkeypatch):
    monkeypatch.setattr(tiled, "K_BYTES", 256)                      # several blocks of k
    x, y, c = (tf.placeholder(tf.float32, shape) for shape in ([k, m], [k, n], [m, n]))
    feed = {x: random(k, m), y: random(k, n, seed=1), c: random(m, n, seed=2)}
    found = check(monkeypatch, [c + tf.matmul(x, y, transpose_a=True)], feed)
    assert found == ["MatMul+AddV2"]
    check(monkeypatch, [tf.nn.relu(tf.matmul(x, y, transpose_a=True) + c), c + 1.0], feed)


@pytest.mark.parametrize("next_sum, other, shared", [
    ("s + p", "t + tf.reduce_sum(a)", 1), ("p + s", "t", 1), ("s + p", "t + s", 0), ("s + p + s", "t", 0),
    ("s * 0.5 + p", "t", 0), ("tf.where(tf.reduce_sum(s) > 3.0, s, s + p)", "t", 0)])
def test_loops_add_products_in_place(next_sum, other, shared, monkeypatch):
    x, start = tf.placeholder(tf.float32, [20, 24, 30]), tf.placeholder(tf.float32, [30, 64])
    w = tf.constant(random(30, 64))

    def body(i, s, t):
        a = tf.gather(x, i)
        p = tf.matmul(a, tf.matmul(a, w), transpose_a=True)
        here = {"s": s, "t": t, "p": p, "a": a, "tf": tf}
        return i + 1, eval(next_sum, here), eval(other, here)
    loop = tf.while_loop(lambda i, *_: i < 20, body, [0, start, start])
    sets, share = [], LoopRunner._share

    def noted(self, program, made, here, other, there, inputs):
        in_place = share(self, program, made, here, other, there, inputs)
        sets.append(sum(a is b for a, b in zip(made, other, strict=True)))
        assert all(a is not b or c is d for a, b, c, d in zip(made, other, here, there, strict=False))
        return in_place
    monkeypatch.setattr(LoopRunner, "_share", noted)
    given = random(30, 64)
    check(monkeypatch, list(loop), {x: random(20, 24, 30) * 0.1, start: given}, runs=5)
    np.testing.assert_array_equal(given, random(30, 64))
    assert set(sets) == {shared}


@pytest.mark.parametrize("sums, ends, period", [
    ("s + tf.matmul(h, b, transpose_a=True), t", 1, 6), ("s + tf.matmul(x[0], b, transpose_a=True), t", 1, 6),
    ("s + tf.matmul(a, new, transpose_a=True), t + tf.matmul(b, a, transpose_a=True)", 2, 6),
    ("t + tf.matmul(a, b, transpose_a=True), s + tf.matmul(b, a, transpose_a=True)", 2, 1),     # not in place
    ("s + tf.matmul(a, b, transpose_a=True), s + 1.0", 0, 1)])
def test_loops_keep_the_factors_of_short_products_for_a_period(sums, ends, period, monkeypatch):
    """Of 40 terms: for 6 iterations. The TensorArray grows, which stops iterations in the middle."""
    x, n = tf.placeholder(tf.float32, [30, 40, 48]), tf.placeholder(tf.int32, [])
    w, start = tf.constant(random(48, 48) * 0.1), tf.placeholder(tf.float32, [48, 48])

    def body(i, h, s, t, made):
        a = tf.gather(x, i)
        b = tf.tanh(tf.matmul(a, w))
        new = tf.tanh(h + b)
        here = {"s": s, "t": t, "a": a, "b": b, "h": h, "new": new, "x": x, "tf": tf}
        return (i + 1, new, *eval(sums, here), made.write(i, b))
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[40, 48])
    loop = tf.while_loop(lambda i, *_: i < n, body, [0, x[1], start, start, array])
    fetches, seen, repeat = [*loop[1:4], loop[4].stack()], [], Tape.repeat

    def noted(self, tables, truth, again, ends, period, counter):
        seen.append((ends, period))
        return repeat(self, tables, truth, again, ends, period, counter)
    monkeypatch.setattr(Tape, "repeat", noted)
    for count in (5, 16):
        check(monkeypatch, fetches, {x: random(30, 40, 48) * 0.3, start: random(48, 48), n: count}, runs=4)
    assert seen[-1] == (ends, period)
