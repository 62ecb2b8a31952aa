"""Object code of kernels on disk: read, checked, written, kept under a size. A cache: no failure here is fatal.

A file is named by its key and holds MAGIC, the sha256 of key and payload, the payload. What is not exactly that
(damaged, foreign, unreadable) counts as absent: a damaged object would bring the process down when called.
"""
from __future__ import annotations

import contextlib
import importlib.util
import os
import pkgutil
import sys
from functools import cache
from pathlib import Path

from tfnb.core.lazy import lazy_module
from tfnb.core.options import options
from tfnb.kernels.cpu import microkernel, prelude

llvm = lazy_module("llvmlite.binding")
metadata = lazy_module("importlib.metadata")
hashlib, tempfile = lazy_module("hashlib"), lazy_module("tempfile")         # 6 ms, where nothing is compiled

# The files of tfnb/kernels that decide what a text compiles to: codegen.py and all that it imports (tested).
SOURCES = ("cpu/arithmetic.py", "cpu/by_numba.py", "cpu/codegen.py", "cpu/expressions.py", "cpu/instructions.py",
           "cpu/intrinsics.py", "cpu/loops.py", "cpu/lowering.py", "cpu/microkernel.py", "cpu/natives.py",
           "cpu/prelude.py", "cpu/streaming.py", "cpu/tiles.py", "cpu/window_tiles.py", "block.py", "expansions.py",
           "number_types.py", "numpy_forms.py", "polynomials.py", "primitives.py", "printer.py", "scalar.py", "spec.py",
           "symbols.py")
MAGIC = b"tfnb object 1\n"
SUFFIX = ".tfnbo"
LIMIT = 256 << 20                                       # bytes in the folder; the oldest files go first


def key(text: str) -> str:
    """The name of a kernel text's object here: a hash of the text and of all that decides what it compiles to."""
    return hashlib.sha256(environment().encode() + text.encode()).hexdigest()


@cache
def environment() -> str:
    """What besides its text decides the object code of a kernel: our generator, numba, llvmlite, Python, processor."""
    sources = b"".join(pkgutil.get_data("tfnb.kernels", name) or b"" for name in SOURCES)
    versions = [f"{name} {_version(name)}" for name in ("numba", "llvmlite")]
    processor = f"{llvm.get_host_cpu_name()} {microkernel.processor_features()}"
    return "\n".join([hashlib.sha256(sources).hexdigest(), f"abi {prelude.ABI}", *versions, sys.platform,
                      f"python {sys.version_info[0]}.{sys.version_info[1]}", processor, ""])


def _version(name: str) -> str:
    """What tells versions of an installed package apart, without importing it; "" if there is none.

    Its file `_version.py` does, and is found in 1 ms; its metadata, asked where there is no such file, take 50.
    """
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        return ""
    try:
        return hashlib.sha256(Path(found.origin).with_name("_version.py").read_bytes()).hexdigest()
    except OSError:
        return str(metadata.version(name))


def folder() -> Path | None:
    """Where objects are kept: "kernels" in `options.cache_dir`; None when that lies in a home that nobody knows."""
    place = Path(options.cache_dir)
    return None if place.parts[:1] == ("~",) else place / "kernels"


def load(name: str) -> bytes | None:
    """The object kept under a key, or None when there is none that is whole."""
    place = folder()
    if place is None:
        return None
    try:
        data = (place / (name + SUFFIX)).read_bytes()
    except (OSError, ValueError):
        return None
    start = len(MAGIC) + 32
    payload = data[start:]
    if data[:start] != _head(name, payload):
        return None
    return payload


def save(name: str, payload: bytes) -> bool:
    """Keep an object under a key; False when the folder cannot be written (then nothing is left behind)."""
    place = folder()
    if place is None:
        return False
    try:
        place.mkdir(parents=True, exist_ok=True)
        _write_whole(place / (name + SUFFIX), _head(name, payload) + payload)
        _forget_oldest(place, LIMIT)
    except (OSError, ValueError):
        return False
    return True


def _head(name: str, payload: bytes) -> bytes:
    return MAGIC + hashlib.sha256(name.encode() + payload).digest()


def _write_whole(path: Path, data: bytes) -> None:
    """Write beside and rename, so that a reader or a crash never sees a part."""
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _forget_oldest(place: Path, limit: int) -> None:
    """Delete the files written first until at most `limit` bytes remain."""
    found = []
    for entry in os.scandir(place):
        with contextlib.suppress(OSError):              # another process may be deleting too
            if entry.name.endswith((SUFFIX, ".tmp")):
                found.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
