"""LU, banded and tridiagonal systems, functions of matrices, pseudo-inverses: as in TensorFlow."""
import numpy as np
import pytest

import tfnb as tf
from tests.differential import ARRAYS, differences
from tfnb.testing.gradient_checker import compute_gradient_error

SETUP = ARRAYS + '''
def positive(n, *lead):
    a = r.normal(size=(*lead, n, n))
    return (a @ np.swapaxes(a, -1, -2) / n + np.eye(n)).astype(np.float32)
def slopes(fn, *arrays):
    tensors = [tf.constant(a) for a in arrays]
    return run(*tf.gradients(tf.sin(fn(*tensors)), tensors))
p = tf.placeholder(tf.float32)
l = tf.linalg
D = np.array([[1., 2, 0], [3, 4, 5], [0, 1, 2]], np.float32)
c = tf.constant
'''
SNIPPETS = {
    "lu": "run(*l.lu(real(3, 4, 4)), *l.lu(real(3, 3), output_idx_type=tf.int64), *l.lu(np.eye(3)[::-1].copy()))",
    "lu fed": "run(*l.lu(p), feed={p: real(4, 4)})",
    "lu singular": "run(*l.lu(np.zeros((2, 2), 'f')))",
    "lu not square": "l.lu(np.zeros((2, 3), 'f'))",
    "lu functions": "run(l.lu_reconstruct(*l.lu(real(2, 3, 3))), l.lu_solve(*l.lu(positive(3, 2)), real(2, 3, 2)), "
                    "l.lu_matrix_inverse(*l.lu(positive(4))), l.lu_solve(*l.lu(positive(3)), real(2, 3, 2)))",
    "lu validated": "run(l.lu_reconstruct(*l.lu(positive(3)), validate_args=True))",
    "lu ranks": "l.lu_solve(real(3, 3), [[0, 1, 2]], real(3, 1))",
    "banded": "run(*(tf.raw_ops.BandedTriangularSolve(matrix=real(3, 5) + 3, rhs=real(5, 2), lower=a, adjoint=b) "
              "for a in (True, False) for b in (True, False)))",
    "banded complex": "run(*(tf.raw_ops.BandedTriangularSolve(matrix=complexes(2, 2, 4) + 3, rhs=complexes(2, 4, 2), "
                      "lower=a, adjoint=b) for a in (True, False) for b in (True, False)))",
    **{f"banded gradient {a} {b}": "slopes(lambda m, x: tf.raw_ops.BandedTriangularSolve(matrix=m, rhs=x, "
                                   f"lower={a}, adjoint={b}), real(3, 5) + 3, real(5, 2))"
       for a in (True, False) for b in (True, False)},
    "tridiagonal": "run(l.tridiagonal_solve(c(D), c([1., 2, 3])), l.tridiagonal_solve(c(D), c(real(3, 4))), "
                   "l.tridiagonal_solve(c(real(2, 3, 5)), c(real(2, 5, 2))), "
                   "l.tridiagonal_solve(c(D), c(real(4, 3)), transpose_rhs=True), "
                   "l.tridiagonal_solve(c(D), c([1., 2, 3]), partial_pivoting=False))",
    "tridiagonal complex": "run(l.tridiagonal_solve(c(complexes(3, 4)), c(complexes(4, 2)), conjugate_rhs=True))",
    "tridiagonal matrix": "run(l.tridiagonal_solve(c(positive(4)), c(real(4)), diagonals_format='matrix'))",
    "tridiagonal sequence": "run(l.tridiagonal_solve((c(real(3)), c(real(4) + 9), c(real(3))), c(real(4)), "
                            "diagonals_format='sequence'), l.tridiagonal_solve((c(real(4)), c(real(4) + 9), "
                            "c(real(4))), c(real(4)), diagonals_format='sequence'))",
    "tridiagonal singular": "run(l.tridiagonal_solve(c(np.zeros((3, 3), 'f')), c([1., 2, 3])))",
    "tridiagonal sizes": "l.tridiagonal_solve(c(D), c([1., 2, 3, 4]))",
    "tridiagonal format": "l.tridiagonal_solve(c(D), c([1., 2, 3]), diagonals_format='rows')",
    "tridiagonal gradient": "slopes(l.tridiagonal_solve, D, real(3, 2))",
    "tridiagonal product": "run(l.tridiagonal_matmul(c(D), c(real(3, 2))), l.tridiagonal_matmul(c(positive(4)), "
                           "c(real(4, 2)), diagonals_format='matrix'), l.tridiagonal_matmul([c(real(2, 4))] * 3, "
                           "c(real(2, 4, 3)), diagonals_format='sequence'))",
    "tridiagonal product gradient": "slopes(lambda d, x: l.tridiagonal_matmul(d, x), D, real(3, 2))",
    "logm": "run(l.logm(c((positive(3, 2)).astype(np.complex64))), "
            "l.logm(c(np.array([[1, 2], [3, 4]], complex))))",
    "logm of reals": "l.logm(positive(2))",
    "sqrtm": "run(l.sqrtm(positive(3, 2)), l.sqrtm(positive(3).astype(np.complex64)), "
             "l.sqrtm(positive(2).astype(float)))",
    "sqrtm gradient": "slopes(l.sqrtm, positive(3, 2))",
    "sqrtm without real root": "run(l.sqrtm(np.array([[1., 2], [3, 4]], 'f')))",
    "expm": "run(l.expm(real(2, 3, 3)), l.expm(real(4, 4) * 30 / 9), l.expm(real(3, 3).astype(float) * 5), "
            "l.expm(complexes(3, 3)), l.expm(np.zeros((2, 2), 'f')))",
    "expm fed": "run(l.expm(p), feed={p: real(3, 3) * 4})",
    "expm gradient": "slopes(l.expm, real(2, 3, 3))",
    "expm of integers": "l.expm([[1, 2], [3, 4]])",
    "expm not square": "l.expm(np.zeros((2, 3), 'f'))",
    "pinv": "run(l.pinv(real(2, 4, 3)), l.pinv(real(3, 5)), l.pinv(np.ones((3, 2), 'f')), l.pinv(p, 0.5), "
            "feed={p: np.diag([1., 2., 5.])})",
    "pinv of integers": "l.pinv([[1, 2]])",
    "pinv of a vector": "l.pinv([1., 2.])",
    "rank": "run(l.matrix_rank(np.ones((3, 3), 'f')), l.matrix_rank(real(2, 3, 4)), l.matrix_rank(p, 1.5), "
            "feed={p: np.diag([1., 2., 5.])})",
    "normalize": "run(*l.normalize(real(3, 2)), *l.normalize(real(3, 2), ord=1, axis=0), "
                 "*l.normalize(real(2, 3, 2), ord='fro', axis=[1, 2]))",
    **{f"norm {o} {axis}": f"run(l.norm(real(2, 3), {o!r}, {axis}))" for o in (1, 2, 3, 0.5, "euclidean")
       for axis in (None, 0)},
    **{f"matrix norm {o}": f"run(l.norm(real(2, 3, 4), {o!r}, [1, 2]))" for o in (1, 2, "fro", "euclidean")},
    "norm infinity": "run(l.norm(real(2, 3), np.inf, 1), l.norm(real(2, 3), np.inf, [0, 1]))",
    "cholesky gradient of old graphs": "run(tf.raw_ops.CholeskyGrad(l=np.tril(real(3, 3)) + 3 * np.eye(3, dtype='f'), "
                                       "grad=real(3, 3)))",
}


