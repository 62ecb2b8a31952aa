"""File ops: reading and writing whole files, arrays in files, and listing by glob pattern."""
from __future__ import annotations

import os
from math import prod
from typing import Any

import numpy as np

from tfnb.core.arguments import TENSORS, describe
from tfnb.core.errors import InternalError, InvalidArgumentError, UnimplementedError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local, make_folders, matching, read_bytes
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Operation, Tensor
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host


def _scalar(ctx: Any) -> list[Static]:
    for i in range(len(ctx.op.inputs)):
        merge(ctx.shape(i), ())
    return [()] * len(ctx.op.outputs)


@host("filename: string -> contents: string", shape=_scalar)
def ReadFile(filename: Any) -> Any:
    """Return the content of a file."""
    return np.array(read_bytes(filename[()]), object)


@host("filename: string, contents: string", shape=_scalar, stateful=True)
def WriteFile(filename: Any, contents: Any) -> Any:
    """Write a string to a file; the file and its directories are created where they don't exist."""
    path = local(filename[()])
    make_folders(os.path.dirname(path))
    with os_errors(path), open(path, "wb") as file:
        file.write(contents[()])
    return ()


@host("pattern: string -> filenames: string", shape=shapes.vector)
def MatchingFiles(pattern: Any, *, ctx: Any) -> Any:
    """List the files that match one or several glob patterns, sorted by name."""
    if pattern.ndim > 1:
        raise InvalidArgumentError(None, ctx.op, "Input patterns tensor must be scalar or vector, but had shape: "
                                                 f"{list(pattern.shape)}")
    found = {os.fsencode(name) for one in pattern.ravel() for name in matching(one)}
    made = np.empty(len(found), object)
    made[:] = sorted(found)
    return made


@host("-> tensor: dtype", shape=lambda ctx: [ctx.attrs["shape"]], dtype="type", shape_="shape",
      memory_region_name="string")
def ImmutableConst(*, dtype: Any, ctx: Any) -> Any:
    """Return an array that a file holds, element after element. memory_region_name: its path."""
    sizes, kind = ctx.op.attrs["shape"], np.dtype(dtype.np_dtype)
    if sizes is None or None in sizes:
        raise InvalidArgumentError(None, ctx.op, f"shape must be fully defined, got {sizes}")
    if kind.hasobject:
        raise UnimplementedError(None, ctx.op, f"an array of {dtype.name} is no region of memory")
    data, count = read_bytes(ctx.op.attrs["memory_region_name"]), prod(sizes)
    if len(data) < count * kind.itemsize:
        raise InternalError(None, ctx.op, f"expected {count * kind.itemsize} bytes in the file, got {len(data)}")
    return np.frombuffer(data, kind, count).reshape(sizes).copy()


ImmutableConst.no_gradient("it does not change")
for _op in (ReadFile, WriteFile, MatchingFiles):
    _op.no_gradient("it deals with strings")


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """Return the content of a file, a string scalar. Running it raises NotFoundError where there is none.

    >>> with tf.gfile.GFile("notes.txt", "w") as file:
    ...     file.write("text")
    >>> sess.run(tf.read_file("notes.txt"))
    b'text'
    """
    tensor: Tensor = ReadFile(filename, name=name)
    return tensor


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """Return an operation that writes a string to a file, and creates its directory where there is none.

    >>> sess.run(tf.write_file("notes.txt", "text"))
    >>> sess.run(tf.read_file("notes.txt"))
    b'text'
    """
    op: Operation = WriteFile(filename, contents, name=name)
    return op


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """List the files that match a glob pattern, or one of a vector of them, sorted: a string vector.

    >>> with tf.gfile.GFile("a.txt", "w") as file:
    ...     file.write("text")
    >>> sess.run(tf.matching_files("*.txt"))
    array([b'./a.txt'], dtype=object)
    """
    tensor: Tensor = MatchingFiles(pattern, name=name)
    return tensor


describe(globals(), TENSORS)
