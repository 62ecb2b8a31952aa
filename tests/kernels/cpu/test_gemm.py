"""Matrix products against NumPy, compiled and interpreted, whole and in panels."""
from __future__ import annotations

import numpy as np
import pytest

from tests import processors
from tfnb.core.options import options
from tfnb.kernels.cpu.matmul import blas, gemm, integers, panels, tiled
from tfnb.kernels.cpu.matmul.tiled import Epilogue
from tfnb.kernels.launch import Address, Call, Meta
from tfnb.kernels.llvm import microkernel


@pytest.fixture(autouse=True)
def tiles_for_all_sizes(monkeypatch):
    """Small products would go to BLAS: here tiles make them, so that every edge of a tile is met."""
    monkeypatch.setattr(tiled, "LEAST_WORK", 0)


def test_small_products_go_to_blas(monkeypatch):
    wide = tiled.Product("float32", 32, 64, 64, False, False)
    assert not microkernel.machine() or tiled.is_worth_it(wide)
    monkeypatch.setattr(tiled, "LEAST_WORK", 1 << 18)
    assert not tiled.is_worth_it(wide)


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
    np.testing.assert_allclose(gemm.product(a, b, attrs), want, rtol=0, atol=tolerance)


@pytest.mark.parametrize("batch_a, batch_b", [((3,), (3,)), ((2, 3), (2, 3)), ((), (4,)), ((4,), (1,)),
                                              ((2, 1), (1, 3)), ((3, 1, 2), (5, 1)), ((0,), (0,))])
def test_batch_matmul(batch_a, batch_b, run):
    a, b = operands((*batch_a, 4, 3), (*batch_b, 5, 3), "float32")
    want = a @ b.swapaxes(-1, -2)
    got, = run(gemm.batch_matmul, [a, b], [(want.shape, "float32")], {"adj_y": True})
    np.testing.assert_allclose(got, want, atol=1e-5)
    np.testing.assert_array_equal(gemm.batch_product(a, b, {"adj_y": True}), got)


@pytest.mark.parametrize("type_", ["float32", "float64"])
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_odd_sizes(transposed, type_, run):
    rng = np.random.default_rng(3)
    for m, n, k in [*rng.integers(1, 71, (25, 3)).tolist(), (97, 33, 1), (13, 47, 2), (25, 64, 2100), (40, 128, 1024)]:
        a, b = operands((m, k)[::-1] if transposed[0] else (m, k), (k, n)[::-1] if transposed[1] else (k, n), type_, m)
        got, = run(gemm.matmul, [a, b], [((m, n), type_)], dict(zip(("transpose_a", "transpose_b"), transposed,
                                                                    strict=True)))
        want = (a.T if transposed[0] else a).astype(np.float64) @ (b.T if transposed[1] else b).astype(np.float64)
        np.testing.assert_allclose(got, want, rtol=0, atol={"float32": 1e-5, "float64": 1e-13}[type_] * k)


@pytest.mark.parametrize("shape", [(9, 40, 30), (30, 64, 1024), (70, 48, 8)])
def test_tiles_write_inside_and_read_inside(shape, run):
    """What lies around a matrix neither changes nor counts: each product is between two others of its batch."""
    m, n, k = shape
    a, b = operands((3, m, k), (3, k, n), "float32")
    a[0], a[2], b[0], b[2] = np.nan, np.nan, np.nan, np.nan
    got, = run(gemm.batch_matmul, [a, b], [((3, m, n), "float32")])
    np.testing.assert_allclose(got[1], a[1].astype(np.float64) @ b[1], atol=1e-5 * k)
    assert np.isnan(got[[0, 2]]).all()


def every_operand_in_panels(monkeypatch):
    for name in ("CACHE_BYTES", "LEAST_USES", "LEAST_USES_PLAIN"):
        monkeypatch.setattr(panels, name, 0)


@pytest.mark.parametrize("type_", ["float32", "float64"])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_panels_change_no_bits(type_, transpose_a, monkeypatch, run):
    """Panels are met whole and in part, by tiles of all heights, once for all of a batch and for each matrix."""
    cases, found = [((), (), 77, 45, 30), ((), (), 61, 96, 1400), ((3,), (3,), 50, 70, 9), ((3,), (1,), 25, 65, 20),
                    ((1,), (3,), 25, 65, 20)], []
    for packed in (False, True):
        if packed:
            every_operand_in_panels(monkeypatch)
        for i, (batch_a, batch_b, m, n, k) in enumerate(cases):
            a, b = operands((*batch_a, *((k, m) if transpose_a else (m, k))), (*batch_b, k, n), type_, i)
            batch = np.broadcast_shapes(batch_a, batch_b)
            kernel, name = (gemm.batch_matmul, "adj_x") if batch else (gemm.matmul, "transpose_a")
            got, = run(kernel, [a, b], [((*batch, m, n), type_)], {name: transpose_a})
            found.append(got)
            call = Call((Meta(type_, a.shape), Meta(type_, b.shape)), (Meta(type_, got.shape),), {name: transpose_a})
            assert [launch.label for launch in kernel(call)].count("panels") == packed * (1 + transpose_a)
            np.testing.assert_allclose(got, (a.swapaxes(-1, -2) if transpose_a else a) @ b, atol=1e-5 * k)
    for plain, packed in zip(found, found[len(cases):], strict=False):
        assert plain.tobytes() == packed.tobytes()


