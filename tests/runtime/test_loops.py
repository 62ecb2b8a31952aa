"""Loops whose rounds are one program, with TensorArrays and stacks in it: as the interpreter and TensorFlow."""
from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import tfnb as tf
from tests.runtime.loop_programs import IN_ROUNDS, PROGRAMS, RUN, START
from tfnb.compile import residents
from tfnb.core.options import options
from tfnb.kernels.llvm.tape import Tape
from tfnb.resources.rows import Rows
from tfnb.runtime.runners import loops
from tfnb.runtime.runners.loops import LoopRunner

X = np.sin(np.arange(120) * 1.7).reshape(30, 4).astype("f")
CASES = [(X, 30), (X * 0.5, 3), (X, 11)]


@pytest.fixture(autouse=True)
def fresh():
    tf.reset_default_graph()


@pytest.fixture
def played(monkeypatch):
    """The names of the loops whose rounds were played, a name for each time."""
    names, play = [], LoopRunner._rounds

    def rounds(self, *args):
        names.append(self.loop.name)
        return play(self, *args)
    monkeypatch.setattr(LoopRunner, "_rounds", rounds)
    return names


@pytest.fixture
def programs(monkeypatch):
    """The programs whose iterations were played."""
    found, repeats = [], LoopRunner._repeats

    def noted(self, program, values):
        found.append(program)
        return repeats(self, program, values)
    monkeypatch.setattr(LoopRunner, "_repeats", noted)
    return found


def run(name):
    tf.reset_default_graph()
    scope = {"tf": tf, "np": np, "cases": CASES}
    exec(compile(START + PROGRAMS[name] + RUN, f"<{name}>", "exec"), scope)
    return scope["result"]


