"""The one module that imports numba.cuda (it is optional: the extra `tfnb[cuda]`), and what we need of it.

With NUMBA_ENABLE_CUDASIM=1 in the environment before the first import, numba.cuda is its simulator: kernels run as
Python, a thread for each CUDA thread.
"""
from __future__ import annotations

import importlib
import importlib.util
import math
import os
import re
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from tfnb.core.errors import ResourceExhaustedError
from tfnb.core.lazy import lazy_module
from tfnb.kernels.scalar.primitives import PRIMITIVES

numba = lazy_module("numba")
compiler = lazy_module("numba.cuda.compiler")
core = lazy_module("cuda.core")

TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_")


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU that kernels run on.

    capability: of its chip; memory: bytes; bus: its PCI address, or ""; simulated: numba's simulator, which runs
    kernels as Python on the CPU.
    """

    name: str
    capability: tuple[int, int]
    memory: int
    bus: str = ""
    simulated: bool = False

    @property
    def description(self) -> str:
        """The description, in the form of TensorFlow's physical_device_desc."""
        bus = f", pci bus id: {self.bus}" * bool(self.bus)
        return f"device: 0, name: {self.name}{bus}, compute capability: {'.'.join(map(str, self.capability))}"


SIMULATED = Gpu("the simulator of numba.cuda: kernels run as Python on the CPU", (5, 2), 256 << 20, simulated=True)


def is_simulator() -> bool:
    """Return whether numba.cuda is its simulator in this process."""
    return bool(numba.config.ENABLE_CUDASIM)


def is_installed() -> bool:
    """Return whether GPU kernels can run: numba-cuda is installed, or the environment asks for numba's simulator."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0") \
        or importlib.util.find_spec("numba_cuda") is not None


def can_compile() -> bool:
    """Return whether NVIDIA's numba target and its compiler libraries are installed (no GPU needed)."""
    return not is_simulator() and all(importlib.util.find_spec(name) for name in ("numba_cuda", "nvidia", "cuda"))


@cache
def gpu() -> Gpu | None:
    """Return the GPU that kernels run on, the first one of the machine; None if there is none.

    The first call imports numba.cuda and asks the driver: only who wants a GPU should make it.
    """
    if not is_installed():
        return None
    cuda = _import_cuda()
    if is_simulator():
        return SIMULATED
    return _first_gpu(cuda) if cuda.is_available() and len(cuda.gpus) else None


def _first_gpu(cuda: Any) -> Gpu:
    with cuda.gpus[0]:
        found = cuda.get_current_device()
        name = found.name.decode() if isinstance(found.name, bytes) else str(found.name)
        bus = "{:04x}:{:02x}:{:02x}.0".format(*(getattr(found, f"PCI_{part}_ID", 0) for part in
                                                ("DOMAIN", "BUS", "DEVICE")))
        return Gpu(name, tuple(found.compute_capability), int(cuda.current_context().get_memory_info().total), bus)


class _SharedArrays(dict[Any, Any]):
    """The shared arrays of a simulated block, by their positions in the source: each is made by one thread.

    The simulator looks one up and enters it in two steps. Threads between which the interpreter switched there had
    arrays of their own, and sums were wrong, in one of ten runs on a busy machine.
    """

    def __init__(self) -> None:
        super().__init__()
        self._making = threading.Lock()

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the array, or None: then other threads wait until it is there."""
        self._making.acquire()
        found = super().get(key, default)
        if found is not None:
            self._making.release()
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._making.release()


def _share_arrays_once() -> None:
    shared = importlib.import_module("numba.cuda.simulator.kernelapi").FakeCUDAShared
    init = shared.__init__

    def begin(self: Any, *args: Any) -> None:
        init(self, *args)
        self._allocations = _SharedArrays()
    if init.__name__ != "begin":
        shared.__init__ = begin


def _import_cuda() -> Any:
    """Import numba.cuda: numba-cuda's, not the one that numba still brings.

    Its .pth file, which sees to that, does not count in folders of PYTHONPATH. numba-cuda 0.30 still names
    np.row_stack, which NumPy 2.5 removed: it is lent that. It warns of small grids, as any small graph has.
    """
    if not is_simulator() and importlib.util.find_spec("_numba_cuda_redirector"):
        importlib.import_module("_numba_cuda_redirector")
    numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    lent = not hasattr(np, "row_stack")
    if lent:
        np.row_stack = np.vstack
    try:
        module = importlib.import_module("numba.cuda")
        if is_simulator():
            _share_arrays_once()
        else:
            importlib.import_module("numba.cuda.np.arrayobj")
        return module
    finally:
        if lent:
            del np.row_stack


@cache
def namespace() -> dict[str, Any]:
    """Return the names that kernel source may use: cuda, math and the type constructors. Imports numba.cuda."""
    cuda = _import_cuda()                   # the module itself, not a stand-in: numba looks for this very object
    if is_simulator():
        sys.setswitchinterval(1e-4)         # its threads wait for one another: 10 times faster than with 5 ms
        return {"cuda": cuda, "math": _math_of_numpy(), **{name: getattr(np, name) for name in TYPES}}
    return {"cuda": cuda, "math": math, **{name: getattr(numba.types, name) for name in TYPES}}


def _math_of_numpy() -> SimpleNamespace:
    """Return `math` as on a device, for the simulator: NaN and infinities where Python's raises an exception."""
    functions = {row.cuda: row.numpy for row in PRIMITIVES.values() if row.cuda}
    return SimpleNamespace(inf=math.inf, nan=math.nan, **functions)


