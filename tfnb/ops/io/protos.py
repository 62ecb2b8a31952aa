"""Messages of protocol buffers in strings: `tf.io.decode_proto`, `tf.io.encode_proto`.

Descriptors are those that this process knows ("local://": the modules that a program has imported, TensorFlow's own
messages by their names there), or those of a FileDescriptorSet in a file or behind "bytes://".
"""
from __future__ import annotations

import importlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tfnb.core.errors import DataLossError, InvalidArgumentError
from tfnb.core.lazy import lazy_module
from tfnb.core.shape import Static, broadcast
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.public import public
from tfnb.proto import __path__ as _folders
from tfnb.proto.wire import KINDS, read_fields, write_field

_pools, _descriptors = lazy_module("google.protobuf.descriptor_pool"), lazy_module("google.protobuf.descriptor_pb2")
_classes, _text = lazy_module("google.protobuf.message_factory"), lazy_module("google.protobuf.text_format")
_OWN, _OFFICIAL = "tfnb.", "tensorflow."


@lru_cache(maxsize=64)
def _pool(source: bytes) -> Any:
    """Return the pool of the descriptors that a source has. Raises ValueError for none."""
    if source in (b"", b"local://"):
        return _pools.Default()
    if source.startswith(b"bytes://"):
        data = source.removeprefix(b"bytes://")
    else:
        try:
            data = Path(source.decode()).read_bytes()
        except OSError as error:
            raise ValueError(f"no descriptors: {error}") from None
    pool = _pools.DescriptorPool()
    try:
        for file in _descriptors.FileDescriptorSet.FromString(data).file:
            pool.AddSerializedFile(file.SerializeToString())
    except Exception as error:                     # of the protobuf runtime, of classes that differ with its version
        raise ValueError(f"expected a FileDescriptorSet as descriptor_source: {error}") from None
    return pool


@lru_cache(maxsize=1)
def _import_messages() -> None:
    for path in sorted(file for folder in _folders for file in Path(folder).glob("*_pb2.py")):
        importlib.import_module(f"tfnb.proto.{path.stem}")


def _descriptor(attrs: Any) -> Any:
    """Return the descriptor of an op's message. Raises ValueError if there is none of that name."""
    name, pool = attrs["message_type"].decode(), _pool(attrs["descriptor_source"])
    names = [name]
    if pool is _pools.Default() and name.startswith(_OFFICIAL):
        _import_messages()
        names.append(_OWN + name.removeprefix(_OFFICIAL))
    for each in names:
        try:
            return pool.FindMessageTypeByName(each)
        except KeyError:
            continue
    raise ValueError(f"No descriptor found for message type {name!r} in the descriptor_source")


def _fields(descriptor: Any, attrs: Any, types: Any) -> list[Any]:
    """Return the descriptors of an op's fields. Raises ValueError for unknown ones, and for other dtypes."""
    names = [name.decode() for name in attrs["field_names"]]
    if len(names) != len(types):
        raise ValueError(f"field_names and dtypes must have the same length, got {len(names)} and {len(types)}")
    for name, dtype in zip(names, types, strict=True):
        field = descriptor.fields_by_name.get(name)
        if field is None:
            raise ValueError(f"Unknown field: {name} in message type {descriptor.full_name}")
        wanted = KINDS[field.type].dtypes
        if np.dtype(dtype.np_dtype).name not in wanted:
            raise ValueError(f"Field {name} has dtype {' or '.join(wanted).replace('object', 'string')}, got "
                             f"{dtype.name}")
    return [descriptor.fields_by_name[name] for name in names]


def _decoded_shape(ctx: Any) -> list[Static]:
    batch, names = ctx.shape(0), ctx.attrs["field_names"]
    if batch is None:
        return [None] * len(ctx.op.outputs)
    return [(*batch, len(names)), *[(*batch, None)] * (len(ctx.op.outputs) - 1)]


def _binary(data: bytes, descriptor: Any, attrs: Any) -> bytes:
    """Return a serialized message in the wire format."""
    if attrs["message_format"] == b"binary" and not attrs["sanitize"]:
        return data
    message = _classes.GetMessageClass(descriptor)()
    if attrs["message_format"] == b"text":
        _text.Parse(data.decode(), message, allow_unknown_field=False)
    else:
        message.MergeFromString(data)
    found: bytes = message.SerializePartialToString()
    return found


def _parsed(op: Any, texts: list[bytes], descriptor: Any, fields: list[Any]) -> list[dict[int, list[Any]]]:
    numbers, rows = {field.number: field for field in fields}, []
    for text in texts:
        try:
            rows.append(read_fields(_binary(text, descriptor, op.attrs), numbers))
        except Exception as error:                 # the protobuf runtime has classes of its own
            raise DataLossError(None, op, f"Unable to parse {text[:40]!r} as {descriptor.full_name}: {error}") from None
    return rows


def _column(field: Any, rows: list[list[Any]], dtype: Any) -> np.ndarray:
    """Return the values of a field as a matrix, with the field's default behind those that are there."""
    default = None if field.is_repeated else field.default_value          # a message has none
    if default is None:
        default = b"" if np.dtype(dtype).hasobject else 0
    if isinstance(default, str):
        default = default.encode()
    made = np.full((len(rows), max([1, *map(len, rows)])), default, dtype)
    for row, values in zip(made, rows, strict=True):
        row[:len(values)] = values
    return made


@host("bytes: string -> sizes: int32, values: output_types", shape=_decoded_shape, message_type="string",
      field_names="list(string)", output_types="list(type) >= 0", descriptor_source="string = 'local://'",
      message_format="string = 'binary'", sanitize="bool = false")
