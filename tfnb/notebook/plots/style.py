"""Style of a live board."""
from __future__ import annotations

from dataclasses import dataclass

MOST_ACROSS = 6             # panels side by side
AXES = ("step", "time", "share")


@dataclass(frozen=True, slots=True)
class Look:
    """smooth: weight of the running mean, in [0, 1); x: "step", "time" for the seconds since each run began, or "share"
    for the per cent of it; grid: panels side by side, 0 for as many as fit; hist: only histograms; apart: a panel of
    its own for each run; others: the curves of earlier runs as well, faintly, in the board of a training.

    Raises ValueError for numbers out of range.
    """

    smooth: float = 0.6
    x: str = AXES[0]
    grid: int = 0
    hist: bool = False
    apart: bool = False
    others: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.smooth < 1:
            raise ValueError(f"smooth must be at least 0 and below 1, not {self.smooth!r}")
        if self.x not in AXES:
            raise ValueError(f"x is {' or '.join(AXES)}, not {self.x!r}")
        if not 0 <= self.grid <= MOST_ACROSS:
            raise ValueError(f"grid must be from 0, for as many as fit, to {MOST_ACROSS}, not {self.grid!r}")
