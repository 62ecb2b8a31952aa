"""Small functions at the edges of what they take: by formulas, in interpreted and compiled runs."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfnb as tf
from tfnb.core.options import options
from tfnb.ops.nn.pool import MaxPool


def runs(fetches, feed=None):
    """What three runs give, the first of which is interpreted: all the same but for the last bits."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(fetches, feed) for _ in range(3)]
    for other in found[1:]:
        for again, first in zip(*((run if isinstance(run, list) else [run]) for run in (other, found[0])), strict=True):
            np.testing.assert_allclose(again, first, rtol=1e-6 if first.dtype.itemsize < 8 else 1e-14)
    return found[0]


def test_in_top_k_of_no_classes():
    x = tf.placeholder(tf.float32, [None, 0])
    with tf.Session() as sess:
        for _ in range(2):
            assert sess.run(tf.nn.in_top_k(x, [0, -1], 1), {x: np.zeros((2, 0))}).tolist() == [False, False]


def test_in_top_k():
    predictions = np.array([[3.0, 2.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 2.0], [np.inf, 1.0, 0.0],
                            [1.0, np.nan, 0.0]], "f")
    for k, want in ((1, [[1, 0, 0], [1, 1, 0], [0, 0, 1]]), (2, [[1, 1, 0], [1, 1, 0], [0, 1, 1]])):
        for target in range(3):
            tf.reset_default_graph()
            found = runs(tf.nn.in_top_k(predictions, [target] * 5, k))
            assert found.tolist() == [bool(row[target]) for row in want] + [False, False]
    for target in (-1, 3):
        assert not runs(tf.nn.in_top_k(predictions, np.array([target] * 5, np.int64), 3)).any()


@pytest.mark.parametrize("full", [True, False])
def test_log_poisson_loss(full):
    y, x = np.array([0.0, 0.25, 0.99, 1.0, 1.01, 2.0, 7.0]), np.linspace(-1.0, 2.0, 7)
    want = np.exp(x) - x * y
    if full:                                        # Stirling's approximation is for more than one only
        with np.errstate(divide="ignore", invalid="ignore"):
            want += np.where(y <= 1, 0.0, y * np.log(y) - y + 0.5 * np.log(2 * np.pi * y))
    found = runs(tf.nn.log_poisson_loss(y, x, compute_full_loss=full))
    np.testing.assert_allclose(found, want, rtol=1e-12)


@pytest.mark.parametrize("rows, columns", [(3, None), (2, 3), (3, 2), (3, 3), (1, 4), (0, 2)])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("lead", [None, [2]])
def test_identity_matrices(rows, columns, known, lead):
    given = [None if n is None else n if known else tf.constant(n) for n in (rows, columns)]
    found = runs(tf.eye(*given, batch_shape=lead, dtype=tf.int32))
    want = np.eye(rows, columns, dtype=np.int32)
    np.testing.assert_array_equal(found, want if lead is None else [want, want])


@pytest.mark.parametrize("arguments", [(0,), (5,), (2, 5), (5, 2, -1), (2, 9, 3), (9, 2, -3), (0.0, 1.0, 0.25), (3, 3),
                                       (0.5, 2.6, 1.0), (5, 2, -2)])
def test_ranges(arguments):
    places = [tf.placeholder(tf.int32 if isinstance(number, int) else tf.float32, []) for number in arguments]
    made, fed = tf.range(*arguments), tf.range(*places)
    want = np.arange(*arguments)
    assert made.shape.as_list() == [len(want)] and fed.shape.as_list() == [None]
    np.testing.assert_allclose(runs(made), want)
    np.testing.assert_allclose(runs(fed, dict(zip(places, arguments, strict=True))), want)


@pytest.mark.parametrize("arguments, words", [((0, 5, 0), "delta != 0"), ((5, 0), "start <= limit when delta > 0"),
                                              ((0, 5, -1), "start >= limit when delta < 0")])
