"""Linear algebra: values, gradients, names and errors as in TensorFlow."""
from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import tfnb as tf
from tests.differential import differences
from tests.graph_rows import rows_here, rows_there

RANDOM = np.random.default_rng(11)
DTYPES = ["float32", "float64", "complex64", "complex128", "float16"]


def matrices(dtype, *shape):
    x = RANDOM.normal(size=shape)
    return (x + 1j * RANDOM.normal(size=shape) if dtype.startswith("c") else x).astype(dtype)


def value(fetch, feed=None):
    with tf.Session() as sess:
        return sess.run(fetch, feed)


def close(x, y, dtype):
    tolerance = {"float16": 3e-2, "float32": 3e-5, "complex64": 3e-5}.get(dtype, 1e-10)
    np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_systems_are_solved(dtype):
    a = matrices(dtype, 2, 3, 3) + (4 * np.eye(3)).astype(dtype)
    b, one, lower = matrices(dtype, 2, 3, 2), np.eye(3), np.tril(a)
    inverse = value(tf.matrix_inverse(a))
    assert inverse.dtype == dtype
    close(a @ inverse, np.broadcast_to(one, a.shape), dtype)
    close(a @ value(tf.matrix_solve(a, b)), b, dtype)
    close(np.conj(np.swapaxes(a, 1, 2)) @ value(tf.matrix_solve(a, b, adjoint=True)), b, dtype)
    close(lower @ value(tf.matrix_triangular_solve(a, b)), b, dtype)
    close(np.triu(a) @ value(tf.matrix_triangular_solve(a, b, lower=False)), b, dtype)
    close(np.conj(np.swapaxes(lower, 1, 2)) @ value(tf.matrix_triangular_solve(a, b, adjoint=True)), b, dtype)
    if dtype != "float16":
        close(value(tf.matrix_determinant(a)), np.linalg.det(a), dtype)
        sign, size = value(tf.linalg.slogdet(a))
        close(sign * np.exp(size), np.linalg.det(a), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_decompositions_multiply_to_the_matrix(dtype):
    a = matrices(dtype, 2, 3, 4)
    turned = np.conj(np.swapaxes(a, 1, 2))
    hermitian = a @ turned + np.eye(3).astype(dtype)
    factor = value(tf.cholesky(hermitian))
    close(factor @ np.conj(np.swapaxes(factor, 1, 2)), hermitian, dtype)
    assert not np.triu(factor, 1).any()
    e, v = value(tf.self_adjoint_eig(hermitian))
    close(v * e[:, None, :] @ np.conj(np.swapaxes(v, 1, 2)), hermitian, dtype)
    close(value(tf.self_adjoint_eigvals(hermitian)), e, dtype)
    assert (np.diff(e.real) >= 0).all()
    for x in (a, turned):
        s, u, v = value(tf.svd(x))
        close(u * s[:, None, :].astype(dtype) @ np.conj(np.swapaxes(v, 1, 2)), x, dtype)
        close(value(tf.svd(x, compute_uv=False)), s, dtype)
        s, u, v = value(tf.svd(x, full_matrices=True))
        assert u.shape[-1] == u.shape[-2] and v.shape[-1] == v.shape[-2]


def test_what_is_made_of_them():
    a = matrices("float64", 4, 4)
    a = a @ a.T + np.eye(4)
    b = matrices("float64", 4, 2)
    np.testing.assert_allclose(a @ value(tf.cholesky_solve(tf.cholesky(a), b)), b, atol=1e-10)
    np.testing.assert_allclose(value(tf.linalg.logdet(a)), np.log(np.linalg.det(a)))
    tall = matrices("float64", 5, 3)
    np.testing.assert_allclose(value(tf.matrix_solve_ls(tall, tall @ b[:3])), b[:3])
    least = np.linalg.lstsq(tall.T, b[:3], rcond=None)[0]
    np.testing.assert_allclose(value(tf.matrix_solve_ls(tall.T, b[:3])), least)
    ridge = np.linalg.solve(tall.T @ tall + .5 * np.eye(3), tall.T @ tall @ b[:3])
    np.testing.assert_allclose(value(tf.matrix_solve_ls(tall, tall @ b[:3], .5)), ridge)
    x, y = matrices("float32", 5, 3), matrices("float32", 5, 3)
    np.testing.assert_allclose(value(tf.cross(x, y)), np.cross(x, y), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(value(tf.matrix_band_part(a, 1, 0)), np.tril(a) - np.tril(a, -2))
    np.testing.assert_array_equal(value(tf.matrix_band_part(a, 0, -1)), np.triu(a))


def test_a_matrix_with_nan_has_no_singular_values():
    x = np.ones([2, 2, 2])
    x[1, 0, 0] = np.nan
    s = value(tf.svd(x, compute_uv=False))
    np.testing.assert_allclose(s, [[2, 0], [np.nan, np.nan]], atol=1e-12)


VALUES = """
random = np.random.RandomState(0)
a, b = random.randn(2, 4, 4) + 3 * np.eye(4), random.randn(2, 4, 3)
p = a @ a.transpose(0, 2, 1) + np.eye(4)
wide = random.randn(3, 5)
x, y, z, w = (tf.placeholder(tf.float64, v.shape) for v in (a, b, p, wide))
sign, size = tf.linalg.slogdet(x)
e, v = tf.self_adjoint_eig(z)
s, u, t = tf.svd(w)
q, r = tf.qr(w)
weights = np.arange(1., 4.)
ys = [tf.matrix_inverse(x), tf.matrix_inverse(x, adjoint=True), tf.matrix_determinant(x), sign * size, tf.cholesky(z),
      tf.matrix_solve(x, y), tf.matrix_solve(x, y, adjoint=True), tf.matrix_triangular_solve(x, y),
      tf.matrix_triangular_solve(x, y, lower=False, adjoint=True), tf.matrix_band_part(x, 1, 2), e,
      tf.matmul(v * (e * e)[:, None, :], v, adjoint_b=True), s, tf.matmul(u * (s * weights), t, adjoint_b=True),
      tf.matmul(q * weights, tf.linalg.inv(r[:, :3]) + 1., adjoint_b=True), tf.linalg.logdet(z),
      tf.cross(x[..., :3], y), tf.matrix_solve_ls(w, y[0, :3]), tf.self_adjoint_eigvals(z)]
outs = ys + [g for one in ys for g in tf.gradients(one * one, [x, y, z, w]) if g is not None]
with tf.Session() as sess:
    result = [sess.run(outs, {x: a, y: b, z: p, w: wide}) for _ in range(2)][1]
"""


def test_values_are_tensorflows(oracle):
    scope = {"tf": tf, "np": np}
    exec(VALUES, scope)
    theirs = oracle(VALUES)
    assert len(scope["result"]) == len(theirs)
    for i, (ours, other) in enumerate(zip(scope["result"], theirs, strict=True)):
        if i == 14 or scope["outs"][i].name.startswith("gradients_14/"):
            continue                       # signs of q and r are LAPACK's
        np.testing.assert_allclose(ours, other, rtol=1e-7, atol=1e-8, err_msg=f"{i} {scope['outs'][i].name}")


NODES = """
x, y = tf.placeholder(tf.float32, [2, 3, 3]), tf.placeholder(tf.float32, [2, 3, 2])
tf.matrix_inverse(x); tf.matrix_determinant(x, name="det"); tf.cholesky(x); tf.matrix_solve(x, y); tf.svd(x)
tf.self_adjoint_eig(x); tf.self_adjoint_eigvals(x); tf.matrix_band_part(x, 1, 2); tf.cross(x, x); tf.qr(y)
tf.cholesky_solve(x, y); tf.matrix_solve_ls(x, y); tf.matrix_solve_ls(y, x, name="ls"); tf.linalg.slogdet(x)
"""


def test_nodes_are_tensorflows(oracle):
    assert rows_here(NODES, tf) == rows_there(NODES, oracle)


ERRORS = {
    "singular": "sess.run(tf.matrix_inverse(np.zeros([2, 2], 'f')))",
    "not square": "tf.matrix_inverse(np.zeros([2, 3], 'f'))", "vector": "tf.matrix_inverse(np.zeros([2], 'f'))",
    "not square in the run": "x = tf.placeholder(tf.float32); sess.run(tf.matrix_inverse(x), {x: np.zeros([2, 3])})",
    "integers": "tf.matrix_inverse(np.zeros([2, 2], 'i'))",
    "no numbers": "sess.run(tf.matrix_inverse(np.zeros([0, 0])))",
    "determinant": "sess.run(tf.matrix_determinant(np.zeros([3, 0, 0], 'f')))",
    "singular determinant": "sess.run(tf.linalg.slogdet(np.zeros([2, 2], 'f')))[1]",
    "lower triangle": "sess.run(tf.cholesky(np.array([[4., 100.], [2., 5.]])))",
    "singular system": "sess.run(tf.matrix_solve(np.zeros([2, 2]), np.ones([2, 1])))",
    "rows": "tf.matrix_solve(np.zeros([2, 2]), np.ones([3, 1]))",
    "batches": "tf.matrix_solve(np.eye(2)[None], np.ones([3, 2, 1]))",
    "right vector": "tf.matrix_triangular_solve(np.eye(2), np.ones([2]))",
    "band": "sess.run(tf.matrix_band_part(np.ones([3, 3]), 5, 0))",
    "band of vector": "sess.run(tf.matrix_band_part(np.ones([3]), 1, 0))",
    "cross": "tf.cross([1., 2], [4., 5])",
}


def test_errors_are_tensorflows(oracle):
    assert differences(oracle, ERRORS) == {}


def test_a_matrix_that_is_not_positive_definite():
    """As in 1.15; TensorFlow 2 gives NaN."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cholesky decomposition was not successful"):
        value(tf.cholesky(-np.eye(2)))


MATVEC = """
x, y = tf.placeholder(tf.float32, [2, 3], name="x"), tf.placeholder(tf.float32, [3], name="y")
tf.linalg.matvec(x, y); tf.linalg.matvec(x, [1.0, 2.0], transpose_a=True, name="turned")
tf.linalg.matvec(tf.zeros([4, 2, 3], tf.complex64), tf.zeros([4, 2], tf.complex64), adjoint_a=True)
"""


def test_products_with_vectors(oracle):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(4, 2, 3)), rng.normal(size=(4, 3))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(tf.linalg.matvec(a, b)), (a @ b[..., None])[..., 0])
        np.testing.assert_allclose(session.run(tf.linalg.matvec(a[0], b[0, :2], transpose_a=True)), b[0, :2] @ a[0])
    tf.reset_default_graph()
    assert rows_here(MATVEC, tf) == rows_there(MATVEC, oracle)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("side", [1, 9, 40])
def test_lu_of_many_matrices_is_that_of_lapack(dtype, side):
    """By machine code where they are small; with ties of pivots, of which the first is taken."""
    x = np.random.RandomState(7).randint(-9, 10, (2, 3, side, side)) + 20 * np.eye(side)[::-1]
    x = x.astype(dtype)
    lu, order = tf.linalg.lu(x, output_idx_type=tf.int64)
    with tf.Session() as sess:
        found, rows = sess.run([lu, order])
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            sess.run(tf.linalg.lu(np.zeros((5, side, side), dtype)))
    assert found.dtype == dtype and rows.dtype == np.int64
    wide = x.astype("f8" if dtype == "float64" else "f4")
    for place in np.ndindex(2, 3):
        packed, pivots = scipy.linalg.lu_factor(wide[place])
        exact = list(range(side))
        for i, other in enumerate(pivots):
            exact[i], exact[other] = exact[other], exact[i]
        assert rows[place].tolist() == exact
        np.testing.assert_allclose(found[place], packed, *((2e-3, 2e-2) if dtype == "float16" else (1e-3, 1e-4)))


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
def test_many_small_triangular_systems(columns, lower, adjoint):
    """Solved by one loop of machine code; a zero in the diagonal gives infinity, as by NumPy and TensorFlow."""
    a, b = matrices("float64", 40, 9, 9) + 9 * np.eye(9), matrices("float64", 40, 9, columns)
    b = np.concatenate([b] * 4, 0)
    a = np.concatenate([a] * 4, 0)
    with tf.Session() as sess:
        x = sess.run(tf.matrix_triangular_solve(a, b, lower=lower, adjoint=adjoint))
        a[0, 3, 3] = 0
        with_zero = sess.run(tf.matrix_triangular_solve(a, b, lower=lower, adjoint=adjoint))
    kept = np.tril(a) if lower else np.triu(a)
    kept = np.swapaxes(kept, 1, 2) if adjoint else kept
    np.testing.assert_allclose(kept[1:] @ x[1:], b[1:], atol=1e-12)
    assert np.isinf(with_zero[0, 3]).all() and np.array_equal(with_zero[1:], x[1:])
