"""File I/O of `tf.io.gfile`: the later names of `tf.gfile` and of their arguments."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from tfnb.core.arguments import FILES, describe
from tfnb.core.files import gfile as files
from tfnb.core.files.gfile import FileStatistics
from tfnb.core.files.paths import Path, local


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file. Raises AlreadyExistsError if the target exists, unless `overwrite`.

    >>> with tf.io.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.io.gfile.copy("a.txt", "b.txt")
    >>> sorted(tf.io.gfile.listdir("."))
    ['a.txt', 'b.txt']
    """
    files.Copy(src, dst, overwrite)


def exists(path: Path) -> bool:
    """Return whether a file or directory exists.

    >>> tf.io.gfile.exists("missing"), tf.io.gfile.exists(".")
    (False, True)
    """
    return files.Exists(path)


def glob(pattern: Any) -> list[str]:
    """Return the sorted files and directories that match one or more glob patterns.

    >>> tf.io.gfile.makedirs("logs/train")
    >>> tf.io.gfile.makedirs("logs/test")
    >>> len(tf.io.gfile.glob("logs/t*"))
    2
    """
    return files.Glob(pattern)


def isdir(path: Path) -> bool:
    """Return whether the path is a directory.

    >>> tf.io.gfile.isdir("."), tf.io.gfile.isdir("missing")
    (True, False)
    """
    return files.IsDirectory(path)


def listdir(path: Path) -> list[str]:
    """Return the names in a directory. Raises NotFoundError.

    >>> tf.io.gfile.makedirs("logs/train")
    >>> tf.io.gfile.makedirs("logs/test")
    >>> sorted(tf.io.gfile.listdir("logs"))
    ['test', 'train']
    """
    return files.ListDirectory(path)


def makedirs(path: Path) -> None:
    """Create a directory and its parents, if missing. Raises FailedPreconditionError if one of them is a file.

    >>> tf.io.gfile.makedirs("logs/train")
    >>> tf.io.gfile.isdir("logs/train")
    True
    """
    files.MakeDirs(path)


def mkdir(path: Path) -> None:
    """Create a directory in an existing one; do nothing if the name exists.

    >>> tf.io.gfile.mkdir("logs")
    >>> tf.io.gfile.isdir("logs")
    True
    """
    files.MkDir(path)


def remove(path: Path) -> None:
    """Delete a file. Raises NotFoundError.

    >>> with tf.io.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.io.gfile.remove("a.txt")
    >>> tf.io.gfile.exists("a.txt")
    False
    """
    files.Remove(path)


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Move a file or directory. Raises AlreadyExistsError if the target exists, unless `overwrite`.

    >>> with tf.io.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.io.gfile.rename("a.txt", "b.txt")
    >>> tf.io.gfile.listdir(".")
    ['b.txt']
    """
    files.Rename(src, dst, overwrite)


def rmtree(path: Path) -> None:
    """Delete a directory and its contents, or a file. Raises NotFoundError.

    >>> tf.io.gfile.makedirs("logs/train")
    >>> tf.io.gfile.rmtree("logs")
    >>> tf.io.gfile.exists("logs")
    False
    """
    files.DeleteRecursively(path)


def stat(path: Path) -> FileStatistics:
    """Return the FileStatistics of a file or directory.

    >>> with tf.io.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.io.gfile.stat("a.txt").length
    4
    """
    return files.Stat(path)


def walk(top: Path, topdown: bool = True,
         onerror: Callable[[OSError], Any] | None = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk a directory tree: yield (directory, names of its subdirectories, names of its files) for each.

    topdown: a directory comes before its subdirectories. onerror: called with the OSError of an unreadable one.

    >>> tf.io.gfile.makedirs("logs/train")
    >>> [(folders, files) for path, folders, files in tf.io.gfile.walk("logs")]
    [(['train'], []), ([], [])]
    """
    if onerror is None:
        yield from files.Walk(top, topdown)
    else:
        yield from os.walk(local(top), topdown, onerror)


describe(globals(), FILES)
