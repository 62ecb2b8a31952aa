"""Convolutions and pools in graphs: values, names and errors as in TensorFlow, gradients, compiled and interpreted."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tfnb.compile.planning.order import prune
from tfnb.core.options import options

RNG = np.random.default_rng(5)


def interpreted_and_compiled(fetches, feed):
    """The first run is interpreted, the second and third compiled: these two give the same bits."""
    with tf.Session() as sess:
        first, second, third = (sess.run(fetches, feed) for _ in range(3))
    for a, b, c in zip(first, second, third, strict=True):
        np.testing.assert_array_equal(b, c)
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)
    return first


def differences(loss, x, value, sess, feed, delta=1e-3):
    """The gradient of `loss` at some places of `x`, by finite differences: (places, numbers)."""
    places = [tuple(RNG.integers(0, n) for n in value.shape) for _ in range(6)]
    numbers = []
    for place in places:
        ends = []
        for sign in (1, -1):
            moved = value.copy()
            moved[place] += sign * delta
            ends.append(sess.run(loss, {**feed, x: moved}))
        numbers.append((ends[0] - ends[1]) / (2 * delta))
    return places, numbers


PROGRAMS = {
    "same": lambda x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"),
    "groups": lambda x, w: tf.nn.conv2d(tf.concat([x, 2 * x], 3), w, [1, 2, 1, 1], "SAME"),
    "strides": lambda x, w: tf.nn.conv2d(x, w, [1, 2, 3, 1], "VALID"),
    "dilations": lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", dilations=[2, 1]),
    "explicit": lambda x, w: tf.nn.conv2d(x, w, [2], [[0, 0], [1, 2], [0, 3], [0, 0]]),
    "nchw": lambda x, w: tf.nn.conv2d(tf.transpose(x, [0, 3, 1, 2]), w, 1, "SAME", data_format="NCHW"),
    "depthwise": lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"),
    "depthwise strides": lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "VALID"),
    "atrous": lambda x, w: tf.nn.atrous_conv2d(x, w, 2, "SAME"),
    "transpose": lambda x, w: tf.nn.conv2d_transpose(x, tf.transpose(w, [0, 1, 3, 2]), [2, 14, 12, 4], 2),
    "max": lambda x, w: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME") * tf.reduce_sum(w),
    "avg": lambda x, w: tf.nn.avg_pool(x, 3, 2, "SAME") * tf.reduce_sum(w),
    "conv1d": lambda x, w: tf.nn.conv1d(x[:, 0], w[0], 2, "SAME"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_and_their_gradients(name):
    x, w = tf.placeholder(tf.float64, [2, 7, 6, 3]), tf.placeholder(tf.float64, [3, 2, 3, 4])
    y = PROGRAMS[name](x, w)
    loss = tf.reduce_sum(tf.square(y))
    first = tf.gradients(loss, [x, w])
    weights = np.arange(2 * 7 * 6 * 3.0).reshape(2, 7, 6, 3)
    second = tf.reduce_sum(first[0] * weights) + tf.reduce_sum(tf.square(first[1]))
    feed = {x: RNG.normal(size=(2, 7, 6, 3)), w: RNG.normal(size=(3, 2, 3, 4))}
    with tf.Session() as sess:
        for value in (loss, second) if name != "conv1d" else (loss,):
            for tensor, gradient in zip((x, w), tf.gradients(value, [x, w]), strict=True):
                found = sess.run(gradient, feed)
                places, numbers = differences(value, tensor, feed[tensor], sess, feed, 1e-5)
                noise = 1e-2 + 1e-8 * np.abs(numbers).max()            # of a difference of large sums
                np.testing.assert_allclose([found[p] for p in places], numbers, rtol=2e-4, atol=noise)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_is_interpreted(name):
    x, w = tf.placeholder(tf.float32, [None, 7, None, 3]), tf.placeholder(tf.float32, [3, 2, 3, 4])
    y = PROGRAMS[name](x, w)
    feed = {x: RNG.normal(size=(2, 7, 6, 3)).astype("f"), w: RNG.normal(size=(3, 2, 3, 4)).astype("f")}
    interpreted_and_compiled([y, *tf.gradients(y, [x, w])], feed)


def test_results_do_not_depend_on_threads():
    x, w = tf.placeholder(tf.float32, [12, 20, 20, 16]), tf.placeholder(tf.float32, [5, 5, 16, 40])
    y = tf.nn.max_pool(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")), 2, 2, "SAME")
    fetches = [y, *tf.gradients(tf.square(y), [x, w])]
    feed = {x: RNG.normal(size=x.shape.as_list()).astype("f"), w: RNG.normal(size=w.shape.as_list()).astype("f")}
    before, found = options.threads, []
    try:
        for threads in (1, 2, 3):
            options.threads = threads
            with tf.Session() as sess:
                found.append([sess.run(fetches, feed) for _ in range(3)][2])
    finally:
        options.threads = before
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_half_precision(dtype):
    x, w = tf.placeholder(tf.float32, [2, 6, 6, 3]), tf.placeholder(tf.float32, [3, 3, 3, 4])
    small = tf.nn.conv2d(tf.cast(x, dtype), tf.cast(w, dtype), 1, "SAME")
    pooled = tf.nn.avg_pool(tf.nn.max_pool(small, 2, 1, "SAME"), 2, 2, "VALID")
    whole = tf.nn.avg_pool(tf.nn.max_pool(tf.nn.conv2d(x, w, 1, "SAME"), 2, 1, "SAME"), 2, 2, "VALID")
    with tf.Session() as sess:
        got, want = sess.run([tf.cast(pooled, tf.float32), whole],
                             {x: RNG.normal(size=(2, 6, 6, 3)), w: RNG.normal(size=(3, 3, 3, 4))})
    np.testing.assert_allclose(got, want, rtol=0.05, atol=0.1)


def test_a_gradient_of_the_input_that_nobody_wants_is_not_computed():
    """The optimizer ties the gradients of an op together by control inputs; nothing else needs this one."""
    x = tf.placeholder(tf.float32, [4, 8, 8, 1])
    w = tf.Variable(tf.ones([3, 3, 1, 2]))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME")))
    needed = {op.type for op in prune([], [train], [x])}
    assert "Conv2DBackpropFilter" in needed and "Conv2DBackpropInput" not in needed


def test_unknown_shapes():
    x, w = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [3, 3, None, 4])
    assert tf.nn.conv2d(x, w, 1, "SAME").shape.as_list() == [None, None, None, 4]
    assert tf.nn.max_pool(x, 2, 2, "SAME").shape.as_list() == [None] * 4
    some = tf.placeholder(tf.float32, [None, 28, None, 3])
    assert tf.nn.conv2d(some, w, 2, "VALID").shape.as_list() == [None, 13, None, 4]
    unknown = tf.placeholder(tf.float32, [None, None, 3, 4])
    assert tf.nn.conv2d(some, unknown, 2, "VALID").shape.as_list() == [None, None, None, 4]
    assert tf.nn.conv2d(some, unknown, 2, "SAME").shape.as_list() == [None, 14, None, 4]
    sizes = tf.stack([tf.shape(some)[0], 56, 56, 3])
    assert tf.nn.conv2d_transpose(tf.placeholder(tf.float32, [None, 28, 28, 4]), tf.ones([3, 3, 3, 4]), sizes,
                                  2).shape.as_list() == [None, 56, 56, 3]


def test_arguments_of_all_releases():
    x, w = tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 2, 1])
    ways = [tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"),
            tf.nn.conv2d(input=x, filter=w, strides=[1, 1, 1, 1], padding="SAME"),
            tf.nn.conv2d(x, filters=w, strides=1, padding="SAME"),
            tf.nn.conv2d(x, w, [1, 1], "SAME", None, None, name="c"),
            tf.nn.convolution(x, w, "SAME"), tf.nn.conv2d(x, w, 1, [[0, 0], [1, 1], [1, 1], [0, 0]])]
    pools = [tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
             tf.nn.max_pool(value=x, ksize=2, strides=2, padding="SAME"),
             tf.nn.max_pool(input=x, ksize=[2], strides=[2, 2], padding="VALID", data_format="NHWC", name="p"),
             tf.nn.max_pool_v2(x, 2, 2, "SAME")]
    with tf.Session() as sess:
        for same in (ways, pools):
            values = sess.run(same)
            for value in values[1:]:
                np.testing.assert_array_equal(value, values[0])


ERRORS = [
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([5, 5, 3, 2]), 1, 'VALID')", ValueError, "subtracting 5 from 4.*Conv2D"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 2, 2]), 1, 'VALID')", ValueError,
     r"Depth of input \(3\) is not a multiple"),
    ("tf.nn.conv2d(z([1, 4, 4, 4]), z([3, 3, 2, 3]), 1, 'VALID')", ValueError, "not a multiple of the number"),
    ("tf.nn.conv2d(z([4, 4, 3]), z([3, 3, 3, 2]), 1, 'VALID')", ValueError, "must be rank 4 but is rank 3"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 3, 2]), 1, 'VALIDD')", ValueError, "VALIDD"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 3, 2]), [1, 1, 1], 'VALID')", ValueError, "length 1, 2 or 4"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 3, 2]), 0, 'VALID')", ValueError, "Stride must be > 0, but got 0"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 3, 2]), 1, 'VALID', dilations=0)", ValueError, "must be >= 1, but got 0"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 3, 2]), 1, [[0, 0], [1, 1]])", ValueError, "must be of size 4"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 3, 2]), 1, [[1, 0], [1, 1], [0, 0], [0, 0]])", ValueError,
     "Nonzero explicit padding in the batch"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 3, 2]), 1, None)", TypeError, "Expected string for argument 'padding'"),
    ("tf.nn.conv2d(z([1, 4, 4, 3]), z([3, 3, 3, 2]), 1, 'SAME', data_format='NWHC')", ValueError, "NWHC"),
    ("tf.nn.max_pool(z([1, 4, 4, 3]), 5, 1, 'VALID')", ValueError, "subtracting 5 from 4.*MaxPool"),
    ("tf.nn.max_pool(z([1, 4, 4, 3]), [1, 2, 2], 1, 'VALID')", ValueError, "ksize should be of length 1, 2 or 4"),
    ("tf.nn.avg_pool(np.zeros([1, 4, 4, 4], 'i'), 2, 2, 'SAME')", TypeError, "int32"),
    ("tf.nn.conv2d_transpose(z([1, 4, 4, 3]), z([3, 3, 2, 4]), [1, 8, 8, 2], 2)", ValueError,
     "must be equal, but are 3 and 4"),
    ("tf.nn.depthwise_conv2d(z([1, 4, 4, 3]), z([3, 3, 2, 4]), [1, 1, 1, 1], 'SAME')", ValueError, "are 3 and 2"),
]


@pytest.mark.parametrize("snippet, error, message", ERRORS, ids=range(len(ERRORS)))
def test_errors_of_building(snippet, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        eval(snippet, {"tf": tf, "np": np, "z": lambda shape: np.zeros(shape, "f")})


def test_errors_of_building_are_tensorflows(oracle):
    snippets = [(snippet, error.__name__) for snippet, error, _ in ERRORS]
    found = oracle("""
