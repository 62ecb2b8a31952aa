"""`tf.linalg.LinearOperator*` beside TensorFlow's: hints, rules of classes, values, shapes, gradients, errors."""
import os

import numpy as np
import pytest

import tfnb as tf
from tests.differential import ARRAYS, differences

SETUP = ARRAYS + '''
L = tf.linalg
def array(name, *shape):
    return complexes(*shape) if name == "complex64" else real(*shape).astype(name)
def definite(name, n, *lead):
    a = array(name, *lead, n, n)
    return a @ np.conj(np.swapaxes(a, -1, -2)) / n + np.eye(n, dtype=name)
def makers(name, *lead):
    """An operator of each class over 6 x 6 matrices, by letters."""
    positive = lambda *shape: (np.abs(real(*shape)) + 1).astype(name)
    whole = array(name, *lead, 6, 6) + 4 * np.eye(6, dtype=name)
    return {
        "I": lambda: L.LinearOperatorIdentity(6, lead or None, dtype=name),
        "S": lambda: L.LinearOperatorScaledIdentity(6, positive(*lead)),
        "D": lambda: L.LinearOperatorDiag(positive(*lead, 6), is_self_adjoint=True, is_positive_definite=True),
        "d": lambda: L.LinearOperatorDiag(array(name, *lead, 6)),
        "F": lambda: L.LinearOperatorFullMatrix(whole),
        "f": lambda: L.LinearOperatorFullMatrix(definite(name, 6, *lead), is_self_adjoint=True,
                                                is_positive_definite=True),
        "T": lambda: L.LinearOperatorLowerTriangular(whole),
        "t": lambda: L.LinearOperatorLowerTriangular(whole, is_non_singular=True),
        "Z": lambda: L.LinearOperatorZeros(6, batch_shape=lead or None, dtype=name),
        "C": lambda: L.LinearOperatorCirculant(positive(*lead, 6), name),
        "c": lambda: L.LinearOperatorCirculant(np.array([3, 1, 2, 2, 2, 1], name), name, is_self_adjoint=True,
                                               is_positive_definite=True),
        "2": lambda: L.LinearOperatorCirculant2D(np.array([[3, 1, 1], [2, 1, 1]], name), name),
        "3": lambda: L.LinearOperatorCirculant3D(np.array([[[3], [1], [1]], [[2], [1], [1]]], name), name),
        "H": lambda: L.LinearOperatorHouseholder(array(name, *lead, 6)),
        "P": lambda: L.LinearOperatorToeplitz(array(name, 6) + 3, array(name, 6)),
        "B": lambda: L.LinearOperatorBlockDiag([
            L.LinearOperatorDiag(positive(*lead, 2), is_self_adjoint=True, is_positive_definite=True),
            L.LinearOperatorFullMatrix(definite(name, 4), is_self_adjoint=True, is_positive_definite=True)]),
        "K": lambda: L.LinearOperatorKronecker([
            L.LinearOperatorFullMatrix(definite(name, 2), is_self_adjoint=True, is_positive_definite=True),
            L.LinearOperatorDiag(positive(*lead, 3), is_self_adjoint=True, is_positive_definite=True)]),
        "k": lambda: L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(array(name, *lead, 2, 2)),
                                                L.LinearOperatorFullMatrix(array(name, 3, 3))]),
        "O": lambda: L.LinearOperatorComposition([L.LinearOperatorDiag(positive(*lead, 6)),
                                                  L.LinearOperatorFullMatrix(whole, is_non_singular=True)]),
        "A": lambda: L.LinearOperatorAdjoint(L.LinearOperatorFullMatrix(whole)),
        "V": lambda: L.LinearOperatorInversion(L.LinearOperatorFullMatrix(whole, is_non_singular=True)),
        "U": lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(
            positive(*lead, 6), is_self_adjoint=True, is_positive_definite=True), array(name, 6, 2)),
        "u": lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(positive(*lead, 6)), array(name, 6, 2),
                                                   array(name, *lead, 2), array(name, 6, 2)),
    }
def said(made):
    """What is known of an operator."""
    return (type(made).__name__, made.name, made.is_non_singular, made.is_self_adjoint, made.is_positive_definite,
            made.is_square, made.shape.as_list(), "Circulant" in type(made).__name__ or made.dtype.name)
def fetched(values):
    kept = {k: v for k, v in values.items() if isinstance(v, tf.Tensor)}
    with tf.Session() as sess:
        found = dict(zip(kept, sess.run(list(kept.values()))))
    return [(k, found.get(k, v), (v.name.split("/")[:2], v.shape.as_list()) if k in found else None)
            for k, v in values.items()]
def numbers(letter, name, *lead):
    """What all methods give that make tensors."""
    o, x = makers(name, *lead)[letter](), array(name, *lead, 6, 2)
    made = {k: getattr(o, k)() for k in ("determinant", "log_abs_determinant", "trace", "diag_part", "to_dense",
                                         "shape_tensor", "batch_shape_tensor", "domain_dimension_tensor",
                                         "range_dimension_tensor", "tensor_rank_tensor")}
    if letter != "Z":
        made["add"] = o.add_to_tensor(array(name, *lead, 6, 6))
    for k in ("matmul",) if letter == "Z" else ("matmul", "solve"):
        made[k] = getattr(o, k)(x)
        made[k + "adjoint"] = getattr(o, k)(x, adjoint=True)
        made[k + "turned"] = getattr(o, k)(np.conj(np.swapaxes(x, -1, -2)), adjoint_arg=True)
        made[k + "vector"] = getattr(o, {"matmul": "matvec"}.get(k, "solvevec"))(x[..., 0], adjoint=True)
    made["wider"] = o.matmul(array(name, 3, *[1] * len(lead), 6, 1))
    return {letter + " " + k: v for k, v in made.items()}
def turned(letter):
    o = makers("float32")[letter]()
    made = {k: outcome(lambda: getattr(o, k)().__class__.__name__) for k in ("inverse", "adjoint", "cholesky")}
    made = {k: v if v.startswith("raises") else getattr(o, k)().to_dense() for k, v in made.items()}
    if o.is_self_adjoint:
        made["eigenvalues"] = tf.sort(tf.math.real(o.eigvals()))
    if letter != "Z":
        made["condition"] = o.cond()
    return {letter + " " + k: v for k, v in made.items()}
def ways(letter, others=None):
    """The operators that rules make of one and of pairs."""
    one = makers("float32")
    with tf.Graph().as_default():
        found = [outcome(lambda: said(one[letter]())), [outcome(lambda: said(getattr(one[letter](), k)()))
                                                        for k in ("adjoint", "inverse", "cholesky")]]
        return found + [[outcome(lambda: said(getattr(one[letter](), k)(one[other]()))) for k in ("matmul", "solve")]
                        for other in (one if others is None else others)]
def built(text):
    M, R = np.eye(3, dtype='f') * 2, np.ones((3, 2), 'f')
    D, F, U = L.LinearOperatorDiag, L.LinearOperatorFullMatrix, L.LinearOperatorLowRankUpdate
    names = {"M": M, "R": R, "D": D, "F": F, "U": U, "pd": lambda: D([1., 2, 3], is_positive_definite=True),
             "n": lambda: D([1., 2, 3], is_non_singular=True), "L": L, "np": np, "tf": tf}
    with tf.Graph().as_default():
        made = eval(text, names)
        return said(made) if isinstance(made, L.LinearOperator) else type(made).__name__
def checked(text):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(eval(text))
def slopes(letter, *methods):
    x = tf.constant(real(6, 2))
    a = tf.constant(real(6, 6) + 4 * np.eye(6, dtype="f"))
    v = a[0]
    o = {"F": lambda: L.LinearOperatorFullMatrix(a), "T": lambda: L.LinearOperatorLowerTriangular(a),
         "D": lambda: L.LinearOperatorDiag(v), "H": lambda: L.LinearOperatorHouseholder(v),
         "C": lambda: L.LinearOperatorCirculant(v, "float32"), "P": lambda: L.LinearOperatorToeplitz(a[0], a[:, 0]),
         "K": lambda: L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(a[:2, :2]),
                                                 L.LinearOperatorFullMatrix(a[:3, :3])]),
         "B": lambda: L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(a[:2, :2]),
                                                 L.LinearOperatorDiag(a[0, :4])]),
         "U": lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(tf.square(v) + 1, is_positive_definite=True),
                                                    a[:, :2])}[letter]()
    ys = [o.matmul(x), o.solve(x), o.log_abs_determinant(), o.trace(), o.to_dense()]
    return [tf.gradients(tf.sin(y), [a])[0] for y in ys]
'''
LETTERS = "ISDdFfTtZCc23HPBKkOAVUu"
BUILDS = '''
F(M, is_positive_definite=True, is_non_singular=False)
F(R, is_non_singular=True)
F(M, is_square=False)
F(M, is_self_adjoint=True, is_square=False)
F([1.,2.])
F(np.ones((2,2),int))
D(1.)
D([1.,2], is_square=False)
D(np.array([1j,2j]), is_self_adjoint=False)
D([1.,2], is_self_adjoint=False)
L.LinearOperatorLowerTriangular(M, is_square=False)
L.LinearOperatorIdentity(3, is_self_adjoint=False)
L.LinearOperatorIdentity(3, is_non_singular=False)
L.LinearOperatorIdentity(-3)
L.LinearOperatorIdentity(3.)
L.LinearOperatorIdentity([3])
L.LinearOperatorIdentity(3, batch_shape=2)
L.LinearOperatorIdentity(3, batch_shape=[-2])
L.LinearOperatorIdentity(3, batch_shape=[2.])
L.LinearOperatorIdentity(3, batch_shape=[2, 4], dtype=tf.float64)
L.LinearOperatorScaledIdentity(3, 2., is_square=False)
L.LinearOperatorScaledIdentity(3, 2j)
L.LinearOperatorScaledIdentity(3, 2., is_self_adjoint=False)
L.LinearOperatorZeros(3, 4)
L.LinearOperatorZeros(3, 4, is_square=False)
L.LinearOperatorZeros(3, 4, is_square=False, is_self_adjoint=False)
L.LinearOperatorZeros(3, is_non_singular=True)
L.LinearOperatorZeros(3, is_positive_definite=True)
L.LinearOperatorComposition([])
L.LinearOperatorComposition([F(M)])
L.LinearOperatorComposition([F(R), F(M)])
L.LinearOperatorComposition([F(M), F(R)])
L.LinearOperatorComposition([F(M), D(np.ones(3))])
L.LinearOperatorComposition([n(), n()], is_non_singular=False)
L.LinearOperatorComposition([pd(), pd()])
L.LinearOperatorComposition([F(np.ones((2,1,3,3),'f')), F(np.ones((4,3,3),'f'))])
L.LinearOperatorBlockDiag([])
L.LinearOperatorBlockDiag([F(R), F(M)], is_square=None)
L.LinearOperatorBlockDiag([F(R), F(R.T)], is_square=None)
L.LinearOperatorBlockDiag([n(), n()])
L.LinearOperatorBlockDiag([n(), n()], is_non_singular=False)
L.LinearOperatorBlockDiag([n(), n()], is_self_adjoint=False)
L.LinearOperatorBlockDiag([pd(), pd()], is_positive_definite=False)
L.LinearOperatorBlockDiag([n(), D(np.ones(3))])
L.LinearOperatorKronecker([F(R), F(M)])
L.LinearOperatorKronecker([n(), n()])
L.LinearOperatorKronecker([n(), n()], is_non_singular=False)
L.LinearOperatorKronecker([])
L.LinearOperatorAdjoint(F(R))
L.LinearOperatorAdjoint(F(M, is_non_singular=True), is_non_singular=False)
L.LinearOperatorAdjoint(F(M), is_non_singular=True, is_self_adjoint=True)
L.LinearOperatorInversion(F(R))
L.LinearOperatorInversion(F(M))
L.LinearOperatorInversion(F(M, is_non_singular=False))
L.LinearOperatorInversion(F(M), is_non_singular=False)
L.LinearOperatorInversion(F(M, is_self_adjoint=True), is_self_adjoint=False)
U(D([1.,2,3]), u=R)
U(n(), u=R)
U(pd(), u=R)
U(pd(), u=R, diag_update=[1.,2.])
U(pd(), u=R, diag_update=[1.,2.], is_diag_update_positive=True)
U(pd(), u=R, v=R)
U(pd(), u=R, is_self_adjoint=False)
U(pd(), u=R, is_positive_definite=False)
U(pd(), u=R, is_diag_update_positive=False)
U(pd(), u=R, is_non_singular=False)
U(pd(), u=np.ones((4,2),'f'))
U(pd(), u=R, diag_update=[1.])
U(F(M), u=R, is_non_singular=True)
U(F(R), u=R)
U(pd(), u=np.ones((3,2)))
U(pd(), u=R).diag_operator
L.LinearOperatorCirculant([1.,2])
L.LinearOperatorCirculant(np.array([1j,2]))
L.LinearOperatorCirculant([1.,2], is_self_adjoint=False)
L.LinearOperatorCirculant(1.)
L.LinearOperatorCirculant([1.,2], is_square=False)
L.LinearOperatorCirculant2D([1.,2])
L.LinearOperatorCirculant3D(np.ones((2,2,3,2)))
L.LinearOperatorHouseholder([1.,2], is_positive_definite=True)
L.LinearOperatorHouseholder([1.,2], is_self_adjoint=False)
L.LinearOperatorHouseholder([1.,2], is_non_singular=False)
L.LinearOperatorHouseholder(1.)
L.LinearOperatorToeplitz([1.,2], [1.,3], is_square=False)
L.LinearOperatorToeplitz([1.,2], [1.,3,4])
F(M).matmul([[1],[2],[3]])
F(M).matvec([1.,2.])
F(R).matmul(F(R))
F(M).solve(tf.ones([2,2]))
F(R).solve(tf.ones([3,2]))
F(M, is_non_singular=False).solve(tf.ones([3,2]))
F(R).determinant()
F(R).log_abs_determinant()
F(R).inverse()
F(R).adjoint()
F(M, is_non_singular=False).inverse()
F(M).assert_positive_definite()
F(M).add_to_tensor(np.ones((3,3)))
F(M).eigvals()
F(M).cholesky()
L.LinearOperator(tf.float32)
L.LinearOperatorZeros(3).assert_non_singular()
L.LinearOperatorZeros(3).assert_positive_definite()
L.LinearOperatorHouseholder([1.,2]).assert_positive_definite()
F(M).matmul(F(M), adjoint_arg=True)
F(M).solve(F(M), adjoint=True)
F(M, is_non_singular=False).matmul(F(M))
F(R) @ F(R.T)
D([1., 2], name="scale") @ D([1., 2])
'''.strip().splitlines()
CHECKS = '''
L.LinearOperatorFullMatrix(np.ones((2, 2), 'f')).assert_non_singular()
L.LinearOperatorFullMatrix(np.eye(2, dtype='f')).assert_non_singular()
L.LinearOperatorDiag([0., 1.]).assert_non_singular()
L.LinearOperatorLowerTriangular([[0., 1.], [1., 1.]]).assert_non_singular()
L.LinearOperatorDiag([-1., 1.]).assert_positive_definite()
L.LinearOperatorDiag([2., 1.]).assert_positive_definite()
L.LinearOperatorFullMatrix([[1., 2.], [3., 4.]]).assert_self_adjoint()
L.LinearOperatorFullMatrix([[1., 2.], [2., 4.]]).assert_self_adjoint()
L.LinearOperatorDiag(np.array([1j, 2])).assert_self_adjoint()
L.LinearOperatorCirculant([0., 2., 2.]).assert_non_singular()
L.LinearOperatorCirculant([-1., 2., 2.]).assert_positive_definite()
L.LinearOperatorCirculant(np.array([1j, 2])).assert_self_adjoint()
L.LinearOperatorBlockDiag([L.LinearOperatorDiag([0., 1.])] * 2).assert_non_singular()
L.LinearOperatorIdentity(tf.placeholder_with_default(np.int32(-2), []), assert_proper_shapes=True).shape_tensor()
'''.strip().splitlines()
VALUES = {
    "kernel": "run(L.LinearOperatorCirculant(np.array([1, 2j, 3, 2])).convolution_kernel(), "
              "L.LinearOperatorCirculant2D(real(2, 3)).convolution_kernel(), "
              "L.LinearOperatorCirculant2D(real(2, 3)).block_shape_tensor())",
    "complex spectrum of a real operator": "run(*(getattr(L.LinearOperatorCirculant(tf.signal.fft(tf.cast([1., 2, 0], "
    "tf.complex64)), tf.float32), k)() for k in ('to_dense', 'determinant', 'log_abs_determinant', 'trace')))",
    "not square": "run(*(o.to_dense() for o in (L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(real(2, 3)), "
                  "L.LinearOperatorFullMatrix(real(4, 2))]), L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix("
                  "real(2, 3)), L.LinearOperatorFullMatrix(real(3, 2))], is_square=None), L.LinearOperatorZeros(2, 3, "
                  "is_square=False, is_self_adjoint=False), L.LinearOperatorComposition([L.LinearOperatorFullMatrix("
                  "real(2, 3)), L.LinearOperatorFullMatrix(real(3, 4))]))))",
    "not square products": "run(*(o.matmul(x, adjoint=a) for o in (L.LinearOperatorKronecker(["
                           "L.LinearOperatorFullMatrix(real(2, 3)), L.LinearOperatorFullMatrix(real(4, 2))]), "
                           "L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(real(2, 1)), "
                           "L.LinearOperatorFullMatrix(real(6, 5))], is_square=None)) "
                           "for a, x in ((False, real(6, 2)), (True, real(8, 2)))))",
    "fed": '''
n, m, v, b = (tf.placeholder_with_default(x, None) for x in (np.int32(6), real(2, 6, 6) + 4 * np.eye(6, dtype="f"),
                                                             real(6) + 3, np.array([2], "i")))
m.set_shape([None, None, None]), v.set_shape([None])
F, D = L.LinearOperatorFullMatrix(m), L.LinearOperatorDiag(v)
x = tf.placeholder_with_default(real(6, 2), [None, None])
made = [F, D, L.LinearOperatorIdentity(n, b), L.LinearOperatorScaledIdentity(n, v[0]),
        L.LinearOperatorLowerTriangular(m), L.LinearOperatorCirculant(v, "float32"), L.LinearOperatorHouseholder(v),
        L.LinearOperatorToeplitz(v, v),
        L.LinearOperatorComposition([F, D]), L.LinearOperatorLowRankUpdate(D, m[0, :, :2]), F.adjoint(), F.inverse()]
run(*(y for o in made for y in (o.matmul(x), o.solve(x), o.to_dense(), o.determinant(), o.trace(), o.shape_tensor())))
''',
    "fed blocks": '''
m = tf.placeholder_with_default(real(2, 3, 3) + 4 * np.eye(3, dtype="f"), [None, None, None])
x = tf.placeholder_with_default(real(9, 2), [None, None])
F = L.LinearOperatorFullMatrix(m, is_square=True)
made = [L.LinearOperatorKronecker([F, F]), L.LinearOperatorBlockDiag([F, F, F])]
run(*(y for o in made for y in (o.matmul(x), o.to_dense(), o.determinant(), o.trace(), o.shape_tensor())))
''',
}
SNIPPETS = {
    "built": f"[(text, outcome(lambda: built(text))) for text in {BUILDS}]",
    "rules": f"[ways(letter, {None if os.environ.get('TFNB_STRESS') else 'IDTZCBV'!r}) for letter in '{LETTERS}']",
    "methods of batches": "[fetched({**numbers('D', 'float64', 2), **numbers('S', 'float64', 2)}), fetched({k: v for "
                          "letter in 'IFfTC3HPBkOAVu' for k, v in numbers(letter, 'complex64', 2).items()})]",
    "methods": "fetched({k: v for letter in 'ZtcdKU' for k, v in numbers(letter, 'float64').items()})",
    "operators": f"fetched({{k: v for letter in '{LETTERS}' for k, v in turned(letter).items()}})",
    "slopes": "sess.run([slopes(letter) for letter in 'FTDHCPKBU'])",
    "checks": f"[(text, outcome(lambda: checked(text))) for text in {CHECKS}]",
    **VALUES,
}


