"""Primitive: a row of the table of primitives, one operation of scalar bodies.

Rules for types ("T" is the type of the operands, of which a literal has none of its own):
    same     T -> T                     compare  T -> bool              logical  bool -> bool
    select   bool, T, T -> T            cast     any -> the op's type   real     T -> T, complex -> its real part
    row      T -> T, over the last axis column   -> int32               bits     float <-> int of equal width
    float32, float64, int32, int64      any -> that type
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfnb.kernels.scalar.instructions import Make
from tfnb.kernels.scalar.number_types import kind

Body = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Primitive:
    """One primitive.

    numpy: its meaning for arrays of equal dtype; over the last axis (kept, size 1) if rule is "row". operator: that of
    Python, over operands of the kinds `operator_kinds`. llvm: kind -> maker of instructions (cpu/instructions.py).
    libm: the C library's function for float64 (float32's ends in f). scipy: the function of scipy.special for float64,
    called by its address (llvm/special_functions.py). routine: whether routines.py has it.
    cuda: the function of `math` on a GPU. expansion: type, kind or
    "any" -> body; polynomial: the same, of those that need the primitive `bits`. costly: it takes longer than a store
    and a load.
    """

    arity: int
    rule: str
    numpy: Callable[..., Any]
    operator: str = ""
    operator_kinds: str = "bif"
    llvm: Mapping[str, Make] = field(default_factory=dict)
    libm: str = ""
    scipy: str = ""
    routine: bool = False
    cuda: str = ""
    expansion: Mapping[str, Body] = field(default_factory=dict)
    polynomial: Mapping[str, Body] = field(default_factory=dict)
    costly: bool = False

    def definition(self, type: str, bits: bool = True) -> Body | None:
        """Return the expansion over operands of `type`, or None. bits: whether it may use the primitive `bits`."""
        for key in (type, kind(type), "any"):
            found = (self.polynomial.get(key) if bits else None) or self.expansion.get(key)
            if found is not None:
                return found
        return None

    def instruction(self, type: str) -> Make | None:
        """Return the maker of its LLVM instructions over operands of `type`, if LLVM has some."""
        unsigned = self.llvm.get("u") if type.startswith("u") else None
        return unsigned or self.llvm.get(kind(type))