def test_panels_pay_where_rows_share_cache_lines_or_a_large_matrix_is_used_often():
    def pays(rows, columns, uses):
        return panels.pays(rows, columns, min(rows, 1024), 4, 32, uses, 2)

    assert not pays(256, 1024, 64) and panels.pays(256, 1024, 256, 4, 12, 64, 1)    # other rows of A want lines, too
    assert pays(1024, 1024, 64) and not pays(1024, 1024, 63) and not pays(1024, 1040, 64)
    assert pays(1000, 1000, 512) and not pays(1000, 1000, 511) and not pays(100, 1000, 9999)
    assert not pays(100, 1024, 9999) and not pays(1 << 20, 32, 9999)


def test_nan_and_infinity(run):
    a, b = operands((30, 20), (20, 40), "float32")
    a[3, 4], a[7] = np.inf, 0
    b[4, 5], b[:, 9], b[0, 39] = 0, np.nan, -np.inf
    got, = run(gemm.matmul, [a, b], [((30, 40), "float32")])
    with np.errstate(invalid="ignore"):
        want = a @ b
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert np.isnan(got[3, 5]) and np.isnan(got[7, 9]) and np.isinf(got[5, 39])


BIAS_RELU = """
def kernel(args, begin, end):
    n, m, columns = args[2], args[3], args[4]
    for item in range(begin, end):
        i, j = item % m, item // m * columns
        row, bias = float32_array(args[0] + 4 * (n * i + j), columns), float32_array(args[1] + 4 * j, columns)
        for k in range(columns):
            row[k] = max(row[k] + bias[k], float32(0))
"""
DOUBLE = """
def kernel(args, begin, end):
    x = float32_array(args[0], 0)
    for i in range(begin, end):
        x[i] = x[i] * float32(2)
"""


@pytest.mark.parametrize("m, n, k", [(9, 40, 5), (150, 100, 200), (400, 64, 70), (90, 1024, 30), (128, 256, 100)])
def test_tail_runs_once_over_each_row(m, n, k, run):
    a, b = operands((m, k), (k, n), "float32")
    bias = np.linspace(-3, 3, n, dtype="f")

    def rows(call):
        call.inputs, (_, _, third) = call.inputs[:2], call.inputs
        assert third.shape == (n,)
        words = (call.output(), Address("input", 2), n, m, gemm.block_columns(call))
        return gemm.matmul(call, Epilogue(BIAS_RELU, words, 1))

    def elements(call):
        return gemm.matmul(call, Epilogue(DOUBLE, (call.output(),), n))

    got, = run(rows, [a, b, bias], [((m, n), "float32")])
    np.testing.assert_allclose(got, np.maximum(a @ b + bias, 0), atol=1e-3)
    if gemm.block_columns(Call(tuple(Meta("float32", x.shape) for x in (a, b)), ())) == n:
        got, = run(elements, [a, b], [((m, n), "float32")])
        np.testing.assert_allclose(got, 2 * (a @ b), atol=1e-3)


