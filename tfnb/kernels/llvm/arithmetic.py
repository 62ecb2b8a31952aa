"""Typed arithmetic of kernel source: result types of operators and their LLVM instructions. The rules are numba's.

Integers are computed with 64 bits: unsigned if both operands are, else signed (and then without wrap-around, which LLVM
may count on). An integer meets a float as float64, unless the float is float32 and the integer has at most 16 bits.
Division by zero gives 0 for integers.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfnb.core.lazy import lazy_module
from tfnb.kernels.llvm.natives import llvm_type
from tfnb.kernels.scalar.number_types import HALVES, computed_as, kind

ir = lazy_module("llvmlite.ir")

INTEGER = {"+": "add", "-": "sub", "*": "mul", "&": "and_", "|": "or_", "^": "xor"}
FLOAT = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}


class Unsupported(Exception):
    """Kernel source beyond what this front end compiles. numba may compile it."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value in LLVM's registers and its type in kernel source; a tuple of values for a tuple."""

    type: str
    value: Any



def constant(number: Any, type: str) -> Typed:
    """Return a constant of a type."""
    of = llvm_type(type)
    return Typed(type, ir.Constant(of, float(number) if kind(type) == "f" else int(number)))


def is_unsigned(type: str) -> bool:
    """Return whether the type is unsigned."""
    return type.startswith("u") or type == "bool"


def convert(builder: Any, x: Typed, type: str) -> Typed:
    """Return the value cast to another type: `float32(x)`. To bool by != 0."""
    if x.type == type:
        return x
    if x.type.endswith("*") or type.endswith("*"):
        raise Unsupported(f"{x.type} as {type}")
    if x.type in HALVES or type in HALVES:
        return _half(builder, x, type)
    if type == "bool":
        return compare(builder, "!=", x, constant(0, x.type))
    return Typed(type, _converted(builder, x, type))


def _half(builder: Any, x: Typed, type: str) -> Typed:
    """Emit the conversion of, or to, a 16-bit float, by way of float32."""
    if type in HALVES:
        single = convert(builder, x, "float32").value
        return Typed(type, builder.fptrunc(single, ir.HalfType()) if type == "float16" else _rounded(builder, single))
    if x.type == "float16":
        single = builder.fpext(x.value, ir.FloatType())
    else:
        bits = builder.shl(builder.zext(x.value, ir.IntType(32)), ir.IntType(32)(16))
        single = builder.bitcast(bits, ir.FloatType())
    return convert(builder, Typed("float32", single), type)


def _rounded(builder: Any, x: Any) -> Any:
    """Emit the upper half of a float32's bits, rounded to nearest even: a bfloat16. (The processor's instruction for it
    takes subnormal numbers for zeros.)"""
    word = ir.IntType(32)
    bits = builder.bitcast(x, word)
    odd = builder.and_(builder.lshr(bits, word(16)), word(1))
    nearest = builder.lshr(builder.add(bits, builder.add(odd, word(0x7FFF))), word(16))
    quiet = builder.or_(builder.lshr(bits, word(16)), word(0x40))
    return builder.trunc(builder.select(builder.fcmp_unordered("uno", x, x), quiet, nearest), ir.IntType(16))


def _computed(builder: Any, x: Typed) -> Typed:
    """Return a value as the type in which its arithmetic is done."""
    return convert(builder, x, computed_as(x.type))


def _converted(builder: Any, x: Typed, type: str) -> Any:
    target, have, want = llvm_type(type), kind(x.type), kind(type)
    if isinstance(x.value, ir.Constant) and x.value.constant is not ir.Undefined and have != "b":
        return _constant_of(x, type)
    if have == want == "f":
        return builder.fpext(x.value, target) if type == "float64" else builder.fptrunc(x.value, target)
    if have == "f":
        return builder.fptoui(x.value, target) if is_unsigned(type) else builder.fptosi(x.value, target)
    if want == "f":
        return builder.uitofp(x.value, target) if is_unsigned(x.type) else builder.sitofp(x.value, target)
    width = x.value.type.width
    if target.width <= width:
        return builder.trunc(x.value, target) if target.width < width else x.value
    return builder.zext(x.value, target) if is_unsigned(x.type) else builder.sext(x.value, target)


