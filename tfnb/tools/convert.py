"""Checkpoints from one format to another, a tensor at a time."""
from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.errors import AlreadyExistsError, InvalidArgumentError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.lazy import lazy_module
from tfnb.proto.bundle_writer import BundleWriter
from tfnb.proto.checkpoint import checkpoint_files
from tfnb.proto.checkpoint_v1 import write_v1
from tfnb.proto.files import Staging
from tfnb.tools.tensors import TensorFile, open_tensors

_safetensors_numpy = lazy_module("safetensors.numpy")

Values = Iterator[tuple[str, np.ndarray, DType]]


def format_of(path: str) -> str:
    """The format that the ending of a path asks for: "npz", "safetensors", else "v2"."""
    return next((kind for kind in ("npz", "safetensors") if path.endswith(f".{kind}")), "v2")


def convert(source: Any, target: Any, to: str | None = None, overwrite: bool = False,
            progress: Callable[[int], Any] | None = None) -> TensorFile:
    """Write the tensors of one file to another of the format `to`: "v1", "v2", "npz", "safetensors".

    source: see `open_tensors`; target: a path (a prefix for "v2"), whose ending tells the format if `to` is None;
    progress: called with the number of bytes of each tensor when it is written. Checkpoints and .npz are written a
    tensor at a time; safetensors needs memory for all of them. Returns the source. Raises AlreadyExistsError unless
    `overwrite`, InvalidArgumentError for a dtype that the target can't hold (strings and bfloat16 are not for all).
    """
    path = os.fsdecode(target)
    form = to or format_of(path)
    if form not in _WRITERS:
        raise InvalidArgumentError(None, None, f"there is no format {to!r}: it is one of {', '.join(_WRITERS)}")
    found = open_tensors(source)
    if not overwrite and (os.path.exists(path) or checkpoint_files(path)):
        raise AlreadyExistsError(None, None, f"{path} exists already; overwrite it, or choose another name")
    _WRITERS[form](path, _values(found, progress))
    return found


def _values(found: TensorFile, progress: Callable[[int], Any] | None) -> Values:
    for name in sorted(found.tensors):
        told = found.tensors[name]
        array = np.asarray(found.read(name))
        if array.dtype.kind == "U":
            array = np.char.encode(array, "utf-8")
        if array.dtype.kind == "S":
            array = array.astype(object)
        yield name, array, told.dtype
        if progress is not None:
            progress(told.bytes)


def _write_v2(path: str, values: Values) -> None:
    writer = BundleWriter(path)
    try:
        for name, array, dtype in values:
            writer.add(name, array, dtype)
    except BaseException:
        writer.discard()
        raise
    writer.finish()


def _write_v1(path: str, values: Values) -> None:
    write_v1(path, ((name, array, dtype, array.shape, (None,) * array.ndim) for name, array, dtype in values))


def _write_npz(path: str, values: Values) -> None:
    staging = Staging()
    try:
        with os_errors(path):
            with zipfile.ZipFile(staging.path(path), "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
                for name, array, dtype in values:
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                        np.lib.format.write_array(file, _for_npz(path, name, array, dtype), allow_pickle=False)
            staging.commit([], path)
    except BaseException:
        staging.discard([], path)
        raise


def _for_npz(path: str, name: str, array: np.ndarray, dtype: DType) -> np.ndarray:
    if dtype.name == "string":
        if any(value.endswith(b"\0") for value in array.reshape(-1)):
            raise InvalidArgumentError(None, None, f"{path}: {name} has strings that end with a zero byte, which an "
                                       ".npz file does not keep")
        return array.astype(bytes)
    if dtype.np_dtype.kind == "V":                 # bfloat16 and quantized numbers, which NumPy writes as mere bytes
        raise InvalidArgumentError(None, None, f"{path}: {name} is {dtype.name}, which an .npz file can't tell")
    return array


def _write_safetensors(path: str, values: Values) -> None:
    tensors = {}
    for name, array, dtype in values:
        if dtype.name in ("string", "complex128") or dtype.is_quantized:
            raise InvalidArgumentError(None, None, f"{path}: {name} is {dtype.name}, which safetensors does not have")
        tensors[name] = np.ascontiguousarray(array).reshape(array.shape)
    with os_errors(path):
        _safetensors_numpy.save_file(tensors, path)


_WRITERS: dict[str, Callable[[str, Values], None]] = {
    "v1": _write_v1, "v2": _write_v2, "npz": _write_npz, "safetensors": _write_safetensors}