@pytest.mark.parametrize("transpose_a, packed", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("m, n, k, terms", [(40, 64, 7, 5), (200, 100, 32, 20), (30, 64, 1500, 3), (60, 200, 1024, 2)])
def test_sums_of_products(m, n, k, terms, transpose_a, packed, monkeypatch, run):
    if packed:
        every_operand_in_panels(monkeypatch)
    pairs = [operands((k, m) if transpose_a else (m, k), (k, n), "float32", seed) for seed in range(terms)]
    got, = run(gemm.matmul, [x for pair in pairs for x in pair], [((m, n), "float32")], {"transpose_a": transpose_a})
    want = sum((a.T if transpose_a else a).astype(np.float64) @ b for a, b in pairs)
    np.testing.assert_allclose(got, want, atol=2e-6 * k * terms)


def test_b_is_transposed_before_where_tiles_serve():
    def attrs(m, n, k, type="float32", **given):
        shapes = (m, k), (n, k) if given.get("transpose_b") else (k, n)
        return gemm.straight(Call(tuple(Meta(type, shape) for shape in shapes), (), given))

    if microkernel.machine() is not None:
        assert attrs(64, 64, 64, transpose_a=False, transpose_b=True) == {"transpose_a": False, "transpose_b": False}
    assert attrs(64, 64, 64, transpose_b=False) is None
    assert attrs(7, 64, 64, transpose_b=True) is None and attrs(64, 64, 64, "int32", transpose_b=True) is None


@pytest.mark.parametrize("machine", [microkernel.AVX2, microkernel.NEON])
@pytest.mark.parametrize("type_", ["float32", "float64"])
def test_tiles_of_other_processors(machine, type_, monkeypatch, run):
    processors.use(machine, monkeypatch)
    for transpose_a in (False, True):
        for m, n, k in [(29, 37, 40), (8, 13, 3), (200, 96, 100)]:
            a, b = operands((k, m) if transpose_a else (m, k), (k, n), type_)
            got, = run(gemm.matmul, [a, b], [((m, n), type_)], {"transpose_a": transpose_a})
            np.testing.assert_allclose(got, (a.T if transpose_a else a).astype(np.float64) @ b, atol=1e-4)


@pytest.mark.parametrize("features, machine", [
    ("+avx2,+fma,+avx512f", microkernel.AVX512), ("+avx2,+fma,-avx512f", microkernel.AVX2), ("+neon", microkernel.NEON),
    ("+avx2,-fma", None), ("+sse4.2", None), ("", None)])
def test_machine_of(features, machine):
    assert microkernel.machine_of(features) == machine


def test_without_tiles_blas_does_it(monkeypatch, run):
    a, b = operands((30, 20), (20, 40), "float32")
    monkeypatch.setattr(microkernel, "machine", lambda: None)
    got, = run(gemm.matmul, [a, b], [((30, 40), "float32")])
    np.testing.assert_array_equal(got, gemm.product(a, b, {}))


@pytest.mark.parametrize("m, n, k", [(96, 32, 10), (1024, 1024, 1024), (97, 100, 4000), (12544, 32, 800),
                                     (24, 5000, 64)])
@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("terms", [1, 20])
def test_blocks_cover_the_output(m, n, k, terms, even):
    product = tiled.Product("float32", m, n, k, False, False)
    rows, columns = tiled.blocks(product, microkernel.AVX512, terms, even)
    assert 1 <= rows and 1 <= columns and (columns >= n or not even or n % columns == 0)
    assert (rows >= m or rows % 12 == 0) and (columns >= n or columns % 32 == 0)
    assert 2 * terms * rows * columns * k >= tiled.ITEM_FLOPS or rows >= m and columns >= n or even


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
    assert gemm.matmul(call)[-1].items > 1
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.parametrize("type_", ["int32", "int64", "uint16"])
@pytest.mark.parametrize("lead_a, lead_b", [((6,), (6,)), ((2, 3), (1, 3)), ((), (4,)), ((5, 1), (2,)), ((0,), (1,))])
@pytest.mark.parametrize("m, k, n", [(3, 5, 7), (17, 16, 33), (4, 1, 2)])
def test_batches_of_integers(type_, lead_a, lead_b, m, k, n, run):
    """A launch for each run of a batch, not for each matrix; overflow wraps as NumPy's does."""
    a, b = operands((*lead_a, m, k), (*lead_b, k, n), type_)
    want = a @ b
    got, = run(gemm.batch_matmul, [a, b], [(want.shape, type_)])
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(gemm.batch_product(a, b, {}), want)
    call = Call((Meta(type_, a.shape), Meta(type_, b.shape)), (Meta(type_, want.shape),))
    assert len(gemm.batch_matmul(call)) <= 10


@pytest.mark.parametrize("at_once", [1, 3_000, 10 ** 9])
def test_integers_some_rows_at_a_time(at_once, monkeypatch):
    monkeypatch.setattr(integers, "PRODUCTS_AT_ONCE", at_once)
    a, b = operands((30, 40), (3, 40, 50), "int64")
    np.testing.assert_array_equal(integers.multiply(a * 2 ** 60, b), (a * 2 ** 60) @ b)


def test_half_is_computed_in_float32():
    a, b = operands((3, 4), (4, 2), "float16")
    want = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    np.testing.assert_allclose(gemm.product(a, b, {}), want, rtol=2e-3)


def test_complex_adjoint():
    a = np.array([[[1 + 2j, 3j]]], np.complex64)
    np.testing.assert_array_equal(gemm.batch_product(a, a, {"adj_y": True}), [[[14 + 0j]]])


def test_blas_where_there_is_no_library(monkeypatch):
    monkeypatch.setattr(blas, "_library", blas._library.__wrapped__)
    monkeypatch.setattr(blas, "_file", lambda: None)
    with pytest.raises(ImportError, match="pip install scipy-openblas32"):
        blas.function.__wrapped__("sgemm")


def test_a_function_that_blas_lacks():
    with pytest.raises(ImportError, match="expected a function sgemmm in .*openblas"):
        blas.function("sgemmm")
