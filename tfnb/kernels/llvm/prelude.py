"""The names that kernel source may use, and what they compile to.

A kernel module is source that defines `kernel(args, begin, end)`: `args` points to int64 words (addresses and sizes),
and the items [begin, end) are to be done. Its text sees exactly these names:

    np, math
    float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_    types: float32(x) casts
    float32_array(address, n), ...      the n elements at an address, to be indexed with one integer from 0 to n - 1
    float32_from_bits(i), int32_from_bits(x), float64_from_bits(i), int64_from_bits(x)
    load(address), store(address, value)                an int64 word
    load_acquire(address), store_release(address, value)
    atomic_add(address, value), atomic_exchange(address, value)     both return the old word
    compare_exchange(address, expected, new)            1 if the word was `expected` and is now `new`, else 0
    call_kernel(kernel, args, begin, end)               call another kernel by its address
    call_address(address, w0, w1, ...)                  call void f(int64, ...): pointers and sizes as words
    address_of(array)                                   the address behind a pointer
    pause()                                             tells the processor that we spin
    device                                              decorates a helper function of the source
    those of tiles.py: transpose_tile_32(...), transpose_tile_64(...)
    and of streaming.py: row_buffer(), stream_row(target, source, nbytes), stream_end()
    and of window_tiles.py: window_tile_float32(...), window_tile_float64(...)
    and of microkernel.py: multiply_by_row_float32(...), multiply_by_column_float32(...), ... where there are tiles
    and those of intrinsics.py: fma, maximum, minimum, add_any_order, mul_any_order

Arrays must be aligned to their element. LLVM assumes nothing about whether two of them overlap, unless the source says
`INDEPENDENT = True` at module level: then no iteration of any innermost loop stores what another iteration of it loads
or stores (one may well load and store the same element), and such loops are vectorised even when they work in place.
`FASTMATH = (...)` at module level sets LLVM's fast-math flags for `kernel` (by default contract, reassoc), `LEVEL = 0`
or 2 how much is optimised (codegen.optimised_module).
"""
from __future__ import annotations

from functools import cache

from tfnb.kernels.llvm import microkernel, natives, streaming, tiles, window_tiles
from tfnb.kernels.llvm.natives import Native

ABI = 1                                                 # of kernels, argument blocks and tapes; part of every cache key
FASTMATH = ("contract", "reassoc")                      # LLVM's flags, for a source that sets no FASTMATH of its own
SIGNATURE = ("int64*", "int64", "int64")                # of every kernel; it returns nothing
TYPES = (*natives.ELEMENTS, "bool_")


@cache
def primitives() -> dict[str, Native]:
    """Return the native functions among the names above (primitives of scalar definitions: intrinsics.py)."""
    return {**natives.primitives(), **tiles.primitives(), **streaming.primitives(), **window_tiles.primitives(),
            **microkernel.primitives()}
