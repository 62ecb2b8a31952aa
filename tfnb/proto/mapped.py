"""Arrays that lie in files: read through memory maps, copied without a buffer between."""
from __future__ import annotations

import mmap
import os
import threading
from typing import Any

import numpy as np

SMALL = 1 << 16                                    # bytes below which reading is cheaper than mapping
CHUNK = 1 << 23                                    # bytes of a map that are resident at once
Array = np.ndarray[Any, np.dtype[Any]]


class FileMap(mmap.mmap):
    """A read-only map that `file_array` made: what was read of it may leave memory."""


_seek = threading.Lock()             # where a file has one position only, one thread at a time moves it


def read_at(file: int, size: int, offset: int) -> bytes:
    """`size` bytes at `offset` of an open file (by its descriptor); fewer at its end."""
    if hasattr(os, "pread"):
        return os.pread(file, size, offset)
    with _seek:
        os.lseek(file, offset, os.SEEK_SET)
        return os.read(file, size)


def file_array(file: int, offset: int, size: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """The read-only array of `size` bytes at `offset` of an open file (by its descriptor), which must have them."""
    if size < SMALL:
        return np.frombuffer(read_at(file, size, offset), dtype).reshape(shape)
    page = offset % mmap.ALLOCATIONGRANULARITY
    mapped = FileMap(file, page + size, access=mmap.ACCESS_READ, offset=offset - page)
    return np.frombuffer(mapped, dtype, offset=page, count=size // dtype.itemsize).reshape(shape)


def map_of(array: Array) -> FileMap | None:
    """The map in which an array lies, if that was made by `file_array`."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    return base if isinstance(base, FileMap) else None


def copy_array(target: Array, value: Array) -> None:
    """Fill `target` with `value`, broadcast; of a large one that lies in a file little stays resident."""
    mapped = map_of(value) if value.nbytes > CHUNK and value.shape == target.shape else None
    if mapped is None or not (value.flags.c_contiguous and target.flags.c_contiguous):
        target[...] = value
        return
    source, flat = value.reshape(-1), target.reshape(-1)
    step = CHUNK // value.itemsize
    for start in range(0, source.size, step):
        flat[start:start + step] = source[start:start + step]
        release(mapped, source[start:start + step])


def release(mapped: FileMap, done: Array) -> None:
    """Let the pages of a map up to the end of `done`, a part of it, leave memory; they are read again if needed."""
    if hasattr(mapped, "madvise"):
        start = np.frombuffer(mapped, np.uint8).__array_interface__["data"][0]
        end = done.__array_interface__["data"][0] + done.nbytes - start
        mapped.madvise(mmap.MADV_DONTNEED, 0, end - end % mmap.PAGESIZE)
