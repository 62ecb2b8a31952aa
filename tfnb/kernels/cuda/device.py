"""The one module that imports numba.cuda (it is optional: the extra `tfnb[cuda]`), and what we need of it.

With NUMBA_ENABLE_CUDASIM=1 in the environment before the first import, numba.cuda is its simulator: kernels run as
Python, a thread for each CUDA thread.
"""
from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module

numba = lazy_module("numba")
cuda = lazy_module("numba.cuda")
special = lazy_module("scipy.special")

TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_")


def is_simulator() -> bool:
    """Is numba.cuda its simulator in this process?"""
    return bool(numba.config.ENABLE_CUDASIM)


def can_compile() -> bool:
    """Are NVIDIA's numba target and its compiler libraries installed (a GPU is not needed)?"""
    if is_simulator() or importlib.util.find_spec("numba_cuda") is None:
        return False
    return importlib.util.find_spec("nvidia") is not None and importlib.util.find_spec("cuda.core") is not None


@cache
def namespace() -> dict[str, Any]:
    """The names that the text of a kernel may use: cuda, math and the constructors of numbers. Imports numba.cuda."""
    real = importlib.import_module("numba.cuda")        # itself, not our stand-in: numba looks for this very module
    if is_simulator():
        return {"cuda": real, "math": _math_of_numpy(), **{name: getattr(np, name) for name in TYPES}}
    return {"cuda": real, "math": math, **{name: getattr(numba.types, name) for name in TYPES}}


def _math_of_numpy() -> SimpleNamespace:
    """`math` as on a device, for the simulator: NaN and infinities where Python's raises an exception."""
    names = "exp expm1 log log1p sqrt tanh sin cos tan sinh cosh floor ceil fmod".split()
    functions = {name: getattr(np, name) for name in names}
    functions |= {f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan sinh cosh tanh tan2".split()}
    functions |= {"pow": np.power, "erf": special.erf, "erfc": special.erfc, "lgamma": special.gammaln}
    return SimpleNamespace(inf=math.inf, nan=math.nan, **functions)


def load_text(text: str) -> Callable[..., None]:
    """The Python function `kernel` that a text defines. Raises SyntaxError or KeyError for what is no kernel."""
    scope = dict(namespace())
    exec(compile(text, "<tfnb cuda kernel>", "exec"), scope)
    kernel: Callable[..., None] = scope["kernel"]
    return kernel


@cache
def kernel(text: str) -> Any:
    """The kernel of a text, ready for `launch`: compiled at its first call, once for each form of arguments."""
    return cuda.jit(load_text(text))


def launch(text: str, blocks: int, threads: int, *args: Any) -> None:
    """Run a kernel over arrays (of the device, or of NumPy: those are copied there and back) and numbers."""
    kernel(text)[blocks, threads](*args)


def ptx(text: str, arguments: Sequence[tuple[str, bool]], capability: tuple[int, int] = (9, 0)) -> str:
    """The PTX of a kernel; needs no GPU. arguments: the dtype of each, and whether it is an array."""
    code, _ = cuda.compile(load_text(text), _signature(arguments), cc=capability, device=False, output="ptx",
                           abi="numba")
    return code.decode() if isinstance(code, bytes) else str(code)


def _signature(arguments: Sequence[tuple[str, bool]]) -> Any:
    types = []
    for name, is_array in arguments:
        type = getattr(numba.types, name.replace("bool", "boolean"))
        types.append(type[::1] if is_array else type)
    return numba.types.void(*types)