def load_source(text: str) -> Callable[..., None]:
    """Return the Python function `kernel` that a source defines. Raises SyntaxError or KeyError for invalid source."""
    scope = dict(namespace())
    exec(compile(text, "<tfnb cuda kernel>", "exec"), scope)
    kernel: Callable[..., None] = scope["kernel"]
    return kernel


@cache
def kernel(text: str) -> Any:
    """Return the kernel of a source, ready for `launch`: compiled once for each form of arguments."""
    return namespace()["cuda"].jit(load_source(text))


_free: dict[int, list[Any]] = {}                       # bytes -> arrays of the device that nobody uses
_guard = threading.Lock()


class Memory:
    """A buffer in GPU memory, from a pool by size class: a call of the driver takes longer than most kernels.

    Raises ResourceExhaustedError if there is not enough memory.
    """

    def __init__(self, nbytes: int) -> None:
        self.size = _rounded(nbytes)
        self._array = _take(self.size)
        weakref.finalize(self, _give, self.size, self._array)

    def view(self, offset: int, count: int, type: str) -> Any:
        """Return `count` elements of a dtype as a flat device array. offset: in bytes, a multiple of the itemsize."""
        nbytes = max(1, count) * np.dtype(type).itemsize
        return self._array[offset:offset + nbytes].view(np.dtype(type))[:max(1, count)]


def _rounded(nbytes: int) -> int:
    """Round up to the next of eight steps between powers of two."""
    step = max(256, 1 << max(0, nbytes.bit_length() - 4))
    return max(1, -(-nbytes // step)) * step


def _take(size: int) -> Any:
    with _guard:
        if _free.get(size):
            return _free[size].pop()
    cuda = namespace()["cuda"]
    try:
        return cuda.device_array(size, np.uint8)
    except Exception as error:                         # the driver's class for it is numba's own, and changes
        if "MEMORY" not in str(error).upper():
            raise
    with _guard:
        _free.clear()
    try:
        return cuda.device_array(size, np.uint8)
    except Exception as error:
        raise ResourceExhaustedError(None, None, f"OOM when allocating {size:,} bytes on the GPU: {error}") from error


def _give(size: int, array: Any) -> None:
    with _guard:
        _free.setdefault(size, []).append(array)


def upload(target: Any, source: np.ndarray) -> None:
    """Copy a row-major array to the beginning of a view of the device's memory."""
    if source.size:
        flat = source.reshape(-1)
        (target if flat.size == target.size else target[:flat.size]).copy_to_device(flat)


def download(source: Any, target: np.ndarray) -> None:
    """Fill a row-major array from a view of the device's memory; waits until all that was launched is done."""
    if target.size:
        flat = target.reshape(-1)
        (source if flat.size == source.size else source[:flat.size]).copy_to_host(flat)


def synchronize() -> None:
    """Wait until all that was launched is done."""
    namespace()["cuda"].synchronize()


def launch(text: str, blocks: int, threads: int, *args: Any) -> None:
    """Run a kernel over arrays (of the device, or of NumPy: those are copied there and back) and numbers."""
    kernel(text)[blocks, threads](*args)


def ptx(text: str, arguments: Sequence[tuple[str, bool]], capability: tuple[int, int] = (9, 0)) -> str:
    """Compile a kernel to PTX; needs no GPU. arguments: the dtype of each, and whether it is an array."""
    code, _ = namespace()["cuda"].compile(load_source(text), _signature(arguments), cc=capability, device=False,
                                          output="ptx", abi="numba")
    return code.decode() if isinstance(code, bytes) else str(code)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resource usage of a linked kernel: registers and bytes spilled per thread, shared memory bytes per block."""

    registers: int
    spilled: int
    shared: int


def resources(text: str, arguments: Sequence[tuple[str, bool]], capability: tuple[int, int] = (9, 0)) -> Resources:
    """Compile and link a kernel to machine code, which needs no GPU, and return its resource usage."""
    codes, _ = compiler.compile_all(load_source(text), _signature(arguments), cc=capability, device=False,
                                    output="ltoir", abi="numba")
    options = core.LinkerOptions(arch="sm_{}{}".format(*capability), link_time_optimization=True, ptxas_options=["-v"])
    linker = core.Linker(*(core.ObjectCode.from_ltoir(code) if isinstance(code, bytes) else code for code in codes),
                         options=options)
    linker.link("cubin")
    log = linker.get_info_log()
    registers, shared = (max(map(int, re.findall(pattern, log)), default=0)
                         for pattern in (r"Used (\d+) registers", r"(\d+) bytes smem"))
    return Resources(registers, sum(map(int, re.findall(r"(\d+) bytes spill", log))), shared)


def _signature(arguments: Sequence[tuple[str, bool]]) -> Any:
    types = []
    for name, is_array in arguments:
        type = getattr(numba.types, name.replace("bool", "boolean"))
        types.append(type[::1] if is_array else type)
    return numba.types.void(*types)
