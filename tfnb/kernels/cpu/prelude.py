"""The names that kernel text may use, and what they compile to.

A kernel module is text that defines `kernel(args, begin, end)`: `args` points to int64 words (addresses and sizes),
and the items [begin, end) are to be done. Its text sees exactly these names:

    np, math
    float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_    numba types: float32(x) casts
    float32_array(address, n), ...      the n elements at an address, to be indexed with one integer from 0 to n - 1
    float32_from_bits(i), int32_from_bits(x), float64_from_bits(i), int64_from_bits(x)
    load(address), store(address, value)                an int64 word
    load_acquire(address), store_release(address, value)
    atomic_add(address, value), atomic_exchange(address, value)     both return the old word
    compare_exchange(address, expected, new)            1 if the word was `expected` and is now `new`, else 0
    call_kernel(kernel, args, begin, end)               call another kernel by its address
    call_address(address, w0, w1, ...)                  call void f(int64, ...): pointers and sizes as words
    address_of(args)                                    the address behind a pointer
    philox_block(key, low, high, offset)                four words (each in a uint64) of block `offset` after a counter
    unit32(word), unit64(word, word)                    words as a float32 or float64 in [0, 1)
    pause()                                             tells the processor that we spin
    device                                              decorates a helper function of the text
    those of tiles.py: transpose_tile_32(...), transpose_tile_64(...)
    and of streaming.py: row_buffer(), stream_row(target, source, nbytes), stream_end()
    and of window_tiles.py: window_tile_float32(...), window_tile_float64(...)
    and of microkernel.py: multiply_by_row_float32(...), multiply_by_column_float32(...), ... where there are tiles
    and those of intrinsics.py: fma, maximum, minimum, add_any_order, mul_any_order

Arrays must be aligned to their element. LLVM assumes nothing about whether two of them overlap, unless the text says
`INDEPENDENT = True` at module level: then no iteration of any innermost loop stores what another iteration of it loads
or stores (one may well load and store the same element), and such loops are vectorised even when they work in place.
`FASTMATH = (...)` at module level sets LLVM's fast-math flags for `kernel` (by default contract, reassoc).
"""
from __future__ import annotations

import math
import platform
from functools import cache
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.kernels.cpu import intrinsics, microkernel, streaming, tiles, window_tiles

numba = lazy_module("numba")
ir = lazy_module("llvmlite.ir")
extending = lazy_module("numba.extending")

ABI = 1                                                 # of kernels, argument blocks and tapes; part of every cache key
FASTMATH = ("contract", "reassoc")                      # LLVM's flags, for a text that sets no FASTMATH of its own
TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_")


def signature() -> Any:
    """numba's form of `void(int64*, int64, int64)`, the type of every kernel."""
    types = numba.types
    return types.void(types.CPointer(types.int64), types.int64, types.int64)


def load_text(text: str) -> dict[str, Any]:
    """Execute the text of a kernel module; return its names, `kernel` among them. Raises SyntaxError for bad text."""
    scope = dict(namespace())
    exec(compile(text, "<tfnb kernel>", "exec"), scope)
    return scope


@cache
def namespace() -> dict[str, Any]:
    """Name -> object for all names in the table above. Imports numba (0.4 s)."""
    names: dict[str, Any] = {"np": np, "math": math, "device": numba.njit(error_model="numpy")}
    for name in TYPES:
        names[name] = getattr(numba.types, name)
        if name != "bool_":                             # whose elements are bytes: uint8_array
            names[f"{name}_array"] = _view(names[name])
    types = numba.types
    for bits in (32, 64):
        real, integer = getattr(types, f"float{bits}"), getattr(types, f"int{bits}")
        names[f"float{bits}_from_bits"] = _bit_cast(integer, real)
        names[f"int{bits}_from_bits"] = _bit_cast(real, integer)
    return {**names, **intrinsics.words(), **tiles.words(), **streaming.words(), **window_tiles.words(),
            **microkernel.words(), **_memory_words(), **_call_words(), **_random_words()}


def _view(dtype: Any) -> Any:
    """`view(address, n)`: a typed pointer (indexing one has no bounds, no wrap-around test and nothing to count)."""
    pointer = numba.types.CPointer(dtype)

    def view(typingctx: Any, address: Any, n: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(pointer))
        return pointer(numba.types.int64, numba.types.intp), codegen

    return extending.intrinsic(view)


def _bit_cast(source: Any, target: Any) -> Any:
    """`cast(value)`: the same bits as another type."""
    def cast(typingctx: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], context.get_value_type(target))
        return target(source), codegen

    return extending.intrinsic(cast)


def _word(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.IntType(64).as_pointer())


