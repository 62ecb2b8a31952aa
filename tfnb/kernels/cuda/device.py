"""The GPU, and the compiler of its kernels: the one module that imports numba.cuda (optional: the extra `tfnb[cuda]`).

With NUMBA_ENABLE_CUDASIM=1 in the environment the GPU is a simulated one (simulator.py), which needs no numba-cuda.
"""
from __future__ import annotations

import importlib
import importlib.util
import math
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.kernels.cuda import intrinsics, libraries, simulator
from tfnb.kernels.cuda.driver import CudaDriver, Driver
from tfnb.kernels.cuda.sources import stored
from tfnb.kernels.llvm import objects
from tfnb.kernels.scalar.primitives import PRIMITIVES

numba = lazy_module("numba")
compiler = lazy_module("numba.cuda.compiler")
core = lazy_module("cuda.core")
hashlib, metadata = lazy_module("hashlib"), lazy_module("importlib.metadata")

TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_")


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU that kernels run on.

    capability: of its chip; memory: bytes; bus: its PCI address, or ""; simulated: kernels run as Python on
    the CPU.
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


SIMULATED = Gpu("the simulator: kernels run as Python on the CPU", (5, 2), 256 << 20, simulated=True)


def is_simulator() -> bool:
    """Return whether the GPU is the simulated one in this process."""
    return simulator.is_asked_for()


def is_installed() -> bool:
    """Return whether GPU kernels can run: numba-cuda is installed, or the environment asks for the simulator."""
    return is_simulator() or importlib.util.find_spec("numba_cuda") is not None


def can_compile() -> bool:
    """Return whether NVIDIA's numba target and its compiler libraries are installed (no GPU needed)."""
    return not is_simulator() and all(importlib.util.find_spec(name) for name in ("numba_cuda", "nvidia", "cuda"))


@cache
def gpu() -> Gpu | None:
    """Return the GPU that kernels run on, the first one of the machine; None if there is none.

    The first call may import numba.cuda and ask the driver: only who wants a GPU should make it.
    """
    if not is_installed():
        return None
    if is_simulator():
        return SIMULATED
    cuda = _import_cuda()
    return _first_gpu(cuda) if cuda.is_available() and len(cuda.gpus) else None


def _first_gpu(cuda: Any) -> Gpu:
    with cuda.gpus[0]:
        found = cuda.get_current_device()
        name = found.name.decode() if isinstance(found.name, bytes) else str(found.name)
        bus = "{:04x}:{:02x}:{:02x}.0".format(*(getattr(found, f"PCI_{part}_ID", 0) for part in
                                                ("DOMAIN", "BUS", "DEVICE")))
        return Gpu(name, tuple(found.compute_capability), int(cuda.current_context().get_memory_info().total), bus)


def _import_cuda() -> Any:
    """Import numba.cuda: numba-cuda's, not the one that numba still brings.

    Its .pth file, which sees to that, does not count in folders of PYTHONPATH. numba-cuda 0.30 still names
    np.row_stack, which NumPy 2.5 removed: it is lent that. It warns of small grids, as any small graph has.
    """
    if importlib.util.find_spec("_numba_cuda_redirector"):
        importlib.import_module("_numba_cuda_redirector")
    numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    lent = not hasattr(np, "row_stack")
    if lent:
        np.row_stack = np.vstack
    try:
        module = importlib.import_module("numba.cuda")
        importlib.import_module("numba.cuda.np.arrayobj")
        return module
    finally:
        if lent:
            del np.row_stack


@cache
def driver() -> Driver:
    """Return the driver of the GPU, which must be there (`gpu`)."""
    if is_simulator():
        return simulator.SimulatedDriver(load_source, libraries.call, SIMULATED.memory)
    return CudaDriver(importlib.import_module("cuda.bindings.driver"), cubin, libraries.call)


@cache
def namespace() -> dict[str, Any]:
    """Return the names that kernel source may use: cuda, math and the type constructors. May import numba.cuda."""
    if is_simulator():
        return {"cuda": simulator.cuda, "math": _math_of_numpy(), **intrinsics.simulated(),
                **{name: getattr(np, name) for name in TYPES}}
    cuda = _import_cuda()                   # the module itself, not a stand-in: numba looks for this very object
    return {"cuda": cuda, "math": math, **intrinsics.compiled(), **{name: getattr(numba.types, name) for name in TYPES}}


