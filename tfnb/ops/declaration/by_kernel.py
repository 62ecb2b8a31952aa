"""Large ops of interpreted runs, computed by the kernels of compiled ones: which they are, follows from sizes alone.

An initializer draws millions of numbers in its only run; NumPy takes 10 times as long for them as the kernel, which is
compiled in 0.1 s, once a machine. A large convolution by NumPy unfolds its windows: gigabytes.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tfnb.core.lazy import lazy_module
from tfnb.core.options import has_compiler
from tfnb.core.shape import Static, is_known
from tfnb.graph.parts.operation import Operation
from tfnb.kernels.launch import Call, Meta
from tfnb.opdef import kinds

played = lazy_module("tfnb.kernels.functions.played")      # 30 ms for LLVM, which most first runs go without

MANY = 1 << 19              # numbers that are drawn: 80 ms by NumPy
LONG = 1 << 29              # floating-point operations: 50 to 150 ms by NumPy
_TYPES = frozenset("float32 float64 int32 int64 uint32 uint64".split())


def draws_many(op: Operation) -> bool:
    """Return whether an op is known to draw MANY numbers, for which a kernel is compiled even if it runs once."""
    return isinstance(op.spec, kinds.Random) and has_compiler() and _elements([t.static for t in op.outputs]) >= MANY


def _elements(shapes: Sequence[Static]) -> int:
    """Return the number of elements in those shapes that are known."""
    return sum(prod(s) for s in shapes if is_known(s))


def outputs_by_kernel(op: Operation, arrays: Sequence[np.ndarray], shapes: Sequence[Static],
                      state: np.ndarray | None) -> tuple[np.ndarray, ...] | None:
    """Return the outputs of a validated op with a kernel; None if NumPy is to compute them: it is small enough.

    shapes: of the outputs; state: of the generator of a random op, which moves on as in its NumPy form.
    """
    if not has_compiler():
        return None
    spec: Any = op.spec
    if isinstance(spec, kinds.Random):
        if _elements(shapes) < MANY:
            return None
    elif spec.work is None or spec.contraction is not None or sum(a.size for a in arrays) < MANY >> 4:
        return None                                # (NumPy computes matmuls by BLAS)
    types = [t.dtype.base_dtype.name for t in op.outputs]
    if not _TYPES.issuperset({*types, *(a.dtype.name for a in arrays)}) or not all(map(is_known, shapes)):
        return None
    known = [i for i, arg in enumerate(spec.inputs) if arg.name in spec.value_inputs]
    call = Call(tuple(Meta(a.dtype.name, a.shape, a if i in known else None) for i, a in enumerate(arrays)),
                tuple(Meta(t, s) for t, s in zip(types, shapes, strict=True)), op.attrs)       # type: ignore[arg-type]
    if not isinstance(spec, kinds.Random) and spec.work(call) < LONG:
        return None
    made = tuple(np.empty(m.shape, m.type) for m in call.outputs)
    played.played(spec.cpu, arrays, made, op.attrs, state, known)
    return made
