"""What 0.x called otherwise, and what Python 2 took: orders of arguments, names, numbers and iterables."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

LOGITS, LABELS = np.random.RandomState(0).randn(4, 3).astype("f"), np.eye(3, dtype="f")[[0, 1, 2, 0]]
CLASSES = np.array([0, 1, 2, 0], np.int32)


def run(*fetches, feeds=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, feeds) for _ in range(2)][1]


@pytest.mark.parametrize("loss, labels", [
    (tf.nn.softmax_cross_entropy_with_logits, LABELS), (tf.nn.sigmoid_cross_entropy_with_logits, LABELS),
    (tf.nn.sparse_softmax_cross_entropy_with_logits, CLASSES)])
def test_losses_called_by_position_take_logits_first(loss, labels):
    logits = tf.constant(LOGITS)
    wanted = loss(labels=labels, logits=logits)
    for made in (loss(logits, labels), loss(logits, labels=labels), loss(None, labels, logits),
                 loss(logits=logits, targets=labels)):
        np.testing.assert_array_equal(*run(made, wanted))
    assert "mine" in loss(logits, labels, "mine").name and "yours" in loss(logits, labels, name="yours").name
    with pytest.raises(ValueError, match="positions and keywords both give logits"):
        loss(labels, logits=logits)
    with pytest.raises(ValueError, match="Both `labels` and `logits` must be provided"):
        loss(logits)
    with pytest.raises(ValueError, match="Cannot specify both 'targets' and 'labels'"):
        loss(logits, labels=labels, targets=labels)
    with pytest.raises(TypeError, match="positional arguments, got 9"):
        loss(logits, labels, *"abcdefg")


def test_softmax_cross_entropy_takes_the_axis_third():
    loss = tf.nn.softmax_cross_entropy_with_logits
    np.testing.assert_array_equal(*run(loss(LOGITS, LABELS, 0), loss(labels=LABELS, logits=LOGITS, dim=0)))


@pytest.mark.parametrize("loss", [tf.nn.nce_loss, tf.nn.sampled_softmax_loss])
def test_sampled_losses_tell_inputs_from_labels(loss):
    weights, biases = tf.constant(np.random.RandomState(1).randn(9, 3).astype("f")), tf.zeros([9])
    labels = CLASSES[:, None]
    drawn = tf.nn.log_uniform_candidate_sampler(tf.constant(labels, tf.int64), 1, 3, True, 9, seed=1)
    old, new, named, floats = run(*(loss(weights, biases, *given, num_sampled=3, num_classes=9, sampled_values=drawn,
                                         **more)
                                    for given, more in (((LOGITS, labels), {}), ((labels, LOGITS), {}),
                                                        ((), {"inputs": LOGITS, "labels": labels}),
                                                        ((labels.astype("f"), LOGITS), {}))))
    for other in (new, named, floats):
        np.testing.assert_array_equal(old, other)


@pytest.mark.parametrize("divide, divisor", [
    (tf.floordiv, 0), (tf.floormod, 0), (tf.div, 0), (tf.truncatediv, 0), (tf.truncatemod, 0), (tf.pow, -1)])
def test_values_of_an_empty_output_are_not_checked(divide, divisor):
    x, y = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    z = divide(x, y)
    with tf.Session() as sess:
        for _ in range(3):                         # interpreted, compiled, from the cache
            assert sess.run(z, {x: np.zeros([0, 2]), y: divisor}).shape == (0, 2)
            assert sess.run(z, {x: np.zeros([3, 1]), y: np.full([0], divisor)}).shape == (3, 0)
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(z, {x: [[1]], y: divisor})


def test_the_linear_regression_that_everybody_copies():
    """Scalars fed to placeholders of unknown rank: the gradient of reduce_mean divides by the size of a scalar."""
    x, y = tf.placeholder("float"), tf.placeholder("float")
    weight, bias = tf.Variable(0.3, name="weight"), tf.Variable(-0.2, name="bias")
    cost = tf.reduce_sum(tf.pow(tf.add(tf.multiply(x, weight), bias) - y, 2)) / 2
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(cost))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(60):
            for a in (-1.0, 0.0, 1.0):
                sess.run(step, feed_dict={x: a, y: 2 * a + 1})
        np.testing.assert_allclose(sess.run([weight, bias]), [2, 1], atol=0.05)


def test_numbers_for_ints_are_cut_and_texts_refused(oracle):
    code = """
x = tf.ones([1, 4, 4, 1])
graph = tf.Graph()
with graph.as_default():
    tf.set_random_seed(7.0)
    drawn = [tf.random_uniform([2], seed=3.0), tf.random_normal([2], seed=np.float32(4.5))]
    with tf.Session(graph=graph) as s:
        drawn = s.run(drawn)
result = [drawn, list(tf.nn.max_pool(x, [1, 2.0, 2, 1], [1, 2, 2.5, 1], "SAME").op.get_attr("strides")),
          tf.nn.lrn(x, 2.7).op.get_attr("depth_radius"), tf.as_string(x, precision=True).op.get_attr("precision")]