def test_values_and_errors_are_tensorflows(oracle):
    assert differences(oracle, SNIPPETS, SETUP, 2e-4, modes=("never", "always")) == {}


@pytest.mark.parametrize(("name", "scale"), [("expm", 1.0), ("expm", 6.0), ("sqrtm", 1.0)])
def test_slopes_are_those_of_differences(name, scale):
    a = np.random.RandomState(1).normal(size=(3, 3))
    a = a @ a.T / 3 + np.eye(3) if name == "sqrtm" else scale * a / 3
    with tf.Session():
        x = tf.constant(a)
        assert compute_gradient_error(x, (3, 3), getattr(tf.linalg, name)(x), (3, 3), x_init_value=a) < 1e-4


def test_the_old_exponential_is_that_of_expm():
    a = np.random.RandomState(1).normal(size=(2, 3, 3))
    with tf.Session() as sess:
        old, new = sess.run([tf.raw_ops.MatrixExponential(input=a), tf.linalg.expm(a)])
    np.testing.assert_allclose(old, new, rtol=1e-12)


def test_old_graphs_and_complex_factors():
    r = np.random.RandomState(2)
    a = r.normal(size=(2, 3, 3)) + 1j * r.normal(size=(2, 3, 3))
    symmetric = a.real + np.swapaxes(a.real, -1, -2)
    with tf.Session() as sess:
        factors = tf.linalg.lu(a)
        np.testing.assert_allclose(sess.run(tf.linalg.lu_reconstruct(*factors)), a, atol=1e-12)
        values, vectors = sess.run(tf.self_adjoint_eig(symmetric))
        old = sess.run(tf.raw_ops.SelfAdjointEig(input=symmetric))
    np.testing.assert_allclose(old, np.concatenate([values[:, None], vectors], 1), atol=1e-12)


def test_a_perturbed_system_is_refused():
    with pytest.raises(ValueError, match="perturb_singular is not supported"):
        tf.linalg.tridiagonal_solve([[1.0], [2.0], [3.0]], [1.0], perturb_singular=True)
