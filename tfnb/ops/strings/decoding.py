"""Conversion between strings and numbers: raw bytes, base64, CSV records, number formatting; splitting of strings."""
from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import dtypes
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.core.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Tensor
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import public

MOST_TEXT = 1 << 30               # characters that AsString makes: Python's own formatting can't be interrupted


def _invalid(ctx: Any, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, ctx.op, message)


def strings(items: Sequence[Any], shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return an array of Python objects, one an item (NumPy would look into them)."""
    made = np.empty(len(items), object)
    made[:] = items
    return made if shape is None else made.reshape(shape)


def _and_unknown(ctx: Any) -> list[Static]:
    lead = ctx.shape(0)
    return [None if lead is None else (*lead, None)]


@host("bytes: string -> output: out_type", shape=_and_unknown,
      out_type="{half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool, bfloat16}",
      little_endian="bool = true")
def DecodeRaw(bytes: Any, *, out_type: DType, little_endian: bool, ctx: Any) -> Any:
    """Reinterpret the bytes of strings, all equally long, as numbers along a new last axis."""
    flat, kind = bytes.ravel(), out_type.np_dtype
    size = len(flat[0]) if len(flat) else 0
    for i, item in enumerate(flat):
        if len(item) != size:
            raise _invalid(ctx, "DecodeRaw requires input strings to all be the same size, but element "
                                f"{i} has size {size} != {len(item)}")
    if size % kind.itemsize:
        raise _invalid(ctx, f"Input to DecodeRaw has length {size} that is not a multiple of {kind.itemsize}, the size "
                            f"of {out_type.name}")
    numbers = np.frombuffer(b"".join(flat), kind)
    if not little_endian:
        numbers = numbers.byteswap()
    return numbers.reshape((*bytes.shape, size // kind.itemsize)).copy()


def _padded(ctx: Any) -> list[Static]:
    lead, size, unit = ctx.shape(0), ctx.value(1), ctx.attrs["out_type"].size
    if size is not None and (size % unit or (ctx.concrete and size <= 0)):
        raise ValueError(f"fixed_length must be a positive multiple of {unit}, the size of "
                         f"{ctx.attrs['out_type'].name}, got {int(size)}")
    return [None if lead is None else (*lead, None if size is None else int(size) // unit)]


@host("input_bytes: string, fixed_length: int32 -> output: out_type", shape=_padded, validate=_padded,
      ranks={"fixed_length": 0}, out_type="{half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}",
      little_endian="bool = true")
def DecodePaddedRaw(texts: Any, fixed_length: Any, *, out_type: DType, little_endian: bool) -> Any:
    """Reinterpret bytes as numbers along a new last axis, each string cut, or filled with zeros, to `fixed_length`."""
    size, kind = int(fixed_length), out_type.np_dtype
    numbers = np.frombuffer(b"".join(text[:size].ljust(size, b"\0") for text in texts.ravel()), kind)
    if not little_endian:
        numbers = numbers.byteswap()
    return numbers.reshape((*texts.shape, size // kind.itemsize)).copy()


_DECOMPRESS: dict[bytes, Callable[[bytes], bytes]] = {b"": lambda data: data, b"ZLIB": zlib.decompress,
                                                      b"GZIP": gzip.decompress}


def _known_compression(ctx: Any) -> None:
    kind = ctx.attrs["compression_type"]
    if kind not in _DECOMPRESS:
        raise ValueError(f"Only ZLIB, GZIP or NONE are supported compressions, got {kind!r}")


@public("decode_compressed", "io.decode_compressed")
@host("bytes: string -> output: string", shape=shapes.like_first, validate=_known_compression,
      compression_type="string = ''")
def DecodeCompressed(texts: Any, *, compression_type: bytes, ctx: Any) -> Any:
    """Decompress strings, element-wise. compression_type: "ZLIB", "GZIP", or "" for none.

    >>> import zlib
    >>> sess.run(tf.decode_compressed([zlib.compress(b"text")], "ZLIB"))
    array([b'text'], dtype=object)
    """
    try:
        return strings([_DECOMPRESS[compression_type](text) for text in texts.ravel()], texts.shape)
    except (OSError, EOFError, zlib.error) as error:
        raise DataLossError(None, ctx.op, f"expected data compressed by {compression_type.decode()}: {error}") from None


@host("input: string -> output: string", shape=shapes.like_first, pad="bool = false")
def EncodeBase64(input: Any, *, pad: bool) -> Any:
    """Encode strings in the URL-safe alphabet of base64 (RFC 4648), padded with "=" if `pad`."""
    coded = [base64.urlsafe_b64encode(item) for item in input.ravel()]
    return strings(coded if pad else [item.rstrip(b"=") for item in coded], input.shape)


_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9_-]")


@host("input: string -> output: string", shape=shapes.like_first)
def DecodeBase64(input: Any, *, ctx: Any) -> Any:
    """Decode web-safe base64, with or without padding. InvalidArgumentError for other characters and lengths."""
    return strings([_from_base64(item, ctx) for item in input.ravel()], input.shape)


def _from_base64(text: bytes, ctx: Any) -> bytes:
    padding = len(text) - len(text.rstrip(b"="))
    body = text[:len(text) - padding]
    if padding > 2 or (padding and len(text) % 4) or len(body) % 4 == 1 or _NOT_BASE64.search(body):
        raise _invalid(ctx, f"expected base64 of the characters A-Z, a-z, 0-9, - and _, got {text[:60]!r}")
    return base64.urlsafe_b64decode(body + b"=" * (-len(body) % 4))


# ---- CSV -------------------------------------------------------------------------------------------------------------

def _fields(ctx: Any, line: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """Return the fields of a record, quoted ones (RFC 4180) without their quotes."""
    if not quotes or b'"' not in line:
        if quotes and (b"\n" in line or b"\r" in line):
            raise _invalid(ctx, "Unquoted fields cannot have quotes/CRLFs inside")
        return line.split(delimiter)
    found, at = [], 0
    while True:
        if line[at:at + 1] == b'"':
            field, at = _quoted(ctx, line, at + 1)
            if at < len(line) and not line.startswith(delimiter, at):
                raise _invalid(ctx, "Quoted field has to end with quote followed by delim or end")
        else:
            end = line.find(delimiter, at)
            field = line[at:] if end < 0 else line[at:end]
            if b'"' in field or b"\n" in field or b"\r" in field:
                raise _invalid(ctx, "Unquoted fields cannot have quotes/CRLFs inside")
            at += len(field)
        found.append(field)
        if at >= len(line):
            return found
        at += len(delimiter)


def _quoted(ctx: Any, line: bytes, at: int) -> tuple[bytes, int]:
    """The field whose first quote is before `at`, and the place after its last one. Doubled quotes stand for one."""
    parts = []
    while True:
        end = line.find(b'"', at)
        if end < 0:
            raise _invalid(ctx, "Quoted field has to end with quote followed by delim or end")
        parts.append(line[at:end])
        if line[end + 1:end + 2] != b'"':
            return b'"'.join(parts), end + 1
        at = end + 2


def _csv_shape(ctx: Any) -> list[Static]:
    for i in range(1, len(ctx.op.inputs)):
        shape = ctx.shape(i)
        if shape is not None and len(shape) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(shape)}: default {i - 1} has the shape "
                             f"{list(shape)}")
        if shape and (shape[0] or 0) > 1:
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar, got "
                             f"{list(shape)}")
    return [ctx.shape(0)] * len(ctx.op.outputs)


@host("records: string, record_defaults: OUT_TYPE -> output: OUT_TYPE", shape=_csv_shape,
      OUT_TYPE="list({float, double, int32, int64, string}) >= 1", field_delim="string = ','",
      use_quote_delim="bool = true", na_value="string = ''", select_cols="list(int) = []")
def DecodeCSV(records: Any, record_defaults: Any, *, OUT_TYPE: Any, field_delim: bytes, use_quote_delim: bool,
              na_value: bytes, select_cols: Any, ctx: Any) -> Any:
    """Parse CSV records: a tensor of the shape of `records` for each default, whose dtype it has.

    A field that is empty, or `na_value`, gets the default; an empty default means that there must be one.
    """
    columns: list[list[Any]] = [[] for _ in OUT_TYPE]
    for i, default in enumerate(record_defaults):
        if default.ndim > 1 or default.size > 1:
            raise _invalid(ctx, f"There should only be 1 default per field but field {i} has a default of shape "
                                f"{list(default.shape)}")
    for row, line in enumerate(records.ravel()):
        fields = _fields(ctx, line, field_delim, use_quote_delim)
        if select_cols:
            fields = [fields[i] for i in select_cols if i < len(fields)]
        if len(fields) != len(OUT_TYPE):
            raise _invalid(ctx, f"Expect {len(OUT_TYPE)} fields but have {len(fields)} in record {row}")
        for i, (field, default, dtype) in enumerate(zip(fields, record_defaults, OUT_TYPE, strict=True)):
            if field in (b"", na_value):
                if not default.size:
                    raise _invalid(ctx, f"Field {i} is required but missing in record {row}!")
                columns[i].append(default.ravel()[0])
            elif dtype == dtypes.string:
                columns[i].append(field)
            else:
                number = _number(field, dtype)
                if number is None:
                    name = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
                    raise _invalid(ctx, f"Field {i} in record {row} is not a valid {name}: {field.decode('latin-1')}")
                columns[i].append(number)
    return [strings(column, records.shape) if dtype == dtypes.string else
            np.array(column, dtype.np_dtype).reshape(records.shape)
            for column, dtype in zip(columns, OUT_TYPE, strict=True)]


def _number(text: bytes, dtype: DType) -> Any:
    """Return the number that `text`, with spaces around it, is; None if it is none of that dtype."""
    text = text.strip()
    if b"_" in text:
        return None
    try:
        if dtype.is_floating:
            with np.errstate(over="ignore"):
                return dtype.np_dtype.type(float.fromhex(text.decode()) if b"x" in text.lower() else float(text))
        return int(text) if dtype.min <= int(text) <= dtype.max else None
    except ValueError:
        return None


@host("string_tensor: string -> output: out_type", shape=shapes.like_first,
      out_type="{float, double, int32, int64, uint32, uint64} = DT_FLOAT")
def StringToNumber(string_tensor: Any, *, out_type: DType, ctx: Any) -> Any:
    """Parse the numbers in strings."""
    found = []
    for text in string_tensor.ravel():
        number = _number(text, out_type)
        if number is None:
            raise _invalid(ctx, f"StringToNumberOp could not correctly convert string: {text.decode('latin-1')}")
        found.append(number)
    return np.array(found, out_type.np_dtype).reshape(string_tensor.shape)


@host("input: T -> output: string", shape=shapes.like_first,
      T="{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, complex64, "
        "complex128, bool, variant, string}", precision="int = -1", scientific="bool = false", shortest="bool = false",
      width="int = -1", fill="string = ''")
def AsString(input: Any, *, T: DType, precision: int, scientific: bool, shortest: bool, width: int, fill: bytes,
             ctx: Any) -> Any:
    """Format numbers as strings, as C's printf does; truth values as "true" and "false"."""
    if len(fill) > 1:
        raise _invalid(ctx, f"Fill string must be one or fewer characters, got {fill!r}")
    if scientific and shortest:
        raise _invalid(ctx, "Cannot select both scientific and shortest notation")
    if fill and fill not in (b" ", b"0", b"+", b"-", b"#"):
        raise _invalid(ctx, f"Fill argument not supported: {fill!r}")
    if not (T.is_floating or T.is_complex or T == dtypes.string):
        if scientific or shortest:
            raise _invalid(ctx, f"scientific and shortest format not supported for datatype {T.name}")
        if precision > -1:
            raise _invalid(ctx, f"precision not supported for datatype {T.name}")
    if input.size * max(width, precision) > MOST_TEXT:
        raise ResourceExhaustedError(None, ctx.op, f"{input.size} strings of {max(width, precision)} characters: "
                                                   f"expected at most {MOST_TEXT} in all")
    flags = fill.decode() + (str(width) if width > -1 else "")
    digits = f".{precision}" if precision > -1 else ""
    form = _printf(flags, digits, T, "e" if scientific else "g" if shortest else "f")
    return strings([form(x) for x in input.ravel()], input.shape)


def _printf(flags: str, digits: str, dtype: DType, letter: str) -> Callable[[Any], bytes]:
    if dtype == dtypes.string:
        return lambda x: (f"%{flags.lstrip('0')}s" % x.decode("latin-1")).encode("latin-1")
    if dtype.is_bool:
        return lambda x: b"true" if x else b"false"
    if dtype.is_integer:
        return lambda x: (f"%{flags}d" % int(x)).encode()
    one = f"%{flags}{digits}{letter}"
    if dtype.is_complex:
        return lambda x: f"({one % float(x.real)},{one % float(x.imag)})".encode()
    return lambda x: (one % float(x)).encode()


def _split_shapes(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), (None,))
    merge(ctx.shape(1), ())
    return [(None, 2), (None,), (2,)]


