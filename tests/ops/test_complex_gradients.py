"""Gradients of functions of complex numbers: TensorFlow's, of first and second order; zero ones at singularities."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf
from tests.differential import differences
from tests.modes import run

# grads(f, x, ...): the value of f, the gradients of first order with random grad_ys, and those of these.
SETUP = '''
random = np.random.RandomState(5)
def cplx(*shape):
    return random.uniform(.2, .9, shape) + 1j * random.uniform(-.8, .8, shape)
def real(*shape):
    return random.uniform(.2, .9, shape)
def hermitian(n):
    x = cplx(n, n)
    return x @ x.conj().T + np.eye(n)
def weights(y):
    shape = y.shape.as_list()
    return tf.constant(cplx(*shape) if y.dtype.is_complex else real(*shape), dtype=y.dtype)
def grads(f, *xs, second=True):
    xs = [tf.constant(x) for x in xs]
    ys = f(*xs)
    ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    weighted = [weights(y) for y in ys]
    dxs = tf.gradients(ys, xs, weighted)
    made = [tf.convert_to_tensor(d) for d in dxs if d is not None]
    more = tf.gradients(made, xs + weighted, [weights(d) for d in made]) if second else []
    fetched = [ys, made, [tf.convert_to_tensor(d) for d in more if d is not None]]
    return tf.Session().run(fetched), [d is None for d in dxs + more]
'''
UNARY = ("acos acosh asin asinh atan atanh abs conj cos cosh exp expm1 imag log log1p negative ones_like real "
         "reciprocal rsqrt sigmoid sign sin sinh sqrt square tan tanh zeros_like angle").split()
BINARY = "add subtract multiply divide div_no_nan pow squared_difference".split()
SNIPPETS = {
    **{name: f"grads(tf.{name}, cplx(3))" for name in UNARY},
    **{name: f"grads(tf.{name}, cplx(3), cplx(2, 3))" for name in BINARY},
    "float of complex": "grads(lambda x: tf.cast(x, tf.float32), cplx(3))",
    "complex of float": "grads(lambda x: tf.cast(x, tf.complex64), real(3))",
    "sign at 0": "grads(tf.sign, np.array([0, 1 + 2j, 3 - 1j]))",
    "abs at 0": "grads(tf.abs, np.array([0, 1 + 2j, 3 - 1j]))",
    "matmul": "grads(lambda a, b: tf.matmul(a, b, transpose_a=True, adjoint_b=True), cplx(3, 2), cplx(4, 3))",
    "batch matmul": "grads(lambda a, b: tf.matmul(a, b, adjoint_a=True), cplx(4, 3, 2), cplx(3, 2))",
    "cholesky": "grads(tf.cholesky, hermitian(3))",
    "inverse": "grads(tf.matrix_inverse, cplx(3, 3) + np.eye(3))",
    "determinant": "grads(tf.matrix_determinant, cplx(3, 3) + np.eye(3))",
    "slogdet": "grads(lambda x: tf.linalg.slogdet(x)[1], cplx(3, 3) + np.eye(3))",
    "solve": "grads(lambda a, b: tf.matrix_solve(a, b, adjoint=True), cplx(3, 3) + np.eye(3), cplx(3, 2))",
    "triangular": "grads(tf.matrix_triangular_solve, cplx(3, 3) + np.eye(3), cplx(3, 2))",
    "eigenvalues": "grads(tf.self_adjoint_eigvals, hermitian(3), second=False)",
    "singular values": "grads(lambda x: tf.svd(x, compute_uv=False), cplx(4, 3), second=False)",
    "cumsum": "grads(lambda x: tf.cumsum(x, 1), cplx(2, 3))",
    "sum": "grads(lambda x: tf.reduce_sum(x, 1), cplx(2, 3))",
    "mean": "grads(lambda x: tf.reduce_mean(x, 1), cplx(2, 3))",
    "prod": "grads(lambda x: tf.reduce_prod(x, 1), cplx(2, 3), second=False)",
    "prod of all": "grads(tf.reduce_prod, cplx(2, 3), second=False)",
    "norm": "grads(tf.norm, cplx(2, 3))",
    "norm 1": "grads(lambda x: tf.norm(x, ord=1, axis=1), cplx(2, 3))",
    "norm inf": "grads(lambda x: tf.norm(x, ord=np.inf, axis=1), cplx(2, 3))",
    "norm 3": "grads(lambda x: tf.norm(x, ord=3, axis=1), cplx(2, 3))",
    "norm fro": "grads(lambda x: tf.norm(x, ord='fro', axis=[0, 1]), cplx(2, 3))",
    "l2_normalize": "grads(lambda x: tf.nn.l2_normalize(x, axis=1), cplx(2, 3))",
    "variance": "grads(tf.math.reduce_variance, cplx(2, 3))",
    "std": "grads(lambda x: tf.math.reduce_std(x, axis=1), cplx(2, 3))",
    "transpose": "grads(lambda x: tf.transpose(x, [1, 0, 2], conjugate=True), cplx(3, 2, 2))",
    "patches": "grads(lambda x: tf.image.extract_image_patches(x, [1, 2, 2, 1], [1] * 4, [1] * 4, 'VALID'),"
               " cplx(1, 3, 3, 2))",
    "while": "grads(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1],"
             " cplx(3), second=False)",
    "sparse_tensor_to_dense": "grads(lambda x: tf.sparse_tensor_to_dense(tf.SparseTensor([[0], [2]], x, [4])),"
                              " cplx(2))",
    "sparse_to_dense": "grads(lambda x, d: tf.sparse_to_dense([[0, 1], [2, 0]], [4, 2], x, d), real(2), real())",
}
PROD_AXES = '''
xs = np.array([[0, 2, 3], [4, 5, 6]], np.float32)
x, axis = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
found = []
for keep in (False, True):
    dx, = tf.gradients(tf.reduce_prod(x, axis, keepdims=keep), x)
    for axes in ([0], [1], [-1, 0], []):
        found.append(tf.Session().run(dx, {x: xs, axis: axes}))
found
'''


def test_gradients_are_conjugated(oracle):
    found = differences(oracle, SNIPPETS, SETUP, tolerance=1e-6, modes=("never", "always"))
    assert not found


# TensorFlow leaves out the conjugates of these.
@pytest.mark.parametrize("function", [
    lambda x: tf.cumprod(x, 0, reverse=True), lambda x: tf.unsorted_segment_prod(x, [0, 1, 0, 0], 2),
    lambda x: tf.segment_prod(x, [0, 0, 0, 1]), lambda x: tf.math.multiply_no_nan(x, x[0]),
    lambda x: tf.segment_mean(x, [0, 0, 1, 1]), lambda x: tf.reduce_prod(x, tf.placeholder_with_default([0], [None])),
    lambda x: tf.gradients(tf.reduce_prod(x), x, tf.constant(1 - 2j, tf.complex128))[0],
])
def test_gradients_agree_with_finite_differences(function):
    value = np.array([0.5 + 0.3j, 1.2 - 0.4j, -0.7 + 0.2j, 0.6 + 0.9j])
    with tf.Session():
        x = tf.constant(value)
        y = function(x)
        shape = y.eval().shape
        assert tf.test.compute_gradient_error(x, [4], y, shape, value) < 1e-6


def test_the_gradient_of_a_product_over_fed_axes(oracle):
    assert not differences(oracle, {"prod": PROD_AXES}, modes=("never", "always"))


@pytest.mark.parametrize("indices, values", [([[0, 1], [2, 0]], [3.0, 4.0]), ([[0, 1], [2, 0]], 3.0)])
def test_sparse_to_dense_of_unknown_shapes_has_a_gradient(indices, values):
    x, places, default = tf.placeholder(tf.float32), tf.placeholder(tf.int64), tf.placeholder(tf.float32, [])
    dense = tf.sparse_to_dense(places, [3, 2], x, default)
    weights = np.arange(6, dtype=np.float32).reshape(3, 2)
    with tf.Session() as sess:
        dx, dd = sess.run(tf.gradients(dense, [x, default], weights), {x: values, places: indices, default: 1})
    assert dx.tolist() == ([1.0, 4.0] if isinstance(values, list) else 5.0)
    assert dd == 10


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("function", ["reciprocal", "inv", "sqrt", "rsqrt"])
def test_a_zero_gradient_stays_zero_at_a_singularity(function, mode):
    x = tf.placeholder(tf.float32, [2])
    dx, = tf.gradients(getattr(tf, function)(x), x, [[0.0, 1.0]])
    found = run(dx, {x: [0.0, 0.0]}, mode)
    assert found[0] == 0 and np.isinf(found[1])
