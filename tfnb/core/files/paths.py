"""Paths as TensorFlow takes them: of this machine, "file://" URLs, and patterns of them."""
from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

from tfnb.core.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tfnb.core.files.os_errors import os_errors

Path = str | bytes | os.PathLike[str]
# Two letters at least: "C:" begins a path of Windows.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)", re.DOTALL)
_DRIVE = re.compile(r"/[A-Za-z]:")
_MAGIC = re.compile(r"[*?\[\\]" if os.sep == "/" else r"[*?\[]")


def local(path: Path) -> str:
    """Return the path on this machine of a path or a "file://" URL, as a string.

    Raises UnimplementedError for another scheme, InvalidArgumentError for a NUL character, TypeError for no path.
    """
    text = os.fsdecode(path)
    if "\0" in text:
        raise InvalidArgumentError(None, None, f"expected a path without NUL characters, got {text!r}")
    found = _URL.match(text)
    if found is None:
        return text
    if found[1] != "file":
        raise UnimplementedError(None, None, f"File system scheme '{found[1]}' not implemented (file: '{text}')")
    rest = text[found.end():]
    return rest[1:] if os.name == "nt" and _DRIVE.match(rest) else rest


def open_regular(path: Path) -> IO[bytes]:
    """Open a regular file for reading: a pipe would block, and a device has no end.

    Raises FailedPreconditionError for anything else, and as `os_errors`.
    """
    name = local(path)
    require_regular(name)
    with os_errors(name):
        return open(name, "rb")


def require_regular(path: str) -> None:
    """Raise FailedPreconditionError unless a path is a regular file, and as `os_errors`."""
    with os_errors(path):
        mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        reason = os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "expected a regular file, got a device or a pipe"
        raise FailedPreconditionError(None, None, f"{path}; {reason}")


def read_rest(file: IO[bytes], size: int = -1) -> bytes:
    """Read up to `size` bytes of an open file; the rest for -1, of a character device nothing."""
    if size < 0 and stat.S_ISCHR(os.fstat(file.fileno()).st_mode):     # /dev/zero has no end
        return b""
    return file.read(size)


def read_bytes(path: Path) -> bytes:
    """Return the contents of a file. Raises as `os_errors`."""
    name = local(path)
    with os_errors(name), open(name, "rb") as file:
        return read_rest(file)


def make_folders(path: Path) -> None:
    """Create a directory and its parents, if missing.

    Raises FailedPreconditionError where one of them is a file, else as `os_errors`.
    """
    folder = local(path)
    with os_errors(folder):
        try:
            os.makedirs(folder or ".", exist_ok=True)
        except FileExistsError as error:
            raise FailedPreconditionError(None, None, f"{error.filename or folder} is not a directory") from None


def matching(pattern: Path) -> Iterator[str]:
    """Yield the files and directories that match a glob pattern of *, ?, [...] and backslashes.

    A leading dot is matched as any other character. Names begin as the pattern does: with "file://" or the folder,
    or with "./" where a pattern without a folder has wildcards.
    """
    text = os.fsdecode(pattern)
    plain = local(text)
    start = text.removesuffix(plain)
    if os.sep == "\\":
        plain = plain.replace("\\", "/")
    if not _MAGIC.search(plain):
        yield from [start + plain] if plain and os.path.exists(plain) else []
        return
    parts = plain.rstrip("/").split("/")
    fixed = next(i for i, part in enumerate(parts) if _MAGIC.search(part))
    top = "/".join(parts[:fixed]) or ("/" if plain.startswith("/") else ".")
    for found in _descend(top, [_expression(part) for part in parts[fixed:]]):
        yield start + found


def _descend(folder: str, expressions: list[re.Pattern[str]]) -> Iterator[str]:
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(folder)
    for name in names:
        if expressions[0].fullmatch(name):
            path = f"{folder.rstrip('/')}/{name}"
            if len(expressions) == 1:
                yield path
            else:
                yield from _descend(path, expressions[1:])


def _expression(part: str) -> re.Pattern[str]:
    """Compile one path component of a glob pattern."""
    made, rest = "", part
    while rest:
        group = re.match(r"\[([!^]?)(\]?[^\]]*)\]", rest, re.DOTALL)
        if rest[0] in "*?":
            made, rest = made + (".*" if rest[0] == "*" else "."), rest[1:]
        elif group is not None:
            inside = re.sub(r"([\\\[\]&~|^])", r"\\\1", group[2])
            made, rest = f"{made}[{'^' if group[1] else ''}{inside}]", rest[group.end():]
        else:
            skip = rest[0] == "\\" and os.sep == "/" and len(rest) > 1
            made, rest = made + re.escape(rest[skip]), rest[1 + skip:]
    with suppress(re.error):
        return re.compile(made, re.DOTALL)
    return re.compile(re.escape(part))             # such as "[z-a]", which fnmatch takes for no range