def _bytes_of(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indices, values and shape of the bytes of strings."""
    lengths = np.array([*map(len, texts)], np.int64)
    places = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    each = [bytes([b]) for b in range(256)]
    return (np.stack([np.repeat(np.arange(len(texts)), lengths), places], 1),
            strings([each[b] for b in b"".join(texts)]), np.array([len(texts), lengths.max(initial=0)], np.int64))


@host("input: string, delimiter: string -> indices: int64, values: string, shape: int64", shape=_split_shapes,
      ranks={"input": 1, "delimiter": 0},
      skip_empty="bool = true")
def StringSplit(input: Any, delimiter: Any, *, skip_empty: bool) -> Any:
    """Split strings at any of the characters of `delimiter` (if it is empty: into bytes), into a sparse matrix."""
    if input.ndim != 1 or delimiter.ndim:
        raise ValueError(f"expected a vector of strings and a scalar delimiter, got the shapes {list(input.shape)} and "
                         f"{list(delimiter.shape)}")
    marks = delimiter[()]
    if not marks:
        return _bytes_of(input.tolist())
    rows = []
    for text in input:
        for mark in marks[1:]:
            text = text.replace(bytes([mark]), marks[:1])
        parts = text.split(marks[:1])
        rows.append([part for part in parts if part or not skip_empty])
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    return (np.array(places, np.int64).reshape(-1, 2), strings([part for row in rows for part in row]),
            np.array([len(rows), max(map(len, rows), default=0)], np.int64))


for _op in (DecodeRaw, DecodePaddedRaw, DecodeCompressed, DecodeCSV, EncodeBase64, DecodeBase64, StringToNumber,
            AsString, StringSplit):
    _op.no_gradient("it deals with strings")


# ---- the user's functions --------------------------------------------------------------------------------------------

@dispatched
def decode_raw(input_bytes: Any = None, out_type: Any = None, little_endian: bool = True, name: str | None = None,
               bytes: Any = None) -> Tensor:
    """Reinterpret the bytes of strings, all equally long, as `out_type` along a new last axis. bytes: older name.

    >>> sess.run(tf.decode_raw([b"ab", b"cd"], tf.uint8))
    array([[ 97,  98],
           [ 99, 100]], dtype=uint8)
    """
    tensor: Tensor = DecodeRaw(bytes if input_bytes is None else input_bytes, out_type=out_type,
                               little_endian=little_endian, name=name)
    return tensor


@dispatched
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Encode strings in base64, safe in URLs and file names ("-" and "_"). pad: end in "=", in fours of characters.

    >>> sess.run(tf.encode_base64(["text"]))
    array([b'dGV4dA'], dtype=object)
    """
    tensor: Tensor = EncodeBase64(input, pad=pad, name=name)
    return tensor


@dispatched
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """Decode strings of `encode_base64`. A run raises InvalidArgumentError for invalid base64.

    >>> sess.run(tf.decode_base64(["dGV4dA"]))
    array([b'text'], dtype=object)
    """
    tensor: Tensor = DecodeBase64(input, name=name)
    return tensor


def decode_csv(records: Any, record_defaults: Sequence[Any], field_delim: str = ",", use_quote_delim: bool = True,
               name: str | None = None, na_value: str = "", select_cols: Sequence[int] | None = None) -> list[Tensor]:
    """Parse CSV records (RFC 4180), into a tensor for each default: of its dtype, of the shape of `records`.

    A field that is empty or `na_value` gets the default; where that is empty, it raises InvalidArgumentError.
    select_cols: the numbers of the columns to take, in order. Raises ValueError if there are not as many as defaults.

    >>> name, age = tf.decode_csv(["Ada,36", "Alan,"], record_defaults=[[""], [0]])
    >>> sess.run([name, age])
    [array([b'Ada', b'Alan'], dtype=object), array([36,  0], dtype=int32)]
    """
    if select_cols is not None:
        if any(a >= b for a, b in zip(select_cols, select_cols[1:], strict=False)):
            raise ValueError(f"select_cols is not strictly increasing: {list(select_cols)}")
        if select_cols and select_cols[0] < 0:
            raise ValueError(f"select_cols contains negative values: {list(select_cols)}")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    made: list[Tensor] = DecodeCSV(records, list(record_defaults), field_delim=field_delim,
                                   use_quote_delim=use_quote_delim, na_value=na_value,
                                   select_cols=list(select_cols or ()), name=name)
    return made


@dispatched
def string_to_number(string_tensor: Any = None, out_type: Any = dtypes.float32, name: str | None = None,
                     input: Any = None) -> Tensor:
    """Parse the numbers in strings. input: another name of `string_tensor`.

    >>> sess.run(tf.string_to_number(["1.5", "-2"]))
    array([ 1.5, -2. ], dtype=float32)
    """
    tensor: Tensor = StringToNumber(input if string_tensor is None else string_tensor, out_type=out_type, name=name)
    return tensor


@dispatched
def as_string(input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
              fill: str = "", name: str | None = None) -> Tensor:
    """Format numbers. precision: digits after the point; scientific, shortest: "1.5e+00", "1.5"; width, fill: pad.

    >>> sess.run(tf.as_string([1.5, -2.0], precision=2))
    array([b'1.50', b'-2.00'], dtype=object)
    """
    tensor: Tensor = AsString(input, precision=precision, scientific=scientific, shortest=shortest, width=width,
                              fill=fill, name=name)
    return tensor


describe(globals(), TENSORS)
