"""Checkpoint ops: saving and restoring tensors, and the file names of checkpoints.

A variable that is saved goes from its memory to the file; one that is restored is copied from the file's memory map.
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType
from tfnb.core.errors import CODES, FailedPreconditionError, InvalidArgumentError, OpError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static, merge
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host

_bundle = lazy_module("tfnb.proto.bundle_writer")
_v1 = lazy_module("tfnb.proto.checkpoint_v1")
_checkpoint = lazy_module("tfnb.proto.checkpoint")
_slices = lazy_module("tfnb.proto.slices")

Strings = np.ndarray[Any, Any]


def _text(value: Any) -> str:
    """Return a string tensor of one element as text. File names that are not UTF-8 stay the bytes they are."""
    data = value.item() if isinstance(value, np.ndarray) else value
    return data if isinstance(data, str) else os.fsdecode(data)


def _texts(values: Strings) -> list[str]:
    return [_text(value) for value in values.reshape(-1)]


class Naming:
    """A context whose errors name the op that met them."""

    def __init__(self, ctx: Any) -> None:
        self._op = ctx.op

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OpError) and error.op is None:
            code = () if type(error) in CODES else (error.error_code,)
            raise type(error)(None, self._op, f"{error.message}\n\t [[node {self._op.name}]]", *code) from None


def _require(ctx: Any, holds: bool, message: str) -> None:
    if not holds:
        raise InvalidArgumentError(None, ctx.op, f"{message}\n\t [[node {ctx.op.name}]]")


def _specs(ctx: Any, names: Sequence[str], specs: Sequence[str], count: int) -> list[tuple[Any, Any]]:
    """For each tensor its full shape and its part; None and None where there is no spec."""
    _require(ctx, len(names) == count == len(specs), f"{count} tensors have {len(names)} names and {len(specs)} specs "
                                                     "of slices")
    found: list[tuple[Any, Any]] = []
    for name, spec in zip(names, specs, strict=True):
        try:
            found.append(_slices.read_spec(spec) if spec else (None, None))
        except ValueError as error:
            _require(ctx, False, f"{name}: {error}")
    return found


def _dtypes(ctx: Any, count: int) -> list[DType]:
    return [t.dtype.base_dtype for t in ctx.op.inputs[-count:]]


def _no_outputs(ctx: Any) -> list[Static]:
    """Checks what is known of file name (a scalar), names and specs (lists)."""
    merge(ctx.shape(0), ())
    for i in range(1, len(ctx.op.spec.inputs) - 1):
        merge(ctx.shape(i), (None,))
    return []


@contextmanager
def _folder(path: str) -> Iterator[None]:
    """Make a folder, one level as TensorFlow, where it is missing; remove it if the block fails and leaves it empty."""
    made = False
    if path and not os.path.isdir(path):
        with os_errors(path):
            try:
                os.mkdir(path)
                made = True
            except FileExistsError:                # another saver's, made meanwhile; or a file
                if not os.path.isdir(path):
                    raise FailedPreconditionError(None, None, f"{path} is not a directory") from None
    try:
        yield
    except BaseException:
        if made:
            with suppress(OSError):
                os.rmdir(path)
        raise


# ---- saving ----------------------------------------------------------------------------------------------------------

@host("prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes", shape=_no_outputs,
      stateful=True, role="saver", dtypes="list(type) >= 1")
def SaveV2(prefix: Any, tensor_names: Any, shape_and_slices: Any, tensors: Any, *, ctx: Any) -> Any:
    """Write tensors as the checkpoint `prefix`, atomically.

    A shape_and_slices of "" stands for a whole tensor; "10 4 0,5:-" says that the value is rows 0 to 4 of a tensor of
    shape [10, 4].
    """
    names, path = _texts(tensor_names), _text(prefix)
    specs = _specs(ctx, names, _texts(shape_and_slices), len(tensors))
    with Naming(ctx), _folder(os.path.dirname(local(path))):
        writer = _bundle.BundleWriter(path)
        try:
            for name, array, dtype, (full, part) in zip(names, tensors, _dtypes(ctx, len(tensors)), specs,
                                                        strict=True):
                writer.add(name, array, dtype, full or (), part)
            writer.finish()
        except BaseException:
            writer.discard()
            raise


def _save_v1(ctx: Any, filename: Any, names: list[str], specs: list[str], data: Sequence[Any]) -> None:
    parts = _specs(ctx, names, specs, len(data))
    for name, array, (full, part) in zip(names, data, parts, strict=True):
        _require(ctx, part is None or _slices.shape_of(full, part) == array.shape,
                 f"the slice of {name} does not have the shape {list(array.shape)} of its value")
    with Naming(ctx):
        _v1.write_v1(_text(filename), [(name, array, dtype, full or (), part) for name, array, dtype, (full, part)
                                       in zip(names, data, _dtypes(ctx, len(data)), parts, strict=True)])


@host("filename: string, tensor_names: string, data: T", shape=_no_outputs, stateful=True,
      role="saver", T="list(type) >= 1")
def Save(filename: Any, tensor_names: Any, data: Any, *, ctx: Any) -> Any:
    """Write tensors as a checkpoint of the first format: one file."""
    _save_v1(ctx, filename, _texts(tensor_names), [""] * len(data), data)


@host("filename: string, tensor_names: string, shapes_and_slices: string, data: T", shape=_no_outputs,
      stateful=True, role="saver", T="list(type) >= 1")
def SaveSlices(filename: Any, tensor_names: Any, shapes_and_slices: Any, data: Any, *, ctx: Any) -> Any:
    """Write tensors, or parts of tensors (see SaveV2), as a checkpoint of the first format: one file."""
    _save_v1(ctx, filename, _texts(tensor_names), _texts(shapes_and_slices), data)


@host("checkpoint_prefixes: string, destination_prefix: string", shape=lambda ctx: [], stateful=True, role="saver",
      delete_old_dirs="bool = true", allow_missing_files="bool = false")
def MergeV2Checkpoints(checkpoint_prefixes: Any, destination_prefix: Any, *, delete_old_dirs: bool,
                       allow_missing_files: bool, ctx: Any) -> Any:
    """Merge several checkpoints (the shards of one save) into one; their files are moved."""
    with Naming(ctx):
        _bundle.merge(_texts(checkpoint_prefixes), _text(destination_prefix), delete_old_dirs, allow_missing_files)


# ---- restoring -------------------------------------------------------------------------------------------------------

def _restored_shapes(ctx: Any) -> list[Static]:
    """Infer the shapes of restored tensors from their slice specs."""
    merge(ctx.shape(0), ())
    merge(merge((len(ctx.op.outputs),), ctx.shape(1)), ctx.shape(2))
    specs = ctx.value(2)
    if specs is None:
        return [None] * len(ctx.op.outputs)
    return [_slices.shape_of(*_slices.read_spec(spec)) if spec else None for spec in _texts(specs)]


def _restore(ctx: Any, prefix: str, names: list[str], specs: list[str], dtypes: Sequence[DType]) -> list[Any]:
    wanted = _specs(ctx, names, specs, len(dtypes))
    with Naming(ctx):
        found = _checkpoint.open_checkpoint(prefix)
        for name, dtype, (full, _) in zip(names, dtypes, wanted, strict=True):
            entry = found.find(name)
            _require(ctx, entry.dtype is dtype, f"tensor_name = {name}; expected dtype {dtype.name} does not equal "
                                                f"original dtype {entry.dtype.name} (in {prefix})")
            _require(ctx, full is None or full == entry.shape,
                     f"tensor_name = {name}; shape in shape_and_slice spec {list(full or ())} does not match the shape "
                     f"stored in checkpoint: {list(entry.shape)} (in {prefix})")
        values: list[Any] = found.read_all([(name, part) for name, (_, part) in zip(names, wanted, strict=True)])
        return values


@host("prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes",
      shape=_restored_shapes, stateful=True, role="saver", dtypes="list(type) >= 1")
def RestoreV2(prefix: Any, tensor_names: Any, shape_and_slices: Any, *, dtypes: Any, ctx: Any) -> Any:
    """Read tensors, or parts of tensors (see SaveV2), from the checkpoint `prefix`, of either format."""
    return _restore(ctx, _text(prefix), _texts(tensor_names), _texts(shape_and_slices), dtypes)


@host("file_pattern: string, tensor_name: string -> tensor: dt", shape=shapes.unknown, stateful=True,
      role="saver", dt="type", preferred_shard="int = -1")
def Restore(file_pattern: Any, tensor_name: Any, *, dt: DType, ctx: Any) -> Any:
    """Read a tensor from a checkpoint, whose files `file_pattern` names."""
    return _restore(ctx, _text(file_pattern), [_text(tensor_name)], [""], [dt])


@host("file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt", shape=shapes.unknown,
      stateful=True, role="saver", dt="type", preferred_shard="int = -1")
def RestoreSlice(file_pattern: Any, tensor_name: Any, shape_and_slice: Any, *, dt: DType, ctx: Any) -> Any:
    """Read a tensor, or a part of one (see SaveV2), from a checkpoint, whose files `file_pattern` names."""
    return _restore(ctx, _text(file_pattern), [_text(tensor_name)], [_text(shape_and_slice)], [dt])


# ---- names -----------------------------------------------------------------------------------------------------------

def _scalar_name(ctx: Any) -> list[Static]:
    for i in range(len(ctx.op.inputs)):
        merge(ctx.shape(i), ())
    return [()]


def _name(text: str) -> Any:
    return np.array(os.fsencode(text), object)


@host("basename: string, shard: int32, num_shards: int32 -> filename: string", shape=_scalar_name)
def ShardedFilename(basename: Any, shard: Any, num_shards: Any) -> Any:
    """Format the file name of a shard: "base-00003-of-00012"."""
    return _name(f"{_text(basename)}-{int(shard):05d}-of-{int(num_shards):05d}")


@host("basename: string, num_shards: int32 -> filename: string", shape=_scalar_name)
def ShardedFilespec(basename: Any, num_shards: Any) -> Any:
    """Format the glob pattern of the file names of all shards: "base-?????-of-00012"."""
    return _name(f"{_text(basename)}-?????-of-{int(num_shards):05d}")


for _op in (SaveV2, Save, SaveSlices, MergeV2Checkpoints):
    _op.no_gradient("it writes files")
for _op in (RestoreV2, Restore, RestoreSlice):
    _op.no_gradient("what it gives stands in a file")
for _op in (ShardedFilename, ShardedFilespec):
    _op.no_gradient("it joins strings")


for _op in (SaveV2, Save, SaveSlices, MergeV2Checkpoints):
    _op.no_gradient("it writes files")
for _op in (RestoreV2, Restore, RestoreSlice, ShardedFilename, ShardedFilespec):
    _op.no_gradient("its inputs are names of files and tensors")
