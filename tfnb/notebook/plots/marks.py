"""Marks on the curves of a training: a changed rate, a pause, why it ended."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

RATE, PAUSE, END = "rate", "pause", "end"
SIGNS = {RATE: "◆", PAUSE: "‖", END: "■"}
AT_ONCE = 1.0           # seconds within which changes of a rate are one: a slider that is drawn makes many


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened before a step: its kind, and what to say of it.

    time: in seconds of `time.monotonic`; values: of a rate, before and after.
    """

    step: float
    time: float
    kind: str
    text: str
    values: tuple[float, ...] = ()


def rate_mark(name: str, values: tuple[float, float], step: int, time: float) -> Mark:
    """The mark of a rate that changed from values[0] to values[1]."""
    return Mark(step, time, RATE, f"{name} {values[0]:.4g} → {values[1]:.4g} at step {step:,}", values)


def add_rate(marks: Sequence[Mark], name: str, values: tuple[float, float], step: int, time: float) -> list[Mark]:
    """The marks with a change of the rate, one with the change just before it; none if it is back where it was."""
    last = marks[-1] if marks else None
    if last is None or last.kind != RATE or time - last.time > AT_ONCE:
        return [*marks, rate_mark(name, values, step, time)]
    whole = last.values[0], values[1]
    return [*marks[:-1], *([rate_mark(name, whole, step, time)] if whole[0] != whole[1] else [])]


def end_pause(marks: Sequence[Mark], step: int, time: float) -> list[Mark]:
    """The marks with the end of a pause: told at its beginning, unless steps were done one by one since."""
    place = max((i for i, mark in enumerate(marks) if mark.kind == PAUSE), default=-1)
    if place < 0:
        return list(marks)
    begun = marks[place]
    if begun.step != step:
        return [*marks, Mark(step, time, PAUSE, f"continued at step {step:,}")]
    text = f"paused at step {step:,} for {time - begun.time:.3g} s"
    return [*marks[:place], replace(begun, text=text), *marks[place + 1:]]
