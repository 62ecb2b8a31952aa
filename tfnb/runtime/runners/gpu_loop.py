"""Repetition of a GPU program that is the body of a loop: one CUDA graph an iteration.

The graph has the launches that are not loop-invariant, copies on the device of what was computed to where the next
iteration reads it, and one of the condition to the host, which reads it and asks for the next iteration.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tfnb.runtime.runners.gpu_program import GpuProgram


class GpuLoop(GpuProgram):
    """A GPU program that can be repeated."""

    def repeat(self, inputs: Sequence[np.ndarray], moves: Sequence[tuple[int, int]],
               before: Callable[[], None]) -> list[np.ndarray]:
        """Run the stage, the body of a loop, until its last output is false; return the outputs of the last iteration.

        moves: (number of an output, number of the input that it is in the next iteration); none of these outputs, nor
        the last one, is known. before: called before each iteration after the first. Raises as `run` does.
        """
        numbers = np.cumsum([v.known is None for v in self.compiled.outputs]) - 1
        buffers = [self.compiled.outputs[i].buffer for i, _ in moves]
        pairs = [(self._indices[j], self._at[b], b.nbytes) for b, (_, j) in zip(buffers, moves, strict=True)]
        with self._current():
            self._take_variables()
            self._play(self._stage(inputs), None)
            goes_on, repeated = self._made[numbers[-1]], False
            while goes_on:
                before()
                self._turn([] if repeated else pairs, pairs)
                repeated = True
            if repeated:
                self._driver.copy_out(self._result.address, self._memory.address + self._back, self._outward)
                self._driver.synchronize()
                self._keep_states()
            return self._copies()

    def _turn(self, first: Sequence[tuple[int, int, int]], moves: Sequence[tuple[int, int, int]]) -> None:
        """Do one more iteration: move values, launch, and bring back the condition and the status words.

        first, moves: (target, source, bytes) of what is moved before it, and after it for the next one: before the
        second iteration, since the first one moved nothing.
        """
        tape, driver = self._tape, self._driver
        for move in first:
            self._move(*move)
        if not tape.turns and not tape.refused:
            tape.turns = self._captured(partial(self._issue_turn, moves=moves))
        for i in range(len(tape.segments)):
            if i:
                self._look()
            if tape.turns:
                driver.replay(tape.turns[i])
            else:
                self._issue_turn(i, moves)
        self._look()

    def _issue_turn(self, number: int, moves: Sequence[tuple[int, int, int]]) -> None:
        """Ask the driver for a segment of an iteration."""
        once = {id(step) for step in self.compiled.steps[:self.compiled.once]}
        for launch in self._tape.segments[number]:
            if id(launch.step) not in once:
                self._driver.launch(launch.function, launch.step.items, launch.step.grain, launch.words)
        if self._checked:
            self._bring(self._at[self._status], self._status.nbytes)
        if number == len(self._tape.segments) - 1:
            truth = self._outputs[-1].buffer
            self._bring(self._at[truth], truth.nbytes)
            for move in moves:
                self._move(*move)

    def _move(self, target: int, source: int, nbytes: int) -> None:
        self._driver.copy(self._memory.address + target, self._memory.address + source, nbytes)

    def _bring(self, place: int, nbytes: int) -> None:
        """Copy a part of what is brought back to its place in the results."""
        self._driver.copy_out(self._result.address + place - self._back, self._memory.address + place, nbytes)
