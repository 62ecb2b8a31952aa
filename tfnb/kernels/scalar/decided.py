"""Partial evaluation: definitions of which an operand that decides something is known when a program is built.

    where(power == -0.5, sqrt(x), x ** -power)     of a known power: the side that it chooses
    x ** y                                         of a known y: products and square roots, for those that have some

A number that decides nothing stays an operand, so that kernels are shared between its values.
"""
from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import inf
from typing import Any

import numpy as np

from tfnb.kernels.scalar.definition import Attrs, Program, Ref, Scalar, Step, evaluated, live
from tfnb.kernels.scalar.number_types import Literal, kind
from tfnb.kernels.scalar.polynomials import Definition
from tfnb.kernels.scalar.rowwise import Fragment
from tfnb.kernels.scalar.symbols import primitive

float32, float64, sqrt, where = map(primitive, "float32 float64 sqrt where".split())
_UNKNOWN = np.zeros(())
HIGHEST = 4                               # the largest power by products: more of them would be less exact than pow


def decided(scalar: Scalar, attrs: Attrs, type: str, numbers: Mapping[int, np.generic]) -> Scalar | Fragment:
    """Return what is left of a definition in an op of `type`: the definition itself if nothing is decided.

    numbers: the operands that are known.
    """
    if not numbers:
        return scalar
    program = scalar.program(attrs)
    made = _Deciding(program, type, numbers).program()
    return scalar if made is program else Fragment(scalar.name, made)


class _Deciding:
    """One program while it is decided. place: old value -> new one; known: old value -> its number."""

    def __init__(self, program: Program, type: str, numbers: Mapping[int, np.generic]) -> None:
        self.old, self.type = program, type
        self.known: dict[int, Any] = {i: np.asarray(number) for i, number in numbers.items()}
        self.place: list[Ref] = list(range(program.operands))
        self.steps: list[Step] = []
        self.changed = False

    def program(self) -> Program:
        """Return the program that is left; the old one if nothing is decided."""
        for step in self.old.steps:
            number = len(self.place)
            if all(isinstance(arg, Literal) or arg in self.known for arg in step.args) and step.args:
                values = [self.known.get(i, _UNKNOWN) for i in range(number)]
                self.known[number] = evaluated(step, values, self.type, ())
            self.place.append(self._step(step))
        if not self.changed:
            return self.old
        results = tuple(map(self._ref, self.old.results))
        return live(Program(self.old.operands, tuple(self.steps), results))

    def _ref(self, arg: Ref) -> Ref:
        return arg if isinstance(arg, Literal) else self.place[arg]

    def _step(self, step: Step) -> Ref:
        first, second = step.args[0] if step.args else None, step.args[1] if len(step.args) > 1 else None
        if step.primitive == "where" and isinstance(first, int) and first in self.known:
            self.changed = True
            return self._ref(step.args[1 if self.known[first] else 2])
        if step.primitive == "pow" and isinstance(second, int) and second in self.known:
            exponent, of = self.known[second], self.known[second].dtype.name
            body = _power(float(exponent), of) if of == self.type and kind(of) in "if" else None
            if body is not None:
                self.changed = True
                return self._inlined(body, self._ref(step.args[0]))
        return self._add(Step(step.primitive, tuple(map(self._ref, step.args))))

    def _add(self, step: Step) -> Ref:
        self.steps.append(step)
        return self.old.operands + len(self.steps) - 1

    def _inlined(self, body: Definition, x: Ref) -> Ref:
        program = Scalar(body).program()          # type: ignore[arg-type]
        refs: list[Ref] = [x]
        for step in program.steps:
            refs.append(self._add(Step(step.primitive, tuple(
                arg if isinstance(arg, Literal) else refs[arg] for arg in step.args))))
        result = program.results[0]
        return result if isinstance(result, Literal) else refs[result]


@cache
def _power(y: float, type: str) -> Definition | None:
    """Return the body of x ** y for numbers of `type`, as exact as pow's or more; None if pow is better."""
    if not abs(y) <= HIGHEST or not (4 * y).is_integer():
        return None
    if y in (0, 1, 2):
        return (lambda x: 1, lambda x: x, lambda x: x * x)[int(y)]
    if kind(type) == "i":
        return (lambda x: _quarters(x, y)) if y.is_integer() and y > 0 else None
    if y == -1 or y in (0.5, 3) and type == "float64":
        return lambda x: _quarters(x, y)
    return (lambda x: float32(_quarters(float64(x), y))) if type == "float32" else None


def _quarters(x: Any, y: float) -> Any:
    """Return x ** y by products and square roots, for a multiple of 1/4. No root is negative, as in C: (-inf) ** 0.5 is
    inf, (-0.0) ** 0.5 is 0."""
    whole, quarters = divmod(int(abs(4 * y)), 4)
    if quarters:
        x = where(x == -inf, inf, x) + 0.0
    root = sqrt(x) if quarters else None
    factors = [x] * whole + [root] * (quarters > 1) + [sqrt(root)] * (quarters % 2) if quarters else [x] * whole
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return 1 / product if y < 0 else product
