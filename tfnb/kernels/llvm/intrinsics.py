"""Primitives as LLVM instructions: each is made on the spot, never a call.

Kernel source may use every primitive that has an instruction or an expansion into such ones
(kernels/scalar/primitives.py), by its own name: `exp(x)`, `where(condition, x, y)`, `fma(x, y, z)`, `floormod(x, y)`,
... with operands of one type. So `exp` is one call to read, not thirty lines, and there is no branch in it to keep LLVM
from using vectors. Four exist only here:

    add_any_order(x, y), mul_any_order(x, y)        x + y, x * y; LLVM may reorder a chain of them (a reduction), and
                                                    round a sum of such products once
    maximum_any_order(x, y), minimum_any_order(x, y)    of two zeros either one: 3 instructions in place of 5
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.block import Block, Value
from tfnb.kernels.llvm.arithmetic import Typed, convert
from tfnb.kernels.llvm.natives import llvm_type
from tfnb.kernels.printer import OPERATORS
from tfnb.kernels.scalar.definition import expansion
from tfnb.kernels.scalar.instructions import Make, intrinsic, method
from tfnb.kernels.scalar.number_types import HALVES, kind
from tfnb.kernels.scalar.primitives import PRIMITIVES

ir = lazy_module("llvmlite.ir")

# Only in kernel source, for reductions: see above.
_REORDERED: dict[str, Make] = {
    "add_any_order": method("fadd", flags=("reassoc", "contract")),
    "mul_any_order": method("fmul", flags=("reassoc", "contract")),
    "maximum_any_order": intrinsic("maximum", ("nsz",)), "minimum_any_order": intrinsic("minimum", ("nsz",)),
}


def _maker(name: str, type: str) -> Make | None:
    if name in _REORDERED:
        return _REORDERED[name] if kind(type) == "f" else None
    return PRIMITIVES[name].instruction(type) if name in PRIMITIVES else None


def has_instruction(name: str, type: str) -> bool:
    """Return whether LLVM has instructions for this primitive over operands of `type`."""
    return _maker(name, type) is not None


def has_instructions(name: str, type: str) -> bool:
    """Return whether kernel source may use this primitive over operands of `type`: by instructions or expanded."""
    return has_instruction(name, type) or expansion(name, type) is not None


# --- from values to instructions ----------------------------------------------------------------------------------

def _convert(builder: Any, x: Any, have: str, want: str) -> Any:
    if have in HALVES or want in HALVES:
        return convert(builder, Typed(have, x), want).value
    target, unsigned = llvm_type(want), have.startswith("u") or have == "bool"
    if kind(have) == kind(want) == "f":
        return builder.fpext(x, target) if want == "float64" else builder.fptrunc(x, target)
    if kind(have) == "f":
        return builder.fptoui(x, target) if want == "uint64" else builder.fptosi(x, target)
    if kind(want) == "f":
        return builder.uitofp(x, target) if unsigned else builder.sitofp(x, target)
    if target.width <= x.type.width:
        return builder.trunc(x, target) if target.width < x.type.width else x
    return builder.zext(x, target) if unsigned else builder.sext(x, target)


def _instructions(builder: Any, block: Block, result: int, args: Sequence[Any]) -> Any:
    """Emit the instructions of a block's values; its loads are `args`."""
    made: dict[int, Any] = {}
    for number in block.needed([result]):
        value = block.values[number]
        if value.primitive == "load":
            made[number] = args[value.data]
        elif value.primitive == "constant":
            made[number] = ir.Constant(llvm_type(value.type), int(value.data) if value.type == "bool" else value.data)
        else:
            made[number] = _instruction(builder, block, value, [made[arg] for arg in value.args])
    return made[result]


def _instruction(builder: Any, block: Block, value: Value, args: Sequence[Any]) -> Any:
    of = block.values[value.args[-1]].type
    if value.primitive == "convert":
        return _convert(builder, args[0], of, value.type)
    make = _maker(value.primitive, of)
    assert make is not None
    return make(builder, *args)


@cache
def _block(name: str, types: tuple[str, ...]) -> tuple[Block, int]:
    """Return a block that applies one primitive to operands of these types, and the index of its result."""
    block = Block(has_instruction)
    loads = [block.add("load", (), type, i) for i, type in enumerate(types)]
    if name.endswith("_any_order"):
        return block, block.add(name, tuple(loads), types[0])
    return block, block.apply(name, loads, types[-1])


def lowered(name: str, types: tuple[str, ...]) -> tuple[str, Make] | None:
    """Return the type of a primitive's result for operands of these types, and make(builder, operands); None if it has
    no meaning for them."""
    try:
        block, result = _block(name, types)
    except TypeError:
        return None
    return block.values[result].type, lambda builder, args: _instructions(builder, block, result, args)


_OPERATORS = frozenset(OPERATORS) - {"integer_divide", "integer_power"}
NAMES = frozenset({*_REORDERED, *(name for name, row in PRIMITIVES.items()
                                  if row.llvm or row.expansion or row.polynomial)}) - _OPERATORS