def check(got, want, exact=False):
    for one, other in zip(got, want, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            if a.dtype.kind == "f" and not exact:
                np.testing.assert_allclose(a, b, rtol=3e-5, atol=3e-6)
            else:
                np.testing.assert_array_equal(a, b)


def check_interpreted(got, fetches, feeds, monkeypatch, rtol=1e-5, atol=1e-6):
    """Compare the results of compiled runs with what interpreted ones with these feeds return."""
    monkeypatch.setattr(options, "compile", "never")
    with tf.Session() as session:
        want = [session.run(fetches, feed) for feed in feeds]
    for some, others in zip(got, want, strict=True):
        for one, other in zip(some, others, strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_interpreted(name, played, monkeypatch):
    got = run(name)
    assert bool(played) == (name in IN_ROUNDS)
    monkeypatch.setattr(options, "compile", "never")
    check(got, run(name))


def test_gradients_whose_shapes_only_a_run_tells_are_played_too(played):
    run("unknown_batch")
    assert len(set(played)) == 2


@pytest.mark.parametrize("name", ["recurrent_network", "map_scan_fold"])
def test_bits_do_not_depend_on_threads(name, monkeypatch):
    found = []
    for threads in (1, 2):
        monkeypatch.setattr(options, "threads", threads)
        found.append(run(name))
    check(*found, exact=True)


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_tensorflow(name, oracle):
    check(run(name), oracle(START + PROGRAMS[name] + RUN, cases=CASES))


FAULTS = {
    "read_past_the_end": ("ia.read(i + 3)", "index 30"),
    "read_before_the_start": ("ia.read(26 - i)", "index -1"),
    "read_twice": ("ia.read(i % 27)", "index 0 twice because it was cleared"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_read_that_fails(name, played):
    code, message = FAULTS[name]
    x = tf.placeholder(tf.float32, [30, 4])
    ia = tf.TensorArray(tf.float32, 30).unstack(x)
    _, s = tf.while_loop(lambda i, s: i < 30, lambda i, s: (i + 1, s + eval(code, {"ia": ia, "i": i})),
                         [0, tf.zeros([4])])
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message) as raised:
                sess.run(s, {x: X})
            assert raised.value.op.type == "TensorArrayReadV3"
    assert len(played) == 3


@pytest.mark.parametrize("place,message", [("i % 20", "index 0 because it has already been written to"),
                                           ("i + 10", "index 30 but array is not resizeable"),
                                           ("20 - i", "index -1")])
def test_a_write_that_fails(place, message, played):
    oa = tf.TensorArray(tf.float32, 30)
    _, oa = tf.while_loop(lambda i, oa: i < 30, lambda i, oa: (i + 1, oa.write(eval(place), tf.ones([2]))), [0, oa])
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message) as raised:
                sess.run(oa.flow)
            assert raised.value.op.type == "TensorArrayWriteV3"
    assert len(played) == 3


def written_in_place(start, step, dynamic):
    """The stack of what a loop has written at the places of a loop variable: large elements, which lie in place."""
    x, oa = tf.placeholder(tf.float32, [8, 32]), tf.TensorArray(
        tf.float32, 30, dynamic_size=dynamic, clear_after_read=False)

    def body(i, j, y, oa):
        made = tf.tanh(y * 1.5) + x
        return i + 1, eval(step, {"j": j}), made, oa.write(j, made)
    _, _, last, oa = tf.while_loop(lambda i, *_: i < 30, body, [0, start, x, oa])
    return x, last, oa


@pytest.mark.parametrize("start, step, message", [(0, "(j + 1) % 20", "index 0 because it has already been written"),
                                                  (10, "j + 1", "index 30 but array is not resizeable"),
                                                  (20, "j - 1", "index -1")])
def test_a_write_in_place_that_fails(start, step, message, played):
    x, last, oa = written_in_place(start, step, False)
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message) as raised:
                sess.run([last, oa.flow], {x: np.ones((8, 32), "f")})
            assert raised.value.op.type == "TensorArrayWriteV3"
    assert len(played) == 3


@pytest.mark.parametrize("start, step, dynamic, rows", [(0, "j + 1", False, 30), (29, "j - 1", False, 30),
                                                        (3, "j + 2", True, 62), (0, "(j + 7) % 30", False, 30)])
def test_writes_in_place(start, step, dynamic, rows, programs, monkeypatch):
    x, last, oa = written_in_place(start, step, dynamic)
    fetches = [last, oa.gather([start]), oa.size(), oa.stack() if not dynamic else oa.gather([start, start + 2])]
    value = np.random.default_rng(3).normal(size=(8, 32)).astype("f")
    with tf.Session() as sess:
        got = [sess.run(fetches, {x: value}) for _ in range(4)]
    assert got[0][2] == rows and got[1][1].tobytes() == got[2][1].tobytes()
    assert any("point_at_place" in step.source for step in programs[-1].compiled.steps)
    check_interpreted(got, fetches, [{x: value}] * len(got), monkeypatch)


def test_a_read_of_nothing_whose_shape_nobody_knows(played):
    ia = tf.TensorArray(tf.float32, 30, infer_shape=False, clear_after_read=False)
    ia = ia.write(0, X[0])
    _, s = tf.while_loop(lambda i, s: i < 30, lambda i, s: (i + 1, s + ia.read(i // 20)), [0, tf.zeros([4])],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])
    with tf.Session() as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="index 1.*not fully defined"):
                sess.run(s)
    assert played


@pytest.mark.parametrize("code,axis", [("x[i + 3]", 0), ("x[26 - i]", 0), ("x[:, i % 4 - i // 20 * 5]", 1)])
def test_a_part_outside_of_its_axis(code, axis, played):
    x = tf.placeholder(tf.float32, [30, 4])
    _, s = tf.while_loop(lambda i, s: i < 60, lambda i, s: (i + 1, s + tf.reduce_sum(eval(code, {"x": x, "i": i}))),
                         [0, 0.0])
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"of dimension {axis} out of bounds") as raised:
                sess.run(s, {x: X})
            assert raised.value.op.type == "StridedSlice"
    assert len(played) == 3


def test_a_run_after_one_that_failed():
    n = tf.placeholder(tf.int32, [])
    oa = tf.TensorArray(tf.float32, 30, element_shape=[])
    _, oa = tf.while_loop(lambda i, oa: i < n, lambda i, oa: (i + 1, oa.write(i, tf.cast(i, tf.float32))), [0, oa])
    out = oa.stack()
    with tf.Session() as sess:
        for _ in range(3):
            np.testing.assert_array_equal(sess.run(out, {n: 30}), np.arange(30))
            with pytest.raises(tf.errors.InvalidArgumentError, match="index 30"):
                sess.run(out, {n: 31})
            np.testing.assert_array_equal(sess.run(out, {n: 20}), [*range(20), *[0] * 10])


def test_results_belong_to_the_caller():
    x = tf.placeholder(tf.float32, [30, 4])
    same = tf.TensorArray(tf.float32, 30).unstack(x).stack()
    constant = tf.TensorArray(tf.float32, 30).unstack(tf.constant(X)).stack()
    doubled = tf.map_fn(lambda r: r * 2, x)
    with tf.Session() as sess:
        for _ in range(4):
            given = X.copy()
            found = sess.run([same, constant, doubled], {x: given})
            for array, want in zip(found, (X, X, X * 2), strict=True):
                np.testing.assert_array_equal(array, want)
                array[:] = 7
            np.testing.assert_array_equal(given, X)


def test_threads_that_run_one_session():
    x = tf.placeholder(tf.float32, [30, 4])
    s = tf.scan(lambda a, r: tf.sin(a + r), x)
    fetches = [s, tf.gradients(s, x)[0]]
    with tf.Session() as sess:
        want = {k: sess.run(fetches, {x: X * k}) for k in range(4)}
        for _ in range(3):
            sess.run(fetches, {x: X})
        wrong = []

        def work(k):
            for _ in range(20):
                got = sess.run(fetches, {x: X * k})
                wrong.extend(k for a, b in zip(got, want[k], strict=True) if not np.allclose(a, b, atol=1e-6))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_elements_are_gone_after_the_run(played):
    x = tf.placeholder(tf.float32, [30, 4])
    s = tf.scan(lambda a, r: tf.sin(a + r), x)
    fetches = [s, tf.gradients(s, x)[0]]
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(fetches, {x: X})
        gc.collect()
        assert played and not [o for o in gc.get_objects() if type(o) is Rows]     # isinstance would ask weak proxies


def test_a_time_limit_holds_while_rounds_are_played(played):
    n = tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 1.0001), [0, 1.0])
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(y, {n: 10})
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(y, {n: 1 << 30}, options=tf.RunOptions(timeout_in_ms=200))
        assert played
        assert sess.run(y, {n: 0}) == 1