def test_ranges_that_can_not_be(arguments, words):
    with pytest.raises(ValueError, match=words):
        tf.range(*arguments)
    places = [tf.placeholder(tf.int32, []) for _ in arguments]
    made = tf.range(*places)
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(made, dict(zip(places, arguments, strict=True)))


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_cross_entropy_of_half_precision_is_computed_in_single(dtype, axis):
    rng = np.random.RandomState(1)
    logits = (rng.randn(3, 4) * 5).astype(dtype.as_numpy_dtype)
    labels = rng.dirichlet(np.ones(4), 3)
    labels = (labels if axis else rng.dirichlet(np.ones(3), 4).T).astype(dtype.as_numpy_dtype)
    made = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=tf.constant(logits), axis=axis)
    used, = (op for op in tf.get_default_graph().get_operations() if op.type == "SoftmaxCrossEntropyWithLogits")
    assert used.get_attr("T") == (dtype if dtype.size >= 4 else tf.float32)
    assert made.dtype == dtype and made.shape.as_list() == [3 if axis else 4]
    x, y = logits.astype(np.float64), labels.astype(np.float64)
    want = -(y * (x - np.log(np.exp(x).sum(axis, keepdims=True)))).sum(axis)
    np.testing.assert_allclose(runs(made).astype(np.float64), want, rtol={2: 1e-2, 4: 1e-5, 8: 1e-12}[dtype.size])


def test_sparse_cross_entropy_of_half_precision():
    logits = np.array([[8.0, -8.0, 1.0], [0.0, 0.5, 20.0]], np.float16)
    made = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=tf.constant(logits))
    assert made.dtype == tf.float16
    x = logits.astype(np.float64)
    np.testing.assert_allclose(runs(made), np.log(np.exp(x).sum(1)) - [x[0, 1], x[1, 2]], rtol=1e-3, atol=1e-6)


PADDINGS = [([[0, 0], [1, 2], [0, 3], [0, 0]], True), (((0, 0), (1, 1), (1, 1), (0, 0)), True),
            ([[0, 0], [1, 2], [0, 3]], False), ([0, 1, 1, 0], False), ([[0, 0], [1], [1, 1], [0, 0]], False),
            ([[0, 0], [1, 1, 1], [1, 1], [0, 0]], False), ([[0, 0], [1, 1], 3, [0, 0]], False), ("EXPLICIT", False)]


@pytest.mark.parametrize("padding, good", PADDINGS)
def test_explicit_paddings(padding, good):
    x, w = np.random.RandomState(1).rand(2, 5, 6, 3).astype("f"), np.ones((2, 2, 3, 1), "f")
    if not good:
        with pytest.raises(ValueError, match="padding"):
            tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding=padding)
        return
    made = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding=padding)
    wide = np.pad(x, padding)
    want = sum(wide[:, i:wide.shape[1] - 1 + i, j:wide.shape[2] - 1 + j].sum(-1)
               for i, j in itertools.product((0, 1), (0, 1)))
    np.testing.assert_allclose(runs(made)[..., 0], want, rtol=1e-5)


@pytest.mark.parametrize("side, padding", [("Top", [[2, 0], [0, 0]]), ("Right", [[0, 1], [1, 3]])])
def test_a_pool_s_padding_is_less_than_its_window(side, padding):
    x = tf.placeholder(tf.float32, [1, 4, 4, 1])
    made = MaxPool(x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="EXPLICIT",
                   explicit_paddings=[0, 0, *padding[0], *padding[1], 0, 0])
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"{side} padding . needs to be smaller than the "
                                                                     "window size 2"):
                sess.run(made, {x: np.ones((1, 4, 4, 1))})


