"""What a CPU has its own text for, of the words of scalar definitions."""
from __future__ import annotations

from tfnb.kernels.block import Value
from tfnb.kernels.cpu.intrinsics import has_word
from tfnb.kernels.printer import INFIX, has_plain_text
from tfnb.kernels.words import kind

# libm's functions are scalar: only for what has no expansion.
LIBRARY = frozenset("tan asin acos atan sinh cosh asinh acosh atanh erfc lgamma atan2".split())
_OPERATORS = frozenset({*INFIX, "neg", "invert", "abs", "convert"}) - {"integer_divide", "integer_power"}


def has_text(word: str, type: str) -> bool:
    """Does a kernel on the CPU have text for this word, over operands of this type?"""
    if word in LIBRARY:
        return kind(type) == "f"
    return has_plain_text(word, type) if word in _OPERATORS else word == "column" or has_word(word, type)


def template(value: Value) -> str:
    """The text of a value, with places for its operands; "" if it is an operator."""
    if value.word in _OPERATORS:
        return ""
    places = ", ".join(f"{{{i}}}" for i in range(len(value.args)))
    return f"math.{value.word}({places})" if value.word in LIBRARY else f"{value.word}({places})"
