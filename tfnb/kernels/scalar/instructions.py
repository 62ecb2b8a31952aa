"""LLVM instructions of primitives: makers, each `make(builder, *operands) -> value`, by kind of operand.

The kinds are "f"loat, "i"nteger, "u"nsigned (where it differs from "i") and "b"ool.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfnb.core.lazy import lazy_module

ir = lazy_module("llvmlite.ir")

Make = Callable[..., Any]


def method(name: str, **flags: Any) -> Make:
    """Return the maker of one instruction: a method of llvmlite's IRBuilder."""
    return lambda builder, *args: getattr(builder, name)(*args, **flags)


def intrinsic(name: str, flags: Sequence[str] = ()) -> Make:
    """Return the maker of an LLVM intrinsic whose operands and result are of one type."""
    def make(builder: Any, *args: Any) -> Any:
        type = args[0].type
        wanted = ir.FunctionType(type, [type] * len(args))
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [type], wanted), args, fastmath=flags)
    return make


def comparison(sign: str) -> dict[str, Make]:
    """Return the makers of a comparison of numbers. Those of NaN are false, but for `!=`."""
    ordered = "fcmp_unordered" if sign == "!=" else "fcmp_ordered"
    return {kind: lambda builder, x, y, name=name: getattr(builder, name)(sign, x, y)
            for kind, name in (("f", ordered), ("i", "icmp_signed"), ("u", "icmp_unsigned"))}


def equal_bools(builder: Any, x: Any, y: Any) -> Any:
    """Emit x == y of bools."""
    return builder.not_(builder.xor(x, y))


def absolute(builder: Any, x: Any) -> Any:
    """Emit the absolute value of a signed integer."""
    return builder.select(builder.icmp_signed("<", x, ir.Constant(x.type, 0)), builder.neg(x), x)


def floor_divide(builder: Any, x: Any, y: Any) -> Any:
    """Emit x // y of signed integers, rounded down; y is neither 0 nor -1."""
    quotient = builder.sdiv(x, y)
    uneven = builder.icmp_signed("!=", builder.srem(x, y), ir.Constant(x.type, 0))
    apart = builder.icmp_signed("<", builder.xor(x, y), ir.Constant(x.type, 0))
    return builder.sub(quotient, builder.zext(builder.and_(uneven, apart), x.type))


def to_bits(builder: Any, x: Any) -> Any:
    """Emit the bits of a float, as an integer of its width."""
    return builder.bitcast(x, ir.IntType(32 if x.type == ir.FloatType() else 64))


def from_bits(builder: Any, x: Any) -> Any:
    """Emit a float of the bits of an integer."""
    return builder.bitcast(x, ir.FloatType() if x.type.width == 32 else ir.DoubleType())


def itself(builder: Any, x: Any) -> Any:
    """Return x."""
    return x


SELECT = dict.fromkeys("fib", method("select"))