def DecodeProtoV2(bytes: Any, *, output_types: Any, ctx: Any) -> Any:
    """Decode fields of serialized messages: how often each field is there, and the values of each."""
    attrs = ctx.op.attrs
    if attrs["message_format"] not in (b"binary", b"text"):
        raise InvalidArgumentError(None, ctx.op, f"message_format must be binary or text, got "
                                                 f"{attrs['message_format'].decode()!r}")
    descriptor = _descriptor(attrs)
    fields = _fields(descriptor, attrs, output_types)
    parsed = _parsed(ctx.op, bytes.reshape(-1).tolist(), descriptor, fields)
    columns = [[row[field.number] for row in parsed] for field in fields]
    sizes = np.array([list(map(len, rows)) for rows in columns], np.int32).reshape(len(fields), len(parsed))
    values = [_column(field, rows, dtype.np_dtype)
              for field, rows, dtype in zip(fields, columns, output_types, strict=True)]
    return (sizes.T.reshape(*bytes.shape, len(fields)),
            *[value.reshape(*bytes.shape, value.shape[1]) for value in values])


def _encoded_shape(ctx: Any) -> list[Static]:
    batch: Static = None
    for i in range(len(ctx.op.inputs)):
        shape = ctx.shape(i)
        if shape is None:
            continue
        if len(shape) < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {len(shape)}")
        batch = shape[:-1] if batch is None else broadcast(batch, shape[:-1])
    return [batch]


def _check_encoded(ctx: Any) -> None:
    sizes = ctx.shape(0)
    if sizes[-1] != len(ctx.attrs["field_names"]):
        raise ValueError(f"sizes.shape[-1] must be the number of fields, {len(ctx.attrs['field_names'])}, got "
                         f"{sizes[-1]}")
    for i in range(1, len(ctx.op.inputs)):
        if ctx.shape(i)[:-1] != sizes[:-1]:
            raise ValueError(f"values must have the batch of sizes, {list(sizes[:-1])}, got {list(ctx.shape(i)[:-1])}")


@host("sizes: int32, values: Tinput_types -> bytes: string", shape=_encoded_shape, validate=_check_encoded,
      field_names="list(string)", message_type="string", descriptor_source="string = 'local://'",
      Tinput_types="list(type) >= 1")
def EncodeProto(sizes: Any, values: Any, *, Tinput_types: Any, ctx: Any) -> Any:
    """Serialize messages whose fields have, of each row of `values`, as many elements as `sizes` says."""
    fields = _fields(_descriptor(ctx.op.attrs), ctx.op.attrs, Tinput_types)
    counts = sizes.reshape(-1, len(fields))
    columns = [value.reshape(len(counts), value.shape[-1]) for value in values]
    for field, count, column in zip(fields, counts.T, columns, strict=True):
        if count.size and count.max() > column.shape[1]:
            raise ValueError(f"Size {count.max()} of field {field.name} is larger than its values, {column.shape[1]}")
    order = sorted(range(len(fields)), key=lambda i: int(fields[i].number))
    made = np.empty(len(counts), object)
    for row, count in enumerate(counts):
        made[row] = b"".join(write_field(fields[i], columns[i][row, :max(count[i], 0)].tolist()) for i in order)
    return made.reshape(sizes.shape[:-1])


DecodeProtoV2.no_gradient("strings have none")
EncodeProto.no_gradient("strings have none")


@public("io.decode_proto")
def decode_proto(bytes: Any, message_type: str, field_names: Any, output_types: Any,
                 descriptor_source: Any = "local://", message_format: str = "binary", sanitize: bool = False,
                 name: str | None = None) -> Any:
    """Decode fields of serialized messages of protocol buffers: (sizes, values).

    bytes: a string tensor of any shape. message_type: the full name of the message. field_names: those to decode;
    output_types: the dtype of each, one that holds all of its values (int32 fields also as int64, uint32 as uint64,
    float as float64; enums are int32, messages are strings). descriptor_source: "local://" for the messages of this
    process, the path of a FileDescriptorSet, or "bytes://" and its bytes. message_format: "binary" or "text". sanitize:
    parse and serialize each message before. sizes: int32, the shape of `bytes` + [fields], how many values each field
    has; values: for each field the shape of `bytes` + [most values], with the field's default, or zeros, behind them.
    Running it raises InvalidArgumentError for unknown messages, fields and dtypes, DataLossError for other bytes.

    >>> made = tf.io.encode_proto([[2]], [[["a", "b"]]], ["value"], "tensorflow.BytesList")
    >>> sizes, values = tf.io.decode_proto(made, "tensorflow.BytesList", ["value"], [tf.string])
    >>> sess.run([sizes, values])
    [array([[2]], dtype=int32), [array([[b'a', b'b']], dtype=object)]]
    """
    return DecodeProtoV2(bytes, message_type, field_names, output_types, descriptor_source, message_format, sanitize,
                         name=name)


@public("io.encode_proto")
def encode_proto(sizes: Any, values: Any, field_names: Any, message_type: str, descriptor_source: Any = "local://",
                 name: str | None = None) -> Any:
    """Serialize messages of protocol buffers: strings of the shape of `sizes` without its last axis.

    sizes: int32, [..., fields]: how many elements of `values` each field gets. values: a tensor for each field, [...,
    most values]. field_names, message_type, descriptor_source: as of `tf.io.decode_proto`, as are the dtypes. Raises
    ValueError for less than two axes; running it raises InvalidArgumentError for what the message does not have.

    >>> sess.run(tf.io.encode_proto([[2]], [[[0.5, 2.0]]], ["value"], "tensorflow.FloatList"))
    array([b'\\n\\x08\\x00\\x00\\x00?\\x00\\x00\\x00@'], dtype=object)
    """
    return EncodeProto(sizes, values, field_names, message_type, descriptor_source, name=name)
