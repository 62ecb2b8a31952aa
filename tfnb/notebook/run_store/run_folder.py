"""The folder that runs are kept in: list, find, rename, delete, take back."""
from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from tfnb.core.text import did_you_mean
from tfnb.notebook.frontend.settings import settings
from tfnb.notebook.plots.series import Series
from tfnb.notebook.plots.training import PAUSED, RUNNING, Run
from tfnb.notebook.run_store.kept_run import KeptRun, now_text, read_run, write_about

MOST_OTHERS = 8             # runs that are drawn behind another one
DELETED = ".deleted"        # folder of the runs that `restore` takes back


def kept_runs(root: str | Path | None = None) -> list[KeptRun]:
    """The runs below a folder, newest first. root: by default `settings.runs_folder`."""
    try:
        folders = [entry.path for entry in os.scandir(root_of(root)) if entry.is_dir()]
    except OSError:
        return []
    found = [run for run in map(read_run, map(Path, folders)) if run is not None]
    return sorted(found, key=lambda run: (run.started, run.folder.name), reverse=True)


def root_of(root: str | Path | None) -> Path:
    """The folder that runs are in."""
    return Path(settings.runs_folder if root is None else root)


def find_run(runs: Iterable[KeptRun], name: str) -> KeptRun:
    """The newest run of a name, or the one whose folder is so called. Raises KeyError where there is none."""
    found = list(runs)
    for run in found:
        if name in (run.name, run.folder.name):
            return run
    names = [run.name for run in found]
    hint = did_you_mean(name, names) or (f"; there are {', '.join(dict.fromkeys(names[:8]))}" if names else "")
    raise KeyError(f"no run is called {name!r}{hint}")


def rename(run: KeptRun, name: str) -> KeptRun:
    """Call a run otherwise; its folder stays as it is called. Raises ValueError for an empty name, OSError."""
    name = " ".join(name.split())
    if not name:
        raise ValueError("a run needs a name of at least one letter")
    _refuse_active(run, "renamed")
    write_about(run.folder, {**run.about, "name": name, "renamed": now_text()})
    return read_run(run.folder) or run


def delete(run: KeptRun) -> Path:
    """Move a run out of sight, to where `restore` finds it. Returns its new folder. Raises ValueError while it runs."""
    _refuse_active(run, "deleted")
    place = run.folder.parent / DELETED
    place.mkdir(exist_ok=True)
    target = place / run.folder.name
    if target.exists():
        shutil.rmtree(target)
    write_about(run.folder, {**run.about, "deleted": now_text()})
    return Path(shutil.move(run.folder, target))


def restore(folder: Path) -> KeptRun | None:
    """Take a run back that was deleted. Returns it, None if it is gone. Raises OSError."""
    target = folder.parent.parent / folder.name
    if not folder.is_dir() or target.exists():
        return None
    shutil.move(folder, target)
    return read_run(target)


def deleted_runs(root: str | Path | None = None) -> list[KeptRun]:
    """The runs that were deleted, the last one first."""
    found = kept_runs(root_of(root) / DELETED)
    return sorted(found, key=lambda run: str(run.about.get("deleted", "")), reverse=True)


def empty_deleted(root: str | Path | None = None) -> int:
    """Remove for good what was deleted. Returns how many runs that were. Raises OSError."""
    gone = deleted_runs(root)
    for run in gone:
        shutil.rmtree(run.folder)
    return len(gone)


def other_curves(run: Run) -> list[Series]:
    """The curves of the newest other runs: those on disk, then those that this process has recorded alone."""
    kept = [other for other in kept_runs() if run.keeper is None or other.folder.name != run.keeper.folder.name]
    found = [series for other in kept[:MOST_OTHERS] for series in other.series.values()]
    known = {run.name, *(other.name for other in kept)}
    with run.recorder.lock:
        return found + [series for (name, _), series in run.recorder.series.items() if name not in known]


def _refuse_active(run: KeptRun, what: str) -> None:
    if run.status in (RUNNING, PAUSED):
        raise ValueError(f"{run.name!r} has not ended: stop it before it is {what}")
