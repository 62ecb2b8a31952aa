"""Files that appear whole or not at all, and the operating system's errors as TensorFlow's.

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tfnb.core.files import named_error

try:
    import fcntl
except ImportError:                                # Windows: leftovers of dead processes are not told from live ones
    fcntl = None                                   # type: ignore[assignment]

STAGED = ".tempstate"                              # as TensorFlow calls its own
ABANDONED = 60                                     # seconds after which an unlocked staged file has no writer


@contextmanager
def os_errors(path: str | Path) -> Iterator[None]:
    """Turn an OSError inside into the error of tf.errors for it, which names the file."""
    try:
        yield
    except OSError as error:
        raise named_error(error, error.filename or path) from error


def write_atomically(path: str | Path, data: bytes) -> None:
    """Replace the contents of a file; whoever reads it sees the old or the new ones. Raises as `os_errors`."""
    staged = f"{path}.tmp{random.getrandbits(64):016x}"
    with os_errors(path):
        try:
            with open(staged, "wb") as file:
                file.write(data)
            os.replace(staged, path)
        except BaseException:
            with suppress(OSError):
                os.remove(staged)
            raise


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
        if held:
            threading.Thread(target=lambda: deque(map(os.close, held), 0), daemon=True).start()


class Staging:
    """Files being written beside their final names. `commit` renames them, `discard` removes them."""

    def __init__(self) -> None:
        self.suffix = f"{STAGED}{random.getrandbits(63)}"
        self._open: list[IO[bytes]] = []
        self._begun = False

    def path(self, final: str) -> str:
        """Where the file that will be called `final` is written."""
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


def remove_abandoned(path: str) -> bool:
    """Remove a staged file that no process writes any more. True if it is gone."""
    try:
        if fcntl is None or time.time() - os.stat(path).st_mtime < ABANDONED:
            return False
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.remove(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
