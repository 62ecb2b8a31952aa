"""Native functions of kernel source that scalar definitions have no use for: memory, calls, random.

Each is a Native: the types of its operands and result, and what makes its code. Both ways from source to LLVM use them:
lowering.py directly, by_numba.py as intrinsics. Types are NumPy dtype names, "bool", "void", and
"float32*" for a pointer to elements.
"""
from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.scalar.number_types import HALVES

ir = lazy_module("llvmlite.ir")

ELEMENTS = (*HALVES, "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
            "uint64")


@dataclass(frozen=True, slots=True)
class Native:
    """One native function. make(builder, *operands) -> LLVM value (a list where `result` is a tuple; any for "void").

    more: the type of further operands, as many as the source gives; "" if it takes none. "*" among the operands is an
    array of any type, "element" one of its elements.
    """

    operands: tuple[str, ...]
    result: str | tuple[str, ...]
    make: Callable[..., Any]
    more: str = ""

    def wanted(self, given: Sequence[str]) -> tuple[str, ...]:
        """Return the types of the operands, where those of these types are given."""
        array = next((type for type, want in zip(given, self.operands, strict=False) if want == "*"), "")
        more = [self.more] * (len(given) - len(self.operands)) if self.more else []
        return (*({"*": array, "element": array[:-1]}.get(want, want) for want in self.operands), *more)


def llvm_type(type: str) -> Any:
    """Return LLVM's type for values of a type in registers."""
    if type.endswith("*"):
        return llvm_type(type[:-1]).as_pointer()
    if type == "bool":
        return ir.IntType(1)
    if type in HALVES:
        return ir.HalfType() if type == "float16" else ir.IntType(16)
    if type in ("float32", "float64"):
        return ir.FloatType() if type == "float32" else ir.DoubleType()
    return ir.IntType(int(type.lstrip("uint")))


def declared(module: Any, name: str, result: Any, operands: Any) -> Any:
    """Return the function of that name in a module, declared there if it is not yet."""
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, operands), name)


@contextmanager
def counted(builder: Any, begin: Any, end: Any, step: int) -> Iterator[Any]:
    """Emit a loop around the code of the `with` block, which gets an index: begin, begin + step, ... below `end`."""
    before = builder.block
    inside, after = builder.append_basic_block("counted"), builder.append_basic_block("after_counted")
    builder.cbranch(builder.icmp_signed("<", begin, end), inside, after)
    builder.position_at_end(inside)
    index = builder.phi(begin.type)
    index.add_incoming(begin, before)
    yield index
    following = builder.add(index, ir.Constant(begin.type, step), flags=("nsw",))
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, end), inside, after)
    builder.position_at_end(after)


@cache
def primitives() -> dict[str, Native]:
    """Return the native functions of this file, by name."""
    casts = {f"{to}{bits}_from_bits": _bit_cast(f"{of}{bits}", f"{to}{bits}")
             for bits in (32, 64) for to, of in (("float", "int"), ("int", "float"))}
    return {**{f"{type}_array": _view(type) for type in ELEMENTS}, **casts, **_memory(), **_calls()}


def _view(type: str) -> Native:
    """Return `view(address, n)`: a typed pointer (indexing one has no bounds, no wrap-around test and no count)."""
    return Native(("int64", "int64"), f"{type}*", lambda b, address, n: b.inttoptr(address, llvm_type(f"{type}*")))


def _bit_cast(source: str, target: str) -> Native:
    """Return `cast(value)`: the same bits as another type."""
    return Native((source,), target, lambda b, value: b.bitcast(value, llvm_type(target)))


def _at(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.IntType(64).as_pointer())


def copy_bytes(builder: Any, target: Any, source: Any, nbytes: Any) -> None:
    """Emit a copy of memory by address: a few instructions where `nbytes` is a small constant."""
    pointer, word, flag = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(1)
    copy = declared(builder.module, "llvm.memcpy.p0.p0.i64", ir.VoidType(), [pointer, pointer, word, flag])
    builder.call(copy, [builder.inttoptr(target, pointer), builder.inttoptr(source, pointer), nbytes, flag(0)])


def _memory() -> dict[str, Native]:
    """Return loads and stores of int64 words by address, plain and atomic."""
    def compare_exchange(builder: Any, address: Any, expected: Any, new: Any) -> Any:
        pair = builder.cmpxchg(_at(builder, address), expected, new, "seq_cst", "seq_cst")
        return builder.zext(builder.extract_value(pair, 1), ir.IntType(64))

    one, two = ("int64",), ("int64", "int64")
    return {
        "copy_bytes": Native(("int64",) * 3, "void", copy_bytes),
        "load": Native(one, "int64", lambda b, p: b.load(_at(b, p))),
        "store": Native(two, "void", lambda b, p, value: b.store(value, _at(b, p))),
        "load_acquire": Native(one, "int64", lambda b, p: b.load_atomic(_at(b, p), "acquire", 8)),
        "store_release": Native(two, "void", lambda b, p, value: b.store_atomic(value, _at(b, p), "release", 8)),
        "atomic_add": Native(two, "int64", lambda b, p, value: b.atomic_rmw("add", _at(b, p), value, "seq_cst")),
        "atomic_exchange": Native(two, "int64", lambda b, p, value: b.atomic_rmw("xchg", _at(b, p), value, "seq_cst")),
        "compare_exchange": Native(("int64",) * 3, "int64", compare_exchange),
        "address_of": Native(("*",), "int64", lambda b, p: b.ptrtoint(p, ir.IntType(64))),
    }


# By machine: an LLVM intrinsic and its int32 operands (inline assembly would need LLVM's assembler to be set up).
_X86, _ARM = ("llvm.x86.sse2.pause",), ("llvm.aarch64.hint", 1)
_SPIN_HINTS: dict[str, tuple[Any, ...]] = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}


def _calls() -> dict[str, Native]:
    """Return calls by address, and the spin hint."""
    def call_kernel(builder: Any, kernel: Any, args: Any, begin: Any, end: Any) -> None:
        word = ir.IntType(64)
        target = ir.FunctionType(ir.VoidType(), [word.as_pointer(), word, word]).as_pointer()
        builder.call(builder.inttoptr(kernel, target), [_at(builder, args), begin, end])

    def call_address(builder: Any, address: Any, *words: Any) -> None:
        target = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * len(words)).as_pointer()
        builder.call(builder.inttoptr(address, target), words)

    def pause(builder: Any) -> None:
        if hint := _SPIN_HINTS.get(platform.machine().lower()):
            name, *constants = hint
            count = ir.IntType(32)
            function = declared(builder.module, name, ir.VoidType(), [count] * len(constants))
            builder.call(function, [count(value) for value in constants])

    return {"call_kernel": Native(("int64",) * 4, "void", call_kernel), "pause": Native((), "void", pause),
            "call_address": Native(("int64",), "void", call_address, more="int64")}
