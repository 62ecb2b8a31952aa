"""What sessions promise: whose the arrays are, when they are closed, that runs don't disturb one another."""
from __future__ import annotations

import collections
import threading

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.runtime.targets import find_target

MODES = ["never", "second", "always"]


@pytest.fixture(params=MODES)
def mode(request, monkeypatch):
    monkeypatch.setattr(options, "compile", request.param)
    return request.param


def network(inputs=5, outputs=3):
    """x, labels, loss and the training op of a small network."""
    x = tf.placeholder(tf.float32, [None, inputs], name="x")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    w = tf.get_variable("w", [inputs, outputs], initializer=tf.truncated_normal_initializer(seed=1))
    b = tf.get_variable("b", [outputs], initializer=tf.zeros_initializer())
    logits = tf.matmul(x, w) + b
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
    return x, labels, loss, tf.train.AdamOptimizer(0.01).minimize(loss)


def batch(n, inputs=5, outputs=3, seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((n, inputs)).astype("f"), random.integers(0, outputs, n).astype("i")


# Arrays belong to the caller

def test_fetched_arrays_belong_to_the_caller(mode):
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0])
    c = tf.constant([3.0, 4.0])
    add = v.assign_add([0.0, 0.0])
    fetches = [v, c, tf.identity(c), tf.identity(v), tf.reshape(v, [2, 1]), c + 1.0, add, x, tf.identity(x),
               tf.shape(c), tf.zeros([2]), tf.expand_dims(c, 0), tf.split(c, 2)[0], v[0:1]]
    fed = np.array([5, 6], "f")
    with tf.Session() as sess:
        sess.run(v.initializer)
        first = sess.run(fetches, {x: fed})
        kept = [np.array(a) for a in first]
        for _ in range(3):
            for array in first:
                assert array.flags.writeable and array.flags.owndata
                array[...] = 77
            first = sess.run(fetches, {x: fed})
            np.testing.assert_equal(first, kept)
            assert fed.tolist() == [5, 6]


def test_results_of_two_runs_share_nothing(mode):
    v = tf.Variable([1.0, 2.0])
    y = v * 2.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        results = [sess.run([y, v]) for _ in range(4)]
        sess.run(v.assign([0.0, 0.0]))
        sess.run([y, v])
    assert all(a.tolist() == [2, 4] and b.tolist() == [1, 2] for a, b in results)


def test_what_was_fed_may_change_afterwards(mode):
    n = tf.placeholder(tf.int32, [1])
    v = tf.Variable([0])
    y = tf.fill(n, 2.0)
    assign = v.assign(n)
    fed = np.array([2], np.int32)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(3):
            sess.run(assign, {n: fed})
            assert sess.run(y, {n: fed}).shape == (fed[0],)
            fed += 1
            assert sess.run(v).tolist() == [fed[0] - 1]
    assert fed.tolist() == [5]


# What is asked for

def test_structures_of_one_tensor(mode):
    x = tf.constant([1.0])
    Pair = collections.namedtuple("Pair", "a b")

    class Options(collections.UserDict):
        pass

    with tf.Session() as sess:
        for _ in range(2):
            assert sess.run([x])[0].tolist() == [1] and sess.run((x,))[0].tolist() == [1]
            assert sess.run({"a": x})["a"].tolist() == [1]
            assert type(sess.run(Options(a=x))) is Options
            assert sess.run([[[x]]])[0][0][0].tolist() == [1]
            assert sess.run(Pair(x, x.op)).b is None
            assert sess.run(tf.IndexedSlices(x, x)).indices.tolist() == [1]


def test_a_fetch_twice_is_computed_once(mode):
    u = tf.random_uniform([3], seed=1)
    with tf.Session() as sess:
        a, [b, c] = sess.run([u, (u, u.name)])
        assert a.tolist() == b.tolist() == c.tolist() != sess.run(u).tolist()


def test_a_feed_may_be_anything_that_is_computed(mode):
    x = tf.constant(2.0, name="x")
    y = tf.square(x, name="y")
    v = tf.Variable(3.0, name="v")
    z = tf.add_n([x, y, v], name="z")
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(z) == 9
        for feeds, want in [({x: 1.0}, 5), ({y: 1.0}, 6), ({"y:0": 1.0}, 6), ({v: 1.0}, 7), ({"v/read:0": 1.0}, 7),
                            ({x: 0.0, y: 0.0, v: 0.0}, 0), ({z: -1.0}, -1), ({v.value(): 2.0, "x:0": 1}, 4)]:
            for _ in range(2):
                assert sess.run(z, feeds) == want
        assert sess.run([z, v]) == [9, 3]


