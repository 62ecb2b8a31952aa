"""Expression printer: values as lines of source, shared by the emitters, which write the loops around them."""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfnb.kernels.block import Block, Value
from tfnb.kernels.scalar.number_types import kind
from tfnb.kernels.scalar.primitives import PRIMITIVES

WIDTH = 96                                # of an expression: longer ones get a name
OPERATORS = {name: row.operator for name, row in PRIMITIVES.items() if row.operator}


def has_operator(name: str, type: str) -> bool:
    """Return whether Python has an operator (or abs) for this primitive over operands of `type`."""
    return name in OPERATORS and kind(type) in PRIMITIVES[name].operator_kinds


def constructor(type: str) -> str:
    """Return the name of a type's constructor in kernel source."""
    return "bool_" if type == "bool" else type


def literal(value: Any, type: str) -> str:
    """Return the literal of a typed constant. A bare one would be float64 or int64 and widen its operands."""
    if type == "bool":
        return repr(bool(value))
    if isinstance(value, float) and not math.isfinite(value):
        return f"{type}({'math.nan' if value != value else 'math.inf' if value > 0 else '-math.inf'})"
    return f"{type}({value!r})"


def cast(text: str, have: str, want: str) -> str:
    """Return the source of a value of type `have` as `want`."""
    return f"{constructor(want)}({text})"


class Printer:
    """Names values and writes lines that compute them. template: the source of a value that is no operator, or "";
    cast: (source, its type, another type) -> the source of the value in that type."""

    def __init__(self, block: Block, template: Callable[[Value], str],
                 cast: Callable[[str, str, str], str] = cast) -> None:
        self.block = block
        self.template, self.cast = template, cast
        self.count = 0

    def name(self) -> str:
        """Return the next free name."""
        self.count += 1
        return f"v{self.count - 1}"

    def lines(self, roots: Sequence[int], known: dict[int, str], loads: Mapping[int, str]) -> list[str]:
        """Return the lines that compute the roots from what `known` already names; their names are added to `known`.

        loads: the source of each load, by its number.
        """
        wanted = self.block.needed(roots, known)
        users = {arg: number for number in wanted for arg in self.block.values[number].args}
        uses = Counter(arg for number in wanted for arg in self.block.values[number].args)
        labels = self.block.labels
        pending: dict[int, str] = {}               # expressions that stand in for the one use of their value
        out: list[str] = []
        for number in wanted:
            value = self.block.values[number]
            if value.primitive == "constant":
                known[number] = literal(value.data, value.type)
                continue
            text = self._expression(value, known, pending, loads)
            nested = uses[number] == 1 and number not in roots and labels[users[number]] == labels[number]
            if nested and len(text) < WIDTH // 2 and self._may_nest(value, self.block.values[users[number]]):
                pending[number] = text
                continue
            known[number] = self.name()
            out.append(f"{known[number]} = {_bare(text)}" + (f"  # {labels[number]}" if labels[number] else ""))
        return out

    def _may_nest(self, value: Value, user: Value) -> bool:
        """Return whether `user` may nest the value's source: a `where` printed as a conditional takes names only."""
        return value.primitive != "load" and (user.primitive != "where" or bool(self.template(user)))

    def _expression(self, value: Value, known: Mapping[int, str], pending: Mapping[int, str],
                    loads: Mapping[int, str]) -> str:
        """Return the source of one value; an operator stands in brackets."""
        if value.primitive == "load":
            return loads[value.data]
        args = [pending[arg] if arg in pending else known[arg] for arg in value.args]
        if template := self.template(value):
            return template.format(*map(_bare, args))
        match value.primitive:
            case "where":
                return f"({args[1]} if {args[0]} else {args[2]})"
            case "convert":
                return self.cast(_bare(args[0]), self.block.values[value.args[0]].type, value.type)
            case "abs":
                return self._typed(f"abs({_bare(args[0])})", value)
            case "neg":
                return self._typed(f"(-{args[0]})", value)
            case "invert":
                return f"(not {args[0]})" if value.type == "bool" else self._typed(f"(~{args[0]})", value)
            case name:
                return self._typed(f"({args[0]} {OPERATORS[name]} {args[1]})", value)

    def _typed(self, text: str, value: Value) -> str:
        """Cut integer arithmetic, which is int64 in numba, back to the type of the value."""
        return f"{value.type}({_bare(text)})" if kind(value.type) == "i" else text


def _bare(text: str) -> str:
    """Return the source without the brackets that enclose all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text
