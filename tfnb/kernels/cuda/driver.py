"""The CUDA driver API, as far as sessions use it: memory, copies, launches, captured graphs, events.

`CudaDriver` calls `cuda.bindings.driver`, on one stream that all programs of the process share: so whatever was asked
for earlier is done before. A capture has a stream of its own, that of the thread which captures: else the graph would
hold what other threads ask for meanwhile. The simulator (simulator.py) has the same methods.
"""
from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class DriverError(RuntimeError):
    """A call of the driver that failed. code: the name of its CUresult."""

    def __init__(self, call: str, code: str) -> None:
        super().__init__(f"{call} returned {code}")
        self.call, self.code = call, code


@dataclass(frozen=True, slots=True)
class Span:
    """A flat array in GPU memory: its address, the number of elements and their dtype."""

    address: int
    count: int
    type: str

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return self.count * np.dtype(self.type).itemsize


Word = int | Span
LIBRARY = "library "                   # begins the source of a launch that is the call of a library


def memory_at(address: int, count: int, type: str) -> np.ndarray:
    """Return the array of `count` elements at an address of this process."""
    dtype: np.dtype[Any] = np.dtype(type)
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return np.ndarray((count,), dtype, memory)


class Call:
    """A call of a library, which puts work into a stream."""

    def __call__(self, stream: Any, words: Sequence[Word]) -> None:
        """Make the call. Raises DriverError."""
        raise NotImplementedError


class Driver(Protocol):
    """Interface of a GPU. All work is asynchronous, in the order of the calls, but what says that it waits."""

    pooled: bool

    def enter(self) -> None:
        """Make the GPU current in this thread, before its first other call."""

    def memory_info(self) -> tuple[int, int]:
        """Return the bytes of GPU memory that are free, and all there are."""

    def reserve(self, limit: int, keep: int) -> None:
        """Make the pool of device memory. limit: bytes that it may have, 0 for all; keep: bytes to take at once."""

    def allocate(self, nbytes: int) -> int:
        """Return the address of new device memory, 256-byte aligned. Raises DriverError."""

    def free(self, address: int) -> None:
        """Give device memory back when all earlier work is done."""

    def pin(self, nbytes: int) -> np.ndarray:
        """Return page-locked host memory as bytes."""

    def unpin(self, array: np.ndarray) -> None:
        """Give page-locked memory back. Waits for all work."""

    def copy_in(self, target: int, source: int, nbytes: int) -> None:
        """Copy from host to device memory."""

    def copy_out(self, target: int, source: int, nbytes: int) -> None:
        """Copy from device to host memory."""

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Copy in device memory."""

    def function(self, text: str, types: Sequence[tuple[str, bool]]) -> Any:
        """Return the loaded kernel of a source, for arguments of these dtypes (and whether each is an array)."""

    def launch(self, function: Any, blocks: int, threads: int, words: Sequence[Word]) -> None:
        """Launch a kernel."""

    def begin(self) -> None:
        """Begin a capture: what follows is recorded, not done."""

    def end(self, keep: bool = True) -> Any:
        """End the capture and return the executable graph. keep: False after a failure, returns None."""

    def replay(self, graph: Any) -> None:
        """Launch all that a graph has recorded."""

    def repoint(self, graph: Any, target: int, source: int, nbytes: int) -> None:
        """Let the first node of a graph, a copy to the device, read another place of the host's memory."""

    def event(self) -> Any:
        """Return a new event."""

    def record(self, event: Any) -> None:
        """Note in an event when all earlier work is done."""

    def wait(self, event: Any) -> None:
        """Wait for an event; return at once if it was never recorded."""

    def seconds(self, first: Any, last: Any) -> float:
        """Return the time between two recorded events; waits for the last."""

    def synchronize(self) -> None:
        """Wait until all work is done."""


@dataclass(frozen=True, slots=True)
class Captured:
    """An executable graph, the graph it was made of, and its first node."""

    executable: Any
    graph: Any
    first: Any


