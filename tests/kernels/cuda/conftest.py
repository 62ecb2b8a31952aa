"""Kernel records with small arrays for them, for the simulator and for the compile check."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tfnb.kernels.spec import ColumnKernel, Kernel, MapKernel, Operand, RowKernel

# ruff: noqa: F821
WORDS_32 = {
    "exponentials": lambda x: (exp(x), expm1(x), tanh(x), sigmoid(x), log(x), log1p(x)),
    "circular": lambda x: (sin(x), cos(x), tan(x), asin(x / 80), acos(x / 80), atan(x)),
    "hyperbolic": lambda x: (sinh(x), cosh(x), asinh(x), acosh(x), atanh(x / 81), erf(x)),
    "rounding": lambda x: (floor(x), ceil(x), rint(x), trunc(x), sign(x), rint(x * 0.5)),
    "simple": lambda x: (sqrt(x), rsqrt(x), square(x), reciprocal(x), abs(x), -x),
    "gammas": lambda x: (erfc(x), lgamma(x + 0.25), digamma(x + 0.25), x ** 2, x ** 0.5, conj(x)),
}
WORDS_OF_TWO = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, x / y, maximum(x, y), minimum(x, y)),
    "division": lambda x, y: (floordiv(x, y), floormod(x, y), truncdiv(x, y), truncmod(x, y), x // y, x % y),
    "choosing": lambda x, y: (where(x < y, x, y), where((x < y) & (x > 0), 1, y), where((x < y) | (y > 1), x, 0),
                              where((x < y) ^ (x == 0), x, y), where(~(x < y), x, y), where(x != y, 3, x)),
}
INTEGERS = {"integers": lambda x, y: (x ** abs(y), (x & y) | (x ^ 5), ~x, abs(x), x << (y & 7), x >> (y & 7))}


def Sum(acc, x):
    return acc + x


def Max(acc, x):
    return maximum(acc, x)


def Any_(acc, x):
    return acc | x


def Mean(acc, count):
    return acc / count


def Sub(x, y):
    return x - y


def Square(x):
    return square(x)


def Softmax(logits):
    e = exp(logits - rowmax(logits))
    return e / rowsum(e)


def Sparse(features, label):
    shifted = features - rowmax(features)
    return log(rowsum(exp(shifted))) - rowsum(where(column() == label, shifted, 0))


@dataclass(frozen=True)
class Case:
    """A kernel, arrays for its loads, and how far the results may be from NumPy's."""

    name: str
    kernel: Kernel
    loads: dict[str, np.ndarray]
    scale: float = 1
    ulps: float = 20


