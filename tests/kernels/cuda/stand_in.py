"""Stand-ins for a GPU that keep a record of what is asked of them: a driver, and the API below it."""
from __future__ import annotations

import ctypes
from contextlib import contextmanager
from types import SimpleNamespace

from tfnb.kernels.cuda import device, libraries, memory
from tfnb.kernels.cuda.driver import CudaDriver
from tfnb.runtime import devices

FREE, TOTAL = 70 << 30, 80 << 30


class Recorder:
    """A driver that notes each call as (method, arguments), and has another one do it. refuses: a method that fails."""

    def __init__(self, driver):
        self.driver, self.calls, self.refuses = driver, [], {}

    def __getattr__(self, name):
        found = getattr(self.driver, name)
        if not callable(found):
            return found

        def call(*args, **named):
            self.calls.append((name, args))
            if name in self.refuses:
                raise self.refuses[name]
            return found(*args, **named)
        return call

    def take(self):
        """The names of the calls since the last time."""
        names = [name for name, _ in self.calls]
        self.calls.clear()
        return names

    def moved(self, way):
        """The bytes of each copy one way ("copy_in", "copy_out")."""
        return [args[2] for name, args in self.calls if name == way]


class Api:
    """The form of `cuda.bindings.driver`: each function is noted and does nothing, each handle is a number.

    Page-locked memory is real: programs fill it.
    """

    def __init__(self):
        self.calls, self._next, self._kept, self.status = [], 1 << 40, [], {}

    def __getattr__(self, name):
        if name.startswith("CUDA_") or name.endswith("Props"):
            return lambda: SimpleNamespace(location=SimpleNamespace())
        if name.startswith("CU"):
            return _Names(name)
        if name.startswith("cuuint"):
            return int

        def call(*args):
            self.calls.append((name, args))
            status = self.status.get(name, 0)
            return (status, *self._values(name, args)) if not int(status) else (status, None)
        return call

    def _handle(self, nbytes=0):
        self._next += 4096 + nbytes // 256 * 256
        return self._next - 4096 - nbytes // 256 * 256

    def _values(self, name, args):
        if name in ("cuInit", "cuCtxSetCurrent", "cuMemPoolSetAttribute", "cuMemFreeAsync", "cuMemFreeHost",
                    "cuStreamBeginCapture", "cuGraphLaunch", "cuLaunchKernel", "cuEventRecord", "cuEventSynchronize",
                    "cuStreamSynchronize", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync",
                    "cuGraphExecMemcpyNodeSetParams"):
            return ()
        if name == "cuMemGetInfo":
            return FREE, TOTAL
        if name == "cuDeviceGetAttribute":
            return (int("MAJOR" in str(args[0])) * 8 + 1,)
        if name == "cuEventElapsedTime":
            return (0.25,)
        if name == "cuMemHostAlloc":
            self._kept.append((ctypes.c_char * args[0])())
            return (ctypes.addressof(self._kept[-1]),)
        if name == "cuGraphGetRootNodes":
            return [self._handle()], 1
        if name == "cuLibraryEnumerateKernels":
            return ([self._handle()],)
        return (self._handle(args[0] if "Alloc" in name else 0),)

    def take(self):
        """The names of the calls since the last time."""
        names = [name for name, _ in self.calls]
        self.calls.clear()
        return names


class _Names:
    """An enumeration: each member is its own name, as a string that counts as a number."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, member):
        return _Member(member)


class _Member(str):
    __slots__ = ()

    def __int__(self):
        return 1

    @property
    def name(self):
        """As of a member of an enumeration."""
        return str(self)


Failed = _Member               # a CUresult that is no success


@contextmanager
def stand_in(monkeypatch, driver):
    """Context in which sessions have a GPU with this driver, and a pool of their own."""
    monkeypatch.setattr(device, "gpu", lambda: device.Gpu("a stand-in", (9, 1), TOTAL))
    monkeypatch.setattr(device, "driver", lambda: driver)
    monkeypatch.setattr(memory, "pool", memory.Pool())
    devices._gpu.cache_clear()
    try:
        yield driver
    finally:
        devices._gpu.cache_clear()


def cuda_driver(api):
    """The real driver over a stand-in of the API, with texts for machine code."""
    return CudaDriver(api, lambda text, types, capability: f"{capability} {text}".encode(), libraries.call)
