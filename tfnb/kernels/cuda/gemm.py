"""Matmul on a GPU: a block of threads computes a square tile of the product, through shared memory.

    matmul(call), batch_matmul(call)    `cuda=` of MatMul (transpose_a, _b) and BatchMatMul, -V2 (adj_x, _y)

With the attr "epilogue" they add a bias, their third input, and apply a relu (compile/products.py).

A call of cuBLASLt where that is installed (libraries.py). Else a kernel without tensor cores: each thread keeps `per` x
`per` sums in registers and reads each number from shared memory once for `per` products.
"""
from __future__ import annotations

from functools import lru_cache

from tfnb.kernels.batches import runs, sizes, transposes
from tfnb.kernels.cuda import libraries
from tfnb.kernels.cuda.geometry import Tiling, tiling
from tfnb.kernels.cuda.sources import cast
from tfnb.kernels.launch import Address, Call, Launch
from tfnb.kernels.scalar.number_types import computed_as

SOURCE = """def kernel(a, b, c{parameter}, m, n, k, a_row, a_column, a_next, b_row, b_column, b_next):
    left = cuda.shared.array({area}, {type})
    right = cuda.shared.array({area}, {type})
    sums = cuda.local.array({sums}, {type})
    across, down = (n + {tile} - 1) // {tile}, (m + {tile} - 1) // {tile}
    row, column = cuda.blockIdx.x // across % down * {tile}, cuda.blockIdx.x % across * {tile}
    matrix = cuda.blockIdx.x // across // down
    first_a, first_b, first_c = matrix * a_next, matrix * b_next, matrix * m * n
    thread = cuda.threadIdx.x
    y, x = thread // {side} * {per}, thread % {side} * {per}
    for i in range({sums}):
        sums[i] = {type}(0)
    for start in range(0, k, {depth}):
        for e in range(thread, {area}, {threads}):
            i, p = e // {depth}, e % {depth}
            inside = row + i < m and start + p < k
            left[e] = {left} if inside else {type}(0)
            p, j = e // {tile}, e % {tile}
            inside = column + j < n and start + p < k
            right[e] = {right} if inside else {type}(0)
        cuda.syncthreads()
        for p in range({depth}):
            for i in range({per}):
                value = left[(y + i) * {depth} + p]
                for j in range({per}):
                    sums[i * {per} + j] += value * right[p * {tile} + x + j]
        cuda.syncthreads()
    for i in range({per}):
        for j in range({per}):
            if row + y + i < m and column + x + j < n:
                total = sums[i * {per} + j]{bias}{relu}
                c[first_c + (row + y + i) * n + column + x + j] = {result}
"""
LEFT = "a[first_a + (row + i) * a_row + (start + p) * a_column]"
RIGHT = "b[first_b + (start + p) * b_row + (column + j) * b_column]"


RELU = """
                total = total if total > 0 or total != total else {}(0)"""


@lru_cache(maxsize=64)
def matmul_source(type: str, tiling: Tiling = Tiling(), epilogue: tuple[str, ...] = ()) -> str:  # noqa: B008  (frozen)
    """Return the source of c = a b for flat arrays of `type`, for the matrices `a_next` and `b_next` behind these.

    Element (i, p) of a is at i * a_row + p * a_column, likewise b. 16-bit floats are summed in float32. epilogue: of
    "bias", a vector behind c that is added to each row, and "relu".
    """
    wide = computed_as(type)
    left, right, bias = (text if wide == type else cast(text, type, wide)
                         for text in (LEFT, RIGHT, "bias[column + x + j]"))
    has_bias = "bias" in epilogue
    return SOURCE.format(type=wide, left=left, right=right, parameter=", bias" * has_bias, bias=f" + {bias}" * has_bias,
                         relu=RELU.format(wide) if "relu" in epilogue else "",
                         result="total" if wide == type else cast("total", wide, type),
                         tile=tiling.tile, depth=tiling.depth, per=tiling.per,
                         area=tiling.tile * tiling.depth, sums=tiling.per ** 2, side=tiling.tile // tiling.per,
                         threads=tiling.threads)


def argument_types(type: str, epilogue: tuple[str, ...] = ()) -> list[tuple[str, bool]]:
    """Return the dtype of each argument, and whether it is an array, as `device.ptx` takes them."""
    return [(type, True)] * (3 + ("bias" in epilogue)) + [("int64", False)] * 9


def matmul(call: Call) -> list[Launch]:
    """Return the launches of MatMul: (m, k) x (k, n) -> (m, n)."""
    return _product(call, call.input(0), call.input(1), call.output(), 1, (0, 0))


def batch_matmul(call: Call) -> list[Launch]:
    """Return launches of BatchMatMul, -V2: (..., m, k) x (..., k, n) -> (..., m, n), leading dimensions broadcast."""
    (a, b), launches = call.inputs, []
    area = [m.shape[-2] * m.shape[-1] for m in (a, b, call.outputs[0])]
    for count, first, moves in runs(call.outputs[0].shape[:-2], a.shape[:-2], b.shape[:-2]):
        a_place, b_place, out = [address.at(i * n * a.itemsize) for address, i, n in
                  zip((call.input(0), call.input(1), call.output()), first, area, strict=True)]
        launches += _product(call, a_place, b_place, out, count, (moves[0] * area[0], moves[1] * area[1]))
    return launches


def _product(call: Call, a: Address, b: Address, c: Address, count: int, moves: tuple[int, int]) -> list[Launch]:
    """Return the launch of `count` matmuls; moves: from one matrix to the next, in elements."""
    first, second = call.inputs[:2]
    turned = transposes(call.attrs)
    m, n, k = sizes(first.shape[-2:], second.shape[-2:], call.attrs)
    if not m * n * count:
        return []
    epilogue = call.attrs.get("epilogue", ())
    bias = (call.input(2),) if "bias" in epilogue else ()
    if k and libraries.has_matmul(first.type):
        nbytes = libraries.WORKSPACE if 2 * m * n * k * count >= libraries.LARGE else 0
        form = (m, n, k, *map(int, turned), count, *moves, nbytes)
        workspace = call.scratch(nbytes) if nbytes else 0
        source = libraries.matmul_source(first.type, epilogue)
        return [Launch(source, (a, b, c, workspace, *form, *bias), 1, 0, "product")]
    words = [((1, m) if turned[0] else (k, 1)), ((1, k) if turned[1] else (n, 1))]
    cut = tiling()
    args = (a, b, c, *bias, m, n, k, *words[0], moves[0], *words[1], moves[1])
    return [Launch(matmul_source(first.type, cut, epilogue), args, cut.blocks(m, n) * count, cut.threads, "product")]