def test_the_gradient_of_a_variable_that_grows(played):
    """The slices that its gradient puts back have another place in each round: that is no program of its own."""
    x, n = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    _, a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, a[:1] * x[:1]], 0)), [0, x * 2],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    gradient = tf.gradients(a, x)[0]
    with tf.Session() as session:
        for _ in range(4):
            np.testing.assert_allclose(session.run(gradient, {x: [2.0, 1.0, 1.0], n: 5}), [42.0, 2.0, 2.0])


def test_loop_invariant_launches_run_in_the_first_iteration_only(monkeypatch):
    x, n = tf.placeholder(tf.float32, [30, 4]), tf.placeholder(tf.int32, [])
    ia = tf.TensorArray(tf.float32, 30, clear_after_read=False).unstack(x)
    _, s = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.sin(x) * s + ia.read(i)), [0, tf.zeros([30, 4])])
    seen, repeat = [], Tape.repeat

    def noted(tape, tables, truth, again, *more):
        seen.append((tape.start, again))
        return repeat(tape, tables, truth, again, *more)
    monkeypatch.setattr(Tape, "repeat", noted)
    with tf.Session() as session:
        for k in range(5):                                 # the same program with other values
            want = np.zeros([30, 4], "f")
            for row in X:
                want = np.sin(X + k) * want + row + k
            seen.clear()
            np.testing.assert_allclose(session.run(s, {x: X + k, n: 30}), want, rtol=1e-4, atol=1e-5)
    (first, again), = seen
    assert first == 0 < again


@pytest.mark.parametrize("batch", [0.0, 10.0])                 # iterations one by one, or all at once
def test_results_do_not_depend_on_how_many_iterations_are_played_at_a_time(batch, monkeypatch):
    want = [run(name) for name in ("recurrent_network", "map_scan_fold")]
    monkeypatch.setattr(loops, "BATCH", batch)
    for name, one in zip(("recurrent_network", "map_scan_fold"), want, strict=True):
        check(run(name), one, exact=True)


def test_elementwise_ops_between_pops_are_one_kernel(programs):
    x = tf.placeholder(tf.float32, [None, 4])
    _, y = tf.while_loop(lambda i, _: i < 20, lambda i, y: (i + 1, tf.tanh(y * tf.sigmoid(y)) + x), [0, x])
    gradient = tf.gradients(y, x)[0]
    with tf.Session() as session:
        for _ in range(4):
            session.run(gradient, {x: X})
    kernels = [{op.type for op in step.ops} for step in programs[-1].compiled.steps]
    assert sum("StackPopV2" in types for types in kernels) > 2
    assert [types >= {"TanhGrad", "SigmoidGrad"} for types in kernels if "TanhGrad" in types] == [True]


@pytest.mark.parametrize("name", ["recurrent_network", "unknown_batch", "map_scan_fold"])
def test_elements_in_place_as_copied_ones(name, monkeypatch):
    want = run(name)
    monkeypatch.setattr(residents, "LEAST_BYTES", 1)
    check(run(name), want, exact=True)


