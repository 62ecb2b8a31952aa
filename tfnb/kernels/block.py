"""Typed SSA form of a kernel body: the list of values that both emitters write loops around.

A spec's statements are inlined into one `Block`: each `Value` is a load, a constant, one primitive applied to earlier
values, or a reduction. Equal values are one value, operands have been converted to the types their primitive
wants, and primitives that the target has no source for have been expanded.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfnb.kernels.scalar.definition import Program, expansion
from tfnb.kernels.scalar.number_types import HALVES, Literal, computed_as, dtype_of, extreme, kind
from tfnb.kernels.scalar.primitives import ROW_COMBINATIONS, signature
from tfnb.kernels.spec import Kernel, Reduce, Stmt

HasText = Callable[[str, str], bool]      # (primitive, type of its operands): does the target have source for it?
_COMMUTING = ("add", "mul", "maximum", "minimum")
TYPES = frozenset((*HALVES, *"float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()))


@dataclass(frozen=True, slots=True)
class Value:
    """One value. data: of a "load" its number, of a "constant" the number, of "acc" and "reduced" the reduction's."""

    primitive: str
    args: tuple[int, ...]
    type: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """acc (a value) becomes update (a value) at each element; combine(block, a, b) combines two partial results."""

    acc: int
    update: int
    identity: float | int | bool
    type: str
    combine: Callable[[Block, int, int], int]
    result: int
    number: int
    name: str                              # of the result in the spec; "" for a row primitive


