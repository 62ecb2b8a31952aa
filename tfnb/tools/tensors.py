"""Files of named tensors, whatever their format: checkpoints of both formats, .npz, .safetensors."""
from __future__ import annotations

import os
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.errors import DataLossError, NotFoundError
from tfnb.core.files.paths import local, open_regular
from tfnb.core.lazy import lazy_module
from tfnb.core.text import did_you_mean
from tfnb.proto.bundle import BundleReader
from tfnb.proto.checkpoint import open_checkpoint
from tfnb.train.checkpoints.state import latest_checkpoint

_safetensors = lazy_module("safetensors")
_ENDINGS = (".index", ".meta")
# What zipfile and NumPy raise for archives that are none, or damaged.
_DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, NotImplementedError, RuntimeError,
            SyntaxError, tokenize.TokenError, OverflowError)
# The names of dtypes in a safetensors header.
_SAFE = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
         "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8",
         "BOOL": "bool", "C64": "complex64"}


@dataclass(frozen=True)
class TensorInfo:
    """Facts about a tensor that are known without reading it."""

    dtype: DType
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The memory that the values take, in bytes (of strings: the references to them)."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.np_dtype.itemsize


@dataclass(frozen=True)
class TensorFile:
    """An open file of tensors: its format ("v1", "v2", "npz", "safetensors"), and `read(name)` for a value."""

    path: str
    format: str
    tensors: Mapping[str, TensorInfo]
    read: Callable[[str], np.ndarray]

    def called(self, name_of: Callable[[str], str | None]) -> TensorFile:
        """The same tensors under other names: name -> its new one, or None to leave it out."""
        names = {new: name for name in self.tensors if (new := name_of(name)) is not None}
        return replace(self, tensors={new: self.tensors[name] for new, name in names.items()},
                       read=lambda new: self.read(names[new]))


def checkpoint_prefix(path: str) -> str:
    """The prefix of the checkpoint that a file belongs to; of a directory, that of its newest. Raises NotFoundError."""
    if os.path.isdir(path):
        newest = latest_checkpoint(path)
        if newest is None:
            raise NotFoundError(None, None, f"the directory {path} has no checkpoint (no file called 'checkpoint' that "
                                "tells the newest)")
        return newest
    for ending in _ENDINGS:
        if path.endswith(ending):
            return path.removesuffix(ending)
    stem, found, _ = path.rpartition(".data-")
    return stem if found else path


def open_tensors(path: Any) -> TensorFile:
    """Open a checkpoint (by its prefix, one of its files, or its directory), an .npz or a .safetensors file.

    Raises NotFoundError, and DataLossError for a damaged file.
    """
    name = local(path)
    if name.endswith(".npz"):
        return _open_npz(name)
    if name.endswith(".safetensors"):
        return _open_safetensors(name)
    prefix = checkpoint_prefix(name)
    try:
        found = open_checkpoint(prefix)
    except NotFoundError as error:
        folder, wanted = os.path.split(prefix)
        there = [path.name.removesuffix(".index") for path in Path(folder or ".").glob("*.index")]
        raise NotFoundError(None, None, error.message + did_you_mean(wanted, there)) from None
    told = {key: TensorInfo(entry.dtype, tuple(entry.shape)) for key, entry in found.entries.items()}
    return TensorFile(prefix, "v2" if isinstance(found, BundleReader) else "v1", told, found.read)


def _open_npz(path: str) -> TensorFile:
    with open_regular(path):
        pass
    try:
        archive = zipfile.ZipFile(path)
        told = {name.removesuffix(".npy"): _npy_header(archive, name) for name in archive.namelist()}
    except _DAMAGED as error:
        raise DataLossError(None, None, f"{path} is no .npz file, or a damaged one: {error}") from None

    def read(name: str) -> np.ndarray:
        """An array of the archive. Raises NotFoundError, or what a damaged file raises."""
        try:
            with archive.open(f"{name}.npy") as file:
                return np.lib.format.read_array(file, allow_pickle=False)
        except KeyError:
            raise NotFoundError(None, None, f"{path} has no array called {name}") from None
        except _DAMAGED as error:
            raise DataLossError(None, None, f"{path}: {name} is damaged: {error}") from None
    return TensorFile(path, "npz", told, read)


def _npy_header(archive: zipfile.ZipFile, name: str) -> TensorInfo:
    """Return what the header of an array says, which must agree with the size that the archive states."""
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(file)
        size, start = archive.getinfo(name).file_size, file.tell()
    if dtype.hasobject:
        raise ValueError(f"{name} holds pickled objects, which are not read: they can run code")
    if start + int(np.prod(shape, dtype=np.int64)) * dtype.itemsize != size:
        raise ValueError(f"{name} has {size - start} bytes, which is not the size of {dtype}{list(shape)}")
    return TensorInfo(as_dtype(np.dtype(object) if dtype.kind in "SU" else dtype), tuple(map(int, shape)))


def _open_safetensors(path: str) -> TensorFile:
    with open_regular(path):
        pass
    try:
        file = _safetensors.safe_open(path, framework="numpy")
        told = {name: _info(path, name, file.get_slice(name)) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except _safetensors.SafetensorError as error:
        raise DataLossError(None, None, f"{path} is no .safetensors file, or a damaged one: {error}") from None

    def read(name: str) -> np.ndarray:
        """A tensor of the file. Raises NotFoundError."""
        with suppress(_safetensors.SafetensorError):
            return np.asarray(file.get_tensor(name))
        raise NotFoundError(None, None, f"{path} has no tensor called {name}")
    return TensorFile(path, "safetensors", told, read)


def _info(path: str, name: str, part: Any) -> TensorInfo:
    dtype = _SAFE.get(part.get_dtype())
    if dtype is None:
        raise DataLossError(None, None, f"{path}: {name} has the dtype {part.get_dtype()}, which tfnb does not have")
    return TensorInfo(as_dtype(dtype), tuple(part.get_shape()))