def _memory_words() -> dict[str, Any]:
    """Loads and stores of int64 words by address, plain and atomic."""
    int64, void = numba.types.int64, numba.types.void

    def load(typingctx: Any, address: Any) -> Any:
        return int64(int64), lambda context, builder, _, args: builder.load(_word(builder, args[0]))

    def store(typingctx: Any, address: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
            builder.store(args[1], _word(builder, args[0]))
            return context.get_dummy_value()
        return void(int64, int64), codegen

    def load_acquire(typingctx: Any, address: Any) -> Any:
        return int64(int64), lambda context, builder, _, args: builder.load_atomic(
            _word(builder, args[0]), "acquire", 8)

    def store_release(typingctx: Any, address: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
            builder.store_atomic(args[1], _word(builder, args[0]), "release", 8)
            return context.get_dummy_value()
        return void(int64, int64), codegen

    def atomic_add(typingctx: Any, address: Any, value: Any) -> Any:
        return int64(int64, int64), lambda context, builder, _, args: builder.atomic_rmw(
            "add", _word(builder, args[0]), args[1], "seq_cst")

    def atomic_exchange(typingctx: Any, address: Any, value: Any) -> Any:
        return int64(int64, int64), lambda context, builder, _, args: builder.atomic_rmw(
            "xchg", _word(builder, args[0]), args[1], "seq_cst")

    def compare_exchange(typingctx: Any, address: Any, expected: Any, new: Any) -> Any:
        def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
            pair = builder.cmpxchg(_word(builder, args[0]), args[1], args[2], "seq_cst", "seq_cst")
            return builder.zext(builder.extract_value(pair, 1), ir.IntType(64))
        return int64(int64, int64, int64), codegen

    def address_of(typingctx: Any, args: Any) -> Any:
        pointer = numba.types.CPointer(int64)
        return int64(pointer), lambda context, builder, _, values: builder.ptrtoint(values[0], ir.IntType(64))

    words = (load, store, load_acquire, store_release, atomic_add, atomic_exchange, compare_exchange,
             address_of)
    return {word.__name__: extending.intrinsic(word) for word in words}


def _call_words() -> dict[str, Any]:
    """Calls by address, and the spin hint."""
    int64, void = numba.types.int64, numba.types.void

    def call_kernel(typingctx: Any, kernel: Any, args: Any, begin: Any, end: Any) -> Any:
        def codegen(context: Any, builder: Any, _: Any, values: Any) -> Any:
            word = ir.IntType(64)
            target = ir.FunctionType(ir.VoidType(), [word.as_pointer(), word, word]).as_pointer()
            builder.call(builder.inttoptr(values[0], target), [_word(builder, values[1]), values[2], values[3]])
            return context.get_dummy_value()
        return void(int64, int64, int64, int64), codegen

    def call_address(typingctx: Any, address: Any, *words: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            passed = numba.core.cgutils.unpack_tuple(builder, values[1])
            target = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * len(passed)).as_pointer()
            builder.call(builder.inttoptr(values[0], target), passed)
            return context.get_dummy_value()
        return void(int64, numba.types.StarArgUniTuple(int64, len(words))), codegen

    def pause(typingctx: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            if hint := _SPIN_HINTS.get(platform.machine().lower()):
                name, *constants = hint
                operands = [ir.Constant(ir.IntType(32), value) for value in constants]
                wanted = ir.FunctionType(ir.VoidType(), [operand.type for operand in operands])
                builder.call(numba.core.cgutils.get_or_insert_function(builder.module, wanted, name), operands)
            return context.get_dummy_value()
        return void(), codegen

    return {word.__name__: extending.intrinsic(word) for word in (call_kernel, call_address, pause)}


def _random_words() -> dict[str, Any]:
    """Philox4x32-10 and its numbers in [0, 1) (philox.py), as IR: for text numba would take 0.1 s a copy."""
    word, float32, float64 = numba.types.uint64, numba.types.float32, numba.types.float64
    four = numba.types.UniTuple(word, 4)

    def const(value: int) -> Any:
        return ir.Constant(ir.IntType(64), value)

    def split(builder: Any, value: Any) -> tuple[Any, Any]:
        return builder.and_(value, const(0xFFFFFFFF)), builder.lshr(value, const(32))

    def philox_block(typingctx: Any, key: Any, low: Any, high: Any, offset: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            key, low, high, offset = args
            moved = builder.add(low, offset)
            carry = builder.zext(builder.icmp_unsigned("<", moved, low), ir.IntType(64))
            (c0, c1), (c2, c3) = split(builder, moved), split(builder, builder.add(high, carry))
            k0, k1 = split(builder, key)
            for _ in range(10):
                p0, p1 = split(builder, builder.mul(const(0xD2511F53), c0))
                q0, q1 = split(builder, builder.mul(const(0xCD9E8D57), c2))
                c0, c1 = builder.xor(builder.xor(q1, c1), k0), q0
                c2, c3 = builder.xor(builder.xor(p1, c3), k1), p0
                k0, _ = split(builder, builder.add(k0, const(0x9E3779B9)))
                k1, _ = split(builder, builder.add(k1, const(0xBB67AE85)))
            return context.make_tuple(builder, four, [c0, c1, c2, c3])
        return four(word, word, word, word), codegen

    def unit32(typingctx: Any, bits: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            low = builder.or_(builder.and_(args[0], const(0x7FFFFF)), const(0x3F800000))
            number = builder.bitcast(builder.trunc(low, ir.IntType(32)), ir.FloatType())
            return builder.fsub(number, ir.Constant(ir.FloatType(), 1.0))
        return float32(word), codegen

    def unit64(typingctx: Any, high: Any, low: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            top = builder.shl(builder.or_(builder.and_(args[0], const(0xFFFFF)), const(0x3FF00000)), const(32))
            number = builder.bitcast(builder.or_(top, args[1]), ir.DoubleType())
            return builder.fsub(number, ir.Constant(ir.DoubleType(), 1.0))
        return float64(word, word), codegen

    return {word.__name__: extending.intrinsic(word) for word in (philox_block, unit32, unit64)}


# By machine: an LLVM intrinsic and its int32 operands (inline assembly would need LLVM's assembler to be set up).
_X86, _ARM = ("llvm.x86.sse2.pause",), ("llvm.aarch64.hint", 1)
_SPIN_HINTS: dict[str, tuple[Any, ...]] = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}
