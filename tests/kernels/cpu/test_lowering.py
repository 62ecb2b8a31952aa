"""Kernel text lowered by us gives the bits that it gives through numba; what is beyond it goes to numba."""
from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from tfnb.kernels.cpu.fused.emit import emit
from tfnb.kernels.cpu.matmul import tiled
from tfnb.kernels.llvm import by_numba, codegen, jit, lowering
from tfnb.kernels.llvm.arithmetic import Unsupported
from tfnb.kernels.spec import ColumnKernel, MapKernel, Operand, RowKernel, Source

# ruff: noqa: F821
ALL = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def through_numba(text: str, monkeypatch) -> str:
    """The text under another name in the cache, where numba has compiled it."""
    marked = text + "\n# through numba\n"

    def refuse(*args):
        raise Unsupported("told to")
    with monkeypatch.context() as patch:
        patch.setattr(lowering, "module_source", refuse)
        jit.address(marked)
    return marked


@pytest.fixture
def same_bits(emitted, monkeypatch):
    """same_bits(kernel, loads): the emitted text is lowered without numba, and gives the bits it gives with numba."""
    def check(kernel, loads):
        source = emit(kernel)
        lowering.module_source(source.code, "symbol", "", "")
        wanted = Source(through_numba(source.code, monkeypatch), source.layout)
        sizes, found = emitted.sizes_of(loads), []
        for each in (source, wanted):
            arrays = emitted.results(kernel, loads)
            views = {name: np.broadcast_to(array, array.shape if getattr(kernel, "chunk", 0) else
                                           np.broadcast_shapes(array.shape, sizes)) for name, array in arrays.items()}
            emitted.run(kernel, loads, views, each)
            found.append({name: array.tobytes() for name, array in arrays.items()})
        assert found[0] == found[1]
    return check


