"""GPU memory of this process: the pool, its limit, pinned staging buffers."""
from __future__ import annotations

import contextlib
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.kernels.cuda import device
from tfnb.kernels.cuda.driver import Driver, DriverError, Span

_guard = threading.Lock()


@dataclass
class Pool:
    """The bytes that the process has on the GPU, and may have. made: the driver's pool is there."""

    limit: int = 0
    grows: bool = True
    used: int = 0
    made: bool = False


pool = Pool()


def configure(fraction: float, grows: bool) -> None:
    """Limit the pool to a fraction of the GPU's memory; 0: no limit. grows: False to take all of that at once.

    The first session that uses the GPU decides, as in TensorFlow: later calls change nothing. Raises ValueError for a
    fraction that is not in [0, 1].
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"expected per_process_gpu_memory_fraction in [0, 1], got {fraction}")
    with _guard:
        if not pool.made:
            pool.limit = int(fraction * device.driver().memory_info()[1])
            pool.grows = grows or not fraction
            device.driver().reserve(pool.limit, 0 if pool.grows else pool.limit)
            pool.made = True


class Memory:
    """A buffer in GPU memory. Raises MemoryError if there is not enough."""

    def __init__(self, nbytes: int) -> None:
        self.size = max(256, -(-nbytes // 256) * 256)
        configure(0.0, True)
        self.address = _taken(self.size)
        weakref.finalize(self, _give, pool, device.driver(), self.address, self.size).atexit = False

    def span(self, offset: int, count: int, type: str) -> Span:
        """Return `count` elements of a dtype (one at least). offset: in bytes, a multiple of the itemsize."""
        return Span(self.address + offset, max(1, count), type)


def _taken(size: int) -> int:
    with _guard:
        if pool.limit and pool.used + size > pool.limit:
            raise MemoryError(f"no {size:,} bytes on the GPU: this process holds {pool.used:,} bytes of the "
                              f"{pool.limit:,} that gpu_options allow it")
        try:
            address = device.driver().allocate(size)
        except DriverError as error:
            if error.code != "CUDA_ERROR_OUT_OF_MEMORY":
                raise
            free, total = device.driver().memory_info()
            raise MemoryError(f"no {size:,} bytes on the GPU: this process holds {pool.used:,} bytes, {free:,} of "
                              f"{total:,} are free") from error
        pool.used += size
        return address


def _give(owner: Pool, driver: Driver, address: int, size: int) -> None:
    # No lock: the garbage collector may call this while its thread holds it.
    owner.used -= size
    with contextlib.suppress(DriverError):             # of a driver that is shutting down
        driver.free(address)


class Pinned:
    """A staging buffer in page-locked host memory, from which the GPU copies by itself. array: its bytes."""

    def __init__(self, nbytes: int) -> None:
        driver = device.driver()
        self.array: np.ndarray = driver.pin(max(nbytes, 1))
        self.address: int = self.array.ctypes.data
        weakref.finalize(self, _unpin, driver, self.array).atexit = False

    def view(self, offset: int, shape: tuple[int, ...], type: str) -> np.ndarray:
        """Return an array that lies `offset` bytes from the beginning."""
        dtype: np.dtype[Any] = np.dtype(type)
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return self.array[offset:offset + nbytes].view(dtype).reshape(shape)


def _unpin(driver: Driver, array: np.ndarray) -> None:
    with contextlib.suppress(DriverError):
        driver.unpin(array)


def upload(target: Span, source: np.ndarray) -> None:
    """Copy a row-major array to the beginning of device memory; it may change as soon as this returns."""
    if source.size:
        device.driver().copy_in(target.address, source.ctypes.data, source.nbytes)
        device.driver().synchronize()


def download(source: Span, target: np.ndarray) -> None:
    """Fill a row-major array from device memory; waits until all that was launched is done."""
    if target.size:
        device.driver().copy_out(target.ctypes.data, source.address, target.nbytes)
        device.driver().synchronize()


