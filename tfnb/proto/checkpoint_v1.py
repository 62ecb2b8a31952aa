"""Checkpoints of the first format (TensorFlow before 0.12): one table file for all tensors, or one a shard.

Under the key "" stands what tensors there are; under a key of each stored part a SavedTensorSlices message with its
value.
"""
from __future__ import annotations

import glob
import io
import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfnb.core.files.os_errors import os_errors
from tfnb.core.files.paths import local
from tfnb.core.lazy import lazy_module
from tfnb.proto import slices
from tfnb.proto.bundle import Array, Entry
from tfnb.proto.files import Staging, write_all
from tfnb.proto.nearby import nearby
from tfnb.proto.slices import Shape, Slice
from tfnb.proto.table import Table, write_table

_messages = lazy_module("tfnb.proto.saved_tensor_slice_pb2")

# The field of a TensorProto for each dtype; of those that are packed little-endian numbers, no element is looked at.
_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val", "uint8": "int_val", "int16": "int_val",
    "int8": "int_val", "uint16": "int_val", "int64": "int64_val", "bool": "bool_val", "complex64": "scomplex_val",
    "complex128": "dcomplex_val", "float16": "half_val", "bfloat16": "half_val", "string": "string_val",
    "qint8": "int_val", "quint8": "int_val", "qint32": "int_val", "qint16": "int_val", "quint16": "int_val",
}
PRODUCER = 1


class CheckpointV1:
    """An open checkpoint of the first format; the interface of BundleReader. pattern: a path, or a glob of shards.

    Raises NotFoundError if there is no such file, DataLossError for a damaged one.
    """

    def __init__(self, pattern: str) -> None:
        self.prefix = pattern = local(pattern)
        paths = sorted(glob.glob(pattern)) or ([pattern] if os.path.isfile(pattern) else [])
        if not paths:
            raise NotFoundError(None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
                                f"files for {pattern}{nearby(pattern)}")
        self.entries: dict[str, Entry] = {}
        self._tables: dict[str, list[Table]] = {}
        for path in paths:
            self._open(Table(path))

    def _open(self, table: Table) -> None:
        first = table.get(b"")
        if first is None:
            raise self._loss(table, "it tells of no tensors")
        for saved in self._parsed(table, first, "list of tensors").meta.tensor:
            shape = tuple(dim.size for dim in saved.shape.dim)
            parts = tuple(slices.from_message(message) for message in saved.slice)
            try:
                dtype = as_dtype(saved.type)
            except TypeError:
                raise self._loss(table, f"{saved.name!r} has the unknown dtype {saved.type}") from None
            if min(shape, default=0) < 0 or not all(slices.inside(shape, part) for part in parts):
                raise self._loss(table, f"{saved.name!r} has an impossible shape, or a part that is not inside it")
            known = self.entries.get(saved.name)
            if known is not None and (known.dtype, known.shape) != (dtype, shape):
                raise self._loss(table, f"{saved.name!r} has another dtype or shape in another file")
            parts = (known.parts if known else ()) + parts
            self.entries[saved.name] = Entry(dtype, shape, 0, 0, 0, 0, parts)
            self._tables.setdefault(saved.name, []).append(table)

    def _loss(self, table: Table, what: str) -> DataLossError:
        return DataLossError(None, None, f"{table.path}: {what}")

    def _parsed(self, table: Table, data: memoryview, what: str) -> Any:
        try:
            return _messages.SavedTensorSlices.FromString(bytes(data))
        except Exception as error:                 # the protobuf runtime's own class, not worth an import
            raise self._loss(table, f"the {what} can't be parsed: {error}") from None

    def find(self, name: str) -> Entry:
        """The entry of a tensor. Raises NotFoundError if there is none."""
        found = self.entries.get(name)
        if found is None:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint {self.prefix}")
        return found

    def read_all(self, wanted: Sequence[tuple[str, Slice | None]]) -> list[Array]:
        """The values of several tensors, or parts of them."""
        return [self.read(name, part) for name, part in wanted]

    def read(self, name: str, part: Slice | None = None) -> Array:
        """The value of a tensor, or of a part of it. Raises as BundleReader.read."""
        entry = self.find(name)
        part = part or (None,) * len(entry.shape)
        if not slices.inside(entry.shape, part):
            raise InvalidArgumentError(None, None, f"{self.prefix}: the slice {part} is not inside the tensor {name}, "
                                       f"which has the shape {list(entry.shape)}")
        pieces = [(stored, at) for stored in entry.parts
                  if (at := slices.common(entry.shape, part, stored)) is not None]
        size = math.prod(slices.shape_of(entry.shape, part))
        if sum(slices.volume(at[0]) for _, at in pieces) != size:
            raise NotFoundError(None, None, f"{self.prefix}: the stored parts of {name} don't cover the part "
                                f"{slices.extents(entry.shape, part)} of {list(entry.shape)}")
        values = [self._value(name, entry, stored) for stored, _ in pieces]
        made = np.empty(slices.shape_of(entry.shape, part), entry.dtype.np_dtype)
        for value, (_, (target, source)) in zip(values, pieces, strict=True):
            made[target] = value[source]
        return made

    def _value(self, name: str, entry: Entry, stored: Slice) -> Array:
        key = slices.key(name, stored)
        for table in self._tables[name]:
            data = table.get(key)
            if data is not None:
                tensor = self._parsed(table, data, f"value of {name!r}").data.data
                return self._array(table, name, entry.dtype, tensor, slices.shape_of(entry.shape, stored))
        raise DataLossError(None, None, f"{self.prefix}: the part {stored} of {name} is missing")

    def _array(self, table: Table, name: str, dtype: DType, tensor: Any, shape: Shape) -> Array:
        count = math.prod(shape)
        if dtype.name not in _FIELDS:
            raise UnimplementedError(None, None, f"{table.path}: {name} is a {dtype.name}")
        if tensor.tensor_content:
            if len(tensor.tensor_content) != count * dtype.size:
                raise self._loss(table, f"{name!r} has {len(tensor.tensor_content)} bytes for {dtype.name}{shape}")
            return np.frombuffer(tensor.tensor_content, dtype.np_dtype).reshape(shape)
        flat = _elements(getattr(tensor, _FIELDS[dtype.name]), dtype)
        if len(flat) != count:
            raise self._loss(table, f"{name!r} has {len(flat)} elements for {dtype.name}{list(shape)}")
        return flat.reshape(shape)


