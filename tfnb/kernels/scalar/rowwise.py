"""Rowwise definitions by steps: each a definition of its own, and the combination of each row primitive."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tfnb.kernels.scalar.definition import Attrs, Program, Ref, Step
from tfnb.kernels.scalar.number_types import Literal
from tfnb.kernels.scalar.primitives import ROW_COMBINATIONS, signature


@dataclass(frozen=True, slots=True)
class Fragment:
    """Steps of a definition, as a definition: it can stand where a Scalar does, and has no attrs."""

    name: str
    steps: Program
    keywords: ClassVar[tuple[str, ...]] = ()

    @property
    def params(self) -> tuple[str, ...]:
        """The names of the operands."""
        return tuple(f"x{i}" for i in range(self.steps.operands))

    @property
    def is_rowwise(self) -> bool:
        """Always False: the steps are elementwise, or one that is a reduction."""
        return False

    def program(self, attrs: Attrs = ()) -> Program:
        """Return the steps, with their operands numbered from 0."""
        return self.steps


def _one(step: Step, operands: int) -> Fragment:
    return Fragment(step.primitive, Program(operands, (step,), (operands,)))


def fragment(step: Step) -> tuple[Fragment, tuple[int, ...]]:
    """Return the step as a definition, and which values of the whole definition are its operands."""
    operands = tuple(dict.fromkeys(arg for arg in step.args if not isinstance(arg, Literal)))
    refs: tuple[Ref, ...] = tuple(arg if isinstance(arg, Literal) else operands.index(arg) for arg in step.args)
    return _one(Step(step.primitive, refs), len(operands)), operands


COMBINE: dict[str, tuple[Fragment, float | str]] = {
    name: (_one(Step(combine, (0, 1)), 2), identity) for name, (combine, identity) in ROW_COMBINATIONS.items()}
"""The combination and the identity of each row primitive."""


def result_type(step: Step, types: Sequence[str], type: str) -> str:
    """Return the type of what a step makes of values of these types, in an op of type `type`."""
    return signature(step.primitive, [arg if isinstance(arg, Literal) else types[arg] for arg in step.args], type)[1]
