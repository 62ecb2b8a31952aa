"""Timers of hooks, by seconds or steps (`tf.train.SecondOrStepTimer`)."""
from __future__ import annotations

import time


class SecondOrStepTimer:
    """Timer that triggers at most once every `every_secs` seconds or `every_steps` steps.

    Raises ValueError unless exactly one of the two is given.

    >>> timer = tf.train.SecondOrStepTimer(every_steps=10)
    >>> timer.should_trigger_for_step(0)
    True
    >>> elapsed = timer.update_last_triggered_step(0)
    >>> timer.should_trigger_for_step(5), timer.should_trigger_for_step(10)
    (False, True)
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Reset the timer to its initial state."""
        self._last_step: int | None = None
        self._last_time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        """Return whether the timer triggers at `step`: always at the first one, never twice at one step."""
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        assert self._every_steps is not None
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Record a trigger at `step` and return the seconds and steps since the last one (None at the first)."""
        now = time.time()
        first = self._last_step is None
        passed = None if first else now - self._last_time
        steps = None if self._last_step is None else step - self._last_step
        self._last_step, self._last_time = step, now
        return passed, steps

    def last_triggered_step(self) -> int | None:
        """Return the step of the last trigger, or None."""
        return self._last_step


class NeverTriggerTimer(SecondOrStepTimer):
    """Timer that never triggers."""

    def __init__(self) -> None:
        super().__init__(every_steps=1)

    def should_trigger_for_step(self, step: int) -> bool:
        """Return False."""
        return False
