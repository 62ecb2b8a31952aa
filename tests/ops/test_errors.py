"""What goes wrong while a graph is built or run: TensorFlow's class of error, and the shapes and dtypes in its text."""
from __future__ import annotations

import re

import numpy as np
import pytest

import tfnb as tf


def x45(dtype=tf.float32):
    return tf.placeholder(dtype, [4, 5], name="x")


BUILDING = [
    (lambda: x45() + tf.ones([4]), ValueError, r"5.*4"),
    (lambda: tf.matmul(x45(), x45()), ValueError, r"Dimensions must be equal, but are 5 and 4 for 'MatMul'"),
    (lambda: tf.matmul(x45(), tf.ones([5])), ValueError, "Shape must be rank 2 but is rank 1"),
    (lambda: tf.matmul(x45(), x45(), transpose_a=True, adjoint_a=True), ValueError, "Only one of"),
    (lambda: tf.reshape(x45(), [3, -1]), ValueError, "must be evenly divisible by 3 but is 20"),
    (lambda: tf.reshape(x45(), [3, 3]), ValueError, r"Cannot reshape a tensor with 20 elements to shape \[3, 3\]"),
    (lambda: tf.concat([x45(), tf.ones([4])], 0), ValueError, "Shape must be rank 2 but is rank 1"),
    (lambda: tf.concat([x45(), tf.ones([4, 6])], 0), ValueError, "5.*6"),
    (lambda: tf.reduce_sum(x45(), 2), ValueError, "Invalid reduction dimension 2 for input with 2 dimensions"),
    (lambda: tf.reduce_sum(x45(), 0, reduction_indices=1), ValueError, "Cannot specify both 'reduction_indices' and"),
    (lambda: tf.squeeze(x45(), 0), ValueError, r"Can not squeeze dim\[0\], expected a dimension of 1, got 4"),
    (lambda: tf.expand_dims(x45(), 4), ValueError, r"dim 4 not in the interval \[-3, 2\]"),
    (lambda: tf.expand_dims(x45(), 0, dim=1), ValueError, "Cannot specify both 'dim' and 'axis'"),
    (lambda: tf.transpose(x45(), [0]), ValueError, "Dimension must be 2 but is 1"),
    (lambda: tf.transpose(x45(), [0, 0]), ValueError, r"perm \[0, 0\] is not a permutation"),
    (lambda: tf.slice(x45(), [0, 0], [5, 5]), ValueError, r"Expected size\[0\] in \[0, 4\], but got 5"),
    (lambda: x45()[7], ValueError, "slice index 7 of dimension 0 out of bounds"),
    (lambda: x45()[0, 0, 0], ValueError, "Index out of range using input dim 2; input has only 2 dims"),
    (lambda: x45()[..., ...], ValueError, "Multiple ellipses"),
    (lambda: x45()["a"], TypeError, "Only integers, slices .* are valid indices, got 'a'"),
    (lambda: x45()[0.5], TypeError, "valid indices, got 0.5"),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(x45(), logits=x45()), ValueError, "with named arguments"),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(labels=x45()), ValueError, "must be provided"),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(labels=x45(), logits=tf.ones([4, 6])), ValueError, "6.*5|5.*6"),
    (lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x45(), logits=x45()), ValueError,
     r"must equal `logits.shape.rank - 1`.*\(4, 5\) of rank 2"),
    (lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=x45(), logits=tf.ones([4, 6])), ValueError,
     r"\(\(4, 6\) vs \(4, 5\)\)"),
    (lambda: tf.nn.sigmoid_cross_entropy_with_logits(x45(), logits=x45()), ValueError, "with named arguments"),
    (lambda: tf.nn.bias_add(x45(), tf.ones([4])), ValueError, "Dimensions must be equal, but are 5 and 4"),
    (lambda: tf.nn.dropout(x45(), keep_prob=0.0), ValueError, r"in the range \[0, 1\)"),
    (lambda: tf.nn.dropout(x45(), 0.5, rate=0.5), ValueError, "Only one of"),
    (lambda: tf.nn.uniform_candidate_sampler([[1]], 1, 0, True, 5), ValueError,
     "Attr 'num_sampled' of 'UniformCandidateSampler' Op passed 0 less than minimum 1."),
    (lambda: tf.raw_ops.MaxPool(input=tf.zeros([1, 4, 4, 1]), ksize=[1, 2], strides=[1, 1, 1, 1], padding="SAME"),
     ValueError, "Attr 'ksize' of 'MaxPool' Op passed list of length 2 less than minimum 4."),
    (lambda: tf.nn.dropout(x45(tf.int32), 0.5), ValueError, "floating point tensor"),
    (lambda: x45(tf.int32) * 0.5, TypeError, "int32"),
    (lambda: tf.multiply(x45(tf.int32), 0.5), TypeError, "Expected int32 passed to parameter 'y' of op 'Mul', got 0.5"),
    (lambda: tf.exp(x45(tf.int32)), TypeError, "int32 not in list of allowed values"),
    (lambda: x45(tf.int32) + tf.ones([4, 5]), TypeError, "float32 that does not match type int32 of argument 'x'"),
    (lambda: x45(tf.int32) / tf.ones([4, 5]), TypeError, "must have the same dtype"),
    (lambda: tf.gather(x45(), 0.5), TypeError, "float32 not in list of allowed values: int16, int32, int64"),
    (lambda: tf.split(x45(), 3), ValueError, "must be evenly divisible by 3 but is 4"),
    (lambda: tf.split(x45(), [1, 2]), ValueError, r"can't split axis of size 4 into pieces of size \[1, 2\]"),
    (lambda: tf.unstack(tf.placeholder(tf.float32, [None])), ValueError, "Cannot infer argument `num` from shape"),
    (lambda: tf.stack([x45(), tf.ones([3])]), ValueError, "Shapes must be equal rank, but are 2 and 1"),
    (lambda: tf.stack([x45(), x45()], axis=4), ValueError, r"Argument `axis` = 4 not in range \[-3, 3\)"),
    (lambda: tf.argmax(x45(), 3), ValueError, r"Dimension \(3\) must be in the range \[-2, 2\)"),
    (lambda: tf.where(x45() > 1, x45()), ValueError, "x and y must both be non-None or both be None"),
    (lambda: tf.where(x45() > 1, x45(), 1.0), ValueError, "not compatible|equal rank"),
    (lambda: tf.add_n([x45(), tf.ones([4])]), ValueError, "not compatible|equal rank"),
    (lambda: tf.add_n([]), ValueError, "at least one Tensor"),
    (lambda: tf.range(1, 2, 0), ValueError, "Requires delta != 0"),
    (lambda: tf.one_hot([1], 2, on_value=1.0, off_value=0), TypeError, "does not match dtype"),
    (lambda: tf.random_uniform([2], dtype=tf.int32), ValueError, "Must specify maxval for integer dtype"),
    (lambda: tf.tile(x45(), [1]), ValueError, "Shape must be rank 2 but is rank 1"),
    (lambda: tf.pad(x45(), [[1, 1]]), ValueError, "Shape must be rank 1 but is rank 2"),
    (lambda: tf.pad(x45(), [[1, 1], [0, 0]], "wrap"), ValueError, "Unknown padding mode"),
    (lambda: tf.broadcast_to(x45(), [3, 3]), ValueError, r"\(4, 5\)"),
    (lambda: tf.norm(x45(), 5, [0, 1]), ValueError, "'ord' must be one of"),
    (lambda: tf.nn.top_k(x45(), 6), ValueError, "k = 6 but is 5"),
    (lambda: tf.fill([4], tf.ones([4])), ValueError, "Shape must be rank 0 but is rank 1: input 'value'.*for 'Fill'"),
    (lambda: tf.exp(x45(), "a", "b"), TypeError, "Exp"),
    (lambda: tf.exp(y=x45()), TypeError, "Exp"),
]


