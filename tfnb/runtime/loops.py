"""Running while loops: the plans of a loop, one round after another."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from tfnb.compile.plan import Loop, Plan
from tfnb.core.options import options
from tfnb.runtime.program import Program
from tfnb.runtime.store import Store
from tfnb.runtime.trace import Trace

SETTLED = 3              # rounds that are run one by one; by then there is a program, if there is to be one


class Lends(Protocol):
    """What has the programs of a device stage: runtime/executor.py."""

    locks: bool

    def borrow(self, inputs: Sequence[np.ndarray]) -> Program | None:
        """A program for these inputs, locked; None if there can't be one."""


class Runs(Protocol):
    """What runs a plan: runtime/executor.py."""

    @property
    def direct(self) -> Lends | None:
        """What runs the whole plan, if one device stage does."""

    def run(self, feeds: Sequence[np.ndarray], trace: Trace | None = None) -> Sequence[np.ndarray]:
        """The values of the fetches."""


class LoopRunner:
    """One loop in one session. Its first round is interpreted, later ones are compiled."""

    def __init__(self, loop: Loop, executor: Callable[[Plan], Runs], store: Store) -> None:
        self.loop = loop
        self._store = store
        self.test, self.step = executor(loop.test), executor(loop.step)
        kept = all(k >= 0 or k == -1 - i for i, k in enumerate(loop.nexts))
        self._lends = self.step.direct if loop.fused and kept else None
        if self._lends is not None and self._lends.locks:
            self._lends = None

    def run(self, initial: Sequence[np.ndarray], constants: Sequence[np.ndarray],
            trace: Trace | None = None) -> list[np.ndarray]:
        """The values of the variables when the test fails. Raises DeadlineExceededError past the store's limit."""
        loop = self.loop
        limited = self._store.time_left() is not None
        values = [*initial, *constants]
        count, feeds, nexts, step = len(initial), loop.step_feeds, loop.nexts, self.step.run
        goes_on = self._goes_on(values, trace)
        rounds = 0
        while goes_on:
            inputs = [values[k] for k in feeds]
            made = step(inputs, trace)
            moved = [made[k] if k >= 0 else values[-1 - k] for k in nexts]
            rounds += 1
            if limited:
                self._store.check_time()
            goes_on = loop.fused and bool(made[-1])
            if rounds == SETTLED and goes_on and self._lends is not None \
                    and trace is None and not limited \
                    and all(a.shape == b.shape for a, b in zip(moved, values, strict=False)):
                done = self._play([*moved, *constants])
                if done is not None:
                    return done
            values[:count] = moved
            if not loop.fused:
                goes_on = self._goes_on(values, trace)
        return values[:count]

    def _goes_on(self, values: Sequence[np.ndarray], trace: Trace | None) -> bool:
        return bool(self.test.run([values[k] for k in self.loop.test_feeds], trace)[0])

    def _play(self, values: list[np.ndarray]) -> list[np.ndarray] | None:
        """The rest of the rounds, of which all have the same shapes, in two sets of arrays by turns.

        values: of the variables, and of the constants. There must be a round. None if there is no program for it.
        """
        loop, lends = self.loop, self._lends
        inputs = [values[k] for k in loop.step_feeds]
        program = None if lends is None or options.compile == "never" else lends.borrow(inputs)
        if program is None:
            return None
        try:
            if not program.plain:
                return None
            here = program.run(inputs)
            there = [np.empty_like(a) for a in here]
            forth, back = self._words(values, here, there), self._words(values, there, here)
            point, play, status, truth = program.tape.point, program.tape.play, program.tape.status, here[-1]
            other = there[-1]
            while truth.item():
                point(*forth)
                play()
                if status[0]:
                    raise program.error()
                here, there, forth, back, truth, other = there, here, back, forth, other, truth
        finally:
            program.lock.release()
        return [here[k] if k >= 0 else values[-1 - k] for k in loop.nexts]

    def _words(self, values: Sequence[np.ndarray], source: Sequence[np.ndarray],
               target: Sequence[np.ndarray]) -> tuple[int, ...]:
        """What the tape takes to compute `target` from `source`, the results of the round before."""
        moved = [source[k] if k >= 0 else values[-1 - k] for k in self.loop.nexts]
        moved += values[len(moved):]
        return (*(id(moved[k]) for k in self.loop.step_feeds), *map(id, target))


