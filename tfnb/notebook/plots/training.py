"""A training that runs in a thread of its own, so that the notebook stays usable: paused, stepped and stopped at will.

The thread runs a step after the other and looks at one flag between two of them; all else happens when that is set.
Cells that make ops of the graph again hold trainings until they are done (`hold_runs`), so that no step ever meets a
graph that is half changed.
"""
from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from tfnb.core.errors import OutOfRangeError
from tfnb.graph.stack import get_default_graph, get_default_session
from tfnb.notebook.frontend import shell
from tfnb.notebook.plots.board import RECORDER
from tfnb.notebook.plots.early_stopping import Rule
from tfnb.notebook.plots.learning_rate import Rate
from tfnb.notebook.plots.marks import END, PAUSE, Mark, add_rate, end_pause
from tfnb.notebook.plots.recorder import Recorder

PATIENT = 10.0          # seconds that stop() waits for the present step
WARM = 2                # steps that are slow: one is interpreted, one compiled
SLICE = 0.1             # seconds between two looks whether Interrupt was pressed: waiting for a lock is deaf on Windows

Report = Mapping[str, Any] | float | None
RUNNING, PAUSED, DONE, STOPPED, FAILED = "running", "paused", "done", "stopped", "failed"


class Run:
    """A training; made by `train` and by `%%train`. Its methods may be called from any cell while it goes on.

    steps: how many are done; total: how many there shall be, None for no end; status: "running", "paused", "done",
    "stopped" or "failed"; why: the reason for that; error: the exception of the step that failed.
    """

    def __init__(self, step: Callable[[int], Report], total: int | None, *, every: int = 1, name: str = "",
                 rules: Sequence[Rule] = (), rate: Rate | None = None, save: Callable[[int], Any] | None = None,
                 save_every: int = 0, recorder: Recorder = RECORDER) -> None:
        if total is not None and total < 1 or every < 1 or save_every < 0:
            raise ValueError("numbers of steps must be at least 1")
        self.steps, self.total, self.name, self.rate, self.recorder = 0, total, name, rate, recorder
        self.status, self.why = RUNNING, ""
        self.error: BaseException | None = None
        self.saved: str | None = None           # the newest checkpoint
        self.last: dict[str, Any] = {}          # the newest report
        self.cell: Hashable = None              # the cell that shows it,
        self.label = ""                         # "[7]",
        self.uses: frozenset[str] = frozenset()     # and the names of the ops that its steps run, where they are known
        self.anyway = False                     # it goes on when the cells that these ops are of must run again
        self.seconds = 0.0                      # that it ran, without pauses
        self.panel: Any = None                  # that shows it
        self.board: Any = None                  # with its curves
        self.keeper: Any = None                 # of what is kept on disk,
        self.unkept = ""                        # and why nothing is
        self.on_change: Callable[[], None] = lambda: None
        self._step, self._every, self._rules, self._save, self._save_every = step, every, rules, save, save_every
        self._changed = threading.Condition()
        self._attention = False                 # the thread looks at this alone between two steps
        self._stopping = self._held = False
        self._idle = False                      # the thread is between two steps and waits
        self._budget = 0                        # steps to do though paused
        self._since = 0.0                       # when it began or went on
        self._mark = 0, 0.0                     # steps and seconds that do not count for the speed
        self._next_rate: float | None = None
        self._stands = False                    # the thread has begun a pause
        self._thread: threading.Thread | None = None
        self._graph, self._session = get_default_graph(), get_default_session()

    # control, from any thread

    @property
    def active(self) -> bool:
        """True until it is done, was stopped or failed."""
        return self.status in (RUNNING, PAUSED)

    @property
    def held(self) -> bool:
        """True while a cell changes the graph; it goes on by itself."""
        return self._held

    def start(self) -> Run:
        """Begin. Returns itself."""
        context = contextvars.copy_context()
        self._since = time.perf_counter()
        self.recorder.note(self.name, [])
        self._thread = threading.Thread(target=context.run, args=(self._work,), name="tfnb-train", daemon=True)
        RUNS.append(self)
        self._thread.start()
        return self

    def pause(self) -> Run:
        """Wait after the present step, until `resume` or `step`. Returns itself."""
        self._set(PAUSED, 0)
        return self

    def resume(self) -> Run:
        """Go on. Returns itself."""
        self._set(RUNNING, 0)
        return self

    def step(self, count: int = 1, wait: bool = True) -> Run:
        """Run `count` steps more, then pause. wait: until they are done. Returns itself."""
        self._refuse_if_held("step")
        self._set(PAUSED, count)
        if wait:
            self._until(lambda: not self.active or self._idle and not self._budget)
        return self

    def stop(self, why: str = "", wait: bool = True) -> Run:
        """End after the present step. wait: for that, 10 seconds at most. Returns itself."""
        with self._changed:
            if self.active and not self._stopping:
                self._stopping = self._attention = True
                self.why = why
                self._changed.notify_all()
        if wait and not self._held and self._thread is not threading.current_thread():
            self._until(lambda: not self.active, PATIENT)
        return self

    def wait(self, timeout: float | None = None) -> Run:
        """Wait until it has ended, `timeout` seconds at most. Interrupt stops the training. Returns itself.

        Raises the error of the step that failed.
        """
        __tracebackhide__ = True
        self._refuse_if_held("wait")
        try:
            self._until(lambda: not self.active, timeout)
        except KeyboardInterrupt:
            self.stop("by Interrupt")
        return self._raise()

    def wait_for_step(self, timeout: float | None = None) -> Run:
        """As `wait`, until the first step is done only."""
        __tracebackhide__ = True
        try:
            self._until(lambda: bool(self.steps) or not self.active, timeout)
        except KeyboardInterrupt:
            self.stop("by Interrupt")
        return self._raise()

    def set_rate(self, value: float) -> None:
        """Set the learning rate from the next step on. Raises ValueError if there is none, or for no finite number."""
        if self.rate is None:
            raise ValueError("this training was told of no learning rate: name it with --lr")
        if not np.isfinite(value):
            raise ValueError(f"a learning rate is a finite number, not {value!r}")
        with self._changed:
            self._next_rate, self._attention = float(value), True
            if self._idle or not self.active:
                self._take_rate()
        self.on_change()

    def hold(self) -> None:
        """Wait until the thread is between two steps, and keep it there until `release`."""
        with self._changed:
            self._held = self._attention = True
        self._until(lambda: self._idle or not self.active)

    def release(self) -> None:
        """Go on."""
        with self._changed:
            self._held = False
            self._changed.notify_all()

    # what it shows and reported

    def __repr__(self) -> str:
        return repr(self.panel) if self.panel is not None else f"<Run: {self.status}, step {self.steps}>"

    def _ipython_display_(self) -> None:
        # `%%train` both shows the panel and returns the run: not a second time in the same cell
        if self.panel is None:
            print(repr(self))
        else:
            shell.show_once(self.panel)

    @property
    def series(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Tag -> (steps, values) of all that this run and summaries in it reported, as they are now."""
        self.recorder.file(everything=True)
        with self.recorder.lock:
            return {tag: (series.steps.copy(), series.values.copy())
                    for (run, tag), series in self.recorder.series.items() if run == self.name}

    @property
    def marks(self) -> list[Mark]:
        """The marks on its curves: changes of the rate, pauses, why it ended."""
        return self.recorder.marks.get(self.name, [])

    def elapsed(self) -> float:
        """Seconds that it ran until now."""
        running = self.status == RUNNING and not self._idle
        return self.seconds + (time.perf_counter() - self._since if running else 0.0)

    @property
    def speed(self) -> float:
        """Steps a second after the first two, pauses not counted; 0 until it is known."""
        steps, began = self._mark
        seconds = self.elapsed() - began
        return (self.steps - steps) / seconds if self.steps > steps and seconds > 0 else 0.0

    # inside

    def _set(self, status: str, budget: int) -> None:
        with self._changed:
            if self.active:
                self.status, self._budget, self._attention = status, budget, True
                self._changed.notify_all()
        self.on_change()

    def _refuse_if_held(self, what: str) -> None:
        if self._held:
            raise RuntimeError(f"the training is held while this cell makes ops of the graph again: {what}() would "
                               "wait for ever. Call it in a cell of its own")

    def _until(self, done: Callable[[], bool], timeout: float | None = None) -> None:
        end = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not done() and (end is None or time.monotonic() < end):
                self._changed.wait(SLICE)

    def _raise(self) -> Run:
        __tracebackhide__ = True
        if self.error is not None:
            raise self.error
        return self

    def _work(self) -> None:
        status, error = STOPPED, None
        try:
            with self._around():
                for status in self._loop():     # noqa: B007  (the last one counts)
                    pass
        except BaseException as failure:        # told in the cell: nothing above this thread could
            status, error = FAILED, failure
        self._finish(status, error)

    @contextmanager
    def _around(self) -> Iterator[None]:
        """Steps run in here: in their graph and session, as the run of this name, at its learning rate."""
        with ExitStack() as around:
            around.enter_context(self._graph.as_default())
            if self._session is not None:
                around.enter_context(self._session.as_default())
            around.enter_context(self.recorder.named(self.name))
            if self.rate is not None:
                self.rate.start()
                around.callback(self.rate.close)
            yield

    def _finish(self, status: str, error: BaseException | None) -> None:
        try:
            self._keep(status, error)
        finally:                                # whoever waits for the end must not wait for ever
            self._end(status, error)

    def _keep(self, status: str, error: BaseException | None) -> None:
        """Mark why it ended where that is not its number of steps, and complete what is kept of it."""
        why = type(error).__name__ if error is not None else self.why or status
        if status != DONE or self.why:
            self._note(Mark(self.steps, time.monotonic(), END, f"{status}: {why} at step {self.steps:,}"
                            if why != status else f"{status} at step {self.steps:,}"))
        if self.keeper is not None:
            self.keeper.finish(status, error)

    def _note(self, mark: Mark) -> None:
        self.recorder.note(self.name, [*self.marks, mark])

    def _loop(self) -> Iterator[str]:
        """Run steps until the end. Yields the status between two, at last that to end with."""
        yield (yield from self._paces())
        if self._save is not None and self.steps % (self._save_every or self.steps + 1):
            self.saved = self._save(self.steps)

    def _paces(self) -> Generator[str, None, str]:
        step, every = self._step, self._every
        while self.total is None or self.steps < self.total:
            if self._attention and not (yield from self._attend()):
                return STOPPED
            number = self.steps
            try:
                report = step(number)
            except (OutOfRangeError, StopIteration):
                self.why = "the input has ended"
                return DONE
            self.steps = number + 1
            if report is not None and not number % every and self._report(report, number):
                return STOPPED
            if self._save_every and not self.steps % self._save_every and self._save is not None:
                self.saved = self._save(self.steps)
            if number < WARM:
                self._warm()
            yield RUNNING
        return DONE

    def _report(self, report: Mapping[str, Any] | float, step: int) -> bool:
        """File what a step reported. True if the training shall end."""
        values = report if isinstance(report, dict) else {"value": report}
        self.last = values
        self.recorder.scalars(values, step, self.name)
        for rule in self._rules:
            why = rule(values)
            if why:
                self.why = f"{why} at step {step}"
                return True
        return False

    def _attend(self) -> Generator[str, None, bool]:
        """Between two steps: wait while it is paused or held. False: stop."""
        with self._changed:
            self._idle = True
            self.seconds += time.perf_counter() - self._since
            self._take_rate()
            self._note_pause()
            self._changed.notify_all()
            yield from self._idling()
            self._take_rate()
            self._note_pause()
            self._idle = False
            self._since = time.perf_counter()
            if self._stopping:
                return False
            if self.status == PAUSED:
                self._budget -= 1
            self._attention = self.status == PAUSED
            return True

    def _idling(self) -> Iterator[str]:
        """Wait until it may go on, with `_changed` held."""
        self._changed.wait_for(self._may_go)
        yield from ()

    def _may_go(self) -> bool:
        return not self._held and (self._stopping or self.status == RUNNING or self._budget > 0)

    def _note_pause(self) -> None:
        """Between two steps: mark that a pause begins or ends."""
        now, stands = time.monotonic(), self.status == PAUSED and not self._stopping
        if stands and not self._stands:
            self._note(Mark(self.steps, now, PAUSE, f"paused at step {self.steps:,}"))
        elif self._stands and not stands:
            self.recorder.note(self.name, end_pause(self.marks, self.steps, now))
        self._stands = stands

    def _take_rate(self) -> None:
        if self._next_rate is not None and self.rate is not None:
            value, self._next_rate = self._next_rate, None
            before = self.rate.value
            self.rate.set(value)
            if before != self.rate.value:
                change = before, self.rate.value
                self.recorder.note(self.name, add_rate(self.marks, self.rate.name, change, self.steps,
                                                       time.monotonic()))

    def _end(self, status: str, error: BaseException | None) -> None:
        with self._changed:
            self.seconds += time.perf_counter() - self._since
            self.error, self._idle, self.status = error, True, status       # the status last: panels look for it
            if self in RUNS:
                RUNS.remove(self)
            self._changed.notify_all()
        self.on_change()

    def _warm(self) -> None:
        """One of the first steps is done, which compile: speed is counted from here."""
        with self._changed:
            self._mark = self.steps, self.elapsed()
            self._changed.notify_all()


RUNS: list[Run] = []        # that have not ended
