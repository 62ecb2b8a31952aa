"""Conversion between strings and bytes: raw numbers, base64, compression; splitting of strings."""
from __future__ import annotations

import base64
import binascii
import gzip
import itertools
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfnb.core import indexing
from tfnb.core.arguments import TENSORS, describe
from tfnb.core.dtypes import DType
from tfnb.core.errors import DataLossError, InvalidArgumentError
from tfnb.core.shape import Static, merge
from tfnb.graph.parts.operation import Tensor
from tfnb.kernels.library.text import coding, objects
from tfnb.kernels.library.text.spans import row_indices
from tfnb.ops.declaration import shapes
from tfnb.ops.declaration.declare import host, one_by_one
from tfnb.ops.declaration.dispatch import dispatched
from tfnb.ops.declaration.public import public


def invalid(ctx: Any, message: str) -> InvalidArgumentError:
    """Return an error of the op that runs."""
    return InvalidArgumentError(None, ctx.op, message)


MARK, END = b"\xfe", b"\xff"             # bytes that no text in UTF-8 has


def strings(items: Sequence[Any], shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return an array of Python objects, one an item (NumPy would look into them)."""
    made = np.fromiter(items, object, len(items))
    return made if shape is None else made.reshape(shape)


def _and_unknown(ctx: Any) -> list[Static]:
    lead = ctx.shape(0)
    return [None if lead is None else (*lead, None)]


@host("bytes: string -> output: out_type", shape=_and_unknown,
      out_type="{half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, bool, bfloat16}",
      little_endian="bool = true", lifts=one_by_one)
def DecodeRaw(bytes: Any, *, out_type: DType, little_endian: bool, ctx: Any) -> Any:
    """Reinterpret the bytes of strings, all equally long, as numbers along a new last axis."""
    flat, kind = bytes.ravel(), out_type.np_dtype
    size = len(flat[0]) if len(flat) else 0
    for i, item in enumerate(flat):
        if len(item) != size:
            raise invalid(ctx, "DecodeRaw requires input strings to all be the same size, but element "
                                f"{i} has size {size} != {len(item)}")
    if size % kind.itemsize:
        raise invalid(ctx, f"Input to DecodeRaw has length {size} that is not a multiple of {kind.itemsize}, the size "
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
    rows = objects.rows(texts, size)
    if rows is None:
        rows = np.frombuffer(bytearray().join(text[:size].ljust(size, b"\0") for text in texts.ravel()), np.uint8)
    numbers = rows.reshape(-1).view(kind)
    return (numbers if little_endian else numbers.byteswap()).reshape((*texts.shape, size // kind.itemsize))


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
    made = coding.encoded(input, pad)
    if made is not None:
        return strings(made, input.shape)
    coded = [base64.urlsafe_b64encode(item) for item in input.ravel()]
    return strings(coded if pad else [item.rstrip(b"=") for item in coded], input.shape)


_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_STANDARD = bytes.maketrans(b"-_", b"+/")


@host("input: string -> output: string", shape=shapes.like_first)
def DecodeBase64(input: Any, *, ctx: Any) -> Any:
    """Decode web-safe base64, with or without padding. InvalidArgumentError for other characters and lengths."""
    made = coding.decoded(input)
    return strings([_from_base64(item, ctx) for item in input.ravel()] if made is None else made, input.shape)


def _from_base64(text: bytes, ctx: Any) -> bytes:
    body = text.rstrip(b"=")
    padding = len(text) - len(body)
    if padding > 2 or (padding and len(text) % 4) or len(body) % 4 == 1 or body.translate(None, _LETTERS):
        raise invalid(ctx, f"expected base64 of the characters A-Z, a-z, 0-9, - and _, got {text[:60]!r}")
    return binascii.a2b_base64(body.translate(_STANDARD) + b"==")


# Splitting

def _split_shapes(ctx: Any) -> list[Static]:
    merge(ctx.shape(0), (None,))
    merge(ctx.shape(1), ())
    return [(None, 2), (None,), (2,)]


def _bytes_of(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indices, values and shape of the bytes of strings."""
    each = [bytes([b]) for b in range(256)]
    return sparse_parts([each[b] for b in b"".join(texts)], np.fromiter(map(len, texts), np.int64, len(texts)))


@host("input: string, delimiter: string -> indices: int64, values: string, shape: int64", shape=_split_shapes,
      ranks={"input": 1, "delimiter": 0},
      skip_empty="bool = true")
def StringSplit(input: Any, delimiter: Any, *, skip_empty: bool) -> Any:
    """Split strings at any of the characters of `delimiter` (if it is empty: into bytes), into a sparse matrix."""
    if input.ndim != 1 or delimiter.ndim:
        raise ValueError(f"expected a vector of strings and a scalar delimiter, got the shapes {list(input.shape)} and "
                         f"{list(delimiter.shape)}")
    marks, texts = delimiter[()], input.tolist()
    if not marks:
        return _bytes_of(texts)
    parts, counts = split_at(texts, marks, skip_empty)
    if b"" in texts and not skip_empty:                 # of which no empty part is made
        empty = np.fromiter(map(len, texts), np.int64, len(texts)) == 0
        parts = [*itertools.compress(parts, indexing.repeat(~empty, counts).tolist())]
        counts[empty] = 0
    return sparse_parts(parts, counts)


def split_at(texts: list[bytes], marks: bytes, skip_empty: bool) -> tuple[list[bytes], np.ndarray]:
    """Return the parts of strings between bytes of `marks`, and how many each string has: all are split at once."""
    whole = marks[:1].join(texts)
    if len(marks) > 1:
        whole = whole.translate(bytes.maketrans(marks, marks[:1] * len(marks)))
        texts = [text.translate(bytes.maketrans(marks, marks[:1] * len(marks))) for text in texts]
    counts = np.fromiter(map(bytes.count, texts, itertools.repeat(marks[:1])), np.int64, len(texts)) + 1
    parts = whole.split(marks[:1]) if texts else []
    if skip_empty and b"" in parts:
        rows = indexing.repeat(np.arange(len(texts)), counts)
        kept = np.fromiter(map(bool, parts), bool, len(parts))
        parts, counts = [*filter(None, parts)], indexing.bincount(rows[kept], minlength=len(texts))
    return parts, counts


def split_by(texts: list[bytes], mark: bytes) -> tuple[list[bytes], np.ndarray] | None:
    """Return the parts of strings between marks, and how many each string has: all are split at once.

    None if one has a byte that is none of UTF-8: two of these stand for marks and for ends.
    """
    whole = END.join(texts)
    if len(texts) < 2 or whole.count(END) != len(texts) - 1 or MARK in whole or MARK in mark or END in mark:
        return None
    marked = whole.replace(mark, MARK)
    found = np.frombuffer(marked, np.uint8)
    ends = np.flatnonzero(found[found >= MARK[0]] == END[0])
    parts = marked.replace(END, MARK).split(MARK)
    return parts, np.diff(ends, prepend=-1, append=len(parts) - 1)


def sparse_parts(parts: list[bytes], counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indices, values and dense shape of a sparse matrix with `counts` of the parts in each row."""
    return row_indices(counts), strings(parts), np.array([len(counts), counts.max(initial=0)], np.int64)


for _op in (DecodeRaw, DecodePaddedRaw, DecodeCompressed, EncodeBase64, DecodeBase64, StringSplit):
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


describe(globals(), TENSORS)
