"""Files and folders: `tf.io.gfile`, the later names of `tf.gfile` and of their arguments."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from tfnb.core import files
from tfnb.core.files import FileStatistics
from tfnb.core.paths import Path, local


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file. Raises AlreadyExistsError if the new one is there, unless `overwrite`."""
    files.Copy(src, dst, overwrite)


def exists(path: Path) -> bool:
    """Return whether there is a file or folder."""
    return files.Exists(path)


def glob(pattern: Any) -> list[str]:
    """Return the files and folders that match a pattern, or one of several, sorted."""
    return files.Glob(pattern)


def isdir(path: Path) -> bool:
    """Return whether it is a folder."""
    return files.IsDirectory(path)


def listdir(path: Path) -> list[str]:
    """Return the names in a folder. Raises NotFoundError."""
    return files.ListDirectory(path)


def makedirs(path: Path) -> None:
    """Make a folder, and those before it; do nothing if it is there. Raises FailedPreconditionError at a file."""
    files.MakeDirs(path)


def mkdir(path: Path) -> None:
    """Make a folder in a folder that is there; do nothing if that name is taken."""
    files.MkDir(path)


def remove(path: Path) -> None:
    """Delete a file. Raises NotFoundError."""
    files.Remove(path)


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Move a file or folder. Raises AlreadyExistsError if the new one is there, unless `overwrite`."""
    files.Rename(src, dst, overwrite)


def rmtree(path: Path) -> None:
    """Delete a folder and all in it, or a file. Raises NotFoundError."""
    files.DeleteRecursively(path)


def stat(path: Path) -> FileStatistics:
    """Return the size, time and kind of a file or folder."""
    return files.Stat(path)


def walk(top: Path, topdown: bool = True,
         onerror: Callable[[OSError], Any] | None = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (folder, names of folders in it, names of files in it) for a folder and all under it.

    topdown: a folder comes before those in it. onerror: called with the OSError of a folder that can't be read.
    """
    if onerror is None:
        yield from files.Walk(top, topdown)
    else:
        yield from os.walk(local(top), topdown, onerror)
