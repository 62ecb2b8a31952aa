"""SciPy's BLAS as addresses of C functions, without importing scipy.linalg.

`scipy.linalg.cython_blas` holds BLAS functions as capsules. Importing it the usual way runs all of scipy.linalg
(190 ms, 22 MB); loading the extension module alone takes 10 ms and 1 MB.

The BLAS library that this brings in is set to one thread: our own pool splits large products, and two pools of spinning
threads would fight for the cores. Libraries that were there before (NumPy's own) are left as they are.
"""
from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.llvm.special_functions import address_of

scipy = lazy_module("scipy")
threadpoolctl = lazy_module("threadpoolctl")

_NAME = "scipy.linalg.cython_blas"
_loading = threading.Lock()
_module: ModuleType | None = None


@cache
def function(name: str) -> int:
    """Return the address of a BLAS function ("sgemm", "dgemv"...): Fortran's calling convention, 32-bit integers."""
    global _module
    with _loading:
        if _module is None:
            before = _libraries()
            _module = _load()
            _one_thread(before)
    return address_of(_module.__pyx_capi__[name])


def _load() -> ModuleType:
    """Return the extension module; by the usual import where it cannot be loaded alone."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    spec = importlib.machinery.PathFinder.find_spec(_NAME, [str(Path(scipy.__file__).parent / "linalg")])
    if spec is None or spec.loader is None:
        return importlib.import_module(_NAME)
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError:
        return importlib.import_module(_NAME)
    sys.modules.pop(_NAME, None)        # a later import of scipy.linalg finds it by itself and sets its attributes
    return module


def _libraries() -> dict[str, Any]:
    """Return file -> controller of the BLAS libraries now in the process."""
    controllers = threadpoolctl.ThreadpoolController().lib_controllers
    return {c.filepath: c for c in controllers if c.user_api == "blas"}


def _one_thread(before: dict[str, Any]) -> None:
    """Set the library that came with SciPy to one thread; if it is shared with NumPy and was there already, all."""
    found = _libraries()
    for path in set(found) - set(before) or set(found):
        found[path].set_num_threads(1)