@pytest.mark.parametrize("indices, updates, error", [
    ([2], [], None), ([4, 2], [4], None), ([4, 1], [4, 5], None), ([3, 4, 1], [3, 4, 5], None),
    ([3, 4, 2], [3, 4], None),
    ([0], [4, 5], None), ([2, 0], [2, 4, 5], None), ([4, 3], [4], "at most the rank"),
    ([4, 2], [4, 5], "shape|Shape|Dim"),
    ([3, 4, 1], [3, 4], "shape|Shape|Dim"), ([4, 1], [4], "shape|Shape|Dim"), ([], [4, 5], "at least one axis")])
def test_shapes_of_scattered_updates(indices, updates, error):
    v = tf.Variable(tf.zeros([4, 5]))
    at, more = tf.placeholder(tf.int32, indices), tf.placeholder(tf.float32, updates)
    if error:
        with pytest.raises(ValueError, match=error):
            tf.scatter_nd_add(v, at, more)
        return
    made = tf.scatter_nd_add(v, at, more)
    assert made.shape.as_list() == [4, 5]
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run(made, {at: np.zeros(indices, np.int32), more: np.ones(updates, "f")})
    assert found.sum() == np.prod(updates)


def test_static_shapes_of_image_files():
    data = tf.placeholder(tf.string, [])
    assert tf.image.extract_jpeg_shape(data).shape.as_list() == [3]
    with pytest.raises(ValueError):
        tf.image.extract_jpeg_shape(tf.placeholder(tf.string, [2]))
    assert tf.image.decode_png(data, channels=3).shape.as_list() == [None, None, 3]
    assert tf.image.encode_png(tf.placeholder(tf.uint8, [2, 3, 1])).shape.as_list() == []


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("known", [True, False])
def test_gradients_of_concat(axis, known):
    arrays = [np.full((2, 3), k, "f") for k in (1.0, 2.0, 3.0)]
    parts = [tf.placeholder(tf.float32, [2, 3] if known else None) for _ in arrays]
    weights = np.arange(18.0, dtype="f").reshape((6, 3) if axis in (0, -2) else (2, 9))
    grads = tf.gradients(tf.concat(parts, axis) * weights, parts)
    for found, want in zip(runs(grads, dict(zip(parts, arrays, strict=True))), np.split(weights, 3, axis), strict=True):
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_negative_exponents(dtype):
    x, y = np.array([2, 3], dtype), np.array([2, -1], dtype)
    places = [tf.placeholder(dtype, [2]) for _ in range(2)]
    made = tf.pow(*places)
    if dtype.startswith("float"):
        np.testing.assert_allclose(runs(made, dict(zip(places, (x, y), strict=True))), [4, 1 / 3], rtol=1e-6)
        return
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Integers to negative integer powers"):
                session.run(made, dict(zip(places, (x, y), strict=True)))
            assert session.run(made, dict(zip(places, (x, abs(y)), strict=True))).tolist() == [4, 3]


def test_derivatives_of_tanh():
    x = tf.placeholder(tf.float64, [5])
    y = tf.tanh(x)
    weights = np.array([1.0, -2.0, 3.0, 0.5, 2.0])
    first, = tf.gradients(y * weights, x)
    second, = tf.gradients(first * weights[::-1], x)
    at = np.linspace(-1.0, 1.5, 5)
    t = np.tanh(at)
    np.testing.assert_allclose(runs(first, {x: at}), weights * (1 - t * t), rtol=1e-12)
    np.testing.assert_allclose(runs(second, {x: at}), weights * weights[::-1] * -2 * t * (1 - t * t), rtol=1e-12)


def test_initial_values_of_other_variables():
    """In one run of all initializers, whatever their order."""
    with tf.variable_scope("outer"):
        c = tf.Variable(lambda: tf.constant(3.0), name="c")
    chain = [tf.Variable(2.0, name="a")]
    for _ in range(4):
        chain.append(tf.Variable(chain[-1] * 2.0 + c, name="b"))
    by_value = tf.Variable(chain[1].initialized_value() + 1.0)
    looped = tf.Variable(lambda: tf.while_loop(lambda i: i < 5, lambda i: i + 1, [0]))
    with tf.Session() as session:
        for _ in range(2):
            session.run(tf.variables_initializer([by_value, looped, *reversed(chain), c]))
            assert session.run(chain) == [2.0, 7.0, 17.0, 37.0, 77.0] and session.run([by_value, looped]) == [8.0, 5]


