"""Early stopping: a value that is NaN or infinite, or a loss that falls no more."""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

PATIENCE = 200          # reports without a better mean until a plateau is one
WINDOW = 20             # reports that the mean of a plateau's loss is about
BETTER = 1e-3           # by which part a mean must be lower to be better


class Rule(Protocol):
    """Looks at each report."""

    def __call__(self, values: Mapping[str, Any]) -> str:
        """Return why to stop, or ""."""


def not_finite(values: Mapping[str, Any]) -> str:
    """Stop at a NaN or an infinity."""
    for tag, value in values.items():
        if value - value != 0:
            return f"{tag} is {value}"
    return ""


class Plateau:
    """Stop when the running mean of the loss has not fallen by a thousandth in `patience` reports.

    The loss is the first value with "loss", "cost" or "error" in its tag, else the first one.
    """

    def __init__(self, patience: int = PATIENCE) -> None:
        self.patience = patience
        self._mean = self._best = math.inf
        self._since = 0
        self._tag: str | None = None

    def __call__(self, values: Mapping[str, Any]) -> str:
        """Return why to stop, or ""."""
        if self._tag is None and values:
            self._tag = next((tag for tag in values if any(word in tag.lower() for word in ("loss", "cost", "error"))),
                             next(iter(values)))
        if self._tag is None or self._tag not in values:
            return ""
        value = float(values[self._tag])
        self._mean = value if math.isinf(self._mean) else self._mean + (value - self._mean) / WINDOW
        if self._mean < self._best - BETTER * abs(self._best) or math.isinf(self._best):
            self._best, self._since = self._mean, 0
        else:
            self._since += 1
        return f"{self._tag} has not fallen in {self.patience} reports" if self._since >= self.patience else ""


def rules(words: Iterable[str]) -> list[Rule]:
    """The rules of "nan", "plateau" and "plateau=500" (reports). Raises ValueError for other words."""
    found: list[Rule] = []
    for word in words:
        name, _, number = word.partition("=")
        if name == "nan" and not number:
            found.append(not_finite)
        elif name == "plateau" and (not number or number.isdecimal() and int(number)):
            found.append(Plateau(int(number or PATIENCE)))
        else:
            raise ValueError(f"a training stops at nan, plateau or plateau=REPORTS, not at {word!r}")
    return found