def _elements(values: Any, dtype: DType) -> Array:
    if dtype.name in ("float16", "bfloat16"):
        return np.array(values, np.uint16).view(dtype.np_dtype)
    if dtype.is_complex:
        return np.array(values, dtype.real_dtype.np_dtype).view(dtype.np_dtype)
    if dtype.name == "string":
        made = np.empty(len(values), object)
        made[:] = list(values)
        return made
    if dtype.is_quantized:
        return np.array(values, dtype.np_dtype[0]).view(dtype.np_dtype)
    return np.array(values, np.int64 if dtype.is_integer else None).astype(dtype.np_dtype)


def write_v1(path: str, tensors: Iterable[tuple[str, Array, DType, Shape, Slice | None]]) -> None:
    """Write a checkpoint of the first format: (name, value, dtype, full shape, part of it or None for all).

    Raises InvalidArgumentError for a dtype that the format has no place for and a name that comes twice.
    """
    meta = _messages.SavedTensorSlices()
    meta.meta.versions.producer = PRODUCER
    path = local(path)
    known: dict[str, Any] = {}
    values: dict[bytes, bytes] = {}
    for name, array, dtype, full, part in tensors:
        stored: Slice = part if part is not None else (None,) * array.ndim
        saved = known.get(name)
        if saved is None:
            saved = known[name] = meta.meta.tensor.add(name=name, type=dtype.as_datatype_enum)
            saved.shape.SetInParent()
            for size in full if part is not None else array.shape:
                saved.shape.dim.add(size=size)
        saved.slice.append(slices.to_message(stored))
        key = slices.key(name, stored)
        if key in values or dtype.name not in _FIELDS:
            why = "comes twice" if key in values else f"is a {dtype.name}, which checkpoints of version 1 can't hold"
            raise InvalidArgumentError(None, None, f"{path}: {name} {why}")
        values[key] = _saved(name, array, dtype, stored).SerializeToString()
    staging = Staging()
    with os_errors(path):
        try:
            made = io.BytesIO()
            write_table(made, [(b"", meta.SerializeToString()), *sorted(values.items())])
            write_all(staging.create(path), made.getbuffer())
            staging.commit([], path)
        except BaseException:
            staging.discard([], path)
            raise


def _saved(name: str, array: Array, dtype: DType, part: Slice) -> Any:
    made = _messages.SavedTensorSlices()
    made.data.name = name
    made.data.slice.CopyFrom(slices.to_message(part))
    tensor = made.data.data
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype.name in ("float16", "bfloat16"):
        flat = flat.view(np.uint16)
    elif dtype.is_complex:
        flat = flat.view(dtype.real_dtype.np_dtype)
    elif dtype.is_quantized:
        flat = flat.view(dtype.np_dtype[0])
    getattr(tensor, _FIELDS[dtype.name]).extend(flat.tolist())
    return made
