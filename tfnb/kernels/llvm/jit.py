"""Kernel source -> address: from memory, else from disk, else compiled. The only door to machine code on the CPU.

    address(text) -> int            of `void kernel(int64* args, int64 begin, int64 end)`
    addresses(texts) -> list[int]
    stats() -> Stats                what was compiled and loaded so far, and the seconds it took
    on_compile(callback)            callback(done, total, seconds) after each kernel compiled (not for loaded ones)

An address is valid until the process ends.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tfnb.core.interrupts import held_back
from tfnb.core.lazy import lazy_module
from tfnb.kernels import c_library
from tfnb.kernels.llvm import codegen, objects
from tfnb.kernels.llvm.special_functions import provide

llvm = lazy_module("llvmlite.binding")

Progress = Callable[[int, int, float], None]


@dataclass(frozen=True, slots=True)
class Stats:
    """Kernels compiled from source and loaded from disk in this process, and the seconds each took in all."""

    compiled: int = 0
    loaded: int = 0
    compile_seconds: float = 0.0
    load_seconds: float = 0.0


_lock = threading.RLock()
_known: dict[str, int] = {}
_stats = Stats()
_watchers: list[Progress] = []


def address(text: str) -> int:
    """Return the address of the kernel that `text` defines. Thread-safe. Raises KernelError for invalid source."""
    return _known.get(text) or addresses([text])[0]


def addresses(texts: Iterable[str]) -> list[int]:
    """Return the address of each source, in order; unknown ones are loaded or compiled. Raises codegen.KernelError."""
    wanted = list(texts)
    missing = [text for text in dict.fromkeys(wanted) if text not in _known]
    if missing:
        with _lock:
            _obtain([text for text in missing if text not in _known])
    return [_known[text] for text in wanted]


def stats() -> Stats:
    """Return the counts and seconds of kernels compiled and loaded so far in this process."""
    return _stats


def on_compile(callback: Progress) -> Callable[[], None]:
    """Call `callback(done, total, seconds)` after each compilation of a batch; returns what removes it again."""
    _watchers.append(callback)
    return lambda: _watchers.remove(callback)


def _obtain(texts: list[str]) -> None:
    """Fill the table for `texts`: all that disk has first, so that progress counts compilations only."""
    to_compile = [(text, key) for text in texts if not _from_disk(text, key := objects.key(text))]
    for done, (text, key) in enumerate(to_compile, 1):
        with held_back():                          # between two kernels an interrupt does no harm
            _compile(text, key)
        for watcher in list(_watchers):
            watcher(done, len(to_compile), _stats.compile_seconds)


def _from_disk(text: str, key: str) -> bool:
    global _stats
    start = time.perf_counter()
    payload = objects.load(key)
    if payload is None:
        return False
    with held_back():
        _known[text] = _place(payload, key)
    _stats = replace(_stats, loaded=_stats.loaded + 1, load_seconds=_stats.load_seconds + time.perf_counter() - start)
    return True


def _compile(text: str, key: str) -> None:
    global _stats
    start = time.perf_counter()
    payload = codegen.compile_source(text, _symbol(key))
    objects.save(key, payload)
    _known[text] = _place(payload, key)
    _stats = replace(_stats, compiled=_stats.compiled + 1,
                     compile_seconds=_stats.compile_seconds + time.perf_counter() - start)


def _symbol(key: str) -> str:
    """Return the linker's name of a kernel: one engine holds all objects of the process, so each has its own."""
    return f"tfnb_{key}"


@cache
def _engine() -> Any:
    """Return LLVM's loader. It is never freed: kernels stay where they are as long as the process lives."""
    c_library.provide(codegen.LIBRARY)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), codegen.machine())


def _place(payload: bytes, key: str) -> int:
    """Put an object in memory and return the address of its kernel (50 us)."""
    engine = _engine()
    provide(payload)
    engine.add_object_file(llvm.ObjectFileRef.from_data(payload))
    engine.finalize_object()
    found: int = engine.get_function_address(_symbol(key))
    if not found:
        raise codegen.KernelError(f"object {key} defines no kernel")
    return found
