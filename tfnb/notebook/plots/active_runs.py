"""The trainings that have not ended: held while a cell changes the graph, stopped where their model changes."""
from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from tfnb.graph.graph import Graph
from tfnb.notebook.plots.training import RUNS, Run


def active_runs() -> list[Run]:
    """The trainings that have not ended, oldest first."""
    return list(RUNS)


def hold_runs() -> None:
    """Keep all trainings between two steps: the graph is about to change. Returns when all are there."""
    for run in active_runs():
        if not run.held:
            run.hold()


def release_runs() -> None:
    """Let them go on."""
    for run in active_runs():
        run.release()


def model_changed(graph: Graph, changed: Collection[str], label: str, stale: Sequence[str]) -> None:
    """A cell made ops again that are others now: end the trainings that ran those of before.

    label: the cell; stale: the labels of the cells that must run before a training goes on.
    """
    for run in active_runs():
        if run._graph is graph and not run.uses.isdisjoint(changed):
            again = " ".join(dict.fromkeys([*stale, run.label or "its cell"]))
            run.stop(f"the model changed in {label}: run {again}", wait=False)


def stop_runs_of(cell: Hashable) -> None:
    """The cell runs again or was deleted: end what it trains."""
    for run in active_runs():
        if cell is not None and run.cell == cell:
            run.stop("its cell was run again or deleted", wait=False)
            run.release()
            run.stop()
