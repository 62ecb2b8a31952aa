"""SparseTensors in functions that take one: values, gradients and errors as in TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences

SETUP = '''
def sparse(dtype=np.float32):
    return tf.SparseTensor([[0, 1], [1, 0]], np.array([2.5, -3], dtype), [2, 3])
def run(*fetches):
    return tf.Session().run(fetches)
def epochs(fetches):
    found = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while True:
                found.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return found
def example(n=5):
    i = tf.train.range_input_producer(n, num_epochs=1, shuffle=False).dequeue()
    i64 = tf.cast(i, tf.int64)
    return i, tf.SparseTensor(tf.reshape(i64, [1, 1]), tf.reshape(tf.cast(i, tf.float32), [1]), [8])
def examples():
    row = tf.SparseTensor([[0, 0], [1, 1], [1, 2], [3, 0]], ["a", "b", "c", "d"], [4, 3])
    i = tf.train.limit_epochs(tf.range(4), 2)
    return i, tf.SparseTensor(row.indices, row.values, row.dense_shape)
def shapes(sp):
    return [t.shape.as_list() for t in (sp.indices, sp.values, sp.dense_shape)]
'''
UNARY = "abs negative square sqrt tanh sign erf sin tan asin atan asinh atanh identity stop_gradient".split()
SNIPPETS = {
    **{name: f"run(tf.{name}(sparse()))" for name in UNARY},
    "cast": "run(tf.cast(sparse(), tf.int32), tf.to_double(sparse()), tf.cast(sparse(), tf.float32))",
    "shape": "run(tf.shape(sparse()), tf.shape(sparse(), out_type=tf.int64), tf.size(sparse()), tf.rank(sparse()))",
    "shape of a value": "run(*(f(tf.SparseTensorValue([[0, 1]], [1.0], [2, 3]))"
                        " for f in (tf.shape, tf.size, tf.rank)))",
    "assert_type": "run(tf.assert_type(sparse(), tf.float32))",
    "assert another type": "tf.assert_type(sparse(), tf.int32)",
    "tuple": "run(*tf.tuple([sparse(), tf.constant(1)]))",
    "zeros_like": "run(tf.zeros_like(sparse()), tf.zeros_like(sparse(), dtype=tf.int32))",
    **{f"{name} of {kind}": f"run(sparse(np.{kind}) {op} np.array({dense}, np.{kind}))"
       for name, op in (("product", "*"), ("quotient", "/")) for kind in ("float32", "int32")
       for dense in ("[[1, 2, 3]]",)},
    "dense first": "run(tf.constant([[2.0], [3.0]]) * sparse())",
    "by a scalar": "run(sparse() * 2, sparse() / 2, tf.constant(2.0) * sparse())",
    "by a vector": "run(sparse() * [1.0, 2.0, 4.0])",
    "by a fed one": "x = tf.placeholder(tf.float32)\ntf.Session().run(sparse() / x, {x: [[2.0, 4.0, 8.0]]})",
    "dense is larger": "run(sparse() * np.ones([2, 2, 3], np.float32))",
    "of other sizes": "run(sparse() * np.ones([2, 2], np.float32))",
    "quotient by 0": "run(tf.cast(sparse(), tf.int32).__div__(np.zeros(3, np.int32)))",
    "gradients": '''
values, d = tf.constant([2.5, -3.0]), tf.constant([[2.0], [4.0]])
sp = tf.SparseTensor([[0, 1], [1, 0]], values, [2, 3])
run(*(tf.gradients((f(sp, d)).values, [values, d], [1.0, 10.0]) for f in (lambda x, y: x * y, lambda x, y: x / y)))
''',
    "batch": "i, sp = example()\nb = tf.train.batch([i, sp], 2)\nshapes(b[1]), epochs(b)",
    "smaller batch": "epochs(tf.train.batch(list(example()), 2, allow_smaller_final_batch=True))",
    "batch of a dict": "i, sp = example()\nepochs(tf.train.batch({'a': sp, 'i': i}, 2))",
    "batch of one": "epochs(tf.train.batch([example()[1]], 5))",
    "batch_join": "x = example()\nepochs(tf.train.batch_join([list(x)], 2))",
    "maybe_batch": "i, sp = example(7)\nepochs(tf.train.maybe_batch([i, sp], i % 2 < 1, 2))",
    "enqueue_many": "i, sp = examples()\nb = tf.train.batch([i, sp], 4, enqueue_many=True)\nshapes(b[1]), epochs(b)",
    "maybe many": "epochs(tf.train.maybe_batch(list(examples()), [True, False, True, True], 3, enqueue_many=True))",
    "shuffle_batch": "epochs(tf.train.shuffle_batch(list(example()), 5, 10, 0))[0][1].dense_shape",
    "inconsistent": "i, sp = example()\ntf.train.batch_join([[i, sp], [i, i]], 2)",
    "of rank 1, many": "i, sp = example()\ntf.train.batch([sp], 2, enqueue_many=True)",
    "scalar_mul": "run(tf.scalar_mul(-3, tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]))).values)",
}


def test_functions_of_sparse_tensors(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, tolerance=1e-6)


def test_a_handle_that_is_not_in_the_map_is_named():
    handles = tf.placeholder(tf.int64, [None])
    taken = tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=handles, dtype=tf.float32, shared_name="m")
    added = tf.raw_ops.AddSparseToTensorsMap(
        sparse_indices=[[1]], sparse_values=[2.0], sparse_shape=[3], shared_name="m")
    with tf.Session() as sess:
        first = sess.run(added)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find SparseTensor: 7"):
            sess.run(taken, {handles: [7]})
        indices, values, shape = sess.run(taken, {handles: [first]})
        assert (indices.tolist(), values.tolist(), shape.tolist()) == ([[0, 1]], [2.0], [1, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to find"):
            sess.run(taken, {handles: [first]})


def test_an_index_outside_of_the_shape_is_an_error():
    sp = tf.SparseTensor([[0, 5]], [1.0], [2, 3])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="outside of its shape"):
        sess.run(sp * np.ones((2, 3), np.float32))


def test_buckets_of_sparse_tensors():
    i = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    sp = tf.SparseTensor(tf.reshape(tf.cast(i, tf.int64), [1, 1]), tf.reshape(i, [1]), [8])
    which, (numbers, batch) = tf.contrib.training.bucket([i, sp], i % 2, 2, 2)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        found = dict(zip(*[iter(sum(([int(k), v.values.tolist()] for k, v in (
            sess.run([which, batch]) for _ in range(2))), []))] * 2, strict=True))
        coord.request_stop()
        coord.join(threads)
    assert found == {0: [0, 2], 1: [1, 3]}
    assert numbers.shape.as_list() == [2] and batch.shape.ndims == 2
