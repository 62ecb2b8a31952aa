"""Programs that follow from a template are those that a build for their sizes gives, word for word."""
from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import tfnb as tf
from tests.compile.random_shapes import Graph
from tests.compile.templates import differs, resized, stage_of
from tfnb.compile.programs.template import make_template
from tfnb.kernels.symbolic import Pinned
from tfnb.runtime.runners import templates
from tfnb.runtime.runners.program import Program, Repointed
from tfnb.runtime.runners.stages import StageRunner

STRESS = bool(os.environ.get("TFNB_STRESS"))
SIZES = (*range(1, 71), 127, 128, 129, 1000, 1001) if STRESS else (1, 2, 3, 10, 16, 17, 64, 128, 1000)
FIRST = (5, 200)


def _loss(logits):
    labels = tf.placeholder(tf.int32, [None])
    return labels, tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def _dense(x, units, name):
    w = tf.get_variable(name, [int(x.shape[-1]), units], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + tf.get_variable(name + "b", [units], initializer=tf.zeros_initializer())


def _layers():
    x = tf.placeholder(tf.float32, [None, 32])
    labels, loss = _loss(_dense(tf.nn.relu(_dense(x, 64, "a")), 10, "b"))
    return [loss, tf.train.AdamOptimizer().minimize(loss)], x, labels


def _images():
    x = tf.placeholder(tf.float32, [None, 8, 8, 16])
    w = tf.get_variable("w", [3, 3, 16, 16], initializer=tf.zeros_initializer())
    ones = tf.get_variable("ones", [16], initializer=tf.zeros_initializer())
    h = tf.nn.fused_batch_norm(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), ones, ones, is_training=True)[0]
    h = tf.nn.max_pool(tf.nn.relu(h), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    labels, loss = _loss(_dense(tf.reshape(h, [-1, 4 * 4 * 16]), 10, "d"))
    return [loss, tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)], x, labels


def _attention():
    x = tf.placeholder(tf.float32, [None, 6, 8])
    scores = tf.nn.softmax(tf.matmul(x, x, transpose_b=True) / tf.cast(tf.shape(x)[0], tf.float32))
    h = tf.transpose(tf.matmul(scores, x), [1, 0, 2])
    h = tf.reshape(h, tf.stack([6, tf.shape(x)[0] * 8]))[:, ::2]
    labels, loss = _loss(_dense(tf.reshape(tf.concat([h, h], 1), [-1, 48]), 3, "c"))
    return [loss, tf.shape(h), tf.train.GradientDescentOptimizer(0.1).minimize(loss)], x, labels


def _embeddings():
    ids = tf.placeholder(tf.int32, [None, 5])
    table = tf.get_variable("table", [50, 8], initializer=tf.zeros_initializer())
    mean = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), 1)
    noise = tf.random_normal(tf.shape(mean)) + tf.to_float(tf.range(tf.shape(ids)[0]))[:, None]
    labels, loss = _loss(_dense(mean + 0.1 * noise, 10, "e"))
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)], ids, labels


MODELS = {"layers": _layers, "images": _images, "attention": _attention, "embeddings": _embeddings}


