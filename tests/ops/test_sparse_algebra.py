"""Arithmetic of sparse tensors: values, gradients and errors as in TensorFlow."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.ops.test_sparse_structure import SETUP as BEFORE

SETUP = BEFORE + '''
def other(dtype=np.float32):
    return tf.SparseTensor([[0, 1], [1, 1], [2, 2]], np.array([1.5, 6, -1], dtype), [3, 4])
def grads(y, *x):
    return run(tf.gradients(y * tf.reshape(tf.range(1.0, tf.cast(tf.size(y), tf.float32) + 1), tf.shape(y)), x))
'''
SNIPPETS = {
    "add": "run(tf.sparse.add(made(), other()), tf.sparse_add(made(np.int32), other(np.int32)))",
    "add over a threshold": "run(tf.sparse.add(made(), other(), 4.0), tf.sparse_add(made(), other(), thresh=3))",
    "add complex": "run(tf.sparse.add(made(np.complex64), other(np.complex64), 2.0))",
    "add dense": "run(tf.sparse.add(made(), np.ones([3, 4], np.float32)), tf.sparse_add(np.ones((3, 4)), made(float)))",
    "add two dense": "tf.sparse_add([1.0], [2.0])",
    "add dense of another shape": "run(tf.sparse_add(made(), np.ones([4], np.float32)))",
    "add of another shape": "s, f = fed(shape=[3, 5])\nrun(tf.sparse_add(made(), s), feed=f)",
    "add gradient": '''
a, b = tf.constant([2.5, -3, 4, 1]), tf.constant([1.5, 6, -1])
y = tf.sparse_add(tf.SparseTensor(made().indices, a, [3, 4]), tf.SparseTensor(other().indices, b, [3, 4])).values
grads(y, a, b)
''',
    "add gradient of those left out": '''
a, b = tf.constant([2.5, -3, 4, 1]), tf.constant([1.5, 6, -1])
y = tf.sparse_add(tf.SparseTensor(made().indices, a, [3, 4]), tf.SparseTensor(other().indices, b, [3, 4]), 3.5).values
grads(y, a, b)
''',
    "add dense gradient": '''
a, b = tf.constant([2.5, -3, 4, 1]), tf.constant(np.arange(12.0, dtype=np.float32).reshape(3, 4))
grads(tf.sparse_add(tf.SparseTensor(made().indices, a, [3, 4]), b), a, b)
''',
    "maximum": "run(tf.sparse.maximum(made(), other()), tf.sparse_minimum(made(np.int64), other(np.int64)))",
    "maximum of another shape": "s, f = fed(shape=[3, 5])\nrun(tf.sparse_maximum(made(), s), feed=f)",
    **{f"{name} {axis} {keep}": f"run(tf.sparse.{name}(made(), {axis}, keepdims={keep}))" for name in
       ("reduce_sum", "reduce_max", "reduce_sum_sparse", "reduce_max_sparse")
       for axis in (None, 0, 1, -1, [0, 1], [-2]) for keep in (False, True)},
    "reduce_sum of rank 3": "s = tf.SparseTensor([[0, 1, 2], [0, 1, 0], [1, 0, 1]], [1, 2, 3], [2, 2, 3])\n"
                            "run(*(tf.sparse_reduce_sum(s, a) for a in (None, 0, [0, 2], [1, 2], -1)))",
    "reduce_max of none": "s = tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 3])\n"
                          "run(tf.sparse_reduce_max(s, 1), tf.sparse_reduce_sum(s), tf.sparse_reduce_sum_sparse(s, 0))",
    "reduce_sum beyond": "run(tf.sparse_reduce_sum(made(), 2))",
    "reduce_sum of a scalar": "s, f = fed()\nrun(tf.sparse_reduce_sum(s), tf.sparse_reduce_sum(s, [1]), feed=f)",
    "reduce_sum static": "[tf.sparse_reduce_sum(made(), a).shape.as_list() for a in (0, [0, 1], None)]",
    **{f"reduce_sum gradient {axis}": f"""