def test_nothing_behind_a_feed_runs(mode):
    x = tf.placeholder(tf.float32)
    v = tf.Variable(0.0)
    y = v.assign_add(x) + 1.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert [sess.run(y * 2.0, {y: 4.0}) for _ in range(2)] == [8, 8] and sess.run(v) == 0


def test_a_fed_reference_is_not_written_to(mode):
    v = tf.Variable([1.0])
    fed = np.array([5.0], "f")
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="writes to a variable.*AssignAdd"):
                sess.run(v.assign_add([1.0]), {v: fed})
        assert fed.tolist() == [5] and sess.run(v).tolist() == [1]


def test_a_tensor_fed_twice_is_refused():
    x = tf.placeholder(tf.float32, name="x")
    with tf.Session() as sess, pytest.raises(ValueError, match="x:0"):
        sess.run(x, {x: 1.0, "x:0": 2.0})


# Targets

def test_targets_are_executed(mode):
    i = tf.placeholder(tf.int32, [None], name="i")
    v = tf.Variable(0)
    bad = tf.gather([1.0, 2.0], i, name="bad").op
    add = v.assign_add(1).op
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(3):
            assert sess.run(bad, {i: [1]}) is None and sess.run([bad, add], {i: [0]}) == [None, None]
            for target in (bad, [bad], [tf.constant(1.0), bad], tf.group(bad)):
                with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
                    sess.run(target, {i: [7]})
        assert sess.run(v) == 3


def test_operation_run_and_tensor_eval(mode):
    v = tf.Variable(1.0)
    add = v.assign_add(1.0)
    x = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match="default session|No default session|session"):
        add.op.run()
    with tf.Session() as sess:
        v.initializer.run()
        add.op.run()
        assert v.eval() == 2 and (v * x).eval({x: 3.0}) == 6
        other = tf.Session()
        v.initializer.run(session=other)
        assert v.eval(other) == 1 and sess.run(v) == 2
        other.close()


# Values that change shape

def test_a_variable_may_change_its_shape(mode):
    v = tf.Variable([1.0], validate_shape=False)
    x = tf.placeholder(tf.float32)
    grow = tf.assign(v, x, validate_shape=False)
    double, size = v * 2.0, tf.shape(v)
    update = tf.assign_add(v, v)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for value in ([1.0, 2.0], [[3.0]], 4.0, np.zeros([0, 2]), [5.0], [6.0]):
            assert sess.run(grow, {x: value}).shape == np.shape(value)
            for _ in range(2):
                np.testing.assert_array_equal(sess.run(double), 2 * np.asarray(value))
                assert sess.run(size).tolist() == list(np.shape(value))
            np.testing.assert_array_equal(sess.run(update), 2 * np.asarray(value))


def test_a_program_for_each_shape(mode):
    x, labels, loss, train = network()
    seen = {}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for n in (4, 1, 7, 4, 64, 1, 7, 40, 64):
            xs, ys = batch(n)
            got = sess.run(loss, {x: xs, labels: ys})
            assert seen.setdefault(n, got) == pytest.approx(got, rel=1e-5)
        before = sess.run(loss, {x: xs, labels: ys})
        for n in (4, 1, 7, 4, 64, 1, 7, 40, 64) * 3:
            sess.run(train, dict(zip((x, labels), batch(n), strict=True)))
        assert sess.run(loss, {x: xs, labels: ys}) < before


def test_more_shapes_than_programs_are_kept(monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x * 2.0)
    with tf.Session() as sess:
        for n in [*range(1, 60), *range(1, 60)]:
            assert sess.run(y, {x: np.ones(n)}) == 2 * n


@pytest.mark.parametrize("n", [0, 1])
def test_empty_batches(mode, n):
    x, labels, loss, train = network()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        xs, ys = batch(n)
        for _ in range(3):
            assert np.isnan(sess.run(loss, {x: xs, labels: ys})) == (n == 0)
        w = tf.global_variables()[0]
        (gradient,) = tf.gradients(tf.reduce_sum(tf.matmul(x, w)), [w])
        for _ in range(2):
            assert np.isfinite(sess.run(gradient, {x: xs})).all()


# Threads

@pytest.mark.parametrize("size", [(5,), (70_001,), (300, 401)])
def test_the_number_of_threads_changes_no_bit(size, monkeypatch):
    monkeypatch.setattr(options, "compile", "always")
    x = tf.placeholder(tf.float32, [None] * len(size))
    fetches = [tf.reduce_sum(tf.sigmoid(x) * tf.exp(-x)), tf.nn.softmax(x), tf.reduce_mean(x, 0), tf.tanh(x),
               tf.reduce_max(x), tf.random_normal(size, seed=3), tf.cumsum(x)]
    if len(size) == 2:
        w = tf.constant(np.random.default_rng(1).standard_normal((size[1], 37)).astype("f"))
        fetches += [tf.matmul(x, w), tf.matmul(x, x, transpose_a=True), tf.transpose(x) * 2.0, tf.concat([x, x], 1)]
    value = np.random.default_rng(0).standard_normal(size).astype("f")
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(options, "threads", threads)
        with tf.Session() as sess:
            results.append([sess.run(fetches, {x: value}) for _ in range(2)])
    for other in results[1:]:
        np.testing.assert_equal(other, results[0])


