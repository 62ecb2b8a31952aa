"""Rewrites that the compiler may apply to a matmul besides launching it."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tfnb.kernels.launch import Call


def _none(call: Call) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Contraction:
    """straight: (call, whether its second input is the same in many runs) -> the attrs with which the op gives the
    same when the last two axes of that input are swapped, if that is to be done before; else None. columns: how many
    columns the blocks have in which the kernel of this call makes its output, 0 if it does not. Where it does, the
    kernel also takes the operands of several products of equal shapes, of which it makes the sum, and another kernel
    as `tail`, to be run over each block."""

    straight: Callable[[Call, bool], Mapping[str, Any] | None]
    columns: Callable[[Call], int] = _none