def error_of(snippet):
    try:
        eval(snippet, {"tf": tf, "np": np, "z": lambda shape: np.zeros(shape, "f")})
    except Exception as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
result = [error_of(snippet) for snippet, _ in snippets]""", snippets=snippets)
    assert found == [error for _, error in snippets]


def test_errors_of_running_name_the_op():
    x = tf.placeholder(tf.float32)
    y = tf.nn.conv2d(x, np.zeros([3, 3, 3, 2], "f"), 1, "VALID", name="layer")
    walked = tf.nn.max_pool(tf.ones([2, 4, 4, 3]), [2, 2, 2, 1], 1, "VALID")
    with tf.Session() as sess:
        for shape in ([1, 4, 4, 4], [1, 2, 2, 3], [4, 4, 3]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="layer"):
                sess.run(y, {x: np.zeros(shape, "f")})
        assert sess.run(y, {x: np.zeros([1, 4, 4, 3], "f")}).shape == (1, 2, 2, 2)
        for shape in ([1, 4, 4, 4], [1, 2, 2, 3]):                 # now compiled
            with pytest.raises(tf.errors.InvalidArgumentError, match="layer"):
                sess.run(y, {x: np.zeros(shape, "f")})
        with pytest.raises(tf.errors.UnimplementedError, match="batch and depth"):
            sess.run(walked)


# TensorFlow has no gradients of dilated and of grouped Conv2D on CPUs (without oneDNN): not those of these two.
VALUES = """
rng = np.random.RandomState(0)
x, w = tf.constant(rng.randn(2, 9, 8, 6).astype("f")), tf.constant(rng.randn(3, 3, 6, 4).astype("f"))
wide = tf.constant(rng.randn(1, 1, 24, 5).astype("f"))
ys = [tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), tf.nn.conv2d(x, w, 2, "VALID"), tf.nn.conv2d(x, w, [2, 3], "SAME"),
      tf.nn.conv2d(x, w, 1, "SAME", dilations=2), tf.nn.conv2d(x, w, 1, [[0, 0], [2, 1], [0, 3], [0, 0]]),
      tf.nn.conv2d_transpose(x, tf.transpose(w, [0, 1, 3, 2]), [2, 18, 16, 4], 2),
      tf.nn.conv1d(x[:, 0], w[0], 2, "SAME"), tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"),
      tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "VALID"), tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME", [2, 3]),
      tf.nn.separable_conv2d(x, w, wide, [1, 1, 1, 1], "SAME"), tf.nn.atrous_conv2d(x, w, 2, "VALID"),
      tf.nn.convolution(x, w, "SAME", dilation_rate=[2, 2]), tf.nn.max_pool(x, [1, 3, 2, 1], [1, 2, 1, 1], "SAME"),
      tf.nn.max_pool(x, 2, 2, "VALID"), tf.nn.avg_pool(x, 3, 2, "SAME"), tf.nn.avg_pool(x, 2, 1, "VALID"),
      tf.nn.lrn(x), tf.nn.lrn(x, 2, bias=1.5, alpha=0.3, beta=0.75),
      tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0],
      tf.nn.conv2d(tf.concat([x, x + 1], 3), w, 1, "SAME")]
outs = ys + [g for y in ys[:3] + ys[4:-1] for g in tf.gradients(tf.square(y), [x, w]) if g is not None]
outs.append(tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[1])
outs.append(tf.gradients(tf.gradients(tf.square(ys[13]), x)[0] ** 2, x)[0])
with tf.Session() as sess:
    result = [[sess.run(out) for out in outs] for _ in range(2)][1]
"""


def test_values_are_tensorflows(oracle):
    scope = {"tf": tf, "np": np}
    exec(VALUES, scope)
    for i, (ours, theirs) in enumerate(zip(scope["result"], oracle(VALUES), strict=True)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-3, err_msg=str(i))