def sample(shape: Any, type: str, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal(shape) * 4
    return x > 0 if type == "bool" else x.astype(type)


def special(type: str) -> np.ndarray:
    if np.dtype(type).kind == "f":
        return np.array([0, 1, -1, 0.5, -2.5, 3.75, -30, 20, np.inf, -np.inf, np.nan], type)
    return np.array([0, 1, 2, 3, 7, 100, np.iinfo(type).max, np.iinfo(type).min, -1, -2, -7], type)


@pytest.fixture(scope="session")
def cases(emitted: Any) -> list[Case]:
    """All cases."""
    return [*_words(emitted), *_maps(emitted), *_rows(emitted), *_columns(emitted)]


def _map(emitted: Any, name: str, fn: Any, type: str, *arrays: np.ndarray) -> Case:
    loads = {f"x{i}": array for i, array in enumerate(arrays)}
    names = [f"r{i}" for i in range(6)]
    stmt = emitted.stmt(fn, type, " ".join(loads), " ".join(names))
    stores = tuple(Operand(n, type, ("1",)) for n in names)
    return Case(f"{name}-{type}", MapKernel(1, tuple(emitted.operand(n, a) for n, a in loads.items()), (stmt,), stores),
                loads, ulps=200)


def _words(emitted: Any) -> list[Case]:
    found = [_map(emitted, name, fn, type, special(type)) for name, fn in WORDS_32.items()
             for type in ("float32", "float64")]
    for type in ("float32", "float64", "int32", "int64"):
        x, y = (a.reshape(-1).copy() for a in np.meshgrid(special(type), special(type)))
        found += [_map(emitted, name, fn, type, x, y) for name, fn in WORDS_OF_TWO.items()]
    for type in ("int32", "int64"):
        x, y = (a.reshape(-1).copy() for a in np.meshgrid(special(type), np.array([0, 1, 3, 5], type)))
        found += [_map(emitted, name, fn, type, x, y) for name, fn in INTEGERS.items()]
    return found


def _maps(emitted: Any) -> list[Case]:
    found = []
    for shape in ((), (0,), (7,), (3, 4), (2, 3, 4)):
        x = sample(shape, "float32")
        y = np.broadcast_to(sample((*shape[:-1], 1) if shape else (), "float32", 1), shape)
        steps = tuple("s" * (len(shape) - 1) + "1") if shape else ()
        kernel = MapKernel(len(shape), (emitted.operand("x", x), emitted.operand("y", y)),
                           (emitted.stmt(Sub, "float32", "x y", "d"), emitted.stmt(Square, "float32", "d", "q")),
                           (Operand("q", "float32", steps),))
        found.append(Case(f"map-{len(shape)}-{x.size}", kernel, {"x": x, "y": y}, 20))
    return found


def _rows(emitted: Any) -> list[Case]:
    f, found = "float32", []
    for shape, outer in (((3, 10), 1), ((2, 0), 1), ((11,), 0), ((2, 3, 5), 1), ((2, 2, 5), 2), ((2, 300), 1)):
        x = sample(shape, f)
        full, row = ("s",) * (len(shape) - 1) + ("1",), ("s",) * (outer - 1) + ("1",) * min(1, outer)
        row += ("0",) * (len(shape) - outer)
        body = (emitted.reduce(Sum, 0, f, "x", "m", Mean), emitted.stmt(Sub, f, "x m", "d"),
                emitted.stmt(Square, f, "d", "q"), emitted.reduce(Sum, 0, f, "q", "v"),
                emitted.reduce(Max, "lowest", f, "x", "h"))
        stores = (Operand("v", f, row), Operand("h", f, row), Operand("d", f, full))
        found.append(Case(f"moments-{shape}-{outer}", RowKernel(outer, len(shape) - outer, (emitted.operand("x", x),),
                                                                body, stores), {"x": x}, 20))
    x, label = sample((3, 6), f), np.broadcast_to(np.array([[5], [0], [2]]), (3, 6))
    found.append(Case("softmax", RowKernel(1, 1, (emitted.operand("x", x),), (emitted.stmt(Softmax, f, "x", "y"),),
                                           (Operand("y", f, ("s", "1")),)), {"x": x}))
    found.append(Case("sparse", RowKernel(1, 1, (emitted.operand("x", x), emitted.operand("label", label)),
                                          (emitted.stmt(Sparse, f, "x label", "l"),),
                                          (Operand("l", f, ("1", "0")),)), {"x": x, "label": label}))
    b = sample((2, 9), "bool")
    found.append(Case("any", RowKernel(1, 1, (emitted.operand("b", b),), (emitted.reduce(Any_, 0, "bool", "b", "r"),),
                                       (Operand("r", "bool", ("1", "0")),)), {"b": b}))
    x = sample(37, f)
    found.append(Case("chunks", RowKernel(0, 1, (emitted.operand("x", x),), (emitted.reduce(Sum, 0, f, "x", "s"),),
                                          (Operand("s", f, ("0",)),), chunk=16), {"x": x}, 20))
    return found


def _columns(emitted: Any) -> list[Case]:
    found = []
    for type in ("float32", "int32"):
        x = sample((5, 7), type)
        z = np.broadcast_to(sample((1, 7), type, 1), (5, 7))
        body = (emitted.stmt(Sub, type, "x z", "d"), emitted.reduce(Sum, 0, type, "d", "s"),
                emitted.stmt(Square, type, "s", "q"))
        stores = (Operand("q", type, ("0", "1")), Operand("d", type, ("s", "1")))
        loads = {"x": x, "z": z}
        found.append(Case(f"columns-{type}", ColumnKernel(tuple(emitted.operand(n, a) for n, a in loads.items()), body,
                                                          stores), loads, 100))
    return found
