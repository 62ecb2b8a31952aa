"""Sizes that no memory has, or that no int64 counts: errors of TensorFlow's classes that name the op, in every run."""
import numpy as np
import pytest

import tfnb as tf
from tfnb.core import errors
from tfnb.graph.parts import constant_value
from tfnb.ops.declaration import evaluate
from tfnb.ops.declaration.raw import raw
from tfnb.runtime.runners import interpreter, program

HUGE = 1 << 44                      # elements: 64 TiB of float32, which no system promises
VECTOR = {
    "Fill": lambda n: tf.fill(n, 1.0), "Tile": lambda n: tf.tile(tf.ones([1]), n),
    "RandomUniform": tf.random_uniform, "TruncatedNormal": tf.truncated_normal,
    "BroadcastTo": lambda n: tf.broadcast_to(1.0, n),
    "ScatterNd": lambda n: raw.ScatterNd(tf.constant([[0]], tf.int64), [1.0], n),
    "SparseToDense": lambda n: raw.SparseToDense(tf.constant([0], tf.int64), n, 1.0, 0.0),
    "Pad": lambda n: tf.pad(tf.ones([1]), tf.stack([tf.zeros([1], tf.int64), n - 1], 1)),
}
SCALAR = {
    "Range": lambda n: tf.range(tf.constant(0, tf.int64), n), "LinSpace": lambda n: tf.linspace(0.0, 1.0, n),
    "UnsortedSegmentSum": lambda n: tf.unsorted_segment_sum([1.0], [0], n),
}
MAKERS = [*((name, fn, (1,)) for name, fn in VECTOR.items()), *((name, fn, ()) for name, fn in SCALAR.items())]


@pytest.mark.parametrize("type, make, shape", MAKERS, ids=[name for name, _, _ in MAKERS])
def test_no_memory_in_any_run(type, make, shape):
    count = tf.placeholder(tf.int64, shape)
    made = make(count)
    with tf.Session() as sess:
        for size in (HUGE, HUGE, HUGE, 5, 5, HUGE, 6):  # cold, compiled, warm
            given = {count: np.full(shape, size)}
            if size == HUGE:
                with pytest.raises(errors.ResourceExhaustedError) as caught:
                    sess.run(made, given)
                assert caught.value.op.type == type and repr(caught.value.op.name) in caught.value.message
            else:
                assert sess.run(made, given).shape == (size,)


@pytest.mark.parametrize("make", [lambda n: tf.fill(n, 1.0), lambda n: tf.tile(tf.ones([1, 1]), n), tf.random_uniform,
                                  lambda n: tf.broadcast_to(1.0, n) + 1.0])
def test_more_elements_than_int64_counts(make):
    sizes = tf.placeholder(tf.int64, [2])
    made = make(sizes)
    with tf.Session() as sess:
        for given in ([1 << 40, 1 << 40], [1 << 40, 1 << 40], [2, 3], [2, 3], [1 << 40, 1 << 40]):
            if given[0] == 2:
                assert sess.run(made, {sizes: given}).shape == (2, 3)
            else:
                with pytest.raises(errors.InvalidArgumentError, match=r"more than 2\*\*63 - 1 elements"):
                    sess.run(made, {sizes: given})
        with pytest.raises(errors.ResourceExhaustedError, match="OOM"):      # fewer elements, but more bytes
            sess.run(made, {sizes: [1 << 31, 1 << 31]})


def test_graphs_of_constants_take_no_memory_before_they_run(monkeypatch):
    sizes = []
    numpy = evaluate.evaluate
    monkeypatch.setattr(evaluate, "evaluate", lambda op, *args: sizes.append(op.type) or numpy(op, *args))
    for make in (lambda: tf.dynamic_stitch([[1 << 30]], [[1]]), lambda: tf.fill([HUGE], 1.0),
                 lambda: tf.unsorted_segment_sum([1.0], [0], HUGE), lambda: tf.tile([1.0], tf.constant([HUGE])),
                 lambda: tf.one_hot([1], 1 << 30)):
        sizes.clear()
        assert constant_value.constant_value(make()) is None
        assert not {"DynamicStitch", "Fill", "UnsortedSegmentSum", "Tile", "OneHot"} & set(sizes)


def no_memory(*args, **kwargs):
    raise MemoryError("Unable to allocate")


def test_the_memory_of_a_program(monkeypatch):
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.cumsum(tf.cumsum(x, name="wide"), name="also"), name="total")
    with tf.Session() as sess:
        assert sess.run(y, {x: [1, 2]}) == 5
        with monkeypatch.context() as patch:
            patch.setattr(program, "_aligned", no_memory)
            with pytest.raises(errors.ResourceExhaustedError, match="OOM.*'(wide|also)'.*bytes"):
                sess.run(y, {x: np.ones(100)})
        assert sess.run(y, {x: np.ones(100)}) == 171700


def test_the_memory_of_what_is_fetched(monkeypatch):
    x = tf.placeholder(tf.float32, [None])
    y, v = tf.tanh(x, name="y"), tf.get_variable("v", [3])
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(2):
            sess.run([y, v], {x: np.ones(100_000)})
        with monkeypatch.context() as patch:
            patch.setattr(program.Program, "results", no_memory)
            with pytest.raises(errors.ResourceExhaustedError, match="OOM.*'y'.*bytes"):
                sess.run(y, {x: np.ones(100_000)})
                sess.run(y, {x: np.ones(100_000)})
        with monkeypatch.context() as patch:
            patch.setattr(interpreter.Interpreted, "run", no_memory)
            with pytest.raises(errors.ResourceExhaustedError, match="OOM.*'v:0'"):
                sess.run(v)
        assert sess.run(v).shape == (3,)


def test_counts_beyond_int64_in_a_program(monkeypatch):
    def overflow(*args, **kwargs):
        raise OverflowError("Python int too large to convert to C long")
    x = tf.placeholder(tf.float32, [None])
    y = tf.tanh(x, name="y")
    with tf.Session() as sess:
        sess.run(y, {x: [1]})
        monkeypatch.setattr(program, "Tape", overflow)
        with pytest.raises(errors.ResourceExhaustedError, match="too large.*'y'"):
            sess.run(y, {x: [1]})


def test_a_variable_without_memory_keeps_its_value():
    v = tf.get_variable("v", initializer=[1.0], validate_shape=False)
    size = tf.placeholder(tf.int64, [1])
    assign = tf.assign(v, tf.fill(size, 2.0), validate_shape=False)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(3):
            with pytest.raises(errors.ResourceExhaustedError):
                sess.run(assign, {size: [HUGE]})
            assert sess.run(v).tolist() == [1]
        assert sess.run(assign, {size: [2]}).tolist() == [2, 2]