def _math_of_numpy() -> SimpleNamespace:
    """Return `math` as on a device, for the simulator: NaN and infinities where Python's raises an exception."""
    functions = {row.cuda: row.numpy for row in PRIMITIVES.values() if row.cuda}
    return SimpleNamespace(inf=math.inf, nan=math.nan, **functions)


def load_source(text: str) -> Callable[..., None]:
    """Return the Python function `kernel` that a source defines. Raises SyntaxError or KeyError for invalid source."""
    scope = dict(namespace())
    exec(compile(simulator.in_turns(text) if is_simulator() else text, "<tfnb cuda kernel>", "exec"), scope)
    kernel: Callable[..., None] = scope["kernel"]
    return kernel


def launch(text: str, blocks: int, threads: int, *args: Any) -> None:
    """Run a kernel on the simulator over NumPy arrays, in place, and numbers."""
    simulator.run(driver().function(text, ()), blocks, threads, args)


def ptx(text: str, arguments: Sequence[tuple[str, bool]], capability: tuple[int, int] = (9, 0)) -> str:
    """Compile a kernel to PTX; needs no GPU. arguments: the dtype of each, and whether it is an array."""
    code, _ = namespace()["cuda"].compile(load_source(text), _signature(arguments), cc=capability, device=False,
                                          output="ptx", abi="numba")
    return code.decode() if isinstance(code, bytes) else str(code)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resource usage of a linked kernel: registers per thread, bytes of local memory per thread (spills and arrays that
    found no registers), shared memory bytes per block."""

    registers: int
    spilled: int
    shared: int


def cubin(text: str, arguments: Sequence[tuple[str, bool]], capability: tuple[int, int] = (9, 0)) -> bytes:
    """Return the machine code of a kernel, from the cache of objects or compiled for it; needs no GPU."""
    key = objects.hashed(_environment(capability), f"{list(arguments)}\n{text}")
    found = objects.load(key)
    if found is None:
        found, _ = _linked(text, arguments, capability)
        objects.save(key, found)
    return found


@cache
def _environment(capability: tuple[int, int]) -> str:
    """Return what, with its source, decides the machine code of a kernel: this module, the compilers' versions."""
    parts = ("numba", "numba-cuda", "cuda-core", "nvidia-nvvm", "nvidia-nvjitlink", "llvmlite")
    versions = [f"{name} {metadata.version(name)}" for name in parts]
    sources = b"".join(pkgutil.get_data(__name__, name) or b"" for name in ("device.py", "intrinsics.py"))
    return "\n".join([f"cuda {capability}", hashlib.sha256(sources).hexdigest(), *versions])


def resources(text: str, arguments: Sequence[tuple[str, bool]], capability: tuple[int, int] = (9, 0)) -> Resources:
    """Compile and link a kernel to machine code, which needs no GPU, and return its resource usage."""
    log = _linked(text, arguments, capability)[1]
    registers, shared = (max(map(int, re.findall(pattern, log)), default=0)
                         for pattern in (r"Used (\d+) registers", r"(\d+) bytes smem"))
    return Resources(registers, sum(map(int, re.findall(r"(\d+) bytes (?:spill|stack)", log))), shared)


def _linked(text: str, arguments: Sequence[tuple[str, bool]], capability: tuple[int, int]) -> tuple[bytes, str]:
    """Return the machine code of a kernel, and what the linker said."""
    codes, _ = compiler.compile_all(load_source(text), _signature(arguments), cc=capability, device=False,
                                    output="ltoir", abi="numba")
    options = core.LinkerOptions(arch="sm_{}{}".format(*capability), link_time_optimization=True, ptxas_options=["-v"])
    linker = core.Linker(*(core.ObjectCode.from_ltoir(code) if isinstance(code, bytes) else code for code in codes),
                         options=options)
    return bytes(linker.link("cubin").code), str(linker.get_info_log())


def _signature(arguments: Sequence[tuple[str, bool]]) -> Any:
    types = []
    for name, is_array in arguments:
        type = getattr(numba.types, stored(name).replace("bool", "boolean"))
        types.append(type[::1] if is_array else type)
    return numba.types.void(*types)
