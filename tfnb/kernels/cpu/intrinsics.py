"""The words of scalar definitions as LLVM instructions: each is made on the spot, never a call.

Kernel text may use every word that this machine has an instruction for or that `kernels/expand.py` writes with such
words, by its own name: `exp(x)`, `where(condition, x, y)`, `fma(x, y, z)`, `floormod(x, y)`, ... with operands of one
type. So `exp` is one word to type, not thirty lines, and there is no branch in it to keep LLVM from using vectors. Two
words exist only here:

    add_any_order(x, y), mul_any_order(x, y)        x + y, x * y; LLVM may reorder a chain of them (a reduction), and
                                                    round a sum of such products once
    maximum_any_order(x, y), minimum_any_order(x, y)    of two zeros either one: 3 instructions in place of 5
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.block import Block, Value
from tfnb.kernels.cpu.natives import llvm_type
from tfnb.kernels.expand import EXPANDED, expansion
from tfnb.kernels.printer import INFIX
from tfnb.kernels.words import kind

ir = lazy_module("llvmlite.ir")

Make = Callable[..., Any]                 # (builder, *operands) -> LLVM value

_COMPARE = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
_LLVM = {"abs": "fabs", "floor": "floor", "ceil": "ceil", "rint": "rint", "trunc": "trunc", "sqrt": "sqrt",
         "maximum": "maximum", "minimum": "minimum"}
_MAKE: dict[str, dict[str, Make]] = {
    "f": {
        **{word: lambda b, *args, op=op: getattr(b, op)(*args) for word, op in
           {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "neg": "fneg", "fma": "fma",
            "fmod": "frem"}.items()},
        "add_any_order": lambda b, x, y: b.fadd(x, y, flags=("reassoc", "contract")),
        "mul_any_order": lambda b, x, y: b.fmul(x, y, flags=("reassoc", "contract")),
        "maximum_any_order": lambda b, x, y: _call(b, "maximum", (x, y), ("nsz",)),
        "minimum_any_order": lambda b, x, y: _call(b, "minimum", (x, y), ("nsz",)),
        **{word: lambda b, *args, name=name: _call(b, name, args) for word, name in _LLVM.items()},
        **{word: lambda b, x, y, sign=sign: b.fcmp_ordered(sign, x, y) for word, sign in _COMPARE.items()},
        "not_equal": lambda b, x, y: b.fcmp_unordered("!=", x, y),
        "bits": lambda b, x: b.bitcast(x, ir.IntType(32 if x.type == ir.FloatType() else 64)),
        "where": lambda b, c, x, y: b.select(c, x, y),
    },
    "i": {
        **{word: lambda b, *args, op=op: getattr(b, op)(*args) for word, op in
           {"add": "add", "sub": "sub", "mul": "mul", "neg": "neg", "and": "and_", "or": "or_", "xor": "xor",
            "invert": "not_", "shift_left": "shl"}.items()},
        "from_bits": lambda b, x: b.bitcast(x, ir.FloatType() if x.type.width == 32 else ir.DoubleType()),
        "where": lambda b, c, x, y: b.select(c, x, y),
    },
    "b": {
        "and": lambda b, x, y: b.and_(x, y), "or": lambda b, x, y: b.or_(x, y), "xor": lambda b, x, y: b.xor(x, y),
        "not_equal": lambda b, x, y: b.xor(x, y), "equal": lambda b, x, y: b.not_(b.xor(x, y)),
        "invert": lambda b, x: b.not_(x), "where": lambda b, c, x, y: b.select(c, x, y),
    },
}


def _call(builder: Any, name: str, args: Sequence[Any], flags: Sequence[str] = ()) -> Any:
    """A call of an LLVM intrinsic whose operands and result are of one type."""
    type = args[0].type
    wanted = ir.FunctionType(type, [type] * len(args))
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [type], wanted), args, fastmath=flags)


def _divide(builder: Any, x: Any, y: Any, signed: bool) -> Any:
    """x // y, rounded down; y is neither 0 nor -1."""
    if not signed:
        return builder.udiv(x, y)
    quotient = builder.sdiv(x, y)
    zero = ir.Constant(x.type, 0)
    uneven = builder.icmp_signed("!=", builder.srem(x, y), zero)
    apart = builder.icmp_signed("<", builder.xor(x, y), zero)
    return builder.sub(quotient, builder.zext(builder.and_(uneven, apart), x.type))


def _integer_words(signed: bool) -> dict[str, Make]:
    compare = "icmp_signed" if signed else "icmp_unsigned"
    words = {word: lambda b, x, y, sign=sign: getattr(b, compare)(sign, x, y) for word, sign in _COMPARE.items()}
    return {**words, "integer_divide": lambda b, x, y: _divide(b, x, y, signed),
            "shift_right": lambda b, x, y: b.ashr(x, y) if signed else b.lshr(x, y),
            "abs": lambda b, x: b.select(b.icmp_signed("<", x, ir.Constant(x.type, 0)), b.neg(x), x) if signed else x}


_SIGNED, _UNSIGNED = _integer_words(True), _integer_words(False)


def _maker(word: str, type: str) -> Make | None:
    """What makes the instructions of a word for operands of a type, if LLVM has them."""
    if kind(type) == "i":
        found = (_UNSIGNED if type.startswith("u") else _SIGNED).get(word)
        return found or _MAKE["i"].get(word)
    return _MAKE.get(kind(type), {}).get(word)


def has_instruction(word: str, type: str) -> bool:
    """Are there LLVM instructions for this word over operands of this type?"""
    return _maker(word, type) is not None


def has_word(word: str, type: str) -> bool:
    """May the text of a kernel use this word over operands of this type?"""
    return has_instruction(word, type) or expansion(word, type) is not None


# --- from values to instructions ----------------------------------------------------------------------------------

def _convert(builder: Any, x: Any, have: str, want: str) -> Any:
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
    """Make the instructions of a block's values; its loads are `args`."""
    made: dict[int, Any] = {}
    for number in block.needed([result]):
        value = block.values[number]
        if value.word == "load":
            made[number] = args[value.data]
        elif value.word == "constant":
            made[number] = ir.Constant(llvm_type(value.type), int(value.data) if value.type == "bool" else value.data)
        else:
            made[number] = _instruction(builder, block, value, [made[arg] for arg in value.args])
    return made[result]


def _instruction(builder: Any, block: Block, value: Value, args: Sequence[Any]) -> Any:
    of = block.values[value.args[-1]].type
    if value.word == "convert":
        return _convert(builder, args[0], of, value.type)
    make = _maker(value.word, of)
    assert make is not None
    return make(builder, *args)


@cache
def _block(word: str, types: tuple[str, ...]) -> tuple[Block, int]:
    """A block that applies one word to operands of these types, and the number of its result."""
    block = Block(has_instruction)
    loads = [block.add("load", (), type, i) for i, type in enumerate(types)]
    if word.endswith("_any_order"):
        return block, block.add(word, tuple(loads), types[0])
    return block, block.apply(word, loads, types[-1])


def lowered(word: str, types: tuple[str, ...]) -> tuple[str, Make] | None:
    """The type of a word's result for operands of these types, and make(builder, operands); None: it has no meaning."""
    try:
        block, result = _block(word, types)
    except TypeError:
        return None
    return block.values[result].type, lambda builder, args: _instructions(builder, block, result, args)


_OPERATORS = frozenset({*INFIX, "neg", "invert", "abs"}) - {"integer_divide", "integer_power"}
NAMES = frozenset({*_MAKE["f"], *_MAKE["i"], *_SIGNED, *EXPANDED}) - _OPERATORS
