"""`train`: repeat a step beside the notebook, with a panel to see and steer it."""
from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tfnb.core.options import options
from tfnb.graph.stack import get_default_graph
from tfnb.notebook.frontend import shell
from tfnb.notebook.frontend.fetch import find_session
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.plots.active_runs import active_runs
from tfnb.notebook.plots.board import LiveBoard
from tfnb.notebook.plots.early_stopping import rules
from tfnb.notebook.plots.learning_rate import rate_of
from tfnb.notebook.plots.training import Report, Run
from tfnb.notebook.run_store import interrupts
from tfnb.notebook.run_store.in_turns import RunInTurns
from tfnb.notebook.run_store.keeper import keep as keep_run
from tfnb.notebook.run_store.keeper import seeds
from tfnb.notebook.run_store.kept_run import digest
from tfnb.notebook.run_store.run_folder import other_curves
from tfnb.notebook.run_store.train_panel import TrainPanel
from tfnb.train.checkpoints.saver import saver_or_default

_numbers = itertools.count(1)
AT_ONCE = 0.3           # seconds that a first step may take before the panel is shown without it


def train(step: Callable[[int], Report], steps: int | None = None, *, every: int = 1, live: Iterable[str] | None = None,
          stop: Iterable[str] = (), learning_rate: Any = None, checkpoint: int = 0, folder: str = "checkpoints",
          run: str = "", foreground: bool | None = None, keep: bool | None = None) -> Run:
    """Call `step(number)` again and again in a thread beside the notebook, under a panel with buttons.

    step: gets 0, 1, 2... and returns what it reports: a dict from tags to numbers, a number, or None. It ends the
    training by raising OutOfRangeError (an input queue is empty) or StopIteration.
    steps: how many; None: until Stop. every: the number of steps between reports. live: tags for a live board, by
    default one of all tags if the first step reports any; none: (). stop: "nan", "plateau", "plateau=REPORTS".
    learning_rate: what the slider sets: a variable, a tensor or its name, an optimizer. checkpoint: the number of steps
    between saves (one more is at the end), in `folder`. run: the name of the curves, for comparing runs; by default
    "run" and the number of the cell's run. The board shows this run alone: `live` compares it with others. foreground:
    wait for the end; by default where nobody could press a button (nbconvert, scripts, terminals). keep: keep the run
    on disk, in `settings.runs_folder`; by default as `settings.keep_runs` says, and only where IPython runs.

    Returns when the first step is done. Raises what that raises, else (in the foreground) what a later one does; a
    RuntimeError if another training has not ended; a ValueError for arguments that make no sense.
    """
    __tracebackhide__ = True
    made = prepare(step, steps, every=every, stop=stop, learning_rate=learning_rate, checkpoint=checkpoint,
                   folder=folder, run=run)
    return begin(made, live, foreground, keep)


def prepare(step: Callable[[int], Report], steps: int | None = None, *, every: int = 1, stop: Iterable[str] = (),
            learning_rate: Any = None, checkpoint: int = 0, folder: str = "checkpoints", run: str = "") -> Run:
    """The training that `train` begins, with the errors that are about its arguments."""
    for other in active_runs():
        raise RuntimeError(f"another training has not ended ({other.status} at step {other.steps}), and two would "
                           "change the same variables: press its Stop, or call its stop(), first")
    name = run or f"run {shell.cell_number() or next(_numbers)}"
    rate = learning_rate if learning_rate is None or hasattr(learning_rate, "close") \
        else rate_of(learning_rate, get_default_graph())
    kind = Run if options.background else RunInTurns
    return kind(step, steps, every=every, name=name, rules=rules(stop), rate=rate, save_every=checkpoint,
                save=_saving(folder, run or "model") if checkpoint else None)


def begin(run: Run, live: Iterable[str] | None = None, foreground: bool | None = None, keep: bool | None = None,
          sources: Mapping[str, str] = MappingProxyType({})) -> Run:
    """Start it and show its panel and board, once the first step is done or takes its time.

    keep: as for `train`; sources: label of a cell -> its text, whose hash is kept with the run.
    """
    __tracebackhide__ = True
    run.cell, number = shell.running, shell.cell_number()
    run.label = f"[{number}]" if number is not None else ""
    interrupts.listen()
    if settings.keep_runs and shell.current() is not None if keep is None else keep:
        about = {"seed": seeds(get_default_graph()),
                 "sources": {label: digest(text) for label, text in sources.items()}}
        run.unkept = keep_run(run, Path(settings.runs_folder), about)
    run.panel = panel = TrainPanel(run)
    run.start()
    run.wait_for_step(AT_ONCE)
    panel.show()
    run.wait_for_step()
    tags = [*run.last] if live is None else [*live]
    if tags:
        run.board = LiveBoard(*tags, runs=[run.name])
        run.board.find_others = partial(other_curves, run)
    waits = foreground or foreground is None and not (shell.has_front_end() and shell.attended)
    if waits and not shell.has_front_end():
        return _to_its_end(run, panel)
    if run.board is not None:
        run.board.show()
    return run.wait() if waits else run


def _to_its_end(run: Run, panel: TrainPanel) -> Run:
    """Wait in a terminal, which can't draw over what it has printed: the curves are shown once, afterwards."""
    __tracebackhide__ = True
    try:
        return run.wait()
    finally:
        panel.tick(time.monotonic())
        if run.board is not None:
            run.board.show().close()


def _saving(folder: str, name: str) -> Callable[[int], str]:
    """Return a function that saves all variables as of a step and returns the checkpoint's path."""
    saver, session = saver_or_default(), find_session(get_default_graph())
    Path(folder).mkdir(parents=True, exist_ok=True)

    def save(steps: int) -> str:
        return str(saver.save(session, str(Path(folder) / name), global_step=steps))
    return save