def test_operators_are_tensorflows(oracle):
    assert differences(oracle, SNIPPETS, SETUP, 2e-3, modes=("never",)) == {}


def test_a_spectrum_that_makes_real_matrices():
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.linalg.LinearOperatorCirculant([1.0, 2.0, 2.0]).assert_hermitian_spectrum())
        with pytest.raises(tf.errors.InvalidArgumentError, match="not Hermitian"):
            sess.run(tf.linalg.LinearOperatorCirculant([1.0, 2.0, 3.0]).assert_hermitian_spectrum())


def test_products_compiled():
    """The same session, interpreted first and compiled then, for fed matrices."""
    r = np.random.RandomState(1)
    with tf.Graph().as_default(), tf.Session() as sess:
        x, v = tf.placeholder(tf.float64, [4, 2]), tf.placeholder(tf.float64, [4])
        made = tf.linalg.LinearOperatorDiag(v).matmul(tf.linalg.LinearOperatorHouseholder(v)).matmul(x)
        feed = {x: r.normal(size=(4, 2)), v: r.normal(size=4)}
        unit = feed[v] / np.linalg.norm(feed[v])
        expected = np.diag(feed[v]) @ (np.eye(4) - 2 * np.outer(unit, unit)) @ feed[x]
        for _ in range(3):
            np.testing.assert_allclose(sess.run(made, feed), expected, rtol=1e-12)