def test_what_is_pushed_and_popped_is_not_copied(programs, monkeypatch):
    x, n = tf.placeholder(tf.float32, [40, 8]), tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, tf.tanh(tf.sigmoid(y) * tf.exp(-y))), [0, x])
    gradient, values = tf.gradients(y, x)[0], X[:10].repeat(8).reshape(40, 8)
    with tf.Session() as session:
        for count in (5, 5, 5, 40, 3):                     # the stacks grow in the fourth run
            got = session.run([gradient], {x: values, n: count})
    check_interpreted([got], [gradient], [{x: values, n: 3}], monkeypatch, 2e-5, 1e-7)
    forth, back = {tuple(p.compiled.layout.elements[:, 1]): p for p in programs}.values()
    for program in (forth, back):
        places = program.compiled.layout.elements
        assert len(places) >= 2 and len(program.compiled.layout.tables) == len(set(places[:, 1].tolist()))


def test_what_a_tensor_array_of_gradients_was_given_is_not_added_to(played):
    x, n = tf.placeholder(tf.float32, [4]), 12
    forth = tf.TensorArray(tf.float32, n).unstack(tf.zeros([n, 4]))
    given = tf.stack([x * i for i in range(n)]) ** 2
    sums = forth.grad("back").unstack(given)
    before = sums.stack()
    with tf.control_dependencies([before]):
        start = tf.constant(0)
    sums = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, x)), [start, sums])[1].stack()
    with tf.Session() as session:
        for k in range(4):
            value = X[k]
            got = session.run([given, before, sums], {x: value})
            want = (value * np.arange(n, dtype="f")[:, None]) ** 2
            check([got], [[want, want, want + value]])
    assert played


def shapes_counted(programs):
    """The counts of residents of the played programs."""
    return [resident.counted for program in programs for resident in program.compiled.residents]


def test_stacks_of_equal_shapes_are_counted(programs, monkeypatch):
    x, w, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [4]), tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, tf.tanh(y * w) + x), [0, x])
    gradients = tf.gradients(y, [x, w])
    feeds = [{x: X[:rows], w: X[9], n: count}
             for rows, count in ((3, 5), (3, 5), (3, 5), (3, 40), (3, 0), (3, 1), (7, 9), (7, 9), (3, 6), (7, 4))]
    with tf.Session() as session:
        got = [session.run(gradients, feed) for feed in feeds]
    counts = shapes_counted(programs)
    assert sum(count > 0 for count in counts) >= 2 and sum(count < 0 for count in counts) >= 2
    check_interpreted(got, gradients, feeds, monkeypatch, 2e-5)


def stacked(size):
    """A loop that pushes a shape `n` times on a stack of at most `size`, and one that pops it `m` times."""
    n, m, x = (tf.placeholder(t, s) for t, s in ((tf.int32, []), (tf.int32, []), (tf.float32, [None, 3])))
    handle = tf.raw_ops.StackV2(max_size=size, elem_type=tf.int32)

    def push(i, s):
        shape = tf.raw_ops.StackPushV2(handle=handle, elem=tf.shape(s))
        with tf.control_dependencies([shape]):
            return i + 1, tf.tanh(s) + x

    def pop(i, s):
        shape = tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.int32)
        return i + 1, s * tf.reshape(tf.ones(shape), tf.shape(x))
    _, forth = tf.while_loop(lambda i, _: i < n, push, [0, x])
    with tf.control_dependencies([forth]):
        start = tf.identity(forth)
    _, back = tf.while_loop(lambda i, _: i < m, pop, [0, start])
    return n, m, x, back


@pytest.mark.parametrize("mode", ["second", "always", "never"])
def test_a_counted_stack_without_elements_or_room_is_an_error_in_each_run(mode, monkeypatch):
    monkeypatch.setattr(options, "compile", mode)
    n, m, x, back = stacked(30)
    rows = np.ones((2, 3), "f")
    with tf.Session() as session:
        want = session.run(back, {n: 12, m: 0, x: rows})
        for _ in range(4):
            for pushes, pops in ((12, 12), (12, 3), (30, 30)):
                got = session.run(back, {n: pushes, m: pops, x: rows})
                assert got.shape == (2, 3) and (pushes != 12 or np.array_equal(got, want))
            with pytest.raises(tf.errors.InvalidArgumentError, match="is empty when calling Pop"):
                session.run(back, {n: 12, m: 13, x: rows})
            with pytest.raises(tf.errors.InvalidArgumentError, match="overflowed its max_size"):
                session.run(back, {n: 31, m: 1, x: rows})


