"""What SciPy need not be installed for: special functions by their expansions, BLAS and LAPACK by their addresses."""
from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.linalg
from scipy import special

import tfnb as tf
from tfnb.core.lazy import lazy_module
from tfnb.kernels.cpu.matmul import blas, lapack
from tfnb.kernels.scalar import definition

BOTH = {"erf": special.erf, "erfc": special.erfc, "lgamma": special.gammaln, "digamma": special.digamma,
        "erfinv": special.erfinv, "ndtri": special.ndtri, "i0e": special.i0e, "i1e": special.i1e}
SINGLE = {"bessel_i0": special.i0, "bessel_j1": special.j1, "bessel_k0": special.k0, "dawsn": special.dawsn,
          "expint": special.expi}


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setattr(definition, "has_scipy", lambda: False)
    monkeypatch.setitem(sys.modules, "scipy.special", None)


@pytest.mark.parametrize("name, dtype", [*((name, dtype) for name in BOTH for dtype in ("float32", "float64")),
                                         *((name, "float32") for name in SINGLE)])
def test_expansions_are_in_the_place_of_scipy(name, dtype, absent):
    x = np.linspace(0.03, 0.97, 20, dtype=dtype)
    made = definition.numpy_form(name)(x)
    assert made.dtype == dtype and made.shape == x.shape
    np.testing.assert_allclose(made, (BOTH | SINGLE)[name](x.astype(np.float64)), 20 * np.finfo(dtype).eps)


def test_poles_are_infinite(absent):
    x = np.array([0.0, -1.0, np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(definition.numpy_form("lgamma")(x), [np.inf] * 4 + [np.nan])


def test_what_scipy_alone_has_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats.qmc", None)
    from tfnb.ops.random import sobol
    monkeypatch.setattr(sobol, "qmc", lazy_module("scipy.stats.qmc", extra="scipy"))
    with tf.Session() as sess, pytest.raises(ImportError, match=r"scipy.stats.qmc.Sobol .*install 'tfnb\[scipy\]'"):
        sess.run(tf.math.sobol_sample(2, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("library", [True, False])
def test_lapack(dtype, library, monkeypatch):
    monkeypatch.setattr(blas, "has_library", lambda: library)
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=shape).astype(dtype) for shape in ((9, 9), (9, 4)))
    if dtype.startswith("c"):
        a, b = a * (1 + 2j), (b * (2 - 1j)).astype(dtype)
        a = a.astype(dtype)
    close = {"rtol": 1e-4, "atol": 1e-4} if np.finfo(dtype).eps > 1e-10 else {"rtol": 1e-9, "atol": 1e-9}

    made, exchanged, regular = lapack.lu(a)
    want, rows = scipy.linalg.lu_factor(a)
    np.testing.assert_allclose(made, want, **close)
    assert exchanged.tolist() == rows.tolist() and regular
    assert not lapack.lu(np.zeros_like(a))[2]

    diagonals = a[:3] + 3
    whole = np.diag(diagonals[1]) + np.diag(diagonals[0, :-1], 1) + np.diag(diagonals[2, 1:], -1)
    x, regular = lapack.tridiagonal(diagonals, b)
    np.testing.assert_allclose(whole @ x, b, **close)
    assert regular and not lapack.tridiagonal(diagonals * 0, b)[1]

    for lower in (True, False):
        triangle, x = (np.tril if lower else np.triu)(a) + 3 * np.eye(9, dtype=dtype), b.copy()
        lapack.solve_triangular(np.ascontiguousarray(triangle), x, lower)
        np.testing.assert_allclose(triangle @ x, b, **close)
