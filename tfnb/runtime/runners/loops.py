"""Execution of while loops: iterates the plans of a loop, or replays its body's tape in place."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from sys import maxsize
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from tfnb.compile.planning.plan import Loop, Plan
from tfnb.core.options import options
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.cpu.matmul.tiled import COUNT
from tfnb.kernels.library.elements import STOPPED
from tfnb.kernels.llvm.tape import Repetition
from tfnb.opdef import kinds
from tfnb.runtime.runners.interpreter import Taps
from tfnb.runtime.runners.merges import unslotted
from tfnb.runtime.runners.program import Program
from tfnb.runtime.runners.residents import Counted, Held, held
from tfnb.runtime.runners.stages import StageRunner
from tfnb.runtime.state.store import Store
from tfnb.runtime.state.trace import Trace

# Iterations that are run one by one before the rest is tried as one program; none if the loop has run before: then
# there is a program, or will soon be one.
SETTLED = (3, 4)
BATCH = 0.01                      # seconds of iterations that are played at a time


class Runs(Protocol):
    """An executor of a plan; implemented in runtime/executor.py."""

    @property
    def direct(self) -> StageRunner | None:
        """The runner of the whole plan, if this is one device stage, else None."""

    def run(self, feeds: Sequence[np.ndarray], trace: Trace | None = None) -> Sequence[np.ndarray]:
        """Run the plan and return the values of the fetches."""


class LoopRunner:
    """One loop in one session. Its first iteration is interpreted, later ones are compiled.

    inputs: the tensors that it takes, the initial values of its variables first.
    """

    def __init__(self, loop: Loop, outputs: Sequence[Tensor], executor: Callable[[Plan], Runs], store: Store,
                 tap: Taps | None = None) -> None:
        self.loop = loop
        self.inputs = (*loop.initial, *loop.constants)
        self._outputs, self._tap = outputs, tap
        self._store = store
        self.test, self.step = executor(loop.test), executor(loop.step)
        kept = all(k >= 0 or k == -1 - i for i, k in enumerate(loop.nexts))
        whole = self.step if loop.whole is None else executor(loop.whole)
        self._lends = whole.direct if loop.fused and kept else None
        self._locks = self._lends is not None and self._lends.locks
        self._on_gpu = loop.step.direct and loop.step.stages[0].gpu
        self._tries = (1, *SETTLED) if self._on_gpu else SETTLED       # a GPU gets values by copies: the sooner
        self._first = None if loop.first is None else LoopRunner(loop.first, (), executor, store)
        self._settled = False
        self._known = [t.op.attrs["value"] if isinstance(t.op.spec, kinds.Const) else None for t in self.inputs]
        self._counts: dict[int, int] = {}          # the number of elements of each stack at the end of the last run

    def run(self, inputs: Sequence[np.ndarray | None], trace: Trace | None = None) -> list[np.ndarray]:
        """Iterate until the condition is false and return the values of the outputs; see `Runner`.

        Raises DeadlineExceededError past the store's limit.
        """
        given = [a if a is not None else k if k is not None else unslotted(t, self._store)
                 for t, a, k in zip(self.inputs, inputs, self._known, strict=True)]
        values = self._iterate(list(given), trace)
        made = {}
        for k, tensor in self.loop.exits:           # a value that no op computed belongs to someone else
            made[tensor] = np.array(values[k]) if any(values[k] is a for a in given) else values[k]
            if self._tap is not None:
                made[tensor], = self._tap.after(tensor.op, (made[tensor],))
        return [made[t] for t in self._outputs]

    def _iterate(self, values: list[np.ndarray], trace: Trace | None) -> list[np.ndarray]:
        """Iterate and return the values of the loop variables. values: of the variables, and of the constants."""
        loop = self.loop
        limited = self._store.limited
        count, feeds, nexts, step = len(loop.initial), loop.step_feeds, loop.nexts, self.step.run
        if self._first is None:
            goes_on = self._goes_on(values, trace)
        else:
            goes_on = self._first.begin(values, trace) and self._goes_on(values, trace)
        plays = self._lends is not None and trace is None and options.compile != "never"
        rounds = 0
        while goes_on:
            if plays and (rounds in self._tries or not rounds and self._settled):
                done = self._repeat_on_gpu(values) if self._on_gpu else self._play(values)
                if done is not None:
                    self._settled = True
                    return done
            inputs = [values[k] for k in feeds]
            made = step(inputs, trace)
            values[:count] = [made[k] if k >= 0 else values[-1 - k] for k in nexts]
            rounds += 1
            if limited:
                self._store.check_time()
            goes_on = bool(made[-1]) if loop.fused else self._goes_on(values, trace)
        self._settled |= plays
        return values[:count]

    def begin(self, values: list[np.ndarray], trace: Trace | None) -> bool:
        """Run one iteration, which changes `values`, if the condition holds; return whether it did."""
        if not self._goes_on(values, trace):
            return False
        made = self.step.run([values[k] for k in self.loop.step_feeds], trace)
        values[:len(self.loop.nexts)] = [made[k] if k >= 0 else values[-1 - k] for k in self.loop.nexts]
        return True

    def _goes_on(self, values: Sequence[np.ndarray], trace: Trace | None) -> bool:
        return bool(self.test.run([values[k] for k in self.loop.test_feeds], trace)[0])

    def _play(self, values: list[np.ndarray]) -> list[np.ndarray] | None:
        """Run the remaining iterations as one program, if all have the same shapes.

        values: of the variables, and of the constants. The condition must hold. Returns None if there is no program, or
        where an iteration is left that will fail: `values` are then those before this.
        """
        assert self._lends is not None
        inputs = [values[k] for k in self.loop.step_feeds]
        program = self._lends.borrow(inputs)
        if program is None:
            return None
        try:
            if not self._repeats(program, values):
                return None
            found = [held(resident, inputs, self._counts.get(i, 0))
                     for i, resident in enumerate(program.compiled.residents)]
            if any(h is None for h in found):
                return None
            most = min((h.most for h in found), default=maxsize)  # type: ignore[union-attr]
            return self._rounds(program, values, inputs, found, most) if most else None  # type: ignore[arg-type]
        finally:
            program.lock.release()

    def _repeat_on_gpu(self, values: list[np.ndarray]) -> list[np.ndarray] | None:
        """Run the remaining iterations on the GPU, as `_play` does here."""
        assert self._lends is not None
        loop = self.loop
        inputs = [values[k] for k in loop.step_feeds]
        program: Any = self._lends.borrow(inputs)
        if program is None:
            return None
        try:
            moves = [(loop.nexts[k], i) for i, k in enumerate(loop.step_feeds) if k < len(loop.nexts)
                     and loop.nexts[k] >= 0]
            outputs = program.compiled.outputs
            if not self._repeats(program, values) or any(outputs[i].known is not None for i, _ in moves):
                return None
            with self._store.updating if self._locks else nullcontext():
                made = program.repeat(inputs, moves, self._store.check_time)
        finally:
            program.lock.release()
        return [made[k] if k >= 0 else values[-1 - k] for k in loop.nexts]

    def _repeats(self, program: Program, values: Sequence[np.ndarray]) -> bool:
        """Return whether an iteration of the program keeps all variables' shapes and computes the next condition."""
        outputs = program.compiled.outputs
        return outputs[-1].known is None and all(
            k < 0 or outputs[k].shape == value.shape for k, value in zip(self.loop.nexts, values, strict=False))

    def _rounds(self, program: Program, values: list[np.ndarray], inputs: Sequence[np.ndarray],
                used: Sequence[Held | Counted], most: int) -> list[np.ndarray] | None:
        """Play the tape until the condition is false, double-buffered: two sets of arrays take turns.

        Sums that the program adds to in place have one array in both. The loop-invariant rows of the tape run in the
        first iteration only, those that add the products of a period in its last one.
        """
        compiled = program.compiled
        made, here = program.results()
        other, there = program.results()
        first = list(inputs)
        in_place = self._share(program, made, here, other, there, first)
        period = compiled.period if in_place else 1
        cycle = max(2, period)
        heads = [h.head() for h in used]
        sets = ((*self._words(values, there), *map(id, made)), (*self._words(values, here), *map(id, other)))
        tables = [(*sets[i % 2], *map(id, program.factors[i % period]), *heads) for i in range(cycle)]
        tables.append((*map(id, first), *map(id, made), *map(id, program.factors[0]), *heads))
        truth = len(inputs) + next(i for i, array in enumerate(made) if array is here[-1])
        repetition = program.tape.repeat(tables, truth, compiled.once, compiled.ends, period, COUNT)
        try:
            done = self._repeat(program, repetition, (here[-1], there[-1]), used, most)
        finally:
            repetition.end()
        self._counts = {i: h.end(repetition.played) for i, h in enumerate(used)}
        last = (here, there)[repetition.turn % 2]
        values[:len(self.loop.nexts)] = found = [last[k] if k >= 0 else values[-1 - k] for k in self.loop.nexts]
        return found if done else None

    def _repeat(self, program: Program, repetition: Repetition, truths: Sequence[np.ndarray],
                used: Sequence[Held | Counted], most: int) -> bool:
        """Play iterations until the condition is false: as many at a time as take about BATCH seconds, at first as many
        as the program's last ones.

        Returns False after `most` iterations, where there is no element, or no room, for the next one. truths: the
        conditions that even and odd iterations compute. In between, Python handles signals, and the time limit is
        checked. Iterations under a lock are played one by one: others may update between two of them.
        """
        status, limited = program.tape.status, self._store.limited
        play = self._locked(repetition.play) if self._locks else repetition.play
        while repetition.played < most:
            start = perf_counter()
            play(min(program.pace, most - repetition.played))
            stopped = bool(status[0])
            if stopped:
                self._clear_way(program, used)
                repetition.finish()
            if limited:
                self._store.check_time()
            if not truths[repetition.turn % 2]:
                return True
            if not self._locks and not stopped:
                program.pace = program.pace * 2 if perf_counter() - start < BATCH / 2 else max(1, program.pace // 2)
        return False

    def _share(self, program: Program, made: list[np.ndarray], here: list[np.ndarray], other: list[np.ndarray],
               there: list[np.ndarray], inputs: list[np.ndarray]) -> bool:
        """Replace in the second set the arrays of sums that the program adds to in place by those of the first.

        Return whether that is so of all. Then, if there are deferred products, the sums begin as copies of the inputs,
        which are replaced.
        """
        nexts, feeds = self.loop.nexts, self.loop.step_feeds
        all_of_them = True
        for i, k in program.compiled.accumulated:
            if nexts.count(k) == 1 and nexts.index(k) == feeds[i]:
                slot = next(j for j, array in enumerate(made) if array is here[k])
                there[k] = other[slot] = made[slot]
            else:
                all_of_them = False
        if all_of_them and program.compiled.ends:
            for i, k in program.compiled.accumulated:
                np.copyto(here[k], inputs[i])
                inputs[i] = here[k]
        return all_of_them

    def _locked(self, play: Callable[..., None]) -> Callable[..., None]:
        """Return `play` with the lock of updates held: others may update between two iterations."""
        updating = self._store.updating

        def locked(*args: int) -> None:
            with updating:
                play(*args)
        return locked

    def _words(self, values: Sequence[np.ndarray], source: Sequence[np.ndarray]) -> list[int]:
        """Return the ids of the input arrays of the iteration after the one whose outputs are in `source`."""
        moved = [source[k] if k >= 0 else values[-1 - k] for k in self.loop.nexts]
        moved += values[len(moved):]
        return [id(moved[k]) for k in self.loop.step_feeds]

    def _clear_way(self, program: Program, used: Sequence[Held | Counted]) -> None:
        """Resume an iteration that stopped at an element without room, after growing it. Raises any other error."""
        status = program.tape.status
        while status[0]:
            if status[0] != STOPPED:
                raise program.error()
            stopped = used[status[2]]
            assert isinstance(stopped, Held)
            stopped.clear_way(program.failed, status[1])
            (self._locked(program.tape.resume) if self._locks else program.tape.resume)()
