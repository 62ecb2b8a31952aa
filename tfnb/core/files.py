"""`tf.gfile`: files and folders, with errors of tf.errors. Paths are those of this machine ("file://" may precede)."""
from __future__ import annotations

import errno
import glob
import os
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from tfnb.core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnknownError,
)
from tfnb.core.lazy import lazy_module

shutil = lazy_module("shutil")              # with what it imports 2 ms

Path = str | bytes | os.PathLike[str]
_CLASSES: dict[int, Callable[..., OpError]] = {
    errno.ENOENT: NotFoundError, errno.ENOTDIR: FailedPreconditionError, errno.EISDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError, errno.EACCES: PermissionDeniedError, errno.EPERM: PermissionDeniedError,
    errno.EROFS: PermissionDeniedError, errno.ENOSPC: ResourceExhaustedError, errno.EDQUOT: ResourceExhaustedError,
    errno.EMFILE: ResourceExhaustedError, errno.EFBIG: ResourceExhaustedError, errno.EEXIST: AlreadyExistsError,
    errno.ENAMETOOLONG: InvalidArgumentError,
}
_F = TypeVar("_F", bound=Callable[..., Any])


def local(path: Path) -> str:
    """A path as a string, without "file://"."""
    return os.fsdecode(path).removeprefix("file://")


def named_error(error: OSError, path: Path) -> OpError:
    """The error of tf.errors for one of the operating system."""
    kind = _CLASSES.get(error.errno or 0, UnknownError)
    return kind(None, None, f"{local(path)}; {error.strerror or error}")


def _named(fn: _F) -> _F:
    @wraps(fn)
    def call(path: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return fn(path, *args, **kwargs)
        except OSError as error:
            raise named_error(error, error.filename or path) from None
    return call                                    # type: ignore[return-value]


def make_folder(path: str, parents: bool = True) -> None:
    """Make a folder where there is none, with its parents. Raises FailedPreconditionError where there is a file."""
    try:
        if parents:
            os.makedirs(path or ".", exist_ok=True)
        elif not os.path.isdir(path or "."):
            os.mkdir(path)
    except FileExistsError as error:
        raise FailedPreconditionError(None, None, f"{error.filename or path} is not a directory") from None
    except OSError as error:
        raise named_error(error, error.filename or path) from None


class FileStatistics(NamedTuple):
    """What `Stat` tells: bytes, nanoseconds since 1970, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


class GFile:
    """A file, opened when it is first read or written. Text is UTF-8; modes with "b" give bytes.

    Raises InvalidArgumentError for other modes than r, w, a, r+, w+, a+; when it is used, PermissionDeniedError for
    what the mode does not allow, NotFoundError if it is not there.
    """

    def __init__(self, name: Path, mode: str = "r") -> None:
        self._name, self._mode, self._binary, self._file = name, mode, "b" in mode, None
        plain = mode.replace("b", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._reads, self._writes = "r" in plain or "+" in plain, plain != "r"
        self._plain = plain

    @property
    def name(self) -> Path:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """How it was opened."""
        return self._mode

    def _open(self) -> Any:
        if self._file is None:
            try:
                self._file = open(local(self._name), self._plain + "b")  # type: ignore[assignment]
            except OSError as error:
                raise named_error(error, self._name) from None
        return self._file

    def _reading(self) -> Any:
        if not self._reads:
            raise PermissionDeniedError(None, None, "File isn't open for reading")
        return self._open()

    def _given(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes (or what they spell), or all the rest."""
        return self._given(self._reading().read(n))

    def readline(self) -> Any:
        """The next line, with its end; empty at the end of the file."""
        return self._given(self._reading().readline())

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return [self._given(line) for line in self._reading()]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.readlines())

    def write(self, file_content: Any) -> None:
        """Append text or bytes."""
        if not self._writes:
            raise PermissionDeniedError(None, None, "File isn't open for writing")
        self._open().write(file_content.encode() if isinstance(file_content, str) else file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a place: from the beginning, from here (whence=1) or from the end (2). position: an older name."""
        self._open().seek((offset if offset is not None else position) or 0, whence)

    def seekable(self) -> bool:
        """True: one can go to a place."""
        return True

    def tell(self) -> int:
        """The place in the file."""
        return int(self._open().tell())

    def size(self) -> int:
        """The size of the file in bytes."""
        self.flush()
        return Stat(self._name).length

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        elif self._writes and self._plain != "r+":
            self._open().close()
        self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


FastGFile = Open = GFile


def Exists(filename: Path) -> bool:
    """Is there a file or folder?"""
    return os.path.exists(local(filename))


def IsDirectory(dirname: Path) -> bool:
    """Is it a folder?"""
    return os.path.isdir(local(dirname))


@_named
def ListDirectory(dirname: Path) -> list[str]:
    """The names in a folder. Raises NotFoundError."""
    if not IsDirectory(dirname):
        raise NotFoundError(None, None, f"Could not find directory {local(dirname)}")
    return os.listdir(local(dirname))


@_named
def MkDir(dirname: Path) -> None:
    """Make a folder in a folder that is there; nothing if it is there itself."""
    if not IsDirectory(dirname):
        os.mkdir(local(dirname))


def MakeDirs(dirname: Path) -> None:
    """Make a folder, and those before it; nothing if it is there. Raises FailedPreconditionError if a file is."""
    make_folder(local(dirname))


@_named
def Remove(filename: Path) -> None:
    """Delete a file. Raises NotFoundError."""
    os.remove(local(filename))


@_named
def DeleteRecursively(dirname: Path) -> None:
    """Delete a folder and all in it, or a file. Raises NotFoundError."""
    if not Exists(dirname):
        raise NotFoundError(None, None, f"{local(dirname)} not found")
    if IsDirectory(dirname):
        shutil.rmtree(local(dirname))
    else:
        os.remove(local(dirname))


@_named
def Copy(oldpath: Path, newpath: Path, overwrite: bool = False) -> None:
    """Copy a file. Raises AlreadyExistsError if the new one is there, unless `overwrite`."""
    if not overwrite and Exists(newpath):
        raise AlreadyExistsError(None, None, f"file already exists: {local(newpath)}")
    shutil.copyfile(local(oldpath), local(newpath))


@_named
def Rename(oldname: Path, newname: Path, overwrite: bool = False) -> None:
    """Move a file or folder. Raises AlreadyExistsError if the new one is there, unless `overwrite`."""
    if not overwrite and Exists(newname):
        raise AlreadyExistsError(None, None, f"file already exists: {local(newname)}")
    os.replace(local(oldname), local(newname))


@_named
def Stat(filename: Path) -> FileStatistics:
    """The size, time and kind of a file or folder."""
    found = os.stat(local(filename))
    return FileStatistics(found.st_size, found.st_mtime_ns, IsDirectory(filename))


def Glob(filename: Path | Sequence[Path]) -> list[str]:
    """The files and folders that match a pattern, or one of several, sorted."""
    patterns: Sequence[Any] = filename if isinstance(filename, (list, tuple)) else [filename]
    return sorted({name for pattern in patterns for name in glob.glob(local(pattern))})


def Walk(top: Path, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """(folder, names of folders in it, names of files in it) for a folder and all under it."""
    yield from os.walk(local(top), topdown=in_order)