def _constant_of(x: Typed, type: str) -> Any:
    """Return a constant as another numeric type."""
    number = x.value.constant
    if kind(type) == "f":
        return ir.Constant(llvm_type(type), float(number))
    bits, number = llvm_type(type).width, int(number)
    number &= (1 << bits) - 1
    return ir.Constant(llvm_type(type), number if is_unsigned(type) or number < 1 << bits - 1 else number - (1 << bits))


def unified(types: Sequence[str]) -> str:
    """Return the common type of values (in `min(x, y)`, or where branches meet)."""
    if len(set(types)) == 1:
        return types[0]
    types = [computed_as(type) for type in types]
    if any(type.endswith("*") for type in types):
        raise Unsupported(f"{' and '.join(types)} together")
    floats = [type for type in types if kind(type) == "f"]
    if floats:
        narrow = all(type in ("float32", "int8", "int16", "uint8", "uint16") for type in types)
        return "float32" if narrow else "float64"
    return "uint64" if all(is_unsigned(type) and type != "bool" for type in types) else "int64"


def binary(builder: Any, sign: str, x: Typed, y: Typed, wanted: str = "") -> Typed:
    """Emit x `sign` y. wanted: the type to which the result will be converted.

    Integers of that type are not widened before: the bits are the same, and LLVM finds narrower loops.
    """
    x, y = _computed(builder, x), _computed(builder, y)
    if x.type == y.type == wanted and kind(wanted) == "i" and sign in INTEGER:
        return Typed(wanted, getattr(builder, INTEGER[sign])(x.value, y.value))
    if x.type == y.type == "bool" and sign in "&|^":
        return Typed("bool", getattr(builder, INTEGER[sign])(x.value, y.value))
    type = "float64" if sign == "/" and kind(x.type) != "f" != kind(y.type) else unified((x.type, y.type))
    if type.endswith("*") or kind(type) == "f" and sign not in FLOAT:
        raise Unsupported(f"{sign} on {type}")
    if kind(type) == "f":
        x, y = convert(builder, x, type), convert(builder, y, type)
        return Typed(type, getattr(builder, FLOAT[sign])(x.value, y.value))
    return _integers(builder, sign, x, y)


def _integers(builder: Any, sign: str, x: Typed, y: Typed) -> Typed:
    shift = sign in ("<<", ">>")
    type = "uint64" if is_unsigned(x.type) and (shift or is_unsigned(y.type)) and x.type != "bool" else "int64"
    a, b = convert(builder, x, type).value, convert(builder, y, type).value
    if shift:
        made = builder.shl(a, b) if sign == "<<" else (builder.lshr if type == "uint64" else builder.ashr)(a, b)
        return Typed(type, made)
    if sign in ("//", "%"):
        return Typed(type, _divided(builder, sign, a, b, type == "int64"))
    flags = ("nsw",) if type == "int64" and sign in "+-*" else ()
    return Typed(type, getattr(builder, INTEGER[sign])(a, b, **({"flags": flags} if flags else {})))


def _divided(builder: Any, sign: str, a: Any, b: Any, signed: bool) -> Any:
    """Emit a // b or a % b, rounded down; 0 where the processor would trap."""
    word = ir.IntType(64)
    if isinstance(b, ir.Constant) and b.constant > 0:
        return _floor_divided(builder, sign, a, b, signed)
    bad = builder.icmp_unsigned("==", b, word(0))
    if signed:
        least = builder.icmp_unsigned("==", a, word(-(1 << 63)))
        bad = builder.or_(bad, builder.and_(least, builder.icmp_unsigned("==", b, word(-1))))
    made = _floor_divided(builder, sign, a, builder.select(bad, word(1), b), signed)
    return builder.select(bad, word(0), made)


