"""Rowwise definitions by steps: each a definition of its own, and the combination of each row primitive."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfnb.kernels.scalar.definition import Attrs, Program, Ref, Step
from tfnb.kernels.scalar.number_types import Literal
from tfnb.kernels.scalar.primitives import ROW_COMBINATIONS, signature


@dataclass(frozen=True, slots=True)
class Fragment:
    """One step of a definition, as a definition: it can stand in a `Stmt` where a Scalar does."""

    step: Step
    operands: int

    @property
    def name(self) -> str:
        """The primitive of the step."""
        return self.step.primitive

    @property
    def is_rowwise(self) -> bool:
        """Always False: a step is elementwise or a reduction."""
        return False

    def program(self, attrs: Attrs = ()) -> Program:
        """Return the step alone, with its operands numbered from 0."""
        return Program(self.operands, (self.step,), (self.operands,))


def fragment(step: Step) -> tuple[Fragment, tuple[int, ...]]:
    """Return the step as a definition, and which values of the whole definition are its operands."""
    operands = tuple(dict.fromkeys(arg for arg in step.args if not isinstance(arg, Literal)))
    refs: tuple[Ref, ...] = tuple(arg if isinstance(arg, Literal) else operands.index(arg) for arg in step.args)
    return Fragment(Step(step.primitive, refs), len(operands)), operands


COMBINE: dict[str, tuple[Fragment, float | str]] = {
    name: (Fragment(Step(combine, (0, 1)), 2), identity) for name, (combine, identity) in ROW_COMBINATIONS.items()}
"""The combination and the identity of each row primitive."""


def result_type(step: Step, types: Sequence[str], type: str) -> str:
    """Return the type of what a step makes of values of these types, in an op of type `type`."""
    return signature(step.primitive, [arg if isinstance(arg, Literal) else types[arg] for arg in step.args], type)[1]