@pytest.mark.parametrize("name", MODELS)
def test_words_of_training_steps(name):
    fetches, x, labels = MODELS[name]()
    groups = [[(0, 0), (1, 0)]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feeds = {x: np.zeros((5, *x.shape.as_list()[1:]), x.dtype.as_numpy_dtype), labels: np.zeros(5, np.int32)}
        stage, inputs, shapes = stage_of(session, fetches, feeds)
    made, fresh = [], 0
    for n in (*FIRST, *SIZES):
        metas = resized(inputs, groups, [n])
        found = [differs(template, metas, shapes) for template in made]
        if n > 1 and "" not in found:
            made.append(make_template(stage, metas, shapes, groups))
            found.append(differs(made[-1], metas, shapes))
            fresh += 1
        assert set(found) <= {"", "unfit"}, (n, found)
        assert n == 1 or "" in found
    assert fresh < len(SIZES), "templates serve no size but their own"


def _found(seed):
    """What the template of a random graph differs in, at its own sizes and at eight others; none where it is pinned."""
    graph, random = Graph(seed), np.random.RandomState(seed)
    with tf.Session() as session:
        plan = session.plan(graph.fetches, graph.feeds)
        if [stage.on_device for stage in plan.stages] != [True] or any(stage.by_value for stage in plan.stages):
            return []
        stage, inputs, shapes = stage_of(session, graph.fetches, graph.feeds)
    together: dict[int, list[tuple[int, int]]] = {}
    for i, meta in enumerate(inputs):
        for axis, n in enumerate(meta.shape):
            if n > 1:
                together.setdefault(n, []).append((i, axis))
    groups = list(together.values())
    try:
        template = make_template(stage, inputs, shapes, groups)
    except Pinned:
        return []
    others = (random.randint(1, 9, len(groups)) for _ in range(8))
    found = [differs(template, resized(inputs, groups, [int(n) for n in sizes]), shapes)
             for sizes in (together, *others)]
    assert found[0] == ""
    return found


def test_words_of_random_graphs():
    found = [_found(seed) for seed in range(400 if STRESS else 25)]
    assert {one for each in found for one in each} == {"", "unfit"}
    assert sum("" in each[1:] for each in found) > len(found) // 2, "few templates serve other sizes"


def _programs(session):
    return [program for _, executor in session._executors.values() for runner in executor.runners
            if isinstance(runner, StageRunner) for program in runner.programs()]


def test_results_are_those_of_a_session_that_meets_each_size_first(monkeypatch):
    tf.set_random_seed(1)
    fetches, x, labels = _layers()
    random = np.random.RandomState(2)
    weights = {v: random.randn(*v.shape.as_list()).astype("f") for v in tf.trainable_variables()}

    def results(kept):
        """The losses of steps over batches of many sizes. kept: by templates."""
        monkeypatch.setattr(templates, "BEFORE", 2 if kept else 1 << 30)
        rows, found = np.random.RandomState(3), []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for variable, value in weights.items():
                variable.load(value, session)
            for n in (4, 4, 9, 1, 7, 64, 3, 129, 7, 1, 31, 0, 1000, 30):
                feed = {x: rows.randn(n, 32).astype("f"), labels: rows.randint(0, 10, n)}
                found.append(session.run(fetches[0], feed))
                session.run(fetches[1], feed)
            used = sum(isinstance(program.compiled, Repointed) for program in _programs(session))
            return [*found, *session.run(list(weights))], used
    (plain, none), (pointed, some) = results(False), results(True)
    assert none == 0 and some > 6
    for a, b in zip(plain, pointed, strict=True):
        np.testing.assert_array_equal(a, b)


def test_errors_are_those_of_a_build():
    fetches, x, labels = _layers()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for n in (4, 4, 5, 6, 7):
            session.run(fetches, {x: np.zeros((n, 32)), labels: np.zeros(n)})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"8.*9|9.*8"):
            session.run(fetches, {x: np.zeros((8, 32)), labels: np.zeros(9)})
        with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 10"):
            session.run(fetches, {x: np.zeros((9, 32)), labels: np.full(9, 10)})
        session.run(fetches, {x: np.zeros((9, 32)), labels: np.zeros(9)})


def test_explain_shows_a_program_that_follows_from_a_template():
    fetches, x, labels = _layers()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for n in (4, 4, 5, 6, 21):
            feed = {x: np.zeros((n, 32)), labels: np.zeros(n)}
            session.run(fetches[0], feed)
        program = next(p for p in _programs(session) if p.compiled.inputs[0].shape[0] == 21)
        assert isinstance(program.compiled, Repointed)
        assert "21" in tf.explain(fetches[0], feed, session=session)
        metadata = tf.RunMetadata()
        session.run(fetches[0], feed, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
        assert metadata.step_stats.dev_stats


def test_programs_find_variables_where_the_one_before_has_them(monkeypatch):
    """What has an address is looked up once, until a variable gets another array."""
    x, v = tf.placeholder(tf.float32, [None, 3]), tf.get_variable("v", initializer=np.float32([1, 2, 3]))
    bias = tf.get_variable("bias", initializer=np.float32(1), validate_shape=False)
    y = tf.reduce_mean(x * v, 0) + bias + tf.random_uniform([], 2.0, 2.1, seed=3)
    looked, find = [], Program._find_fixed
    monkeypatch.setattr(Program, "_find_fixed", lambda self, store: looked.append(self) or find(self, store))
    with tf.Session() as session:
        def check(sizes, bias):
            """Compare the results for these numbers of rows; 2.05 is drawn in the middle."""
            for n in sizes:
                got = session.run(y, {x: np.ones((n, 3))})
                np.testing.assert_allclose(got, session.run(v) + bias + 2.05, atol=0.06)
        session.run(tf.global_variables_initializer())
        check(range(1, 8), 1)
        del looked[:]
        check(range(8, 30), 1)
        assert not [p for p in looked if p.compiled.inputs]
        session.run(v.assign([5, 6, 7]))
        check((30, 31), 1)
        session.run(tf.assign(bias, [1.0, 3.0, 5.0], validate_shape=False))
        check((32, 33, 34, 35, 36, 7, 30), np.array([1, 3, 5]))
        session.run(tf.global_variables_initializer())
        check((37, 7, 30, 38), 1)


def test_threads_share_templates():
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reduce_mean(tf.square(x) + 1.0, 0)
    random = np.random.RandomState(1)
    batches = [random.randn(n, 3).astype("f") for n in range(1, 60)]
    wrong = []
    with tf.Session() as session:
        def work(order):
            """Run all batches."""
            for i in order:
                got = session.run(y, {x: batches[i]})
                if not np.allclose(got, np.mean(np.square(batches[i]) + 1, 0), rtol=1e-5):
                    wrong.append(i)
        threads = [threading.Thread(target=work, args=(random.permutation(len(batches)),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


