"""A program tried in a copy of its folder, by a process of its own, up to its first runs of a session."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from tfnb.core.errors import NotFoundError
from tfnb.core.text import counted
from tfnb.runtime.session import BaseSession
from tfnb.tools.port.execute import run_file

RUNS, SECONDS = 3, 60.0
LARGEST = 64 << 20                                 # bytes of one file that is copied: data, not checkpoints of others
_FOUND = "TFNB_TRIAL"                              # the file that the child writes its outcome to


@dataclass(frozen=True)
class Trial:
    """The end of a trial. outcome: "runs", "ends", "fails", "needs" (a file, a package, input) or "time".

    runs: of sessions, done; where: the line or cell that failed; error: its last line.
    """

    outcome: str
    runs: int = 0
    where: str = ""
    error: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing stopped it."""
        return self.outcome in ("runs", "ends")

    def __str__(self) -> str:
        told = {"runs": "runs", "ends": "runs to its end", "fails": "fails", "needs": "needs something",
                "time": "was still busy when its time was up"}[self.outcome]
        at = f" at {self.where}" if self.where else ""
        return f"{told} ({counted(self.runs, 'session run')}){at}" + (f": {self.error}" if self.error else "")


def attempt(path: Path, runs: int = RUNS, seconds: float = SECONDS) -> Trial:
    """Run a program in a copy of its folder until sessions have run `runs` times, or until it ends, or for `seconds`.

    The copy is for the program's relative paths, and no prison: what it opens by absolute paths or over the network
    is real. Files over 64 MiB are not copied. It gets no input, and its plots no window.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch) / "copy"
        shutil.copytree(path.resolve().parent, folder, ignore=_left_out, ignore_dangling_symlinks=True)
        found = Path(scratch) / "found.json"
        environment = {**os.environ, _FOUND: str(found), "MPLBACKEND": "agg", "PYTHONPATH": os.pathsep.join(
            filter(None, [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]))}
        command = [sys.executable, "-m", "tfnb.tools.port.trial", path.name, str(runs)]
        try:
            subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return Trial("time")
        if not found.exists():
            return Trial("fails", error="the process died")
        return Trial(**json.loads(found.read_text(encoding="utf-8")))


def _left_out(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name in (".git", "__pycache__", ".ipynb_checkpoints")
            or os.path.isfile(path := os.path.join(folder, name)) and os.path.getsize(path) > LARGEST}


class _Watch:
    """Counts the runs of sessions, and ends the process when there were enough."""

    def __init__(self, enough: int) -> None:
        self.runs, self._enough, self._run = 0, enough, BaseSession.run

    def install(self) -> None:
        """Count from now on."""
        watch = self

        def run(session: BaseSession, *arguments: Any, **named: Any) -> Any:
            found = watch._run(session, *arguments, **named)
            watch.runs += 1
            if watch.runs >= watch._enough:
                report(Trial("runs", watch.runs))
            return found
        BaseSession.run = run                      # type: ignore[method-assign, assignment]


def report(trial: Trial) -> NoReturn:
    """Leave the outcome for the parent, and end the process at once: threads may be in the middle of a run."""
    Path(os.environ[_FOUND]).write_text(json.dumps(asdict(trial)), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


def _failed(error: BaseException, path: str, runs: int, cell: int = 0) -> Trial:
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__)
             if os.path.abspath(frame.filename) == os.path.abspath(path)]
    said = traceback.format_exception_only(error)[-1].strip().split("\n")[0]
    needs = isinstance(error, (FileNotFoundError, ModuleNotFoundError, EOFError, NotFoundError)) \
        or isinstance(error, SystemExit) and "usage" in str(error.code)
    place = f"cell {cell}" if cell else f"line {lines[-1]}" if lines else ""
    return Trial("needs" if needs else "fails", runs, place, said)


def main() -> None:
    """The child: run the program, and report how far it came."""
    path, enough = sys.argv[1], int(sys.argv[2])
    watch = _Watch(enough)
    watch.install()
    try:
        run_file(path, failed=lambda cell, error: report(_failed(error, path, watch.runs, cell)))
    except BaseException as error:
        if not isinstance(error, SystemExit) or error.code not in (None, 0):
            report(_failed(error, path, watch.runs))
    report(Trial("ends", watch.runs))


if __name__ == "__main__":
    main()