def test_stacks_of_inner_loops_are_counted(programs, monkeypatch):
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])

    def outer(i, y):
        return i + 1, tf.while_loop(lambda j, _: j < 6, lambda j, z: (j + 1, tf.sin(z * x[0]) + x), [0, y])[1]
    _, y = tf.while_loop(lambda i, _: i < n, outer, [0, x])
    gradient = tf.gradients(y, x)[0]
    feeds = [{x: X[:rows], n: count} for rows, count in ((2, 5), (2, 5), (2, 7), (5, 5), (5, 6))]
    with tf.Session() as session:
        got = [session.run([gradient], feed) for feed in feeds]
    assert any(shapes_counted(programs))
    check_interpreted(got, [gradient], feeds, monkeypatch, 2e-4, 1e-5)


def test_threads_share_elementwise_kernels_of_loops_with_products(programs):
    x, w = tf.placeholder(tf.float32, [64, 256]), tf.constant(np.eye(256, dtype="f") * 0.5)
    _, y = tf.while_loop(lambda i, _: i < 20,
                         lambda i, y: (i + 1, tf.tanh(tf.sigmoid(tf.matmul(y, w)) * tf.exp(-y)) + x), [0, x])
    values = np.random.default_rng(1).normal(size=(64, 256)).astype("f")
    got = []
    for threads in (1, 2):
        config = tf.ConfigProto(intra_op_parallelism_threads=threads)
        with tf.Session(config=config) as session:
            got += [session.run(y, {x: values}) for _ in range(3)]
    for one in got[2:]:
        np.testing.assert_array_equal(one, got[1])
    steps = [step for program in programs for step in program.compiled.steps
             if step.kernel is not None and any(op.type == "Tanh" for op in step.ops)]
    assert steps and all(step.items > step.grain > 0 for step in steps)


@pytest.mark.parametrize("width, axis, copied", [(64, 1, 1), (64, 0, 1), (64, -1, 1), (5, 1, 2), (160, 1, 1)])
@pytest.mark.parametrize("missing", [False, True])
def test_elements_are_read_where_a_concatenation_has_them(width, axis, copied, missing, programs, monkeypatch):
    xs, y, n = tf.placeholder(tf.float32, [None, 6, width]), tf.placeholder(tf.float32, [6, width]), 14
    given = tf.TensorArray(tf.float32, n, element_shape=[6, width], clear_after_read=False)
    given = given.scatter(tf.range(n - 4), xs) if missing else given.unstack(xs)

    def body(i, s):
        both = tf.reshape(tf.concat([given.read(i), s], axis) * 1.5, [2, 6 * width])
        return i + 1, tf.reshape(tf.reduce_mean(both, 0), [6, width])
    _, s = tf.while_loop(lambda i, _: i < n, body, [0, y])
    values = np.random.default_rng(2).normal(size=(n - 4 * missing, 6, width)).astype("f")
    with tf.Session() as session:
        got = [session.run([s], {xs: values, y: values[0]}) for _ in range(3)]
    steps = programs[-1].compiled.steps
    assert sum("copy_row" in step.source for step in steps) == copied
    check_interpreted(got, [s], [{xs: values, y: values[0]}] * 3, monkeypatch)


@pytest.mark.parametrize("shape, moved", [([20, 30], lambda s: tf.transpose(s)), ([20, 30], lambda s: s[::-1, ::2]),
                                          ([128, 128], lambda s: tf.transpose(s)), ([40], lambda s: s)])
def test_pushes_and_writes_of_views_and_loop_variables(shape, moved, played, monkeypatch):
    x, n = tf.placeholder(tf.float32, shape), 9
    handle, oa = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.float32), tf.TensorArray(tf.float32, n)

    def push(i, s, oa):
        pushed = tf.raw_ops.StackPushV2(handle=handle, elem=moved(s))
        with tf.control_dependencies([pushed]):
            return i + 1, tf.tanh(s) + x, oa.write(i, moved(s))

    def pop(i, s):
        popped = tf.raw_ops.StackPopV2(handle=handle, elem_type=tf.float32)
        return i + 1, s * 0.5 + tf.ensure_shape(popped, s.shape)
    _, forth, oa = tf.while_loop(lambda i, *_: i < n, push, [0, x, oa])
    with tf.control_dependencies([forth]):
        start = tf.zeros_like(moved(forth))
    fetches = [forth, oa.stack(), tf.while_loop(lambda i, _: i < n, pop, [0, start])[1]]
    value = np.random.default_rng(4).normal(size=shape).astype("f")
    with tf.Session() as session:
        got = [session.run(fetches, {x: value}) for _ in range(4)]
    assert played
    check_interpreted(got, fetches, [{x: value}] * 4, monkeypatch)