a = tf.constant([2.5, -3, 4, 1])
grads(tf.sparse_reduce_sum(tf.SparseTensor(made().indices, a, [3, 4]), {axis}), a)
""" for axis in (None, 0, -1, [0, 1])},
    "softmax": "run(tf.sparse.softmax(made()), tf.sparse_softmax(other(np.float64)))",
    "softmax of rank 3": "s = tf.SparseTensor([[0, 1, 0], [0, 1, 2], [1, 0, 1]], [1.0, 2, 3], [2, 2, 3])\n"
                         "run(tf.sparse_softmax(s))",
    "softmax of rank 1": "s, f = fed(indices=[[1], [2]], shape=[3])\nrun(tf.sparse_softmax(s), feed=f)",
    "softmax gradient": "slopes(tf.sparse_softmax)",
    **{f"matmul {a} {b} {kind}": f"""
m = np.array(np.arange({6 if a else 8}).reshape({((2, 3) if b else (3, 2)) if a else ((2, 4) if b else (4, 2))}) - 3,
             np.{kind}) * ((1 - 2j) if np.{kind} == np.complex64 else 1)
s = made(np.{kind})
s = tf.SparseTensor(s.indices, s.values * (1 + 1j), s.dense_shape) if np.{kind} == np.complex64 else s
x = tf.placeholder(np.{kind})
run(tf.sparse.sparse_dense_matmul(s, x, {a}, {b}), feed={{x: m.astype(np.{kind})}})
""" for a in (False, True) for b in (False, True) for kind in ("float32", "float64", "int32", "complex64")},
    **{f"matmul gradient {a} {b}": f"""
m = tf.constant(np.array(np.arange({6 if a else 8}).reshape({
    ((2, 3) if b else (3, 2)) if a else ((2, 4) if b else (4, 2))}) - 3, np.float32))
v = tf.constant([2.5, -3, 4, 1])
grads(tf.sparse_tensor_dense_matmul(tf.SparseTensor(made().indices, v, [3, 4]), m, {a}, {b}), v, m)
""" for a in (False, True) for b in (False, True)},
    "matmul of fed ones": "s, f = fed()\nrun(tf.sparse_tensor_dense_matmul(s, np.ones((4, 3), np.float32)), feed=f)",
    "matmul outside": "s, f = fed(indices=[[0, 9], [2, 2]])\n"
                      "run(tf.sparse_tensor_dense_matmul(s, np.ones((4, 3), np.float32)), feed=f)",
    "matmul of other sizes": "tf.sparse_tensor_dense_matmul(made(), np.ones((3, 3), np.float32))",
    "matmul of other sizes, fed": "s, f = fed()\nrun(tf.sparse_tensor_dense_matmul(s, np.ones((3, 3), 'f')), feed=f)",
    "matmul of nothing": "s = tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 3])\n"
                         "run(tf.sparse_tensor_dense_matmul(s, np.ones((3, 5), np.float32)))",
}


def test_arithmetic_of_sparse_tensors(oracle):
    assert not differences(oracle, SNIPPETS, SETUP, tolerance=1e-6, modes=("never", "always"))


@pytest.mark.parametrize("seed", range(3))
def test_products_of_random_matrices(seed):
    random = np.random.default_rng(seed)
    a = random.normal(size=(40, 30)) * (random.uniform(size=(40, 30)) < 0.2)
    b = random.normal(size=(30, 70))
    places = random.permutation(np.argwhere(a))
    s = tf.SparseTensor(places, a[tuple(places.T)], a.shape)
    with tf.Session() as sess:
        x = tf.placeholder(tf.float64, [30, 70])
        product = tf.sparse.sparse_dense_matmul(s, x)
        for _ in range(3):
            np.testing.assert_allclose(sess.run(product, {x: b}), a @ b, rtol=1e-12, atol=1e-12)
