"""Taking rowwise definitions apart: single steps as definitions of their own, and what a row word combines with."""
from __future__ import annotations

from dataclasses import dataclass

from tfnb.kernels.scalar import Attrs, Program, Ref, Step
from tfnb.kernels.words import ROW_WORDS, Literal


@dataclass(frozen=True, slots=True)
class Fragment:
    """One step of a definition, as a definition: it can stand in a `Stmt` where a Scalar does."""

    step: Step
    operands: int

    @property
    def name(self) -> str:
        """The word of the step."""
        return self.step.word

    @property
    def is_rowwise(self) -> bool:
        """Never: a step is elementwise or a reduction."""
        return False

    def program(self, attrs: Attrs = ()) -> Program:
        """The step alone, with its operands numbered from 0."""
        return Program(self.operands, (self.step,), (self.operands,))


def fragment(step: Step) -> tuple[Fragment, tuple[int, ...]]:
    """The step as a definition, and which values of the whole definition are its operands."""
    operands = tuple(dict.fromkeys(arg for arg in step.args if not isinstance(arg, Literal)))
    refs: tuple[Ref, ...] = tuple(arg if isinstance(arg, Literal) else operands.index(arg) for arg in step.args)
    return Fragment(Step(step.word, refs), len(operands)), operands


COMBINE: dict[str, tuple[Fragment, float | str]] = {
    word: (Fragment(Step(combine, (0, 1)), 2), identity) for word, (combine, identity) in ROW_WORDS.items()}
"""What each row word combines two elements with, and what it starts from."""
