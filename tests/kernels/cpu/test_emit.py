"""Emitted CPU kernels give what their records mean in NumPy."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tfnb.kernels.cpu.fused.emit import emit
from tfnb.kernels.scalar.definition import read
from tfnb.kernels.scalar.number_types import extreme
from tfnb.kernels.spec import ColumnKernel, MapKernel, Operand, Reduce, RowKernel, Source, Stmt

# ruff: noqa: F821
NUMBERS = ["float32", "float64", "int32", "int64"]


def Add(x, y):
    return x + y


def Mul(x, y):
    return x * y


def Sub(x, y):
    return x - y


def Sigmoid(x):
    return sigmoid(x)


def Sum(acc, x):
    return acc + x


def Prod(acc, x):
    return acc * x


def Max(acc, x):
    return maximum(acc, x)


def Min(acc, x):
    return minimum(acc, x)


def Any(acc, x):
    return acc | x


def All(acc, x):
    return acc & x


def Mean(acc, count):
    return acc / count


def Square(x):
    return square(x)


def sample(shape, type, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape) * 4
    return x > 0 if type == "bool" else x.astype(type)


def special(type):
    if np.dtype(type).kind == "f":
        tiny = np.finfo(type).tiny
        base = [0, -0.0, 1, -1, 0.5, -2.5, 3.75, 1e-3, -30, 80, np.inf, -np.inf, np.nan, tiny, -tiny, 1e30]
    elif type == "bool":
        base = [True, False]
    else:
        info = np.iinfo(type)
        base = [0, 1, 2, 3, 7, 100, info.max, info.min, *([] if info.min == 0 else [-1, -2, -7])]
    with np.errstate(all="ignore"):
        return np.array(base).astype(type) if np.dtype(type).kind == "f" else np.array(base, type)


def one_of(emitted, fn, type, *arrays, types="", **attrs):
    """A map kernel of one statement over the arrays."""
    loads = {f"x{i}": array for i, array in enumerate(arrays)}
    names = [f"r{i}" for i in range(max(1, len(types.split())))]
    made = emitted.stmt(fn, type, " ".join(loads), " ".join(names), types, **attrs)
    rank = arrays[0].ndim
    stores = tuple(Operand(name, t, "s" * max(0, rank - 1) + "1" * min(rank, 1)) for name, t in
                   zip(names, made.types, strict=True))
    stores = tuple(replace(store, steps=tuple(store.steps)) for store in stores)
    return MapKernel(rank, tuple(emitted.operand(n, a) for n, a in loads.items()), (made,), stores), loads


# --- words --------------------------------------------------------------------------------------------------------

def exponentials(x):
    return exp(x), expm1(x), tanh(x), sigmoid(x), log(x), log1p(x)


def circular(x):
    y = where(abs(x) < 1e14, x * 10, 1)
    return sin(y), cos(y), tan(x), asin(x / 80), acos(x / 80), atan(x)


def hyperbolic(x):
    return sinh(x), cosh(x), asinh(x), acosh(x), atanh(x / 81), erf(x)


def rounding(x):
    y = x * 0.75
    return floor(y), ceil(y), round(y), rint(y), trunc(y), sign(x)


def simple(x):
    return sqrt(x), rsqrt(x), square(x), reciprocal(x), abs(x), -x


def gammas(x):
    y = where(abs(x) < 50, x + 0.25, 1.5)
    return erfc(x), lgamma(y), digamma(y), conj(x), real(x), x ** 2


def asking(x):
    return isnan(x), isinf(x), isfinite(x), x == 0, x != x, ~(x > 1)


@pytest.mark.parametrize("fn", [exponentials, circular, hyperbolic, rounding, simple, gammas])
@pytest.mark.parametrize("type", ["float32", "float64"])
def test_words_of_one_float(emitted, fn, type):
    x = np.concatenate([special(type), sample(50, type)])
    kernel, loads = one_of(emitted, fn, type, x, types=" ".join([type] * 6))
    emitted.check(kernel, loads, ulps=40 if fn in (circular, gammas) else 4, scale=1 if fn in (circular, gammas) else 0)


@pytest.mark.parametrize("type", ["float32", "float64", "int32", "uint8"])
def test_tests_of_a_number(emitted, type):
    x = special(type)
    emitted.check(*one_of(emitted, asking, type, x, types="bool " * 6))


def arithmetic(x, y):
    return x + y, x - y, x * y, x / y, maximum(x, y), minimum(x, y)


def division(x, y):
    return floordiv(x, y), floormod(x, y), truncdiv(x, y), truncmod(x, y), x // y, x % y


def comparing(x, y):
    return x == y, x != y, x < y, x <= y, x > y, x >= y


def choosing(x, y):
    low = x < y
    return where(low, x, y), where(low & (x > 0), 1, y), where(low | (y > 1), x, 0), where(low ^ (x == 0), x, y)


def logic(x, y):
    return logical_and(x, y), logical_or(x, y), logical_xor(x, y), logical_not(x)


@pytest.mark.parametrize("fn", [arithmetic, division])
@pytest.mark.parametrize("type", [*NUMBERS, "int8", "uint8", "uint64"])
def test_words_of_two_numbers(emitted, fn, type):
    x, y = (a.reshape(-1).copy() for a in np.meshgrid(special(type), special(type)))
    emitted.check(*one_of(emitted, fn, type, x, y, types=" ".join([type] * 6)))


@pytest.mark.parametrize("type", [*NUMBERS, "int16", "uint32"])
def test_comparing_and_choosing(emitted, type):
    x, y = (a.reshape(-1).copy() for a in np.meshgrid(special(type), special(type)))
    emitted.check(*one_of(emitted, comparing, type, x, y, types="bool " * 6))
    emitted.check(*one_of(emitted, choosing, type, x, y, types=" ".join([type] * 4)))
    emitted.check(*one_of(emitted, logic, type, x, y, types="bool " * 4))


def powers(x, y):
    return x ** y, atan2(x, y)


@pytest.mark.parametrize("type", ["float32", "float64"])
def test_powers(emitted, type):
    values = np.concatenate([special(type), sample(8, type), np.array([3, -3, 2, 100.5], type)])
    x, y = (a.reshape(-1).copy() for a in np.meshgrid(values, values))
    emitted.check(*one_of(emitted, powers, type, x, y, types=f"{type} {type}"), ulps=6)


def integer_words(x, y):
    return x ** y, (x & y) | (x ^ 5), ~x, abs(x), -x, sign(x) + square(x)


@pytest.mark.parametrize("type", ["int32", "int64", "int8", "uint8", "uint64"])
def test_integer_words(emitted, type):
    x, y = (a.reshape(-1).copy() for a in np.meshgrid(special(type), special(type)))
    emitted.check(*one_of(emitted, integer_words, type, x, y, types=" ".join([type] * 6)))


def test_shifts(emitted):
    def shifts(x, y):
        return x << y, x >> y
    for type in ("int32", "uint8", "int64"):
        x, y = np.array([1, 100, 7, 0], type), np.array([0, 3, 5, 2], type)
        emitted.check(*one_of(emitted, shifts, type, x, y, types=f"{type} {type}"))


def test_logic_of_bools(emitted):
    def of_bools(x, y):
        return x & y, x | y, x ^ y, ~x, where(x, y, True), x == y
    x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    emitted.check(*one_of(emitted, of_bools, "bool", x, y, types="bool " * 6))


def test_casts(emitted):
    everything = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
    def copies(x):
        return (x,) * 11
    for type in everything.split():
        x = np.array([0, 1, 2, 3, 100, 127]).astype(type)
        emitted.check(*one_of(emitted, copies, type, x, types=everything))
    emitted.check(*one_of(emitted, copies, "float32", np.float32([-1.5, 1.5, -0.2]),
                          types="float64 float32 int8 int16 int32 int64 float64 int64 int32 int16 bool"))


def test_attrs_are_literals_of_the_type(emitted):
    def Leaky(x, *, alpha):
        return where(x > 0, x, alpha * x)
    kernel, loads = one_of(emitted, Leaky, "float32", sample(9, "float32"), alpha=0.1)
    emitted.check(kernel, loads)
    assert "float32(0.1)" in emit(kernel).code


# --- loops --------------------------------------------------------------------------------------------------------

def chain(emitted, type, x, y, store_steps):
    body = (emitted.stmt(Add, type, "x y", "a"), emitted.stmt(Square, type, "a", "b"),
            emitted.stmt(Sub, type, "b x", "c"))
    return MapKernel(x.ndim, (emitted.operand("x", x), emitted.operand("y", y)), body,
                     (Operand("c", type, store_steps), Operand("a", type, store_steps)))


@pytest.mark.parametrize("type", NUMBERS)
@pytest.mark.parametrize("size", [0, 1, 37])
def test_vectors(emitted, type, size):
    x, y = sample(size, type), sample(size, type, 1)
    emitted.check(chain(emitted, type, x, y, ("1",)), {"x": x, "y": y}, scale=20)


def test_a_scalar(emitted):
    x, y = np.array(2, np.float32), np.array(3, np.float32)
    emitted.check(chain(emitted, "float32", x, y, ()), {"x": x, "y": y})


@pytest.mark.parametrize("shape", [(4, 5), (1, 6), (6, 1), (0, 3), (3, 0), (2, 3, 4), (2, 2, 3, 3)])
@pytest.mark.parametrize("axis", ["rows", "columns", "number", "transposed"])
def test_broadcast_and_strided(emitted, shape, axis):
    x = sample(shape, "float32")
    y = {"rows": np.broadcast_to(sample(shape[-1], "float32", 1), shape),
         "columns": np.broadcast_to(sample((*shape[:-1], 1), "float32", 1), shape),
         "number": np.broadcast_to(np.float32([3]), shape),
         "transposed": sample(shape[::-1], "float32", 1).T}[axis]
    steps = tuple("s" * (len(shape) - 1) + "1")
    emitted.check(chain(emitted, "float32", x, y, steps), {"x": x, "y": y}, scale=20)


def test_reversed_and_sliced(emitted):
    x, y = sample((6, 8), "int64")[::2, ::-2], sample((6, 8), "int64")[::-2, 1::2]
    emitted.check(chain(emitted, "int64", x, y, ("s", "1")), {"x": x, "y": y})


def test_what_does_not_move_is_outside_the_loop(emitted):
    x = sample((3, 4), "float32")
    y = np.broadcast_to(sample((3, 1), "float32", 1), (3, 4))
    z = np.broadcast_to(np.float32([2]), (3, 4))
    body = (emitted.stmt(Sigmoid, "float32", "y", "a"), emitted.stmt(Sigmoid, "float32", "z", "b"),
            emitted.stmt(Mul, "float32", "a x", "c"), emitted.stmt(Mul, "float32", "b c", "d"))
    kernel = MapKernel(2, tuple(emitted.operand(n, a) for n, a in (("x", x), ("y", y), ("z", z))), body,
                       (Operand("d", "float32", ("s", "1")),))
    emitted.check(kernel, {"x": x, "y": y, "z": z})
    text = emit(kernel).code
    of_all, _, of_rows = text.partition("for row")
    of_elements = of_rows.partition("for j")[2]
    assert text.count("sigmoid") == 2 and "sigmoid" in of_all and "sigmoid" in of_rows and "sigmoid" not in of_elements


def test_in_place(emitted):
    x, y = sample(1000, "float32"), sample(1000, "float32", 1)
    kernel = chain(emitted, "float32", x, y, ("1",))
    want = emitted.oracle(kernel, {"x": x, "y": y})
    emitted.run(kernel, {"x": x, "y": y}, {"c": x, "a": y})
    np.testing.assert_allclose(x, want["c"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(y, want["a"], rtol=1e-5)


# --- rows ---------------------------------------------------------------------------------------------------------

def rows(emitted, x, outer, body, stores, more=()):
    loads = {"x": x, **dict(more)}
    made = []
    for name, type, level in (store.split(":") for store in stores.split()):
        inner = x.ndim - outer
        full = tuple("s" * (x.ndim - 1) + "1")
        row = tuple("s" * max(0, outer - 1) + "1" * min(1, outer) + "0" * inner)
        made.append(Operand(name, type, full if level == "full" else row))
    kernel = RowKernel(outer, x.ndim - outer, tuple(emitted.operand(n, a) for n, a in loads.items()), tuple(body),
                       tuple(made))
    return kernel, loads


@pytest.mark.parametrize("type", NUMBERS)
@pytest.mark.parametrize("shape, outer", [((3, 5), 1), ((1, 1), 1), ((4, 0), 1), ((0, 4), 1), ((37,), 0),
                                          ((2, 3, 4), 2), ((2, 3, 4), 1), ((2, 3, 70), 0)])
def test_sums_and_extremes(emitted, type, shape, outer):
    x = sample(shape, type)
    body = [emitted.reduce(Sum, 0, type, "x", "s"), emitted.reduce(Max, "lowest", type, "x", "h"),
            emitted.reduce(Min, "highest", type, "x", "l"), emitted.reduce(Prod, 1, type, "x", "p")]
    kernel, loads = rows(emitted, x, outer, body, f"s:{type}:row h:{type}:row l:{type}:row p:{type}:row")
    emitted.check(kernel, loads, ulps=50, scale=20)


@pytest.mark.parametrize("outer", [0, 1, 2])
def test_strided_rows(emitted, outer):
    x = sample((6, 4, 5), "float32").transpose(2, 0, 1)[::-1, ::2]
    body = [emitted.reduce(Sum, 0, "float32", "x", "s", Mean)]
    emitted.check(*rows(emitted, x, outer, body, "s:float32:row"), scale=20)


def test_nan_sticks_in_extremes(emitted):
    x = sample((4, 40), "float32")
    x[0, 0] = x[1, 17] = x[2, 39] = np.nan
    x[3] = -np.inf
    body = [emitted.reduce(Max, "lowest", "float32", "x", "h"), emitted.reduce(Min, "highest", "float32", "x", "l")]
    emitted.check(*rows(emitted, x, 1, body, "h:float32:row l:float32:row"))


def test_any_and_all(emitted):
    x = np.array([[True, True], [True, False], [False, False]])
    body = [emitted.reduce(Any, 0, "bool", "x", "s"), emitted.reduce(All, 1, "bool", "x", "t")]
    emitted.check(*rows(emitted, x, 1, body, "s:bool:row t:bool:row"))


def variance(emitted, type):
    return [emitted.reduce(Sum, 0, type, "x", "m", Mean), emitted.stmt(Sub, type, "x m", "d"),
            emitted.stmt(Square, type, "d", "q"), emitted.reduce(Sum, 0, type, "q", "v", Mean),
            emitted.stmt(Mul, type, "d v", "n")]


@pytest.mark.parametrize("shape, outer", [((3, 50), 1), ((7,), 0), ((2, 3, 4), 1)])
def test_several_passes(emitted, shape, outer):
    x = sample(shape, "float64")
    kernel, loads = rows(emitted, x, outer, variance(emitted, "float64"), "v:float64:row m:float64:row n:float64:full")
    emitted.check(kernel, loads, ulps=50, scale=4)
    assert emit(kernel).code.count("for j in") == 3


def softmax(logits):
    e = exp(logits - rowmax(logits))
    return e / rowsum(e)


def cross_entropy(features, labels):
    shifted = features - rowmax(features)
    total = rowsum(exp(shifted))
    return rowsum(labels * (log(total) - shifted)), exp(shifted) / total - labels


def sparse_cross_entropy(features, label):
    shifted = features - rowmax(features)
    total = rowsum(exp(shifted))
    here = column() == label
    return log(total) - rowsum(where(here, shifted, 0)), exp(shifted) / total - where(here, 1, 0)


@pytest.mark.parametrize("shape", [(5, 10), (1, 1), (3, 100)])
def test_rowwise_definitions(emitted, shape):
    x = sample(shape, "float32")
    emitted.check(*rows(emitted, x, 1, [emitted.stmt(softmax, "float32", "x", "y")], "y:float32:full"), ulps=8)
    labels = abs(sample(shape, "float32", 1))
    body = [emitted.stmt(cross_entropy, "float32", "x labels", "l d")]
    emitted.check(*rows(emitted, x, 1, body, "l:float32:row d:float32:full", {"labels": labels}), ulps=20, scale=4)
    which = np.broadcast_to((np.arange(shape[0]) % shape[1])[:, None], shape)
    body = [emitted.stmt(sparse_cross_entropy, "float32", "x which", "l d")]
    emitted.check(*rows(emitted, x, 1, body, "l:float32:row d:float32:full", {"which": which}), ulps=20, scale=4)


def test_softmax_in_place(emitted):
    x = sample((6, 33), "float32")
    kernel, loads = rows(emitted, x, 1, [emitted.stmt(softmax, "float32", "x", "y")], "y:float32:full")
    want = emitted.oracle(kernel, loads)["y"]
    emitted.run(kernel, {"x": x}, {"y": x})
    np.testing.assert_allclose(x, want, rtol=1e-6)


def test_a_forward_value_is_stored_beside_its_sum(emitted):
    x = sample((4, 30), "float32")
    body = [emitted.stmt(Sigmoid, "float32", "x", "y"), emitted.reduce(Sum, 0, "float32", "y", "s")]
    kernel, loads = rows(emitted, x, 1, body, "y:float32:full s:float32:row")
    emitted.check(kernel, loads)
    assert emit(kernel).code.count("for j in") == 1


@pytest.mark.parametrize("size", [1, 16, 17, 50])
@pytest.mark.parametrize("step", [1, 2])
def test_chunks(emitted, size, step):
    x = sample(size * step, "float32")[::step]
    y = np.broadcast_to(np.float32([2]), (size,))
    body = (emitted.stmt(Mul, "float32", "x y", "d"), emitted.reduce(Sum, 0, "float32", "d", "s"),
            emitted.reduce(Max, "lowest", "float32", "x", "h"))
    kernel = RowKernel(0, 1, (emitted.operand("x", x), emitted.operand("y", y)), body,
                       (Operand("s", "float32", ("0",)), Operand("h", "float32", ("0",)),
                        Operand("d", "float32", ("1",))), chunk=16)
    emitted.check(kernel, {"x": x, "y": y}, scale=20)


def twice(logits):
    e = exp(logits - rowmax(logits))
    p = e / rowsum(e)
    return p, p * 1


@pytest.mark.parametrize("types", ["float32 float64", "float64 float32"])
def test_no_value_waits_in_a_store_of_another_type(types, emitted):
    """Exponentials are kept between the passes over a row in memory of their own type, or computed again."""
    x = sample((5, 70), "float64")
    made = emitted.stmt(twice, "float64", "x", "p q", types)
    stores = tuple(Operand(name, type, ("s", "1"), private=True)
                   for name, type in zip("pq", types.split(), strict=True))
    emitted.check(RowKernel(1, 1, (emitted.operand("x", x),), (made,), stores), {"x": x})


# --- columns ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("type", NUMBERS)
@pytest.mark.parametrize("shape", [(5, 7), (1, 4), (0, 3), (4, 0), (33, 100)])
def test_columns(emitted, type, shape):
    x = sample(shape, type)
    y = np.broadcast_to(sample((shape[0], 1), type, 1), shape)
    z = np.broadcast_to(sample((1, shape[1]), type, 2), shape)
    body = (emitted.stmt(Mul, type, "x y", "a"), emitted.stmt(Add, type, "a z", "b"),
            emitted.reduce(Sum, 0, type, "b", "s"), emitted.reduce(Max, "lowest", type, "x", "h"),
            emitted.stmt(Sub, type, "s h", "d"))
    loads = {"x": x, "y": y, "z": z}
    stores = (Operand("d", type, ("0", "1")), Operand("s", type, ("0", "1")), Operand("b", type, ("s", "1")))
    kernel = ColumnKernel(tuple(emitted.operand(n, a) for n, a in loads.items()), body, stores)
    emitted.check(kernel, loads, ulps=50, scale=100)


@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 21, 16), (1, 8, 4), (0, 3, 2), (3, 0, 2), (2, 17, 33)])
def test_blocks_of_columns(emitted, shape):
    """Several rows at once, and those that are left; with a second walk that stores."""
    x, type = sample(shape, "float32"), "float32"
    y = np.broadcast_to(sample((shape[0], 1, shape[2]), type, 1), shape)
    z = np.broadcast_to(sample((shape[1], 1), type, 2), shape)
    loads = {"x": x, "y": y, "z": z}
    operands = tuple(emitted.operand(n, a) for n, a in loads.items())
    body = (emitted.stmt(Mul, type, "x z", "a"), emitted.stmt(Add, type, "a y", "b"),
            emitted.reduce(Sum, 0, type, "b", "s"), emitted.reduce(Max, "lowest", type, "x", "h"),
            emitted.stmt(Sub, type, "s h", "d"))
    row, full = ("s", "0", "1"), ("s", "s", "1")
    emitted.check(ColumnKernel(operands, body, (Operand("d", type, row), Operand("s", type, row)), 1), loads, ulps=50,
                  scale=100)
    body = (*body, emitted.stmt(Sub, type, "x d", "e"))
    emitted.check(ColumnKernel(operands, body, (Operand("e", type, full), Operand("h", type, row)), 1), loads, ulps=50,
                  scale=100)


def test_columns_with_several_passes(emitted):
    x = sample((9, 20), "float64")
    kernel = ColumnKernel((emitted.operand("x", x),), tuple(variance(emitted, "float64")),
                          (Operand("v", "float64", ("0", "1")), Operand("n", "float64", ("s", "1"))))
    emitted.check(kernel, {"x": x}, ulps=50, scale=4)


def test_columns_of_booleans(emitted):
    x = sample((5, 9), "bool") & sample((5, 9), "bool", 1)
    body = (emitted.reduce(Any, 0, "bool", "x", "s"), emitted.reduce(All, 1, "bool", "x", "t"))
    kernel = ColumnKernel((emitted.operand("x", x),), body,
                          (Operand("s", "bool", ("0", "1")), Operand("t", "bool", ("0", "1"))))
    emitted.check(kernel, {"x": x})


# --- the text -----------------------------------------------------------------------------------------------------

def test_text_is_canonical(emitted):
    x = sample(4, "float32")
    one = MapKernel(1, (emitted.operand("p", x), emitted.operand("q", x)), (emitted.stmt(Mul, "float32", "p q", "r"),),
                    (Operand("r", "float32", ("1",)),))
    two = MapKernel(1, (emitted.operand("k", x), emitted.operand("l", x)), (emitted.stmt(Mul, "float32", "k l", "m"),),
                    (Operand("m", "float32", ("1",)),))
    assert emit(one).code == emit(two).code
    assert emit(one).layout == (("load", "p"), ("load", "q"), ("store", "r"))
    assert "  # Mul" in emit(one).code


def test_equal_work_is_done_once(emitted):
    def Both(x):
        return sigmoid(x) * exp(x)
    kernel, _ = one_of(emitted, Both, "float32", sample(4, "float32"))
    twice = replace(kernel, body=(*kernel.body, emitted.stmt(Sigmoid, "float32", "x0", "z")),
                    stores=(*kernel.stores, Operand("z", "float32", ("1",))))
    assert emit(twice).code.count("sigmoid(") == 1


@pytest.mark.parametrize("type", ["complex64", "complex128"])
def test_types_that_kernels_have_not(type):
    body = (Stmt(read(Square), type, ("x",), ("y",), (type,), (), "Square"),)
    kernel = MapKernel(1, (Operand("x", type, ("1",)),), body, (Operand("y", type, ("1",)),))
    with pytest.raises(TypeError, match=f"kernels have no type {type}"):
        emit(kernel)


def test_words_without_a_meaning_for_the_type():
    kernel = MapKernel(1, (Operand("x", "int32", ("1",)),),
                       (Stmt(read(Sigmoid), "int32", ("x",), ("y",), ("int32",), (), "Sigmoid"),),
                       (Operand("y", "int32", ("1",)),))
    with pytest.raises(TypeError, match="Sigmoid: .* has no meaning for int32"):
        emit(kernel)


def test_reductions_start_from_the_extremes():
    assert extreme("float32", "lowest") == -np.inf and extreme("int8", "highest") == 127
    assert extreme("bool", "lowest") is False
    assert isinstance(Reduce, type)


# --- negative controls: the checks see a fault --------------------------------------------------------------------

@pytest.mark.parametrize("good, bad", [("v0 + v1", "v0 - v1"), ("range(n)", "range(n - 1)"), ("a1[j]", "a0[j]")])
def test_control_a_wrong_map_is_noticed(emitted, good, bad):
    x, y = sample(9, "float32"), sample(9, "float32", 1)
    kernel = chain(emitted, "float32", x, y, ("1",))
    source = emit(kernel)
    assert good in source.code
    with pytest.raises(AssertionError):
        emitted.check(kernel, {"x": x, "y": y}, Source(source.code.replace(good, bad), source.layout), scale=20)


@pytest.mark.parametrize("good, bad", [("float32(-math.inf)", "float32(0)"), ("maximum", "minimum"),
                                       ("add_any_order(", "mul_any_order(")])
def test_control_a_wrong_row_is_noticed(emitted, good, bad):
    x = sample((3, 5), "float32") - 500
    kernel, loads = rows(emitted, x, 1, [emitted.stmt(softmax, "float32", "x", "y")], "y:float32:full")
    source = emit(kernel)
    assert good in source.code
    with pytest.raises(AssertionError):
        emitted.check(kernel, loads, Source(source.code.replace(good, bad), source.layout))
