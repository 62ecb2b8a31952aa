"""tf.einsum and tf.meshgrid beside NumPy's."""
from __future__ import annotations

import numpy as np
import pytest

import tfnb as tf

SIZES = dict(zip("abcijk", (2, 3, 2, 4, 5, 3), strict=True))


@pytest.mark.parametrize("equation", ["ij,jk->ik", "ij,jk", "aij,ajk->aik", "ij->ji", "ij->", "i,j->ij", "ij,ij->i",
                                      "abi,bij->ajb", "i,i->", "ij,jk,ka->ia", "ai,bj->ab", "aij,j->ai", "ij,kj"])
@pytest.mark.parametrize("known", [True, False])
def test_einsum_is_numpys(equation, known):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=[SIZES[x] for x in part]).astype(np.float32)
              for part in equation.split("->")[0].split(",")]
    given = [tf.constant(x) if known else tf.placeholder(tf.float32, [None] * x.ndim) for x in arrays]
    made = tf.einsum(equation, *given)
    slope = tf.gradients(tf.reduce_sum(made * made), given[0])[0]
    feed = {} if known else dict(zip(given, arrays, strict=True))
    with tf.Session() as sess:
        for _ in range(2):
            value, found = sess.run([made, slope], feed)
            np.testing.assert_allclose(value, np.einsum(equation, *arrays), rtol=1e-4, atol=1e-5)
            assert found.shape == arrays[0].shape


def test_einsum_checks_its_equation():
    x = tf.ones([2, 2])
    for equation, inputs in (("ij,jk->il", [x, x]), ("ij->ij", [x, x]), ("ii->i", [x]), ("ijk->i", [x]), ("i1", [x])):
        with pytest.raises(ValueError):
            tf.einsum(equation, *inputs)
    with pytest.raises(TypeError):
        tf.einsum("ij->ji", x, shape=3)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("vectors", [[[1, 2]], [[1, 2, 3], [4, 5]], [[1., 2.], [3., 4., 5.], [6.]]])
def test_meshgrid_is_numpys(indexing, vectors):
    with tf.Session() as sess:
        made = sess.run(tf.meshgrid(*vectors, indexing=indexing))
    for a, b in zip(made, np.meshgrid(*vectors, indexing=indexing), strict=True):
        assert (a == b).all() and a.shape == b.shape
    with pytest.raises(ValueError):
        tf.meshgrid(*vectors, indexing="yx")