class Block:
    """Collects the values of one kernel (common subexpressions are one value). labels[i]: the op of value i."""

    def __init__(self, has_source: HasText) -> None:
        self.has_source = has_source
        self.begin(frozenset())

    def begin(self, by_exp: frozenset[int]) -> None:
        """Begin (again) with no values. by_exp: see `sharing`."""
        self._by_exp, self._sigmoids = by_exp, list[int]()
        self.values: list[Value] = []
        self.labels: list[str] = []
        self.reductions: list[Reduction] = []
        self.label = ""
        self._known: dict[Any, int] = {}
        self._reductions: dict[Any, int] = {}

    def add(self, primitive: str, args: tuple[int, ...], type: str, data: Any = None) -> int:
        """Return the index of this value; a new one only if no equal value exists."""
        key = (primitive, args, type, data if isinstance(data, int) else repr(data), data.__class__)
        if key not in self._known:
            if type not in TYPES:
                raise TypeError(f"{self.label or primitive}: kernels have no type {type}")
            self._known[key] = len(self.values)
            self.values.append(Value(primitive, args, type, data))
            self.labels.append(self.label)
        return self._known[key]

    def constant(self, value: Any, type: str) -> int:
        """Return a constant of `type`."""
        if type in HALVES:
            return self.convert(self.constant(np.asarray(value, np.float32).astype(dtype_of(type)), "float32"), type)
        cast = {"b": bool, "i": int, "f": float}[kind(type)]
        return self.add("constant", (), type, cast(value))

    def convert(self, value: int, type: str) -> int:
        """Return the value cast to a type: to bool by != 0, floats to narrow integers by way of a wide one."""
        have = self.values[value].type
        if have == type:
            return value
        if have in HALVES or type in HALVES:
            if have != "float32" and type != "float32":
                value = self.convert(value, "float32")
                return self.convert(value, type)
            return self._exact(value) if type == "float32" else self.add("convert", (value,), type)
        if self.values[value].primitive == "constant":
            return self.constant(self.values[value].data, type)
        if type == "bool":
            return self.add("not_equal", (value, self.constant(0, have)), "bool")
        if kind(have) == "f" and type in ("int8", "int16", "uint8", "uint16", "uint32"):
            value = self.convert(value, "int64" if type == "uint32" else "int32")
        return self.add("convert", (value,), type)

    def _exact(self, value: int) -> int:
        """Return a 16-bit float as float32: of a constant that was not rounded the constant itself."""
        made = self.values[value]
        if made.primitive == "convert" and self.values[made.args[0]].primitive == "constant":
            given = np.float32(self.values[made.args[0]].data)
            if given.astype(dtype_of(made.type)).astype(np.float32) == given:
                return made.args[0]
        return self.add("convert", (value,), "float32")

    def apply(self, primitive: str, args: Sequence[int | Literal], type: str) -> int:
        """Return a primitive applied to values and constants, in an op of `type`.

        Raises TypeError where the target has neither source nor an expansion for it.
        """
        given = [arg if isinstance(arg, Literal) else self.values[arg].type for arg in args]
        wanted, result = signature(primitive, given, type)
        if any(want in HALVES for want in wanted) and primitive not in ("cast", "float32", "float64", "int32", "int64"):
            return self._in_float32(primitive, args, wanted, result)
        values = tuple(self.constant(arg.value, want) if isinstance(arg, Literal) else self.convert(arg, want)
                       for arg, want in zip(args, wanted, strict=True))
        of = wanted[-1] if wanted else result
        if primitive == "exp" and self._is_nonpositive(values[0]) and self.has_source("exp_nonpositive", of):
            primitive = "exp_nonpositive"
        if primitive in ("cast", "float32", "float64", "int32", "int64"):
            return self.convert(values[0], result)
        if primitive in ROW_COMBINATIONS:
            return self._reduce_row(primitive, values[0])
        by_exp = primitive == "sigmoid" and self._is_shared(values[0])
        if self.has_source(primitive, of) and not by_exp:
            return self.add(primitive, values, result)
        found = expansion(primitive, of, self.has_source("bits", of) and not by_exp)
        if found is None:
            raise TypeError(f"{self.label or 'a definition'}: {primitive} has no meaning for {of} in a kernel")
        return self.inline(found.program(), values, of)[0]

    def _in_float32(self, primitive: str, args: Sequence[int | Literal], wanted: Sequence[str], result: str) -> int:
        """Return a primitive over 16-bit floats, computed in float32 and rounded once."""
        halves = [self.constant(arg.value, want) if isinstance(arg, Literal) else self.convert(arg, want)
                  for arg, want in zip(args, wanted, strict=True)]
        made = self.apply(primitive, [self.convert(arg, computed_as(want)) for arg, want in
                                      zip(halves, wanted, strict=True)], "float32")
        return self.convert(made, result)

    def _is_shared(self, x: int) -> bool:
        self._sigmoids.append(x)
        return len(self._sigmoids) - 1 in self._by_exp

    def sharing(self) -> frozenset[int]:
        """Return the sigmoids, numbered in order of request, of whose x exp(-|x|) is computed, too.

        They are cheaper computed from that than by a polynomial of their own.
        """
        sizes = {self.values[value.args[0]].args for value in self.values if value.primitive == "exp_nonpositive"
                 and self.values[value.args[0]].primitive == "neg"}
        taken = {self.values[size].args[0] for size, in sizes if self.values[size].primitive == "abs"}
        return frozenset(i for i, x in enumerate(self._sigmoids) if x in taken)

    def _is_nonpositive(self, number: int) -> bool:
        """Return whether this value is at most 0 or NaN (or may be), whatever it is computed from."""
        value = self.values[number]
        match value.primitive, *(self.values[arg] for arg in value.args):
            case "neg", Value(primitive="abs" | "square" | "exp" | "sigmoid"):
                return True
            case ("neg", Value(primitive="mul", args=(x, y))) if x == y:
                return True
            case "mul", Value(primitive="neg", args=(x,)), _:
                return x == value.args[1]
            case "mul", _, Value(primitive="neg", args=(x,)):
                return x == value.args[0]
            case "sub", _, Value(primitive="reduced", data=reduction):
                return self._is_maximum(reduction, value.args[0])
        return False

    def _is_maximum(self, number: int, of: int) -> bool:
        """Return whether this reduction is the maximum of the value `of`."""
        found = self.reductions[number]
        update = self.values[found.update]
        return update.primitive in ("maximum", "maximum_any_order") and set(update.args) == {found.acc, of}

    def inline(self, program: Program, args: Sequence[int], type: str) -> tuple[int, ...]:
        """Inline a definition; return its results."""
        values: list[int] = list(args)
        for step in program.steps:
            values.append(self.apply(step.primitive, [values[a] if isinstance(a, int) else a for a in step.args], type))
        return tuple(values[r] if isinstance(r, int) else self.constant(r.value, type) for r in program.results)

    def reduce(self, combine: Callable[[Block, int, int], int], identity: float | str, type: str, arg: int, key: Any,
               name: str = "") -> int:
        """Return the value of a reduction of `arg`; the same one for the same `key`."""
        if key not in self._reductions:
            number = self._reductions[key] = len(self.reductions)
            acc = self.add("acc", (), type, number)
            update = self._any_order(combine(self, acc, self.convert(arg, type)), acc)
            start = extreme(type, identity) if isinstance(identity, str) else identity
            result = self.add("reduced", (), type, number)
            self.reductions.append(Reduction(acc, update, start, type, combine, result, number, name))
        return self.reductions[self._reductions[key]].result

    def _reduce_row(self, primitive: str, arg: int) -> int:
        combine, identity = ROW_COMBINATIONS[primitive]
        type = self.values[arg].type
        return self.reduce(lambda block, a, b: block.apply(combine, (a, b), type), identity, type, arg,
                           (primitive, arg))

    def _any_order(self, update: int, acc: int) -> int:
        """Return the update by a reorderable primitive, where it has one (which lets a sum use vectors)."""
        made = self.values[update]
        reordered = f"{made.primitive}_any_order"
        if made.primitive not in _COMMUTING or kind(made.type) != "f" or made.args.count(acc) != 1 \
                or not self.has_source(reordered, made.type):
            return update
        args = tuple(sorted(made.args, key=lambda arg: arg == acc))     # NaN is looked for in the first operand
        if made.primitive == "add":
            args = tuple(self.add("mul_any_order", self.values[arg].args, made.type)
                         if self.values[arg].primitive == "mul" else arg for arg in args)
        return self.add(reordered, args, made.type)

    def needed(self, roots: Collection[int], known: Collection[int] = ()) -> list[int]:
        """Return the roots and all that they depend on, in order, without what is known already (and behind it).

        A reduction's result needs nothing here: it is known once its pass is over.
        """
        found: set[int] = set()
        todo = [root for root in roots if root not in known]
        while todo:
            value = todo.pop()
            if value not in found:
                found.add(value)
                todo += [arg for arg in self.values[value].args if arg not in known]
        return sorted(found)


