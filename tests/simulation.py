"""A simulated GPU for the time of a test, in this process."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from tfnb.kernels.cuda import device, libraries, memory
from tfnb.kernels.cuda.simulator import SimulatedDriver
from tfnb.runtime import devices


@cache
def _driver() -> SimulatedDriver:
    """One for all tests: it keeps the kernels of each source."""
    return SimulatedDriver(device.load_source, libraries.call, device.SIMULATED.memory)


@contextmanager
def simulation() -> Iterator[None]:
    """Sessions have the simulator as their GPU, and a pool of memory of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_ENABLE_CUDASIM", "1")
        patch.setattr(device, "gpu", lambda: device.SIMULATED)
        patch.setattr(device, "driver", _driver)
        patch.setattr(memory, "pool", memory.Pool())
        for kept in (device.namespace, devices._gpu):
            kept.cache_clear()
        yield
    for kept in (device.namespace, devices._gpu):
        kept.cache_clear()
