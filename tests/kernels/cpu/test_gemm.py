"""Matrix products against NumPy, compiled and interpreted, whole and in panels."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.core.options import options
from tfnb.kernels.cpu import gemm
from tfnb.kernels.launch import Call, Meta


def operands(shape_a, shape_b, type_, seed=0):
    rng = np.random.default_rng(seed)
    if type_.startswith("float"):
        return rng.standard_normal(shape_a).astype(type_), rng.standard_normal(shape_b).astype(type_)
    return rng.integers(-50, 50, shape_a).astype(type_), rng.integers(-50, 50, shape_b).astype(type_)


@pytest.mark.parametrize("type_", ["float32", "float64", "int32"])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (3, 5, 7), (1, 9, 4), (9, 1, 4), (4, 6, 0), (0, 3, 2), (130, 257, 60),
                                     (600, 20, 100)])
def test_matmul(m, n, k, transpose_a, transpose_b, type_, run):
    a, b = operands((k, m) if transpose_a else (m, k), (n, k) if transpose_b else (k, n), type_)
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    want = (a.T if transpose_a else a).astype(np.float64) @ (b.T if transpose_b else b).astype(np.float64)
    got, = run(gemm.matmul, [a, b], [((m, n), type_)], attrs)
    tolerance = {"float32": 1e-5, "float64": 1e-13, "int32": 0}[type_] * max(1, k)
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(gemm.product(a, b, attrs), got)


@pytest.mark.parametrize("batch_a, batch_b", [((3,), (3,)), ((2, 3), (2, 3)), ((), (4,)), ((4,), (1,)),
                                              ((2, 1), (1, 3)), ((3, 1, 2), (5, 1)), ((0,), (0,))])
def test_batch_matmul(batch_a, batch_b, run):
    a, b = operands((*batch_a, 4, 3), (*batch_b, 5, 3), "float32")
    want = a @ b.swapaxes(-1, -2)
    got, = run(gemm.batch_matmul, [a, b], [(want.shape, "float32")], {"adj_y": True})
    np.testing.assert_allclose(got, want, atol=1e-5)
    np.testing.assert_array_equal(gemm.batch_product(a, b, {"adj_y": True}), got)


def test_large_batch_members_are_panelled(run):
    a, b = operands((2, 150, 70), (2, 70, 300), "float32")
    got, = run(gemm.batch_matmul, [a, b], [((2, 150, 300), "float32")])
    np.testing.assert_allclose(got, a @ b, atol=1e-3)


@pytest.mark.parametrize("m, n, k", [(130, 257, 60), (600, 20, 100), (64, 1000, 33)])
def test_same_bits_for_any_number_of_threads(m, n, k, monkeypatch, run):
    a, b = operands((m, k), (k, n), "float32")
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(options, "threads", threads)
        results.append(run(gemm.matmul, [a, b], [((m, n), "float32")])[0])
    call = Call((Meta("float32", (m, k)), Meta("float32", (k, n))), (Meta("float32", (m, n)),))
    assert gemm.matmul(call)[0].items > 1
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


def test_half_is_computed_in_float32():
    a, b = operands((3, 4), (4, 2), "float16")
    want = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    np.testing.assert_allclose(gemm.product(a, b, {}), want, rtol=2e-3)


def test_complex_adjoint():
    a = np.array([[[1 + 2j, 3j]]], np.complex64)
    np.testing.assert_array_equal(gemm.batch_product(a, a, {"adj_y": True}), [[[14 + 0j]]])
