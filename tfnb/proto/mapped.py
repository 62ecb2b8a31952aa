"""Arrays that lie in files: read through memory maps, copied without a buffer between."""
from __future__ import annotations

import mmap
from typing import Any

import numpy as np

CHUNK = 1 << 23                                    # bytes of a map that are resident at once


class FileArray(np.ndarray[Any, np.dtype[Any]]):
    """A read-only array in a file. Its slices and results are ordinary arrays in every way."""

    _map: mmap.mmap | None = None

    def copy_into(self, target: np.ndarray[Any, Any]) -> None:
        """Fill `target`, of the same dtype and shape; what was read does not stay resident."""
        if self._map is None or not target.flags.c_contiguous or self.nbytes <= CHUNK:
            np.copyto(target, self)
            return
        source, flat = self.reshape(-1), target.reshape(-1)
        step = CHUNK // self.itemsize
        for start in range(0, self.size, step):
            np.copyto(flat[start:start + step], source[start:start + step])
            release(self._map, min(start + step, self.size) * self.itemsize)


def copy_array(target: np.ndarray[Any, Any], value: np.ndarray[Any, Any]) -> None:
    """Fill `target` with `value`, broadcast; one that lies in a file does not stay resident."""
    if isinstance(value, FileArray):
        value.copy_into(target)
    else:
        target[...] = value


def file_array(file: int, offset: int, size: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> FileArray:
    """The array of `size` bytes at `offset` of an open file (by its descriptor), which must have them."""
    if not size:
        return np.empty(shape, dtype).view(FileArray)
    page = offset % mmap.ALLOCATIONGRANULARITY
    mapped = mmap.mmap(file, page + size, access=mmap.ACCESS_READ, offset=offset - page)
    made = np.frombuffer(mapped, dtype, offset=page, count=size // dtype.itemsize).reshape(shape).view(FileArray)
    made._map = mapped
    return made


def release(mapped: mmap.mmap, end: int) -> None:
    """Let the pages of a map before byte `end` leave memory; they are read again if they are looked at."""
    if hasattr(mapped, "madvise"):
        mapped.madvise(mmap.MADV_DONTNEED, 0, end - end % mmap.PAGESIZE)