def sample(shape, type, seed=0):
    """Numbers of all sizes; NaN, infinities and zeros of both signs among the floats."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape) * 40
    if type == "bool":
        return x > 0
    if np.dtype(type).kind != "f":
        return x.astype(np.int64).astype(type)
    x = x.astype(type)
    flat = x.reshape(-1)
    flat[:6] = [0, -0.0, np.inf, -np.inf, np.nan, 1e-40][:flat.size]
    return x


def mapped(emitted, fn, type, *arrays, types=()):
    """A map kernel of one definition."""
    loads = {f"x{i}": array for i, array in enumerate(arrays)}
    types = tuple(types)
    names = [f"r{i}" for i in range(len(types))]
    made = emitted.stmt(fn, type, " ".join(loads), " ".join(names), " ".join(types))
    rank = max(array.ndim for array in arrays)
    steps = tuple("s" * (rank - 1) + "1")
    kernel = MapKernel(rank, tuple(emitted.operand(n, a) for n, a in loads.items()), (made,),
                       tuple(Operand(name, t, steps) for name, t in zip(names, types, strict=True)))
    return kernel, loads


def arithmetic(x, y):
    return x + y, x - y, x * y, x / y, maximum(x, y), minimum(x, y), where(x < y, x, 1), abs(x), -x, x // y, x % y


def comparisons(x, y):
    return x == y, x != y, x < y, x <= y, x > y, x >= y, (x < y) & (x > 0), ~(x < y) | (y == 1), isnan(x)


def integers(x, y):
    return x & y, x | y, x ^ y, ~x, (x & 7) << (y & 3), x >> (y & 3), truncmod(x, y), square(x), sign(x)


def transcendental(x):
    return (exp(x), log(x), tanh(x), sigmoid(x), expm1(x), log1p(x), sqrt(x), rsqrt(x), erf(x), sin(x), cos(x),
            floor(x), ceil(x), rint(x), pow(x, 1.5))


def of_the_library(x):
    return tan(x), asin(x), atan(x), sinh(x), cosh(x), acosh(x), erfc(x), lgamma(x), atan2(x, 0.5)


def copies(x):
    return (x,) * 11


def two(x, y):
    return x * y + 0.5, where(x > y, x - y, 0)


def softmax(x):
    e = exp(x - rowmax(x))
    return e / rowsum(e), rowsum(x), where(column() == 3, x, 0)


def add(acc, x):
    return acc + x


def multiply(acc, x):
    return acc * x


def largest(acc, x):
    return maximum(acc, x)


def smallest(acc, x):
    return minimum(acc, x)


def both(acc, x):
    return acc & x


def mean(acc, count):
    return acc / count


def square_(x):
    return square(x)


@pytest.mark.slow
@pytest.mark.parametrize("type", ALL)
def test_maps_of_every_type(type, emitted, same_bits):
    x, y = sample(133, type), sample(133, type, 1)[::-1].copy()
    same_bits(*mapped(emitted, arithmetic, type, x, y, types=[type] * 11))
    same_bits(*mapped(emitted, comparisons, type, x, y, types=["bool"] * 9))
    if np.dtype(type).kind != "f":
        same_bits(*mapped(emitted, integers, type, x, y, types=[type] * 9))


@pytest.mark.slow
@pytest.mark.parametrize("type", ["float32", "float64"])
def test_functions(type, emitted, same_bits):
    same_bits(*mapped(emitted, transcendental, type, sample(200, type), types=[type] * 15))
    same_bits(*mapped(emitted, of_the_library, type, sample(200, type), types=[type] * 9))


@pytest.mark.slow
@pytest.mark.parametrize("type", [*ALL, "bool"])
def test_casts(type, emitted, same_bits):
    x = abs(sample(70, type)) if type != "bool" else sample(70, type)
    x = x[np.isfinite(x)][5:] if np.dtype(type).kind == "f" else x
    same_bits(*mapped(emitted, copies, type, x, types=[*ALL, "bool"]))


@pytest.mark.parametrize("layout", ["plain", "strided", "transposed", "row", "column", "number"])
def test_maps_over_more_axes(layout, emitted, same_bits):
    shape = (3, 5, 37)
    x, y = sample(shape, "float32"), sample(shape, "float32", 1)
    y = {"plain": y, "strided": sample((3, 5, 74), "float32")[:, :, ::-2],
         "transposed": sample((37, 5, 3), "float32").T, "row": np.broadcast_to(y[0, 0], shape),
         "column": np.broadcast_to(y[:, :, :1], shape), "number": np.broadcast_to(y[:1, :1, :1], shape)}[layout]
    same_bits(*mapped(emitted, two, "float32", x, y, types=["float32"] * 2))


@pytest.mark.slow
@pytest.mark.parametrize("type", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("shape, outer", [((7, 300), 1), ((3, 4, 33), 1), ((3, 4, 33), 2), ((515,), 0)])
def test_reductions_along_rows(type, shape, outer, emitted, same_bits):
    x = np.ascontiguousarray(np.clip(np.nan_to_num(sample(shape, type)), 0, 100)).astype(type)
    body = [emitted.reduce(add, 0, type, "x", "s"), emitted.reduce(multiply, 1, type, "x", "p"),
            emitted.reduce(largest, "lowest", type, "x", "h"), emitted.reduce(smallest, "highest", type, "x", "l"),
            emitted.stmt(square_, type, "x", "q")]
    row = tuple("s" * max(0, outer - 1) + "1" * min(1, outer) + "0" * (len(shape) - outer))
    stores = (*(Operand(name, type, row) for name in "sphl"), Operand("q", type, tuple("s" * (len(shape) - 1) + "1")))
    same_bits(RowKernel(outer, len(shape) - outer, (emitted.operand("x", x),), tuple(body), stores), {"x": x})


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_several_passes_over_a_row(type, emitted, same_bits):
    x = np.nan_to_num(sample((5, 77), type), posinf=1, neginf=2)
    made = emitted.stmt(softmax, type, "x", "y s w")
    stores = (Operand("y", type, ("s", "1")), Operand("s", type, ("1", "0")), Operand("w", type, ("s", "1")))
    same_bits(RowKernel(1, 1, (emitted.operand("x", x),), (made,), stores), {"x": x})


@pytest.mark.parametrize("streams", ["row", "element"])
def test_streamed_rows(streams, emitted, monkeypatch):
    x = sample((5, 64), "float32")
    stores = (Operand("y", "float32", ("s", "1"), streams=streams),)
    made = emitted.stmt(square_, "float32", "x", "y")
    kernel = RowKernel(1, 1, (emitted.operand("x", x),), (made,), stores)
    source = emit(kernel)
    memory, found = np.zeros(x.size + 16, np.float32), []
    first = -memory.ctypes.data // 4 % 16                   # rows start at cache lines
    for text in (source.code, through_numba(source.code, monkeypatch)):
        memory[:] = 7
        emitted.run(kernel, {"x": x}, {"y": memory[first:first + x.size].reshape(x.shape)}, Source(text, source.layout))
        found.append(memory.tobytes())
    assert "stream" in source.code and found[0] == found[1]


@pytest.mark.parametrize("type", ["float32", "float64", "int64"])
def test_chunks_of_a_vector(type, emitted, same_bits):
    x = np.nan_to_num(sample(1000, type), posinf=1, neginf=2)
    kernel = RowKernel(0, 1, (emitted.operand("x", x),), (emitted.reduce(add, 0, type, "x", "s"),),
                       (Operand("s", type, ("0",)),), 300)
    same_bits(kernel, {"x": x})


@pytest.mark.parametrize("type", ["float32", "float64", "int32", "bool"])
def test_reductions_along_columns(type, emitted, same_bits):
    x = sample((9, 133), type)
    body = [emitted.reduce(both, 1, type, "x", "s")] if type == "bool" else [
        emitted.reduce(add, 0, type, "x", "s", *([mean] if type.startswith("f") else [])),
        emitted.reduce(largest, "lowest", type, "x", "h"), emitted.stmt(square_, type, "x", "q")]
    stores = [Operand(item.result, type, ("0", "1")) for item in body[:2]]
    stores += [Operand("q", type, ("s", "1"))] if len(body) == 3 else []
    same_bits(ColumnKernel((emitted.operand("x", x),), tuple(body), tuple(stores)), {"x": x})


# --- statements and integer arithmetic, as hand-written kernels have them -----------------------------------------

STATEMENTS = """
LIMIT = 3

