"""A lesson: what recognises a mistake, the sentence that explains it, where to read on, and the fix."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tfnb.notebook.lessons.evidence import Evidence

Words = Mapping[str, str]


@dataclass(frozen=True)
class Lesson:
    """A mistake and its explanation; see table.py.

    name: for tests and settings. recognise: evidence -> the words that `sentence` and `fix` have in braces, once for
    each time the mistake was made; it yields nothing where it is not certain. sentence: the explanation, with code in
    backticks. section: the tutorial and its heading, "03_sessions_feeds#A fetch and a feed". fix: the corrected code.
    runs: whether a button may run the fix in the notebook, else it is shown to be copied. failed: of cells that raise
    an error, not of those that run to their end.
    """

    name: str
    recognise: Callable[[Evidence], Iterable[Words]]
    sentence: str
    section: str
    fix: str = ""
    runs: bool = False
    failed: bool = True


@dataclass(frozen=True)
class Told:
    """A lesson for a notebook: all its words are filled in."""

    name: str
    sentence: str
    section: str
    fix: str = ""
    runs: bool = False


def tell(lesson: Lesson, words: Words) -> Told:
    """Fill in the words; "fix" among them takes the place of the lesson's fix, and may be empty."""
    filled: dict[str, Any] = dict(words)
    fix = filled.pop("fix", None)
    return Told(lesson.name, lesson.sentence.format(**filled), lesson.section,
                lesson.fix.format(**filled) if fix is None else fix, lesson.runs and filled.get("runs") != "")