def in_threads(work, count):
    """Run work(i) in `count` threads at once; the first error of any."""
    errors = []
    barrier = threading.Barrier(count)

    def run(i):
        try:
            barrier.wait(10)
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]


def test_threads_share_a_session(mode):
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(tf.ones([3, 2]))
    y = tf.reduce_sum(tf.matmul(x, w) * 2.0, 1)
    total = tf.reduce_sum(tf.exp(x) - x)
    with tf.Session() as sess:
        sess.run(w.initializer)

        def work(i):
            for k in range(40):
                value = np.full([1 + (i + k) % 5, 3], i, "f")
                assert sess.run(y, {x: value}).tolist() == [12 * i] * len(value)
                assert sess.run(total, {x: value}) == pytest.approx(value.size * (np.exp(i) - i), rel=1e-5)
        in_threads(work, 4)


def test_locked_updates_of_many_threads_all_count(mode):
    v = tf.Variable(np.zeros(1000, np.int32))
    add = tf.assign_add(v, np.ones(1000, np.int32), use_locking=True).op
    with tf.Session() as sess:
        sess.run(v.initializer)
        in_threads(lambda i: [sess.run(add) for _ in range(50)], 4)
        assert set(sess.run(v).tolist()) == {200}


def test_a_thread_has_its_own_default_session_and_graph():
    c = tf.constant(1.0)
    found = []
    with tf.Session() as sess:
        def work(i):
            found.append((tf.get_default_session(), tf.get_default_graph() is c.graph))
            with c.graph.as_default(), sess.as_default():
                assert c.eval() == 1
        in_threads(work, 2)
    assert found == [(None, False)] * 2


def test_shapes_change_while_others_run(mode):
    v = tf.Variable([1.0], validate_shape=False)
    x = tf.placeholder(tf.float32, [None])
    grow = tf.assign(v, x, validate_shape=False)
    y = tf.reduce_max(v) - tf.reduce_min(v)
    with tf.Session() as sess:
        sess.run(v.initializer)

        def work(i):
            for k in range(40):
                if i == 0:
                    sess.run(grow, {x: np.full(1 + k % 4, 3.0)})
                else:
                    assert sess.run(y) in (0.0, 2.0, -2.0)
        in_threads(work, 3)


# Several sessions, several graphs

def test_each_session_has_its_own_values(mode):
    v = tf.Variable(0.0)
    u = tf.random_uniform([2], seed=7)
    add = v.assign_add(1.0)
    one, two = tf.Session(), tf.Session()
    one.run(v.initializer)
    for _ in range(3):
        one.run(add)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Variable"):
        two.run(v)
    two.run(v.initializer)
    two.run(add)
    assert (one.run(v), two.run(v)) == (3, 1)
    first = [one.run(u).tolist() for _ in range(3)]
    assert [two.run(u).tolist() for _ in range(3)] == first and len({tuple(a) for a in first}) == 3
    one.close()
    assert two.run(v) == 1
    two.close()


def test_each_graph_has_its_own_session(mode):
    sessions = []
    for i in range(3):
        with tf.Graph().as_default() as graph:
            v = tf.Variable(float(i), name="v")
            sess = tf.Session()
            sess.run(tf.global_variables_initializer())
            sessions.append((graph, sess, v))
    for i, (graph, sess, v) in enumerate(sessions):
        assert sess.graph is graph and sess.run([v, "v:0"]) == [i, i] and sess.run(v) == i
        with pytest.raises(ValueError, match="v:0"):
            sess.run(sessions[i - 1][2])
        sess.close()


def test_the_graph_grows_between_runs(mode):
    v = tf.Variable(1.0)
    y = v + 1.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        for i in range(4):
            assert sess.run(y) == 2 + i
            y = y + 1.0
        w = tf.Variable(5.0)
        sess.run(w.initializer)
        assert sess.run([y, w, v]) == [6, 5, 1]


# Closed and failing

def test_a_closed_session_runs_nothing(mode):
    c = tf.constant(1.0)
    sess = tf.Session()
    assert [sess.run(c) for _ in range(2)] == [1, 1]
    sess.close()
    sess.close()
    for run in (lambda: sess.run(c), lambda: sess.run([c]), lambda: c.eval(session=sess)):
        with pytest.raises(RuntimeError, match="closed"):
            run()
    with tf.Session() as sess:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(c)


