"""Disk cache of kernels' object code: read, checked, written, kept under a size. No failure here is fatal.

A file is named by its key and holds MAGIC, the sha256 of key and payload, the payload. What is not exactly that
(damaged, unreadable) counts as absent: a damaged object would bring the process down when called. A checksum is no
secret, so an object is loaded only from a regular file of this user or root in a folder that nobody else can write to.
"""
from __future__ import annotations

import contextlib
import importlib.util
import os
import pkgutil
import stat
import sys
from functools import cache
from pathlib import Path

from tfnb.core.lazy import lazy_module
from tfnb.core.options import options
from tfnb.kernels.llvm import microkernel, prelude

llvm = lazy_module("llvmlite.binding")
metadata = lazy_module("importlib.metadata")
hashlib, tempfile = lazy_module("hashlib"), lazy_module("tempfile")         # 6 ms, where nothing is compiled

# The files of tfnb/kernels that decide what a source compiles to: codegen.py and all that it imports (tested).
SOURCES = ("block.py", "c_library.py", "llvm/arithmetic.py", "llvm/by_numba.py", "llvm/codegen.py",
           "llvm/expressions.py", "llvm/intrinsics.py", "llvm/loops.py", "llvm/lowering.py", "llvm/microkernel.py",
           "llvm/natives.py", "llvm/prelude.py", "llvm/special_functions.py", "llvm/streaming.py", "llvm/tiles.py",
           "llvm/window_tiles.py", "printer.py", "scalar/bessel.py", "scalar/definition.py", "scalar/doubles.py",
           "scalar/expansions.py", "scalar/instructions.py", "scalar/inverse_circular.py", "scalar/number_types.py",
           "scalar/numpy_forms.py", "scalar/polynomials.py", "scalar/primitive.py", "scalar/primitives.py",
           "scalar/routines.py", "scalar/scipy_functions.py", "scalar/special.py", "scalar/symbols.py",
           "scalar/widened.py", "spec.py")
MAGIC = b"tfnb object 1\n"
SUFFIX = ".tfnbo"
LIMIT = 256 << 20                                       # bytes in the folder; the oldest files go first


def key(text: str) -> str:
    """Return the cache key of a kernel's source: a hash of it and of all that decides what it compiles to."""
    return hashed(environment(), text)


def hashed(environment: str, text: str) -> str:
    """Return the cache key of a text that is compiled in an environment."""
    return str(hashlib.sha256(environment.encode() + text.encode()).hexdigest())


@cache
def environment() -> str:
    """Return what, with its source, decides a kernel's object code: generator, numba, llvmlite, Python, processor."""
    sources = b"".join(pkgutil.get_data("tfnb.kernels", name) or b"" for name in SOURCES)
    versions = [f"{name} {_version(name)}" for name in ("numba", "llvmlite")]
    processor = f"{llvm.get_host_cpu_name()} {microkernel.processor_features()}"
    return "\n".join([hashlib.sha256(sources).hexdigest(), f"abi {prelude.ABI}", *versions, sys.platform,
                      f"python {sys.version_info[0]}.{sys.version_info[1]}", processor, ""])


def _version(name: str) -> str:
    """Return an identifier of an installed package's version, without importing it; "" if there is none.

    Its file `_version.py` does, and is found in 1 ms; its metadata, asked where there is no such file, take 50.
    """
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        return ""
    try:
        return str(hashlib.sha256(Path(found.origin).with_name("_version.py").read_bytes()).hexdigest())
    except OSError:
        return str(metadata.version(name))


def folder() -> Path | None:
    """Return the cache folder: "kernels" in `options.cache_dir`; None when that lies in an unknown home."""
    place = Path(options.cache_dir)
    return None if place.parts[:1] == ("~",) else place / "kernels"


def load(name: str) -> bytes | None:
    """Return the object kept under a key, or None when there is none that is whole and safe to run."""
    place = folder()
    if place is None:
        return None
    try:
        data = _read(place, name + SUFFIX)
    except (OSError, ValueError):
        return None
    start = len(MAGIC) + 32
    payload = data[start:]
    if data[:start] != _head(name, payload):
        return None
    return payload


def save(name: str, payload: bytes) -> bool:
    """Write an object under a key; return False when the folder cannot be written, or others can write to it.

    Nothing is left behind then. A folder is made with access for the user alone.
    """
    place = folder()
    if place is None:
        return False
    try:
        place.parent.mkdir(0o700, parents=True, exist_ok=True)
        place.mkdir(0o700, exist_ok=True)
        _check_folders(place)
        _write_whole(place / (name + SUFFIX), _head(name, payload) + payload)
        _forget_oldest(place, LIMIT)
    except (OSError, ValueError):
        return False
    return True


def _is_private(found: os.stat_result) -> bool:
    """Return whether it is this user's or root's, and nobody else can write to it.

    Windows has neither owners nor modes here: access lists of the user's profile keep others out.
    """
    return not hasattr(os, "geteuid") or (
        found.st_uid in (0, os.geteuid()) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _check_folders(place: Path) -> None:
    """Raise PermissionError unless only this user and root can write to the folder, or put another in its place."""
    root = place.parent.stat()
    sticky = root.st_mode & stat.S_ISVTX and hasattr(os, "geteuid") and root.st_uid in (0, os.geteuid())
    if not (sticky or _is_private(root)) or not _is_private(place.stat()):
        raise PermissionError(f"others can write to {place} or to the folder that it is in")


def _read(place: Path, name: str) -> bytes:
    """Return the bytes of a file in the folder. Raises OSError if it is not a private regular file (link, pipe...)."""
    flags = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
    _check_folders(place)
    if os.open not in os.supports_dir_fd:                   # Windows
        handle = os.open(place / name, flags)
    else:                                                   # the folder that was checked, though it be renamed
        directory = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not _is_private(os.fstat(directory)):
                raise PermissionError(f"others can write to {place}")
            handle = os.open(name, flags, dir_fd=directory)
        finally:
            os.close(directory)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or not _is_private(found):
            raise PermissionError(f"{name} is no regular file that only its user can write to")
        return file.read()


def _head(name: str, payload: bytes) -> bytes:
    return MAGIC + bytes(hashlib.sha256(name.encode() + payload).digest())


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
                kept = entry.stat(follow_symlinks=False)
                found.append((kept.st_mtime, kept.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
