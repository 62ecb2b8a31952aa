"""The fixture `emitted`: kernel records, their meaning in NumPy, and their emitted text run over arrays."""
from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tfnb.kernels.cpu.fused.emit import emit
from tfnb.kernels.llvm import jit
from tfnb.kernels.scalar.definition import read, reference
from tfnb.kernels.scalar.number_types import extreme
from tfnb.kernels.spec import ColumnKernel, Kernel, MapKernel, Operand, Reduce, RowKernel, Source, Stmt

Arrays = Mapping[str, np.ndarray]


@pytest.fixture(scope="session")
def emitted() -> Any:
    """Functions of this file, by name."""
    return SimpleNamespace(operand=operand, stmt=stmt, reduce=reduce, oracle=oracle, run=run, check=check,
                           items=items, words=words, same=same, sizes_of=sizes_of, results=results)


def operand(name: str, array: np.ndarray) -> Operand:
    """An operand that walks over an array as it lies in memory."""
    steps = [stride // array.itemsize for stride in array.strides]
    return Operand(name, array.dtype.name, tuple(str(s) if s in (0, 1) else "s" for s in steps))


def stmt(fn: Callable[..., Any], type: str, args: str, results: str, types: str = "", **attrs: Any) -> Stmt:
    """A statement; names and types are separated by spaces, types are by default those of the op."""
    names = tuple(results.split())
    return Stmt(read(fn), type, tuple(args.split()), names, tuple(types.split()) or (type,) * len(names),
                tuple(attrs.items()), fn.__name__)


def reduce(fn: Callable[..., Any], identity: float | str, type: str, arg: str, result: str,
           finish: Callable[..., Any] | None = None) -> Reduce:
    """A reduction."""
    return Reduce(read(fn), identity, type, arg, result, read(finish) if finish else None, fn.__name__)


# --- the meaning of a kernel in NumPy -----------------------------------------------------------------------------

def oracle(kernel: Kernel, loads: Arrays) -> dict[str, np.ndarray]:
    """What each store holds, over all loops; of row-level stores along the reduced dimensions with size 1."""
    sizes = sizes_of(loads)
    axes = _reduced(kernel, len(sizes))
    values: dict[str, np.ndarray] = {name: np.asarray(array) for name, array in loads.items()}
    for item in kernel.body:
        if isinstance(item, Stmt):
            args = [values[name] for name in item.args]
            values.update(zip(item.results, reference(item.scalar, args, item.attrs, item.type, item.types),
                              strict=True))
        else:
            full = np.broadcast_to(values[item.arg], sizes)
            values[item.result] = _fold(item, full, axes, getattr(kernel, "chunk", 0))
    return {store.name: values[store.name] for store in kernel.stores}


def sizes_of(loads: Arrays) -> tuple[int, ...]:
    """The sizes of the loops: the arrays are views over all of them."""
    return np.broadcast_shapes(*(array.shape for array in loads.values()))


def _reduced(kernel: Kernel, rank: int) -> tuple[int, ...]:
    if isinstance(kernel, RowKernel):
        return tuple(range(kernel.outer, rank))
    return (kernel.outer,) if isinstance(kernel, ColumnKernel) else ()


def _fold(item: Reduce, x: np.ndarray, axes: Sequence[int], chunk: int) -> np.ndarray:
    if chunk:
        return np.concatenate([_fold(item, x[i:i + chunk], (0,), 0) for i in range(0, x.size, chunk)])
    kept = [n for i, n in enumerate(x.shape) if i not in axes]
    moved = np.moveaxis(x, axes, range(len(axes))).reshape(prod(x.shape[axis] for axis in axes), *kept)
    start = extreme(item.type, item.identity) if isinstance(item.identity, str) else item.identity
    acc = np.full(moved.shape[1:], start, item.type)
    for row in moved:
        acc = reference(item.combine, [acc, row], (), item.type, (item.type,))[0]
    if item.finish is not None:
        acc = reference(item.finish, [acc, np.full_like(acc, moved.shape[0])], (), item.type, (item.type,))[0]
    return np.expand_dims(acc, tuple(axes))


# --- running a kernel on the CPU ----------------------------------------------------------------------------------

def items(kernel: Kernel, sizes: Sequence[int]) -> int:
    """How many items a kernel has."""
    if isinstance(kernel, ColumnKernel):
        return sizes[0 if kernel.outer else 1]
    if isinstance(kernel, MapKernel):
        return prod(sizes) if kernel.rank <= 1 else prod(sizes[:-1])
    return -(-sizes[0] // kernel.chunk) if kernel.chunk else prod(sizes[:kernel.outer])


def words(source: Source, kernel: Kernel, sizes: Sequence[int], loads: Arrays, stores: Arrays,
          scratch: Arrays) -> list[int]:
    """The argument block."""
    by_side = {"load": loads, "store": stores, "scratch": scratch}

    def word(meaning: Any) -> int:
        match meaning:
            case ("size", int(dimension)):
                return sizes[dimension]
            case ("step", str(side), str(name), int(dimension)):
                array = by_side[side][name]
                return array.strides[dimension] // array.itemsize
            case (str(side), str(name)):
                return int(by_side[side][name].ctypes.data)
        raise AssertionError(meaning)
    return [word(meaning) for meaning in source.layout]


def run(kernel: Kernel, loads: Arrays, stores: Arrays, source: Source | None = None) -> None:
    """Run the emitted text, in two ranges of items, over loads and stores (views over all loops)."""
    source = source or emit(kernel)
    sizes = sizes_of(loads)
    scratch = {item.result: np.full(max(sizes[-1] * prod(sizes[:kernel.outer]), 1), 77, item.type)
               for item in kernel.body if isinstance(item, Reduce)} if isinstance(kernel, ColumnKernel) else {}
    block = np.array([*words(source, kernel, sizes, loads, stores, scratch), 0], np.int64)
    fn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(jit.address(source.code))
    count = items(kernel, sizes)
    for begin, end in itertools.pairwise((0, count // 3, count)):
        fn(block.ctypes.data, begin, end)


def results(kernel: Kernel, loads: Arrays) -> dict[str, np.ndarray]:
    """Fresh arrays for the stores, of the shapes of the oracle's results, filled with a number that is in none."""
    return {name: np.full(value.shape, 113).astype(value.dtype) for name, value in oracle(kernel, loads).items()}


def check(kernel: Kernel, loads: Arrays, source: Source | None = None, **tolerance: float) -> None:
    """The emitted text gives what NumPy gives. Raises AssertionError that names the store."""
    want = oracle(kernel, loads)
    got = results(kernel, loads)
    sizes = sizes_of(loads)
    views = {name: np.broadcast_to(array, array.shape if getattr(kernel, "chunk", 0) else
                                   np.broadcast_shapes(array.shape, sizes)) for name, array in got.items()}
    with np.errstate(all="ignore"):
        run(kernel, loads, views, source)
    for name, array in got.items():
        same(name, array, want[name], **tolerance)


def same(name: str, got: np.ndarray, want: np.ndarray, ulps: float = 4, scale: float = 0) -> None:
    """Equal dtype; equal integers; floats that differ by `ulps` units of the last place (of the number or `scale`)."""
    assert got.dtype == want.dtype, (name, got.dtype, want.dtype)
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, name)
        return
    info = np.finfo(got.dtype)
    np.testing.assert_allclose(got, want, rtol=ulps * info.eps, atol=max(float(info.tiny), ulps * info.eps * scale),
                               err_msg=name)
