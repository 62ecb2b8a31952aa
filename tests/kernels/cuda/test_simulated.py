"""Emitted CUDA kernels on the simulator."""
from __future__ import annotations

import numpy as np
import pytest

from tfnb.kernels.cuda import device
from tfnb.kernels.cuda.emit import emit
from tfnb.kernels.cuda.gemm import matmul_source
from tfnb.kernels.cuda.geometry import Tiling
from tfnb.kernels.spec import RowKernel

pytestmark = [pytest.mark.cudasim, pytest.mark.usefixtures("simulated")]
THREADS = 4


def flat(array):
    """All memory that a view over the loops may touch, from its first element on."""
    while array.base is not None and isinstance(array.base, np.ndarray):
        array = array.base
    return array.reshape(-1)


def check(emitted, case, text=None, threads=THREADS):
    source = emit(case.kernel, threads=threads)
    want, got = emitted.oracle(case.kernel, case.loads), emitted.results(case.kernel, case.loads)
    sizes = emitted.sizes_of(case.loads)
    sides = {"load": case.loads, "store": got}
    args = []
    for side, *rest in source.layout:
        if side == "size":
            args.append(sizes[rest[0]])
        elif side == "step":
            array = sides[rest[0]][rest[1]]
            args.append(array.strides[rest[2]] // array.itemsize)
        else:
            args.append(flat(sides[side][rest[0]]))
    blocks = 3 if isinstance(case.kernel, RowKernel) else 2
    device.launch(text or source.code, blocks, threads, *args)
    for name, array in got.items():
        emitted.same(f"{case.name} {name}", array, want[name], ulps=case.ulps, scale=case.scale)


COUNT = 43


@pytest.mark.parametrize("number", range(COUNT))
def test_case(emitted, cases, number):
    assert len(cases) == COUNT
    check(emitted, cases[number])


ROWS = ["softmax", "sparse", "any", "chunks", "moments-(2, 300)-1", "moments-(3, 10)-1", "moments-(11,)-0",
        "moments-(2, 2, 5)-2"]


@pytest.mark.parametrize("name", ROWS)
def test_warps_of_a_block_share_a_row(emitted, cases, name):
    check(emitted, next(case for case in cases if case.name == name), threads=64)


def test_a_fault_in_what_warps_share_is_noticed(emitted, cases):
    case = next(case for case in cases if case.name == "moments-(2, 300)-1")
    text = emit(case.kernel, threads=64).code
    assert "range(1, 2)" in text
    with pytest.raises(AssertionError):
        check(emitted, case, text.replace("range(1, 2)", "range(1, 1)"), 64)


def test_a_barrier_that_some_threads_miss_is_an_error():
    text = "def kernel(o0):\n    if cuda.threadIdx.x > 0:\n        cuda.syncthreads()\n"
    with pytest.raises(RuntimeError, match=r"part before a barrier: \[1, 2, 3\] of 4 wait there"):
        device.launch(text, 1, 4, np.zeros(1))


def test_a_missing_barrier_shows():
    text = """def kernel(o0):
    lane = cuda.threadIdx.x
    part = cuda.shared.array(4, float32)
    part[lane] = 0
    cuda.syncthreads()
    part[lane] = lane + 1
    cuda.syncthreads()
    o0[4 * cuda.blockIdx.x + lane] = part[(lane + 1) % 4]
"""
    found, wrong = np.zeros(8), np.zeros(8)
    device.launch(text, 2, 4, found)
    assert found.tolist() == [2, 3, 4, 1] * 2
    device.launch(text.replace("= lane + 1\n    cuda.syncthreads()", "= lane + 1"), 2, 4, wrong)
    assert all(wrong[i:i + 4].tolist() != [2, 3, 4, 1] for i in (0, 4))


@pytest.mark.parametrize("name, good, bad", [
    ("softmax", "acc1 + q1", "acc1 - q1"), ("map-2-12", "- v", "+ v"), ("columns-int32", "range(n0)", "range(1)"),
    ("map-2-12", "y0[3])", "y0[2])"), ("moments-(2, 300)-1", "i * a0_s0 + q)", "i * a0_s0)")])
def test_control_a_fault_is_noticed(emitted, cases, name, good, bad):
    case = next(case for case in cases if case.name == name)
    text = emit(case.kernel, threads=THREADS).code
    assert good in text
    with pytest.raises(AssertionError):
        check(emitted, case, text.replace(good, bad))


SMALL = Tiling(tile=4, depth=2, per=2)


@pytest.mark.parametrize("m, k, n", [(4, 4, 4), (5, 3, 7), (1, 9, 1), (8, 1, 2), (3, 0, 2)])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("type", ["float32", "int32"])
def test_matmul(m, k, n, turned, type):
    random = np.random.RandomState(m + k)
    a, b = (random.randint(-9, 9, shape).astype(type) for shape in ((m, k), (k, n)))
    stored = [np.ascontiguousarray(x.T if t else x) for x, t in zip((a, b), turned, strict=True)]
    (a_row, a_column), (b_row, b_column) = ((1, m) if turned[0] else (k, 1), (1, k) if turned[1] else (n, 1))
    c = np.full(m * n, 99, type)
    flat_a, flat_b = (np.append(x.reshape(-1), np.zeros(1, type)) for x in stored)      # never of size 0
    device.launch(matmul_source(type, SMALL), SMALL.blocks(m, n), SMALL.threads, flat_a, flat_b, c, m, n, k, a_row,
                  a_column, 0, b_row, b_column, 0)
    np.testing.assert_array_equal(c.reshape(m, n), a @ b)
