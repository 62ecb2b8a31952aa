"""The C library of this process on Linux, macOS and Windows: addresses, naps, and the symbols that objects refer to.

Objects are ELF, Mach-O or COFF; each keeps the names that it does not define in a table of its own form (System V ABI,
"Symbol Table"; Apple, <mach-o/nlist.h>; Microsoft, "PE Format", COFF Symbol Table).
"""
from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterable
from functools import cache

from tfnb.core.lazy import lazy_module

llvm = lazy_module("llvmlite.binding")

# Calls that LLVM makes of instructions: on macOS of two functions at once and of zeroing; on Windows of frames over
# 4096 bytes (ntdll has the function), and a mark of objects with floats, which nobody calls.
BY_LLVM = frozenset("__sincos_stret __sincosf_stret bzero __bzero __chkstk _fltused".split())
_ELF, _MACHO, _COFF = b"\x7fELF", b"\xcf\xfa\xed\xfe", (b"\x64\x86", b"\x64\xaa")
_NAP_MICROSECONDS = 50


@cache
def library() -> ctypes.CDLL | None:
    """Return the C library; None where a process can't be asked for it."""
    try:
        return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    except (OSError, TypeError):
        return None


def address(name: str) -> int:
    """Return the address of a function of the C library, 0 if it has none of that name."""
    try:
        return ctypes.cast(getattr(library(), name), ctypes.c_void_p).value or 0
    except AttributeError:
        return 0


def nap() -> tuple[int, int]:
    """Return the address of a function that sleeps for a moment, and its argument; (0, 0) where there is none.

    Windows sleeps for no less than 1 ms: there a nap gives up the rest of the time slice instead.
    """
    if sys.platform == "win32":
        return ctypes.cast(ctypes.WinDLL("kernel32").Sleep, ctypes.c_void_p).value or 0, 0
    found = address("usleep")
    return (found, _NAP_MICROSECONDS) if found else (0, 0)


def give_way() -> int:
    """Return the address of a function that lets other threads have the CPU, if any wants it; 0 where there is none."""
    return nap()[0] if sys.platform == "win32" else address("sched_yield")


def provide(names: Iterable[str]) -> None:
    """Tell LLVM's loader the addresses of functions on Windows, where it looks into modules in an order of its own."""
    if sys.platform == "win32":
        for name in names:
            if found := address(name):
                llvm.add_symbol(name, found)


def undefined_symbols(code: bytes) -> set[str]:
    """Return the names that an object refers to and does not define, as C spells them; none of an unknown form.

    LLVM's loader ends the process when it cannot find one of them.
    """
    if code.startswith(_ELF):
        return _of_elf(code)
    if code.startswith(_MACHO):
        return _of_macho(code)
    return _of_coff(code) if code.startswith(_COFF) else set()


def _text(code: bytes, start: int) -> str:
    return code[start:code.index(b"\0", start)].decode()


def _of_elf(code: bytes) -> set[str]:
    table, = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + size * i) for i in range(count)]
    found = set()
    for _, kind, _, _, offset, length, link, _, _, _ in sections:
        if kind == 2:                              # SHT_SYMTAB; `link` is the section of its names
            entries = struct.iter_unpack("<IBBHQQ", code[offset:offset + length])
            found |= {_text(code, sections[link][4] + name) for name, _, _, section, _, _ in entries
                      if name and not section}
    return found


def _of_macho(code: bytes) -> set[str]:
    commands, = struct.unpack_from("<I", code, 16)
    found, at = set(), 32
    for _ in range(commands):
        kind, size = struct.unpack_from("<II", code, at)
        if kind == 2:                              # LC_SYMTAB
            table, count, names, _ = struct.unpack_from("<4I", code, at + 8)
            entries = struct.iter_unpack("<IBBHQ", code[table:table + 16 * count])
            found |= {_text(code, names + name).removeprefix("_") for name, type_, _, _, _ in entries
                      if type_ & 0x0e == 0 and not type_ & 0xe0}           # N_UNDF, and nothing for debuggers
        at += size
    return found


def _of_coff(code: bytes) -> set[str]:
    table, count = struct.unpack_from("<II", code, 8)
    names, found, i = table + 18 * count, set(), 0
    while i < count:
        short, value, section, _, storage, more = struct.unpack_from("<8sIhHBB", code, table + 18 * i)
        if section == 0 and value == 0 and storage == 2:                   # undefined, external
            zeros, offset = struct.unpack("<II", short)
            found.add(short.rstrip(b"\0").decode() if zeros else _text(code, names + offset))
        i += 1 + more
    return found
