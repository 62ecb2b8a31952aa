"""Calls of NVIDIA's libraries as launches: matmul by cuBLASLt, where `nvmath-python` and the library are installed.

A launch whose source begins with "library " is such a call; the driver asks `call` for it. Its arguments are those of a
kernel: spans of memory and integers. All that a call needs beside them (layouts, the algorithm) is made once for each
form of its arguments, so a call can be captured in a graph.

TF32: tensor cores that round the factors of a float32 product to 10 bits of mantissa, and sum in float32. On unless
`tf.config.experimental.enable_tensor_float_32_execution(False)` says otherwise, as in TensorFlow. Products of 16-bit
floats use tensor cores in any case, and sum in float32.
"""
from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from tfnb.kernels.cuda.driver import LIBRARY, Call, DriverError, Span, Word
from tfnb.kernels.cuda.simulator import is_asked_for
from tfnb.kernels.scalar.number_types import computed_as

WORKSPACE = 32 << 20                   # bytes, as NVIDIA advises for Hopper
LARGE = 1 << 30                        # operations of a product that gets a workspace
TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14}         # cudaDataType_t: CUDA_R_32F...
COMPUTE = {"float32": 68, "tf32": 77, "float64": 70}       # cublasComputeType_t
TRANSA, TRANSB, EPILOGUE, BIAS = 3, 4, 7, 8            # cublasLtMatmulDescAttributes_t; of layouts and preferences:
BATCH_COUNT, BATCH_OFFSET, MOST_WORKSPACE = 5, 6, 1
TRANSPOSED = 1                         # cublasOperation_t
EPILOGUES = {(): 1, ("relu",): 2, ("bias",): 4, ("bias", "relu"): 6}       # cublasLtEpilogue_t


@dataclass
class Precision:
    """Whether float32 products may use TF32."""

    tf32: bool = True


precision = Precision()


@cache
def api() -> Any:
    """Return the module of cuBLASLt's functions, None where it or the library is not installed."""
    if is_asked_for() or importlib.util.find_spec("nvmath") is None:
        return None
    try:
        importlib.import_module("cuda.pathfinder").load_nvidia_dynamic_lib("cublasLt")
        return importlib.import_module("nvmath.bindings.cublasLt")
    except (ImportError, RuntimeError, OSError):
        return None


def has_matmul(type: str) -> bool:
    """Return whether the library multiplies matrices of a dtype."""
    return type in TYPES and api() is not None


def matmul_source(type: str, epilogue: Sequence[str] = ()) -> str:
    """Return the source of a launch of `Matmul` with the precision that is asked for now."""
    compute = "tf32" if type == "float32" and precision.tf32 else computed_as(type)
    return " ".join([f"{LIBRARY}cublasLt matmul {type} {compute}", *epilogue])


def call(source: str) -> Call:
    """Return the call of a launch's source."""
    _, _, _, type, compute, *epilogue = source.split()
    return Matmul(api(), type, compute, tuple(epilogue))


@dataclass
class Matmul(Call):
    """c = a b for `count` row-major matrices. Arguments: the arrays a, b, c and workspace; m, n, k; whether a, whether
    b is transposed; count; from one matrix of a, of b, to the next, in elements; bytes of the workspace; the array of
    the bias, where `epilogue` ("bias", "relu") has one.

    cuBLASLt's matrices are column-major: it gets c' = b' a', where the transposes are the same memory.
    """

    api: Any
    type: str
    compute: str
    epilogue: tuple[str, ...] = ()
    plans: dict[tuple[int, ...], tuple[Any, ...]] = field(default_factory=dict)
    handle: Any = None

    def __call__(self, stream: Any, words: Sequence[Word]) -> None:
        """Enqueue the product. Raises DriverError."""
        a, b, c, work = (word.address if isinstance(word, Span) else word for word in words[:4])
        form = tuple(word.address if isinstance(word, Span) else word for word in words[4:])
        try:
            if form not in self.plans:
                self.plans[form] = self._plan(*form)
            description, first, second, third, algorithm = self.plans[form]
            one, zero = self._scalars
            self.api.matmul(self.handle, description, one.ctypes.data, b, first, a, second, zero.ctypes.data, c, third,
                            c, third, algorithm.ctypes.data, work, form[8], int(stream))
        except DriverError:
            raise
        except Exception as error:                 # the bindings' class for it is private
            raise DriverError("cublasLtMatmul", str(error)) from error

    def _plan(self, m: int, n: int, k: int, turned_a: int, turned_b: int, count: int, next_a: int, next_b: int,
              nbytes: int, bias: int = 0) -> tuple[Any, ...]:
        """Return descriptors and an algorithm."""
        lt = self.api
        if self.handle is None:
            self.handle = lt.create()
            wide = computed_as(self.type)
            self._scalars = np.ones(1, wide), np.zeros(1, wide)
        description = lt.matmul_desc_create(COMPUTE[self.compute], TYPES[computed_as(self.type)])
        for attribute, turned in ((TRANSA, turned_b), (TRANSB, turned_a)):
            _set(lt.matmul_desc_set_attribute, description, attribute, TRANSPOSED if turned else 0, "int32")
        if self.epilogue:
            _set(lt.matmul_desc_set_attribute, description, EPILOGUE, EPILOGUES[self.epilogue], "uint32")
        if bias:                       # a row of ours is one of its columns, to which it adds such a vector
            _set(lt.matmul_desc_set_attribute, description, BIAS, bias, "uint64")
        layouts = (self._layout(k if turned_b else n, n if turned_b else k, count, next_b),
                   self._layout(m if turned_a else k, k if turned_a else m, count, next_a),
                   self._layout(n, m, count, m * n))
        preference, found = lt.matmul_preference_create(), np.zeros(1, np.int32)
        _set(lt.matmul_preference_set_attribute, preference, MOST_WORKSPACE, nbytes, "uint64")
        results = np.zeros(1, lt.matmul_heuristic_result_dtype)
        lt.matmul_algo_get_heuristic(self.handle, description, *layouts, layouts[2], preference, 1,
                                     results.ctypes.data, found.ctypes.data)
        if not found[0]:
            raise DriverError("cublasLtMatmulAlgoGetHeuristic", f"no algorithm for {m} x {k} x {n}")
        return description, *layouts, results["algo"].copy()

    def _layout(self, rows: int, columns: int, count: int, step: int) -> Any:
        layout = self.api.matrix_layout_create(TYPES[self.type], rows, columns, rows)
        _set(self.api.matrix_layout_set_attribute, layout, BATCH_COUNT, count, "int32")
        _set(self.api.matrix_layout_set_attribute, layout, BATCH_OFFSET, step, "int64")
        return layout


def _set(function: Callable[..., None], owner: Any, attribute: int, value: int, type: str) -> None:
    """Set an attribute, which the library reads from memory."""
    memory = np.array([value], type)
    function(owner, attribute, memory.ctypes.data, memory.nbytes)
