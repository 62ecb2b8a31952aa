"""Rewrites that the compiler may apply to a matmul besides launching it: layout, epilogue fusion, sums of products."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.kernels.launch import Call


def _none(call: Call) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Contraction:
    """Rewrites of one matmul op.

    straight: (call, whether its second input is the same in many runs) -> the attrs with which the op gives the same
    result for that input with its last two axes swapped, if swapping it beforehand pays; else None. columns: the width
    of the blocks in which the kernel of this call computes its output, 0 if it does not. Where it does, the kernel
    also takes the operands of several matmuls of equal shapes, which it sums, and an epilogue kernel as `epilogue`, to
    be run on each block. bound: (shapes and dtype of the operands, attrs) -> the op's NumPy form for such operands,
    with what these decide done beforehand, or None. Its caller ignores floating-point errors.
    """

    straight: Callable[[Call, bool], Mapping[str, Any] | None]
    columns: Callable[[Call], int] = _none
    bound: Callable[[Sequence[tuple[int, ...]], np.dtype[Any], Mapping[str, Any]],
                    Callable[[np.ndarray, np.ndarray], np.ndarray] | None] | None = None