@pytest.mark.parametrize("x_shape, w_shape, op", [
    ([0, 5, 6, 3], [2, 2, 3, 4], "conv2d"), ([0, 5, 6, 3], [2, 2, 3, 4], "depthwise"),
    ([0, 5, 6, 3], [2, 2, 3, 4], "transpose"), ([2, 5, 6, 3], [2, 2, 3, 0], "conv2d"),
    ([2, 5, 6, 3], [2, 2, 3, 0], "depthwise")])
def test_convolutions_of_nothing(x_shape, w_shape, op, monkeypatch):
    """Sums over nothing are 0, and gradients have the shapes of what they are by; compiled and not."""
    for mode in ("never", "always"):
        monkeypatch.setattr(options, "compile", mode)
        tf.reset_default_graph()
        x, w = tf.placeholder(tf.float32, x_shape), tf.placeholder(tf.float32, w_shape)
        if op == "conv2d":
            y = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="VALID")
        elif op == "depthwise":
            y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
        else:
            y = tf.nn.conv2d_transpose(x, tf.transpose(w, [0, 1, 3, 2]), [x_shape[0], 6, 7, w_shape[3]], [1, 1, 1, 1],
                                       "VALID")
        feed = {x: np.ones(x_shape, "f"), w: np.ones(w_shape, "f")}
        with tf.Session() as session:
            found = session.run([y, *tf.gradients(y, [x, w])], feed)
        assert [value.shape for value in found] == [tuple(y.shape.as_list()), tuple(x_shape), tuple(w_shape)]
        assert not any(value.any() for value in found)


@pytest.mark.parametrize("make, limit", [
    (lambda: tf.uniform_unit_scaling_initializer(seed=1), np.sqrt(3 / 50)),
    (lambda: tf.uniform_unit_scaling_initializer(2.0, seed=1), 2 * np.sqrt(3 / 50)),
    (lambda: tf.uniform_unit_scaling_initializer(1.43, seed=1, dtype=tf.float64), 1.43 * np.sqrt(3 / 50)),
    (lambda: tf.random_uniform_initializer(seed=1), None),
    (lambda: tf.random_uniform_initializer(-0.5, 0.5, seed=1), 0.5)])
def test_limits_of_uniform_initializers(make, limit):
    made = make()([50, 400]) - (0.0 if limit else 0.5)
    limit = limit or 0.5
    with tf.Session() as session:
        found = session.run(made)
    assert found.min() < -0.99 * limit and found.max() > 0.99 * limit and abs(found).max() <= limit


def test_numbers_beside_tensors_have_their_dtype():
    """In lists of inputs of one dtype, the first tensor decides."""
    for dtype in (tf.float64, tf.int8, tf.float16):
        x = tf.constant([1, 2], dtype)
        for given in ([[3, 4], x], [x, [3, 4]], [[1, 1], [3, 4], x]):
            assert tf.stack(given).dtype == tf.concat(given, 0).dtype == dtype
    with pytest.raises((TypeError, ValueError)):
        tf.stack([tf.constant(1, tf.int8), tf.constant(1, tf.int16)])


@pytest.mark.parametrize("params, indices", [((3, 4), (2,)), ((3, 4), (5, 1)), ((3, 4), (5, 2)), ((3, 4, 2), (2, 3, 2)),
                                             ((3,), (1,)), ((3, 4), (2, 0))])