"""
    wanted = oracle(code)
    scope = {"tf": tf, "np": np}
    exec(code, scope)
    assert scope["result"][1:] == wanted[1:]
    for ours, theirs in zip(scope["result"][0], wanted[0], strict=True):
        np.testing.assert_allclose(ours, theirs, 2e-6)
    for bad in ("1", b"1", float("inf"), [1]):
        with pytest.raises(TypeError, match="Expected int for argument 'precision' of op AsString"):
            tf.as_string(1.0, precision=bad)
    with pytest.raises(TypeError, match="Expected float for argument 'bias' of op LRN"):
        tf.nn.lrn(tf.ones([1, 1, 1, 1]), bias="1")


def test_a_sparse_tensor_has_its_shape_under_two_names():
    sparse = tf.SparseTensor(indices=[[0, 1]], values=[1.0], shape=[2, 2])
    value = tf.SparseTensorValue([[0, 1]], [1.0], shape=(2, 2))
    assert run(tf.sparse_tensor_to_dense(sparse))[0].tolist() == [[0, 1], [0, 0]]
    assert value.dense_shape == value.shape == (2, 2) and value == tf.SparseTensorValue([[0, 1]], [1.0], (2, 2))
    for make in (tf.SparseTensor, tf.SparseTensorValue):
        with pytest.raises(ValueError, match="Cannot specify both 'shape' and 'dense_shape'"):
            make([[0, 1]], [1.0], (2, 2), (2, 2))
        with pytest.raises(TypeError, match="expected `dense_shape`, got None"):
            make([[0, 1]], [1.0])


AXES = [2, 0, [[1, 2], [0, 1]], [[-2, -1], [0, 1]], [[2], [1]], "tensor", "fed"]


@pytest.mark.parametrize("axes", AXES, ids=str)
def test_tensordot_of_ranks_that_only_a_run_tells(axes):
    a, b = (np.random.RandomState(0).randn(*shape).astype("f") for shape in ((2, 3, 4), (3, 4, 5)))
    pairs = [[1, 2], [0, 1]] if isinstance(axes, str) else axes
    fed = tf.placeholder(tf.int32)
    given = {"tensor": tf.constant(pairs), "fed": fed}.get(axes, axes) if isinstance(axes, str) else axes
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32, None if axes != "fed" else b.shape)
    z = tf.tensordot(x, y, given)
    with tf.Session() as sess:
        for _ in range(3):
            product, *gradients = sess.run([z, *tf.gradients(z, [x, y])], {x: a, y: b, fed: pairs})
            np.testing.assert_allclose(product, np.tensordot(a, b, pairs), 1e-5, 1e-5)
            assert [g.shape for g in gradients] == [a.shape, b.shape]
    assert z.shape.ndims is None
    with pytest.raises(ValueError, match="`axes` must be at least 0"):
        tf.tensordot(x, y, -1)


BASE64 = [b"YWJj", b"YWI=", b"YWI", b"Y-_A", b"Y", b"", b"a+b/", b"YW==", b"YW=", b"=", b"YWJj=", b"YWJj====",
          b"YQ==YQ"]


def test_base64(oracle):
    theirs = oracle("""
result = []
with tf.Session() as s:
    for text in texts:
        try:
            result.append(s.run(tf.decode_base64(text)))
        except tf.errors.InvalidArgumentError:
            result.append(None)
    result += [s.run(tf.encode_base64(["", "a", "ab", b"\\xff\\xfe\\xfa"], pad=pad)).tolist() for pad in (False, True)]
""", texts=BASE64)
    found = []
    with tf.Session() as sess:
        for text in BASE64:
            try:
                found.append(sess.run(tf.decode_base64(text)))
            except tf.errors.InvalidArgumentError as error:
                assert "expected base64" in error.message
                found.append(None)
        found += [sess.run(tf.encode_base64(["", "a", "ab", b"\xff\xfe\xfa"], pad=pad)).tolist()
                  for pad in (False, True)]
    assert found == theirs


def test_the_example_of_an_op():
    assert run(tf.user_ops.my_fact())[0] == b"0! == 1"


ITERABLES = {"values": lambda d: d.values(), "dict": lambda d: d, "generator": lambda d: (v for v in d.values()),
             "filter": lambda d: filter(lambda v: v is not None, d.values()), "set": lambda d: set(d.values()),
             "nested": lambda d: [[d["a"]], (d["b"],), []]}


@pytest.mark.parametrize("kind", ITERABLES)
def test_variables_come_in_any_iterable(kind, tmp_path):
    a, b, _ = (tf.Variable(start, name=name) for name, start in (("a", 1.0), ("b", 2.0), ("c", 3.0)))
    made = {"b": b, "a": a}
    step = tf.train.GradientDescentOptimizer(0.5).minimize(a * b, var_list=ITERABLES[kind](made))
    pairs = tf.train.AdamOptimizer().compute_gradients(a * b, ITERABLES[kind](made))
    assert {v for _, v in pairs} == {a, b}
    assert [v for _, v in pairs] == [a, b] or kind != "dict"             # in the order of the keys
    assert run(step)[0] is None
    if kind not in ("dict", "nested"):
        assert len(tf.gradients(a * b, ITERABLES[kind](made))) == 2
        assert run(tf.add_n(ITERABLES[kind](made)))[0] == 3.0
    if kind != "nested":
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver(ITERABLES[kind](made)).save(sess, str(tmp_path / "x"))
        assert [name for name, _ in tf.train.list_variables(path)] == ["a", "b"]


def test_what_is_no_variable_is_refused():
    with pytest.raises(TypeError, match="Argument is not a tf.Variable: weights"):
        tf.train.GradientDescentOptimizer(0.5).minimize(tf.Variable(1.0), var_list="weights")