@device
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 1000:
            return -1
    return steps

@device
def parts(a, b):
    if b == 0:
        return a, True
    return a // b, False

def kernel(args, begin, end):
    x, y, out = int64_array(args[0], 0), uint8_array(args[1], 0), int64_array(args[2], 0)
    for i in range(begin, end):
        a, b = x[i], x[end - 1 - i]
        quotient, zero = parts(a, b)
        first, last = (a, b) if a < b <= 100 or not (a > -5 and b) else (b, a)
        total = 0
        for k in range(20, first, -3):
            if k == 11:
                continue
            if k < -30:
                break
            total += k
        for k in range(0, 40, 1 + abs(a) % 5):
            total -= k
        total ^= min(a, b, 7) << LIMIT
        total += max(a, -b) >> 1
        small = uint8(a) + y[i]
        out[8 * i] = quotient + (1000 if zero else 0)
        out[8 * i + 1] = total
        out[8 * i + 2] = collatz(abs(a) + 1)
        out[8 * i + 3] = a % b
        out[8 * i + 4] = small * 3 - int64(float32(a) / 3)
        out[8 * i + 5] = (first & last) | ~b
        out[8 * i + 6] = int64(uint64(a) // uint64(7)) + int64(uint64(a) > uint64(b)) + (y[i] < a)
        y[i] += 3
        out[8 * i + 7] = int64(y[i]) - int32(a * 1e10 > b) + uint64(3)
"""


def test_statements(monkeypatch):
    x = np.array([0, 1, -1, 2, 3, -7, 100, 27, -(2 ** 40), 2 ** 62, 5, 0], np.int64)
    found = []
    for text in (STATEMENTS, through_numba(STATEMENTS, monkeypatch)):
        y, out = np.arange(250, 250 + x.size).astype(np.uint8), np.zeros((x.size, 8), np.int64)
        block = np.array([x.ctypes.data, y.ctypes.data, out.ctypes.data], np.int64)
        CALL(jit.address(text))(block.ctypes.data, 0, x.size)
        found.append((out.tolist(), y.tolist()))
    assert found[0] == found[1]
    assert [row[2] for row in found[0][0]][:5] == [0, 1, 1, 7, 2]


@pytest.mark.parametrize("by_row", [True, False])
def test_tiles_and_device_functions(by_row, monkeypatch):
    machine = tiled.microkernel.machine()
    if machine is None:
        pytest.skip("no tiles for this processor")
    names = tiled.names(machine, "float32", by_row)
    text = """
@device
def height(left):
    {heights}

def kernel(args, begin, end):
    for j in range(0, 70, {width}):
        i, a_step = 0, args[3]
        while i < 50:
            rows = height(50 - i)
            multiply_by_{order}_float32(rows, address_of(args), 1, i * {a_row}, a_step, 4 * j, 4 * 70,
                                        min({width}, 70 - j), args[2] + 4 * (70 * i + j), 4 * 70, 60, 0)
            i += rows
""".format(**names)
    a, b, found = sample((50, 60), "float32"), sample((60, 70), "float32"), []
    a, b = np.nan_to_num(a, posinf=1, neginf=1), np.nan_to_num(b, posinf=1, neginf=1)
    given = a if by_row else np.ascontiguousarray(a.T)
    for each in (text, through_numba(text, monkeypatch)):
        out = np.zeros((50, 70), np.float32)
        block = np.array([given.ctypes.data, b.ctypes.data, out.ctypes.data, given.strides[0]], np.int64)
        CALL(jit.address(each))(block.ctypes.data, 0, 1)
        found.append(out)
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], a @ b, rtol=1e-3, atol=1e-1)


# --- what is beyond it --------------------------------------------------------------------------------------------

BEYOND = """
def kernel(args, begin, end):
    for i in range(begin, end):
        {0}
"""


@pytest.mark.parametrize("line", [
    "x = 1\n        x = 1.5", "x = [1]", "y = args[0] ** 2", "for j in (1, 2): pass", "with x: pass",
    "x = end and 3", "x = np.int64(3)", "x = exp(i)", "x = float32_array(args[0])", "args[0, 1] = 2",
    "x = min(args, 3)", "x = store(1, 2)", "x, y = 1", "x = math.exp(i)", "x = -args", "x = args < 3", "x = i % 2.5",
    "i.x = 3", "x = load(2.5)", "return 3", "x = (1, 2) if i else 3", "range(i)", "x = sorted(i)", "x = None",
    "x = abs(begin=3)", "x = 'text'"])
def test_what_is_unsupported(line):
    with pytest.raises(Unsupported):
        lowering.module_source(BEYOND.format(line), "symbol", "", "")


@pytest.mark.parametrize("text", [
    "def other(args, begin, end):\n    pass\n", "def kernel(args):\n    pass\n", "import os\n" + BEYOND.format("pass"),
    "@device\ndef f(x):\n    return f(x)\n" + BEYOND.format("x = f(i)"),
    "@device\ndef f(x):\n    if x:\n        return 3\n" + BEYOND.format("x = f(i)"),
    "@device\ndef f(x, y=3):\n    return x\n" + BEYOND.format("x = f(i)")])
def test_texts_that_are_unsupported(text):
    with pytest.raises(Unsupported):
        lowering.module_source(text, "symbol", "", "")


def test_numba_takes_what_is_unsupported():
    text = "def kernel(args, begin, end):\n    args[0] = np.int64(args[0]) ** 3 + begin\n"
    with pytest.raises(Unsupported):
        lowering.module_source(text, "symbol", "", "")
    block = np.array([5], np.int64)
    CALL(jit.address(text))(block.ctypes.data, 2, 3)
    assert block[0] == 127


def test_both_refuse():
    with pytest.raises(codegen.KernelError, match="does not compile"):
        codegen.compile_source(BEYOND.format("x = sorted(i)"), "symbol")
    with pytest.raises(codegen.KernelError, match="does not compile"):
        codegen.compile_source("def kernel(args, begin, end)\n    pass\n", "symbol")


def test_flags_are_the_kernels_own():
    text = BEYOND.format("y = float32_array(args[0], 1)\n        y[0] = y[0] * y[1] + f(y[0])")
    text = "@device\ndef f(x):\n    return x * x\n" + text
    kernel, device = lowering.module_source(text, "symbol", "", "")[0].split("define internal")
    assert "fmul reassoc contract" in kernel.replace("contract reassoc", "reassoc contract") and "fmul float" in device
    kernel, _ = lowering.module_source("FASTMATH = ()\n" + text, "symbol", "", "")[0].split("define internal")
    assert "fmul float" in kernel


def test_control_bits_differ_when_the_text_does(emitted, same_bits, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "through_numba", lambda text, _: text.replace("v0 * v1", "v1 * v0 * v0"))
    x, y = sample(50, "float32"), sample(50, "float32", 1)
    with pytest.raises(AssertionError):
        same_bits(*mapped(emitted, two, "float32", x, y, types=["float32"] * 2))


def test_every_word_of_the_prelude_has_a_form_in_numba():
    names = by_numba.namespace()
    assert set(by_numba.prelude.primitives()) <= set(names)


@pytest.mark.slow
def test_our_own_kernels_need_no_numba():
    """A training step, in a fresh process without kernels on disk, imports no numba."""
    program = """if True:
        import sys, tempfile, os
        os.environ["TFNB_CACHE_DIR"] = tempfile.mkdtemp()
        import numpy as np, tfnb as tf
        x, w = tf.placeholder(tf.float32, [None, 64]), tf.Variable(tf.truncated_normal([64, 300], seed=1))
        train = tf.train.AdamOptimizer(0.01).minimize(tf.reduce_mean(tf.nn.softmax(tf.matmul(x, w))))
        normal = tf.random_normal([3])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run([train, normal], {x: np.ones((32, 64))})
        from tfnb.kernels.llvm import jit
        print(jit.stats().compiled > 5, "numba" in sys.modules)"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == ["True", "False"]