@pytest.mark.parametrize("build, kind, message", BUILDING, ids=range(len(BUILDING)))
def test_while_building(build, kind, message):
    with pytest.raises(kind) as caught:
        build()
    assert re.search(message, str(caught.value).partition("\nWhile making it")[0])      # not in the line that it quotes
    left = [op.type for op in tf.get_default_graph().get_operations()]
    assert "BiasAdd" not in left and "MatMul" not in left            # a node that fails does not stay
    tf.constant(1.0) + tf.constant(2.0)                              # and the graph works on


def unknown(dtype=tf.float32, rank=None):
    return tf.placeholder(dtype, None if rank is None else [None] * rank)


def two(fn, a, b):
    return fn, [a, b]


A, B = np.ones((2, 3), np.float32), np.ones((4, 5), np.float32)
RUNNING = [
    (*two(lambda x, y: tf.matmul(x, y), A, B), 2, r"\[2, 3\].*\[4, 5\]"),
    (*two(lambda x, y: x + y, A, B), 2, r"2.*3.*4.*5"),
    (*two(lambda x, y: tf.concat([x, y], 0), A, B), 2, "Dimensions of inputs should match"),
    (*two(lambda x, y: tf.stack([x, y]), A, B), 2, "Shapes of all inputs must match"),
    (*two(lambda x, y: tf.reshape(x, [4, -1]), A, B), 2, "reshape"),
    (*two(lambda x, y: x[:, 5], A, B), 2, "slice index 5 of dimension 1 out of bounds"),
    (*two(lambda x, y: tf.gather(x, tf.to_int32(y[0])), A, 3 * B), 2, r"= 3 is not in \[0, 2\)"),
    (*two(lambda x, y: tf.split(x, 2, axis=1)[0], A, B), 2, "evenly divide"),
    (*two(lambda x, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=y), A, B), 2, "4.*2|shape"),
    (*two(lambda x, y: tf.ensure_shape(x, [2, 4]), A, B), 2, r"\[2, 3\]"),
    (*two(lambda x, y: tf.nn.top_k(x, 9)[0], A, B), 2, r"k\(9\)|k = 9"),
    (*two(lambda x, y: tf.add_n([x, y]), A, A[:1]), 2, r"\(2, 3\) and \(1, 3\) are not compatible"),
    (*two(lambda x, y: tf.nn.bias_add(x, y[0]), A, A[:, :1]), 2, "Dimensions must be equal, but are 3 and 1"),
    (*two(lambda x, y: tf.where(x > 0, x, y), A, A[:1]), 2, r"\(2, 3\) and \(1, 3\) are not compatible"),
    (*two(lambda x, y: tf.random_uniform([2], 5, tf.to_int32(x[0, 0]), tf.int32), A, B), 2, "minval < maxval"),
    (*two(lambda x, y: tf.fill([3], x), A, B), None, "must be rank 0 but is rank 2"),
]


@pytest.mark.parametrize("build, arrays, rank, message", RUNNING, ids=range(len(RUNNING)))
@pytest.mark.parametrize("mode", ["never", "always"])
def test_while_running(build, arrays, rank, message, mode, monkeypatch):
    monkeypatch.setattr(tf.core.options.options, "compile", mode)
    xs = [unknown(rank=rank) for _ in arrays]
    made = build(*xs)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message) as caught:
            sess.run(made, dict(zip(xs, arrays, strict=True)))
        assert caught.value.op is not None
        assert sess.run(xs[0] * 2.0, {xs[0]: A})[0, 0] == 2            # the session works on