def _floor_divided(builder: Any, sign: str, a: Any, b: Any, signed: bool) -> Any:
    if not signed:
        return builder.udiv(a, b) if sign == "//" else builder.urem(a, b)
    word = ir.IntType(64)
    rest = builder.srem(a, b)
    other = builder.and_(builder.icmp_signed("!=", rest, word(0)),
                         builder.icmp_signed("<", builder.xor(rest, b), word(0)))
    if sign == "//":
        return builder.add(builder.sdiv(a, b), builder.sext(other, word))
    return builder.add(rest, builder.select(other, b, word(0)))


def compare(builder: Any, sign: str, x: Typed, y: Typed) -> Typed:
    """Emit the comparison x `sign` y, by numeric value."""
    x, y = _computed(builder, x), _computed(builder, y)
    type = unified((x.type, y.type))
    if type.endswith("*"):
        raise Unsupported(f"{sign} of addresses")
    if kind(type) == "f":
        a, b = convert(builder, x, type).value, convert(builder, y, type).value
        return Typed("bool", (builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered)(sign, a, b))
    if "uint64" in (x.type, y.type) and type == "int64":
        return _compare_across(builder, sign, x, y)
    type = "int64" if type == "bool" else type
    test = builder.icmp_unsigned if is_unsigned(type) else builder.icmp_signed
    return Typed("bool", test(sign, convert(builder, x, type).value, convert(builder, y, type).value))


def _compare_across(builder: Any, sign: str, x: Typed, y: Typed) -> Typed:
    """Emit the comparison of a signed integer with uint64: a negative one is less."""
    a, b = convert(builder, x, "int64").value, convert(builder, y, "int64").value
    made, zero = builder.icmp_unsigned(sign, a, b), ir.IntType(64)(0)
    first = x.type != "uint64"
    negative = builder.icmp_signed("<", a if first else b, zero)
    answer = sign == "!=" or sign.startswith("<") == first and sign != "=="
    return Typed("bool", builder.select(negative, ir.IntType(1)(answer), made))


def negated(builder: Any, x: Typed) -> Typed:
    """Emit -x."""
    x = _computed(builder, x)
    if x.type == "bool" or x.type.endswith("*"):
        raise Unsupported(f"-{x.type}")
    if kind(x.type) == "f":
        return Typed(x.type, builder.fneg(x.value))
    return convert(builder, Typed(x.type, builder.neg(x.value)), "uint64" if is_unsigned(x.type) else "int64")


def inverted(builder: Any, x: Typed) -> Typed:
    """Emit ~x."""
    if kind(x.type) != "i" or x.type.endswith("*"):
        raise Unsupported(f"~{x.type}")
    return convert(builder, Typed(x.type, builder.not_(x.value)), "uint64" if is_unsigned(x.type) else "int64")


def absolute(builder: Any, x: Typed) -> Typed:
    """Emit abs(x)."""
    x = _computed(builder, x)
    if x.type == "bool" or x.type.endswith("*"):
        raise Unsupported(f"abs of {x.type}")
    if kind(x.type) == "f":
        of = [x.value.type]
        return Typed(x.type, builder.call(builder.module.declare_intrinsic("llvm.fabs", of), [x.value]))
    if is_unsigned(x.type):
        return x
    negative = builder.icmp_signed("<", x.value, ir.Constant(x.value.type, 0))
    return Typed(x.type, builder.select(negative, builder.neg(x.value), x.value))


def extreme(builder: Any, sign: str, values: Sequence[Typed]) -> Typed:
    """Emit min (`sign` "<") or max (">") of values, as Python does: the first one, until another is `sign` it."""
    best = values[0]
    for value in values[1:]:
        type = unified((best.type, value.type))
        a, b = convert(builder, best, type), convert(builder, value, type)
        best = Typed(type, builder.select(compare(builder, sign, b, a).value, b.value, a.value))
    return best