class CudaDriver:
    """The first GPU of the machine, by an API of the form of `cuda.bindings.driver`.

    cubin: source, dtypes of the arguments, compute capability -> machine code of the kernel; library: source -> the
    call of a library. Raises DriverError if the driver does.
    """

    def __init__(self, api: Any, cubin: Callable[..., bytes], library: Callable[[str], Call]) -> None:
        self._api, self._cubin, self._library = api, cubin, library
        self._here = threading.local()
        self._loaded: dict[Any, Any] = {}
        self._ask("cuInit", 0)
        self.device = self._ask("cuDeviceGet", 0)
        self._context = self._ask("cuDevicePrimaryCtxRetain", self.device)
        self.enter()
        self.stream = self._new_stream()
        attribute = api.CUdevice_attribute
        self.capability = tuple(int(self._ask("cuDeviceGetAttribute", getattr(
            attribute, f"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{part}"), self.device)) for part in ("MAJOR", "MINOR"))
        self.pooled = bool(self._ask("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                     self.device))
        self._pool: Any = None

    def _ask(self, name: str, *args: Any) -> Any:
        """Call the API and return what it returns behind the status: nothing, a value, or several."""
        status, *values = getattr(self._api, name)(*args)
        if status:
            raise DriverError(name, getattr(status, "name", str(status)))
        return None if not values else values[0] if len(values) == 1 else values

    def _new_stream(self) -> Any:
        return self._ask("cuStreamCreate", int(self._api.CUstream_flags.CU_STREAM_NON_BLOCKING))

    @property
    def _current(self) -> Any:
        """The stream of this thread's calls: another one while it captures."""
        return getattr(self._here, "capture", None) or self.stream

    def enter(self) -> None:
        """Make the primary context current, once a thread."""
        if not getattr(self._here, "entered", False):
            self._ask("cuCtxSetCurrent", self._context)
            self._here.entered = True

    def memory_info(self) -> tuple[int, int]:
        """Return the free bytes, and all."""
        free, total = self._ask("cuMemGetInfo")
        return int(free), int(total)

    def reserve(self, limit: int, keep: int) -> None:
        """Make the pool: what is freed stays in it, for the next allocation."""
        if not self.pooled:
            return
        api = self._api
        props = api.CUmemPoolProps()
        props.allocType = api.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        props.handleTypes = api.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE
        props.location.type = api.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        props.location.id = int(self.device)
        props.maxSize = limit
        self._pool = self._ask("cuMemPoolCreate", props)
        self._ask("cuMemPoolSetAttribute", self._pool, api.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                  api.cuuint64_t(2 ** 64 - 1))
        if keep:
            self.free(self.allocate(keep))

    def allocate(self, nbytes: int) -> int:
        """Return the address of new memory, of the pool if there is one."""
        if self._pool is None:
            return int(self._ask("cuMemAlloc", nbytes))
        return int(self._ask("cuMemAllocFromPoolAsync", nbytes, self._pool, self.stream))

    def free(self, address: int) -> None:
        """Free memory in the order of the stream."""
        self.enter()                               # the garbage collector calls from any thread
        if self._pool is None:
            self._ask("cuMemFree", address)
        else:
            self._ask("cuMemFreeAsync", address, self.stream)

    def pin(self, nbytes: int) -> np.ndarray:
        """Return page-locked memory."""
        return memory_at(int(self._ask("cuMemHostAlloc", nbytes, 0)), nbytes, "uint8")

    def unpin(self, array: np.ndarray) -> None:
        """Free page-locked memory."""
        self.enter()
        self.synchronize()
        self._ask("cuMemFreeHost", array.ctypes.data)

    def copy_in(self, target: int, source: int, nbytes: int) -> None:
        """Copy to the device; from memory that is not page-locked the driver copies before it returns."""
        self._ask("cuMemcpyHtoDAsync", target, source, nbytes, self._current)

    def copy_out(self, target: int, source: int, nbytes: int) -> None:
        """Copy from the device."""
        self._ask("cuMemcpyDtoHAsync", target, source, nbytes, self._current)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Copy on the device."""
        self._ask("cuMemcpyDtoDAsync", target, source, nbytes, self._current)

    def function(self, text: str, types: Sequence[tuple[str, bool]]) -> Any:
        """Load the machine code of a kernel, once; of a library's call, what makes it."""
        key = text, tuple(types)
        if key not in self._loaded and text.startswith(LIBRARY):
            self._loaded[key] = None, self._library(text)
        if key not in self._loaded:
            library = self._ask("cuLibraryLoadData", self._cubin(text, types, self.capability), [], [], 0, [], [], 0)
            kernel, = self._ask("cuLibraryEnumerateKernels", 1, library)
            self._loaded[key] = library, self._ask("cuKernelGetFunction", kernel)
        return self._loaded[key][1]

    def launch(self, function: Any, blocks: int, threads: int, words: Sequence[Word]) -> None:
        """Launch a kernel, or make the call of a library; its arguments are read before the call returns."""
        if isinstance(function, Call):
            function(self._current, words)
            return
        values = np.array(list(packed(words)), np.uint64)
        places = values.ctypes.data + 8 * np.arange(values.size, dtype=np.uint64)
        self._ask("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, self._current, places.ctypes.data, 0)

    def begin(self) -> None:
        """Begin a capture, of a stream of its own."""
        if not hasattr(self._here, "spare"):
            self._here.spare = self._new_stream()
        self._ask("cuStreamBeginCapture", self._here.spare,
                  self._api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        self._here.capture = self._here.spare

    def end(self, keep: bool = True) -> Captured | None:
        """End the capture and instantiate its graph."""
        stream, self._here.capture = self._here.capture, None
        if not keep:
            self._api.cuStreamEndCapture(stream)                   # (of an invalidated capture an error, as expected)
            return None
        graph = self._ask("cuStreamEndCapture", stream)
        nodes = self._ask("cuGraphGetRootNodes", graph, 1)
        return Captured(self._ask("cuGraphInstantiate", graph, 0), graph, nodes[0][0] if nodes[0] else None)

    def replay(self, graph: Captured) -> None:
        """Launch a graph."""
        self._ask("cuGraphLaunch", graph.executable, self.stream)

    def repoint(self, graph: Captured, target: int, source: int, nbytes: int) -> None:
        """Give the first copy of a graph other parameters; the next replay uses them."""
        api = self._api
        params = api.CUDA_MEMCPY3D()
        params.srcMemoryType, params.srcHost = api.CUmemorytype.CU_MEMORYTYPE_HOST, source
        params.dstMemoryType, params.dstDevice = api.CUmemorytype.CU_MEMORYTYPE_DEVICE, target
        params.WidthInBytes, params.Height, params.Depth = nbytes, 1, 1
        self._ask("cuGraphExecMemcpyNodeSetParams", graph.executable, graph.first, params, self._context)

    def event(self) -> Any:
        """Return an event that keeps times."""
        return self._ask("cuEventCreate", 0)

    def record(self, event: Any) -> None:
        """Record an event in the stream."""
        self._ask("cuEventRecord", event, self.stream)

    def wait(self, event: Any) -> None:
        """Wait for an event."""
        self._ask("cuEventSynchronize", event)

    def seconds(self, first: Any, last: Any) -> float:
        """Return the time between two events, with a resolution of about half a microsecond."""
        self.wait(last)
        return float(self._ask("cuEventElapsedTime", first, last)) / 1e3

    def synchronize(self) -> None:
        """Wait for the stream."""
        self._ask("cuStreamSynchronize", self.stream)


def packed(words: Sequence[Word]) -> list[int]:
    """Return the parameters of a kernel in numba's ABI, 64 bits each.

    An array has seven: two objects of the host (0), element count, itemsize, address, shape, stride in bytes.
    """
    found: list[int] = []
    for word in words:
        if isinstance(word, Span):
            size = np.dtype(word.type).itemsize
            found += [0, 0, word.count, size, word.address, word.count, size]
        else:
            found.append(word % 2 ** 64)
    return found
