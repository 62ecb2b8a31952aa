"""Progress bar: `tf.keras.utils.Progbar`."""
from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from tfnb.core.arguments import KERAS, describe


class Progbar:
    """A progress bar with means of values.

    target: the number of steps, None if it is not known. width: of the bar. verbose: 0 silent, 1 the bar, redrawn in
    place in terminals and notebooks and drawn once, at the end, in files; 2 a line at the end. interval: seconds
    between two drawings. stateful_metrics: names of values that are shown as they are. unit_name: "step" or "sample".

    >>> bar = tf.keras.utils.Progbar(2, verbose=2)
    >>> bar.update(1, [("loss", 1.0)]), bar.update(2, [("loss", 0.0)])
    2/2 - 0s - loss: 0.5000
    (None, None)
    """

    def __init__(self, target: int | None, width: int = 30, verbose: int = 1, interval: float = 0.05,
                 stateful_metrics: Any = None, unit_name: str = "step") -> None:
        self.target, self.width, self.verbose, self.interval = target, width, verbose, interval
        self.stateful_metrics, self.unit_name = set(stateful_metrics or ()), unit_name
        self._values: dict[str, tuple[Any, float]] = {}         # (sum, weight), or (value, 0)
        self._seen, self._start, self._last, self._drawn = 0, time.monotonic(), 0.0, 0

    @staticmethod
    def _redraws() -> bool:
        """Return whether a line can be drawn again: in a terminal or a notebook."""
        return (hasattr(sys.stdout, "isatty") and sys.stdout.isatty()) or type(sys.stdout).__module__.startswith(
            "ipykernel")

    def add_values(self, current: int, values: Any) -> None:
        """Add values up to step `current` without drawing."""
        for name, value in values or ():
            if name in self.stateful_metrics:
                self._values[name] = value, 0
            else:
                total, weight = self._values.get(name, (0.0, 0.0))
                step = max(current - self._seen, 1)
                self._values[name] = total + value * step, weight + step
        self._seen = current

    def update(self, current: int, values: Any = None) -> None:
        """Move to step `current`, with values (name, value)."""
        self.add_values(current, values)
        is_end = self.target is not None and current >= self.target
        now = time.monotonic()
        if self.verbose == 1 and (is_end or (self._redraws() and now - self._last >= self.interval)):
            self._last = now
            self._draw(current, is_end)
        elif self.verbose == 2 and is_end:
            print(f"{current}/{self.target} - {now - self._start:.0f}s{self._written()}")

    def add(self, n: int, values: Any = None) -> None:
        """Move on by n steps."""
        self.update(self._seen + n, values)

    def finish(self, current: int, values: Any) -> None:
        """Show these values, as they are, at the end."""
        self._values = {name: (value, 0) for name, value in values}
        self._seen = current
        self.update(max(current, self.target or 0))

    def _draw(self, current: int, is_end: bool) -> None:
        passed = time.monotonic() - self._start
        line = self._bar(current) + self._times(current, passed, is_end) + self._written()
        padding = " " * max(0, self._drawn - len(line))
        self._drawn = len(line)
        print(("\r" if self._redraws() else "") + line + padding, end="\n" if is_end else "", flush=True)

    def _bar(self, current: int) -> str:
        if self.target is None:
            return f"{current:7d}/Unknown"
        full = int(self.width * current / self.target) if self.target else self.width
        arrow = "=" * self.width if current >= self.target else \
            "=" * max(full - 1, 0) + (">" if full else "") + "." * (self.width - full)
        return f"{current:{len(str(self.target))}d}/{self.target} [{arrow}]"

    def _times(self, current: int, passed: float, is_end: bool) -> str:
        each = passed / current if current else 0.0
        if self.target is not None and not is_end:
            return f" - ETA: {_duration(each * (self.target - current))}"
        size = f"{each:.0f}s" if each >= 1 else f"{each * 1e3:.0f}ms" if each >= 1e-3 else f"{each * 1e6:.0f}us"
        return f" - {passed:.0f}s {size}/{self.unit_name}"

    def _written(self) -> str:
        text = ""
        for name, (total, weight) in self._values.items():
            value = float(np.mean(total / max(weight, 1.0) if weight else total))
            text += f" - {name}: {value:.4f}" if abs(value) > 1e-3 else f" - {name}: {value:.4e}"
        return text


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if whole >= 60 else f"{whole}s"


describe(globals(), KERAS)
