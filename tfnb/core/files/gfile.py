"""File I/O of `tf.gfile`, with errors of tf.errors. Paths are local ones, optionally "file://" URLs."""
from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from types import TracebackType
from typing import IO, Any, NamedTuple, Self, TypeVar

from tfnb.core.arguments import FILES, describe
from tfnb.core.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
)
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import Path, local, make_folders, matching, read_rest
from tfnb.core.lazy import lazy_module

shutil = lazy_module("shutil")              # with what it imports 2 ms

_F = TypeVar("_F", bound=Callable[..., Any])


def _named(fn: _F) -> _F:
    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        path = args[0] if args else next(iter(kwargs.values()))
        with os_errors(path):
            return fn(*args, **kwargs)
    return call                                    # type: ignore[return-value]


class FileStatistics(NamedTuple):
    """Result of `Stat`: size in bytes, modification time in nanoseconds since 1970, and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


class GFile:
    """A file for reading, writing or both. Text is UTF-8; modes with "b" give bytes.

    The file is opened when it is first read or written: a mode that writes makes or empties it then ("r+" too, as in
    TensorFlow; "a" and "a+" append). Reading and writing have separate positions, and written data can
    be read after `flush`.

    Raises InvalidArgumentError for other modes than r, w, a, r+, w+, a+; when it is used, PermissionDeniedError for
    what the mode does not allow, and the error of tf.errors for what the operating system says.

    >>> with tf.gfile.GFile("notes.txt", "w") as file:
    ...     file.write("one\\ttwo")
    >>> with tf.gfile.GFile("notes.txt") as file:
    ...     file.read().split("\\t")
    ['one', 'two']
    """

    def __init__(self, name: Path, mode: str = "r") -> None:
        self._name, self._mode, self._binary = name, mode, "b" in mode
        self._source: IO[bytes] | None = None
        self._target: IO[bytes] | None = None
        self._plain = mode.replace("b", "")
        if self._plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+', got "
                                       f"{mode!r}")

    @property
    def name(self) -> Path:
        """Path of the file."""
        return self._name

    @property
    def mode(self) -> str:
        """Mode of the file."""
        return self._mode

    def _reading(self) -> IO[bytes]:
        if self._plain in ("w", "a"):
            raise PermissionDeniedError(None, None, "File isn't open for reading")
        if self._source is None:
            with os_errors(self._name):
                self._source = open(local(self._name), "rb")
        return self._source

    def _writing(self) -> IO[bytes]:
        if self._plain == "r":
            raise PermissionDeniedError(None, None, "File isn't open for writing")
        if self._target is None:
            with os_errors(self._name):
                self._target = open(local(self._name), "ab" if self._plain[0] == "a" else "wb")
        return self._target

    def _given(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def read(self, n: int = -1) -> Any:
        """Return the next `n` bytes, decoded in text modes, or all the rest."""
        file = self._reading()
        if n < -1:
            raise InvalidArgumentError(None, None, f"Can't read a negative number of bytes: {n}")
        with os_errors(self._name):
            return self._given(read_rest(file, n))

    def readline(self) -> Any:
        """Return the next line, with its end but without carriage returns; empty at the end of the file."""
        file = self._reading()
        with os_errors(self._name):
            return self._given(file.readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """Return the lines that are left."""
        return list(self)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def write(self, file_content: Any) -> None:
        """Append text or bytes."""
        file = self._writing()
        with os_errors(self._name):
            file.write(file_content.encode() if isinstance(file_content, str) else file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Set the read position: from the start (whence=0), the current position (1) or the end (2).

        position: an older name of `offset`. Raises TypeError without either, InvalidArgumentError for a negative
        place or another whence, OutOfRangeError for a place beyond the end.
        """
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("seek(): offset argument required")
        file = self._reading()
        with os_errors(self._name):
            found = os.fstat(file.fileno())
            if whence not in (0, 1, 2):
                raise InvalidArgumentError(None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or "
                                           "2.")
            place = offset + (0, file.tell(), found.st_size)[whence]
            if place < 0:
                raise InvalidArgumentError(None, None, f"Seeking to a negative position: {place}")
            if stat.S_ISREG(found.st_mode) and place > found.st_size:
                raise OutOfRangeError(None, None, f"reached end of file: {place} is beyond its {found.st_size} bytes")
            file.seek(place)

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the read position; in write-only modes the write position."""
        file = self._writing() if self._plain in ("w", "a") else self._reading()
        with os_errors(self._name):
            return int(file.tell())

    def size(self) -> int:
        """Return the size of the file in bytes, without unflushed data."""
        return Stat(self._name).length

    def flush(self) -> None:
        """Flush written data to the operating system."""
        if self._target is not None:
            with os_errors(self._name):
                self._target.flush()

    def close(self) -> None:
        """Close the file. A further read or write opens it again."""
        files, self._source, self._target = (self._source, self._target), None, None
        for file in files:
            if file is not None:
                with os_errors(self._name):
                    file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        # `GFile(path).read()` is what programs write: no ResourceWarning for it.
        with suppress(Exception):
            self.close()


FastGFile = Open = GFile


def Exists(filename: Path) -> bool:
    """Return whether a file or directory exists.

    >>> tf.gfile.Exists("missing"), tf.gfile.Exists(".")
    (False, True)
    """
    return os.path.exists(local(filename))


def IsDirectory(dirname: Path) -> bool:
    """Return whether the path is a directory.

    >>> tf.gfile.IsDirectory("."), tf.gfile.IsDirectory("missing")
    (True, False)
    """
    return os.path.isdir(local(dirname))


@_named
def ListDirectory(dirname: Path) -> list[str]:
    """Return the names in a directory. Raises NotFoundError.

    >>> tf.gfile.MakeDirs("logs/train")
    >>> tf.gfile.MakeDirs("logs/test")
    >>> sorted(tf.gfile.ListDirectory("logs"))
    ['test', 'train']
    """
    if not IsDirectory(dirname):
        raise NotFoundError(None, None, f"Could not find directory {local(dirname)}")
    return os.listdir(local(dirname))


@_named
def MkDir(dirname: Path) -> None:
    """Create a directory in an existing one; do nothing if the name exists.

    >>> tf.gfile.MkDir("logs")
    >>> tf.gfile.IsDirectory("logs")
    True
    """
    if not dirname:
        return
    with suppress(FileExistsError):
        os.mkdir(local(dirname))


def MakeDirs(dirname: Path) -> None:
    """Create a directory and its parents, if missing. Raises FailedPreconditionError if one of them is a file.

    >>> tf.gfile.MakeDirs("logs/train")
    >>> tf.gfile.IsDirectory("logs/train")
    True
    """
    make_folders(dirname)


@_named
def Remove(filename: Path) -> None:
    """Delete a file. Raises NotFoundError.

    >>> with tf.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.gfile.Remove("a.txt")
    >>> tf.gfile.Exists("a.txt")
    False
    """
    os.remove(local(filename))


@_named
def DeleteRecursively(dirname: Path) -> None:
    """Delete a directory and its contents, or a file or link. Raises NotFoundError.

    >>> tf.gfile.MakeDirs("logs/train")
    >>> tf.gfile.DeleteRecursively("logs")
    >>> tf.gfile.Exists("logs")
    False
    """
    path = local(dirname)
    if not os.path.lexists(path):
        raise NotFoundError(None, None, f"{path} not found")
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.remove(path)


def Copy(oldpath: Path, newpath: Path, overwrite: bool = False) -> None:
    """Copy a file. Raises AlreadyExistsError if the target exists, unless `overwrite`.

    >>> with tf.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.gfile.Copy("a.txt", "b.txt")
    >>> sorted(tf.gfile.ListDirectory("."))
    ['a.txt', 'b.txt']
    """
    old, new = local(oldpath), local(newpath)
    if not overwrite and os.path.exists(new):
        raise AlreadyExistsError(None, None, f"file already exists: {new}")
    with os_errors(old), open(old, "rb") as source, os_errors(new):
        if os.path.exists(new) and os.path.samefile(old, new):     # opening it for writing would empty it
            raise InvalidArgumentError(None, None, f"expected two files, got {old} and {new}, which are one")
        mode = stat.S_IMODE(os.fstat(source.fileno()).st_mode)
        with open(new, "wb", opener=lambda path, flags: os.open(path, flags, mode)) as target:
            shutil.copyfileobj(source, target)


@_named
def Rename(oldname: Path, newname: Path, overwrite: bool = False) -> None:
    """Move a file or directory. Raises AlreadyExistsError if the target exists, unless `overwrite`.

    >>> with tf.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.gfile.Rename("a.txt", "b.txt")
    >>> tf.gfile.ListDirectory(".")
    ['b.txt']
    """
    if not overwrite and Exists(newname):
        raise AlreadyExistsError(None, None, f"file already exists: {local(newname)}")
    os.replace(local(oldname), local(newname))


@_named
def Stat(filename: Path) -> FileStatistics:
    """Return the FileStatistics of a file or directory.

    >>> with tf.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> tf.gfile.Stat("a.txt").length
    4
    """
    found = os.stat(local(filename))
    return FileStatistics(found.st_size, found.st_mtime_ns, stat.S_ISDIR(found.st_mode))


def Glob(filename: Path | Sequence[Path]) -> list[str]:
    """Return the sorted files and directories that match one or more glob patterns.

    Names come as TensorFlow gives them: "*.txt" matches "./a.txt", and hidden files too.

    >>> tf.gfile.MakeDirs("logs/train")
    >>> tf.gfile.MakeDirs("logs/test")
    >>> [path.replace(chr(92), "/") for path in tf.gfile.Glob("logs/t*")]
    ['logs/test', 'logs/train']
    """
    patterns: Sequence[Any] = filename if isinstance(filename, (list, tuple)) else [filename]
    return sorted({name for pattern in patterns for name in matching(pattern)})


def Walk(top: Path, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk a directory tree: yield (directory, names of its subdirectories, names of its files) for each.

    in_order: a directory comes before its subdirectories.

    >>> tf.gfile.MakeDirs("logs/train")
    >>> [(folders, files) for path, folders, files in tf.gfile.Walk("logs")]
    [(['train'], []), ([], [])]
    """
    given, path = os.fsdecode(top), local(top)
    for folder, folders, files in os.walk(path, topdown=in_order):
        yield given + folder[len(path):], folders, files


def read_file_to_string(filename: Path, binary_mode: bool = False) -> Any:
    """Return the contents of a file as str, or as bytes in binary mode. Raises NotFoundError."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Path, file_content: str) -> None:
    """Write a string to a file, replacing its contents."""
    with GFile(filename, "w") as file:
        file.write(file_content)


describe(globals(), FILES)