def test_with_closes_after_an_error_too():
    with pytest.raises(KeyError), tf.Session() as sess:
        raise KeyError("a")
    assert tf.get_default_session() is None
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(tf.constant(1.0))


def test_nothing_to_run():
    with tf.Session() as sess:
        with pytest.raises(RuntimeError, match="graph is empty"):
            sess.run([])
        tf.constant(1.0)
        assert sess.run([]) == [] and sess.run({}) == {} and sess.run(()) == ()


def test_a_failing_run_leaves_no_trace(mode):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    i = tf.placeholder(tf.int32, [None], name="i")
    v = tf.Variable(tf.zeros([2, 2]), name="v")
    picked = tf.gather(x, i, name="picked")
    step = v.assign_add(picked)
    ones = np.ones([3, 2], "f")
    with tf.Session() as sess:
        sess.run(v.initializer)
        for count in range(1, 4):
            for feeds in ({x: ones, i: [0, 9]}, {x: ones, i: [0]}, {x: ones}, {x: np.ones([3, 3]), i: [0, 1]}):
                with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                    sess.run(step, feeds)
            assert sess.run(v).tolist() == [[count - 1] * 2] * 2
            assert sess.run(step, {x: ones, i: [0, 1]}).tolist() == [[count] * 2] * 2


def test_errors_of_the_target_and_config():
    with pytest.raises(tf.errors.NotFoundError, match="grpc"):
        tf.Session("localhost:2222")
    with pytest.raises(TypeError, match="graph"):
        tf.Session(graph=3)
    with pytest.raises(TypeError, match="config"):
        tf.Session(config=3)
    tf.Session(config=tf.ConfigProto(allow_soft_placement=True)).close()


# Default sessions

def test_interactive_sessions():
    c = tf.constant(1.0)
    sess = tf.InteractiveSession()
    assert tf.get_default_session() is sess and c.eval() == 1
    with tf.Session() as inner:
        assert tf.get_default_session() is inner
    assert tf.get_default_session() is sess
    sess.close()
    assert tf.get_default_session() is None
    graph = tf.Graph()
    sess = tf.InteractiveSession(graph=graph)
    assert tf.get_default_graph() is graph and tf.constant(2.0).eval() == 2
    sess.close()
    assert tf.get_default_graph() is c.graph


def test_sessions_open_in_one_another():
    one, two = tf.Session(), tf.Session()
    with one.as_default():
        with two.as_default():
            assert tf.get_default_session() is two
        assert tf.get_default_session() is one
    tf.constant(1.0)
    assert one.run("Const:0") == 1                # as_default closes nothing
    one.close()
    two.close()


# Options

def test_fetches_of_a_callable(mode):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    with tf.Session() as sess:
        call = sess.make_callable([x - y, (x * y,)], [x, y])
        assert call(5.0, 2.0) == [3, (10,)] and call(1.0, 1.0) == [0, (1,)]
        with pytest.raises(TypeError, match="2 feed values, but got 1"):
            call(1.0)


def test_targets_of_sessions():
    assert [find_target(target) for target in ("", None, "local", b"", b"local")] == [None] * 5
    server = tf.train.Server.create_local_server()
    found = find_target(server.target)
    assert found is find_target(server.target.encode()) is not None and found.task.startswith("/job:")
    assert find_target("grpc://nowhere:1").text == "nowhere:1"
    for unknown in ("grpc://", b"x", "loca"):
        with pytest.raises(tf.errors.NotFoundError, match="this process"):
            find_target(unknown)
    for wrong in (3, ["local"], True):
        with pytest.raises(TypeError, match="must be a string, got"):
            find_target(wrong)


def test_dictionaries_of_fetches_that_change():
    pair = collections.namedtuple("pair", "x y")
    other = collections.namedtuple("other", "y x")
    x, y = tf.constant(1), tf.constant(2)
    fetches = {"a": x, "b": y}
    with tf.Session() as sess:
        for _ in range(2):
            assert sess.run(fetches) == {"a": 1, "b": 2} and list(sess.run({"b": y, "a": x})) == ["b", "a"]
            assert sess.run({"a": y, "b": [x, y]}) == {"a": 2, "b": [1, 2]}
            assert sess.run({"a": pair(x, y)})["a"]._fields == ("x", "y")
            assert sess.run({"a": other(x, y)})["a"]._fields == ("y", "x")
        fetches["a"], fetches["c"] = y, x
        assert sess.run(fetches) == {"a": 2, "b": 2, "c": 1}
        assert sess.run(fetches, {x: 5}) == {"a": 2, "b": 2, "c": 5}
