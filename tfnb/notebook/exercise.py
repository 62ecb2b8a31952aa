"""Exercises of a tutorial: an answer, what is right, and a hint."""
from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from tfnb.notebook.frontend.badge import FRESH_COLOR, MUTED, STALE_COLOR

TODO = "Your turn: put your answer in the place of the dots, and run this cell again."
APART = "Your turn: put your answer in the place of the dots above, and run that cell and this one."


@dataclass(frozen=True, slots=True)
class Verdict:
    """Feedback on an answer. right: None if there is no answer yet."""

    right: bool | None
    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def points(self, most: float = 1) -> Points:
        """Return the verdict as points for a grader: `most` if the answer is right, 0 otherwise."""
        text = APART if self.right is None else self.text
        return Points(self.right, text, most if self.right else 0)

    def _repr_html_(self) -> str:
        mark, color = {None: ("✎", MUTED), True: ("✔", FRESH_COLOR), False: ("✘", STALE_COLOR)}[self.right]
        return (f'<div style="font: 14px system-ui, sans-serif; border-left: 3px solid {color}; padding: 4px 10px">'
                f'<span style="color: {color}" aria-hidden="true">{mark}</span> {escape(self.text)}</div>')


@dataclass(frozen=True, slots=True)
class Points(Verdict):
    """A verdict whose text is the points it is worth, as nbgrader reads them; a browser shows what was said.

    >>> check(3, 4, "Add one.").points(2)
    0.0
    """

    earned: float

    def __str__(self) -> str:
        return str(float(self.earned))

    __repr__ = __str__


def check(answer: Any, right: Any, hint: str = "", *, why: str = "") -> Verdict:
    """Say whether `answer` is right; shown as the last line of a cell.

    right: the value that the answer should have (numbers and arrays to a part in a thousand), or a function that takes
    the answer and returns True or False. An answer that makes that function fail is not right; what it raised is said.
    hint: follows a wrong answer. why: follows a right one. The answer `...` is none yet.
    """
    if answer is ...:
        return Verdict(None, TODO)
    problem = ""
    try:
        correct = bool(right(answer) if callable(right) else same(answer, right))
    except Exception as error:      # the student's function, or a test that does not fit what the student made
        correct, problem = False, f"{type(error).__name__}: {error}"
    if correct:
        return Verdict(True, f"Right. {why}".strip())
    return Verdict(False, " ".join(filter(None, ["Not yet.", problem, hint])))


def same(answer: Any, right: Any) -> bool:
    """True if the answer equals what is right: numbers and arrays of one shape to a part in a thousand."""
    got, wanted = np.asarray(answer), np.asarray(right)
    if got.shape != wanted.shape:
        return False
    if got.dtype.kind in "iufc" and wanted.dtype.kind in "iufc":
        return bool(np.allclose(got, wanted, rtol=1e-3, atol=1e-6))
    return bool(answer == right) if not got.shape else bool((got == wanted).all())