def fill(block: Block, kernel: Kernel) -> dict[str, int]:
    """Put a kernel's loads and statements into the block, which is empty; returns the value behind each name.

    Raises KeyError for a name that is not made before it is used, TypeError for a primitive or type kernels don't have.
    """
    names = _fill(block, kernel)
    shared = block.sharing()
    if shared:                             # what they share may come behind them: only now all is known
        block.begin(shared)
        names = _fill(block, kernel)
    return names


def _fill(block: Block, kernel: Kernel) -> dict[str, int]:
    names = {operand.name: block.add("load", (), operand.type, number)
             for number, operand in enumerate(kernel.loads)}
    for item in kernel.body:
        block.label = item.label
        if isinstance(item, Stmt):
            results = block.inline(item.scalar.program(item.attrs), [names[arg] for arg in item.args], item.type)
            names.update((name, block.convert(result, type))
                         for name, result, type in zip(item.results, results, item.types, strict=True))
        else:
            names[item.result] = _reduce(block, item, names[item.arg])
    block.label = ""
    return names


def _reduce(block: Block, item: Reduce, arg: int) -> int:
    combine = item.combine.program()
    result = block.reduce(lambda block, a, b: block.inline(combine, (a, b), item.type)[0], item.identity, item.type,
                          arg, (item.combine, str(item.identity), item.type, arg), item.result)
    if item.finish is None:
        return result
    return block.inline(item.finish.program(), (result, block.add("count", (), item.type)), item.type)[0]