def test_gather_nd_checks_each_coordinate(params, indices):
    x = np.arange(np.prod(params), dtype="f").reshape(params)
    places = tf.placeholder(tf.int32, indices)
    made, depth = tf.gather_nd(x, places), indices[-1]
    at = np.stack([np.full(indices[:-1], n - 1) for n in params[:depth]], -1) if depth else np.zeros(indices, int)
    want = x[tuple(np.moveaxis(at, -1, 0))] if depth else np.broadcast_to(x, indices[:-1] + params)
    np.testing.assert_array_equal(runs(made, {places: at}), want)
    with tf.Session() as session:
        for axis in range(depth):
            for value in (-1, params[axis]):
                wrong = at.copy()
                wrong[..., axis] = value
                for _ in range(3):
                    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into|indices"):
                        session.run(made, {places: wrong})


@pytest.mark.parametrize("sizes", [[2, -5, 6, 3], [-2, 5, 6, 3], [2, 5, 6, -3]])
def test_sizes_of_gradients_are_not_negative(sizes):
    dy, w, given = tf.zeros([2, 5, 6, 4]), tf.zeros([1, 1, 3, 4]), tf.placeholder(tf.int32, [4])
    with pytest.raises(ValueError):
        tf.nn.conv2d_backprop_input(sizes, w, dy, [1, 1, 1, 1], "SAME")
    made = tf.nn.conv2d_backprop_input(given, w, dy, [1, 1, 1, 1], "SAME")
    assert tf.nn.conv2d_backprop_input([2, 5, 6, 3], w, dy, [1, 1, 1, 1], "SAME").shape.as_list() == [2, 5, 6, 3]
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(made, {given: sizes})
            assert session.run(made, {given: [2, 5, 6, 3]}).shape == (2, 5, 6, 3)


@pytest.mark.parametrize("beside", [True, False])
def test_a_tensor_array_goes_where_its_first_value_is(beside):
    with tf.device("/job:ps/task:1"):
        value = tf.constant(1.0, name="value")
    array = tf.TensorArray(tf.float32, 2, colocate_with_first_write_call=beside)
    written = array.write(0, value).write(1, 2.0)
    assert [op.colocation_groups() for op in (written.flow.op, written.flow.op.inputs[3].op)] == (
        [[b"loc:@value"]] * 2 if beside else [[b"loc:@" + op.name.encode()] for op in (
            written.flow.op, written.flow.op.inputs[3].op)])


@pytest.mark.parametrize("indices", [(), (4,), (2, 3), (0,)])
def test_the_gather_of_old_graphs(indices):
    """It has no axis: rows are taken."""
    x = np.arange(12.0, dtype="f").reshape(3, 4)
    at = np.random.RandomState(1).randint(0, 3, indices)
    for places in (tf.constant(at, tf.int32), tf.placeholder(tf.int64, indices)):
        made = tf.get_default_graph().create_op("Gather", [tf.constant(x), places]).outputs[0]
        assert made.shape.as_list() == [*indices, 4]
        feed = {} if places.op.type == "Const" else {places: at}
        np.testing.assert_array_equal(runs(made, feed), x[at])
    places = tf.placeholder(tf.int32, [2])
    made = tf.get_default_graph().create_op("Gather", [tf.constant(x), places]).outputs[0]
    with tf.Session() as session:
        for wrong in ([0, 3], [-1, 0]):
            for _ in range(3):
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[0, 3\)"):
                    session.run(made, {places: wrong})


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_means_of_segments_of_which_one_is_empty(dtype):
    x = (np.arange(8).reshape(4, 2) * (1 + 2j if dtype.startswith("complex") else 1)).astype(dtype)
    found = runs([tf.unsorted_segment_mean(x, [2, 0, 2, 2], 4), tf.unsorted_segment_sqrt_n(x, [2, 0, 2, 2], 4)])
    rows = [x[1], 0 * x[0], x[[0, 2, 3]].sum(0), 0 * x[0]]
    np.testing.assert_allclose(found[0], np.array(rows) / np.array([[1], [1], [3], [1]]), rtol=1e-6)
    np.testing.assert_allclose(found[1], np.array(rows) / np.sqrt([[1], [1], [3], [1]]), rtol=1e-6)
