"""Non-temporal stores for results larger than the caches: native functions of kernel source.

    row_buffer()                        the address of BUFFER bytes on the stack, 64-byte aligned, for each such call
    stream_row(target, source, nbytes)  copy to `target`, of which whole cache lines go straight to memory
    stream_element(array, j, value)     array[j] = value, for arrays that start at a cache line and loops over all of j
    stream_end()                        what was streamed is visible to other threads: call it before a kernel returns

A plain store first reads the line that it changes, and what it evicts has to be written: 3 bytes move for each 2 of a
copy. On two cores a copy of 16 MB takes 520 us (1560 in the median, while others work) with plain stores, 270 us (540)
with streamed ones. Rows are computed in a buffer that stays in the first cache, so that all that loops do is as before.
"""
from __future__ import annotations

from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.llvm.natives import Native, copy_bytes, counted

ir = lazy_module("llvmlite.ir")

BUFFER = 1 << 14         # bytes: half of most processors' first cache
LEAST = 1 << 23          # bytes of a result that is worth it: a smaller one may be in a cache when it is read
LINE = 64


def pays(row_bytes: int, nbytes: int) -> bool:
    """Return whether a result of `nbytes`, computed in rows of `row_bytes`, should be streamed."""
    return nbytes >= LEAST and 4 * LINE <= row_bytes <= BUFFER


def primitives() -> dict[str, Native]:
    """Return the native functions, by name."""
    return {"row_buffer": Native((), "int64", _row_buffer), "stream_row": Native(("int64",) * 3, "void", _stream_row),
            "stream_element": Native(("*", "int64", "element"), "void", _stream_element),
            "stream_end": Native((), "void", lambda builder: builder.fence("seq_cst"))}


def _row_buffer(builder: Any) -> Any:
    with builder.goto_entry_block():
        buffer = builder.alloca(ir.ArrayType(ir.IntType(8), BUFFER))
        buffer.align = LINE
    return builder.ptrtoint(buffer, ir.IntType(64))


def _stream_row(builder: Any, target: Any, source: Any, nbytes: Any) -> None:
    word = ir.IntType(64)
    to_line = builder.and_(builder.neg(target), ir.Constant(word, LINE - 1))
    head = builder.select(builder.icmp_unsigned("<", to_line, nbytes), to_line, nbytes)
    end = builder.add(head, builder.and_(builder.sub(nbytes, head), ir.Constant(word, -LINE)))
    _copy(builder, target, source, ir.Constant(word, 0), head)
    with counted(builder, head, end, LINE) as at:
        _copy_line(builder, builder.add(target, at), builder.add(source, at))
    _copy(builder, target, source, end, nbytes)


def _copy_line(builder: Any, target: Any, source: Any) -> None:
    pointer = ir.VectorType(ir.IntType(32), LINE // 4).as_pointer()
    line = builder.load(builder.inttoptr(source, pointer), align=4)
    stream(builder, line, builder.inttoptr(target, pointer))


def stream(builder: Any, value: Any, pointer: Any) -> None:
    """Emit a store past the caches. The pointer is to the start of a cache line, the value at most as long."""
    made = builder.store(value, pointer, align=LINE)
    made.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)]))


def _stream_element(builder: Any, array: Any, j: Any, value: Any) -> None:
    # Only the first element of each vector is at a cache line, but LLVM makes vectors only if all say so.
    stream(builder, value, builder.gep(array, [j]))


def _copy(builder: Any, target: Any, source: Any, begin: Any, end: Any) -> None:
    """Copy the bytes [begin, end), fewer than a line."""
    with builder.if_then(builder.icmp_unsigned("<", begin, end), likely=False):
        copy_bytes(builder, builder.add(target, begin), builder.add(source, begin), builder.sub(end, begin))
