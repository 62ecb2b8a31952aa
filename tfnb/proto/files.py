"""Files that appear whole or not at all.

A group of files is written beside its final names, with a suffix, and renamed when all are complete, the index last. A
process that dies in between leaves either the old group, or a new one of which some files have their final names and
the index still has its suffix: `pending` finds that and readers go on from there.
"""
from __future__ import annotations

import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local
from tfnb.core.options import options

try:
    import fcntl
except ImportError:                                # Windows: leftovers of dead processes are not told from live ones
    fcntl = None                                   # type: ignore[assignment]

STAGED = ".tempstate"                              # as TensorFlow calls its own
LOCKED = "L"                                       # ends the names of files that are locked while they are written
ABANDONED = 60                                     # seconds after which an unlocked one of these has no writer
FOREIGN = 3600                                     # and any other: TensorFlow's, or where there are no locks
SHARDS = 24 * FOREIGN                              # and a folder of shards, which wait for one another unlocked


def write_atomically(path: str | Path, data: bytes) -> None:
    """Replace the contents of a file; whoever reads it sees the old or the new ones. Raises as `os_errors`."""
    path, staging = local(path), Staging()
    with os_errors(path):
        try:
            write_all(staging.create(path), memoryview(data))
            staging.commit([], path)
        except BaseException:
            staging.discard([], path)
            raise


def write_all(file: IO[bytes], data: memoryview) -> None:
    """Write bytes to an unbuffered file, which may take a part of them at a time."""
    while len(data):
        data = data[file.write(data):]


@contextmanager
def freed_later(paths: Sequence[str]) -> Iterator[None]:
    """Files that are removed or replaced inside are freed by a thread: that takes 30 ms for 100 MB."""
    held = []
    for path in paths if os.name == "posix" else ():       # elsewhere an open file can't be replaced
        with suppress(OSError):
            held.append(os.open(path, os.O_RDONLY))
    try:
        yield
    finally:
        if held and options.background:
            threading.Thread(target=lambda: deque(map(os.close, held), 0), daemon=True).start()
        else:
            deque(map(os.close, held), 0)


class Staging:
    """Files being written beside their final names. `commit` renames them, `discard` removes them."""

    def __init__(self) -> None:
        self.suffix = f"{STAGED}{random.getrandbits(63)}{LOCKED}"
        self._open: list[IO[bytes]] = []
        self._begun = False

    def path(self, final: str) -> str:
        """Return the path to which the file that will be called `final` is written."""
        return final + self.suffix

    def create(self, final: str) -> IO[bytes]:
        """An unbuffered file to write to, closed by `commit` and `discard`; locked, so that others leave it alone."""
        file = open(self.path(final), "wb", buffering=0)
        self._open.append(file)
        if fcntl is not None:
            with suppress(OSError):                # not every file system has locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file

    def commit(self, data: Sequence[str], index: str) -> None:
        """Give all files their final names, the index last."""
        if os.name != "posix":                     # elsewhere an open file can't be renamed
            self._close()
        try:
            with freed_later(data):
                for final in (*data, index):
                    os.replace(self.path(final), final)
                    self._begun = True
        finally:
            self._close()

    def discard(self, data: Sequence[str], index: str) -> None:
        """Remove what was written; but what a commit has begun is left as it is, for readers to go on from.

        The index goes first: without its data it would look like a commit under way.
        """
        self._close()
        if self._begun:
            return
        for final in (index, *data):
            with suppress(OSError):
                os.remove(self.path(final))

    def _close(self) -> None:
        for file in self._open:
            with suppress(OSError):
                file.close()


def staged_beside(final: str) -> list[str]:
    """The suffixes under which a file of that final name is being written, or was; the newest first."""
    folder, name = os.path.split(final)
    try:
        with os.scandir(folder or ".") as found:
            times = {e.name[len(name):]: e.stat().st_mtime for e in found if e.name.startswith(name + STAGED)}
    except OSError:
        return []
    return sorted(times, key=lambda suffix: -times[suffix])


def if_abandoned(path: str, action: Callable[[], None]) -> bool:
    """Call `action` if no process writes a staged file any more, with the file locked. Returns whether it did.

    That is so if it is old and unlocked; without locks, an hour old (Windows removes no file that is open, besides).
    """
    age = ABANDONED if fcntl is not None and path.endswith(LOCKED) else FOREIGN
    with suppress(OSError):
        if time.time() - os.stat(path).st_mtime < age:
            return False
        with open(path, "rb") if fcntl is not None else nullcontext() as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            action()
            return True
    return False


def remove_abandoned(path: str) -> bool:
    """Remove a staged file that no process writes any more. Returns whether it is gone."""
    return if_abandoned(path, lambda: os.remove(path)) or not os.path.exists(path)
